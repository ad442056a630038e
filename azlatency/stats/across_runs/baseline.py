"""Does a VM meet what is expected of it? meets / fails / inconclusive, at the level of runs.

"At least S" is met when the one-sided lower bound of the mean run reaches S, and failed when the upper bound falls
short; "at most" is the mirror. "About" and "between" are met when two one-sided tests put the mean inside. What stands
between is inconclusive, with the number of runs that would decide. A test shorter than a minute shows the burst that a
token bucket allows, not the allocation (Uta et al., NSDI 2020), and says so; a ratio near 1,000 or 1,000,000 looks like
a slip of units ("40-50 ms" between two VMs of one region) and is not judged before someone has looked.

Sources: Schuirmann 1987; Clopper & Pearson 1934; Natrella 1963 and Wilks 1941 (tolerance limits for "every VM").
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from azlatency.logs.format import count_of, format_interval, format_value
from azlatency.stats.across_runs.directions import data_path
from azlatency.stats.across_runs.run_values import is_frame, refusals, run_values, unit_of
from azlatency.stats.across_runs.search import smallest_number
from azlatency.stats.across_runs.two_groups import Summary, summary
from azlatency.stats.result import Result, Results, Row, Scope
from azlatency.stats.within_run.proportions import clopper_pearson
from azlatency.studies.path import Path

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd
    from numpy.typing import NDArray

    from azlatency.studies.store import Study

    FloatArray = NDArray[np.float64]

Status = Literal["meets", "fails", "inconclusive"]
RELATIONS = ("at_least", "at_most", "about", "between")
#: "about" means within this much of the value on both sides, unless the expectation says otherwise (``tolerance``).
ABOUT = 0.1
#: A measured value this many times off looks like another unit: ms for us, bytes for bits times a hundred.
SLIP = 100.0
#: A shorter test of throughput or disk shows the burst.
BURST_NS = 60e9
METHOD = "one-sided Student t bounds of the mean run"


@dataclass(frozen=True, slots=True, kw_only=True)
class Conformance(Result):
    """Whether runs meet an expectation.

    ``mean`` of ``runs`` run values in ``unit``, its one-sided bounds ``low`` and ``high`` (each at ``confidence``),
    ``limit_low`` and ``limit_high`` of the expectation (None: open). ``p_meets``, ``p_fails``: p of the tests that
    would establish it. ``decides``: runs in all that would decide if mean and spread stay (None where it is decided or
    cannot be told). ``every``: tolerance limits that 90 % of VMs keep with 95 % confidence. ``ratio``: mean over limit.
    """

    what: str
    status: Status
    relation: str
    limit_low: float | None
    limit_high: float | None
    mean: float | None
    low: float | None
    high: float | None
    p_meets: float | None
    p_fails: float | None
    every: tuple[float | None, float | None]
    ratio: float | None
    decides: int | None
    unit: str
    runs: int
    confidence: float
    scope: Scope = "across_runs"
    method: str = METHOD
    codes: tuple[str, ...] = ()
    labels: dict[str, Any] = field(default_factory=dict)

    ROW: ClassVar[Row] = (
        "what", "status", "relation", "limit_low", "limit_high", "mean", "low", "high", "ratio", "p_meets",
        "p_fails", "decides", "unit", "runs", "scope", "confidence", "method", ("every_low", "every.0"),
        ("every_high", "every.1"),
    )  # fmt: skip

    def __str__(self) -> str:
        if self.mean is None:
            return f"{self.what}: {self.status}{self.flag_note}"
        level = "" if self.ratio is None else f", {format_value(self.ratio, 'fraction')} of the limit"
        more = "" if self.decides is None else f"; {count_of(self.decides, 'run')} would decide"
        bounds = ""
        if self.low is not None and self.high is not None:
            interval = format_interval(self.low, self.high, self.unit, like=self.mean)
            bounds = f", one-sided {100 * self.confidence:g} % bounds {interval}"
        mean = f"mean {format_value(self.mean, self.unit)}{bounds}{level}, {count_of(self.runs, 'run')}"
        return f"{self.what}: {self.status}; {mean}{more}{self.flag_note}"


def limits_of(expectation: Mapping[str, Any]) -> tuple[float | None, float | None]:
    """(low, high) of an expectation, None for an open end.

    Raises `ValueError` for a relation that is none of `RELATIONS` or for limits that are missing or upside down.
    """
    relation = expectation.get("relation")
    low, high = expectation.get("low"), expectation.get("high")
    name = expectation.get("name", "expectation")
    if relation not in RELATIONS:
        raise ValueError(f"{name}: relation {relation!r}; one of {', '.join(RELATIONS)}")
    if relation == "at_least":
        found: tuple[Any, Any] = (low if low is not None else high, None)
    elif relation == "at_most":
        found = (None, high if high is not None else low)
    elif relation == "about":
        tolerance = float(expectation.get("tolerance", ABOUT))
        ends = [each for each in (low, high) if each is not None]
        found = (min(ends) * (1 - tolerance), max(ends) * (1 + tolerance)) if ends else (None, None)
    else:
        found = (low, high)
    wanted = {"at_least": (0,), "at_most": (1,)}.get(str(relation), (0, 1))
    if any(found[end] is None for end in wanted) or (len(wanted) == 2 and found[0] > found[1]):
        raise ValueError(f"{name}: {relation} needs its limits, got low = {low}, high = {high}")
    return tuple(None if each is None else float(each) for each in found)  # type: ignore[return-value]


def check_expectation(
    values: Any,
    expectation: Mapping[str, Any],
    *,
    value: str | None = None,
    confidence: float = 0.95,
    durations_ns: Iterable[float] | None = None,
    labels: dict[str, object] | None = None,
) -> Conformance:
    """Hold run values against one expectation.

    ``values``: one number a run in the expectation's ``unit`` (array, Series, or frame with the column ``value``).
    ``expectation``: ``name``, ``relation`` (at_least, at_most, about, between), ``low`` and ``high`` in the canonical
    ``unit``; `ValueError` where these make no sense. ``durations_ns`` (a frame's own by default): shorter than 60 s in
    a throughput or disk test is flagged ``burst_test``.
    """
    low, high = limits_of(expectation)
    found = run_values(values, value, None)
    unit = str(expectation.get("unit") or found.unit)
    codes = list(refusals([values], value))
    if found.unit and expectation.get("unit") and found.unit != unit:
        codes.append("unit_conflict")
    if not codes and not len(found.values):
        codes.append("no_values")
    what, relation = str(expectation.get("name", "expectation")), str(expectation["relation"])
    own = {"metric": expectation.get("metric"), "printed": expectation.get("printed"), **dict(labels or {})}
    if codes:
        return Conformance(
            what=what, status="inconclusive", relation=relation, limit_low=low, limit_high=high, mean=None, low=None,
            high=None, p_meets=None, p_fails=None, every=(None, None), ratio=None, decides=None, unit=unit,
            runs=len(found.values), confidence=confidence, codes=tuple(dict.fromkeys(codes)), labels=own,
            run_ids=found.run_ids,
        )  # fmt: skip
    if durations_ns is None and is_frame(values) and "duration_ns" in values.columns:
        durations_ns = [float(each) for each in values["duration_ns"].dropna()]
    if unit in ("bit/s", "bytes/s", "1/s") and any(each < BURST_NS for each in durations_ns or ()):
        codes.append("burst_test")
    runs = summary(found.values)
    result = replace(_judge(runs, low, high, what, relation, unit, confidence, codes, own), run_ids=found.run_ids)
    if unit != "ns" or expectation.get("printed_as") != "unknown":
        return result
    # Half or full round trips are meant: only what holds for both readings is said.
    twice_low, twice_high = (None if each is None else 2 * each for each in (low, high))
    other = _judge(runs, twice_low, twice_high, what, relation, unit, confidence, codes, own)
    sure: Status = result.status if result.status == other.status else "inconclusive"
    return replace(result, status=sure, codes=(*result.codes, "unit_unknown"))


def _judge(
    runs: Summary, low: float | None, high: float | None, what: str, relation: str, unit: str, confidence: float,
    codes: list[str], labels: dict[str, Any],
) -> Conformance:  # fmt: skip
    n, mean, sd = runs
    ratio = _ratio(mean, low, high)
    slipped = ratio is not None and (ratio <= 0 or not 1 / SLIP < ratio < SLIP)
    if slipped:
        codes.append("unit_slip")
    if n < 2:
        return Conformance(
            what=what,
            status="inconclusive",
            relation=relation,
            limit_low=low,
            limit_high=high,
            mean=mean,
            low=None,
            high=None,
            p_meets=None,
            p_fails=None,
            every=(None, None),
            ratio=ratio,
            decides=None,
            unit=unit,
            runs=n,
            confidence=confidence,
            codes=(*codes, "no_replication"),
            labels=labels,
        )
    if n == 2:
        codes.append("two_runs")
    if sd == 0:
        codes.append("constant")
    bounds = one_sided(runs, confidence)
    p_meets, p_fails = _p(runs, low, high) if sd > 0 else (None, None)
    status: Status = "inconclusive"
    if not slipped and p_meets is not None and p_fails is not None:
        status = "meets" if p_meets < 1 - confidence else "fails" if p_fails < 1 - confidence else "inconclusive"
    decides = None if slipped or status != "inconclusive" else _decides(runs, low, high, confidence)
    k = tolerance_factor(n)
    every = (None if low is None else mean - k * sd, None if high is None else mean + k * sd)
    return Conformance(
        what=what, status=status, relation=relation, limit_low=low, limit_high=high, mean=mean, low=bounds[0],
        high=bounds[1], p_meets=p_meets, p_fails=p_fails, every=every, ratio=ratio, decides=decides, unit=unit,
        runs=n, confidence=confidence, codes=tuple(dict.fromkeys(codes)), labels=labels,
    )  # fmt: skip


def _ratio(mean: float, low: float | None, high: float | None) -> float | None:
    """Mean over the limit, or over the nearer one of two (1 between them)."""
    if low is not None and high is not None:
        limit = low if mean < low else high if mean > high else mean
    else:
        limit = low if low is not None else high  # type: ignore[assignment]
    return mean / limit if limit else None


def one_sided(runs: Summary, confidence: float = 0.95) -> tuple[float, float]:
    """Lower and upper bound of the mean, each one-sided at ``confidence``; needs two runs."""
    from scipy.stats import t as student

    half = float(student.ppf(confidence, runs.n - 1)) * runs.sd / math.sqrt(runs.n)
    return runs.mean - half, runs.mean + half


def _p(runs: Summary, low: float | None, high: float | None) -> tuple[float, float]:
    """p of "the mean lies within the limits" and of "it lies outside" (the smaller of both sides, doubled); sd > 0."""
    from scipy.stats import t as student

    error = runs.sd / math.sqrt(runs.n)

    def above(limit: float) -> float:
        """p of the test that the mean is above ``limit``."""
        return float(student.sf((runs.mean - limit) / error, runs.n - 1))

    inside = [above(low)] if low is not None else []
    inside += [1 - above(high)] if high is not None else []
    outside = [1 - each for each in inside]
    return max(inside), min(1.0, len(outside) * min(outside))


def _decides(runs: Summary, low: float | None, high: float | None, confidence: float) -> int | None:
    """Runs in all that would decide, were mean and spread those of the pilot; None where the mean is at a limit."""

    def decided(n: int) -> bool:
        p_meets, p_fails = _p(Summary(n, runs.mean, runs.sd), low, high)
        return min(p_meets, p_fails) < 1 - confidence

    return smallest_number(decided, runs.n + 1) if runs.sd > 0 else None


def tolerance_factor(n: int, share: float = 0.9, confidence: float = 0.95) -> float:
    """k of a one-sided normal tolerance limit mean - k sd: ``share`` of VMs lie above it with ``confidence``."""
    from scipy.stats import nct, norm

    return float(nct.ppf(confidence, n - 1, float(norm.ppf(share)) * math.sqrt(n))) / math.sqrt(n)


def vms_for_tolerance(share: float = 0.95, confidence: float = 0.95) -> int:
    """VMs whose smallest value is a limit that ``share`` of all VMs keep, whatever their law: 59 for 95 %/95 %."""
    return math.ceil(math.log(1 - confidence) / math.log(share))


def vms_by_share(
    confidence: float = 0.95, shares: Iterable[float] = (0.5, 0.8, 0.9, 0.95, 0.99)
) -> list[tuple[float, int]]:
    """(share, `vms_for_tolerance`) for each share."""
    return [(share, vms_for_tolerance(share, confidence)) for share in shares]


# --- a percentile as a specification


@dataclass(frozen=True, slots=True, kw_only=True)
class PercentileCheck(Result):
    """``share`` of ``n`` observations above a percentile's limit, its one-sided Clopper-Pearson bounds, the verdict."""

    what: str
    status: Status
    share: float | None
    low: float | None
    high: float | None
    allowed: float
    n: int
    n_effective: float | None
    confidence: float
    scope: Scope = "within_run"
    method: str = "one-sided Clopper & Pearson 1934"
    codes: tuple[str, ...] = ()
    labels: dict[str, Any] = field(default_factory=dict)

    ROW: ClassVar[Row] = (
        "what", "status", "share", "low", "high", "allowed", "n", "n_effective", "scope", "confidence", "method",
    )  # fmt: skip

    def __str__(self) -> str:
        if self.share is None:
            return f"{self.what}: {self.status}{self.flag_note}"
        share, allowed = format_value(self.share, "fraction"), format_value(self.allowed, "fraction")
        bounds = format_interval(self.low, self.high, "fraction", like=self.share)
        return f"{self.what}: {self.status}; {share} above the limit ({bounds}), {allowed} allowed{self.flag_note}"


def check_percentile(
    above: int, n: int, quantile: float, *, n_effective: float | None = None, confidence: float = 0.95
) -> PercentileCheck:
    """Does "p99.9 <= T" hold, when ``above`` of ``n`` observations exceed T?

    One run, so this is about its connection. Dependent packets: give ``n_effective`` of the indicator 1{x > T} (the
    ``n_effective`` of `azlatency.stats.exceedance`); the count shrinks with it. Without it the bounds are a floor
    (``within_run_floor``). 20 of 40,000 meet p99.9, 40 are inconclusive, 55 fail. Raises `ValueError` for a count
    outside 0 ... n or a quantile outside (0, 1).
    """
    if not 0 <= above <= n or not 0 < quantile < 1:
        raise ValueError(f"above = {above}, n = {n}, quantile = {quantile}: need 0 <= above <= n and 0 < quantile < 1")
    what, allowed = f"p{100 * quantile:g}", 1 - quantile
    if n < 1:
        return PercentileCheck(
            what=what,
            status="inconclusive",
            share=None,
            low=None,
            high=None,
            allowed=allowed,
            n=n,
            n_effective=None,
            confidence=confidence,
            codes=("no_values",),
        )
    scale = 1.0 if n_effective is None else min(1.0, max(n_effective, 1.0) / n)
    # One-sided at the confidence: the ends of the two-sided interval at twice the error.
    low, high = clopper_pearson(above * scale, n * scale, 2 * confidence - 1)
    status: Status = "meets" if high <= allowed else "fails" if low > allowed else "inconclusive"
    codes = ("within_run_floor",) if n_effective is None else ()
    return PercentileCheck(
        what=what,
        status=status,
        share=above / n,
        low=low,
        high=high,
        allowed=allowed,
        n=n,
        n_effective=n_effective,
        confidence=confidence,
        codes=codes,
    )


# --- a whole study


def baseline(
    data: Study | pd.DataFrame,
    expectations: Iterable[Mapping[str, Any]] | None = None,
    *,
    confidence: float = 0.95,
) -> Results[Conformance]:
    """Every expectation held against the runs that measured it, one result for each path, method and expectation.

    ``data``: a `Study` (with its own ``expectations`` by default), or a frame of metrics with the columns ``metric``,
    ``value`` (canonical) and, where known, ``tool``, ``path``, ``method``, ``vm_size``, ``duration_ns``. An expectation
    that no run measured comes as ``no_values``. Traffic that never left a host says nothing about a network. Throughput
    and retransmits belong to the direction of the *data*: a reverse test from a to b stands under "b → a".
    """
    frame = data if is_frame(data) else _metrics(data)
    wanted = list(data.expectations if expectations is None and not is_frame(data) else expectations or ())
    results = []
    for each in wanted:
        metric = each.get("metric")
        rows = frame[frame["metric"] == metric]
        if str(metric) in ("throughput", "retransmits"):
            rows = _by_data_direction(rows)
        if str(metric).startswith(("rtt", "throughput")) and "placement" in rows.columns:
            rows = rows[rows["placement"].isna() | (rows["placement"] != "same_host")]
        for column in ("tool", "vm_size"):
            if each.get(column) and column in rows.columns:
                rows = rows[rows[column].isna() | (rows[column] == each[column])]
        keys = [column for column in ("path", "method") if column in rows.columns]
        groups = rows.groupby(keys, sort=False, dropna=False) if keys and len(rows) else [((), rows)]
        for key, group in groups:
            labels = dict(zip(keys, key, strict=False))
            runs = group.rename(columns={"value": _named(str(metric), each)})
            results.append(
                check_expectation(runs, each, value=_named(str(metric), each), confidence=confidence, labels=labels)
            )
    return Results(results)


def _by_data_direction(rows: pd.DataFrame) -> pd.DataFrame:
    """The paths as "sender → receiver": a reverse test sends from its server to its client."""
    if "path" not in rows.columns or "test" not in rows.columns:
        return rows
    import pandas as pd

    paths = [
        data_path(path, test if isinstance(test, str) else None) or path
        for path, test in zip(map(Path.parse, rows["path"]), rows["test"], strict=True)
    ]
    return rows.assign(path=pd.Series(paths, rows.index, dtype=object))


def _named(metric: str, expectation: Mapping[str, Any]) -> str:
    """A column name that tells its unit, so that the rules for units apply."""
    return f"{metric}_ns" if expectation.get("unit") == "ns" else metric if unit_of(metric) else f"{metric}_value"


def _metrics(study: Study) -> pd.DataFrame:
    """Metrics of whole runs with what describes the run; of several sides the receiver's, else the first."""
    from azlatency.studies.runs import client_side_runs, run_table

    runs = client_side_runs(run_table(study))
    metrics = study.metrics[study.metrics["stream"].isna() & study.metrics["run_id"].isin(runs.index)]
    order = metrics["side"].map({"receiver": 0}).fillna(1)
    metrics = metrics.assign(order=order).sort_values("order", kind="stable")
    metrics = metrics.drop_duplicates(["run_id", "metric"]).drop(columns=["order", "unit"])
    described = ["path", "method", "tool", "test", "protocol", "message_bytes", "vm_size", "duration_ns", "printed_as"]
    described.append("placement")
    return metrics.join(runs[described], on="run_id")
