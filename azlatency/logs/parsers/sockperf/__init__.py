"""sockperf 2.7 to 3.10: client and server output, and the CSV of ``--full-log``.

::

    sockperf: == version #3.8-0.git31ee322aa82a ==
    sockperf[CLIENT] send on:sockperf: using recvfrom() to block on socket(s)
    [ 0] IP = 10.2.0.58       PORT =  5201 # TCP
    sockperf: [Total Run] RunTime=10.000 sec; Warm up time=400 msec; SentMessages=296842; ReceivedMessages=296841
    sockperf: [Valid Duration] RunTime=9.550 sec; SentMessages=283507; ReceivedMessages=283507
    sockperf: ====> avg-latency=16.791 (std-dev=3.064, mean-ad=0.949, median-ad=0.660, siqr=0.446, cv=0.182,
              std-error=0.006, 99.0% ci=[16.776, 16.806])
    sockperf: # dropped messages = 0; # duplicated messages = 0; # out-of-order messages = 0
    sockperf: Total 283507 observations; each percentile contains 2835.07 observations
    sockperf: ---> <MAX> observation = 1051.690
    sockperf: ---> percentile 99.999 =  271.066
    sockperf: ---> <MIN> observation =   10.847
    packet, txTime(sec), rxTime(sec), latency(usec)
    0, 2.435528878, 2.435762723, 116.923

*RTT/2.* ``avg-lat``, ``avg-latency``, ``Latency is`` and every statistic printed with them are **half round trips**
(RTT/2). ``avg-rtt`` and ``Round trip is`` (``--full-rtt``, since 3.6) are round-trip times (client.cpp 463, 521, 541).
The tables contain round-trip times. In a full log rxTime - txTime is the round-trip time, whatever the last column is.

*Percentiles.* A printed percentile is the order statistic floor(p*n + 0.5), without interpolation (client.cpp 313).

*Rates.* ``MBps`` is 2**20 bytes per second (client.cpp 629). ``GBps`` is MBps/1000 with ``--giga-size``, but MBps
itself with ``--increase_output_precision`` up to 3.7; message rate times message size shows which.

*End of a run.* ``interrupted by signal 2`` is part of the normal output of under-load; only ``interrupted by user`` is
Ctrl-C. Since 3.2 every run is 0.45 s shorter than ``-t`` (client.cpp 58); this is an event, not an interruption.

*Not stored.* Progress and warm-up lines, the sentence ``each percentile contains``, the ``+INFO`` dump of ``--debug``,
and the bars of the histogram, which are scaled and rounded up (the exact counts are in the full log).

Modules: `text` (the lines), `checks` (the test type, the unit, drops and duration).
"""

from __future__ import annotations

from functools import partial
from typing import ClassVar

from azlatency.logs.parsers import Parser, Signature
from azlatency.logs.parsers.identities import at_most
from azlatency.logs.parsers.sockperf.text import SockperfText


class SockperfParser(Parser):
    """Reads sockperf; see `azlatency.logs.parsers.sockperf`."""

    tool = "sockperf"
    reader = SockperfText
    reads_any_size = True
    commands = ("sockperf",)
    names_size = fills_duration = True
    options: ClassVar = {
        "requested_count": ("-n", "--number-of-packets"),
        "mps": ("--mps",),
        "burst": ("-b", "--burst"),
        "reply-every": ("--reply-every",),
    }
    switches: ClassVar = {"nonblocked": ("--nonblocked",)}
    neutral = (
        "-i --ip -p --port -t --time -m --msg-size --tcp --full-log --full-rtt --client_ip --client_port --no-color -d"
        " --debug --ping-pong --under-load --playback --throughput"
    )
    identities = (partial(at_most, "valid_sent", "sent"), partial(at_most, "valid_received", "received"))
    # sockperf's MBps are MiB/s (client.cpp 629), and its GBps are 1000 of them.
    units: ClassVar = {"sockperf MBps": ("bit/s", 8 << 20), "sockperf GBps": ("bit/s", 8000 << 20)}
    signatures = (
        Signature("== version #", r"sockperf: ?== version #.{0,80}?=="),
        Signature("following parameters: --mps", r"test was performed using the following parameters: .+"),
        Signature("Usage: sockperf", r"Usage: sockperf .*"),
        Signature("[Total Run] RunTime", r"(?:sockperf: )?\[Total Run\] RunTime=.*", weak=True),
        Signature(
            "Summary: ", r"(?:sockperf: )?Summary: (?:Latency|Round trip|Message Rate|BandWidth) is .*", weak=True
        ),
        Signature("observations; each", r"(?:sockperf: )?Total \d+ observations; each.{1,80}", weak=True),
        Signature("====> avg-", r"(?:sockperf: )?====> avg-(?:lat|latency|rtt)=.*", weak=True),
    )


PARSER = SockperfParser()
