"""What changed night after night, for the card of a study."""

from __future__ import annotations

from typing import TYPE_CHECKING

from azlatency.kit.cells import RunsRef
from azlatency.kit.changes import date, difference
from azlatency.kit.sentences import Linked, Sentence
from azlatency.stats.across_runs.run_history import KEYS, VALUE_COLUMNS, history

if TYPE_CHECKING:
    from azlatency.studies.store.study import Study

#: Most series that are named.
_MOST = 2


def changed_levels(study: Study) -> Sentence:
    """Say when and by how much a level changed for the last times; empty if none did."""
    found = history(study)
    last = found.changes.drop_duplicates(KEYS, keep="last")
    last = last.sort_values(["date", "at"], ascending=False, kind="stable", na_position="last")
    sentence: Sentence = ()
    for row in last.head(_MOST).to_dict("records"):
        runs = RunsRef(tuple(row["run_ids"].split()), VALUE_COLUMNS[row["metric"]])
        start = f"{'; on' if sentence else 'Changed on'} {date(row)}: {row['path']}, {row['metric']} "
        sentence += (start, Linked(difference(row), runs))
    searched = found.series["level"].notna().sum()
    more = f" ({len(last)} of {searched} series changed)" if len(last) > _MOST else ""
    return (*sentence, f"{more}. ") if sentence else ()
