"""fio: bytes per second; KiB where fio 2.x prints KB and in every `bw` of JSON; rows of log files by count."""

from __future__ import annotations

import re
from typing import Any

from conformance.core import Case, Row

_SIZES = {"": 1, "k": 1024, "M": 1024**2, "G": 1024**3, "T": 1024**4}
_DECIMALS = {"": 1, "k": 1e3, "M": 1e6}


def compare(case: Case) -> None:
    """Compare every number of one log."""
    wanted = case.expected
    for position, row in enumerate(wanted.get("rows") or [] if isinstance(wanted.get("rows"), list) else []):
        _text_row(case, position, row)
    if "runs" in wanted:
        _old_runs(case, wanted["runs"])
    jobs = wanted.get("jobs") if isinstance(wanted.get("jobs"), list) else wanted.get("per_job")
    for position, job in enumerate(jobs or []):
        _job(case, f"{'jobs' if 'jobs' in wanted and jobs is wanted['jobs'] else 'per_job'}.{position}", job, position)
    if isinstance(wanted.get("first_job"), dict):
        _job(case, "first_job", wanted["first_job"], 0)
    for key in ("version", "fio_version"):
        if wanted.get(key):
            version = wanted[key].removeprefix("fio-")
            case.check(key, version, [str(dialect).removeprefix("fio-") for dialect in case.column("tool_version")])
    if "fields" in wanted:
        _log(case)
    if wanted.get("not_a_result"):
        case.check("not_a_result", 0, [len(case.metric("bandwidth")) + len(case.metric("iops"))])
    case.facts("documents", "numjobs", "group_reporting", "n_runs", "fields", "jobs_err", "run_status", "first_line")
    case.facts("not_a_result", "jobs")


def _text_row(case: Case, position: int, row: str) -> None:
    pattern = r"\s*(\w+)\s*: IOPS=([\d.]+)([kM]?), BW=([\d.]+)([KMGT]?)iB/s .*\(([\d.]+)([KMGT]?)iB/(\d+)msec\)"
    match = re.match(pattern, row)
    if match is None:
        return
    stream, key = match[1], f"rows.{position}"
    iops = float(match[2]) * _DECIMALS[match[3]]
    case.check(f"{key}.iops", iops, case.metric("iops", stream=stream), tolerance=1e-6)
    bandwidth = float(match[4]) * _SIZES[match[5].replace("K", "k")]
    case.check(f"{key}.bw", bandwidth, case.metric("bandwidth", stream=stream), tolerance=1e-6)
    size = float(match[6]) * _SIZES[match[7].replace("K", "k")]
    case.check(f"{key}.io", size, case.metric("transferred", stream=stream), tolerance=1e-6)
    case.facts("rows")


def _old_runs(case: Case, rows: list[Row]) -> None:
    for position, row in enumerate(rows):
        run, stream, key = position, row["dir"], f"runs.{position}"
        for name, metric in (("io_bytes", "transferred"), ("bw_Bps", "bandwidth"), ("iops", "iops")):
            case.check(f"{key}.{name}", row[name], case.metric(metric, run, stream=stream))
        case.check(f"{key}.runt_ms", row["runt_ms"] * 10**6, case.column("duration_ns", run))
        case.facts(key)


def _job(case: Case, key: str, job: Row, position: int) -> None:
    run = position if len(case.runs) > 1 else 0
    case.facts(f"{key}.jobname", f"{key}.error")
    for stream in ("read", "write"):
        row: dict[str, Any] = job.get(stream) or {}
        case.facts(*(f"{key}.{stream}.{name}" for name in row))
        nothing = not row.get("total_ios") and not row.get("io_bytes")
        if nothing or job.get("error"):
            continue
        _direction(case, f"{key}.{stream}", row, run, stream)


def _direction(case: Case, key: str, row: Row, run: int, stream: str) -> None:
    kibi = "io_kbytes" in row or "bw_bytes" in row
    sizes = [row["io_bytes"]] if kibi else [row["io_bytes"] * 1024]
    case.check(f"{key}.io_bytes", sizes[0], case.metric("transferred", run, stream=stream), tolerance=1e-3)
    bandwidths = case.metric("bandwidth", run, stream=stream)
    if row.get("bw_bytes"):
        case.check(f"{key}.bw_bytes", row["bw_bytes"], bandwidths, tolerance=1e-6)
    else:
        # A whole number of KiB/s; the table may hold the exact quotient.
        close = [value for value in bandwidths if abs(value - row["bw"] * 1024) <= 1024]
        case.check(f"{key}.bw", row["bw"] * 1024, (close and [row["bw"] * 1024]) or bandwidths)
    case.check(f"{key}.iops", row["iops"], case.metric("iops", run, stream=stream), tolerance=1e-6)
    for name, metric, factor in (
        ("bw_min", "bandwidth_min", 1024),
        ("bw_max", "bandwidth_max", 1024),
        ("iops_mean", "iops_mean", 1),
        ("clat_ns_mean", "completion_latency_mean", 1),
    ):
        if row.get(name) is not None:
            case.check(f"{key}.{name}", row[name] * factor, case.metric(metric, run, stream=stream))
    values = case.quantile(0.99, run, metric="completion_latency", stream=stream)
    if row.get("p99_ns") is not None:
        case.check(f"{key}.p99_ns", row["p99_ns"], values)
    elif row.get("p99"):
        factor = 1000 if row.get("lat_key") == ["clat"] else 1
        case.check(f"{key}.p99", row["p99"] * factor, values)


def _log(case: Case) -> None:
    """Compare log files by number and distribution; every line must have been recognised."""
    wanted = case.expected
    rows = wanted.get("rows", wanted.get("lines"))
    case.check("rows", rows, [case.tables.rows["sources"][0]["lines_data"]])
    last = str(wanted.get("last") or "").split(",")[0]
    if last:
        case.check("last", int(last) * 10**6, case.column("duration_ns"))
    case.facts("first", "last", "rows", "lines")
