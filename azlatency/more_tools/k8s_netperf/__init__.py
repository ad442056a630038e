"""k8s-netperf: the tables that it prints after netperf, iperf3 and uperf between pods of a Kubernetes cluster.

::

    +-------------------+---------+------------+-------------+--------------+- … -+---------+--------------------+
    |    RESULT TYPE    | DRIVER  |  SCENARIO  | PARALLELISM | HOST NETWORK |  …  | SAMPLES |     AVG VALUE      |
    +-------------------+---------+------------+-------------+--------------+- … -+---------+--------------------+
    | 📊 Stream Results | netperf | TCP_STREAM | 1           | true         |  …  | 3       | 2661.006667 (Mb/s) |

*Runs.* Rows of several tables that have the same configuration are one run: its rate, its latency, its retransmissions.
What is true of the configuration is part of its ``test``: ``tcp_stream host-network``.

*Means.* A value is the mean of ``SAMPLES`` tests (``mean_of_runs``). A mean of 99th percentiles, of samples or of the
processes of one sample (``PARALLELISM``), is not a percentile, so it is ``rtt_p99_mean``; of one process in one sample
it is a quantile. The confidence interval is that of the means (t distribution); with one sample it is printed as 0 and
left out. netperf's percentiles come from buckets of two significant digits.

*Drivers* (``driver_misreports``). Only netperf prints latencies: of iperf3 they are 0, and of uperf a percentile of
means of seconds; both are left out. Transactions of uperf were Mb/s under the name OP/s until June 2024, and operations
until September 2025, so they are left out too. Retransmissions of uperf are not measured. The loss of iperf3 is 0
whenever iperf3 reports what its server received, even if half was lost: a loss of 0 is left out. The rate of iperf3
over UDP is that of the server or of the client, so it has no side; that of uperf is what the client wrote. ib_write_bw
measures MiB/s, which the table calls Mb/s, so its rate is left out.

*End.* The table of the latencies follows that of the transactions. Since July 2024 (column ``BURST``) the last table is
that of retransmissions and losses, even if it has no row. Without them, or within a table, the runs are ``truncated``.

*Not stored.* Utilization of CPU and memory, whose rows have another configuration.
"""

from azlatency.more_tools.k8s_netperf.parser import PARSER

__all__ = ["PARSER"]
