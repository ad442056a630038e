"""Every result names the runs that it was computed from."""

from __future__ import annotations

import pandas as pd
import pytest
from helpers.round_runs import PATHS, round_runs

from azlatency.stats.across_runs.agreement import agreement
from azlatency.stats.across_runs.asymmetry import asymmetry
from azlatency.stats.across_runs.attainable import percentile_sizes
from azlatency.stats.across_runs.baseline import baseline
from azlatency.stats.across_runs.comparison import compare_runs
from azlatency.stats.across_runs.emulation_check import emulated_differences
from azlatency.stats.across_runs.planning import plan, runs_needed, runs_to_decide
from azlatency.stats.across_runs.typical_run import summarize, typical_run
from azlatency.studies.runs.path import NetworkPath


@pytest.fixture
def runs() -> pd.DataFrame:
    return round_runs()


def ids(method: str, *paths: str) -> set[str]:
    return {f"{method}/{path}/{round_}" for path in paths for round_ in (1, 2, 3)}


def test_estimates_and_plans_by_path(runs: pd.DataFrame) -> None:
    for result in (*summarize(runs, "mean_ns"), *plan(runs)):
        assert set(result.run_ids) == ids(result.labels["method"], result.labels["path"])
    assert percentile_sizes(runs["n"])[0].run_ids == tuple(runs.index)
    group = runs[runs["path"] == "a → b"]
    # Two tools are not pooled: the refusal still names what it looked at.
    assert set(typical_run(group, value="mean_ns").run_ids) == ids("ping", "a → b") | ids("echo", "a → b")
    assert set(runs_needed(group, value="mean_ns").run_ids) == set(group.index)


def test_comparisons_name_both_sides(runs: pd.DataFrame) -> None:
    first, second = (runs[(runs["path"] == path) & (runs["method"] == "ping")] for path in ("a → b", "b → a"))
    for paired in (False, True):
        result = compare_runs(first, second, paired=paired)
        assert set(result.run_ids) == set(result.ratio.run_ids) == ids("ping", "a → b", "b → a")
        assert result.difference is not None and result.difference.run_ids == result.run_ids
    assert set(runs_to_decide(first, second).run_ids) == ids("ping", "a → b", "b → a")


def test_asymmetry_names_the_runs_of_each_part(runs: pd.DataFrame) -> None:
    result = asymmetry(runs[runs["method"] == "ping"], value="mean_ns")[0]
    assert set(result.run_ids) == ids("ping", *PATHS)
    for pair in result.pairs:
        there, back = f"{pair.labels['from']} → {pair.labels['to']}", f"{pair.labels['to']} → {pair.labels['from']}"
        assert set(pair.run_ids) == set(pair.ratio.run_ids) == ids("ping", there, back)
    for cell in result.cells:
        assert set(cell.run_ids) == ids("ping", f"{cell.labels['from']} → {cell.labels['to']}")
    for rank in result.ranking:
        start, end = rank.what.split(" - ")
        assert set(rank.run_ids) == ids("ping", f"{start} → {end}", f"{end} → {start}")


def test_a_pair_measured_in_some_common_rounds_names_only_those(runs: pd.DataFrame) -> None:
    kept = runs[(runs["method"] == "ping") & ~((runs["path"] == "b → a") & (runs["round"] == 3))]
    pair = asymmetry(kept, value="mean_ns")[0].pairs[0]
    assert set(pair.run_ids) == {f"ping/{path}/{round_}" for path in ("a → b", "b → a") for round_ in (1, 2)}


def test_agreement_names_the_runs_of_each_pair(runs: pd.DataFrame) -> None:
    runs = runs.rename(index=lambda run_id: run_id.replace(" ", ""))
    found = agreement(runs)
    assert set(found.methods["run_ids"].iloc[0].split()) == set(runs.index)
    for pair in found.pairs.to_dict("records"):
        path = pair["path"].replace(" ", "")
        assert pair["run_ids"] == f"ping/{path}/{pair['round']} echo/{path}/{pair['round']}"


def test_baseline_and_emulated_differences(runs: pd.DataFrame) -> None:
    metrics = runs[["path", "method", "tool"]].assign(metric="rtt_mean", value=runs["mean_ns"]).rename_axis("run_id")
    expected = [{"name": "mean", "metric": "rtt_mean", "relation": "at_most", "high": 2e6, "unit": "ns"}]
    metrics = metrics.rename(index=lambda run_id: run_id.replace(" ", "_"))
    for check in baseline(metrics, expected).itertuples():
        assert set(check.run_ids.split()) == {name.replace(" ", "_") for name in ids(check.method, check.path)}
    links = pd.DataFrame({"mean_ns": range(1, 7)}, index=pd.Index([NetworkPath.parse(name) for name in PATHS]))
    for step in emulated_differences(links, runs[["mean_ns"]], runs):
        assert set(step.run_ids) == ids(step.method, step.path, "a → b", "b → a")
