"""flent: the data files (``.flent.gz``, ``.flent``) of tests that run ping, irtt and netperf at the same time.

::

    {
      "metadata": {
        "BATCH_NAME": null, …
        "HOST": "10.77.0.2", "LOCAL_HOST": "vm", "NAME": "rrul", "STEP_SIZE": 1.0, …
        "SERIES_META": {
          "Ping (ms) ICMP": {"COMMAND": "/usr/bin/fping -D …", "MEAN_VALUE": 0.048, "RUNNER": "PingRunner", …},
          "TCP upload avg": {"MEAN_VALUE": 1000.6875, "RUNNER": "AverageRunner", …}, …
        }, …
      },
      "raw_values": {
        "Ping (ms) ICMP": [{"seq": 0.0, "t": 1795559471.59723, "val": 0.067}, …],
        "Ping (ms) UDP BE": [{"dur": 0.25, "t": 1436789029.234, "val": 20.04}, …],
        "TCP upload BE": [{"dur": 1.006, "t": 1795559477.534, "val": 1454.49}, …], …
      },
      "results": {…}, "version": 4, "x_values": […]
    }

*Runs.* Each flow that a tool measured is a run: its ``raw_values``. The series in ``results`` are interpolated onto
common times, and averages, sums and fairness are computed from other flows; neither is read. All flows load the network
for each other, so the name of the test is part of ``test`` (``rrul icmp``), and the flow is one of the settings.

*Units.* Times of ping and irtt are round trips in ms, ``t`` is when the reply arrived (of a lost packet of irtt: when
it was sent). TCP flows are netperf's rates in Mbit/s over ``dur`` seconds up to ``t``. A UDP flow with ``dur`` is
netperf UDP_RR, whose round-trip time follows from the rate of transactions: up to version 3 of the file ``val`` is that
rate, since version 4 it is 1000 / rate in ms. ``MEAN_VALUE`` is in ms in each version.

*A lost datagram* stops UDP_RR, or makes it wait. If its intervals cover less than 90 % of its time, its mean is left
out (``stall``). A number missing among those of ping is a lost probe.

*Not read*: one-way delays of D-ITG (VoIP), HTTP and DNS times, iperf (its values have no known interval), statistics of
queues, CPUs and sockets; files without raw values (version 1), or whose raw values flent has computed
(``FAKE_RAW_VALUES``).
"""

from azlatency.more_tools.flent.parser import PARSER

__all__ = ["PARSER"]
