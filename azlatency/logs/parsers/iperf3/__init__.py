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

from azlatency.logs.parsers.iperf3.parser import PARSER

__all__ = ["PARSER"]
