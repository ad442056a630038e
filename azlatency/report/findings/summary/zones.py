"""The answer about several pairs of zones: which are far, and whether both directions agree."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from azlatency.report.card import ALIKE, Linked, Sentence, dot, listed, span
from azlatency.report.findings.summary.answer import Answer, Data, axis_of, badge_of, inference_of, prefix_of
from azlatency.report.table import RunsRef
from azlatency.report.tables.common import condition_ref
from azlatency.stats.across_runs.attainable import rounds_needed
from azlatency.stats.across_runs.zone_pairs import ZonePair, zone_pairs
from azlatency.studies.runs.path import NetworkPath

Pair = tuple[str, str]

#: A pair of zones is far if it takes this many times as long as the next nearer one.
_FAR = 2.0
#: Most pairs that a sentence lists, and most that a card draws.
_MOST_LISTED, _MOST_DRAWN = 10, 12


def pairs_of_zones(data: Data) -> Answer | None:
    """Say which pairs of zones are far, and how well the two directions of a pair agree."""
    if not data.levels or data.levels[0].origin == "reported":
        return None
    pairs = zone_pairs(data.study, data.runs, data.levels)
    across = {(pair.first, pair.second): pair.typical for pair in pairs if not pair.inside}
    inside = {(pair.first, pair.second): pair.typical for pair in pairs if pair.inside}
    if len(across) < 2:
        return None
    origins = {(pair.first, pair.second): RunsRef(pair.run_ids, f"{data.levels[0].statistic}_ns") for pair in pairs}
    like = prefix_of(data.levels)

    def between(*chosen: tuple[str, str]) -> Linked:
        values = [value for pair in chosen for value in (across | inside)[pair]]
        return Linked(span(values, "ns", like=like), *(origins[pair] for pair in chosen))

    ordered = sorted(across, key=lambda pair: max(across[pair]))
    far = _far_zone(across)
    if far is not None:
        zone, others, rest = far
        near: list[Sentence] = [(between(pair), f" between zones {pair[0]} and {pair[1]}") for pair in rest]
        within_one: list[Sentence] = [(between(pair), f" inside zone {pair[0]}") for pair in inside]
        if len(near) > _MOST_LISTED:
            near = [(between(*rest), " between the others")]
        if len(within_one) > _MOST_LISTED:
            within_one = [(between(*inside), " inside a zone")]
        near += within_one
        text: Sentence = (
            f"Zone {zone} is far: ",
            between(*others),
            " to the other zones, against ",
            *listed(near),
            ".",
        )
    else:
        ends = ordered[-1], ordered[0]
        factor = max(across[ends[0]]) / min(across[ends[1]])
        many = len(ordered) > _MOST_LISTED
        start = f"{len(ordered):,} pairs differ up to " if many else "The pairs differ up to "
        text = (start, Linked(f"{factor:.1f}×", *(origins[pair] for pair in ends)), ": ")
        if many:
            text += _from_to(across, between)
        else:
            text += (*listed((f"{pair[0]}–{pair[1]} ", between(pair)) for pair in ordered), ".")
        text += _directions([pair for pair in pairs if not pair.inside], origins)
        if len(inside) > _MOST_LISTED:
            text += (" Inside a zone: ", between(*inside), ".")
        else:
            text += tuple(part for pair in inside for part in (f" Inside {pair[0]}: ", between(pair), "."))
    local = [level for level in data.levels if level.placement == "same_host"]
    dots = [
        dot("one host (never on the network)", level.values, "ns", condition_ref(level), near=True, like=like)
        for level in local
    ]
    drawn_inside, drawn = _spread(sorted(inside, key=lambda pair: max(inside[pair]))), _spread(ordered)
    dots += [
        dot(f"inside zone {pair[0]}", inside[pair], "ns", origins[pair], near=True, like=like) for pair in drawn_inside
    ]
    dots += [dot(f"zones {pair[0]} – {pair[1]}", across[pair], "ns", origins[pair], like=like) for pair in drawn]
    every, shown = len(inside) + len(across), len(drawn_inside) + len(drawn)
    return Answer(
        badge=badge_of(data.levels),
        answer=text,
        inference=inference_of(data.levels, data.runs),
        dots=tuple(dots),
        axis=axis_of(data.levels) + (f", {shown} of {every:,} pairs" if shown < every else ""),
        next_step=(
            f"Repeat every pair in at least {rounds_needed(len(across))} rounds, both directions next to each other."
        ),
    )


def _directions(pairs: Sequence[ZonePair], origins: dict[Pair, RunsRef]) -> Sentence:
    """Say by how much the two directions of a path differ at most; of single runs, that this is no test."""
    gaps: dict[Pair, float] = {}
    for pair in pairs:
        typical = dict(zip(pair.paths, pair.typical, strict=True))
        back = {path: str(NetworkPath.parse(path).reversed()) for path in typical}
        both = [abs(math.log(typical[path] / typical[back[path]])) for path in typical if back[path] in typical]
        if both:
            gaps[pair.first, pair.second] = max(both)
    if not gaps:
        return ()
    most = Linked(f"{100 * math.expm1(max(gaps.values())):.2g} %", *(origins[ends] for ends in gaps), bold=False)
    is_single = all(len(pair.values) == len(pair.paths) for pair in pairs)
    return " Both directions differ by at most ", most, " (one run each: not testable)." if is_single else "."


def _from_to(across: dict[Pair, tuple[float, ...]], between: Callable[..., Linked]) -> Sentence:
    """Say the values of the nearest and of the farthest pairs, those within a tenth of the ends."""
    low, high = min(map(min, across.values())), max(map(max, across.values()))
    near = [pair for pair, values in across.items() if min(values) <= ALIKE * low]
    far = [pair for pair, values in across.items() if max(values) >= high / ALIKE]
    names = [f" ({'–'.join(pairs[0])})" if len(pairs) == 1 else f" ({len(pairs):,} pairs)" for pairs in (near, far)]
    return "from ", between(*near), names[0], " to ", between(*far), f"{names[1]}."


def _spread(pairs: Sequence[Pair]) -> list[Pair]:
    """Select the pairs that a card draws, from the nearest to the farthest."""
    if len(pairs) <= _MOST_DRAWN:
        return list(pairs)
    return [pairs[round(place * (len(pairs) - 1) / (_MOST_DRAWN - 1))] for place in range(_MOST_DRAWN)]


def _far_zone(
    across: dict[tuple[str, str], tuple[float, ...]],
) -> tuple[str, list[tuple[str, str]], list[tuple[str, str]]] | None:
    """Return the zone that all far pairs share, these pairs, and the near pairs; None if no zone is far."""
    ordered = sorted(across, key=lambda pair: max(across[pair]))
    for cut in range(1, len(ordered)):
        near, far = ordered[:cut], ordered[cut:]
        if min(across[far[0]]) < _FAR * max(across[near[-1]]):
            continue
        shared = set(far[0]).intersection(*map(set, far)) - {zone for pair in near for zone in pair}
        if len(shared) == 1:
            return shared.pop(), far, near
    return None
