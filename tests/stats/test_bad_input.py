"""Too few, equal, missing and lost values: every public function answers with flags, never an exception or infinity."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pandas as pd
import pytest
from helpers.small_frames import runs, samples

import azlatency as az
from azlatency import stats
from azlatency.stats.across_runs.planning import runs_to_decide
from azlatency.stats.within_run.dependence import dependence
from azlatency.stats.within_run.exceedance import table_exceedance

INF, NAN = math.inf, math.nan
VALUES: dict[str, list[float]] = {
    "none": [], "one": [1e5], "one missing": [NAN], "one lost": [INF], "all missing": [NAN] * 30,
    "all lost": [INF] * 30, "two": [1e5, 2e5], "two equal": [1e5] * 2, "equal": [1e5] * 60,
    "equal, some lost": [1e5] * 50 + [INF] * 10, "nearly all lost": [1e5, 1.1e5, *[INF] * 48],
    "half lost": [*np.linspace(1e5, 2e5, 30), *[INF] * 30], "half missing": [1e5, NAN, 1.2e5, NAN, 1.1e5] * 6,
    "negative": [-1e5, -2e5, 1e5] * 10, "zeros": [0.0] * 40, "two levels": [1.0, 2.0] * 100,
}  # fmt: skip
GOOD = [1e5, 1.1e5, 1.2e5, 1.3e5, 1.15e5, 1.05e5]
CALLS: dict[str, Callable[[list[float]], Any]] = {
    "quantiles": az.quantiles,
    "quantiles, lost": lambda x: az.quantiles(x, lost=5),
    "quantiles, independent": lambda x: az.quantiles(x, independent=True),
    "dependence": dependence,
    "exceedance": lambda x: stats.exceedance(x, 1.1e5),
    "exceedance, lost": lambda x: stats.exceedance(x, 1.1e5, lost=7),
    "table_exceedance": lambda x: table_exceedance(1.1e5, len(x), [*range(1, len(x) + 1)], sorted(x)),
    "fan_out": lambda x: stats.fan_out(x, 10),
    "remaining_wait": stats.remaining_wait,
    "stability": stats.stability,
    "throttling": stats.throttling,
    "interval_mean": stats.interval_mean,
    "trend": stats.trend,
    "clock_steps": lambda x: stats.time_series.clock_steps(np.arange(float(len(x))), np.array(x)),
    "lifetimes": lambda x: stats.lifetimes(x, [True] * len(x)),
    "lifetimes, none lost": lambda x: stats.lifetimes(x, [False] * len(x)),
    "histogram_quantiles": lambda x: stats.histogram_quantiles(x, [y + 1 for y in x], [3] * len(x)),
    "exceedance_curve": lambda x: stats.tail_by_run.exceedance_curve(np.array(x)),
    "summarize": az.summarize,
    "compare": lambda x: az.compare(x, GOOD),
    "compare, paired": lambda x: az.compare(x, x, paired=True),
    "runs_needed": stats.runs_needed,
    "runs_to_decide": lambda x: runs_to_decide(x, GOOD, 0.05),
    "check_expectation": lambda x: stats.check_expectation(x, {"relation": "at_least", "low": 1.0}),
}
FRAMES: dict[str, Callable[[pd.DataFrame], Any]] = {
    "summarize": lambda frame: az.summarize(frame, "median_ns"),
    "compare": lambda frame: az.compare(frame, runs(), value="median_ns"),
    "asymmetry": lambda frame: az.asymmetry(frame, value="median_ns"),
    "agreement": lambda frame: stats.agreement(frame, value="median_ns"),
    "baseline": az.baseline,
    "plan": lambda frame: az.plan(frame, value="median_ns"),
    "compare_imports": lambda frame: stats.compare_imports(frame, runs(), value="median_ns"),
}


def numbers(result: Any) -> Iterator[float]:
    """Yield the numbers of a result, of its parts and of its diagnostics; NaN stands for no number."""
    if isinstance(result, float | np.floating):
        yield float(result)
    elif isinstance(result, pd.DataFrame):
        yield from numbers(result.to_dict("list"))
    elif isinstance(result, dict):
        yield from (number for key, part in result.items() if key != "limit" for number in numbers(part))
    elif isinstance(result, list | tuple):
        yield from (number for part in result for number in numbers(part))
    elif isinstance(result, pd.DataFrame):
        yield from result.select_dtypes("number").to_numpy(dtype=float).ravel()
    elif dataclasses.is_dataclass(result):
        yield from (number for field in dataclasses.fields(result) for number in numbers(getattr(result, field.name)))


def check(result: Any) -> None:
    """A result prints, holds no infinite number, and an estimate without number or interval says why."""
    printed = az.say(result) if isinstance(result, pd.DataFrame) else str(result)
    assert (printed or not len(result)) and not any(map(math.isinf, numbers(result)))
    if isinstance(result, pd.DataFrame) and {"estimate", "flags"} <= set(result.columns):
        is_known = result[["estimate", "low", "high"]].notna().all(axis=1)
        assert (is_known | (result["flags"] != "")).all()


@pytest.mark.costly
@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("name", CALLS)
def test_bad_values_are_flagged(name: str) -> None:
    for values in VALUES.values():
        check(CALLS[name](list(values)))


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("name", FRAMES)
def test_bad_runs_are_flagged(name: str) -> None:
    whole = runs()
    for frame in (
        whole[:0],
        whole[:1],
        whole[:2],
        whole.assign(median_ns=1e5),
        whole.assign(median_ns=INF),
        whole.assign(median_ns=NAN),
    ):
        check(FRAMES[name](frame))


def test_no_samples_have_no_quantiles() -> None:
    assert az.quantiles(samples()[:0]).empty


def test_counts_that_disagree_are_flagged() -> None:
    for ranks, values in (([1, 2, 3], [1.0, 2.0, 3.0]), ([1, 2], [1.0])):
        share = table_exceedance(1.5, 2, ranks, values)
        assert share["estimate"].isna().all() and list(share["flags"]) == ["counts_conflict"]


@pytest.mark.parametrize(
    "call",
    [
        lambda: stats.interval_mean([1.0, 2.0], [1.0]),
        lambda: stats.stability([1.0, 2.0], [1.0]),
        lambda: stats.lifetimes([1.0, 2.0], [True]),
        lambda: stats.histogram_quantiles([1.0, 2.0], [2.0, 3.0], [5]),
        lambda: stats.histogram_quantiles([1.0], [2.0], [NAN]),
    ],
)
def test_arguments_of_different_lengths_are_errors_that_say_so(call: Callable[[], object]) -> None:
    with pytest.raises(ValueError, match="one"):
        call()
