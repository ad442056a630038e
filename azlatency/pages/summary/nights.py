"""Which levels changed over time, for the card of a study."""

from __future__ import annotations

from typing import TYPE_CHECKING

from azlatency.kit.cells import RunsRef
from azlatency.kit.changes import changed, difference, last_of_each, on_the_way, when
from azlatency.kit.sentences import Linked, Sentence
from azlatency.kit.titles import capitalised
from azlatency.stats.across_runs.run_history import VALUE_COLUMNS
from azlatency.stats.across_runs.sightings import sightings

if TYPE_CHECKING:
    from azlatency.stats.across_runs.run_history import History

#: Most series that are named.
_MOST = 2


def changed_levels(found: History) -> Sentence:
    """Say which levels changed most, when and by how much; empty if none did."""
    seen = sightings(found)
    last = last_of_each(found)
    sentence: Sentence = ()
    moment = ""
    for row in last.head(_MOST).to_dict("records"):
        runs = RunsRef(tuple(row["run_ids"].split()), VALUE_COLUMNS[row["metric"]])
        start = f"; {when(row)}: " if sentence else f"{capitalised(changed(row))}: "
        start, moment = " and " if when(row) == moment else start, when(row)
        sentence += (f"{start}{row['path']}, {row['metric']} ", Linked(difference(row), runs))
        if steps := on_the_way(row, seen):
            sentence += (f", {steps}",)
    searched = found.series["level"].notna().sum()
    more = f" ({len(last)} of {searched} series changed)" if len(last) > _MOST else ""
    return (*sentence, f"{more}. ") if sentence else ()
