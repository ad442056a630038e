"""fio 2.1.4 to 3.42: normal output, JSON, terse lines, and latency, bandwidth and IOPS logs.

::

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

*Runs.* One job (with ``group_reporting`` one group of jobs) is one run. ``runs.test`` is its ``rw``, ``message_bytes``
its block size if all I/Os have the same, ``duration_ns`` the longest direction. ``started_at`` is set only for JSON of
3.36 and later: the date that other outputs print is the end of the job, without a time zone. A job with an error is
``failed``, whatever numbers follow.

*Units.* Numbers are cut to four digits and carry their own units: the first of a pair is binary and the second decimal;
``kb_base=1000`` swaps them, ``unit_base=1`` prints rates in bits, and the unit of latencies changes from line to line.
Before 2.15 a KB is 1024 bytes. The bandwidth is the printed one or, if that is more precise, bytes / time; ``printed``
is what the log shows. IOPS without a k and other whole numbers are cut, so their half-width is 1.

*Percentiles* are the middle of a histogram bucket (``plat_idx_to_val`` in stat.c; 64 buckets per power of two, about
1.6 % wide), not order statistics: ``resolution_ns`` is half the bucket plus rounding. The rank is known: the bucket is
the first one with at least q * n observations at or below it.

*Not stored.* ``per=`` (off by 1000 in 2.21), the distribution of latencies over decades (which mixes the directions),
depths, context switches, faults, ``Run status group`` (sums of the jobs above), counts of the disks except their
utilisation, the progress line, steady state.

Modules: `text` (normal output), `json_output`, `job_forms` and `job_columns` (jobs in JSON that differ from an earlier
one in their numbers only), `terse`, `latency_log`, `numbers` (sizes, percentiles and options), `run` (a job and the
tables that follow).
"""

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
                text.feed([line], recorder.accounting)
        text.close(log.last_line + 1)
        write_runs(jobs, recorder, log)


PARSER = FioParser()
