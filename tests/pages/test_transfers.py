"""Transfers over time, with numbers read in the raw logs."""

from __future__ import annotations

import pandas as pd
import pytest
from helpers.studies import load
from helpers.tables import cell

import azlatency as az
from azlatency.kit.objects import Chart, Note
from azlatency.pages import transfers as page
from azlatency.studies.store.study import Study

in_time = az.stats.time_series


@pytest.fixture(scope="module")
def buckets() -> tuple[Study, pd.DataFrame, pd.DataFrame]:
    study = load("ec2-token-buckets")
    runs = az.studies.client_side_runs(az.studies.run_table(study))
    return study, runs, in_time.rates_of_study(study)


def test_each_transfer_is_a_dot_and_hosts_that_start_at_another_rate_have_a_panel(
    buckets: tuple[Study, pd.DataFrame, pd.DataFrame],
) -> None:
    chart = page.falls_by_path(buckets[2])
    assert isinstance(chart, Chart)
    assert chart.title.startswith(
        "28 of 29 rates fall: 24 that start at 9.4–9.7 Gbit/s after 4.6 min (c5.large), 8.8 min (c5.xlarge)"
    )
    usual, others = chart.alt.splitlines()
    assert usual.startswith("started at 9.4–9.7 Gbit/s: ") and others.startswith("started at 5.02–8.72 Gbit/s: ")
    assert "1 of 29 transfers did not fall" in chart.caption
    assert isinstance(page.falls_by_path(buckets[2].head(0)), Note)


def test_the_title_and_a_line_show_when_a_bucket_was_empty(buckets: tuple[Study, pd.DataFrame, pd.DataFrame]) -> None:
    study, runs, rates = buckets
    chart = page.throughput_series(study.intervals, runs, rates)
    assert isinstance(chart, Chart) and "Dashed: the rate falls and stays low." in chart.caption
    assert "The rate falls in 28 of 29 runs; for example c5.large, from" in chart.title
    moments = {line.get_xdata()[0] for axis in chart.figure.axes for line in axis.lines if line.get_linestyle() == "--"}
    assert len(moments) == 4 and moments <= set(rates["at_s"])


def test_intervals_are_those_of_the_log() -> None:
    study = load("westeurope-azure-cni")
    chart = page.throughput_series(study.intervals, az.throughput(study))
    # az1-az3/iperf3.log: ten intervals from 7.26 to 7.62 Gbits/sec, 616 retransmitted segments
    assert isinstance(chart, Chart) and chart.title.startswith(
        "iperf3 TCP: median one-second rate of a single run from"
    )
    (line,) = (line for line in chart.alt.splitlines() if line.startswith("AZ1 - AZ3, iperf3 TCP"))
    assert ": 7.26, 8.36," in line and "7.62 Gbit/s; retransmits 616" in line
    assert "Dotted and hollow: omitted by the tool." in chart.caption
    rates = page.rates_in_time(in_time.throughput_series(study.intervals, az.throughput(study)))
    assert cell(rates, "AZ1 - AZ3", "intervals") == "10" and cell(rates, "AZ1 - AZ3", "falls") == "no"
