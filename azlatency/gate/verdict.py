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
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import partial
from itertools import combinations
from typing import Any, Literal, NamedTuple

import numpy as np
import pandas as pd

from azlatency import __version__
from azlatency.gate.matching import align_paths, nothing_in_common, numbers_apart, unknown_name
from azlatency.kit.cells import is_missing
from azlatency.stats.across_runs.before_after import Pairing, compare_pairings, elsewhere, pairings
from azlatency.stats.across_runs.comparison import Setting, Sides
from azlatency.stats.across_runs.planning import PILOT, runs_to_decide
from azlatency.stats.across_runs.run_values import RunValues, parse_margin, refusals
from azlatency.stats.across_runs.typical_run import PathRuns, typical_runs
from azlatency.stats.multiplicity import adjust_p
from azlatency.stats.result import DRIFTS, FEASIBLE, SHORT, explain
from azlatency.stats.rows import Row, number
from azlatency.studies.format import plain
from azlatency.studies.manifest.machine_names import Maps
from azlatency.studies.runs.assumptions import assumptions
from azlatency.studies.runs.key import check_across, differing
from azlatency.studies.runs.left_out import doubtful_rows, in_words, without_result
from azlatency.studies.runs.round_trips import latency
from azlatency.studies.runs.run_table import client_runs, run_table, with_network_paths
from azlatency.studies.runs.selection import is_window, select_scenario, window_ends, without_overlap
from azlatency.studies.runs.throughput import throughput
from azlatency.studies.store.hosts import changed_facts
from azlatency.studies.store.study import Study

Decision = Literal["beyond", "within", "inconclusive", "refused"]
Outcome = Literal["unchanged", "changed", "inconclusive"]

#: Decisions in the order of a report, with their names in texts: rows that need attention come first.
DECISIONS: dict[Decision, str] = {
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
    "make each run longer, measure both sides alternating in rounds, add pairs of machines, or accept a wider margin"
)
HOLM = "not significant among all rows"
#: Too few runs for ranks. This does not prevent a verdict: it then rests on the t interval.
T_INTERVAL = frozenset({"few_runs", "two_runs"})
_MEASURED = {"latency": latency, "throughput": throughput}
#: At most this many scenarios of one study are compared with each other.
MOST_SCENARIOS = 20
#: A word of the scenario that others are compared with, whatever the order of their files: "before-D2s_v5".
_BASE = re.compile(r"(?<![^\W_])(?:before|base(?:line)?|old|off|without|default)(?![^\W_])", re.IGNORECASE)
#: At most this many paths are listed if none matches.
_PATHS_NAMED = 8
_NO_METRIC = "Neither latency nor throughput is on both sides"
_PERCENTILE = re.compile(r"p(\d{2}(?:\.\d{1,6})?)")
METRICS = "latency (median of the run, otherwise its mean), median, mean, p50 to p99.9999, throughput"
#: The keys of a row of the JSON, with their columns.
_RECORD = {
    "metric": "metric", "verdict": "decision", "reason": "reason", "path": "path", "method": "method",
    "runs_after": "n_candidate", "runs_before": "n_base", "assumed": "assumed", "notes": "notes", "what": "what",
    "margin": "margin", "ratio": "ratio", "ratio_low": "ratio_low", "ratio_high": "ratio_high",
    "difference": "difference", "difference_low": "difference_low", "difference_high": "difference_high",
    "unit": "unit", "inner_low": "inner_low", "inner_high": "inner_high", "superiority": "superiority", "p": "p",
    "scope": "scope", "statistic": "statistic", "codes": "flags", "base": "base", "candidate": "candidate",
    "p_beyond": "p_beyond", "runs_needed": "needed", "runs_needed_low": "needed_low",
    "runs_needed_high": "needed_high",
}  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Judgement:
    """The rows of two sides that the user named (`judged`), and the runs that only one of them has.

    The latter are named by path, method and metric. ``margin`` is the largest change that does not matter in practice,
    ``confidence`` the family-wise level.
    """

    base: str
    candidate: str
    margin: str
    confidence: float
    rows: pd.DataFrame
    only_in_base: tuple[str, ...]
    only_in_candidate: tuple[str, ...]
    remarks: tuple[str, ...]

    @property
    def outcome(self) -> Outcome:
        """The overall result."""
        if self.count("beyond"):
            return "changed"
        complete = bool(len(self.rows)) and not self.only_in_base
        return "unchanged" if complete and self.count("within") == len(self.rows) else "inconclusive"

    @property
    def exit_code(self) -> int:
        """0 unchanged, 1 changed, 3 inconclusive."""
        return EXIT_CODES[self.outcome]

    def count(self, decision: Decision) -> int:
        """Return the number of rows with this decision."""
        return int((self.rows["decision"] == decision).sum())

    @property
    def headline(self) -> str:
        """The outcome in one sentence."""
        sentence = {
            "changed": f"Changed by more than the margin of {self.margin}",
            "unchanged": f"No change beyond the margin of {self.margin}",
            "inconclusive": f"Inconclusive at a margin of {self.margin}",
        }[self.outcome]
        counts = ", ".join(f"{self.count(name)} {text}" for name, text in DECISIONS.items() if self.count(name))
        only = (("base", self.only_in_base), ("candidate", self.only_in_candidate))
        missing = ", ".join(f"{len(names)} measured only in the {side}" for side, names in only if names)
        return f"{sentence}: {counts or 'nothing to compare'}{'; ' if missing else ''}{missing}."

    def record(self) -> dict[str, Any]:
        """Return everything for programs. The words of verdicts and outcomes are stable."""
        rows = self.rows.to_dict("records")
        return {
            "azlatency": __version__,
            "base": self.base,
            "candidate": self.candidate,
            "margin": self.margin,
            "confidence": self.confidence,
            "outcome": self.outcome,
            "exit_code": self.exit_code,
            "headline": self.headline,
            "rows": [
                {**{key: _plain(row[column]) for key, column in _RECORD.items()}, "codes": row["flags"]} for row in rows
            ],
            "only_in_base": list(self.only_in_base),
            "only_in_candidate": list(self.only_in_candidate),
            "remarks": list(self.remarks),
        }


class Compared(NamedTuple):
    """A comparison before it is decided: its row, the runs and the values that were compared, and their column."""

    row: Row
    pairing: Pairing
    sides: Sides
    column: str


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
    """Compare candidate with base for each metric: a row per path, method and metric. Latencies are round-trip times.

    Logs that are on both sides, byte for byte, are left out of both: they are not independent evidence. Without a
    candidate, every pair of scenarios of the base is compared. ``names`` are those of both sides in the output.
    ``margin``: ``"5%"``, ``"0.05"`` or ``"2us"``. ``metrics``: of `METRICS`; by default latency and throughput, or
    latency only if the margin is a time. All rows are one family of tests at the level ``confidence``. ``maps``: see
    `azlatency.gate.matching.align_paths`. ``tool`` and ``path`` (a glob pattern) select runs; the fields ``across`` may
    differ between the sides, because they are what is compared. Raises `ValueError` if a metric, the margin or the
    confidence is not valid.
    """
    if not 0.5 < confidence < 1:
        raise ValueError(f"confidence {confidence} is out of range; choose a level between 0.5 and 1")
    given = base
    if candidate is not None:
        base = without_overlap(base, candidate)
    sides = {"": (base, candidate)} if candidate is not None else _pairs_of_scenarios(base)
    setting, select = Setting(margin, confidence), partial(_select, tool=tool, path=path)
    asked = tuple(dict.fromkeys(metrics))
    parts = [
        part for what, pair in sides.items() for part in _compare(what, *pair, asked, setting, maps, across, select)
    ]
    afters, befores = [part.after for part in parts], [part.before for part in parts]
    _check_filters([*afters, *befores], tool, path)
    if named := [name for name in across if name != "scenario"]:  # which tells the sides apart anyway
        check_across(named, pd.concat([*afters, *befores]))
    compared = [item for part in parts for item in part.compared]
    only_in_base = tuple(name for part in parts for name in part.only_in_base)
    only_in_candidate = tuple(name for part in parts for name in part.only_in_candidate)
    remarks = dict.fromkeys(remark for part in parts for remark in part.remarks)
    if copies := set[str]().union(*(part.copies for part in parts)):
        logs = "1 log is" if len(copies) == 1 else f"{len(copies)} logs are"
        remarks |= {f"{logs} on both sides, byte for byte, and left out: a copy is not independent evidence": None}
    hints = None
    if not compared:
        if not metrics and not any(part.on_both_sides for part in parts):
            remarks |= dict.fromkeys(_no_metric(*next(iter(sides.values()))))
        elif only_in_base and only_in_candidate:
            hints = nothing_in_common
    elif candidate is not None and all(item.row["n_base"] == item.row["n_candidate"] == 1 for item in compared):
        hints = numbers_apart
    if hints is not None:
        remarks |= dict.fromkeys(hints(select(pd.concat(befores)), select(pd.concat(afters))))
    for study, name in zip((base, candidate), names, strict=True):
        if study is not None:
            lines = in_words(select(client_runs(study)), without_result(study))
            remarks |= dict.fromkeys(f"{name}: {line}" for line in [*lines, *doubtful_rows(study)])
    if candidate is None:
        # What the names say is the question here; that their numbers count repeats is still assumed.
        remarks |= dict.fromkeys(line for line in assumptions(base) if line.startswith("assumed: "))
    else:
        if base is not given:
            remarks |= {f"Windows of {names[0]} that share time with those of {names[1]} are left out": None}
        remarks |= dict.fromkeys([*_windows(compared), *_differing_fields(compared, names)])
        remarks |= dict.fromkeys(
            f"The machines differ in {fact}: {old} in the base, {new} in the candidate"
            for fact, (old, new) in changed_facts(base.hosts, candidate.hosts).items()
        )
    return Judgement(
        base=names[0],
        candidate=names[1],
        margin=margin,
        confidence=confidence,
        rows=judged(compared, confidence),
        only_in_base=only_in_base,
        only_in_candidate=only_in_candidate,
        remarks=tuple(remarks),
    )


class _Part(NamedTuple):
    """What was found for one metric of two sides: all their runs, the comparisons, and the runs of one side only.

    ``copies``: what names the runs that are on both sides.
    """

    after: pd.DataFrame
    before: pd.DataFrame
    on_both_sides: bool
    compared: list[Compared]
    only_in_base: list[str]
    only_in_candidate: list[str]
    copies: set[str]
    remarks: list[str]


def _compare(
    levels: str,
    base: Study,
    candidate: Study,
    metrics: Sequence[str],
    setting: Setting,
    maps: Maps,
    across: Sequence[str],
    select: Callable[[pd.DataFrame], pd.DataFrame],
) -> Iterator[_Part]:
    """Compare the runs of two studies, or of two scenarios of one, by metric and without a decision; see `judge`.

    ``levels`` stands before each path.
    """
    by_time = parse_margin(setting.margin)[1] > 0
    # Two scenarios of one study are compared: their names are what differs.
    scenarios = base.version != candidate.version
    for metric in metrics or _MEASURED:
        after, before, value = frames_of_metric(candidate, base, metric)
        sides = (with_network_paths(after, candidate), with_network_paths(before, base))
        seen = align_paths(*sides, maps, scenarios=scenarios, across=across)
        after, before = map(select, seen)
        is_on_both, remarks = bool(len(after) and len(before)), []
        if metric == "throughput" and by_time and not metrics:
            if is_on_both:
                remarks = ["Throughput is on both sides and not compared, because the margin is a time"]
            yield _Part(*seen, False, [], [], [], set(), remarks)
            continue
        after_keys, before_keys = after.index, before.index
        if scenarios:
            after_keys, before_keys = _contents(after, candidate), _contents(before, base)
        shared = set(after_keys) & set(before_keys)
        after, before = after[~after_keys.isin(shared)], before[~before_keys.isin(shared)]
        if len(after) and len(before) and elsewhere(after, before):
            remarks = ["The two sides are in different regions and are not compared"]
        matched = pairings(after, before)
        sides_of_pairs = [pairing.sides(value, across) for pairing in matched]
        rows = compare_pairings(matched, sides_of_pairs, setting)
        compared = [
            Compared(row | {"metric": metric, "path": f"{levels}{row['path']}"}, pairing, pair, pairing.column(value))
            for row, pairing, pair in zip(rows, matched, sides_of_pairs, strict=True)
        ]
        only_before = _unmatched(metric, before, [pairing.before for pairing in matched])
        only_after = _unmatched(metric, after, [pairing.after for pairing in matched])
        yield _Part(*seen, is_on_both, compared, only_before, only_after, shared, remarks)


def _pairs_of_scenarios(study: Study) -> dict[str, tuple[Study, Study]]:
    """Return every pair of scenarios of a study, the earlier one as the base; raise `ValueError` if it has no pair."""
    scenarios = list(dict.fromkeys(run_table(study)["scenario"].dropna()))
    if not 1 < len(scenarios) <= MOST_SCENARIOS:
        raise ValueError(
            f"the study has {len(scenarios)} scenarios, and --across scenario compares 2 to {MOST_SCENARIOS}; "
            "give two sides, such as STUDY@one STUDY@other"
        )
    scenarios.sort(key=lambda name: not _BASE.search(str(name)))
    parts = {str(name): select_scenario(study, str(name)) for name in scenarios}
    return {f"{after} against {before}: ": (parts[before], parts[after]) for before, after in combinations(parts, 2)}


def _differing_fields(compared: Sequence[Compared], names: tuple[str, str]) -> Iterator[str]:
    """Yield the command that compares sides of which a field differs, for each group of fields."""
    for item in compared:
        if "type_p_mismatch" in item.row["flags"].split():
            fields = [name.removeprefix("setting ") for name in differing([item.pairing.after, item.pairing.before])]
            if fields and not {"tool", "test", "protocol"} & set(fields):
                yield (
                    f"The sides differ in {', '.join(fields)}. If that is what you compare: azlatency compare "
                    f"{names[0]} {names[1]} --across {','.join(fields)}"
                )


def _windows(compared: Sequence[Compared]) -> Iterator[str]:
    """Yield when the windows of published tables ended that are compared."""
    pairings = [item.pairing for item in compared]
    sides = [pd.concat(part) for part in zip(*((each.before, each.after) for each in pairings), strict=True)]
    if sides and all(is_window(side).all() for side in sides):
        ends = [window_ends(side["started_at"], side["duration_ns"]).dt.strftime("%Y-%m-%d") for side in sides]
        base, candidate = (" to ".join(dict.fromkeys([days.min(), days.max()])) for days in ends)
        yield f"Published windows are compared: those that ended {base} (base) and {candidate} (candidate)"


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


def judged(compared: Sequence[Compared], confidence: float) -> pd.DataFrame:
    """Decide on every comparison; the tests against the margin are one family.

    A row per comparison, those that need attention first, with the columns of `azlatency.compare`. ``ratio`` and
    ``difference`` of two single runs are theirs. ``base`` and ``candidate`` are the typical runs in ``unit``: the
    median run of the base, and that times the ratio. ``decision`` with its ``cause``, and its ``reason`` in words;
    ``p_beyond``: Holm-adjusted p-value of "the ratio is within the margin"; ``done`` and ``needed`` runs on each side
    of a comparison that is inconclusive, with ``needed_low`` and ``needed_high``; ``rounds``: 0 if the sides were not
    measured in turns.
    """
    if not compared:
        return pd.DataFrame(columns=["decision"])
    rows = pd.DataFrame([item.row for item in compared])
    rows["p_beyond"] = [number(p) for p in adjust_p(rows["p_beyond"].where(rows["ratio"].notna()).tolist())]
    rows = decide(rows, confidence)
    details = [_with_runs(row, item, confidence) for row, item in zip(rows.to_dict("records"), compared, strict=True)]
    whole = dict.fromkeys(("done", "needed", "needed_low", "needed_high"), "Int64")
    return pd.DataFrame(sorted(details, key=lambda row: list(DECISIONS).index(row["decision"]))).astype(whole)


def decide(rows: pd.DataFrame, confidence: float) -> pd.DataFrame:
    """Return the rows with ``decision`` and ``cause``, which follow from the Holm-adjusted ``p_beyond``."""
    flags = rows["flags"].str.split().map(set)
    has_ratio = rows["ratio"].notna()
    refused = ~has_ratio & flags.map(lambda names: bool(names & _REFUSALS))
    within = has_ratio & rows["verdict"].isin(["equivalent", "different_within_margin"])
    differs = has_ratio & (rows["verdict"] == "different")
    drifts = differs & flags.map(lambda names: "dependent_runs" in names)
    beyond = differs & ~drifts & (rows["p_beyond"] <= 1 - confidence)
    margin = 1 + rows["margin"]
    alone = differs & ((rows["decides_low"] > margin) | (rows["decides_high"] < 1 / margin))
    decisions = np.select([refused, beyond, within], ["refused", "beyond", "within"], default="inconclusive")
    causes = np.select([beyond, drifts, alone, differs], ["", "drift", "family", "margin"], default="")
    return rows.assign(decision=decisions, cause=causes)


def _typical(values: RunValues, runs: pd.DataFrame, column: str, confidence: float) -> Row:
    """Return the typical run of one side as a row; its estimate is the value of a single run, too."""
    (row,) = typical_runs([PathRuns("", {}, values, refused=refusals([runs], column))], confidence)
    is_one_value = is_missing(row["estimate"]) and row["lowest"] == row["highest"]
    return {**row, "estimate": row["lowest"]} if is_one_value else row


def _with_runs(row: Row, compared: Compared, confidence: float) -> Row:
    """Return a row with the typical runs of both sides, the runs that are needed, and the reason of its decision."""
    (after, before), pairing, column = compared.sides[:2], compared.pairing, compared.column
    of_base = _typical(before, pairing.before, column, confidence)
    base, candidate = of_base["estimate"], _typical(after, pairing.after, column, confidence)["estimate"]
    estimated = not math.isnan(row["ratio"]) and not math.isnan(base)
    if estimated:  # so that a row agrees with itself
        candidate = base * row["ratio"]
    elif row["decision"] != "refused" and base:
        row = {**row, "ratio": candidate / base, "difference": candidate - base}
    row = {**row, "unit": of_base["unit"], "base": base, "candidate": candidate}
    done = needed = low = high = None
    if row["decision"] == "inconclusive" and row["cause"] != "drift" and not row["rounds"]:
        done, needed, low, high, *_ = runs_to_decide(before, after, row["margin"], confidence=confidence)
    row |= {"done": done, "needed": needed, "needed_low": low, "needed_high": high}
    return {**row, "reason": reason(row)}


def is_feasible(row: Row) -> bool:
    """Return whether the runs that are needed can be measured; also true where nobody knows how many."""
    return all(is_missing(row[name]) or row[name] <= FEASIBLE for name in ("needed", "needed_low"))


def reason(row: Row) -> str:
    """Say why a row is inconclusive or refused, and what to do; nothing of other rows."""
    flags = row["flags"].split()
    if row["decision"] == "refused":
        return "; ".join(explain(flags))
    if row["decision"] != "inconclusive":
        return ""
    return "; ".join([*(SHORT[flag] for flag in flags if flag not in T_INTERVAL), _next_measurement(row)])


def _next_measurement(row: Row) -> str:
    done, needed, low, high = (row[name] for name in ("done", "needed", "needed_low", "needed_high"))
    if row["cause"] == "drift":
        return f"{DRIFTS}: measure both sides alternating in rounds"
    if row["cause"] == "family":
        return f"{HOLM}, p = {plain(row['p_beyond'], 2)}: compare fewer paths, or measure more runs"
    if not is_feasible(row):
        return f"more than {FEASIBLE} runs on each side are needed: {HELPS}"
    if row["cause"] == "margin":
        return "something changed, but it may be less than the margin: more runs narrow the interval"
    if low is None:
        return f"measure {PILOT} runs on each side to get a forecast"
    if needed is None:
        return (
            f"if nothing changed, {low} to {'?' if high is None else high} runs on each side are needed to show it; "
            f"there are {done}: measure {PILOT} first"
        )
    if needed > done:
        return f"if nothing changed, {needed} runs on each side are needed to show it; there are {done}"
    return f"{done} runs on each side would show that nothing changed; the change is about as large as the margin"


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


def _plain(value: Any) -> Any:
    """Return a value for JSON: what is missing, empty or not finite as None."""
    if is_missing(value) or value == "" or (isinstance(value, float) and not math.isfinite(value)):
        return None
    return value
