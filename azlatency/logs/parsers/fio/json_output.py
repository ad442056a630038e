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
from array import array
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from functools import partial
from typing import Any, NamedTuple

import msgspec

from azlatency.logs.json_lines import JsonLineMap
from azlatency.logs.json_tokens import (
    DEEPEST,
    ElementReader,
    JsonError,
    JsonObject,
    Kept,
    Scalar,
    read_object,
    skip_blanks,
    skip_comma,
)
from azlatency.logs.large import TooLargeError
from azlatency.logs.parsers import Log
from azlatency.logs.parsers.fio.job_columns import JobColumns
from azlatency.logs.parsers.fio.job_forms import FioDocument, JobText, read_bins, split_job
from azlatency.logs.parsers.fio.numbers import bucket_bounds, cut, percentile, share
from azlatency.logs.parsers.fio.run import KINDS, LATENCIES, Buckets, Direction, Job, Percentile, RunWriter
from azlatency.logs.record import Recorder
from azlatency.logs.units import Quantity, UnitError, count, exact_bytes, nanoseconds, quantity

_PERCENT = re.compile(r"\d{1,3}(?:\.\d{1,12})?")
#: Larger numbers do not fit the tables.
_MOST_DIGITS = 18
#: The lists of jobs; a job in which a document is cut keeps its complete members.
_KEPT: Kept = {"jobs": {}, "client_stats": {}}
#: Fewer lines below a long document are searched for another report of its jobs.
_MOST_LINES_BELOW = 1000
_MARKS_OF_JOBS = ("{", ";fio-", "=")
#: The rows of so many jobs of a long document are written together.
_JOBS_TOGETHER = 32
_RAWS = msgspec.json.Decoder(list[msgspec.Raw])
_SAMPLES = (("min", "min"), ("max", "max"), ("mean", "mean"), ("dev", "sd"), ("stddev", "sd"))


class _RawJob(NamedTuple):
    """A job that was not read yet: its position, its length, and its text; None if it is read number by number."""

    position: int
    length: int
    text: JobText | None


class _Header(NamedTuple):
    """What all jobs of a document share."""

    version: str | None
    date: str | None
    seconds: int | None
    disks: list[tuple[str, Quantity, int]]
    options: dict[str, str]


class Documents:
    """Reads the JSON documents of a log and adds their jobs to ``jobs``."""

    def __init__(self, log: Log, recorder: Recorder, jobs: list[Job]) -> None:
        self.line_map = JsonLineMap(log, recorder)
        self.log, self.recorder, self.jobs = log, recorder, jobs
        self.number = 0
        self.document_jobs: list[Job] = []

    def read(self, index: int, signal: tuple[int, str] | None, failures: list[tuple[int, str]]) -> int:
        """Read the document that begins in line ``index``; return the index of the first line after it."""
        self.number += 1
        self.document_jobs = []
        first = self.log.lines[index].number
        document, next_index, fault = self.line_map.read_document(index, _KEPT, self._reader())
        last = self.log.lines[next_index - 1].number
        if any(self.line_map.is_divided(node) for nodes in _lists_of(document) for node in nodes):
            is_alone = self._is_alone(next_index)
            self._read_long(document, (first, last), fault, signal, failures, is_alone=is_alone)
            return next_index
        self._read_jobs(document)
        if fault is not None:
            self._keep_complete_part(first, last, fault, self.line_map.line_number(fault.position))
        for job in self.document_jobs:
            job.last_line = max(job.last_line, last if job is self.document_jobs[-1] else job.line)
            job.signal = signal
        failed = next(
            (job for job in self.document_jobs if job.error), self.document_jobs[-1] if self.document_jobs else None
        )
        if failed is not None:
            failed.failures.extend(failures)
        self.jobs.extend(self.document_jobs)
        self.document_jobs = []  # a job refers to this object, and memory in a cycle is freed late
        return next_index

    def _keep_complete_part(self, first: int, last: int, fault: JsonError, line: int) -> None:
        if not self.document_jobs:
            self.document_jobs.append(Job(name="", line=first, dialect="fio-json"))
        job = self.document_jobs[-1]
        job.cut, job.last_line = True, last
        if not fault.at_end:
            text = "the document is not JSON from here on; the members above are kept"
            job.notes.append(("malformed", "error", text, line))

    def _read_jobs(self, document: JsonObject) -> None:
        for nodes in _lists_of(document):
            raws = [node for node in nodes if isinstance(node, _RawJob)]
            found = self._read_raws(raws, at_once=len(nodes) > 1)
            for node in nodes:
                if isinstance(node, _RawJob):
                    self.document_jobs.append(next(found))
                elif isinstance(node, JsonObject):
                    self.document_jobs.append(self._read_node(node))
                    node.forget()
        self._apply_header(self._read_header(document), self.document_jobs)

    def _read_node(self, node: JsonObject) -> Job:
        job = self._read_job(node)
        job.cut = not node.end
        job.last_line = self.line_map.line_number(node.end - 1) if node.end else job.line
        return job

    # --- very many jobs

    def _is_alone(self, next_index: int) -> bool:
        """Return whether there is no other report in the log of the jobs of the document that ends above a line."""
        lines = self.log.lines
        return not self.jobs and (
            self.log.document is not None
            or (
                len(lines) - next_index < _MOST_LINES_BELOW
                and not any(mark in line.text for line in lines[next_index:] for mark in _MARKS_OF_JOBS)
            )
        )

    def _read_long(
        self,
        document: JsonObject,
        lines: tuple[int, int],
        fault: JsonError | None,
        signal: tuple[int, str] | None,
        failures: list[tuple[int, str]],
        *,
        is_alone: bool,
    ) -> None:
        """Read the jobs of a document one by one; write them if there is no other report of them."""
        header = self._read_header(document)
        line = 0 if fault is None else self.line_map.line_number(fault.position)
        writer = RunWriter(self.recorder, self.log)
        nodes = [node for nodes in _lists_of(document) for node in nodes]
        nodes = [node for node in nodes if isinstance(node, JsonObject) or self.line_map.is_divided(node)]
        for node in nodes:
            found = self._long_list(node) if isinstance(node, Scalar) else iter([(self._read_node(node), True)])
            for number, (job, is_last_of_node) in enumerate(found, 1):
                is_last = is_last_of_node and node is nodes[-1]
                self.document_jobs = [job]
                self._apply_header(header, [job])
                if is_last and fault is not None:
                    self._keep_complete_part(*lines, fault, line)
                job.last_line = max(job.last_line, lines[1] if is_last else job.line)
                job.signal = signal
                if failures and (job.error or is_last):
                    job.failures, failures = [*failures], []
                if not is_alone:
                    job.expand()  # as long as its text is shown
                    self.jobs.append(job)
                    continue
                writer.write(job)
                if number % _JOBS_TOGETHER == 0:
                    writer.flush()
            writer.flush()
        for job in self.document_jobs if is_alone else ():
            job.is_written = True
            self.jobs.append(job)  # of which the text is a report

    def _long_list(self, node: Scalar) -> Iterator[tuple[Job, bool]]:
        """Yield the jobs of a long list, and whether each is the last one; its text is shown until the next one."""
        *_, last = self.line_map.pieces(node)
        for piece in self.line_map.windows(node.position):
            jobs = self._raw_jobs() if piece.is_valid and self.line_map.text.isascii() else self._slow_jobs()
            if (waiting := next(jobs, None)) is None:
                text = f"{piece.end - piece.begin} bytes of the list of jobs are no jobs; copy the log again"
                raise TooLargeError(text, piece.line + 1)
            while waiting is not None:
                job, waiting = waiting, next(jobs, None)
                yield job, waiting is None and piece is last

    def _raw_jobs(self) -> Iterator[Job]:
        """Yield the jobs in the text that is shown, a list that is valid."""
        text, place = self.line_map.text, 1
        raws = []
        for raw in map(bytes, _RAWS.decode(text)):
            place = skip_blanks(text, place)
            if text[place] == "{":
                raws.append(_RawJob(place, len(raw), split_job(raw)))
            place = skip_comma(text, place + len(raw), "]")
            if len(raws) == _JOBS_TOGETHER:
                yield from self._read_raws(raws, at_once=True)
                raws.clear()
        yield from self._read_raws(raws, at_once=True)

    def _slow_jobs(self) -> Iterator[Job]:
        """Yield the jobs in the text that is shown, any other list."""
        for node in self.line_map.shown(alike=False):
            if isinstance(node, JsonObject):
                yield self._read_node(node)

    def _reader(self) -> ElementReader | None:
        """Return what finds the jobs of a valid document without reading them; None if it is not possible."""
        document = self.log.document
        if not isinstance(document, FioDocument) or document.client_stats is not None:
            return None
        if not (text := self.line_map.text).isascii():
            return None
        raws = iter(document.jobs)

        def read(position: int, depth: int) -> tuple[_RawJob | JsonObject, int]:
            raw = bytes(next(raws, b""))
            if raw and text.startswith(raw.decode(), position):
                found = split_job(raw)
                if depth + (raw if found is None else found.form).count(b"{") <= DEEPEST:
                    return _RawJob(position, len(raw), found), position + len(raw)
            node = JsonObject()
            return node, read_object(text, position, node, depth)

        return read

    def _read_raws(self, raws: Sequence[_RawJob], *, at_once: bool) -> Iterator[Job]:
        """Read jobs of one list, as columns if their form is known."""
        texts = [raw.text for raw in raws if raw.text is not None]
        is_readable = read_bins(texts)
        text, end = self.line_map.text, raws[0].position if raws else 0
        line = self.line_map.line_number(end)
        for raw in raws:
            line += text.count("\n", end, raw.position)
            found = raw.text if raw.text is None or is_readable or read_bins([raw.text]) else None
            yield (job := self._read_raw(raw.position, found, line, at_once=at_once))
            line, end = job.last_line, raw.position + raw.length

    def _read_raw(self, position: int, text: JobText | None, line: int, *, at_once: bool) -> Job:
        """Read a job that begins in a line, as columns if its form is known."""
        template = None if text is None else text.template()
        if text is not None and template is not None:
            columns = text.columns(template, line, partial(self._read_slowly, position))
            if columns is not None:
                return self._read_columns(text, columns, line)
        job = self._read_slowly(position, node := JsonObject())
        if text is not None and template is None:
            kinds = bytes(self.recorder.accounting.kinds[line - 1 : job.last_line])
            text.learn(job, node, self.line_map.line_number, kinds, at_once=at_once)
        return job

    def _read_slowly(self, position: int, into: JsonObject | None = None) -> Job:
        self.line_map.read_object(position, node := into or JsonObject())
        return self._read_node(node)

    def _read_columns(self, text: JobText, columns: JobColumns, line: int) -> Job:
        """Return a job of a known form."""
        head = {name: int(text.tokens[index]) for name, index in columns.template.head.items()}
        job = Job(name=text.name, line=line, dialect=columns.template.dialect, group=head.get("groupid", 0))
        kinds = text.kinds(columns.template.marks)
        self.recorder.accounting.raise_each(line, kinds)
        job.last_line, job.options, job.columns = line + len(kinds) - 1, text.options, columns
        job.elapsed_start, job.started_at = head.get("elapsed"), _moment(head.get("job_start"))
        return job

    # --- members that all jobs of a document share

    def _read_header(self, node: JsonObject) -> _Header:
        version, date, seconds = node.value("fio version"), node.value("time"), node.value("timestamp")
        for name in ("fio version", "time", "timestamp"):
            if (leaf := node.leaf(name)) is not None:
                self.line_map.mark_data(leaf)
        return _Header(
            version.removeprefix("fio-") if isinstance(version, str) else None,
            " ".join(date.split()) if isinstance(date, str) else None,
            seconds if isinstance(seconds, int) else None,
            [disk for member in node.objects("disk_util") if (disk := self._disk(member)) is not None],
            _options(node.object("global options")),
        )

    def _apply_header(self, header: _Header, jobs: Sequence[Job]) -> None:
        for job in jobs:
            job.document = self.number
            job.version, job.date, job.disks = header.version, header.date, header.disks
            job.options = {**header.options, **job.options}
            if header.seconds is not None and job.elapsed_start is not None:
                job.elapsed_start = header.seconds - job.elapsed_start
            else:
                job.elapsed_start = None
            if job.columns is None:
                self._settle_size_unit(job)

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
        job.last_line = line
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
            if not (direction := node.object(kind)).is_empty:
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
        if node.is_empty:
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
        keys, counts, lines = node.whole_numbers(self.line_map.line_number)
        if not all(keys) or not "".join(keys).isdigit() or max(map(len, keys)) > _MOST_DIGITS:
            bins = [
                bin for bin in zip(keys, counts, lines, strict=True) if bin[0].isdigit() and len(bin[0]) <= _MOST_DIGITS
            ]
            keys, counts, lines = map(list, zip(*bins, strict=True)) if bins else ([], [], [])
        self.line_map.mark_lines(lines)
        if not lines:
            return
        direction.buckets.append(Buckets(metric, *bucket_bounds(keys), array("q", counts), array("q", lines)))
        total = sum(counts)
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

    def _settle_size_unit(self, job: Job) -> None:
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


def _lists_of(document: JsonObject) -> Iterator[list[Any]]:
    """Yield the lists of jobs."""
    return (value for key, value in document.pairs if key in _KEPT and isinstance(value, list))


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
