"""The answer about several pairs of zones: which are far, and whether both directions agree."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from statistics import median
from typing import TypeVar

import pandas as pd

from azlatency.kit.cells import RunsRef
from azlatency.kit.differences import difference, interval_words
from azlatency.kit.sentences import Linked, Sentence, listed
from azlatency.kit.table import condition_ref
from azlatency.kit.titles import ALIKE, span
from azlatency.kit.words import at_most, in_drift
from azlatency.pages.summary.answer import (
    Data,
    axis_of,
    badge_of,
    decisive_paths,
    inference_of,
    next_rounds,
    prefix_of,
    range_of,
)
from azlatency.pages.summary.card import Answer, Dot, dot
from azlatency.stats.across_runs.main_method import rank_methods
from azlatency.stats.across_runs.path_differences import PathDifferences, differences_by_path, path_differences
from azlatency.stats.across_runs.placement import as_measured
from azlatency.stats.across_runs.zone_pairs import medians_by_path, zone_pairs
from azlatency.studies.format import format_value, plain
from azlatency.studies.runs.groups import grouped
from azlatency.studies.runs.path import NetworkPath

Pair = tuple[str, str]
_Item = TypeVar("_Item")
_ENDS = ["first", "second"]

#: A pair of zones is far if it takes this many times as long as the next nearer one.
_FAR = 2.0
#: Most pairs that a sentence lists, and most that a card draws.
_MOST_LISTED, _MOST_DRAWN = 10, 12
#: Most regions that a card draws, a row each.
_MOST_REGIONS = 20
#: Most paths on either side of a gap whose comparisons show that a zone is far.
_MOST_COMPARED = 3


def pairs_of_zones(data: Data) -> Answer | None:
    """Say whether the pairs of zones differ, which are far, and how well the two directions of a pair agree."""
    if data.levels.empty or data.levels["origin"].iloc[0] == "reported":
        return None
    method = rank_methods(as_measured(data.levels))[0]
    levels = data.levels[data.levels["method"] == method]
    pairs = zone_pairs(data.study, data.runs, levels)
    medians = {ends: list(group) for ends, group in grouped(medians_by_path(pairs), _ENDS)["value"]}
    across = {pair: values for pair, values in medians.items() if pair[0] != pair[1]}
    inside = {pair: values for pair, values in medians.items() if pair[0] == pair[1]}
    if len(across) < 2:
        return None
    column = str(levels["value"].iloc[0])
    origins = {ends: RunsRef(tuple(group), column) for ends, group in grouped(pairs, _ENDS)["run_ids"]}
    resolution = data.runs[f"{column}_resolution"].fillna(0.0)
    steps = {ends: float(resolution[list(group)].max()) for ends, group in grouped(pairs, _ENDS)["run_ids"]}
    between_zones = pairs[pairs["first"] != pairs["second"]]
    ends_of_paths = zip(between_zones["first"], between_zones["second"], strict=True)
    pair_of: dict[str, Pair] = dict(zip(between_zones["path"], ends_of_paths, strict=True))
    found = differences_by_path(
        data.runs[data.runs["path"].isin(pair_of.keys())],
        method,
        column,
        group_of={path: "–".join(pair) for path, pair in pair_of.items()},
    )
    like = prefix_of(levels)

    def between(*chosen: Pair) -> Linked:
        values = [value for pair in chosen for value in medians[pair]]
        step = max(steps[pair] for pair in chosen)
        return Linked(span(values, "ns", like=like, step=step), *(origins[pair] for pair in chosen))

    ordered = sorted(across, key=lambda pair: max(across[pair]))
    far = _far_zone(across)
    is_far = far is not None and _is_shown_to_be_far(far, pair_of, found)
    verdict = difference(found, "pairs", lambda path: origins[pair_of[path]])
    if data.window:
        verdict = (f"In {data.window}: ",)
    if far is not None and (is_far or found.verdict == "once"):
        zone, others, rest = far
        near: list[Sentence] = [(between(pair), f" between zones {pair[0]} and {pair[1]}") for pair in rest]
        within_one: list[Sentence] = [(between(pair), f" inside zone {pair[0]}") for pair in inside]
        if len(near) > _MOST_LISTED:
            near = [(between(*rest), " between the others")]
        if len(within_one) > _MOST_LISTED:
            within_one = [(between(*inside), " inside a zone")]
        near += within_one
        start: Sentence = (f"Zone {zone} is far. ", *verdict) if is_far else verdict
        text = (*start, between(*others), f" from zone {zone} to the other zones, ", *listed(near), ".")
    else:
        listing = listed((f"{pair[0]}–{pair[1]} ", between(pair)) for pair in ordered)
        text = (*verdict, *(_from_to(across, between) if len(ordered) > _MOST_LISTED else (*listing, ".")))
        text += _directions(between_zones, origins, steps, is_window=bool(data.window))
        if len(inside) > _MOST_LISTED:
            text += (" Inside a zone: ", between(*inside), ".")
        else:
            text += tuple(part for pair in inside for part in (f" Inside zone {pair[0]}: ", between(pair), "."))
    dots = [
        dot(
            "one host (never on the network)",
            range_of(level),
            "ns",
            condition_ref(level),
            near=True,
            like=like,
            step=level["resolution"],
        )
        for level in levels[levels["placement"] == "same_host"].to_dict("records")
    ]

    def row(label: str, chosen: Sequence[Pair], *, near: bool = False) -> Dot:
        values, refs = [value for pair in chosen for value in medians[pair]], [origins[pair] for pair in chosen]
        return dot(label, values, "ns", *refs, near=near, like=like, step=max(steps[pair] for pair in chosen))

    of_regions = _by_region(data.runs, pair_of) if len(ordered) > _MOST_DRAWN else {}
    if of_regions:
        dots += [row("inside a zone", list(inside), near=True)] if inside else []
        farthest = {name: max(max(across[pair]) for pair in chosen) for name, chosen in of_regions.items()}
        drawn_regions = _spread(sorted(farthest, key=farthest.__getitem__), _MOST_REGIONS)
        dots += [row(name, of_regions[name]) for name in drawn_regions]
        drawn_only = ", nearest to farthest pair of zones of each region"
    else:
        drawn_inside, drawn = _spread(sorted(inside, key=lambda pair: max(inside[pair]))), _spread(ordered)
        dots += [row(f"inside zone {pair[0]}", [pair], near=True) for pair in drawn_inside]
        regions = {*data.runs["region"], *data.runs["peer_region"]}
        names = {pair: f"{'' if {*pair} <= regions else 'zones '}{pair[0]} – {pair[1]}" for pair in drawn}
        dots += [row(names[pair], [pair]) for pair in drawn]
        every, shown = len(inside) + len(across), len(drawn_inside) + len(drawn)
        drawn_only = f", {shown} of {every:,} pairs" if shown < every else ""
    # Nobody who reads a published series can repeat it.
    again = "Measure your own pairs" if data.window else "Repeat every pair"
    return Answer(
        badge=badge_of(levels),
        answer=text,
        inference=inference_of(levels, data.runs, decisive_paths(found)),
        dots=tuple(dots),
        axis=axis_of(levels) + drawn_only,
        next_step=next_rounds(levels, len(across), again, ", both directions next to each other"),
    )


def _is_shown_to_be_far(
    far: tuple[str, list[Pair], list[Pair]], pair_of: Mapping[str, Pair], found: PathDifferences
) -> bool:
    """Return whether the nearest paths of a far zone are different from the farthest of the other paths."""
    _, others, rest = far
    beyond, within = ([path for path in pair_of if pair_of[path] in pairs] for pairs in (others, rest))
    compared = found.paths[found.paths["flags"] == ""]
    if not set(beyond + within) <= set(compared["path"]):
        return False
    nearest = compared[compared["path"].isin(beyond)].head(_MOST_COMPARED)
    farthest = compared[compared["path"].isin(within)].tail(_MOST_COMPARED)
    at_gap = found.pairs[found.pairs["large"].isin(nearest["path"]) & found.pairs["small"].isin(farthest["path"])]
    return len(at_gap) == len(nearest) * len(farthest) and bool((at_gap["verdict"] == "different").all())


def _directions(
    pairs: pd.DataFrame, origins: Mapping[Pair, RunsRef], steps: Mapping[Pair, float], *, is_window: bool
) -> Sentence:
    """Say whether the two directions of paths differ; of single runs, how far apart they were measured."""
    ways, one_way = [], 0
    for pair, of_pair in grouped(pairs, _ENDS):
        runs = {str(path): list(of_path) for path, of_path in grouped(of_pair, "path")["value"]}
        one_way += not any(str(NetworkPath.parse(path).reversed()) in runs for path in runs)
        for path, values in runs.items():
            back = str(NetworkPath.parse(path).reversed())
            if path < back and back in runs:
                ways.append((pair, {path: values, back: runs[back]}))
    if not ways:
        return ()
    refs = list(dict.fromkeys(origins[pair] for pair, _ in ways))
    medians = [(median(there), median(back)) for there, back in (both.values() for _, both in ways)]
    measured = Linked(at_most([there / back for there, back in medians]), *refs, bold=False)
    found = [path_differences(both, confidence=1 - 0.05 / len(ways)) for _, both in ways]
    compared = pd.concat([both.decisive for both in found])
    if len(compared) < len(ways):
        of_pairs = [(there, back, steps[pair]) for (pair, _), (there, back) in zip(ways, medians, strict=True)]
        once = "newest window only; the page on both directions compares all"
        which = f" of {'–'.join(ways[0][0])}" if len(ways) == 1 else f" of {len(ways):,} pairs"
        once = once if is_window else "one run each: not testable"
        return _measured_once(of_pairs, refs, once, which if one_way else "")
    different = compared[compared["verdict"] == "different"]
    if len(different):
        most = different.sort_values("ratio", ascending=False, kind="stable").head(1)
        (row,) = most.to_dict("records")
        number = Linked(f"{plain(row['ratio'])} times", *refs, bold=False)
        end = f" as long as its reverse{in_drift(most)} ({interval_words(row, len(ways))})."
        return f" {row['large']} takes ", number, end
    if all(both.verdict == "equivalent" for both in found):
        bound = Linked(at_most([*compared["inner_low"], *compared["inner_high"]]), *refs, bold=False)
        return " No difference between the directions (at most ", bound, ")."
    return " Cannot tell whether the directions differ (measured at most ", measured, " apart)."


def _measured_once(
    of_pairs: Sequence[tuple[float, float, float]], refs: Sequence[RunsRef], once: str, which: str
) -> Sentence:
    """Say how far the directions of pairs are apart; ``of_pairs``: both values of a pair, and the step of their print.

    ``which``: the pairs that were measured in both directions, if others were not.

    10 and 11 ms, printed in whole ms, are 10 % apart, and may be the same.
    """
    resolved = [there / back for there, back, step in of_pairs if abs(there - back) > step * (1 + 1e-9)]
    widest = max(step for *_, step in of_pairs)
    if not resolved and not widest:  # frequencies of whole values do not say how these were rounded
        return (f" Both directions{which} have the same value ({once}).",)
    precision = format_value(widest, "ns", digits=1)
    if not resolved:
        agreement = Linked(precision, *refs, bold=False)
        return f" Both directions{which} agree within ", agreement, f", the precision of the print ({once})."
    apart = at_most(resolved)
    is_all = apart == at_most([there / back for there, back, _ in of_pairs])
    left_out = "" if is_all else f", differences within the precision of the print ({precision}) left out"
    return (
        f" Both directions{which} were measured at most ",
        Linked(apart, *refs, bold=False),
        f" apart{left_out} ({once}).",
    )


def _from_to(across: Mapping[Pair, Sequence[float]], between: Callable[..., Linked]) -> Sentence:
    """Say the values of the nearest and of the farthest pairs, those within a tenth of the ends."""
    low, high = min(map(min, across.values())), max(map(max, across.values()))
    near = [pair for pair, values in across.items() if min(values) <= ALIKE * low]
    far = [pair for pair, values in across.items() if max(values) >= high / ALIKE]
    names = [f" ({'–'.join(pairs[0])})" if len(pairs) == 1 else f" ({len(pairs):,} pairs)" for pairs in (near, far)]
    return "from ", between(*near), names[0], " to ", between(*far), f"{names[1]}."


def _by_region(runs: pd.DataFrame, pair_of: Mapping[str, Pair]) -> dict[str, list[Pair]]:
    """Return the pairs of zones of each region; nothing unless all pairs lie within one of several regions."""
    ends = runs[runs["path"].isin(pair_of)].drop_duplicates("path")[["path", "region", "peer_region"]]
    if not (ends["region"].eq(ends["peer_region"]).all() and ends["region"].nunique() > 1):
        return {}
    found: dict[str, list[Pair]] = {}
    for path, region in zip(ends["path"], ends["region"], strict=True):
        found.setdefault(str(region), []).append(pair_of[str(path)])
    return {region: list(dict.fromkeys(pairs)) for region, pairs in found.items()}


def _spread(items: Sequence[_Item], most: int = _MOST_DRAWN) -> list[_Item]:
    """Select the rows that a card draws, from the nearest to the farthest."""
    if len(items) <= most:
        return list(items)
    return [items[round(place * (len(items) - 1) / (most - 1))] for place in range(most)]


def _far_zone(
    across: Mapping[Pair, Sequence[float]],
) -> tuple[str, list[Pair], list[Pair]] | None:
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
