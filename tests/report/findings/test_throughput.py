"""The findings of the page on throughput."""

from __future__ import annotations

import pandas as pd

import azlatency as az
from azlatency.report import findings
from azlatency.studies.store import Study


def test_traffic_inside_a_host_and_the_most_retransmits_are_named(cni: Study, cni_throughput: pd.DataFrame) -> None:
    typical = az.summarize(cni_throughput, "throughput", unit="bit/s")
    against = az.stats.unit_checks.against_bandwidth(cni, cni_throughput)
    text = str(findings.throughput.conclude(cni_throughput, typical, against))
    # single-node: qperf 2.82 GB/sec and ntttcp 98.39 Gbps; az1-az1/iperf3.log: 24093 retransmits
    assert "22.56 – 98.39 Gbit/s" in text and "24,093 segments" in text and "AZ1 - AZ1" in text
