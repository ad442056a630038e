"""Series of runs as a family: planted changes, healthy series, labels, clocks and order."""

from __future__ import annotations

import math
from typing import Any

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


def rows(table: pd.DataFrame) -> list[dict[str, Any]]:
    return [{str(name): cell for name, cell in row.items()} for row in table.to_dict("records")]


def steady(seed: int, number: int = 60, spread: float = 0.03) -> np.ndarray:
    return np.asarray(300e3 * stream(seed).lognormal(0, spread, number))


def test_a_new_version_and_a_new_label_stand_at_the_change() -> None:
    values = steady(1)
    values[40:] *= 1.12
    versions = ["3.7"] * 40 + ["3.8"] * 20
    (change,) = rows(az.history(frame(values, tool_version=versions)).changes)
    assert change["flags"] == "new_tool_version" and (change["label_before"], change["label"]) == ("3.7", "3.8")
    images = ["image 1"] * 40 + ["image 2"] * 20
    found = az.history(frame(values, tool_version="3.7", label=images))
    (change,), (series,) = rows(found.changes), rows(found.series)
    assert change["flags"] == "" and (change["label_before"], change["label"]) == ("image 1", "image 2")
    assert series["level"] == pytest.approx(1.12 * 300e3, rel=0.03)
    assert series["before"] == pytest.approx(300e3, rel=0.02)


@pytest.mark.parametrize(("after", "flags"), [(13e6, "one_printed_step"), (14e6, "")])
def test_a_change_of_one_printed_step_has_its_flag(after: float, flags: str) -> None:
    values = [12e6] * 30 + [after] * 30
    (change,) = rows(az.history(frame(values, median_ns_resolution=1e6)).changes)
    assert (change["after"], change["flags"]) == (after, flags)


def test_one_bad_night_is_not_a_level() -> None:
    values = steady(2)
    values[30] *= 4
    values[31] = math.inf
    found = az.history(frame(values))
    assert found.changes.empty and list(found.series["n"]) == [60]


def test_a_level_that_came_and_went_is_two_changes() -> None:
    values = steady(3, 200)
    values[120:140] *= 1.15
    found = az.history(frame(values))
    assert [abs(at - planted) <= 1 for at, planted in zip(found.changes["at"], (120, 140), strict=True)] == [True] * 2
    of_points = found.points.groupby("level", sort=False)["position"].min()
    assert list(of_points) == [0, *found.changes["at"]]
    assert list(of_points.index) == [*found.changes["before"], *found.series["level"]]


def test_loss_that_begins_is_found_without_a_ratio() -> None:
    loss = np.concatenate([np.zeros(40), stream(4).poisson(12, 20) / 1000])
    (change,) = rows(az.history(frame(steady(5), loss=loss), value="loss").changes)
    assert abs(change["at"] - 40) <= 1 and math.isnan(change["ratio"]) and change["unit"] == "fraction"


def test_a_family_makes_each_series_stricter() -> None:
    values = steady(6)
    values[48:] *= 1.07
    alone = az.history(frame(values))
    many = az.history(pd.concat([frame(values), *(frame(steady(10 + k), f"c{k} → d") for k in range(30))]))
    assert len(alone.changes) == 1 and many.changes.empty and set(many.series["family"]) == {31}


def test_a_small_change_is_found_at_the_date_at_which_others_changed() -> None:
    small = steady(6)
    small[40:] *= 1.04
    others = [frame(steady(10 + k), f"c{k} → d") for k in range(30)]
    large = [frame(steady(80 + k) * np.where(np.arange(60) < 40, 1, 1.4), f"e{k} → f") for k in range(3)]
    assert az.history(pd.concat([frame(small), *others])).changes.empty
    changes = az.history(pd.concat([frame(small), *others, *large])).changes
    found = changes[changes["flags"] == "date_of_others"]
    assert list(found["path"]) == ["a → b"] and list(found["at"]) == [40] and len(changes) == 4
    assert found["ratio"].iloc[0] == pytest.approx(1.04, abs=0.02) and found["p"].iloc[0] < 0.05


def test_series_that_are_short_or_must_not_be_pooled_are_refused() -> None:
    short = az.history(frame(steady(7, 9)))
    unknown = az.history(frame(steady(7), unknown="mixed_sizes"))
    for found, flag in ((short, "few_clusters"), (unknown, "mixed_sizes")):
        assert list(found.series["flags"]) == [flag] and found.series["level"].isna().all() and found.changes.empty
        assert found.points["level"].isna().all() and "not estimable" in az.say(found.series)
    with pytest.raises(KeyError, match="median_ns"):
        az.history(frame(steady(7)).rename(columns={"median_ns": "value"}))


def test_a_clock_that_was_set_back_is_flagged() -> None:
    runs = frame(steady(8), round=range(60))
    runs.loc[50, "started_at"] -= pd.Timedelta(days=20)
    (series,) = rows(az.history(runs).series)
    assert series["flags"] == "clock_set_back nights_missing" and series["level"] > 0


def at_hours(hours: object, values: np.ndarray) -> pd.DataFrame:
    """Return one run per start, in hours after midnight."""
    starts = pd.Timestamp("2026-01-01", tz="UTC") + pd.to_timedelta(np.asarray(hours, dtype=float), unit="h").round("s")
    return frame(values).assign(started_at=starts)


@pytest.mark.parametrize("gap", [3, 60, 500])
def test_hourly_runs_with_an_interruption_stay_points(gap: int) -> None:
    values = steady(11, 240)
    values[120:] *= 1.2
    hours = np.arange(240.0) + gap * (np.arange(240) >= 100)
    found = az.history(at_hours(hours, values))
    assert list(found.series["n"]) == [240] and [abs(at - 120) <= 1 for at in found.changes["at"]] == [True]


def test_runs_two_hours_apart_with_a_minute_of_jitter_stay_points() -> None:
    hours = 2 * np.arange(100) + stream(12).uniform(-1, 1, 100) / 60
    assert len(az.history(at_hours(hours, steady(13, 100))).points) == 100


def test_hourly_runs_of_working_weeks_stay_points() -> None:
    hours = np.concatenate([week * 168 + np.arange(120.0) for week in range(6)])
    assert len(az.history(at_hours(hours, steady(14, 720))).points) == 720


@pytest.mark.parametrize(("nights", "rounds"), [(30, 3), (30, 1), (8, 12)])
def test_the_rounds_of_a_night_are_one_point(nights: int, rounds: int) -> None:
    hours = np.concatenate([24 * night + np.arange(rounds) / 4 for night in range(nights)])
    found = az.history(at_hours(hours, steady(15, nights * rounds)))
    assert len(found.points) == nights and found.series["level"].isna().all() == (nights < 20)


def test_a_night_that_was_measured_twice_is_one_point() -> None:
    hours = sorted([24 * night for night in range(40)] + [24 * 7 + 1])
    runs = at_hours(hours, steady(16, 41)).assign(run_id=[f"run-{number}" for number in range(41)])
    points = az.history(runs).points
    assert len(points) == 40 and points["run_ids"][7] == "run-7 run-8"
    assert points["value"][7] == runs["median_ns"][[7, 8]].median()


def test_times_of_other_zones_are_the_same_nights() -> None:
    runs = frame(steady(9))
    elsewhere = runs.assign(started_at=runs["started_at"].dt.tz_convert("Australia/Sydney"))
    dates, others = az.history(runs).points["date"], az.history(elsewhere).points["date"]
    assert list(dates) == list(others) and str(others.dt.tz) == "UTC"


def test_the_size_of_a_change_names_the_level_of_its_interval() -> None:
    nights = pd.date_range("2026-09-01", periods=40, tz="UTC")
    times = [(450 if night < 25 else 490) * 1e3 + night % 7 * 2e3 for night in range(40)]
    runs = pd.DataFrame({"path": "a → b", "method": "ping", "started_at": nights, "median_ns": times})
    for confidence, level in ((0.95, "95 % CI"), (0.99, "99 % CI")):
        assert level in az.say(az.history(runs, confidence=confidence).changes)


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
    found = az.history(pd.concat(runs))
    drifting, changed = rows(found.series)
    assert drifting["change_count"] == 0 and drifting["drift"] == pytest.approx(1.105, abs=0.02)
    assert "drifts by +10." in az.say(found.series[:1]) and math.isnan(changed["drift"])
    assert list(found.changes["path"]) == ["a → c"]


@pytest.mark.parametrize(
    ("margin", "alarmed", "verdict", "share"),
    [
        ("5%", True, "different", 0.05),
        ("20%", False, "different_within_margin", 0.2),
        ("300 us", False, "different_within_margin", 0.3),
    ],
)
def test_a_change_and_a_drift_are_judged_against_the_margin(
    margin: str, alarmed: bool, verdict: str, share: float
) -> None:
    random = stream(5)
    rising, stepped = (
        1e6 * np.exp(shape + 0.02 * random.standard_normal(120))
        for shape in (np.linspace(0, 0.1, 120), 0.08 * (np.arange(120) >= 60))
    )
    found = az.history(pd.concat([frame(rising), frame(stepped, "a → c")]), margin=margin)
    assert list(found.series["alarmed"]) == [alarmed] * 2
    assert list(found.changes["verdict"]) == [verdict]
    assert found.changes["margin"][0] == pytest.approx(share, rel=0.02)


def test_a_margin_that_is_a_time_judges_no_goodput() -> None:
    values = steady(9)
    values[40:] *= 1.3
    runs = frame(values).rename(columns={"median_ns": "throughput_bit_s"})
    (change,) = rows(az.history(runs, margin="2us").changes)
    assert change["verdict"] == "" and math.isnan(change["margin"])
    with pytest.raises(ValueError, match="margin"):
        az.history(runs, margin="wide")


def test_runs_without_a_series_are_three_empty_frames() -> None:
    found = az.history(frame(steady(7))[:0])
    filled = az.history(frame(np.concatenate([steady(7), 1.2 * steady(8)])))
    assert all(len(table) for table in filled)
    assert [table.dtypes.to_dict() for table in found] == [table.dtypes.to_dict() for table in filled]
    assert [len(table) for table in found] == [0, 0, 0] and all("path" in table for table in found)
    assert az.say(found.changes) == ""
