"""Tools whose output people post together with the logs of this library, and which no parser reads.

A line that one of `FOREIGN_TOOLS` matches begins the output of that tool. Known tools print some of the same lines: a
report of hping3 ends like one of ping, and mpstat has the banner of iostat. No parser reads them there, and an event
names the tool. To read a tool, write a parser for it: a row counts only if no parser reads the tool of its name.
"""

from __future__ import annotations

from typing import NamedTuple

from azlatency.logs.parsers import Signature

_TIME = r"\d\d:\d\d:\d\d(?: [AP]M)?"


class ForeignTool(NamedTuple):
    """How the output of a tool is recognised, and with which known tools it shares lines.

    The weak claims of the tools in ``shares`` are wrong inside the output, and all their claims in the few lines above
    its first recognised line.
    """

    signatures: tuple[Signature, ...]
    shares: tuple[str, ...] = ()


#: By the name of the tool. All signatures are strong, so none may match a line inside the log of a known tool.
FOREIGN_TOOLS: dict[str, ForeignTool] = {
    "httping": ForeignTool(
        (
            Signature("PING http", r"(?:HTT)?PING https?://.{1,300}"),
            Signature(" httping stat", r"--- \S{1,300} httping statistics ---"),
        ),
        shares=("ping",),
    ),
    "arping": ForeignTool(
        (
            Signature("ARPING", r"ARPING \d\S{1,60}.{0,100}"),
            Signature("cast reply from", r"(?:Uni|Broad)cast reply from \S{1,60} {1,3}\[[\dA-Fa-f:]{17}\] .{1,40}"),
        ),
        shares=("ping",),
    ),
    "nping": ForeignTool((Signature("Starting Nping", r"Starting Nping .{1,200}"),), shares=("ping",)),
    "tcping": ForeignTool(
        (
            Signature(
                "tcp response from", r"seq {1,4}\d{1,9}: tcp response from \S{1,253}.{0,200} \[\w{1,12}\] .{1,20}"
            ),
            Signature("Probing ", r"Probing \S{1,253}:\d{1,5}/tcp - .{1,100}"),
            Signature("(warmup): ", r"> \S{1,253}:\d{1,5} \(warmup\): [\d.]{1,12} ?ms"),
            Signature("TCPinging ", r"TCPinging \S{1,253} on port \d{1,5}.{0,60}"),
        ),
        shares=("ping", "psping"),
    ),
    "traceroute": ForeignTool(
        (
            Signature("hops max", r"traceroute6? to \S{1,253}.{0,120}, \d{1,3} hops max.{0,60}"),
            Signature("Tracing route to", r"Tracing route to \S{1,253}.{0,200}"),
            Signature(
                " ms",
                r"1 {1,3}\S{1,253} \(\d{1,3}(?:\.\d{1,3}){3}\)(?: {1,2}[\d.]{1,9} ms){3}",
                shape=r"\S{0,253} ?\(\)(?: {1,2} ms){3}",
            ),
        )
    ),
    "owping or twping": ForeignTool(
        (Signature("ping statistics from", r"--- \S{0,10}ping statistics from .{1,300} ---"),), shares=("ping",)
    ),
    "ethr": ForeignTool(
        (
            Signature("Ethr", r"Ethr: Comprehensive Network Performance .{1,100}|Ethr done, .{1,100}"),
            Signature("Bits/s", r"\[ ?ID\] {1,8}Protocol {1,12}Interval {1,12}Bits/s.{0,100}"),
        ),
        shares=("iperf2", "iperf3", "ping", "psping"),
    ),
    "mpstat": ForeignTool(
        (
            Signature("%usr", rf"(?:{_TIME}|Average:) {{1,10}}CPU {{1,10}}%usr .{{1,200}}"),
            Signature('"cpu-load"', r'"cpu-load" ?: ?\[.{0,200}'),
        ),
        shares=("iostat",),
    ),
    "cifsiostat": ForeignTool(
        (
            Signature("Filesystem", r"Filesystem:? {1,60}r\w{0,2}B/s {1,20}w\w{0,2}B/s {1,20}rops/s .{1,200}"),
            Signature("rops/s", r"r\w{0,2}B/s {1,20}w\w{0,2}B/s {1,20}rops/s .{1,200}Filesystem"),
            Signature('"filesystem"', r'"filesystem" ?: ?\[.{0,200}'),
        ),
        shares=("iostat",),
    ),
    "sar": ForeignTool(
        (
            Signature("IFACE", rf"(?:{_TIME}|Average:) {{1,10}}IFACE {{1,10}}rx\w{{1,8}}/s .{{1,200}}"),
            Signature("%user", rf"(?:{_TIME}|Average:) {{1,10}}CPU {{1,10}}%user .{{1,200}}"),
        ),
        shares=("iostat",),
    ),
    "pidstat": ForeignTool(
        (Signature("PID", rf"(?:# Time|{_TIME}|Average:) {{1,10}}UID {{1,10}}T?G?I?D?P?ID .{{1,300}}"),),
        shares=("iostat",),
    ),
    "vmstat": ForeignTool((Signature("-memory-", r"procs -{3,40}memory-{3,40} .{1,100}"),)),
    "netstat": ForeignTool(
        (
            Signature("Active ", r"Active (?:Internet|UNIX domain|LOCAL) .{0,20}(?:connections|sockets).{0,60}"),
            Signature("Kernel ", r"Kernel (?:Interface|IP(?:v6)? routing(?: cache)?) table"),
        )
    ),
    "ss": ForeignTool(
        (Signature("Recv-Q", r"(?:Netid {1,12})?State {1,12}Recv-Q {1,12}Send-Q {1,40}Local Address:.{1,200}"),)
    ),
    "nuttcp": ForeignTool(
        (
            Signature(" Mbps", r"[\d.]{1,16} MB / {1,8}[\d.]{1,12} sec = {1,8}[\d.]{1,16} Mbps.{0,200}"),
            Signature("rate_Mbps=", r"megabytes=\S{1,20} real_seconds=\S{1,20} .{0,200}rate_Mbps=.{1,300}"),
        )
    ),
    "ioping": ForeignTool(
        (
            Signature(
                " request=",
                r"[\d.]{1,12} ?[KMG]?i?B? ?(?:<<<|>>>|from) .{1,300}: request=\d{1,18} time=[\d.]{1,12} .{1,60}",
            ),
            Signature("ioping stat", r"--- .{1,300} ioping statistics ---"),
        )
    ),
    "DiskSpd": ForeignTool(
        (Signature("Input parameters:", r"Input parameters:"), Signature("iskspd", r"Command Line: .{1,500}"))
    ),
    "perftest (ib_send_lat and others)": ForeignTool(
        (
            Signature(
                " Test",
                r"(?:RDMA_)?(?:Send|Write|Read|Atomic|Raw)\w{0,20} .{0,40}(?:Latency|BW|Bandwidth) Test",
                shape=".* Test",
            ),
            Signature("#bytes", r"#bytes {1,8}#iterations {1,8}(?:t_min|BW peak).{1,300}"),
        )
    ),
    "k8s-netperf --csv or --json (copy the tables that it prints)": ForeignTool(
        (
            Signature(",Same node,", r"(?:\w{1,4},)?(?:Driver,)?Profile,Same node,Host Network,.{1,600}"),
            Signature('"uuid": "k8s-netperf"', r'"uuid": "k8s-netperf",'),
        )
    ),
    "PerfKitBenchmarker (give what its tools printed)": ForeignTool(
        (Signature('"sample_uri"', r'\{"(?:metric|test)": ?".{1,2000000}"sample_uri": ?".{1,2000000}'),)
    ),
    "ApacheBench": ForeignTool((Signature("ApacheBench", r"This is ApacheBench, Version .{1,80}"),)),
    "speedtest": ForeignTool(
        (
            Signature("Speedtest by Ookla", r"Speedtest by Ookla.{0,40}"),
            Signature("speedtest.net", r"Retrieving speedtest\.net configuration\.\.\."),
        )
    ),
    # Of azlatency.more_tools only the tool whose report would be read as one of ping where that folder was deleted.
    "hping3": ForeignTool(
        (
            Signature("HPING", r"HPING \S{1,253} \(.{1,100}\): .{1,60} set, \d{1,6} headers \+ \d{1,6} data bytes"),
            Signature(" hping stat", r"--- \S{0,253} hping statistic ---"),
            Signature("len=", r"(?:DUP! )?len=\d{1,6} ip=\S{1,60} ttl=\d{1,3} .{1,200}"),
        ),
        shares=("ping",),
    ),
}
