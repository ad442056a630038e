"""Every result names the runs that it was computed from."""

from __future__ import annotations

import pandas as pd
import pytest
from helpers.results import compare_runs
from helpers.round_runs import PATHS, round_runs

from azlatency.stats.across_runs.agreement import agreement
from azlatency.stats.across_runs.asymmetry import asymmetry
from azlatency.stats.across_runs.attainable import percentile_sizes
from azlatency.stats.across_runs.baseline import baseline
from azlatency.stats.across_runs.emulation_check import emulated_differences
from azlatency.stats.across_runs.planning import plan, runs_needed
from azlatency.stats.across_runs.typical_run import summarize, typical_run
from azlatency.studies.runs.path import NetworkPath


@pytest.fixture
def runs() -> pd.DataFrame:
    return round_runs()


def ids(method: str, *paths: str) -> set[str]:
    return {f"{method}/{path}/{round_}" for path in paths for round_ in (1, 2, 3)}


def test_estimates_and_plans_by_path(runs: pd.DataFrame) -> None:
    for row in summarize(spaceless(runs), "mean_ns").itertuples():
        assert named(row.run_ids) == ids(row.method, row.path)
    for row in plan(spaceless(runs)).to_dict("records"):
        assert named(row["run_ids"]) == ids(row["method"], row["path"])
    assert named(percentile_sizes(spaceless(runs)["n"])["run_ids"].iloc[0]) == set(runs.index)
    group = runs[runs["path"] == "a → b"]
    # Two tools are not pooled: the refusal still names what it looked at.
    assert named(typical_run(spaceless(group), value="mean_ns")["run_ids"]) == ids("ping", "a → b") | ids(
        "echo", "a → b"
    )
    assert named(runs_needed(spaceless(group), value="mean_ns")["run_ids"].iloc[0]) == set(group.index)


def test_comparisons_name_both_sides(runs: pd.DataFrame) -> None:
    first, second = (runs[(runs["path"] == path) & (runs["method"] == "ping")] for path in ("a → b", "b → a"))
    for paired in (False, True):
        result = compare_runs(spaceless(first), spaceless(second), paired=paired)
        assert named(result["run_ids"]) == ids("ping", "a → b", "b → a")


def spaceless(runs: pd.DataFrame) -> pd.DataFrame:
    """Return runs whose names have no blanks, as those of imported studies."""
    return runs.rename(index=lambda run_id: run_id.replace(" ", "_"))


def named(run_ids: str) -> set[str]:
    """Return the names of a cell, as `ids` gives them."""
    return {run_id.replace("_", " ") for run_id in run_ids.split()}


def test_asymmetry_names_the_runs_of_each_part(runs: pd.DataFrame) -> None:
    found = asymmetry(spaceless(runs[runs["method"] == "ping"]), value="mean_ns")
    assert named(found.methods["run_ids"].iloc[0]) == ids("ping", *PATHS)
    for row in found.pairs.to_dict("records"):
        there, back = f"{row['from']} → {row['to']}", f"{row['to']} → {row['from']}"
        assert named(row["run_ids"]) == ids("ping", there, back)
    for row in found.cells.to_dict("records"):
        assert named(row["run_ids"]) == ids("ping", row["what"])
    for row in found.order.to_dict("records"):
        start, end = row["what"].split(" - ")
        assert named(row["run_ids"]) == ids("ping", f"{start} → {end}", f"{end} → {start}")


def test_a_pair_measured_in_some_common_rounds_names_only_those(runs: pd.DataFrame) -> None:
    kept = runs[(runs["method"] == "ping") & ~((runs["path"] == "b → a") & (runs["round"] == 3))]
    pair = asymmetry(spaceless(kept), value="mean_ns").pairs.iloc[0]
    assert named(pair["run_ids"]) == {f"ping/{path}/{round_}" for path in ("a → b", "b → a") for round_ in (1, 2)}


def test_agreement_names_the_runs_of_each_pair(runs: pd.DataFrame) -> None:
    found = agreement(spaceless(runs))
    assert named(found.methods["run_ids"].iloc[0]) == set(runs.index)
    for pair in found.pairs.to_dict("records"):
        place = f"{pair['path']}/{pair['round']}"
        assert named(pair["run_ids"]) == {f"ping/{place}", f"echo/{place}"}


def test_baseline_and_emulated_differences(runs: pd.DataFrame) -> None:
    metrics = runs[["path", "method", "tool"]].assign(metric="rtt_mean", value=runs["mean_ns"]).rename_axis("run_id")
    expected = [{"name": "mean", "metric": "rtt_mean", "relation": "at_most", "high": 2e6, "unit": "ns"}]
    for check in baseline(spaceless(metrics), expected).itertuples():
        assert named(check.run_ids) == ids(check.method, check.path)
    links = pd.DataFrame({"mean_ns": range(1, 7)}, index=pd.Index([NetworkPath.parse(name) for name in PATHS]))
    runs = spaceless(runs)
    for step in emulated_differences(links, runs[["mean_ns"]], runs).itertuples():
        assert named(step.run_ids) == ids(step.method, step.path, "a → b", "b → a")
