"""Runs in the order of measuring: whether they resemble their neighbours, and whether their level changed."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

from azlatency.report.charts import draw
from azlatency.report.charts.base import GIGABIT, MICROSECOND, MOST_PANELS, grid, left_out, sizes, styled, tip
from azlatency.report.charts.palette import ESTIMATE, INK, RUN
from azlatency.report.charts.truth import configured
from azlatency.report.objects import Chart, Note
from azlatency.stats.across_runs.run_order import LEVEL
from azlatency.studies.format import plain

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from azlatency.stats.across_runs.history import History

_READ_IN = {"ns": (MICROSECOND, "µs"), "bit/s": (GIGABIT, "Gbit/s")}


@styled
def runs_in_order(histories: Sequence[History]) -> Chart | Note:
    """Draw the run values of each path in the order of measuring, those most like their neighbours first.

    Parameters
    ----------
    histories : sequence of History
        As `azlatency.stats.histories` returns them.

    Returns
    -------
    Chart or Note
        The chart, or a note with the reason where there is nothing to draw.
    """
    tested = sorted(
        (one for one in histories if "lag1_p" in one.diagnostics), key=lambda one: one.diagnostics["lag1_p"]
    )
    if not tested:
        return Note("No chart: no path has six runs that differ and whose order is known.")
    shown = tested[:MOST_PANELS]
    figure, axes = grid(len(shown), 2, 1.5, xlabel="run, in the order of measuring")
    for axis, one in zip(axes, shown, strict=True):
        _panel(axis, one)
    dependent = sum("dependent_runs" in one.codes for one in tested)
    title = (
        f"Neighbouring runs resemble each other in {dependent} of {len(tested)} series "
        f"(p ≤ {LEVEL:g}; {plain(LEVEL * len(tested), 2)} expected by chance)"
    )
    caption = draw.caption(
        "Each dot is one run; line: median of the runs between two changes. r: lag-1 autocorrelation, with the p-value "
        f"of its permutation test. {sizes((one.n for one in shown), 'runs per panel')}.",
        ("Dotted: configured round-trip delay of the emulated link.", any(map(_truth, shown))),
        left_out(len(shown), len(tested), "series, those with the smallest p"),
    )
    return Chart(figure, caption, "\n".join(_words(one) for one in shown), title=title)


def _panel(axis: Axes, one: History) -> None:
    from matplotlib.ticker import MaxNLocator

    scale, unit = _READ_IN.get(one.unit, (1.0, one.unit))
    values = [value / scale for value in one.values]
    numbers = range(1, len(values) + 1)
    axis.plot(numbers, values, color=RUN, linewidth=0.5, alpha=0.5)
    (marks,) = axis.plot(numbers, values, "o", color=RUN, markersize=3.5, markerfacecolor=axis.get_facecolor())
    tip(marks, *(f"run {number}: {plain(value, 5)} {unit}" for number, value in zip(numbers, values, strict=True)))
    levels = one.levels or (statistics.median(one.values),)
    for (begin, end), level in zip(pairwise([0, *one.changes, len(values)]), levels, strict=True):
        axis.plot([begin + 0.5, end + 0.5], [level / scale] * 2, color=ESTIMATE, linewidth=1.4)
    if truth := _truth(one):
        axis.axhline(truth / scale, color=INK, linewidth=1, linestyle=":")
    axis.set_title(f"{one.what}\nr = {one.diagnostics['lag1']:.2f}, p = {one.diagnostics['lag1_p']:.3f}", fontsize=8)
    axis.set_ylabel(unit)
    axis.set_xlim(0.4, len(values) + 0.6)
    axis.xaxis.set_major_locator(MaxNLocator(integer=True, nbins=6))


def _truth(one: History) -> float | None:
    return configured().rtt.get(str(one.labels.get("path"))) if one.unit == "ns" else None


def _words(one: History) -> str:
    scale, unit = _READ_IN.get(one.unit, (1.0, one.unit))
    listed = ", ".join(plain(value / scale, 5) for value in one.values)
    return f"{one.what}: {listed} {unit}; r = {one.diagnostics['lag1']:.2f}, p = {one.diagnostics['lag1_p']:.3f}"
