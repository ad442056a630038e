"""How an fping log is recognised and read."""

from __future__ import annotations

from typing import ClassVar

from azlatency.logs.parsers import Log, Parser, Signature
from azlatency.logs.parsers.identities import SENT_IS_RECEIVED_AND_LOST
from azlatency.logs.record import Recorder
from azlatency.more_tools.fping.text import FROM, HOST, LISTED, SUMMARY, TIME, FpingText


class FpingParser(Parser):
    """Reads fping; see `azlatency.more_tools.fping`."""

    tool = "fping"
    identities = (SENT_IS_RECEIVED_AND_LOST,)
    reads_any_size = True
    commands = ("fping", "fping6")
    sends_rarely = True
    options: ClassVar = {
        "requested_count": ("-c", "-C", "--count", "--vcount"),
        "period": ("-p", "--period"),
        "size": ("-b", "--size"),
        "tos": ("-O", "--tos"),
    }
    flags = "46ADJMNRadeghlmnoqsuv"
    signatures = (
        Signature("xmt/rcv/%", SUMMARY, weak=True),
        Signature(" bytes, ", rf"(?:\[[^\]]{{8,40}}\] )?{HOST} +: \[\d+\], \d+ bytes, {TIME} ms .{{1,120}}", weak=True),
        Signature(", timed out", rf"(?:\[[^\]]{{8,40}}\] )?{HOST} +: \[\d+\], timed out .{{1,60}}", weak=True),
        Signature("duplicate for [", rf"{HOST} +: duplicate for \[\d+\], \d+ bytes, .{{1,80}}", weak=True),
        Signature(
            " : ",
            rf"\S{{1,255}} +:(?: (?:{LISTED.pattern}))(?: (?:{LISTED.pattern}))+",
            weak=True,
            shape=r"\S{0,255} *:[ -]*",
        ),
        Signature("for ICMP Echo sent to", r"ICMP .{1,80} from \S{1,60} for ICMP Echo sent to .{1,300}", weak=True),
        Signature(" is alive (", rf"{HOST} is alive \({TIME} ms\){FROM}", weak=True),
        Signature(" ms)", rf"\d{{1,3}}(?:\.\d{{1,3}}){{3}} \({TIME} ms\){FROM}", weak=True),
        Signature("fping: ", r"\S{0,40}fping: (?!Version |comments to ).{1,300}", weak=True),
    )

    def parse(self, log: Log, recorder: Recorder) -> None:
        """Read one log; each host is a run."""
        reader = FpingText(log, recorder)
        reader.feed(log.lines, recorder.accounting)
        reader.finish()


PARSER = FpingParser()
