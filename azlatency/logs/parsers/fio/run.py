"""One fio job, and the tables that follow from it.

The readers of text, JSON and terse lines collect `Job` objects; `write_runs` writes them.

*Streams.* ``stream`` is the direction: ``read``, ``write``, ``trim``, ``mixed`` (``unified_rw_reporting``), or ``sync``
for the latencies of fsync. A direction without I/O is not stored, because its zeros were never measured. Disk
utilisation has ``side`` device and the device as ``stream``; it covers the host and all jobs together.

*Several reports.* ``--status-interval`` prints the same job repeatedly, each time from its start: the last report is
the run, and the differences of the bytes are its intervals. "All clients" is the sum of the jobs above it and is not
a run.
"""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, NamedTuple

from azlatency.logs.grammar.units import Quantity
from azlatency.logs.parsers import Log
from azlatency.logs.parsers.common import check_numbers, complete_quantile
from azlatency.logs.parsers.fio.numbers import block_bytes, option_duration, quantile_ranks, rate_conflicts, version_of
from azlatency.logs.record import Recorder, Run

#: At most this many other reports of the same job are compared with one, the latest ones.
_MOST_COMPARED = 16
ALL_CLIENTS = "All clients"
#: The directions of I/O.
KINDS = ("read", "write", "trim", "mixed")
#: The prefixes of fio's latencies and the names of the tables.
LATENCIES = {"slat": "submission_latency", "clat": "completion_latency", "lat": "total_latency", "sync": "sync_latency"}


class Percentile(NamedTuple):
    """One printed percentile."""

    metric: str
    q: float
    value: Quantity
    line: int


class Bin(NamedTuple):
    """One bucket of the histogram of a latency: its bounds (ns), number of I/Os and line."""

    metric: str
    low_ns: int
    high_ns: int
    n: int
    line: int


@dataclass
class Direction:
    """The numbers of one direction of a job."""

    name: str
    line: int
    metrics: list[tuple[str, Quantity, int]] = field(default_factory=list)
    percentiles: list[Percentile] = field(default_factory=list)
    bins: list[Bin] = field(default_factory=list)
    runtime_ns: int | None = None
    counts: dict[str, int] = field(default_factory=dict)
    """Number of observations of each latency, if it is printed."""
    issued: int | None = None

    def add(self, name: str, value: Quantity | None, line: int) -> None:
        """Add a number; None is missing and is not added."""
        if value is not None:
            self.metrics.append((name, value, line))

    def get(self, name: str) -> Quantity | None:
        """Return a number that was added before, or None."""
        for metric, value, _ in self.metrics:
            if metric == name:
                return value
        return None

    @property
    def idle(self) -> bool:
        """Whether nothing was read, written, trimmed or synchronised in this direction."""
        if (mean := self.get("sync_latency_mean")) is not None and mean.value:
            return False
        totals = (self.get("transferred"), self.get("iops"))
        return not self.issued and all(total is None or total.value == 0 for total in totals)


@dataclass
class Earlier:
    """What the earlier reports of a job printed: the line of the first one, the least line, and how many there are.

    ``series`` has the runtime (ns), the transferred bytes, their half-width and the line of each report by direction.
    """

    line: int
    first: int
    count: int = 0
    series: dict[str, tuple[array[Any], ...]] = field(default_factory=dict)

    def add(self, report: Job) -> None:
        """Add the next report."""
        self.first, self.count = min(self.first, report.line), self.count + 1
        for name, state in report.directions.items():
            columns = self.series.setdefault(name, (array("q"), array("d"), array("d"), array("q")))
            size, last = state.get("transferred"), columns[0][-1] if columns[0] else 0
            if size is not None and state.runtime_ns and state.runtime_ns > last:
                row = (state.runtime_ns, size.value, size.half, state.line)
                for column, value in zip(columns, row, strict=True):
                    column.append(value)


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
    """Start of the job in seconds since 1970, within a second; only JSON has it."""
    directions: dict[str, Direction] = field(default_factory=dict)
    process: list[tuple[str, Quantity, int]] = field(default_factory=list)
    disks: list[tuple[str, Quantity, int]] = field(default_factory=list)
    cut: bool = False
    signal: tuple[int, str] | None = None
    failures: list[tuple[int, str]] = field(default_factory=list)
    notes: list[tuple[str, str, str, int]] = field(default_factory=list)
    earlier: Earlier | None = None

    @property
    def runtimes(self) -> dict[str, int]:
        """The runtimes of the directions that did I/O, in ns."""
        directions = self.directions.values()
        return {
            direction.name: direction.runtime_ns
            for direction in directions
            if direction.runtime_ns and not direction.idle
        }

    def direction(self, name: str, line: int) -> Direction:
        """Return the direction of that name; add it if it is new."""
        return self.directions.setdefault(name, Direction(name, line))

    @property
    def old(self) -> bool:
        """Whether fio stored latencies in microseconds (before 3.0); an unknown version counts as new."""
        return (major := version_of(self.version)) is not None and major < (3, 0)

    @property
    def key(self) -> tuple[Any, ...]:
        """What the reports of one job share."""
        shared = (self.name, self.group, self.dialect, self.host, self.pid, self.started_at)
        return (*shared, None if self.pid or self.started_at else self.elapsed_start)

    def keys_of_earlier(self) -> list[tuple[Any, ...]]:
        """Return the keys that an earlier report of this job can have; a start in seconds may differ by two."""
        *shared, start = self.key
        return [self.key] if start is None else [(*shared, start + seconds) for seconds in range(-2, 3)]

    def _is_beside(self, other: Job) -> bool:
        """Whether both are in the same JSON document, which prints each job once; ``numjobs`` of them share a name."""
        return self.document != 0 and self.document == other.document

    def follows(self, other: Job) -> bool:
        """Whether this is a later report of the same job (``--status-interval``)."""
        same = (self.name, self.group, self.dialect, self.host) == (other.name, other.group, other.dialect, other.host)
        if not same or self._is_beside(other) or not _grown(other, self):
            return False
        if self.pid is not None and other.pid is not None:
            return self.pid == other.pid and self.pid != "0"
        if self.started_at is not None or other.started_at is not None:
            return self.started_at == other.started_at
        start, earlier = self.elapsed_start, other.elapsed_start
        return start is not None and earlier is not None and abs(start - earlier) <= 2

    def repeats(self, other: Job) -> bool:
        """Whether this is the same report in another format (``--output-format=normal,json``)."""
        if (self.name, self.group, self.date) != (other.name, other.group, other.date) or self.date is None:
            return False
        if self._is_beside(other):
            return False
        return self.dialect != other.dialect and self.runtimes.items() <= other.runtimes.items()


def _grown(before: Job, after: Job) -> bool:
    """Whether a later report covers more time and no smaller amount."""
    early, late = before.runtimes, after.runtimes
    if not late or not early.keys() <= late.keys() or any(late[name] < early[name] for name in early):
        return False
    sizes = [(before.directions[name].get("transferred"), after.directions[name].get("transferred")) for name in early]
    if any(size and later and size.value > later.value for size, later in sizes):
        return False
    return any(late[name] > early.get(name, 0) for name in late)


# --- tables


def write_runs(jobs: Sequence[Job], recorder: Recorder, log: Log) -> None:
    """Write the runs of the reports of a log, in the order of their last reports."""
    for job in _last_reports(jobs):
        if job.name == ALL_CLIENTS:
            text = "the sum over all clients is not stored, because the clients are"
            recorder.add_event("aggregate_row", "info", text, job.line)
        else:
            _write_job(job, recorder, log)


def _last_reports(jobs: Sequence[Job]) -> list[Job]:
    """Return the last report of each job; what the reports before it printed is its attribute ``earlier``."""
    last: dict[int, Job] = {}
    reports: dict[tuple[Any, ...], list[Job]] = {}  # by what two formats of the same report share
    series: dict[tuple[Any, ...], list[Job]] = {}  # by what the reports of a job share
    for job in jobs:
        if job.name == ALL_CLIENTS:
            last[id(job)] = job
            continue
        same = reports.setdefault((job.name, job.group, job.date), [])
        twin = next((other for other in same[:_MOST_COMPARED] if id(other) in last and job.repeats(other)), None)
        if twin is not None:
            twin.last_line = max(twin.last_line, job.last_line)
            text = f"the {job.dialect} report repeats the same job; it is not counted again"
            twin.notes.append(("printed_twice", "info", text, job.line))
            continue
        earlier = [other for key in job.keys_of_earlier() for other in series.get(key, ())[-_MOST_COMPARED:]]
        previous = next((other for other in reversed(earlier) if id(other) in last and job.follows(other)), None)
        if previous is not None:
            del last[id(previous)]
            job.earlier, previous.earlier = previous.earlier or Earlier(previous.line, previous.line), None
            job.earlier.add(previous)
            job.signal = job.signal or previous.signal
            job.failures = [*previous.failures, *job.failures]
        last[id(job)] = job
        same.append(job)
        series.setdefault(job.key, []).append(job)
    return list(last.values())


def _write_job(job: Job, recorder: Recorder, log: Log) -> None:
    first = min([job.line, *([job.earlier.first] if job.earlier else []), *(line for line, _ in job.failures)])
    run = recorder.start_run("fio", first, last_line=max(job.last_line, job.line))
    _describe(job, run, log)
    active = [direction for direction in job.directions.values() if not direction.idle]
    if active and job.count is not None:
        run.add_metric("jobs", _count(str(job.count)), job.line)
    if active and job.depth is not None:
        run.add_metric("io_depth", _count(job.depth[0]), job.depth[1])
    for direction in active:
        _write_direction(job, direction, run)
    if active:
        for name, value, line in job.process:
            run.add_metric(name, value, line, scope="process")
        for device, value, line in job.disks:
            run.add_metric("utilisation", value, line, side="device", stream=device, scope="host")
    _write_snapshots(job, run)
    for code, severity, text, line in job.notes:
        run.add_event(code, severity, text, line)
    _set_status(job, run, has_numbers=bool(active))


def _count(token: str) -> Quantity:
    return Quantity(float(token), "count", token, None)


def _describe(job: Job, run: Run, log: Log) -> None:
    runtimes = [direction.runtime_ns for direction in job.directions.values() if direction.runtime_ns]
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


def _write_direction(job: Job, direction: Direction, run: Run) -> None:
    scope = "run" if sum(not other.idle for other in job.directions.values()) == 1 else "stream"
    several = (job.count or 1) > 1
    per_job = several and job.old
    unknown = several and job.version is None and direction.get("bandwidth_mean") is not None
    for name, value, line in direction.metrics:
        if unknown and name.startswith(("bandwidth_", "iops_")):
            continue
        sampled = per_job and name.startswith(("bandwidth_", "iops_"))
        run.add_metric(name, value, line, stream=direction.name, scope="process" if sampled else scope)
    if per_job and direction.get("bandwidth_mean") is not None:
        text = f"before 3.0 these samples are of each of the {job.count} jobs, not of all of them"
        line = next(line for name, _, line in direction.metrics if name == "bandwidth_mean")
        run.add_event("per_job_samples", "info", text, line)
    if unknown:
        text = f"without the version, these samples may be of each of the {job.count} jobs or of all; they are left out"
        line = next(line for name, _, line in direction.metrics if name == "bandwidth_mean")
        run.add_event("version_unknown", "warning", text, line)
    for metric, q, value, line in direction.percentiles:
        row = run.add_quantile(q, value, line, metric=metric, stream=direction.name)
        n = direction.counts.get(metric) or (direction.issued if metric != "sync_latency" else None)
        if n and row is not None:
            complete_quantile(row, n, *quantile_ranks([q], n))
    for metric, low, high, n, line in direction.bins:
        run.add_bucket(metric=metric, stream=direction.name, low_ns=low, high_ns=high, count=n, line=line)
    _check_direction(job, direction, run)
    check_numbers(run, *LATENCIES.values(), stream=direction.name)


def _check_direction(job: Job, direction: Direction, run: Run) -> None:
    """Report rates that are not bytes / time, I/Os / time, or IOPS times the block size."""
    rate, size, iops = (direction.get(name) for name in ("bandwidth", "transferred", "iops"))
    time, exact = direction.runtime_ns, job.dialect.startswith("fio-json")
    bandwidth_mean, iops_mean = direction.get("bandwidth_mean"), direction.get("iops_mean")
    for text in (
        *rate_conflicts(rate, size, iops, time, job.block_bytes, direction.issued, exact=exact),
        *rate_conflicts(bandwidth_mean, None, iops_mean, None, job.block_bytes, None, exact=exact),
    ):
        run.add_event("rate_mismatch", "warning", text, direction.line)


def _write_snapshots(job: Job, run: Run) -> None:
    """Write what was transferred between one report and the next as intervals."""
    if job.earlier is None:
        return
    job.earlier.add(job)
    text = f"{job.earlier.count} reports of the job; the last one is the run, the differences are its intervals"
    run.add_event("status_snapshot", "info", text, job.earlier.line)
    for name in job.directions:
        start, done, half = 0, 0.0, 0.0
        for runtime, size, rounding, line in zip(*job.earlier.series[name], strict=True):
            row: dict[str, Any] = {"start_ns": start, "end_ns": runtime, "line": line}
            row |= {"bytes": size - done, "bytes_resolution": (half + rounding) or None}
            run.add_interval(stream=name, omitted=False, **row)
            start, done, half = runtime, size, rounding


def _set_status(job: Job, run: Run, *, has_numbers: bool) -> None:
    """Set the status of the run, and report why."""
    for line, text in job.failures:
        run.add_event("failed", "error", f"fio stopped: {text}", line)
    if job.error:
        run.set(status="failed")
        if not job.failures:
            text = f"the job ended with error {job.error}" + (f" ({job.error_text})" if job.error_text else "")
            run.add_event("failed", "error", f"{text}; its numbers are not a result", job.line)
    elif job.failures and not has_numbers:
        run.set(status="failed")
    elif job.signal is not None:
        line, text = job.signal
        run.end_as("interrupted", "warning", f"{text}; the numbers cover the time until then", line)
    elif "not_monotone" in run.codes:
        run.set(status="failed")
    elif job.cut:
        run.set(status="truncated")
        severity = "warning" if has_numbers else "error"
        run.add_event("truncated", severity, "the log ends inside this job; the lines above are kept", job.last_line)
    elif not has_numbers:
        run.end_as("no_data", "error", "the job did no I/O; repeat it", job.line)
