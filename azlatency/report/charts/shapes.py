"""Ridge plots: the distribution of every run."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from azlatency.report.charts.axes import plain_log_ticks
from azlatency.report.charts.base import (
    MICROSECOND,
    label,
    lines,
    narrow,
    new_figure,
    sizes,
    styled,
)
from azlatency.report.objects import Chart, Note
from azlatency.stats.within_run.distribution_shape import RunHistogram

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_BLUE, _ORANGE, _FILL = "#0072B2", "#D55E00", "#9CC7E3"
#: Most ridges of a chart, and how far a ridge may reach into the row above it.
_RIDGES, _OVERLAP = 36, 1.25


@styled
def run_shapes(shapes: Sequence[RunHistogram]) -> Chart | Note:
    """Draw the distribution of each run as a ridge, with its median and p99; one panel per method.

    Parameters
    ----------
    shapes : sequence of RunHistogram
        As `azlatency.stats.distribution_shape.run_histograms` returns them.
        Of more than 36 runs, those with the most packets are drawn.

    Returns
    -------
    Chart or Note
        The chart, or a note with the reason where there is nothing to draw.
    """
    if not shapes:
        return Note("No chart: no run of this study has enough samples to show a distribution.")
    shown = _chosen(shapes)
    panels: dict[str, list[RunHistogram]] = {}
    for shape in sorted(shown, key=lambda shape: shape.path):
        panels.setdefault(shape.method, []).append(shape)
    tall = lines(*(label(shape.path, 30) for shape in shown))
    counts = [len(group) * tall for group in panels.values()]
    figure, axes = new_figure(
        len(panels), 1, 0.6 + sum(0.24 * count + 0.55 for count in counts), sharex=True,
        gridspec_kw={"height_ratios": [count + 1.5 for count in counts]},
    )  # fmt: skip
    for axis, (method, group) in zip(axes, panels.items(), strict=True):
        _ridges(axis, group)
        axis.set_title(method)
    axes[-1].set_xscale("log")
    axes[-1].set_xlim(shown[0].edges[0] / MICROSECOND, shown[0].edges[-1] / MICROSECOND)
    plain_log_ticks(axes[-1].xaxis, decades_only=narrow())
    axes[-1].set_xlabel("round-trip time, µs (log)")
    left = "" if len(shown) == len(shapes) else f" {len(shown)} of {len(shapes)} runs."
    caption = (
        "One ridge per run: the histogram of its packets, scaled to equal height, not smoothed. Blue tick: median; "
        "orange tick: p99 (at the edge if beyond the axis). Each ridge describes one connection; "
        f"{sizes((shape.n for shape in shown), 'packets per run')}." + left
    )
    return Chart(figure, caption, "\n".join(_words(shape) for group in panels.values() for shape in group))


def _chosen(shapes: Sequence[RunHistogram]) -> list[RunHistogram]:
    """Choose at most 36 runs: those with the most packets, the same number for each method."""
    if len(shapes) <= _RIDGES:
        return list(shapes)
    methods = list(dict.fromkeys(shape.method for shape in shapes))
    kept: set[str] = set()
    for method in methods:
        group = sorted((shape for shape in shapes if shape.method == method), key=lambda shape: -shape.n)
        kept.update(shape.run_id for shape in group[: max(_RIDGES // len(methods), 1)])
    return [shape for shape in shapes if shape.run_id in kept]


def _ridges(axis: Axes, group: Sequence[RunHistogram]) -> None:
    names: list[str] = []
    for row, shape in enumerate(group):
        x = shape.edges / MICROSECOND
        heights = shape.counts / max(int(shape.counts.max()), 1) * _OVERLAP
        # Later rows overlap earlier ones.
        axis.stairs(row - heights, x, baseline=row, fill=True, color=_FILL, zorder=2 + row)
        axis.stairs(row - heights, x, baseline=row, color=_BLUE, linewidth=0.6, zorder=2 + row)
        for value, colour in ((shape.median, _BLUE), (shape.p99, _ORANGE)):
            place = min(value / MICROSECOND, x[-1])
            axis.plot([place] * 2, [row, row - 0.45], color=colour, linewidth=1.8, zorder=3 + row)
        names.append("" if row and group[row - 1].path == shape.path else label(shape.path, 30))
    axis.set_yticks(range(len(group)), names)
    axis.set_ylim(len(group) - 0.8, -1.35)
    axis.grid(axis="y", visible=False)
    axis.tick_params(axis="y", length=0)


def _words(shape: RunHistogram) -> str:
    beyond = f", {shape.beyond:,} beyond the axis" if shape.beyond else ""
    lost = f", {shape.lost:,} lost" if shape.lost else ""
    p99 = "lost" if math.isinf(shape.p99) else f"{shape.p99 / MICROSECOND:,.5g} µs"
    median = "lost" if math.isinf(shape.median) else f"{shape.median / MICROSECOND:,.5g} µs"
    return f"{shape.path}, {shape.method}, n = {shape.n:,}{lost}: median {median}, p99 {p99}{beyond}"
