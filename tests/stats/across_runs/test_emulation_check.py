"""Programmed steps beside measured ones: host time drops out of the difference, and what does not is told."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import azlatency as az
from azlatency.report import tables
from azlatency.report.objects import Note
from azlatency.report.table import Table

PATHS = {"a → b": 2.5e3, "b → a": 2.5e3, "a → c": 200e3, "c → a": 320e3}


def links() -> pd.DataFrame:
    frame = pd.DataFrame({"mean_ns": PATHS.values(), "achieved_ns": [5e3, 5e3, 210e3, pd.NA]}, index=list(PATHS))
    return frame.assign(achieved_ns=frame["achieved_ns"].astype("Float64"))


def measured(host_ns: float, seed: int, runs: int = 4) -> pd.DataFrame:
    """Runs of every path: both configured delays, the time of the hosts, and a spread of 2 µs between runs."""
    generator = np.random.default_rng(seed)
    rows = [
        {"path": path, "method": "tool", "placement": "cross_zone", "mean_ns": both + host_ns + each}
        for path in PATHS
        for both in [PATHS[path] + PATHS[" → ".join(reversed(path.split(" → ")))]]
        for each in generator.normal(0, 2e3, runs)
    ]
    return pd.DataFrame(rows).convert_dtypes()


def test_the_hosts_own_time_drops_out_of_a_step() -> None:
    (there, back) = az.stats.configured_differences(links(), measured(50e3, seed=1))
    assert (there.path, back.path, there.reference) == ("a → c", "c → a", "a → b")
    assert there.configured == back.configured == 515e3
    assert there.achieved is None and there.holds(there.achieved) is None
    assert there.holds(there.configured) and back.holds(back.configured)
    assert there.difference.scope == "across_runs" and there.difference.unit == "ns"


@pytest.mark.parametrize("made", [60, pytest.param(300, marks=pytest.mark.slow)])
def test_intervals_contain_the_step_as_often_as_they_say(made: int) -> None:
    steps = [step for seed in range(made) for step in az.stats.configured_differences(links(), measured(50e3, seed))]
    share = np.mean([step.holds(step.configured) for step in steps])
    # Two intervals per data set at 95 %, plus and minus three standard errors.
    assert abs(share - 0.95) < 3 * (0.95 * 0.05 / (2 * made)) ** 0.5


def test_time_that_grows_with_the_path_is_not_hidden() -> None:
    runs = measured(50e3, seed=2)
    runs["mean_ns"] += np.where(runs["path"].isin(["a → c", "c → a"]), 40e3, 0)
    assert not any(step.holds(step.configured) for step in az.stats.configured_differences(links(), runs))


def test_one_run_of_each_has_no_interval() -> None:
    (one, _) = az.stats.configured_differences(
        links(), measured(50e3, seed=3, runs=1).drop_duplicates("path").iloc[[0, 2, 3]]
    )
    assert one.holds(one.configured) is None and "no_replication" in one.difference.codes
    assert isinstance(tables.zone_pair_asymmetry.configured_differences(links(), [one]), Note)


def test_the_emulated_study(tmp_path: Path) -> None:
    """The intervals of ping contain the configured differences; those of the other tools need not."""
    az.import_study("emulated-zones", out=tmp_path)
    study = az.load("emulated-zones", processed=tmp_path)
    found = az.stats.configured_differences(az.studies.configured_links(study), az.latency(study))
    ping = [step for step in found if step.method == "ping 56 B"]
    assert len(ping) == 6 and all(step.holds(step.configured) and step.holds(step.achieved) for step in ping)
    table = tables.zone_pair_asymmetry.configured_differences(az.studies.configured_links(study), found)
    assert isinstance(table, Table) and "ping 56 B: 6 of 6 configured" in table.notes[0]
    assert {len(row) for row in table.cells} == {len(table.headers)}


def test_a_real_network_has_no_configured_differences(tmp_path: Path) -> None:
    az.import_study("westeurope-azure-cni", out=tmp_path)
    study = az.load("westeurope-azure-cni", processed=tmp_path)
    assert az.stats.configured_differences(az.studies.configured_links(study), az.latency(study)) == []
    assert isinstance(tables.zone_pair_asymmetry.configured_differences(az.studies.configured_links(study), []), Note)
