"""How an iperf 2 log is recognised and read."""

from __future__ import annotations

import re
from functools import partial
from typing import ClassVar

from azlatency.logs.parsers import Log, Parser, Signature
from azlatency.logs.parsers.identities import BytesOfDatagrams, ClosedLoopRate, SumOfIntervals, SumOfStreams
from azlatency.logs.record import Recorder
from azlatency.more_tools.iperf2.csv_output import HEADER as CSV_HEADER
from azlatency.more_tools.iperf2.csv_output import ROW as CSV_ROW
from azlatency.more_tools.iperf2.csv_output import CsvRows
from azlatency.more_tools.iperf2.text import BANNER_CLIENT, BANNER_SERVER, CONNECTED, LOOSE_ROW, Iperf2Text

#: The reader separates the tests itself.
_weak = partial(Signature, weak=True)


class Iperf2Parser(Parser):
    """Reads iperf 2; see `azlatency.more_tools.iperf2`."""

    tool = "iperf2"
    identities = (
        *(SumOfStreams("throughput"), SumOfStreams("transferred")),
        # What is under way at the end of the test is a datagram of the intervals or of the total only.
        *(SumOfIntervals("retransmits"), SumOfIntervals("lost"), SumOfIntervals("datagrams", tolerance=0.05)),
        BytesOfDatagrams(),
        ClosedLoopRate(),
    )
    commands = ("iperf", "iperf2")
    options: ClassVar = {
        "length": ("-l", "--len"),
        "window": ("-w", "--window"),
        "MSS": ("-M", "--mss"),
        "congestion": ("-Z", "--linux-congestion"),
        "tos": ("-S", "--tos"),
        "rate": ("-b", "--bandwidth"),
    }
    switches: ClassVar = {"no-delay": ("-N", "--nodelay")}
    flags = "146CDNRUVXdehmrsuvz"
    units: ClassVar = {"rps": ("1/s", 1)}
    signatures = (
        _weak("Client connecting to ", BANNER_CLIENT),
        _weak("Server listening on ", BANNER_SERVER, inner=True),
        _weak("connected with", CONNECTED),
        _weak("iperf version 2", r"iperf version 2\.[\w.+-]{1,40}(?: .{0,200})?"),
        _weak(" sec ", LOOSE_ROW),
        _weak(",0.0-", CSV_ROW),
        _weak("time,srcaddress,", CSV_HEADER),
    )

    def parse(self, log: Log, recorder: Recorder) -> None:
        """Read the tests of one log, text or CSV."""
        first = next((line.text.strip() for line in log.lines if line.text.strip()), "")
        is_csv = "," in first and re.fullmatch(f"{CSV_ROW}|{CSV_HEADER}", first) is not None
        reader = (CsvRows if is_csv else Iperf2Text)(log, recorder)
        reader.feed(log.lines, recorder.accounting)
        reader.finish()


PARSER = Iperf2Parser()
