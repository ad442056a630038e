"""Tables of the page "Throughput of each path"."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from azlatency.report.objects import Note, Runs, Table
from azlatency.report.tables.common import GIGABIT, gigabits, paths_table, place, text, whole

if TYPE_CHECKING:
    import pandas as pd

    from azlatency.stats.result import Estimate
    from azlatency.studies.store import Study


def printed(study: Study, runs: pd.DataFrame) -> Table | Note:
    """Every goodput as printed, with the side that counted it and its retransmits; ``runs`` as `throughput`."""
    if not len(runs):
        return Note("No log of this study gives a throughput.")
    duration = runs["duration_ns"].astype("float64") / 1e9
    scopes = {"host": "whole machine", "stream": "this connection", "run": "this test"}
    origins = _goodput_origins(study, runs)
    rows = [
        (
            f"{run['path']}, {run['method']}",
            text(run["repeat"]),
            f"{text(run['printed'])} {text(run['printed_unit'])}",
            gigabits(run["throughput"]),
            text(run["side"]),
            text(run["connections"]),
            "" if math.isnan(seconds) else f"{seconds:.2f}",
            whole(run["retransmits"]),
            scopes.get(text(run["retransmits_scope"]), ""),
        )
        for (_, run), seconds in zip(runs.iterrows(), duration, strict=True)
    ]
    headers = (
        "run",
        "repeat",
        "as printed",
        "Gbit/s",
        "counted by",
        "connections",
        "seconds",
        "retransmits",
        "counted on",
    )
    notes = [
        "Goodput: application bytes. The receiver's count stands where the log has it; the two sides are never added."
    ]
    return Table("Every goodput", headers, rows, frozenset({2, 3, 5, 6, 7}), notes, origins)


def _goodput_origins(study: Study, runs: pd.DataFrame) -> list[dict[int, Sequence[str]]]:
    """Where goodput (columns 2 and 3) and retransmits (7) of each run are printed."""
    own = study.metrics[study.metrics["stream"].isna()]
    lines: dict[tuple[str, str, str], Any] = {}
    for row in own[own["metric"].isin(["throughput", "retransmits"])].itertuples(index=False):
        side = text(row.side) if row.metric == "throughput" else ""
        lines.setdefault((row.run_id, row.metric, side), row.line)
    origins: list[dict[int, Sequence[str]]] = []
    for run_id, run in runs.iterrows():
        rate = place(str(run_id), lines.get((str(run_id), "throughput", text(run["side"]))))
        again = place(str(run_id), lines.get((str(run_id), "retransmits", "")))
        found: dict[int, Sequence[str]] = {2: rate, 3: rate, 7: again}
        whole_run = (f"{run['source_id']}:{run['first_line']}-{run['last_line']}",)
        origins.append({0: whole_run, **{column: places for column, places in found.items() if places}})
    return origins


def paths(runs: pd.DataFrame, estimates: Sequence[Estimate]) -> Table | Note:
    """Path by path: runs, range of run goodputs, interval or refusal."""
    if not estimates:
        return Note("No log of this study gives a throughput.")
    return paths_table(runs, estimates, "throughput", "goodput of a run, Gbit/s", GIGABIT, "Goodput by path")


def against_expected(comparison: pd.DataFrame) -> Table | Note:
    """Goodput beside the bandwidth expected of the VM; ``comparison`` as `evidence.against_bandwidth` gives it."""
    if not len(comparison):
        return Note("No expected bandwidth is known for this study, or no throughput was measured.")
    rows = [
        (str(row.path), row.method, gigabits(row.throughput), gigabits(row.expected), f"{row.ratio:.2f}", row.remark)
        for row in comparison.itertuples(index=False)
    ]
    headers = ("path", "method", "goodput, Gbit/s", "expected, Gbit/s", "ratio", "what may be concluded")
    origins = [{0: (Runs("throughput", row[0], row[1]),)} for row in rows]
    return Table("Goodput and the VM's expected bandwidth", headers, rows, frozenset({2, 3, 4}), origins=origins)
