"""The findings of the page on latency."""

from __future__ import annotations

import pandas as pd

import azlatency as az
from azlatency.report import findings
from azlatency.studies.store import Study


def test_single_runs_and_maxima_are_named(cni: Study, cni_latency: pd.DataFrame) -> None:
    curves = az.stats.printed_quantiles(cni.quantiles, cni.metrics, labels=cni_latency[["path", "method"]])
    medians, means = (az.summarize(cni_latency, value) for value in ("median_ns", "mean_ns"))
    text = str(findings.latency.conclude(cni_latency, medians, means, curves))
    # az2-az3/sockperf.log: "Total 6738 observations", percentile 99.999 = <MAX> = 1149.838
    assert "the largest of 6,738 observations" in text and "p99.999 of AZ2 - AZ3" in text
    # qperf.log of AZ1 - AZ2 prints 60.5 us, half of a round trip; each path has one run.
    assert "AZ1 - AZ2 **121 µs**" in text and "Measured once: Single node, AZ1 - AZ1" in text


def test_a_study_without_latency_has_one_finding_for_information(echo: Study) -> None:
    (finding,) = findings.latency.conclude(az.latency(echo), [], [], []).findings
    assert finding.kind == "info"
