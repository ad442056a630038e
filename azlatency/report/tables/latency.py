"""Tables of the page "Latency of each path"."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from azlatency.report.objects import Note, Table
from azlatency.report.tables.common import (
    MICROSECOND,
    PRINTED,
    explained,
    micros,
    paths_table,
    place,
    remarks,
    text,
    whole,
)

if TYPE_CHECKING:
    import pandas as pd

    from azlatency.stats.result import Estimate
    from azlatency.studies.store import Study


_STATISTICS = ("rtt_mean", "rtt_sd", "rtt_min", "rtt_max")


def printed(study: Study, runs: pd.DataFrame) -> Table | Note:
    """Every latency figure of every run with the printed tokens; ``runs`` as `azlatency.studies.runs.latency`."""
    if not len(runs):
        return Note("No log of this study gives a latency.")
    metrics = study.metrics[study.metrics["run_id"].isin(runs.index) & study.metrics["stream"].isna()]
    metrics = metrics.drop_duplicates(["run_id", "metric"]).set_index(["run_id", "metric"])
    tokens, units = metrics["printed"].to_dict(), metrics["printed_unit"].to_dict()
    lines = metrics["line"].to_dict()
    quantiles = study.quantiles[study.quantiles["run_id"].isin(runs.index) & (study.quantiles["metric"] == "rtt")]
    levels = sorted(set(quantiles["q"].astype(float)))
    printed = {(row.run_id, float(row.q)): row for row in quantiles.itertuples(index=False)}
    rows, origins = [], []
    for run_id, run in runs.iterrows():
        where = [lines.get((run_id, name)) for name in _STATISTICS[:3]]
        where += [getattr(printed.get((run_id, level)), "line", None) for level in levels]
        where.append(lines.get((run_id, _STATISTICS[3])))
        own = {column: place(str(run_id), line) for column, line in enumerate(where, start=4)}
        whole_run = (f"{run['source_id']}:{run['first_line']}-{run['last_line']}",)
        origins.append({0: whole_run, **{column: places for column, places in own.items() if places}})
        cells = [f"{run['path']}, {run['method']}", PRINTED.get(text(run["printed_as"]), "")]
        cells += [text(units.get((run_id, "rtt_mean"))), whole(run["n"])]
        cells += [text(tokens.get((run_id, name))) or "–" for name in ("rtt_mean", "rtt_sd", "rtt_min")]
        for level in levels:
            found = printed.get((run_id, level))
            mark = "†" if found is not None and text(found.resolved) == "no" else ""
            cells.append("–" if found is None else f"{found.printed}{mark}")
        rows.append((*cells, text(tokens.get((run_id, "rtt_max"))) or "–"))
    headers = ("run", "quantity", "unit", "n", "mean", "sd", "min", *(f"p{100 * level:g}" for level in levels), "max")
    notes = ["Tokens as the tool printed them, in the unit that it printed."]
    if any("†" in cell for row in rows for cell in row):
        notes.append("† not a percentile: the run has too few observations, so the tool prints its maximum.")
    return Table("Every printed latency", headers, rows, frozenset(range(3, len(headers))), notes, origins)


def brackets(estimates: Sequence[Estimate], levels: Sequence[float] = (0.5, 0.99, 0.999)) -> Table | Note:
    """Percentiles of single runs with their brackets, as round trips."""
    chosen = [each for each in estimates if each.labels["q"] in levels]
    if not chosen:
        return Note("No log of this study prints percentiles.")
    rows = [
        (
            f"{each.labels['path']}, {each.labels['method']}",
            each.what,
            whole(each.n),
            micros(each.estimate, 3),
            micros(each.low, 3) or "0",
            micros(each.high, 3) or "no bound",
            remarks(each.codes),
        )
        for each in chosen
    ]
    level = f"{100 * chosen[0].confidence:g} %"
    headers = ("run", "percentile", "n", "round trip, µs", f"{level} from, µs", "to, µs", "remark")
    notes = [f"Method: {chosen[0].method}.", *explained(chosen)]
    return Table(
        "Percentiles within one run (scope: within run)",
        headers,
        rows,
        frozenset({2, 3, 4, 5}),
        notes,
        _printed_at(chosen),
    )


def _printed_at(estimates: Sequence[Estimate]) -> list[dict[int, tuple[str, ...]]]:
    """Where percentiles of single runs are printed: their run and the percentile of it."""
    return [
        {0: (f"{each.labels['run_id']}@{float(each.labels['q'])}",)} if "run_id" in each.labels else {}
        for each in estimates
    ]


def unresolved(estimates: Sequence[Estimate]) -> Table | Note:
    """Printed percentiles that the run cannot support."""
    unsupported = {"tail_unresolved", "unbounded_upper", "maximum_in_disguise"}
    chosen = [each for each in estimates if unsupported & set(each.codes)]
    if not chosen:
        return Note("Every printed percentile of this study is supported by its run's number of observations.")
    rows = [
        (
            f"{each.labels['path']}, {each.labels['method']}",
            each.what,
            whole(each.n),
            f"{each.n * (1 - each.labels['q']):.3g}",
            micros(each.estimate, 3),
            micros(each.low, 3) or "0",
            remarks(each.codes),
        )
        for each in chosen
    ]
    headers = ("run", "percentile", "n", "observations above it", "printed as, µs", "at least, µs", "why")
    notes = explained(chosen)
    return Table(
        "Percentiles that the log cannot support", headers, rows, frozenset({2, 3, 4, 5}), notes, _printed_at(chosen)
    )


def paths(runs: pd.DataFrame, estimates: Sequence[Estimate]) -> Table | Note:
    """Path by path: runs, range of run medians, interval or refusal; latencies are round trips."""
    if not estimates:
        return Note("No log of this study gives a latency.")
    return paths_table(
        runs, estimates, "median_ns", "median round trip of a run, µs", MICROSECOND, "Typical round trip by path"
    )
