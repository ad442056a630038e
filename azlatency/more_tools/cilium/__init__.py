"""cilium connectivity perf: tables of netperf tests between pods and hosts of a Kubernetes cluster.

::

    🔥 Network Performance Test Summary [cilium-test-1]:
    📋 Scenario        | Node       | Test       | Duration | Min  | Mean     | Max     | P50  | P90  | P99   | … OP/s
    📋 pod-to-pod      | same-node  | TCP_RR     | 10s      | 57µs | 125.09µs | 1.544ms | …    | …    | …     | 7939.43

    📋 Scenario        | Node       | Test       | Duration | Throughput Mb/s
    📋 pod-to-pod      | other-node | TCP_STREAM | 10s      | 9541.04

*Runs.* Each row is a run. The scenario and the node are part of its ``test``: nothing in the table names the nodes.

*Times* are those of netperf: round trips of TCP_RR and UDP_RR, transactions with a connection of TCP_CRR. They are
printed as Go prints a duration, without trailing zeros: ``6ms`` is 6000 µs. netperf reads its clock in whole
microseconds, and interpolates the percentiles inside buckets of two significant digits.

*Means.* Until 2023 the table had a column ``Num Samples``: the value is the mean of so many tests, and a mean of
percentiles is no percentile (``rtt_p99_mean``).

*Time of day.* With ``--timestamp`` each line of the table begins with ``[2026-11-22T14:31:20Z]``.
"""

from azlatency.more_tools.cilium.parser import PARSER

__all__ = ["PARSER"]
