"""The typical run: the median run, its order-statistic interval, and what replaces it below six runs."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pandas as pd
import pytest
from helpers.results import Estimate, estimate_of

import azlatency as az
from azlatency.stats.across_runs.run_order import WIDENING
from azlatency.stats.across_runs.typical_run import median_ends, summarize
from azlatency.stats.across_runs.typical_run import typical_run as row_of_typical_run
from azlatency.stats.result import FLAGS
from azlatency.studies.runs.path import NetworkPath


def typical_run(values: Any, resolution: float = 0.0, **options: Any) -> Estimate:
    if resolution:
        values = pd.DataFrame({"mean_bit_s": values, "mean_bit_s_resolution": resolution})
        options |= {"value": "mean_bit_s"}
    return estimate_of(row_of_typical_run(values, **options))


def test_runs_without_an_estimate_are_described() -> None:
    runs = pd.DataFrame({"path": "? → ?", "method": "sockperf", "median_ns": [64_600.0, 176_340.0, 96_150.0]})
    assert az.say(summarize(runs.assign(path=NetworkPath.between("?", "b")))).startswith("? → b, sockperf: ")
    cut = az.say(summarize(runs.assign(status="truncated")))
    assert cut.startswith("? → ?, sockperf: not estimable; 3 runs measured 65–176 µs (cut or failed: every run was")
    assert az.say(summarize(runs.head(1))).startswith("? → ?, sockperf: not estimable; the run measured 64.6 µs (one")
    assert az.say(summarize([64_600.0, math.inf])).startswith("typical run: not estimable (")


def test_from_six_runs_the_interval_is_that_of_order_statistics() -> None:
    """Two slow runs of twelve change neither the estimate nor the lower end; ping medians in µs."""
    values = [604, 4510, 582, 624, 611, 590, 8510, 600, 588, 607, 595, 620]
    result = typical_run(values, unit="µs")
    ordered = sorted(values)
    assert result.estimate == pytest.approx(605.5) and "order statistics" in result.method
    assert result.low is not None and result.high is not None and result.codes == ()
    assert ordered[1] < result.low < ordered[3] and ordered[8] < result.high < ordered[10]


@pytest.mark.parametrize(("runs", "place"), [(6, 0.357), (8, 0.936), (10, 1.658)])
def test_exact_ranks_are_interpolated(runs: int, place: float) -> None:
    """Hettmansperger & Sheather's place between the order statistics, counted from the smallest run."""
    ends = median_ends(np.arange(float(runs)), 0.95)
    assert ends is not None
    assert (float(ends[0]), float(ends[1])) == pytest.approx((place, runs - 1 - place), abs=1e-3)
    assert median_ends(np.arange(5.0), 0.95) is None


@pytest.mark.slow
def test_the_interval_becomes_shorter_with_every_run() -> None:
    """The median length over 400 samples, of 3 to 20 runs of which the first are the same."""
    samples = np.exp(np.random.default_rng(4).normal(0, 0.03, (400, 20)))
    lengths = []
    for runs in (3, 4, 5, 6, 7, 8, 9, 10, 12, 15, 20):
        results = [typical_run(sample[:runs]) for sample in samples]
        lengths.append(np.median([math.log(result.high / result.low) for result in results]))
    assert lengths == sorted(lengths, reverse=True)


def test_below_six_runs_the_interval_is_t_on_logarithms() -> None:
    from scipy.stats import ttest_1samp

    values = [53.804825, 57.9592, 58.4382, 58.543175, 61.248425]
    result = typical_run(values)
    logs = np.log(values)
    reference = ttest_1samp(logs, 0).confidence_interval(0.95)
    middle = logs.mean()
    due = [math.exp(middle + WIDENING * (end - middle)) for end in reference]
    assert (result.low, result.high) == pytest.approx(tuple(due))
    assert result.estimate == 58.4382 and result.codes == ("few_runs",) and result.scope == "across_runs"


@pytest.mark.parametrize("values", [[100.0, 101, 800], [100.0, 101, 99, 800], [100.0, 101, 99, 102, 800]])
def test_a_run_far_from_few_others_is_flagged(values: list[float]) -> None:
    result = typical_run(values)
    assert "outlying_run" in result.codes
    assert result.low is not None and result.estimate is not None and result.high is not None
    assert result.low <= result.estimate <= result.high
    assert "outlying_run" not in typical_run([100.0, 103, 98, 101]).codes
    assert typical_run([100.0, 300]).codes == ("two_runs",), "which of two is the outlier is unknown"


@pytest.mark.parametrize(
    ("values", "code"),
    [([], "no_values"), ([5.0], "no_replication"), ([5.0, 0.0], "not_positive"), ([5.0, math.inf], "loss_censored")],
)
def test_inputs_without_an_estimate_are_refused(values: list[float], code: str) -> None:
    result = typical_run(values)
    assert result.refused
    assert result.codes == (code,)
    assert FLAGS[code] in az.say(summarize(values))


@pytest.mark.parametrize("runs", [2, 3, 5, 8])
def test_equal_runs_have_an_interval_only_at_a_known_resolution(runs: int) -> None:
    unknown, known = typical_run([7e5] * runs), typical_run([7e5] * runs, resolution=1e3)
    assert unknown.codes == known.codes == ("constant",) and unknown.estimate == 7e5
    assert (unknown.low, unknown.high) == (None, None) and (known.low, known.high) == (699_500, 700_500)
    assert "equal in all printed digits" in az.say(summarize([7e5] * runs)), "they may differ in others"


def test_an_interval_may_end_outside_all_runs() -> None:
    """1.1 times as long as that of order statistics, which of six runs is nearly their range."""
    times = [6.49e3, 6.62e3, 6.68e3, 48.1e3, 54.9e3, 63.1e3]
    found = typical_run(times)
    assert found.low is not None and found.high is not None
    assert found.low < min(times) and found.high > max(times)


def test_the_resolution_of_a_frame_widens_its_intervals() -> None:
    frame = pd.DataFrame({"median_ns": [450e3, 440e3, 460e3, 455e3, 445e3, 448e3], "median_ns_resolution": 10e3})
    result = typical_run(frame)
    exact = typical_run(frame.drop(columns="median_ns_resolution"))
    assert exact.low is not None and exact.high is not None
    assert (result.low, result.high) == (exact.low - 5e3, exact.high + 5e3)


def test_runs_that_resemble_their_neighbours_are_flagged_and_no_more() -> None:
    rising = [100.0 + run for run in range(20)]
    mixed = [rising[(7 * run) % 20] for run in range(20)]
    dependent, independent = typical_run(rising), typical_run(mixed)
    assert dependent.codes == ("dependent_runs",) and independent.codes == ()
    assert dependent.low == independent.low
    frame = pd.DataFrame({"median_ns": mixed, "started_at": np.argsort(np.argsort(mixed))})
    assert typical_run(frame).codes == ("dependent_runs",)
    assert math.isnan(row_of_typical_run(frame.drop(columns="started_at"))["lag1"])


def test_the_step_of_a_coarse_print_does_not_make_a_rate_negative() -> None:
    result = typical_run([0.862, 823e3, 2.24e6, 2.28e6], unit="bit/s", resolution=1e4)
    assert result.low == 0.0 and result.high is not None and result.high > 2.28e6


def test_paths_of_one_method_are_summarized_by_a_number_that_all_of_them_have() -> None:
    """``ping -q`` prints a mean and no median: the path is not left out."""
    runs = pd.DataFrame(
        {
            "path": ["a → b"] * 3 + ["a → c"] * 3, "method": "ping",
            "median_ns": [1e6, 1.1e6, 1.2e6, math.nan, math.nan, math.nan],
            "mean_ns": [2e6, 2.1e6, 2.2e6, 3e6, 3.1e6, 3.2e6],
        }
    )  # fmt: skip
    found = az.summarize(runs)
    assert list(found["value"]) == ["mean_ns", "mean_ns"] and list(found["estimate"]) == [2.1e6, 3.1e6]
    apart = az.summarize(runs.assign(mean_ns=runs["mean_ns"].where(runs["median_ns"].isna())))
    assert list(apart["value"]) == ["median_ns", "mean_ns"] and list(apart["estimate"]) == [1.1e6, 3.1e6]


def test_runs_without_the_summarized_number_are_counted() -> None:
    runs = pd.DataFrame({"path": "a → b", "method": "ping", "median_ns": [1e6, 1.1e6, 1.2e6, math.nan]})
    (row,) = az.summarize(runs).to_dict("records")
    assert row["n"] == 3 and row["notes"] == "1 run without a median left out"
