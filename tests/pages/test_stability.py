"""Page 07: what changes during a run, with numbers read in the raw logs and in a text."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from helpers.cases import thinned
from helpers.chart_checks import assert_fit_to_print
from helpers.notebooks import run
from helpers.places import ROOT
from helpers.studies import load, load_in_time
from helpers.tables import cell

import azlatency as az
from azlatency.kit.cells import Table
from azlatency.kit.objects import Chart, Note
from azlatency.pages import stability as page
from azlatency.pages import transfers
from azlatency.studies.store.study import Study

NO_LINKS = pd.DataFrame()
in_time = az.stats.time_series


@pytest.fixture(scope="module")
def echo() -> Study:
    """A text without logs."""
    return load("uksouth-echo-latency")


def sampled(rtt: np.ndarray, sent: np.ndarray) -> tuple[Any, pd.DataFrame]:
    """Return a study of one run with these samples, and its runs."""
    ns = pd.Series(rtt).replace(np.inf, np.nan).astype("Float64")
    samples = pd.DataFrame({"run_id": "a", "sent_ns": sent, "rtt_ns": ns, "status": "ok"})
    named = {"path": "A → B", "method": "echo TCP", "status": "complete", "duration_ns": 2e12}
    return SimpleNamespace(samples=samples), pd.DataFrame([named], index=pd.Index(["a"], name="run_id"))


def shifted(probes: int) -> tuple[Any, in_time.RunsInTime]:
    """Return a run whose level rises by half after 60 % of its probes, three of which are lost."""
    x = 1e5 * np.exp(0.1 * np.random.default_rng(1).standard_normal(probes))
    x[3 * probes // 5 :] *= 1.5
    x[[10, 20, 3 * probes // 4]] = np.inf
    study, runs = sampled(x, np.arange(probes) * 1e7)
    return study, in_time.run_time_series(study, runs, block_ns=probes * 5e4)


@pytest.mark.usefixtures("laid_out")
@pytest.mark.parametrize("probes", [20_000, pytest.param(200_000, marks=pytest.mark.slow)])
def test_a_shift_and_losses_of_a_run_are_drawn_at_a_fixed_cost(probes: int) -> None:
    study, found = shifted(probes)
    chart = page.run_series(found, study, NO_LINKS)
    assert isinstance(chart, Chart)
    assert_fit_to_print("long run", chart)
    assert len(chart.svg()) < 200_000 and "lost 3" in chart.alt and "Triangles at the top: lost." in chart.caption
    assert chart.title.startswith("1 of 1 runs shifted their level; most A → B, echo TCP: +")
    assert f"after {3 * probes // 500:,} s" in chart.title and chart.title.split("most ")[1][16:] in chart.alt


def test_the_tables_of_a_shifted_run_say_when_it_was() -> None:
    _, found = shifted(20_000)
    shifts = page.shifts(found)
    assert isinstance(shifts, Table) and cell(shifts, "A → B", "state") == "confirmed"
    assert cell(shifts, "A → B", "position").startswith("120.0 (") and cell(shifts, "A → B", "change, µs") == "+50.0"
    assert shifts.caption == "Possible level shifts: 1 of 1 confirmed" and "beyond the margin" in shifts.headers
    unconfirmed = page.shifts(found._replace(shifts=found.shifts.assign(confirmed=False)))
    assert isinstance(unconfirmed, Table) and unconfirmed.caption == "Possible level shifts: none of 1 confirmed"
    assert unconfirmed.headers[:2] == ["run", "state"] and "beyond the margin" not in unconfirmed.headers
    runs = page.runs_in_time(found)
    assert cell(runs, "A → B", "level") == "1 confirmed" and cell(runs, "A → B", "lost") == "3"
    text = str(page.find(found, *[pd.DataFrame(columns=columns) for columns in NOTHING]))
    assert (
        "Answer: A level shift of the round-trip time is confirmed in **1 of 1 run**." in text
        and "Confirmed level shift: A → B (echo TCP)." in text
    )


#: Columns of reported segments, ends and percentiles, and of transfers, without rows.
NOTHING = (
    ["path", "segment", "mean_ns", "change_ns", "p"],
    ["path", "printed", "after_s", "together", "lasted"],
    ["path", "method", "found", "burst_rate", "sustained_rate", "at_s", "flags"],
)


def test_the_last_change_before_a_break_is_the_reported_one(echo: Study) -> None:
    # Text: 955.87, then 789.58 in the last 100 records; "Down by 166.29 μs".
    segments = in_time.reported_segments(echo.reported)
    assert cell(page.segments_before_the_end(segments), "Same AZ", "last change, µs") == "−166.29"


def test_connections_end_as_reported(echo: Study) -> None:
    # 10:04:12, 13:23:55 and 13:23:58: 11,983 s and 11,986 s after the first.
    table = page.broken_connections(in_time.reported_connection_ends(echo.reported))
    assert cell(table, "Cross AZ", "broke at, as printed") == "2025-03-20 13:23:58"
    assert cell(table, "Cross AZ", "seconds after the first") == "11,986"


def test_reported_changes_and_breaks_are_named(echo: Study) -> None:
    reported = echo.reported
    text = str(
        page.find(
            in_time.run_time_series(echo, az.latency(echo)),
            in_time.reported_segments(reported),
            in_time.reported_connection_ends(reported),
            in_time.throughput_series(echo.intervals, az.throughput(echo)),
        )
    )
    # 955.87 us, then 789.58 us; breaks at 10:04:12, 13:23:55 and 13:23:58
    assert "Same AZ" in text and "−166 µs" in text
    assert "3 connections broke, 2 of them 3 s apart. So close together, they suggest" in text and "200 min" in text
    assert "count 2 events." in text


@pytest.mark.costly
def test_the_lifetimes_of_censored_connections_have_a_bound() -> None:
    found = load_in_time("emulated-zones")
    table = page.lifetimes(in_time.connection_lifetimes(found.runs))
    assert cell(table, "of them cut off", "value") == "0"
    assert cell(table, "median lifetime", "value") == "not reached"


def test_studies_without_samples_or_texts_have_notes() -> None:
    study = load("canadacentral-proximity-placement")
    found = in_time.run_time_series(study, az.latency(study))
    segments, broken, rates = (pd.DataFrame(columns=columns) for columns in NOTHING)
    for note in (
        page.run_series(found, study, NO_LINKS),
        page.shifts(found),
        page.runs_in_time(found),
        page.lifetimes(in_time.connection_lifetimes(found.runs)),
        page.broken_connections(broken),
        page.segments_before_the_end(segments),
        transfers.rates_in_time(rates),
        transfers.throughput_series(study.intervals, az.throughput(study)),
    ):
        assert isinstance(note, Note)
    assert "no time series" in str(page.find(found, segments, broken, rates))


@pytest.mark.parametrize("study", thinned(["cassandra-vm-baseline", "uksouth-echo-latency"], 2))
def test_the_notebook_runs_without_samples(study: str) -> None:
    """Nothing at all, and the numbers of a text only."""
    assert run(ROOT / "notebooks" / "07_stability.ipynb", study)


@pytest.mark.costly
def test_runs_that_were_not_tested_are_counted() -> None:
    """180 runs of ping in a second each: 29 of them have enough blocks to test."""
    study = load("emulated-nights")
    series = in_time.run_time_series(study, az.latency(study))
    rates = in_time.throughput_series(study.intervals, az.throughput(study))
    ends = in_time.reported_connection_ends(study.reported)
    text = str(page.find(series, in_time.reported_segments(study.reported), ends, rates))
    assert (
        len(series.runs) == 180
        and "no level shift of the round-trip time is confirmed in any of **29 runs**; 151 more" in text.lower()
    )
