from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from helpers.cases import stream

import azlatency as az
from azlatency.stats.across_runs.sightings import sightings

NIGHTS = pd.date_range("2026-09-01", periods=30, tz="UTC")


def series(changes: dict[int, float], *, spread: float = 0.01, level: float = 1.5e6, seed: int = 3) -> pd.DataFrame:
    values = level * stream(seed).lognormal(0, spread, 30)
    for place, ratio in changes.items():
        values[place] *= ratio
    return pd.DataFrame({"path": "a → b", "method": "ping", "started_at": NIGHTS, "median_ns": values})


def seen(runs: pd.DataFrame) -> pd.DataFrame:
    return sightings(az.history(runs))


@pytest.mark.parametrize(
    ("places", "kind"), [(range(3), "oldest"), (range(28, 30), "newest"), (range(12, 14), "came_and_went")]
)
def test_few_points_away_from_the_level_are_named_by_their_place(places: range, kind: str) -> None:
    (row,) = seen(series(dict.fromkeys(places, 1.3))).to_dict("records")
    assert (row["kind"], row["at"], row["n"]) == (kind, places.start, len(places))
    assert (row["date"], row["date_last"]) == (NIGHTS[places.start], NIGHTS[places.stop - 1])
    assert row["ratio"] == pytest.approx(1 / 1.3 if kind == "oldest" else 1.3, rel=0.05)


def test_what_a_noisy_series_does_all_the_time_is_no_sighting() -> None:
    assert seen(series({}, spread=0.1, seed=5)).empty and seen(series({10: 1.1})).empty


def test_five_points_are_a_level_and_no_sighting() -> None:
    runs = series(dict.fromkeys(range(20, 30), 1.3))
    assert az.history(runs).series["change_count"].tolist() == [1] and seen(runs).empty


def test_a_step_that_is_lost_among_many_series_is_unconfirmed() -> None:
    step = series(dict.fromkeys(range(15, 30), 1.3), spread=0.1, seed=1)
    assert az.history(step).series["change_count"].tolist() == [1]
    others = [series({}, spread=0.1, seed=10 + number).assign(path=f"{number} → b") for number in range(60)]
    family = az.history(pd.concat([step, *others]))
    assert family.series.set_index("path").loc["a → b", "change_count"] == 0
    rows = sightings(family).query("path == 'a → b'").to_dict("records")
    (row,) = (row for row in rows if row["kind"] == "unconfirmed")
    assert row["ratio"] == pytest.approx(1.3, rel=0.2)


def test_points_between_two_levels_have_not_come_and_gone() -> None:
    runs = series(dict.fromkeys(range(12, 14), 1.3) | dict.fromkeys(range(14, 30), 1.6), level=3e6)
    (row,) = seen(runs).to_dict("records")
    assert (row["kind"], row["at"], row["n"]) == ("on_the_way", 12, 2)
    assert row["before"] == runs["median_ns"][:12].median() and row["after"] == runs["median_ns"][12:14].median()


def test_a_limit_that_was_crossed_to_stay() -> None:
    runs = series(dict.fromkeys(range(15, 30), 1.3), spread=0.03, level=0.9e6)
    sure = 1 - 1e-15  # at which no change is confirmed
    (row,) = sightings(az.history(runs, confidence=sure)).to_dict("records")
    assert (row["kind"], row["limit"], row["at"], row["n"]) == ("crossed", 1e6, 15, 15)
    assert row["before"] == runs["median_ns"][:15].median() and row["after"] == runs["median_ns"][15:].median()
    rates = runs.rename(columns={"median_ns": "throughput_bit_s"})
    assert sightings(az.history(rates, confidence=sure)).empty, "only round trips have these limits"


def test_a_limit_that_a_confirmed_change_crossed_is_no_sighting() -> None:
    assert seen(series(dict.fromkeys(range(10, 30), 0.5), level=1.5e6)).empty


def test_an_empty_history_has_no_sightings() -> None:
    frame = seen(series({})[:5])
    assert frame.empty and frame["ratio"].dtype == np.float64 and str(frame["date"].dtype).startswith("datetime64")


def test_points_away_from_an_unconfirmed_level_are_named() -> None:
    step = series(dict.fromkeys(range(15, 29), 1.3), spread=0.1, seed=1)
    step.loc[29, "median_ns"] = 4e6
    others = [series({}, spread=0.1, seed=10 + number).assign(path=f"{number} → b") for number in range(60)]
    frame = seen(pd.concat([step, *others])).query("path == 'a → b'").set_index("kind")
    assert frame.loc["newest", "before"] == frame.loc["unconfirmed", "after"] and frame.loc["newest", "at"] == 29
