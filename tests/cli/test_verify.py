"""`azlatency verify`: every file of a report from the raw logs."""

from __future__ import annotations

import json
import random
import shutil
from pathlib import Path

import pytest
from helpers.command import azlatency
from helpers.places import ROOT

from azlatency.site.verify import NOT_REBUILT, verify

STUDY = "westeurope-psping"


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the logs of a study, and its report."""
    folder = tmp_path_factory.mktemp("published")
    shutil.copytree(ROOT / "data" / "raw" / STUDY, folder / "data" / "raw" / STUDY)
    (folder / "notebooks").symlink_to(ROOT / "notebooks")
    assert azlatency("import", "--all", cwd=folder).returncode == 0
    assert azlatency("report", "--study", STUDY, "--out", "site", cwd=folder).returncode == 0
    return folder


@pytest.mark.slow
def test_a_report_is_built_again_on_another_machine(report: Path, tmp_path: Path) -> None:
    raw, site = report / "data" / "raw", tmp_path / "site"
    shutil.copytree(report / "site", site)
    done = azlatency("verify", site, raw, cwd=report)
    assert done.returncode == 0 and "all equal" in done.stdout, done.stderr
    (site / STUDY / "11_new.html").write_text("<h1>Zone 3 is 999 ms slower</h1>", "utf-8")
    # A page that the record of the site does not name any more is compared all the same.
    record = json.loads((site / ".azlatency-site.json").read_text("utf-8"))
    del record["pages"][f"{STUDY}/00_summary.html"]
    (site / ".azlatency-site.json").write_text(json.dumps(record), "utf-8")
    page = site / STUDY / "00_summary.html"
    page.write_text(page.read_text("utf-8").replace("2.08 ms", "2.08 µs"), "utf-8")
    done = azlatency("verify", site, raw, cwd=report)
    assert done.returncode == 1
    assert f"{STUDY}/11_new.html: published, but not made from these logs" in done.stderr
    assert f"{STUDY}/00_summary.html: published 'µs" in done.stderr
    (site / "index.html").unlink()
    assert "not a report with studies" in azlatency("verify", site, raw, cwd=report).stderr
    done = azlatency("verify", report / "site", tmp_path, cwd=report)
    assert done.returncode == 1 and f"must contain the logs of the study {STUDY}" in done.stderr


@pytest.mark.slow
def test_a_hundred_single_changes_are_noticed(report: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One byte in any file of the site; the site is built again once."""
    changed = random.Random(1)
    site = tmp_path / "site"
    shutil.copytree(report / "site", site)
    files = [file for file in sorted(site.rglob("*.*")) if file.name not in (NOT_REBUILT, ".azlatency-site.json")]
    for _ in range(100):
        file = changed.choice(files)
        raw = bytearray(file.read_bytes())
        place = changed.randrange(len(raw))
        raw[place] = raw[place] % 127 + 1
        file.write_bytes(bytes(raw))
    damaged = {file.relative_to(site).as_posix() for file in files if file.read_bytes() != original(report, site, file)}
    monkeypatch.chdir(report)
    found = {line.partition(":")[0] for line in verify(site, report / "data" / "raw").differences}
    assert len(damaged) > 10 and damaged <= found


def original(report: Path, site: Path, file: Path) -> bytes:
    return (report / "site" / file.relative_to(site)).read_bytes()
