"""How a sockperf log is recognised and read."""

from __future__ import annotations

import re
from typing import ClassVar

from azlatency.logs.parsers import Log, Parser, Signature
from azlatency.logs.parsers.sockperf.text import SockperfText
from azlatency.logs.record import Recorder


class SockperfParser(Parser):
    """Reads sockperf; see `azlatency.logs.parsers.sockperf`."""

    tool = "sockperf"
    commands = ("sockperf",)
    # sockperf's MBps are MiB/s (client.cpp 629), and its GBps are 1000 of them.
    units: ClassVar = {"sockperf MBps": ("bit/s", 8 << 20), "sockperf GBps": ("bit/s", 8000 << 20)}
    signatures = (
        Signature("== version #", re.compile(r"sockperf: ?== version #.{0,80}?==")),
        Signature("following parameters: --mps", re.compile(r"test was performed using the following parameters: .+")),
        Signature("Usage: sockperf", re.compile(r"Usage: sockperf .*")),
        Signature("[Total Run] RunTime", re.compile(r"(?:sockperf: )?\[Total Run\] RunTime=.*"), weak=True),
        Signature(
            "Summary: ",
            re.compile(r"(?:sockperf: )?Summary: (?:Latency|Round trip|Message Rate|BandWidth) is .*"),
            weak=True,
        ),
        Signature("observations; each", re.compile(r"(?:sockperf: )?Total \d+ observations; each.{1,80}"), weak=True),
        Signature("====> avg-", re.compile(r"(?:sockperf: )?====> avg-(?:lat|latency|rtt)=.*"), weak=True),
    )

    def parse(self, log: Log, recorder: Recorder) -> None:
        """Read one log; several ``Server No:`` blocks become several runs."""
        reader = SockperfText(log, recorder)
        reader.feed(log.lines, recorder.accounting)
        reader.finish_block(log.last_line)


PARSER = SockperfParser()
