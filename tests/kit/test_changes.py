"""A change of level in words, for page, card and command."""

from __future__ import annotations

import math

import pandas as pd
import pytest

from azlatency.kit import changes

DAY, MINUTE = pd.Timestamp("2026-09-26 20:43", tz="UTC"), pd.Timedelta(minutes=1)
CHANGE = {
    "path": "a → b", "metric": "median", "what": "a → b, ping, median", "n": 60, "at": 25, "at_low": 24, "at_high": 27,
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
        ({"window_ns": 30 * 86_400e9}, "2026-10-26", "2026-10-26 (10-25 – 10-28)"),
        (
            {"date_low": DAY.replace(year=2025), "date_high": DAY.replace(year=2027), "window_ns": 30 * 86_400e9},
            "2026-10-26", "2026-10-26 (2025-10-26 – 2027-10-26)",
        ),
        ({"date_high": DAY.replace(year=2027)}, "2026-09-26", "2026-09-26 (09-25 – 2027-09-26)"),
        (
            {"window_ns": 6 * 3600e9, "date_low": DAY, "date_high": DAY + 360 * MINUTE},
            "2026-09-27 02:43", "2026-09-27 02:43 (02:43 – 08:43)",
        ),
        (
            {"window_ns": 900e9, "date_low": DAY, "date_high": DAY},
            "2026-09-26 20:58", "2026-09-26 20:58",
        ),
        ({"at_low": 1, "at_high": 40, "date_high": DAY.replace(year=2027)}, "2026-09-25 – 2027-09-26",
         "2026-09-25 – 2027-09-26"),
        (
            {"at_low": 1, "at_high": 40, "date_low": DAY, "date_high": DAY + MINUTE},
            "2026-09-26 20:43 – 20:44", "2026-09-26 20:43 – 20:44",
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
        date_low=lambda found: found["date"], date_high=lambda found: found["date"], window_ns=math.nan,
        at_low=4, at_high=6, n=20,
    )  # fmt: skip
    assert changes.together(frame) == [
        "3 paths changed on 2025-10-11 (a → b, a → c, b → c): look for one cause, such as a shared link or another way "
        "of measuring"
    ]
    (of_windows,) = changes.together(frame.assign(window_ns=30 * 86_400e9))
    assert of_windows.startswith("3 paths changed by 2025-11-09 (a → b, a → c, b → c): ")
    assert "weeks apart" in of_windows
    # The interval of a date may be as long as the series.
    assert changes.together(frame.assign(at_low=1, at_high=19)) == []
    assert changes.together(frame[:0]) == []


def sighting(path: str, days: int, ratio: float = 0.8, **fields: object) -> dict[str, object]:
    start = DAY + pd.Timedelta(days=days)
    return {"what": path, "path": path, "metric": "mean", "unit": "ns", "kind": "oldest", "n": 1, "date": start,
            "date_last": start, "window_ns": math.nan, "spacing_ns": 86_400e9, "before": 100.0, "after": 100 * ratio,
            "ratio": ratio, "limit": math.nan, "ended": False, **fields}  # fmt: skip


def test_shifts_are_counted_together_if_their_first_points_end_near_each_other() -> None:
    near = [sighting(f"{number} → b", number % 5, 0.8 - number / 100) for number in range(6)]
    early = sighting("x → b", -30, 1.5)
    apart, together = changes.in_short_seen(pd.DataFrame([early, *near]))
    assert apart == "1 series moved after the first points, too few to test (x → b +50 %)."
    assert together == (
        "6 series moved by −25 % to −20 % after their first points, until 2026-09-30 at the latest (5 → b −25 %, "
        "4 → b −24 %, 3 → b −23 %, 2 → b −22 %, …): too few points to test. So many together: look for a change of "
        "the method, or a disturbance of the first points."
    )
    lost = [sighting(f"{number} → b", number % 5, 0.0, before=math.inf, after=1e6) for number in range(6)]
    assert "6 series moved after their first points, until" in changes.in_short_seen(pd.DataFrame(lost))[0]
    (few,) = changes.in_short_seen(pd.DataFrame([early, *near[:4]]))
    assert few.startswith("5 series moved after the first points, too few to test (x → b +50 %, 3 → b −23 %, ")


def test_each_kind_of_sighting_is_a_sentence_with_the_largest_first() -> None:
    rows = [
        sighting("a → b", 0, kind="newest"), sighting("a → c", 0, 1.5, kind="newest"),
        sighting("a → c", 0, kind="came_and_went"), sighting("a → c", 4, 2.0, kind="came_and_went"),
        sighting("b → c", 0, kind="crossed", before=1.1e6, after=0.9e6, limit=1e6),
        *(sighting(f"{number} → d", 0, kind="short", n=3) for number in range(7)),
        sighting("old → c", -90, kind="newest", ended=True),
        sighting("a → b", 0, kind="on_the_way"),
    ]  # fmt: skip
    seven = [f"{number} → d −20 %" for number in range(7)]
    assert changes.in_short_seen(pd.DataFrame(rows)) == [
        "In 2 series, the last points differ from those before: too few to test (a → c +50 %, a → b −20 %).",
        "In 1 series that ended earlier, the last points differ from those before (old → c −20 %).",
        "In 1 series, fewer than five points were off their level (a → c +100 %).",
        "1 series crossed 1 or 2 ms and stayed there, without a confirmed change (b → c below 1 ms since 2026-09-26).",
        f"7 series with fewer than ten points moved, too few to test ({', '.join(seven)}).",
    ]
    several = [
        sighting("a → b", 0, what=f"a → b, ping, {metric}", metric=metric, kind="newest") for metric in ("mean", "p99")
    ]
    assert "(a → b ping mean −20 %, a → b ping p99 −20 %)" in changes.in_short_seen(pd.DataFrame(several))[0]
    assert changes.in_short_seen(pd.DataFrame(rows)[:0]) == []
    without_end = [sighting("a → b", 0, 0.0, kind="crossed", limit=1e6), sighting("a → c", 0, math.inf, kind="newest")]
    assert len(changes.in_short_seen(pd.DataFrame(without_end))) == 2
