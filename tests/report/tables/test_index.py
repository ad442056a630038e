"""The table of the index."""

from __future__ import annotations

from helpers.tables import cell

from azlatency.report import tables


def test_studies_are_listed_with_runs_and_tools() -> None:
    table = tables.index.studies(["westeurope-azure-cni", "uksouth-echo-latency"])
    assert cell(table, "westeurope-azure-cni", "runs") == "25"
    assert cell(table, "westeurope-azure-cni", "tools") == "iperf3, ntttcp, qperf, sockperf"
    assert cell(table, "uksouth-echo-latency", "runs") == "0"


def test_without_studies_the_note_names_the_command() -> None:
    assert "azlatency import" in str(tables.index.studies([]))
