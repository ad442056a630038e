"""Shared paths: the raw data of the project, and the public material beside it where it is present."""

from __future__ import annotations

from pathlib import Path

import pytest
from helpers.places import ROOT, SHARED


@pytest.fixture(scope="session")
def raw() -> Path:
    """The studies of the project."""
    return ROOT / "data" / "raw"


@pytest.fixture(scope="session")
def shared() -> Path:
    """Material beside the project; tests that need it are skipped where it is absent."""
    folder = SHARED
    if not folder.is_dir():
        pytest.skip("no shared material beside the project")
    return folder
