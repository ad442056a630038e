"""Empirical distribution functions: the share of probes of each run that were answered within a time."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from azlatency.logs.format import plain
from azlatency.report.charts.axes import plain_log_ticks
from azlatency.report.charts.base import MICROSECOND, narrow, new_figure, side_by_side, sizes, styled, tip
from azlatency.report.charts.palette import Look, looks
from azlatency.report.charts.titles import by_method, extremes
from azlatency.report.charts.truth import configured
from azlatency.report.objects import Chart, Note
from azlatency.stats.within_run.distribution_shape import RunHistogram

if TYPE_CHECKING:
    from matplotlib.axes import Axes

#: Most runs of a chart, and most paths that are told apart by a legend below the panels.
_RUNS, _LEGEND = 36, 12


@styled
def run_shapes(shapes: Sequence[RunHistogram]) -> Chart | Note:
    """Draw the empirical distribution function of each run (ECDF); one panel per method.

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
    look = looks(shape.path for shape in shown)
    columns = side_by_side(2, len(panels))
    rows = math.ceil(len(panels) / columns)
    legend = 0.17 * math.ceil(min(len(look), _LEGEND) / (1 if narrow() else 3))
    figure, axes = new_figure(rows, columns, 0.5 + 2.3 * rows + legend, sharex=True, sharey=True)
    for axis, (method, group) in zip(axes, panels.items(), strict=False):
        _curves(axis, group, look)
        axis.set_title(method)
    for axis in axes[len(panels) :]:
        axis.set_visible(False)
    axes[0].set_xscale("log")
    axes[0].set_xlim(shown[0].edges[0] / MICROSECOND, shown[0].edges[-1] / MICROSECOND)
    axes[0].set_ylim(0, 1)
    plain_log_ticks(axes[0].xaxis, decades_only=narrow())
    for index, axis in enumerate(axes[: len(panels)]):
        if index % columns == 0:
            axis.set_ylabel("share of probes")
        if index + columns >= len(panels):
            axis.set_xlabel("round-trip time, µs (log)")
            axis.tick_params(labelbottom=True)
    _name_paths(figure, look)
    caption = (
        "Share of the probes of each run that were answered within a time (ECDF), one line per run; both directions of "
        f"a pair share a colour.{_lost(shown)} Each line describes one connection; "
        f"{sizes((shape.n for shape in shown), 'packets per run')}."
        + (" Thick mark at the bottom: configured round-trip delay of the emulated link." if _truths(shown) else "")
        + ("" if len(shown) == len(shapes) else f" {len(shown)} of {len(shapes)} runs.")
        + (f" Not named: {len(look) - _LEGEND} more paths." if len(look) > _LEGEND else "")
    )
    method, medians = by_method((s.method, s.path, s.median) for s in shown if math.isfinite(s.median))
    return Chart(
        figure, caption, "\n".join(_words(shape) for group in panels.values() for shape in group),
        title=extremes("median round trip", medians, "ns", method),
    )  # fmt: skip


def _chosen(shapes: Sequence[RunHistogram]) -> list[RunHistogram]:
    """Choose at most 36 runs: those with the most packets, the same number for each method."""
    if len(shapes) <= _RUNS:
        return list(shapes)
    methods = list(dict.fromkeys(shape.method for shape in shapes))
    kept: set[str] = set()
    for method in methods:
        group = sorted((shape for shape in shapes if shape.method == method), key=lambda shape: -shape.n)
        kept.update(shape.run_id for shape in group[: max(_RUNS // len(methods), 1)])
    return [shape for shape in shapes if shape.run_id in kept]


def _curves(axis: Axes, group: Sequence[RunHistogram], look: dict[str, Look]) -> None:
    for shape in group:
        style = look[shape.path]
        # Not seaborn.ecdfplot: it needs every sample, and a lost probe has none.
        shares = shape.counts.cumsum() / (shape.n + shape.lost)
        (line,) = axis.plot(
            shape.edges[1:] / MICROSECOND, shares, color=style.colour, linestyle=style.dash, linewidth=1.2, alpha=0.8,
            drawstyle="steps-post",
        )  # fmt: skip
        tip(line, _words(shape))
    for path, truth in _truths(group).items():
        axis.plot([truth / MICROSECOND] * 2, [0, 0.05], color=look[path].colour, linewidth=3, zorder=5)


def _truths(shapes: Sequence[RunHistogram]) -> dict[str, float]:
    """Return the configured round-trip delay of each path that has one."""
    return {shape.path: delay for shape in shapes if (delay := configured().rtt.get(shape.path))}


def _name_paths(figure: object, look: dict[str, Look]) -> None:
    """Name the paths below the panels: steep curves leave no room for names at their ends."""
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D

    from azlatency.report.charts.names import short

    assert isinstance(figure, Figure)
    named = list(look.items())[:_LEGEND]
    lines = [Line2D([], [], color=style.colour, linestyle=style.dash) for _, style in named]
    names = [short(path, 34) for path, _ in named]
    figure.legend(lines, names, loc="outside lower left", ncols=1 if narrow() else 3, handlelength=3)


def _lost(shapes: Sequence[RunHistogram]) -> str:
    """Return the caption's sentence on curves that end below 1."""
    if not any(shape.lost or shape.beyond for shape in shapes):
        return ""
    return " A curve that ends below 1 lost the other probes, or they lie beyond the axis."


def _words(shape: RunHistogram) -> str:
    beyond = f", {shape.beyond:,} beyond the axis" if shape.beyond else ""
    lost = f", {shape.lost:,} lost" if shape.lost else ""
    p99 = "lost" if math.isinf(shape.p99) else f"{plain(shape.p99 / MICROSECOND, 5)} µs"
    median = "lost" if math.isinf(shape.median) else f"{plain(shape.median / MICROSECOND, 5)} µs"
    return f"{shape.path}, {shape.method}, n = {shape.n:,}{lost}: median {median}, p99 {p99}{beyond}"
