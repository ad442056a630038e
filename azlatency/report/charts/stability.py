"""Round-trip times over time, and the last segments before a connection broke."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from azlatency.report.charts.axes import plain_log_ticks, stretches
from azlatency.report.charts.base import MICROSECOND, SECOND, new_figure, side_by_side, sizes, styled
from azlatency.report.objects import Chart, Note
from azlatency.stats.within_run.time_series import CUT_OFF, ReportedSegments, RunTimeSeries

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_BLUE, _RED, _GREY = "#0072B2", "#D55E00", "#B8B8B8"
#: Fewest probes of a run to draw, most panels, most time bins per panel.
_FEWEST, _PANELS, _COLUMNS = 400, 6, 240


@styled
def run_series(runs: Sequence[RunTimeSeries]) -> Chart | Note:
    """Draw round trips over time: range and median of each stretch, level shifts, losses.

    Parameters
    ----------
    runs : sequence of RunTimeSeries
        One per run with samples. The six longest runs with send times and at least 400 probes are drawn. The size of
        the drawing does not grow with their length.

    Returns
    -------
    Chart or Note
        The chart, or a note with the reason where there is nothing to draw.
    """
    timed = [run for run in runs if run.sent is not None and len(run.rtt) >= _FEWEST and run.lost < len(run.rtt)]
    chosen = sorted(timed, key=lambda run: -(run.seconds or 0.0))[:_PANELS]
    if not chosen:
        reason = (
            "no log of this study contains samples" if not runs else "no run with send times and replies is long enough"
        )
        return Note(f"No chart: {reason}.")
    figure, axes = new_figure(len(chosen), 1, 0.5 + 1.45 * len(chosen))
    for axis, run in zip(axes, chosen, strict=True):
        _series(axis, run)
        axis.set_title(f"{run.path}, {run.method}")
        axis.set_ylabel("µs (log)")
    axes[-1].set_xlabel("seconds since the first probe")
    left = "" if len(chosen) == len(runs) else f" The longest {len(chosen)} of {len(runs)} runs with samples."
    caption = (
        "Round-trip times over time. Grey: range of each time bin; blue: its median. Orange line: level shift (solid: "
        "confirmed, dashed: not confirmed); shaded: 95 % interval of its time. Short ticks at the bottom: blocks whose "
        "medians were tested. Triangles at the top: lost probes. At the right of a TCP connection: → still open when "
        "the test ended (its lifetime is censored), ✕ cut off. "
        f"{sizes((len(run.rtt) for run in chosen), 'probes per run')}." + left
    )
    return Chart(figure, caption, "\n".join(_words(run) for run in chosen))


def _series(axis: Axes, run: RunTimeSeries) -> None:
    import numpy as np

    assert run.sent is not None
    edges = np.linspace(run.sent[0], run.sent[-1], min(_COLUMNS, max(len(run.rtt) // 10, 2)) + 1)
    places = np.clip(np.searchsorted(edges, run.sent, side="right") - 1, 0, len(edges) - 2)
    middle, low, median, high = stretches(edges, places, run.rtt / MICROSECOND)
    axis.fill_between(middle, low, high, color=_GREY, linewidth=0, step="mid")
    axis.plot(middle, median, color=_BLUE, linewidth=1.1)
    axis.set_yscale("log")
    for shift in run.stability.shifts:
        when, first, last = (moment / SECOND for moment in (shift.at, shift.at_low, shift.at_high))
        axis.axvspan(first, last, color=_RED, alpha=0.18, linewidth=0)
        axis.axvline(when, color=_RED, linewidth=1.2, linestyle="-" if shift.confirmed else "--")
    lost = np.unique(places[~np.isfinite(run.rtt)])
    if len(lost):
        spots = (edges[lost] + edges[lost + 1]) / 2
        axis.plot(spots, [0.97] * len(spots), "v", color="black", markersize=3.5, transform=axis.get_xaxis_transform())
    axis.set_xlim(run.sent[0], run.sent[-1])
    _blocks(axis, run)
    _end(axis, run)
    _ticks(axis)


def _blocks(axis: Axes, run: RunTimeSeries) -> None:
    """Mark the blocks whose medians were tested for level shifts with short ticks."""
    from matplotlib.ticker import FixedLocator

    assert run.sent is not None
    if 1 < run.stability.blocks <= _COLUMNS:
        step = run.stability.block / SECOND
        axis.xaxis.set_minor_locator(FixedLocator([run.sent[0] + step * i for i in range(run.stability.blocks + 1)]))
        axis.tick_params(axis="x", which="minor", length=3.5, color="#555555", direction="in")


def _end(axis: Axes, run: RunTimeSeries) -> None:
    """Mark whether a connection was cut off or still open when the test ended (its lifetime is censored)."""
    if "TCP" not in run.method:
        return
    cut = run.status in CUT_OFF
    axis.annotate(
        "✕" if cut else "→", (1, 0.5), (4, 0), xycoords="axes fraction", textcoords="offset points", va="center",
        fontsize=11, color=_RED if cut else _BLUE, annotation_clip=False,
    )  # fmt: skip


def _ticks(axis: Axes) -> None:
    """Put ticks at powers of ten if the axis spans more than a decade, else at 1, 2 and 5."""
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter, NullLocator

    low, high = axis.get_ylim()
    if math.log10(high / low) < 1.2:
        plain_log_ticks(axis.yaxis)
        return
    axis.yaxis.set_major_locator(LogLocator(numticks=5))
    axis.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.6g}"))
    axis.yaxis.set_minor_locator(NullLocator())
    axis.yaxis.set_minor_formatter(NullFormatter())


def _words(run: RunTimeSeries) -> str:
    import numpy as np

    answered = run.rtt[np.isfinite(run.rtt)] / MICROSECOND
    shifts = "; ".join(
        f"shift of {(shift.change.estimate or 0) / MICROSECOND:+,.4g} µs after {shift.at / SECOND:,.4g} s "
        f"({'confirmed' if shift.confirmed else 'not confirmed'})"
        for shift in run.stability.shifts
    )
    return (
        f"{run.path}, {run.method}: n = {len(run.rtt):,}, lost {run.lost:,}, smallest {answered.min():,.5g}, "
        f"median {np.median(answered):,.5g}, largest {answered.max():,.6g} µs; {shifts or 'no level shift'}"
        + (f"; {'cut off' if run.status in CUT_OFF else 'open at the end'}" if "TCP" in run.method else "")
    )


@styled
def last_segments(connections: Sequence[ReportedSegments]) -> Chart | Note:
    """Draw the reported means of consecutive segments before a connection broke, one panel per path.

    Parameters
    ----------
    connections : sequence of ReportedSegments
        One per connection.

    Returns
    -------
    Chart or Note
        The chart, or a note with the reason where there is nothing to draw.
    """
    if not connections:
        return Note("No chart: no text of this study reports segments of a run.")
    columns = side_by_side(len(connections), len(connections))
    rows = math.ceil(len(connections) / columns)
    figure, axes = new_figure(rows, columns, 2.9 * rows)
    for axis, connection in zip(axes, connections, strict=True):
        values = [value / MICROSECOND for value in connection.values]
        axis.plot(range(len(values)), values, color=_BLUE, linewidth=1, zorder=2)
        axis.plot(range(len(values)), values, "o", color=_BLUE, markerfacecolor="white", markersize=5, zorder=3)
        axis.plot([len(values) - 1], values[-1:], "o", color=_RED, markersize=6, zorder=4)
        names = [name.removeprefix("records ").removesuffix(" before the end") for name in connection.names]
        axis.set_xticks(range(len(values)), [name.removesuffix(" records") for name in names], rotation=90)
        axis.set_xlim(-0.4, len(values) - 0.6)
        middle = sum(values) / len(values)
        reach = max(0.16 * middle, 1.1 * max(abs(value - middle) for value in values))
        axis.set_ylim(middle - reach, middle + reach)
        axis.yaxis.set_major_formatter("{x:,.0f}")
        axis.set_title(connection.path)
    for axis in axes[::columns]:
        axis.set_ylabel("mean round-trip time, µs")
    axes[-1 - columns // 2].set_xlabel("records before the end")
    caption = (
        "Reported means of consecutive segments before each connection broke; the last one is filled. Each axis spans "
        "at least ±16 % around its middle. The spread within a segment was not reported; "
        f"{sizes((len(connection.values) for connection in connections), 'segments per path')}."
    )
    alts = []
    for connection in connections:
        shown = "; ".join(
            f"{name}: {value / MICROSECOND:,.6g}"
            for name, value in zip(connection.names, connection.values, strict=True)
        )
        p = (
            ""
            if connection.event.p is None
            else f"; p = {connection.event.p:.2g}, smallest possible {connection.event.attainable_p:.2g}"
        )
        alts.append(f"{connection.path}: {shown} µs{p}")
    return Chart(figure, caption, "\n".join(alts))
