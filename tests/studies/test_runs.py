"""Which runs a page looks at: some pairs only, and the study that it is held against."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from helpers.places import ROOT

import azlatency as az
from azlatency.report import tables
from azlatency.report.objects import Note
from azlatency.report.table import Table

AFTER, BEFORE = "westeurope-azure-cni", "westeurope-availability-set-vs-zones"


def load(name: str, out: Path) -> Any:
    az.import_study(name, out=out)
    return az.load(name, processed=out)


# --- some pairs only


def test_a_study_of_some_pairs(tmp_path: Path) -> None:
    study = load("emulated-zones", tmp_path)
    some = az.studies.select(study, "1-3, az2a -> az1a")
    assert set(az.latency(some)["path"]) == {"az1a → az3a", "az3a → az1a", "az2a → az1a"}
    assert set(some.samples["run_id"]) <= set(some.runs["run_id"])
    assert az.studies.select(study, " ") is study
    with pytest.raises(az.LogError, match=r"no path or pair of zones named 1-9\. Known: az1a → az1b, "):
        az.studies.select(study, "1-9")


def test_scenarios_of_reported_numbers_can_be_selected(tmp_path: Path) -> None:
    study = load("uksouth-echo-latency", tmp_path)
    assert set(az.studies.select(study, "Same AZ").reported["scenario"]) == {"Same AZ"}


# --- the study before


def test_a_manifest_names_the_study_before(tmp_path: Path) -> None:
    load(BEFORE, tmp_path)
    study = load(AFTER, tmp_path)
    assert az.studies.other_study(study, "").name == BEFORE
    assert isinstance(tables.before_after.settings(study, az.studies.other_study(study, "")), Table)
    assert az.studies.other_study(az.studies.select(study, "AZ1 - AZ2"), "").name == BEFORE


def test_without_another_study_the_page_says_so(tmp_path: Path) -> None:
    """The manifest's is not imported, or there is none: nothing fails, nothing is compared."""
    for name in (AFTER, "uksouth-echo-latency"):
        study = load(name, tmp_path)
        none = az.studies.other_study(study, "")
        assert not len(none.runs) and not len(az.latency(none)) and not len(az.throughput(none))
        assert list(az.stats.compare_imports(az.latency(study), az.latency(none))) == []
        assert isinstance(tables.before_after.settings(study, none), Note)


def test_a_study_that_is_named_and_missing_is_an_error(tmp_path: Path) -> None:
    study = load(AFTER, tmp_path)
    with pytest.raises(az.LogError, match=f"study 'nope' not found. Known studies: {AFTER}"):
        az.studies.other_study(study, "nope")


# --- which runs are repeats of one another


def test_four_connections_are_no_repeat_of_one(tmp_path: Path) -> None:
    logs = [ROOT / "tests" / "fixtures" / "iperf3" / name for name in ("3.12-P4.txt", "3.12-verbose.txt")]
    az.import_study("mine", logs, out=tmp_path)
    runs = az.throughput(az.load("mine", processed=tmp_path))
    assert sorted(runs["method"]) == ["iperf3 TCP 1 connection", "iperf3 TCP 4 connections"]
    assert [each.codes for each in az.summarize(runs, "throughput", unit="bit/s")] == [("no_replication",)] * 2


def test_methods_keep_their_names_where_nothing_divides_them(tmp_path: Path) -> None:
    az.import_study("mine", [ROOT / "tests" / "fixtures" / "iperf3" / "3.12-P4.txt"], out=tmp_path)
    assert list(az.throughput(az.load("mine", processed=tmp_path))["method"]) == ["iperf3 TCP"]


def test_runs_of_unknown_ends_are_not_pooled(tmp_path: Path) -> None:
    """No qperf log names an end: three logs in a folder may be three paths."""
    logs = [ROOT / "tests" / "fixtures" / "qperf" / f"0.4.11-{name}.log" for name in ("vvt", "vv")]
    az.import_study("mine", logs, out=tmp_path)
    runs = az.latency(az.load("mine", processed=tmp_path))
    found = {each.labels["method"]: each for each in az.summarize(runs, "mean_ns")}
    assert set(runs["path"]) == {"? → ?"}
    assert [each.codes for each in found.values() if each.n > 1] == [("path_unknown",)]
    assert all(each.estimate is None for each in found.values())
