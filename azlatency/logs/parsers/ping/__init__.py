"""ping: iputils in every language, BusyBox, inetutils, macOS and the BSDs, RouterOS, and Windows in thirteen languages.

::

    PING 10.2.2.4 (10.2.2.4) 56(84) bytes of data.
    [1795228093.993389] 64 bytes from 10.2.2.4: icmp_seq=1 ttl=64 time=0.302 ms
    64 bytes from 10.2.2.4: icmp_seq=1 ttl=64 time=0.302 ms (DUP!)
    no answer yet for icmp_seq=2
    From 10.2.2.1 icmp_seq=3 Destination Host Unreachable
    --- 10.2.2.4 ping statistics ---
    200 packets transmitted, 193 received, +9 duplicates, 3.5% packet loss, time 2341ms
    rtt min/avg/max/mdev = 2.357/4.666/51.019/4.329 ms, pipe 2, ipg/ewma 4.582/3.443 ms

    Pinging 10.1.0.4 with 32 bytes of data:
    Reply from 10.1.0.4: bytes=32 time<1ms TTL=128
    Packets: Sent = 4, Received = 3, Lost = 1 (25% loss),
    Minimum = 0ms, Maximum = 2ms, Average = 1ms

Every printed time is a round-trip time.

*Languages.* The words differ by language and system, so a rule identifies a line by its structure and its numbers; the
words decide only where the structure is ambiguous. A decimal comma is read as a decimal point: a French log can contain
both. **To add a language, add one `Language` entry to** `azlatency.logs.parsers.ping.languages`.

*Loss.* Loss is computed from the counts. Older iputils, BusyBox and inetutils truncate the percentage (25 of 3600 is
printed as "0%").

*Deviation.* ``mdev`` and ``stddev`` are population standard deviations over all replies, duplicates included; they are
converted to the sample standard deviation. inetutils prints 0.000 for every deviation below 22.4 µs; that value is
omitted.

*Old iputils.* Before s20190709, iputils truncates the mean to whole microseconds before it squares it, so its ``mdev``
may be too large; a log does not show the version, so the resolution includes that excess. s20180629 to s20190709 lose
the carry when they round a reply: "31.10" is 32.0 ms and "4.100" is 5.00 ms. Where the digits of the log show such a
version, the time is corrected and stored with its bounds.

*Several pings at once.* If pings of several hosts wrote into one file, each line is read with the host that it names.

*Contradictions.* The summary is compared with the replies. A run whose summary contradicts them is ``failed``.

*Windows.* Windows truncates times to whole milliseconds. A sample is therefore the interval from the printed time to
one millisecond more, and 0ms in the summary is not a value. Windows counts "Destination host unreachable" as received;
it is counted as lost.

*Time stamps.* A ``-D`` stamp is the arrival time of the reply. The send time is the stamp minus the round-trip time.

*Clock steps.* Without kernel time stamps iputils reads the wall clock. If the clock is set back during a probe, the
reply shows 0.000 ms (ping_common.c, ``gather_statistics``). Such a sample is ``void``, and a summary that includes it
has no usable minimum, mean or deviation.

Modules: `languages` (the words), `text` (the report), `routeros` (the lines of RouterOS), `json_output` (``ping -j``),
`summary` (loss and deviation), `samples` (the probes of a run), `mixed` (pings of several hosts in one text).
"""

from azlatency.logs.parsers.ping.parser import PARSER

__all__ = ["PARSER"]
