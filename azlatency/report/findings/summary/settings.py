"""The answer about a setting: what accelerated networking and the size of the machines change."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from azlatency.report.card import Dot, Linked, Sentence, dot, listed, span
from azlatency.report.findings.summary.answer import (
    PLACES,
    Answer,
    Data,
    axis_of,
    badge_of,
    both_sides,
    conditions_of,
    inference_of,
    prefix_of,
    values_of,
)
from azlatency.report.tables.common import condition_ref
from azlatency.stats.across_runs.attainable import rounds_needed
from azlatency.stats.across_runs.placement import Change, Condition, changes

if TYPE_CHECKING:
    pass


def settings(data: Data) -> Answer | None:
    """Say what accelerated networking changes, and whether a placement group adds to it."""
    steps = changes(data.levels, "accelerated_networking")
    if not steps:
        return None
    grouped = [
        step for step in changes(data.levels, "placement") if step.other.placement == "proximity_placement_group"
    ]
    levels = sorted(conditions_of([*steps, *grouped]), key=lambda level: -max(level.values))
    like = prefix_of(levels)
    parts: list[Sentence] = [
        (
            Linked(_percent(step), *both_sides([step]), bold=not _once(step)),
            f" {PLACES.get(step.other.placement or '', step.other.path)} (",
            *(values_of(step.base, like=like), " → ", values_of(step.other, like=like)),
            ", one run each: may be chance)" if _once(step) else ")",
        )
        for step in sorted(steps, key=lambda step: step.ratio_high)
    ]
    text: Sentence = ("Accelerated networking: ", *listed(parts), ".")
    for step in grouped:
        change = "no visible gain" if step.ratio_low <= 1 <= step.ratio_high else _percent(step)
        text += (" A placement group on top: ", Linked(change, *both_sides([step])), " (")
        text += (values_of(step.other, like=like), ").")
    text += _sizes(changes(data.levels, "vm_size"), like)
    return Answer(
        badge=badge_of(levels),
        reported=levels[0].origin == "reported",
        answer=text,
        inference=inference_of(levels, data.runs),
        dots=_dots_of_settings(levels, like),
        axis=axis_of(levels),
        next_step=f"Measure each setting in at least {rounds_needed(len(steps) + len(grouped))} rounds, on and off "
        "alternating, on the same machines.",
    )


def _sizes(steps: Sequence[Change], like: float | None) -> Sentence:
    """Say whether larger machines are consistently faster or slower, with the same network settings."""
    plain = [step for step in steps if step.other.accelerated_networking is not True]
    if not plain:
        return ()
    values = span([value for level in conditions_of(plain) for value in level.values], "ns", like=like)
    faster, slower = (
        all(test) for test in ([step.ratio_high < 1 for step in plain], [step.ratio_low > 1 for step in plain])
    )
    effect = "larger ones are faster" if faster else "larger ones are slower" if slower else "no consistent effect"
    if all(map(_once, plain)):
        effect = "not testable from one run each"
    refs = both_sides(plain)
    return " VM size: ", Linked(effect, *refs), " (", Linked(values, *refs, bold=False), ")."


def _dots_of_settings(levels: Sequence[Condition], like: float | None) -> tuple[Dot, ...]:
    labels = [
        f"{PLACES.get(level.placement or '', level.path)}, {'on' if level.accelerated_networking else 'off'}"
        for level in levels
    ]
    return tuple(
        dot(label, level.values, "ns", condition_ref(level), near=not level.accelerated_networking, like=like)
        for label, level in zip(labels, levels, strict=True)
    )


def _once(step: Change) -> bool:
    """Return whether either side is a single value, so that nothing shows how much such values differ by chance."""
    return all(len(set(side.values)) == 1 for side in (step.base, step.other))


def _percent(step: Change) -> str:
    """Return the smaller end of a relative change, so that a range of runs is not overstated."""
    ratio = step.ratio_high if step.ratio_high < 1 else step.ratio_low
    return f"{'−' if ratio < 1 else '+'}{100 * abs(ratio - 1):.0f} %"
