"""A real study that tests may change."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest


@pytest.fixture
def study(tmp_path: Path, raw: Path) -> Path:
    """A copy of a real study, in a project folder of its own."""
    folder = tmp_path / "data" / "raw" / "cni"
    shutil.copytree(raw / "westeurope-azure-cni", folder)
    text = (folder / "study.toml").read_text("utf-8").replace("westeurope-azure-cni", "cni")
    (folder / "study.toml").write_text(text, "utf-8")
    return folder


@pytest.fixture
def out(tmp_path: Path) -> Path:
    return tmp_path / "processed"
