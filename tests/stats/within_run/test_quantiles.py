"""Quantiles of a run against R's exact ranks and direct sums, on hard inputs, and their attained coverage."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pandas as pd
import pytest
from helpers.cases import BOTH, FULL, attained, cases, content, fails, lognormal, number, stream
from scipy.special import ndtri
from scipy.stats import binom
from scipy.stats import t as student

import azlatency as az
from azlatency.stats.across_runs.quantiles_of_runs import median_of_runs
from azlatency.stats.within_run.histograms import histogram_quantiles
from azlatency.stats.within_run.order_statistics import order_statistic_ranks
from azlatency.stats.within_run.printed_quantiles import bracket, interpolated
from azlatency.stats.within_run.quantiles import quantiles

TRUTH = {p: math.exp(0.5 * float(ndtri(p))) for p in (0.5, 0.9, 0.99, 0.999)}


def one(data: Any, p: float, **options: Any) -> Any:
    (result,) = quantiles(data, p, **options)
    return result


# ----------------------------------------------------------------------------------------------------------- oracles


@pytest.mark.parametrize("case", cases("order_statistic_ci", "data-"))
def test_order_statistic_intervals(case: dict[str, Any]) -> None:
    given, expected = case["input"], case["expected"]
    values = [math.nan if each is None else each for each in given["x"]]
    result = one(values, given["p"], independent=True)
    ordered = np.sort([each for each in values if not math.isnan(each)])
    ranks = order_statistic_ranks(len(ordered), given["p"], given.get("conf", 0.95))
    public = result.low, result.high
    for side, rank, due, own in zip((-1, 1), ranks, (expected["lower"], expected["upper"]), public, strict=True):
        if number(due) is None:
            assert own is None and not 1 <= rank <= len(ordered)
            continue
        assert ordered[rank - 1] == pytest.approx(number(due), rel=1e-12)
        # The public interval is the same, or wider by half a step for coarse values, which the oracle does not widen.
        if "quantised" in result.codes:
            assert side * own >= side * number(due)
        else:
            assert own == pytest.approx(number(due), rel=1e-12)
    assert result.n == expected.get("n_used", len(values))
    assert result.diagnostics["missing"] == expected.get("n_nan", 0)
    assert ("missing" in result.codes) == bool(expected.get("n_nan", 0))


TABLES = content("printed_percentile_tables")["tables"]


# ------------------------------------------------------------------------------------------------------- hard inputs


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
    assert str(result)


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
    assert with_loss.n == 10_050 and with_loss.diagnostics["lost"] == 50
    assert one(in_place, 0.99).diagnostics["lost"] == 50
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
    within = az.quantiles(frame, (0.5, 0.9))
    assert [each.labels["run_id"] for each in within] == [f"r{i}" for i in range(6) for _ in range(2)]
    assert {each.scope for each in within} == {"within_run"}
    assert all(each.n == 395 and each.diagnostics["lost"] == 1 for each in within)
    labels = pd.DataFrame({"path": ["a"]}, index=["r3"])
    (chosen,) = az.quantiles(frame, 0.5, labels=labels)
    assert chosen.labels == {"run_id": "r3", "path": "a", "q": 0.5}


def test_a_frame_of_something_else_is_an_error() -> None:
    with pytest.raises(ValueError, match="run_id and rtt_ns; the frame has value"):
        quantiles(pd.DataFrame({"value": [1.0]}))


def test_a_series_of_pandas_may_miss_values() -> None:
    result = one(pd.Series([1, 2, None, 4] * 30, dtype="Int64"), 0.5)
    assert result.n == 90 and result.diagnostics["missing"] == 30


def test_values_known_as_intervals() -> None:
    """Windows prints ``time<1ms``: the ends must hold whatever the values were."""
    exact = stream(10).lognormal(0.5, 0.5, 4000)
    low, high = np.floor(exact), np.floor(exact) + 1
    frame = pd.DataFrame({"run_id": "r", "rtt_ns": high, "low_ns": low, "high_ns": high})
    (result,) = quantiles(frame, 0.5)
    (truth,) = quantiles(exact, (0.5,))
    assert result.low <= truth.low and result.high >= truth.high
    assert "quantised" in result.codes
    assert result.diagnostics["estimate_low"] <= truth.estimate <= result.diagnostics["estimate_high"]


def test_histograms_bound_the_interval_of_the_values() -> None:
    values = stream(11).lognormal(0, 0.5, 20_000)
    edges = np.geomspace(values.min() * 0.999, values.max() * 1.001, 400)
    counts, _ = np.histogram(values, edges)
    for result, exact in zip(
        histogram_quantiles(edges[:-1], edges[1:], counts, (0.5, 0.99)),
        quantiles(values, (0.5, 0.99), independent=True),
        strict=True,
    ):
        assert result.low <= exact.low and result.high >= exact.high
        assert result.high / exact.high < 1.02 and exact.low / result.low < 1.02
        assert result.estimate == pytest.approx(exact.estimate, rel=0.02)
        assert "within_run_floor" in result.codes
    (aware,) = histogram_quantiles(edges[:-1], edges[1:], counts, (0.5,), tau=40.0)
    assert aware.n_effective == 500 and "within_run_floor" not in aware.codes
    assert aware.high - aware.low > result.high * 0.02


def test_an_open_bin_has_no_upper_end() -> None:
    (result,) = histogram_quantiles([0.0, 1.0], [1.0, math.nan], [50, 50], (0.9,))
    assert result.high is None and result.estimate is None and "unbounded_upper" in result.codes
    (nothing,) = histogram_quantiles([], [], [], (0.5,))
    assert nothing.refused and nothing.codes == ("within_run_floor", "no_values")


@pytest.mark.parametrize(
    ("values", "code"),
    [([], "no_values"), ([5.0], "no_replication"), ([5.0, 6, 7], "few_clusters"), ([5.0] * 6, "constant")],
)
def test_order_statistics_of_run_values(values: list[float], code: str) -> None:
    result = median_of_runs(values)
    assert code in result.codes and result.scope == "across_runs"


def test_six_runs_are_bounded_by_their_range() -> None:
    result = median_of_runs([54, 55.4, 57.1, 55, 58.3, 61.09], resolution=0.1)
    assert (result.low, result.high) == pytest.approx((53.95, 61.14))
    assert result.estimate == pytest.approx(56.25)


# ---------------------------------------------------------------------------------------------------------- coverage


@pytest.mark.parametrize("made", BOTH)
def test_c1_independent_packets(made: int) -> None:
    """C1: exact order statistics hold at every n; the percentile bootstrap of p99.9 at n = 5,000 does not."""
    rng = stream(21)
    for n in (10, 50, 400, 1000, 5000):
        data = rng.lognormal(0, 0.5, (made, n))
        for p in (0.5, 0.99, 0.999):
            low, high = order_statistic_ranks(n, p)
            if high > n or low < 1:
                continue
            results = [one(x, p, independent=True) for x in data[: min(made, 500)]]
            exact = float(binom.cdf(high - 1, n, p) - binom.cdf(low - 1, n, p))
            held = [each.low <= TRUTH[p] <= each.high for each in results]
            attained(f"C1 n = {n}, p = {p}", held, len(results), nominal=exact, above=0.015)
    ordered = np.sort(data, axis=1)  # n = 5,000; the ideal bootstrap of p99.9 draws its rank from a binomial law
    ranks = [_bootstrap_rank(5000, 0.999, share) for share in (0.025, 0.975)]
    held = list((ordered[:, ranks[0] - 1] <= TRUTH[0.999]) & (TRUTH[0.999] <= ordered[:, ranks[1] - 1]))
    fails("C1 percentile bootstrap of p99.9, n = 5,000", held, 0.92)


def _bootstrap_rank(n: int, p: float, share: float) -> int:
    """The order statistic that is the ``share``-quantile of the bootstrapped p-quantile, without resampling.

    The k-th of n drawn is at most X_(r) where at least k draws fall among the first r: a binomial law.
    """
    k = math.ceil(n * p)
    r = np.arange(1, n + 1)
    return int(r[np.searchsorted(binom.sf(k - 1, n, r / n), share)])


@pytest.mark.parametrize("made", BOTH)
@pytest.mark.parametrize("n", [2000, 40_000])
@pytest.mark.parametrize("rho", [0.0, 0.5, 0.95, 0.99])
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
        results = quantiles(x, levels)
        ordered = np.sort(x)
        for p, result in zip(levels, results, strict=True):
            low, high = order_statistic_ranks(n, p)
            naive[p].append(ordered[low - 1] <= TRUTH[p] <= (ordered[high - 1] if high <= n else math.inf))
            if result.low is not None and result.high is not None:
                held[p].append(result.low <= TRUTH[p] <= result.high)
            elif result.low is not None:
                lower.append(result.low <= TRUTH[p])
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
def test_c7_printed_tables(made: int) -> None:
    """C7: brackets hold at least as often as they say, log/exponential interpolation about; linear at p99 does not."""
    rng = stream(23)
    n, levels = 6738, (0.25, 0.5, 0.75, 0.9, 0.99, 0.999, 0.9999)
    ranks = [1, *(int(p * n + 0.5) for p in levels[:-1]), n]
    linear = []
    held: dict[float, list[bool]] = {p: [] for p in TRUTH}
    brackets: dict[float, list[bool]] = {p: [] for p in TRUTH}
    for _ in range(made):
        ordered = np.sort(rng.lognormal(0, 0.5, n))
        values = [float(ordered[rank - 1]) for rank in ranks]
        for p, truth in TRUTH.items():
            result = interpolated(p, n, ranks, values)
            held[p].append(result.low <= truth <= (math.inf if result.high is None else result.high))
            whole = bracket(p, n, ranks, values)
            brackets[p].append(whole.low <= truth <= (math.inf if whole.high is None else whole.high))
        low, high = np.interp(order_statistic_ranks(n, 0.99), ranks, values)
        linear.append(bool(low <= TRUTH[0.99] <= high))
    for p in TRUTH:
        attained(f"C7 interpolated, p = {p}", held[p], made, above=0.04)
        assert np.mean(brackets[p]) >= 0.95
    fails("C7 linear in the rank, p99", linear, 0.85)


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
