"""ntttcp for Linux 1.1.0 to 1.4.3 (console, XML, JSON) and for Windows 5.33 and 5.39 (console, XML).

::

    NTTTCP for Linux 1.4.0
    ---------------------------------------------------------
    17:17:07 INFO: 64 connections created in 19898 microseconds
    Real-time throughput: 5.52Gbps
    17:18:07 INFO: #####  Totals:  #####
    17:18:07 INFO: test duration    :10.80 seconds
    17:18:07 INFO: total bytes      :132878434304
    17:18:07 INFO:   throughput     :98.39Gbps
    17:18:07 INFO:   retrans segs   :7079
    17:18:07 INFO: cpu cores        :8
    17:18:07 INFO:   user           :2.57%
    17:18:07 INFO:   cycles/byte    :1.69
    17:18:07 INFO: cpu busy (all)   :461.15%

       Bytes(MEG)    realtime(s) Avg Frame Size Throughput(MB/s)       Windows
    ================ =========== ============== ================
        34243.000000     300.005       1417.829          114.141

    <ntttcps computername="az1a" version="5.33-linux">                 -x; -j has the same names in JSON
        <total_bytes metric="MB">1392.984336</total_bytes>
        <throughput metric="mbps">3720.571</throughput>

*Sides.* Sender and receiver write one log each. Two logs of one test are two sources with one run each; ``dialect`` and
the ``side`` of the metrics say which end printed it.

*Units.* The Linux console uses powers of 1000. MEG, MB and KB of Windows are powers of 1024 (ntttcp.c 4702). The XML
of Linux changed in May 2021: before, MB was 2**20 bytes (truncated to a whole number) and mbps 2**20 bit/s. KB/s and
MB/s of a thread prove which one it is; without threads, a fraction in ``total_bytes`` or a rate in ``Bps`` identifies
the newer one. ``version="5.33-linux"`` does not. The attribute ``metric`` is read: another unit is converted or left
out. Mbit/s of Windows 5.0 are read with the unit that bytes and time show.

*Scopes.* ``retransmits`` counts the segments of the whole machine (scope host), and ``user`` to ``softirq`` are shares
of the machine. ``cpu busy (all)`` is the share of the process and exceeds 100 % on several cores (``cpu_process``).

*Time.* ``test duration`` is measured; the negotiated cycle time is not the duration. ``tcpi rtt`` is the round-trip
time that the TCP stack estimated under load (``tcp_rtt_mean``); it is not a probe.

*Not stored.* Real-time lines carry no time stamp, so they are not intervals. Kinds of retransmits, the real times of
threads and the settings are ignored; so are, in XML and JSON of Linux, the zeros of fields that only Windows
measures.

Modules: `console`, `xml_output`, `json_output` (one per output), `fields` (the names that XML and JSON share), `run`
(the run of one log and its checks).
"""

from __future__ import annotations

from functools import partial
from typing import ClassVar

from azlatency.logs.grammar.units import prefixed
from azlatency.logs.parsers import Log, Parser, Signature
from azlatency.logs.parsers.identities import sum_of_streams
from azlatency.logs.parsers.ntttcp.console import ConsoleText
from azlatency.logs.parsers.ntttcp.json_output import read_json
from azlatency.logs.parsers.ntttcp.xml_output import XmlReport
from azlatency.logs.record import Recorder


class NtttcpParser(Parser):
    """Reads ntttcp; see `azlatency.logs.parsers.ntttcp`."""

    tool = "ntttcp"
    identities = (partial(sum_of_streams, "throughput"),)
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
        if log.is_document:
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
