"""The findings of the page on latency."""

from __future__ import annotations

import pandas as pd
from helpers.results import NOTHING

import azlatency as az
from azlatency.report import findings
from azlatency.studies.store.study import Study


def test_single_runs_and_maxima_are_named(cni: Study, cni_latency: pd.DataFrame) -> None:
    curves = az.stats.printed_quantiles(cni.quantiles, cni.metrics, labels=cni_latency[["path", "method"]])
    medians, means = (az.summarize(cni_latency, value) for value in ("median_ns", "mean_ns"))
    text = str(findings.latency.find(cni_latency, medians, means, curves))
    # az2-az3/sockperf.log: "Total 6738 observations", percentile 99.999 = <MAX> = 1149.838
    assert "the largest of 6,738 observations" in text and "p99.999 of AZ2 - AZ3" in text
    # sockperf.log of AZ1 - AZ2 prints percentile 50 = 52.518 us, half of a round trip; each path has one run.
    assert "zones 1–2 **105 µs**" in text and "one run each" in text
    assert "Measured once" not in text  # the answer says it


def test_a_study_without_latency_has_one_finding_for_information(echo: Study) -> None:
    (finding,) = findings.latency.find(az.latency(echo), NOTHING, NOTHING, NOTHING).findings
    assert finding.kind == "info"


def test_the_answer_says_the_method_that_measured_the_most_paths_and_runs() -> None:
    spreads = {"sockperf TCP": 1e3, "ping 56 B": 20e3, "echo TCP": 5e3}
    rows = [
        {"path": "a → b", "method": method, "median_ns": 450e3 + spread * step, "mean_ns": 460e3}
        for method, spread in spreads.items()
        for step in range(6)
    ]
    runs = pd.DataFrame([*rows, {"path": "a → c", "method": "ping 56 B", "median_ns": 700e3, "mean_ns": 700e3}])
    answer, *others = findings.latency.find(runs, az.summarize(runs, "median_ns"), NOTHING, NOTHING).findings
    assert answer.kind == "answer" and len(answer.text.split()) <= 30
    assert answer.text == "Median round trip: a → b **500 µs**; a → c **700 µs** (ping 56 B, 1 to 6 runs each)."
    assert "Measured once with ping 56 B: a → c." in str(others)


def test_the_first_runs_that_lie_apart_are_named() -> None:
    times = [492e3, 478e3, 463e3, 450e3, 452e3, 451e3, 449e3, 448e3, 449.5e3, 451.5e3, 450.5e3, 450.2e3]
    starts = pd.date_range("2026-11-01", periods=len(times), freq="h", tz="UTC")
    runs = pd.DataFrame(
        {"path": "a → b", "method": "ping 56 B", "median_ns": times, "mean_ns": times, "started_at": starts}
    )
    text = str(findings.latency.find(runs, az.summarize(runs, "median_ns"), NOTHING, NOTHING))
    assert (
        "a → b, ping 56 B: the first 3 runs in measuring order lie apart from all later runs; leave them out." in text
    )
