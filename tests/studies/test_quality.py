"""``azlatency check`` and ``azlatency manifest``: plain words, and a draft that works."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from helpers.places import FIXTURES

import azlatency as az
from azlatency.studies.manifest import read_manifest
from azlatency.studies.manifest_draft import draft
from azlatency.studies.quality import check


def test_a_good_log_says_for_what(raw: Path) -> None:
    (found,) = check(az.parse(raw / "westeurope-availability-set-vs-zones" / "zone3-zone1" / "sockperf-m1400.log"))
    assert found.grade == "good"
    assert found.uses == ("the mean round trip", "percentiles up to p99.999")


def test_a_short_run_is_limited(raw: Path) -> None:
    (found,) = check(az.parse(raw / "westeurope-azure-cni" / "az2-az3" / "sockperf.log"))
    assert found.grade == "limited"
    assert found.uses == ("the mean round trip", "percentiles up to p99.9")
    assert any("leave out the percentiles that are its maximum" in remark for remark in found.remarks)


def test_a_useless_file_says_why(tmp_path: Path) -> None:
    (tmp_path / "x.log").write_text("nothing\n")
    (found,) = check(az.parse(tmp_path / "x.log"))
    assert found.grade == "useless"
    assert "no log of a known tool" in str(found)


def test_a_mislabelled_log_is_found_out(raw: Path, tmp_path: Path) -> None:
    """A log edited from half round trips to round trips contradicts its own closed loop."""
    log = (raw / "westeurope-azure-cni" / "az2-az3" / "sockperf.log").read_text("utf-8")
    edited = log.replace("avg-latency=", "avg-rtt=").replace("Latency is", "Round trip is")
    (tmp_path / "edited.log").write_text(edited)
    (found,) = check(az.parse(tmp_path / "edited.log"))
    assert any("the label and the proof disagree" in remark for remark in found.remarks)


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
