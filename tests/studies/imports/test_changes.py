"""Whether the logs of a study changed since its import."""

from __future__ import annotations

from pathlib import Path

import pytest
from helpers.places import ROOT

import azlatency as az
from azlatency.studies.imports.changes import changed_since_import

RAW = ROOT / "data" / "raw"


def test_an_unchanged_study_has_no_message_and_a_new_log_has_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("AZLATENCY_DATA", str(tmp_path / "data"))
    folder = tmp_path / "data" / "raw" / "mine"
    folder.mkdir(parents=True)
    (folder / "sender.log").write_bytes((RAW / "canadacentral-proximity-placement" / "sender.log").read_bytes())
    az.import_study("mine")
    assert changed_since_import("mine") == ""
    (folder / "receiver.log").write_bytes((RAW / "canadacentral-proximity-placement" / "receiver.log").read_bytes())
    assert "1 file added" in changed_since_import("mine")
