"""Measurements by placement, and pairs that differ in one factor: placement, VM size, network or message size.

Measured runs and numbers that are only reported in a text are never mixed: a reported number has no runs to compare.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

import pandas as pd

from azlatency.stats.across_runs.comparison import compare_runs, with_run_ids
from azlatency.stats.across_runs.log_ratio import spreads_of_pairs
from azlatency.stats.across_runs.main_method import Measured, rank_methods
from azlatency.stats.across_runs.run_values import Order, RunValues, refusals, run_values
from azlatency.stats.across_runs.typical_run import PathRuns, kind_of_test, typical_runs
from azlatency.stats.result import Comparison, Estimate
from azlatency.studies.runs.groups import grouped

if TYPE_CHECKING:
    from azlatency.studies.store.study import Study

Origin = Literal["log", "reported"]
Factor = Literal["placement", "vm_size", "accelerated_networking", "message_bytes"]
FACTORS: tuple[Factor, ...] = ("placement", "vm_size", "accelerated_networking", "message_bytes")
#: Placements from near to far, and reference placements: the first of them that was measured is the reference.
NEAR_TO_FAR = (
    "same_host", "proximity_placement_group", "availability_set", "same_zone", "cross_zone", "cross_region",
)  # fmt: skip
REFERENCES = (
    "same_zone", "availability_set", "proximity_placement_group", "same_host", "cross_zone", "cross_region",
)  # fmt: skip
METHODS_SHOWN = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Condition:
    """One path measured by one method under known circumstances; ``None`` for an unknown circumstance.

    Attributes
    ----------
    origin : {"log", "reported"}
        Measured runs, or a number from a text.
    values : tuple of float
        One round-trip time per run, in ns and in the order of measuring: the run's ``statistic``. For a reported
        number its lower and upper value.
    runs : int or None
        Number of runs; ``None`` if the text does not state it.
    typical : Estimate or None
        Typical run of the path (only for logs).
    order : str
        Where the order of the values comes from: a ``RunOrder``.
    superseded : float or None
        What a text reports for the run of this log, in ns. The log counts, and the reported number is no condition.
    packets : float
        Packets of all runs; 0 if unknown.
    """

    origin: Origin
    path: str
    method: str
    kind: str
    placement: str | None
    vm_size: str | None
    accelerated_networking: bool | None
    message_bytes: int | None
    statistic: str
    values: tuple[float, ...]
    runs: int | None
    typical: Estimate | None = None
    run_ids: tuple[str, ...] = ()
    order: Order = "given"
    superseded: float | None = None
    packets: float = 0.0

    @property
    def measured(self) -> Measured:
        """What the condition adds to its method, by which methods are ranked; reported numbers are a method apart."""
        method = self.method if self.origin == "log" else f"{self.method} as reported"
        return Measured(
            method, self.path, self.runs or 1, self.packets, self.placement or "", self.statistic == "median"
        )

    @property
    def as_runs(self) -> RunValues:
        """The values with their unit and order."""
        return replace(run_values(self.values, unit="ns"), order=self.order)


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """Two conditions that differ in one factor.

    Attributes
    ----------
    factor : str
        The factor, one of `FACTORS`.
    base, other : Condition
        The two conditions.
    ratio_low, ratio_high : float
        Extremes of other over base as measured; not an interval.
    comparison : Comparison or None
        Comparison of the runs; ``None`` for reported numbers.
    unsaid : tuple of str
        Factors that are known on one side only.
    """

    factor: Factor
    base: Condition
    other: Condition
    ratio_low: float
    ratio_high: float
    comparison: Comparison | None
    unsaid: tuple[Factor, ...]

    @property
    def run_ids(self) -> tuple[str, ...]:
        """The runs of both conditions."""
        return (*self.base.run_ids, *self.other.run_ids)


def conditions(study: Study, runs: pd.DataFrame, *, confidence: float = 0.95) -> list[Condition]:
    """Return the conditions of a study, from near to far, logs before reported numbers.

    Parameters
    ----------
    study : Study
        The study with its reported numbers.
    runs : DataFrame
        One row per run, as returned by `azlatency.latency`.
    confidence : float
        Level of the intervals, between 0 and 1.

    Returns
    -------
    list of Condition
        A run counts with its median if all runs of its method have one, else with its mean. Reported means of a segment
        are left out.
    """
    logged, reported = list(_logged(runs, confidence)), list(_reported(study.reported))
    texts = {(condition.path, condition.kind): condition.values[0] for condition in reported}
    logged = [
        replace(condition, superseded=texts.get((condition.path, condition.kind.split()[0])))
        if condition.statistic == "mean" and condition.runs == 1
        else condition
        for condition in logged
    ]
    replaced = {condition.path for condition in logged if condition.superseded is not None}
    all_conditions = [*logged, *(condition for condition in reported if condition.path not in replaced)]
    order = {name: index for index, name in enumerate(NEAR_TO_FAR)}
    return sorted(
        all_conditions,
        key=lambda condition: (condition.origin == "reported", order.get(condition.placement or "", len(order))),
    )


def _logged(runs: pd.DataFrame, confidence: float) -> Iterable[Condition]:
    whole = grouped(runs, "method")["median_ns"].apply(lambda medians: medians.notna().all()) if len(runs) else {}
    measured_runs: list[tuple[pd.DataFrame, PathRuns]] = []
    for (path, method), group in grouped(runs, ["path", "method"]):
        column = "median_ns" if whole[method] else "mean_ns"
        # A run that lost most of its probes has an infinite median, which has no position on an axis and no interval.
        measured = run_values(group, column)
        if len(measured.values):
            named, codes = f"{path}, {method}", refusals([group], column)
            measured_runs.append((group, PathRuns(named, {}, measured, kind_of_test(group, method), codes)))
    estimates = typical_runs([path_runs for _, path_runs in measured_runs], confidence)
    for (group, path_runs), typical in zip(measured_runs, estimates, strict=True):
        first, measured = group.iloc[0], path_runs.values
        path, method = first["path"], first["method"]
        statistic: Literal["median", "mean"] = "median" if whole[method] else "mean"
        kind = " ".join(str(first[name]) for name in ("tool", "test", "protocol") if _present(first[name]) is not None)
        size, fast = _present(first["message_bytes"]), _present(first["accelerated_networking"])
        yield Condition(
            origin="log",
            path=str(path),
            method=str(method),
            kind=kind,
            placement=_present(first["placement"]),
            vm_size=_present(first["vm_size"]),
            accelerated_networking=None if fast is None else bool(fast),
            message_bytes=None if size is None else int(size),
            statistic=statistic,
            values=tuple(map(float, measured.values)),
            runs=len(measured.values),
            typical=typical,
            run_ids=typical.run_ids,
            order=measured.order,
            packets=float(group["n"].sum()) if "n" in group else 0.0,
        )


def _reported(reported: pd.DataFrame) -> Iterable[Condition]:
    if not len(reported):
        return
    for _, row in reported[reported["metric"] == "rtt_mean"].iterrows():
        low, high = _present(row["value_low"]), _present(row["value_high"])
        if _present(row["segment"]) is not None or low is None or high is None:
            continue
        runs = _present(row["repeats"])
        fast = {"true": True, "false": False}.get(str(row["accelerated_networking"]).lower())
        yield Condition(
            origin="reported",
            path=str(row["scenario"]),
            method=str(row["tool"]),
            kind=str(row["tool"]),
            placement=_present(row["placement"]),
            vm_size=_present(row["vm_size"]),
            accelerated_networking=fast,
            message_bytes=None,
            statistic="mean",
            values=(float(low), float(high)),
            runs=None if runs is None else int(runs),
        )


def _present(value: Any) -> Any:
    """Return the value; ``None`` if it is missing or an empty text."""
    return None if value is None or pd.isna(value) or value == "" else value


def widest_methods(conditions: Sequence[Condition], most: int = METHODS_SHOWN) -> list[Condition]:
    """Select the conditions of the methods that say most about all paths, and all reported ones.

    Parameters
    ----------
    conditions : sequence of Condition
        The result of `conditions`.
    most : int
        Number of methods to keep.

    Returns
    -------
    list of Condition
        In the given order; methods are ranked as by ``rank_methods``.
    """
    ranked = rank_methods(condition.measured for condition in conditions if condition.origin == "log")
    kept = set(ranked[:most])
    return [condition for condition in conditions if condition.origin == "reported" or condition.method in kept]


def widest(conditions: Sequence[Condition]) -> list[Condition]:
    """Select the kind of measurement of the method that says most about all paths (``rank_methods``).

    Parameters
    ----------
    conditions : sequence of Condition
        The result of `conditions`.

    Returns
    -------
    list of Condition
        All conditions of that kind: also with other message sizes.
    """
    main = next(iter(rank_methods(condition.measured for condition in conditions)), "")
    kinds = {(condition.origin, condition.kind) for condition in conditions if condition.measured.method == main}
    return [condition for condition in conditions if (condition.origin, condition.kind) in kinds]


def changes(
    conditions: Sequence[Condition], factor: Factor, *, margin: float = 0.05, confidence: float = 0.95
) -> list[Change]:
    """Return pairs of conditions that differ in one factor only, as far as is known.

    Parameters
    ----------
    conditions : sequence of Condition
        The result of `conditions`.
    factor : {"placement", "vm_size", "accelerated_networking", "message_bytes"}
        The factor. Placements are compared with the reference of the same method (`REFERENCES`); levels of the other
        factors with the level before, on the same path.
    margin : float
        Relative change that is practically equivalent; ``0.05`` is 5 %.
    confidence : float
        Level of the intervals, between 0.5 and 1.

    Returns
    -------
    list of Change
        Logs and reported numbers are paired separately. Circumstances that are known on one side only are listed in
        ``unsaid``; conditions that differ in a second factor are not paired.
    """
    results = []
    for origin in ("log", "reported"):
        comparable = [
            condition
            for condition in conditions
            if condition.origin == origin and getattr(condition, factor) is not None
        ]
        matched = list(_pairs(comparable, factor))
        sides = [(other.as_runs, base.as_runs) for base, other in matched]
        spreads = spreads_of_pairs(sides, [other.method for _, other in matched])
        for (base, other), (of_other, of_base), spread in zip(matched, sides, spreads, strict=True):
            ratio_low, ratio_high = min(other.values) / max(base.values), max(other.values) / min(base.values)
            comparison = None
            if origin == "log":
                what = f"{other.path} against {base.path}, {other.method}"
                comparison = compare_runs(
                    of_other, of_base, margin=margin, confidence=confidence, what=what, spread=spread
                )
                comparison = with_run_ids(comparison, (*other.run_ids, *base.run_ids))
            unsaid = tuple(name for name in FACTORS if (getattr(base, name) is None) != (getattr(other, name) is None))
            results.append(
                Change(
                    factor=factor,
                    base=base,
                    other=other,
                    ratio_low=ratio_low,
                    ratio_high=ratio_high,
                    comparison=comparison,
                    unsaid=unsaid,
                )
            )
    return results


def all_changes(conditions: Sequence[Condition], factor: Factor) -> list[Change]:
    """Return `changes` whose intervals hold at 95 % for all of them together (Bonferroni)."""
    tests = len(list(changes(conditions, factor)))
    return changes(conditions, factor, confidence=1 - 0.05 / max(tests, 1))


def _pairs(conditions: Sequence[Condition], factor: Factor) -> Iterable[tuple[Condition, Condition]]:
    levels = list(dict.fromkeys(getattr(condition, factor) for condition in conditions))
    keys: dict[str, Any] = {"placement": REFERENCES.index, "vm_size": _by_number}
    levels.sort(key=keys.get(factor))
    rank = {level: index for index, level in enumerate(levels)}
    for other in conditions:
        lower = [base for base in conditions if rank[getattr(base, factor)] < rank[getattr(other, factor)]]
        lower = [base for base in lower if _comparable(base, other, factor)]
        if lower:
            # Placements are compared with the reference, levels of other factors with the nearest level below.
            sign = 1 if factor == "placement" else -1
            yield min(lower, key=lambda base: sign * rank[getattr(base, factor)]), other


def _by_number(vm_size: str) -> tuple[int, str]:
    """Return the first number in the name of a VM size (its virtual processors), and the name."""
    match = re.search(r"\d+", vm_size)
    return (int(match.group()) if match else 0), vm_size


def _comparable(first: Condition, second: Condition, factor: Factor) -> bool:
    if (first.kind, first.statistic) != (second.kind, second.statistic):
        return False
    if first.origin == "log" and factor != "placement" and first.path != second.path:
        return False
    levels = [(getattr(first, name), getattr(second, name)) for name in FACTORS if name != factor]
    return all(None in pair or pair[0] == pair[1] for pair in levels)


def contradicting(changes: Sequence[Change]) -> list[tuple[Change, Change]]:
    """Return pairs of changes of the same two paths that point in opposite directions in all runs."""
    result = []
    for index, first in enumerate(changes):
        for second in changes[index + 1 :]:
            same = (first.base.path, first.other.path) == (second.base.path, second.other.path)
            if same and (first.ratio_high < 1 < second.ratio_low or second.ratio_high < 1 < first.ratio_low):
                result.append((first, second))
    return result
