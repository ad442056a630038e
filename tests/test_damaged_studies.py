"""Studies whose logs were cut, thinned and edited at random: every notebook still runs, whatever it then refuses."""

from __future__ import annotations

import random
import re
import shutil
from pathlib import Path
from typing import Any

import pytest
from helpers.notebooks import run
from helpers.places import ROOT

import azlatency as az
from azlatency.studies.imports.importer import import_study

KEPT = ("study.toml", "reported.csv", "baseline.toml", "runs.csv", "truth.json", "README.md")
#: What may stand where a number stood.
WRONG = (b"0", b"-1", b"1e9", b"nan", b"99999999999999", b"0.000", b"100", b"")


def damage(folder: Path, seed: int) -> None:
    """Some logs vanish, are cut, lose lines or have numbers replaced; a fifth stays as it was."""
    chance = random.Random(seed)
    for path in sorted(file for file in folder.rglob("*") if file.is_file() and file.name not in KEPT):
        content, kind = path.read_bytes(), chance.random()
        if kind < 0.25:
            path.unlink()
        elif kind < 0.5:
            path.write_bytes(content[: chance.randrange(len(content) + 1)])
        elif kind < 0.65:
            path.write_bytes(b"".join(line for line in content.splitlines(True) if chance.random() > 0.05))
        elif kind < 0.8:
            wrong = re.sub(rb"\d+(\.\d+)?", lambda n: n[0] if chance.random() > 0.02 else chance.choice(WRONG), content)
            path.write_bytes(wrong)


@pytest.mark.slow
@pytest.mark.parametrize("study", ["emulated-zones", "westeurope-azure-cni", "westeurope-availability-set-vs-zones"])
@pytest.mark.parametrize("seed", range(8))
def test_every_notebook_runs(study: str, seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AZLATENCY_DATA", str(tmp_path))
    shutil.copytree(ROOT / "data" / "raw" / study, tmp_path / "raw" / study)
    damage(tmp_path / "raw" / study, seed)
    manifest = tmp_path / "raw" / study / "study.toml"  # without the conclusions, which name logs that vanish
    manifest.write_text(re.sub(r"(?ms)^\[\[conclusion\]\].*?(?=^\[|\Z)", "", manifest.read_text("utf-8")), "utf-8")
    import_study(study)
    for notebook in sorted((ROOT / "notebooks").glob("[0-9]*.ipynb")):
        for result in run(notebook, study):
            assert "Traceback" not in repr(result), notebook.name


@pytest.mark.parametrize(
    ("content", "message"),
    [("{\n,", ":2: not JSON"), ('{"links": {"a": {}}}', ":1: not an emulated network"), ("[1]", ":1: ")],
)
def test_a_broken_description_of_the_network(content: str, message: str, tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.setenv("AZLATENCY_DATA", str(tmp_path))
    shutil.copytree(ROOT / "data" / "raw" / "westeurope-azure-cni", tmp_path / "raw" / "mine")
    (tmp_path / "raw" / "mine" / "truth.json").write_text(content, "utf-8")
    import_study("mine")
    with pytest.raises(az.LogError, match=message):
        az.studies.configured_links(az.load("mine"))
