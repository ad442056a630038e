"""lagscope 0.1.1 to 1.0.1: statistics, percentiles and histogram of the sender, and the files of ``-R`` and ``-P``.

::

    lagscope 1.0.1
    ---------------------------------------------------------
    02:24:19 INFO: New connection: local:38622 [socket:3] --> 10.2.2.4:6001
    10.2.2.4: 99% completed.                                  (carriage returns only)
    02:24:22 DBG : Reply from 10.2.2.4: bytes=4 time=860.750us                    (-V)
    02:24:20 INFO: TEST COMPLETED.
    02:24:20 INFO: Ping statistics for 10.2.2.4:
    02:24:20 INFO:    Number of successful Pings: 5000
    02:24:20 INFO:    Minimum = 188.000us, Maximum = 5066.500us, Average = 247.632us

    Percentile   Latency(us)                                                      (-P)
         50%     231
    Interval(usec)   Frequency                                                    (-H)
          0          0
    Index, Latency(us)                                                            (-R file.csv)
    0, 239
    {"latencies":[ {"latency": 188, "frequency": 2}, ... ]}                       (-P file.json)

The formats are those of main.c and latencies_stats.c. Every time is a **round-trip time** over one TCP connection in a
closed loop. The first one includes the warm-up of the connection and is counted by the tool.

*Resolution.* Percentiles, histogram, CSV and JSON contain times **truncated** to whole microseconds: a printed 17 is
between 17 and 18 µs, so a median may be below the minimum. Values are stored as printed with a resolution of 1 µs;
samples have both bounds. Single times are multiples of 0.25 µs, the step of the clock, despite their three decimals.

*Percentiles.* A percentile is the order statistic floor(p (n+1) / 100). Due to a bug of the tool single percentiles are
far too low: those that break the order of the table are left out. The last row of the histogram has no upper bound.

*Not used.* The exit status is the number of pings modulo 256, and 0 for a refused connection, so it says nothing. Times
of day have no date and whole seconds, so the duration is known to a second. A histogram without a line of lagscope
above it is not recognised, because latte prints the same titles.
"""

from __future__ import annotations

import re
from typing import ClassVar

from azlatency.logs.grammar.rules import DATA
from azlatency.logs.parsers import Log, Parser, Signature
from azlatency.logs.parsers.identities import equal_buckets
from azlatency.logs.parsers.lagscope.files import CSV_HEADER, Samples, read_json
from azlatency.logs.parsers.lagscope.text import LABEL, LagscopeText
from azlatency.logs.record import Recorder
from azlatency.logs.source.lines import find_line


class LagscopeParser(Parser):
    """Reads lagscope; see `azlatency.logs.parsers.lagscope`."""

    tool = "lagscope"
    identities = (equal_buckets,)
    commands = ("lagscope",)
    table_dialect = "lagscope-json"
    options: ClassVar = {"requested_count": ("-n",)}
    document_keys: ClassVar = {"latencies": "["}
    signatures = (
        Signature("lagscope ", r"lagscope \d{1,3}(?:\.\d{1,3}){1,3}"),
        Signature(CSV_HEADER, re.escape(CSV_HEADER)),
        Signature('"latencies":[', r'(?:\{\s{0,20})?"latencies":\[.{0,100}'),
        Signature("Ping statistics for", rf"{LABEL}Ping statistics for \S{{1,100}}:", weak=True),
        Signature("successful Pings:", rf"{LABEL}\s*Number of successful Pings: \d+", weak=True),
        Signature("Latency(us)", r"Percentile\s{1,20}Latency\(us\)", weak=True),
    )

    def parse(self, log: Log, recorder: Recorder) -> None:
        """Read one log: the text, the CSV or the JSON."""
        header = find_line(log.lines, CSV_HEADER) if not log.is_document else None
        if header is not None:
            rows = Samples(log, recorder)
            recorder.accounting.mark(log.lines[header].number, DATA)
            rows.feed(log.lines[header + 1 :], recorder.accounting)
            rows.finish()
        elif log.is_document or any('"latencies":[' in line.text for line in log.lines[:3]):
            read_json(log, recorder)
        else:
            reader = LagscopeText(log, recorder)
            reader.feed(log.lines, recorder.accounting)
            reader.finish()


PARSER = LagscopeParser()
