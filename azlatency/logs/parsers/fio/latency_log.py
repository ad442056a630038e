"""The log files of fio: latency, bandwidth, IOPS and histogram logs, which have no header.

::

    500, 1588323, 0, 0, 0              time (ms), value, direction (0 read, 1 write, 2 trim), bytes of the I/O, priority
    1001, 0, 16384, 0, 0, 2, 0, …      time (ms), direction, bytes, counts of 1216 or 1856 buckets

A file is such a log only if every line has this form and the same number of fields. Only the name of the file
(``x_clat.1.log``, ``x_bw.log``) says what the value is; its unit depends on the version: latencies are us before 3.0
and ns since, and both print four fields. Five fields are 3.20, or an old log with offsets, which are multiples of the
block. If the name or the unit is unknown, the numbers are left out (``unit_ambiguous``).

The tables have no column for single I/Os over time, so the log is condensed (``log_not_kept``):

- latency log of single I/Os: number, mean, deviation, extremes, and the histogram in the buckets that fio uses;
- averaged log (``log_avg_msec``, 0 bytes): the intervals of a bandwidth log with the printed rate; averages of
  latencies and of IOPS over windows are not observations and are not stored;
- bandwidth or IOPS log of single I/Os: number and bytes. Its rates are block size / latency, not the bandwidth of the
  disk;
- histogram log: the buckets, summed over time.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from azlatency.logs.grammar.rules import BLANK, DATA, UNKNOWN, Line
from azlatency.logs.grammar.samples import SampleColumns
from azlatency.logs.grammar.units import Quantity, quantity, scale
from azlatency.logs.parsers import Log
from azlatency.logs.parsers.fio.numbers import Bucket, bucket_of
from azlatency.logs.parsers.fio.run import LATENCIES
from azlatency.logs.record import Recorder, Run
from azlatency.logs.source.lines import UniformBlock, iter_blocks

ROW = (
    r"(?P<time>\d{1,13}), (?P<value>-?\d{1,18}), (?P<stream>[012]), (?P<size>\d{1,10})"
    r"(?:, (?P<fifth>\d{1,20})(?:, (?P<sixth>\d{1,20})(?:, (?P<seventh>\d{1,20}))?)?)?"
)
HISTOGRAM_ROW = r"\d{1,13}, [012], \d{1,10}(?:, \d{1,18}){1216}(?:(?:, \d{1,18}){640})?,?"
_ROW = re.compile(ROW)
_HISTOGRAM_ROW = re.compile(HISTOGRAM_ROW)
_NAME = re.compile(r".{0,4000}?_(slat|clat|lat|bw|iops)(?:\.\d{1,6})?(?:\.log)?(?:\.(?:gz|bz2|xz|zst))?")
_STREAMS = ("read", "write", "trim")
_OLD_BUCKETS, _BUCKETS = 1216, 1856
_GROUP = 64
_MS, _US = round(scale("ms")), round(scale("us"))
_WITH_PRIORITY = 5
#: I/Os that end together are logged in any order; a step back of more than this, to less than half, is another log.
_DISORDER_MS = 100
#: At most this many different sizes and last fields are kept: they show all that is asked of them.
_SEVERAL = 2


#: Number of the line, time, value, stream, size and last field of a row.
_Row = tuple[int, int, int, int, int, int]


@dataclass
class _Rows:
    """The rows of a log, which are read again whenever they are needed."""

    log: Log
    first: int
    last: int
    fields: int
    skipped: int

    def __iter__(self) -> Iterator[_Row]:
        for item in iter_blocks(self.log.lines):
            if isinstance(item, UniformBlock) and (columns := _columns(item)) is not None:
                yield from zip(range(item.first, item.last + 1), *columns, strict=True)
                continue
            for line in [item] if isinstance(item, Line) else item:
                parts = line.text.strip().split(", ")
                if line.number != self.skipped and len(parts) > 1:
                    time, value, stream, size = map(int, parts[:4])
                    yield line.number, time, value, stream, size, int(parts[-1])


def read_latency_log(log: Log, recorder: Recorder) -> bool:
    """Read a log that consists of rows only; return False, without changes, if it does not."""
    ends = (log.lines[index] for index in range(len(log.lines) - 1, -1, -1))
    last, cut, skipped = next((line for line in ends if line.text.strip()), None), log.unfinished_line, 0
    for pattern in (_ROW, _HISTOGRAM_ROW):
        # A last row without a line feed may be cut; it is left out.
        if last is not None and last.number == cut != skipped and not pattern.fullmatch(last.text.strip()):
            recorder.accounting.mark(cut, UNKNOWN)
            skipped = cut
        rows = _find_rows(log, pattern, skipped)
        if rows is not None:
            for item in iter_blocks(log.lines):
                if isinstance(item, UniformBlock):
                    recorder.accounting.raise_range(item.first, item.last, DATA)
                else:
                    recorder.accounting.mark(item.number, DATA if item.text.strip() else BLANK)
            (_read_samples if pattern is _ROW else _read_histograms)(rows, recorder)
            return True
    return False


def _find_rows(log: Log, pattern: re.Pattern[str], skipped: int) -> _Rows | None:
    """Return the rows if all lines match a pattern and have the same number of fields, but for the last one."""
    first = last = fields = widths = 0
    for item in iter_blocks(log.lines):
        if isinstance(item, UniformBlock) and pattern is _ROW and _columns(item) is not None:
            lines = [item[0], item[len(item) - 1]]
        else:
            lines = [item] if isinstance(item, Line) else list(item)
        for line in lines:
            text = line.text.strip()
            if not text or line.number == skipped:
                continue
            if pattern.fullmatch(text) is None or (last and widths not in (0, fields)):
                return None
            widths = line.text.count(",") + 1
            fields = fields or widths
            first, last = first or line.number, line.number
    return _Rows(log, first, last, fields, skipped) if first else None


def _columns(block: UniformBlock) -> list[list[int]] | None:
    """Return time, value, stream, size and last field of many rows; None if they must be read one by one."""
    match = _ROW.fullmatch(block[0].text.strip())
    if match is None:
        return None
    most = {"time": 10**13, "value": 10**18, "stream": 3, "size": 10**10, "fifth": 10**20, "sixth": 10**20}
    columns = block.columns(match, widths=("stream",), **dict.fromkeys([*most, "seventh"], 0))
    if columns is None or (columns["stream width"] > 1).any():
        return None
    if any(abs(columns[name]).max() >= most[name] for name in ("time", "value", "stream", "size")):
        return None
    ending = next(name for name in ("seventh", "sixth", "fifth", "size") if name in columns)
    return [columns[name].tolist() for name in ("time", "value", "stream", "size", ending)]


def _read_samples(rows: _Rows, recorder: Recorder) -> None:
    log = rows.log
    named = _NAME.fullmatch(log.source.path.lower())
    kind = named[1] if named else None
    run = recorder.start_run("fio", rows.first, last_line=rows.last, dialect=f"fio-log-{kind or 'unknown'}")
    endings: set[int] = set()
    if log.unfinished_line == rows.last:
        run.set(status="truncated")
        run.add_event("unfinished_line", "info", "the log ends within this line; its row is left out", rows.last)
        endings.add(int(log.lines[-1].text.strip().rsplit(", ", 1)[-1]))
        rows.skipped = rows.last
    totals = [_Total() for _ in _STREAMS]
    longest = again = 0
    begun: int | None = None
    sizes: set[int] = set()
    for line, time, _, stream, size, ending in rows:
        begun = time if begun is None else begun
        if time < longest and not again:
            # The times of averages, which have no size, rise: the first one comes back only in another log.
            falls = longest - time > max(_DISORDER_MS, longest / 2) or (not size and time <= begun < longest)
            again = line if falls else 0
        longest = max(longest, time)
        total = totals[stream]
        total.rows, total.size, total.line = total.rows + 1, total.size + size, total.line or line
        if len(sizes) <= _SEVERAL:
            sizes.add(size)
        if len(endings) <= _SEVERAL:
            endings.add(ending)
    streams = [name for name, total in zip(_STREAMS, totals, strict=True) if total.rows]
    if again:
        _refuse_joined_logs(run, again)
        return
    averaged, sizes = sizes == {0}, sizes - {0}
    run.set(duration_ns=longest * _MS, message_bytes=sizes.pop() if len(sizes) == 1 else None)
    run.set(test=streams[0] if len(streams) == 1 else None)
    if kind is None:
        text = "the file name does not show whether these are latencies, rates or IOPS; the numbers are left out"
        run.add_event("unit_ambiguous", "warning", text, rows.first)
    elif kind == "bw" and averaged:
        _write_rates(run, rows)
    elif kind in LATENCIES and not averaged:
        _write_latencies(run, rows, LATENCIES[kind], endings)
    _write_counts(run, totals, rows.first, averaged=averaged)


def _refuse_joined_logs(run: Run, line: int) -> None:
    """Fail a run whose times start again in a line, before any of its numbers is written."""
    run.set(status="failed")
    text = f"the times start again in line {line}: several logs in one file, left out; separate them"
    run.add_event("joined_logs", "error", text, line)


@dataclass
class _Total:
    """Number and bytes of the rows of one direction, with its first line."""

    rows: int = 0
    size: int = 0
    line: int = 0


def _write_rates(run: Run, rows: _Rows) -> None:
    """Write the averages of the bandwidth, each over the time since the previous row of its direction."""
    previous: dict[int, int] = {}
    for line, time, value, stream, _, _ in rows:
        start, end = previous.get(stream, 0), time * _MS
        if end > start:
            rate = quantity(str(value), "fio KiB/s").value
            columns = {"stream": _STREAMS[stream], "start_ns": start, "end_ns": end, "line": line}
            run.add_interval(**columns, throughput_printed_bit_s=8 * rate, omitted=False)
        previous[stream] = end


def _write_latencies(run: Run, rows: _Rows, metric: str, endings: set[int]) -> None:
    """Write the latencies of single I/Os if their unit is certain."""
    if rows.fields != _WITH_PRIORITY or not endings <= {0, 1}:
        text = f"{rows.fields} fields: us before fio 3.0, ns since, and the log has no version; the values are left out"
        run.add_event("unit_ambiguous", "warning", text, rows.first)
        return
    samples = [SampleColumns() for _ in _STREAMS]
    lines: dict[int, int] = {}
    buckets: list[Counter[Bucket]] = [Counter() for _ in _STREAMS]
    for line, _, value, stream, size, _ in rows:
        if size:
            lines.setdefault(stream, line)
            samples[stream].add(0, value)
            buckets[stream][bucket_of(value)] += 1
    for index, name in enumerate(_STREAMS):
        values, extremes = samples[index].rtt, samples[index].extremes()
        if extremes is None:
            continue
        line = lines[index]
        mean = math.fsum(values) / len(values)
        statistics = {"min": float(extremes[0]), "max": float(extremes[1]), "mean": mean}
        if len(values) > 1:
            spread = math.fsum(((value or 0) - mean) ** 2 for value in values)
            statistics["sd"] = math.sqrt(spread / (len(values) - 1))
        for ending, number in statistics.items():
            run.add_metric(f"{metric}_{ending}", Quantity(number, "ns", None, None), line, stream=name)
        for bucket, times in sorted(buckets[index].items()):
            run.add_bucket(metric=metric, stream=name, low_ns=bucket.low, high_ns=bucket.high, count=times, line=line)


def _write_counts(run: Run, totals: Sequence[_Total], first: int, *, averaged: bool) -> None:
    for stream, total in zip(_STREAMS, totals, strict=True):
        if total.rows and not averaged:
            for name, number, unit in (("observations", total.rows, "count"), ("transferred", total.size, "bytes")):
                run.add_metric(name, Quantity(float(number), unit, None, None), total.line, stream=stream)
    content = "averages over windows" if averaged else "single I/Os"
    number = sum(total.rows for total in totals)
    text = f"{number} {content}: number, distribution and rates are stored, not the values over time"
    run.add_event("log_not_kept", "info", text, first)


# --- histograms


def bucket_at(index: int) -> Bucket:
    """Return the bucket with this index (plat_idx_to_val in stat.c)."""
    if index < 2 * _GROUP:
        return Bucket(index, index + 1)
    shift = index // _GROUP - 1
    low = (_GROUP + index % _GROUP) << shift
    return Bucket(low, low + (1 << shift))


def _read_histograms(rows: _Rows, recorder: Recorder) -> None:
    run = recorder.start_run("fio", rows.first, last_line=rows.last, dialect="fio-log-hist")
    totals: dict[str, Counter[int]] = {}
    sizes: set[int] = set()
    ends: dict[str, int] = {}
    step = 1
    cut, read = rows.log.unfinished_line, 0
    if cut == rows.last:
        run.set(status="truncated")
    for line in rows.log.lines:
        text = line.text.strip().rstrip(",")
        if not text or line.number in (cut, rows.skipped):
            continue
        read += 1
        parts = [int(part) for part in text.split(", ")]
        counts = parts[3:]
        step = _US if len(counts) == _OLD_BUCKETS else 1
        stream = _STREAMS[parts[1]]
        if parts[0] <= ends.get(stream, -1):
            _refuse_joined_logs(run, line.number)
            return
        ends[stream] = parts[0]
        totals.setdefault(stream, Counter()).update({i: n for i, n in enumerate(counts) if n})
        sizes.add(parts[2])
    run.set(duration_ns=max(ends.values(), default=0) * _MS, message_bytes=sizes.pop() if len(sizes) == 1 else None)
    for stream, counter in totals.items():
        run.set(test=stream if len(totals) == 1 else None)
        number = Quantity(float(sum(counter.values())), "count", None, None)
        run.add_metric("observations", number, rows.first, stream=stream)
        for index, count in sorted(counter.items()):
            bucket = bucket_at(index)
            columns = {"low_ns": bucket.low * step, "high_ns": bucket.high * step, "count": count}
            run.add_bucket(metric="completion_latency", stream=stream, line=rows.first, **columns)
    text = f"{read} histograms over time are stored as their sum"
    run.add_event("log_not_kept", "info", text, run.row["first_line"])
