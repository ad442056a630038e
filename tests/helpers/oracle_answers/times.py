"""Change points, events, interval series, coordinated omission, the number of modes."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from azlatency.stats.within_run import change_points
from azlatency.stats.within_run.dependence import newey_west
from azlatency.stats.within_run.stability import stability
from azlatency.stats.within_run.throttling import throttling
from azlatency.stats.within_run.throughput_intervals import mean_rate
from helpers.cases import generated
from helpers.oracle_answers import answers, array


def series(given: dict[str, Any]) -> np.ndarray:
    x = array(given["x"]) if "x" in given else generated(given["generator"])
    assert "check_sum" not in given or abs(x.sum() - given["check_sum"]) < 1e-6
    return x


def _cheapest(x: np.ndarray, penalty: float, min_segment: int) -> tuple[list[int], float]:
    return change_points.cheapest(change_points.best_partitions(x, 40, min_segment), penalty)


@answers("changepoint", "pelt|", residual_lag1_acf="objective_rel", objective_="objective_rel")
def partition(given: dict[str, Any]) -> dict[str, Any]:
    x, penalty = series(given), given["penalty_value"]
    changes, objective = _cheapest(x, penalty, given.get("min_size", 1))
    ten, objective_ten = _cheapest(x, penalty, 10) if len(x) > 20 else ([], 0.0)
    residual = change_points.remove_segment_means(x, changes)
    r = float(residual[1:] @ residual[:-1] / (residual @ residual)) if len(x) > 20 else 0.0
    # The search that knows the dependence finds the three true shifts of one case and nothing in any other.
    assert len(change_points.find_level_shifts(x)[0]) == (3 if "rep(1.5" in given.get("generator", "") else 0)
    return {
        "optimal_partition_last_index_of_segment": changes, "objective": objective, "optimal_minseg10": ten,
        "objective_minseg10": objective_ten, "changepoint_pkg_PELT": changes, "residual_lag1_acf": r,
        "objective_with_0.1_per_split": objective,
    }  # fmt: skip


@answers("changepoint", "bai-perron", ci95_="index", bic_="index")
def best_partitions(given: dict[str, Any]) -> dict[str, Any]:
    x, n = series(given), 400
    partitions = change_points.best_partitions(x, n // given["h"] - 2, given["h"])
    bic = [n * math.log(rss / n) + (2 * m + 1) * math.log(n) for m, (_, rss) in enumerate(partitions)]
    # The time interval of the public result, rounded outwards as strucchange does: one block for each value here.
    (shift,) = stability(np.repeat(x, 20)).shifts.to_dict("records")
    return {
        "bic_breaks": partitions[int(np.argmin(bic))][0], "rss_by_m": [rss for _, rss in partitions],
        "ci95": {"1": [math.floor(shift["at_low"] / 20), shift["at"] / 20, math.ceil(shift["at_high"] / 20)]},
    }  # fmt: skip


@answers("project_methods", "self-normalised")
def self_normalised_statistic(given: dict[str, Any]) -> dict[str, Any]:
    statistic, at = change_points.self_normalised_statistic(series(given), given["trim"])
    assert given["critical_5pct"] == change_points.CRITICAL
    return {"G": statistic, "argmax": at, "reject_5pct": statistic > change_points.CRITICAL}


@answers("misc_latency", "iperf-intervals")
def intervals(given: dict[str, Any]) -> dict[str, Any]:
    x = array(given["gbps"])
    result = mean_rate(x, unit="Gbit/s")
    assert {"short_series", "burst_test"} <= set(result["flags"].split()) and list(throttling(x)["found"]) == [False]
    mean, sd = result["estimate"], x.std(ddof=1)
    return {
        "mean": mean, "sd": sd, "ci95_t": [result["low"], result["high"]],
        "se_nw_lag2": math.sqrt(newey_west(x, 2) / len(x)),
        "cv": sd / mean, "sum_retr": sum(given["retr"]), "total_minus_interval_mean": given["reported_total"] - mean,
    }  # fmt: skip


class Note(str):
    """A remark of the oracle: not a number."""

    __slots__ = ()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, str)

    __hash__ = str.__hash__
