"""Series of runs as a family: planted changes, healthy series, labels, clocks and order."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest
from helpers.cases import stream

import azlatency as az


def frame(values: object, path: str = "a → b", **columns: object) -> pd.DataFrame:
    """Return one run per night."""
    values = np.asarray(values, dtype=float)
    nights = pd.date_range("2026-01-01", periods=len(values), freq="D", tz="UTC")
    return pd.DataFrame({"path": path, "method": "ping", "median_ns": values, "started_at": nights, **columns})


def steady(seed: int, number: int = 60, spread: float = 0.03) -> np.ndarray:
    return np.asarray(300e3 * stream(seed).lognormal(0, spread, number))


def test_a_new_version_and_a_new_label_stand_at_the_change() -> None:
    values = steady(1)
    values[40:] *= 1.12
    versions = ["3.7"] * 40 + ["3.8"] * 20
    (by_version,) = az.history(frame(values, tool_version=versions))
    (change,) = by_version.changes
    assert change.codes == ("new_tool_version",) and (change.label_before, change.label) == ("3.7", "3.8")
    assert "new version of the tool" in str(change)
    images = ["image 1"] * 40 + ["image 2"] * 20
    (by_label,) = az.history(frame(values, tool_version="3.7", label=images))
    assert by_label.changes[0].codes == () and by_label.changes[0].labelled == "label image 2 (before: image 1)"
    assert by_label.level == pytest.approx(1.12 * 300e3, rel=0.03) and by_label.before == pytest.approx(300e3, rel=0.02)


def test_one_bad_night_is_not_a_level() -> None:
    values = steady(2)
    values[30] *= 4
    values[31] = math.inf
    (series,) = az.history(frame(values))
    assert series.changes == () and series.n == 60


def test_a_level_that_came_and_went_is_two_changes() -> None:
    values = steady(3, 200)
    values[120:140] *= 1.15
    (series,) = az.history(frame(values))
    assert [abs(change.at - planted) <= 1 for change, planted in zip(series.changes, (120, 140), strict=True)] == [
        True
    ] * 2


def test_loss_that_begins_is_found_without_a_ratio() -> None:
    loss = np.concatenate([np.zeros(40), stream(4).poisson(12, 20) / 1000])
    (series,) = az.history(frame(steady(5), loss=loss), value="loss")
    (change,) = series.changes
    assert abs(change.at - 40) <= 1 and change.comparison is None and series.unit == "fraction"


def test_a_family_makes_each_series_stricter() -> None:
    values = steady(6)
    values[48:] *= 1.07
    alone = az.history(frame(values))
    many = az.history(pd.concat([frame(values), *(frame(steady(10 + k), f"c{k} → d") for k in range(30))]))
    assert alone[0].changes and not many[0].changes and many[0].family == 31


def test_series_that_are_short_or_must_not_be_pooled_are_refused() -> None:
    (short,) = az.history(frame(steady(7, 19)))
    (unknown,) = az.history(frame(steady(7), unknown="mixed_sizes"))
    assert short.codes == ("few_clusters",) and unknown.codes == ("mixed_sizes",) and short.refused and unknown.refused
    assert "not estimable" in str(short)
    with pytest.raises(KeyError, match="median_ns"):
        az.history(frame(steady(7)).rename(columns={"median_ns": "value"}))


def test_a_clock_that_was_set_back_is_flagged() -> None:
    runs = frame(steady(8), round=range(60))
    runs.loc[50, "started_at"] -= pd.Timedelta(days=20)
    (series,) = az.history(runs)
    assert "clock_set_back" in series.codes and not series.refused


def at_hours(hours: object, values: np.ndarray) -> pd.DataFrame:
    """Return one run per start, in hours after midnight."""
    starts = pd.Timestamp("2026-01-01", tz="UTC") + pd.to_timedelta(np.asarray(hours, dtype=float), unit="h").round("s")
    return frame(values).assign(started_at=starts)


@pytest.mark.parametrize("gap", [3, 60, 500])
def test_hourly_runs_with_an_interruption_stay_points(gap: int) -> None:
    values = steady(11, 240)
    values[120:] *= 1.2
    hours = np.arange(240.0) + gap * (np.arange(240) >= 100)
    (series,) = az.history(at_hours(hours, values))
    assert series.n == 240 and [abs(change.at - 120) <= 1 for change in series.changes] == [True]


def test_runs_two_hours_apart_with_a_minute_of_jitter_stay_points() -> None:
    hours = 2 * np.arange(100) + stream(12).uniform(-1, 1, 100) / 60
    (series,) = az.history(at_hours(hours, steady(13, 100)))
    assert series.n == 100


def test_hourly_runs_of_working_weeks_stay_points() -> None:
    hours = np.concatenate([week * 168 + np.arange(120.0) for week in range(6)])
    assert az.history(at_hours(hours, steady(14, 720)))[0].n == 720


@pytest.mark.parametrize(("nights", "rounds"), [(30, 3), (30, 1), (8, 12)])
def test_the_rounds_of_a_night_are_one_point(nights: int, rounds: int) -> None:
    hours = np.concatenate([24 * night + np.arange(rounds) / 4 for night in range(nights)])
    (series,) = az.history(at_hours(hours, steady(15, nights * rounds)))
    assert series.n == nights and series.refused == (nights < 20)


def test_a_night_that_was_measured_twice_is_one_point() -> None:
    hours = sorted([24 * night for night in range(40)] + [24 * 7 + 1])
    assert az.history(at_hours(hours, steady(16, 41)))[0].n == 40


def test_times_of_other_zones_are_the_same_nights() -> None:
    runs = frame(steady(9))
    elsewhere = runs.assign(started_at=runs["started_at"].dt.tz_convert("Australia/Sydney"))
    assert az.history(runs)[0].times == az.history(elsewhere)[0].times


def test_the_size_of_a_change_names_the_level_of_its_interval() -> None:
    nights = pd.date_range("2026-09-01", periods=40, tz="UTC")
    times = [(450 if night < 25 else 490) * 1e3 + night % 7 * 2e3 for night in range(40)]
    runs = pd.DataFrame({"path": "a → b", "method": "ping", "started_at": nights, "median_ns": times})
    for confidence, level in ((0.95, "95 % CI"), (0.99, "99 % CI")):
        (change,) = az.history(runs, confidence=confidence)[0].changes
        assert level in change.size


def test_a_slow_movement_is_a_drift_without_a_date() -> None:
    random = stream(5)
    nights = pd.date_range("2026-01-01", periods=120, tz="UTC")
    rising, stepped = (
        1e6 * np.exp(shape + 0.02 * random.standard_normal(120))
        for shape in (np.linspace(0, 0.1, 120), 0.08 * (np.arange(120) >= 60))
    )
    runs = [
        pd.DataFrame({"path": path, "method": "ping", "started_at": nights, "median_ns": values})
        for path, values in (("a → b", rising), ("a → c", stepped))
    ]
    drifting, changed = az.history(pd.concat(runs))
    assert not drifting.changes and drifting.drift == pytest.approx(1.105, abs=0.02)
    assert "drifts by +10." in str(drifting) and drifting.drifts_beyond("5%") and not drifting.drifts_beyond("20%")
    assert changed.drift is None and changed.changes[0].exceeds("5%") and not changed.changes[0].exceeds("20%")
