"""Where to begin: the table and the findings of the page that tells one study from start to end."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import pandas as pd

from azlatency.kit.cells import Table
from azlatency.kit.cells import text as words_of
from azlatency.kit.findings import act, answer, join
from azlatency.kit.objects import Findings, Note
from azlatency.kit.table import count, table, text
from azlatency.studies.runs.samples import select_quantity
from azlatency.studies.store.study import load

if TYPE_CHECKING:
    from azlatency.studies.store.study import Study


def studies(names: Sequence[str]) -> Table | Note:
    """Return the imported studies among ``names``: their questions, places, and runs."""
    if not names:
        return Note("No study is imported yet. Run: azlatency import --all")
    rows = [
        {
            "name": study.name,
            "question": study.info.get("question"),
            "where": "emulated lab" if study.info.get("emulated") else words_of(study.info.get("region")) or "not said",
            "runs": len(study.runs),
            "tools": ", ".join(sorted(set(study.runs["tool"]))) or "–",
        }
        for study in map(load, names)
    ]
    columns = {
        "study": text("name"),
        "question": text("question"),
        "where": text("where"),
        "runs": count("runs"),
        "tools": text("tools"),
    }
    notes = [
        "A study with 0 runs has numbers from a text or a specification. Cite them as published; no test is possible."
    ]
    return table(pd.DataFrame(rows), "The studies", columns, notes)


def find(study: Study) -> Findings:
    """Name the pages that this study has data for; warn of an emulated study and of one without logs."""
    has_samples = bool(len(select_quantity(study.samples)))
    pages = {
        "the pages on latency, placement and planning": has_samples or (study.metrics["metric"] == "rtt_mean").any(),
        "the page on throughput": (study.metrics["metric"] == "throughput").any(),
        "the pages on tails and stability, from single packets": has_samples,
        "the page on the VM's specification": bool(study.expectations),
        "the pages on placement and stability, for reported numbers": bool(len(study.reported)),
    }
    useful = [name for name, has_data in pages.items() if has_data]
    title = str(study.info.get("title", study.name))
    next_pages = f", then read {join(useful)}" if useful else "; the other pages have no data"
    findings = [answer(f"{title}: start with *What was measured*{next_pages}.")]
    if study.info.get("emulated"):
        findings.append(act("This study is an emulated lab. Its numbers do not describe a cloud."))
    if not len(study.runs):
        findings.append(act("This study has no logs. Cite its numbers as published; no test is possible."))
    return Findings.of(findings)
