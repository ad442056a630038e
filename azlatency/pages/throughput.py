"""How much data does each path carry? Tables and findings of page 02; its charts are those of `common`."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import pandas as pd

from azlatency.kit.cells import GIGABITS, SECONDS, Ref, Row, RunsRef, Table, is_missing
from azlatency.kit.cells import text as words_of
from azlatency.kit.findings import act, answer, hidden_levels, info, join, join_by_method, measured_once
from azlatency.kit.groups import answer_of
from azlatency.kit.objects import Finding, Findings, Note
from azlatency.kit.table import cited, count, number, table, text
from azlatency.kit.titles import span
from azlatency.kit.words import looks_limited, with_more_connections
from azlatency.pages.common import typical_runs
from azlatency.stats.across_runs.main_method import measured_runs, rank_methods
from azlatency.studies.format import count_of, plain
from azlatency.studies.runs.run_table import REVERSE, stream_rows

if TYPE_CHECKING:
    from azlatency.studies.store.study import Study

_COUNTED_ON = {"host": "whole machine", "stream": "this connection", "run": "this test"}


# --- the typical goodput of each path


def paths(runs: pd.DataFrame, typical: pd.DataFrame) -> Table | Note:
    """Return the typical goodput of each path and method, its interval, and the range of the runs."""
    if typical.empty:
        return Note("No log of this study prints a throughput.")
    return typical_runs(runs, typical, "throughput_bit_s", "goodput per run", "Goodput by path")


# --- every goodput


def printed(study: Study, runs: pd.DataFrame) -> Table | Note:
    """Return every goodput as printed, the side that counted it and its retransmits.

    ``runs`` as `azlatency.throughput` returns them.
    """
    if runs.empty:
        return Note("No log of this study prints a throughput.")
    shown = runs.assign(
        run_ids=runs.index,
        counted_on=runs["retransmits_scope"].map(_COUNTED_ON),
        as_printed=[
            f"{words_of(value)} {words_of(unit)}"
            for value, unit in zip(runs["printed"], runs["printed_unit"], strict=True)
        ],
        goodput_line=_lines(study, runs, "throughput"),
        retransmits_line=_lines(study, runs, "retransmits"),
    )
    columns = {
        "run": text("name"),
        "as printed": cited(text("as_printed", right=True), _at("goodput_line")),
        "goodput": cited(number("throughput_bit_s", ",.3f", GIGABITS), _at("goodput_line")),
        "counted by": text("side"),
        "connections": count("connections"),
        "duration": number("duration_ns", ".2f", SECONDS),
        "retransmits": cited(count("retransmits"), _at("retransmits_line")),
        "counted on": text("counted_on"),
    }
    notes = [
        "Goodput: application bytes that the receiver counted. A rate that only the sender counted contains what "
        "still waits in buffers; it is a method of its own. The counts of both sides are not added."
    ]
    return table(shown, "Every goodput", columns, notes, value="run")


def _lines(study: Study, runs: pd.DataFrame, metric: str) -> list[float | None]:
    """Return the log line of a metric of each run and test; that of a goodput is of the side that the run names."""
    metrics = study.metrics[study.metrics["metric"] == metric]
    lines: dict[tuple[str, str, str], float] = {}
    for test in runs["test"].fillna("").unique():
        for row in stream_rows(metrics, str(test)).itertuples(index=False):
            side = words_of(row.side) if metric == "throughput" else ""
            lines.setdefault((row.run_id, str(test), side), row.line)
    keys = zip(runs.index, runs["test"], runs["side"], strict=True)
    return [
        lines.get((run_id.removesuffix(REVERSE), words_of(test), words_of(side) if metric == "throughput" else ""))
        for run_id, test, side in keys
    ]


def _at(name: str) -> Callable[[Row], list[Ref]]:
    """Return the source of a cell: the line of its run that a column names."""
    return lambda row: [] if is_missing(row[name]) else [RunsRef((row["run_ids"],), "printed", int(row[name]))]


# --- findings


def find(runs: pd.DataFrame, typical: pd.DataFrame) -> Findings:
    """Answer how much each path carries; name traffic that never left the host, single runs and retransmissions."""
    if runs.empty:
        return Findings.of([info("No log of this study contains a throughput.")])
    streams = runs[runs["throughput_bit_s"].astype(float) > 0]
    sentence, refs = answer_of(streams, "throughput_bit_s", typical, "goodput", "bit/s", directed=True)
    limited = looks_limited(streams["throughput_bit_s"].astype(float), streams["placement"])
    between = streams[streams["placement"] != "same_host"]
    more = with_more_connections(between, rank_methods(measured_runs(between))[0]) if len(between) else ""
    findings = [answer(f"{sentence[:-1]}{limited}{more}.", refs)] if sentence else []
    findings += _nothing_arrived(runs)
    inside = streams[(streams["placement"] == "same_host") & (streams["protocol"] != "udp")]
    if len(inside):
        rates = span(inside["throughput_bit_s"].astype(float), "bit/s")
        names = join(map(str, inside["path"]))
        sentence = (
            f"{names}: {rates} between programs on one host. It never crossed the network; the host's processors and "
            "memory set this rate."
        )
        findings.append(act(sentence))
    findings += hidden_levels(typical) + measured_once(typical) + _both_at_once(runs) + _reverse(runs)
    retransmitting = runs[(runs["retransmits"].fillna(0) > 0) & (runs["retransmits_scope"] != "host")]
    if len(retransmitting):
        worst = retransmitting.iloc[retransmitting["retransmits"].astype(float).argmax()]
        most = f"{worst['path']} ({worst['method']}) retransmitted most: {plain(worst['retransmits'])} segments"
        whole_host = (runs["retransmits_scope"] == "host").any()
        sentence = f"{most}{'; tools that count those of the whole host are left out' if whole_host else ''}."
        findings.append(info(sentence))
    return Findings.of(findings)


def _both_at_once(runs: pd.DataFrame) -> list[Finding]:
    """Say what the goodput of a bidirectional test is."""
    both = runs[runs["test"].fillna("").str.contains("-bidir")]
    if both.empty:
        return []
    runs_of_both = count_of(both.index.str.removesuffix(REVERSE).nunique(), "run")
    sentence = (
        f"{runs_of_both} sent in both directions at once: stream-bidir is the goodput from client to server, "
        "stream-bidir-reverse that from server to client. Each direction was measured under the load of the other; "
        "alone, it may be faster."
    )
    return [info(sentence)]


def _reverse(runs: pd.DataFrame) -> list[Finding]:
    """Say in which direction the data of reverse tests went."""
    count = (runs["test"] == "stream-reverse").sum()
    if not count:
        return []
    sentence = f"In {count_of(count, 'run')} (stream-reverse) the data went against the arrow: from server to client."
    return [info(sentence)]


def _nothing_arrived(runs: pd.DataFrame) -> list[Finding]:
    """Name the paths on which nothing arrived: that is a loss of all packets, not a rate of zero."""
    silent = runs[runs["throughput_bit_s"].astype(float) == 0]
    if silent.empty:
        return []
    names = join_by_method(silent)
    sentence = (
        f"Nothing arrived on {names}: all packets were lost. This is not a measured rate; check the path and firewall."
    )
    return [act(sentence)]
