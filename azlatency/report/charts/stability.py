"""Round-trip times over time, and the last segments before a connection broke."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import zip_longest
from typing import TYPE_CHECKING

import numpy as np
from matplotlib.ticker import FixedLocator

from azlatency.kit.drawing import draw
from azlatency.kit.drawing.axes import plain_log_ticks, stretches
from azlatency.kit.drawing.base import MICROSECOND, SECOND, grid, label, side_by_side, sizes, styled, tip
from azlatency.kit.drawing.palette import ESTIMATE, GREY, INK, RANGE, RUN
from azlatency.kit.drawing.truth import configured
from azlatency.kit.objects import Chart, Note
from azlatency.stats.within_run.time_series import CUT_OFF, ReportedSegments, RunTimeSeries
from azlatency.studies.format import count_of, format_value, plain

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from azlatency.stats.arrays import FloatArray

#: Fewest probes of a run to draw, most panels, most time bins per panel.
_FEWEST, _PANELS, _COLUMNS = 400, 6, 240


@styled
def run_series(runs: Sequence[RunTimeSeries]) -> Chart | Note:
    """Draw round trips over time: range and median of each stretch, level shifts, losses.

    Parameters
    ----------
    runs : sequence of RunTimeSeries
        One per run with samples. Six runs are drawn: those with confirmed level shifts first, then the longest of
        those with send times and at least 400 probes. The size of the drawing does not grow with their length.

    Returns
    -------
    Chart or Note
        The chart, or a note with the reason where there is nothing to draw.
    """
    timed = [
        run
        for run in runs
        if run.lost < len(run.rtt) and (_confirmed(run) or (run.sent is not None and len(run.rtt) >= _FEWEST))
    ]
    chosen = sorted(timed, key=lambda run: (-_confirmed(run), -(run.seconds or 0.0)))[:_PANELS]
    if not chosen:
        reason = (
            "no log of this study contains samples" if not runs else "no run with send times and replies is long enough"
        )
        return Note(f"No chart: {reason}.")
    figure, axes = grid(len(chosen), 2, 1.45, extra=0.5, ylabel="µs (log)")
    units = {True: "number of the probe (no send times)", False: "seconds since the first probe"}
    times = [units[run.sent is None] for run in chosen]
    below = times[side_by_side(2, len(chosen)) :]
    for axis, run, time, next_time in zip_longest(axes, chosen, times, below):
        _series(axis, run)
        axis.set_title(label(f"{run.path}, {run.method}"))
        if time != next_time:
            axis.set_xlabel(time)
    return Chart(figure, _caption(chosen, runs), "\n".join(_words(run) for run in chosen), title=_title(runs))


def _confirmed(run: RunTimeSeries) -> int:
    """Return the number of confirmed level shifts of a run."""
    return sum(shift.confirmed for shift in run.stability.shifts)


def _title(runs: Sequence[RunTimeSeries]) -> str:
    # The answer of the page counts the same runs: others are too short to judge.
    judged = [run for run in runs if run.stability.stable is not None]
    shifted = [run for run in judged if _confirmed(run)]
    if not shifted:
        return f"No confirmed level shift in {count_of(len(judged), 'run')}" if judged else "No level could be tested"
    shifts = [(run, shift) for run in shifted for shift in run.stability.shifts if shift.confirmed]
    run, shift = max(shifts, key=lambda item: abs(item[1].change.estimate or 0.0))
    change = shift.change.estimate or 0.0
    return (
        f"{len(shifted)} of {len(judged)} runs shifted their level; most {run.path}, {run.method}: "
        f"{'+' if change > 0 else '−'}{format_value(abs(change), 'ns')} {_when(run, shift.at)}"
    )


def _caption(chosen: Sequence[RunTimeSeries], runs: Sequence[RunTimeSeries]) -> str:
    """Describe the marks that the figure has."""
    shifts = any(map(_confirmed, chosen))
    return draw.caption(
        "Round-trip times over time. Grey: range of each time bin; blue: its median.",
        ("Orange line: confirmed level shift; shaded: 95 % interval of its time.", shifts),
        (
            "Short ticks at the bottom: blocks whose medians were tested.",
            any(1 < run.stability.blocks <= _COLUMNS for run in chosen),
        ),
        ("Triangles at the top: lost probes.", any(run.lost for run in chosen)),
        (
            "At the right of a TCP connection: → still open when the test ended (its lifetime is censored), ✕ cut off.",
            any("TCP" in run.method for run in chosen),
        ),
        (
            "Dotted: configured round-trip delay of the emulated link, without the time of the hosts.",
            any(configured().rtt.get(run.path) for run in chosen),
        ),
        f"{sizes((len(run.rtt) for run in chosen), 'probes per run')}.",
        (
            f"Shown: {len(chosen)} of {len(runs)} runs with samples, those with confirmed shifts first, then the "
            "longest.",
            len(chosen) < len(runs),
        ),
    )


def _series(axis: Axes, run: RunTimeSeries) -> None:
    sent, unit = _positions(run)
    edges = np.linspace(sent[0], sent[-1], min(_COLUMNS, max(len(run.rtt) // 10, 2)) + 1)
    places = np.clip(np.searchsorted(edges, sent, side="right") - 1, 0, len(edges) - 2)
    middle, low, median, high = stretches(edges, places, run.rtt / MICROSECOND)
    axis.fill_between(middle, low, high, color=RANGE, linewidth=0, step="mid")
    axis.plot(middle, median, color=ESTIMATE, linewidth=1.1)
    if truth := configured().rtt.get(run.path):
        axis.axhline(truth / MICROSECOND, color=INK, linewidth=1, linestyle=":")
    axis.set_yscale("log")
    for shift in (shift for shift in run.stability.shifts if shift.confirmed):
        when, first, last = (moment / unit for moment in (shift.at, shift.at_low, shift.at_high))
        axis.axvspan(first, last, color=RUN, alpha=0.18, linewidth=0)
        line = axis.axvline(when, color=RUN, linewidth=1.2)
        tip(
            line,
            f"{format_value(abs(shift.change.estimate or 0.0), 'ns')} "
            f"{'slower' if (shift.change.estimate or 0.0) > 0 else 'faster'} {_when(run, shift.at)}",
        )
    lost = np.unique(places[~np.isfinite(run.rtt)])
    if len(lost):
        spots = (edges[lost] + edges[lost + 1]) / 2
        axis.plot(spots, [0.97] * len(spots), "v", color=INK, markersize=3.5, transform=axis.get_xaxis_transform())
    axis.set_xlim(sent[0], sent[-1])
    _blocks(axis, run)
    _end(axis, run)
    plain_log_ticks(axis.yaxis)


def _positions(run: RunTimeSeries) -> tuple[FloatArray, float]:
    """Return where each probe is on the x axis, and the units of a shift's time in one unit of the axis."""
    return (np.arange(len(run.rtt), dtype=float), 1.0) if run.sent is None else (run.sent, SECOND)


def _when(run: RunTimeSeries, at: float) -> str:
    """Say when a shift occurred: after seconds, or after probes if the log has no send times."""
    return f"after {at:,.0f} probes" if run.sent is None else f"after {plain(at / SECOND)} s"


def _blocks(axis: Axes, run: RunTimeSeries) -> None:
    """Mark the blocks whose medians were tested for level shifts with short ticks."""
    sent, unit = _positions(run)
    if 1 < run.stability.blocks <= _COLUMNS:
        step = run.stability.block / unit
        axis.xaxis.set_minor_locator(FixedLocator([sent[0] + step * i for i in range(run.stability.blocks + 1)]))
        axis.tick_params(axis="x", which="minor", length=3.5, color=GREY, direction="in")


def _end(axis: Axes, run: RunTimeSeries) -> None:
    """Mark whether a connection was cut off or still open when the test ended (its lifetime is censored)."""
    if "TCP" not in run.method:
        return
    cut = run.status in CUT_OFF
    axis.annotate(
        "✕" if cut else "→",
        (1, 0.5),
        (4, 0),
        xycoords="axes fraction",
        textcoords="offset points",
        va="center",
        fontsize=11,
        color=RUN if cut else ESTIMATE,
        annotation_clip=False,
    )


def _words(run: RunTimeSeries) -> str:
    answered = run.rtt[np.isfinite(run.rtt)] / MICROSECOND
    shifts = "; ".join(
        f"shift of {(shift.change.estimate or 0) / MICROSECOND:+,.4g} µs {_when(run, shift.at)} "
        f"({'confirmed' if shift.confirmed else 'not confirmed'})"
        for shift in run.stability.shifts
    )
    return (
        f"{run.path}, {run.method}: n = {len(run.rtt):,}, lost {run.lost:,}, smallest {plain(answered.min(), 5)}, "
        f"median {plain(np.median(answered), 5)}, largest {plain(answered.max(), 6)} µs; {shifts or 'no level shift'}"
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
    figure, axes = grid(
        len(connections),
        len(connections),
        2.9,
        extra=0.0,
        xlabel="records before the end",
        ylabel="mean round-trip time, µs",
    )
    for axis, connection in zip(axes, connections, strict=True):
        values = [value / MICROSECOND for value in connection.values]
        axis.plot(range(len(values)), values, color=ESTIMATE, linewidth=1, zorder=2)
        (marks,) = axis.plot(
            range(len(values)), values, "o", color=ESTIMATE, markerfacecolor="white", markersize=5, zorder=3
        )
        tip(marks, *(f"{name}: {plain(value, 5)} µs" for name, value in zip(connection.names, values, strict=True)))
        axis.plot([len(values) - 1], values[-1:], "o", color=RUN, markersize=6, zorder=4)
        names = [name.removeprefix("records ").removesuffix(" before the end") for name in connection.names]
        axis.set_xticks(range(len(values)), [name.removesuffix(" records") for name in names], rotation=90)
        axis.set_xlim(-0.4, len(values) - 0.6)
        middle = sum(values) / len(values)
        reach = max(0.16 * middle, 1.1 * max(abs(value - middle) for value in values))
        axis.set_ylim(middle - reach, middle + reach)
        axis.set_title(connection.path)
    caption = (
        "Reported means of consecutive segments before each connection broke; the last one is filled. Each axis spans "
        "at least ±16 % around its middle. The spread within a segment was not reported; "
        f"{sizes((len(connection.values) for connection in connections), 'segments per path')}."
    )
    alts = []
    for connection in connections:
        shown = "; ".join(
            f"{name}: {plain(value / MICROSECOND, 6)}"
            for name, value in zip(connection.names, connection.values, strict=True)
        )
        alts.append(f"{connection.path}: {shown} µs")
    last = [
        (connection, connection.values[-1] / connection.values[-2])
        for connection in connections
        if len(connection.values) > 1
    ]
    title = "; ".join(f"{connection.path}: last segment {ratio:.2f}× the one before" for connection, ratio in last[:2])
    return Chart(figure, caption, "\n".join(alts), title=title)
