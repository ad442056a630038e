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


def printed(values: list[float], *, window: float | None = None, **columns: object) -> pd.DataFrame:
    """Return values in ms as a series that is printed with two decimals; of windows in days or of runs."""
    starts = pd.date_range("2026-01-01", periods=len(values), freq="35D", tz="UTC")
    runs = pd.DataFrame({"path": "a → b", "method": "netperf", "started_at": starts, "mean_ns": np.array(values) * 1e6})
    if window:
        columns |= {"dialect": "table", "duration_ns": window * 86_400e9}
    return runs.assign(mean_ns_resolution=1e4, **columns)


# zones.csv.gz, the windows that do not overlap: mon04-a to mon04-b, wdc04-a to wdc06-a.
MON = [0.17, 0.16, 0.17, 0.17, 0.17, 0.16, 0.16, 0.17, 0.17, 0.17, 0.16, 0.13, 0.13, 0.13, 0.13]
WDC = [0.87, 0.86, 0.84, 0.65, 0.65, 0.63, 0.65, 0.65, 0.65, 0.66, 0.76, 0.69, 0.71, 0.72, 0.7, 0.72, 0.69, 0.7, 0.71,
       1.46, 0.66, 0.69]  # fmt: skip


def test_neither_a_printed_step_nor_a_slow_movement_hides_the_ends() -> None:
    (mon,) = seen(printed(MON)).to_dict("records")
    assert (mon["kind"], mon["n"], mon["before"], mon["after"]) == ("newest", 4, 170e3, 130e3)
    first, slow = seen(printed(WDC)).to_dict("records")
    assert (first["kind"], first["n"], first["before"]) == ("oldest", 3, 860e3)
    assert (slow["kind"], slow["n"], slow["after"]) == ("came_and_went", 1, 1.46e6)


def test_where_a_level_wanders_the_last_points_are_held_against_the_five_before() -> None:
    """sao01-a to sao04-a: 1.57 ms in the end, 10 % below the median of all, and 16 % below the five before."""
    sao = [1.77, 1.83, 1.82, 1.79, 1.81, 1.81, 1.68, 1.63, 1.66, 1.66, 1.65, 1.65, 1.71, 1.86, 1.86, 1.89, 1.88, 1.82,
           1.62, 1.58, 1.55, 1.57]  # fmt: skip
    (row,) = seen(printed(sao)).to_dict("records")
    assert (row["kind"], row["n"], row["before"], row["after"], row["beside"]) == ("newest", 3, 1.86e6, 1.57e6, 5)


def test_two_printed_steps_are_no_sighting() -> None:
    """dal14-a to dal14-a is printed as 0.08 ms in its first window, and as 0.09 to 0.11 ms in the other twenty."""
    values = [0.08] + [0.1] * 20
    assert seen(printed(values)).empty
    assert len(seen(printed(values).assign(mean_ns_resolution=1e3))) == 1


@pytest.mark.parametrize(
    ("values", "window", "kinds"),
    [
        ([0.57, 0.31, 0.30, 0.30, 0.28, 0.27], 30, ["short"]),
        ([0.91, 0.84, 0.79, 0.99, 0.74, 0.74], 30, ["short"]),
        ([0.91, 0.84, 0.79, 0.99, 0.74, 0.74], None, []),  # single runs differ as much by chance
        ([0.57, 0.31, 0.30, 0.30, 0.28, 0.27], None, ["short"]),
        ([0.12, 0.11, 0.10], 30, []),  # two printed steps
        ([0.57, 0.55], 30, []), ([0.57, 0.31], None, []), ([0.57], 30, []), ([0.5, 0.0, 0.0], 30, []),
    ],
)  # fmt: skip
def test_a_short_series_whose_ends_differ_is_named(values: list[float], window: float | None, kinds: list[str]) -> None:
    rows = seen(printed(values, window=window))
    assert rows["kind"].tolist() == kinds
    assert all((row["before"], row["after"]) == (values[0] * 1e6, values[-1] * 1e6) for row in rows.to_dict("records"))


def test_runs_without_times_have_no_first_and_last_point() -> None:
    runs = printed([0.57, 0.31, 0.30, 0.30, 0.28, 0.27]).drop(columns="started_at")
    assert seen(runs).empty


def test_an_empty_history_has_no_sightings() -> None:
    frame = seen(series({})[:5])
    assert frame.empty and frame["ratio"].dtype == np.float64 and str(frame["date"].dtype).startswith("datetime64")


@pytest.mark.costly
def test_points_away_from_an_unconfirmed_level_are_named() -> None:
    step = series(dict.fromkeys(range(15, 29), 1.3), spread=0.1, seed=1)
    step.loc[29, "median_ns"] = 4e6
    others = [series({}, spread=0.1, seed=10 + number).assign(path=f"{number} → b") for number in range(60)]
    frame = seen(pd.concat([step, *others])).query("path == 'a → b'").set_index("kind")
    # Points 15 to 28, without the last one.
    assert frame.loc["newest", "before"] == step["median_ns"][15:29].median() and frame.loc["newest", "at"] == 29
