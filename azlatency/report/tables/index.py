"""The table of the first page."""

from __future__ import annotations

from collections.abc import Sequence

from azlatency.report.objects import Note, Table
from azlatency.report.tables.common import text, whole
from azlatency.studies.store import load


def studies(names: Sequence[str]) -> Table | Note:
    """The imported studies among ``names``: what they ask, what they hold."""
    rows = []
    for name in names:
        study = load(name)
        tools = ", ".join(sorted(set(study.runs["tool"]))) or "–"
        where = "emulated lab" if study.info.get("emulated") else text(study.info.get("region")) or "not said"
        rows.append((name, text(study.info.get("question")), where, whole(len(study.runs)), tools))
    if not rows:
        return Note("No study is imported yet: azlatency import --all.")
    headers = ("study", "question", "where", "runs", "tools")
    notes = ["A study with 0 runs holds numbers from a text, or a specification: they can be quoted, not tested."]
    return Table("The studies", headers, rows, frozenset({3}), notes)
