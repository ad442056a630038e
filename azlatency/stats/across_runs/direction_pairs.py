"""Comparison of both directions of each pair, and tests for the whole family of pairs.

Source: Westfall & Young 1993 (max-T).
"""

from __future__ import annotations

import math
from dataclasses import replace

from azlatency.stats import exact
from azlatency.stats.across_runs.comparison import Setting, compare, compare_rounds, with_run_ids
from azlatency.stats.across_runs.directions import DirectedValues, geometric_mean
from azlatency.stats.multiplicity import adjust, adjust_p
from azlatency.stats.result import Comparison, Verdict
from azlatency.studies.path import route


def compare_directions(i: str, j: str, cells: DirectedValues, base: Setting, codes: tuple[str, ...]) -> Comparison:
    """Compare i → j with j → i: by round if two rounds are known, else unpaired, else only the ratio."""
    import numpy as np

    setting = base._replace(what=f"{route(i, j)} over back", labels={**base.labels, "from": i, "to": j})
    forward, backward = cells.by_round[i, j], cells.by_round[j, i]
    common = [key for key in forward if key in backward]
    if len(common) >= 2:
        sides = [np.array([side[key] for key in common]) for side in (forward, backward)]
        comparison = compare_rounds(sides[0], sides[1], setting, {"rounds_alone": len(set(forward) ^ set(backward))})
    elif not forward and not backward and min(len(cells.all_values[i, j]), len(cells.all_values[j, i])) >= 2:
        comparison = compare(
            cells.all_values[i, j],
            cells.all_values[j, i],
            margin=base.margin,
            confidence=base.confidence,
            floor=base.floor,
            unit=base.unit,
            what=setting.what,
            labels=setting.labels,
            seed=base.seed,
        )
    elif common:
        comparison = _single(forward[common[0]], backward[common[0]], 1, setting)
    else:
        x, y = cells.all_values[i, j], cells.all_values[j, i]
        comparison = _single(geometric_mean(x), geometric_mean(y), min(len(x), len(y)), setting)
    used = common if len(common) >= 2 else common[:1] or None
    return with_run_ids(with_codes(comparison, codes), cells.run_ids([(i, j), (j, i)], used))


def _single(x: float, y: float, n: int, setting: Setting) -> Comparison:
    """Return the ratio of single runs, without a conclusion."""
    method, codes = "none: one run in each direction", ("no_replication",)
    ratio = setting.estimate(x / y, (None, None), unit="ratio", n=n, method=method, codes=codes)
    what = f"{setting.what}, difference"
    difference = setting.estimate(x - y, (None, None), unit=setting.unit, n=n, method=method, codes=codes, what=what)
    return setting.inconclusive(ratio, difference)


def with_codes(result: Comparison, codes: tuple[str, ...]) -> Comparison:
    """Return the comparison and its estimates with further codes in front."""

    def more(existing: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(dict.fromkeys((*codes, *existing)))

    difference = result.difference
    return replace(
        result,
        codes=more(result.codes),
        ratio=replace(result.ratio, codes=more(result.ratio.codes)),
        difference=None if difference is None else replace(difference, codes=more(difference.codes)),
    )


def adjust_family(
    pairs: list[tuple[tuple[str, str], Comparison]], cells: DirectedValues, setting: Setting
) -> tuple[Comparison, ...]:
    """Adjust the exact p by Holm and max-T; keep "different" only if t holds for the whole family."""
    separate = [result for _, result in pairs]
    by_t = adjust_p([_t_p(result) for result in separate])
    exact_p = _max_t([direction for direction, _ in pairs], cells, setting)
    comparisons = []
    for result, family_p, p_max_t in zip(adjust(separate, confidence=setting.confidence), by_t, exact_p, strict=True):
        verdict = result.verdict
        if family_p is None or family_p >= 1 - setting.confidence:
            verdict = _WITHOUT_DIFFERENCE.get(verdict, verdict)
        labels = {**result.labels, "p_max_t": p_max_t, "p_t_holm": family_p, "verdict_alone": result.verdict}
        comparisons.append(replace(result, verdict=verdict, labels=labels))
    return tuple(comparisons)


#: Verdicts without the difference, if it does not hold for the whole family.
_WITHOUT_DIFFERENCE: dict[str, Verdict] = {"different": "undetermined", "different_within_margin": "equivalent"}


def _t_p(result: Comparison) -> float | None:
    """Return the p-value of the t test that belongs to the interval of the ratio."""
    p = result.ratio.diagnostics.get("t_p")
    return None if p is None else float(p)


def _max_t(directions: list[tuple[str, str]], cells: DirectedValues, setting: Setting) -> list[float | None]:
    """Return the max-T p of each pair by joint flips of whole rounds; ``None`` if no data of this size can decide."""
    import numpy as np

    rounds = list(dict.fromkeys(key for rounds_of in cells.by_round.values() for key in rounds_of))
    if not directions or exact.attainable_paired(len(rounds)) > 1 - setting.confidence:
        return [None] * len(directions)
    d = np.full((len(directions), len(rounds)), np.nan)
    for row, (i, j) in enumerate(directions):
        forward, backward = cells.by_round[i, j], cells.by_round[j, i]
        for column, key in enumerate(rounds):
            if key in forward and key in backward:
                d[row, column] = math.log(forward[key]) - math.log(backward[key])
    p, _ = exact.max_t(d, seed=setting.seed)
    return [None if math.isnan(p_pair) else float(p_pair) for p_pair in p]
