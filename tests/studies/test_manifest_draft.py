"""Drafts of a manifest that can be read."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from helpers.places import FIXTURES

import azlatency as az
from azlatency.studies.manifest import read_manifest
from azlatency.studies.manifest_draft import draft


@pytest.mark.parametrize("study", ["westeurope-azure-cni", "emulated-zones"])
def test_a_draft_of_a_real_study_describes_every_log(raw: Path, tmp_path: Path, study: str) -> None:
    folder = tmp_path / "mine"
    shutil.copytree(raw / study, folder, ignore=shutil.ignore_patterns("*.toml", "runs.csv", "truth.json"))
    tables = az.parse(folder)
    for row in tables.rows["sources"]:
        row["path"] = Path(row["path"]).relative_to(folder).as_posix()
    paths = [row["path"] for row in tables.rows["sources"]]
    (folder / "study.toml").write_text(draft("mine", tables, paths), "utf-8")
    manifest = read_manifest(folder)
    for path in paths:
        run: dict[str, object] = {"heading": None}
        assert manifest.describe(run, path) == [], path
        if "az1-az3" in path or "az1a-az3a" in path:
            assert (run["zone"], run["peer_zone"]) == ("1", "3")


def test_hostile_file_names_stay_inside_their_string(tmp_path: Path) -> None:
    folder = tmp_path / 'az1-az2"\n[study]\n'
    folder.mkdir()
    shutil.copy(next((FIXTURES / "ping").glob("*.log")), tmp_path / 'az1-az2"\n[study]\n' / "x.log")
    tables = az.parse(tmp_path)
    for row in tables.rows["sources"]:
        row["path"] = Path(row["path"]).relative_to(tmp_path).as_posix()
    (tmp_path / "study.toml").write_text(draft("x", tables, [row["path"] for row in tables.rows["sources"]]), "utf-8")
    assert len(read_manifest(tmp_path).entries) == 1
