"""Throughput over time."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from azlatency.report.charts.axes import stretches
from azlatency.report.charts.base import GIGABIT, SECOND, new_figure, side_by_side, sizes, styled
from azlatency.report.charts.palette import ESTIMATE, GREY, INK, RANGE
from azlatency.report.charts.titles import RATES, by_method, extremes
from azlatency.report.charts.truth import configured
from azlatency.report.objects import Chart, Note

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

_RUNS_SHOWN = 12
#: Most intervals of a run that are drawn individually.
_INTERVALS = 300


@styled
def throughput_series(intervals: pd.DataFrame, runs: pd.DataFrame) -> Chart | Note:
    """Draw the throughput of each reporting interval over time, with retransmitted segments below.

    Parameters
    ----------
    intervals : DataFrame
        The study's table of intervals.
    runs : DataFrame
        One row per run with a throughput. At most 12 runs are drawn, the first of each path and method.

    Returns
    -------
    Chart or Note
        The chart, or a note with the reason where there is nothing to draw.
    """
    reported = intervals[
        intervals["stream"].isna() & intervals["run_id"].isin(runs.index) & intervals["throughput"].notna()
    ]
    chosen = runs[runs.index.isin(set(reported["run_id"]))].drop_duplicates(["path", "method"]).head(_RUNS_SHOWN)
    if not len(chosen):
        return Note("No chart: no log of this study reports throughput by interval.")
    columns = side_by_side(3, len(chosen))
    rows = math.ceil(len(chosen) / columns)
    figure, axes = new_figure(2 * rows, columns, 2.1 * rows + 0.4, gridspec_kw={"height_ratios": [3, 1] * rows})
    rates = [configured().rate.get(str(path), 0.0) / GIGABIT for path in chosen["path"]]
    of_chosen = reported[reported["run_id"].isin(set(chosen.index))]
    top = max(0.0, *rates, float(of_chosen["throughput"].max()) / GIGABIT)
    counted = of_chosen["retransmits"].dropna()
    most = max(float(counted.max()), 1.0) if len(counted) else 1.0
    alts = []
    for index, (run_id, run) in enumerate(chosen.iterrows()):
        row, column = divmod(index, columns)
        upper, lower = axes[2 * row * columns + column], axes[(2 * row + 1) * columns + column]
        table = reported[reported["run_id"] == run_id]
        _series_panel(upper, lower, table, top, most)
        if rate := configured().rate.get(str(run["path"])):
            upper.axhline(rate / GIGABIT, color=INK, linewidth=1, linestyle=":")
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
    counts = [int(count) for count in of_chosen["run_id"].value_counts()]
    shown = "first run of each path and method; " if len(chosen) < len(runs) else ""
    caption = (
        f"Throughput by reporting interval ({shown}above) and retransmitted segments (below)."
        + (" Grey: omitted by the tool." if of_chosen["omitted"].fillna(False).any() else "")
        + (" Dotted: configured rate of the emulated link." if any(rates) else "")
        + f" Intervals of one run are not replicates; {sizes(counts, 'intervals per run')}."
    )
    if max(counts) > _INTERVALS:
        caption += (
            f" Runs of more than {_INTERVALS} intervals show the range and median of each time bin, without omitted "
            "intervals."
        )
    middle = of_chosen[~of_chosen["omitted"].fillna(False).astype(bool)].groupby("run_id")["throughput"].median()
    values = [(str(chosen.loc[key, "method"]), str(chosen.loc[key, "path"]), float(v)) for key, v in middle.items()]
    method, by_path = by_method(values)
    title = extremes("typical interval", by_path, "bit/s", method, RATES)
    return Chart(figure, caption, "\n".join(alts), title=title)


def _series_panel(upper: Axes, lower: Axes, table: pd.DataFrame, top: float, most: float) -> None:
    """Draw one run; omitted intervals lie before zero, where the tool restarts its clock."""
    import pandas as pd

    lower.set_ylim(0, 1.15 * most)
    ends = table.loc[table["omitted"].fillna(False).astype(bool), "end_ns"]
    omitted_end = float(ends.max()) / SECOND if len(ends) else 0.0
    if len(table) > _INTERVALS:
        _thinned_panel(upper, lower, table)
        table = table.iloc[:0]
    for interval in table.itertuples(index=False):
        omitted = not pd.isna(interval.omitted) and bool(interval.omitted)
        shift = -omitted_end if omitted else 0.0
        start, end = float(interval.start_ns) / SECOND + shift, float(interval.end_ns) / SECOND + shift
        colour = GREY if omitted else ESTIMATE
        upper.plot([start, end], [interval.throughput / GIGABIT] * 2, color=colour, linewidth=2, solid_capstyle="butt")
        if not pd.isna(interval.retransmits):
            lower.bar((start + end) / 2, float(interval.retransmits), width=max(end - start, 1e-3) * 0.8, color=colour)
    upper.set_ylim(0, 1.1 * top)
    lower.set_xlim(upper.get_xlim())
    upper.set_xticklabels([])
    lower.locator_params(axis="y", nbins=2)
    lower.yaxis.set_major_formatter("{x:,.0f}")


def _thinned_panel(upper: Axes, lower: Axes, table: pd.DataFrame) -> None:
    """Draw a run of many intervals: range, median and retransmits of each time bin."""
    import numpy as np

    kept = table[~table["omitted"].fillna(False).astype(bool)]
    ends = kept["end_ns"].to_numpy(dtype="float64") / SECOND
    edges = np.linspace(float(kept["start_ns"].min()) / SECOND, float(ends.max()), _INTERVALS // 2 + 1)
    places = np.clip(np.searchsorted(edges, ends, side="left") - 1, 0, len(edges) - 2)
    middle, low, median, high = stretches(edges, places, kept["throughput"].to_numpy(dtype="float64") / GIGABIT)
    upper.fill_between(middle, low, high, color=RANGE, linewidth=0, step="mid")
    upper.plot(middle, median, color=ESTIMATE, linewidth=1.1)
    upper.set_xlim(edges[0], edges[-1])
    counts = np.bincount(places, kept["retransmits"].to_numpy(dtype="float64", na_value=0.0), len(edges) - 1)
    lower.stairs(counts, edges, fill=True, color=ESTIMATE)
    lower.set_ylim(0, max(lower.get_ylim()[1], 1.15 * float(counts.max())))


def _alt_of_series(run: Any, table: pd.DataFrame) -> str:
    kept = table[~table["omitted"].fillna(False).astype(bool)]
    shown = kept["throughput"] if len(kept) <= _INTERVALS else kept["throughput"].quantile([0, 0.5, 1])
    rates = ", ".join(f"{rate / GIGABIT:.3g}" for rate in shown)
    if len(kept) > _INTERVALS:
        rates = f"{len(kept):,} intervals, smallest, median and largest {rates}"
    retransmits = kept["retransmits"].dropna()
    total = f"; retransmits {int(retransmits.sum()):,}" if len(retransmits) else ""
    return f"{run['path']}, {run['method']}: {rates} Gbit/s{total}"
