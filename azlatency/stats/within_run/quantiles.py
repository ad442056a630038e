"""Quantiles of a round trip, from whatever the log left: samples, a histogram, a printed table, one number a run.

Samples of one connection are not independent. The interval of a quantile is a pair of order statistics whose ranks come
from a Wilson interval at the effective sample size of the indicator 1{x <= q} (Woodruff, JASA 47:635, 1952;
Heidelberger & Lewis, Operations Research 32:185, 1984): 94-95.5 % coverage where ranks of independent data cover
27-55 %.

A printed percentile is an order statistic of known rank. The exact order-statistic interval of a quantile asks for two
ranks (l, u) that are seldom printed themselves; the printed value of the largest rank <= l bounds the lower end from
below and that of the smallest rank >= u the upper end from above. The bracket therefore covers at least as often as the
exact interval (Le Boudec, Performance Evaluation, EPFL Press 2010, theorem 2.1), for independent packets. Packets of
one connection are not independent, so every such interval is a floor on the uncertainty and says so.
"""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from azlatency.stats.across_runs.means import across_runs
from azlatency.stats.across_runs.run_values import refusals, run_values
from azlatency.stats.result import Estimate, Results
from azlatency.stats.within_run.dependence import dependence, indicator_time, series
from azlatency.studies.samples import bounds, counted

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd

METHOD = "bracket by printed order statistics; ranks by the exact binomial interval (Le Boudec 2010, thm 2.1)"
INTERPOLATION = "log value linear in -log(1 - rank/(n + 1)) between printed order statistics, at the exact ranks"
WITHIN = (
    "order statistics; ranks by Wilson's interval at the effective n of 1{x <= q} "
    "(Woodruff 1952; Heidelberger & Lewis 1984; Geyer 1992)"
)
EXACT = "order statistics; ranks by the exact binomial interval (Le Boudec 2010, thm 2.1)"
ASSUMPTIONS = ("stationary during the run", "short memory")
#: The quantiles that are answered where none are named.
LEVELS = (0.5, 0.9, 0.99, 0.999, 0.9999)
#: Effective observations beyond the quantile below which its outer end is refused (86 % coverage at 6, 79 % at 2).
RESOLVED = 10


def order_statistic_ranks(n: int, p: float, confidence: float = 0.95) -> tuple[int, int]:
    """Ranks (l, u), 1-based, of the equal-tailed order-statistic interval [X_(l), X_(u)] for the p-quantile.

    With B ~ Binomial(n, p): l is the largest rank with P(B < l) <= alpha/2, u the smallest with P(B >= u) <= alpha/2;
    l = 0 stands for minus infinity and u = n + 1 for plus infinity. ``n`` observations, ``0 < p < 1``.
    Raises `ValueError` outside these. Source: Le Boudec 2010, theorem 2.1.
    """
    if n < 0 or not 0 < p < 1 or not 0 < confidence < 1:
        raise ValueError(f"n = {n}, p = {p}, confidence = {confidence}: need n >= 0 and the others between 0 and 1")
    from scipy.stats import binom

    tail = (1 - confidence) / 2
    # P(B <= l - 1) <= tail: the largest such l is the smallest k with P(B <= k) > tail. scipy's ppf is the smallest k
    # with P(B <= k) >= tail, one off only where equality holds.
    low = int(binom.ppf(tail, n, p))
    if binom.cdf(low, n, p) <= tail:
        low += 1
    # P(B >= u) = P(B > u - 1) <= tail.
    high = int(binom.isf(tail, n, p)) + 1
    return max(low, 0), min(high, n + 1)


def bracket(
    p: float,
    n: int,
    ranks: Sequence[int],
    values: Sequence[float],
    *,
    confidence: float = 0.95,
    what: str = "",
    labels: dict[str, object] | None = None,
) -> Estimate:
    """The interval of the p-quantile of one run of ``n`` observations from printed order statistics.

    ``ranks`` (1-based, ascending, with 1 and n where minimum and maximum are printed) and their ``values`` in ns.
    The estimate is the printed value of rank floor(p*n + 0.5), None where that rank is not printed.
    """
    low_rank, high_rank = order_statistic_ranks(n, p, confidence) if n else (0, 1)
    below = bisect_right(ranks, low_rank) - 1
    above = bisect_left(ranks, high_rank)
    low = values[below] if below >= 0 else None
    high = values[above] if above < len(ranks) else None
    own_rank = int(p * n + 0.5)
    estimate = values[ranks.index(own_rank)] if own_rank in ranks else None
    codes = ["within_run_floor"]
    if estimate is None:
        codes.append("no_values")
    if high is None:
        codes.append("unbounded_upper")
    if n and n * (1 - p) < 1:
        codes.append("tail_unresolved")
    if own_rank == n:
        codes.append("maximum_in_disguise")
    return Estimate(
        what or f"p{100 * p:g}",
        estimate,
        low,
        high,
        "ns",
        n,
        "within_run",
        confidence,
        METHOD,
        tuple(codes),
        dict(labels or {}),
    )


def interpolated(
    p: float,
    n: int,
    ranks: Sequence[int],
    values: Sequence[float],
    *,
    confidence: float = 0.95,
    unit: str = "ns",
    labels: dict[str, object] | None = None,
) -> Estimate:
    """The approximate interval of the p-quantile between printed order statistics, flagged ``interpolated``.

    ``ranks`` (1-based, ascending) and their positive ``values``. The logarithm of the value is taken as linear in the
    exponential score -log(1 - rank/(n + 1)): 94-98 % coverage on lognormal data at the iid floor, where interpolation
    that is linear in the rank covers 74 % at p99. An end that lies beyond the printed ranks is missing.
    """
    low_rank, high_rank = order_statistic_ranks(n, p, confidence) if n else (0, 1)
    low, high = (_between(rank, n, ranks, values) for rank in (low_rank, high_rank))
    own_rank = min(max(math.floor(p * n + 0.5), 1), max(n, 1))
    codes = ["within_run_floor", "interpolated"]
    if high is None:
        codes.append("unbounded_upper")
    if n and n * (1 - p) < 1:
        codes.append("tail_unresolved")
    estimate = _between(own_rank, n, ranks, values)
    if estimate is None:
        codes.append("no_values")
    name, own = f"p{100 * p:g}", dict(labels or {})
    assumed = ("independent packets", "a smooth law between the printed percentiles")
    return Estimate(
        name, estimate, low, high, unit, n, "within_run", confidence, INTERPOLATION, tuple(codes), own, None, assumed
    )


def _between(rank: int, n: int, ranks: Sequence[int], values: Sequence[float]) -> float | None:
    """Value at a rank between printed ones, by `INTERPOLATION`; None beyond them or next to a value of zero."""
    if not ranks or not ranks[0] <= rank <= ranks[-1]:
        return None
    above = bisect_left(ranks, rank)
    if ranks[above] == rank:
        return float(values[above])
    below = above - 1
    if values[below] <= 0:
        return None
    start, at, end = (-math.log1p(-each / (n + 1)) for each in (ranks[below], rank, ranks[above]))
    share = (at - start) / (end - start)
    return math.exp((1 - share) * math.log(values[below]) + share * math.log(values[above]))


def printed_quantiles(
    quantiles: pd.DataFrame, metrics: pd.DataFrame, *, confidence: float = 0.95, labels: pd.DataFrame | None = None
) -> Results[Estimate]:
    """Every printed round-trip quantile with its bracket, in order of run and q.

    ``quantiles`` and ``metrics``: tables of a study; minimum and maximum come from the metrics rtt_min and rtt_max.
    ``labels``: frame indexed by run_id; only its runs are looked at, in its order, and its columns become the
    estimates' labels.
    """
    printed = quantiles[(quantiles["metric"] == "rtt") & quantiles["rank"].notna()]
    extremes = metrics[metrics["metric"].isin(["rtt_min", "rtt_max"])]
    estimates = Results[Estimate]()
    tables = {str(run_id): table for run_id, table in printed.groupby("run_id", sort=False)}
    for run_id in tables if labels is None else [each for each in labels.index if each in tables]:
        table = tables[run_id]
        n = int(table["n"].iloc[0])
        known = dict(zip(table["rank"].astype(int), table["value_ns"].astype(float), strict=True))
        for metric, value in extremes.loc[extremes["run_id"] == run_id, ["metric", "value"]].itertuples(index=False):
            known[1 if metric == "rtt_min" else n] = float(value)
        ranks = sorted(known)
        values = [known[rank] for rank in ranks]
        own = {} if labels is None else labels.loc[run_id].to_dict()
        for q in sorted(table["q"].astype(float)):
            name = f"p{100 * q:g}"
            estimates.append(
                bracket(q, n, ranks, values, confidence=confidence, what=name, labels={"run_id": run_id, **own, "q": q})
            )
    return estimates


# ------------------------------------------------------------------------------------------------------- from samples


@dataclass(frozen=True, slots=True)
class Ranks:
    """Ranks (1-based) of an interval's ends among ``n`` sorted values: 0 and n + 1 stand for no bound."""

    low: int
    high: int
    tau: float
    n_effective: float
    exceedances: float

    @property
    def resolved(self) -> bool:
        """Whether enough effective observations lie above."""
        return self.exceedances >= RESOLVED


def wilson(share: float, n: float, critical: float) -> tuple[float, float]:
    """Wilson's interval of a proportion ``share`` of ``n`` (effective, so not necessarily whole) observations."""
    shrink = 1 + critical**2 / n
    centre = (share + critical**2 / (2 * n)) / shrink
    half = critical / shrink * math.sqrt(share * (1 - share) / n + critical**2 / (4 * n**2))
    return max(centre - half, 0.0), min(centre + half, 1.0)


def effective_ranks(n: int, p: float, tau: float, confidence: float = 0.95) -> Ranks:
    """Ranks of the interval of the p-quantile of ``n`` values whose indicator has autocorrelation time ``tau`` >= 1.

    Wilson's interval [P_L, P_U] at n/tau; t with 2 n_eff min(p, 1-p) (at least 4) degrees of freedom instead of z below
    200 effective values; ranks floor(n P_L) and ceil(n P_U) + 1.
    """
    from scipy.special import ndtri, stdtrit

    n_effective = n / tau
    upper = (1 + confidence) / 2
    degrees = max(2 * n_effective * min(p, 1 - p), 4)
    critical = float(stdtrit(degrees, upper) if n_effective < 200 else ndtri(upper))
    low, high = wilson(p, n_effective, critical)
    return Ranks(max(math.floor(n * low), 0), min(math.ceil(n * high) + 1, n + 1), tau, n_effective, n * (1 - p) / tau)


def quantiles(
    data: Any,
    q: float | Iterable[float] = LEVELS,
    confidence: float = 0.95,
    *,
    lost: int = 0,
    independent: bool = False,
    unit: str = "ns",
    resolution: float = 0.0,
    labels: pd.DataFrame | None = None,
    across: bool = False,
    value: str | None = None,
) -> Results[Estimate]:
    """Quantiles with intervals that know the dependence of packets; one `Estimate` for each run and ``q``.

    ``data``: one run's values in the order of sending, in ``unit`` (any sequence or Series; NaN is missing and is
    counted, ``inf`` is a probe without answer), or a study's samples, in ns (columns run_id and rtt_ns; status lost or
    unreachable is a probe without answer, warm-up and duplicates are left out; low_ns and high_ns are used where a
    value is known as an interval); or a frame of runs without samples (`azlatency.latency_runs`: one number a run in
    the column ``value``), which gives the quantiles *over the runs* of each path and method (`median_of_runs`). A
    `Study` stands for its samples, labelled with path and method. ``lost``: probes without answer whose place is
    unknown. A probe without answer counts as infinitely late. ``independent``: exact binomial ranks, for values that
    are replicates by design. ``resolution``: the step of the printed values, added to interval ends as half a step
    where the interval is not much wider. ``labels``: frame indexed by run_id that chooses and names the runs.
    ``across``: a statement about all the runs of a frame as repeats of one path instead (`across_runs` on the runs'
    quantiles).

    Refusals: ``no_values``; ``loss_censored`` (more lost than lies above: the quantile is infinite);
    ``tail_unresolved`` (less than one observation above: no estimate; fewer than ten effective ones: no upper end);
    ``few_clusters`` (a dependent run worth fewer than 30 values: no interval); ``long_memory`` (no interval).
    Raises `ValueError` for levels outside (0, 1) and data of two dimensions.
    """
    levels = [float(q)] if isinstance(q, int | float) else [float(each) for each in q]
    if any(not 0 < each < 1 for each in levels) or not 0 < confidence < 1:
        raise ValueError(f"q = {levels}, confidence = {confidence}: all must lie between 0 and 1")
    options: dict[str, Any] = {"independent": independent, "resolution": resolution}
    if hasattr(data, "samples"):
        from azlatency.studies.runs import latency_runs

        labels = latency_runs(data)[["path", "method"]] if labels is None else labels
        data = data.samples
    if not hasattr(data, "columns"):
        x, missing = series(data)
        return Results(_of_run(x, levels, confidence, lost=lost, missing=missing, unit=unit, **options))
    if "rtt_ns" not in data.columns and {"path", "method"} <= set(data.columns):
        return _over_runs(data, levels, confidence, value)
    results: list[Estimate] = []
    for run, low, high in _runs_of(data, labels):
        own = {"run_id": run} | ({} if labels is None else dict(labels.loc[run]))
        if low is high:
            results += _of_run(low, levels, confidence, lost=lost, missing=0, unit="ns", labels=own, **options)
        else:
            results += _of_intervals(low, high, levels, confidence, labels=own, **options)
    return Results(_across(results, levels, confidence) if across else results)


def _over_runs(runs: pd.DataFrame, levels: Sequence[float], confidence: float, value: str | None) -> Results[Estimate]:
    """Quantiles of one number a run over the runs of each path and method, in order of appearance."""
    results = Results[Estimate]()
    for (path, method), own in runs.groupby(["path", "method"], sort=False):
        found, codes = run_values(own, value), refusals([own], value)
        for p in levels:
            what = f"{path}, {method}, p{100 * p:g} of the runs"
            result = median_of_runs(found.values, p, unit=found.unit, confidence=confidence, what=what)
            if codes:
                result = replace(result, estimate=None, low=None, high=None, codes=codes)
            results.append(replace(result, labels={"path": path, "method": method, "q": p}))
    return results


@dataclass(frozen=True, slots=True)
class _Run:
    """One run's values, sorted, and how its results are to be told. ``n`` counts the lost; they stand last as inf."""

    ordered: np.ndarray
    n: int
    confidence: float
    unit: str
    independent: bool
    resolution: float
    codes: tuple[str, ...]
    found: dict[str, float | int | str | bool]
    labels: dict[str, object]


def _of_run(
    x: np.ndarray,
    levels: Sequence[float],
    confidence: float,
    *,
    lost: int,
    missing: int,
    unit: str,
    independent: bool,
    resolution: float,
    labels: dict[str, object] | None = None,
) -> list[Estimate]:
    """The quantiles of one run's values ``x`` (n,), ``inf`` where no answer came; one sort and one memory check."""
    import numpy as np

    ordered = np.sort(x)
    n = len(x) + lost
    unanswered = lost + len(x) - int(np.searchsorted(ordered, np.inf))
    found: dict[str, float | int | str | bool] = {"missing": missing, "lost": unanswered}
    memory = None if independent or len(x) < 4 else dependence(x)
    codes: tuple[str, ...] = ("missing",) if missing else ()
    if memory is not None:
        found["reach"] = memory.reach
    if memory is not None and memory.memory is not None:
        found["memory_d"] = memory.memory
    codes += () if memory is None else memory.codes
    if n > 1 and len(x) and not lost and ordered[0] == ordered[-1]:
        codes = (*codes, "constant")
    elif unanswered < n and _few_values(ordered):
        codes = (*codes, "quantised")
    run = _Run(ordered, n, confidence, unit, independent, resolution, codes, found, dict(labels or {}))
    times = _Times(x, ordered, n, 1.0 if memory is None else memory.rank_tau, {}, independent)
    results = {p: _finish(run, p, times) for p in set(levels)}
    return [results[p] for p in levels]


@dataclass(frozen=True, slots=True)
class _Times:
    """Autocorrelation times of 1{x <= q_p}, each computed once; ``ranks`` is that of the ranks of ``x``."""

    x: np.ndarray
    ordered: np.ndarray
    n: int
    ranks: float
    known: dict[float, float]
    independent: bool

    def at(self, p: float) -> float:
        """tau of the indicator of the p-quantile; 1 where the quantile is refused."""
        if p not in self.known:
            value = None if self.independent else _point(self.ordered, self.n, p)[1]
            self.known[p] = 1.0 if value is None else indicator_time(self.x, value)
        return self.known[p]

    def cautious(self, p: float) -> float:
        """tau by which a quantile counts as resolved: the larger of its own and that of ten times the tail.

        Few exceedances tell their own dependence badly. Resolved by its own estimate alone, a quantile would be kept
        just where tau came out too small: 62 % coverage of what was kept (p99.9, rho = .95, n = 40,000).
        """
        if self.independent:
            return 1.0
        wider = 10 * min(p, 1 - p)
        reference = self.ranks if wider >= 0.5 - 1e-9 else self.at(round(wider if p < 0.5 else 1 - wider, 12))
        return max(self.at(p), reference)


def _point(ordered: np.ndarray, n: int, p: float) -> tuple[tuple[str, ...], float | None]:
    """The order statistic of rank ceil(n p), or why there is none; ``n`` counts the lost beside the sorted values."""
    if not n:
        return ("no_values",), None
    rank = max(math.ceil(n * p - 1e-9), 1)
    if rank > len(ordered) or not math.isfinite(ordered[rank - 1]):
        return ("loss_censored",), None
    if n * (1 - p) < 1 - 1e-9 and p > 0.5:
        return ("tail_unresolved",), None
    return (), float(ordered[rank - 1])


def interval_ranks(n: int, p: float, tau: float, confidence: float, independent: bool) -> Ranks:
    """Ranks of the ends: at the effective n, or of independent values exactly."""
    if not n:
        return Ranks(0, 1, tau, 0.0, 0.0)
    if not independent:
        return effective_ranks(n, p, tau, confidence)
    low, high = order_statistic_ranks(n, p, confidence)
    return Ranks(low, high, 1.0, float(n), n * (1 - p))


def _few_values(ordered: np.ndarray) -> bool:
    """Whether the values come in fewer than twenty distinct ones, each of them twice or more on average."""
    import numpy as np

    # An early look at a thousand evenly spread ones keeps the count cheap.
    thin = ordered[:: max(len(ordered) // 1000, 1)]
    if len(np.unique(thin)) >= 20:
        return False
    return len(np.unique(ordered)) < min(20, len(ordered) / 2)


def _finish(run: _Run, p: float, times: _Times) -> Estimate:
    """The estimate of one quantile with the ends that may be told."""
    n, ordered = run.n, run.ordered
    refusal, value = _point(ordered, n, p)
    tau, cautious = times.at(p), times.cautious(p)
    resolved = n * min(p, 1 - p) / cautious >= RESOLVED
    # An end that is told although the quantile is not resolved rests on the larger tau.
    ranks = interval_ranks(n, p, tau if resolved else cautious, run.confidence, run.independent)
    low, high = _at(ordered, ranks.low), _at(ordered, ranks.high)
    codes = [*refusal, *run.codes]
    if n and not run.independent and n * (1 - p) / cautious < RESOLVED:
        codes, high = [*codes, "tail_unresolved"], None
    if n and not run.independent and n * p / cautious < RESOLVED:
        codes, low = [*codes, "tail_unresolved"], None
    if "long_memory" in codes or "few_clusters" in codes:
        low = high = None
    elif n and high is None:
        codes.append("unbounded_upper")
    step = 0.0 if "constant" in codes else _step(ordered, low, high, run.resolution)
    if step and low is not None and high is not None:
        codes.append("quantised")
        low, high = low - step / 2, high + step / 2
    return Estimate(
        f"p{100 * p:g}",
        value,
        low,
        high,
        run.unit,
        n,
        "within_run",
        run.confidence,
        EXACT if run.independent else WITHIN,
        tuple(dict.fromkeys(codes)),
        {**run.labels, "q": p},
        ranks.n_effective,
        ("independent values",) if run.independent else ASSUMPTIONS,
        {**run.found, "tau": ranks.tau, "exceedances_effective": ranks.exceedances},
    )


def _at(ordered: np.ndarray, rank: int) -> float | None:
    """The order statistic of a rank (1-based), None beyond the values or where it is an answer that never came."""
    value = float(ordered[rank - 1]) if 1 <= rank <= len(ordered) else math.inf
    return value if math.isfinite(value) else None


def _step(ordered: np.ndarray, low: float | None, high: float | None, resolution: float) -> float:
    """The step of the values if it is more than half the interval [low, high], else 0.

    The step is the given resolution, or the gap between neighbouring values where many equal values lie in between.
    """
    import numpy as np

    if low is None or high is None:
        return 0.0
    if resolution:
        return resolution if resolution > (high - low) / 2 else 0.0
    first, last = int(np.searchsorted(ordered, low)), int(np.searchsorted(ordered, high, "right"))
    inside = np.unique(ordered[max(first - 1, 0) : min(last + 1, len(ordered))])
    inside = inside[np.isfinite(inside)]
    if len(inside) > 5 or len(inside) < 2 or last - first < 4 * len(inside):
        return 0.0
    step = float(np.diff(inside).min())
    return step if step > (high - low) / 2 else 0.0


def _runs_of(samples: pd.DataFrame, labels: pd.DataFrame | None) -> Iterator[tuple[str, np.ndarray, np.ndarray]]:
    """(run_id, lower values, upper values) of each run of a samples frame; the same array twice for exact values."""
    if not {"run_id", "rtt_ns"} <= set(samples.columns):
        raise ValueError(f"samples need the columns run_id and rtt_ns, not {', '.join(map(str, samples.columns))}")
    groups = {str(run): group for run, group in counted(samples).groupby("run_id", sort=False)}
    for run in groups if labels is None else [str(each) for each in labels.index if each in groups]:
        yield (run, *bounds(groups[run]))


def _of_intervals(
    low: np.ndarray,
    high: np.ndarray,
    levels: Sequence[float],
    confidence: float,
    *,
    independent: bool,
    resolution: float,
    labels: dict[str, object] | None,
) -> list[Estimate]:
    """Quantiles of values known as intervals [low, high] (n,): the ends are those of the outermost possible samples.

    An order statistic of the unknown values lies between the same order statistic of ``low`` and of ``high``.
    """
    options: dict[str, Any] = {"lost": 0, "missing": 0, "unit": "ns", "labels": labels}
    options |= {"independent": independent, "resolution": resolution}
    lower = _of_run(low, levels, confidence, **options)
    upper = _of_run(high, levels, confidence, **options)
    results = []
    for below, above in zip(lower, upper, strict=True):
        known = below.estimate is not None and above.estimate is not None
        estimate = (below.estimate + above.estimate) / 2 if known else None  # type: ignore[operator]
        bounds = {"estimate_low": below.estimate, "estimate_high": above.estimate} if known else {}
        codes = tuple(dict.fromkeys([*below.codes, *above.codes, "quantised"]))
        shown = {**above.diagnostics, **bounds}
        results.append(
            replace(above, estimate=estimate, low=below.low, codes=codes, diagnostics=shown)  # type: ignore[arg-type]
        )
    return results


def interval_quantiles(
    low: Any, high: Any, q: Iterable[float] = LEVELS, confidence: float = 0.95, *, independent: bool = False
) -> Results[Estimate]:
    """Quantiles of values that are known as intervals (``time<1ms``): see `quantiles` for codes and refusals.

    ``low`` and ``high``: sequences of equal length in ns, in the order of sending; equal where a value is exact. The
    estimate is the middle of the bounds that the diagnostics hold, flagged ``quantised``.
    """
    import numpy as np

    lower, upper = np.asarray(low, dtype="float64"), np.asarray(high, dtype="float64")
    if lower.shape != upper.shape or lower.ndim != 1 or (lower > upper).any():
        raise ValueError("low and high must be series of one length with low <= high")
    levels = [float(each) for each in q]
    return Results(
        _of_intervals(lower, upper, levels, confidence, independent=independent, resolution=0.0, labels=None)
    )


# ----------------------------------------------------------------------------------------------------- across the runs


def _across(within: Sequence[Estimate], levels: Sequence[float], confidence: float) -> list[Estimate]:
    """For each level the statement about the path: t on the logarithms of the runs' quantiles.

    A run whose quantile is refused cannot be left out: it may be the slow one. The level is refused with its reasons.
    """
    results = []
    for p in levels:
        own = [each for each in within if each.labels["q"] == p]
        refused = [code for each in own if each.refused for code in each.codes]
        values = [each.estimate for each in own if each.estimate is not None]
        name = f"p{100 * p:g} of a typical run"
        labels: dict[str, object] = {"q": p}
        if refused:
            codes = tuple(dict.fromkeys(refused))
            results.append(
                Estimate(name, None, None, None, "ns", len(own), "across_runs", confidence, "none", codes, labels)
            )
        else:
            results.append(across_runs(values, confidence=confidence, what=name, labels=labels))
    return results


def median_of_runs(
    values: Iterable[float],
    q: float = 0.5,
    *,
    unit: str = "ns",
    confidence: float = 0.95,
    what: str = "median of the runs",
    resolution: float = 0.0,
) -> Estimate:
    """The q-quantile of run values with its exact order-statistic interval, without any assumption on their law.

    ``values``: one number a run. Median: from six runs (their range covers 96.9 %); fewer are refused as
    ``few_clusters``, one as ``no_replication``. ``resolution``: step of the printed numbers; half is added to each end.
    """
    numbers, _ = series(list(values))
    ordered = sorted(float(each) for each in numbers)
    runs = len(ordered)
    if not runs:
        return Estimate(what, None, None, None, unit, 0, "across_runs", confidence, EXACT, ("no_values",))
    low_rank, high_rank = order_statistic_ranks(runs, q, confidence)
    low = ordered[low_rank - 1] - resolution / 2 if low_rank >= 1 else None
    high = ordered[high_rank - 1] + resolution / 2 if high_rank <= runs else None
    codes: tuple[str, ...] = ()
    if runs == 1:
        codes = ("no_replication",)
    elif low is None or high is None:
        codes = ("few_clusters",) + (("unbounded_upper",) if high is None else ())
    elif ordered[0] == ordered[-1]:
        codes = ("constant",)
    estimate = None if runs == 1 else ordered[max(math.ceil(runs * q - 1e-9), 1) - 1]
    if q == 0.5 and runs > 1:
        estimate = (ordered[(runs - 1) // 2] + ordered[runs // 2]) / 2
    return Estimate(
        what, estimate, low, high, unit, runs, "across_runs", confidence, EXACT, codes, {"q": q}, float(runs)
    )
