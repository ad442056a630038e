"""How many runs: oracles, refusals, and the sentences that are printed."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pandas as pd
import pytest
from helpers.cases import cases, content, normal, stream

import azlatency as az
from azlatency.stats.across_runs.attainable import rounds_needed, smallest_n
from azlatency.stats.across_runs.confirm import confirm, expected_bounds
from azlatency.stats.across_runs.planning import runs_needed
from azlatency.stats.across_runs.repeats import repeats, repeats_by_path, samples_per_run, variance_components
from azlatency.stats.across_runs.stopping import may_stop


def test_confirm_equals_brute_force() -> None:
    from itertools import combinations

    values = stream(1).lognormal(0, 0.3, 11)
    subsets = np.sort(np.array(list(combinations(values, 7))), axis=1)
    assert expected_bounds(values, 7)[1:] == pytest.approx((subsets[:, 0].mean(), subsets[:, 6].mean()))


@pytest.mark.parametrize("case", cases("repeats_hierarchy", "runs-needed-t-log|"))
def test_runs_needed(case: dict[str, Any]) -> None:
    """The oracle takes the pilot's spread as it is; the plan takes its upper bound and is never smaller."""
    plan = runs_needed(case["input"]["run_means"], case["input"]["rel"], confidence=case["input"]["conf"])
    assert plan.at_pilot_spread == case["expected"]["runs"]
    assert plan.needed is not None and plan.low is not None
    assert plan.low <= plan.at_pilot_spread <= plan.needed == plan.high


def test_the_upper_bound_of_the_spread_keeps_its_promise() -> None:
    """With the pilot's own spread the plan is too small half the time; with its upper 80 % bound one time in five."""
    random, spread, enough, enough_naive = stream(2), 0.05, 0, 0
    truth = next(r for r in range(2, 999) if _half(r, spread) <= math.log(1.02))
    for _ in range(400):
        plan = runs_needed(np.exp(random.normal(0, spread, 6)), 0.02)
        assert plan.needed is not None and plan.at_pilot_spread is not None
        enough += plan.needed >= truth
        enough_naive += plan.at_pilot_spread >= truth
    assert 0.75 <= enough / 400 <= 0.9
    assert enough_naive / 400 < 0.6


def _half(runs: int, spread: float) -> float:
    from scipy.stats import t

    return float(t.ppf(0.975, runs - 1)) * spread / math.sqrt(runs)


def test_smallest_n_of_the_document() -> None:
    assert [smallest_n(p) for p in (0.99, 0.999, 0.9999, 0.99999)] == [368, 3688, 36887, 368887]
    assert [smallest_n(p, sides="upper") for p in (0.99, 0.999, 0.9999, 0.99999)] == [299, 2995, 29956, 299572]
    # One in a million: the smallest n with (1 - 1e-6)^n <= .05; -ln(.05) * 1e6, often quoted, is one more.
    n = smallest_n(1 - 1e-6, sides="upper")
    assert n == 2_995_731 and n * math.log1p(-1e-6) <= math.log(0.05) < (n - 1) * math.log1p(-1e-6)
    with pytest.raises(ValueError, match="between"):
        smallest_n(1.0)


def test_rounds_before_any_test_can_decide() -> None:
    assert (rounds_needed(), rounds_needed(3)) == (6, 7)
    assert (rounds_needed(paired=False), rounds_needed(3, paired=False)) == (4, 5)
    with pytest.raises(ValueError, match="at least one"):
        rounds_needed(0)


@pytest.mark.parametrize(
    ("values", "code"),
    [
        ([], "no_values"),
        ([1.0], "no_replication"),
        ([1.0, 1.1], "few_clusters"),
        ([1.0, 1.1, 1.2, 1.15], "few_clusters"),
        ([2.0] * 6, "constant"),
        ([1.0, 0.0, 2.0, 3.0, 4.0], "not_positive"),
        ([math.nan, math.nan], "no_values"),
    ],
)
def test_plans_that_are_refused(values: list[float], code: str) -> None:
    plan = runs_needed(values)
    assert plan.needed is None and plan.more is None and plan.codes == (code,)
    assert plan.row() and ("between" in str(plan)) == (code == "few_clusters")


def test_confirm_refuses_few_runs_and_says_when_all_are_not_enough() -> None:
    assert confirm([1.0] * 10).codes == ("few_clusters",) and confirm([]).codes == ("no_values",)
    assert confirm([0.0] * 20).codes == ("not_positive",)
    wide = confirm(stream(3).lognormal(0, 1, 30), 0.01)
    assert wide.needed is None and wide.low == 31 and "at least 31 runs" in str(wide)
    assert confirm([5.0] * 30).needed == 10


def test_may_stop() -> None:
    random = stream(4)
    assert not may_stop([5.0, 5.0, 5.0]).stop and not may_stop([]).stop
    narrow = np.exp(random.normal(0, 0.02, 30))
    assert may_stop(narrow).stop
    assert not may_stop(np.exp(random.normal(0, 0.5, 30))).stop
    late = narrow.copy()
    late[-1] *= 1.3
    assert "not seen before" in may_stop(late).reason


# --- repeats


def test_repeats() -> None:
    case = next(each for each in content("repeats_hierarchy")["cases"] if each["id"].startswith("runs-needed"))
    values = case["input"]["run_means"]
    result = repeats(values, what="path")
    assert result.sd == pytest.approx(np.std(values, ddof=1)) and result.repeatability == pytest.approx(2.8 * result.sd)
    assert result.ratio == pytest.approx(max(values) / min(values))
    assert result.cv is not None and result.cv_low is not None and result.cv_high is not None
    assert result.cv_low < result.cv < result.cv_high and "6 runs vary" in str(result)


@pytest.mark.parametrize("case", cases("repeats_hierarchy", "variance-components|"))
def test_variance_components(case: dict[str, Any]) -> None:
    due, rel = case["expected"], case["tolerance"]["rel"]
    y = np.round(60 + np.repeat(2 * normal(6, 72), 40) + 1.5 * normal(240, 71), 3)
    assert y.sum() == pytest.approx(case["input"]["check_sum"])
    found = variance_components(y.reshape(6, 40))
    assert found is not None
    names = ("ms_between", "ms_within", "var_between_anova", "var_within", "icc", "grand_mean", "se_run_level",
             "design_effect")  # fmt: skip
    assert tuple(found) == pytest.approx([due[name] for name in names], rel=rel)
    assert found.var_between == pytest.approx(due["lmer_var_between"], rel=case["tolerance"]["lmer_rel"])
    # From run values and their errors within runs: the same components.
    means = y.reshape(6, 40).mean(axis=1)
    by_runs = repeats(means, errors=[math.sqrt(found.var_within / 40)] * 6)
    assert by_runs.var_between == pytest.approx(due["var_between_anova"], rel=rel)
    # The run-level interval of the oracle is Student's t on the run means.
    from azlatency.stats.across_runs.two_groups import student_interval

    assert student_interval(means, 0.95) == pytest.approx(due["ci95_t_run_level"], rel=rel)
    assert found.se_runs / math.sqrt(found.design_effect) == pytest.approx(due["se_naive_iid"], rel=rel)


@pytest.mark.parametrize("case", cases("repeats_hierarchy", "kalibera-jones"))
def test_samples_per_run(case: dict[str, Any]) -> None:
    given = case["input"]
    found = samples_per_run(given["var_within"], given["var_between"], given["cost_run_s"], given["cost_sample_s"])
    assert found == case["expected"]["n1"]
    assert samples_per_run(1.0, 0.0, 60, 1e-4) is None
    with pytest.raises(ValueError, match="cost"):
        samples_per_run(1.0, 1.0, 0, 1e-4)


@pytest.mark.parametrize(
    ("values", "code"),
    [([], "no_values"), ([1.0], "no_replication"), ([1.0, 2.0], "two_runs"), ([3.0] * 4, "constant"),
     ([-1.0, 2.0], "not_positive")],
)  # fmt: skip
def test_hard_repeats(values: list[float], code: str) -> None:
    result = repeats(values)
    assert code in result.codes and str(result) and result.row()["codes"]
    assert variance_components(np.zeros((1, 5))) is None and variance_components(np.zeros((3, 3))) is None


def test_repeats_by_path() -> None:
    import pandas as pd

    frame = pd.DataFrame({"path": ["a", "a", "b"], "method": "x", "median_ns": [1.0, 2.0, None]})
    assert [each.runs for each in repeats_by_path(frame, "median_ns")] == [2]


# --- whole studies


def _runs() -> pd.DataFrame:
    rows = [("a → b", "tool", value) for value in (100.0, 101.0, 99.0, 102.0, 100.5)]
    rows += [("a → c", "tool", value) for value in (100.0, 130.0, 90.0, 110.0, 95.0)]
    rows += [("a → d", "tool", 100.0)]
    return pd.DataFrame(rows, columns=["path", "method", "median_ns"])


def test_plans_by_path_are_those_of_each_path() -> None:
    runs = _runs()
    found = {each.labels["path"]: each for each in az.plan(runs, 0.05)}
    for path in ("a → b", "a → c"):
        alone = az.stats.runs_needed(runs.loc[runs["path"] == path, "median_ns"], 0.05)
        assert (found[path].needed, found[path].low, found[path].high) == (alone.needed, alone.low, alone.high)
    assert found["a → d"].codes == ("no_replication",)
    assert az.plan(runs.head(0)) == []


def test_the_curve_is_of_the_path_that_needs_the_most_and_falls() -> None:
    runs = _runs()
    (curve,) = az.stats.precision_curves(runs, az.plan(runs))
    assert {each.labels["path"] for each in curve} == {"a → c"}
    needed = [each.high for each in curve]
    assert needed == sorted(needed, key=lambda each: -(each or 0))


def test_confirm_by_path_refuses_few_runs() -> None:
    runs = pd.DataFrame({"path": "a → b", "method": "tool", "median_ns": [100.0 + each % 7 for each in range(40)]})
    (found,) = az.stats.confirm_by_path(runs, 0.05)
    assert found.needed == az.stats.confirm(runs["median_ns"], 0.05).needed
    assert {each.codes for each in az.stats.confirm_by_path(_runs())} == {("few_clusters",)}


def test_sizes_and_rounds() -> None:
    by_level = {each.q: each for each in az.stats.percentile_sizes([100, 4000, None])}
    assert (by_level[0.999].two, by_level[0.999].upper, by_level[0.999].range) == (3688, 2995, 2995)
    assert (by_level[0.999].enough, by_level[0.999].runs) == (1, 2)
    three = az.stats.rounds_by_zones([3])[0]
    assert (three.pairs, three.rounds, three.unpaired) == (3, 7, 5)


def test_runs_to_decide_keeps_its_promise() -> None:
    """Where nothing changed, so many runs a side show it about as often as promised; one-third of them do not."""
    from azlatency.stats.across_runs.comparison import compare
    from azlatency.stats.across_runs.planning import _runs_for_no_change

    random = stream(7)
    runs = _runs_for_no_change(0.06, 0.05, 0.95, 0.8)
    assert runs is not None

    def share(count: int) -> float:
        done = [compare(*np.exp(random.normal(0, 0.06, (2, count)))) for _ in range(150)]
        return sum(each.verdict in ("equivalent", "different_within_margin") for each in done) / len(done)

    assert share(runs) == pytest.approx(0.8, abs=0.1)
    assert share(runs // 3) < 0.3


def test_runs_to_decide_takes_the_upper_bound_and_refuses_what_it_cannot_know() -> None:
    a, b = [100.0, 104, 98, 101], [100.0, 103, 99, 102]
    plan = az.stats.runs_to_decide(a, b, 0.05)
    assert plan.needed is not None and plan.at_pilot_spread is not None
    assert plan.at_pilot_spread <= plan.needed == plan.high and plan.done == 4
    few = az.stats.runs_to_decide(a[:2], b[:2], 0.05)
    assert few.needed is None and few.codes == ("few_clusters",) and few.low is not None and few.high is not None
    assert az.stats.runs_to_decide([1.0], [1.0], 0.05).codes == ("no_replication",)
    assert az.stats.runs_to_decide([1.0, 1.0], [1.0], 0.05).codes == ("constant",)
    assert az.stats.runs_to_decide([0.0, 1.0], [1.0], 0.05).codes == ("not_positive",)
    assert az.stats.runs_to_decide([], [1.0], 0.05).codes == ("no_values",)
    with pytest.raises(ValueError, match="margin = 0"):
        az.stats.runs_to_decide(a, b, 0)


def test_runs_for_a_known_spread() -> None:
    """t(15) * 0.1 / sqrt(16) = 0.0533 > log(1.05) = 0.0488; t(18) * 0.1 / sqrt(19) = 0.0482."""
    assert az.stats.runs_for_spread(0.1, 0.05) == 19
    assert az.stats.runs_for_spread(0.01, 0.05) == 3
    with pytest.raises(ValueError, match="spread = 0"):
        az.stats.runs_for_spread(0, 0.05)
