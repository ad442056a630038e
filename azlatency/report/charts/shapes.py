"""Empirical distribution functions: the share of probes of each run that were answered within a time."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from matplotlib.lines import Line2D

from azlatency.kit.drawing import draw
from azlatency.kit.drawing.axes import plain_log_ticks
from azlatency.kit.drawing.base import MICROSECOND, evenly, grid, narrow, sizes, styled, tip
from azlatency.kit.drawing.names import wrap
from azlatency.kit.drawing.palette import Look, looks, told_apart
from azlatency.kit.drawing.truth import configured
from azlatency.kit.objects import Chart, Note
from azlatency.kit.titles import by_method, names, span
from azlatency.stats.across_runs.main_method import Measured
from azlatency.stats.within_run.distribution_shape import RunHistogram
from azlatency.studies.format import count_of, one_prefix, plain

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

#: Most runs of a chart.
_RUNS = 36
#: The share of the answered probes of each run that the axis shows at least, and the room after it.
_BODY, _ROOM = 0.95, 1.6


@styled
def run_shapes(shapes: Sequence[RunHistogram]) -> Chart | Note:
    """Draw the empirical distribution function of each run (ECDF); one panel per method.

    Parameters
    ----------
    shapes : sequence of RunHistogram
        As `azlatency.stats.distribution_shape.run_histograms` returns them.
        Of more runs, about 36 are drawn, spread evenly over the paths of as many pairs as there are colours.

    Returns
    -------
    Chart or Note
        The chart, or a note with the reason where there is nothing to draw.
    """
    if not shapes:
        return Note("No chart: no run of this study has enough samples to show a distribution.")
    method, medians = by_method(
        (Measured(s.method, s.path, packets=s.n), s.median) for s in shapes if math.isfinite(s.median)
    )
    paths = set(told_apart(medians | {s.path: s.median for s in shapes if s.path not in medians}))
    shown = evenly([s for s in shapes if s.path in paths], lambda s: (s.method, s.path), lambda s: s.n, _RUNS)
    panels: dict[str, list[RunHistogram]] = {}
    for shape in sorted(shown, key=lambda shape: shape.path):
        panels.setdefault(shape.method, []).append(shape)
    look = looks(shape.path for shape in shown)
    legend = 0.17 * math.ceil(len(look) / (1 if narrow() else 3))
    figure, axes = grid(
        len(panels),
        2,
        2.3,
        extra=0.5 + legend,
        xlabel="round-trip time, µs (log)",
        ylabel="share of probes",
        sharex=True,
        sharey=True,
    )
    for axis, (title, group) in zip(axes, panels.items(), strict=True):
        _curves(axis, group, look)
        axis.set_title(title)
    axes[0].set_xscale("log")
    first, last = _reach(shown)
    axes[0].set_xlim(first / MICROSECOND, last / MICROSECOND)
    axes[0].set_ylim(0, 1)
    plain_log_ticks(axes[0].xaxis)
    _name_paths(figure, look)
    caption = draw.caption(
        "Share of the probes of each run that were answered within a time (ECDF), one line per run; both directions of "
        "a pair share a colour and the mark at the median.",
        "A curve that ends below 1 lost the other probes, or they lie beyond the axis.",
        f"Each line describes one connection; {sizes((shape.n for shape in shown), 'packets per run')}.",
        ("Thick mark at the bottom: configured round-trip delay of the emulated link.", _truths(shown)),
        (f"{len(shown)} of {len(shapes)} runs, spread evenly over the paths.", len(shown) < len(shapes)),
    )
    return Chart(
        figure,
        caption,
        "\n".join(_words(shape) for group in panels.values() for shape in group),
        title=_title(shapes, method),
    )


def _title(shapes: Sequence[RunHistogram], method: str) -> str:
    """Say from where to where the medians of the runs reach; the forest has the typical run of each path."""
    medians = [shape.median for shape in shapes if shape.method == method and math.isfinite(shape.median)]
    if not medians:
        return ""
    reach = span(medians, "ns", like=one_prefix(medians, "ns"))
    paths = names(shape.path for shape in shapes if shape.method == method)
    return f"Median round trip in {count_of(len(medians), 'run')}: {reach} ({paths}), {method}"


def _curves(axis: Axes, group: Sequence[RunHistogram], look: Mapping[str, Look]) -> None:
    for shape in group:
        style = look[shape.path]
        # Not seaborn.ecdfplot: it needs every sample, and a lost probe has none.
        shares = shape.counts.cumsum() / (shape.n + shape.lost)
        middle = int((shares < 0.5).sum()) % len(shares)
        (line,) = axis.plot(
            shape.edges[1:] / MICROSECOND,
            shares,
            color=style.colour,
            linestyle=style.dash,
            linewidth=1.2,
            alpha=0.8,
            drawstyle="steps-post",
            marker=style.mark,
            markersize=4,
            markevery=[middle],
        )
        tip(line, _words(shape))
    for path, truth in _truths(group).items():
        axis.plot([truth / MICROSECOND] * 2, [0, 0.05], color=look[path].colour, linewidth=3, zorder=5)


def _reach(shapes: Sequence[RunHistogram]) -> tuple[float, float]:
    """Return where the axis of times begins and ends: a bit after 95 % of the probes of every run were answered.

    An axis of the whole range would be empty but for the tails, which have charts of their own.
    """
    late = [shape.edges[1:][shape.counts.cumsum() >= _BODY * shape.counts.sum()][0] for shape in shapes]
    return float(shapes[0].edges[0]), min(float(shapes[0].edges[-1]), _ROOM * float(max(late)))


def _truths(shapes: Sequence[RunHistogram]) -> dict[str, float]:
    """Return the configured round-trip delay of each path that has one."""
    return {shape.path: delay for shape in shapes if (delay := configured().rtt.get(str(shape.path)))}


def _name_paths(figure: Figure, look: Mapping[str, Look]) -> None:
    """Name the paths below the panels: steep curves leave no room for names at their ends."""
    lines = [
        Line2D([], [], color=style.colour, linestyle=style.dash, marker=style.mark, markersize=4)
        for style in look.values()
    ]
    names = [wrap(path, 34, 1) for path in look]
    figure.legend(lines, names, loc="outside lower left", ncols=1 if narrow() else 3, handlelength=3)


def _words(shape: RunHistogram) -> str:
    beyond = f", {shape.beyond:,} beyond the axis" if shape.beyond else ""
    lost = f", {shape.lost:,} lost" if shape.lost else ""
    p99 = "lost" if math.isinf(shape.p99) else f"{plain(shape.p99 / MICROSECOND, 5)} µs"
    median = "lost" if math.isinf(shape.median) else f"{plain(shape.median / MICROSECOND, 5)} µs"
    return f"{shape.path}, {shape.method}, n = {shape.n:,}{lost}: median {median}, p99 {p99}{beyond}"
