"""fio: normal output here and in `fio_text`, JSON in `fio_json`, terse in `fio_terse`, logs of I/Os in `fio_log`.

    raid0: (g=0): rw=randrw, bs=(R) 4096B-4096B, (W) 4096B-4096B, (T) 4096B-4096B, ioengine=libaio, iodepth=64
    fio-3.33
    Starting 1 process

    raid0: (groupid=0, jobs=1): err= 0: pid=32084: Sat Nov 21 02:26:11 2026
      read: IOPS=21.2k, BW=82.6MiB/s (86.7MB/s)(413MiB/5001msec)
        slat (usec): min=3, max=9297, avg= 8.13, stdev=92.00
        clat (usec): min=51, max=44846, avg=1950.24, stdev=2138.88
         lat (usec): min=64, max=44853, avg=1958.37, stdev=2140.32
        clat percentiles (usec):
         |  1.00th=[  619],  5.00th=[  832], 10.00th=[  922], 20.00th=[ 1029],
       bw (  KiB/s): min=58024, max=98232, per=97.67%, avg=82649.78, stdev=13274.31, samples=9
       iops        : min=14506, max=24558, avg=20662.33, stdev=3318.59, samples=9
      cpu          : usr=4.30%, sys=22.08%, ctx=3358, majf=0, minf=13
         issued rwts: total=105799,45229,0,0 short=0,0,0,0 dropped=0,0,0,0
    Disk stats (read/write):
      vda: ios=102761/43720, merge=0/11, ticks=91593/38944, in_queue=130543, util=48.31%

      read : io=4096.0MB, bw=611058KB/s, iops=152764, runt=  6864msec                        up to 2.14

Versions seen: 2.1.4 to 3.42. Numbers are cut to four digits and carry units of their own: the first of a pair is
binary, the second decimal, ``kb_base=1000`` swaps them, ``unit_base=1`` makes rates bits, the unit of latencies changes
from line to line. Before 2.15 a KB is 1024 bytes. The rate is the printed one or, where those say it sharper, bytes
over time; ``printed`` is what the log says. IOPS without a k and other whole numbers were cut: their half-width is 1.

One job is one run (see `parsers.fio.run`), ``runs.test`` its ``rw``, ``message_bytes`` its block size where
all I/Os have one, ``duration_ns`` the longest direction. ``started_at`` is null but for documents of 3.36 and later:
the printed date is when the job ended, without a time zone. Errors: ``status`` is ``failed``, whatever numbers follow.

Ignored: ``per=`` (off by 1000 in 2.21), the distribution of latencies over decades (of all directions together),
depths, context switches, faults, ``Run status group`` (sums of the jobs above), counts of the disks but for their
utilisation, the progress line, steady state.
"""

from __future__ import annotations

import re

from azlatency.logs.grammar import DATA, UNKNOWN
from azlatency.logs.parsers import Log, Parser, Signature
from azlatency.logs.parsers.fio.json_output import Documents
from azlatency.logs.parsers.fio.latency_log import HISTOGRAM_ROW, ROW, read_rows
from azlatency.logs.parsers.fio.run import Job, write
from azlatency.logs.parsers.fio.terse import LINE, read_line
from azlatency.logs.parsers.fio.text import Text
from azlatency.logs.parsers.fio.units import FIO_UNITS
from azlatency.logs.record import Recorder

_HOST = r"(?:<[\w.:-]{1,253}> ?)?"


def _weak(hint: str, pattern: str) -> Signature:
    """All are weak: the parser itself knows where one job ends and the next begins."""
    return Signature(hint, re.compile(pattern), weak=True)


class FioParser(Parser):
    """Reads fio; see the module's docstring."""

    tool = "fio"
    commands = ("fio",)
    units = FIO_UNITS
    signatures = (
        _weak(": (g=", _HOST + r".{1,200}?: \(g=\d{1,9}\): rw=\w{1,20}, .{1,300}"),
        _weak("fio-", _HOST + r"fio-\d[\w.+-]{1,60}"),
        _weak("(groupid=", _HOST + r".{1,200}?: \(groupid=\d{1,9}, jobs=\d{1,9}\): err= {0,2}-?\d{1,9}.{1,400}"),
        _weak("IOPS=", _HOST + r"(?:read|write|trim|mixed) ?: IOPS=[\d.]{1,12}[kMG]?, BW=.{1,200}"),
        _weak("iops=", _HOST + r"(?:read|write|trim|mixed) ?: io=.{1,40}, bw=.{1,40}, iops=.{1,40}, runt=.{1,40}"),
        _weak("fio: ", r"fio: (?:pid=\d{1,12}, err=-?\d|terminating on signal \d).{0,500}"),
        _weak('"fio version"', r'\{?\s*"fio version"\s*:\s*"fio-.*'),
        _weak(";fio-", LINE),
        # Rows of a log; that all the other lines are rows too is for the parser to see.
        *(_weak(f", {kind}, ", ROW) for kind in range(3)),
        _weak(", 0, 0, 0, 0, 0, ", HISTOGRAM_ROW),
    )

    def parse(self, log: Log, recorder: Recorder) -> None:
        """Read the jobs of one log, text and documents as they come."""
        first = next((line.text.strip() for line in log.lines if line.text.strip()), "")
        if first[:1].isdigit() and ";" not in first:
            if not read_rows(log, recorder):
                for line in log.lines:
                    recorder.accounting.mark(line.number, UNKNOWN if line.text.strip() else 0)
            return
        jobs: list[Job] = []
        text, documents = Text(log, recorder, jobs), Documents(log, recorder, jobs)
        lines, index = log.lines, 0
        while index < len(lines):
            line = lines[index]
            stripped = line.text.strip()
            if stripped.startswith("{"):
                index = documents.read(index, text.take_signal(), text.take_failures())
                continue
            index += 1
            job = read_line(stripped, line.number) if stripped[1:6] == ";fio-" else None
            if job is not None and line.number != text.unfinished:
                job.failures = text.take_failures()
                jobs.append(job)
                recorder.accounting.mark(line.number, DATA)
            else:
                text.feed_line(line, recorder.accounting)
        text.close(log.last_line + 1)
        write(jobs, recorder, log)


PARSER = FioParser()
