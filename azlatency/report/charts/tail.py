"""How rare is how late: the share of packets slower than a value, both axes logarithmic, with the fitted tail."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from azlatency.report.charts.axes import plain_log_ticks, power_ticks
from azlatency.report.charts.base import MICROSECOND, new_figure, side_by_side, sizes, styled
from azlatency.report.objects import Chart, Note
from azlatency.stats.within_run.tail_by_run import RunTail, fitted_exceedances

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_BLUE, _RED, _BLACK = "#0072B2", "#D55E00", "#000000"
_PANELS = 4


@styled
def tail_curves(found: Sequence[RunTail], *, limit: float | None = None) -> Chart | Note:
    """Share of packets slower than a value (log-log) with quantile intervals and the fitted tail, the longest runs.

    ``found``: `azlatency.stats.within_run.tail_by_run.fit_tails`; ``limit`` in ns is drawn as a dotted line.
    """
    chosen = sorted(found, key=lambda each: -len(each.rtt))[:_PANELS]
    if not chosen:
        return Note("No chart: no log of this study holds samples of a run that is long enough for a tail.")
    columns = side_by_side(2, len(chosen))
    rows = math.ceil(len(chosen) / columns)
    figure, axes = new_figure(rows, columns, 0.3 + 2.5 * rows, sharey=True)
    for axis, each in zip(axes, chosen, strict=False):
        _panel(axis, each, limit)
    for axis in axes[len(chosen) :]:
        axis.set_visible(False)
    for axis in axes[::columns]:
        axis.set_ylabel("share slower (log)")
    for axis in axes[max(len(chosen) - columns, 0) : len(chosen)]:
        axis.set_xlabel("round trip, µs (log)")
    left = "" if len(chosen) == len(found) else f" The longest {len(chosen)} of {len(found)} runs."
    level = f"{100 * chosen[0].fit.shape.confidence:g} %"
    caption = (
        f"Share of packets slower than a round trip. Blue: as measured; blue bars: {level} interval of the percentile, "
        "where one holds. Orange: fitted tail from its threshold (dot) on, each cluster of late packets counted once, "
        f"dashed beyond the rarest packet seen; orange bar: {level} interval of what is passed once in the run's "
        "length. No orange: the fit is refused."
        + (" Dotted: the limit." if limit is not None else "")
        + f" {sizes((len(each.rtt) for each in chosen), 'packets a run')}."
        + left
    )
    return Chart(figure, caption, "\n".join(_words(each) for each in chosen))


def _panel(axis: Axes, each: RunTail, limit: float | None) -> None:
    n = len(each.rtt)
    values, shares = each.curve
    axis.plot(values / MICROSECOND, shares, color=_BLUE, linewidth=1.4, drawstyle="steps-pre", zorder=3)
    for quantile in each.quantiles:
        if quantile.low is not None and quantile.high is not None:
            share = 1 - quantile.labels["q"]
            ends = [quantile.low / MICROSECOND, quantile.high / MICROSECOND]
            axis.plot(ends, [share] * 2, color=_BLUE, linewidth=3.5, alpha=0.35, solid_capstyle="butt", zorder=2)
    axis.set_xscale("log")
    axis.set_yscale("log")
    plain_log_ticks(axis.xaxis, decades_only=True)
    power_ticks(axis.yaxis)
    axis.set_ylim(0.1 / n, 1.3)
    right = each.largest * 3
    if each.fit.threshold is not None and not each.fit.refused:
        right = max(right, _fit(axis, each))
    axis.set_xlim(values[-1] / MICROSECOND / 1.3, right / MICROSECOND)
    if limit is not None:
        axis.axvline(limit / MICROSECOND, color=_BLACK, linewidth=1, linestyle=":")
    axis.set_title(f"{each.path}, {each.method}", fontsize=9)


def _fit(axis: Axes, each: RunTail) -> float:
    """The fitted tail, its interval at the run's length; returns how far to the right it reaches."""
    import numpy as np

    assert each.fit.threshold is not None
    n, level = len(each.rtt), each.own_level
    x = np.geomspace(each.fit.threshold, each.largest * 1e4, 400)
    shares = np.array(fitted_exceedances(each.fit, list(x)))
    for kept, line in ((shares >= 1 / n, "-"), ((shares <= 1 / n) & (shares >= 0.1 / n), "--")):
        axis.plot(x[kept] / MICROSECOND, shares[kept], color=_RED, linewidth=1.2, linestyle=line, zorder=4)
    axis.plot([each.fit.threshold / MICROSECOND], [float(shares[0])], "o", color=_RED, markersize=4, zorder=5)
    right = float(x[shares >= 0.1 / n].max())
    if level is not None and level.low is not None and level.high is not None:
        ends = [level.low / MICROSECOND, level.high / MICROSECOND]
        axis.plot(ends, [1 / n] * 2, color=_RED, linewidth=3.5, alpha=0.35, solid_capstyle="butt", zorder=2)
        right = max(right, level.high)
    return right


def _words(each: RunTail) -> str:
    shown = []
    for quantile in each.quantiles:
        if quantile.estimate is not None:
            known = quantile.low is not None and quantile.high is not None
            ends = f" [{(quantile.low or 0) / 1e3:,.5g}, {(quantile.high or 0) / 1e3:,.5g}]" if known else ""
            shown.append(f"{quantile.what} {quantile.estimate / MICROSECOND:,.5g}{ends}")
    line = (
        f"{each.path}, {each.method}, n = {len(each.rtt):,}: {'; '.join(shown)}; largest {each.largest / 1e3:,.6g} µs"
    )
    if each.fit.refused or each.fit.threshold is None or each.fit.shape.estimate is None:
        return f"{line}; no fitted tail"
    return f"{line}; fitted tail above {each.fit.threshold / MICROSECOND:,.5g} µs, shape {each.fit.shape.estimate:.2f}"
