"""Matrices between zones, rounds, triangles."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from azlatency.stats import exact
from azlatency.stats.across_runs.hodges_lehmann import pseudomedian
from azlatency.stats.across_runs.matrices import decompose, hodge, triangles
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
    result = decompose(m)
    squares = [float(np.nansum(matrix**2)) for matrix in (m, result.s, result.k)]
    assert math.isclose(squares[0], squares[1] + squares[2], rel_tol=1e-12)
    return {"S": result.s, "K": result.k, "asym_index": result.share, "identity": Note()}


@answers("asymmetry_matrix", "hodge|")
def nodes(given: dict[str, Any]) -> dict[str, Any]:
    k = _matrix(given["K"])
    result = hodge(k)
    return {
        "node_effect": result.node_effects, "gradient_part": result.gradient, "residual_cyclic": result.residual,
        "curl_z1z2z3": sum(result.residual[ends] for ends in ((0, 1), (1, 2), (2, 0))),
        "share_explained_by_nodes": result.share,
    }  # fmt: skip


@answers("asymmetry_matrix", "triangle|")
def plain_triangles(given: dict[str, Any]) -> dict[str, Any]:
    s = np.full((3, 3), np.nan)
    for name, value in given["S"].items():
        i, j = (int(triangle) - 1 for triangle in name.replace("z", ""))
        s[i, j] = s[j, i] = value
    return {"triples": [
        {"i": f"z{triangle.i + 1}", "j": f"z{triangle.j + 1}", "via": f"z{triangle.via + 1}", "direct": triangle.direct,
         "detour": triangle.detour, "excess": triangle.excess, "ratio": triangle.ratio, "violated": triangle.excess > 0}
        for triangle in triangles(s)
    ]}  # fmt: skip


@answers("project_methods", "triangle-corrected|")
def corrected(given: dict[str, Any]) -> dict[str, Any]:
    s = _matrix(given["S"])
    by_pair = {(triangle.i, triangle.j): triangle for triangle in triangles(s, np.diag(s))}
    return {
        "z1z2_via_z3": by_pair[0, 1].excess, "z1z3_via_z2": by_pair[0, 2].excess, "z2z3_via_z1": by_pair[1, 2].excess,
        "ratio_z2z3": by_pair[1, 2].ratio,
    }  # fmt: skip


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
        both = tost(mean, sd / math.sqrt(n), n - 1, -margin, margin)
        by_name[name] = {"p_lower": both.p_low, "p_upper": both.p_high, "p": both.p,
                       "ci90": student_interval(array(values), 0.9), "equivalent": both.p < 0.05}  # fmt: skip
    return by_name


@answers("asymmetry_matrix", "min-attainable-p|")
def attainable(given: dict[str, Any]) -> dict[str, Any]:
    k = given["runs_per_direction"]
    return {"unpaired_two_sided": exact.attainable_unpaired(k, k), "paired_two_sided": exact.attainable_paired(k)}
