"""`azlatency report`."""

from __future__ import annotations

import shutil
from pathlib import Path

from helpers.command import azlatency
from helpers.places import ROOT


def test_report_of_an_unknown_study_lists_the_known_studies(tmp_path: Path, raw: Path) -> None:
    shutil.copytree(raw / "uksouth-echo-latency", tmp_path / "data" / "raw" / "uksouth-echo-latency")
    azlatency("import", "--all", cwd=tmp_path)
    (tmp_path / "notebooks").mkdir()
    shutil.copy(ROOT / "notebooks" / "01_latency.ipynb", tmp_path / "notebooks")
    result = azlatency("report", "--study", "nothing", "--out", "site", cwd=tmp_path)
    assert result.returncode == 1 and "uksouth-echo-latency" in result.stderr
    assert len(result.stderr.splitlines()) == 1
