"""Printed percentile tables: brackets against R on the real logs, and attained coverage."""

from __future__ import annotations

import math
from functools import cache
from typing import Any

import numpy as np
import pandas as pd
import pytest
from helpers.cases import BOTH, LOGNORMAL_QUANTILES, cases, fails, stream
from helpers.places import ROOT
from helpers.results import Estimate, estimate_of, estimates_of

import azlatency as az
from azlatency.stats.within_run.order_statistics import order_statistic_ranks
from azlatency.stats.within_run.printed_quantiles import bracket, printed_quantiles


@pytest.mark.parametrize("made", BOTH)
def test_brackets_attain_their_coverage(made: int) -> None:
    """C7: brackets hold at least as often as they say; interpolation linear in the rank does not at p99."""
    rng = stream(23)
    n, levels = 6738, (0.25, 0.5, 0.75, 0.9, 0.99, 0.999, 0.9999)
    ranks = [1, *(int(p * n + 0.5) for p in levels[:-1]), n]
    linear = []
    brackets: dict[float, list[bool]] = {p: [] for p in LOGNORMAL_QUANTILES}
    for _ in range(made):
        ordered = np.sort(rng.lognormal(0, 0.5, n))
        values = [float(ordered[rank - 1]) for rank in ranks]
        for p, truth in LOGNORMAL_QUANTILES.items():
            whole = bracket(p, n, ranks, values)
            brackets[p].append(whole["low"] <= truth and not whole["high"] < truth)
        low, high = np.interp(order_statistic_ranks(n, 0.99), ranks, values)
        linear.append(bool(low <= LOGNORMAL_QUANTILES[0.99] <= high))
    for p in LOGNORMAL_QUANTILES:
        assert np.mean(brackets[p]) >= 0.95
    fails("C7 linear in the rank, p99", linear, 0.85)


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


@cache
def brackets(file: str, confidence: float) -> list[Estimate]:
    """Return the estimates of the printed percentiles of a log, of which each case looks at one."""
    tables = az.parse(RAW / file)
    return estimates_of(printed_quantiles(tables.quantiles, tables.metrics, confidence=confidence))


@pytest.mark.costly
@pytest.mark.parametrize("case", cases("printed_percentile_tables", "ci|"))
def test_brackets_of_the_real_logs_equal_those_of_r(case: dict[str, Any]) -> None:
    """From the raw log to the interval of a percentile, against R; round trips here, printed halves there."""
    given_, expected = case["input"], case["expected"]
    file, factor = TABLES[given_["table"]]
    results = brackets(file, given_["conf"])
    (result,) = (result_ for result_ in results if result_.labels["q"] == given_["p"])
    assert result.n == given_["n"]
    assert result.scope == "within_run" and "within_run_floor" in result.codes
    assert result.low == pytest.approx(expected["lower"] * factor, abs=1e-3)
    if isinstance(expected["upper"], float | int):
        assert result.high == pytest.approx(expected["upper"] * factor, abs=1e-3)
    else:
        assert result.high is None and "unbounded_upper" in result.codes


@pytest.mark.parametrize("case", cases("printed_percentile_tables", "ranks|"))
def test_ranks_of_the_real_logs_equal_those_of_r(case: dict[str, Any]) -> None:
    """The order statistics that the printed percentiles are, against R."""
    file, factor = TABLES[case["id"].removeprefix("ranks|")]
    quantiles = az.parse(RAW / file).quantiles.sort_values("q")
    expected = case["expected"]
    assert list(quantiles["rank"]) == expected["rank"][1:-1]
    assert list(quantiles["value_ns"] / factor) == pytest.approx(expected["value"][1:-1])
    assert list(quantiles["beyond"] >= 1) == expected["resolvable"][::-1]
    assert list(quantiles["resolved"]) == list(quantiles["value_ns"] / factor < expected["value"][-1])


def test_an_empty_table_has_no_bracket() -> None:
    result = estimate_of(bracket(0.5, 0, [], []))
    assert result.refused
    assert (result.low, result.high) == (None, None)


def test_brackets_of_independent_packets_cover_the_quantile() -> None:
    """Coverage of the p99 bracket over 400 tables of 5,000 lognormal values; at least the nominal 95 %."""
    generator = np.random.Generator(np.random.PCG64(7))
    truth = math.exp(2.3263478740408408 * 0.5)
    levels = [0.25, 0.5, 0.75, 0.9, 0.99, 0.999]
    hits = 0
    for _ in range(400):
        values = np.sort(generator.lognormal(0.0, 0.5, 5000))
        ranks = [1, *(int(q * 5000 + 0.5) for q in levels), 5000]
        result = bracket(0.99, 5000, ranks, [float(values[rank - 1]) for rank in ranks])
        hits += result["low"] <= truth <= result["high"]
    assert hits >= 0.95 * 400


def test_minimum_and_maximum_come_from_the_metrics() -> None:
    quantiles = pd.DataFrame(
        {"run_id": ["a"], "metric": ["rtt"], "q": [0.5], "value_ns": [20.0], "n": [3], "rank": [2]}
    )
    metrics = pd.DataFrame({"run_id": ["a", "a"], "metric": ["rtt_min", "rtt_max"], "value": [10.0, 30.0]})
    (result,) = estimates_of(printed_quantiles(quantiles, metrics, confidence=0.5))
    assert (result.low, result.estimate, result.high) == (10.0, 20.0, 30.0)
