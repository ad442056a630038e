"""Tables of the page "Throughput of each path"."""

from __future__ import annotations

from collections.abc import Callable
from operator import itemgetter
from typing import TYPE_CHECKING, Any

from azlatency.kit.cells import GIGABITS, SECONDS, Column, Ref, RunsRef, Table, number, text
from azlatency.kit.objects import Note
from azlatency.report.tables.common import COUNT, paths_table
from azlatency.stats import rows
from azlatency.stats.result import results_only
from azlatency.studies.runs.run_table import REVERSE, stream_rows

if TYPE_CHECKING:
    import pandas as pd

    from azlatency.stats.result import Estimate
    from azlatency.studies.store.study import Study

_COUNTED_ON = {"host": "whole machine", "stream": "this connection", "run": "this test"}


def printed(study: Study, runs: pd.DataFrame) -> Table[Any] | Note:
    """Return every goodput as printed, the side that counted it and its retransmits.

    ``runs`` as `azlatency.throughput` returns them.
    """
    if not len(runs):
        return Note("No log of this study prints a throughput.")
    lines = _lines(study, runs)
    goodput = _at_line(lambda run: lines.get((_run_id(run), text(run["test"]), "throughput", text(run["side"]))))
    retransmits = _at_line(lambda run: lines.get((_run_id(run), text(run["test"]), "retransmits", "")))
    columns: list[Column[Any]] = [
        Column("run", itemgetter("name")),
        Column("as printed", _as_printed, align="right", source=goodput),
        Column("goodput", itemgetter("throughput_bit_s"), number(",.3f"), GIGABITS, source=goodput),
        Column("counted by", itemgetter("side")),
        Column("connections", itemgetter("connections"), COUNT, align="right"),
        Column("duration", itemgetter("duration_ns"), number(".2f"), SECONDS),
        Column("retransmits", itemgetter("retransmits"), COUNT, source=retransmits),
        Column("counted on", lambda run: _COUNTED_ON.get(text(run["retransmits_scope"]))),
    ]
    note = (
        "Goodput: application bytes that the receiver counted. A rate that only the sender counted contains what "
        "still waits in buffers; it is a method of its own. The counts of both sides are not added."
    )
    every = [run for _, run in runs.iterrows()]
    return Table("Every goodput", columns, every, [note], lambda run: [RunsRef((str(run.name),), "run")])


def _as_printed(run: Any) -> str:
    return f"{text(run['printed'])} {text(run['printed_unit'])}"


def _lines(study: Study, runs: pd.DataFrame) -> dict[tuple[str, str, str, str], Any]:
    """Return the log lines of the goodput of each run and test (by side) and of its retransmits."""
    lines: dict[tuple[str, str, str, str], Any] = {}
    metrics = study.metrics[study.metrics["metric"].isin(["throughput", "retransmits"])]
    for test in runs["test"].fillna("").unique():
        for row in stream_rows(metrics, str(test)).itertuples(index=False):
            side = text(row.side) if row.metric == "throughput" else ""
            lines.setdefault((row.run_id, str(test), row.metric, side), row.line)
    return lines


def _run_id(run: Any) -> str:
    return str(run.name).removesuffix(REVERSE)


def _at_line(line: Callable[[Any], Any]) -> Callable[[Any], list[Ref]]:
    return lambda run: [] if text(line(run)) == "" else [RunsRef((str(run.name),), "printed", int(line(run)))]


@results_only
def paths(runs: pd.DataFrame, typical: pd.DataFrame) -> Table[Estimate] | Note:
    """Return the typical goodput of each path and method, its interval, and the range of the runs."""
    if typical.empty:
        return Note("No log of this study prints a throughput.")
    return paths_table(
        runs, rows.estimates(typical), "throughput_bit_s", "goodput per run", GIGABITS, "Goodput by path"
    )
