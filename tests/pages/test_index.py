"""Where to begin: the studies, and the pages that a study has data for."""

from __future__ import annotations

from helpers.tables import cell

from azlatency.pages import index
from azlatency.studies.store.study import Study


def test_studies_are_listed_with_runs_and_tools() -> None:
    table = index.studies(["westeurope-azure-cni", "uksouth-echo-latency"])
    assert cell(table, "westeurope-azure-cni", "runs") == "25"
    assert cell(table, "westeurope-azure-cni", "tools") == "iperf3, ntttcp, qperf, sockperf"
    assert cell(table, "uksouth-echo-latency", "runs") == "0"


def test_without_studies_the_note_names_the_command() -> None:
    assert "azlatency import" in str(index.studies([]))


def test_the_study_is_named_by_its_title(cni: Study) -> None:
    (finding,) = index.find(cni).findings
    assert finding.kind == "answer" and "AKS pods with Azure CNI" in finding.text and "throughput" in finding.text
