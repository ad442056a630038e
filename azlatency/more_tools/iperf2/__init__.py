"""iperf 2, 2.0.5 to 2.1.8: text of clients and servers, plain and ``-e``, and CSV (``-y C``).

::

    Client connecting to 10.99.0.2, TCP port 5601 with pid 11530 (1 flows)
    [  1] local 10.99.0.1%va port 33444 connected with 10.99.0.2 port 5601 (trip-times) … on 2026-11-21 01:39:37 (UTC)
    [ ID] Interval            Transfer    Bandwidth       Write/Err  Rtry     Cwnd/RTT(var)        NetPwr
    [  1] 0.0000-1.0000 sec  12.0 MBytes   101 Mbits/sec  192/0          1      305K/385(569) us  32683
    [  1] 0.0000-2.0468 sec  23.9 MBytes  97.8 Mbits/sec  382/0          2      345K/2971(5813) us  4117
    [SUM]  0.0-10.8 sec   344 MBytes   266 Mbits/sec                                               -P
    [  3]  0.0- 6.0 sec  3664 KBytes  5000 Kbits/sec   0.018 ms    0/ 2552 (0%)                    UDP, receiver
    … 0.002 ms 7/3401 (0.21%) 0.063/0.002/11.601/0.755 ms 1694 pps 3394/0(1) pkts 39608            UDP, receiver, -e
    … 20=1.016/0.027/12.220/3.047 ms    0   43K/2134 us    984 rps                                 --bounceback
    … T8(f)-PDF: bin(w=10us):cnt(3394)=1:3150,2:127 (5.00/95.00/99.7%=1/2/925,Outliers=0,obl/obu=0/0)

*Units.* Bytes are powers of 1024, bits powers of 1000. Sides, streams and tests are named as for iperf3
(`azlatency.logs.parsers.iperf3.run`); ``test`` may also be ``bounceback``. A ``*`` before the number of a stream marks
the direction from server to client. ``[FD1]`` adds up both directions and is not stored.

*Totals.* A total has the same form as an interval: it is the last row of its stream that begins at 0. A stream with one
row that ends on a whole second may be the first interval of a log that was cut. With four decimals it is read as an
interval, because a measured total is never so round; with one decimal it is read as a total and flagged
``total_unproven``, unless the command has no ``-i``. ``[SUM]`` of some 2.0 servers counts the first interval twice: a
sum that is not the sum of the streams is left out (``sum_mismatch``).

*Latency.* ``--bounceback`` measures **round-trip times** in a closed loop (``rtt_*``); its bytes count both directions
and are not stored. The latencies of a UDP server and of ``--trip-times`` are **one-way**, from one clock to another:
``one_way_latency_*``, which is as accurate as the two clocks agree (``one_way_clocks``), never ``rtt_*``.
``Cwnd/RTT`` is the kernel's estimate at the end of the row; it is stored with the interval.

*Histograms.* Bin k counts values in ((k-1)w, kw]. Final histograms are stored under their names: ``BB8`` rtt, ``T8``
one_way_latency, ``F8`` frame_latency, ``W8`` write_latency. The three printed quantiles are bins too.

*Not stored.* Sizes of windows and buffers, the distribution of reads, NetPwr, burst sizes, histograms of single
intervals.

Modules: `run` (a test: streams, sides, tables, checks), `text`, `csv_output`.
"""

from __future__ import annotations

import re
from functools import partial
from typing import ClassVar

from azlatency.logs.parsers import Log, Parser, Signature
from azlatency.logs.parsers.identities import bytes_of_datagrams, closed_loop_rate
from azlatency.logs.parsers.iperf_rows import IDENTITIES
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
    identities = (*IDENTITIES, bytes_of_datagrams, closed_loop_rate)
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
    neutral = (
        "-c --client -s --server -p --port -t --time -n --num -i --interval -f --format -e --enhanced -y --reportstyle"
        " -V -D -B --bind -u --udp -d --dualtest -r --tradeoff -R --reverse --full-duplex -P --parallel -o --output -x"
        " -L -m --print_mss -4 -6 --trip-times --bounceback"
    )
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
