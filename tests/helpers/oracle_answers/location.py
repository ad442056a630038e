"""Quantiles, means, proportions, printed tables, dependence."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pandas as pd
from scipy import stats
from scipy.special import ndtri

import azlatency as az
from azlatency.stats.across_runs.attainable import smallest_n
from azlatency.stats.unit_checks import closed_loop_shares
from azlatency.stats.within_run import dependence as dep
from azlatency.stats.within_run.exceedance import table_counts, table_exceedance
from azlatency.stats.within_run.fan_out import fan_out
from azlatency.stats.within_run.order_statistics import MIN_BEYOND, effective_ranks, order_statistic_ranks
from azlatency.stats.within_run.printed_quantiles import bracket
from azlatency.stats.within_run.proportions import clopper_pearson, wilson
from azlatency.stats.within_run.quantiles import quantiles
from helpers.cases import generated, table
from helpers.oracle_answers import Either, answers, array
from helpers.results import estimate_of

# ------------------------------------------------------------------------------------------------- order statistics


@answers(
    "order_statistic_ci", "rank-", one_sided_lower_coverage="coverage_abs", one_sided_upper_coverage="coverage_abs"
)
def ranks(given: dict[str, Any]) -> dict[str, Any]:
    n, p, confidence = given["n"], given["p"], given["conf"]
    low, high = order_statistic_ranks(n, p, confidence)
    # A one-sided bound at 95 % is the end of the two-sided interval at 90 %.
    one_low, one_high = order_statistic_ranks(n, p, 2 * confidence - 1)
    below = stats.binom.cdf
    # n = 1 and 2 stand exactly on a step of the binomial law, where the last digit of 1 - 0.95 decides.
    lows = [
        rank
        for rank in (one_low - 1, one_low, one_low + 1)
        if rank == one_low or (rank >= 0 and abs(below(max(rank, one_low) - 1, n, p) - (1 - confidence)) < 1e-12)
    ]
    return {
        "lower_rank": low, "upper_rank": high, "coverage": below(high - 1, n, p) - below(low - 1, n, p),
        "lower_finite": low >= 1, "upper_finite": high <= n,
        "one_sided_upper_rank": one_high, "one_sided_upper_finite": one_high <= n,
        "one_sided_upper_coverage": below(one_high - 1, n, p),
        "one_sided_lower_rank": Either(*lows), "one_sided_lower_finite": Either(*(rank >= 1 for rank in lows)),
        "one_sided_lower_coverage": Either(*(1 - below(rank - 1, n, p) for rank in lows)),
    }  # fmt: skip


@answers("order_statistic_ci", "data-", lower="values_rel", upper="values_rel")
def data_ranks(given: dict[str, Any]) -> dict[str, Any]:
    x = array(given["x"])
    confidence, missing = given.get("conf", 0.95), int(np.isnan(x).sum())
    ordered = np.sort(x[~np.isnan(x)])
    n, p = len(ordered), given["p"]
    low, high = order_statistic_ranks(n, p, confidence)
    return {
        "lower": ordered[low - 1] if low >= 1 else None, "upper": ordered[high - 1] if high <= n else None,
        "lower_rank": low, "upper_rank": high, "n_used": n, "n_nan": missing,
        "coverage": stats.binom.cdf(high - 1, n, p) - stats.binom.cdf(low - 1, n, p),
    }  # fmt: skip


@answers(
    "order_statistic_ci", "gen-", p99_lower="values_rel", p99_upper="values_rel", p999_lower="values_rel",
    p999_upper="values_rel", sum="values_rel",
)  # fmt: skip
def generated_ranks(given: dict[str, Any]) -> dict[str, Any]:
    x = generated(given["generator"])
    p99, p999 = quantiles(x, (0.99, 0.999), given["conf"], independent=True).itertuples()
    return {
        "sum": x.sum(), "p99_lower": p99.low, "p99_upper": p99.high, "p999_lower": p999.low, "p999_upper": p999.high,
        "p99_ranks": order_statistic_ranks(len(x), 0.99), "p999_ranks": order_statistic_ranks(len(x), 0.999),
    }  # fmt: skip


@answers("order_statistic_ci", "min-n-")
def sizes(given: dict[str, Any]) -> dict[str, Any]:
    two, upper, span = (smallest_n(given["p"], given["conf"], sides=sides) for sides in ("two", "upper", "range"))
    return {"equal_tailed_two_sided": two, "one_sided_upper": upper, "thompson_two_sided": span}


@answers("project_methods", "indicator-neff-wilson", rank_lower="rank", rank_upper="rank")
def dependent_ranks(given: dict[str, Any]) -> dict[str, Any]:
    x, p = generated(given["generator"]), given["p"]
    (result,) = quantiles(x, p, given["conf"]).itertuples()
    tau = dep.indicator_autocorrelation_time(x, result.estimate)
    ranks, ordered = effective_ranks(len(x), p, tau, given["conf"]), np.sort(x)
    degrees = max(2 * ranks.n_effective * min(p, 1 - p), 4)
    critical = stats.t.ppf(0.975, degrees) if ranks.n_effective < 200 else ndtri(0.975)
    low, high = wilson(p, ranks.n_effective, critical)
    # The public result refuses the upper end wherever the oracle does, and in one case more (see _Run.cautious_tau).
    is_open, is_flagged = math.isnan(result.high), {"tail_unresolved", "unbounded_upper"} <= set(result.flags.split())
    exceedances = ranks.n_effective * (1 - p)
    assert is_open == (exceedances < MIN_BEYOND or is_flagged)
    assert is_open or (result.low, result.high) == (ordered[ranks.low - 1], ordered[ranks.high - 1])
    return {
        "q_hat": result.estimate, "tau": tau, "n_eff": ranks.n_effective, "p_lower": low, "p_upper": high,
        "rank_lower": ranks.low, "rank_upper": ranks.high, "lower": ordered[ranks.low - 1],
        "upper": ordered[ranks.high - 1] if ranks.high <= len(x) else None,
        "effective_exceedances": exceedances, "refuse": exceedances < MIN_BEYOND,
    }  # fmt: skip


# ------------------------------------------------------------------------------------------- other kinds of quantile


@answers("quantiles_robust", "")
def quantile_kinds(given: dict[str, Any]) -> dict[str, Any]:
    """Types 6 to 8, sockperf's rank and scales by numpy and scipy: the library reports order statistics (type 1)."""
    x = np.sort(generated(given["generator"]) if "generator" in given else array(given["x"]))
    n, probs = len(x), given["probs"]
    results = quantiles(x, probs, independent=True)["estimate"]
    type1 = [float(x[max(math.ceil(n * p - 1e-9), 1) - 1]) for p in probs]
    for result, due, p in zip(results, type1, probs, strict=True):
        # Less than one observation above: no estimate.
        assert result == due if p <= 0.5 or n * (1 - p) >= 1 - 1e-9 else math.isnan(result)
    types = {"type6": "weibull", "type7_numpy_default": "linear", "type8_median_unbiased": "median_unbiased"}
    quantile = {name: np.quantile(x, probs, method=method) for name, method in types.items()}  # type: ignore[call-overload]
    sockperf = [int(p * n + 0.5) for p in probs]
    q25, q75 = np.quantile(x, (0.25, 0.75))
    return {
        **quantile, "type1_inverted_cdf": type1,
        "sockperf_rank": [x[rank - 1] if rank else None for rank in sockperf],
        "mad_scaled_1.4826": 1.4826 * np.median(np.abs(x - np.median(x))),
        "mean_abs_dev": np.abs(x - x.mean()).mean(), "siqr_type7": (q75 - q25) / 2,
        "sd": x.std(ddof=1) if n > 1 else None, "trimmed_mean_20": stats.trim_mean(x, 0.2),
        "skew_b1": stats.skew(x) if n > 1 else None,
    }  # fmt: skip


@answers("quantiles_robust", "fanout-")
def slowest(given: dict[str, Any]) -> dict[str, Any]:
    n, p = given["N"], given["p"]
    if "x" in given:
        slowest = fan_out(given["x"], n, p, independent=True)["estimate"].item()
        return {"max_of_N_quantile": None if math.isnan(slowest) else slowest, "resolvable": not math.isnan(slowest)}
    return {
        "single_call_quantile_level": p ** (1 / n),
        "prob_any_exceeds_single_p99": -math.expm1(n * math.log1p(-0.01)),
        "prob_any_exceeds_single_p999": -math.expm1(n * math.log1p(-0.001)),
    }  # fmt: skip


@answers("misc_latency", "resolution-check")
def resolution(given: dict[str, Any]) -> dict[str, Any]:
    results = [quantiles(np.arange(float(n)), given["p"], independent=True)["estimate"].item() for n in given["n"]]
    return {
        "n_above": [n * (1 - given["p"]) for n in given["n"]],
        "printable": [not math.isnan(result) for result in results],
    }


# --------------------------------------------------------------------------------------------------- printed tables


@answers(
    "printed_percentile_tables", "ci|", lower="values_abs", upper="values_abs", achieved_coverage="coverage_abs",
)  # fmt: skip
def table_interval(given: dict[str, Any]) -> dict[str, Any]:
    printed, p, confidence = table(given["table"]), given["p"], given["conf"]
    n, known, values = printed.n, printed.ranks, printed.values
    assert n == given["n"]
    result = estimate_of(bracket(p, n, known, values, confidence=confidence))
    low, high = order_statistic_ranks(n, p, confidence)
    below = max((rank for rank in known if rank <= low), default=0)
    above = min((rank for rank in known if rank >= high), default=n + 1)
    return {
        "lower": result.low, "upper": result.high, "lower_rank_printed": below, "upper_rank_printed": above,
        "exact_ranks_wanted": [low, high],
        "achieved_coverage": stats.binom.cdf(above - 1, n, p) - stats.binom.cdf(below - 1, n, p),
    }  # fmt: skip


@answers("printed_percentile_tables", "ranks|")
def table_ranks(given: dict[str, Any]) -> dict[str, Any]:
    n, levels = given["n"], given["printed_p"][::-1]
    known = [1, *(math.floor(p * n + 0.5) for p in levels), n]
    return {
        "rank": known, "value": [given["min"], *given["printed_value"][::-1], given["max"]],
        "n_above_each": [n - rank for rank in known], "resolvable": [n * (1 - p) >= 1 for p in given["printed_p"]],
    }  # fmt: skip


@answers("printed_percentile_tables", "exceed|", count_lower="count", count_upper="count")
def table_share(given: dict[str, Any]) -> dict[str, Any]:
    printed = table(given["table"])
    low, high = table_counts(given["limit"], printed.n, printed.ranks, printed.values)
    share = table_exceedance(given["limit"], printed.n, printed.ranks, printed.values, confidence=given["conf"])
    return {
        "count_lower": low, "count_upper": high, "prop_lower": low / printed.n, "prop_upper": high / printed.n,
        "cp_lower": share["low"].item(), "cp_upper": share["high"].item(),
    }  # fmt: skip


@answers("printed_percentile_tables", "closed-loop-identity|")
def closed_loop_identity(given: dict[str, Any]) -> dict[str, Any]:
    """From the label alone: the share of the time that full or half round trips would fill."""
    half = given["printed_label"] == "avg-latency"
    run = {
        "mean_ns": given["mean"] * 1e3, "printed_as": "round_trip", "n": given["n"],
        "duration_ns": given["duration_s"] * 1e9, "closed_loop": True, "tool": "sockperf",
    }  # fmt: skip
    (share,) = closed_loop_shares(pd.DataFrame([run]))
    assert share * (2 if half else 1) == Approx(1.0, 0.01)
    return {"factor_to_rtt": 2 if half else 1, "busy_fraction_if_full": share, "busy_fraction_if_half": 2 * share}


class Approx(float):
    """Equal within a relative distance."""

    def __new__(cls, value: float, near: float) -> Approx:
        self = super().__new__(cls, value)
        self.near = near
        return self

    def __eq__(self, other: object) -> bool:
        return isinstance(other, float | int) and abs(other - float(self)) <= self.near * abs(float(self))

    __hash__ = float.__hash__


# -------------------------------------------------------------------------------------------- means and proportions


@answers("rank_effect_tests", "proportion|")
def proportion(given: dict[str, Any]) -> dict[str, Any]:
    k, n, confidence = given["k"], given["n"], given["conf"]
    x = np.repeat([2.0, 0.0], [k, n - k])
    (share,) = az.stats.exceedance(x, 1.0, confidence=confidence, independent=True).itertuples()
    return {
        "clopper_pearson": [share.low, share.high],
        "wilson": list(wilson(k / n, n, float(ndtri((1 + confidence) / 2)))),
        "one_sided_upper_95": clopper_pearson(k, n, 2 * confidence - 1)[1],
    }


# ------------------------------------------------------------------------------------------------------ dependence


@answers(
    "autocorrelation_ess", "", ess_ar1_formula="nw_rel", ar1_yule_walker="acf_abs", ljung_box20__="ljung_box_rel",
    long_run_var__newey_="nw_rel", long_run_var__batch_="batch_rel", long_run_var__geyer_="geyer_rel",
    long_run_var__sample_var="nw_rel", ess_geyer_="geyer_rel",
    turning_or_runs_median__="acf_abs",
)  # fmt: skip
def series(given: dict[str, Any]) -> dict[str, Any]:
    x = generated(given["generator"])
    assert len(x) == given["n"] and abs(x.sum() - given["check_sum"]) < 1e-6
    n, variance = len(x), float(np.var(x))
    r = dep.autocorrelation(x, 20)
    statistic, p = dep.ljung_box(x, 20)
    side = x > np.median(x)
    pairs = dep.autocovariance(x, n - 1)[: n // 2 * 2].reshape(-1, 2).sum(axis=1)
    positive = 2 * pairs[: int(np.argmax(pairs <= 0))].sum() / variance - 1
    return {
        "acf_lag1_5": r[1:6], "acf_lag20": r[20], "ljung_box20": {"stat": statistic, "p": p}, "ar1_yule_walker": r[1],
        "coda_effectiveSize": _coda(x), "ess_geyer_ips": n / positive, "ess_geyer_ims": n / dep.autocorrelation_time(x),
        "ess_ar1_formula": n * (1 - r[1]) / (1 + r[1]),
        "long_run_var": {
            "newey_west_bartlett_lag20": dep.newey_west(x, 20), "newey_west_bartlett_lag60": dep.newey_west(x, 60),
            "batch_means_b44": 44 * dep.block_means(x, n // 44).var(ddof=1),
            "geyer_ips": variance * positive, "sample_var": float(np.var(x, ddof=1)),
        },
        "turning_or_runs_median": {"n_runs": 1 + int((side[1:] != side[:-1]).sum())},
    }  # fmt: skip


def _coda(x: np.ndarray) -> float:
    """coda's effectiveSize: AR(p) by Yule and Walker, p by AIC up to 10 log10 n; not offered, Geyer needs no model."""
    n = len(x)
    covariance = dep.autocovariance(x, int(10 * math.log10(n)))
    best, spectrum = math.inf, 1.0
    for order in range(len(covariance)):
        phi = _yule_walker(covariance, order)
        noise = covariance[0] - phi @ covariance[1 : order + 1]
        criterion = n * math.log(noise) + 2 * order
        if criterion < best:
            # R scales the noise by n/(n - p - 1).
            best, spectrum = criterion, noise * n / (n - order - 1) / (1 - phi.sum()) ** 2
    return n * float(np.var(x, ddof=1)) / spectrum


def _yule_walker(covariance: np.ndarray, order: int) -> np.ndarray:
    from scipy.linalg import solve_toeplitz

    return np.zeros(0) if not order else solve_toeplitz(covariance[:order], covariance[1 : order + 1])


@answers("project_methods", "batch-ladder")
def ladder(given: dict[str, Any]) -> dict[str, Any]:
    x = generated(given["generator"])
    assert not dep.errors_grow(x, dep.autocorrelation_time(x))
    errors = [dep.batch_error(x, count) for count in given["batches"]]
    return {"se": errors, "naive_se": x.std(ddof=1) / math.sqrt(len(x))}
