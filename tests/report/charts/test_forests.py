"""Forests of latency and goodput against the raw logs."""

from __future__ import annotations

import pandas as pd
from helpers.results import NOTHING, estimates_of

import azlatency as az
from azlatency.report import charts


def test_medians_are_named_with_their_paths(cni_latency: pd.DataFrame) -> None:
    # az1-az3/sockperf.log: "percentile 50.000 =  700.618", printed as RTT/2
    chart = charts.latency_forest(cni_latency, az.summarize(cni_latency, "median_ns"))
    assert "AZ1 - AZ3, sockperf TCP 14 B: 1,401.2 µs" in chart.alt


def test_goodput_is_drawn_with_the_expected_bandwidth(cni_throughput: pd.DataFrame) -> None:
    typical = az.summarize(cni_throughput, "throughput_bit_s")
    chart = charts.throughput_forest(cni_throughput, typical, expected=4e9)
    assert "AZ1 - AZ3, iperf3 TCP: 7.91 Gbit/s" in chart.alt and "4 Gbit/s" in chart.caption


def test_the_title_counts_the_paths_that_are_left_out() -> None:
    runs = pd.DataFrame(
        {
            "run_id": [f"r{place}" for place in range(100)],
            "path": [f"a → {place}" for place in range(100)],
            "method": "ping",
            "median_ns": [1e6 - 1e3 * place for place in range(100)],
        }
    ).set_index("run_id")
    chart = charts.latency_forest(runs, NOTHING)
    assert "Shown: 72 of 100 paths and methods" in chart.caption
    assert "901–1,000 µs (100 paths)" in chart.title


def test_the_title_says_the_estimate_that_is_drawn() -> None:
    rows = [
        (f"{path}{place}", path, "ping", median)
        for path, medians in {"a → b": [1e6, 1.1e6, 1.2e6, 1.5e6], "a → c": [2e6, 2.1e6, 3e6, 3.2e6]}.items()
        for place, median in enumerate(medians)
    ]
    runs = pd.DataFrame(rows, columns=["run_id", "path", "method", "median_ns"]).set_index("run_id")
    typical = az.summarize(runs, "median_ns")
    near, far = (
        next(one.estimate for one in estimates_of(typical) if one.labels["path"] == path) for path in ("a → b", "a → c")
    )
    title = charts.latency_forest(runs, typical).title
    assert title == f"Median round trip from {near / 1e6:.2f} ms (a → b) to {far / 1e6:.2f} ms (a → c), ping"


def test_an_interval_that_is_smaller_than_the_dots_can_be_read() -> None:
    runs = pd.DataFrame(
        {
            "run_id": [f"r{place}" for place in range(8)],
            "path": "a → b",
            "method": "ping",
            "median_ns": [830e3 + 1e3 * place for place in range(8)],
        }
    ).set_index("run_id")
    typical = az.summarize(runs, "median_ns")
    assert list(typical[["low", "high"]].round(-2).iloc[0] / 1e3) == [830.7, 836.3]
    chart = charts.latency_forest(runs, typical)
    assert any(item.get_text() == "834 (831–836)" for item in chart.figure.axes[0].texts)
