"""What the statistics of runs refuse in one line, and what they say of frames with little in them."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from helpers.results import estimates_of
from helpers.small_frames import runs
from helpers.studies import load

import azlatency as az
from azlatency.stats.across_runs.levels import find_steps
from azlatency.stats.across_runs.placement import all_changes, conditions, widest
from azlatency.stats.across_runs.planning import runs_needed
from azlatency.stats.across_runs.run_history import history
from azlatency.stats.across_runs.run_values import effective_margin, run_values, sorted_rounds, unit_of, value_column
from azlatency.stats.across_runs.typical_run import summarize, typical_run
from azlatency.stats.across_runs.zone_pairs import pair_differences, zone_pairs, zones_of


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: az.asymmetry(runs(), confidence=0.3), ValueError, "confidence = 0.3: between 0.5 and 1"),
        (lambda: az.compare(runs(), across=["path", "method"]), ValueError, "needs one column to compare across"),
        (lambda: runs_needed([1.0, 2.0, 3.0], relative=20), ValueError, "relative = 20"),
        (lambda: history(runs(), confidence=0.2), ValueError, "confidence 0.2 is out of range"),
        (lambda: summarize(az.parse()), TypeError, "Logs is not a frame of runs"),
        (lambda: value_column(pd.DataFrame({"x": [1]})), KeyError, "no value in any of"),
        (lambda: run_values(az.parse()), TypeError, "Logs is not a frame of runs; pass az.latency"),
        (lambda: effective_margin("2us", 10.0, unit="bit/s"), ValueError, "the values are not in ns"),
    ],
)
def test_what_cannot_be_computed_is_refused(call, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        call()


def test_runs_that_were_cut_are_left_out_by_name() -> None:
    cut = runs(status=["complete", "truncated", "complete", "complete"], file=list("abcd"))
    (row,) = az.summarize(cut).to_dict("records")
    assert row["n"] == 3 and "1 run left out: b (cut)" in row["notes"]


def test_values_from_any_iterable_are_a_typical_run() -> None:
    assert typical_run(value for value in (1.0, 2.0, 3.0))["estimate"] == 2.0
    assert unit_of(None) == ""


def test_rounds_of_numbers_and_names_keep_their_order() -> None:
    assert sorted_rounds([2, 1]) == ([1, 2], True) and sorted_rounds([1, "b"]) == ([1, "b"], False)
    values = run_values(runs(round=pd.Series([1, "b", 2, "a"], dtype=object)))
    assert list(values.rounds) == [1, "b", 2, "a"]


def test_runs_without_any_value_have_no_row_and_no_plan(tmp_path: Path) -> None:
    reply = "Antwort von 192.0.2.7: Bytes=32 Zeit<1ms TTL=64\n"
    text = (
        f"Ping wird ausgeführt für 192.0.2.7 mit 32 Bytes Daten:\n{reply * 4}\nPing-Statistik für 192.0.2.7:\n"
        "    Pakete: Gesendet = 4, Empfangen = 4, Verloren = 0\n    (0% Verlust),\n"
        "Ca. Zeitangaben in Millisek.:\n    Minimum = 0ms, Maximum = 0ms, Mittelwert = 0ms\n"
    )
    (tmp_path / "ping.log").write_text(text, "utf-8")
    frame = az.latency(az.parse(tmp_path))
    assert len(frame) == 1 and frame[["median_ns", "mean_ns"]].isna().all(axis=None)
    assert az.summarize(frame).empty and az.plan(frame).empty


def test_a_path_without_a_value_has_no_row() -> None:
    frame = pd.concat([runs(), runs(path="a → c", median_ns=[math.nan] * 4)])
    assert {result.labels["path"] for result in estimates_of(summarize(frame))} == {"a → b"}


def levels(*parts: tuple[float, int]) -> pd.DataFrame:
    """Return runs of one path at some levels, one after the other, with a ripple of 0.2 %."""
    values = [level * (1 + 0.002 * math.sin(7 * at)) for level, count in parts for at in range(count)]
    count = len(values)
    times = pd.date_range("2026-09-01", periods=count, freq="D", tz="UTC")
    return pd.concat([runs()] * count).head(count).assign(
        median_ns=values, round=range(count), started_at=times, file=[f"{at}.log" for at in range(count)],
        run_id=[f"r{at}" for at in range(count)],
    ).set_index("run_id")  # fmt: skip


def test_a_history_says_what_changed_or_that_nothing_did() -> None:
    level = az.say(history(levels((100e3, 40))).series)
    assert level.startswith("a → b, sockperf TCP 14 B, median: 100 µs, no change found in 40 points")
    assert "2026-09-21" in az.say(history(levels((100e3, 20), (120e3, 20))).changes)


def test_a_level_line_has_no_step() -> None:
    assert list(find_steps(np.full(60, 5.0))) == []
    assert [step.at for step in find_steps(np.repeat([1.0, 2.0], 30))] == [30]


def test_a_plan_says_how_many_runs_are_needed() -> None:
    few, many = (
        az.say(runs_needed([100.0, 100.0 + spread, 100.0 - spread, 100.0 + spread / 2] * 3)) for spread in (8, 60)
    )
    assert "more than measured" in few
    assert "runs" in many


@pytest.mark.costly
def test_pairs_of_zones_are_compared_by_their_paths() -> None:
    assert zones_of(runs()) == {}
    study = load("emulated-zones")
    found = az.latency(study)
    steps = conditions(study, found)
    pairs = zone_pairs(study, found, widest(steps))
    across = pairs[pairs["first"] != pairs["second"]]
    assert 0 < len(across) <= len(pairs)
    differences = pair_differences(across)
    assert {differences.verdict} <= {"different", "equivalent", "inconclusive"} and len(differences.pairs)
    assert (all_changes(steps, found, "placement")["run_ids"] != "").all()
