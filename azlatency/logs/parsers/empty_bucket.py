"""empty_bucket.py: the rate of the network card, once a second, while a sender empties its token bucket.

::

    crnt bw = 8.853
    crnt bw = 9.691

The script of Uta et al. (NSDI 2020) runs iperf3 and prints what the card has sent in the last second, in Gbit/s, until
the rate has fallen. The rate includes all headers and all traffic of the machine, so it is about 1 % above the goodput
that iperf3 prints. Nothing says where a log begins or ends: a log is complete if its last line is, and two logs in one
file are one test.
"""

from __future__ import annotations

import re

from azlatency.logs.grammar import Line, LineLog, bulk, data
from azlatency.logs.lines import UniformBlock, have_decimals
from azlatency.logs.parsers import Log, Parser, Signature
from azlatency.logs.parsers.common import end_run, unfinished_line
from azlatency.logs.record import Recorder
from azlatency.logs.units import quantity

_RATE = r"crnt bw = (?P<rate>\d{1,4}\.\d{3})"
_SECOND, _THOUSANDTH = 10**9, 10**6


class _Rates(LineLog):
    def __init__(self, log: Log, recorder: Recorder) -> None:
        self.run = recorder.start_run(
            "empty_bucket", log.first_line, test="stream", protocol="tcp", connections=1, closed_loop=False
        )
        self.unfinished = unfinished_line(log)
        self.throughput: list[float] = []
        self.numbers: list[int] = []

    @data(_RATE, hint="crnt bw =")
    def rate(self, line: Line, match: re.Match[str]) -> None:
        if line.number == self.unfinished:
            return
        self.throughput.append(quantity(match[1], "Gbps").value)
        self.numbers.append(line.number)

    @bulk(rate)
    def rates(self, rows: UniformBlock, match: re.Match[str]) -> bool:
        """Read many rates at once; the last line may be cut."""
        if rows.last == self.unfinished or (columns := rows.columns(match, widths=("rate",), rate=3)) is None:
            return False
        if not have_decimals(columns["rate"], columns["rate width"], 3, 3):
            return False
        self.throughput += (columns["rate"] * float(_THOUSANDTH)).tolist()
        self.numbers += range(rows.first, rows.last + 1)
        return True

    def finish(self, last_line: int) -> None:
        """Write the intervals and end the run."""
        count = len(self.throughput)
        if count:
            self.run.add_columns(
                "intervals", count, side="sender", start_ns=list(range(0, count * _SECOND, _SECOND)),
                end_ns=list(range(_SECOND, (count + 1) * _SECOND, _SECOND)), throughput=self.throughput,
                throughput_printed=self.throughput, omitted=False, line=self.numbers,
            )  # fmt: skip
        self.run.set(duration_ns=count * _SECOND)
        end_run(self.run, has_numbers=count > 0, ended=not self.unfinished, last_line=last_line)


class EmptyBucketParser(Parser):
    """Reads the rates of empty_bucket.py; see `azlatency.logs.parsers.empty_bucket`."""

    tool = "empty_bucket"
    reader = _Rates
    commands = ("empty_bucket.py",)
    signatures = (Signature("crnt bw =", _RATE, weak=True),)


PARSER = EmptyBucketParser()
