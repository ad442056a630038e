"""Quantiles of a run against R's exact ranks and direct sums, on hard inputs, and their attained coverage."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pandas as pd
import pytest
from helpers.cases import BOTH, FULL, LOGNORMAL_QUANTILES, attained, fails, lognormal, stream, thinned
from helpers.results import estimates_of
from scipy.stats import t as student

from azlatency.stats.within_run.order_statistics import order_statistic_ranks
from azlatency.stats.within_run.quantiles import quantiles


def one(data: Any, p: float, **options: Any) -> Any:
    (result,) = estimates_of(quantiles(data, p, **options))
    return result


@pytest.mark.parametrize(
    ("values", "p", "codes"),
    [
        ([], 0.5, {"no_values"}),
        ([math.nan] * 3, 0.5, {"no_values", "missing"}),
        ([5.0], 0.99, {"tail_unresolved"}),
        ([5.0, 6.0], 0.99, {"tail_unresolved"}),
        ([math.inf] * 5 + [1.0] * 95, 0.99, {"loss_censored"}),
        ([math.inf] * 10, 0.5, {"loss_censored"}),
    ],
)
def test_refusals_are_values(values: list[float], p: float, codes: set[str]) -> None:
    result = one(values, p)
    assert result.refused and codes <= set(result.codes)


def test_one_and_two_values_have_a_median_and_no_interval() -> None:
    for values in ([5.0], [5.0, 6.0]):
        result = one(values, 0.5)
        assert result.estimate == 5.0 and (result.low, result.high) == (None, None)


def test_a_constant_run_is_flagged() -> None:
    result = one([42.0] * 500, 0.5)
    assert (result.low, result.estimate, result.high) == (42.0, 42.0, 42.0)
    assert result.codes == ("constant",)


def test_loss_is_infinitely_late() -> None:
    rng = stream(5)
    values = rng.lognormal(0, 0.5, 10_000)
    complete = one(values, 0.99)
    with_loss = one(values, 0.99, lost=50)
    in_place = values.copy()
    in_place[rng.choice(10_000, 50, replace=False)] = math.inf
    assert with_loss.estimate > complete.estimate
    assert with_loss.n == 10_050 and one(in_place, 0.99).n == 10_000
    assert one(in_place, 0.99).estimate > complete.estimate
    assert one(values, 0.99, lost=200).codes[0] == "loss_censored"
    # The upper end may be infinite although the estimate is not.
    nearly = one(values, 0.99, lost=95)
    assert nearly.estimate is not None and nearly.high is None and "unbounded_upper" in nearly.codes


def test_quantised_pings_are_flagged_and_widened() -> None:
    values = np.round(stream(6).lognormal(0, 0.2, 400), 1)
    result = one(values, 0.5)
    assert "quantised" in result.codes
    assert result.low <= result.estimate - 0.05 and result.high >= result.estimate + 0.05
    printed = one(stream(6).lognormal(0, 0.2, 400), 0.5, resolution=0.5)
    assert "quantised" in printed.codes and printed.high - printed.low > 0.5


def test_bimodal_runs_give_an_interval_across_the_gap() -> None:
    rng = stream(7)
    values = np.where(rng.random(2001) < 0.5, 50.0, 72.0) + rng.standard_normal(2001)
    result = one(values, 0.5)
    assert result.low < 56 and result.high > 66


def test_a_slow_run_is_worth_few_values() -> None:
    result = one(lognormal(stream(8), 1000, 0.99), 0.5)
    assert (result.low, result.high) == (None, None)
    assert {"few_clusters", "tail_unresolved"} & set(result.codes)


def test_levels_outside_are_errors() -> None:
    for levels in ((0.0,), (1.0,), (0.5, 99)):
        with pytest.raises(ValueError, match="between 0 and 1"):
            quantiles([1.0], levels)


def samples(rng: np.random.Generator, runs: int, effect: float = 0.05) -> pd.DataFrame:
    frames = []
    for run in range(runs):
        values = np.exp(effect * rng.standard_normal()) * rng.lognormal(10, 0.1, 400)
        status = pd.array(["ok"] * 400, dtype="string")
        status[:5] = "warmup"
        status[7] = "lost"
        rtt = pd.array(values.round(), dtype="Int64")
        rtt[7] = pd.NA
        frames.append(pd.DataFrame({"run_id": f"r{run}", "rtt_ns": rtt, "status": status}))
    return pd.concat(frames, ignore_index=True)


def test_a_frame_of_samples_is_estimated_run_by_run() -> None:
    frame = samples(stream(9), 6)
    within = estimates_of(quantiles(frame, (0.5, 0.9)))
    assert [estimate.labels["run_id"] for estimate in within] == [f"r{i}" for i in range(6) for _ in range(2)]
    assert {estimate.scope for estimate in within} == {"within_run"}
    assert all(estimate.n == 395 for estimate in within), "five for warm-up are left out, a lost one counts"
    labels = pd.DataFrame({"path": ["a"]}, index=["r3"])
    (chosen,) = estimates_of(quantiles(frame, 0.5, labels=labels))
    assert chosen.labels == {"run_id": "r3", "path": "a", "q": 0.5}


def test_a_frame_of_something_else_is_an_error() -> None:
    with pytest.raises(ValueError, match="run_id and rtt_ns; the frame has value"):
        quantiles(pd.DataFrame({"value": [1.0]}))


def test_a_series_of_pandas_may_miss_values() -> None:
    result = one(pd.Series([1, 2, None, 4] * 30, dtype="Int64"), 0.5)
    assert result.n == 90 and "missing" in result.codes


def test_values_known_as_intervals() -> None:
    """Windows prints ``time<1ms``: the ends must hold whatever the values were."""
    exact = stream(10).lognormal(0.5, 0.5, 4000)
    low, high = np.floor(exact), np.floor(exact) + 1
    frame = pd.DataFrame({"run_id": "r", "rtt_ns": high, "low_ns": low, "high_ns": high})
    result, truth = one(frame, 0.5), one(exact, 0.5)
    assert result.low <= truth.low and result.high >= truth.high
    assert "quantised" in result.codes
    assert result.estimate == pytest.approx(np.floor(truth.estimate) + 0.5)


@pytest.mark.costly
@pytest.mark.parametrize("made", BOTH)
@pytest.mark.parametrize("n", [2000, 40_000])
@pytest.mark.parametrize("rho", thinned([0.99, 0.0, 0.5, 0.95], 4))
def test_c3_dependent_packets(rho: float, n: int, made: int) -> None:
    """C3: the interval holds where it is not refused; ranks of independent data do not, from rho = .5 on."""
    rng = stream(2200 + int(100 * rho) + n)
    made = made // 2 if n > 2000 or made == FULL else made
    levels = (0.5, 0.99, 0.999)
    held: dict[float, list[bool]] = {p: [] for p in levels}
    naive: dict[float, list[bool]] = {p: [] for p in levels}
    lower: list[bool] = []
    for _ in range(made):
        x = lognormal(rng, n, rho)
        results = estimates_of(quantiles(x, levels))
        ordered = np.sort(x)
        for p, result in zip(levels, results, strict=True):
            low, high = order_statistic_ranks(n, p)
            naive[p].append(
                ordered[low - 1] <= LOGNORMAL_QUANTILES[p] <= (ordered[high - 1] if high <= n else math.inf)
            )
            if result.low is not None and result.high is not None:
                held[p].append(result.low <= LOGNORMAL_QUANTILES[p] <= result.high)
            elif result.low is not None:
                lower.append(result.low <= LOGNORMAL_QUANTILES[p])
    for p in levels:
        if len(held[p]) > made / 10:
            # Wilson's ranks are discrete and a little wide where few lie above: up to 98.5 %.
            attained(f"C3 rho = {rho}, n = {n}, p = {p}", held[p], made, above=0.035)
        else:
            print(f"C3 rho = {rho}, n = {n}, p = {p}: {made - len(held[p])} of {made} refused")
        if rho >= 0.95 and p < 0.999:
            fails(f"C3 naive ranks, rho = {rho}, n = {n}, p = {p}", naive[p], 0.7)
    if lower:
        print(f"C3 one-sided lower ends, rho = {rho}, n = {n}: {100 * np.mean(lower):.1f} % of {len(lower)}")
        assert np.mean(lower) >= 0.96


@pytest.mark.parametrize("made", BOTH)
def test_c9_quantised(made: int) -> None:
    """C9: twenty pings in steps of 0.1 ms; closed order statistics hold, t of the mean is off its level.

    The law is this test's own (the specification's 97.6 and 59.4 % name none), so its numbers are not to be compared
    with those; and the interval is widened by half a step, which is why it holds more often.
    """
    rng = stream(24)
    held, naive = [], []
    for _ in range(made):
        x = np.round(0.7 + 0.1 * rng.lognormal(0, 1.4, 20), 1)
        result = one(x, 0.5, independent=True)
        held.append(result.low <= 0.8 <= result.high)
        half = student.ppf(0.975, 19) * x.std(ddof=1) / math.sqrt(20)
        naive.append(bool(abs(x.mean() - 0.8) <= half))
    print(f"C9 order statistics of quantised values: {100 * np.mean(held):.1f} %")
    assert np.mean(held) >= 0.95
    fails("C9 t of the mean", naive, 0.9)
