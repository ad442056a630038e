"""Percentile curves on a nines axis."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Literal

from azlatency.kit.drawing import draw
from azlatency.kit.drawing.axes import nines, plain_log_ticks, spread
from azlatency.kit.drawing.base import (
    MICROSECOND,
    MOST_PANELS,
    evenly,
    grid,
    lines,
    most_of,
    narrow,
    side_by_side,
    sizes,
    styled,
    tip,
)
from azlatency.kit.drawing.names import wrap
from azlatency.kit.drawing.palette import HUES, Look, looks, pair_of, told_apart
from azlatency.kit.drawing.truth import configured
from azlatency.kit.objects import Chart, Note
from azlatency.kit.titles import by_method, extremes
from azlatency.stats import rows
from azlatency.stats.across_runs.main_method import Measured
from azlatency.stats.across_runs.path_differences import path_differences
from azlatency.stats.result import Estimate
from azlatency.studies.format import plain

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

#: Most runs of a panel with brackets and shading.
_BRACKETS_SHOWN = 10
# Most curves per panel.
_CURVES_SHOWN = 60
# Most letters of a path's name at the end of its curve, on a page and in a column.
_LABEL = (44, 18)
#: Inches of a line of these names.
_LINE_INCHES = 0.15
#: Levels that a title speaks of.
_TITLED = (0.5, 0.75, 0.9, 0.95, 0.99)
_NICE = (0.01, 0.1, 0.5, 0.9, 0.99, 0.999, 0.9999, 0.99999, 0.999999)
Source = Literal["printed", "samples"]
_PATHS_SIDE_BY_SIDE = 5


@styled
def percentile_curves(quantiles: pd.DataFrame, source: Source = "printed") -> Chart | Note:
    """Draw percentiles as curves, one per run, on an axis that gives each nine the same room.

    Parameters
    ----------
    quantiles : DataFrame
        Percentiles (ns) with ``run_id``, ``path``, ``method`` and ``q``, as `azlatency.quantiles` or
        `azlatency.stats.printed_quantiles` return them.
    source : {"printed", "samples"}
        Printed percentiles and those of histograms get brackets, and shading between neighbours. Percentiles of samples
        get the band of their intervals.

    Returns
    -------
    Chart or Note
        The chart, or a note with the reason where there is nothing to draw.
    """
    # A percentile printed as 0 has no place on a logarithmic axis; the table shows it.
    estimates = rows.estimates(quantiles)
    drawn = [estimate for estimate in estimates if estimate.estimate is not None and estimate.estimate > 0]
    if not drawn:
        has = "prints percentiles" if source == "printed" else "contains samples that resolve a percentile"
        return Note(f"No chart: no log of this study {has}.")
    title, sizes_by_path = _title(drawn)
    every = len({_run(estimate) for estimate in drawn})
    paths = told_apart(sizes_by_path)
    drawn = [estimate for estimate in drawn if estimate.labels["path"] in set(paths)]
    curves = Counter(method for method, _ in dict.fromkeys(map(_run, drawn)))
    methods, left = most_of(list(curves), curves.__getitem__, "methods, those with the most runs", MOST_PANELS)
    kept: set[tuple[str, str]] = set()
    for method in methods:
        of_method = {_run(estimate): estimate for estimate in drawn if estimate.labels["method"] == method}
        few = evenly(list(of_method.values()), lambda e: e.labels["path"], lambda e: e.n, _CURVES_SHOWN)
        kept.update(map(_run, few))
    drawn = [estimate for estimate in drawn if _run(estimate) in kept]
    if len(kept) < every:
        left = f" Shown: {len(kept)} of {every} runs, of as many pairs as there are colours; the table lists all."
    methods = [method for method in curves if method in methods]
    most = 2 if len(paths) <= _PATHS_SIDE_BY_SIDE else 1
    several = side_by_side(most, len(methods)) > 1
    names = {path: wrap(path, _LABEL[narrow()], 1 + narrow()) for path in paths}
    height = max(3.1 if several else 3.4, _LINE_INCHES * lines(*names.values()) * len(paths) + 0.6)
    figure, axes = grid(len(methods), most, height, extra=0.6, ylabel="round-trip time, µs (log)", sharey=True)
    ends = []
    for axis, method in zip(axes, methods, strict=True):
        of_panel = [estimate for estimate in drawn if estimate.labels["method"] == method]
        ends.append(_curve_panel(axis, of_panel, paths, source, few_ticks=several or narrow()))
        axis.set_title(method)
    # The panels share their y axis: its limits are final only when all of them are drawn.
    for axis, of_axis in zip(axes, ends, strict=True):
        plain_log_ticks(axis.yaxis)
        _label_ends(axis, of_axis, looks(paths), names, 0.255 * lines(*names.values()) / height)
    in_text = drawn if source == "printed" else [estimate for estimate in drawn if estimate.labels["q"] in _NICE]
    alt = _alt_of_estimates(in_text, MICROSECOND, "µs")
    return Chart(figure, _caption(drawn, source) + left, alt, title=title)


def _run(estimate: Estimate) -> tuple[str, str]:
    return str(estimate.labels["method"]), str(estimate.labels["run_id"])


def _title(drawn: Sequence[Estimate]) -> tuple[str, dict[str, float]]:
    """Say from where to where the runs reach at p99, or at the highest usual level below it that is not rare.

    Also return a number per path, by which paths are chosen.
    """
    levels = Counter(float(estimate.labels["q"]) for estimate in drawn if estimate.labels["q"] in _TITLED)
    sizes_by_path = {e.labels["path"]: float(e.estimate or 0.0) for e in sorted(drawn, key=lambda e: -e.labels["q"])}
    if not levels:
        return "", sizes_by_path
    level = max(q for q in levels if 2 * levels[q] >= max(levels.values()))
    runs = [estimate for estimate in drawn if estimate.labels["q"] == level]
    method, by_path = by_method(
        (Measured(str(run.labels["method"]), str(run.labels["path"]), packets=run.n), float(run.estimate or 0.0))
        for run in runs
    )
    values: dict[str, list[float]] = {}
    for run in (run for run in runs if run.labels["method"] == method):
        values.setdefault(str(run.labels["path"]), []).append(float(run.estimate or 0.0))
    quantity = "median" if level == 0.5 else f"p{100 * level:g}"
    # The curves are of single runs, and not all runs of a path need be among them.
    found = path_differences(values) if max(map(len, values.values())) > 1 else None
    title = extremes(f"{quantity} of single runs", by_path, "ns", method, ranges=values, found=found)
    # With enough pairs of the method in the title, its longest and its shortest path are among those drawn.
    return title, by_path if len(set(map(pair_of, by_path))) >= len(HUES) else sizes_by_path | by_path


def _caption(drawn: Sequence[Estimate], source: Source) -> str:
    level = f"{100 * drawn[0].confidence:g} %"
    packets = sizes((estimate.n for estimate in drawn), "packets per run")
    if source == "samples":
        bounded = sum(bool(draw.ends_of(estimate)) for estimate in drawn)
        return (
            f"Round-trip percentiles of the samples, one line per run. Band: pointwise {level} interval, corrected for "
            f"the autocorrelation of the packets; {bounded:,} of {len(drawn):,} percentiles have one. Each line "
            f"describes one connection; {packets}."
        )
    runs = Counter(method for method, _ in map(_run, {_run(e): e for e in drawn}.values()))
    bare = sum(count > _BRACKETS_SHOWN for count in runs.values())
    return draw.caption(
        "Round-trip percentiles as printed, one line per run; both directions of a pair share a colour and a mark.",
        (
            f"Bars: nearest printed percentiles that enclose the {level} interval (a lower bound on its width: assumes "
            "independent packets); shaded: possible values between two printed percentiles.",
            bare < len(runs),
        ),
        (
            "Hollow: the printed percentile is the run's maximum.",
            any("maximum_in_disguise" in estimate.codes for estimate in drawn),
        ),
        ("Arrow: no upper bound.", bare < len(runs) and any(estimate.high is None for estimate in drawn)),
        (f"Panels of more than {_BRACKETS_SHOWN} runs have neither bars nor shading; see the table.", bare),
        f"{packets}.",
        (configured().caption("delay"), any(configured().rtt.get(str(estimate.labels["path"])) for estimate in drawn)),
    )


def _curve_panel(
    axis: Axes, estimates: Sequence[Estimate], paths: list[str], source: Source, few_ticks: bool
) -> dict[str, list[tuple[float, float]]]:
    """Draw the runs of one method; return the ends of the curves of each path."""
    runs: dict[str, list[Estimate]] = {}
    for estimate in estimates:
        runs.setdefault(str(estimate.labels["run_id"]), []).append(estimate)
    # Offset the paths so that their brackets do not overlap.
    step = min(0.05, 0.3 / len(paths))
    ends: dict[str, list[tuple[float, float]]] = {}
    look = looks(paths)
    for curve in runs.values():
        path = curve[0].labels["path"]
        colour, style = look[path].colour, look[path].dash
        shift = (paths.index(path) - (len(paths) - 1) / 2) * step
        x = [nines(estimate.labels["q"]) + shift for estimate in curve]
        y = [estimate.estimate / MICROSECOND for estimate in curve if estimate.estimate is not None]
        axis.plot(x, y, linestyle=style, color=colour, alpha=0.85 if len(runs) <= len(paths) else 0.5, zorder=3)
        if source == "samples":
            _band(axis, x, curve, colour)
        else:
            bare = len(runs) > _BRACKETS_SHOWN
            _marks(axis, x, y, curve, look[path], 3 if bare else 4)
            if not bare:
                for position, value, estimate in zip(x, y, curve, strict=True):
                    _bracket(axis, position, value, estimate, colour)
                _staircase(axis, x, y, colour)
        ends.setdefault(path, []).append((x[-1], y[-1]))
    shown = sorted({estimate.labels["q"] for estimate in estimates})
    named = shown if source == "printed" else [q for q in shown if q in _NICE]
    axis.set_yscale("log")
    ticks = _apart(named, least=0.12 * (nines(shown[-1]) - nines(shown[0])) if few_ticks else 0.15)
    axis.set_xticks([nines(q) for q in ticks], [f"p{100 * q:g}" for q in ticks], rotation=50, ha="right")
    axis.set_xlim(nines(shown[0]) - 0.2, nines(shown[-1]) + 0.2)
    for path in ends:
        rtt = configured().rtt.get(str(path))
        if rtt:
            axis.plot(
                [0, 0.03],
                [rtt / MICROSECOND] * 2,
                color=look[path].colour,
                linewidth=3,
                zorder=5,
                transform=axis.get_yaxis_transform(),
            )
    return ends


def _staircase(axis: Axes, x: Sequence[float], y: Sequence[float], colour: str) -> None:
    """Shade the region between printed percentiles: they bound every percentile between them."""
    places = [place for pair in itertools.pairwise(x) for place in pair]
    low = [value for value in y[:-1] for _ in range(2)]
    high = [value for value in y[1:] for _ in range(2)]
    axis.fill_between(places, low, high, color=colour, alpha=0.12, linewidth=0, zorder=1)


def _band(axis: Axes, x: Sequence[float], curve: Sequence[Estimate], colour: str) -> None:
    low, high = (
        [math.nan if end is None else end / MICROSECOND for end in ends]
        for ends in ([estimate.low for estimate in curve], [estimate.high for estimate in curve])
    )
    if not all(map(math.isnan, low)):
        axis.fill_between(x, low, high, color=colour, alpha=0.2, linewidth=0, zorder=1)


def _marks(
    axis: Axes, x: Sequence[float], y: Sequence[float], curve: Sequence[Estimate], look: Look, size: float
) -> None:
    """Draw a mark for each percentile, hollow where the log reports the sample maximum as a percentile."""
    for is_maximum, face in ((False, look.colour), (True, "white")):
        chosen = [at for at, estimate in enumerate(curve) if ("maximum_in_disguise" in estimate.codes) == is_maximum]
        if chosen:
            places = [x[at] for at in chosen], [y[at] for at in chosen]
            (dots,) = axis.plot(
                *places, look.mark, color=look.colour, markersize=size, markerfacecolor=face, linestyle="", zorder=4
            )
            tip(dots, *(f"{curve[at].labels['path']}, {curve[at].what}: {plain(y[at], 5)} µs" for at in chosen))


def _bracket(axis: Axes, x: float, y: float, estimate: Estimate, colour: str) -> None:
    low = y if estimate.low is None else estimate.low / MICROSECOND
    if estimate.high is not None:
        axis.plot([x, x], [low, estimate.high / MICROSECOND], color=colour, linewidth=1, zorder=2)
        return
    axis.plot([x, x], [low, y], color=colour, linewidth=1, zorder=2)
    arrow = {"arrowstyle": "<-", "color": colour, "lw": 1}
    axis.annotate("", (x, y), (0, 11), textcoords="offset points", arrowprops=arrow, zorder=2)


def _apart(levels: Sequence[float], least: float) -> list[float]:
    """Choose quantiles to label that are ``least`` nines apart; prefer the median and the nines to the quartiles."""
    kept: list[float] = []
    for q in sorted(levels, key=lambda q: (q in (0.25, 0.75), q)):
        if all(abs(nines(q) - nines(other)) >= least for other in kept):
            kept.append(q)
    return sorted(kept)


def _label_ends(
    axis: Axes,
    ends: Mapping[str, list[tuple[float, float]]],
    look: Mapping[str, Look],
    names: Mapping[str, str],
    least: float,
) -> None:
    """Label each path right of the axes; a line leads from the name to the end of one of its curves.

    The limits of the axes must be final. Of several curves of a path the middle one is labelled.
    """
    low, high = axis.get_ylim()
    points = {path: sorted(some, key=lambda point: point[1])[len(some) // 2] for path, some in ends.items()}

    def height(value: float) -> float:
        return (math.log(value) - math.log(low)) / (math.log(high) - math.log(low))

    order = sorted(points, key=lambda path: points[path][1])
    spots = spread([height(points[path][1]) for path in order], least=least)
    for path, spot in zip(order, spots, strict=True):
        colour, name = look[path].colour, names[path]
        leader = {"arrowstyle": "-", "color": colour, "lw": 0.6, "alpha": 0.7, "shrinkA": 0, "shrinkB": 2}
        line = axis.annotate(
            "", points[path], (1.03, spot), textcoords="axes fraction", annotation_clip=False, arrowprops=leader
        )
        line.set_gid(f"end of {path}")
        # The mark and the dash of the curve, for readers who see no colours.
        axis.plot(
            [1.03, 1.07, 1.11],
            [spot] * 3,
            color=colour,
            linestyle=look[path].dash,
            marker=look[path].mark,
            markersize=3,
            markevery=[1],
            transform=axis.transAxes,
            clip_on=False,
        )
        axis.text(1.12, spot, name, va="center", fontsize=8, color=colour, transform=axis.transAxes)


def _alt_of_estimates(estimates: Sequence[Estimate], scale: float, unit: str) -> str:
    lines: dict[str, list[str]] = {}
    for estimate in estimates:
        assert estimate.estimate is not None
        low = "" if estimate.low is None else plain(estimate.low / scale, 6)
        high = "∞" if estimate.high is None else plain(estimate.high / scale, 6)
        title = f"{estimate.labels['path']}, {estimate.labels['method']}"
        lines.setdefault(str(estimate.labels["run_id"]) + title, [title + f", n = {estimate.n:,}:"]).append(
            f"{estimate.what} {plain(estimate.estimate / scale, 6)} [{low}, {high}]"
        )
    return "\n".join(parts[0] + " " + "; ".join(parts[1:]) + f" {unit}" for parts in lines.values())
