"""The files of ``-R`` and ``-P``: the samples as CSV, and the frequency table as JSON."""

from __future__ import annotations

import json
import re
from typing import NamedTuple

from azlatency.logs.grammar.rules import BLANK, DATA, Line, bulk, data
from azlatency.logs.grammar.samples import SampleColumns
from azlatency.logs.parsers import Log
from azlatency.logs.parsers.common import LogReader, end_run
from azlatency.logs.parsers.lagscope.text import MICROSECOND, RUN
from azlatency.logs.record import Recorder
from azlatency.logs.source.large import linear
from azlatency.logs.source.lines import UniformBlock

CSV_HEADER = "Index, Latency(us)"
_PAIR = re.compile(
    r'\{\s{0,40}"latency"\s{0,40}:\s{0,40}(\d{1,12})\s{0,40},\s{0,40}"frequency"\s{0,40}:\s{0,40}(\d{1,12})\s{0,40}\}'
)
_BLANK_LINE = re.compile(r"\n[^\S\n]*\n")


class Samples(LogReader):
    """Reads the samples of ``-R``, truncated to whole microseconds."""

    def __init__(self, log: Log, recorder: Recorder) -> None:
        super().__init__(log, recorder)
        self.run = recorder.start_run("lagscope", log.first_line, dialect="lagscope-csv", **RUN)
        self.samples = SampleColumns()
        self.in_order = True

    @data(r"(?P<index>\d{1,10}), (?P<time>\d{1,12})", hint=", ")
    def row(self, line: Line, match: re.Match[str]) -> None:
        if self.is_cut(line, "its sample is"):
            return
        self.in_order &= int(match["index"]) == len(self.samples)
        self.samples.add(int(match["index"]), int(match["time"]) * MICROSECOND)

    @bulk(row)
    def rows(self, rows: UniformBlock, match: re.Match[str]) -> bool:
        """Read rows with indexes and times of the same length."""
        import numpy as np

        columns = rows.columns(match, index=0, time=0)
        if columns is None or columns["index"].max() >= 10**10 or columns["time"].max() >= 10**12:
            return False
        begin = len(self.samples)
        self.in_order &= bool((columns["index"] == np.arange(begin, begin + len(rows))).all())
        self.samples.extend(columns["index"], columns["time"] * MICROSECOND)
        return True

    def finish(self) -> None:
        """Complete the run."""
        run, first = self.run, self.log.first_line
        run.set(last_line=self.log.last_line)
        if not self.samples:
            run.end_as("no_data", "warning", "the file has a header but no rows", first)
            return
        if not self.in_order:
            text = "the row numbers have gaps or do not start at 0; rows are missing or belong to two runs"
            run.add_event("lines_missing", "warning", text, first)
        high = linear(self.samples.rtt, -MICROSECOND, 1)
        run.add_samples(**self.samples.columns(), low_ns=self.samples.rtt, high_ns=high)
        text = "times are truncated to whole microseconds; each may be up to 1 us higher"
        run.add_event("floored", "info", text, first)
        text = "this file and the log of lagscope describe the same run; count only one of them"
        run.add_event("same_run_as_log", "info", text, first)


def read_json(log: Log, recorder: Recorder) -> None:
    """Read the frequency table of ``-P file``: a histogram with buckets of 1 µs."""
    run = recorder.start_run("lagscope", log.first_line, dialect="lagscope-json", last_line=log.last_line, **RUN)
    buckets, is_valid = _read_table(log)
    if buckets is None:
        run.set(status="failed")
        run.add_event("malformed", "error", "the file is not a frequency table of lagscope", log.first_line)
        return
    recorder.accounting.mark_range(log.first_line, log.last_line, DATA)
    _mark_blank_lines(log, recorder)
    for latency, frequency, line in buckets:
        low, high = latency * MICROSECOND, (latency + 1) * MICROSECOND
        run.add_bucket(metric="rtt", low_ns=low, high_ns=high, count=frequency, line=line)
    if buckets and is_valid:
        total = sum(bucket.frequency for bucket in buckets)
        run.add_counts(log.first_line, observations=total)
        text = "times are truncated to whole microseconds; each may be up to 1 us higher"
        run.add_event("floored", "info", text, log.first_line)
        text = "this file and the log of lagscope describe the same run; count only one of them"
        run.add_event("same_run_as_log", "info", text, log.first_line)
    end_run(run, has_numbers=bool(buckets), ended=is_valid, last_line=log.last_line)


def _mark_blank_lines(log: Log, recorder: Recorder) -> None:
    text = log.text
    if _BLANK_LINE.search(f"\n{text}") or text[-1:] in (" ", "\t"):
        for number, line in enumerate(text.removesuffix("\n").split("\n"), start=log.first_line):
            if not line or line.isspace():
                recorder.accounting.mark_range(number, number, BLANK)


class _Bucket(NamedTuple):
    """A latency (µs), its frequency and the last line of the pair."""

    latency: int
    frequency: int
    line: int


def _read_table(log: Log) -> tuple[list[_Bucket] | None, bool]:
    """Return the buckets, None if the document is not such a table, and whether it is valid JSON."""
    buckets = _find_pairs(log)
    try:
        document = json.loads(log.text)
    except (ValueError, RecursionError):
        return buckets, False
    is_table = isinstance(document, dict) and len(document.get("latencies", [])) == len(buckets)
    return buckets if is_table else None, True


def _find_pairs(log: Log) -> list[_Bucket]:
    """Return the pairs in the text, which may be cut or damaged."""
    text, number, counted = log.text, log.first_line, 0
    buckets = []
    for match in _PAIR.finditer(text):
        number += text.count("\n", counted, match.end())
        counted = match.end()
        buckets.append(_Bucket(int(match[1]), int(match[2]), number))
    return buckets
