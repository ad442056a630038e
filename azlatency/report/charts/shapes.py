"""The shape of every run as a ridge, and where two runs of one path differ."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from azlatency.report.charts.axes import plain_log_ticks, ratio_ticks
from azlatency.report.charts.base import (
    MICROSECOND,
    label,
    left_out,
    lines,
    narrow,
    new_figure,
    side_by_side,
    sizes,
    styled,
)
from azlatency.report.charts.zones import ratio_reach
from azlatency.report.objects import Chart, Note
from azlatency.stats.within_run.distribution_shape import RunHistogram, ShiftFunction

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_BLUE, _ORANGE, _GREY, _FILL = "#0072B2", "#D55E00", "#767676", "#9CC7E3"
#: Most ridges of a chart, and how far a ridge may reach into the row above it.
_RIDGES, _OVERLAP = 36, 1.25
_PANELS = 6


@styled
def run_shapes(found: Sequence[RunHistogram]) -> Chart | Note:
    """One ridge a run, runs of one path together, one panel a method; median and p99 of the run as ticks.

    ``found``: `azlatency.shapes.run_histograms`. Of more than 36 runs those with the most packets of each method.
    """
    if not found:
        return Note("No chart: no log of this study holds samples of a run that is long enough for a shape.")
    shown = _chosen(found)
    panels: dict[str, list[RunHistogram]] = {}
    for each in sorted(shown, key=lambda each: each.path):
        panels.setdefault(each.method, []).append(each)
    tall = lines(*(label(each.path, 30) for each in shown))
    counts = [len(own) * tall for own in panels.values()]
    figure, axes = new_figure(
        len(panels), 1, 0.6 + sum(0.24 * count + 0.55 for count in counts), sharex=True,
        gridspec_kw={"height_ratios": [count + 1.5 for count in counts]},
    )  # fmt: skip
    for axis, (method, own) in zip(axes, panels.items(), strict=True):
        _ridges(axis, own)
        axis.set_title(method)
    axes[-1].set_xscale("log")
    axes[-1].set_xlim(shown[0].edges[0] / MICROSECOND, shown[0].edges[-1] / MICROSECOND)
    plain_log_ticks(axes[-1].xaxis, decades_only=narrow())
    axes[-1].set_xlabel("round trip, µs (log)")
    left = "" if len(shown) == len(found) else f" {len(shown)} of {len(found)} runs."
    caption = (
        "One ridge a run: how its packets are distributed, each scaled to its own height, not smoothed. Blue tick: "
        "median; orange tick: p99 of the run, at the edge where it lies beyond the axis. A ridge describes one "
        f"connection; {sizes((each.n for each in shown), 'packets a run')}." + left
    )
    return Chart(figure, caption, "\n".join(_words(each) for own in panels.values() for each in own))


def _chosen(found: Sequence[RunHistogram]) -> list[RunHistogram]:
    """At most 36 runs, an equal number of each method, those with the most packets."""
    if len(found) <= _RIDGES:
        return list(found)
    methods = list(dict.fromkeys(each.method for each in found))
    kept: set[str] = set()
    for method in methods:
        own = sorted((each for each in found if each.method == method), key=lambda each: -each.n)
        kept.update(each.run_id for each in own[: max(_RIDGES // len(methods), 1)])
    return [each for each in found if each.run_id in kept]


def _ridges(axis: Axes, own: Sequence[RunHistogram]) -> None:
    names: list[str] = []
    for row, each in enumerate(own):
        x = each.edges / MICROSECOND
        heights = each.counts / max(int(each.counts.max()), 1) * _OVERLAP
        # Later rows stand in front of earlier ones, as a range of hills does.
        axis.stairs(row - heights, x, baseline=row, fill=True, color=_FILL, zorder=2 + row)
        axis.stairs(row - heights, x, baseline=row, color=_BLUE, linewidth=0.6, zorder=2 + row)
        for value, colour in ((each.median, _BLUE), (each.p99, _ORANGE)):
            place = min(value / MICROSECOND, x[-1])
            axis.plot([place] * 2, [row, row - 0.45], color=colour, linewidth=1.8, zorder=3 + row)
        names.append("" if row and own[row - 1].path == each.path else label(each.path, 30))
    axis.set_yticks(range(len(own)), names)
    axis.set_ylim(len(own) - 0.8, -1.35)
    axis.grid(axis="y", visible=False)
    axis.tick_params(axis="y", length=0)


def _words(each: RunHistogram) -> str:
    beyond = f", {each.beyond:,} beyond the axis" if each.beyond else ""
    lost = f", {each.lost:,} lost" if each.lost else ""
    p99 = "lost" if math.isinf(each.p99) else f"{each.p99 / MICROSECOND:,.5g} µs"
    median = "lost" if math.isinf(each.median) else f"{each.median / MICROSECOND:,.5g} µs"
    return f"{each.path}, {each.method}, n = {each.n:,}{lost}: median {median}, p99 {p99}{beyond}"


@styled
def shift_functions(found: Sequence[ShiftFunction]) -> Chart | Note:
    """Last round over first, quantile by quantile, with intervals and the band of practical equality.

    ``found``: `azlatency.shapes.shift_functions`; the six with the most packets are drawn.
    """
    answered = [each for each in found if any(level.ratio.estimate is not None for level in each.levels)]
    if not answered:
        return Note("No chart: no path of this study left samples of two rounds measured by one method.")
    shown = sorted(answered, key=lambda each: -min(each.sizes))[:_PANELS]
    columns = side_by_side(2, len(shown))
    rows = math.ceil(len(shown) / columns)
    figure, axes = new_figure(rows, columns, 0.4 + 2.0 * rows, sharey=True)
    reach = ratio_reach([level for each in shown for level in each.levels])
    for axis, each in zip(axes, shown, strict=False):
        _shift_panel(axis, each)
        ratio_ticks(axis, reach, upright=True)
    for axis in axes[len(shown) :]:
        axis.set_visible(False)
    for axis in axes[::columns]:
        axis.set_ylabel("last ÷ first (log)")
    level = f"{100 * shown[0].levels[0].ratio.confidence:g} %"
    left = left_out(len(shown), len(found), "pairs of runs")
    caption = (
        f"The last round over the first, quantile by quantile. Bar: {level} interval for each level by itself, about "
        "these two connections; hollow: no interval holds. Band: equal in practice. A flat line: everything moved "
        "alike; a line that rises at its end: the tail moved. "
        f"{sizes((size for each in shown for size in each.sizes), 'packets a run')}." + left
    )
    return Chart(figure, caption, "\n".join(_shift_words(each) for each in shown))


def _shift_panel(axis: Axes, each: ShiftFunction) -> None:
    margin = each.levels[0].margin
    axis.axhspan(1 / (1 + margin), 1 + margin, color="#DCEBF5", linewidth=0, zorder=0)
    axis.axhline(1, color="black", linewidth=0.8, zorder=1)
    known = [(x, level.ratio) for x, level in enumerate(each.levels) if level.ratio.estimate is not None]
    axis.plot(
        [x for x, _ in known], [ratio.estimate or 1.0 for _, ratio in known], color=_GREY, linewidth=0.8, zorder=2
    )
    for x, ratio in known:
        bounded = ratio.low is not None and ratio.high is not None
        if ratio.low is not None and ratio.high is not None:
            axis.plot([x, x], [ratio.low, ratio.high], color=_BLUE, linewidth=2, zorder=2)
        face = _BLUE if bounded else "white"
        axis.plot([x], [ratio.estimate or 1.0], "o", color=_BLUE, markerfacecolor=face, markersize=4.5, zorder=3)
    names = [f"p{100 * float(level.labels['q']):g}" for level in each.levels]
    axis.set_xticks(range(0, len(names), 2), names[::2])
    axis.set_xlim(-0.5, len(names) - 0.5)
    axis.set_title(f"{each.path}, {each.method}", fontsize=9)


def _shift_words(each: ShiftFunction) -> str:
    parts = []
    for level in each.levels:
        ratio = level.ratio
        if ratio.estimate is None:
            continue
        ends = "" if ratio.low is None or ratio.high is None else f" [{ratio.low:.4g}, {ratio.high:.4g}]"
        parts.append(f"p{100 * float(level.labels['q']):g} {ratio.estimate:.4g}{ends}")
    sizes = " and ".join(f"{size:,}" for size in each.sizes)
    return f"{each.path}, {each.method}, {each.last} over {each.first}, n = {sizes}: {'; '.join(parts)}"
