"""What the answers of all studies share: their parts, and how they name values, placements and conditions."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import pandas as pd

from azlatency.kit.cells import Ref, Row
from azlatency.kit.intervals import interval_in
from azlatency.kit.sentences import Linked, Sentence, listed
from azlatency.kit.table import condition_ref
from azlatency.kit.titles import span
from azlatency.kit.words import say_in_short
from azlatency.pages.summary.card import Badge, Dot, dot
from azlatency.stats.across_runs.attainable import rounds_needed
from azlatency.stats.result import SHORT
from azlatency.studies.format import count_of, format_estimate, join_words, one_prefix, plain
from azlatency.studies.runs.left_out import without_result
from azlatency.studies.runs.path import NetworkPath
from azlatency.studies.runs.run_table import client_runs

if TYPE_CHECKING:
    from azlatency.stats.across_runs.path_differences import PathDifferences
    from azlatency.studies.store.study import Study

#: Most typical runs that a card lists.
_MOST_TYPICAL = 3
#: Most paths that a sentence lists, and most that a card draws.
MOST_LISTED, MOST_DRAWN = 6, 12
#: Most values that a sentence lists with their intervals.
MOST_WITH_INTERVAL = 3
ONCE = (
    "Each value comes from one run, so this describes these connections; on other machines the pairs may rank "
    "differently."
)


@dataclass(frozen=True)
class Data:
    """A study with the tables that the answers share."""

    study: Study
    runs: pd.DataFrame
    levels: pd.DataFrame
    """Conditions of the kind of measurement that covers most placements and paths."""
    window: str = ""
    """The newest window of a published series, in words, if only that is used."""

    def level(self, label: int) -> Row:
        """Return the condition with a label, as `changes` names the two sides of a change."""
        return {str(name): value for name, value in self.levels.loc[label].items()}

    def both_sides(self, steps: pd.DataFrame) -> pd.DataFrame:
        """Return the conditions of several changes, each once: the base and the other one of each change."""
        return self.levels.loc[steps[["base", "other"]].stack().unique()]


def tool_of(levels: pd.DataFrame) -> str:
    """Return the tool that measured conditions of one kind."""
    return str(levels["kind"].iloc[0]).split()[0]


def one_of_several(method: str, runs: pd.DataFrame) -> str:
    """Return a method whose tool has others among the runs, such as other message sizes; else nothing."""
    tools = runs.loc[runs["method"] == method, "tool"]
    return method if runs.loc[runs["tool"].isin(tools), "method"].nunique() > 1 else ""


def axis_of(levels: pd.DataFrame, method: str = "") -> str:
    """Return what the axis of the small chart shows; ``method``: the one of several of its tool."""
    first = levels.iloc[0]
    reported = ", as reported" if first["origin"] == "reported" else ""
    return f"{first['value'].removesuffix('_ns')} RTT, {method or tool_of(levels)}{reported}"


def badge_of(typical: pd.DataFrame) -> Badge:
    """Return how far to trust a card that shows the interval of each of these typical runs that has one."""
    if all(interval_in(row) for row in typical.to_dict("records")):
        return "replicated"
    once = typical["n"] == 1
    if "origin" in typical:
        once |= typical["origin"] == "reported"
    return "indicative" if once.all() else "incomplete"


def inference_of(levels: pd.DataFrame, runs: pd.DataFrame, first: Sequence[str] = ()) -> Sentence:
    """Say what the conditions support, an interval, single connections, or a quotation; and what the tool printed.

    ``first`` are the paths that the answer speaks of: their intervals come first.
    """
    shown = " ".join(levels["run_ids"]).split()
    halved = len(shown) > 0 and bool((runs.loc[shown, "printed_as"] == "half_round_trip").all())
    note = (f" {tool_of(levels)} prints half of each value.",) if halved else ()
    return (*_inference_of(levels, runs, first), *note)


def _inference_of(levels: pd.DataFrame, runs: pd.DataFrame, first: Sequence[str]) -> Sentence:
    if levels["origin"].iloc[0] == "reported":
        without = f"and only {count_of(len(runs), 'other run')} with logs" if len(runs) else "without logs"
        text = (
            f"The text reports these numbers {without}, so the spread between runs is unknown: cite as published; "
            "no test possible."
        )
        return (text,)
    if badge_of(levels) == "indicative":
        return (ONCE,)
    in_order = sorted(levels.to_dict("records"), key=lambda level: level["path"] not in first)
    known: list[Sentence] = [
        (Linked(say_in_short(level), condition_ref(level), bold=False),) for level in in_order if interval_in(level)
    ]
    unknown: list[Sentence] = [(_without_interval(level),) for level in in_order if not interval_in(level)]
    typical: Sentence = ("Typical runs: ", *first_of(known), ".") if known else ()
    without_interval: Sentence = (" " * bool(known), "No interval: ", *first_of(unknown), ".") if unknown else ()
    return typical + without_interval


def decisive_paths(found: PathDifferences) -> list[str]:
    """Return the paths that a statement about all of them names."""
    return [str(path) for path in found.decisive[["large", "small"]].to_numpy().ravel()]


def first_of(parts: Sequence[Sentence]) -> Sentence:
    """List the first parts, and say how many more there are."""
    more: list[Sentence] = [(f"{plain(len(parts) - _MOST_TYPICAL)} more",)] if len(parts) > _MOST_TYPICAL else []
    return listed([*parts[:_MOST_TYPICAL], *more])


def _without_interval(level: Row) -> str:
    """Say why a condition has no interval: one run, runs that are not pooled, or runs that are too far apart."""
    codes = level["flags"].split() if math.isnan(level["estimate"]) else ()
    reason = ", ".join(SHORT[code] for code in codes if code != "no_replication") or "too far apart"
    why = f": {reason}" if level["n"] > 1 else ""
    return f"{level['path']} ({count_of(level['n'], 'run')}{why})"


def next_rounds(data: Data, levels: pd.DataFrame, tests: int, before: str, after: str = "") -> str:
    """Say what to repeat in how many rounds; if that was done, which runs failed, or where more rounds are planned."""
    rounds = rounds_needed(tests)
    if levels["origin"].iloc[0] == "log":
        few = levels[levels["n"] < rounds]
        if few.empty:
            return "See the page *Planning the next measurement* for the rounds that smaller differences need."
        # A run that failed may print no protocol, and so be of another method.
        runs = client_runs(data.study)
        failed = runs[runs.index.isin(list(without_result(data.study))) & runs["tool"].eq(tool_of(levels))]
        lost = few["path"].map(failed["path"].value_counts()).fillna(0)
        if (few["n"] + lost >= rounds).all():
            return f"Repeat the {count_of(int(lost.sum()), 'run').removeprefix('1 ')} without a result."
    return f"{before} in at least {rounds} rounds{after}."


def not_compared(runs: pd.DataFrame) -> Sentence:
    """Name the methods of runs that are not compared."""
    if runs.empty:
        return ()
    paths, methods = (list(map(str, runs[name].unique())) for name in ("path", "method"))
    where = paths[0] if len(paths) == 1 else f"{len(paths)} paths"
    how = join_words(methods) if len(methods) <= 4 else f"{len(methods)} other methods"
    return (f" Not compared here: {count_of(len(runs), 'run')} on {where} with {how}.",)


def range_of(level: Mapping[Any, Any]) -> tuple[float, float]:
    """Return the lowest and the highest run of a condition, or the range that a text reports."""
    return level["lowest"], level["highest"]


def typical_words(
    row: Mapping[Any, Any], *, like: float | None = None, step: float = 0.0, short: bool = False
) -> tuple[str, str]:
    """Return the typical run of a row of estimates, and its interval: "496 µs", "95 % CI 439–564 µs".

    Without an interval, the range of the runs, which says their number: "474–518 µs in 3 runs". ``short``: never the
    interval, where a sentence lists many. ``like`` and ``step`` as in `span`.
    """
    ends, unit = interval_in(row), row["unit"]
    # Equal ends show the rounding of the print, not a spread.
    if ends and ends[0] < ends[1]:
        value, interval = format_estimate(row["estimate"], *ends, unit, confidence=row["confidence"], like=like).split(
            ", "
        )
        return value, "" if short else interval
    reach = span(range_of(row), unit, like=like, step=step)
    return f"{reach} in {count_of(row['n'], 'run')}" if _runs_differ(row) else reach, ""


def _runs_differ(row: Mapping[Any, Any]) -> bool:
    """Return whether the range of a row is that of several runs; a text reports ranges, too."""
    return row.get("origin") != "reported" and bool(row["n"] > 1 and row["lowest"] < row["highest"])


def of_paths(rows: Sequence[Mapping[Any, Any]]) -> str:
    """Name the range of the typical runs of several paths; nothing if each was measured once."""
    if len(rows) < 2 or not any(map(_runs_differ, rows)):
        return ""
    paths = [str(row["path"]) for row in rows]
    is_reverse = len(paths) == 2 and str(NetworkPath.parse(paths[0]).reversed()) == paths[1]
    runs = "runs" if any(row["n"] > 1 and math.isnan(row["estimate"]) for row in rows) else "typical runs"
    return f"{runs} of {'both directions' if is_reverse else count_of(len(paths), 'path')}"


def measured_once(chosen: Sequence[Mapping[Any, Any]], every: Iterable[Mapping[Any, Any]]) -> str:
    """Say of values that stand among those of repeated runs that they are of single ones."""
    return "measured once" if all(row["n"] == 1 for row in chosen) and any(row["n"] > 1 for row in every) else ""


def in_brackets(*notes: str) -> str:
    """Return what is said of a number after it; nothing if nothing is."""
    said = "; ".join(filter(None, notes))
    return f" ({said})" if said else ""


def values_of(level: Row, *, bold: bool = False, like: float | None = None, short: bool = False) -> Sentence:
    """Return the typical run of a condition with where it comes from; ``like`` and ``short`` as in `typical_words`."""
    value, interval = typical_words(level, like=like, step=level["resolution"], short=short)
    shown = Linked(value, condition_ref(level), bold=bold)
    return (shown, in_brackets(interval)) if interval else (shown,)


def middle_of(level: Mapping[Any, Any]) -> float:
    """Return the typical run of a condition, or the middle of its runs."""
    return sum(range_of(level)) / 2 if math.isnan(level["estimate"]) else float(level["estimate"])


def with_size(level: Row, start: str) -> str:
    """Return the message size after ``start``; nothing if it is unknown."""
    size = level["message_bytes"]
    return "" if pd.isna(size) or not size else f"{start}{plain(size)} B"


def from_to(in_order: Sequence[Sentence]) -> Sentence:
    """List the values of paths in the order of size; of many, the lowest and the highest."""
    if len(in_order) <= MOST_LISTED:
        return listed(in_order)
    return "from ", *in_order[0], " to ", *in_order[-1], f" ({plain(len(in_order))} paths)"


def ends_of(in_order: Sequence[Dot], axis: str) -> tuple[tuple[Dot, ...], str]:
    """Return the dots that a card draws, of many the lowest and the highest, and what its axis says of them."""
    if len(in_order) <= MOST_DRAWN:
        return tuple(in_order), axis
    half = MOST_DRAWN // 2
    axis = f"{axis}: the lowest and the highest of {plain(len(in_order))} paths"
    return (*in_order[:half], *in_order[-half:]), axis


def refs_of(levels: pd.DataFrame) -> list[Ref]:
    """Return where the numbers of several conditions come from."""
    return [condition_ref(level) for level in levels.to_dict("records")]


def dots_of_levels(levels: pd.DataFrame, label: Callable[[Row], str]) -> tuple[Dot, ...]:
    """Return a dot for each condition, with its interval or its values."""
    near, like = levels["placement"].iloc[0], prefix_of(levels)
    dots = []
    for level in levels.to_dict("records"):
        drawn = typical_dot(label(level), level, condition_ref(level), like=like, step=level["resolution"])
        dots.append(replace(drawn, near=level["placement"] == near))
    return tuple(dots)


def typical_dot(label: str, row: Mapping[Any, Any], ref: Ref, *, like: float | None = None, step: float = 0.0) -> Dot:
    """Return the dot of a row of estimates, with its interval or its values."""
    interval, estimate, unit = interval_in(row), row["estimate"], row["unit"]
    value, text = (estimate, typical_words(row, like=like, step=step)[0]) if interval else (None, "")
    return dot(label, interval or range_of(row), unit, ref, value=value, text=text, like=like, step=step)


def prefix_of(levels: pd.DataFrame) -> float | None:
    """Return the value whose prefix all values of a card take; None if they are too far apart for one."""
    return one_prefix([*levels["lowest"], *levels["highest"]], "ns")


def label_of(level: Row) -> str:
    """Return path and message size."""
    return f"{level['path']}{with_size(level, ', ')}"
