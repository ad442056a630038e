"""Findings of the start page of a study."""

from __future__ import annotations

from typing import TYPE_CHECKING

from azlatency.kit.findings import act, answer, join
from azlatency.kit.objects import Findings
from azlatency.studies.runs.samples import select_quantity

if TYPE_CHECKING:
    from azlatency.studies.store.study import Study


def find(study: Study) -> Findings:
    """Name the pages that this study has data for.

    Parameters
    ----------
    study : Study
        The study of the page.

    Returns
    -------
    Findings
        Where to start, and a warning for an emulated study or one without logs.
    """
    pages = {
        "the pages on latency, placement and planning": bool(
            len(select_quantity(study.samples)) or study.metrics["metric"].eq("rtt_mean").any()
        ),
        "the page on throughput": bool((study.metrics["metric"] == "throughput").any()),
        "the pages on tails and stability, from single packets": bool(len(select_quantity(study.samples))),
        "the page on the VM's specification": bool(study.expectations),
        "the pages on placement and stability, for reported numbers": bool(len(study.reported)),
    }
    useful = [name for name, has_data in pages.items() if has_data]
    title = str(study.info.get("title", study.name))
    next_pages = f", then read {join(useful)}" if useful else "; the other pages have no data"
    text = f"{title}: start with *What was measured*{next_pages}."
    findings = [answer(text)]
    if study.info.get("emulated"):
        findings.append(act("This study is an emulated lab. Its numbers do not describe a cloud."))
    if not len(study.runs):
        findings.append(act("This study has no logs. Cite its numbers as published; no test is possible."))
    return Findings.of(findings)
