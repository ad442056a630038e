"""What logs can be used for, and drafts of manifests that can be read."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from helpers.places import FIXTURES

import azlatency as az
from azlatency.studies.manifest import read_manifest
from azlatency.studies.manifest_draft import draft
from azlatency.studies.quality import check


def test_uses_of_a_good_log(raw: Path) -> None:
    (file_check,) = check(az.parse(raw / "westeurope-availability-set-vs-zones" / "zone3-zone1" / "sockperf-m1400.log"))
    assert file_check.grade == "good"
    assert file_check.uses == ("the mean RTT", "percentiles up to p99.999")


def test_a_short_run_is_limited(raw: Path) -> None:
    (file_check,) = check(az.parse(raw / "westeurope-azure-cni" / "az2-az3" / "sockperf.log"))
    assert file_check.grade == "limited"
    assert file_check.uses == ("the mean RTT", "percentiles up to p99.9")
    assert any("do not use the percentiles that are the sample maximum" in remark for remark in file_check.remarks)


def test_an_unusable_file_states_the_reason(tmp_path: Path) -> None:
    (tmp_path / "x.log").write_text("nothing\n")
    (file_check,) = check(az.parse(tmp_path / "x.log"))
    assert file_check.grade == "useless"
    assert "no log of a known tool" in str(file_check)


def test_a_mislabelled_log_is_detected(raw: Path, tmp_path: Path) -> None:
    """A log edited from half round trips to round trips contradicts its own closed loop."""
    log = (raw / "westeurope-azure-cni" / "az2-az3" / "sockperf.log").read_text("utf-8")
    edited = log.replace("avg-latency=", "avg-rtt=").replace("Latency is", "Round trip is")
    (tmp_path / "edited.log").write_text(edited)
    (file_check,) = check(az.parse(tmp_path / "edited.log"))
    assert any("the label contradicts the arithmetic of the log" in remark for remark in file_check.remarks)


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
