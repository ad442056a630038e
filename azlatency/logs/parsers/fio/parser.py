"""How a fio log is recognised, and which readers read it."""

from __future__ import annotations

import re
from functools import partial
from typing import ClassVar

from azlatency.logs.grammar.json_lines import begins_document
from azlatency.logs.grammar.rules import DATA, UNKNOWN
from azlatency.logs.parsers import Log, Parser, Signature
from azlatency.logs.parsers.fio.json_output import Documents
from azlatency.logs.parsers.fio.latency_log import HISTOGRAM_ROW, ROW, read_latency_log
from azlatency.logs.parsers.fio.run import Job, write_runs
from azlatency.logs.parsers.fio.terse import LINE, read_terse_line
from azlatency.logs.parsers.fio.text import FioText
from azlatency.logs.parsers.fio.units import FIO_UNITS
from azlatency.logs.record import Recorder
from azlatency.logs.source.large import LARGEST_WHOLE, TooLargeError

# A job name may begin with a digit too.
_ROW_START = re.compile(r"\d{1,20},")
_HOST = r"(?:<[\w.:-]{1,253}> ?)?"


#: The reader separates the jobs itself.
_weak = partial(Signature, weak=True)
#: There may be many jobs, and the sum of all clients below them is not read.
_inner = partial(_weak, inner=True)


def _is_terse(text: str) -> bool:
    return text.strip()[1:6] == ";fio-"


def _is_other(text: str) -> bool:
    """Return whether a line is not text of jobs, but JSON or terse."""
    return ("{" in text or ";fio-" in text) and (begins_document(text) or _is_terse(text))


class FioParser(Parser):
    """Reads fio; see `azlatency.logs.parsers.fio`."""

    tool = "fio"
    reads_any_size = True
    commands = ("fio",)
    document_keys: ClassVar = {"fio version": '"fio-'}
    units = FIO_UNITS
    signatures = (
        _inner(": (g=", _HOST + r".{1,200}?: \(g=\d{1,9}\): rw=\w{1,20}, .{1,300}"),
        _weak("fio-", _HOST + r"fio-\d[\w.+-]{1,60}"),
        _inner("(groupid=", _HOST + r".{1,200}?: \(groupid=\d{1,9}, jobs=\d{1,9}\): err= {0,2}-?\d{1,9}.{1,400}"),
        _inner("IOPS=", _HOST + r"(?:read|write|trim|mixed) ?: IOPS=[\d.]{1,12}[kMG]?, BW=.{1,200}"),
        _inner("iops=", _HOST + r"(?:read|write|trim|mixed) ?: io=.{1,40}, bw=.{1,40}, iops=.{1,40}, runt=.{1,40}"),
        _inner("fio: ", r"fio: (?:pid=\d{1,12}, err=-?\d|terminating on signal \d).{0,500}"),
        _weak('"fio version"', r'\{?\s*"fio version"\s*:\s*"fio-.*'),
        _weak(";fio-", LINE),
        # Rows of a latency log; the parser checks that all other lines are rows too.
        *(_weak(f", {kind}, ", ROW) for kind in range(3)),
        _weak(", 0, 0, 0, 0, 0, ", HISTOGRAM_ROW),
    )

    def parse(self, log: Log, recorder: Recorder) -> None:
        """Read the jobs of one log, whose parts may be text, JSON or terse lines."""
        first = next((line.text.strip() for line in log.lines if line.text.strip()), "")
        if _ROW_START.match(first):
            if not read_latency_log(log, recorder):
                for line in log.lines:
                    recorder.accounting.mark(line.number, UNKNOWN if line.text.strip() else 0)
            return
        if log.source.size_bytes > LARGEST_WHOLE:
            what = f"jobs of fio in a file of more than {LARGEST_WHOLE} bytes do not fit into memory"
            raise TooLargeError(f"{what}; split the file", log.first_line)
        jobs: list[Job] = []
        text, documents = FioText(log, recorder, jobs), Documents(log, recorder, jobs)
        lines, index = log.lines, 0
        while index < len(lines):
            line = lines[index]
            if begins_document(line.text):
                index = documents.read(index, text.take_signal(), text.take_failures())
                continue
            if not _is_terse(line.text):
                index = text.feed_until(_is_other, lines, index, recorder.accounting)
                continue
            index += 1
            job = read_terse_line(line.text.strip(), line.number)
            if job is not None and line.number != text.unfinished:
                job.failures = text.take_failures()
                jobs.append(job)
                recorder.accounting.mark(line.number, DATA)
            else:
                text.feed_line(line, recorder.accounting)
        text.close(log.last_line + 1)
        write_runs(jobs, recorder, log)


PARSER = FioParser()
