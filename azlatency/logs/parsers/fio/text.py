"""The normal output of fio (``--output-format=normal``) of all versions."""

from __future__ import annotations

import re
from functools import partial
from itertools import takewhile

from azlatency.logs.grammar.rules import KNOWN, Line, data, known
from azlatency.logs.grammar.units import Quantity, UnitError, count, nanoseconds, quantity
from azlatency.logs.parsers import Log
from azlatency.logs.parsers.common import LogReader
from azlatency.logs.parsers.fio.numbers import block_bytes, percentile, scaled, share, whole
from azlatency.logs.parsers.fio.run import ALL_CLIENTS, LATENCIES, Direction, Job, Percentile
from azlatency.logs.record import Recorder

_NUMBER = r" {0,20}([\d.]{1,20}[kKMG]?)"
_PLAIN = r" {0,20}([\d.]{1,20})"
_SIZE = r"([\d.]{1,12}) ?([kKMGT]?i?B)"
_RATE = r"([\d.]{1,12}) ?([kKMGT]?i?(?:B|bit)/s)"
_OLD_RATE = r"([\d.]{1,12}) ?([KMGT]?B/s)"
_OLD_ISSUED = r"(r=\d{1,18}/w=\d{1,18}/d=\d{1,18})"
_PERCENTILE = re.compile(r"([\d.]{1,12})th=\[ {0,20}(\d{1,20})\]")
_HOST = re.compile(r"<([\w.:-]{1,253})> ?")
_BLOCK = re.compile(r"\(([RWT])\) ([\w.]{1,20})-([\w.]{1,20})")
_OLD_BLOCKS = re.compile(r"([\w.]{1,20})-([\w.]{1,20})/([\w.]{1,20})-([\w.]{1,20})/([\w.]{1,20})-([\w.]{1,20})")
_USES = {"read": "R", "randread": "R", "write": "W", "randwrite": "W", "trim": "T", "randtrim": "T"}
_DIRECTIONS = ("read", "write", "trim", "sync")
_JOB = (
    r"(.{1,200}?): \(groupid=(\d{1,9}), jobs=(\d{1,9})\): err= {0,2}(-?\d{1,9})(?: \((.{1,300})\))?: "
    r"pid=(\d{1,12}): (\w{3} \w{3} [ \d]\d \d\d:\d\d:\d\d \d{4})"
)
_DEFINITION = (
    r"(.{1,200}?): \(g=(\d{1,9})\): rw=(\w{1,20}), (?:bs=(.{1,200}), )?ioengine=(\S{1,200}), iodepth=(\d{1,9})"
)
_STOPPED = r"fio: pid=\d{1,12}, err=(-?\d{1,9})(?:/(?:file:)?(.{1,400}))?"


class FioText(LogReader):
    """Reads the lines between the JSON documents of a log and adds their jobs to ``jobs``."""

    def __init__(self, log: Log, recorder: Recorder, jobs: list[Job]) -> None:
        super().__init__(log, recorder)
        self.jobs = jobs
        self.version: str | None = None
        self.definitions: dict[str, tuple[int, re.Match[str]]] = {}
        self.job: Job | None = None
        self.last: Direction | None = None
        self.percentiles: tuple[str, str] | None = None
        self.in_sync = False
        self.signal: tuple[int, str] | None = None
        self.failures: list[tuple[int, str]] = []
        self.ended = False
        self.had_results = False
        self.missing_totals: set[str] = set()
        """Directions of the jobs whose totals over all jobs were not read yet."""
        self.in_disks = False
        """The title of the disks was read, and no disk yet."""

    def read(self, line: Line) -> int:
        """Remove the name of the client, if there is one, and apply the rules."""
        text, host = line.text.strip(), None
        if prefix := _HOST.match(text):
            text, host = text[prefix.end() :], prefix[1]
            line = Line(line.number, text)
        if self.percentiles is not None and not text.startswith("|"):
            self.percentiles = None
        # The number at the end may have been longer.
        if re.search(r"\d\.?$", text) and self.is_cut(line, "its numbers are", severity="info"):
            return KNOWN
        kind = super().read(line)
        if host and self.job is not None and self.job.host is None and self.job.line == line.number:
            self.job.host = host
        if kind and self.job is not None:
            self.job.last_line = line.number
        return kind

    # --- what was run

    def _begin_invocation(self, line: Line) -> None:
        """Close the output of the command above, if it had results or errors."""
        if self.had_results or self.failures:
            self.close(line.number)
        self.had_results = False

    @data(r"fio-(\d[\w.+-]{1,60})", hint="fio-")
    def version_line(self, line: Line, match: re.Match[str]) -> None:
        """Read the version, which begins the output of a command."""
        if self.version is not None or self.had_results:
            self._begin_invocation(line)
        self.version = match[1]

    @data(_DEFINITION, hint=": (g=")
    def definition(self, line: Line, match: re.Match[str]) -> None:
        """Read the line that announces a job."""
        self._begin_invocation(line)
        if self.had_results is False and not self.definitions:
            self.version = None
        self.definitions[match[1]] = (line.number, match)

    @data(r"(fio: terminating on signal \d{1,3})", hint="terminating on signal")
    def terminated(self, line: Line, match: re.Match[str]) -> None:
        """Read that a signal stopped fio."""
        self.signal = (line.number, match[1])

    @data(_STOPPED, hint="fio: pid=")
    def stopped(self, line: Line, match: re.Match[str]) -> None:
        self.failures.append((line.number, f"error {match[1]}" + (f", {match[2]}" if match[2] else "")))

    @data(_JOB, hint="(groupid=")
    def result(self, line: Line, match: re.Match[str]) -> None:
        self.had_results = self.ended = True
        self._finish_job()
        self.job = Job(
            name=match[1],
            line=line.number,
            dialect="fio-text",
            version=self.version,
            group=int(match[2]),
            count=int(match[3]),
            error=int(match[4]),
            error_text=match[5],
            pid=match[6],
            date=re.sub(r" {2,}", " ", match[7]),
            signal=self.signal,
            cut=True,
        )
        self.ended = False
        self.last, self.in_sync = None, False
        if self.job.error:
            self.job.failures, self.failures = self.failures, []
        self._apply_definition(self.job)
        self.jobs.append(self.job)

    def _apply_definition(self, job: Job) -> None:
        """Set what the line that announced the job says: type, depth and block size."""
        if job.name not in self.definitions:
            return
        number, match = self.definitions[job.name]
        job.options["rw"] = match[3]
        job.depth = (match[6], number)
        job.block_bytes = _one_block(match[4] or "", match[3])

    # --- one direction

    @data(
        rf"(read|write|trim|mixed) ?: IOPS=([\d.]{{1,12}}[kMG]?), BW={_RATE} \({_RATE}\)\({_SIZE}/(\d{{1,15}})msec\)"
        r"(?:; \d{1,12} zone resets)?",
        hint=": IOPS=",
    )
    def direction(self, line: Line, match: re.Match[str]) -> None:
        """Begin a direction: IOPS, bandwidth, bytes and time (since 2.15)."""
        direction = self._begin_direction(line, match[1])
        size = quantity(match[7], f"fio {match[8]}")
        rate, second = (quantity(match[i], f"fio {match[i + 1]}") for i in (3, 5))
        if not rate.agrees(second):
            text = f"{rate.printed} {rate.printed_unit} is not {second.printed} {second.printed_unit}"
            self._note("unit_conflict", "warning", text, line)
        direction.runtime_ns = nanoseconds(match[9], "msec")
        digits, prefix = match[2].rstrip("kMG"), match[2][-1] if match[2][-1] in "kMG" else ""
        unit = f"fio {prefix}IOPS"
        iops = quantity(digits, unit) if prefix else whole(digits, unit)
        direction.add("bandwidth", _more_precise(rate, size, direction.runtime_ns), line.number)
        direction.add("iops", iops._replace(printed=match[2], printed_unit="IOPS"), line.number)
        direction.add("transferred", size, line.number)

    @data(
        rf"(read|write|trim|mixed) ?: io= ?([\d.]{{1,12}}) ?([KMGT]?B), bw= ?{_OLD_RATE}, iops= ?(\d{{1,12}}), "
        r"runt= {0,6}(\d{1,15})msec",
        hint="iops=",
    )
    def old_direction(self, line: Line, match: re.Match[str]) -> None:
        """Begin a direction in the format up to 2.14; numbers without decimals were cut."""
        direction = self._begin_direction(line, match[1])
        direction.runtime_ns = nanoseconds(match[7], "msec")
        direction.add("bandwidth", whole(match[4], f"fio old {match[5]}"), line.number)
        direction.add("iops", whole(match[6], "fio IOPS"), line.number)
        direction.add("transferred", quantity(match[2], f"fio old {match[3]}"), line.number)

    def _begin_direction(self, line: Line, name: str) -> Direction:
        self.in_sync = False
        if self.job is None:
            # The log begins below the line that names the job.
            self.job = Job(name="", line=line.number, dialect="fio-text", version=self.version, cut=True)
            self.had_results = True
            self.jobs.append(self.job)
        self.last = self.job.direction(name, line.number)
        self.missing_totals.add(name)
        return self.last

    @data(r"fsync/fdatasync/sync_file_range:", hint="fsync/")
    def begin_sync(self, line: Line, match: re.Match[str]) -> None:
        if self.job is not None:
            self.last = self.job.direction("sync", line.number)
            self.in_sync = True

    @data(
        rf"(slat|clat|lat|sync) \((nsec|usec|msec|sec)\): min={_NUMBER}, max={_NUMBER}, avg={_NUMBER}, stdev={_NUMBER}",
        hint="stdev=",
    )
    def latency(self, line: Line, match: re.Match[str]) -> None:
        """Read minimum, maximum, mean and deviation of a latency."""
        if self.last is None:
            return
        if match[1] == "sync" and self.job is not None and not self.in_sync:
            self.last = self.job.direction("sync", line.number)
            self.in_sync = True
        name = LATENCIES[match[1]]
        for ending, token in zip(("min", "max", "mean", "sd"), match.groups()[2:], strict=True):
            was_cut = ending in ("min", "max") and "." not in token and token[-1].isdigit()
            value = whole(token, match[2]) if was_cut else scaled(token, match[2])
            self.last.add(f"{name}_{ending}", value, line.number)

    @data(r"(slat|clat|lat|sync) percentiles \((nsec|usec|msec)\):", hint=" percentiles (")
    def begin_percentiles(self, line: Line, match: re.Match[str]) -> None:
        self.percentiles = (LATENCIES[match[1]], match[2])

    @data(r"\|(?: {1,6}[\d.]{1,12}th=\[ {0,20}\d{1,20}\],?){1,8}", hint="th=[")
    def percentile_row(self, line: Line, match: re.Match[str]) -> None:
        if self.last is None or self.percentiles is None or self.job is None:
            return
        (metric, unit), old = self.percentiles, self.job.old
        for q, token in _PERCENTILE.findall(match[0]):
            self.last.percentiles.append(Percentile(metric, share(q), percentile(token, unit, old=old), line.number))

    @data(
        rf"bw \( {{0,6}}(?P<unit>[kKMGT]?i?(?:B|bit)) {{0,4}}/s\): min={_PLAIN}, max={_PLAIN}, "
        rf"per= {{0,20}}[\d.]{{1,20}}%, avg={_PLAIN}, stdev={_PLAIN}(?:, samples={_PLAIN})?",
        hint="bw (",
    )
    @data(rf"iops +: min={_PLAIN}, max={_PLAIN}, avg={_PLAIN}, stdev={_PLAIN}, samples={_PLAIN}", hint="iops ")
    def samples(self, line: Line, match: re.Match[str]) -> None:
        """Read the statistics of the samples of the bandwidth or of the IOPS."""
        if self.last is None:
            return
        *tokens, number = match.groups()[-5:]
        prefix, unit = "iops", "fio IOPS"
        if "unit" in match.re.groupindex:
            old = self.job is not None and self.job.old and match["unit"] in ("B", "KB", "MB", "GB", "TB")
            # Since 2.15 the prefix is unambiguous; samples are bytes even if the rates above are bits.
            prefix, unit = "bandwidth", f"fio {'old ' if old else ''}{match['unit']}/s"
        for ending, token in zip(("min", "max", "mean", "sd"), tokens, strict=True):
            self.last.add(f"{prefix}_{ending}", quantity(token, unit), line.number)
        if number is not None:
            self.last.add(f"{prefix}_samples", count(number), line.number)

    # --- the job as a whole

    @data(
        r"cpu +: usr=(?P<cpu_user>[\d.]{1,10})%, sys=(?P<cpu_system>[\d.]{1,10})%, ctx=\d{1,18}, majf=\d{1,18}, "
        r"minf=\d{1,18}",
        hint="cpu ",
    )
    @data(r"errors +: total=(?P<errors>\d{1,18}), first_error=-?\d{1,9}/<.{0,200}>", hint="first_error=")
    def process(self, line: Line, match: re.Match[str]) -> None:
        """Read the shares of the CPU or the number of errors."""
        if self.job is not None:
            for name, token in match.groupdict().items():
                value = count(token) if name == "errors" else quantity(token, "%")
                self.job.process.append((name, value, line.number))

    @data(r"issued rwts?: total=([\d,]{1,80}) short=([\d,]{1,80}) dropped=([\d,]{1,80})", hint="issued rwt")
    @data(rf"issued +: total={_OLD_ISSUED}, short={_OLD_ISSUED}(?:, drop={_OLD_ISSUED})?", hint="issued ")
    def issued(self, line: Line, match: re.Match[str]) -> None:
        """Read the numbers of I/Os by direction, near the end of a report."""
        if self.job is None:
            return
        self.job.cut = False
        total, short, dropped = (re.findall(r"\d+", part or "0/0/0") for part in match.groups())
        for index, name in enumerate(_DIRECTIONS):
            direction = self.job.directions.get(name)
            if direction is None or index >= len(total):
                continue
            direction.issued = int(total[index])
            for metric, numbers in (("issued", total), ("short_ios", short), ("dropped_ios", dropped)):
                if index < len(numbers):
                    direction.add(metric, count(numbers[index]), line.number)

    @data(
        r"(\S{1,100}): ios=\d{1,18}/\d{1,18}, (?:sectors=\d{1,18}/\d{1,18}, )?merge=\d{1,18}/\d{1,18}, "
        r"ticks=\d{1,18}/\d{1,18}, in_queue=\d{1,18}, util=([\d.]{1,10})%(?:, aggr.{1,300})?",
        hint=": ios=",
    )
    def disk(self, line: Line, match: re.Match[str]) -> None:
        """Read the utilisation of a disk, which concerns all jobs of the command."""
        self.in_disks = False
        if self.job is None:
            return
        value = quantity(match[2], "%")
        for job in takewhile(partial(_is_below, self._first_result()), reversed(self.jobs)):
            if job.dialect == "fio-text":
                job.disks.append((match[1], value, line.number))

    def _first_result(self) -> int:
        """Line of the first job of this invocation."""
        return min((number for number, _ in self.definitions.values()), default=self.job.line if self.job else 0)

    @data(r"(READ|WRITE|TRIM|MIXED): (?:bw|io)=.{1,400}, (?:run|maxt)= {0,6}\d{1,15}(?:-\d{1,15})?msec", hint="msec")
    def total(self, line: Line, match: re.Match[str]) -> None:
        """Read a total over all jobs, which repeats their numbers."""
        self.missing_totals.discard(match[1].lower())

    @data(r"Disk stats \(read/write\):", hint="Disk stats")
    def begin_disks(self, line: Line, match: re.Match[str]) -> None:
        self.in_disks = True

    @data(r"fio: (.{1,400})", hint="fio: ")
    def message(self, line: Line, match: re.Match[str]) -> None:
        self.recorder.add_event("message", "info", f"fio reported: {match[1]}", line.number)

    # --- the end

    def _note(self, code: str, severity: str, text: str, line: Line) -> None:
        if self.job is not None:
            self.job.notes.append((code, severity, text, line.number))

    def _finish_job(self) -> None:
        if self.job is not None and self.job.error:
            self.job.cut = False
        self.job = self.last = self.percentiles = None

    def unmatched(self, line: Line) -> None:
        """End the percentiles at an unknown line."""
        self.percentiles = None

    def take_signal(self) -> tuple[int, str] | None:
        """Return the signal that the result of the next document explains, once."""
        signal, self.signal = self.signal, None
        return signal

    def take_failures(self) -> list[tuple[int, str]]:
        """Return the errors that the result of the next document explains, once."""
        failures, self.failures = self.failures, []
        return failures

    def close(self, next_line: int) -> None:
        """End the output of a command: announced jobs without a result were cut or failed."""
        self._finish_job()
        if (self.missing_totals or self.in_disks) and self.jobs and self.jobs[-1].dialect == "fio-text":
            self.jobs[-1].cut = True
        self.missing_totals, self.in_disks = set(), False
        results = self._results()
        unanswered = [
            (number, match)
            for name, (number, match) in self.definitions.items()
            if number >= max(results.get(name, 0), results[None])
        ]
        if self.failures and not unanswered:
            self._assign_failures()
        for number, match in unanswered:
            job = Job(
                name=match[1], line=number, dialect="fio-text", version=self.version, last_line=next_line - 1, cut=True
            )
            job.failures, self.failures = self.failures, []
            job.signal = self.signal
            self.definitions[job.name] = (number, match)
            self._apply_definition(job)
            self.jobs.append(job)
        self.definitions, self.version, self.signal, self.failures = {}, None, None, []

    def _results(self) -> dict[str | None, int]:
        """Return the line of the last result by name; under None that of a JSON document, which has all results."""
        results: dict[str | None, int] = {None: 0}
        first = min((number for number, _ in self.definitions.values()), default=0)
        for job in takewhile(partial(_is_below, first), reversed(self.jobs)):
            names = (job.name, None) if job.name == ALL_CLIENTS or job.dialect.startswith("fio-json") else (job.name,)
            for name in names:
                results[name] = max(results.get(name, 0), job.line)
        return results

    def _assign_failures(self) -> None:
        """Assign errors without a result to the last job, or open a job for them."""
        last = next((job for job in reversed(self.jobs) if job.dialect == "fio-text"), None)
        if last is not None and self.had_results:
            last.failures.extend(self.failures)
            return
        first, final = self.failures[0][0], self.failures[-1][0]
        self.jobs.append(
            Job(name="", line=first, dialect="fio-text", version=self.version, failures=self.failures, last_line=final)
        )

    known = known(
        ("...", r"\.{3}", ""),
        ("Starting ", r"Starting \d{1,9} (?:process|processes|thread|threads)(?: and \d{1,9} \w{1,12})?"),
        ("Laying out IO file", r".{1,200}?: Laying out IO files? ?(?:\(s\) )?\(.{1,100}\)"),
        ("Jobs: ", r"(?:client <.{1,100}>: )?Jobs: \d{1,9} \(f=\d{1,9}\).{0,400}"),
        ("No I/O performed", r".{1,200}: No I/O performed by .{1,200}"),
        ("Description", r"Description +: \[.{0,400}\]"),
        ("=", r"lat \((?:nsec|usec|msec)\) *: (?:[>=\d]{1,8}=[\d.]{1,8}%(?:, |,)?){1,20}"),
        ("IO depths", r"IO depths +: .{1,200}"),
        ("submit ", r"submit +: .{1,200}"),
        ("complete ", r"complete +: .{1,200}"),
        ("latency ", r"latency +: target=.{1,200}"),
        ("Run status group ", r"Run status group \d{1,9} \(all jobs\):"),
        ("note: ", r"note: .{1,400}"),
        ("hostname=", r"hostname=\S{1,253}, be=\d, .{1,300}"),
    )


def _is_below(line: int, job: Job) -> bool:
    """Return whether a job is reported in or below a line."""
    return job.line >= line


def _more_precise(rate: Quantity, size: Quantity, runtime_ns: int) -> Quantity:
    """Return the printed rate, or bytes / time if that is more precise; ``printed`` stays the token of the rate."""
    if not runtime_ns or not rate.value or not size.value:
        return rate
    half_ms = 0.5 * nanoseconds("1", "msec")
    share = size.half / size.value + half_ms / runtime_ns
    value = size.value * nanoseconds("1", "s") / runtime_ns
    if share * value >= rate.half or abs(value - rate.value) > 2 * rate.half:
        return rate
    return rate._replace(value=value, resolution=share * value)


def _one_block(text: str, rw: str) -> int | None:
    """Return the block size if all I/Os of the job have the same."""
    if old := _OLD_BLOCKS.fullmatch(text):
        pairs = {"R": (old[1], old[2]), "W": (old[3], old[4]), "T": (old[5], old[6])}
    else:
        pairs = {block[1]: (block[2], block[3]) for block in _BLOCK.finditer(text)}
    sizes = {pairs[use] for use in _USES.get(rw, "RW") if use in pairs}
    tokens = {token for pair in sizes for token in pair}
    return _block(tokens.pop()) if len(tokens) == 1 else None


def _block(token: str) -> int | None:
    """Return the size that ``4096B``, ``16.0KiB`` or ``4K`` spells, or None if it is not an integer."""
    digits = token.rstrip("kKMGTiB")
    suffix = token[len(digits) :]
    try:
        if suffix in ("", "K", "M", "G"):
            return block_bytes(token) if suffix != "G" else None
        value = quantity(digits, f"fio {suffix}").value
    except UnitError:
        return None
    return round(value) if value == round(value) else None
