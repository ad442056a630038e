"""The share of packets slower than a value, on logarithmic axes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from azlatency.kit.drawing import draw
from azlatency.kit.drawing.axes import plain_log_ticks, power_ticks
from azlatency.kit.drawing.base import MICROSECOND, evenly, grid, sizes, styled, tip
from azlatency.kit.drawing.palette import ESTIMATE, INK
from azlatency.kit.drawing.truth import configured
from azlatency.kit.objects import Chart, Note
from azlatency.kit.titles import by_method, extremes
from azlatency.stats.across_runs.main_method import Measured
from azlatency.stats.within_run.tail_by_run import RunTail
from azlatency.studies.format import plain

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_PANELS = 6


@styled
def tail_curves(tails: Sequence[RunTail], *, limit: float | None = None) -> Chart | Note:
    """Draw the share of packets slower than a value, on logarithmic axes.

    Parameters
    ----------
    tails : sequence of RunTail
        One per run with samples. Six runs are drawn, of different paths if there are several, the longest of each.
    limit : float or None
        Latency limit (ns), drawn as a dotted line.

    Returns
    -------
    Chart or Note
        The chart, or a note with the reason where there is nothing to draw.
    """
    chosen = evenly(tails, lambda tail: tail.path, lambda tail: len(tail.rtt), _PANELS)
    if not chosen:
        return Note("No chart: no run of this study has enough samples to show a tail.")
    figure, axes = grid(
        len(chosen),
        2,
        2.5,
        extra=0.3,
        xlabel="round-trip time, µs (log)",
        ylabel="share slower (log)",
        sharex=True,
        sharey=True,
    )
    ends = [end for axis, tail in zip(axes, chosen, strict=True) for end in _panel(axis, tail, limit)]
    axes[0].set_xlim(min(ends) / MICROSECOND / 1.3, max(ends) / MICROSECOND)
    axes[0].set_ylim(0.1 / max(len(tail.rtt) for tail in chosen), 1.3)
    plain_log_ticks(axes[0].xaxis)
    left = "" if len(chosen) == len(tails) else f" Shown: {len(chosen)} of {len(tails)} runs, the longest of each path."
    level = f"{100 * chosen[0].slower.confidence:g} %"
    truth = any(configured().rtt.get(tail.path) for tail in chosen)
    method, largest = by_method(
        (Measured(tail.method, tail.path, packets=len(tail.rtt)), tail.largest) for tail in chosen
    )
    title = extremes("round trip of its slowest packet", largest, "ns", method)
    caption = draw.caption(
        f"Share of packets slower than a given round-trip time. Blue: measured; blue bars: {level} interval of the "
        "percentile, where it is valid.",
        ("×: configured round-trip delay of the emulated link.", truth),
        ("Dotted: the limit.", limit is not None),
        f"{sizes((len(tail.rtt) for tail in chosen), 'packets per run')}.",
        left,
    )
    return Chart(figure, caption, "\n".join(_words(tail) for tail in chosen), title=title)


def _panel(axis: Axes, tail: RunTail, limit: float | None) -> tuple[float, float]:
    """Draw a run; return from where to where the axis of times has to reach."""
    values, shares = tail.curve
    axis.plot(values / MICROSECOND, shares, color=ESTIMATE, linewidth=1.4, drawstyle="steps-pre", zorder=3)
    for quantile in tail.quantiles:
        if ends := draw.ends_of(quantile, MICROSECOND):
            share = 1 - quantile.labels["q"]
            (bar,) = axis.plot(
                ends, [share] * 2, color=ESTIMATE, linewidth=3.5, alpha=0.35, solid_capstyle="butt", zorder=2
            )
            tip(bar, f"{quantile.what}: {plain((quantile.estimate or 0) / MICROSECOND, 5)} µs")
    axis.set_xscale("log")
    axis.set_yscale("log")
    power_ticks(axis.yaxis)
    right = tail.largest * 3
    left = values[-1]
    if truth := configured().rtt.get(tail.path):
        axis.plot([truth / MICROSECOND], [1], "x", color=INK, markersize=5, zorder=5)
        left = min(left, truth)
    if limit is not None:
        axis.axvline(limit / MICROSECOND, color=INK, linewidth=1, linestyle=":")
    axis.set_title(f"{tail.path}, {tail.method}", fontsize=9)
    return left, right


def _words(tail: RunTail) -> str:
    shown = []
    for quantile in tail.quantiles:
        if quantile.estimate is not None:
            ends = draw.brackets(draw.ends_of(quantile, MICROSECOND), 5)
            shown.append(f"{quantile.what} {plain(quantile.estimate / MICROSECOND, 5)}{ends}")
    largest = plain(tail.largest / MICROSECOND, 6)
    return f"{tail.path}, {tail.method}, n = {len(tail.rtt):,}: {'; '.join(shown)}; largest {largest} µs"
