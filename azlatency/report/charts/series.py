"""Throughput over time."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from azlatency.kit.drawing import draw
from azlatency.kit.drawing.axes import stretches
from azlatency.kit.drawing.base import GIGABIT, SECOND, new_figure, side_by_side, sizes, styled, tip
from azlatency.kit.drawing.palette import ESTIMATE, GREY, INK, RANGE, RUN
from azlatency.kit.drawing.truth import configured
from azlatency.kit.objects import Chart, Note
from azlatency.kit.titles import by_method, extremes
from azlatency.stats.across_runs.main_method import measured_runs
from azlatency.stats.within_run.throttling import Throttling
from azlatency.stats.within_run.time_series import ThroughputSeries, falling
from azlatency.studies.format import format_value, one_prefix, plain
from azlatency.studies.runs.groups import grouped

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

_RUNS_SHOWN = 12
#: Most intervals of a run that are drawn individually.
_INTERVALS = 300
#: Fewest intervals of a run that show a course.
_FEWEST = 3


@styled
def throughput_series(
    intervals: pd.DataFrame, runs: pd.DataFrame, rates: Sequence[ThroughputSeries] = ()
) -> Chart | Note:
    """Draw the throughput of each reporting interval over time, with retransmitted segments below.

    Parameters
    ----------
    intervals : DataFrame
        The study's table of intervals.
    runs : DataFrame
        One row per run with a throughput. At most 12 runs are drawn: of each path and method the first one whose rate
        fell, else the first.
    rates : sequence of ThroughputSeries
        As `azlatency.stats.time_series.throughput_series` returns them: falls of the rate are marked.

    Returns
    -------
    Chart or Note
        The chart, or a note with the reason where there is nothing to draw.
    """
    reported = intervals[
        intervals["stream"].isna() & intervals["run_id"].isin(runs.index) & intervals["throughput_bit_s"].notna()
    ]
    counts_of = reported["run_id"].value_counts()
    long = set(counts_of[counts_of >= _FEWEST].index)
    falls = {rate.run_id: rate.throttled for rate in rates if rate.throttled.burst_rate is not None}
    fallen_first = runs[runs.index.isin(long)].sort_index(key=lambda run_ids: ~run_ids.isin(falls), kind="stable")
    chosen = fallen_first.drop_duplicates(["path", "method"]).head(_RUNS_SHOWN)
    if not len(chosen):
        return Note(f"No chart: no log of this study reports throughput in {_FEWEST} intervals or more.")
    columns = side_by_side(3, len(chosen))
    rows = math.ceil(len(chosen) / columns)
    truths = [configured().rate.get(str(path), 0.0) / GIGABIT for path in chosen["path"]]
    of_chosen = reported[reported["run_id"].isin(set(chosen.index))]
    top = max(0.0, *truths, float(of_chosen["throughput_bit_s"].max()) / GIGABIT)
    counted = of_chosen["retransmits"].dropna()
    any_lost = bool((counted > 0).any())
    heights = [3, 1] if any_lost else [3]
    figure, axes = new_figure(
        len(heights) * rows,
        columns,
        (2.1 if any_lost else 1.7) * rows + 0.4,
        gridspec_kw={"height_ratios": heights * rows},
    )
    alts = []
    for index, (run_id, run) in enumerate(chosen.iterrows()):
        row, column = divmod(index, columns)
        upper, *lower = axes[len(heights) * row * columns + column :: columns][: len(heights)]
        table = reported[reported["run_id"] == run_id]
        _rates_panel(upper, table, top)
        if lower:
            _retransmits_panel(upper, lower[0], table, float(counted.max()))
        if rate := configured().rate.get(str(run["path"])):
            upper.axhline(rate / GIGABIT, color=INK, linewidth=1, linestyle=":")
        if (fall := falls.get(str(run_id))) and fall.at_s is not None:
            tip(upper.axvline(fall.at_s, color=RUN, linewidth=1.2, linestyle="--"), fall_words(str(run["path"]), fall))
        upper.set_title(f"{run['path']}\n{run['method']}", fontsize=8.5)
        alts.append(_alt_of_series(run, table))
        if column == 0:
            upper.set_ylabel("Gbit/s")
            for axis in lower:
                axis.set_ylabel("retr.")
        if row == rows - 1 or index + columns >= len(chosen):
            (lower or [upper])[0].set_xlabel("seconds")
    for index in range(len(chosen), rows * columns):
        row, column = divmod(index, columns)
        for axis in axes[len(heights) * row * columns + column :: columns][: len(heights)]:
            axis.set_visible(False)
    counts = [int(count) for count in of_chosen["run_id"].value_counts()]
    fallen, tested = falling(rates)
    shown_falls = [rate for rate in fallen if rate.run_id in chosen.index]
    which = "the first run whose rate falls, if one does" if shown_falls else "the first run"
    shown = f", of each path and method {which}" if len(chosen) < len(runs) else ""
    below = " (above) and retransmitted segments (below)" if any_lost else "; no retransmits" if len(counted) else ""
    binned = (
        f"Runs of more than {_INTERVALS} intervals show the range and median of each time bin, without omitted "
        "intervals."
    )
    caption = draw.caption(
        f"Throughput by reporting interval{shown}{below}.",
        ("Dotted and hollow: omitted by the tool.", of_chosen["omitted"].fillna(False).any()),
        ("Dotted: configured rate of the emulated link.", any(truths)),
        ("Dashed: the rate falls and stays low.", shown_falls),
        f"Intervals of one run are not replicates; {sizes(counts, 'intervals per run')}.",
        (binned, max(counts) > _INTERVALS),
    )
    middle = (
        grouped(of_chosen[~of_chosen["omitted"].fillna(False).astype(bool)], "run_id")["throughput_bit_s"]
        .median()
        .sort_index()
    )
    method, by_path = by_method(zip(measured_runs(chosen.loc[middle.index]), middle.astype(float), strict=True))
    title = extremes("median interval of a single run", by_path, "bit/s", method)
    if shown_falls:
        most = min(shown_falls, key=lambda rate: _left(rate.throttled))
        example = fall_words(most.path, most.throttled)
        title = f"The rate falls in {len(fallen):,} of {len(tested):,} runs; for example {example}"
    return Chart(figure, caption, "\n".join(alts), title=title)


def _left(fall: Throttling) -> float:
    """Return the part of the rate that is left after a fall."""
    return (fall.sustained_rate or 0.0) / (fall.burst_rate or 1.0)


def fall_words(path: str, fall: Throttling) -> str:
    """Say from which to which rate a run fell, and when."""
    rates = fall.burst_rate or 0.0, fall.sustained_rate or 0.0
    before, after = (format_value(rate, "bit/s", like=one_prefix(rates, "bit/s")) for rate in rates)
    return f"{path}, from {before} to {after} after {plain(fall.at_s)} s"


def _clock(table: pd.DataFrame) -> tuple[Any, Any, Any]:
    """Return start and end of each interval in s, and whether it was omitted; those lie before zero.

    The tool restarts its clock after the omitted intervals.
    """
    omitted = table["omitted"].fillna(False).astype(bool)
    ends = table.loc[omitted, "end_ns"]
    shift = omitted * (float(ends.max()) / SECOND if len(ends) else 0.0)
    return table["start_ns"].astype(float) / SECOND - shift, table["end_ns"].astype(float) / SECOND - shift, omitted


def _rates_panel(axis: Axes, table: pd.DataFrame, top: float) -> None:
    """Draw the rate of each interval, or range and median of time bins where they are many."""
    if len(table) > _INTERVALS:
        edges, places, kept = _bins(table)
        middle, low, median, high = stretches(
            edges, places, kept["throughput_bit_s"].to_numpy(dtype="float64") / GIGABIT
        )
        axis.fill_between(middle, low, high, color=RANGE, linewidth=0, step="mid")
        axis.plot(middle, median, color=ESTIMATE, linewidth=1.1)
        axis.set_xlim(edges[0], edges[-1])
    else:
        for start, end, omitted, rate in zip(
            *_clock(table), table["throughput_bit_s"].astype(float) / GIGABIT, strict=True
        ):
            look = (GREY, ":") if omitted else (ESTIMATE, "-")
            axis.plot([start, end], [rate, rate], look[1], color=look[0], linewidth=2, solid_capstyle="butt")
    axis.set_ylim(0, 1.1 * top)


def _retransmits_panel(upper: Axes, axis: Axes, table: pd.DataFrame, most: float) -> None:
    """Draw the retransmitted segments of each interval, or of time bins, below the rates."""
    if len(table) > _INTERVALS:
        edges, places, kept = _bins(table)
        counts = np.bincount(places, kept["retransmits"].to_numpy(dtype="float64", na_value=0.0), len(edges) - 1)
        axis.stairs(counts, edges, fill=True, color=ESTIMATE)
        most = max(most, float(counts.max()))
    else:
        segments = table["retransmits"].to_numpy(dtype="float64", na_value=np.nan)
        for start, end, omitted, count in zip(*_clock(table), segments, strict=True):
            inside, edge = ("none", GREY) if omitted else (ESTIMATE, ESTIMATE)
            if not np.isnan(count):
                axis.bar((start + end) / 2, count, width=max(end - start, 1e-3) * 0.8, color=inside, edgecolor=edge)
    axis.set_ylim(0, 1.15 * max(most, 1.0))
    axis.set_xlim(upper.get_xlim())
    upper.set_xticklabels([])
    axis.locator_params(axis="y", nbins=2)
    axis.yaxis.set_major_formatter("{x:,.0f}")


def _bins(table: pd.DataFrame) -> tuple[Any, Any, pd.DataFrame]:
    """Return the edges of time bins in s, the bin of each interval that was not omitted, and these intervals."""
    kept = table[~table["omitted"].fillna(False).astype(bool)]
    ends = kept["end_ns"].to_numpy(dtype="float64") / SECOND
    edges = np.linspace(float(kept["start_ns"].min()) / SECOND, float(ends.max()), _INTERVALS // 2 + 1)
    return edges, np.clip(np.searchsorted(edges, ends, side="left") - 1, 0, len(edges) - 2), kept


def _alt_of_series(run: Any, table: pd.DataFrame) -> str:
    kept = table[~table["omitted"].fillna(False).astype(bool)]
    shown = kept["throughput_bit_s"] if len(kept) <= _INTERVALS else kept["throughput_bit_s"].quantile([0, 0.5, 1])
    rates = ", ".join(plain(rate / GIGABIT) for rate in shown)
    if len(kept) > _INTERVALS:
        rates = f"{len(kept):,} intervals, smallest, median and largest {rates}"
    retransmits = kept["retransmits"].dropna()
    total = f"; retransmits {int(retransmits.sum()):,}" if len(retransmits) else ""
    return f"{run['path']}, {run['method']}: {rates} Gbit/s{total}"
