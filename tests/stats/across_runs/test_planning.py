"""How many runs: oracles, refusals, and the sentences that are printed."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pandas as pd
import pytest
from helpers.cases import stream

import azlatency as az
from azlatency.pages import plan_the_next_run as page
from azlatency.stats.across_runs.planning import runs_for_spread, runs_needed, runs_to_decide
from azlatency.stats.across_runs.typical_run import typical_run


@pytest.mark.parametrize(
    ("spread", "relative"), [(0.05, 0.05), *(pytest.param(*case, marks=pytest.mark.slow) for case in
                                            ((0.1, 0.05), (0.02, 0.05), (0.035, 0.05), (0.2, 0.1)))]
)  # fmt: skip
def test_a_plan_for_a_known_spread_reaches_its_precision(spread: float, relative: float) -> None:
    """The promise is 80 % of the intervals that the report prints; three standard errors of 300."""
    random, runs = stream(2), runs_for_spread(spread, relative)
    share = np.mean([_reached(random.normal(0, spread, runs), relative) for _ in range(300)])
    assert 0.73 <= share <= 0.94
    fewer = np.mean([_reached(random.normal(0, spread, max(2, runs // 2)), relative) for _ in range(300)])
    assert fewer < 0.5


def _with_slow_runs(random: np.random.Generator, runs: int) -> Any:
    """Return logarithms of normal runs (2 %) of which one in ten is 1.5 times slower."""
    return random.normal(0, 0.02, runs) + math.log(1.5) * (random.random(runs) < 0.1)


@pytest.mark.costly
@pytest.mark.parametrize(
    ("law", "most"), [(lambda random, runs: random.normal(0, 0.03, runs), 50), (_with_slow_runs, 40)]
)
def test_a_plan_from_a_pilot_reaches_its_precision(law: Any, most: int) -> None:
    """The spread of six runs is known roughly, so the plan takes its upper bound; a slow run counts as one run."""
    random, reached, needed = stream(3), [], []
    for _ in range(100):
        plan = _plan(np.exp(law(random, 6)), 0.03)
        if plan["flags"] == "out_of_reach":
            continue  # three slow runs of six may be half of all
        assert plan["low"] <= plan["at_pilot_spread"] <= plan["needed"] == plan["high"]
        reached.append(_reached(law(random, int(plan["needed"])), 0.03))
        needed.append(plan["needed"])
    assert np.mean(reached) >= 0.8 and np.median(needed) <= most and len(reached) > 80


def test_one_slow_run_in_a_pilot_counts_as_one_run_and_the_plan_agrees_with_the_report() -> None:
    pilot = [853.0, 861, 2550, 849, 868]
    five, six = _plan(pilot, 0.02), _plan([*pilot, 855.0], 0.02)
    assert six["needed"] < five["needed"] < 60
    wide = _plan([*pilot, 855.0], 0.05)
    assert not _reached(np.log([*pilot, 855.0]), 0.05) and wide["more"] > 0


def test_two_levels_are_never_called_enough_while_the_interval_is_wide() -> None:
    random = stream(5)
    for _ in range(60):
        pilot = random.normal(0, 0.01, 20) + 0.1 * (random.random(20) < 0.5)
        plan = runs_needed(np.exp(pilot), 0.03)
        assert _reached(pilot, 0.03) or plan["more"].iloc[0] != 0
        assert plan["needed"].notna().all() or "more than 200 runs" in az.say(plan)


@pytest.mark.slow
@pytest.mark.parametrize("law", [lambda random, runs: random.normal(0, 0.03, runs), _with_slow_runs])
def test_a_plan_for_a_decision_reaches_it(law: Any) -> None:
    """Two standard errors of 150 below the promised 80 %."""
    from helpers.results import compare_runs

    random, shown = stream(4), []
    for _ in range(150):
        plan = runs_to_decide(np.exp(law(random, 8)), np.exp(law(random, 8)), 0.05)
        assert plan.needed is not None
        result = compare_runs(*(np.exp(law(random, min(plan.needed, 300))) for _ in "ab"))
        shown.append(result["verdict"] in ("equivalent", "different_within_margin"))
    assert np.mean(shown) >= 0.73


def _plan(values: Any, relative: float = 0.05) -> pd.Series:
    return runs_needed(values, relative).iloc[0]


def _reached(logs: Any, relative: float) -> bool:
    result = typical_run(np.exp(logs))
    return max(result["high"] / result["estimate"], result["estimate"] / result["low"]) <= 1 + relative


@pytest.mark.parametrize(
    ("values", "code"),
    [
        ([], "no_values"),
        ([1.0], "no_replication"),
        ([1.0, 1.1], "small_pilot"),
        ([1.0, 1.1, 1.2, 1.15], "small_pilot"),
        ([2.0] * 6, "constant"),
        ([1.0, 0.0, 2.0, 3.0, 4.0], "not_positive"),
        ([math.nan, math.nan], "no_values"),
    ],
)
def test_plans_that_are_refused(values: list[float], code: str) -> None:
    plan = runs_needed(values)
    assert plan[["needed", "more"]].isna().all(axis=None) and list(plan["flags"]) == [code]
    assert ("between" in az.say(plan)) == (code == "small_pilot")


def _runs() -> pd.DataFrame:
    rows = [("a → b", "tool", value) for value in (100.0, 101.0, 99.0, 102.0, 100.5)]
    rows += [("a → c", "tool", value) for value in (100.0, 130.0, 90.0, 110.0, 95.0)]
    rows += [("a → d", "tool", 100.0)]
    return pd.DataFrame(rows, columns=["path", "method", "median_ns"])


def test_plans_by_path_are_those_of_each_path() -> None:
    runs = _runs()
    by_path = az.plan(runs, 0.05).set_index("path")
    for path in ("a → b", "a → c"):
        alone = _plan(runs.loc[runs["path"] == path, "median_ns"])
        shared = ["needed", "low", "high", "done", "more", "at_pilot_spread"]
        assert by_path.loc[path, shared].equals(alone[shared].astype(float))
    assert by_path.loc["a → d", "flags"] == "no_replication"
    empty = az.plan(runs.head(0))
    assert empty.empty and list(empty.columns) == list(az.plan(runs).columns)


def test_the_curve_is_of_the_path_that_needs_the_most_and_falls() -> None:
    runs = _runs()
    curve = az.stats.precision_curves(runs, az.plan(runs))
    assert set(curve["path"]) == {"a → c"} and curve["precision"].is_monotonic_increasing
    assert curve["high"].is_monotonic_decreasing and curve["high"].nunique() > 3


def test_the_first_curve_is_of_the_method_that_titles_speak_of() -> None:
    # "wide" needs the most runs on one path; "tool" measured three paths.
    wide = pd.DataFrame(
        [("a → b", "wide", value) for value in (50.0, 900.0, 100.0)], columns=["path", "method", "median_ns"]
    )
    runs = pd.concat([wide, _runs()], ignore_index=True)
    curves = az.stats.precision_curves(runs, az.plan(runs))
    assert list(curves["method"].unique()) == ["tool", "wide"]
    assert "(a → c, tool)" in str(page.precision(curves))


@pytest.mark.parametrize("made", [30, pytest.param(150, marks=pytest.mark.slow)])
def test_runs_to_decide_keeps_its_promise(made: int) -> None:
    """Where nothing changed, so many runs a side show it about as often as promised; one-third of them do not."""
    from helpers.results import compare_runs

    from azlatency.stats.across_runs.planning import _runs_for_no_change

    random = stream(7)
    runs = _runs_for_no_change(0.06, 0.05, 0.95, 0.8)
    assert runs is not None

    def share(count: int) -> float:
        done = [compare_runs(*np.exp(random.normal(0, 0.06, (2, count)))) for _ in range(made)]
        return sum(result["verdict"] in ("equivalent", "different_within_margin") for result in done) / made

    assert share(runs) == pytest.approx(0.8, abs=0.1 if made > 100 else 0.2)
    assert share(runs // 3) < 0.3


def test_runs_to_decide_takes_the_upper_bound_and_refuses_what_it_cannot_know() -> None:
    a, b = [100.0, 104, 98, 101], [100.0, 103, 99, 102]
    plan = runs_to_decide(a, b, 0.05)
    assert plan.needed is not None and plan.at_pilot_spread is not None
    assert plan.at_pilot_spread <= plan.needed == plan.high and plan.done == 4
    few = runs_to_decide(a[:2], b[:2], 0.05)
    assert few.needed is None and few.flags == ("small_pilot",) and few.low is not None and few.high is not None
    assert runs_to_decide([1.0], [1.0], 0.05).flags == ("no_replication",)
    assert runs_to_decide([1.0, 1.0], [1.0], 0.05).flags == ("constant",)
    assert runs_to_decide([0.0, 1.0], [1.0], 0.05).flags == ("not_positive",)
    assert runs_to_decide([], [1.0], 0.05).flags == ("no_values",)
    with pytest.raises(ValueError, match="margin = 0"):
        runs_to_decide(a, b, 0)


def test_runs_for_a_known_spread() -> None:
    needed = [runs_for_spread(spread, 0.05) for spread in (0.01, 0.02, 0.05, 0.1, 0.2)]
    assert needed == sorted(needed) and needed[0] == 3 and 55 < needed[3] < 70
    with pytest.raises(ValueError, match="spread = 0"):
        runs_for_spread(0, 0.05)


def test_the_precision_can_be_a_percentage() -> None:
    runs = pd.DataFrame({"path": "a → b", "method": "ping", "median_ns": [450e3, 440e3, 460e3, 455e3, 448e3]})
    pd.testing.assert_frame_equal(az.plan(runs, "3%"), az.plan(runs, 0.03))
    for text in ("3 us", "three", "0%", ""):
        with pytest.raises(ValueError, match=r"is not a fraction; write '5%' or 0\.05"):
            az.plan(runs, text)
