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

import tempfile
from array import array
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime
from functools import cached_property
from typing import IO, Any, NamedTuple

from azlatency.logs.large import FileText, TooLargeError
from azlatency.logs.parsers import Log
from azlatency.logs.parsers.common import check_numbers, complete_quantile
from azlatency.logs.parsers.fio.job_columns import JobColumns, JobRows
from azlatency.logs.parsers.fio.numbers import block_bytes, option_duration, quantile_ranks, rate_conflicts, version_of
from azlatency.logs.record import Recorder, Run
from azlatency.logs.spool import Stored
from azlatency.logs.units import Quantity

#: So many reports of the same job are compared, the latest ones.
_MOST_TWINS = 16
#: A report is compared with so many of those before it, at least.
_MOST_COMPARED = 2**12
#: Of a large log, so many reports are in memory with all their numbers.
_MOST_WHOLE = 2**7
#: The numbers that are compared, and those that show whether a direction is idle.
_COMPARED = ("transferred", "iops", "sync_latency_mean")
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


class Buckets(NamedTuple):
    """The histogram of one latency: the bounds (ns), count and line of each bucket."""

    metric: str
    lows: array[int]
    highs: array[int]
    counts: array[int]
    lines: array[int]


@dataclass
class Direction:
    """The numbers of one direction of a job."""

    name: str
    line: int
    metrics: list[tuple[str, Quantity, int]] = field(default_factory=list)
    percentiles: list[Percentile] = field(default_factory=list)
    buckets: list[Buckets] = field(default_factory=list)
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

    def compared(self) -> Direction:
        """Return the direction with the numbers that are compared."""
        metrics = [metric for metric in self.metrics if metric[0] in _COMPARED]
        return Direction(self.name, self.line, metrics, runtime_ns=self.runtime_ns, issued=self.issued)

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
                row = (state.runtime_ns, size.value, size.resolution or 0.0, state.line)
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
    columns: JobColumns | None = None
    """Numbers of a known form: ``directions``, ``process``, ``depth`` and ``notes`` are empty until `expand`."""
    is_written: bool = False
    """Whether the run was written, with those of a long document."""
    stored: Stored[Any] | None = None
    """The numbers in a file: until `expand`, there are only those that are compared."""

    @property
    def runtimes(self) -> dict[str, int]:
        """The runtimes of the directions that did I/O, in ns."""
        if self.columns is not None:
            return self.columns.runtimes
        directions = self.directions.values()
        return {
            direction.name: direction.runtime_ns
            for direction in directions
            if direction.runtime_ns and not direction.idle
        }

    def settle(self, file: IO[bytes]) -> None:
        """Move the numbers into a file, those of a job that was not written."""
        if self.columns is None and self.stored is None and not self.is_written:
            self.stored = Stored([(self.directions, self.process)], file)
            self.directions = {name: direction.compared() for name, direction in self.directions.items()}
            self.process = []

    def expand(self) -> None:
        """Read the numbers of a job of a known form one by one, or those in a file."""
        if self.stored is not None:
            ((self.directions, self.process),), self.stored = self.stored.load(), None
        if self.columns is not None:
            whole, self.columns = self.columns.read(), None
            self.directions, self.process, self.depth = whole.directions, whole.process, whole.depth
            self.notes = [*whole.notes, *self.notes]

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


class Reports(list[Job]):
    """The reports of a log as they are read; several reports of the same job are one run.

    The last reports may be changed, but for the numbers of all but the very last ones. The runs are written in the
    order of their last reports, when no further report can be compared with them.
    """

    def __init__(self, recorder: Recorder, log: Log) -> None:
        super().__init__()
        self._log, self._writer = log, RunWriter(recorder, log)
        self._is_large = isinstance(log.source.text, FileText)
        self._kept: dict[int, Job] = {}
        self._reports: dict[tuple[Any, ...], list[Job]] = {}  # by what two reports of the same moment share
        self._series: dict[tuple[Any, ...], list[Job]] = {}  # by what the reports of a job share

    @cached_property
    def _file(self) -> IO[bytes]:
        return tempfile.TemporaryFile(prefix="azlatency-")  # closed with the last report in it

    def append(self, job: Job) -> None:
        """Add a report."""
        super().append(job)
        if self._is_large and len(self) > _MOST_WHOLE:
            self[-_MOST_WHOLE].settle(self._file)
        if len(self) >= 2 * _MOST_COMPARED:
            self._compare(_MOST_COMPARED)

    def extend(self, jobs: Iterable[Job]) -> None:
        """Add reports."""
        for job in jobs:
            self.append(job)

    def write(self) -> None:
        """Write the runs of all reports."""
        self._compare(len(self))
        self._write(len(self._kept))
        self._reports, self._series = {}, {}

    def _compare(self, count: int) -> None:
        """Compare the first reports with those before them, which then are not in the list any more."""
        for job in self[:count]:
            if not job.is_written:
                self._add(job)
        del self[:count]
        self._write(len(self._kept) - _MOST_COMPARED)
        self._reports = {key: jobs[:_MOST_TWINS] for key, jobs in self._reports.items() if self._has_kept(jobs)}
        self._series = {key: jobs[-_MOST_TWINS:] for key, jobs in self._series.items() if self._has_kept(jobs)}

    def _has_kept(self, jobs: list[Job]) -> bool:
        return any(id(job) in self._kept for job in jobs)

    def _add(self, job: Job) -> None:
        if job.name == ALL_CLIENTS:
            self._kept[id(job)] = job
            return
        kept, same_report = self._kept, self._reports.setdefault((job.name, job.group, job.date), [])
        twin = next((other for other in same_report[:_MOST_TWINS] if id(other) in kept and job.repeats(other)), None)
        if twin is not None:
            twin.last_line = max(twin.last_line, job.last_line)
            text = f"the {job.dialect} report repeats the same job; it is not counted again"
            twin.notes.append(("printed_twice", "info", text, job.line))
            return
        earlier = [other for key in job.keys_of_earlier() for other in self._series.get(key, ())[-_MOST_TWINS:]]
        previous = next((other for other in reversed(earlier) if id(other) in kept and job.follows(other)), None)
        if previous is not None:
            del kept[id(previous)]
            job.earlier, previous.earlier = previous.earlier or Earlier(previous.line, previous.line), None
            job.earlier.add(previous)
            job.signal = job.signal or previous.signal
            job.failures = [*previous.failures, *job.failures]
        kept[id(job)] = job
        same_report.append(job)
        self._series.setdefault(job.key, []).append(job)

    def _write(self, count: int) -> None:
        """Write the runs that are first in order."""
        for job in list(self._kept.values())[: max(count, 0)]:
            if job.document and self and job.document == self[-1].document:
                text = f"more than {_MOST_COMPARED} jobs in one document, and other reports in the same log"
                raise TooLargeError(f"{text}; put each document in a file of its own", self._log.first_line)
            del self._kept[id(job)]
            self._writer.write(job)
            job.directions, job.process, job.columns = {}, [], None  # others may refer to the job
        self._writer.flush()


class RunWriter:
    """Writes jobs as runs."""

    def __init__(self, recorder: Recorder, log: Log) -> None:
        self._rows, self._recorder, self._log = JobRows(recorder), recorder, log

    def write(self, job: Job) -> None:
        """Write a job, or report a sum of jobs."""
        if job.name == ALL_CLIENTS:
            text = "the sum over all clients is not stored, because the clients are"
            self._recorder.add_event("aggregate_row", "info", text, job.line)
        else:
            _write_job(job, self._rows, self._recorder, self._log)

    def flush(self) -> None:
        """Write the rows of the last jobs."""
        self._rows.write()


def _write_job(job: Job, rows: JobRows, recorder: Recorder, log: Log) -> None:
    if job.earlier or job.notes or job.failures or job.signal or job.cut:
        job.expand()
    first = min([job.line, *([job.earlier.first] if job.earlier else []), *(line for line, _ in job.failures)])
    run = recorder.start_run("fio", first, last_line=max(job.last_line, job.line))
    _describe(job, run, log)
    if _write_columns(job, rows, run):
        return
    rows.write()
    job.expand()
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


def _write_columns(job: Job, rows: JobRows, run: Run) -> bool:
    """Write a job of a known form; False if its numbers have to be read one by one."""
    if job.columns is None or not job.columns.agree(job.block_bytes):
        return False
    if len({device for device, _, _ in job.disks}) < len(job.disks):
        return False
    rows.add(run.run_id, job.columns, job.disks)
    return True


def _describe(job: Job, run: Run, log: Log) -> None:
    runtimes = [direction.runtime_ns for direction in job.directions.values() if direction.runtime_ns]
    if job.columns is not None:
        runtimes = list(job.columns.runtimes.values())
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
    per_job = (job.count or 1) > 1 and job.old
    for name, value, line in direction.metrics:
        sampled = per_job and name.startswith(("bandwidth_", "iops_"))
        run.add_metric(name, value, line, stream=direction.name, scope="process" if sampled else scope)
    if per_job and direction.get("bandwidth_mean") is not None:
        text = f"before 3.0 these samples are of direction of the {job.count} jobs, not of all of them"
        line = next(line for name, _, line in direction.metrics if name == "bandwidth_mean")
        run.add_event("per_job_samples", "info", text, line)
    for metric, q, value, line in direction.percentiles:
        row = run.add_quantile(q, value, line, metric=metric, stream=direction.name)
        n = direction.counts.get(metric) or (direction.issued if metric != "sync_latency" else None)
        if n and row is not None:
            complete_quantile(row, n, *quantile_ranks([q], n))
    for metric, lows, highs, counts, lines in direction.buckets:
        columns = {"low_ns": lows, "high_ns": highs, "count": counts, "line": lines}
        run.add_columns("histograms", len(lows), metric=metric, stream=direction.name, **columns)
    _check_direction(job, direction, run)
    _check_samples(direction, run)
    check_numbers(run, *LATENCIES.values(), stream=direction.name)


def _check_direction(job: Job, direction: Direction, run: Run) -> None:
    """Report a bandwidth that is not bytes / time, or not IOPS times the block size."""
    rate, size, iops = (direction.get(name) for name in ("bandwidth", "transferred", "iops"))
    for text in rate_conflicts(rate, size, iops, direction.runtime_ns, job.block_bytes):
        run.add_event("rate_mismatch", "warning", text, direction.line)


def _check_samples(direction: Direction, run: Run) -> None:
    """Report samples of bandwidth or IOPS whose minimum, mean and maximum contradict each other."""
    for prefix in ("bandwidth", "iops"):
        low, mean, high = (direction.get(f"{prefix}_{name}") for name in ("min", "mean", "max"))
        for (small, name), (large, other) in (
            ((low, "min"), (high, "max")),
            ((low, "min"), (mean, "avg")),
            ((mean, "avg"), (high, "max")),
        ):
            if small is None or large is None:
                continue
            if small.value > large.value * (1 + 1e-9) + (small.resolution or 0.0) + (large.resolution or 0.0):
                line = next(line for metric, _, line in direction.metrics if metric.startswith(f"{prefix}_m"))
                text = f"{prefix}: {name} {small.printed} is greater than {other} {large.printed}"
                run.add_event("impossible_spread", "error", text, line)


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
        run.set(status="interrupted")
        line, text = job.signal
        run.add_event("interrupted", "warning", f"{text}; the numbers cover the time until then", line)
    elif run.codes & {"impossible_spread", "not_monotone"}:
        run.set(status="failed")
    elif job.cut:
        run.set(status="truncated")
        severity = "warning" if has_numbers else "error"
        run.add_event("truncated", severity, "the log ends inside this job; the lines above are kept", job.last_line)
    elif not has_numbers:
        run.set(status="no_data")
        run.add_event("no_data", "error", "the job did no I/O; repeat it", job.line)
