"""What the text, the JSON and the terse form of fio have in common: one job being read, and the tables that follow.

One job (with ``group_reporting`` one group of jobs) is one run. ``stream`` is the direction: ``read``, ``write``,
``trim``, ``mixed`` (``unified_rw_reporting``), and ``sync`` for the latencies of fsync; a direction without any I/O is
left out, its zeros were never measured. Disk utilisation has ``side`` device and the device as ``stream``; it covers
the host and all jobs at once.

Percentiles are the middle of a histogram bucket (plat_idx_to_val in stat.c; 64 buckets for each power of two, so about
1.6 % wide), not order statistics: ``resolution_ns`` is half the bucket and what rounding adds. The rank is known all
the same: the bucket is the first one with at least q*n observations at or below it.

``--status-interval`` prints the same job again and again, each time from its start: the last print is the run, the
earlier ones give the run's intervals (differences of the bytes). "All clients" adds up what stands above it and is no
run of its own.

Events: ``failed``, ``interrupted``, ``truncated``, ``malformed``, ``no_data``, ``rate_mismatch`` (a rate that cannot
follow from bytes and time, or from IOPS and block size), ``unit_conflict`` (the two spellings of a rate differ),
``unit_ambiguous``, ``per_job_samples``, ``status_snapshot``, ``printed_twice``, ``aggregate_row``, ``message``,
``log_not_kept``.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import cache
from typing import Any, NamedTuple

from azlatency.logs.parsers import Log
from azlatency.logs.parsers.common import check_numbers, complete_quantile
from azlatency.logs.record import Recorder, Run
from azlatency.logs.units import Quantity, UnitError, nanoseconds, quantity, scale

_BUCKET_BITS = 6
_RATE_TOLERANCE = 0.02
_US = round(scale("us"))
_BLOCK_SUFFIXES = {"": "B", "b": "B", "k": "KiB", "kb": "KiB", "kib": "KiB", "m": "MiB", "mb": "MiB", "mib": "MiB"}
_SECONDS = {"": "s", "s": "s", "ms": "ms", "us": "us"}
_LONG_TIMES = {"m": 60, "h": 3600, "d": 86400}
ALL_CLIENTS = "All clients"
#: The prefixes of fio's latencies and the names of the tables.
LATENCIES = {"slat": "submission_latency", "clat": "completion_latency", "lat": "total_latency", "sync": "sync_latency"}


class Bucket(NamedTuple):
    """One bucket of fio's latency histogram: from ``low`` to below ``high``, and its middle, which fio prints."""

    low: int
    high: int

    @property
    def half(self) -> float:
        """Half the width; 0 where the bucket holds one value."""
        return 0.0 if self.high - self.low == 1 else (self.high - self.low) / 2


def bucket_of(value: int) -> Bucket:
    """The bucket that a latency falls into; fio's percentiles lie inside theirs. Values below 128 have one each."""
    shift = max(value.bit_length() - 1 - _BUCKET_BITS, 0)
    low = value >> shift << shift
    return Bucket(low, low + (1 << shift))


class Percentile(NamedTuple):
    """One printed percentile."""

    metric: str
    q: float
    value: Quantity
    line: int


@dataclass
class Direction:
    """What a job did in one direction."""

    name: str
    line: int
    metrics: list[tuple[str, Quantity, int]] = field(default_factory=list)
    percentiles: list[Percentile] = field(default_factory=list)
    buckets: list[tuple[str, int, int, int, int]] = field(default_factory=list)
    """Metric, low, high, count, line."""
    runtime_ns: int | None = None
    counts: dict[str, int] = field(default_factory=dict)
    """Number of observations of each latency where it is printed."""
    issued: int | None = None

    def add(self, name: str, value: Quantity | None, line: int) -> None:
        """One more number; None is missing."""
        if value is not None:
            self.metrics.append((name, value, line))

    def get(self, name: str) -> Quantity | None:
        """A number added before."""
        for metric, value, _ in self.metrics:
            if metric == name:
                return value
        return None

    @property
    def idle(self) -> bool:
        """Whether nothing was read, written or trimmed in this direction."""
        found = (self.get("transferred"), self.get("iops"))
        return not self.issued and all(value is None or value.value == 0 for value in found)


@dataclass
class Job:
    """One job, or one group of jobs, as printed once."""

    name: str
    line: int
    dialect: str
    version: str | None = None
    group: int = 0
    count: int | None = None
    last_line: int = 0
    error: int = 0
    error_text: str | None = None
    date: str | None = None
    pid: str | None = None
    document: int = 0
    options: dict[str, str] = field(default_factory=dict)
    depth: tuple[str, int] | None = None
    block_bytes: int | None = None
    host: str | None = None
    started_at: datetime | None = None
    elapsed_start: int | None = None
    """Seconds since 1970 that a document says the job began at, give or take a second."""
    directions: dict[str, Direction] = field(default_factory=dict)
    process: list[tuple[str, Quantity, int]] = field(default_factory=list)
    disks: list[tuple[str, Quantity, int]] = field(default_factory=list)
    cut: bool = False
    signal: tuple[int, str] | None = None
    failures: list[tuple[int, str]] = field(default_factory=list)
    notes: list[tuple[str, str, str, int]] = field(default_factory=list)
    earlier: list[Job] = field(default_factory=list)

    def direction(self, name: str, line: int) -> Direction:
        """The direction of that name, opened where it is new."""
        return self.directions.setdefault(name, Direction(name, line))

    @property
    def old(self) -> bool:
        """Whether latencies were kept in microseconds (before 3.0); an unknown version counts as new."""
        return (major := version_of(self.version)) is not None and major < (3, 0)

    def follows(self, other: Job) -> bool:
        """Whether this is a later print of the same job (``--status-interval``)."""
        same = (self.name, self.group, self.dialect, self.host) == (other.name, other.group, other.dialect, other.host)
        if not same or not _grown(other, self):
            return False
        if self.pid is not None and other.pid is not None:
            return self.pid == other.pid and self.pid != "0"
        if self.started_at is not None or other.started_at is not None:
            return self.started_at == other.started_at
        starts = (self.elapsed_start, other.elapsed_start)
        return None not in starts and abs(starts[0] - starts[1]) <= 2  # type: ignore[operator]

    def repeats(self, other: Job) -> bool:
        """Whether this is the same print in another form (``--output-format=normal,json``)."""
        if (self.name, self.group, self.date) != (other.name, other.group, other.date) or self.date is None:
            return False
        return self.dialect != other.dialect and _runtimes(self).items() <= _runtimes(other).items()


def _runtimes(job: Job) -> dict[str, int]:
    return {one.name: one.runtime_ns for one in job.directions.values() if one.runtime_ns and not one.idle}


def _grown(before: Job, after: Job) -> bool:
    """Whether a later print covers more time, and nothing became less."""
    early, late = _runtimes(before), _runtimes(after)
    if not late or not early.keys() <= late.keys() or any(late[name] < early[name] for name in early):
        return False
    sizes = [(before.directions[name].get("transferred"), after.directions[name].get("transferred")) for name in early]
    if any(one and two and one.value > two.value for one, two in sizes):
        return False
    return any(late[name] > early.get(name, 0) for name in late)


@cache
def version_of(text: str | None) -> tuple[int, int] | None:
    """Major and minor number of a version such as ``3.33`` or ``2.2.10``."""
    parts = (text or "").split("-")[0].split(".")
    if len(parts) < 2 or not all(part.isdigit() for part in parts[:2]):
        return None
    return int(parts[0]), int(parts[1])


# --- numbers


def scaled(token: str, unit: str) -> Quantity:
    """A latency whose number may end in k or M (``20032k`` nsec). Raises `UnitError`."""
    factor = {"k": 10**3, "K": 10**3, "M": 10**6, "G": 10**9}.get(token[-1:], 1)
    found = quantity(token.rstrip("kKMG"), unit)
    half = None if found.resolution is None else found.resolution * factor
    return Quantity(found.value * factor, found.unit, token, half, unit)


def whole(token: str, unit: str) -> Quantity:
    """A number that fio cut to a whole one: the true one is up to one greater. Raises `UnitError`."""
    found = quantity(token, unit)
    return found.with_resolution(None if found.resolution is None else 2 * found.resolution)


def cut(token: str, unit: str) -> Quantity:
    """A number that fio cut to a whole one, unless it has decimals. Raises `UnitError`."""
    return quantity(token, unit) if "." in token else whole(token, unit)


def percentile(token: str, unit: str, *, old: bool) -> Quantity:
    """A percentile with the width of its bucket; fio keeps whole ns, before 3.0 whole us. Raises `UnitError`."""
    found = quantity(token, unit)
    step = _US if old else 1
    half = bucket_of(round(found.value / step)).half * step
    rounding = 2 * (found.resolution or 0.0) if scale(unit) > step else 0.0
    return found.with_resolution(half + rounding)


def block_bytes(token: str, *, decimal: bool = False) -> int | None:
    """The size that an option such as ``4k`` or ``1024KiB`` names, None where it is no single one."""
    text = token.strip().lower()
    digits = text.rstrip("bikm")
    unit = _BLOCK_SUFFIXES.get(text[len(digits) :])
    if unit is None or not digits.isdecimal() or len(digits) > 12:
        return None
    if decimal and not text.endswith("ib"):
        unit = unit.replace("K", "k").replace("i", "")
    return round(quantity(digits, f"fio {unit}").value)


def option_duration(token: str | None) -> int | None:
    """A duration of a job file (``5``, ``10s``, ``2m``) in ns; None where it is none."""
    text = (token or "").strip().lower()
    digits = text.rstrip("smhdu")
    suffix = text[len(digits) :]
    try:
        if suffix in _LONG_TIMES:
            return nanoseconds(digits, "s") * _LONG_TIMES[suffix] or None
        return nanoseconds(digits, _SECONDS[suffix]) or None
    except (UnitError, KeyError):
        return None


# --- tables


def write(jobs: Sequence[Job], recorder: Recorder, log: Log) -> None:
    """Write the runs of a log: prints of the same job are one run."""
    kept: list[Job] = []
    for job in jobs:
        if job.name == ALL_CLIENTS:
            text = "the sum over all clients stands beside the clients themselves; it is not counted again"
            recorder.add_event("aggregate_row", "info", text, job.line)
            continue
        twin = next((other for other in kept if job.repeats(other)), None)
        if twin is not None:
            twin.last_line = max(twin.last_line, job.last_line)
            twin.notes.append(("printed_twice", "info", f"the {job.dialect} of the same job is not counted", job.line))
            continue
        before = next((other for other in reversed(kept) if job.follows(other)), None)
        if before is not None:
            kept.remove(before)
            job.earlier = [*before.earlier, replace(before, earlier=[])]
            job.signal = job.signal or before.signal
            job.failures = [*before.failures, *job.failures]
        kept.append(job)
    for job in kept:
        _write_job(job, recorder, log)


def _write_job(job: Job, recorder: Recorder, log: Log) -> None:
    first = min([job.line, *(one.line for one in job.earlier), *(line for line, _ in job.failures)])
    run = recorder.start_run("fio", first, last_line=max(job.last_line, job.line))
    active = [one for one in job.directions.values() if not one.idle]
    _describe(job, run, log)
    if active and job.count is not None:
        run.add_metric("jobs", Quantity(float(job.count), "count", str(job.count), None), job.line)
    if active and job.depth is not None:
        run.add_metric("io_depth", Quantity(float(job.depth[0]), "count", job.depth[0], None), job.depth[1])
    for one in active:
        _write_direction(job, one, run)
    if active:
        for name, value, line in job.process:
            run.add_metric(name, value, line, scope="process")
        for device, value, line in job.disks:
            run.add_metric("utilisation", value, line, side="device", stream=device, scope="host")
    _write_snapshots(job, run)
    for code, severity, text, line in job.notes:
        run.add_event(code, severity, text, line)
    _end(job, run, has_numbers=bool(active))


def _describe(job: Job, run: Run, log: Log) -> None:
    runtimes = [one.runtime_ns for one in job.directions.values() if one.runtime_ns]
    words = [word for word in log.arguments if word.startswith("--")]
    command = dict(word[2:].split("=", 1) for word in words if "=" in word)
    options = {**command, **job.options}
    decimal = options.get("kb_base") == "1000"
    block = job.block_bytes or block_bytes(options.get("bs", options.get("blocksize", "")), decimal=decimal)
    job.block_bytes = block
    run.set(
        tool_version=job.version,
        dialect=job.dialect,
        test=options.get("rw") or options.get("readwrite"),
        client=job.host or log.host,
        message_bytes=block,
        requested_duration_ns=option_duration(options.get("runtime")),
        warmup_ns=option_duration(options.get("ramp_time")),
        duration_ns=max(runtimes, default=None),
        started_at=job.started_at,
    )


def _write_direction(job: Job, one: Direction, run: Run) -> None:
    scope = "run" if sum(not other.idle for other in job.directions.values()) == 1 else "stream"
    per_job = (job.count or 1) > 1 and job.old
    for name, value, line in one.metrics:
        sampled = per_job and name.startswith(("bandwidth_", "iops_"))
        run.add_metric(name, value, line, stream=one.name, scope="process" if sampled else scope)
    if per_job and one.get("bandwidth_mean") is not None:
        text = f"before 3.0 these samples are of one of the {job.count} jobs, not of all"
        run.add_event(
            "per_job_samples", "info", text, next(ln for name, _, ln in one.metrics if name == "bandwidth_mean")
        )
    for found in one.percentiles:
        row = run.add_quantile(found.q, found.value, found.line, metric=found.metric, stream=one.name)
        n = one.counts.get(found.metric) or (one.issued if found.metric != "sync_latency" else None)
        if n and row is not None:
            complete_quantile(row, n, max(math.ceil(found.q * n - 1e-9), 1))
    for metric, low, high, count, line in one.buckets:
        run.add_bucket(metric=metric, stream=one.name, low_ns=low, high_ns=high, count=count, line=line)
    _check_direction(job, one, run)
    check_numbers(run, *LATENCIES.values(), stream=one.name)


def _check_direction(job: Job, one: Direction, run: Run) -> None:
    """Bandwidth is bytes over time, and IOPS times the block size."""
    rate, size, iops = one.get("bandwidth"), one.get("transferred"), one.get("iops")
    if rate is None or not rate.value:
        return
    if size is not None and one.runtime_ns:
        computed = size.value / (one.runtime_ns / scale("s"))
        slack = (size.resolution or 0.0) / max(size.value, 1.0) + (rate.resolution or 0.0) / rate.value + 1e-3
        if abs(computed / rate.value - 1) > slack:
            text = f"{rate.printed} {rate.printed_unit} is not {size.value:.0f} bytes in {one.runtime_ns / 1e9:g} s"
            run.add_event("rate_mismatch", "warning", text, one.line)
    if iops is not None and iops.value and job.block_bytes:
        slack = _RATE_TOLERANCE + (iops.resolution or 0.0) / iops.value + (rate.resolution or 0.0) / rate.value
        if abs(iops.value * job.block_bytes / rate.value - 1) > slack:
            text = f"{iops.printed} I/Os of {job.block_bytes} bytes a second are not {rate.printed} {rate.printed_unit}"
            run.add_event("rate_mismatch", "warning", text, one.line)


def _write_snapshots(job: Job, run: Run) -> None:
    """What was transferred between one print and the next."""
    if not job.earlier:
        return
    text = f"printed {len(job.earlier) + 1} times while it ran; the last print is the run, the others its intervals"
    run.add_event("status_snapshot", "info", text, job.earlier[0].line)
    for one in job.directions.values():
        start, done, half = 0, 0.0, 0.0
        for each in (*job.earlier, job):
            found = each.directions.get(one.name)
            size = None if found is None else found.get("transferred")
            if found is None or size is None or not found.runtime_ns or found.runtime_ns <= start:
                continue
            row: dict[str, Any] = {"start_ns": start, "end_ns": found.runtime_ns, "line": found.line}
            own = size.resolution or 0.0
            row |= {"bytes": size.value - done, "bytes_resolution": (half + own) or None}
            run.add_interval(stream=one.name, omitted=False, **row)
            start, done, half = found.runtime_ns, size.value, own


def _end(job: Job, run: Run, *, has_numbers: bool) -> None:
    """The status, and why."""
    for line, text in job.failures:
        run.add_event("failed", "error", f"fio stopped: {text}", line)
    if job.error:
        run.set(status="failed")
        if not job.failures:
            text = f"the job ended with error {job.error}" + (f" ({job.error_text})" if job.error_text else "")
            run.add_event("failed", "error", f"{text}; its numbers are no result", job.line)
    elif job.failures and not has_numbers:
        run.set(status="failed")
    elif job.signal is not None:
        run.set(status="interrupted")
        line, text = job.signal
        run.add_event("interrupted", "warning", f"{text}; the numbers cover what there was", line)
    elif job.cut:
        run.set(status="truncated")
        severity = "warning" if has_numbers else "error"
        run.add_event("truncated", severity, "the log stops inside this job; what stands above is kept", job.last_line)
    elif not has_numbers:
        run.set(status="no_data")
        run.add_event("no_data", "error", "the job did no I/O; run it again", job.line)
