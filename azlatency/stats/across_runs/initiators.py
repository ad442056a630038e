"""What initiators add to round trips, detours between zones, and the ranking of pairs."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import replace
from itertools import combinations, permutations
from typing import TYPE_CHECKING

from azlatency.stats.across_runs.comparison import Setting
from azlatency.stats.across_runs.directions import DirectedValues, geometric_mean, zone_node
from azlatency.stats.across_runs.matrices import decompose, hodge, triangles
from azlatency.stats.across_runs.ranking import RankSet, rank_sets
from azlatency.stats.across_runs.two_groups import student_interval
from azlatency.stats.multiplicity import adjust_p
from azlatency.stats.result import Estimate
from azlatency.studies.runs.path import route

if TYPE_CHECKING:
    from azlatency.stats.arrays import FloatArray

#: Most pairs of zones that are ranked.
MOST_RANKED = 100


def _both(directions: list[tuple[str, str]]) -> list[tuple[str, str]]:
    return [*directions, *((j, i) for i, j in directions)]


def _complete(cells: DirectedValues, directions: list[tuple[str, str]]) -> list[Hashable]:
    """Return the rounds in which all directions were measured."""
    if not directions:
        return []
    return [
        key
        for key in cells.by_round[directions[0]]
        if all(key in cells.by_round[direction] for direction in directions)
    ]


def _matrix(
    cells: DirectedValues, directions: list[tuple[str, str]], nodes: list[str], round_: Hashable | None
) -> FloatArray:
    """Return the matrix of one round, or of typical values if ``round_`` is None."""
    import numpy as np

    m = np.full((len(nodes), len(nodes)), np.nan)
    for i, j in directions:
        value = geometric_mean(cells.all_values[i, j]) if round_ is None else cells.by_round[i, j][round_]
        m[nodes.index(i), nodes.index(j)] = value
    return m


def initiator_effects(
    cells: DirectedValues, directions: list[tuple[str, str]], setting: Setting
) -> tuple[tuple[Estimate, ...], tuple[Estimate, ...], float | None]:
    """Return node effects and curls with Student's t over complete rounds.

    The costs of hosts add up, so the values are not on the log scale.
    """
    import numpy as np

    if not directions:
        return (), (), None
    nodes = [node for node in cells.nodes if any(node in direction for direction in directions)]
    rounds = _complete(cells, _both(directions))
    ks = [decompose(_matrix(cells, _both(directions), nodes, key)).k for key in (rounds or [None])]
    per_round = np.array([hodge(k).node_effects for k in ks])
    setting = setting._replace(run_ids=cells.run_ids(_both(directions), rounds or None))
    effects = tuple(
        _over_rounds(
            f"initiator {node}",
            per_round[:, at],
            bool(rounds),
            setting,
            "least squares on the graph of zones",
            cells.resolution / 2,
        )
        for at, node in enumerate(nodes)
    )
    curls = []
    for trio in combinations(range(len(nodes)), 3):
        around = np.array([k[trio[0], trio[1]] + k[trio[1], trio[2]] + k[trio[2], trio[0]] for k in ks])
        if np.isfinite(around).all():
            name = route(*(nodes[at] for at in (*trio, trio[0])))
            used = setting._replace(run_ids=cells.run_ids(permutations([nodes[at] for at in trio], 2), rounds or None))
            curls.append(
                _over_rounds(
                    f"around {name}", around, bool(rounds), used, "sum of K around a triangle", 3 * cells.resolution / 2
                )
            )
    return effects, tuple(curls), hodge(np.mean(ks, axis=0)).share


def _over_rounds(
    what: str, values: FloatArray, replicated: bool, setting: Setting, method: str, step: float
) -> Estimate:
    """Return the mean over rounds with Student's t interval; ``step``: what the rounding of the print adds at most."""
    interval = student_interval(values, setting.confidence)
    if interval is not None:
        interval = interval[0] - step, interval[1] + step
    codes = ["initiator_only"]
    if interval is None:
        codes.append("constant" if replicated and len(values) > 1 else "no_replication")
    elif len(values) == 2:
        codes.append("two_runs")
    method = f"{method}; Student t over rounds"
    return setting.estimate(
        float(values.mean()),
        interval or (None, None),
        unit=setting.unit,
        n=len(values),
        method=method,
        codes=codes,
        what=what,
    )


def triangle_excesses(
    cells: DirectedValues, directions: list[tuple[str, str]], zones: Mapping[str, str], setting: Setting
) -> tuple[Estimate, ...]:
    """Return the corrected triangle excess over rounds.

    A triangle is violated if the one-sided lower bound is above 0, with Holm over all triangles.
    """
    import numpy as np
    from scipy.stats import t as student

    nodes = [node for node in cells.nodes if any(node in direction for direction in directions)]
    rounds = _complete(cells, directions)
    within_zone, source = _within_zone(cells, nodes, zones)
    excesses: dict[tuple[int, int, int], list[tuple[float, float]]] = {}
    for key in rounds or [None]:
        m = _matrix(cells, directions, nodes, key)
        # A round trip crosses both directions: if one initiator is missing, use the value of the other.
        m = np.where(np.isfinite(m), m, m.T)
        for triple in triangles(decompose(m).s, within_zone):
            excesses.setdefault((triple.i, triple.j, triple.via), []).append((triple.excess, triple.ratio))
    estimates, p = [], []
    for (i, j, via), values in excesses.items():
        excess = np.array([difference for difference, _ in values])
        what = f"{nodes[i]} - {nodes[j]} against the detour over {nodes[via]}"
        used = cells.run_ids(permutations((nodes[i], nodes[j], nodes[via]), 2), rounds or None)
        estimate = _over_rounds(
            what,
            excess,
            bool(rounds),
            setting._replace(run_ids=used),
            f"S_ij - (S_ik + S_kj - S_kk), S_kk {source}",
            2 * cells.resolution,
        )
        p.append(
            None
            if estimate.low is None
            else float(
                student.sf(
                    (excess.mean() - 2 * cells.resolution) / (excess.std(ddof=1) / len(excess) ** 0.5), len(excess) - 1
                )
            )
        )
        ratio = geometric_mean(quotient for _, quotient in values)
        estimates.append(
            replace(
                estimate,
                codes=tuple(code for code in estimate.codes if code != "initiator_only"),
                diagnostics={"ratio": ratio, "own_zone": source},
            )
        )
    return tuple(
        replace(
            estimate,
            diagnostics={
                **estimate.diagnostics,
                "violated": bool(adjusted is not None and adjusted < 1 - setting.confidence),
                **({} if adjusted is None else {"p_holm": adjusted}),
            },
        )
        for estimate, adjusted in zip(estimates, adjust_p(p), strict=True)
    )


def _within_zone(cells: DirectedValues, nodes: list[str], zones: Mapping[str, str]) -> tuple[FloatArray, str]:
    """Return S_kk of each node (the round trip within its zone, else of another zone, else 0) and its source."""
    import numpy as np

    within: dict[str, list[float]] = {}
    for (start, end), values in cells.all_values.items():
        # The path of a host to itself never leaves the host; the path of a zone to itself ("zone 1 → zone 1") does.
        zone = zones.get(start)
        if zone is not None and zone == zones.get(end) and (start != end or start == zone_node(zone)):
            within.setdefault(zone, []).append(geometric_mean(values))
    if not within:
        return np.zeros(len(nodes)), "not known: taken as 0, which favours no violation"
    measured = {zone: geometric_mean(values) for zone, values in within.items()}
    typical = geometric_mean(measured.values())
    within_zone = np.array([measured.get(zones.get(node, ""), typical) for node in nodes])
    missing = [node for node in nodes if zones.get(node, "") not in measured]
    return within_zone, "measured" if not missing else f"of zone {', '.join(measured)} for {', '.join(missing)}, too"


def rank_pairs(cells: DirectedValues, directions: list[tuple[str, str]], setting: Setting) -> tuple[RankSet, ...]:
    """Rank pairs by the mean of both directions in common rounds, or by the only direction.

    More than `MOST_RANKED` pairs are not ranked: each is compared with each other, for ranks that nobody reads.
    """
    groups: dict[str, Mapping[Hashable, float] | list[float]] = {}
    run_ids: dict[str, tuple[str, ...]] = {}
    for i, j in directions:
        if f"{j} - {i}" in groups:
            continue
        forward = cells.by_round[i, j]
        backward = cells.by_round.get((j, i), forward)
        common = {key: (forward[key] + backward[key]) / 2 for key in forward if key in backward}
        name = f"{i} - {j}"
        groups[name] = common or [*cells.all_values[i, j], *cells.all_values.get((j, i), ())]
        run_ids[name] = cells.run_ids([(i, j), (j, i)], common or None)
    if len(groups) > MOST_RANKED:
        return ()
    ranks = rank_sets(groups, unit=setting.unit, confidence=setting.confidence, resolution=cells.resolution)
    return tuple(
        replace(rank, run_ids=run_ids[rank.what], level=replace(rank.level, run_ids=run_ids[rank.what]))
        for rank in ranks
    )
