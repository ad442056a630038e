"""The findings of the page on latency."""

from __future__ import annotations

import pandas as pd

import azlatency as az
from azlatency.report import findings
from azlatency.studies.store.study import Study


def test_single_runs_and_maxima_are_named(cni: Study, cni_latency: pd.DataFrame) -> None:
    curves = az.stats.printed_quantiles(cni.quantiles, cni.metrics, labels=cni_latency[["path", "method"]])
    medians, means = (az.summarize(cni_latency, value) for value in ("median_ns", "mean_ns"))
    text = str(findings.latency.find(cni_latency, medians, means, curves))
    # az2-az3/sockperf.log: "Total 6738 observations", percentile 99.999 = <MAX> = 1149.838
    assert "the largest of 6,738 observations" in text and "p99.999 of AZ2 - AZ3" in text
    # qperf.log of AZ1 - AZ2 prints 60.5 us, half of a round trip; each path has one run.
    assert "AZ1 - AZ2 **121 µs**" in text and "Measured once: Single node, AZ1 - AZ1" in text


def test_a_study_without_latency_has_one_finding_for_information(echo: Study) -> None:
    (finding,) = findings.latency.find(az.latency(echo), [], [], []).findings
    assert finding.kind == "info"


def test_each_of_the_two_most_precise_methods_names_its_typical_runs_once() -> None:
    spreads = {"sockperf TCP": 1e3, "ping 56 B": 20e3, "echo TCP": 5e3}
    rows = [
        {"path": "a → b", "method": method, "median_ns": 450e3 + spread * step, "mean_ns": 460e3}
        for method, spread in spreads.items()
        for step in range(6)
    ]
    runs = pd.DataFrame([*rows, {"path": "a → c", "method": "ping 56 B", "median_ns": 700e3, "mean_ns": 700e3}])
    text = str(findings.latency.find(runs, az.summarize(runs, "median_ns"), [], []))
    assert "sockperf TCP, typical run (6 runs, 95 % CI): a → b **452 µs (450–455 µs)**." in text
    assert "echo TCP, typical run" in text and "ping 56 B, typical run" not in text
    # A path without an interval keeps its value.
    assert "ping 56 B, median RTT: a → c **700 µs**." in text and "Measured once with ping 56 B: a → c." in text
