"""fping 4 and 5: replies, summaries, interval blocks and statistics of many hosts at once.

::

    10.2.2.4 : [0], 64 bytes, 0.304 ms (0.304 avg, 0% loss)
    [1795228134.23721] 10.2.2.4 : [1], 64 bytes, 0.251 ms (0.277 avg, 0% loss)
    10.2.2.4 : [2], timed out (0.277 avg, 33% loss)
    10.2.2.4 : duplicate for [1], 64 bytes, 3.26 ms
    ICMP Host Unreachable from 10.2.2.1 for ICMP Echo sent to 10.2.2.4

    10.2.2.4 : xmt/rcv/%loss = 3/2/33%, min/avg/max = 0.251/0.277/0.304
    10.2.3.4 : 7.94 2.64 - 4.26                                            (-C; "-" is a probe without an answer)
    [02:28:56]                                                             (-Q; blocks of summaries follow)
    10.2.2.4 is alive (0.033 ms)
           0.299 sec (elapsed real time)

The format is that of fping.c of 5.2. Every time is a **round-trip time** in milliseconds with three significant digits.
Each host is a run, in order of first appearance.

*Summary.* fping prints the summary to standard error. A file of standard output alone ends with replies and may have
been cut anywhere, so such a run is ``truncated``; its mean is the running mean of the last reply. ``%loss`` is cut to a
whole number; loss is computed from the counts.

*Options.* ``-C`` prints no mean; its samples are stored. ``-Q`` blocks become intervals; fping prints the time of day
at the end of each block, without a date, and never prints the block in which the run ends. A ``-D`` stamp is the
arrival time of the reply, with five decimals; the send time is the stamp minus the round-trip time.

*Not stored.* Stamps in a format of local time, the totals of ``-s`` over all hosts (they are compared with the sums of
the hosts), and the bare host names of ``-a`` and ``-u``.

Modules: `text` (the lines), `host` (one host: its probes, blocks and counts).
"""

from __future__ import annotations

from typing import ClassVar

from azlatency.logs.parsers import Parser, Signature
from azlatency.logs.parsers.identities import SENT_IS_RECEIVED_AND_LOST
from azlatency.more_tools.fping.text import FROM, HOST, LISTED, SUMMARY, TIME, FpingText


class FpingParser(Parser):
    """Reads fping; see `azlatency.more_tools.fping`."""

    tool = "fping"
    reader = FpingText
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


PARSER = FpingParser()
