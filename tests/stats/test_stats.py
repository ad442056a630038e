"""The statistics against oracles that were computed elsewhere (R, exact enumeration), and on hard inputs."""

from __future__ import annotations

import json
import math
from typing import Any

import numpy as np
import pandas as pd
import pytest
from helpers.places import ROOT, TESTS
from hypothesis import given
from hypothesis import strategies as st

import azlatency as az
from azlatency.stats.across_runs.means import typical_run
from azlatency.stats.result import CODES, SHORT
from azlatency.stats.within_run.order_statistics import order_statistic_ranks
from azlatency.stats.within_run.printed_quantiles import bracket, printed_quantiles

ORACLES = TESTS / "oracles"


def cases(name: str, start: str) -> list[Any]:
    content = json.loads((ORACLES / name).read_text("utf-8"))
    return [pytest.param(case, id=case["id"]) for case in content["cases"] if case["id"].startswith(start)]


# The oracle's tables are the sockperf logs of two studies; (file, factor to the printed half round trip in us).
RAW = ROOT / "data" / "raw"
TABLES = {
    "000/Test 1 sockperf": ("westeurope-availability-set-vs-zones/zone3-zone1/sockperf-m1400.log", 1e3),
    "000/Test 1 sockperf#1": ("westeurope-availability-set-vs-zones/zone3-zone1/sockperf-m350.log", 1e3),
    "000/Test 4 sockperf on as": ("westeurope-availability-set-vs-zones/availability-set/sockperf-m1400.log", 1e3),
    "000/Test 4 sockperf on as#1": ("westeurope-availability-set-vs-zones/availability-set/sockperf-m350.log", 1e3),
    "001/Inside single node": ("westeurope-azure-cni/single-node/sockperf.log", 2e3),
    "001/AZ1 - AZ1": ("westeurope-azure-cni/az1-az1/sockperf.log", 2e3),
    "001/AZ1 - AZ2": ("westeurope-azure-cni/az1-az2/sockperf.log", 2e3),
    "001/AZ2 - AZ3": ("westeurope-azure-cni/az2-az3/sockperf.log", 2e3),
    "001/AZ1 - AZ3": ("westeurope-azure-cni/az1-az3/sockperf.log", 2e3),
}


@pytest.mark.parametrize("case", cases("printed_percentile_tables.json", "ci|"))
def test_brackets_of_the_real_logs(case: dict[str, Any]) -> None:
    """From the raw log to the interval of a percentile, against R; round trips here, printed halves there."""
    given_, expected = case["input"], case["expected"]
    file, factor = TABLES[given_["table"]]
    tables = az.parse(RAW / file)
    results = printed_quantiles(tables.quantiles, tables.metrics, confidence=given_["conf"])
    (result,) = (each for each in results if each.labels["q"] == given_["p"])
    assert result.n == given_["n"]
    assert result.scope == "within_run" and "within_run_floor" in result.codes
    assert result.low == pytest.approx(expected["lower"] * factor, abs=1e-3)
    if isinstance(expected["upper"], float | int):
        assert result.high == pytest.approx(expected["upper"] * factor, abs=1e-3)
    else:
        assert result.high is None and "unbounded_upper" in result.codes


@pytest.mark.parametrize("case", cases("printed_percentile_tables.json", "ranks|"))
def test_ranks_of_the_real_logs(case: dict[str, Any]) -> None:
    """The order statistics that the printed percentiles are, against R."""
    file, factor = TABLES[case["id"].removeprefix("ranks|")]
    quantiles = az.parse(RAW / file).quantiles.sort_values("q")
    expected = case["expected"]
    assert list(quantiles["rank"]) == expected["rank"][1:-1]
    assert list(quantiles["value_ns"] / factor) == pytest.approx(expected["value"][1:-1])
    assert list(quantiles["beyond"] >= 1) == expected["resolvable"][::-1]
    assert list(quantiles["resolved"]) == list(quantiles["value_ns"] / factor < expected["value"][-1])


@given(st.integers(0, 3000), st.floats(0.01, 0.9999), st.sampled_from([0.8, 0.95, 0.99]))
def test_rank_intervals_attain_their_level(n: int, p: float, confidence: float) -> None:
    from scipy.stats import binom

    low, high = order_statistic_ranks(n, p, confidence)
    tail = (1 - confidence) / 2
    assert 0 <= low <= high <= n + 1
    assert binom.cdf(low - 1, n, p) <= tail + 1e-12
    assert binom.sf(high - 1, n, p) <= tail + 1e-12


@pytest.mark.parametrize(("n", "p", "confidence"), [(-1, 0.5, 0.95), (10, 0.0, 0.95), (10, 1.0, 0.95), (10, 0.5, 1.0)])
def test_ranks_refuse_senseless_questions(n: int, p: float, confidence: float) -> None:
    with pytest.raises(ValueError, match="need"):
        order_statistic_ranks(n, p, confidence)


def test_bracket_of_nothing() -> None:
    result = bracket(0.5, 0, [], [])
    assert result.refused
    assert (result.low, result.high) == (None, None)


def test_brackets_cover_where_the_packets_are_independent() -> None:
    """Coverage of the p99 bracket over 400 tables of 5,000 lognormal values; at least the nominal 95 %."""
    generator = np.random.Generator(np.random.PCG64(7))
    truth = math.exp(2.3263478740408408 * 0.5)
    levels = [0.25, 0.5, 0.75, 0.9, 0.99, 0.999]
    hits = 0
    for _ in range(400):
        values = np.sort(generator.lognormal(0.0, 0.5, 5000))
        ranks = [1, *(int(q * 5000 + 0.5) for q in levels), 5000]
        result = bracket(0.99, 5000, ranks, [float(values[rank - 1]) for rank in ranks])
        assert result.low is not None and result.high is not None
        hits += result.low <= truth <= result.high
    assert hits >= 0.95 * 400


def test_printed_quantiles_take_minimum_and_maximum_from_the_metrics() -> None:
    quantiles = pd.DataFrame(
        {"run_id": ["a"], "metric": ["rtt"], "q": [0.5], "value_ns": [20.0], "n": [3], "rank": [2]}
    )
    metrics = pd.DataFrame({"run_id": ["a", "a"], "metric": ["rtt_min", "rtt_max"], "value": [10.0, 30.0]})
    (result,) = printed_quantiles(quantiles, metrics, confidence=0.5)
    assert (result.low, result.estimate, result.high) == (10.0, 20.0, 30.0)


def test_across_runs_equals_the_t_interval_on_logarithms() -> None:
    from scipy.stats import ttest_1samp

    values = [53.804825, 57.9592, 58.4382, 58.543175, 61.248425, 60.76945]
    result = typical_run(values)
    reference = ttest_1samp(np.log(values), 0).confidence_interval(0.95)
    assert result.low == pytest.approx(math.exp(reference.low))
    assert result.high == pytest.approx(math.exp(reference.high))
    assert result.scope == "across_runs"
    assert result.n == 6


@pytest.mark.parametrize(
    ("values", "code"),
    [([], "no_values"), ([5.0], "no_replication"), ([5.0, 0.0], "not_positive"), ([5.0, math.inf], "loss_censored")],
)
def test_across_runs_refuses(values: list[float], code: str) -> None:
    result = typical_run(values)
    assert result.refused
    assert result.codes == (code,)
    assert CODES[code] in str(result)


def test_two_runs_and_constant_runs_are_flagged() -> None:
    assert typical_run([5.0, 6.0]).codes == ("two_runs",)
    constant = typical_run([5.0, 5.0, 5.0])
    assert constant.codes == ("constant",)
    assert constant.low == constant.high == pytest.approx(5.0)


def test_runs_not_packets_are_the_replicates() -> None:
    """Coverage experiment C4 in small: a 5 % run effect; t on run medians holds the truth, pooled packets do not."""
    from scipy.stats import t

    generator = np.random.Generator(np.random.PCG64(11))
    runs, packets, repetitions = 5, 100, 400
    held = pooled = 0
    for _ in range(repetitions):
        effects = np.exp(generator.normal(0.0, 0.05, runs))
        values = effects[:, None] * generator.lognormal(0.0, 0.1, (runs, packets))
        result = typical_run(np.median(values, axis=1))
        assert result.low is not None and result.high is not None
        held += result.low <= 1.0 <= result.high
        logs = np.log(values).ravel()
        half = t.ppf(0.975, logs.size - 1) * logs.std(ddof=1) / math.sqrt(logs.size)
        pooled += abs(logs.mean()) <= half
    assert 0.92 <= held / repetitions <= 0.98
    assert pooled / repetitions < 0.5


def test_every_code_has_a_sentence_and_a_word() -> None:
    assert set(CODES) == set(SHORT)
