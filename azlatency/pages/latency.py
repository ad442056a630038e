"""How long does a round trip take on each path? Tables, charts and findings of page 01."""

from __future__ import annotations

import math
from statistics import median
from typing import TYPE_CHECKING

import pandas as pd

from azlatency.kit.cells import MICROSECONDS, P_VALUE, Column, Ref, Row, RunsRef, Table, is_missing
from azlatency.kit.cells import text as words_of
from azlatency.kit.drawing import draw
from azlatency.kit.drawing.base import MOST_PANELS, few_of_each
from azlatency.kit.drawing.palette import HUES, pair_of, told_apart
from azlatency.kit.findings import act, answer, has_flag, hidden_levels, info, join_by_method, measured_once
from azlatency.kit.groups import answer_of
from azlatency.kit.objects import Chart, Finding, Findings, Note
from azlatency.kit.table import cited, count, flags, number, p_value, table, text
from azlatency.kit.titles import by_method, extremes
from azlatency.kit.units import read_in
from azlatency.kit.words import PRINTED
from azlatency.pages.common import PERCENTILE, percentile_table, typical_runs
from azlatency.shapes.curves import MOST_WITH_BARS, curves
from azlatency.shapes.density import density
from azlatency.shapes.series import series
from azlatency.stats.across_runs.main_method import Measured, measured_runs, rank_methods
from azlatency.stats.across_runs.path_differences import path_differences
from azlatency.stats.across_runs.run_order import FEWEST, LEVEL
from azlatency.stats.across_runs.run_values import run_values, value_column
from azlatency.stats.within_run.histograms import METHOD
from azlatency.studies.emulation import NOT_EMULATED, sums_of_both_directions
from azlatency.studies.format import count_of, format_number, format_value, percent, percentile, plain
from azlatency.studies.runs.left_out import has_complete_repeat
from azlatency.studies.runs.path import NetworkPath
from azlatency.studies.runs.selection import is_window

if TYPE_CHECKING:
    from azlatency.stats.within_run.distribution_shape import RunHistograms
    from azlatency.studies.store.study import Study

_UNSUPPORTED = ("tail_unresolved", "unbounded_upper", "maximum_in_disguise")
#: Most runs of a panel of percentiles, and of the distributions.
_MOST_CURVES, _MOST_SHAPES = 60, 36
#: Levels that a title speaks of.
_TITLED = (0.5, 0.75, 0.9, 0.95, 0.99)


# --- the typical run of each path


def paths(runs: pd.DataFrame, typical: pd.DataFrame) -> Table | Note:
    """Return the typical RTT of each path and method, its interval, and the range of the runs' medians or means.

    ``typical``: `azlatency.summarize` of one of these columns of ``runs``.
    """
    if typical.empty:
        return Note("No log of this study prints a latency.")
    value = typical["value"].iloc[0]
    name = f"{value.removesuffix('_ns')} RTT per {'window' if is_window(runs).all() else 'run'}"
    return typical_runs(runs, typical, value, name, "Typical RTT by path")


# --- whether runs depend on each other


def runs_in_order(typical: pd.DataFrame) -> Table | Note:
    """Return whether neighbouring runs of each path depend on each other; ``typical`` as `summarize` returns it."""
    tested = typical[typical["lag1_p"].notna()].sort_values("lag1_p", kind="stable")
    if tested.empty:
        return Note(
            "No path has six runs whose order is known, so dependence between runs cannot be tested. Every interval "
            "across runs assumes independent runs."
        )
    columns = {
        "path": text("path", names_row=True),
        "method": text("method", names_row=True),
        "runs": count("n"),
        "lag-1 autocorrelation": number("lag1", ".2f"),
        "p, permutation test": p_value("lag1_p"),
        "flags": flags(),
    }
    notes = [
        f"A p of at most {plain(LEVEL)}: consecutive runs are autocorrelated. Ten runs with an autocorrelation of 0.5 "
        "are mostly not found, so a large p does not show that runs are independent."
    ]
    return table(tested, "Runs in the order of measuring (scope: across runs)", columns, notes, value="typical")


def order_of_runs(runs: pd.DataFrame, typical: pd.DataFrame, links: pd.DataFrame = NOT_EMULATED) -> Chart | Note:
    """Draw the run values of each path in the order of measuring, those most like their neighbours first.

    ``links``: what an emulated network is configured to, here and below.
    """
    tested = typical[typical["lag1_p"].notna()]
    dependent = has_flag(tested, "dependent_runs")
    tested = tested.assign(independent=~dependent).sort_values(["independent", "lag1_p"], kind="stable")
    if tested.empty:
        return Note("No chart: no path has six runs that differ and whose order is known.")
    points = pd.concat([_in_order(runs, row) for row in tested.to_dict("records")], ignore_index=True)
    points = points.assign(truth=points["path"].map(sums_of_both_directions(links)).astype(float))
    caption = (
        "Each dot is one run; line: their median. r: lag-1 autocorrelation, with the p-value of its permutation test."
    )
    if points["truth"].notna().any():
        caption += " Dotted: configured round-trip delay of the emulated link."
    return series(
        points,
        "value",
        panel="what",
        note="note",
        truth="truth",
        unit="unit",
        result=f"Consecutive runs are autocorrelated in {dependent.sum()} of {len(tested)} series",
        caption=caption,
        counted="runs",
        of="series, those with the smallest p",
        name="order_of_runs",
    )


def _in_order(runs: pd.DataFrame, row: Row) -> pd.DataFrame:
    """Return the runs of a path and method in the order of measuring, with their median and the result of the test."""
    of_method = runs[(runs["method"] == row["method"]) & ~has_complete_repeat(runs)]
    column = value_column(of_method)
    of_path = of_method[(of_method["path"] == row["path"]) & of_method[column].notna()]
    found = pd.DataFrame({"value": run_values(of_path, column).values})
    return found.assign(
        what=row["what"],
        level=found["value"].median(),
        note=f"r = {format_number(row['lag1'], 2)}, p = {P_VALUE.text(row['lag1_p'], 1.0)}".replace("= <", "<"),
        path=row["path"],
        unit=[read_in(row["unit"])] * len(found),
    )


# --- percentiles of single runs


def percentile_curves(
    quantiles: pd.DataFrame, links: pd.DataFrame = NOT_EMULATED, *, samples: bool = False
) -> Chart | Note:
    """Draw percentiles as curves, one per run; those of ``samples`` have the band of their intervals.

    ``quantiles``: as `azlatency.stats.printed_quantiles` or `azlatency.quantiles` return them.
    """
    # A percentile printed as 0 has no place on a logarithmic axis; the table shows it.
    drawn = quantiles[quantiles["estimate"] > 0]
    if drawn.empty:
        has = "contains samples that resolve a percentile" if samples else "prints percentiles"
        return Note(f"No chart: no log of this study {has}.")
    sizes = _sizes_of_paths(drawn)
    runs = drawn.drop_duplicates("run_id")
    kept = runs[runs["path"].isin(told_apart(sizes))]
    per_method = kept["method"].value_counts(sort=False)
    chosen = per_method.sort_values(ascending=False, kind="stable").index[:MOST_PANELS]
    methods = per_method.index[per_method.index.isin(chosen)]
    kept = pd.concat([few_of_each(kept[kept["method"] == name], "path", "n", _MOST_CURVES) for name in methods])
    left = f"Shown: {len(kept)} of {len(runs)} runs, of as many pairs as there are colours; the table lists all."
    shown = drawn[drawn["run_id"].isin(kept["run_id"])]
    title, first = _percentile_title(shown)
    shown = shown.sort_values("method", key=lambda names: names != first, kind="stable")
    shown = shown.assign(
        is_maximum=has_flag(shown, "maximum_in_disguise"),
        truth=shown["path"].map(sums_of_both_directions(links)).astype(float),
    )
    return curves(
        shown,
        "estimate",
        panel="method",
        line="run_id",
        colour="path",
        band=samples,
        hollow="is_maximum",
        truth="" if samples else "truth",
        result=title,
        caption=draw.caption(
            (_sampled_caption if samples else _printed_caption)(shown, kept), (left, len(kept) < len(runs))
        ),
        name="percentile_curves",
    )


def _at_titled_level(drawn: pd.DataFrame) -> tuple[pd.DataFrame, str, dict[str, float]]:
    """Return the runs at p99, or at the highest usual level below it that is not rare.

    Also return the method that says most about all paths, and its value on each path.
    """
    supported = drawn[~has_flag(drawn, "maximum_in_disguise") & drawn["q"].isin(_TITLED)]
    levels = supported["q"].value_counts()
    runs = supported[supported["q"] == levels.index[2 * levels >= levels.max()].max()]
    method, by_path = by_method(
        (Measured(str(run["method"]), str(run["path"]), packets=run["n"]), run["estimate"])
        for run in runs.to_dict("records")
    )
    return runs, method, by_path


def _sizes_of_paths(drawn: pd.DataFrame) -> dict[str, float]:
    """Return a number per path, by which paths are chosen."""
    descending = drawn.sort_values("q", ascending=False, kind="stable")
    sizes: dict[str, float] = descending.drop_duplicates("path", keep="last").set_index("path")["estimate"].to_dict()
    _, _, by_path = _at_titled_level(drawn)
    # With enough pairs of the method in the title, its longest and its shortest path are among those drawn.
    return by_path if len(set(map(pair_of, by_path))) >= len(HUES) else sizes | by_path


def _percentile_title(drawn: pd.DataFrame) -> tuple[str, str]:
    """Say from where to where the runs reach that are drawn; also return the method that this speaks of."""
    runs, method, by_path = _at_titled_level(drawn)
    if runs.empty:
        return "", ""
    q = runs["q"].iloc[0]
    values = {str(path): list(some) for path, some in runs[runs["method"] == method].groupby("path")["estimate"]}
    quantity = "median" if q == 0.5 else percentile(q)
    # The curves are of single runs, and not all runs of a path need be among them.
    found = path_differences(values) if max(map(len, values.values())) > 1 else None
    return extremes(f"{quantity} of single runs", by_path, "ns", method, ranges=values, found=found), method


def _sampled_caption(shown: pd.DataFrame, runs: pd.DataFrame) -> str:
    is_bare, confidence = runs["method"].value_counts() > MOST_WITH_BARS, percent(shown["confidence"].iloc[0])
    banded = shown[~shown["method"].map(is_bare)]
    bounded = banded[["low", "high"]].notna().all(axis=1)
    return draw.caption(
        "Round-trip percentiles of the samples, one line per run, with a mark at the median; each describes one "
        "connection.",
        (
            f"Band: pointwise {confidence} interval, corrected for the autocorrelation of the "
            f"packets; {plain(int(bounded.sum()))} of {plain(len(banded))} percentiles have one.",
            bounded.any(),
        ),
        (f"Panels of more than {MOST_WITH_BARS} runs have no bands.", bounded.any() and is_bare.any()),
    )


def _printed_caption(shown: pd.DataFrame, runs: pd.DataFrame) -> str:
    is_bare = runs["method"].value_counts() > MOST_WITH_BARS
    confidence = percent(shown["confidence"].iloc[0])
    return draw.caption(
        "Round-trip percentiles as printed, one line per run; both directions of a pair share a colour and a mark.",
        (
            f"Bars: nearest printed percentiles that enclose the {confidence} interval (a lower bound on its width: "
            "assumes independent packets); shaded: possible values between two printed percentiles.",
            not is_bare.all(),
        ),
        (
            "A level that the log does not print is the middle of its class in the log's frequency table.",
            shown["statistic"].eq(METHOD).any(),
        ),
        ("Hollow: the printed percentile is the run's maximum.", shown["is_maximum"].any()),
        ("Arrow: no upper bound.", not is_bare.all() and shown["high"].isna().any()),
        (f"Panels of more than {MOST_WITH_BARS} runs have neither bars nor shading; see the table.", is_bare.any()),
        (
            "Thick mark at the left edge: configured round-trip delay of the path's link, without jitter and without "
            "the time of the hosts.",
            shown["truth"].notna().any(),
        ),
    )


def unresolved(quantiles: pd.DataFrame) -> Table | Note:
    """Return the printed percentiles that the run cannot support."""
    shown = quantiles[has_flag(quantiles, *_UNSUPPORTED)]
    if shown.empty:
        return Note("Every printed percentile of this study is supported by its run's number of observations.")
    columns = {
        **PERCENTILE,
        "observations above it": number("above", ".3g"),
        "RTT": number("estimate", ",.3f", MICROSECONDS),
        "at least": number("low", ",.3f", MICROSECONDS, "no bound"),
        "flags": flags(),
    }
    above = shown["n"] * (1 - shown["q"])
    return percentile_table(shown.assign(above=above), "Percentiles that the log cannot support", columns)


# --- runs with samples


def run_shapes(found: RunHistograms, links: pd.DataFrame = NOT_EMULATED) -> Chart | Note:
    """Draw the share of probes of each run that were answered within a time (ECDF); one panel per method."""
    if found.runs.empty:
        return Note("No chart: no run of this study has enough samples to show a distribution.")
    finite = found.runs[found.runs["median_ns"] < math.inf]
    method, medians = by_method(
        (Measured(run["method"], run["path"], packets=run["n"]), run["median_ns"]) for run in finite.to_dict("records")
    )
    sizes = dict(zip(found.runs["path"], found.runs["median_ns"], strict=True)) | medians
    chosen = found.runs[found.runs["path"].isin(told_apart(sizes))]
    shown = few_of_each(chosen, ["method", "path"], "n", _MOST_SHAPES)
    shown = shown.assign(
        text=[_shape_in_words(run) for run in shown.to_dict("records")],
        truth=shown["path"].map(sums_of_both_directions(links)).astype(float),
    )
    points = shown.sort_values("path", kind="stable").merge(found.bins[["run_id", "high_ns", "share"]], on="run_id")
    caption = (
        "Share of the probes of each run that were answered within a time (ECDF), one line per run, which describes "
        "one connection; both directions of a pair share a colour and the mark at the median. A curve that ends below "
        "1 lost the other probes, or they lie beyond the axis."
    )
    if shown["truth"].notna().any():
        caption += " Thick mark at the bottom: configured round-trip delay of the emulated link."
    if len(shown) < len(found.runs):
        caption += f" {len(shown)} of {len(found.runs)} runs, spread evenly over the paths."
    return density(
        points,
        "high_ns",
        panel="method",
        line="run_id",
        text="text",
        colour="path",
        truth="truth",
        xlabel="round-trip time",
        result=_shape_title(shown[(shown["method"] == method) & (shown["median_ns"] < math.inf)], method),
        caption=caption,
        name="run_shapes",
    )


def _shape_title(runs: pd.DataFrame, method: str) -> str:
    """Say from where to where the medians of the drawn runs reach; the forest has the typical run of each path."""
    values = {str(path): list(medians) for path, medians in runs.groupby("path", sort=False)["median_ns"]}
    typical = {path: median(some) for path, some in values.items()}
    found = path_differences(values) if len(runs) > len(values) else None
    return extremes(f"median round trip in {count_of(len(runs), 'run')}", typical, "ns", method, values, found)


def _shape_in_words(run: Row) -> str:
    beyond = f", {plain(run['beyond'])} beyond the axis" if run["beyond"] else ""
    lost = f", {plain(run['lost'])} lost" if run["lost"] else ""
    median, p99 = (
        "lost" if math.isinf(run[name]) else f"{plain(run[name] / MICROSECONDS.scale, 5)} µs"
        for name in ("median_ns", "p99_ns")
    )
    return f"{run['path']}, {run['method']}, n = {plain(run['n'])}{lost}: median {median}, p99 {p99}{beyond}"


# --- every printed latency


def printed(study: Study, runs: pd.DataFrame) -> Table | Note:
    """Return every latency of every run that prints one; ``runs`` as `latency` returns them."""
    if runs.empty:
        return Note("No log of this study prints a latency.")
    metrics = study.metrics[study.metrics["run_id"].isin(runs.index) & study.metrics["stream"].isna()]
    quantiles = study.quantiles[study.quantiles["run_id"].isin(runs.index) & (study.quantiles["metric"] == "rtt")]
    levels = [percentile(q) for q in sorted(set(quantiles["q"].astype(float)))]
    statistics = {"mean": "rtt_mean", "sd": "rtt_sd", "min": "rtt_min"} | {name: name for name in levels}
    statistics["max"] = "rtt_max"
    rows = _printed_rows(runs, metrics, quantiles)
    rows = rows[rows[[name for name in statistics.values() if name in rows]].notna().any(axis=1)]
    silent = len(runs) - len(rows)
    samples_only = (
        f"{plain(silent)} {'run prints' if silent == 1 else 'runs print'} single observations and no statistic."
    )
    if rows.empty:
        return Note(samples_only)
    columns = {
        "run": text("name"),
        "quantity": text("quantity"),
        "unit": text("unit"),
        "n": cited(count("n"), lambda row: [RunsRef((row["run_ids"],), "n")]),
        **{header: _token(name) for header, name in statistics.items()},
    }
    notes = ["Tokens as the tool printed them, in the unit that it printed."]
    if silent:
        notes.append(f"Not listed: {samples_only}")
    if rows["maxima"].any():
        columns["maximum, not percentile"] = text("maxima")
        notes.append(
            "Maximum, not percentile: the run has too few observations for these percentiles, so the tool prints its "
            "maximum."
        )
    return table(rows, "Every printed latency", columns, notes, value="run")


def _printed_rows(runs: pd.DataFrame, metrics: pd.DataFrame, quantiles: pd.DataFrame) -> pd.DataFrame:
    """Return a row per run with a column per metric and percentile, the token, and one for its line."""
    quantiles = quantiles.assign(name=quantiles["q"].map(percentile))
    cells = pd.concat([metrics.assign(name=metrics["metric"]), quantiles.iloc[::-1]])
    cells = cells.drop_duplicates(["run_id", "name"])
    tokens, lines = (cells.pivot(index="run_id", columns="name", values=value) for value in ("printed", "line"))
    means = metrics[metrics["metric"] == "rtt_mean"].drop_duplicates("run_id").set_index("run_id")
    unresolved = quantiles[quantiles["resolved"].map(words_of) == "no"]
    rows = pd.DataFrame(
        {
            "run_ids": runs.index,
            "name": runs["name"],
            "quantity": runs["printed_as"].map(PRINTED).map(words_of),
            "unit": means["printed_unit"].reindex(runs.index).map(words_of),
            "n": runs["n"],
            "maxima": unresolved.groupby("run_id")["name"].agg(", ".join).reindex(runs.index).map(words_of),
        },
        index=runs.index,
    )
    return rows.join(tokens).join(lines.add_suffix(" line"))


def _token(name: str) -> Column:
    """Return a column of numbers as the logs print them, each with its line."""

    def source(row: Row) -> list[Ref]:
        line = row.get(f"{name} line", math.nan)
        return [] if is_missing(line) else [RunsRef((row["run_ids"],), "printed", int(line))]

    def token(row: Row) -> str:
        return words_of(row.get(name))

    return cited(text(token, "–", right=True), source)


# --- findings


def find(runs: pd.DataFrame, medians: pd.DataFrame, means: pd.DataFrame, within: pd.DataFrame) -> Findings:
    """Answer how long a round trip takes; name dependent and single runs, and percentiles that are maxima.

    ``medians``, ``means``: `azlatency.summarize` of these columns of ``runs``; a mean is used only where there is no
    median. ``within``: printed percentiles of single runs.
    """
    if runs.empty:
        return Findings.of([info("No log of this study contains a latency.")])
    runs = runs[~has_complete_repeat(runs)]
    both = [frame for frame in (medians, means) if len(frame)] or [medians]
    typical = pd.concat(both).drop_duplicates(["path", "method"])
    best = rank_methods(measured_runs(runs))[0]
    statistic = "median" if runs.loc[runs["method"] == best, "median_ns"].notna().all() else "mean"
    estimates = medians if statistic == "median" else means
    sentence, refs = answer_of(runs, f"{statistic}_ns", estimates, f"{statistic} round trip", "ns")
    findings = [answer(sentence, refs)] if sentence else []
    # A published series has one value per window; nobody who reads it can repeat it.
    repeatable = typical[~typical["method"].isin(runs.loc[is_window(runs), "method"])]
    findings += measured_once(repeatable) + _dependent(repeatable) + _without_direction(runs)
    maxima = within[has_flag(within, "maximum_in_disguise")]
    if len(maxima):
        shortest = maxima.loc[maxima["n"].idxmin()]
        sentence = (
            f"The printed {shortest['what']} of {shortest['path']} ({format_value(shortest['estimate'], 'ns')}) is the "
            f"largest of {plain(shortest['n'])} observations. Do not quote it as a percentile."
        )
        findings.append(act(sentence))
    return Findings.of(findings)


def _without_direction(runs: pd.DataFrame) -> list[Finding]:
    """Say that the arrow in a path of a published table has no meaning, if the table has one number for both ways."""
    paths = [NetworkPath.parse(path) for path in runs.loc[is_window(runs), "path"].unique()]
    between = [path for path in paths if path != path.reversed()]
    if not between or not {path.reversed() for path in between}.isdisjoint(between):
        return []
    return [info("The published table has one number per pair: the arrow in a path's name is not a direction.")]


def _dependent(typical: pd.DataFrame) -> list[Finding]:
    """Name the paths whose runs resemble their neighbours, and those of them whose first runs lie apart."""
    tested = typical[(typical["n"] >= FEWEST) & typical["estimate"].notna()]
    dependent = tested[has_flag(tested, "dependent_runs")]
    if dependent.empty:
        return []
    listed = join_by_method(dependent)
    sentence = (
        f"Consecutive runs are autocorrelated on {len(dependent)} of {len(tested)} paths and methods: {listed}. "
        "Spread the runs over more time; to compare, alternate both sides in rounds."
    )
    findings = [*hidden_levels(tested), act(sentence)]
    for row in tested[tested["warm_up_runs"] > 0].to_dict("records"):
        apart = "in measuring order lie apart from all later runs; leave them out"
        findings.append(act(f"{row['what']}: the first {count_of(int(row['warm_up_runs']), 'run')} {apart}."))
    return findings
