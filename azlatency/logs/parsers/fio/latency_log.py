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
from collections.abc import Sequence
from dataclasses import dataclass

from azlatency.logs.grammar import BLANK, DATA, UNKNOWN, Line
from azlatency.logs.parsers import Log
from azlatency.logs.parsers.common import unfinished_line
from azlatency.logs.parsers.fio.numbers import Bucket, bucket_of
from azlatency.logs.parsers.fio.run import LATENCIES
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


def read_latency_log(log: Log, recorder: Recorder) -> bool:
    """Read a log that consists of rows only; return False, without changes, if it does not."""
    lines = [line for line in log.lines if line.text.strip()]
    for pattern, reader in ((_ROW, _read_samples), (_HISTOGRAM_ROW, _read_histograms)):
        matches = [pattern.fullmatch(line.text.strip()) is not None for line in lines]
        # A last row without a line feed may be cut; it is left out.
        if matches and not matches[-1] and lines[-1].number == unfinished_line(log):
            recorder.accounting.mark(lines[-1].number, UNKNOWN)
            lines, matches = lines[:-1], matches[:-1]
        widths = {line.text.count(",") for line in lines[:-1]}
        if matches and all(matches) and len(widths) <= 1:
            for line in log.lines:
                recorder.accounting.mark(line.number, DATA if line.text.strip() else BLANK)
            reader(lines, log, recorder)
            return True
    return False


def _open(lines: Sequence[Line], recorder: Recorder, dialect: str) -> Run:
    return recorder.start_run("fio", lines[0].number, last_line=lines[-1].number, dialect=dialect)


def _read_samples(lines: Sequence[Line], log: Log, recorder: Recorder) -> None:
    named = _NAME.fullmatch(log.source.path.lower())
    kind = named[1] if named else None
    run = _open(lines, recorder, f"fio-log-{kind or 'unknown'}")
    cut = unfinished_line(log) == lines[-1].number
    rows = [_sample(line) for line in (lines[:-1] if cut else lines)]
    if cut:
        run.set(status="truncated")
        run.add_event("unfinished_line", "info", "the log ends within this line; its row is left out", lines[-1].number)
    if not rows:
        return
    run.set(duration_ns=max(row.time_ns for row in rows))
    sizes = {row.size for row in rows if row.size}
    run.set(message_bytes=sizes.pop() if len(sizes) == 1 else None)
    streams = {row.stream for row in rows}
    run.set(test=streams.pop() if len(streams) == 1 else None)
    averaged = all(row.size == 0 for row in rows)
    if kind is None:
        text = "the file name does not show whether these are latencies, rates or IOPS; the numbers are left out"
        run.add_event("unit_ambiguous", "warning", text, lines[0].number)
    elif kind == "bw" and averaged:
        _write_rates(run, rows)
    elif kind in LATENCIES and not averaged:
        _write_latencies(run, rows, LATENCIES[kind], fields=lines[0].text.count(",") + 1, version=_last_fields(lines))
    _write_counts(run, rows, averaged=averaged)


def _sample(line: Line) -> _Sample:
    parts = line.text.strip().split(", ")
    return _Sample(int(parts[0]) * _MS, int(parts[1]), _STREAMS[int(parts[2])], int(parts[3]), line.number)


def _last_fields(lines: Sequence[Line]) -> set[str]:
    return {line.text.strip().rsplit(", ", 1)[-1] for line in lines}


def _write_rates(run: Run, rows: Sequence[_Sample]) -> None:
    """Write the averages of the bandwidth, each over the time since the previous row of its direction."""
    previous: dict[str, int] = {}
    for row in rows:
        start = previous.get(row.stream, 0)
        if row.time_ns > start:
            rate = quantity(str(row.value), "fio KiB/s").value
            columns = {"stream": row.stream, "start_ns": start, "end_ns": row.time_ns, "line": row.line}
            run.add_interval(**columns, throughput_printed=8 * rate, omitted=False)
        previous[row.stream] = row.time_ns


def _write_latencies(run: Run, rows: Sequence[_Sample], metric: str, *, fields: int, version: set[str]) -> None:
    """Write the latencies of single I/Os if their unit is certain."""
    if fields != _WITH_PRIORITY or not version <= {"0", "1"}:
        text = f"{fields} fields: us before fio 3.0, ns since, and the log has no version; the values are left out"
        run.add_event("unit_ambiguous", "warning", text, rows[0].line)
        return
    for stream in _STREAMS:
        stream_rows = [row for row in rows if row.stream == stream and row.size]
        if not stream_rows:
            continue
        line = stream_rows[0].line
        values = [row.value for row in stream_rows]
        mean = math.fsum(values) / len(values)
        spread = math.fsum((value - mean) ** 2 for value in values)
        statistics = {"min": float(min(values)), "max": float(max(values)), "mean": mean}
        if len(values) > 1:
            statistics["sd"] = math.sqrt(spread / (len(values) - 1))
        for ending, value in statistics.items():
            run.add_metric(f"{metric}_{ending}", Quantity(value, "ns", None, None), line, stream=stream)
        for bucket, number in sorted(Counter(bucket_of(value) for value in values).items()):
            run.add_bucket(
                metric=metric, stream=stream, low_ns=bucket.low, high_ns=bucket.high, count=number, line=line
            )


def _write_counts(run: Run, rows: Sequence[_Sample], *, averaged: bool) -> None:
    for stream in _STREAMS:
        stream_rows = [row for row in rows if row.stream == stream]
        if stream_rows and not averaged:
            line = stream_rows[0].line
            number, size = float(len(stream_rows)), float(sum(row.size for row in stream_rows))
            run.add_metric("observations", Quantity(number, "count", None, None), line, stream=stream)
            run.add_metric("transferred", Quantity(size, "bytes", None, None), line, stream=stream)
    content = "averages over windows" if averaged else "single I/Os"
    text = f"{len(rows)} {content}: number, distribution and rates are stored, not the values over time"
    run.add_event("log_not_kept", "info", text, rows[0].line)


# --- histograms


def bucket_at(index: int) -> Bucket:
    """Return the bucket with this index (plat_idx_to_val in stat.c)."""
    if index < 2 * _GROUP:
        return Bucket(index, index + 1)
    shift = index // _GROUP - 1
    low = (_GROUP + index % _GROUP) << shift
    return Bucket(low, low + (1 << shift))


def _read_histograms(lines: Sequence[Line], log: Log, recorder: Recorder) -> None:
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
    for stream, counter in totals.items():
        run.set(test=stream if len(totals) == 1 else None)
        number = Quantity(float(sum(counter.values())), "count", None, None)
        run.add_metric("observations", number, lines[0].number, stream=stream)
        for index, count in sorted(counter.items()):
            bucket = bucket_at(index)
            columns = {"low_ns": bucket.low * step, "high_ns": bucket.high * step, "count": count}
            run.add_bucket(metric="completion_latency", stream=stream, line=lines[0].number, **columns)
    text = f"{len(lines)} histograms over time are stored as their sum"
    run.add_event("log_not_kept", "info", text, run.row["first_line"])
