"""The table of the page "Where to begin"."""

from __future__ import annotations

from collections.abc import Sequence
from operator import attrgetter
from typing import TYPE_CHECKING

from azlatency.kit.cells import Column, Table, text
from azlatency.kit.objects import Note
from azlatency.report.tables.common import COUNT
from azlatency.studies.store.study import load

if TYPE_CHECKING:
    from azlatency.studies.store.study import Study


def studies(names: Sequence[str]) -> Table[Study] | Note:
    """Return the imported studies among ``names``: their questions, places, and runs."""
    if not names:
        return Note("No study is imported yet. Run: azlatency import --all")
    columns: list[Column[Study]] = [
        Column("study", attrgetter("name")),
        Column("question", lambda study: study.info.get("question")),
        Column("where", _region),
        Column("runs", lambda study: len(study.runs), COUNT),
        Column("tools", lambda study: ", ".join(sorted(set(study.runs["tool"]))) or "–"),
    ]
    notes = [
        "A study with 0 runs has numbers from a text or a specification. Cite them as published; no test is possible."
    ]
    return Table("The studies", columns, [load(name) for name in names], notes)


def _region(study: Study) -> str:
    return "emulated lab" if study.info.get("emulated") else text(study.info.get("region")) or "not said"
