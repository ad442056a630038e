"""netperf 2.4 to 2.7.1: request/response, connect and stream tests; classic tables, ``-k``, ``-o`` and ``-O``.

::

    MIGRATED TCP REQUEST/RESPONSE TEST from 0.0.0.0 (0.0.0.0) port 0 AF_INET to 10.2.2.4 () port 0 AF_INET
          : first burst 0                                                         (on the same line)
    Interim result: 17976.28 Trans/s over 0.585 seconds ending at 1795226254.850
    Local /Remote
    Socket Size   Request  Resp.   Elapsed  Trans.
    Send   Recv   Size     Size    Time     Rate
    bytes  Bytes  bytes    bytes   secs.    per sec
    16384  131072 1        1       2.00     3232.97
    16384  131072
    MEAN_LATENCY=61.03                                                            (-k)
    Minimum Latency Microseconds,Mean Latency Microseconds,...                    (-o)
    TEN_USEC      :    0: 6150: 6792:  137:   48:   18:   16:   14:    1:    3     (-v 2)

The formats are those of nettest_omni.c, nettest_bsd.c and netlib.c.

*Latency.* In a request/response test every latency is the **round-trip time** of one transaction. ``MEAN_LATENCY`` is
the mean over transactions (``rtt_mean``). ``RT_LATENCY``, ``RoundTrip Latency`` and the value derived from the
transaction rate are (1 + burst) / rate (``rtt_from_rate``); they differ from the mean, and differ much if the test
stalled. In a TCP_CRR or TCP_CC test a transaction contains a connection setup (metrics ``transaction_*``); in a stream
test the latency is that of a send call (``send_call_*``). Neither is a round-trip time.

*Resolution.* Latencies are differences of clock readings truncated to whole microseconds. Percentiles come from buckets
of two significant digits; their resolution is the width of the bucket. ``STDDEV_LATENCY`` is the population deviation
(``rtt_sd_population``); it is converted (``rtt_sd``) if the number of transactions is known.

*Rates.* The unit is the one that a header or a column names. ``-P 0`` and ``-v 0`` print no unit: a transaction rate is
then assumed (``unit_assumed``), and the rate of a stream is left out. If a rate is printed several times, the first one
is used and the others are compared with it. The confidence interval of ``-I`` is that of the rate. -1 in a column means
"not measured". A CSV line without titles (``-P 0 -o``) is not read.

*Silent failures.* A lost datagram ends a UDP_RR test without a message, and Ctrl-C leaves normal output: only the
number of transactions and the elapsed time show it.

Modules: `columns` (names and titles of the omni output), `text` (the lines), `run` (the test and its rates), `omni`
(values of ``-k``, ``-o`` and ``-O``), `latencies` (histogram, latencies, percentiles), `rates` (rates, interim results
and the checks).
"""

from azlatency.more_tools.netperf.parser import PARSER

__all__ = ["PARSER"]
