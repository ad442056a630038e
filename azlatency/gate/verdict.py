"""Did a candidate change anything that matters against a base? The answer of ``azlatency compare``, fit for CI.

Runs of one path and one method on both sides are compared (`beforeafter`); runs are the replicates, so
every row is across runs. A row is

    beyond        the whole interval of the ratio lies beyond the margin, Holm's correction over all rows included
    within        two one-sided tests show that it lies inside
    undetermined  neither: too few runs, or too much spread; how many runs are missing is said
    refused       not comparable; the reason is said

and the whole is ``changed`` with one row beyond, ``unchanged`` with every row within and nothing missing, else
``undetermined``. Being faster beyond the margin is a change too.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Any, Literal

from azlatency.stats.across_runs.beforeafter import Pairing, compare_pairing, elsewhere, pairings
from azlatency.stats.across_runs.planning import PILOT, Plan, runs_to_decide
from azlatency.stats.across_runs.run_values import parse_margin
from azlatency.stats.multiplicity import adjust_p
from azlatency.stats.result import SHORT, Comparison, explain
from azlatency.studies.runs import latency_runs, throughput_runs
from azlatency.studies.samples import numbered_by_run, order_statistic, round_trips

if TYPE_CHECKING:
    import pandas as pd

    from azlatency.studies.store import Study

RowVerdict = Literal["beyond", "within", "undetermined", "refused"]
Outcome = Literal["unchanged", "changed", "undetermined"]

#: In the order of a report: what asks for an answer first.
_VERDICTS: tuple[RowVerdict, ...] = ("beyond", "refused", "undetermined", "within")
#: Exit codes of ``azlatency compare``; 2 is a wrong usage.
EXIT: dict[Outcome, int] = {"unchanged": 0, "changed": 1, "undetermined": 3}
#: Reasons why two sides must not be compared, however much is measured.
_REFUSALS = {
    *("logical_zone", "type_p_mismatch", "unit_unknown", "unit_conflict", "path_unknown", "not_positive"),
    "loss_censored",
}
_PERCENTILE = re.compile(r"p(\d{2}(?:\.\d{1,6})?)")
METRICS = "latency (the median of a run, else its mean), median, mean, p50 to p99.9999, throughput"


@dataclass(frozen=True, slots=True)
class Row:
    """One path, method and metric: the comparison, its verdict, and the runs that it lacks (``plan``)."""

    metric: str
    comparison: Comparison
    verdict: RowVerdict
    p_beyond: float | None
    """p of "no further from no change than the margin", corrected by Holm over all rows; None where refused."""
    plan: Plan | None

    @property
    def path(self) -> str:
        """Who talked to whom."""
        return str(self.comparison.labels["path"])

    @property
    def method(self) -> str:
        """Tool, test, protocol and message size."""
        return str(self.comparison.labels["method"])

    @property
    def reason(self) -> str:
        """Why it is undetermined or refused, and what to do; empty for the other verdicts."""
        if self.verdict in ("beyond", "within"):
            return ""
        codes = self.comparison.codes
        if self.verdict == "refused":
            return "; ".join(explain(codes))
        return "; ".join([*(SHORT[code] for code in codes if code != "cannot_reach_alpha"), self._more()])

    def _more(self) -> str:
        plan = self.plan
        if plan is None or plan.low is None:
            return f"measure {PILOT} runs on each side, then a forecast is possible"
        if plan.needed is None:
            high = "?" if plan.high is None else plan.high
            return (
                f"if nothing changed, {plan.low} to {high} runs on each side show it; "
                f"there are {plan.done}: measure {PILOT} first"
            )
        if plan.more:
            return f"if nothing changed, {plan.needed} runs on each side show it; there are {plan.done}"
        return f"{plan.done} runs on each side are enough where nothing changed: a change about as large as the margin"

    def record(self) -> dict[str, Any]:
        """The row for JSON: plain numbers and words, None where there is none."""
        plan = self.plan
        return {
            "metric": self.metric,
            "verdict": self.verdict,
            "reason": self.reason or None,
            **{
                name: _plain(value)
                for name, value in self.comparison.row().items()
                if name not in ("verdict", "method")
            },
            "method": self.method,
            "statistic": self.comparison.method,
            "interval_verdict": self.comparison.verdict,
            "p_beyond": self.p_beyond,
            "runs_needed": None if plan is None else plan.needed,
            "runs_needed_low": None if plan is None else plan.low,
            "runs_needed_high": None if plan is None else plan.high,
        }


@dataclass(frozen=True, slots=True)
class Judgement:
    """All rows, and what stands on one side only. ``base`` and ``candidate`` are the names that the user gave."""

    base: str
    candidate: str
    margin: str
    confidence: float
    rows: tuple[Row, ...]
    only_in_base: tuple[str, ...]
    only_in_candidate: tuple[str, ...]
    remarks: tuple[str, ...]

    @property
    def outcome(self) -> Outcome:
        """Changed with one row beyond the margin; unchanged where every row, and all of the base, is within it."""
        if any(row.verdict == "beyond" for row in self.rows):
            return "changed"
        whole = bool(self.rows) and not self.only_in_base
        return "unchanged" if whole and all(row.verdict == "within" for row in self.rows) else "undetermined"

    @property
    def exit_code(self) -> int:
        """0 unchanged, 1 changed, 3 undetermined."""
        return EXIT[self.outcome]

    def count(self, verdict: RowVerdict) -> int:
        """How many rows have a verdict."""
        return sum(row.verdict == verdict for row in self.rows)

    @property
    def headline(self) -> str:
        """The answer in a sentence."""
        counts = ", ".join(f"{self.count(each)} {each}" for each in _VERDICTS if self.count(each))
        sentence = {
            "changed": f"A change beyond the margin of {self.margin}",
            "unchanged": f"No change beyond the margin of {self.margin}",
            "undetermined": f"Undetermined at a margin of {self.margin}",
        }[self.outcome]
        lost = f"; {len(self.only_in_base)} measured in the base only" if self.only_in_base else ""
        return f"{sentence}: {counts or 'nothing could be compared'}{lost}."


def judge(
    base: Study,
    candidate: Study,
    *,
    names: tuple[str, str],
    margin: str = "5%",
    metrics: Sequence[str] = ("latency",),
    confidence: float = 0.95,
    tool: str | None = None,
    path: str | None = None,
    seed: int = 0,
) -> Judgement:
    """Candidate over base, for each metric (`METRICS`); ``tool`` and ``path`` (a glob) choose rows.

    Latencies are round trips. Logs that stand on both sides, byte for byte, are left out of both. Raises `ValueError`
    for an unknown metric, and for a margin or a confidence that is none.
    """
    parse_margin(margin)
    if not 0.5 < confidence < 1:
        raise ValueError(f"confidence = {confidence}: above 0.5 and below 1")
    found: list[tuple[str, Pairing, Comparison]] = []
    alone: tuple[list[str], list[str]] = ([], [])
    remarks: dict[str, None] = {}
    for metric in dict.fromkeys(metrics):
        after, before, value = _frames(candidate, base, metric)
        after, before = (_chosen(frame, tool, path) for frame in (after, before))
        shared = set(after["source_id"]) & set(before["source_id"])
        if shared:
            remarks[f"{len(shared)} logs stand on both sides, byte for byte: left out, they are no evidence"] = None
            after, before = (frame[~frame["source_id"].isin(shared)] for frame in (after, before))
        if len(after) and len(before) and elsewhere(after, before):
            remarks["the two sides are of different regions: not compared"] = None
        matched = pairings(after, before)
        for pairing in matched:
            result = compare_pairing(pairing, margin=margin, confidence=confidence, value=value, seed=seed)
            found.append((metric, pairing, result))
        for side, frame, own in ((0, before, [each.before for each in matched]),
                                 (1, after, [each.after for each in matched])):  # fmt: skip
            alone[side].extend(_unmatched(metric, frame, own))
    return Judgement(
        *names, margin, confidence, tuple(_rows(found, confidence)), tuple(alone[0]), tuple(alone[1]), tuple(remarks)
    )


def _rows(found: Sequence[tuple[str, Pairing, Comparison]], confidence: float) -> list[Row]:
    """Verdicts: the tests against the margin are one family, corrected by Holm."""
    raw = [result.ratio.diagnostics.get("beyond_p") if _answered(result) else None for _, _, result in found]
    adjusted = adjust_p([None if each is None else float(each) for each in raw])
    rows = []
    for (metric, pairing, result), p in zip(found, adjusted, strict=True):
        if not _answered(result):
            verdict: RowVerdict = "refused" if _REFUSALS & set(result.codes) else "undetermined"
        elif p is not None and p <= 1 - confidence:
            verdict = "beyond"
        else:
            verdict = "within" if result.verdict in ("equivalent", "different_within_margin") else "undetermined"
        plan = None
        if verdict == "undetermined":
            plan = runs_to_decide(*pairing.values(_value(metric)), result.margin, confidence=confidence)
        rows.append(Row(metric, result, verdict, p, plan))
    return sorted(rows, key=lambda row: _VERDICTS.index(row.verdict))


def _answered(result: Comparison) -> bool:
    return result.ratio.estimate is not None


def _frames(after: Study, before: Study, metric: str) -> tuple[pd.DataFrame, pd.DataFrame, str | None]:
    """The runs of both sides and the column of the metric (None: what the comparison takes by itself)."""
    if metric == "throughput":
        return throughput_runs(after), throughput_runs(before), "throughput"
    value = _value(metric)
    sides = [latency_runs(study) for study in (after, before)]
    if (found := _PERCENTILE.fullmatch(metric)) is not None:
        q = round(float(found[1]) / 100, 9)
        for study, frame in zip((after, before), sides, strict=True):
            frame[value] = _percentiles(study, frame, q)
    return sides[0], sides[1], value


def _value(metric: str) -> str | None:
    """The column that a metric stands in."""
    columns = {"latency": None, "median": "median_ns", "mean": "mean_ns", "throughput": "throughput"}
    if metric in columns:
        return columns[metric]
    if _PERCENTILE.fullmatch(metric) is None:
        raise ValueError(f"no metric {metric!r}; metrics: {METRICS}")
    return f"{metric}_ns"


def _percentiles(study: Study, runs: pd.DataFrame, q: float) -> pd.Series:
    """A percentile of each run in ns, printed or from samples; missing where it is the maximum in disguise."""
    import numpy as np

    table = study.quantiles
    own = table[(table["metric"] == "rtt") & ((table["q"] - q).abs() < 1e-9) & (table["resolved"].fillna(True))]
    values = own.drop_duplicates("run_id").set_index("run_id")["value_ns"].reindex(runs.index).astype("float64")
    for run_id, samples in numbered_by_run(study, runs[values.isna()]).items():
        if len(samples) * (1 - q) >= 1:
            values[run_id] = order_statistic(np.sort(round_trips(samples)), q)
    return values


def _chosen(runs: pd.DataFrame, tool: str | None, path: str | None) -> pd.DataFrame:
    if tool is not None:
        runs = runs[runs["tool"] == tool]
    if path is not None:
        runs = runs.loc[[run_id for run_id, each in runs["path"].items() if fnmatchcase(str(each), path)]]
    return runs


def _unmatched(metric: str, frame: pd.DataFrame, matched: Sequence[pd.DataFrame]) -> list[str]:
    """Path and method of the runs that found no counterpart."""
    used = {run_id for each in matched for run_id in each.index}
    rest = frame[~frame.index.isin(used)]
    names = dict.fromkeys(zip(rest["path"], rest["method"], strict=True))
    return [f"{path}, {method} ({metric})" for path, method in names]


def _plain(value: Any) -> Any:
    """A number of numpy as one of Python; what is not finite is None."""
    value = value.item() if hasattr(value, "item") else value
    return None if isinstance(value, float) and not math.isfinite(value) else value
