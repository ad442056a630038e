"""The tables of the page on the tail against the printed percentiles."""

from __future__ import annotations

import pandas as pd
from helpers.tables import cell, logs_behind

import azlatency as az
from azlatency.kit.objects import Note
from azlatency.report import tables
from azlatency.studies.store.study import Study


def test_printed_percentiles_bracket_the_share_above_a_limit(cni: Study, cni_latency: pd.DataFrame) -> None:
    # AZ1 - AZ3: "<MIN> observation = 573.378" is RTT/2, so all 6,829 round trips took more than 1,000 us.
    printed = az.stats.tail_by_run.printed_exceedances(cni, cni_latency, limit=1e6)
    table = tables.tail.above_limit([], printed, 1000.0)
    assert cell(table, "AZ1 - AZ3", "packets") == "6,829" and cell(table, "AZ1 - AZ3", "slower, %") == "100"
    assert logs_behind(cni, table, "AZ1 - AZ3") == {"az1-az3/sockperf.log"}


def test_studies_without_samples_have_notes() -> None:
    for table in (tables.tail.percentiles, tables.tail.slowest_of, tables.tail.at_random_moments):
        assert isinstance(table([]), Note)


def test_the_p99_across_runs_is_the_median_of_the_runs() -> None:
    p99 = [900e3, 910e3, 905e3, 4000e3, 890e3, 902e3, 908e3, 915e3, 899e3, 903e3, 906e3, 901e3]
    runs = pd.DataFrame({"path": "a → b", "method": "ping", "p99_ns": p99, "run_id": [f"r{i}" for i in range(12)]})
    typical, needed = az.summarize(runs, "p99_ns"), az.plan(runs, 0.1, value="p99_ns")
    table = tables.tail.across_runs(runs, typical, needed)
    assert cell(table, "a → b", "typical run, µs") == "904" and cell(table, "a → b", "95 % interval, µs") == "900 – 910"
    assert cell(table, "a → b", "runs for ±10 %") == "3", "one slow run in twelve is not the spread"
    assert isinstance(tables.tail.across_runs(runs[:1], az.summarize(runs[:1], "p99_ns"), needed), Note)
