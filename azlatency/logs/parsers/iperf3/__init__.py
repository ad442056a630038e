"""iperf3 3.0.11 to 3.21: text of clients and servers, ``-J`` and ``--json-stream``.

::

    Connecting to host 10.2.2.4, port 5001
    [  5] local 10.2.1.4 port 39194 connected to 10.2.2.4 port 5001
    [ ID] Interval           Transfer     Bitrate         Retr  Cwnd
    [  5]   0.00-1.01   sec   305 MBytes  2.53 Gbits/sec  632   2.44 MBytes       (omitted)
    [  5]   0.00-1.00   sec   216 MBytes  1.81 Gbits/sec   95   3.54 MBytes
    - - - - - - - - - - - - - - - - - - - - - - - - -
    [ ID] Interval           Transfer     Bitrate         Retr
    [  5]   0.00-3.00   sec   415 MBytes  1.16 Gbits/sec  320             sender
    [  5]   0.00-3.02   sec   419 MBytes  1.16 Gbits/sec                  receiver

    iperf Done.

    [  5]   0.00-1.00   sec  7.94 MBytes  66.6 Mbits/sec  5747                                   UDP, sender
    [  5]   0.00-3.00   sec  30.8 MBytes  86.1 Mbits/sec  0.007 ms  3578/25894 (14%)  receiver   UDP, receiver
    [  5][TX-C]   0.00-1.00   sec   368 MBytes  3.09 Gbits/sec  226   3.51 MBytes                --bidir

*Prefixes.* ``--timestamps``, ``-T``, ``> ``, ``^C`` and the name of a container may precede any line; they are removed.

*Units.* Sizes are powers of 1024 and rates powers of 1000; rates of ``-f K`` and ``-f M`` are powers of 1024 (units.c
239, 249). The ``throughput`` of an interval is the more precise of 8 * bytes / time and the printed rate.

*Runs.* One test is one run; the log of a server has several. ``runs.test`` is ``stream`` (client sends),
``stream-reverse`` (``-R``) or ``stream-bidir``. The totals of both ends are stored with their ``side`` and are never
added; so are the intervals of ``--get-server-output``. Retransmits that are not printed are missing, not zero.

*UDP.* The sender's row always prints 0 lost, so only its bytes and datagrams are read. ``loss`` is 1 - received/sent if
both counts are known and no seconds were omitted (``-O``), else lost/total. Up to 3.1 one row has the bytes and rate of
the sender and the jitter and loss of the receiver.

*Latency.* iperf3 does not measure latency. ``tcp_rtt_*`` (JSON) is the round-trip time that the TCP stack of this end
estimated for its own socket under load; it is stored if this end sends.

*Not stored.* Cookies, MSS, names of congestion controls, the name of the system.

Modules: `rows` (one interval or total), `run` (a test: streams, sides, tables, checks), `text`, `json_output`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from itertools import groupby
from operator import itemgetter
from typing import ClassVar

from azlatency.logs.grammar.json_lines import begins_document
from azlatency.logs.parsers import Log, Parser, Signature
from azlatency.logs.parsers.common import record_no_data, record_server
from azlatency.logs.parsers.iperf3.json_output import Documents
from azlatency.logs.parsers.iperf3.text import ANCHORS, CONNECTED, ROW, STOPPED, Iperf3Text
from azlatency.logs.parsers.iperf_rows import IDENTITIES
from azlatency.logs.record import Recorder
from azlatency.logs.source.lines import Line

#: iperf 2 prints one space before a time, and pads the number of datagrams. iperf3 prints more spaces before 100 s, but
#: for its oldest versions; after it, only columns that iperf 2 does not have tell the two apart.
_NOT_IPERF2 = (
    r"(?!\[[ \w]{1,8}\] \d{1,2}\.(?!.{1,200}(?:sender|receiver)))"
    r"(?!\[[ \w]{1,8}\] \d(?!.{1,200}(?:\d +\d[\d.]{0,11} [KMGT]?By|\d/\d{1,4} \(|sender|receiver|\(omitted\))))"
)
#: What ``-T`` puts before each line.
_TITLE = re.compile(rf"(\S{{1,60}}):  (?:{ANCHORS})")
_LINES_TO_TITLE = 20


def _weak(hint: str, pattern: str, *, inner: bool = False) -> Signature:
    """Return the signature of a line after any prefix; it is weak, because the reader separates the tests itself."""
    return Signature(hint, r".{0,200}?" + pattern, weak=True, inner=inner)


class Iperf3Parser(Parser):
    """Reads iperf3; see `azlatency.logs.parsers.iperf3`."""

    tool = "iperf3"
    identities = IDENTITIES
    commands = ("iperf3",)
    options: ClassVar = {
        "length": ("-l", "--length"),
        "window": ("-w", "--window"),
        "MSS": ("-M", "--set-mss"),
        "congestion": ("-C", "--congestion"),
        "tos": ("-S", "--tos"),
        "bitrate": ("-b", "--bitrate", "--bandwidth"),
        "fq-rate": ("--fq-rate",),
        "blocks": ("-k", "--blockcount"),
    }
    switches: ClassVar = {"no-delay": ("-N", "--no-delay"), "zerocopy": ("-Z", "--zerocopy")}
    flags = "146DJNRVZdhmsuv"
    neutral = (
        "-c --client -s --server -p --port -t --time -n --bytes -i --interval -f --format -J --json --json-stream -V"
        " --verbose -d --debug -D --daemon -1 --one-off -I --pidfile -4 -6 -u --udp -R --reverse --bidir -P --parallel"
        " -O --omit -T --title -B --bind --cport --logfile --timestamps --get-server-output --forceflush"
        " --connect-timeout --rcv-timeout --snd-timeout --udp-counters-64bit"
    )
    document_keys: ClassVar = {"start": "{"}
    signatures = (
        _weak("Connecting to host ", r"Connecting to host \S{1,253}, port \d{1,5}"),
        _weak("iperf 3.", r"iperf 3\.[\w.+-]{1,40}(?: \(cJSON [\w.]{1,20}\))?"),
        _weak("iperf3: ", STOPPED, inner=True),
        _weak("Server listening on ", r"Server listening on \d{1,5}(?: \(test #\d{1,9}\))?", inner=True),
        _weak("Accepted connection from ", r"Accepted connection from \S{1,253}, port \d{1,5}"),
        _weak(" connected to ", CONNECTED),
        _weak("/sec", f"{_NOT_IPERF2}{ROW}"),
        # The brace is part of the literal, because every interval has a "start" too.
        *(
            Signature(hint, r'\{?\s*"start"\s*:\s*\{.*', weak=True, inner=True)
            for hint in ('"start":\t{', '"start": {', '"start":{')
        ),
        Signature('"event"', r'\{\s*"event"\s*:\s*"(?:start|interval|end|error)"\s*,\s*"data".*', weak=True),
    )

    def parse(self, log: Log, recorder: Recorder) -> None:
        """Read the tests of one log; each client with a title has a part of its own if their lines alternate."""
        for part in (parts := list(_separate_titles(log))):
            self._read(part, recorder)
            if len(parts) > 1 and recorder.rows["runs"]:
                text = "several clients wrote into this file at once; each line is read with the title that it has"
                recorder.add_event("mixed_runs", "info", text, part.first_line, recorder.rows["runs"][-1]["run_id"])

    def _read(self, log: Log, recorder: Recorder) -> None:
        """Read the tests of one text, whose parts may be text or JSON."""
        documents = Documents(log, recorder)
        reader = Iperf3Text(log, recorder, documents)
        lines, index = log.lines, 0
        while index < len(lines):
            if begins_document(lines[index].text):
                reader.close(lines[index].number - 1)
                index = documents.read(index)
            else:
                index = reader.feed_until(begins_document, lines, index, recorder.accounting)
        reader.close(log.last_line)
        documents.close(log.last_line)
        if not reader.begun and not documents.begun and reader.listening:
            record_server(recorder, log, tool_version=reader.version)
        elif not reader.begun and not documents.begun:
            # A version, or an error in the options.
            record_no_data(recorder, log, "the log contains no iperf3 test", tool_version=reader.version)


def _separate_titles(log: Log) -> Iterator[Log]:
    """Yield one log per title if the lines of several titles alternate, else the log as it is."""
    if log.is_document or not any(_TITLE.match(line.text) for line in log.lines[:_LINES_TO_TITLE]):
        yield log
        return
    title, titled = "", []
    for line in log.lines:
        match = _TITLE.match(line.text)
        title = match[1] if match else title
        titled.append((title, line))
    parts: dict[str, list[Line]] = {}
    stretches = 0
    for title, stretch in groupby(titled, key=itemgetter(0)):
        parts.setdefault(title, []).extend(line for _, line in stretch)
        stretches += 1
    yield from [log] if stretches == len(parts) else (replace(log, lines=part) for part in parts.values())


PARSER = Iperf3Parser()
