"""One function a chart: results and frames in, one `Chart` out. A chart computes nothing but positions on paper.

Every chart has a caption that says what is drawn and how uncertainty is shown, and a text alternative with the numbers.
Where there is nothing to draw the function returns a `Note` with the reason.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from azlatency.display import Chart, Note, style
from azlatency.stats.result import Estimate

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_MICROSECOND, _GIGABIT, _SECOND = 1e3, 1e9, 1e9
_WIDTH = 7.0
_LINE_STYLES = ("-", "--", ":", "-.")
_NINES = (0.25, 0.5, 0.75, 0.9, 0.99, 0.999, 0.9999, 0.99999)
_RUNS_SHOWN = 12
_ONE_AXIS = 200
_BRACKETS_SHOWN = 10
_PATHS_SIDE_BY_SIDE = 5


def _figure(rows: int, columns: int, width: float, height: float, **options: Any) -> tuple[Figure, list[Axes]]:
    """A figure that no global state knows, and its axes row by row."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height), layout="constrained")
    axes = figure.subplots(rows, columns, squeeze=False, **options)
    return figure, list(axes.flat)


def _styled(draw: Any) -> Any:
    """Run a chart function under the style file."""
    from functools import wraps

    @wraps(draw)
    def run(*args: Any, **keywords: Any) -> Any:
        with style():
            chart = draw(*args, **keywords)
            if isinstance(chart, Chart):
                _freeze(chart.figure)
            return chart

    return run


def _freeze(figure: Figure) -> None:
    """Lay the figure out and leave it so: the layout engine moves things a little at each drawing."""
    for _ in range(2):
        figure.draw_without_rendering()
    figure.set_layout_engine("none")
    # The solver's answer differs from run to run in the last digits.
    for axis in figure.axes:
        left, bottom, width, height = (round(float(side), 6) for side in axis.get_position().bounds)
        axis.set_position((left, bottom, width, height))


def _colour(index: int) -> tuple[str, str]:
    """Colour and line style of the index-th series; the style changes where the colours begin again."""
    from matplotlib import rcParams

    colours = rcParams["axes.prop_cycle"].by_key()["color"]
    return "#" + colours[index % len(colours)].lstrip("#"), _LINE_STYLES[index // len(colours) % len(_LINE_STYLES)]


# --- percentile curves


@_styled
def percentile_curves(estimates: Sequence[Estimate]) -> Chart | Note:
    """Printed percentile tables as curves on a nines axis, each point with its bracket.

    ``estimates`` as `azlatency.stats.quantiles.printed_quantiles` gives them, with labels run_id, path, method and q.
    """
    drawn = [each for each in estimates if each.estimate is not None]
    if not drawn:
        return Note("No chart: no log of this study prints percentiles.")
    methods = list(dict.fromkeys(each.labels["method"] for each in drawn))
    paths = list(dict.fromkeys(each.labels["path"] for each in drawn))
    columns = min(2, len(methods)) if len(paths) <= _PATHS_SIDE_BY_SIDE else 1
    rows = math.ceil(len(methods) / columns)
    figure, axes = _figure(rows, columns, _WIDTH, 0.6 + (3.1 if columns > 1 else 3.4) * rows, sharey=True)
    for axis, method in zip(axes, methods, strict=False):
        _curve_panel(axis, [each for each in drawn if each.labels["method"] == method], paths, method, columns > 1)
    for axis in axes[len(methods) :]:
        axis.set_visible(False)
    for axis in axes[::columns]:
        axis.set_ylabel("round trip, µs (log)")
    level = f"{100 * drawn[0].confidence:g} %"
    caption = (
        f"Round-trip percentiles as printed, one line a run. Bars: {level} brackets at the floor of independent "
        f"packets (the truth is wider); hollow: the percentile is only the run's maximum; arrow: no upper bound. "
        f"Panels of more than {_BRACKETS_SHOWN} runs leave the bars to the table."
    )
    return Chart(figure, caption, _alt_of_estimates(drawn, _MICROSECOND, "µs"))


def _curve_panel(axis: Axes, estimates: Sequence[Estimate], paths: list[str], method: str, narrow: bool) -> None:
    """One method: the runs of all paths, labelled at their right ends."""
    runs: dict[str, list[Estimate]] = {}
    for each in estimates:
        runs.setdefault(str(each.labels["run_id"]), []).append(each)
    # Side by side rather than on top of one another: brackets of several paths stay readable.
    step = min(0.05, 0.3 / len(paths))
    ends: dict[str, tuple[float, str]] = {}
    for curve in runs.values():
        path = curve[0].labels["path"]
        colour, style = _colour(paths.index(path))
        shift = (paths.index(path) - (len(paths) - 1) / 2) * step
        x = [_nines(each.labels["q"]) + shift for each in curve]
        y = [each.estimate / _MICROSECOND for each in curve if each.estimate is not None]
        axis.plot(x, y, linestyle=style, color=colour, alpha=0.85 if len(runs) <= len(paths) else 0.5, zorder=3)
        for position, value, each in zip(x, y, curve, strict=True):
            _bracket_mark(axis, position, value, each, colour, bare=len(runs) > _BRACKETS_SHOWN)
        ends.setdefault(path, (y[-1], colour))
    shown = sorted({each.labels["q"] for each in estimates})
    axis.set_yscale("log")
    ticks = _apart(shown, least=0.12 * (_nines(shown[-1]) - _nines(shown[0])) if narrow else 0.15)
    axis.set_xticks([_nines(q) for q in ticks], [f"p{100 * q:g}" for q in ticks], rotation=50, ha="right")
    axis.set_xlim(_nines(shown[0]) - 0.15, _nines(shown[-1]) + 0.2)
    axis.set_title(method)
    _plain_log_ticks(axis.yaxis)
    _label_ends(axis, ends)


def _bracket_mark(axis: Axes, x: float, y: float, each: Estimate, colour: str, *, bare: bool) -> None:
    disguise = "maximum_in_disguise" in each.codes
    size = 3 if bare else 4
    axis.plot([x], [y], "o", color=colour, markersize=size, markerfacecolor="white" if disguise else colour, zorder=4)
    if bare:
        return
    low = y if each.low is None else each.low / _MICROSECOND
    if each.high is not None:
        axis.plot([x, x], [low, each.high / _MICROSECOND], color=colour, linewidth=1, zorder=2)
        return
    axis.plot([x, x], [low, y], color=colour, linewidth=1, zorder=2)
    axis.annotate(
        "",
        (x, y),
        (0, 11),
        textcoords="offset points",
        arrowprops={"arrowstyle": "<-", "color": colour, "lw": 1},
        zorder=2,
    )


def _nines(q: float) -> float:
    """Position of a quantile on an axis that gives each nine the same room."""
    return -math.log10(1 - q)


def _apart(levels: Sequence[float], least: float) -> list[float]:
    """The quantiles to label: as many as stand ``least`` nines apart, the median and the nines before the quartiles."""
    kept: list[float] = []
    for q in sorted(levels, key=lambda q: (q in (0.25, 0.75), q)):
        if all(abs(_nines(q) - _nines(other)) >= least for other in kept):
            kept.append(q)
    return sorted(kept)


def _label_ends(axis: Axes, ends: dict[str, tuple[float, str]]) -> None:
    """Name each path right of the axes, moved apart where they would overlap, with a thin leader."""
    low, high = axis.get_ylim()

    def height(value: float) -> float:
        return (math.log(value) - math.log(low)) / (math.log(high) - math.log(low))

    order = sorted(ends, key=lambda path: ends[path][0])
    spots = spread([height(ends[path][0]) for path in order], least=0.075)
    for path, spot in zip(order, spots, strict=True):
        value, colour = ends[path]
        axis.annotate(
            path,
            (1.0, height(value)),
            (1.05, spot),
            xycoords="axes fraction",
            textcoords="axes fraction",
            va="center",
            fontsize=8,
            color=colour,
            arrowprops={"arrowstyle": "-", "color": colour, "lw": 0.6, "shrinkA": 0, "shrinkB": 0},
            annotation_clip=False,
        )


def spread(positions: Sequence[float], least: float) -> list[float]:
    """Ascending positions in 0..1, moved as little as possible (least squares) to stand ``least`` apart.

    With the i-th position lowered by ``i * least`` the wish "ascending by at least that much" becomes "ascending".
    """
    from scipy.optimize import isotonic_regression

    steps = [index * least for index in range(len(positions))]
    lowered = isotonic_regression([position - step for position, step in zip(positions, steps, strict=True)]).x
    highest = max(1.0 - steps[-1], 0.0)
    return [min(max(float(spot), 0.0), highest) + step for spot, step in zip(lowered, steps, strict=True)]


def _plain_log_ticks(axis: Any) -> None:
    """Ticks at 1, 2 and 5 times the powers of ten, as plain numbers."""
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter, NullLocator

    axis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.6g}"))
    axis.set_minor_locator(NullLocator())
    axis.set_minor_formatter(NullFormatter())


# --- one value a run


@_styled
def latency_forest(runs: pd.DataFrame, estimates: Sequence[Estimate], *, value: str = "median_ns") -> Chart | Note:
    """Each path's run values (µs, round trip) and, where runs repeat, the path's interval; one panel a method.

    ``runs``: `azlatency.paths.latency_runs`; ``estimates``: `azlatency.stats.means.by_path` of the same column.
    """
    name = {"median_ns": "median", "mean_ns": "mean"}[value]
    return _forest(
        runs, estimates, value, scale=_MICROSECOND, label=f"{name} round trip of a run, µs", unit="µs",
        what=f"{name} round trip", expected=None,
    )  # fmt: skip


@_styled
def throughput_forest(
    runs: pd.DataFrame, estimates: Sequence[Estimate], *, expected: float | None = None
) -> Chart | Note:
    """Each path's goodput by run, its interval where runs repeat, and ``expected`` (bit/s) as a dashed line."""
    return _forest(
        runs, estimates, "throughput", scale=_GIGABIT, label="goodput of a run, Gbit/s", unit="Gbit/s", what="goodput",
        expected=expected,
    )  # fmt: skip


def _forest(
    runs: pd.DataFrame, estimates: Sequence[Estimate], value: str, *, scale: float, label: str, unit: str, what: str,
    expected: float | None,
) -> Chart | Note:  # fmt: skip
    runs = runs[runs[value].notna()]
    if not len(runs):
        return Note(f"No chart: no log of this study gives a {what}.")
    methods = list(dict.fromkeys(runs["method"]))
    paths = list(dict.fromkeys(runs["path"]))
    # Methods on one axis where they are of one order; a UDP test that lost nearly everything gets an axis of its own.
    positive = runs.loc[runs[value] > 0, value].astype(float)
    shared = len(positive) == len(runs) and positive.max() <= _ONE_AXIS * positive.min()
    heights = [runs.loc[runs["method"] == method, "path"].nunique() for method in methods]
    figure, axes = _figure(
        len(methods), 1, _WIDTH, 0.55 + sum(0.24 * count + (0.5 if shared else 0.9) for count in heights),
        sharex=shared, gridspec_kw={"height_ratios": [count + 1 for count in heights]},
    )  # fmt: skip
    by_key = {(each.labels["path"], each.labels["method"]): each for each in estimates}
    for axis, method in zip(axes, methods, strict=True):
        own = runs[runs["method"] == method]
        names = [path for path in paths if path in set(own["path"])]
        for row, path in enumerate(names):
            values = own.loc[own["path"] == path, value].astype(float) / scale
            _forest_row(axis, row, list(values), by_key.get((path, method)), scale)
        axis.set_yticks(range(len(names)), names)
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
        chosen = runs[value] if shared else runs.loc[runs["method"] == method, value]
        logarithmic = _scale_values(axis, chosen.astype(float) / scale)
        if axis is axes[-1] or not shared:
            axis.set_xlabel(label + (" (log)" if logarithmic else ""))
    level = f"{100 * estimates[0].confidence:g} %" if estimates else ""
    several = any(not each.refused for each in estimates)
    caption = f"{what.capitalize()} by path and method; a dot is a run. " + (
        f"Bar: {level} interval of the path's typical run (t on logarithms of run values)."
        if several
        else "No path was measured twice with one method, so there is no interval: a second run may fall elsewhere."
    )
    if expected is not None:
        caption += f" Dashed: {expected / scale:g} {unit} expected of the VM."
    return Chart(figure, caption, _alt_of_runs(runs, value, scale, unit, list(estimates)))


def _scale_values(axis: Axes, values: pd.Series) -> bool:
    """A logarithmic axis where the values spread widely and none is zero, else a linear one from zero."""
    if values.min() > 0 and values.max() > 8 * values.min():
        axis.set_xscale("log")
        _plain_log_ticks(axis.xaxis)
        return True
    axis.set_xlim(left=-0.02 * axis.get_xlim()[1])
    return False


def _forest_row(axis: Axes, row: int, values: list[float], estimate: Estimate | None, scale: float) -> None:
    if estimate is not None and not estimate.refused:
        assert estimate.estimate is not None and estimate.low is not None and estimate.high is not None
        axis.plot([estimate.low / scale, estimate.high / scale], [row, row], color="#0072B2", linewidth=2.2, zorder=2)
        axis.plot(
            [estimate.estimate / scale], [row], "|", color="#0072B2", markersize=11, markeredgewidth=2.2, zorder=3
        )
    axis.plot(values, [row] * len(values), "o", color="#D55E00", markersize=4.5, markerfacecolor="none", zorder=4)


# --- throughput over time


@_styled
def throughput_series(intervals: pd.DataFrame, runs: pd.DataFrame) -> Chart | Note:
    """Throughput of each reporting interval over time, omitted ones hatched, retransmits as bars below.

    ``intervals``: the study's table; ``runs``: `azlatency.paths.throughput_runs`. At most 12 runs, the first of each
    path.
    """
    own = intervals[intervals["stream"].isna() & intervals["run_id"].isin(runs.index) & intervals["throughput"].notna()]
    chosen = runs[runs.index.isin(set(own["run_id"]))].drop_duplicates(["path", "method"]).head(_RUNS_SHOWN)
    if not len(chosen):
        return Note("No chart: no log of this study reports throughput by interval.")
    columns = min(3, len(chosen))
    rows = math.ceil(len(chosen) / columns)
    figure, axes = _figure(2 * rows, columns, _WIDTH, 2.1 * rows + 0.4, gridspec_kw={"height_ratios": [3, 1] * rows})
    top = float(own.loc[own["run_id"].isin(set(chosen.index)), "throughput"].max()) / _GIGABIT
    counted = own.loc[own["run_id"].isin(set(chosen.index)), "retransmits"].dropna()
    most = max(float(counted.max()), 1.0) if len(counted) else 1.0
    alts = []
    for index, (run_id, run) in enumerate(chosen.iterrows()):
        row, column = divmod(index, columns)
        upper, lower = axes[2 * row * columns + column], axes[(2 * row + 1) * columns + column]
        table = own[own["run_id"] == run_id]
        _series_panel(upper, lower, table, top, most)
        upper.set_title(f"{run['path']}\n{run['method']}", fontsize=8.5)
        alts.append(_alt_of_series(run, table))
        if column == 0:
            upper.set_ylabel("Gbit/s")
            lower.set_ylabel("retr.")
        if row == rows - 1 or index + columns >= len(chosen):
            lower.set_xlabel("seconds")
    for index in range(len(chosen), rows * columns):
        row, column = divmod(index, columns)
        axes[2 * row * columns + column].set_visible(False)
        axes[(2 * row + 1) * columns + column].set_visible(False)
    shown = "first run of each path and method; " if len(chosen) < len(runs) else ""
    caption = (
        f"Throughput by reporting interval ({shown}above) and retransmitted segments (below). Grey: omitted by the "
        "tool. Intervals of one run are not replicates."
    )
    return Chart(figure, caption, "\n".join(alts))


def _series_panel(upper: Axes, lower: Axes, table: pd.DataFrame, top: float, most: float) -> None:
    """One run: omitted intervals are drawn before zero, where the tool's clock starts anew."""
    import pandas as pd

    ends = table.loc[table["omitted"].fillna(False).astype(bool), "end_ns"]
    omitted_end = float(ends.max()) / _SECOND if len(ends) else 0.0
    for interval in table.itertuples(index=False):
        omitted = not pd.isna(interval.omitted) and bool(interval.omitted)
        shift = -omitted_end if omitted else 0.0
        start, end = float(interval.start_ns) / _SECOND + shift, float(interval.end_ns) / _SECOND + shift
        colour = "#9A9A9A" if omitted else "#0072B2"
        upper.plot([start, end], [interval.throughput / _GIGABIT] * 2, color=colour, linewidth=2, solid_capstyle="butt")
        if not pd.isna(interval.retransmits):
            lower.bar((start + end) / 2, float(interval.retransmits), width=max(end - start, 1e-3) * 0.8, color=colour)
    upper.set_ylim(0, 1.1 * top)
    lower.set_ylim(0, 1.15 * most)
    lower.set_xlim(upper.get_xlim())
    upper.set_xticklabels([])
    lower.locator_params(axis="y", nbins=2)
    lower.yaxis.set_major_formatter("{x:,.0f}")


# --- text alternatives


def _alt_of_estimates(estimates: Sequence[Estimate], scale: float, unit: str) -> str:
    lines: dict[str, list[str]] = {}
    for each in estimates:
        assert each.estimate is not None
        low = "" if each.low is None else f"{each.low / scale:,.6g}"
        high = "∞" if each.high is None else f"{each.high / scale:,.6g}"
        title = f"{each.labels['path']}, {each.labels['method']}"
        lines.setdefault(str(each.labels["run_id"]) + title, [title + f", n = {each.n:,}:"]).append(
            f"{each.what} {each.estimate / scale:,.6g} [{low}, {high}]"
        )
    return "\n".join(parts[0] + " " + "; ".join(parts[1:]) + f" {unit}" for parts in lines.values())


def _alt_of_runs(runs: pd.DataFrame, value: str, scale: float, unit: str, estimates: list[Estimate]) -> str:
    by_key = {(each.labels["path"], each.labels["method"]): each for each in estimates}
    lines = []
    for (path, method), group in runs.groupby(["path", "method"], sort=False):
        values = ", ".join(f"{float(each) / scale:,.5g}" for each in group[value])
        line = f"{path}, {method}: {values} {unit}"
        estimate = by_key.get((path, method))
        if estimate is not None and not estimate.refused:
            assert estimate.low is not None and estimate.high is not None and estimate.estimate is not None
            low, high = estimate.low / scale, estimate.high / scale
            line += f"; typical {estimate.estimate / scale:,.5g} [{low:,.5g}, {high:,.5g}]"
        lines.append(line)
    return "\n".join(lines)


def _alt_of_series(run: Any, table: pd.DataFrame) -> str:
    kept = table[~table["omitted"].fillna(False).astype(bool)]
    rates = ", ".join(f"{rate / _GIGABIT:.3g}" for rate in kept["throughput"])
    retransmits = kept["retransmits"].dropna()
    total = f"; retransmits {int(retransmits.sum()):,}" if len(retransmits) else ""
    return f"{run['path']}, {run['method']}: {rates} Gbit/s{total}"
