"""Tables of the page "Latency of each path"."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from operator import attrgetter
from typing import TYPE_CHECKING, Any, NamedTuple

from azlatency.kit.cells import MICROSECONDS, P_VALUE, Column, Ref, RunsRef, Table, number, text, words
from azlatency.kit.objects import Note
from azlatency.kit.units import level
from azlatency.kit.words import PRINTED
from azlatency.report.tables.common import (
    COUNT,
    FLAGS,
    LABELLED_METHOD,
    LABELLED_PATH,
    codes_of,
    explain,
    flags,
    from_run,
    from_runs,
    paths_table,
)
from azlatency.stats import rows
from azlatency.stats.across_runs.run_order import LEVEL
from azlatency.stats.across_runs.typical_run import DIAGNOSTICS
from azlatency.stats.result import results_only

if TYPE_CHECKING:
    import pandas as pd

    from azlatency.stats.result import Estimate
    from azlatency.studies.store.study import Study

_UNSUPPORTED = frozenset({"tail_unresolved", "unbounded_upper", "maximum_in_disguise"})


class Token(NamedTuple):
    """A number as a log prints it."""

    text: str
    line: int | None


class PrintedRun(NamedTuple):
    """A run and the latencies that its log prints, by column."""

    run_id: str
    name: str
    printed_as: str
    unit: str
    n: float | None
    tokens: Mapping[str, Token]
    maxima: str


def printed(study: Study, runs: pd.DataFrame) -> Table[PrintedRun] | Note:
    """Return every latency of every run that prints one; ``runs`` as `latency` returns them."""
    if not len(runs):
        return Note("No log of this study prints a latency.")
    metrics = study.metrics[study.metrics["run_id"].isin(runs.index) & study.metrics["stream"].isna()]
    quantiles = study.quantiles[study.quantiles["run_id"].isin(runs.index) & (study.quantiles["metric"] == "rtt")]
    tokens: dict[str, dict[str, Token]] = {str(run_id): {} for run_id in runs.index}
    units: dict[str, str] = {}
    maxima: dict[str, list[str]] = {str(run_id): [] for run_id in runs.index}
    for metric in metrics.itertuples(index=False):
        if metric.metric == "rtt_mean":
            units.setdefault(metric.run_id, text(metric.printed_unit))
        tokens[metric.run_id].setdefault(metric.metric, _token(metric.printed, metric.line))
    for quantile in quantiles.itertuples(index=False):
        tokens[quantile.run_id][_percentile(quantile.q)] = _token(quantile.printed, quantile.line)
        if text(quantile.resolved) == "no":
            maxima[quantile.run_id].append(_percentile(quantile.q))
    percentiles = [_percentile(q) for q in sorted(set(quantiles["q"].astype(float)))]
    statistics = {"mean": "rtt_mean", "sd": "rtt_sd", "min": "rtt_min"} | {name: name for name in percentiles}
    statistics["max"] = "rtt_max"
    listed = [
        PrintedRun(
            run_id,
            text(run["name"]),
            text(run["printed_as"]),
            units.get(run_id, ""),
            run["n"],
            tokens[run_id],
            ", ".join(maxima[run_id]),
        )
        for run_id, run in runs.iterrows()
        if any(name in tokens[str(run_id)] for name in statistics.values())
    ]
    silent = len(runs) - len(listed)
    samples_only = f"{silent:,} {'run prints' if silent == 1 else 'runs print'} single observations and no statistic."
    if not listed:
        return Note(samples_only)
    columns: list[Column[PrintedRun]] = [
        Column("run", attrgetter("name")),
        Column("quantity", lambda row: PRINTED.get(row.printed_as)),
        Column("unit", attrgetter("unit")),
        Column("n", attrgetter("n"), COUNT, source=from_run("n")),
        *(_token_column(header, name) for header, name in statistics.items()),
    ]
    notes = ["Tokens as the tool printed them, in the unit that it printed."]
    if silent:
        notes.append(f"Not listed: {samples_only}")
    if any(row.maxima for row in listed):
        columns.append(Column("maximum, not percentile", attrgetter("maxima")))
        notes.append(
            "Maximum, not percentile: the run has too few observations for these percentiles, so the tool prints its "
            "maximum."
        )
    return Table("Every printed latency", columns, listed, notes, lambda row: [RunsRef((row.run_id,), "run")])


def _percentile(q: float) -> str:
    return f"p{100 * float(q):g}"


def _token(printed: object, line: Any) -> Token:
    return Token(text(printed), None if text(line) == "" else int(line))


def _token_column(header: str, name: str) -> Column[PrintedRun]:
    def source(row: PrintedRun) -> list[Ref]:
        token = row.tokens.get(name)
        return [] if token is None or token.line is None else [RunsRef((row.run_id,), "printed", token.line)]

    def value(row: PrintedRun) -> str:
        return row.tokens[name].text if name in row.tokens else ""

    return Column(header, value, words(missing="–"), align="right", source=source)


@results_only
def paths(runs: pd.DataFrame, typical: pd.DataFrame) -> Table[Estimate] | Note:
    """Return the typical median RTT of each path and method, its interval, and the range of the runs' medians."""
    if typical.empty:
        return Note("No log of this study prints a latency.")
    return paths_table(
        runs, rows.estimates(typical), "median_ns", "median RTT per run", MICROSECONDS, "Typical RTT by path"
    )


@results_only
def runs_in_order(typical: pd.DataFrame) -> Table[Estimate] | Note:
    """Return whether neighbouring runs of each path depend on each other; ``typical`` as `summarize` returns it."""
    estimates = rows.estimates(typical, *DIAGNOSTICS)
    tested = [estimate for estimate in estimates if "lag1_p" in estimate.diagnostics]
    if not tested:
        return Note(
            "No path has six runs whose order is known, so dependence between runs cannot be tested. Every interval "
            "across runs assumes independent runs."
        )
    columns: list[Column[Estimate]] = [
        LABELLED_PATH,
        LABELLED_METHOD,
        Column("runs", attrgetter("n"), COUNT),
        Column("lag-1 autocorrelation", lambda row: row.diagnostics["lag1"], number(".2f")),
        Column("p, permutation test", lambda row: row.diagnostics["lag1_p"], P_VALUE),
        Column("flags", attrgetter("codes"), words(flags)),
    ]
    ordered = sorted(tested, key=lambda row: row.diagnostics["lag1_p"])
    notes = [
        f"A p of at most {LEVEL:g}: neighbouring runs resemble each other. Ten runs with an autocorrelation of 0.5 are "
        "mostly not found, so a large p does not show that runs are independent.",
        *explain(codes_of(ordered)),
    ]
    return Table("Runs in the order of measuring (scope: across runs)", columns, ordered, notes, from_runs("typical"))


@results_only
def brackets(quantiles: pd.DataFrame, levels: Sequence[float] = (0.5, 0.99, 0.999)) -> Table[Estimate] | Note:
    """Return percentiles of single runs with the printed values that enclose them, as round-trip times."""
    shown = rows.estimates(quantiles[quantiles["q"].isin(levels)])
    if not shown:
        return Note("No log of this study prints percentiles.")
    columns: list[Column[Estimate]] = [
        *_PERCENTILE,
        Column("RTT", attrgetter("estimate"), number(",.3f"), MICROSECONDS),
        Column("bracket from", attrgetter("low"), number(",.3f", missing="0"), MICROSECONDS),
        Column("bracket to", attrgetter("high"), number(",.3f", missing="no bound"), MICROSECONDS),
        FLAGS,
    ]
    methods = dict.fromkeys(row.method for row in shown)
    notes = [
        "Bracket: the nearest printed values, or bounds of classes, that enclose the "
        f"{level(shown[0].confidence)} interval.",
        *(f"Method: {method}." for method in methods),
        *explain(codes_of(shown)),
    ]
    return Table("Percentiles within one run (scope: within run)", columns, shown, notes, _printed_percentile)


@results_only
def unresolved(quantiles: pd.DataFrame) -> Table[Estimate] | Note:
    """Return the printed percentiles that the run cannot support."""
    shown = [estimate for estimate in rows.estimates(quantiles) if _UNSUPPORTED & set(estimate.codes)]
    if not shown:
        return Note("Every printed percentile of this study is supported by its run's number of observations.")
    columns: list[Column[Estimate]] = [
        *_PERCENTILE,
        Column("observations above it", lambda row: row.n * (1 - row.labels["q"]), number(".3g")),
        Column("RTT", attrgetter("estimate"), number(",.3f"), MICROSECONDS),
        Column("at least", attrgetter("low"), number(",.3f", missing="0"), MICROSECONDS),
        FLAGS,
    ]
    caption = "Percentiles that the log cannot support"
    return Table(caption, columns, shown, explain(codes_of(shown)), _printed_percentile)


_PERCENTILE: list[Column[Estimate]] = [
    Column("run", lambda row: row.labels.get("name") or f"{row.labels['path']}, {row.labels['method']}"),
    Column("percentile", attrgetter("what")),
    Column("n", attrgetter("n"), COUNT, source=from_runs("n")),
]


def _printed_percentile(row: Estimate) -> list[Ref]:
    return [RunsRef((row.labels["run_id"],), q=float(row.labels["q"]))] if "run_id" in row.labels else []
