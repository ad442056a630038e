"""Transfers over time, which pages 02 and 07 and the summary share: their rates, and falls of these."""

from __future__ import annotations

import math

import pandas as pd

from azlatency.kit.cells import GIGABITS, PERCENT, Row, RunsRef, Table, Unit
from azlatency.kit.drawing import draw
from azlatency.kit.objects import Chart, Note
from azlatency.kit.table import count, ends, flags, number, table, text
from azlatency.kit.titles import by_method, extremes, span
from azlatency.pages.common import ordered, truths
from azlatency.shapes.course import course
from azlatency.shapes.forest import forest
from azlatency.stats.across_runs.main_method import measured_runs
from azlatency.stats.within_run.time_series import by_burst, falling
from azlatency.studies.emulation import NOT_EMULATED
from azlatency.studies.format import duration, format_number, format_value, one_prefix, plain
from azlatency.studies.runs.groups import grouped

_NS = 1e9
#: A fall after this share of a transfer is drawn from so many seconds before it: it would be a line at the edge.
_LATE, _BEFORE_FALL_S = 0.9, 50
#: Fewest intervals of a transfer that show a course, most transfers drawn, and most paths that a title names.
_FEWEST_INTERVALS, _MOST_TRANSFERS, _MOST_NAMED = 3, 12, 4


def falls_in(rates: pd.DataFrame) -> tuple[RunsRef, ...]:
    """Return where the logs of transfers print their fall."""
    return tuple(
        RunsRef((str(run_id),), "intervals", None if pd.isna(line) else int(line))
        for run_id, line in zip(rates["run_ids"], rates["line"], strict=True)
    )


def falls_by_path(rates: pd.DataFrame) -> Chart | Note:
    """Draw after how many minutes the rate of each run fell, by path, and the rate afterwards."""
    fallen, tested = falling(rates)
    if len(fallen) < 2:
        return Note("No chart: the rate of fewer than two runs fell.")
    usual, others = by_burst(fallen)
    runs = pd.concat(
        of_start.assign(panel=f"started at {span(of_start['burst_rate'], 'bit/s', digits)}")
        for of_start, digits in ((usual, 2), (others, 3))
        if len(of_start)
    )
    rows = runs.groupby(["panel", "path"], sort=False, as_index=False).agg(
        at_s=("at_s", "median"), sustained=("sustained_rate", "median"), n=("at_s", "size")
    )
    like = one_prefix(rows["sustained"], "bit/s")
    rows = rows.assign(
        low=math.nan,
        high=math.nan,
        then=[f"then {format_value(rate, 'bit/s', like=like)}" for rate in rows["sustained"]],
    ).sort_values("at_s", kind="stable")
    typical = usual.groupby("path")["at_s"].median().sort_values(kind="stable")
    title = f"{len(fallen)} of {len(tested)} rates fall"
    if len(typical) <= _MOST_NAMED:
        those = f"{len(usual)} that start at {span(usual['burst_rate'], 'bit/s', 2)} " if len(others) else ""
        title += f": {those}after {', '.join(f'{duration(_NS * at)} ({path})' for path, at in typical.items())}"
    return forest(
        ordered(rows, "panel", runs["panel"]),
        "at_s",
        low="low",
        high="high",
        panel="panel",
        row="path",
        points=runs,
        edge="then",
        unit=Unit(60.0, "min"),
        xlabel="minutes until the rate falls",
        caption=draw.caption(
            "Each dot is a transfer: the time until its rate fell, and stayed low until its log ends. Tick: the "
            "median. Right: the median rate afterwards.",
            (f"{len(tested) - len(fallen)} of {len(tested)} transfers did not fall.", len(fallen) < len(tested)),
        ),
        ordering="The first to fall on top.",
        counted="transfers per path",
        result=title,
        name="falls_by_path",
    )


def throughput_series(
    intervals: pd.DataFrame, runs: pd.DataFrame, rates: pd.DataFrame | None = None, links: pd.DataFrame = NOT_EMULATED
) -> Chart | Note:
    """Draw the throughput of each interval over time, with retransmits below, and mark falls of the rate.

    Of each path and method the first run whose rate fell is drawn, else the first. ``rates``: what
    `azlatency.stats.time_series.throughput_series` returns.
    """
    reported = intervals[
        intervals["stream"].isna() & intervals["run_id"].isin(runs.index) & intervals["throughput_bit_s"].notna()
    ]
    counts = reported["run_id"].value_counts()
    fallen = pd.DataFrame({"run_ids": [], "at_s": []}) if rates is None else rates[rates["burst_rate"].notna()]
    long = runs[runs.index.isin(counts[counts >= _FEWEST_INTERVALS].index)]
    in_order = long.sort_index(key=lambda run_ids: ~run_ids.isin(fallen["run_ids"]), kind="stable")
    chosen = in_order.drop_duplicates(["path", "method"])
    if chosen.empty:
        return Note(f"No chart: no log of this study reports throughput in {_FEWEST_INTERVALS} intervals or more.")
    whole = _on_one_clock(reported[reported["run_id"].isin(chosen.index)])
    true_rates = truths(links, "throughput_bit_s")
    falls = fallen[fallen["run_ids"].isin(chosen.index[:_MOST_TRANSFERS])]
    late = falls[falls["at_s"] > _LATE * falls["seconds"]] if len(falls) else falls
    starts = late.set_index("run_ids")["at_s"].sub(_BEFORE_FALL_S).reindex(whole["run_id"]).to_numpy(dtype="float64")
    drawn = whole[~(whole["start_s"] < starts)]
    return course(
        drawn,
        "throughput_bit_s",
        panel="run_id",
        start="start_s",
        end="end_s",
        muted="omitted",
        below="retransmits",
        below_label="retransmits",
        panels=chosen.assign(
            panel=chosen["path"].astype(str) + ", " + chosen["method"].astype(str),
            truth=chosen["path"].astype(str).map(true_rates).astype(float),
        ),
        heading="panel",
        truth="truth",
        changes=falls.assign(
            run_id=falls["run_ids"],
            at=falls["at_s"],
            at_low=math.nan,
            at_high=math.nan,
            text=[_fall_words(row) for row in falls.to_dict("records")],
        ),
        unit=GIGABITS,
        beside=3,
        most=_MOST_TRANSFERS,
        result=_title_of_intervals(whole, chosen, falls, rates),
        caption=draw.caption(
            "Throughput by reporting interval; below: retransmitted segments, if any.",
            (
                f"Of each path and method the first run is drawn{' whose rate falls' * bool(len(falls))}.",
                len(chosen) < len(runs),
            ),
            ("Dashed: the rate falls and stays low.", len(falls)),
            (f"Of a rate that falls near the end, the time from {_BEFORE_FALL_S} s before is drawn.", len(late)),
            ("Dotted line: configured rate of the emulated link.", true_rates),
            "Intervals of one run are not replicates.",
        ),
        counted="intervals per run",
        of="paths and methods",
        name="throughput_series",
    )


def _on_one_clock(intervals: pd.DataFrame) -> pd.DataFrame:
    """Return start and end of intervals in s; omitted ones lie before zero, after which the tool restarts its clock."""
    omitted = intervals["omitted"].fillna(False).astype(bool)
    ends_of_omitted = intervals[omitted].groupby("run_id")["end_ns"].max()
    shift = intervals["run_id"].map(ends_of_omitted).fillna(0).astype(float).where(omitted, 0.0)
    return intervals.assign(
        omitted=omitted,
        start_s=(intervals["start_ns"].astype(float) - shift) / _NS,
        end_s=(intervals["end_ns"].astype(float) - shift) / _NS,
        retransmits=intervals["retransmits"].astype("Float64").astype(float),
    )


def _title_of_intervals(
    drawn: pd.DataFrame, chosen: pd.DataFrame, falls: pd.DataFrame, rates: pd.DataFrame | None
) -> str:
    """Say how many rates fall, with an example, or from where to where the median rates of their intervals reach."""
    if rates is not None and len(falls):
        fallen, tested = falling(rates)
        shown = falls[falls["run_ids"].isin(fallen["run_ids"])]
        if len(shown):
            most = shown.loc[(shown["sustained_rate"] / shown["burst_rate"]).idxmin()].to_dict()
            return (
                f"The rate falls in {plain(len(fallen))} of {plain(len(tested))} runs; for example {_fall_words(most)}"
            )
    middle = grouped(drawn[~drawn["omitted"]], "run_id")["throughput_bit_s"].median().sort_index().astype(float)
    method, by_path = by_method(zip(measured_runs(chosen.loc[middle.index]), middle, strict=True))
    length = float((drawn["end_s"] - drawn["start_s"]).median())
    each = "one-second" if round(length, 1) == 1 else f"{plain(length, 2)}-second"
    return extremes(f"median {each} rate of a single run", by_path, "bit/s", method)


def _fall_words(rate: Row) -> str:
    """Say from which to which rate a run fell, and when."""
    ends_of_fall = rate["burst_rate"], rate["sustained_rate"]
    before, after = (format_value(end, "bit/s", like=one_prefix(ends_of_fall, "bit/s")) for end in ends_of_fall)
    return f"{rate['path']}, from {before} to {after} after {plain(rate['at_s'])} s"


def rates_in_time(rates: pd.DataFrame) -> Table | Note:
    """Return each transfer in time."""
    if rates.empty:
        return Note("No log of this study reports throughput by interval.")
    columns = {
        "run": text("name"),
        "intervals": count("intervals"),
        "duration": number("seconds", ",.0f", Unit(1.0, "s")),
        "rate": number("estimate", ",.3f", GIGABITS),
        "interval": ends("low", "high", ",.3f", GIGABITS),
        "sd ÷ mean": number("spread", ".1f", PERCENT),
        "falls": text(_falls),
        "flags": flags(),
    }
    return table(rates, "Throughput over time (scope: within run)", columns, value="intervals")


def _falls(rate: Row) -> str:
    if pd.isna(rate["found"]):
        return "too few to test"
    return f"after {format_number(rate['at_s'], 0)} s" if rate["found"] else "no"
