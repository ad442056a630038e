"""ncps 1.x and its predecessor cps (Microsoft): TCP connections per second, at the client or at the server.

::

       T(sec)        N   Pend   Failed   IOFail   Conn/s  Close/s RXkbyte/s TXkbyte/s  RT/i    c0/i c0rtt/i …
        1.001        0   1600        0        0  24152.0  22552.0   24151.0   24153.0     0   24152   10543 …

    === CMDLINE: ncps -c 10.2.3.4 -wt 30 -t 330
    ###RXGBPS 0.65
    === Time (ms) to Nth connection establishment for first 125000 connections:
    ===       N   T(ms)     CPS
    ===  100000    3925   25477
    ===  125000    5118   24423
    ###ENDCPS 24423
    === SYN RTT (us) stats for first 125000 connections:
    ===      P25   Median     Mean      P75      P90      P95      P99    P99.9   P99.99
    ===     3424     6221    18737    10893    17628    24607    54222  2027000  4057000
    ###REXMIT,rtconnpercentage:3.2825,rtperconn:1.1436

*Connection times.* The "SYN RTT" is the estimate of the kernel when the connection is established. It contains lost
SYNs (a second and more) and the load of the test itself, so it is not comparable with a round trip: the metrics are
``connect_…``, and the event ``connect_time`` says so. Values of 10 s and more are printed as 10 s in the percentiles.

*Ranks.* A percentile is the order statistic floor(n q). The mean is cut to whole microseconds, as are those of the
rows; the rates of connections are cut to whole numbers.

*Warm-up.* The numbers at the end leave out the time of ``-wt``; the rows do not. ``Failed`` and ``IOFail`` count from
the beginning of the test. A row has the state of one second: ``N`` and ``Pend`` are not stored.

*Lines starting with ###* repeat the numbers of the tables; a difference is an error.
"""

from azlatency.more_tools.ncps.parser import PARSER

__all__ = ["PARSER"]
