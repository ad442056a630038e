"""Two groups, several tests, repeats, bootstrap laws, agreement, specifications."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pandas as pd
from scipy import stats

from azlatency.logs.grammar.units import quantity
from azlatency.stats.across_runs.agreement import bland_altman
from azlatency.stats.across_runs.baseline import check_expectation
from azlatency.stats.across_runs.hodges_lehmann import hodges_lehmann, pseudomedian, rank_sum_distribution
from azlatency.stats.across_runs.two_groups import Summary, student_interval, summary, tost, welch
from azlatency.stats.multiplicity import adjust_p
from azlatency.stats.result import verdict_of
from azlatency.stats.within_run.exceedance import exceedance
from azlatency.stats.within_run.order_statistics import order_statistic_ranks
from azlatency.stats.within_run.quantiles import quantiles
from helpers.cases import generated
from helpers.enumeration import sign_flip_p
from helpers.oracle_answers import Refused, answers, array
from helpers.rank_tests import rank_sum_tails, signed_rank_tails
from helpers.results import compare_runs


def _two(given: dict[str, Any]) -> tuple[Summary, Summary]:
    return tuple(Summary(group["n"], group["mean"], group["sd"]) for group in (given["a"], given["b"]))  # type: ignore[return-value]


# ------------------------------------------------------------------------------------------------------- summaries


@answers("summary_tests", "welch|", p="p_rel")
def welch_t(given: dict[str, Any]) -> dict[str, Any]:
    first, second = _two(given)
    found = welch(first, second)
    assert found is not None
    difference, (error, df) = first.mean - second.mean, found
    half = stats.t.ppf((1 + given["conf"]) / 2, df) * error
    return {
        "diff": difference, "se": error, "df": df, "t": difference / error,
        "p": 2 * stats.t.sf(abs(difference) / error, df), "lower": difference - half, "upper": difference + half,
    }  # fmt: skip


@answers("summary_tests", "tost")
def equivalence(given: dict[str, Any]) -> dict[str, Any]:
    first, second = _two(given)
    found = welch(first, second)
    assert found is not None
    difference, (error, df) = first.mean - second.mean, found
    half = stats.t.ppf(given["conf"], df) * error
    t_lower, t_upper = ((difference - given[name]) / error for name in ("margin_low", "margin_high"))
    p = tost(difference, error, df, given["margin_low"], given["margin_high"])
    return {
        "t_lower": t_lower, "t_upper": t_upper, "p_lower": stats.t.sf(t_lower, df), "p_upper": stats.t.cdf(t_upper, df),
        "p": p, "ci90": [difference - half, difference + half], "equivalent_at_05": p < 0.05,
    }  # fmt: skip


@answers("summary_tests", "refuse|")
def no_spread(given: dict[str, Any]) -> dict[str, Any]:
    first, second = (
        Summary(group["n"], group["mean"], math.nan if group["sd"] is None else group["sd"])
        for group in (given["a"], given["b"])
    )
    return {"error": Refused(("no_replication",) if welch(first, second) is None else ())}


@answers("summary_tests", "paired|")
def paired(given: dict[str, Any]) -> dict[str, Any]:
    x, y = array(given["x"]), array(given["y"])
    d = x - y
    n, mean, sd = summary(d)
    low, high = student_interval(d, given["conf"]) or (None, None)
    t = mean / (sd / math.sqrt(n))
    # The flip of the mean is not offered: signed ranks are exact for the estimate shown.
    v = float(stats.rankdata(np.abs(d))[d > 0].sum())
    return {
        "t": t, "df": n - 1, "p": 2 * stats.t.sf(abs(t), n - 1), "lower": low, "upper": high,
        "signflip_exact_p": sign_flip_p(d), "signed_rank_V": v,
        "signed_rank_exact_p_midranks": signed_rank_tails(d).two_sided,
    }  # fmt: skip


# ------------------------------------------------------------------------------------------------------- ranks


@answers(
    "rank_effect_tests", "latte", "iperf", "heavy", "bimodal", "separated", "n2", "n1", "const_shift",
    mwu_="p_rel",
)  # fmt: skip
def ranks(given: dict[str, Any]) -> dict[str, Any]:
    """The asymptotic rank test, with and without continuity correction, is scipy's: the library's is exact."""
    x, y, confidence = array(given["x"]), array(given["y"]), given["conf"]
    shift, p = hodges_lehmann(x, y, confidence), rank_sum_tails(x, y).two_sided
    with_correction, without = (
        stats.mannwhitneyu(x, y, method="asymptotic", use_continuity=use) for use in (True, False)
    )
    u = with_correction.statistic
    return {
        "U_x": u, "W": u, "hodges_lehmann_shift_median_of_pairwise": shift.estimate,
        "mwu_asymptotic_cc_p": with_correction.pvalue, "mwu_asymptotic_nocc_p": without.pvalue,
        "mwu_exact_permutation_midrank_p": p,
        "hl_ci_exact": {"estimate": shift.estimate, "lower": shift.low, "upper": shift.high, "p_exact": p},
    }  # fmt: skip


@answers("rank_effect_tests", "moses-ci|")
def moses(given: dict[str, Any]) -> dict[str, Any]:
    x, y = array(given["x"]), array(given["y"])
    shift = hodges_lehmann(x, y, given["conf"])
    support, law = rank_sum_distribution(np.arange(1.0, len(x) + len(y) + 1), len(x))
    counts = support - len(x) * (len(x) + 1) / 2
    qu = counts[np.searchsorted(np.cumsum(law), (1 - given["conf"]) / 2 - 1e-12)]
    return {"qu": qu, "lower": shift.low, "upper": shift.high, "achieved": shift.confidence}


@answers("rank_effect_tests", "hl-one-sample|")
def walsh(given: dict[str, Any]) -> dict[str, Any]:
    x = array(given["x"])
    return {"pseudomedian": pseudomedian(x).estimate, "n_walsh": len(x) * (len(x) + 1) // 2}


@answers("rank_effect_tests", "p.adjust|")
def adjusted(given: dict[str, Any]) -> dict[str, Any]:
    p = [None if each is None else float(each) for each in given["p"]]
    known = np.array([each for each in p if each is not None])
    others = {name: _stepped(known, name) for name in ("BH", "BY", "hochberg", "bonferroni")}
    placed = {name: _placed(p, adjusted_p) for name, adjusted_p in others.items()}
    by_method = {"holm": adjust_p(p), **placed, "hommel": _hommel(p)}
    return by_method if len(p) > 1 else {name: p_values[0] for name, p_values in by_method.items()}


def _stepped(p: np.ndarray, name: str) -> np.ndarray:
    """The other adjustments, from their definitions: not offered, Holm needs no assumption and finds single pairs."""
    m, order = len(p), np.argsort(p)
    rank = np.arange(1, m + 1)
    if name == "bonferroni":
        return np.minimum(p * m, 1.0)
    factor = m - rank + 1 if name == "hochberg" else m / rank * (float((1 / rank).sum()) if name == "BY" else 1.0)
    stepped = np.minimum.accumulate((p[order] * factor)[::-1])[::-1]
    return np.minimum(stepped[np.argsort(order)], 1.0)


def _placed(p: list[float | None], adjusted: np.ndarray) -> list[float | None]:
    left = iter(adjusted.tolist())
    return [None if each is None else next(left) for each in p]


def _hommel(p: list[float | None]) -> list[float | None]:
    """Hommel's adjustment, from its definition as a closed test with Simes: not offered, Holm needs no assumption."""
    known = [p_value for p_value in p if p_value is not None]

    def closed(value: float) -> float:
        others = sorted(known)
        others.remove(value)
        best = value
        for size in range(1, len(known)):
            # The hardest intersection of this size takes the largest of the others.
            group = sorted([value, *others[len(others) - size :]])
            best = max(best, min(len(group) * p_value / (at + 1) for at, p_value in enumerate(group)))
        return min(best, 1.0)

    return [None if p_value is None else closed(p_value) for p_value in p]


@answers("project_methods", "mover-quantile-diff|")
def mover(given: dict[str, Any]) -> dict[str, Any]:
    """Two intervals of the library, set against each other here: two connections are not compared."""
    x, y = generated(given["a"]), generated(given["b"])
    (a,), (b,) = (quantiles(values, given["p"], given["conf"], independent=True).itertuples() for values in (x, y))
    difference = a.estimate - b.estimate
    return {
        "q_a": a.estimate, "q_b": b.estimate, "diff": difference,
        "lower": difference - math.hypot(a.estimate - a.low, b.high - b.estimate),
        "upper": difference + math.hypot(a.high - a.estimate, b.estimate - b.low),
        "ranks": order_statistic_ranks(len(x), given["p"], given["conf"]),
    }  # fmt: skip


@answers("project_methods", "verdict|")
def verdict(given: dict[str, Any]) -> dict[str, Any]:
    error, df = given["sd"] / math.sqrt(given["rounds"]), given["rounds"] - 1
    ends = [
        math.exp(given["mean_log_ratio"] + sign * stats.t.ppf(level, df) * error)
        for level in (0.975, 0.95)
        for sign in (-1, 1)
    ]
    return {"verdict": verdict_of(*ends, given["margin"])}


# ------------------------------------------------------------------------------------------------------- repeats


@answers("misc_latency", "agreement|")
def tools(given: dict[str, Any]) -> dict[str, Any]:
    """Lin's coefficient and the paired p are computed here: .99995 says nothing over a range from 17 to 718 us."""
    x, y = array(given["qperf_half_rtt"]), array(given["sockperf_half_rtt"])
    result = bland_altman(2 * x, 2 * y)
    a, b = np.log(x), np.log(y)
    lin = 2 * np.mean((a - a.mean()) * (b - b.mean())) / (a.var() + b.var() + (a.mean() - b.mean()) ** 2)
    return {
        "mean_log_ratio": math.log(result["ratio"]), "sd_log_ratio": (a - b).std(ddof=1),
        "geo_mean_ratio": result["ratio"], "ci95_ratio": [result["ratio_low"], result["ratio_high"]],
        "limits_of_agreement_ratio": [result["limit_low"], result["limit_high"]],
        "loa_exact_t_prediction": [result["prediction_low"], result["prediction_high"]], "lins_ccc_log": lin,
        "paired_t_p": stats.ttest_rel(a, b).pvalue, "tost_5pct_p": result["p"],
    }  # fmt: skip


@answers("misc_latency", "rounding-interval|")
def rounding(given: dict[str, Any]) -> dict[str, Any]:
    quantities = []
    for printed in given["printed"]:
        number, _, unit = printed.partition(" ")
        quantities.append(quantity(number, unit or "us", significant=3))
    size = [1.0 if unit else 1e3 for unit in (each.partition(" ")[2] for each in given["printed"])]
    ends = [
        [(float(each.value) + sign * float(each.resolution)) / s for each, s in zip(quantities, size, strict=True)]
        for sign in (-1, 1)
    ]
    return {"lower": ends[0], "upper": ends[1]}


@answers("misc_latency", "spec|throughput >= 11 Gbps, 5 runs")
def meets(given: dict[str, Any]) -> dict[str, Any]:
    """The verdict; the t bounds of the mean are not offered: an expectation is held against the typical run.

    Tolerance limits for every VM are not offered: no page says what one more VM would do.
    """
    x, n = given["x"], len(given["x"])
    test = stats.ttest_1samp(x, given["limit"], alternative="greater")
    k = stats.nct.ppf(0.95, n - 1, stats.norm.ppf(0.9) * math.sqrt(n)) / math.sqrt(n)
    return {
        "lower_conf_bound_mean": test.confidence_interval(given["conf"]).low, "p": test.pvalue,
        "verdict": _spec(given), "normal_tolerance_factor_90_95": k,
        "lower_tolerance_bound": np.mean(x) - k * np.std(x, ddof=1),
    }  # fmt: skip


@answers("misc_latency", "spec|throughput >= 11 Gbps, borderline")
def borderline(given: dict[str, Any]) -> dict[str, Any]:
    test = stats.ttest_1samp(given["x"], given["limit"], alternative="greater")
    return {"p_meets": test.pvalue, "p_fails": 1 - test.pvalue, "verdict": _spec(given),
            "ci90": list(stats.ttest_1samp(given["x"], 0).confidence_interval(2 * given["conf"] - 1))}  # fmt: skip


def _spec(given: dict[str, Any]) -> Any:
    wanted = {"name": "spec", "relation": given["direction"].replace(" ", "_"), "low": given["limit"], "unit": "Gbit/s"}
    return check_expectation(given["x"], wanted, confidence=given["conf"])["status"].iloc[0]


@answers("misc_latency", "spec|p99.9")
def percentile_spec(given: dict[str, Any]) -> dict[str, Any]:
    n, confidence = given["n"], 2 * given["conf"] - 1  # its bounds are one-sided
    shares = pd.concat(
        exceedance(np.repeat([0.0, 2.0], [n - above, above]), 1.0, confidence=confidence, independent=True)
        for above in given["count_above"]
    )
    return {"upper_cp": list(shares["high"]), "lower_cp": list(shares["low"]),
            "verdict": [_kept(share, 1 - given["quantile"]) for share in shares.itertuples()]}  # fmt: skip


def _kept(share: Any, allowed: float) -> str:
    """A promise about a percentile is read from the interval of the share: no function of its own."""
    return "meets" if share.high <= allowed else "fails" if share.low > allowed else "inconclusive"


@answers("misc_latency", "seed004-ratios")
def ratios(given: dict[str, Any]) -> dict[str, Any]:
    """One number each: the bare ratio with ``no_replication``, which `changes` shows without an interval."""
    same, cross, region = given["same"], given["cross"], given["region"]
    assert compare_runs([cross], [same])["flags"] == "no_replication"
    return {"cross_over_same": cross / same, "region_over_same": region / same, "region_over_cross": region / cross}
