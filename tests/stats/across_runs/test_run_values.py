"""Values of runs and the margins that they are compared with."""

from __future__ import annotations

import pandas as pd
import pytest
from helpers.results import compare_runs, estimates_of
from helpers.round_runs import round_runs
from helpers.studies import load

import azlatency as az
from azlatency.stats.across_runs.run_values import in_time_order, parse_margin, run_values
from azlatency.stats.across_runs.typical_run import typical_run


@pytest.mark.parametrize(
    ("margin", "due"),
    [("5%", (0.05, 0.0)), (0.02, (0.02, 0.0)), ("0.05", (0.05, 0.0)), (" .1 ", (0.1, 0.0)), ("2 us", (0.0, 2000.0)),
     ("1.5ms", (0.0, 1.5e6))],
)  # fmt: skip
def test_margins_are_relative_or_absolute(margin: str | float, due: tuple[float, float]) -> None:
    assert parse_margin(margin) == pytest.approx(due)


@pytest.mark.parametrize(
    "margin", ["banana", "0", "0.0", "-0.05", "nan", "inf", "", "5 %%", "5", "1.5", "1e-2", 0, -1.0]
)
def test_a_margin_that_is_not_positive_is_refused(margin: str | float) -> None:
    with pytest.raises(ValueError, match="margin"):
        parse_margin(margin)


@pytest.fixture
def runs() -> pd.DataFrame:
    return round_runs()


def test_run_values_name_the_runs_with_a_value(runs: pd.DataFrame) -> None:
    runs.loc["ping/a → b/2", "mean_ns"] = float("nan")
    group = runs[(runs["path"] == "a → b") & (runs["method"] == "ping")]
    assert run_values(group, "mean_ns").run_ids == ("ping/a → b/1", "ping/a → b/3")
    assert run_values(group["mean_ns"]).run_ids == ("ping/a → b/1", "ping/a → b/3")
    assert run_values([1.0, 2.0]).run_ids == ()


def test_the_order_of_measuring_is_that_of_starts_then_rounds_then_files() -> None:
    frame = pd.DataFrame(
        {
            "median_ns": [3.0, 1.0, 2.0],
            "started_at": pd.to_datetime(["2024-01-01 12:00", "2024-01-01 10:00", "2024-01-01 11:00"], utc=True),
            "round": [1, 3, 2],
            "file": ["b/2.txt", "b/10.txt", "b/1.txt"],
        }
    )
    for left_out, order, values in (
        ([], "started_at", [1.0, 2.0, 3.0]),
        (["started_at"], "round", [3.0, 2.0, 1.0]),
        (["started_at", "round"], "file", [2.0, 3.0, 1.0]),
        (["started_at", "round", "file"], "unknown", [3.0, 1.0, 2.0]),
    ):
        ordered, source = in_time_order(frame.drop(columns=left_out))
        assert source == order and list(ordered["median_ns"]) == values
        assert list(run_values(frame.drop(columns=left_out)).values) == values
    some = frame.assign(started_at=frame["started_at"].where(frame["round"] > 1))
    assert in_time_order(some)[1] == "round", "a start that one run lacks orders nothing"


@pytest.mark.parametrize(
    "files",
    [
        ["28-12-2025/p.log", "03-01-2026/p.log", "01-02-2026/p.log"],
        ["12-28-2025.log", "01-03-2026.log", "02-01-2026.log"],
        ["Jan10/p.log", "feb 2/p.log", "Apr_11/p.log"],
        ["r2.log", "r10.log", "r11.log"],
    ],
)
def test_dates_in_names_order_runs(files: list[str]) -> None:
    frame = pd.DataFrame({"file": files[::-1], "median_ns": [3.0, 2.0, 1.0]})
    assert list(in_time_order(frame)[0]["file"]) == files


def test_without_start_times_the_order_of_the_files_is_that_of_measuring() -> None:
    rising = pd.DataFrame(
        {
            "path": "a → b",
            "method": "ping",
            "median_ns": [1e6 + 1e3 * at for at in range(1, 13)],
            "file": [f"r{at}.txt" for at in range(1, 13)],
        }
    )
    mixed = rising.sample(frac=1, random_state=1)
    assert "dependent_runs" in typical_run(mixed)["flags"]
    assert "dependent_runs" in compare_runs(mixed, rising.assign(median_ns=2e6))["flags"]
    assert "order_assumed" in az.history(mixed).series["flags"][0]
    known = mixed.assign(round=mixed["file"].str.extract(r"(\d+)")[0].astype(int))
    assert "dependent_runs" in typical_run(known)["flags"]


def test_runs_that_are_twice_in_a_frame_are_refused(runs: pd.DataFrame) -> None:
    pings = runs[runs["method"] == "ping"]
    twice, one_path = pd.concat([pings, pings]), pings[pings["path"] == "a → b"]
    assert all(
        "duplicate_runs" in estimate.codes and estimate.estimate is None
        for estimate in estimates_of(az.summarize(twice))
    )
    other = one_path.rename(index=lambda run_id: f"{run_id} again")
    again = pd.concat([one_path, one_path])
    for result in (
        typical_run(again), typical_run(again.reset_index()), typical_run(again["mean_ns"]),
    ):  # fmt: skip
        assert "duplicate_runs" in result["flags"], result
    for frame in (
        az.compare(again, other), az.compare(other, again), az.compare(other, again, by="path"),
        az.stats.runs_needed(again), az.plan(again),
    ):  # fmt: skip
        assert "duplicate_runs" in frame["flags"].iloc[0], frame
    assert "drop the copies: frame[~frame.index.duplicated()]" in az.say(az.summarize(again, by="path"))
    assert typical_run(again[~again.index.duplicated()])["estimate"] == typical_run(one_path)["estimate"]
    unnamed = again.reset_index(drop=True)
    for anonymous in (unnamed, unnamed.assign(run_id=None), unnamed.assign(run_id=float("nan"))):
        assert "duplicate_runs" not in typical_run(anonymous)["flags"]


@pytest.mark.parametrize("column", ["path", "method"])
def test_runs_without_a_path_or_a_method_are_refused_by_number(runs: pd.DataFrame, column: str) -> None:
    runs.loc["ping/a → b/2", column] = None
    both = pd.concat([runs, runs])
    for call in (
        az.summarize, az.history, az.plan, az.stats.agreement, lambda frame: az.compare(frame, frame, by="path"),
        lambda frame: az.compare(both, frame, by=["path"]),
    ):  # fmt: skip
        with pytest.raises(ValueError, match=rf"rows? without {column}; fill in the column, or leave them out"):
            call(runs)
    assert len(az.summarize(runs[runs[column].notna()])) == len(az.summarize(round_runs()))


def test_runs_of_several_paths_are_no_repeats() -> None:
    """Six paths of 226 and 830 µs have no typical run, and no ratio to the paths within a zone."""
    pings = az.latency(load("emulated-zones")).query("method == 'ping 56 B'")
    across, within = pings[pings["placement"] == "cross_zone"], pings[pings["placement"] == "same_zone"]
    for frame in (az.compare(across, within), az.stats.runs_needed(across)):
        assert list(frame["flags"]) == ["mixed_paths"] and "by='path'" in az.say(frame)
    result = typical_run(across)
    assert result["flags"] == "mixed_paths"
    assert not az.summarize(pings)["flags"].str.contains("mixed_paths").any()
