"""The findings of the index."""

from __future__ import annotations

from azlatency.report import findings
from azlatency.studies.store.study import Study


def test_the_study_is_named_by_its_title(cni: Study) -> None:
    (finding,) = findings.index.find(cni).findings
    assert finding.kind == "answer" and "AKS pods with Azure CNI" in finding.text and "throughput" in finding.text
