"""The answer of connect times: how long it takes to open a connection."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import permutations
from typing import TYPE_CHECKING

from azlatency.kit.cells import FileRef, RunsRef
from azlatency.kit.sentences import Linked, Sentence, listed
from azlatency.kit.titles import span
from azlatency.pages.summary.answer import Data
from azlatency.pages.summary.card import Answer, dot
from azlatency.studies.format import one_prefix
from azlatency.studies.manifest.zones import zone_maps
from azlatency.studies.runs.run_table import run_table, whole_run_values

if TYPE_CHECKING:
    import pandas as pd

    from azlatency.studies.store.study import Study


def connect_times(data: Data) -> Answer | None:
    """Say how long it takes to open a connection; a connect time is not a round trip."""
    study = data.study
    least, mean = (whole_run_values(study.metrics, f"connect_{name}") for name in ("min", "mean"))
    table = run_table(study)
    table = table[table.index.isin(least.index)]
    if not len(table):
        return None
    paths = {path: list(map(str, group.index)) for path, group in table.groupby("path", sort=False)}
    like = one_prefix((*least.reindex(table.index).dropna(), *mean.reindex(table.index).dropna()), "ns")

    def times(values: pd.Series, metric: str, run_ids: list[str], *, bold: bool = True) -> Linked:
        return Linked(span(values.reindex(run_ids), "ns", like=like), RunsRef(tuple(run_ids), metric), bold=bold)

    return Answer(
        badge="indicative" if all(len(ids) == 1 for ids in paths.values()) else "incomplete",
        answer=(
            "Opening a TCP connection took at least ",
            *listed((times(least, "connect_min", ids), f" on {path}") for path, ids in paths.items()),
            " (means ",
            *listed((times(mean, "connect_mean", ids, bold=False),) for ids in paths.values()),
            f"){_shorter(paths, [least, mean])}.",
            *_differing_zone_maps(study),
        ),
        inference=(
            "A connect takes longer than a round trip of a payload, and few runs with slow outliers do not rank paths.",
        ),
        dots=tuple(
            dot(str(path), least.reindex(ids), "ns", RunsRef(tuple(ids), "connect_min"), like=like)
            for path, ids in paths.items()
        ),
        axis="fastest TCP connect of each run",
        next_step=(
            "Measure round trips (sockperf or qperf) between all pairs, in rounds, and keep the zone map of the "
            "subscription."
        ),
    )


def _shorter(paths: Mapping[str, list[str]], quantities: Sequence[pd.Series]) -> str:
    """Say of two paths whether each run of one was shorter than each of the other, which a few runs do not prove."""
    if len(paths) != 2:
        return ""
    for (near, ids), (_, others) in permutations(paths.items()):
        if all(values.reindex(ids).max() < values.reindex(others).min() for values in quantities):
            return f"; {near} was shorter in every run ({len(ids)} runs against {len(others)}: too few to test)"
    return "; neither path was shorter in every run"


def _differing_zone_maps(study: Study) -> Sentence:
    """Say that a zone number means different places in the subscriptions whose maps the study has."""
    maps = zone_maps(study)
    places: dict[str, set[str]] = {}
    for (_, _, zone), physical in maps.items():
        places.setdefault(zone, set()).add(physical)
    zone, names = max(places.items(), key=lambda item: len(item[1]), default=("", set()))
    if len(names) < 2:
        return ()
    *others, last = sorted(names)
    named = Linked(f"{', '.join(others)} or {last}", FileRef("study.toml", "zone_maps"))
    return f" Zone {zone} is ", named, ", depending on the subscription."
