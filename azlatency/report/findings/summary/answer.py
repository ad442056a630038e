"""What the answers of all studies share: their parts, and how they name values, placements and conditions."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from azlatency.report.card import Badge, Dot, Linked, Sentence, dot, listed, span
from azlatency.report.table import Ref
from azlatency.report.tables.common import condition_ref
from azlatency.stats.across_runs.placement import Change, Condition
from azlatency.studies.format import count_of, format_value, one_prefix

if TYPE_CHECKING:
    import pandas as pd

    from azlatency.studies.store.study import Study

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
    """Return "replicated" if every condition has an interval."""
    intervals = [level.typical is not None and level.typical.low is not None for level in levels]
    return "replicated" if intervals and all(intervals) else "indicative"


def inference_of(levels: Sequence[Condition], runs: pd.DataFrame) -> Sentence:
    """Say what the conditions support, an interval, single connections, or a quotation; and what the tool printed."""
    shown = [run for level in levels for run in level.run_ids]
    halved = len(shown) > 0 and bool((runs.loc[shown, "printed_as"] == "half_round_trip").all())
    note = (f" {levels[0].kind.split()[0]} prints half of each value.",) if halved else ()
    return (*_inference_of(levels, runs), *note)


def _inference_of(levels: Sequence[Condition], runs: pd.DataFrame) -> Sentence:
    if levels[0].origin == "reported":
        without = f"and only {count_of(len(runs), 'other run')} with logs" if len(runs) else "without logs"
        text = (
            f"The text reports these numbers {without}, so the spread between runs is unknown: quote them, but do "
            "not test them."
        )
    elif badge_of(levels) == "replicated":
        typical = [
            Linked(level.typical.in_short(), condition_ref(level), bold=False)
            for level in levels[:3]
            if level.typical is not None
        ]
        return "Typical runs: ", *listed((run,) for run in typical), "."
    else:
        text = "Each path was measured once, so this describes these connections; other machines may rank differently."
    return (text,)


def values_of(level: Condition, *, bold: bool = False, like: float | None = None) -> Linked:
    """Return the values of a condition with where they come from; ``like`` as in `span`."""
    return Linked(span(level.values, "ns", like=like), condition_ref(level), bold=bold)


def both_sides(steps: Iterable[Change]) -> list[Ref]:
    """Return both sides of several comparisons."""
    return [condition_ref(level) for step in steps for level in (step.base, step.other)]


def dots_of_levels(levels: Sequence[Condition], label: Callable[[Condition], str]) -> tuple[Dot, ...]:
    """Return a dot for each condition, with its interval or its values."""
    near, like = levels[0].placement, prefix_of(levels)
    return tuple(
        dot(label(level), level.values, "ns", condition_ref(level), near=level.placement == near, like=like)
        if level.typical is None or level.typical.low is None or level.typical.high is None
        else dot(
            label(level),
            (level.typical.low, level.typical.high),
            "ns",
            condition_ref(level),
            near=level.placement == near,
            value=level.typical.estimate,
            text=format_value(level.typical.estimate, "ns", like=like),
        )
        for level in levels
    )


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
