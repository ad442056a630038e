"""What the answers of all studies share: their parts, and how they name values, placements and conditions."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from azlatency.kit.cells import Ref
from azlatency.kit.claim import interval_of
from azlatency.kit.titles import span
from azlatency.report.card import Badge, Dot, Linked, Sentence, dot, listed
from azlatency.report.tables.common import condition_ref
from azlatency.stats.across_runs.attainable import rounds_needed
from azlatency.stats.across_runs.placement import Change, Condition
from azlatency.stats.result import SHORT
from azlatency.studies.format import count_of, format_value, one_prefix

if TYPE_CHECKING:
    import pandas as pd

    from azlatency.studies.store.study import Study

#: Most typical runs that a card lists.
_MOST_TYPICAL = 3
#: Most paths that a sentence lists, and most that a card draws.
MOST_LISTED, MOST_DRAWN = 6, 12
ONCE = "Each path was measured once, so this describes these connections; other machines may rank differently."
PLACES = {
    "same_host": "on one host",
    "same_zone": "in one zone",
    "availability_set": "in the availability set",
    "proximity_placement_group": "in the placement group",
    "cross_zone": "across zones",
    "cross_region": "across regions",
}


@dataclass(frozen=True, kw_only=True)
class Answer:
    """What one kind of answer says; the attributes are those of `Card`."""

    badge: Badge
    answer: Sentence = ()
    inference: Sentence = ()
    dots: tuple[Dot, ...] = ()
    axis: str = ""
    next_step: str = ""
    reported: bool = False


@dataclass(frozen=True)
class Data:
    """A study with the tables that the answers share."""

    study: Study
    runs: pd.DataFrame
    levels: list[Condition]
    """Conditions of the kind of measurement that covers most placements and paths."""


def axis_of(levels: Sequence[Condition]) -> str:
    """Return what the axis of the small chart shows."""
    reported = ", as reported" if levels[0].origin == "reported" else ""
    return f"{levels[0].statistic} RTT, {levels[0].kind.split()[0]}{reported}"


def badge_of(levels: Sequence[Condition]) -> Badge:
    """Return how far to trust what a card says: by the intervals that `inference_of` shows."""
    if all(interval_of(level.typical) for level in levels):
        return "replicated"
    once = all(len(level.values) == 1 or level.origin == "reported" for level in levels)
    return "indicative" if once else "incomplete"


def inference_of(levels: Sequence[Condition], runs: pd.DataFrame, claimed: Iterable[str] = ()) -> Sentence:
    """Say what the conditions support, an interval, single connections, or a quotation; and what the tool printed.

    ``claimed`` are the paths that the answer speaks of: their intervals come first.
    """
    shown = [run for level in levels for run in level.run_ids]
    halved = len(shown) > 0 and bool((runs.loc[shown, "printed_as"] == "half_round_trip").all())
    note = (f" {levels[0].kind.split()[0]} prints half of each value.",) if halved else ()
    return (*_inference_of(levels, runs, list(claimed)), *note)


def _inference_of(levels: Sequence[Condition], runs: pd.DataFrame, claimed: Sequence[str]) -> Sentence:
    if levels[0].origin == "reported":
        without = f"and only {count_of(len(runs), 'other run')} with logs" if len(runs) else "without logs"
        text = (
            f"The text reports these numbers {without}, so the spread between runs is unknown: quote them, but do "
            "not test them."
        )
        return (text,)
    if badge_of(levels) == "indicative":
        return (ONCE,)
    in_order = sorted(levels, key=lambda level: level.path not in claimed)
    known: list[Sentence] = [
        (Linked(level.typical.in_short(), condition_ref(level), bold=False),)
        for level in in_order
        if level.typical is not None and interval_of(level.typical)
    ]
    unknown: list[Sentence] = [(_without_interval(level),) for level in in_order if not interval_of(level.typical)]
    typical: Sentence = ("Typical runs: ", *first_of(known), ".") if known else ()
    without_interval: Sentence = (" " * bool(known), "No interval: ", *first_of(unknown), ".") if unknown else ()
    return typical + without_interval


def first_of(parts: Sequence[Sentence]) -> Sentence:
    """List the first parts, and say how many more there are."""
    more: list[Sentence] = [(f"{len(parts) - _MOST_TYPICAL:,} more",)] if len(parts) > _MOST_TYPICAL else []
    return listed([*parts[:_MOST_TYPICAL], *more])


def _without_interval(level: Condition) -> str:
    """Say why a condition has no interval: one run, runs that are not pooled, or runs that are too far apart."""
    codes = level.typical.codes if level.typical is not None and level.typical.refused else ()
    reason = ", ".join(SHORT[code] for code in codes if code != "no_replication") or "too far apart"
    runs = count_of(len(level.values), "run")
    return f"{level.path} ({runs}{f': {reason}' * (len(level.values) > 1)})"


def next_rounds(levels: Sequence[Condition], tests: int, before: str, after: str = "") -> str:
    """Say what to repeat in how many rounds, or where the number of further rounds is if that was done."""
    rounds = rounds_needed(tests)
    if levels[0].origin == "log" and min(len(level.values) for level in levels) >= rounds:
        return "See the page *Planning the next measurement* for the rounds that smaller differences need."
    return f"{before} in at least {rounds} rounds{after}."


def values_of(level: Condition, *, bold: bool = False, like: float | None = None) -> Linked:
    """Return the values of a condition with where they come from; ``like`` as in `span`."""
    return Linked(span(level.values, "ns", like=like), condition_ref(level), bold=bold)


def from_to(in_order: Sequence[Sentence], what: str = "paths") -> Sentence:
    """List the values of paths in the order of size; of many, the lowest and the highest."""
    if len(in_order) <= MOST_LISTED:
        return listed(in_order)
    return "from ", *in_order[0], " to ", *in_order[-1], f" ({len(in_order):,} {what})"


def ends_of(in_order: Sequence[Dot], axis: str) -> tuple[tuple[Dot, ...], str]:
    """Return the dots that a card draws, of many the lowest and the highest, and what its axis says of them."""
    if len(in_order) <= MOST_DRAWN:
        return tuple(in_order), axis
    half = MOST_DRAWN // 2
    axis = f"{axis}: the lowest and the highest of {len(in_order):,} paths"
    return (*in_order[:half], *in_order[-half:]), axis


def both_sides(steps: Iterable[Change]) -> list[Ref]:
    """Return both sides of several comparisons."""
    return [condition_ref(level) for step in steps for level in (step.base, step.other)]


def dots_of_levels(levels: Sequence[Condition], label: Callable[[Condition], str]) -> tuple[Dot, ...]:
    """Return a dot for each condition, with its interval or its values."""
    near, like = levels[0].placement, prefix_of(levels)
    dots = []
    for level in levels:
        interval, estimate = interval_of(level.typical), level.typical.estimate if level.typical is not None else None
        text = "" if interval is None else format_value(estimate, "ns", like=like)
        dots.append(
            dot(
                label(level),
                interval or level.values,
                "ns",
                condition_ref(level),
                near=level.placement == near,
                value=estimate if interval else None,
                text=text,
                like=like,
            )
        )
    return tuple(dots)


def prefix_of(levels: Iterable[Condition]) -> float | None:
    """Return the value whose prefix all values of a card take; None if they are too far apart for one."""
    return one_prefix((value for level in levels for value in level.values), "ns")


def conditions_of(steps: Iterable[Change]) -> list[Condition]:
    """Return the conditions of several comparisons, each once."""
    return list({id(level): level for step in steps for level in (step.base, step.other)}.values())


def label_of(level: Condition) -> str:
    """Return path and message size."""
    size = f", {level.message_bytes:,} B" if level.message_bytes else ""
    return f"{level.path}{size}"
