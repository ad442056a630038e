"""The answer about several pairs of zones: which are far, and whether both directions agree."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from statistics import median
from typing import TypeVar

import pandas as pd

from azlatency.kit.cells import Row, RunsRef
from azlatency.kit.differences import difference, interval_words
from azlatency.kit.sentences import Linked, Sentence, listed, plain_sentence
from azlatency.kit.table import condition_ref
from azlatency.kit.titles import ALIKE, span
from azlatency.kit.words import at_most, in_drift
from azlatency.pages.summary.answer import (
    MOST_WITH_INTERVAL,
    Data,
    axis_of,
    badge_of,
    decisive_paths,
    in_brackets,
    inference_of,
    measured_once,
    next_rounds,
    not_compared,
    of_paths,
    one_of_several,
    prefix_of,
    range_of,
    values_of,
)
from azlatency.pages.summary.card import Answer, Dot, dot
from azlatency.stats.across_runs.main_method import as_measured, rank_methods
from azlatency.stats.across_runs.path_differences import PathDifferences, differences_by_path, path_differences
from azlatency.stats.across_runs.zone_pairs import medians_by_path, zone_pairs
from azlatency.studies.format import format_value, join_words, plain
from azlatency.studies.manifest.path_pattern import ZONE_ID
from azlatency.studies.runs.groups import grouped
from azlatency.studies.runs.path import NetworkPath

#: Two zones, and what else names their paths, such as a region; empty if that is the same of all.
Pair = tuple[str, str, str]
_Item = TypeVar("_Item")
_ENDS = ["first", "second", "within"]

#: Most regions or scenarios that a sentence names.
_FEW_PARTS = 3
#: A pair of zones is far if it takes this many times as long as the next nearer one.
_FAR = 2.0
#: Most pairs that a sentence lists, and most that a card draws.
_MOST_LISTED, _MOST_DRAWN = 10, 12
#: Most regions that a card draws, a row each.
_MOST_REGIONS = 20
#: Most paths on either side of a gap whose comparisons show that a zone is far.
_MOST_COMPARED = 3


@dataclass(frozen=True)
class _Pairs:
    """The pairs of zones of one method: medians of their paths, where these come from, and the steps of their print.

    ``medians``: of a path whose runs are not pooled, all runs. ``levels``: the conditions of the paths.
    ``like``: as in `span`, for all values.
    """

    medians: Mapping[Pair, Sequence[float]]
    origins: Mapping[Pair, RunsRef]
    steps: Mapping[Pair, float]
    levels: Mapping[Pair, Sequence[Row]]
    like: float | None

    @property
    def across(self) -> dict[Pair, Sequence[float]]:
        """The pairs of two zones, nearest first."""
        pairs = {pair: values for pair, values in self.medians.items() if pair[0] != pair[1]}
        return dict(sorted(pairs.items(), key=lambda item: max(item[1])))

    @property
    def inside(self) -> dict[Pair, Sequence[float]]:
        """The zones themselves."""
        return {pair: values for pair, values in self.medians.items() if pair[0] == pair[1]}

    def between(self, *chosen: Pair) -> Linked:
        """Return the range of some pairs."""
        values = [value for pair in chosen for value in self.medians[pair]]
        step = max(self.steps[pair] for pair in chosen)
        return Linked(span(values, "ns", like=self.like, step=step), *(self.origins[pair] for pair in chosen))

    def typical(self, pair: Pair) -> Sentence:
        """Return the typical run of a pair; of several paths the range of theirs, which `note` names."""
        if len(levels := self.levels[pair]) > 1:
            return (self.between(pair),)
        return values_of(levels[0], bold=True, like=self.like, short=len(self.across) > MOST_WITH_INTERVAL)

    def note(self, *chosen: Pair) -> str:
        """Name the range of some pairs."""
        levels = [level for pair in chosen for level in self.levels[pair]]
        return in_brackets(of_paths(levels), measured_once(levels, chain.from_iterable(self.levels.values())))

    def dot(self, label: str, *chosen: Pair, near: bool = False) -> Dot:
        """Return the row of a card that shows the range of some pairs."""
        values = [value for pair in chosen for value in self.medians[pair]]
        refs, step = [self.origins[pair] for pair in chosen], max(self.steps[pair] for pair in chosen)
        levels = [level for pair in chosen for level in self.levels[pair]]
        text = plain_sentence(values_of(levels[0], like=self.like, short=True)) if len(levels) == 1 else ""
        return dot(label, values, "ns", *refs, near=near, text=text, like=self.like, step=step)


def pairs_of_zones(data: Data) -> Answer | None:
    """Say whether the pairs of zones differ, which are far, and how well the two directions of a pair agree."""
    if data.levels.empty or data.levels["origin"].iloc[0] == "reported":
        return None
    method = rank_methods(as_measured(data.levels))[0]
    levels = data.levels[data.levels["method"] == method]
    runs_of_pairs = zone_pairs(data.study, data.runs, levels)
    between_zones = runs_of_pairs[runs_of_pairs["first"] != runs_of_pairs["second"]]
    pairs = _pairs(data, levels, runs_of_pairs)
    # Pairs of zones are compared with others of their region, and with nothing else.
    if max(Counter(within for *_, within in pairs.across).values(), default=0) < 2:
        return None
    ends_of_paths = zip(*(between_zones[name] for name in _ENDS), strict=True)
    pair_of: dict[str, Pair] = dict(zip(between_zones["path"], ends_of_paths, strict=True))
    found = differences_by_path(
        data.runs[data.runs["path"].isin(pair_of.keys())],
        method,
        str(levels["value"].iloc[0]),
        group_of={path: _name(pair) for path, pair in pair_of.items()},
        within={path: within for path, (*_, within) in pair_of.items()},
    )
    regions = {*data.runs["region"], *data.runs["peer_region"]}
    verdict = difference(found, _compared(found, pair_of, regions), lambda path: pairs.origins[pair_of[path]])
    if data.window:
        verdict = (f"In {data.window}: ",)
    text = _far_pairs(pairs, verdict, pair_of, found)
    if not text:
        notes = {pair: pairs.note(pair) for pair in pairs.across}
        # What holds for all pairs is said once.
        end = min(notes.values()) if len({*notes.values()}) == 1 else ""
        listing = listed((f"{_name(pair)} ", *pairs.typical(pair), "" if end else note) for pair, note in notes.items())
        is_long = len(pairs.across) > _MOST_LISTED
        text = (*verdict, *(_from_to(pairs.across, pairs.between) if is_long else (*listing, f"{end}.")))
        text += _directions(between_zones, pairs.origins, pairs.steps, is_window=bool(data.window))
        if len(pairs.inside) > _MOST_LISTED:
            text += (" Inside a zone: ", pairs.between(*pairs.inside), ".")
        else:
            text += tuple(
                part
                for pair in pairs.inside
                for part in (f" Inside {_zone(pair)}: ", *pairs.typical(pair), f"{pairs.note(pair)}.")
            )
    one = one_of_several(method, data.runs)
    text += (f" Method: {one}.",) if one else ()
    others = data.runs[~data.runs.index.isin(" ".join(levels["run_ids"]).split())]
    dots, drawn_only = _dots(data, levels, pairs)
    # Nobody who reads a published series can repeat it.
    is_logical = _has_logical_zones(data.runs) and not data.window
    own_names = (" Zone names hold within one account or subscription.",) if is_logical else ()
    again = "Measure your own pairs" if data.window else "Repeat every pair"
    return Answer(
        badge=badge_of(levels),
        answer=text,
        inference=(
            *inference_of(levels, data.runs, decisive_paths(found)),
            *own_names,
            *_between_scenarios(data.runs, {within for *_, within in pair_of.values()}),
            *(() if data.window else not_compared(others)),
        ),
        dots=tuple(dots),
        axis=axis_of(levels, one) + drawn_only,
        next_step=next_rounds(data, levels, len(pairs.across), again, ", both directions next to each other"),
    )


def _between_scenarios(runs: pd.DataFrame, names: Collection[str]) -> Sentence:
    """Say how to compare scenarios with each other, whose pairs are compared apart."""
    if len(names) < 2 or len(names) > _FEW_PARTS or not {*names} <= {*runs["scenario"].dropna()}:
        return ()
    return (f" To compare {join_words(sorted(names))}: azlatency compare --across scenario.",)


def _has_logical_zones(runs: pd.DataFrame) -> bool:
    """Return whether a zone is a name, which may be another place in another account, and its place is not known."""
    names = pd.concat([runs.loc[runs[f"{end}physical_zone"].isna(), f"{end}zone"] for end in ("", "peer_")]).dropna()
    return not names.str.fullmatch(ZONE_ID).all()


def _name(pair: Pair) -> str:
    first, second, within = pair
    return f"{within} {first}–{second}".lstrip()


def _zone(pair: Pair) -> str:
    """Name the zone of a pair within it."""
    return f"{pair[2]} zone {pair[0]}".lstrip()


def _compared(found: PathDifferences, pair_of: Mapping[str, Pair], regions: Collection[str]) -> str:
    """Name the pairs that a statement is about: of several regions or scenarios those of the one that decides."""
    names = {within for *_, within in pair_of.values()}
    if len(names) == 1 or found.decisive.empty:
        return "pairs"
    alike = found.pairs[found.pairs["verdict"] == found.decisive["verdict"].item()]
    within = sorted({pair_of[path][2] for path in alike["large"]})
    kind = "regions" if names <= {*regions} else "scenarios"
    if len(within) == 1 or (found.verdict == "different" and len(within) <= _FEW_PARTS):
        return f"pairs within {join_words(name or 'the others' for name in within)}"
    if found.verdict == "different":
        return f"pairs within {len(within)} of {len(names)} {kind}"
    return f"pairs within any of {len(within)} {kind}"


def _pairs(data: Data, levels: pd.DataFrame, runs_of_pairs: pd.DataFrame) -> _Pairs:
    column = str(levels["value"].iloc[0])
    resolution = data.runs[f"{column}_resolution"].fillna(0.0)
    run_ids = {ends: list(group) for ends, group in grouped(runs_of_pairs, _ENDS)["run_ids"]}
    # Runs that are not pooled have no middle.
    is_apart = runs_of_pairs["path"].isin(levels.loc[levels["estimate"].isna(), "path"])
    parts = [medians_by_path(runs_of_pairs[~is_apart]), runs_of_pairs[is_apart]]
    ends_of_paths = runs_of_pairs.drop_duplicates("path").set_index("path")[_ENDS]
    values = pd.concat([part[["path", "value"]] for part in parts]).join(ends_of_paths, on="path")
    rows: dict[Pair, list[Row]] = {}
    for level in levels[levels["path"].isin(ends_of_paths.index)].to_dict("records"):
        rows.setdefault(tuple(ends_of_paths.loc[level["path"]]), []).append(level)
    return _Pairs(
        levels=rows,
        medians={ends: list(group) for ends, group in grouped(values, _ENDS)["value"]},
        origins={ends: RunsRef(tuple(ids), column) for ends, ids in run_ids.items()},
        steps={ends: float(resolution[ids].max()) for ends, ids in run_ids.items()},
        like=prefix_of(levels),
    )


def _far_pairs(pairs: _Pairs, verdict: Sentence, pair_of: Mapping[str, Pair], found: PathDifferences) -> Sentence:
    """Say that one zone is far from the others, if the runs show it or are single ones; else nothing."""
    is_one = len({within for *_, within in pairs.medians}) == 1
    far = _far_zone(pairs.across) if is_one else None
    is_far = far is not None and _is_shown_to_be_far(far, pair_of, found)
    if far is None or not (is_far or found.verdict == "once"):
        return ()
    zone, others, rest = far
    near: list[Sentence] = [
        (*pairs.typical(pair), f"{pairs.note(pair)} between zones {pair[0]} and {pair[1]}") for pair in rest
    ]
    within_one: list[Sentence] = [
        (*pairs.typical(pair), f"{pairs.note(pair)} inside zone {pair[0]}") for pair in pairs.inside
    ]
    if len(near) > _MOST_LISTED:
        near = [(pairs.between(*rest), " between the others")]
    if len(within_one) > _MOST_LISTED:
        within_one = [(pairs.between(*pairs.inside), " inside a zone")]
    start: Sentence = (f"Zone {zone} is far. ", *verdict) if is_far else verdict
    far_ones: Sentence = (pairs.between(*others), f"{pairs.note(*others)} from zone {zone} to the other zones, ")
    return *start, *far_ones, *listed(near + within_one), "."


def _dots(data: Data, levels: pd.DataFrame, pairs: _Pairs) -> tuple[list[Dot], str]:
    """Return the rows of the card, of many pairs one for each region, and what its axis says of those left out."""
    dots = [
        dot(
            "one host (never on the network)",
            range_of(level),
            "ns",
            condition_ref(level),
            near=True,
            like=pairs.like,
            step=level["resolution"],
        )
        for level in levels[levels["placement"] == "same_host"].to_dict("records")
    ]
    of_regions = _by_region(pairs.across) if len(pairs.across) > _MOST_DRAWN else {}
    if of_regions:
        dots += [pairs.dot("inside a zone", *pairs.inside, near=True)] if pairs.inside else []
        farthest = {name: max(max(pairs.across[pair]) for pair in chosen) for name, chosen in of_regions.items()}
        drawn_regions = _spread(sorted(farthest, key=farthest.__getitem__), _MOST_REGIONS)
        dots += [pairs.dot(name, *of_regions[name]) for name in drawn_regions]
        return dots, ", nearest to farthest pair of zones of each region"
    inside = _spread(sorted(pairs.inside, key=lambda pair: max(pairs.inside[pair])))
    across = _spread(list(pairs.across))
    dots += [pairs.dot(f"inside {_zone(pair)}", pair, near=True) for pair in inside]
    regions = {*data.runs["region"], *data.runs["peer_region"]}
    names = {pair: f"{'' if {*pair[:2]} <= regions else 'zones '}{pair[0]} – {pair[1]}" for pair in across}
    names |= {pair: f"{pair[2]} {pair[0]} – {pair[1]}" for pair in across if pair[2]}
    dots += [pairs.dot(names[pair], pair) for pair in across]
    every, shown = len(pairs.medians), len(inside) + len(across)
    return dots, f", {shown} of {plain(every)} pairs" if shown < every else ""


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
        which = f" of {_name(ways[0][0])}" if len(ways) == 1 else f" of {plain(len(ways))} pairs"
        once = once if is_window else f"{refs[0].value.removesuffix('_ns')}s of one run each: not testable"
        return _measured_once(of_pairs, refs, once, which if one_way else "")
    different = compared[compared["verdict"] == "different"]
    if len(different):
        most = different.sort_values("ratio", ascending=False, kind="stable").head(1)
        (row,) = most.to_dict("records")
        number = Linked(f"{plain(row['ratio'])} times", *refs, bold=False)
        # A round trip crosses both directions.
        why = "a difference between the initiating hosts"
        end = f" as long as its reverse{in_drift(most)} ({interval_words(row, len(ways))}; {why})."
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
    widest = max(abs(there - back) for there, back, _ in of_pairs)
    if not widest:
        return (f" Both directions{which} have the same value ({once}).",)
    if not resolved:  # the step is an upper bound, so this is no proof that they agree
        distance = Linked(format_value(widest, "ns", digits=1), *refs, bold=False)
        return f" Both directions{which} differ by at most ", distance, f" as printed ({once})."
    precision = format_value(max(step for *_, step in of_pairs), "ns", digits=1)
    apart = at_most(resolved)
    is_all = apart == at_most([there / back for there, back, _ in of_pairs])
    left_out = "" if is_all else f", leaving out pairs within the printed {precision}"
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
    if near == far:
        return between(*near), f" ({plain(len(near))} pairs)."
    names = [f" ({_name(pairs[0])})" if len(pairs) == 1 else f" ({plain(len(pairs))} pairs)" for pairs in (near, far)]
    return "from ", between(*near), names[0], " to ", between(*far), f"{names[1]}."


def _by_region(across: Iterable[Pair]) -> dict[str, list[Pair]]:
    """Return the pairs of zones of each region or scenario; nothing unless all lie within one of several."""
    found: dict[str, list[Pair]] = {}
    for pair in across:
        found.setdefault(pair[2], []).append(pair)
    return found if len(found) > 1 and "" not in found else {}


def _spread(items: Sequence[_Item], most: int = _MOST_DRAWN) -> list[_Item]:
    """Select the rows that a card draws, from the nearest to the farthest."""
    if len(items) <= most:
        return list(items)
    return [items[round(place * (len(items) - 1) / (most - 1))] for place in range(most)]


def _far_zone(across: Mapping[Pair, Sequence[float]]) -> tuple[str, list[Pair], list[Pair]] | None:
    """Return the zone that all far pairs share, these pairs, and the near pairs; None if no zone is far."""
    ordered = sorted(across, key=lambda pair: max(across[pair]))
    for cut in range(1, len(ordered)):
        near, far = ordered[:cut], ordered[cut:]
        if min(across[far[0]]) < _FAR * max(across[near[-1]]):
            continue
        shared = set(far[0]).intersection(*map(set, far)) - {zone for pair in near for zone in pair}
        # Of one pair, nobody knows which of its zones is far from the others.
        if len(shared) == 1 and len(far) > 1:
            return shared.pop(), far, near
    return None
