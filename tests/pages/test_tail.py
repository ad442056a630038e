"""Page 03: the tail, with numbers read in the raw logs."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from helpers.chart_cases import study_of
from helpers.notebooks import run
from helpers.places import ROOT
from helpers.results import NOTHING
from helpers.studies import load
from helpers.tables import cell, logs_behind

import azlatency as az
from azlatency.kit.cells import Table
from azlatency.kit.objects import Chart, Note
from azlatency.pages import tail as page
from azlatency.stats.within_run.tail_by_run import RunTails, printed_exceedances, run_tails
from azlatency.studies.store.study import Study


def tails(study: Study, limit: float = 1e6) -> RunTails:
    return run_tails(study, az.latency(study), limit=limit)


@pytest.fixture(scope="module")
def zones() -> RunTails:
    return tails(load("emulated-zones"))


def test_printed_percentiles_bracket_the_share_above_a_limit(cni: Study) -> None:
    # AZ1 - AZ3: "<MIN> observation = 573.378" is RTT/2, so all 6,829 round trips took more than 1,000 us.
    printed = printed_exceedances(cni, az.latency(cni), limit=1e6)
    table = page.above_limit(tails(cni), printed, 1000.0)
    assert cell(table, "AZ1 - AZ3", "packets") == "6,829" and cell(table, "AZ1 - AZ3", "slower, %") == "100"
    assert logs_behind(cni, table, "AZ1 - AZ3") == {"az1-az3/sockperf.log"}


@pytest.mark.costly
def test_of_several_printed_tables_of_a_path_the_worst_is_shown() -> None:
    study = load("emulated-zones")
    printed = printed_exceedances(study, az.latency(study), limit=1e6)
    nothing = RunTails(*(frame[:0] for frame in tails(study)))
    table = page.above_limit(nothing, printed, 1000.0)
    assert isinstance(table, Table) and table.notes[0].startswith("Of several printed tables")
    of_path = printed[(printed["path"] == "az3a → az2a") & (printed["method"] == "sockperf TCP 14 B")]
    assert len(of_path) > 1
    worst = f"{100 * of_path['high'].max():.3g}"
    (row,) = (row for row in table.cells if row[0].startswith("az3a → az2a, sockperf"))
    assert row[2].endswith(worst)


def test_the_tables_of_runs_with_samples_have_the_numbers_of_their_packets() -> None:
    # 2,000 packets of 100 µs, every hundredth takes 1 ms: the slowest of 100 in a row is always 1 ms.
    study, runs = study_of({"a": np.where(np.arange(2000) % 100 == 50, 1e6, 1e5)})
    found = run_tails(study, runs, limit=5e5)
    table = page.percentiles(found)
    assert cell(table, "a → host", "packets") == "2,000" and cell(table, "a → host", "p50, µs").startswith("100.0")
    assert cell(page.above_limit(found, found.above[:0], 500.0), "a → host", "slower, %") == "1"
    slowest = page.slowest_of(found)
    assert cell(slowest, "a → host", "one call, µs") == "100.0"
    assert cell(slowest, "a → host", "slowest of 100 in a row, µs") == "1,000.0"
    # Of 1,980 · 100 + 20 · 1,000 µs, a user waits (1,980 · 100² + 20 · 1,000²) / 2 / 218,000 = 91.3 µs on average.
    assert cell(page.at_random_moments(found), "a → host", "mean wait, µs") == "91.3"


def test_studies_without_samples_have_notes(cni: Study) -> None:
    found = tails(cni)
    for made in (page.percentiles, page.slowest_of, page.at_random_moments, page.tail_curves):
        assert isinstance(made(found), Note)


def test_a_study_whose_runs_have_few_samples_is_not_said_to_have_none() -> None:
    # 200 samples per run, as every ping log of emulated-cloud.
    study, runs = study_of({"a": np.full(200, 1e5)})
    note = page.above_limit(run_tails(study, runs, limit=1e6), NOTHING, 1000.0)
    assert isinstance(note, Note) and note.text.startswith("No run of this study has 1,000 or more samples, and no log")


@pytest.mark.costly
def test_the_picture_shows_six_runs_of_different_paths_and_says_so(zones: RunTails) -> None:
    chart = page.tail_curves(zones, limit=1e6)
    assert isinstance(chart, Chart) and len(chart.figure.axes) == 6
    assert len({line.partition(",")[0] for line in chart.alt.splitlines()}) == 6
    assert "Shown: 6 of 8 runs, the longest, then those with the slowest packet." in chart.caption
    slowest = zones.runs.loc[zones.runs["largest_ns"].idxmax()]
    assert slowest["path"] in chart.title and ": slowest round trip from " in chart.title
    assert any(line.startswith(slowest["path"]) for line in chart.alt.splitlines())
    # 3,000 packets show no share below 1 in 3,000.
    assert 1e-4 < chart.figure.axes[0].get_ylim()[0] < 1 / 3000
    table = page.percentiles(zones)
    path, p99 = "az1b → az1a", cell(table, "az1b → az1a, echo TCP 256 B", "p99, µs")
    (line,) = (line for line in chart.alt.splitlines() if line.startswith(path))
    assert f"p99 {p99};" in line, "the picture and the table show one number"


def test_the_p99_across_runs_is_the_median_of_the_runs() -> None:
    p99 = [900e3, 910e3, 905e3, 4000e3, 890e3, 902e3, 908e3, 915e3, 899e3, 903e3, 906e3, 901e3]
    runs = pd.DataFrame({"path": "a → b", "method": "ping", "p99_ns": p99, "run_id": [f"r{i}" for i in range(12)]})
    typical, needed = az.summarize(runs, "p99_ns"), az.plan(runs, 0.1, value="p99_ns")
    table = page.across_runs(runs, typical, needed)
    assert cell(table, "a → b", "typical run, µs") == "904" and cell(table, "a → b", "95 % interval, µs") == "900 – 910"
    assert cell(table, "a → b", "runs for ±10 %") == "12", "in three runs, a slow one of twelve is too likely"
    assert isinstance(page.across_runs(runs[:1], az.summarize(runs[:1], "p99_ns"), needed), Note)


def test_printed_tables_give_the_share_of_the_best_and_the_worst_run(cni: Study) -> None:
    runs = az.latency(cni)
    curves = az.stats.printed_quantiles(cni.quantiles, cni.metrics, labels=runs[["path", "method"]])
    printed = printed_exceedances(cni, runs, limit=1e6)
    text = str(page.find(cni, runs, tails(cni), curves, printed, az.summarize(runs, "p99_ns")))
    # Five tables of eight percentiles; between two pods of one node at most 31 packets in a million took over 1 ms.
    assert "**0.00061 %** on Single node to **100 %** on AZ2 - AZ3" in text
    assert "95 % CI 0.0000089 % to 0.0031 % on Single node and 99.9 % to 100 % on AZ2 - AZ3" in text


def test_the_frame_of_single_runs_has_no_columns_without_a_value() -> None:
    # sockperf's p99 of AZ1 to AZ1 is 78.528 us, half a round trip; one run has no interval.
    frames = [
        shown
        for shown in run(ROOT / "notebooks" / "03_tail.ipynb", "westeurope-azure-cni")
        if type(shown) is pd.DataFrame
    ]
    assert [list(frame) for frame in frames] == [["median"]]
    assert frames[0].loc[("AZ1 - AZ1", "sockperf TCP 14 B"), "median"] == 157.1


def test_a_change_of_level_within_the_runs_of_a_p99_is_said_with_both_levels() -> None:
    study = load("emulated-nights")
    runs, found = az.latency(study), tails(study)
    text = str(page.find(study, runs, found, NOTHING, found.above, az.summarize(runs, "p99_ns")))
    own = runs[runs["path"] == "az1a → az3a"]
    levels = [own.loc[side, "p99_ns"].median() / 1e6 for side in (own["round"] < 36, own["round"] >= 36)]
    changed = "The median changed within the runs of az1a → az2a and az1a → az3a; p99 before and since: az1a → az2a"
    assert changed in text
    assert "az1a → az3a (ping 56 B) {:.2f} ms before and {:.2f} ms since round 36 (planted)".format(*levels) in text
    steady = runs[runs["path"] == "az2a → az3a"]
    text = str(page.find(study, steady, found, NOTHING, found.above, az.summarize(steady, "p99_ns")))
    assert "changed within" not in text
    # The history of logs without a record of what was planted shows the change of the median.
    unknown = replace(study, name="unknown")
    text = str(page.find(unknown, runs, found, NOTHING, found.above, az.summarize(runs, "p99_ns")))
    assert "az1a → az2a (ping 56 B)" in text and "since the change on 2026-11-24 20:43" in text


@pytest.mark.slow
def test_p99s_of_repeated_runs_are_said_where_no_run_is_long_enough_for_a_tail() -> None:
    study = load("emulated-cloud")
    runs, found = az.latency(study), tails(study)
    text = str(page.find(study, runs, found, NOTHING, found.above, az.summarize(runs, "p99_ns")))
    assert "Answer: p99: zone 2 to the others **" in text and "12 runs each" in text
    assert "so the tail beyond p99 is unknown" in text
    assert "so the tail is unknown" in str(page.find(study, runs.iloc[:0], found, NOTHING, found.above, NOTHING))
