"""Rounds of both directions."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from azlatency.stats.across_runs.attainable import attainable_paired, attainable_unpaired
from azlatency.stats.across_runs.hodges_lehmann import pseudomedian
from azlatency.stats.across_runs.two_groups import student_interval, summary, tost
from azlatency.stats.multiplicity import adjust_p
from helpers.enumeration import max_t_p, sign_flip_p
from helpers.oracle_answers import answers, array


@answers("asymmetry_matrix", "paired-rounds|", signflip_="p_abs", holm_="p_abs", maxT_="p_abs")
def rounds(given: dict[str, Any]) -> dict[str, Any]:
    pairs = {name: array(ratios) for name, ratios in given["log_ratio"].items()}
    # Flips of the mean and max-T are not offered: signed ranks are exact for the estimate shown, Holm for the family.
    p = [sign_flip_p(ratios) for ratios in pairs.values()]
    max_t = max_t_p(np.array(list(pairs.values())))
    assert all(len(ratios) == given["rounds"] for ratios in pairs.values())
    named = {
        "mean": [summary(ratios).mean for ratios in pairs.values()],
        "t_ci95": [student_interval(ratios, 0.95) for ratios in pairs.values()], "signflip_exact_p_mean_stat": p,
        "holm": adjust_p(p), "maxT_studentised_adjusted_p": max_t,
        "hodges_lehmann": [pseudomedian(ratios).estimate for ratios in pairs.values()],
        "percent": [100 * math.expm1(summary(ratios).mean) for ratios in pairs.values()],
    }  # fmt: skip
    return {key: dict(zip(pairs, values, strict=True)) for key, values in named.items()}


@answers("asymmetry_matrix", "paired-tost|")
def equivalence(given: dict[str, Any]) -> dict[str, Any]:
    margin = math.log1p(given["margin_pct"] / 100)
    by_name = {}
    for name, values in given["log_ratio"].items():
        n, mean, sd = summary(array(values))
        ends = {"p_lower": (-margin, math.inf), "p_upper": (-math.inf, margin), "p": (-margin, margin)}
        p = {side: tost(mean, sd / math.sqrt(n), n - 1, *limits) for side, limits in ends.items()}
        by_name[name] = {**p, "ci90": student_interval(array(values), 0.9), "equivalent": p["p"] < 0.05}
    return by_name


@answers("asymmetry_matrix", "min-attainable-p|")
def attainable(given: dict[str, Any]) -> dict[str, Any]:
    k = given["runs_per_direction"]
    return {"unpaired_two_sided": attainable_unpaired(k, k), "paired_two_sided": attainable_paired(k)}
