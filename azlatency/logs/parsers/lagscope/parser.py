"""Which logs are lagscope's, and which of its forms they have."""

from __future__ import annotations

import re
from typing import ClassVar

from azlatency.logs.grammar.rules import DATA
from azlatency.logs.parsers import Log, Parser, Signature
from azlatency.logs.parsers.identities import EqualBuckets
from azlatency.logs.parsers.lagscope.files import CSV_HEADER, FrequencyFile, Samples, read_json
from azlatency.logs.parsers.lagscope.text import LABEL, LagscopeText
from azlatency.logs.record import Recorder
from azlatency.logs.source.lines import find_line


class LagscopeParser(Parser):
    """Reads lagscope; see `azlatency.logs.parsers.lagscope`."""

    tool = "lagscope"
    identities = (EqualBuckets(),)
    commands = ("lagscope",)
    table_dialect = "lagscope-json"
    options: ClassVar = {"requested_count": ("-n",)}
    document_keys: ClassVar = {"latencies": "["}
    document_type = FrequencyFile
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
        header = find_line(log.lines, CSV_HEADER) if log.document is None else None
        if header is not None:
            rows = Samples(log, recorder)
            recorder.accounting.mark(log.lines[header].number, DATA)
            rows.feed(log.lines[header + 1 :], recorder.accounting)
            rows.finish()
        elif log.document is not None or any('"latencies":[' in line.text for line in log.lines[:3]):
            read_json(log, recorder)
        else:
            reader = LagscopeText(log, recorder)
            reader.feed(log.lines, recorder.accounting)
            reader.finish()


PARSER = LagscopeParser()
