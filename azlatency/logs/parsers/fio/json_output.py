"""The JSON of fio (``--output-format=json`` and ``json+``): one or several documents, complete or cut.

::

    {"fio version" : "fio-3.33", "timestamp" : 1795227960, "timestamp_ms" : 1795227960360, "time" : "Sat Nov 21 …",
     "global options" : {...},
     "jobs" : [{"jobname" : "raid0", "groupid" : 0, "error" : 0, "eta" : 0, "elapsed" : 6, "job_start" : 1795227955,
        "job options" : {"rw" : "randread", "bs" : "4k", ...},
        "read" : {"io_bytes" : 448176128, "bw_bytes" : 89617302, "bw" : 87516, "iops" : 21879.22, "runtime" : 5001,
                  "total_ios" : 109418, "clat_ns" : {"min", "max", "mean", "stddev", "N",
                  "percentile" : {"99.000000" : 14614528}, "bins" : {"346112" : 1, ...}}, ...},
        "write" : {...}, "trim" : {...}, "sync" : {...}, "usr_cpu" : 2.62, "sys_cpu" : 21.6, ...}],
     "disk_util" : [{"name" : "vda", "util" : 31.19, ...}]}

- ``timestamp`` is when the document was written, not when the job began; only ``job_start`` (3.36) is the start.
- ``io_bytes`` is KiB before 2.21, which added ``io_kbytes``; it is checked with rate and time. ``bw`` is KiB/s, cut.
- Latencies are us in ``clat`` and ns in ``clat_ns`` (3.0). All zeros mean that nothing was measured.
- ``bins`` (json+) are the middles of the buckets with their counts; they are stored with the bounds of the buckets.
- ``client_stats`` (client and server) replaces ``jobs``; its "All clients" is a sum.
- A job with ``error`` looks complete but is not a result.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from contextlib import suppress
from datetime import UTC, datetime

from azlatency.logs.grammar.json_lines import JsonLineMap
from azlatency.logs.grammar.json_tokens import JsonError, JsonObject, Kept, Scalar
from azlatency.logs.grammar.units import Quantity, UnitError, count, exact_bytes, nanoseconds, quantity
from azlatency.logs.parsers import Log
from azlatency.logs.parsers.fio.numbers import bucket_of, cut, percentile, share
from azlatency.logs.parsers.fio.run import KINDS, LATENCIES, Bin, Direction, Job, Percentile
from azlatency.logs.record import Recorder

_PERCENT = re.compile(r"\d{1,3}(?:\.\d{1,12})?")
#: Larger numbers do not fit the tables.
_MOST_DIGITS = 18
#: The lists of jobs; a job in which a document is cut keeps its complete members.
_KEPT: Kept = {"jobs": {}, "client_stats": {}}
_SAMPLES = (("min", "min"), ("max", "max"), ("mean", "mean"), ("dev", "sd"), ("stddev", "sd"))


class Documents:
    """Reads the JSON documents of a log and adds their jobs to ``jobs``."""

    def __init__(self, log: Log, recorder: Recorder, jobs: list[Job]) -> None:
        self.line_map = JsonLineMap(log, recorder)
        self.log, self.recorder, self.jobs = log, recorder, jobs
        self.number = 0

    def read(self, index: int, signal: tuple[int, str] | None, failures: list[tuple[int, str]]) -> int:
        """Read the document that begins in line ``index``; return the index of the first line after it."""
        self.number += 1
        document, next_index, fault = self.line_map.read_document(index, _KEPT)
        last_line = self.log.lines[next_index - 1].number
        lists = (value for key, value in document.pairs if key in _KEPT and isinstance(value, list))
        jobs = [self._read_job(node) for nodes in lists for node in nodes if isinstance(node, JsonObject)]
        self._read_header(document, jobs)
        if fault is not None:
            if not jobs:
                jobs.append(Job(name="", line=self.log.lines[index].number, dialect="fio-json"))
            self._keep_complete_part(jobs[-1], last_line, fault)
        if jobs:
            jobs[-1].last_line = max(jobs[-1].last_line, last_line)
            failed = next((job for job in jobs if job.error), jobs[-1])
            failed.failures.extend(failures)
        for job in jobs:
            job.signal = signal
        self.jobs.extend(jobs)
        return next_index

    def _keep_complete_part(self, job: Job, last_line: int, fault: JsonError) -> None:
        job.cut, job.last_line = True, last_line
        if not fault.at_end:
            text = "the document is not JSON from here on; the members above are kept"
            job.notes.append(("malformed", "error", text, self.line_map.line_number(fault.position)))

    # --- members that all jobs of a document share

    def _read_header(self, node: JsonObject, jobs: Sequence[Job]) -> None:
        """Read what all jobs of a document share."""
        version, date, seconds = node.value("fio version"), node.value("time"), node.value("timestamp")
        for name in ("fio version", "time", "timestamp"):
            if (leaf := node.leaf(name)) is not None:
                self.line_map.mark_data(leaf)
        disks = [disk for member in node.objects("disk_util") if (disk := self._disk(member)) is not None]
        options = _options(node.object("global options"))
        for job in jobs:
            job.document = self.number
            job.version = version.removeprefix("fio-") if isinstance(version, str) else None
            job.date = " ".join(date.split()) if isinstance(date, str) else None
            job.disks = disks
            job.options = {**options, **job.options}
            is_known = isinstance(seconds, int) and job.elapsed_start is not None
            job.elapsed_start = seconds - job.elapsed_start if is_known else None
            self._detect_size_unit(job)

    def _disk(self, node: JsonObject) -> tuple[str, Quantity, int] | None:
        util, name = node.leaf("util"), node.value("name")
        if util is None or not _is_number(util) or not isinstance(name, str):
            return None
        return name, quantity(util.token, "%"), self.line_map.mark_data(util)

    # --- one job

    def _read_job(self, node: JsonObject) -> Job:
        name, group, error = node.value("jobname"), node.value("groupid"), node.value("error")
        line = self.line_map.line_number(node.position)
        job = Job(
            name=str(name or ""),
            line=line,
            dialect="fio-json",
            group=group if isinstance(group, int) else 0,
        )
        job.cut = not node.end
        job.last_line = self.line_map.line_number(node.end - 1) if node.end else line
        job.error = error if isinstance(error, int) else 0
        job.options = _options(node.object("job options"))
        if isinstance(host := node.value("hostname"), str):
            job.host = host
        elapsed, start = node.value("elapsed"), node.value("job_start")
        job.elapsed_start = elapsed if isinstance(elapsed, int) else None
        job.started_at = _moment(start)
        # fio uses the last one of duplicates.
        depth = next(reversed(node.object("job options").all("iodepth")), None)
        if isinstance(depth, Scalar) and depth.token.isdigit():
            job.depth = (depth.token, self.line_map.line_number(depth.position))
        for key in ("jobname", "error", "elapsed", "job_start", "hostname"):
            if (leaf := node.leaf(key)) is not None:
                self.line_map.mark_data(leaf)
        for kind in KINDS:
            if (direction := node.object(kind)).pairs:
                self._read_direction(direction, kind, job)
        self._sync(node.object("sync"), job)
        for key, metric in (("usr_cpu", "cpu_user"), ("sys_cpu", "cpu_system")):
            if (leaf := node.leaf(key)) is not None and _is_number(leaf):
                job.process.append((metric, quantity(leaf.token, "%"), self.line_map.mark_data(leaf)))
        if (leaf := node.leaf("total_err")) is not None and isinstance(leaf.value, int) and leaf.value:
            job.process.append(("errors", count(leaf.token), self.line_map.mark_data(leaf)))
        return job

    def _read_direction(self, node: JsonObject, kind: str, job: Job) -> None:
        direction = job.direction(kind, self.line_map.line_number(node.position))
        runtime, issued = node.leaf("runtime"), node.leaf("total_ios")
        if runtime is not None and isinstance(runtime.value, int) and runtime.value:
            with suppress(UnitError):  # larger than any time
                direction.runtime_ns = nanoseconds(runtime.token, "msec")
            self.line_map.mark_data(runtime)
        if issued is not None and isinstance(issued.value, int):
            direction.issued = issued.value
        self._add(direction, node, "io_bytes", "transferred", exact_bytes)
        self._add(direction, node, "bw_bytes", "bandwidth", lambda token: quantity(token, "fio B/s"))
        if direction.get("bandwidth") is None:
            self._add(direction, node, "bw", "bandwidth", _kib_rate)
        self._add(direction, node, "iops", "iops", _iops)
        for key, metric in (("total_ios", "issued"), ("short_ios", "short_ios"), ("drop_ios", "dropped_ios")):
            self._add(direction, node, key, metric, count)
        if direction.idle:
            job.directions.pop(kind)
            return
        if node.leaf("io_kbytes") is None:
            direction.counts["old_sizes"] = 1
        self._samples(direction, node)
        for prefix in ("slat", "clat", "lat"):
            for key, unit in ((prefix, "usec"), (prefix + "_ns", "nsec")):
                self._latency(direction, node.object(key), LATENCIES[prefix], unit, job)

    def _add(
        self,
        direction: Direction,
        node: JsonObject,
        key: str,
        metric: str,
        reader: Callable[[str], Quantity],
    ) -> None:
        leaf = node.leaf(key)
        if leaf is None or leaf.value is None:
            return
        try:
            direction.add(metric, reader(leaf.token), self.line_map.mark_data(leaf))
        except UnitError:
            return

    def _samples(self, direction: Direction, node: JsonObject) -> None:
        """Add the samples of bandwidth and IOPS, taken every half second; all zeros mean that there are none."""
        for prefix, metric, reader in (("bw", "bandwidth", _kib_rate), ("iops", "iops", _iops)):
            samples, mean = node.leaf(f"{prefix}_samples"), node.value(f"{prefix}_mean")
            if not mean or (samples is not None and not samples.value):
                continue
            for key, ending in _SAMPLES:
                self._add(direction, node, f"{prefix}_{key}", f"{metric}_{ending}", reader)
            self._add(direction, node, f"{prefix}_samples", f"{metric}_samples", count)

    def _latency(self, direction: Direction, node: JsonObject, metric: str, unit: str, job: Job) -> None:
        if not node.pairs:
            return
        n = node.leaf("N")
        numbers = [node.value(key) for key in ("min", "max", "mean")]
        if not any(numbers) or (n is not None and n.value == 0):
            return
        for key, ending in (("min", "min"), ("max", "max"), ("mean", "mean"), ("stddev", "sd")):
            leaf = node.leaf(key)
            if leaf is not None and _is_number(leaf):
                value = quantity(leaf.token, unit)
                if isinstance(leaf.value, int) and unit == "nsec":
                    value = value.with_resolution(None)
                direction.add(f"{metric}_{ending}", value, self.line_map.mark_data(leaf))
        if n is not None and isinstance(n.value, int):
            direction.counts[metric] = n.value
            if metric in ("completion_latency", "sync_latency"):
                direction.add("observations", count(n.token), self.line_map.mark_data(n))
        self._percentiles(direction, node.object("percentile"), metric, unit)
        self._bins(direction, node.object("bins"), metric, job)

    def _percentiles(self, direction: Direction, node: JsonObject, metric: str, unit: str) -> None:
        lines = []
        for key, token, line in self.line_map.numbers(node):
            # Unused places in the list of percentiles are printed as "0.00" : 0.
            if not token.lstrip("-").isdecimal() or len(token) > _MOST_DIGITS or not key.strip("0."):
                continue
            if _PERCENT.fullmatch(key) is None:
                continue
            value = percentile(token, unit)
            direction.percentiles.append(Percentile(metric, share(key), value, line))
            lines.append(line)
        self.line_map.mark_lines(lines)

    def _bins(self, direction: Direction, node: JsonObject, metric: str, job: Job) -> None:
        bins = [
            Bin(metric, *bucket_of(key), int(token), line)
            for key, token, line in self.line_map.numbers(node)
            if key.isdecimal() and token.isdecimal() and max(len(key), len(token)) <= _MOST_DIGITS
        ]
        self.line_map.mark_lines([bin.line for bin in bins])
        direction.bins += bins
        total = sum(bin.n for bin in bins)
        if not total:
            return
        job.dialect = "fio-json+"
        n = direction.counts.get(metric)
        if n is not None and n != total:
            text = f"the bins of {metric} add up to {total} I/Os, but the count is {n}"
            job.notes.append(("value_conflict", "error", text, direction.line))

    def _sync(self, node: JsonObject, job: Job) -> None:
        """Add the latencies of fsync; before 3.0 their percentiles are printed even if there was no fsync.

        The number of fsyncs is 0 or absent in several versions that print their latencies.
        """
        line = self.line_map.line_number(node.position)
        direction = Direction("sync", line)
        for key, unit in (("lat", "usec"), ("lat_ns", "nsec")):
            self._latency(direction, node.object(key), "sync_latency", unit, job)
        if not direction.metrics:
            return
        job.directions["sync"] = direction
        total = node.leaf("total_ios")
        if total is not None and isinstance(total.value, int) and total.value:
            direction.issued = total.value
            direction.add("issued", count(total.token), self.line_map.mark_data(total))
            if "sync_latency" not in direction.counts:
                direction.counts["sync_latency"] = total.value

    def _detect_size_unit(self, job: Job) -> None:
        """Decide whether ``io_bytes`` is KiB (before 2.21) or bytes: it must agree with rate and time."""
        for direction in job.directions.values():
            size, rate = direction.get("transferred"), direction.get("bandwidth")
            if not direction.counts.pop("old_sizes", 0) or size is None:
                continue
            index = next(i for i, (name, _, _) in enumerate(direction.metrics) if name == "transferred")
            line = direction.metrics.pop(index)[2]
            token = size.printed or "0"
            expected = rate.value * direction.runtime_ns / 1e9 if rate and direction.runtime_ns else None
            kib = quantity(token, "KiB").with_resolution(1024.0)
            if expected is not None and abs(kib.value - expected) <= 0.02 * expected + 2048:
                direction.metrics.insert(index, ("transferred", kib, line))
            elif expected is not None and abs(size.value - expected) <= 0.02 * expected + 2048:
                direction.metrics.insert(index, ("transferred", size, line))
            else:
                text = f"io_bytes {token} agrees with rate and time neither as bytes nor as KiB; it is left out"
                job.notes.append(("unit_ambiguous", "warning", text, line))


def _is_number(leaf: Scalar) -> bool:
    """Return whether a value is a number: of a damaged document, it may be a text."""
    return type(leaf.value) in (int, float)


def _options(node: JsonObject) -> dict[str, str]:
    """Return the options of a job; fio uses the last one of duplicates."""
    return {key: str(leaf.value) for key, leaf in node.pairs if isinstance(leaf, Scalar)}


def _moment(milliseconds: object) -> datetime | None:
    """Return a time in ms since 1970."""
    if not isinstance(milliseconds, int) or not 0 < milliseconds < 2**43:
        return None
    return datetime.fromtimestamp(milliseconds // 1000, UTC).replace(microsecond=milliseconds % 1000 * 1000)


def _kib_rate(token: str) -> Quantity:
    return cut(token, "fio KiB/s")


def _iops(token: str) -> Quantity:
    return quantity(token, "fio IOPS")._replace(printed_unit="IOPS")
