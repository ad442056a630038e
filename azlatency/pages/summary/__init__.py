"""What does a study show, on one page? Its author's conclusions, its zone maps, and what it cannot answer."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd

from azlatency.kit.cells import Ref, ReportedRef, RunsRef, Table
from azlatency.kit.objects import Note
from azlatency.kit.table import Row, table, text
from azlatency.pages.summary.answerable import unanswered
from azlatency.studies.conclusions import conclusions as stated_conclusions
from azlatency.studies.manifest.zones import zone_maps as maps_of

if TYPE_CHECKING:
    from azlatency.studies.conclusions import Conclusion
    from azlatency.studies.store.study import Study


def conclusions(study: Study) -> Table[Row] | Note:
    """Return what the author concluded, what the data say, and why."""
    stated = stated_conclusions(study)
    if not stated:
        return Note("The source of this study states no conclusion.")
    rows = [
        {
            "said": conclusion.said,
            "we_say": conclusion.we_say,
            "because": conclusion.because,
            "refs": _origins(conclusion),
        }
        for conclusion in stated
    ]
    columns = {"the author concluded": text("said"), "we say": text("we_say"), "because": text("because")}
    caption = "The author's conclusions, and what the data say"
    return table(pd.DataFrame(rows), caption, columns, source=lambda row: row["refs"])


def _origins(conclusion: Conclusion) -> list[Ref]:
    return [
        RunsRef((origin.run_id,), origin.metric if origin.q is None else "", q=origin.q)
        if origin.run_id
        else ReportedRef(origin.scenario, origin.metric, segment=bool(origin.segment))
        for origin in conclusion.origins
    ]


def zone_maps(study: Study) -> Table[Row] | Note:
    """Return the physical zones of each logical zone, one column per subscription."""
    maps = maps_of(study)
    if not maps:
        return Note("No zone map: the physical zones behind the zone numbers are unknown.")
    subscriptions = sorted({str(subscription) for subscription, _, _ in maps})
    physical = {(str(subscription), region, zone): place for (subscription, region, zone), place in maps.items()}
    rows = [
        {"zone": f"{region}, zone {zone}"} | {name: physical.get((name, region, zone), "") for name in subscriptions}
        for region, zone in sorted({key[1:] for key in maps})
    ]
    columns = {"logical zone": text("zone")}
    columns |= {f"subscription {number}": text(name) for number, name in enumerate(subscriptions, start=1)}
    return table(pd.DataFrame(rows), "The same zone number means different places in different subscriptions", columns)


def missing(study: Study) -> Table[Row] | Note:
    """Return the questions that the study cannot answer, and what to measure."""
    questions = [question._asdict() for question in unanswered(study) if not question.elsewhere]
    if not questions:
        return Note("Every page of this report has something to say about this study.")
    columns = {"question": text("question"), "measure": text("measure")}
    return table(pd.DataFrame(questions), "Not answerable with these data", columns)
