"""Forest plots: one value per run, grouped by path, with the interval of each path with repeated runs."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from azlatency.report.charts.axes import plain_log_ticks
from azlatency.report.charts.base import (
    GIGABIT,
    MICROSECOND,
    MOST_ROWS,
    label,
    left_out,
    lines,
    most_of,
    narrow,
    new_figure,
    sizes,
    styled,
)
from azlatency.report.objects import Chart, Note
from azlatency.stats.result import Estimate

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

_ONE_AXIS = 200
_MOST_METHODS = 20


@styled
def latency_forest(
    runs: pd.DataFrame, estimates: Sequence[Estimate], within: Sequence[Estimate] = (), *, value: str = "median_ns"
) -> Chart | Note:
    """Draw each path's run values and, where runs repeat, the interval of the path; one panel per method.

    Parameters
    ----------
    runs : DataFrame
        One row per run with the columns ``path``, ``method`` and ``value`` (ns).
    estimates : sequence of Estimate
        Estimates of the same column across runs (ns), one per path and method.
    within : sequence of Estimate
        Intervals of single runs (ns, label ``run_id``), drawn thin.
    value : {"median_ns", "mean_ns"}
        Column to draw.

    Returns
    -------
    Chart or Note
        The chart, or a note with the reason where there is nothing to draw.
    """
    name = {"median_ns": "median", "mean_ns": "mean"}[value]
    return _forest(
        runs, estimates, value, scale=MICROSECOND, axis_label=f"{name} round-trip time per run, µs", unit="µs",
        what=f"{name} round-trip time", expected=None, within=within,
    )  # fmt: skip


@styled
def throughput_forest(
    runs: pd.DataFrame, estimates: Sequence[Estimate], *, expected: float | None = None
) -> Chart | Note:
    """Draw each path's goodput per run, its interval where runs repeat, and what is expected of the VM.

    Parameters
    ----------
    runs : DataFrame
        One row per run with the columns ``path``, ``method`` and ``throughput`` (bit/s).
    estimates : sequence of Estimate
        Typical goodput across runs (bit/s), one per path and method.
    expected : float or None
        Rate expected of the VM (bit/s), drawn as a dashed line.

    Returns
    -------
    Chart or Note
        The chart, or a note with the reason where there is nothing to draw.
    """
    return _forest(
        runs, estimates, "throughput", scale=GIGABIT, axis_label="goodput per run, Gbit/s", unit="Gbit/s",
        what="goodput", expected=expected,
    )  # fmt: skip


def _forest(
    runs: pd.DataFrame, estimates: Sequence[Estimate], value: str, *, scale: float, axis_label: str, unit: str,
    what: str, expected: float | None, within: Sequence[Estimate] = (),
) -> Chart | Note:  # fmt: skip
    runs = runs[runs[value].notna()]
    if not len(runs):
        return Note(f"No chart: no log of this study contains a {what}.")
    runs, left = _most_repeated(runs)
    methods = list(dict.fromkeys(runs["method"]))
    paths = list(dict.fromkeys(runs["path"]))
    # Methods share an axis if their values are similar; a UDP test that lost nearly everything gets its own axis.
    finite = runs[runs[value].astype(float) < math.inf]
    positive = finite.loc[finite[value] > 0, value].astype(float)
    shared = len(positive) == len(finite) > 0 and positive.max() <= _ONE_AXIS * positive.min()
    tall = 0.6 + 0.4 * lines(*map(label, paths))
    heights = [tall * runs.loc[runs["method"] == method, "path"].nunique() for method in methods]
    figure, axes = new_figure(
        len(methods), 1, 0.55 + sum(0.24 * count + (0.5 if shared else 0.9) for count in heights),
        sharex=shared, gridspec_kw={"height_ratios": [count + 1 for count in heights]},
    )  # fmt: skip
    by_key = {(estimate.labels["path"], estimate.labels["method"]): estimate for estimate in estimates}
    single = {str(estimate.labels["run_id"]): estimate for estimate in within}
    for axis, method in zip(axes, methods, strict=True):
        of_method = runs[runs["method"] == method]
        names = [path for path in paths if path in set(of_method["path"])]
        for row, path in enumerate(names):
            values = of_method.loc[of_method["path"] == path, value].astype(float) / scale
            _forest_row(
                axis,
                row,
                [estimate for estimate in values if math.isfinite(estimate)],
                by_key.get((path, method)),
                scale,
            )
            if math.inf in values.tolist():
                # Beyond the end of the axis: most of this run's probes got no answer.
                axis.plot([1], [row], ">", color="#D55E00", markersize=7, clip_on=False, zorder=4,
                          transform=axis.get_yaxis_transform())  # fmt: skip
            _runs_within(axis, row, [single.get(str(run_id)) for run_id in values.index], scale)
        axis.set_yticks(range(len(names)), [label(estimate) for estimate in names])
        axis.set_ylim(len(names) - 0.5, -0.5)
        axis.set_title(method)
        axis.grid(axis="y", visible=False)
        if expected is not None:
            axis.axvline(expected / scale, color="black", linestyle="--", linewidth=1)
            if axis is axes[0]:
                axis.annotate(
                    "expected",
                    (expected / scale, 0.03),
                    (-2, 0),
                    xycoords=("data", "axes fraction"),
                    textcoords="offset points",
                    fontsize=7.5,
                    rotation=90,
                    ha="right",
                    va="bottom",
                )
    for axis, method in zip(axes, methods, strict=True):
        chosen = finite[value] if shared else finite.loc[finite["method"] == method, value]
        logarithmic = _scale_values(axis, chosen.astype(float) / scale)
        if axis is axes[-1] or not shared:
            axis.set_xlabel(axis_label + (" (log)" if logarithmic else ""))
    level = f"{100 * estimates[0].confidence:g} %" if estimates else ""
    several = any(not estimate.refused for estimate in estimates)
    caption = f"{what.capitalize()} by path and method; each dot is a run. " + (
        f"Bar: {level} interval of the path's typical run, the median run (order statistics from six runs on, else t)."
        if several
        else "No path has two runs with the same method, so there are no intervals; a second run may differ."
        if all(estimate.n < 2 for estimate in estimates)
        else "No path has an interval; the table says why."
    )
    caption += f" {sizes(runs.groupby(['path', 'method']).size(), 'runs per path and method')}."
    drawn = [single[str(run_id)] for run_id in runs.index if str(run_id) in single]
    if any(estimate.low is not None and estimate.high is not None for estimate in drawn):
        caption += (
            f" Thin orange: {100 * drawn[0].confidence:g} % interval within a single run, where its log "
            "allows one; it does not cover other runs."
        )
    if len(finite) < len(runs):
        caption += " ▶ at the edge: the run lost most of its probes, so its median is infinite."
    if expected is not None:
        caption += f" Dashed: {expected / scale:g} {unit} expected of the VM."
    return Chart(figure, caption + left, _alt_of_runs(runs, value, scale, unit, list(estimates)))


def _most_repeated(runs: pd.DataFrame) -> tuple[pd.DataFrame, str]:
    """Select the runs of the most repeated paths and methods; also return the caption's sentence on the others."""
    repeats, methods = runs.groupby(["path", "method"], sort=False).size(), runs["method"].value_counts()
    named, _ = most_of(list(methods.index), methods.__getitem__, "methods", _MOST_METHODS)
    rows = [key for key in repeats.index if key[1] in set(named)]
    kept, _ = most_of(rows, repeats.__getitem__, "paths and methods", MOST_ROWS)
    left, chosen = left_out(len(kept), len(repeats), "paths and methods, those with the most runs"), set(kept)
    return runs[[key in chosen for key in zip(runs["path"], runs["method"], strict=True)]], left


def _scale_values(axis: Axes, values: pd.Series) -> bool:
    """Make the axis logarithmic if the values are positive and spread widely, else linear from zero."""
    if len(values) and values.min() > 0 and values.max() > 8 * values.min():
        axis.set_xscale("log")
        plain_log_ticks(axis.xaxis)
        return True
    if not len(values):
        axis.set_xticks([])
        return False
    axis.set_xlim(left=-0.02 * axis.get_xlim()[1])
    axis.locator_params(axis="x", nbins=4 if narrow() else 8)
    return False


def _runs_within(axis: Axes, row: int, within: Sequence[Estimate | None], scale: float) -> None:
    """Draw the interval of each single run below the interval of the path."""
    known = [
        estimate
        for estimate in within
        if estimate is not None and estimate.low is not None and estimate.high is not None
    ]
    for place, estimate in enumerate(known, start=1):
        assert estimate.low is not None and estimate.high is not None
        height = row + 0.16 + 0.26 * place / len(known)
        axis.plot([estimate.low / scale, estimate.high / scale], [height] * 2, color="#D55E00", linewidth=0.8, zorder=1)


def _forest_row(axis: Axes, row: int, values: list[float], estimate: Estimate | None, scale: float) -> None:
    if estimate is not None and estimate.estimate is not None:
        if estimate.low is not None and estimate.high is not None:
            ends = [estimate.low / scale, estimate.high / scale]
            axis.plot(ends, [row, row], color="#0072B2", linewidth=2.2, zorder=2)
        axis.plot(
            [estimate.estimate / scale], [row], "|", color="#0072B2", markersize=11, markeredgewidth=2.2, zorder=3
        )
    axis.plot(values, [row] * len(values), "o", color="#D55E00", markersize=4.5, markerfacecolor="none", zorder=4)


def _alt_of_runs(runs: pd.DataFrame, value: str, scale: float, unit: str, estimates: list[Estimate]) -> str:
    by_key = {(estimate.labels["path"], estimate.labels["method"]): estimate for estimate in estimates}
    lines = []
    for (path, method), group in runs.groupby(["path", "method"], sort=False):
        values = ", ".join(f"{float(number) / scale:,.5g}".replace("inf", "∞") for number in group[value])
        line = f"{path}, {method}: {values} {unit}"
        estimate = by_key.get((path, method))
        if estimate is not None and estimate.estimate is not None:
            line += f"; typical {estimate.estimate / scale:,.5g}"
            if estimate.low is not None and estimate.high is not None:
                line += f" [{estimate.low / scale:,.5g}, {estimate.high / scale:,.5g}]"
        lines.append(line)
    return "\n".join(lines)
