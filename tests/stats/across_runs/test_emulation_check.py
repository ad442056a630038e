"""Recorded differences beside measured ones: host time cancels, and what does not cancel is shown."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from helpers.cases import within
from helpers.studies import load

import azlatency as az
from azlatency.kit.cells import Table
from azlatency.kit.objects import Chart, Note
from azlatency.pages import zone_pair_asymmetry as page

ONE_WAY = {("a", "b"): 2.5e3, ("b", "a"): 2.5e3, ("a", "c"): 200e3, ("c", "a"): 320e3}
LINKS = pd.DataFrame({"mean_ns": list(ONE_WAY.values())}, index=[" → ".join(ends) for ends in ONE_WAY])


def measured(seed: int, *, host_ns: float = 50e3, rounds: int = 8) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return runs of every path, and what the emulator recorded: it drifts, hosts add their time and vary by 2 µs."""
    generator = np.random.default_rng(seed)
    rows = [
        {
            "path": f"{start} → {end}",
            "method": "tool",
            "round": number,
            "recorded": one_way + ONE_WAY[end, start] + 1e3 * number,
        }
        for number in range(1, rounds + 1)
        for (start, end), one_way in ONE_WAY.items()
    ]
    frame = pd.DataFrame(rows)
    frame["median_ns"] = frame["recorded"] + host_ns + generator.normal(0, 2e3, len(frame))
    frame["run_id"] = [f"{row}-01" for row in range(len(frame))]
    records = pd.DataFrame({"median_ns": frame.pop("recorded")}).set_index(frame["run_id"])
    return frame.set_index("run_id"), records


def differences(seed: int, **choices: float) -> pd.DataFrame:
    runs, records = measured(seed, **choices)  # type: ignore[arg-type]
    return az.stats.emulated_differences(LINKS, records, runs)


def test_the_time_of_the_hosts_cancels() -> None:
    there, back = differences(seed=1).itertuples()
    assert (there.path, back.path, there.reference) == ("a → c", "c → a", "a → b")
    assert there.recorded == back.recorded == there.configured == 515e3
    assert there.holds and back.holds and there.n == 8
    assert there.scope == "across_runs" and there.unit == "ns"
    assert len(there.run_ids.split()) == 8 + 16


@pytest.mark.slow
@pytest.mark.parametrize("made", [40, pytest.param(500, marks=pytest.mark.slow)])
def test_intervals_contain_the_difference_as_often_as_they_say(made: int) -> None:
    held = [holds for seed in range(made) for holds in differences(seed)["holds"]]
    assert within(float(np.mean(held)), 0.95, len(held))


def test_time_that_grows_with_the_path_is_an_error() -> None:
    runs, records = measured(2)
    runs["median_ns"] += np.where(runs["path"].map(str).isin(["a → c", "c → a"]), 40e3, 0)
    steps = az.stats.emulated_differences(LINKS, records, runs)
    assert not steps["holds"].any() and steps["error"].between(30e3, 50e3).all()


def test_one_round_has_no_interval() -> None:
    steps = differences(seed=3, rounds=1)
    assert steps["holds"].isna().all() and steps["flags"].str.contains("no_replication").all()
    assert isinstance(page.emulated_differences(steps), Note) and isinstance(page.emulated_errors(steps), Note)


@pytest.mark.costly
def test_the_emulated_study() -> None:
    """Of 24 intervals of medians, 22 hold the record; the means of qperf hold it between near zones only."""
    study = load("emulated-zones")
    records = az.studies.recorded_round_trips(study)
    steps = az.stats.emulated_differences(az.studies.configured_links(study), records, az.latency(study))
    inside = steps.groupby("method")["holds"].sum()
    assert inside[inside > 0].to_dict() == {
        "ping 56 B": 6,
        "echo TCP 64 B": 6,
        "lagscope TCP": 5,
        "sockperf TCP 14 B": 5,
        "qperf tcp_lat": 2,
    }
    # What remains on the far paths is the time that a host takes longer after a longer wait.
    assert (steps["error"].dropna().abs() < 12e3).all()
    table = page.emulated_differences(steps)
    assert isinstance(table, Table) and {len(row) for row in table.cells} == {len(table.headers)}
    chart = page.emulated_errors(steps)
    assert isinstance(chart, Chart) and chart.alt.count("] µs, ") == steps["holds"].notna().sum() == 30


def test_a_real_network_has_no_emulated_differences() -> None:
    study = load("westeurope-azure-cni")
    records = az.studies.recorded_round_trips(study)
    assert az.stats.emulated_differences(az.studies.configured_links(study), records, az.latency(study)).empty
