"""The tables of the page on two imports."""

from __future__ import annotations

import pandas as pd
from helpers.tables import cell

import azlatency as az
from azlatency.kit.objects import Note
from azlatency.report import tables
from azlatency.studies.store.study import Study


def test_settings_name_the_vm_sizes_of_both_studies(cni: Study, zones: Study) -> None:
    table = tables.before_after.settings(cni, zones)
    assert cell(table, "VM size", "westeurope-azure-cni") == "Standard_D8ds_v4"
    assert cell(table, "VM size", "westeurope-availability-set-vs-zones") == "Standard_D4as_v4"
    assert cell(table, "VM size", "same?") == "no" and cell(table, "runs", "westeurope-azure-cni") == "25"


def test_different_messages_are_not_compared(cni_latency: pd.DataFrame, zones: Study) -> None:
    table = tables.before_after.changes(az.stats.compare_imports(cni_latency, az.latency(zones)))
    assert cell(table, "AZ1 - AZ3 against Zone 3 → Zone 1", "verdict") == "not estimable"
    assert "different packets" in cell(table, "AZ1 - AZ3 against Zone 3 → Zone 1", "flags")


def test_without_comparisons_there_is_a_note() -> None:
    assert isinstance(tables.before_after.changes([]), Note)
