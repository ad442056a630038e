"""Rows as tables on a terminal. Computes nothing but units."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.table import Table

    from azlatency.logs.record import Row
    from azlatency.logs.tables import Logs

MICROSECOND = 1e3
GIGABIT = 1e9
MEGABYTE = 1e6
DIRECTIONS = ("read", "write", "trim")


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


def run_summary(tables: Logs) -> Table:
    """One line a run: where it stands, what was run, its numbers, how it ended; no column without a value."""
    from rich.table import Table
    from rich.text import Text

    paths = {row["source_id"]: row["path"] for row in tables.rows["sources"]}
    metrics = _by_run(tables.rows["metrics"], "metric")
    quantiles = _by_run([row for row in tables.rows["quantiles"] if row["metric"] == "rtt"], "q")
    rows = [
        {
            "log:lines": f"{paths[run['source_id']].rsplit('/', 1)[-1]}:{run['first_line']}-{run['last_line']}",
            "test": f"{run['tool']} {run.get('test') or ''}".strip(),
            **_numbers(metrics.get(run["run_id"], {}), quantiles.get(run["run_id"], {})),
            "status": run["status"],
        }
        for run in tables.rows["runs"]
    ]
    latencies = any(row["mean"] or row["median"] for row in rows)
    table = Table(title="runs; latencies are round trips in µs" if latencies else "runs", pad_edge=False)
    shown = [header for header in rows[0] if any(row[header] for row in rows)]
    for header in shown:
        words = header in ("log:lines", "test", "status")
        table.add_column(header, justify="left" if words else "right", no_wrap=not words, overflow="fold")
    for row in rows:
        table.add_row(*(Text(row[header]) for header in shown))
    return table


def _numbers(own: dict[str, float], percentiles: dict[float, float]) -> dict[str, str]:
    """The figures of one run by column; empty where it has none."""
    return {
        "mean": microseconds(own.get("rtt_mean")),
        "median": microseconds(percentiles.get(0.5)),
        "p99": microseconds(percentiles.get(0.99)),
        "max": microseconds(own.get("rtt_max")),
        "Gbit/s": gigabits(own.get("throughput")),
        "MB/s": _by_direction(own, "bandwidth", MEGABYTE),
        "IOPS": _by_direction(own, "iops", 1),
        "n": _count(own.get("observations", own.get("received"))),
    }


def _count(value: float | None) -> str:
    return "" if value is None else f"{int(value):,}"


def _by_direction(own: dict[str, float], metric: str, scale: float) -> str:
    """A disk figure, read and written apart: "781.0 read, 12.3 write"."""
    found = {name: own[f"{metric} {name}"] for name in DIRECTIONS if f"{metric} {name}" in own}
    if len(found) == 1:
        return f"{next(iter(found.values())) / scale:,.1f}"
    return ", ".join(f"{value / scale:,.1f} {name}" for name, value in found.items())


def _by_run(rows: list[Row], key: str) -> dict[str, dict[Any, float]]:
    """Values of whole runs by run and name; the receiver's stands for the run, the sender's where it is alone."""
    found: dict[str, dict[Any, float]] = {}
    for row in rows:
        values = found.setdefault(row["run_id"], {})
        if row["stream"] in DIRECTIONS and "value" in row:
            values[f"{row[key]} {row['stream']}"] = row["value"]
        if row["stream"] is not None:
            continue
        value = row["value"] if "value" in row else row["value_ns"]
        if row.get("side") in (None, "receiver") or row[key] not in values:
            values[row[key]] = value
    return found
