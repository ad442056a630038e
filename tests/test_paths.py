"""Which runs a page looks at: some pairs only, and the study that it is held against."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import azlatency as az
from azlatency import answers
from azlatency.display import Note, Table

AFTER, BEFORE = "westeurope-azure-cni", "westeurope-availability-set-vs-zones"


def load(name: str, out: Path) -> Any:
    az.import_study(name, out=out)
    return az.load(name, processed=out)


# --- some pairs only


def test_a_study_of_some_pairs(tmp_path: Path) -> None:
    study = load("emulated-zones", tmp_path)
    some = az.select(study, "1-3, az2a -> az1a")
    assert set(az.latency_runs(some)["path"]) == {"az1a → az3a", "az3a → az1a", "az2a → az1a"}
    assert set(some.samples["run_id"]) <= set(some.runs["run_id"])
    assert az.select(study, " ") is study
    with pytest.raises(az.LogError, match="no path and no pair of zones is called 1-9; known: az1a → az1b, "):
        az.select(study, "1-9")


def test_scenarios_of_reported_numbers_can_be_selected(tmp_path: Path) -> None:
    study = load("uksouth-echo-latency", tmp_path)
    assert set(az.select(study, "Same AZ").reported["scenario"]) == {"Same AZ"}


# --- the study before


def test_a_manifest_names_the_study_before(tmp_path: Path) -> None:
    load(BEFORE, tmp_path)
    study = load(AFTER, tmp_path)
    assert az.other_study(study, "").name == BEFORE
    assert isinstance(answers.settings(study, az.other_study(study, "")), Table)
    assert az.other_study(az.select(study, "AZ1 - AZ2"), "").name == BEFORE


def test_without_another_study_the_page_says_so(tmp_path: Path) -> None:
    """The manifest's is not imported, or there is none: nothing fails, nothing is compared."""
    for name in (AFTER, "uksouth-echo-latency"):
        study = load(name, tmp_path)
        none = az.other_study(study, "")
        assert not len(none.runs) and not len(az.latency_runs(none)) and not len(az.throughput_runs(none))
        assert list(az.compare_imports(az.latency_runs(study), az.latency_runs(none))) == []
        assert isinstance(answers.settings(study, none), Note)


def test_a_study_that_is_named_and_missing_is_an_error(tmp_path: Path) -> None:
    study = load(AFTER, tmp_path)
    with pytest.raises(az.LogError, match=f"nope: no such study in .*; imported: {AFTER} "):
        az.other_study(study, "nope")
