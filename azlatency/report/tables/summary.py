"""Tables of the summary of a study: what its author concluded, its zone maps, and what it cannot answer."""

from __future__ import annotations

from operator import attrgetter
from typing import TYPE_CHECKING, NamedTuple

from azlatency.kit.cells import Column, Ref, ReportedRef, RunsRef, Table
from azlatency.kit.objects import Note
from azlatency.report.answerable import Unanswered, unanswered
from azlatency.studies.conclusions import Conclusion
from azlatency.studies.conclusions import conclusions as stated_conclusions
from azlatency.studies.manifest.zones import zone_maps as maps_of

if TYPE_CHECKING:
    from azlatency.studies.store.study import Study


def conclusions(study: Study) -> Table[Conclusion] | Note:
    """Return what the author concluded, what the data say, and why."""
    stated = stated_conclusions(study)
    if not stated:
        return Note("The source of this study states no conclusion.")
    columns: list[Column[Conclusion]] = [
        Column("the author concluded", attrgetter("said")),
        Column("we say", attrgetter("we_say")),
        Column("because", attrgetter("because")),
    ]
    return Table("The author's conclusions, and what the data say", columns, stated, source=_origins)


def _origins(conclusion: Conclusion) -> list[Ref]:
    return [
        RunsRef((origin.run_id,), origin.metric if origin.q is None else "", q=origin.q)
        if origin.run_id
        else ReportedRef(origin.scenario, origin.metric, segment=bool(origin.segment))
        for origin in conclusion.origins
    ]


def missing(study: Study) -> Table[Unanswered] | Note:
    """Return the questions that the study cannot answer, and what to measure."""
    missing = [question for question in unanswered(study) if not question.elsewhere]
    if not missing:
        return Note("Every page of this report has something to say about this study.")
    columns: list[Column[Unanswered]] = [
        Column("question", attrgetter("question")),
        Column("measure", attrgetter("measure")),
    ]
    return Table("Not answerable with these data", columns, missing)


class _Zone(NamedTuple):
    region: str
    logical: str
    physical: tuple[str, ...]


def zone_maps(study: Study) -> Table[_Zone] | Note:
    """Return the physical zones of each logical zone, one column per subscription."""
    maps = maps_of(study)
    if not maps:
        return Note("No zone map: the physical zones behind the zone numbers are unknown.")
    subscriptions = sorted({str(subscription) for subscription, _, _ in maps})
    named = {(str(subscription), region, zone): physical for (subscription, region, zone), physical in maps.items()}
    rows = [
        _Zone(region, zone, tuple(named.get((subscription, region, zone), "") for subscription in subscriptions))
        for region, zone in sorted({key[1:] for key in maps})
    ]
    columns: list[Column[_Zone]] = [Column("logical zone", lambda row: f"{row.region}, zone {row.logical}")]
    columns += [
        Column(f"subscription {number + 1}", lambda row, number=number: row.physical[number])  # type: ignore[misc]
        for number in range(len(subscriptions))
    ]
    return Table("The same zone number means different places in different subscriptions", columns, rows)
