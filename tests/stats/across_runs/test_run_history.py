"""Series of runs as a family: planted changes, healthy series, labels, clocks and order."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest
from helpers.cases import BOTH, stream

import azlatency as az
from azlatency.stats.across_runs.levels import SHORTEST, find_steps


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


def test_times_of_other_zones_are_the_same_nights() -> None:
    runs = frame(steady(9))
    elsewhere = runs.assign(started_at=runs["started_at"].dt.tz_convert("Australia/Sydney"))
    assert az.history(runs)[0].times == az.history(elsewhere)[0].times


def test_many_nights_are_searched_on_a_grid() -> None:
    values = steady(11, 5000, 0.05)
    values[3210:] *= 1.1
    (step,) = find_steps(values, 1e-3)
    assert abs(step.at - 3210) <= 3 and step.low <= 3210 <= step.high


def test_constant_and_short_series_have_no_steps() -> None:
    assert find_steps(np.full(50, 3.0)) == [] and find_steps(steady(1, 2 * SHORTEST - 1)) == []


def ar1(rng: np.random.Generator, number: int, coefficient: float) -> np.ndarray:
    noise = rng.standard_normal(number + 50)
    series = np.empty(number + 50)
    series[0] = noise[0]
    for at in range(1, len(noise)):
        series[at] = coefficient * series[at - 1] + math.sqrt(1 - coefficient**2) * noise[at]
    return series[50:]


HEALTHY = {
    "lognormal": lambda rng, number: rng.lognormal(0, 0.05, number),
    "exponential": lambda rng, number: rng.exponential(1, number),
    "pareto": lambda rng, number: rng.pareto(1.5, number) + 1,
    "two levels at random": lambda rng, number: rng.lognormal(0, 0.02, number) * rng.choice([1, 1.2], number),
    "weekends": lambda rng, number: rng.lognormal(0, 0.03, number) * np.where(np.arange(number) % 7 > 4, 1.1, 1),
    "rare losses": lambda rng, number: rng.poisson(0.3, number) / 1000,
    "AR(1) 0.5": lambda rng, number: np.exp(0.05 * ar1(rng, number, 0.5)),
}  # fmt: skip


@pytest.mark.parametrize("made", BOTH)
@pytest.mark.parametrize("process", HEALTHY)
def test_healthy_families_of_eight_series_rarely_change(process: str, made: int) -> None:
    made = max(made // 10, 100) if made < 1000 else made
    rng = stream(590 + list(HEALTHY).index(process))
    changed = 0
    for study in range(made):
        number = (20, 40, 60, 120)[study % 4]
        changed += any(find_steps(HEALTHY[process](rng, number), 0.05 / 8) for _ in range(8))
    allowed = 0.10 if process.startswith("AR") else 0.05
    print(f"{process}: {100 * changed / made:.1f} % of {made} families of eight series changed")
    assert changed / made <= allowed + 2 * math.sqrt(allowed * (1 - allowed) / made)
