"""fio's side files: latency, bandwidth and IOPS logs, and logs of latency histograms. They have no header at all.

    500, 1588323, 0, 0, 0              time (ms), value, direction (0 read, 1 write, 2 trim), bytes of the I/O, priority
    1001, 0, 16384, 0, 0, 2, 0, …      time (ms), direction, bytes, counts of 1216 or 1856 buckets

A log is one only where every line has this form and the same number of fields. What the value is stands in the file's
name alone (``x_clat.1.log``, ``x_bw.log``); its unit depends on the version: latencies are us before 3.0 and ns since,
and four fields were printed by both; five are 3.20's, or an old log with offsets, which are multiples of the block.
Where the name or the unit is not known, the numbers are left out (``unit_ambiguous``).

The tables have no column for an I/O in the course of time, so the log is condensed (``log_not_kept``):

- a latency log of single I/Os: number, mean, spread, extremes, and its histogram in the buckets that fio itself uses;
- an averaged log (``log_avg_msec``, 0 bytes): the intervals of a bandwidth log with the printed rate; averages of
  latencies and of IOPS over windows are no observations and are left out;
- a bandwidth or IOPS log of single I/Os: number and bytes. Its rates are block size over latency (the first one is
  absurd) and no bandwidth of the disk;
- a histogram log: the buckets, summed over time.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from azlatency.logs.grammar import BLANK, DATA, UNKNOWN, Line
from azlatency.logs.parsers import Log
from azlatency.logs.parsers.common import unfinished_line
from azlatency.logs.parsers.fio.run import LATENCIES, Bucket, bucket_of
from azlatency.logs.record import Recorder, Run
from azlatency.logs.units import Quantity, quantity, scale

ROW = r"\d{1,13}, -?\d{1,18}, [012], \d{1,10}(?:, \d{1,20}){0,3}"
HISTOGRAM_ROW = r"\d{1,13}, [012], \d{1,10}(?:, \d{1,18}){1216}(?:(?:, \d{1,18}){640})?,?"
_ROW = re.compile(ROW)
_HISTOGRAM_ROW = re.compile(HISTOGRAM_ROW)
_NAME = re.compile(r".{0,4000}?_(slat|clat|lat|bw|iops)(?:\.\d{1,6})?(?:\.log)?(?:\.(?:gz|bz2|xz|zst))?")
_STREAMS = ("read", "write", "trim")
_OLD_BUCKETS, _BUCKETS = 1216, 1856
_GROUP = 64
_MS, _US = round(scale("ms")), round(scale("us"))
_WITH_PRIORITY = 5


@dataclass(slots=True)
class _Sample:
    time_ns: int
    value: int
    stream: str
    size: int
    line: int


def read_rows(log: Log, recorder: Recorder) -> bool:
    """Read a log that consists of rows only; false, and nothing done, where it does not."""
    lines = [line for line in log.lines if line.text.strip()]
    for pattern, reader in ((_ROW, _samples), (_HISTOGRAM_ROW, _histograms)):
        found = [pattern.fullmatch(line.text.strip()) is not None for line in lines]
        # A row that the end of a text without a line feed cut short is left out.
        if found and not found[-1] and lines[-1].number == unfinished_line(log):
            recorder.accounting.mark(lines[-1].number, UNKNOWN)
            lines, found = lines[:-1], found[:-1]
        widths = {line.text.count(",") for line in lines[:-1]}
        if found and all(found) and len(widths) <= 1:
            for line in log.lines:
                recorder.accounting.mark(line.number, DATA if line.text.strip() else BLANK)
            reader(lines, log, recorder)
            return True
    return False


def _open(lines: Sequence[Line], recorder: Recorder, dialect: str) -> Run:
    return recorder.start_run("fio", lines[0].number, last_line=lines[-1].number, dialect=dialect)


def _samples(lines: Sequence[Line], log: Log, recorder: Recorder) -> None:
    named = _NAME.fullmatch(log.source.path.lower())
    kind = named[1] if named else None
    run = _open(lines, recorder, f"fio-log-{kind or 'unknown'}")
    cut = unfinished_line(log) == lines[-1].number
    rows = [_sample(line) for line in (lines[:-1] if cut else lines)]
    if cut:
        run.set(status="truncated")
        run.add_event("unfinished_line", "info", "the last line is cut, its row is left out", lines[-1].number)
    if not rows:
        return
    run.set(duration_ns=max(row.time_ns for row in rows))
    sizes = {row.size for row in rows if row.size}
    run.set(message_bytes=sizes.pop() if len(sizes) == 1 else None)
    streams = {row.stream for row in rows}
    run.set(test=streams.pop() if len(streams) == 1 else None)
    averaged = all(row.size == 0 for row in rows)
    if kind is None:
        text = "the file's name does not say whether these are latencies, rates or IOPS; the numbers are left out"
        run.add_event("unit_ambiguous", "warning", text, lines[0].number)
    elif kind == "bw" and averaged:
        _rates(run, rows)
    elif kind in LATENCIES and not averaged:
        _latencies(run, rows, LATENCIES[kind], fields=lines[0].text.count(",") + 1, version=_last_fields(lines))
    _condensed(run, rows, averaged=averaged)


def _sample(line: Line) -> _Sample:
    parts = line.text.strip().split(", ")
    return _Sample(int(parts[0]) * _MS, int(parts[1]), _STREAMS[int(parts[2])], int(parts[3]), line.number)


def _last_fields(lines: Sequence[Line]) -> set[str]:
    return {line.text.strip().rsplit(", ", 1)[-1] for line in lines}


def _rates(run: Run, rows: Sequence[_Sample]) -> None:
    """Averages of the bandwidth, each over the time since the one before in its direction."""
    before: dict[str, int] = {}
    for row in rows:
        start = before.get(row.stream, 0)
        if row.time_ns > start:
            rate = quantity(str(row.value), "fio KiB/s").value
            columns = {"stream": row.stream, "start_ns": start, "end_ns": row.time_ns, "line": row.line}
            run.add_interval(**columns, throughput_printed=8 * rate, omitted=False)
        before[row.stream] = row.time_ns


def _latencies(run: Run, rows: Sequence[_Sample], metric: str, *, fields: int, version: set[str]) -> None:
    """Single I/Os, where the unit is certain."""
    if fields != _WITH_PRIORITY or not version <= {"0", "1"}:
        text = f"{fields} fields: us before fio 3.0, ns since; the log has no version, so the values are left out"
        run.add_event("unit_ambiguous", "warning", text, rows[0].line)
        return
    for stream in _STREAMS:
        own = [row for row in rows if row.stream == stream and row.size]
        if not own:
            continue
        values = [row.value for row in own]
        mean = math.fsum(values) / len(values)
        spread = math.fsum((value - mean) ** 2 for value in values)
        found = {"min": float(min(values)), "max": float(max(values)), "mean": mean}
        if len(values) > 1:
            found["sd"] = math.sqrt(spread / (len(values) - 1))
        for ending, value in found.items():
            run.add_metric(f"{metric}_{ending}", Quantity(value, "ns", None, None), own[0].line, stream=stream)
        for bucket, number in sorted(Counter(bucket_of(value) for value in values).items(), key=lambda one: one[0].low):
            run.add_bucket(
                metric=metric, stream=stream, low_ns=bucket.low, high_ns=bucket.high, count=number, line=own[0].line
            )


def _condensed(run: Run, rows: Sequence[_Sample], *, averaged: bool) -> None:
    for stream in _STREAMS:
        own = [row for row in rows if row.stream == stream]
        if own and not averaged:
            size = float(sum(row.size for row in own))
            run.add_metric("observations", Quantity(float(len(own)), "count", None, None), own[0].line, stream=stream)
            run.add_metric("transferred", Quantity(size, "bytes", None, None), own[0].line, stream=stream)
    what = "averages over windows" if averaged else "single I/Os"
    text = f"{len(rows)} {what}: the tables keep their number, distribution and rates, not each in its place in time"
    run.add_event("log_not_kept", "info", text, rows[0].line)


# --- histograms


def bucket_at(index: int) -> Bucket:
    """Bounds of the bucket with this index (plat_idx_to_val in stat.c)."""
    if index < 2 * _GROUP:
        return Bucket(index, index + 1)
    shift = index // _GROUP - 1
    low = (_GROUP + index % _GROUP) << shift
    return Bucket(low, low + (1 << shift))


def _histograms(lines: Sequence[Line], log: Log, recorder: Recorder) -> None:
    run = _open(lines, recorder, "fio-log-hist")
    totals: dict[str, Counter[int]] = {}
    sizes: set[int] = set()
    end, step = 0, 1
    if unfinished_line(log) == lines[-1].number:
        lines = lines[:-1]
        run.set(status="truncated")
    for line in lines:
        parts = [int(part) for part in line.text.strip().rstrip(",").split(", ")]
        counts = parts[3:]
        step = _US if len(counts) == _OLD_BUCKETS else 1
        totals.setdefault(_STREAMS[parts[1]], Counter()).update({i: n for i, n in enumerate(counts) if n})
        sizes.add(parts[2])
        end = max(end, parts[0])
    run.set(duration_ns=end * _MS, message_bytes=sizes.pop() if len(sizes) == 1 else None)
    for stream, found in totals.items():
        run.set(test=stream if len(totals) == 1 else None)
        number = Quantity(float(sum(found.values())), "count", None, None)
        run.add_metric("observations", number, lines[0].number, stream=stream)
        for index, count in sorted(found.items()):
            bucket = bucket_at(index)
            columns = {"low_ns": bucket.low * step, "high_ns": bucket.high * step, "count": count}
            run.add_bucket(metric="completion_latency", stream=stream, line=lines[0].number, **columns)
    text = f"{len(lines)} histograms over time are kept as their sum"
    run.add_event("log_not_kept", "info", text, run.row["first_line"])
