"""Forest plots: one value per run, grouped by path, with the interval of each path with repeated runs."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from azlatency.kit.claim import described_by, interval_of
from azlatency.kit.drawing import draw
from azlatency.kit.drawing.axes import plain_log_ticks
from azlatency.kit.drawing.base import (
    MOST_ROWS,
    label,
    left_out,
    lines,
    most_of,
    narrow,
    sizes,
    stack,
    styled,
)
from azlatency.kit.drawing.options import by_size, ordered
from azlatency.kit.drawing.palette import INK, RUN
from azlatency.kit.drawing.truth import configured
from azlatency.kit.objects import Chart, Note
from azlatency.kit.titles import extremes
from azlatency.report.groups import main_method
from azlatency.stats import rows
from azlatency.stats.across_runs.path_differences import differences_by_path
from azlatency.stats.result import Estimate
from azlatency.studies.format import fitting_unit, format_value, plain
from azlatency.studies.runs.groups import grouped

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

_ONE_AXIS = 200
_MOST_METHODS = 20


@styled
def latency_forest(runs: pd.DataFrame, estimates: pd.DataFrame, *, value: str = "median_ns") -> Chart | Note:
    """Draw each path's run values, shortest first, and the interval of each repeated path; one panel per method.

    Parameters
    ----------
    runs : DataFrame
        One row per run with the columns ``path``, ``method`` and ``value`` (ns).
    estimates : DataFrame
        Estimates of the same column across runs (ns), one row per path and method: `azlatency.summarize`.
    value : {"median_ns", "mean_ns"}
        Column to draw.

    Returns
    -------
    Chart or Note
        The chart, or a note with the reason where there is nothing to draw.
    """
    name = {"median_ns": "median", "mean_ns": "mean"}[value]
    return _forest(
        runs,
        estimates,
        value,
        quantity="ns",
        what=f"{name} round-trip time",
        expected=None,
    )


@styled
def throughput_forest(runs: pd.DataFrame, estimates: pd.DataFrame, *, expected: float | None = None) -> Chart | Note:
    """Draw each path's goodput per run, its interval where runs repeat, and what is expected of the VM.

    Parameters
    ----------
    runs : DataFrame
        One row per run with the columns ``path``, ``method`` and ``throughput_bit_s``.
    estimates : DataFrame
        Typical goodput across runs (bit/s), one row per path and method: `azlatency.summarize`.
    expected : float or None
        Rate expected of the VM (bit/s), drawn as a dashed line.

    Returns
    -------
    Chart or Note
        The chart, or a note with the reason where there is nothing to draw.
    """
    return _forest(
        runs,
        estimates,
        "throughput_bit_s",
        quantity="bit/s",
        what="goodput",
        expected=expected,
    )


def _forest(
    runs: pd.DataFrame,
    typical: pd.DataFrame,
    value: str,
    *,
    quantity: str,
    what: str,
    expected: float | None,
) -> Chart | Note:
    runs, estimates = runs[runs[value].notna()], rows.estimates(typical)
    if not len(runs):
        return Note(f"No chart: no log of this study contains a {what}.")
    if len(runs) == 1:
        only = runs.iloc[0]
        shown = f"{what} {format_value(float(only[value]), quantity)}"
        if math.isinf(only[value]):
            shown = "the run lost most of its probes"
        return Note(f"No chart: one run only. {only['path']}, {only['method']}: {shown}.")
    every = runs
    runs, left = _most_repeated(runs)
    methods = list(dict.fromkeys(runs["method"]))
    # Methods share an axis if their values are similar; a UDP test that lost nearly everything gets its own axis.
    finite = runs[runs[value].astype(float) < math.inf]
    scale, unit = fitting_unit(quantity, finite[value].astype(float))
    positive = finite.loc[finite[value] > 0, value].astype(float)
    shared = len(positive) == len(finite) > 0 and positive.max() <= _ONE_AXIS * positive.min()
    tall = 0.6 + 0.4 * lines(*map(label, runs["path"].unique()))
    heights = [tall * runs.loc[runs["method"] == method, "path"].nunique() for method in methods]
    figure, axes = stack(heights, each=0.24, gap=0.5 if shared else 0.9, sharex=shared)
    by_key = {(estimate.labels["path"], estimate.labels["method"]): estimate for estimate in estimates}
    truth = {"median_ns": configured().rtt, "mean_ns": configured().mean_rtt}.get(value, configured().rate)
    for axis, method in zip(axes, methods, strict=True):
        chosen = finite[value] if shared else finite.loc[finite["method"] == method, value]
        of_axis = (e for e in estimates if shared or e.labels["method"] == method)
        reach = [interval[0] / scale for e in of_axis if (interval := interval_of(e))] + (
            [expected / scale] if expected else []
        )
        logarithmic = _scale_values(axis, chosen.astype(float) / scale, reach)
        if axis is axes[-1] or not shared:
            axis.set_xlabel(f"{what} per run, {unit}" + (" (log)" if logarithmic else ""))
    for axis, method in zip(axes, methods, strict=True):
        groups = dict(list(grouped(runs[runs["method"] == method], "path")[value]))
        keys = {path: (_size(group, by_key.get((path, method))), str(path)) for path, group in groups.items()}
        names = ordered(keys, keys.__getitem__)
        draw.name_rows(axis, [label(path) for path in names], 0.5)
        axis.set_title(method)
        numbered = [(row, path, float(v) / scale) for row, path in enumerate(names) for v in groups[path]]
        draw.dots(
            axis,
            [
                (row, number, f"{path}: {plain(number, 5)} {unit}")
                for row, path, number in numbered
                if math.isfinite(number)
            ],
        )
        for row, path in enumerate(names):
            numbers = groups[path].astype(float) / scale
            _forest_row(axis, row, str(path), numbers, by_key.get((path, method)), scale, unit)
            if math.inf in numbers.tolist():
                # Beyond the end of the axis: most of this run's probes got no answer.
                axis.plot(
                    [1],
                    [row],
                    ">",
                    color=RUN,
                    markersize=7,
                    clip_on=False,
                    zorder=4,
                    transform=axis.get_yaxis_transform(),
                )
            known = truth.get(str(path), 0.0)
            draw.truth(axis, row, known, scale, f"{path}: configured {plain(known / scale, 5)} {unit}")
        if expected is not None:
            axis.axvline(expected / scale, color=INK, linestyle="--", linewidth=1)
    caption = draw.caption(
        _caption(runs, what, list(estimates)),
        ("▶ at the edge: the run lost most of its probes, so its median is infinite.", len(finite) < len(runs)),
        (f"Dashed: {(expected or 0) / scale:g} {unit} expected of the VM.", expected is not None),
        (
            configured().caption("rtt" if quantity == "ns" else "rate"),
            any(truth.get(str(path)) for path in runs["path"]),
        ),
        left,
    )
    main = main_method(every, value, typical)
    wide = {path: ends for path in main.values if (ends := described_by(by_key.get((path, main.method)), ()))}
    title = extremes(
        what.replace("round-trip time", "round trip"),
        main.values,
        quantity,
        main.method,
        ranges=wide | dict(main.ranges),
        found=differences_by_path(every, main.method, value),
    )
    return Chart(figure, caption, _alt_of_runs(runs, value, scale, unit, list(estimates)), title=title, claim=main)


def _size(values: pd.Series, estimate: Estimate | None) -> float:
    """Return the number that orders the rows: the estimate of the path, else the middle of its runs."""
    known = estimate is not None and estimate.estimate is not None
    return float(estimate.estimate) if known else float(values.median())  # type: ignore[union-attr, arg-type]


def _caption(runs: pd.DataFrame, what: str, estimates: list[Estimate]) -> str:
    """Describe the dots and bars that the figure has."""
    caption = f"{what.capitalize()} by path and method{by_size(', in the order of size')}; each dot is a run. "
    answered = [estimate for estimate in estimates if not estimate.refused]
    if answered:
        level = f"{100 * answered[0].confidence:g} %"
        caption += (
            f"Bar: {level} interval of the path's typical run, the median run; without a bar, it was measured once or "
            "the runs are too far apart for an interval."
        )
    elif all(estimate.n < 2 for estimate in estimates):
        caption += "No path has two runs with the same method, so there are no intervals; a second run may differ."
    else:
        caption += "No path has an interval; the table says why."
    return f"{caption} {sizes(grouped(runs, ['path', 'method']).size(), 'runs per path and method')}."


def _most_repeated(runs: pd.DataFrame) -> tuple[pd.DataFrame, str]:
    """Select the runs of the most repeated paths and methods; also return the caption's sentence on the others."""
    repeats, methods = grouped(runs, ["path", "method"]).size(), runs["method"].value_counts()
    named, _ = most_of(list(methods.index), methods.__getitem__, "methods", _MOST_METHODS)
    keys = [key for key in repeats.index if key[1] in set(named)]
    kept, _ = most_of(keys, repeats.__getitem__, "paths and methods", MOST_ROWS)
    left, chosen = left_out(len(kept), len(repeats), "paths and methods, those with the most runs"), set(kept)
    return runs[[key in chosen for key in zip(runs["path"], runs["method"], strict=True)]], left


def _scale_values(axis: Axes, values: pd.Series, ends: Sequence[float]) -> bool:
    """Make the axis logarithmic if the values are positive and spread widely, else linear from zero.

    The axis also reaches to ``ends``; at its right end there is room for the numbers next to the dots.
    """
    if not len(values):
        axis.set_xticks([])
        return False
    # An interval of two runs may reach over decades: it is cut.
    ends = [end for end in ends if end > 0.25 * float(values.min())]
    low, high = (float(end) for end in (min(values.min(), *ends, math.inf), max(values.max(), *ends, 0.0)))
    room = 0.3 if narrow() else 0.16
    if low > 0 and high > 8 * low:
        axis.set_xscale("log")
        axis.set_xlim(low / 1.5, high * 1.2 * (high / low) ** room)
        plain_log_ticks(axis.xaxis)
        return True
    axis.set_xlim(-0.02 * (high or 1.0), (1.05 + room) * (high or 1.0))
    axis.locator_params(axis="x", nbins=4 if narrow() else 8)
    return False


def _forest_row(
    axis: Axes, row: int, path: str, values: pd.Series, estimate: Estimate | None, scale: float, unit: str
) -> None:
    """Draw the interval of one path, and its number: the estimate, or the value of the only run."""
    finite = [value for value in values if math.isfinite(value)]
    ends, interval = list(finite), tuple(end / scale for end in interval_of(estimate) or ())
    shown = finite[0] if len(finite) == 1 else None
    # Runs that are too far apart for an interval have no number that stands for them.
    if estimate is not None and estimate.estimate is not None and (interval or len(set(finite)) == 1):
        shown = estimate.estimate / scale
        draw.bar(axis, row, interval)
        ends += interval
        words = f"{path}: typical {plain(shown, 5)}{draw.brackets(interval, 5)} {unit}, n = {estimate.n}"
        draw.point(axis, row, shown, text=words, shape="|", markersize=11, markeredgewidth=2.2)
    if shown is not None and ends:
        # The typical run stands at the edge of the axis: beside the last dot it would read as the value of that run.
        text = draw.with_interval(shown, interval) if interval else draw.number(shown)
        draw.text_at(axis, row, max(ends) if len(finite) == 1 else math.inf, text)


def _alt_of_runs(runs: pd.DataFrame, value: str, scale: float, unit: str, estimates: list[Estimate]) -> str:
    by_key = {(estimate.labels["path"], estimate.labels["method"]): estimate for estimate in estimates}
    lines = []
    for (path, method), group in grouped(runs, ["path", "method"]):
        values = ", ".join(plain(float(number) / scale, 5) for number in group[value])
        line = f"{path}, {method}: {values} {unit}"
        estimate = by_key.get((path, method))
        if estimate is not None and estimate.estimate is not None:
            ends = draw.brackets([end / scale for end in interval_of(estimate) or ()], 5)
            line += f"; typical {plain(estimate.estimate / scale, 5)}{ends}"
        lines.append(line)
    return "\n".join(lines)
