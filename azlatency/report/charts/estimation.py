"""Data and effect in one row: the run values of each placement, and how many times the reference they are."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from azlatency.report.charts.axes import plain_log_ticks, times_axis
from azlatency.report.charts.base import MICROSECOND, label, left_out, lines, new_figure, side_by_side, sizes, styled
from azlatency.report.objects import Chart, Note
from azlatency.stats.across_runs.placement import Change, Condition

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_BLUE, _RED, _GREY = "#0072B2", "#D55E00", "#555555"
_PANELS = 4


@styled
def estimation_plot(found: Sequence[Change]) -> Chart | Note:
    """Run values of a reference and what is held against it (left), and the ratios with their intervals (right).

    ``found``: `azlatency.placement.changes`; changes with one reference and one method share a panel, the four panels
    with the most intervals are drawn.
    """
    groups: dict[tuple[str, str], list[Change]] = {}
    for each in found:
        groups.setdefault((each.base.path, each.base.method), []).append(each)
    if not groups:
        return Note("No chart: no two measurements of this study differ in one of these things alone.")
    shown = sorted(groups.values(), key=lambda own: (-sum(map(_known, own)), -len(own)))[:_PANELS]
    names = [[label(each.path, 30) for each in _rows(own)] for own in shown]
    counts = [len(each) * lines(*each) for each in names]
    columns = side_by_side(2, 2)
    heights = [count for count in counts for _ in range(2 // columns)]
    figure, axes = new_figure(
        len(heights), columns, 0.7 + sum(0.22 * count + 0.6 for count in heights),
        gridspec_kw={"height_ratios": [count + 1.5 for count in heights], "width_ratios": [1.1, 1][:columns]},
    )  # fmt: skip
    for index, (own, ticks) in enumerate(zip(shown, names, strict=True)):
        values, effects = axes[2 * index], axes[2 * index + 1]
        _values(values, _rows(own), ticks)
        _effects(effects, own, None if columns == 2 else ticks)
        # Both halves of a row begin at one height, so that data and effect are read together.
        effects.set_ylim(values.get_ylim())
        values.set_title(f"{own[0].base.method}: {own[0].base.statistic} of a run, µs")
        effects.set_title("times the first row", fontsize=9)
    caption = (
        "Left: a circle is a run (diamonds: from a text). Right: ratio to the panel's first row"
        + _interval_words(found)
        + f" Shaded: too small to matter. Hollow: no interval, these connections only; {_runs(shown)}."
    )
    caption += left_out(len(shown), len(groups), "references")
    return Chart(figure, caption, "\n".join(_words(own) for own in shown))


def _runs(shown: Sequence[Sequence[Change]]) -> str:
    counts = [len(each.values) for own in shown for each in _rows(own) if each.origin == "log"]
    return sizes(counts, "runs a row") or "no logs"


def _known(each: Change) -> bool:
    return each.comparison is not None and each.comparison.ratio.low is not None


def _rows(own: Sequence[Change]) -> list[Condition]:
    return [own[0].base, *(each.other for each in own)]


def _values(axis: Axes, rows: Sequence[Condition], names: Sequence[str]) -> None:
    import seaborn

    for place, each in enumerate(rows):
        x = [value / MICROSECOND for value in each.values]
        if each.origin == "reported":
            axis.plot(x, [place] * len(x), color=_GREY, linewidth=1.4, zorder=2)
            axis.plot(x, [place] * len(x), "D", color=_GREY, markersize=4.5, zorder=3)
    logged = [
        (value / MICROSECOND, place) for place, each in enumerate(rows) if each.origin == "log" for value in each.values
    ]
    everything = [value / MICROSECOND for each in rows for value in each.values]
    if max(everything) > 4 * min(everything):
        axis.set_xscale("log")
        axis.set_xlim(min(everything) / 1.3, max(everything) * 1.3)
        plain_log_ticks(axis.xaxis)
    else:
        axis.set_xlim(0, 1.08 * max(everything))
    axis.set_ylim(len(rows) - 0.4, -0.6)
    if logged:
        # Circles that would cover each other stand side by side.
        seaborn.swarmplot(
            x=[x for x, _ in logged], y=[place for _, place in logged], orient="h", native_scale=True, size=4.5,
            color="white", edgecolor=_RED, linewidth=1.1, warn_thresh=1, ax=axis, zorder=4,
        )  # fmt: skip
    axis.set_yticks(range(len(rows)), names)
    axis.set_ylim(len(rows) - 0.4, -0.6)
    axis.set_ylabel("")
    axis.grid(axis="y", visible=False)


def _effects(axis: Axes, own: Sequence[Change], names: Sequence[str] | None) -> None:
    margin = next((each.comparison.margin for each in own if each.comparison), None)
    if margin is not None:
        axis.axvspan(1 / (1 + margin), 1 + margin, color="#DCEBF5", linewidth=0, zorder=0)
    axis.axvline(1, color="black", linewidth=0.8, zorder=1)
    axis.plot([1], [0], "|", color="black", markersize=9, zorder=3)
    ends = [1.0]
    for row, each in enumerate(own, start=1):
        low, high, points = _effect(each)
        bounded = low is not None and high is not None
        if low is not None and high is not None:
            axis.plot([low, high], [row, row], color=_BLUE, linewidth=2.2, zorder=2)
            ends += [end for end in (low, high) if 0.05 < end < 20]
        shape = "o" if each.comparison is not None else "D"
        colour = _BLUE if bounded else _GREY
        axis.plot(
            points, [row] * len(points), shape, color=colour, markerfacecolor=colour if bounded else "white",
            markersize=4.8, zorder=3,
        )  # fmt: skip
        ends += points
    times_axis(axis, [0.9, 1.1, *ends])
    axis.set_yticks(range(len(own) + 1), names or [""] * (len(own) + 1))
    axis.grid(axis="y", visible=False)


def _effect(each: Change) -> tuple[float | None, float | None, list[float]]:
    """Interval of the ratio where there is one, and its point, or both ends of what was measured."""
    if each.comparison is not None and each.comparison.ratio.estimate is not None:
        ratio = each.comparison.ratio
        return ratio.low, ratio.high, [float(ratio.estimate or 1.0)]
    return None, None, list(dict.fromkeys((each.ratio_low, each.ratio_high)))


def _interval_words(found: Sequence[Change]) -> str:
    levels = [each.comparison.ratio.confidence for each in found if each.comparison is not None and _known(each)]
    return f", bar: {100 * levels[0]:g} % interval from repeated runs." if levels else "; no run was repeated."


def _words(own: Sequence[Change]) -> str:
    shown = []
    for each in _rows(own):
        values = ", ".join(f"{value / MICROSECOND:,.5g}" for value in dict.fromkeys(each.values))
        shown.append(f"{each.path} {values} µs")
    for change in own:
        low, high, points = _effect(change)
        ends = "" if low is None or high is None else f" [{low:.3g}, {high:.3g}]"
        shown.append(
            f"{change.other.path} ÷ {change.base.path}: {' – '.join(f'{point:.3g}' for point in points)}{ends}"
        )
    return f"{own[0].base.method}, {own[0].base.statistic} of a run: " + "; ".join(shown)
