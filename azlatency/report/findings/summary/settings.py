"""The answer about a setting: what accelerated networking and the size of the machines change."""

from __future__ import annotations

from collections.abc import Sequence

from azlatency.kit.titles import span
from azlatency.report.card import Dot, Linked, Sentence, dot, listed
from azlatency.report.differences import change_words, in_drift, ratios_of, verdict_on
from azlatency.report.findings.summary.answer import (
    PLACES,
    Answer,
    Data,
    axis_of,
    badge_of,
    both_sides,
    conditions_of,
    inference_of,
    next_rounds,
    prefix_of,
    values_of,
)
from azlatency.report.tables.common import condition_ref
from azlatency.stats.across_runs.placement import Change, Condition, all_changes


def settings(data: Data) -> Answer | None:
    """Say what accelerated networking changes, and whether a placement group adds to it."""
    steps = all_changes(data.levels, "accelerated_networking")
    if not steps:
        return None
    grouped = [
        step for step in all_changes(data.levels, "placement") if step.other.placement == "proximity_placement_group"
    ]
    levels = sorted(conditions_of([*steps, *grouped]), key=lambda level: -max(level.values))
    like = prefix_of(levels)
    parts: list[Sentence] = [
        _effect(
            [step],
            PLACES.get(step.other.placement or "", step.other.path),
            (values_of(step.base, like=like), " → ", values_of(step.other, like=like)),
        )
        for step in sorted(steps, key=lambda step: step.ratio_high)
    ]
    source = {"once": ", measured once", "reported": ", as reported"}.get(verdict_on(steps), "")
    text: Sentence = (f"Accelerated networking{source}: ", *listed(parts), ".")
    for step in grouped:
        text += (" A placement group on top: ", *_effect([step], "", (values_of(step.other, like=like),)), ".")
    sizes = [step for step in all_changes(data.levels, "vm_size") if step.other.accelerated_networking is not True]
    if sizes:
        values = [value for level in conditions_of(sizes) for value in level.values]
        shown = Linked(span(values, "ns", like=like), *both_sides(sizes), bold=False)
        against = "" if verdict_on(sizes) in ("once", "reported") else ", larger against smaller"
        text += f" VM size{against}: ", *_effect(sizes, "", (shown,)), "."
    return Answer(
        badge=badge_of(levels),
        reported=levels[0].origin == "reported",
        answer=text,
        inference=inference_of(levels, data.runs),
        dots=_dots_of_settings(levels, like),
        axis=axis_of(levels),
        next_step=next_rounds(
            levels,
            len(steps) + len(grouped),
            "Measure each setting",
            ", on and off alternating, on the same machines",
        ),
    )


def _effect(steps: Sequence[Change], place: str, values: Sentence) -> Sentence:
    """Say by how much changes make round trips longer or shorter, or that their runs do not show it, and the values."""
    verdict, refs, where = verdict_on(steps), both_sides(steps), f" {place}" if place else ""
    if verdict in ("once", "reported"):
        return *(part if isinstance(part, str) else Linked(part.text, *part.refs) for part in values), where
    if verdict != "different":
        return Linked(change_words(steps), *refs), f"{where} (", *values, ")"
    ratios, interval = ratios_of(steps)
    drift = in_drift(step.comparison for step in steps if step.comparison is not None)
    return Linked(f"{ratios} times as long", *refs), f"{where}{drift} ({interval}; ", *values, ")"


def _dots_of_settings(levels: Sequence[Condition], like: float | None) -> tuple[Dot, ...]:
    labels = [
        f"{PLACES.get(level.placement or '', level.path)}, {'on' if level.accelerated_networking else 'off'}"
        for level in levels
    ]
    return tuple(
        dot(label, level.values, "ns", condition_ref(level), near=not level.accelerated_networking, like=like)
        for label, level in zip(labels, levels, strict=True)
    )
