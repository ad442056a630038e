"""Runs in the order of measuring: whether they resemble their neighbours."""

from __future__ import annotations

import statistics
from typing import TYPE_CHECKING

from matplotlib.ticker import MaxNLocator

from azlatency.kit.drawing import draw
from azlatency.kit.drawing.base import GIGABIT, MICROSECOND, MOST_PANELS, grid, left_out, sizes, styled, tip
from azlatency.kit.drawing.palette import ESTIMATE, INK, RUN
from azlatency.kit.drawing.truth import configured
from azlatency.kit.objects import Chart, Note
from azlatency.stats import rows
from azlatency.stats.across_runs.run_values import run_values, value_column
from azlatency.stats.across_runs.typical_run import DIAGNOSTICS
from azlatency.stats.result import results_only
from azlatency.studies.format import format_number, plain

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

    from azlatency.stats.result import Estimate

_READ_IN = {"ns": (MICROSECOND, "µs"), "bit/s": (GIGABIT, "Gbit/s")}


@styled
@results_only
def runs_in_order(runs: pd.DataFrame, typical: pd.DataFrame) -> Chart | Note:
    """Draw the run values of each path in the order of measuring, those most like their neighbours first.

    Parameters
    ----------
    runs : DataFrame
        One row per run, as returned by `azlatency.latency` or `azlatency.throughput`.
    typical : DataFrame
        As `azlatency.summarize` returns them.

    Returns
    -------
    Chart or Note
        The chart, or a note with the reason where there is nothing to draw.
    """
    tested = sorted(
        (one for one in rows.estimates(typical, *DIAGNOSTICS) if "lag1_p" in one.diagnostics),
        key=lambda one: ("dependent_runs" not in one.codes, one.diagnostics["lag1_p"]),
    )
    if not tested:
        return Note("No chart: no path has six runs that differ and whose order is known.")
    shown = [(one, _values(runs, one)) for one in tested[:MOST_PANELS]]
    figure, axes = grid(len(shown), 2, 1.5, xlabel="run, in the order of measuring")
    for axis, (one, values) in zip(axes, shown, strict=True):
        _panel(axis, one, values)
    dependent = sum("dependent_runs" in one.codes for one in tested)
    caption = draw.caption(
        "Each dot is one run; line: their median. r: lag-1 autocorrelation, with the p-value of its permutation test. "
        f"{sizes((one.n for one, _ in shown), 'runs per panel')}.",
        ("Dotted: configured round-trip delay of the emulated link.", any(_truth(one) for one, _ in shown)),
        left_out(len(shown), len(tested), "series, those with the smallest p"),
    )
    title = f"Neighbouring runs resemble each other in {dependent} of {len(tested)} series"
    return Chart(figure, caption, "\n".join(_words(*series) for series in shown), title=title)


def _values(runs: pd.DataFrame, one: Estimate) -> list[float]:
    """Return the values of a path and method in the order of measuring."""
    of_method = runs[runs["method"] == one.labels["method"]]
    column = value_column(of_method)
    of_path = of_method[(of_method["path"] == one.labels["path"]) & of_method[column].notna()]
    return [float(value) for value in run_values(of_path, column).values]


def _panel(axis: Axes, one: Estimate, values: list[float]) -> None:
    scale, unit = _READ_IN.get(one.unit, (1.0, one.unit))
    values = [value / scale for value in values]
    numbers = range(1, len(values) + 1)
    axis.plot(numbers, values, color=RUN, linewidth=0.5, alpha=0.5)
    (marks,) = axis.plot(numbers, values, "o", color=RUN, markersize=3.5, markerfacecolor=axis.get_facecolor())
    tip(marks, *(f"run {number}: {plain(value, 5)} {unit}" for number, value in zip(numbers, values, strict=True)))
    axis.plot([0.5, len(values) + 0.5], [statistics.median(values)] * 2, color=ESTIMATE, linewidth=1.4)
    if truth := _truth(one):
        axis.axhline(truth / scale, color=INK, linewidth=1, linestyle=":")
    axis.set_title(f"{one.what}\n{_lag1(one)}", fontsize=8)
    axis.set_ylabel(unit)
    axis.set_xlim(0.4, len(values) + 0.6)
    axis.xaxis.set_major_locator(MaxNLocator(integer=True, nbins=6))


def _lag1(one: Estimate) -> str:
    return f"r = {format_number(float(one.diagnostics['lag1']), 2)}, p = {one.diagnostics['lag1_p']:.3f}"


def _truth(one: Estimate) -> float | None:
    return configured().rtt.get(str(one.labels.get("path"))) if one.unit == "ns" else None


def _words(one: Estimate, values: list[float]) -> str:
    scale, unit = _READ_IN.get(one.unit, (1.0, one.unit))
    return f"{one.what}: {', '.join(plain(value / scale, 5) for value in values)} {unit}; {_lag1(one)}"
