"""The units that people read."""

from __future__ import annotations

import pytest

from azlatency.kit.units import in_unit, limits


@pytest.mark.parametrize(
    ("low", "high", "unit", "cell", "words"),
    [
        (40_000, 50_000, "ns", "40–50 µs", "40 to 50 µs"),
        (None, 1e9, "bit/s", "≤ 1 Gbit/s", "at most 1 Gbit/s"),
        (530e6, None, "bytes/s", "≥ 530 MB/s", "at least 530 MB/s"),
        (1_900, 2_100, "1/s", "1,900–2,100 per s", "1,900 to 2,100 per s"),
        (None, 5.0, "packets", "≤ 5 packets", "at most 5 packets"),
    ],
)
def test_limits_of_an_expectation_in_a_cell_and_in_words(
    low: float | None, high: float | None, unit: str, cell: str, words: str
) -> None:
    assert limits(low, high, unit) == cell
    assert limits(low, high, unit, ("at most ", "at least ", " to ")) == words


def test_a_value_is_said_in_the_unit_that_people_read() -> None:
    assert in_unit(2.0264e6, 2.0264e6, "ns") == "2,026.4 µs"
    assert in_unit(3.6e9, 4.4e9, "bit/s") == "3.6–4.4 Gbit/s"
