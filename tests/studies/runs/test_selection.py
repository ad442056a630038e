"""Some pairs of a study only, and the study that it is compared with."""

from __future__ import annotations

import zipfile
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from helpers.places import ROOT

import azlatency as az
from azlatency.kit.cells import Table
from azlatency.kit.objects import Note
from azlatency.pages import before_after
from azlatency.pages.summary.answerable import unanswered
from azlatency.studies.runs.run_table import FROM_TABLE
from azlatency.studies.runs.selection import newest_windows, select_scenario

AFTER, BEFORE = "westeurope-azure-cni", "westeurope-availability-set-vs-zones"


def load(name: str, out: Path) -> Any:
    az.import_study(name, out=out)
    return az.load(name, processed=out)


# --- some pairs only


def test_a_study_of_some_pairs() -> None:
    study = az.load("emulated-zones")
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
    assert isinstance(before_after.settings(study, az.studies.other_study(study, "")), Table)
    assert az.studies.other_study(az.studies.select(study, "AZ1 - AZ2"), "").name == BEFORE


def test_without_another_study_the_page_says_so(tmp_path: Path) -> None:
    """The manifest's is not imported, or there is none: nothing fails, nothing is compared."""
    for name in (AFTER, "uksouth-echo-latency"):
        study = load(name, tmp_path)
        none = az.studies.other_study(study, "")
        assert not len(none.runs) and not len(az.latency(none)) and not len(az.throughput(none))
        assert az.stats.compare_imports(az.latency(study), az.latency(none)).empty
        assert isinstance(before_after.settings(study, none), Note)


def test_a_study_that_is_named_and_missing_is_an_error(tmp_path: Path) -> None:
    study = load(AFTER, tmp_path)
    with pytest.raises(az.LogError, match=f"study 'nope' not found. Known studies: {AFTER}"):
        az.studies.other_study(study, "nope")


# --- two scenarios of one study


def two_scenarios(tmp_path: Path, before: str = "@old") -> az.Study:
    folder = tmp_path / "raw" / "mine"
    for scenario, dump in (("old", "base.zip"), ("new", "slower.zip")):
        with zipfile.ZipFile(ROOT / "tests" / "compare" / dump) as logs:
            names = [name for name in logs.namelist() if name.endswith("sockperf.log")]
            logs.extractall(folder / scenario, names)
    pattern = 'pattern = "{scenario}/zone{zone}-zone{peer_zone}_*/round{round}_*"\n'
    (folder / "study.toml").write_text(f'[study]\ntitle = "Upgrade"\nbefore = "{before}"\n{pattern}', "utf-8")
    az.import_study("mine", [folder], out=tmp_path)
    return az.load("mine", processed=tmp_path)


@pytest.mark.costly
def test_the_page_compares_two_scenarios_of_one_study(tmp_path: Path) -> None:
    study = two_scenarios(tmp_path)
    before = az.studies.other_study(study, "")
    after = az.studies.without(study, before)
    assert (after.name, before.name) == ("mine@new", "mine@old") and not set(after.runs.run_id) & set(
        before.runs.run_id
    )
    changes = az.stats.compare_imports(az.latency(after), az.latency(before))
    assert list(changes["path"]) == ["zone 1 → zone 2", "zone 2 → zone 1"]
    assert (changes["verdict"] == "different").all() and changes["ratio"].between(1.2, 1.3).all()
    settings = before_after.settings(after, before)
    assert isinstance(settings, Table) and [col.header for col in settings.columns[1:3]] == ["mine@new", "mine@old"]
    assert "09_before_after" not in {question.page for question in unanswered(study)}
    assert az.studies.without(study, az.studies.other_study(study, "mine")) is study


def test_a_scenario_is_compared_with_one_other(tmp_path: Path) -> None:
    study = two_scenarios(tmp_path, "@older")
    assert not az.studies.other_study(study, "").info, "the manifest names no scenario of the study"
    with pytest.raises(az.LogError, match=r"mine has no scenario 'older'; known: new, old"):
        az.studies.other_study(study, "@older")
    old = select_scenario(study, "old")
    with pytest.raises(az.LogError, match=r"mine@old is compared with one other scenario; .* pairs: none"):
        az.studies.without(old, old)


@pytest.mark.slow
def test_a_study_of_one_month_has_the_windows_that_ended_in_it() -> None:
    """Of the windows of 30 days that ended in August 2026 one counts: the last."""
    study = az.load("ibm-cloud-zones")
    runs = az.latency(select_scenario(study, "2026-08"))
    pair = runs[runs["path"] == "us-south-dal12-a → us-south-dal14-a"]
    assert list(pair["mean_ns"]) == [600_000] and f"{pair['started_at'].iloc[0]:%Y-%m-%d}" == "2026-07-18"
    with pytest.raises(az.LogError, match="has neither a scenario nor a run of 2021; its runs are of 2023-03-19 to "):
        select_scenario(study, "2021")
    nights = select_scenario(az.load("emulated-nights"), "2026-11-24")
    assert len(az.latency(nights)) == 180


def test_each_published_method_has_a_newest_window_of_its_own() -> None:
    """A table that ended in May is no name that was given up because another one goes on until August."""
    starts = pd.to_datetime(["2026-04-01", "2026-05-01", "2026-07-01", "2026-08-01"], utc=True)
    runs = pd.DataFrame(
        {
            "dialect": FROM_TABLE,
            "duration_ns": 30 * 86_400e9,
            "started_at": starts,
            "path": "a → b",
            "method": ["ping (table)"] * 2 + ["netperf (table)"] * 2,
        }
    )
    assert list(newest_windows(runs).index) == [1, 3]
