"""Decide whether a candidate differs from a base by more than a margin.

Runs of the same path and method are compared; the runs are the replicates, so every row is a result across runs. Each
row has one of four verdicts:

``beyond``
    The ratio lies beyond the margin: a one-sided test that belongs to the interval of `azlatency.compare`, with Holm's
    correction over all rows.
``within``
    The interval at twice the error (90 % for 95 %) lies inside the margin: two one-sided tests.
``inconclusive``
    Neither: there are too few runs, or they vary too much, or the ratio is close to the margin. The row says how many
    runs are needed. Also a ratio beyond the margin between runs that resemble the runs before them: the time may be
    the cause, and rounds would tell.
``refused``
    The two sides must not be compared. The row gives the reason.

The outcome is ``changed`` if one row is beyond the margin, ``unchanged`` if every row is within it and nothing that the
base measured is missing, otherwise ``inconclusive``. A candidate that is faster by more than the margin also counts
as changed. These words are stable in JSON and JUnit.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from itertools import combinations
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import pandas as pd

from azlatency import __version__
from azlatency.gate.matching import align_paths, nothing_in_common, unknown_name
from azlatency.stats.across_runs.before_after import Pairing, compare_pairings, elsewhere, pairings
from azlatency.stats.across_runs.planning import PILOT, Plan, runs_to_decide
from azlatency.stats.across_runs.run_values import parse_margin, run_values
from azlatency.stats.across_runs.typical_run import typical_run
from azlatency.stats.multiplicity import adjust_p
from azlatency.stats.result import DRIFTS, FEASIBLE, SHORT, Comparison, Estimate, explain
from azlatency.studies.manifest.machine_names import Maps
from azlatency.studies.runs.assumptions import assumptions
from azlatency.studies.runs.key import check_across, differing
from azlatency.studies.runs.left_out import in_words, without_result
from azlatency.studies.runs.round_trips import latency
from azlatency.studies.runs.run_table import client_runs, run_table, with_network_paths
from azlatency.studies.runs.selection import select_scenario
from azlatency.studies.runs.throughput import throughput
from azlatency.studies.store.hosts import changed_facts

if TYPE_CHECKING:
    from azlatency.studies.store.study import Study

RowVerdict = Literal["beyond", "within", "inconclusive", "refused"]
Outcome = Literal["unchanged", "changed", "inconclusive"]
#: A cell of the JSON output.
Cell = str | float | bool | None

#: Verdicts in the order of a report, with their names in texts: rows that need attention come first.
VERDICTS: dict[RowVerdict, str] = {
    "beyond": "changed",
    "refused": "not comparable",
    "inconclusive": "inconclusive",
    "within": "no change",
}
#: Exit codes of ``azlatency compare``; 2 is a usage error.
EXIT_CODES: dict[Outcome, int] = {"unchanged": 0, "changed": 1, "inconclusive": 3}
#: Reasons why two sides must not be compared, whatever the number of runs.
_REFUSALS = {
    "logical_zone",
    "type_p_mismatch",
    "unit_unknown",
    "unit_conflict",
    "sender_only",
    "mixed_sizes",
    "mixed_amounts",
    "mixed_settings",
    "mixed_treatments",
    "not_positive",
    "loss_censored",
}
#: What to do where more than `FEASIBLE` runs are needed; and of an interval that only the family of rows refuses.
HELPS = (
    "Make each run longer, measure both sides alternating in rounds, add pairs of machines, or accept a wider margin"
)
HOLM = "not significant among all rows"
#: Too few runs for ranks. This does not prevent a verdict: it then rests on the t interval.
T_INTERVAL = frozenset({"few_runs", "two_runs"})
_MEASURED = {"latency": latency, "throughput": throughput}
#: At most this many scenarios of one study are compared with each other.
MOST_SCENARIOS = 20
#: At most this many paths are listed if none matches.
_PATHS_NAMED = 8
_NO_METRIC = "Neither latency nor throughput is on both sides"
_PERCENTILE = re.compile(r"p(\d{2}(?:\.\d{1,6})?)")
METRICS = "latency (median of the run, otherwise its mean), median, mean, p50 to p99.9999, throughput"


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """The verdict for one path, method and metric. ``plan`` is the number of runs needed if it is inconclusive."""

    metric: str
    comparison: Comparison
    verdict: RowVerdict
    p_beyond: float | None
    """Holm-adjusted p-value of "the ratio is within the margin"; None without an estimate."""
    plan: Plan | None
    base: Estimate
    """Typical run of the base."""
    candidate: Estimate
    """Typical run of the candidate; see `candidate_value` for what a row shows."""

    @property
    def base_value(self) -> float | None:
        """The median run of the base, or its only run."""
        return _value_of(self.base)

    @property
    def candidate_value(self) -> float | None:
        """The base times the ratio, so that a row agrees with itself; without a ratio the median or only run."""
        ratio, base = self.comparison.ratio.estimate, self.base_value
        return _value_of(self.candidate) if ratio is None or base is None else base * ratio

    @property
    def ratio(self) -> float | None:
        """The estimated ratio, or that of two single runs, which describes them."""
        estimate, base, candidate = self.comparison.ratio.estimate, self.base_value, self.candidate_value
        if estimate is not None or self.verdict == "refused" or not base or candidate is None:
            return estimate
        return candidate / base

    @property
    def difference(self) -> float | None:
        """The estimated difference, or that of two single runs."""
        estimated = self.comparison.difference
        if estimated is not None and estimated.estimate is not None:
            return estimated.estimate
        base, candidate = self.base_value, self.candidate_value
        return None if self.ratio is None or base is None or candidate is None else candidate - base

    @property
    def path(self) -> str:
        """The two ends of the path."""
        return str(self.comparison.labels["path"])

    @property
    def method(self) -> str:
        """Tool, test, protocol and message size."""
        return str(self.comparison.labels["method"])

    @property
    def reason(self) -> str:
        """Why the row is inconclusive or refused, and what to do; empty for other verdicts."""
        if self.verdict in ("beyond", "within"):
            return ""
        codes = self.comparison.codes
        if self.verdict == "refused":
            return "; ".join(explain(codes))
        return "; ".join([*(SHORT[code] for code in codes if code not in T_INTERVAL), self._next_measurement()])

    @property
    def rounds(self) -> int:
        """The number of rounds in which both sides were measured in turns; 0 if they were not."""
        return int(self.comparison.ratio.diagnostics.get("rounds", 0))

    @property
    def is_feasible(self) -> bool:
        """Whether the runs that are needed can be measured; also true where nobody knows how many."""
        return self.plan is None or max(self.plan.needed or 0, self.plan.low or 0) <= FEASIBLE

    @property
    def is_drift(self) -> bool:
        """Whether it is not called changed because its runs resemble the runs before them."""
        return self.verdict == "inconclusive" and self.comparison.drifts

    @property
    def verdict_in_words(self) -> str:
        """The verdict as a reader sees it."""
        return DRIFTS if self.is_drift else VERDICTS[self.verdict]

    @property
    def is_one_of_many(self) -> bool:
        """Whether its interval alone shows a change, but the family of all rows does not."""
        low, high, _ = self.comparison.decides
        if self.verdict != "inconclusive" or low is None or high is None or self.p_beyond is None:
            return False
        return low > 1 + self.comparison.margin or high < 1 / (1 + self.comparison.margin)

    def _next_measurement(self) -> str:
        plan = self.plan
        if self.is_drift:
            return f"{DRIFTS}: measure both sides alternating in rounds"
        if self.is_one_of_many:
            return f"{HOLM}, p = {self.p_beyond:.2g}: compare fewer paths, or measure more runs"
        if not self.is_feasible:
            return f"more than {FEASIBLE} runs on each side are needed: {HELPS[0].lower()}{HELPS[1:]}"
        if self.comparison.verdict == "different":
            return "something changed, but it may be less than the margin: more runs narrow the interval"
        if plan is None or plan.low is None:
            return f"measure {PILOT} runs on each side to get a forecast"
        if plan.needed is None:
            high = "?" if plan.high is None else plan.high
            return (
                f"if nothing changed, {plan.low} to {high} runs on each side are needed to show it; "
                f"there are {plan.done}: measure {PILOT} first"
            )
        if plan.more:
            return f"if nothing changed, {plan.needed} runs on each side are needed to show it; there are {plan.done}"
        return (
            f"{plan.done} runs on each side would show that nothing changed; the change is about as large as the margin"
        )

    def record(self) -> dict[str, Cell]:
        """Return the row for JSON; None is a missing value."""
        plan = self.plan
        cells = {name: _plain(value) for name, value in self.comparison.row().items()}
        del cells["verdict"]
        return {
            "metric": self.metric,
            "verdict": self.verdict,
            "reason": self.reason or None,
            **cells,
            "ratio": self.ratio,
            "difference": self.difference,
            "base": self.base_value,
            "candidate": self.candidate_value,
            "p_beyond": self.p_beyond,
            "runs_needed": None if plan is None else plan.needed,
            "runs_needed_low": None if plan is None else plan.low,
            "runs_needed_high": None if plan is None else plan.high,
        }


def _value_of(estimate: Estimate) -> float | None:
    """Return an estimate, or the value of a single run."""
    if estimate.estimate is not None:
        return estimate.estimate
    low, high = (estimate.diagnostics.get(name) for name in ("lowest", "highest"))
    return float(low) if low is not None and low == high else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Judgement:
    """All rows, and what only one side measured. ``base`` and ``candidate`` are the names that the user gave."""

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
        """The overall result."""
        if self.count("beyond"):
            return "changed"
        complete = bool(self.rows) and not self.only_in_base
        return "unchanged" if complete and self.count("within") == len(self.rows) else "inconclusive"

    @property
    def exit_code(self) -> int:
        """0 unchanged, 1 changed, 3 inconclusive."""
        return EXIT_CODES[self.outcome]

    def count(self, verdict: RowVerdict) -> int:
        """Return the number of rows with this verdict."""
        return sum(row.verdict == verdict for row in self.rows)

    @property
    def headline(self) -> str:
        """The outcome in one sentence."""
        sentence = {
            "changed": f"Changed by more than the margin of {self.margin}",
            "unchanged": f"No change beyond the margin of {self.margin}",
            "inconclusive": f"Inconclusive at a margin of {self.margin}",
        }[self.outcome]
        counts = ", ".join(f"{self.count(verdict)} {name}" for verdict, name in VERDICTS.items() if self.count(verdict))
        only = (("base", self.only_in_base), ("candidate", self.only_in_candidate))
        missing = ", ".join(f"{len(names)} measured only in the {side}" for side, names in only if names)
        return f"{sentence}: {counts or 'nothing to compare'}{'; ' if missing else ''}{missing}."

    def record(self) -> dict[str, Cell | list[str] | list[dict[str, Cell]]]:
        """Return everything for programs. The words of verdicts and outcomes are stable."""
        return {
            "azlatency": __version__,
            "base": self.base,
            "candidate": self.candidate,
            "margin": self.margin,
            "confidence": self.confidence,
            "outcome": self.outcome,
            "exit_code": self.exit_code,
            "headline": self.headline,
            "rows": [row.record() for row in self.rows],
            "only_in_base": list(self.only_in_base),
            "only_in_candidate": list(self.only_in_candidate),
            "remarks": list(self.remarks),
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Compared:
    """One comparison, before the verdict."""

    metric: str
    pairing: Pairing
    comparison: Comparison


def judge(  # noqa: PLR0913 - one for each option of the command
    base: Study,
    candidate: Study | None,
    *,
    names: tuple[str, str],
    margin: str = "5%",
    metrics: Sequence[str] = (),
    maps: Maps = (),
    confidence: float = 0.95,
    tool: str | None = None,
    path: str | None = None,
    across: Sequence[str] = (),
) -> Judgement:
    """Compare candidate with base for each metric.

    Logs that are on both sides, byte for byte, are left out of both: they are not independent evidence.

    Parameters
    ----------
    base, candidate : Study
        The two sides. Latencies are round-trip times. Without a candidate, every pair of scenarios of the base.
    names : tuple of str
        The names of base and candidate in the output.
    margin : str
        Largest change that does not matter in practice: ``"5%"``, ``"0.05"`` or ``"2us"``.
    metrics : sequence of str
        Metrics of `METRICS`; by default latency and throughput, or latency only if the margin is a time. All rows are
        one family of tests.
    maps : sequence of (str, str)
        See `azlatency.gate.matching.align_paths`.
    confidence : float
        Family-wise confidence level, between 0.5 and 1.
    tool, path : str, optional
        Compare only runs of this tool, and only paths that match this glob pattern.
    across : sequence of str
        Fields of the key that may differ between the sides, because they are what is compared.

    Returns
    -------
    Judgement
        One row per path, method and metric.

    Raises
    ------
    ValueError
        If a metric, the margin or the confidence is not valid.
    """
    if not 0.5 < confidence < 1:
        raise ValueError(f"confidence {confidence} is out of range; choose a level between 0.5 and 1")
    sides = [(base, candidate)] if candidate is not None else _pairs_of_scenarios(base)
    question = _Question(margin, tuple(dict.fromkeys(metrics)), maps, confidence, tool, path, tuple(across))
    found = [_compare_sides(*side, question) for side in sides]
    seen = [frame for each in found for frame in each.seen]
    _check_filters(seen, tool, path)
    _check_across(across, seen)
    remarks = dict.fromkeys(remark for each in found for remark in each.remarks)
    compared = [item for each in found for item in each.compared]
    only_in_base = [name for each in found for name in each.only_in_base]
    only_in_candidate = [name for each in found for name in each.only_in_candidate]
    if not compared:
        if not metrics and not any(each.on_both_sides for each in found):
            remarks |= dict.fromkeys(_no_metric(*sides[0]))
        elif only_in_base and only_in_candidate:
            after, before = (_select(pd.concat(frames), tool, path) for frames in (seen[::2], seen[1::2]))
            remarks |= dict.fromkeys(nothing_in_common(before, after))
    for study, name in zip((base, candidate), names, strict=True):
        if study is not None:
            runs = _select(client_runs(study), tool, path)
            remarks |= dict.fromkeys(f"{name}: {line}" for line in in_words(runs, without_result(study)))
    if candidate is None:
        # What the names say is the question here; that their numbers count repeats is still assumed.
        remarks |= dict.fromkeys(line for line in assumptions(base) if line.startswith("assumed: "))
    else:
        remarks |= dict.fromkeys(_differing_fields(compared, names))
        remarks |= dict.fromkeys(
            f"The machines differ in {fact}: {old} in the base, {new} in the candidate"
            for fact, (old, new) in changed_facts(base.hosts, candidate.hosts).items()
        )
    return Judgement(
        base=names[0],
        candidate=names[1],
        margin=margin,
        confidence=confidence,
        rows=tuple(assign_verdicts(compared, confidence)),
        only_in_base=tuple(only_in_base),
        only_in_candidate=tuple(only_in_candidate),
        remarks=tuple(remarks),
    )


class _Question(NamedTuple):
    """What is asked of two sides; see `judge`."""

    margin: str
    metrics: tuple[str, ...]
    maps: Maps
    confidence: float
    tool: str | None
    path: str | None
    across: tuple[str, ...]


class _Sides(NamedTuple):
    """What two sides have in common, and what only one of them measured."""

    compared: list[Compared]
    only_in_base: list[str]
    only_in_candidate: list[str]
    remarks: list[str]
    seen: list[pd.DataFrame]
    on_both_sides: bool


def _compare_sides(base: Study, candidate: Study, question: _Question) -> _Sides:
    """Compare the runs of two studies, or of two scenarios of one, without a verdict."""
    compared: list[Compared] = []
    only_in_base: list[str] = []
    only_in_candidate: list[str] = []
    remarks: list[str] = []
    seen: list[pd.DataFrame] = []
    on_both_sides = False
    by_time = parse_margin(question.margin)[1] > 0
    # Two scenarios of one study are compared: their names are what differs.
    scenarios = base.version != candidate.version
    for metric in question.metrics or _MEASURED:
        after, before, value = frames_of_metric(candidate, base, metric)
        sides = (with_network_paths(after, candidate), with_network_paths(before, base))
        after, before = align_paths(*sides, question.maps, scenarios=scenarios, across=question.across)
        seen += [after, before]
        after, before = (_select(frame, question.tool, question.path) for frame in (after, before))
        if metric == "throughput" and by_time and not question.metrics:
            if len(after) and len(before):
                remarks.append("Throughput is on both sides and not compared, because the margin is a time")
            continue
        on_both_sides |= bool(len(after) and len(before))
        after_keys, before_keys = after.index, before.index
        if scenarios:
            after_keys, before_keys = _contents(after, candidate), _contents(before, base)
        shared = set(after_keys) & set(before_keys)
        if shared:
            logs = "1 log is" if len(shared) == 1 else f"{len(shared)} logs are"
            remarks.append(f"{logs} on both sides, byte for byte, and left out: a copy is not independent evidence")
            after, before = after[~after_keys.isin(shared)], before[~before_keys.isin(shared)]
        if len(after) and len(before) and elsewhere(after, before):
            remarks.append("The two sides are in different regions and are not compared")
        matched = pairings(after, before)
        comparisons = compare_pairings(
            matched, margin=question.margin, confidence=question.confidence, value=value, across=question.across
        )
        compared += [
            Compared(metric=metric, pairing=pairing, comparison=_named(comparison, base, candidate, scenarios))
            for pairing, comparison in zip(matched, comparisons, strict=True)
        ]
        only_in_base += _unmatched(metric, before, [pairing.before for pairing in matched])
        only_in_candidate += _unmatched(metric, after, [pairing.after for pairing in matched])
    return _Sides(compared, only_in_base, only_in_candidate, remarks, seen, on_both_sides)


def _named(comparison: Comparison, base: Study, candidate: Study, are_studies: bool) -> Comparison:
    """Name the scenarios in the path of a comparison of two of them."""
    if are_studies:
        return comparison
    levels = f"{candidate.name.rpartition('@')[2]} against {base.name.rpartition('@')[2]}"
    return replace(comparison, labels={**comparison.labels, "path": f"{levels}: {comparison.labels['path']}"})


def _pairs_of_scenarios(study: Study) -> list[tuple[Study, Study]]:
    """Return every pair of scenarios of a study, the earlier one as the base; raise `ValueError` if it has no pair."""
    scenarios = list(dict.fromkeys(run_table(study)["scenario"].dropna()))
    if not 1 < len(scenarios) <= MOST_SCENARIOS:
        raise ValueError(
            f"the study has {len(scenarios)} scenarios, and --across scenario compares 2 to {MOST_SCENARIOS}; "
            "give two sides, such as STUDY@one STUDY@other"
        )
    parts = [select_scenario(study, str(name)) for name in scenarios]
    return list(combinations(parts, 2))


def _check_across(across: Sequence[str], frames: Sequence[pd.DataFrame]) -> None:
    """Raise `ValueError` if a field that may differ is unknown; ``scenario`` tells the sides apart anyway."""
    if named := [name for name in across if name != "scenario"]:
        check_across(named, pd.concat(frames))


def _differing_fields(compared: Sequence[Compared], names: tuple[str, str]) -> Iterator[str]:
    """Yield the command that compares sides of which a field differs, for each group of fields."""
    for item in compared:
        if "type_p_mismatch" in item.comparison.codes:
            fields = [name.removeprefix("setting ") for name in differing([item.pairing.after, item.pairing.before])]
            if fields and not {"tool", "test", "protocol"} & set(fields):
                said = ",".join(fields)
                yield (
                    f"The sides differ in {', '.join(fields)}. If that is what you compare: azlatency compare "
                    f"{names[0]} {names[1]} --across {said}"
                )


def _check_filters(frames: Sequence[pd.DataFrame], tool: str | None, path: str | None) -> None:
    """Raise `ValueError` if no run on either side is of the tool, or of a path that matches the pattern."""
    tools = sorted({name for frame in frames for name in frame["tool"]})
    paths = sorted({str(name) for frame in frames for name in frame["path"]})
    if tool is not None and tool not in tools and tools:
        raise ValueError(unknown_name("tool", tool, tools, f"measured: {', '.join(tools)}"))
    if path is not None and paths and not any(fnmatchcase(name, path) for name in paths):
        raise ValueError(unknown_name("path", path, paths, f"measured: {', '.join(paths[:_PATHS_NAMED])}"))


def _no_metric(base: Study, candidate: Study) -> list[str]:
    """Say what each side measured instead of latency or throughput."""
    remarks = [_NO_METRIC]
    for side, study in (("base", base), ("candidate", candidate)):
        counts = run_table(study)["method"].value_counts().sort_index()
        methods = ", ".join(f"{count} × {method}" for method, count in counts.items())
        remarks.append(f"The {side} has the runs {methods}")
    return remarks


def decide(comparisons: Sequence[Comparison], confidence: float) -> list[tuple[RowVerdict, float | None]]:
    """Return each verdict with its Holm-adjusted p-value; the tests against the margin are one family."""
    answered = [comparison.ratio.estimate is not None for comparison in comparisons]
    raw = [
        comparison.ratio.diagnostics.get("beyond_p") if has_ratio else None
        for comparison, has_ratio in zip(comparisons, answered, strict=True)
    ]
    decisions: list[tuple[RowVerdict, float | None]] = []
    adjusted = adjust_p([None if p is None else float(p) for p in raw])
    for comparison, has_ratio, p in zip(comparisons, answered, adjusted, strict=True):
        verdict: RowVerdict = "inconclusive"
        if not has_ratio:
            verdict = "refused" if _REFUSALS & set(comparison.codes) else "inconclusive"
        elif p is not None and p <= 1 - confidence and comparison.verdict == "different":
            verdict = "inconclusive" if comparison.drifts else "beyond"
        elif comparison.verdict in ("equivalent", "different_within_margin"):
            verdict = "within"
        decisions.append((verdict, p))
    return decisions


def assign_verdicts(compared: Sequence[Compared], confidence: float) -> list[Row]:
    """Give every comparison its verdict, the typical run of both sides and, if inconclusive, the runs it needs."""
    rows = []
    decisions = decide([item.comparison for item in compared], confidence)
    for item, (verdict, p) in zip(compared, decisions, strict=True):
        comparison = item.comparison
        column = item.pairing.column(_column(item.metric))
        before, after = item.pairing.before, item.pairing.after
        plan = None
        if verdict == "inconclusive" and not comparison.drifts and "rounds" not in comparison.ratio.diagnostics:
            values = run_values(before, column), run_values(after, column)
            plan = runs_to_decide(values[0], values[1], comparison.margin, confidence=confidence)
        base, candidate = (typical_run(side, value=column, confidence=confidence) for side in (before, after))
        rows.append(
            Row(
                metric=item.metric,
                comparison=comparison,
                verdict=verdict,
                p_beyond=p,
                plan=plan,
                base=base,
                candidate=candidate,
            )
        )
    return sorted(rows, key=lambda row: list(VERDICTS).index(row.verdict))


def frames_of_metric(after: Study, before: Study, metric: str) -> tuple[pd.DataFrame, pd.DataFrame, str | None]:
    """Return the runs of both sides and the column of the metric (None: the default of the comparison)."""
    if metric == "throughput":
        return throughput(after, sender_only=True), throughput(before, sender_only=True), "throughput_bit_s"
    column = _column(metric)
    match = _PERCENTILE.fullmatch(metric)
    percentiles = (float(match[1]),) if match else ()
    return latency(after, percentiles=percentiles), latency(before, percentiles=percentiles), column


def _column(metric: str) -> str | None:
    columns = {"latency": None, "median": "median_ns", "mean": "mean_ns", "throughput": "throughput_bit_s"}
    if metric in columns:
        return columns[metric]
    if _PERCENTILE.fullmatch(metric) is None:
        raise ValueError(unknown_name("metric", metric, [*columns, "p99"], f"choose from {METRICS}"))
    return f"{metric}_ns"


def _contents(runs: pd.DataFrame, study: Study) -> pd.Series:
    """Return the SHA-256 of the log of each run: the id of a log depends on the logs beside it, too."""
    return runs["source_id"].map(dict(zip(study.sources["source_id"], study.sources["sha256"], strict=True)))


def _select(runs: pd.DataFrame, tool: str | None, path: str | None) -> pd.DataFrame:
    """Keep the runs of a tool and of the paths that match a pattern."""
    if tool is not None:
        runs = runs[runs["tool"] == tool]
    if path is not None:
        runs = runs.loc[[run_id for run_id, name in runs["path"].items() if fnmatchcase(str(name), path)]]
    return runs


def _unmatched(metric: str, frame: pd.DataFrame, matched: Sequence[pd.DataFrame]) -> list[str]:
    """Name path and method of the runs without a counterpart on the other side."""
    used = {run_id for part in matched for run_id in part.index}
    rest = frame[~frame.index.isin(used)]
    names = dict.fromkeys(zip(rest["path"], rest["method"], strict=True))
    return [f"{path}, {method} ({metric})" for path, method in names]


def _plain(value: Any) -> Cell:
    """Convert a numpy number to Python; values that are not finite become None."""
    plain: Cell = value.item() if hasattr(value, "item") else value
    return None if isinstance(plain, float) and not math.isfinite(plain) else plain
