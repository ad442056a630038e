"""empty_bucket.py: the rate of the network card, once a second, while a sender empties its token bucket.

::

    crnt bw = 8.853
    crnt bw = 9.691

The script of Uta et al. (NSDI 2020) runs iperf3 and prints what the card has sent in the last second, in Gbit/s, until
the rate has fallen. The rate includes all headers and all traffic of the machine, so it is about 1 % above the goodput
that iperf3 prints. No line says where a test ends, but the rates do: the script stops as soon as they have fallen far
enough, or after one or two hours. All published logs end in exactly this second.
"""

from __future__ import annotations

import re
from array import array
from collections.abc import Iterator, Sequence

from azlatency.logs.grammar.rules import Line, bulk, data
from azlatency.logs.grammar.units import quantity
from azlatency.logs.parsers import Log, Parser, Signature
from azlatency.logs.parsers.common import LogReader, end_run
from azlatency.logs.record import Recorder
from azlatency.logs.source.lines import UniformBlock, have_decimals

_RATE = r"crnt bw = (?P<rate>\d{1,4}\.\d{3})"
_SECOND, _THOUSANDTH = 10**9, 10**6
#: The script compares the first and the last rates, so many of each.
_COMPARED = 10
#: A version of the script stops when the highest of the last rates is below this part of the lowest of the first ones,
#: an earlier one when the median of the last ones is below that part of the median of the first ones.
_OF_LOWEST, _OF_MEDIAN = 0.75, 1 / 3
#: Or after so many rates: an hour or two, and one.
_MOST_RATES = (3601, 7201)
#: At most this many rates are copied at once.
_SEARCHED = 4096


class _Rates(LogReader):
    def __init__(self, log: Log, recorder: Recorder) -> None:
        super().__init__(log, recorder)
        self.rates, self.lines = array("d"), array("q")

    @data(_RATE, hint="crnt bw =")
    def rate(self, line: Line, match: re.Match[str]) -> None:
        if line.number == self.unfinished:
            return
        self.rates.append(quantity(match[1], "Gbps").value)
        self.lines.append(line.number)

    @bulk(rate)
    def many_rates(self, rows: UniformBlock, match: re.Match[str]) -> bool:
        """Read many rates at once; the last line may be cut."""
        if rows.last == self.unfinished or (columns := rows.columns(match, widths=("rate",), rate=3)) is None:
            return False
        if not have_decimals(columns["rate"], columns["rate width"], 3, 3):
            return False
        import numpy as np

        self.rates.frombytes((columns["rate"] * float(_THOUSANDTH)).tobytes())
        self.lines.frombytes(np.arange(rows.first, rows.last + 1, dtype=np.int64).tobytes())
        return True

    def finish(self, last_line: int) -> None:
        """Write a run for each test."""
        begin, first_line = 0, self.log.first_line
        is_cut = self.unfinished == last_line
        for end in _ends_of_tests(self.rates):
            line = self.lines[end - 1] if end < len(self.rates) or is_cut else last_line
            self._add_run(begin, end, first_line, line, ended=True)
            begin, first_line = end, line + 1
        if first_line <= last_line:
            count = len(self.rates) - begin
            self._add_run(begin, len(self.rates), first_line, last_line, ended=count in _MOST_RATES and not is_cut)

    def _add_run(self, begin: int, end: int, first_line: int, last_line: int, *, ended: bool) -> None:
        run = self.recorder.start_run(
            "empty_bucket", first_line, test="stream", protocol="tcp", connections=1, closed_loop=False
        )
        count = end - begin
        for second, (rate, line) in enumerate(zip(self.rates[begin:end], self.lines[begin:end], strict=True)):
            run.add_interval(
                side="sender",
                start_ns=second * _SECOND,
                end_ns=(second + 1) * _SECOND,
                throughput_bit_s=rate,
                throughput_printed_bit_s=rate,
                omitted=False,
                line=line,
            )
        run.set(duration_ns=count * _SECOND)
        end_run(run, has_numbers=count > 0, ended=ended, last_line=last_line)


def _ends_of_tests(rates: Sequence[float]) -> Iterator[int]:
    """Yield after which rates the script has stopped."""
    begin = 0
    while end := _end_of_test(rates, begin):
        yield end
        begin = end


def _end_of_test(rates: Sequence[float], begin: int) -> int:
    """Return after which rate the test that begins at a rate has stopped; 0 if it has not."""
    if begin + _COMPARED >= len(rates):
        return 0
    first = rates[begin : begin + _COMPARED]
    lowest, middle = _OF_LOWEST * min(first), _OF_MEDIAN * _median(first)
    # A rate that lowers the median of the last ones below a limit is below twice the limit.
    low, waits = max(lowest, 2 * middle), False
    for end in _ends_of_low_rates(rates, begin + _COMPARED, low):
        last = rates[end - _COMPARED : end]
        if max(last) < lowest:
            return end
        if not waits and _median(last) < middle:
            if end == len(rates) or rates[end] >= lowest:
                return end
            # The rate stays low after the first low median: this version waits for the highest of the last rates.
            waits = True
    return 0


def _ends_of_low_rates(rates: Sequence[float], begin: int, limit: float) -> Iterator[int]:
    """Yield the positions after rates below a limit, from a rate on."""
    for at in range(begin, len(rates), _SEARCHED):
        for end, rate in enumerate(rates[at : at + _SEARCHED], at + 1):
            if rate < limit:
                yield end


def _median(rates: Sequence[float]) -> float:
    ordered = sorted(rates)
    return (ordered[_COMPARED // 2 - 1] + ordered[_COMPARED // 2]) / 2


class EmptyBucketParser(Parser):
    """Reads the rates of empty_bucket.py; see `azlatency.logs.parsers.empty_bucket`."""

    tool = "empty_bucket"
    reader = _Rates
    commands = ("empty_bucket.py",)
    signatures = (Signature("crnt bw =", _RATE, weak=True),)


PARSER = EmptyBucketParser()
