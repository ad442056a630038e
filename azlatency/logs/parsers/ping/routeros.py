r"""The lines of ping of MikroTik RouterOS.

::

    [admin@MikroTik] > ping 10.1.0.4 count=3
      SEQ HOST                                     SIZE TTL TIME       STATUS
        0 10.1.0.4                                   56  64 5ms896us
        1 10.1.0.4                                                  timeout
        sent=2 received=1 packet-loss=50% min-rtt=5ms896us avg-rtt=5ms896us max-rtt=5ms896us

Versions before 7 print whole milliseconds. A terminal shows the titles and the summary so far after each 20 probes.
SIZE is not the payload that other implementations print, so it is left out.
"""

from __future__ import annotations

import re
from functools import cached_property, partial

from azlatency.logs.grammar.probes import ProbeSamples
from azlatency.logs.grammar.rules import Line, data
from azlatency.logs.grammar.units import Quantity
from azlatency.logs.parsers import Log
from azlatency.logs.parsers.ping.run import MILLISECOND, PingRun
from azlatency.logs.parsers.ping.summary import record_counts, record_whole_milliseconds
from azlatency.logs.record import Run

TITLES = r"SEQ HOST(?: ADDRESS)? +SIZE TTL TIME +STATUS"
_TIME = r"(?=\d)(?:\d{1,6}s)?(?:\d{1,3}ms)?(?:\d{1,3}us)?"
SUMMARY = (
    r"sent=(?P<sent>\d{1,9}) received=(?P<received>\d{1,9}) packet-loss=(?P<percent>\d{1,3})%"
    rf"(?: min-rtt=(?P<min>{_TIME}) avg-rtt=(?P<mean>{_TIME})(?: max-rtt=(?P<max>{_TIME}))?)?"
)
#: Times are truncated, so that they may be one step larger.
_MICROSECOND = 1000.0
_UNITS = {"s": 10**9, "ms": MILLISECOND, "us": 1000}
_PART = re.compile(r"(\d+)(s|ms|us)")
_MICROSECONDS = re.compile(r"\dus\b")
#: All times of a version have the same unit; one of so many lines shows it.
_LINES_TO_UNIT = 200
_NO_REPLY = (
    r"timeout|(?:host|net|network|port|protocol) unreachable|no route to host|TTL exceeded|packet rejected"
    r"|packet too large|fragmentation needed and DF set"
)


class RouterOsLines:
    """Rules for a `azlatency.logs.parsers.ping.text.PingText`."""

    log: Log
    ping: PingRun
    run: Run
    samples: ProbeSamples
    _titles: Line | None = None

    def _open_next(self, line: Line) -> None:
        """Open another run, which begins at a line."""
        raise NotImplementedError

    @data(TITLES, hint="SEQ HOST")
    def routeros_titles(self, line: Line, match: re.Match[str]) -> None:
        """Read the titles, which are repeated within a long run."""
        self._titles = line

    @data(
        rf"(?P<seq>\d{{1,9}}) (?P<host>\S{{1,255}}) +\d{{1,5}} +\d{{1,3}} +(?P<time>{_TIME})"
        rf"(?: +(?P<status>echo reply|{_NO_REPLY}))?",
        hint="s",
        shape=r"(?:\S+\s+)?s?(?:ms)?(?:us)?(?:\s+\D{1,60})?",
    )
    @data(rf"(?P<seq>\d{{1,9}})(?: (?P<host>\S{{1,255}}))? +(?P<status>{_NO_REPLY})", hint=" ")
    def routeros_probe(self, line: Line, match: re.Match[str]) -> None:
        """Read one probe; the numbers of another run begin at 0 again."""
        seq, fields = int(match["seq"]), match.groupdict()
        self._refuse_cut(line, fields.get("time"))
        if seq == 0 and (self.samples.seq or self.ping.routeros_summary is not None):
            first = self._titles or line
            self.ping.last_line = min(self.ping.last_line, first.number - 1)
            self._open_next(first)
        self._titles = None
        self.ping.summary = self.ping.routeros_summary = None
        self.run.set(dialect="routeros", server=self.run.row.get("server") or match["host"])
        if match["status"] not in (None, "echo reply"):
            self.samples.add_probe(seq, None, "lost" if match["status"] == "timeout" else "unreachable")
            return
        rtt = _nanoseconds(fields["time"])
        if self._has_microseconds:
            self.ping.three_decimals = True
            self.samples.add_probe(seq, rtt, "ok")
        else:
            self.ping.whole_milliseconds = True
            self.samples.add_probe(seq, rtt or None, "ok", bounds=(rtt, rtt + MILLISECOND))

    @data(SUMMARY, hint="packet-loss=")
    def routeros_summary(self, line: Line, match: re.Match[str]) -> None:
        """Read the summary so far; the last one is that of the run."""
        self._refuse_cut(line, match["max"] or match["mean"])
        if not self.samples.seq and self.ping.routeros_summary is not None:
            self._open_next(line)
        self.run.set(dialect="routeros")
        self.ping.summary = line
        self.ping.has_times = match["max"] is not None
        self.ping.routeros_summary = partial(self._record_routeros_summary, line.number, match.groupdict())

    @data(rf"max-rtt=(?P<max>{_TIME})", hint="max-rtt=")
    def routeros_maximum(self, line: Line, match: re.Match[str]) -> None:
        """Read the last value of a summary that was wrapped."""
        if self.ping.routeros_summary is None:
            raise ValueError
        self._refuse_cut(line, match["max"])
        self.ping.has_times = True
        number, fields = self.ping.routeros_summary.args
        self.ping.routeros_summary = partial(self._record_routeros_summary, number, fields | match.groupdict())

    def _record_routeros_summary(self, number: int, fields: dict[str, str | None]) -> None:
        sent, received = fields["sent"] or "", fields["received"] or ""
        record_counts(self.run, number, sent_token=sent, received_token=received, percent=fields["percent"])
        times = {f"rtt_{name}": token for name in ("min", "mean", "max") if (token := fields[name])}
        if self._has_microseconds:
            for name, token in times.items():
                self.run.add_metric(name, Quantity(float(_nanoseconds(token)), "ns", token, _MICROSECOND), number)
        else:
            tokens = {name: str(_nanoseconds(token) // MILLISECOND) for name, token in times.items()}
            record_whole_milliseconds(self.run, number, tokens, "RouterOS")

    def _refuse_cut(self, line: Line, last: str | None) -> None:
        """Raise ValueError if the log ends within this line: 13ms may be the beginning of 13ms300us."""
        units = ("us", "ms") if self.ping.whole_milliseconds else "us"
        if line.number == self.log.unfinished_line and not (last or "us").endswith(units):
            raise ValueError

    @cached_property
    def _has_microseconds(self) -> bool:
        return any(_MICROSECONDS.search(line.text) for line in self.log.lines[:_LINES_TO_UNIT])


def _nanoseconds(token: str) -> int:
    return sum(int(number) * _UNITS[unit] for number, unit in _PART.findall(token))
