"""hping3: replies on standard output, the summary on standard error.

::

    HPING 10.66.2.4 (az0 10.66.2.4): S set, 40 headers + 0 data bytes
    len=40 ip=10.66.2.4 ttl=64 DF id=0 sport=80 flags=RA seq=0 win=0 rtt=1.2 ms
    len=40 ip=10.66.2.4 ttl=64 DF id=0 sport=80 flags=RA seq=1 win=0 rtt=4.0 ms

    --- 10.66.2.4 hping statistic ---
    2 packets transmitted, 2 packets received, 0% packet loss
    round-trip min/avg/max = 1.2/2.6/4.0 ms

*Times* are round trips in ms with one decimal, of a TCP segment, a datagram or an ICMP message. hping3 adds the
difference of two clocks, ``time`` for seconds and ``gettimeofday`` for microseconds (rtt.c): a probe that is sent some
milliseconds after the start of a second may get 1000 ms too much. Such replies are reported (``second_added``).

*Counts.* The loss is cut to whole percent (statistics.c), so it is computed from the counts. Duplicates count as
received. ``0.0/0.0/0.0`` without replies means that there is no time. With ``--flood`` no reply is read, so the loss is
missing. With ``--traceroute`` the times of hops are part of the summary, so its times are left out.

*Order.* In a file that receives both streams, the summary stands above the header, because standard output is
buffered.
"""

from azlatency.more_tools.hping3.parser import PARSER

__all__ = ["PARSER"]
