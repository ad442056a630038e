"""What changed night after night, for the card of a study."""

from __future__ import annotations

from typing import TYPE_CHECKING

from azlatency.kit.cells import RunsRef
from azlatency.report.card import Linked, Sentence
from azlatency.stats.across_runs.run_history import VALUE_COLUMNS, history

if TYPE_CHECKING:
    from azlatency.studies.store.study import Study

#: Most series that are named.
_MOST = 2


def changed_levels(study: Study) -> Sentence:
    """Say when and by how much a level changed for the last times; empty if none did."""
    series = history(study)
    changed = [(one.changes[-1], one) for one in series if one.changes]
    changed.sort(key=lambda pair: (pair[0].time is not None, pair[0].time, pair[0].at), reverse=True)
    sentence: Sentence = ()
    for change, one in changed[:_MOST]:
        sentence += (
            f"{'; on' if sentence else 'Changed on'} {change.date}: {one.labels['path']}, {one.labels['metric']} ",
            Linked(
                change.size.partition(", 95")[0].removesuffix(")") + ")" * ("(" in change.size),
                RunsRef(one.run_ids, VALUE_COLUMNS[one.labels["metric"]]),
            ),
        )
    judged = sum(not one.refused for one in series)
    more = f" ({len(changed)} of {judged} series changed)" if len(changed) > _MOST else ""
    return (*sentence, f"{more}. ") if sentence else ()
