"""Logs for a terminal. The only arithmetic is the conversion of units."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from azlatency.studies.format import format_number, plain

if TYPE_CHECKING:
    from azlatency.logs.record import Row
    from azlatency.logs.tables import Logs

MICROSECOND = 1e3
GIGABIT = 1e9
MEGABYTE = 1e6
DIRECTIONS = ("read", "write", "trim")


def microseconds(value_ns: float | None) -> str:
    """Format a time in ns as µs with up to three decimals; a missing time is empty."""
    return "" if value_ns is None else format_number(value_ns / MICROSECOND, 3).rstrip("0").rstrip(".")


def full_rows(rows: list[Row]) -> list[dict[str, str]]:
    """Return the rows of a table as text."""
    return [{name: "" if value is None else str(value) for name, value in row.items()} for row in rows]


def run_summary(logs: Logs) -> list[dict[str, str]]:
    """Return one row per run: file and lines, test, latency and throughput, status."""
    paths = {row["source_id"]: row["path"] for row in logs.rows["sources"]}
    metrics = _values_by_run(logs.rows["metrics"], "metric")
    quantiles = _values_by_run([row for row in logs.rows["quantiles"] if row["metric"] == "rtt"], "q")
    return [
        {
            "log:lines": f"{paths[run['source_id']].rsplit('/', 1)[-1]}:{run['first_line']}-{run['last_line']}",
            "test": f"{run['tool']} {run.get('test') or ''}".strip(),
            **_cells(metrics.get(run["run_id"], {}), quantiles.get(run["run_id"], {})),
            "status": run["status"],
        }
        for run in logs.rows["runs"]
    ]


def _cells(metrics: dict[str, float], percentiles: dict[float, float]) -> dict[str, str]:
    """Format the numbers of one run by column; missing numbers are empty."""
    throughput = metrics.get("throughput")
    count = metrics.get("observations", metrics.get("received"))
    return {
        "mean": microseconds(metrics.get("rtt_mean")),
        "median": microseconds(percentiles.get(0.5)),
        "p99": microseconds(percentiles.get(0.99)),
        "max": microseconds(metrics.get("rtt_max")),
        "Gbit/s": "" if throughput is None else format_number(throughput / GIGABIT, 3),
        "MB/s": _by_direction(metrics, "bandwidth", MEGABYTE),
        "IOPS": _by_direction(metrics, "iops", 1),
        "n": "" if count is None else plain(count),
    }


def _by_direction(metrics: dict[str, float], metric: str, scale: float) -> str:
    """Format a disk metric by direction: "781.0 read, 12.3 write"."""
    values = {name: metrics[f"{metric} {name}"] for name in DIRECTIONS if f"{metric} {name}" in metrics}
    if len(values) == 1:
        return format_number(next(iter(values.values())) / scale, 1)
    return ", ".join(f"{format_number(value / scale, 1)} {name}" for name, value in values.items())


def _values_by_run(rows: Iterable[Row], key: str) -> dict[str, dict[Any, float]]:
    """Group the values of whole runs by run and name. The receiver's value is preferred to the sender's."""
    values_by_run: dict[str, dict[Any, float]] = {}
    for row in rows:
        values = values_by_run.setdefault(row["run_id"], {})
        if row["stream"] in DIRECTIONS and "value" in row:
            values[f"{row[key]} {row['stream']}"] = row["value"]
        if row["stream"] is not None:
            continue
        value = row["value"] if "value" in row else row["value_ns"]
        if row.get("side") in (None, "receiver") or row[key] not in values:
            values[row[key]] = value
    return values_by_run
