"""The cells of a table: numbers in every form, and times."""

from __future__ import annotations

import pytest

from azlatency.studies.imports.table_cells import CellError, fields_of, number_in, seem_other_units
from azlatency.studies.manifest.measured_table import MeasuredTable


def table(**keys: object) -> MeasuredTable:
    return MeasuredTable(**{"place": "study.toml:1", "columns": {}, "unit": "ms", "numbers": ("rtt_mean",), **keys})  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("cell", "decimal", "nanoseconds", "half_step"),
    [
        ("1.05", "", 1_050_000, 5000),
        ("1,05", ",", 1_050_000, 5000),
        ("1.050,5", ",", 1_050_500_000, 50_000),
        ("1,050.5", ".", 1_050_500_000, 50_000),
        ("1'050", "", 1_050_000_000, 500_000),
        ("1 050", "", 1_050_000_000, 500_000),
        (".85", "", 850_000, 5000),
        ("5.", "", 5_000_000, 500_000),
        ("1e-3", "", 1000, 500),
        ("1.5E+1", "", 15_000_000, 500_000),
        ("850 µs", "", 850_000, 500),
        ("0.85ms", "", 850_000, 5000),
    ],
)
def test_a_number_has_its_value_and_half_of_its_step(
    cell: str, decimal: str, nanoseconds: float, half_step: float
) -> None:
    number = number_in(cell, "rtt_mean", "mean", table(decimal=decimal))
    assert number is not None
    assert (number.value, number.resolution) == (pytest.approx(nanoseconds), pytest.approx(half_step))


@pytest.mark.parametrize("cell", ["12.34,5", "1,2,3", "1 05", "--1", "1.2.3", "0x10", "=1+1", "<1", "1–2", "5e"])
def test_what_is_no_number_is_refused(cell: str) -> None:
    with pytest.raises(CellError):
        number_in(cell, "rtt_mean", "mean", table(decimal="."))


@pytest.mark.parametrize("decimal", [",", "."])
def test_a_number_that_begins_with_0_has_no_thousands(decimal: str) -> None:
    with pytest.raises(CellError, match="no number with the decimal sign"):
        number_in("0.812" if decimal == "," else "0,812", "rtt_mean", "mean", table(decimal=decimal))


@pytest.mark.parametrize("cell", ["", "-", "–", "n/a", "NaN", "NULL", "[ms]", "(µs)", "ms"])
def test_an_empty_cell_is_no_number(cell: str) -> None:
    assert number_in(cell, "rtt_mean", "mean", table()) is None


@pytest.mark.parametrize(
    ("text", "keys", "start"),
    [
        ("2026-01-31", {}, "2026-01-31 00:00:00+00:00"),
        ("2026-01-31 14:00", {}, "2026-01-31 14:00:00+00:00"),
        ("2026-01-31T14:00+02:00", {}, "2026-01-31 12:00:00+00:00"),
        ("31.01.2026", {"time_format": "%d.%m.%Y", "window_s": 43_200.0}, "2026-01-31 12:00:00+00:00"),
        ("2026-01-31", {"window_s": 86_400.0}, "2026-01-31 00:00:00+00:00"),
    ],
)
def test_a_time_is_in_utc_and_a_window_ends_with_its_day(text: str, keys: dict[str, object], start: str) -> None:
    assert str(fields_of({"ended_at": text}, table(**keys))["started_at"]) == start


def test_milliseconds_and_microseconds_are_a_thousand_times_apart() -> None:
    assert seem_other_units(1.05, 1070) and seem_other_units(1070, 1.05)
    assert not seem_other_units(1.05, 300) and not seem_other_units(1, 5000)
