"""Every command reads archives inside an archive, and counts, compares and traces the same runs."""

from __future__ import annotations

import csv
import io
import shutil
import zipfile
from pathlib import Path

import pytest
from helpers.command import azlatency
from helpers.places import ROOT

import azlatency as az

COMPARE = ROOT / "tests" / "compare"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with ``base.zip`` and ``slower.zip``, each of which contains a ``.tar.gz`` with the logs."""
    folder = tmp_path_factory.mktemp("nested")
    for side in ("base", "slower"):
        logs = folder / f"{side}-logs"
        with zipfile.ZipFile(COMPARE / f"{side}.zip") as packed:
            members = [name for name in packed.namelist() if "zone1-zone2" in name and "sockperf" in name]
            packed.extractall(logs, members)
        inner = shutil.make_archive(str(folder / f"{side}-inner"), "gztar", logs)
        with zipfile.ZipFile(folder / f"{side}.zip", "w") as outer:
            outer.write(inner, "vm-a/logs.tar.gz")
            outer.writestr("vm-a/plot.png", b"\x89PNG\r\n\x1a\n" + bytes(100))
    return folder


def test_parse_and_check(folder: Path) -> None:
    parsed = azlatency("parse", "base.zip", "--format", "csv", "--table", "sources", cwd=folder)
    paths = [row["path"] for row in csv.DictReader(io.StringIO(parsed.stdout))]
    assert len(paths) == 10 and all(path.startswith("base.zip!vm-a/logs.tar.gz!") for path in paths)
    assert "base.zip!vm-a/plot.png:1: binary file" in parsed.stderr
    checked = azlatency("check", "base.zip", cwd=folder)
    assert checked.returncode == 1 and checked.stdout.splitlines()[-1].startswith("11 files: ")


def test_check_leaves_out_what_the_manifest_ignores(folder: Path, tmp_path: Path) -> None:
    shutil.copy(folder / "base.zip", tmp_path)
    (tmp_path / "study.toml").write_text('[[run]]\nlog = ["*.png", "*round01_*"]\nignore = "no"\n', "utf-8")
    for place in (".", tmp_path):
        checked = azlatency("check", place, cwd=tmp_path)
        assert checked.returncode == 0 and checked.stdout.splitlines()[-1].startswith("9 files: "), checked.stdout


def test_compare(folder: Path) -> None:
    compared = azlatency("compare", "base.zip", "slower.zip", "--map", "?=client", cwd=folder)
    assert compared.returncode == 1 and "CHANGED" in compared.stdout


def test_import_and_the_line_of_a_number(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    imported = azlatency("import", "base.zip", "--study", "mine", cwd=folder)
    assert "base.zip!vm-a/plot.png:1: binary file" in imported.stderr
    assert imported.stdout.startswith("mine: 10 sockperf (1 file parsed")
    assert azlatency("import", "--study", "mine", cwd=folder).stdout.startswith("mine: 10 sockperf (unchanged")
    monkeypatch.setenv("AZLATENCY_DATA", str(folder / "data"))
    from azlatency.site.provenance import Place, StudyLogs

    study = az.load("mine")
    value = study.metrics[study.metrics["metric"] == "rtt_mean"].iloc[0]
    place = Place(value["run_id"].rpartition("-")[0], int(value["line"]))
    assert value["printed"] in str(StudyLogs(study).quotes([place])[place])
