"""How an ntttcp log is recognised, and which reader reads it."""

from __future__ import annotations

from typing import ClassVar

from azlatency.logs.grammar.units import prefixed
from azlatency.logs.parsers import Log, Parser, Signature
from azlatency.logs.parsers.identities import SumOfStreams
from azlatency.logs.parsers.ntttcp.console import ConsoleText
from azlatency.logs.parsers.ntttcp.json_output import read_json
from azlatency.logs.parsers.ntttcp.xml_output import XmlReport
from azlatency.logs.record import Recorder


class NtttcpParser(Parser):
    """Reads ntttcp; see `azlatency.logs.parsers.ntttcp`."""

    tool = "ntttcp"
    identities = (SumOfStreams("throughput"),)
    commands = ("ntttcp", "ntttcp.exe", "NTttcp")
    options: ClassVar = {"buffer": ("-b", "-l"), "send-buffer": ("-sb",), "receive-buffer": ("-rb",)}
    document_keys: ClassVar = {"ntttcps": "{", "ntttcpr": "{"}
    units: ClassVar = {
        # MEG and MB/s of ntttcp for Windows are binary (ntttcp.c 4702).
        "MEG": ("bytes", 1 << 20),
        "ntttcp MB/s": ("bit/s", 8 << 20),
        "ntttcp KB/s": ("bit/s", 8 << 10),
        "ntttcp decimal KB/s": ("bit/s", 8 * 10**3),
        "ntttcp decimal MB/s": ("bit/s", 8 * 10**6),
        "ntttcp B/s": ("bit/s", 8),
        # In the XML of ntttcp for Linux before May 2021, an mbps is 2**20 bit/s.
        "ntttcp old mbps": ("bit/s", 1 << 20),
        "cycles/byte": ("cycles/byte", 1),
        "count/sec": ("1/s", 1),
        **prefixed("Hz", "KMG", 1000, "Hz"),
    }
    signatures = (
        Signature("NTTTCP for Linux", r"NTTTCP for Linux \S{1,40}"),
        Signature("Copyright Version", r"Copyright Version \d\S{0,40}"),
        Signature("<ntttcp", r"<ntttcp[sr](?: [^<>]{0,300})?>"),
        Signature('"ntttcp', r'\{?\s*"ntttcp[sr]"\s*:\s*\{?.{0,4000}'),
        Signature("Totals:", r"(?:\*\*)?\d\d:\d\d:\d\d INFO: #{5}\s{1,4}Totals:\s{1,4}#{5}", weak=True),
        Signature("Bytes(MEG)", r"Bytes\(MEG\)\s{1,20}realtime\(s\).{0,300}", weak=True),
        Signature("Throughput(M", r"Throughput\(M(?:B|bit)/s\)", weak=True, then=r"={8,40}"),
        Signature("test duration", r"\d\d:\d\d:\d\d INFO: test duration\s{0,20}:.{1,30}", weak=True),
    )

    def parse(self, log: Log, recorder: Recorder) -> None:
        """Read one log: XML or JSON if a line begins such a report, else console text."""
        if log.document is not None:
            read_json(log, recorder)
            return
        for line in log.lines:
            text = line.text.strip()
            if text.startswith("<ntttcp"):
                reader = XmlReport(log, recorder)
                reader.feed(log.lines, recorder.accounting)
                reader.close(log.last_line)
                return
            if '"ntttcp' in text and text.startswith(("{", '"ntttcp')):
                read_json(log, recorder)
                return
        console = ConsoleText(log, recorder)
        console.feed(log.lines, recorder.accounting)
        console.close(log.last_line)


PARSER = NtttcpParser()
