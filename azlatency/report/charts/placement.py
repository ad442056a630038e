"""What each placement measured, and what one change of circumstances made of it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from azlatency.report.charts.axes import plain_log_ticks, times_axis
from azlatency.report.charts.base import MICROSECOND, MOST_ROWS, label, lines, most_of, new_figure, sizes, styled
from azlatency.report.objects import Chart, Note
from azlatency.stats.across_runs.placement import Change, Condition

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_BLUE, _RED, _GREY = "#0072B2", "#D55E00", "#555555"
_FAR_APART = 8


@styled
def placement_values(found: Sequence[Condition]) -> Chart | Note:
    """Run values by placement, near to far, one panel a method; reported numbers in panels of their own.

    ``found``: `azlatency.stats.across_runs.placement.conditions`, or those of some methods of it.
    """
    if not found:
        return Note("No chart: this study holds no latency, neither in a log nor in a text.")
    found, left = most_of(found, lambda each: len(each.values), "measurements, those with the most runs", MOST_ROWS)
    panels: dict[tuple[str, str], list[Condition]] = {}
    for each in sorted(found, key=lambda each: each.origin == "reported"):
        panels.setdefault((each.origin, each.method), []).append(each)
    heights = [sum(lines(label(_name(each))) for each in own) for own in panels.values()]
    figure, axes = new_figure(
        len(panels), 1, 0.6 + sum(0.2 * height + 0.42 for height in heights), sharex=True,
        gridspec_kw={"height_ratios": [height + 1.2 for height in heights]},
    )  # fmt: skip
    values = [value for each in found for value in (*each.values, *_ends(each))]
    logarithmic = max(values) > _FAR_APART * min(values)
    for axis, ((origin, method), own) in zip(axes, panels.items(), strict=True):
        _panel(axis, own)
        title = f"{method}, {own[0].statistic} of a run"
        axis.set_title(title if origin == "log" else f"{method}, {own[0].statistic} as reported (no log)")
    for axis in axes:
        if logarithmic:
            axis.set_xscale("log")
            axis.set_xlim(min(values) / MICROSECOND / 1.3, max(values) / MICROSECOND * 1.3)
            plain_log_ticks(axis.xaxis)
        else:
            axis.set_xlim(0, 1.05 * max(values) / MICROSECOND)
    axes[-1].set_xlabel("round trip, µs" + (" (log)" if logarithmic else ""))
    return Chart(figure, _caption(found) + left, "\n".join(_words(each) for each in found))


def _panel(axis: Axes, own: Sequence[Condition]) -> None:
    row, rows = 0.0, []
    for each in own:
        height = lines(label(_name(each)))
        rows.append(row + height / 2)
        row += height
    for place, each in zip(rows, own, strict=True):
        x = [value / MICROSECOND for value in each.values]
        if each.origin == "reported":
            axis.plot(x, [place] * 2, color=_GREY, linewidth=1.6, zorder=3)
            axis.plot(x, [place] * 2, "D", color=_GREY, markersize=4.5, zorder=4)
            continue
        if ends := [end / MICROSECOND for end in _ends(each)]:
            axis.plot(ends, [place] * 2, color=_BLUE, linewidth=2.2, zorder=2)
        axis.plot(x, [place] * len(x), "o", color=_RED, markersize=4.5, markerfacecolor="none", zorder=4)
    axis.set_yticks(rows, [label(_name(each)) for each in own])
    axis.set_ylim(row, 0)
    axis.grid(axis="y", visible=False)


def _ends(each: Condition) -> tuple[float, ...]:
    """The interval of the path's typical run, where there is one."""
    typical = each.typical
    if typical is None or typical.low is None or typical.high is None:
        return ()
    return typical.low, typical.high


def _name(each: Condition) -> str:
    """The path, and its placement where the path's name does not say it."""
    placement = (each.placement or "placement not said").replace("_", " ")
    return each.path if placement.lower() in each.path.lower() else f"{each.path} ({placement})"


def _caption(found: Sequence[Condition]) -> str:
    logged = [each for each in found if each.origin == "log"]
    repeated = [each for each in logged if each.typical is not None and not each.typical.refused]
    parts = ["Round trips by placement, near to far."]
    if logged:
        parts.append(f"A circle is a run; {sizes((len(each.values) for each in logged), 'runs a row')}.")
    if repeated and repeated[0].typical is not None:
        level = f"{100 * repeated[0].typical.confidence:g} %"
        parts.append(f"Bar: {level} interval of the path's typical run (t on logarithms of run values).")
    if len(repeated) < len(logged):
        parts.append("A circle without a bar is a single run: how far the next one falls from it is not known.")
    if len(logged) < len(found):
        parts.append("Diamonds: numbers from a text, a line between the ends of a range; no spread is known.")
    return " ".join(parts)


def _words(each: Condition) -> str:
    values = ", ".join(f"{value / MICROSECOND:,.5g}" for value in dict.fromkeys(each.values))
    if each.origin == "reported":
        return f"{_name(each)}, {each.method}, reported {each.statistic}: {values} µs"
    line = f"{_name(each)}, {each.method}, {each.statistic} of a run: {values} µs"
    typical = each.typical
    if typical is None or typical.estimate is None or typical.low is None or typical.high is None:
        return line
    low, high = typical.low / MICROSECOND, typical.high / MICROSECOND
    return f"{line}; typical {typical.estimate / MICROSECOND:,.5g} [{low:,.5g}, {high:,.5g}]"


@styled
def single_changes(found: Sequence[Change]) -> Chart | Note:
    """How many times longer the round trip was after one change: intervals where runs repeat, bare points else.

    ``found``: `azlatency.stats.across_runs.placement.changes` of one or several factors.
    """
    if not found:
        return Note("No chart: no two measurements of this study differ in one of these things alone.")
    found, left = most_of(found, _firmness, "changes, those with intervals first", MOST_ROWS)
    names = [label(change_name(each)) for each in found]
    heights = [lines(name) + 0.3 for name in names]
    figure, axes = new_figure(1, 1, 0.9 + 0.19 * sum(heights))
    axis = axes[0]
    place, rows, alts, extremes = 0.0, [], [], [1.0]
    for each, height in zip(found, heights, strict=True):
        row = place + height / 2
        place += height
        rows.append(row)
        ratio = None if each.comparison is None else each.comparison.ratio
        alt = f"{change_name(each)}: measured ratio {_span(each.ratio_low, each.ratio_high)}"
        if ratio is not None and ratio.estimate is not None and ratio.low is not None and ratio.high is not None:
            axis.plot([ratio.low, ratio.high], [row] * 2, color=_BLUE, linewidth=2.2, zorder=2)
            axis.plot([ratio.estimate], [row], "o", color=_BLUE, markersize=5, zorder=3)
            extremes += [ratio.low, ratio.high]
            alt = f"{change_name(each)}: {ratio.estimate:.3g} [{ratio.low:.3g}, {ratio.high:.3g}]"
        else:
            shape, colour = ("D", _GREY) if each.comparison is None else ("o", _RED)
            ends = [each.ratio_low, each.ratio_high]
            axis.plot(ends, [row] * 2, color=colour, linewidth=1, zorder=2)
            axis.plot(ends, [row] * 2, shape, color=colour, markerfacecolor="none", markersize=4.5, zorder=3)
            extremes += ends
        alts.append(alt)
    axis.axvline(1, color="black", linewidth=1)
    times_axis(axis, extremes)
    axis.set_yticks(rows, names)
    axis.set_ylim(place, 0)
    axis.grid(axis="y", visible=False)
    axis.set_xlabel("times the round trip before the change (log); below 1 is faster")
    caption = (
        "The round trip after one change, in terms of that before. "
        + _change_caption(found)
        + " No point without an interval supports a general rule."
        + left
    )
    return Chart(figure, caption, "\n".join(alts))


def _firmness(each: Change) -> float:
    """Changes with an interval first."""
    return float(each.comparison is not None and each.comparison.ratio.low is not None)


def _change_caption(found: Sequence[Change]) -> str:
    parts = []
    intervals = [each.comparison for each in found if each.comparison and each.comparison.ratio.low is not None]
    if intervals:
        parts.append(f"Dot and bar: ratio and {100 * intervals[0].ratio.confidence:g} % interval from repeated runs.")
    if any(each.comparison and each.comparison.ratio.low is None for each in found):
        parts.append("Hollow circle: single runs, no interval.")
    if any(each.comparison is None for each in found):
        parts.append("Hollow diamond: numbers from a text, no interval; two where a range was reported.")
    counts = [len(side.values) for each in found for side in (each.base, each.other) if side.origin == "log"]
    if counts:
        parts.append(f"{sizes(counts, 'runs a side')}.")
    return " ".join(parts)


def change_name(each: Change) -> str:
    """What was changed, and where, in a few words."""
    base, other = getattr(each.base, each.factor), getattr(each.other, each.factor)
    if each.factor == "placement":
        return f"{each.base.path} → {each.other.path}: {each.other.method}"
    where = each.other.path if each.base.path == each.other.path else (each.other.placement or "").replace("_", " ")
    words = {
        "message_bytes": f"message {base} → {other} B",
        "vm_size": f"{str(base).removeprefix('Standard_')} → {str(other).removeprefix('Standard_')}",
        "accelerated_networking": "accelerated networking off → on",
    }
    size = str(each.other.vm_size).removeprefix("Standard_")
    at = f" ({size})" if each.factor == "accelerated_networking" and each.other.vm_size else ""
    tool = each.other.method.split()[0]
    if "accelerated_networking" in each.unsaid:
        states = {True: "on", False: "off", None: "?"}
        fast = [states[side.accelerated_networking] for side in (each.base, each.other)]
        tool += f" (accelerated networking {fast[0]} → {fast[1]})"
    return f"{words[each.factor]}{at}, {where}, {tool}"


def _span(low: float, high: float) -> str:
    return f"{low:.3g}" if low == high else f"{low:.3g} – {high:.3g}"
