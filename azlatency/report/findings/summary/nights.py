"""What changed night after night, for the card of a study."""

from __future__ import annotations

from typing import TYPE_CHECKING

from azlatency.report.card import Linked, Sentence
from azlatency.report.table import RunsRef
from azlatency.stats.across_runs.run_history import VALUE_COLUMNS, history

if TYPE_CHECKING:
    from azlatency.studies.store.study import Study


def changed_levels(study: Study) -> Sentence:
    """Say when and by how much a level changed for the last time; empty if none did."""
    series = history(study)
    changed = [one for one in series if one.changes]
    if not changed:
        return ()
    last = max(changed, key=lambda one: (one.changes[-1].time is not None, one.changes[-1].time, one.changes[-1].at))
    change = last.changes[-1]
    more = f" ({len(changed)} of {sum(not one.refused for one in series)} series changed)" if len(changed) > 1 else ""
    ref = RunsRef(last.run_ids, VALUE_COLUMNS[last.labels["metric"]])
    return (
        f"Changed on {change.date}: {last.labels['path']}, {last.labels['metric']} ",
        Linked(change.size.partition(", 95")[0].removesuffix(")") + ")" * ("(" in change.size), ref),
        f"{more}. ",
    )
