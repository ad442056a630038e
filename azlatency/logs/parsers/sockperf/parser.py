"""How a sockperf log is recognised and read."""

from __future__ import annotations

from typing import ClassVar

from azlatency.logs.parsers import Log, Parser, Signature
from azlatency.logs.parsers.identities import AtMost
from azlatency.logs.parsers.sockperf.text import SockperfText
from azlatency.logs.record import Recorder


class SockperfParser(Parser):
    """Reads sockperf; see `azlatency.logs.parsers.sockperf`."""

    tool = "sockperf"
    reads_any_size = True
    commands = ("sockperf",)
    names_size = fills_duration = True
    options: ClassVar = {
        "requested_count": ("-n", "--number-of-packets"),
        "mps": ("--mps",),
        "burst": ("-b", "--burst"),
        "reply-every": ("--reply-every",),
    }
    switches: ClassVar = {"nonblocked": ("--nonblocked",)}
    identities = (AtMost("valid_sent", "sent"), AtMost("valid_received", "received"))
    # sockperf's MBps are MiB/s (client.cpp 629), and its GBps are 1000 of them.
    units: ClassVar = {"sockperf MBps": ("bit/s", 8 << 20), "sockperf GBps": ("bit/s", 8000 << 20)}
    signatures = (
        Signature("== version #", r"sockperf: ?== version #.{0,80}?=="),
        Signature("following parameters: --mps", r"test was performed using the following parameters: .+"),
        Signature("Usage: sockperf", r"Usage: sockperf .*"),
        Signature("[Total Run] RunTime", r"(?:sockperf: )?\[Total Run\] RunTime=.*", weak=True),
        Signature(
            "Summary: ", r"(?:sockperf: )?Summary: (?:Latency|Round trip|Message Rate|BandWidth) is .*", weak=True
        ),
        Signature("observations; each", r"(?:sockperf: )?Total \d+ observations; each.{1,80}", weak=True),
        Signature("====> avg-", r"(?:sockperf: )?====> avg-(?:lat|latency|rtt)=.*", weak=True),
    )

    def parse(self, log: Log, recorder: Recorder) -> None:
        """Read one log; several ``Server No:`` blocks become several runs."""
        reader = SockperfText(log, recorder)
        reader.feed(log.lines, recorder.accounting)
        reader.finish_block(log.last_line)


PARSER = SockperfParser()
