"""Round-trip times by placement, and the effect of one changed factor."""

from __future__ import annotations

import math
from collections.abc import Sequence
from statistics import median
from typing import TYPE_CHECKING

from azlatency.kit.claim import Claim, described_by
from azlatency.kit.drawing import draw
from azlatency.kit.drawing.axes import plain_log_ticks, times_axis
from azlatency.kit.drawing.base import (
    MICROSECOND,
    MOST_ROWS,
    label,
    lines,
    most_of,
    narrow,
    sizes,
    stack,
    styled,
    tip,
)
from azlatency.kit.drawing.draw import number
from azlatency.kit.drawing.options import by_size, ordered
from azlatency.kit.drawing.palette import GREY, INK, RUN
from azlatency.kit.drawing.truth import configured
from azlatency.kit.objects import Chart, Note
from azlatency.kit.titles import away_from_one, by_method, extremes, tied, times
from azlatency.report.differences import change_words, in_drift, verdict_on
from azlatency.stats.across_runs.main_method import sends_rarely
from azlatency.stats.across_runs.path_differences import path_differences
from azlatency.stats.across_runs.placement import Change, Condition
from azlatency.studies.format import count_of, plain

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_FAR_APART = 8
#: Most lines of the label of a change, which names two conditions.
_LINES_OF_A_CHANGE = 6


@styled
def placement_values(conditions: Sequence[Condition]) -> Chart | Note:
    """Draw run values by placement, shortest first; one panel per method, reported numbers in their own panels.

    Parameters
    ----------
    conditions : sequence of Condition
        As `azlatency.stats.placement.conditions` returns them, or those of some methods.

    Returns
    -------
    Chart or Note
        The chart, or a note with the reason where there is nothing to draw.
    """
    if not conditions:
        return Note("No chart: no log and no text of this study contains a latency.")
    if len(conditions) == 1:
        return Note(f"No chart: one measurement only. {_words(conditions[0])}.")
    every = conditions
    conditions, left = most_of(
        conditions, lambda condition: len(condition.values), "measurements, those with the most runs", MOST_ROWS
    )
    panels: dict[tuple[str, str], list[Condition]] = {}
    for condition in sorted(conditions, key=lambda condition: (condition.origin == "reported", _size(condition))):
        panels.setdefault((condition.origin, condition.method), []).append(condition)
    panels = {key: ordered(group, _size, _name) for key, group in panels.items()}
    heights = [sum(lines(label(_name(condition))) for condition in group) for group in panels.values()]
    figure, axes = stack(heights)
    values = [
        value for condition in conditions for value in (*condition.values, *(draw.ends_of(condition.typical) or ()))
    ]
    logarithmic = max(values) > _FAR_APART * min(values) > 0
    room = 0.3 if narrow() else 0.16
    for axis in axes:
        if logarithmic:
            axis.set_xscale("log")
            low, high = min(values) / MICROSECOND / 1.3, max(values) / MICROSECOND * 1.3
            axis.set_xlim(low, high * (high / low) ** room)
            plain_log_ticks(axis.xaxis)
        else:
            axis.set_xlim(0, (1.05 + room) * max(values) / MICROSECOND)
    for axis, ((origin, method), group) in zip(axes, panels.items(), strict=True):
        _panel(axis, group)
        title = f"{method}, {group[0].statistic} of a run"
        axis.set_title(title if origin == "log" else f"{method}, {group[0].statistic} as reported (no log)")
    axes[-1].set_xlabel("round-trip time, µs" + (" (log)" if logarithmic else ""))
    method, by_path = by_method((c.measured, _size(c)) for c in every)
    chosen = [c for c in every if c.measured.method == method]
    ranges = {c.path: some for c in chosen if (some := described_by(c.typical, c.values)) is not None}
    found = path_differences({c.path: c.as_runs for c in chosen if c.typical is not None and not c.typical.refused})
    title = extremes(f"{chosen[0].statistic} round trip", by_path, "ns", method, ranges=ranges, found=found)
    return Chart(
        figure,
        _caption(conditions) + left,
        "\n".join(_words(condition) for condition in conditions),
        title=title,
        claim=Claim(
            quantity=f"{chosen[0].statistic}_ns",
            method=method,
            values={path: value for path, value in by_path.items() if path not in ranges},
        ),
    )


def _size(condition: Condition) -> float:
    """Return the number that orders the rows: the estimate of the path, else the median of its values."""
    typical = condition.typical
    if typical is not None and typical.estimate is not None:
        return typical.estimate
    return median(condition.values)


def _panel(axis: Axes, group: Sequence[Condition]) -> None:
    row, rows = 0.0, []
    for condition in group:
        height = lines(label(_name(condition)))
        rows.append(row + height / 2)
        row += height
    axis.set_yticks(rows, [label(_name(condition)) for condition in group])
    axis.set_ylim(row, 0)
    logged = [
        (place, c.path, value / MICROSECOND)
        for place, c in zip(rows, group, strict=True)
        if c.origin == "log"
        for value in c.values
    ]
    draw.dots(axis, [(place, value, f"{path}: {plain(value, 5)} µs") for place, path, value in logged])
    for place, condition in zip(rows, group, strict=True):
        x = [value / MICROSECOND for value in condition.values]
        if condition.origin == "reported":
            axis.plot(x, [place] * 2, color=GREY, linewidth=1.6, zorder=3)
            (marks,) = axis.plot(x, [place] * 2, "D", color=GREY, markersize=4.5, zorder=4)
            tip(marks, *(f"{condition.path}, reported: {plain(value, 5)} µs" for value in x))
            draw.value_at(axis, place, max(x), *x)
            continue
        ends = draw.ends_of(condition.typical, MICROSECOND)
        draw.bar(axis, place, ends)
        draw.value_at(axis, place, max([*x, *ends]), _size(condition) / MICROSECOND)
        draw.truth(axis, place, configured().rtt.get(condition.path), MICROSECOND)


def _name(condition: Condition) -> str:
    """Return the path, with its placement unless the path's name contains it."""
    placement = (condition.placement or "unknown placement").replace("_", " ")
    return condition.path if placement.lower() in condition.path.lower() else f"{condition.path} ({placement})"


def _caption(conditions: Sequence[Condition]) -> str:
    logged = [condition for condition in conditions if condition.origin == "log"]
    repeated = [condition for condition in logged if condition.typical is not None and not condition.typical.refused]
    levels = [f"{100 * condition.typical.confidence:g} %" for condition in repeated if condition.typical is not None]
    bar = f"Bar: {''.join(levels[:1])} interval of the path's typical run, the median run."
    return draw.caption(
        (f"Each circle is a run; {sizes((len(condition.values) for condition in logged), 'runs per row')}.", logged),
        (bar, levels),
        (configured().caption("rtt"), any(configured().rtt.get(condition.path) for condition in logged)),
        ("A circle without a bar is a single run; the spread between runs is unknown.", len(repeated) < len(logged)),
        (
            "Diamonds: reported in a text, joined by a line if a range was reported; the spread is unknown.",
            len(logged) < len(conditions),
        ),
    )


def _words(condition: Condition) -> str:
    values = ", ".join(plain(value / MICROSECOND, 5) for value in dict.fromkeys(condition.values))
    if condition.origin == "reported":
        return f"{_name(condition)}, {condition.method}, reported {condition.statistic}: {values} µs"
    line = f"{_name(condition)}, {condition.method}, {condition.statistic} of a run: {values} µs"
    ends = draw.ends_of(condition.typical, MICROSECOND)
    return f"{line}; typical {plain(_size(condition) / MICROSECOND, 5)}{draw.brackets(ends, 5)}" if ends else line


@styled
def single_changes(changes: Sequence[Change]) -> Chart | Note:
    """Draw the effect of one changed factor on the round-trip time, as a ratio.

    Parameters
    ----------
    changes : sequence of Change
        As `azlatency.stats.placement.changes` returns them, of one or several factors.

    Returns
    -------
    Chart or Note
        The chart, or a note with the reason where there is nothing to draw.
    """
    if not changes:
        return Note("No chart: no two measurements of this study differ in only one of these factors.")
    if len(changes) == 1:
        span = _span(changes[0].ratio_low, changes[0].ratio_high)
        return Note(f"No chart: one change only. {change_name(changes[0])}: measured ratio {span}.")
    every = changes
    changes, left = most_of(changes, _interval_of, "changes, those with intervals first", MOST_ROWS)
    changes = ordered(changes, _ratio, change_name)
    names = [label(change_name(change).replace("Standard_", ""), most=_LINES_OF_A_CHANGE) for change in changes]
    heights = [lines(name) + 0.3 for name in names]
    figure, (axis,) = stack([sum(heights)], xlabel="round-trip time after ÷ before the change (log); below 1 is faster")
    place, rows, alts, outer = 0.0, [], [], [1.0]
    for change, height in zip(changes, heights, strict=True):
        row = place + height / 2
        place += height
        rows.append(row)
        ratio = _ratio(change)
        if ends := draw.ends_of(change.comparison.ratio if change.comparison else None):
            alt = f"{change_name(change)}: {plain(ratio)}{draw.brackets(ends, 3)}"
            draw.bar(axis, row, ends)
            draw.point(axis, row, ratio, text=alt, markersize=5)
        else:
            alt = f"{change_name(change)}: measured ratio {_span(change.ratio_low, change.ratio_high)}"
            shape, colour = ("D", GREY) if change.comparison is None else ("o", RUN)
            ends = change.ratio_low, change.ratio_high
            draw.bar(axis, row, ends, colour, 1)
            draw.point(axis, row, *ends, text=alt, shape=shape, colour=colour, face="none", markersize=4.5)
        alts.append(alt)
        draw.truth(axis, row, _truth(change))
        outer += [*ends, _truth(change) or 1.0]
        draw.at_edge(axis, row, f"{number(ratio)}×")
    axis.axvline(1, color=INK, linewidth=1)
    times_axis(axis, outer)
    axis.set_yticks(rows, names)
    axis.set_ylim(place, 0)
    caption = draw.caption(
        f"Ratio of the round-trip times after and before one change{by_size(', smallest first')}; right: the ratio.",
        _change_caption(changes),
        "Do not generalise from a point without an interval.",
        (configured().caption("rtt ratio"), any(map(_truth, changes))),
        left,
    )
    return Chart(figure, caption, "\n".join(alts), title=_title_of_changes(every))


def _title_of_changes(changes: Sequence[Change]) -> str:
    """Name the largest effect if its interval tells it from the others, else say from where to where effects reach."""
    changes = [change for change in changes if not sends_rarely(change.other.method)] or changes
    apart = [change for change in changes if verdict_on([change], len(changes)) == "different"]
    factor = "" if any(change.unsaid for change in changes) else " of one factor"
    count = f"{count_of(len(changes), 'change')}{factor}"
    tools = ", ".join(dict.fromkeys(change.other.method.split()[0] for change in changes))
    if not apart:
        return f"{count}: {change_words(changes, len(changes))} ({tools})"
    drift = in_drift(change.comparison for change in apart if change.comparison is not None)
    ratios = {change_name(change): _ratio(change) for change in apart}
    intervals = {
        change_name(change): away_from_one(*draw.ends_of(change.comparison.ratio))
        for change in apart
        if change.comparison is not None
    }
    sizes = {name: max(ratio, 1 / ratio) for name, ratio in ratios.items()}
    far = max(sizes, key=sizes.__getitem__)
    if len(tied(sizes, far, intervals)) == 1:
        return f"Largest effect of one change{drift}: {times(ratios[far], 'as long')} ({far})"
    return f"{len(apart)} of {count}{drift}: {times(ratios.values(), 'as long')} ({tools})"


def _truth(change: Change) -> float | None:
    return configured().rtt_ratio(change.other.path, change.base.path)


def _ratio(change: Change) -> float:
    """Return the estimated ratio of a change, else the middle of the measured ones."""
    if change.comparison is not None and change.comparison.ratio.estimate is not None:
        return change.comparison.ratio.estimate
    return math.sqrt(change.ratio_low * change.ratio_high)


def _interval_of(change: Change) -> float:
    """Return 1 for a change with an interval, else 0."""
    return float(change.comparison is not None and change.comparison.ratio.low is not None)


def _change_caption(changes: Sequence[Change]) -> str:
    ratios = [None if change.comparison is None else change.comparison.ratio for change in changes]
    levels = [f"{100 * ratio.confidence:g} %" for ratio in ratios if ratio and ratio.low is not None]
    counts = [len(side.values) for change in changes for side in (change.base, change.other) if side.origin == "log"]
    return draw.caption(
        (f"Dot and bar: ratio and {''.join(levels[:1])} interval from repeated runs.", levels),
        ("Hollow circle: single runs, no interval.", any(ratio and ratio.low is None for ratio in ratios)),
        ("Hollow diamond: reported in a text, no interval; two diamonds mark a range.", None in ratios),
        (f"{sizes(counts, 'runs per side')}.", counts),
    )


def change_name(change: Change) -> str:
    """Describe a change: what changed, where, and the tool."""
    base, other = getattr(change.base, change.factor), getattr(change.other, change.factor)
    if change.factor == "placement":
        return f"{change.base.path} to {change.other.path}: {change.other.method}"
    where = (
        change.other.path if change.base.path == change.other.path else (change.other.placement or "").replace("_", " ")
    )
    words = {
        "message_bytes": f"message {base} → {other} B",
        "vm_size": f"{str(base).removeprefix('Standard_')} → {str(other).removeprefix('Standard_')}",
        "accelerated_networking": "accelerated networking off → on",
    }
    size = str(change.other.vm_size).removeprefix("Standard_")
    at = f" ({size})" if change.factor == "accelerated_networking" and change.other.vm_size else ""
    tool = change.other.method.split()[0]
    if "accelerated_networking" in change.unsaid:
        states = {True: "on", False: "off", None: "?"}
        fast = [states[side.accelerated_networking] for side in (change.base, change.other)]
        tool += f" (accelerated networking {fast[0]} → {fast[1]})"
    return f"{words[change.factor]}{at}, {where}, {tool}"


def _span(low: float, high: float) -> str:
    return plain(low) if low == high else f"{plain(low)} – {plain(high)}"
