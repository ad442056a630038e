"""Round trips over the time of a run, and the last segments before a connection broke."""

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
#: Fewest probes of a run that is drawn, most panels, most columns of pixels of a panel.
_FEWEST, _PANELS, _COLUMNS = 400, 6, 240


@styled
def run_series(found: Sequence[RunTimeSeries]) -> Chart | Note:
    """Round trips over time: range and median of each stretch, level shifts with their time intervals, losses.

    ``found``: `time_series.run_time_series`. The longest runs with send times, at most six of 400 probes or
    more; the cost of drawing does not grow with their length.
    """
    timed = [each for each in found if each.sent is not None and len(each.rtt) >= _FEWEST and each.lost < len(each.rtt)]
    chosen = sorted(timed, key=lambda each: -(each.seconds or 0.0))[:_PANELS]
    if not chosen:
        reason = (
            "no log of this study holds samples" if not found else "no run with send times and answers is long enough"
        )
        return Note(f"No chart: {reason}.")
    figure, axes = new_figure(len(chosen), 1, 0.5 + 1.45 * len(chosen))
    for axis, each in zip(axes, chosen, strict=True):
        _series(axis, each)
        axis.set_title(f"{each.path}, {each.method}")
        axis.set_ylabel("µs (log)")
    axes[-1].set_xlabel("seconds since the first probe")
    left = "" if len(chosen) == len(found) else f" The longest {len(chosen)} of {len(found)} runs with samples."
    caption = (
        "Round trips over time. Grey: from the smallest to the largest of each stretch; blue: its median. Orange line: "
        "level shift (full: confirmed, dashed: not), shaded: when it may have come (95 %). Short ticks below: the "
        "blocks whose medians were searched. Triangles at the top: probes without answer. Right of a TCP connection: "
        "→ alive when its test ended (its life is censored), ✕ cut off. "
        f"{sizes((len(each.rtt) for each in chosen), 'probes a run')}." + left
    )
    return Chart(figure, caption, "\n".join(_words(each) for each in chosen))


def _series(axis: Axes, each: RunTimeSeries) -> None:
    import numpy as np

    assert each.sent is not None
    edges = np.linspace(each.sent[0], each.sent[-1], min(_COLUMNS, max(len(each.rtt) // 10, 2)) + 1)
    places = np.clip(np.searchsorted(edges, each.sent, side="right") - 1, 0, len(edges) - 2)
    middle, low, median, high = stretches(edges, places, each.rtt / MICROSECOND)
    axis.fill_between(middle, low, high, color=_GREY, linewidth=0, step="mid")
    axis.plot(middle, median, color=_BLUE, linewidth=1.1)
    axis.set_yscale("log")
    for shift in each.stability.shifts:
        when, first, last = (moment / SECOND for moment in (shift.at, shift.at_low, shift.at_high))
        axis.axvspan(first, last, color=_RED, alpha=0.18, linewidth=0)
        axis.axvline(when, color=_RED, linewidth=1.2, linestyle="-" if shift.confirmed else "--")
    lost = np.unique(places[~np.isfinite(each.rtt)])
    if len(lost):
        spots = (edges[lost] + edges[lost + 1]) / 2
        axis.plot(spots, [0.97] * len(spots), "v", color="black", markersize=3.5, transform=axis.get_xaxis_transform())
    axis.set_xlim(each.sent[0], each.sent[-1])
    _blocks(axis, each)
    _end(axis, each)
    _ticks(axis)


def _blocks(axis: Axes, each: RunTimeSeries) -> None:
    """Short ticks where the blocks begin whose medians were searched for shifts."""
    from matplotlib.ticker import FixedLocator

    assert each.sent is not None
    if 1 < each.stability.blocks <= _COLUMNS:
        step = each.stability.block / SECOND
        axis.xaxis.set_minor_locator(FixedLocator([each.sent[0] + step * i for i in range(each.stability.blocks + 1)]))
        axis.tick_params(axis="x", which="minor", length=3.5, color="#555555", direction="in")


def _end(axis: Axes, each: RunTimeSeries) -> None:
    """How a connection ended: cut off, or alive when its test was over, so that its life is censored."""
    if "TCP" not in each.method:
        return
    cut = each.status in CUT_OFF
    axis.annotate(
        "✕" if cut else "→", (1, 0.5), (4, 0), xycoords="axes fraction", textcoords="offset points", va="center",
        fontsize=11, color=_RED if cut else _BLUE, annotation_clip=False,
    )  # fmt: skip


def _ticks(axis: Axes) -> None:
    """Decades on a tall axis, 1-2-5 on a flat one: a panel is an inch high."""
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter, NullLocator

    low, high = axis.get_ylim()
    if math.log10(high / low) < 1.2:
        plain_log_ticks(axis.yaxis)
        return
    axis.yaxis.set_major_locator(LogLocator(numticks=5))
    axis.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.6g}"))
    axis.yaxis.set_minor_locator(NullLocator())
    axis.yaxis.set_minor_formatter(NullFormatter())


def _words(each: RunTimeSeries) -> str:
    import numpy as np

    answered = each.rtt[np.isfinite(each.rtt)] / MICROSECOND
    shifts = "; ".join(
        f"shift of {(shift.change.estimate or 0) / MICROSECOND:+,.4g} µs after {shift.at / SECOND:,.4g} s "
        f"({'confirmed' if shift.confirmed else 'not confirmed'})"
        for shift in each.stability.shifts
    )
    return (
        f"{each.path}, {each.method}: n = {len(each.rtt):,}, lost {each.lost:,}, smallest {answered.min():,.5g}, "
        f"median {np.median(answered):,.5g}, largest {answered.max():,.6g} µs; {shifts or 'no level shift'}"
        + (f"; {'cut off' if each.status in CUT_OFF else 'alive at the end'}" if "TCP" in each.method else "")
    )


@styled
def last_segments(found: Sequence[ReportedSegments]) -> Chart | Note:
    """Reported means of consecutive segments before a connection broke, one panel a path, the last one filled.

    ``found``: `azlatency.stats.within_run.time_series.reported_segments`.
    """
    if not found:
        return Note("No chart: no text of this study reports segments of a run.")
    columns = side_by_side(len(found), len(found))
    rows = math.ceil(len(found) / columns)
    figure, axes = new_figure(rows, columns, 2.9 * rows)
    for axis, each in zip(axes, found, strict=True):
        values = [value / MICROSECOND for value in each.values]
        axis.plot(range(len(values)), values, color=_BLUE, linewidth=1, zorder=2)
        axis.plot(range(len(values)), values, "o", color=_BLUE, markerfacecolor="white", markersize=5, zorder=3)
        axis.plot([len(values) - 1], values[-1:], "o", color=_RED, markersize=6, zorder=4)
        names = [name.removeprefix("records ").removesuffix(" before the end") for name in each.names]
        axis.set_xticks(range(len(values)), [name.removesuffix(" records") for name in names], rotation=90)
        axis.set_xlim(-0.4, len(values) - 0.6)
        middle = sum(values) / len(values)
        reach = max(0.16 * middle, 1.1 * max(abs(value - middle) for value in values))
        axis.set_ylim(middle - reach, middle + reach)
        axis.yaxis.set_major_formatter("{x:,.0f}")
        axis.set_title(each.path)
    for axis in axes[::columns]:
        axis.set_ylabel("mean round trip, µs")
    axes[-1 - columns // 2].set_xlabel("records before the end")
    caption = (
        "Means of consecutive segments before each connection broke, as reported; the last one filled. All axes span "
        "at least ±16 % of their middle. No spread within a segment was reported, so none can be drawn; "
        f"{sizes((len(each.values) for each in found), 'segments a path')}."
    )
    alts = []
    for each in found:
        shown = "; ".join(
            f"{name}: {value / MICROSECOND:,.6g}" for name, value in zip(each.names, each.values, strict=True)
        )
        p = "" if each.event.p is None else f"; p = {each.event.p:.2g}, smallest possible {each.event.attainable_p:.2g}"
        alts.append(f"{each.path}: {shown} µs{p}")
    return Chart(figure, caption, "\n".join(alts))
