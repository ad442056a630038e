"""`azlatency verify`: every number of a report from the raw logs."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest
from helpers.command import azlatency
from helpers.places import ROOT

STUDY = "westeurope-psping"


@pytest.mark.slow
def test_a_report_is_recomputed_on_another_machine(tmp_path: Path) -> None:
    raw, site = tmp_path / "raw", tmp_path / "site"
    shutil.copytree(ROOT / "data" / "raw" / STUDY, raw / STUDY)
    here = {"cwd": ROOT}
    assert azlatency("report", "--study", STUDY, "--out", site, **here).returncode == 0
    done = azlatency("verify", site, raw, **here)
    assert done.returncode == 0 and "all equal" in done.stdout, done.stderr
    page = site / STUDY / "00_summary.html"
    page.write_text(re.sub(r"\b2\.08 ms", "2.18 ms", page.read_text("utf-8"), count=1), "utf-8")
    done = azlatency("verify", site, raw, **here)
    assert done.returncode == 1
    assert f"{STUDY}/00_summary.html: published" in done.stderr and "2.18" in done.stderr
    index = site / "index.html"
    index.write_text(re.sub(r"\b3\.\d\d ms|\b2\.\d\d ms", "9.99 ms", index.read_text("utf-8")), "utf-8")
    assert "index.html: published" in azlatency("verify", site, raw, **here).stderr
    shutil.rmtree(raw / STUDY)
    done = azlatency("verify", site, raw, **here)
    assert done.returncode == 1 and f"must contain the logs of the study {STUDY}" in done.stderr
    done = azlatency("verify", tmp_path, raw, **here)
    assert done.returncode == 1 and "not a report with studies" in done.stderr
