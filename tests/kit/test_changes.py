"""A change of level in words, for page, card and command."""

from __future__ import annotations

import math

import pandas as pd
import pytest

from azlatency.kit import changes

DAY, MINUTE = pd.Timestamp("2026-09-26 20:43", tz="UTC"), pd.Timedelta(minutes=1)
CHANGE = {
    "path": "a → b", "metric": "median", "what": "a → b, ping, median", "at": 25, "at_low": 24, "at_high": 27,
    "date": DAY, "date_low": DAY - pd.Timedelta(days=1), "date_high": DAY + pd.Timedelta(days=2), "window_ns": math.nan,
    "before": 450e3, "after": 490e3, "unit": "ns", "ratio": 1.088, "ratio_low": 1.082, "ratio_high": 1.097,
    "confidence": 0.95, "label": "", "label_before": "", "flags": "",
}  # fmt: skip


@pytest.mark.parametrize(
    ("fields", "date", "interval"),
    [
        ({}, "2026-09-26", "2026-09-26 (09-25 – 09-28)"),
        ({"date_low": DAY, "date_high": DAY}, "2026-09-26", "2026-09-26"),
        ({"date_low": DAY, "date_high": DAY + MINUTE}, "2026-09-26 20:43", "2026-09-26 20:43 (20:43 – 20:44)"),
        ({"window_ns": 30 * 86_400e9}, "30 days to 2026-10-26", "30 days to 2026-10-26 (10-25 – 10-28)"),
        (
            {"date_low": DAY.replace(year=2025), "date_high": DAY.replace(year=2027), "window_ns": 30 * 86_400e9},
            "30 days to 2026-10-26", "30 days to 2026-10-26 (2025-10-26 – 2027-10-26)",
        ),
        ({"date_high": DAY.replace(year=2027)}, "2026-09-26", "2026-09-26 (09-25 – 2027-09-26)"),
        (
            {"window_ns": 6 * 3600e9, "date_low": DAY, "date_high": DAY + 360 * MINUTE},
            "6 hours to 2026-09-27 02:43", "6 hours to 2026-09-27 02:43 (02:43 – 08:43)",
        ),
        (
            {"window_ns": 900e9, "date_low": DAY, "date_high": DAY},
            "15 minutes to 2026-09-26 20:58", "15 minutes to 2026-09-26 20:58",
        ),
        ({"date": pd.NaT, "date_low": pd.NaT, "date_high": pd.NaT}, "run 26", "run 26 (25–28)"),
    ],
)  # fmt: skip
def test_a_date_is_as_exact_as_its_interval(fields: dict[str, object], date: str, interval: str) -> None:
    assert changes.date(CHANGE | fields) == date and changes.date_with_interval(CHANGE | fields) == interval


@pytest.mark.parametrize(
    ("hours", "text"),
    [(720, "30 days"), (730.5, "30 days"), (24, "1 day"), (36, "36 hours"), (6, "6 hours"), (1.5, "90 minutes"),
     (1 / 120, "30 seconds"), (1e-9, "0 seconds")],
)  # fmt: skip
def test_a_window_has_the_unit_in_which_it_is_a_whole_number(hours: float, text: str) -> None:
    assert changes.window_length(hours * 3600e9) == text


@pytest.mark.parametrize(
    ("fields", "difference", "size", "percent"),
    [
        ({}, "+40 µs (+8.8 %)", "+40 µs (+8.8 %, 95 % CI +8.2 to +9.7)", "+9 %"),
        (
            {"after": 405e3, "ratio": 0.9, "ratio_low": 0.88, "ratio_high": 0.92, "confidence": 0.99},
            "−45 µs (−10 %)", "−45 µs (−10 %, 99 % CI −12 to −8)", "−10 %",
        ),
        ({"ratio_low": math.nan}, "+40.0 µs (+8.8 %)", "+40.0 µs (+8.8 %)", "+9 %"),
        (
            {"before": 0.0, "after": 0.012, "unit": "fraction", "ratio": math.nan, "ratio_low": math.nan},
            "+1.20 %", "+1.20 %", "+1.20 %",
        ),
        (
            {"before": 12e6, "after": 13e6, "flags": "one_printed_step"},
            *["12 ms → 13 ms, one printed step: size unknown"] * 3,
        ),
    ],
)  # fmt: skip
def test_the_size_is_a_difference_and_a_ratio(
    fields: dict[str, object], difference: str, size: str, percent: str
) -> None:
    change = CHANGE | fields
    assert changes.difference(change) == difference
    assert changes.size(change) == size and changes.in_percent(change) == percent


@pytest.mark.parametrize(
    ("fields", "text"),
    [
        ({}, ""),
        ({"label": "image 2", "label_before": "image 2"}, "label image 2"),
        ({"label": "image 2", "label_before": "image 1"}, "label image 2 (before: image 1)"),
        ({"flags": "new_tool_version"}, "new version of the tool"),
        ({"label": "3.8", "flags": "new_tool_version"}, "label 3.8; new version of the tool"),
    ],
)
def test_the_label_in_force_is_named(fields: dict[str, object], text: str) -> None:
    assert changes.labelled(CHANGE | fields) == text


def test_the_last_changes_of_two_series_are_named() -> None:
    frame = pd.DataFrame([
        CHANGE | {"method": "ping"}, CHANGE | {"method": "ping", "after": 900e3, "ratio": 2.0},
        CHANGE | {"method": "ping", "path": "b → a", "what": "b", "after": 225e3, "ratio": 0.5},
        CHANGE | {"method": "ping", "path": "c → a", "what": "c"},
    ])  # fmt: skip
    assert changes.last_changes(frame) == "median +100 % (a → b); median −50 % (b → a)"
    frame.loc[1, "flags"] = "one_printed_step"
    assert changes.last_changes(frame) == "median −50 % (b → a); median +9 % (c → a)"


def test_changes_of_several_paths_on_one_date_are_named_together() -> None:
    start = pd.Timestamp("2025-10-11", tz="UTC")
    rows = [{"path": path, "date": start} for path in ("a → b", "a → c", "a → b", "b → c")]
    other = [{"path": path, "date": start + pd.Timedelta(days=35)} for path in ("a → b", "a → c")]
    frame = pd.DataFrame([*other, *rows]).assign(
        date_low=lambda found: found["date"], date_high=lambda found: found["date"], window_ns=math.nan
    )
    assert changes.together(frame) == [
        "3 paths changed on 2025-10-11 (a → b, a → c, b → c): look for one cause, such as a shared link or another way "
        "of measuring"
    ]
    (of_windows,) = changes.together(frame.assign(window_ns=30 * 86_400e9))
    assert of_windows.startswith("3 paths changed in or before the 30 days to 2025-11-09 (a → b, a → c, b → c): ")
    assert "weeks apart" in of_windows
    assert changes.together(frame[:0]) == []
