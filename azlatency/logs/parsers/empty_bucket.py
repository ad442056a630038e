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
        self.seconds = 0

    @data(_RATE, hint="crnt bw =")
    def rate(self, line: Line, match: re.Match[str]) -> None:
        if line.number == self.unfinished:
            return
        self._add(quantity(match[1], "Gbps").value, line.number)

    @bulk(rate)
    def rates(self, rows: UniformBlock, match: re.Match[str]) -> bool:
        """Read many rates at once; the last line may be cut."""
        if rows.last == self.unfinished or (columns := rows.columns(match, widths=("rate",), rate=3)) is None:
            return False
        if not have_decimals(columns["rate"], columns["rate width"], 3, 3):
            return False
        for number, rate in enumerate(columns["rate"].tolist(), start=rows.first):
            self._add(float(rate * _THOUSANDTH), number)
        return True

    def _add(self, rate: float, number: int) -> None:
        start = self.seconds * _SECOND
        self.run.add_interval(
            side="sender", start_ns=start, end_ns=start + _SECOND, throughput=rate, throughput_printed=rate,
            omitted=False, line=number,
        )  # fmt: skip
        self.seconds += 1

    def finish(self, last_line: int) -> None:
        """End the run."""
        self.run.set(duration_ns=self.seconds * _SECOND)
        end_run(self.run, has_numbers=self.seconds > 0, ended=not self.unfinished, last_line=last_line)


class EmptyBucketParser(Parser):
    """Reads the rates of empty_bucket.py; see `azlatency.logs.parsers.empty_bucket`."""

    tool = "empty_bucket"
    reader = _Rates
    commands = ("empty_bucket.py",)
    signatures = (Signature("crnt bw =", _RATE, weak=True),)


PARSER = EmptyBucketParser()
