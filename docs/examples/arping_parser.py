"""arping (iputils): ARP round trips inside one network segment.

    ARPING 10.9.0.2 from 10.9.0.1 va
    Unicast reply from 10.9.0.2 [02:44:DC:B1:D9:87]  0.573ms
    Sent 5 probes (1 broadcast(s))
    Received 5 response(s)

Versions seen: iputils 20221126. Every time is a round-trip time. Ignored: the number of broadcasts.
"""

from azlatency.logs.grammar.rules import RuleReader, data
from azlatency.logs.grammar.units import count, nanoseconds
from azlatency.logs.parsers import Parser, Signature
from azlatency.logs.parsers.common import end_run


class ArpingText(RuleReader):
    """Reads the lines of arping."""

    def __init__(self, log, recorder):
        self.run = recorder.start_run("arping", log.first_line, test="echo", protocol="arp", printed_as="round_trip")
        self.rtts = []

    @data(r"ARPING (\S{1,50}) from (\S{1,50}) \S{1,20}", hint="ARPING ")
    def header(self, line, match):
        self.run.set(server=match[1], client=match[2])

    @data(r"Unicast reply from \S{1,50} \[[0-9A-F:]{17}\]\s{1,4}([\d.]{1,12})ms", hint="reply from")
    def reply(self, line, match):
        self.rtts.append(nanoseconds(match[1], "ms"))

    @data(r"(Sent|Received) (\d{1,9}) (?:probes|response)\(?s?\)?.{0,40}", hint=" ")
    def total(self, line, match):
        self.run.add_metric(match[1].lower(), count(match[2]), line.number)


class ArpingParser(Parser):
    """Reads arping."""

    tool, commands = "arping", ("arping",)
    signatures = (Signature("ARPING ", r"ARPING \S{1,50} from \S{1,50} \S{1,20}"),)

    def parse(self, log, recorder):
        text = ArpingText(log, recorder)
        text.feed(log.lines, recorder.accounting)
        n = len(text.rtts)
        text.run.add_samples(seq=range(1, n + 1), sent_ns=[None] * n, rtt_ns=text.rtts, status=["ok"] * n)
        end_run(text.run, has_numbers=n > 0, ended=text.run.value("received") is not None, last_line=log.last_line)


PARSER = ArpingParser()
