"""Rows as tables on a terminal. Computes nothing but units."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.table import Table

    from azlatency.reader import Tables
    from azlatency.record import Row

MICROSECOND = 1e3
GIGABIT = 1e9


def microseconds(value_ns: float | None) -> str:
    """A time in ns as µs, to the nanosecond; empty where it is missing."""
    return "" if value_ns is None else f"{value_ns / MICROSECOND:,.3f}".rstrip("0").rstrip(".")


def gigabits(value: float | None) -> str:
    """A rate in bit/s as Gbit/s with three decimals; empty where it is missing."""
    return "" if value is None else f"{value / GIGABIT:,.3f}"


def plain_table(rows: list[Row], title: str) -> Table:
    """Every column of a table, as text."""
    from rich.table import Table
    from rich.text import Text

    columns = [name for name in (rows[0] if rows else {}) if any(row[name] is not None for row in rows)]
    table = Table(*columns, title=title)
    for row in rows:
        table.add_row(*(Text("" if row[name] is None else str(row[name])) for name in columns))
    return table


def run_summary(tables: Tables) -> Table:
    """One line a run: where it stands in its file, what was run, the typical number, how it ended."""
    from rich.table import Table
    from rich.text import Text

    table = Table(title="runs; latencies are round trips in µs", pad_edge=False)
    table.add_column("log:lines", overflow="fold", min_width=12)
    table.add_column("test", overflow="fold")
    for header in ("mean", "median", "p99", "max", "Gbit/s", "n"):
        table.add_column(header, justify="right", no_wrap=True)
    table.add_column("status", overflow="fold")
    paths = {row["source_id"]: row["path"] for row in tables.rows["sources"]}
    metrics = _by_run(tables.rows["metrics"], "metric")
    quantiles = _by_run(tables.rows["quantiles"], "q")
    for run in tables.rows["runs"]:
        own, percentiles = metrics.get(run["run_id"], {}), quantiles.get(run["run_id"], {})
        cells = [
            f"{paths[run['source_id']].rsplit('/', 1)[-1]}:{run['first_line']}-{run['last_line']}",
            f"{run['tool']} {run.get('test') or ''}".strip(),
            microseconds(own.get("rtt_mean")),
            microseconds(percentiles.get(0.5)),
            microseconds(percentiles.get(0.99)),
            microseconds(own.get("rtt_max")),
            gigabits(own.get("throughput")),
            _count(own.get("observations", own.get("received"))),
            run["status"],
        ]
        table.add_row(*(Text(cell) for cell in cells))
    return table


def _count(value: float | None) -> str:
    return "" if value is None else f"{int(value):,}"


def _by_run(rows: list[Row], key: str) -> dict[str, dict[Any, float]]:
    """Values of whole runs by run and name; the receiver's stands for the run, the sender's where it is alone."""
    found: dict[str, dict[Any, float]] = {}
    for row in rows:
        if row["stream"] is not None:
            continue
        values = found.setdefault(row["run_id"], {})
        value = row["value"] if "value" in row else row["value_ns"]
        if row.get("side") in (None, "receiver") or row[key] not in values:
            values[row[key]] = value
    return found
