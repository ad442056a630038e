"""The findings of the page on throughput."""

from __future__ import annotations

import pandas as pd
from helpers.results import NOTHING

import azlatency as az
from azlatency.report import findings


def test_traffic_inside_a_host_and_the_most_retransmits_are_named(cni_throughput: pd.DataFrame) -> None:
    typical = az.summarize(cni_throughput, "throughput_bit_s")
    text = str(findings.throughput.find(cni_throughput, typical))
    # single-node: qperf 2.82 GB/sec and ntttcp 98.39 Gbps; az1-az1/iperf3.log: 24093 retransmits
    assert "22.6–98.4 Gbit/s" in text and "AZ1 - AZ1 (iperf3 TCP) retransmitted most: 24,093 segments" in text


def test_paths_on_which_nothing_arrived_are_a_loss_and_not_a_rate(cni_throughput: pd.DataFrame) -> None:
    runs = cni_throughput[cni_throughput["placement"] == "same_host"].head(2).copy()
    runs["throughput_bit_s"], runs["protocol"] = [0.0, 96.0], "udp"
    text = str(findings.throughput.find(runs, NOTHING))
    assert "Nothing arrived on Single node" in text and "all packets were lost" in text
    # 96 bit/s of UDP at 99.97 % loss says nothing about memory.
    assert "memory" not in text and " 0.00 " not in text
