"""Matrices between zones, rounds, triangles."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from azlatency.stats import exact
from azlatency.stats.across_runs.hodges_lehmann import pseudomedian
from azlatency.stats.across_runs.matrices import curl, decompose, hodge, triangles
from azlatency.stats.across_runs.two_groups import student_interval, summary, tost
from azlatency.stats.multiplicity import adjust_p
from helpers.enumeration import max_t_p, sign_flip_p
from helpers.oracle_answers import answers, array
from helpers.oracle_answers.times import Note


def _matrix(rows: Any) -> np.ndarray:
    return np.array([array(row) for row in rows])


@answers("asymmetry_matrix", "decomposition|")
def parts(given: dict[str, Any]) -> dict[str, Any]:
    m = _matrix(given["M"])
    found = decompose(m)
    squares = [float(np.nansum(each**2)) for each in (m, found.s, found.k)]
    assert math.isclose(squares[0], squares[1] + squares[2], rel_tol=1e-12)
    return {"S": found.s, "K": found.k, "asym_index": found.share, "identity": Note()}


@answers("asymmetry_matrix", "hodge|")
def nodes(given: dict[str, Any]) -> dict[str, Any]:
    k = _matrix(given["K"])
    found = hodge(k)
    return {
        "node_effect": found.node_effects, "gradient_part": found.gradient, "residual_cyclic": found.residual,
        "curl_z1z2z3": curl(k, 0, 1, 2), "share_explained_by_nodes": found.share,
    }  # fmt: skip


@answers("asymmetry_matrix", "triangle|")
def plain_triangles(given: dict[str, Any]) -> dict[str, Any]:
    s = np.full((3, 3), np.nan)
    for name, value in given["S"].items():
        i, j = (int(each) - 1 for each in name.replace("z", ""))
        s[i, j] = s[j, i] = value
    return {"triples": [
        {"i": f"z{each.i + 1}", "j": f"z{each.j + 1}", "via": f"z{each.via + 1}", "direct": each.direct,
         "detour": each.detour, "excess": each.excess, "ratio": each.ratio, "violated": each.excess > 0}
        for each in triangles(s)
    ]}  # fmt: skip


@answers("project_methods", "triangle-corrected|")
def corrected(given: dict[str, Any]) -> dict[str, Any]:
    s = _matrix(given["S"])
    found = {(each.i, each.j): each for each in triangles(s, np.diag(s))}
    return {
        "z1z2_via_z3": found[0, 1].excess, "z1z3_via_z2": found[0, 2].excess, "z2z3_via_z1": found[1, 2].excess,
        "ratio_z2z3": found[1, 2].ratio,
    }  # fmt: skip


@answers("asymmetry_matrix", "paired-rounds|", signflip_="p_abs", holm_="p_abs", maxT_="p_abs")
def rounds(given: dict[str, Any]) -> dict[str, Any]:
    pairs = {name: array(each) for name, each in given["log_ratio"].items()}
    # Flips of the mean and max-T are not offered: signed ranks are exact for the estimate shown, Holm for the family.
    p = [sign_flip_p(each) for each in pairs.values()]
    max_t = max_t_p(np.array(list(pairs.values())))
    assert all(len(each) == given["rounds"] for each in pairs.values())
    named = {
        "mean": [summary(each).mean for each in pairs.values()],
        "t_ci95": [student_interval(each, 0.95) for each in pairs.values()], "signflip_exact_p_mean_stat": p,
        "holm": adjust_p(p), "maxT_studentised_adjusted_p": max_t,
        "hodges_lehmann": [pseudomedian(each).estimate for each in pairs.values()],
        "percent": [100 * math.expm1(summary(each).mean) for each in pairs.values()],
    }  # fmt: skip
    return {key: dict(zip(pairs, values, strict=True)) for key, values in named.items()}


@answers("asymmetry_matrix", "paired-tost|")
def equivalence(given: dict[str, Any]) -> dict[str, Any]:
    margin = math.log1p(given["margin_pct"] / 100)
    found = {}
    for name, values in given["log_ratio"].items():
        n, mean, sd = summary(array(values))
        both = tost(mean, sd / math.sqrt(n), n - 1, -margin, margin)
        found[name] = {"p_lower": both.p_low, "p_upper": both.p_high, "p": both.p,
                       "ci90": student_interval(array(values), 0.9), "equivalent": both.p < 0.05}  # fmt: skip
    return found


@answers("asymmetry_matrix", "min-attainable-p|")
def attainable(given: dict[str, Any]) -> dict[str, Any]:
    k = given["runs_per_direction"]
    return {"unpaired_two_sided": exact.attainable_unpaired(k, k), "paired_two_sided": exact.attainable_paired(k)}
