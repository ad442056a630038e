"""`azlatency init`: a project folder."""

from __future__ import annotations

import errno
import json
from pathlib import Path

import pytest
from helpers.command import azlatency
from helpers.places import ROOT

from azlatency import __version__
from azlatency.cli.init import init


def test_a_project_has_notebooks_without_outputs_and_a_workflow(tmp_path: Path) -> None:
    assert azlatency("init", "zones", cwd=tmp_path).returncode == 0
    project = tmp_path / "zones"
    assert (project / "requirements.txt").read_text() == f"azlatency[report]=={__version__}\n"
    example = ROOT / "docs" / "ci" / "github-actions.yml"
    assert (project / ".github" / "workflows" / "latency.yml").read_bytes() == example.read_bytes()
    notebooks = sorted((project / "notebooks").iterdir())
    assert [path.name for path in notebooks] == sorted(path.name for path in (ROOT / "notebooks").glob("*.ipynb"))
    for notebook in notebooks:
        cells = json.loads(notebook.read_text("utf-8"))["cells"]
        assert cells and not any(cell.get("outputs") for cell in cells)


def test_an_existing_file_is_kept_and_named(tmp_path: Path) -> None:
    (tmp_path / "README.md").write_text("mine")
    result = azlatency("init", ".", cwd=tmp_path)
    assert result.returncode == 0 and result.stderr == "already there, and not changed: README.md\n"
    assert (tmp_path / "README.md").read_text() == "mine" and (tmp_path / "requirements.txt").is_file()
    again = azlatency("init", ".", cwd=tmp_path)
    assert again.returncode == 0 and ".: 0 new files" in again.stdout


def test_a_full_disk_leaves_no_half_file_that_the_next_one_would_keep(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    written: list[str] = []

    def write_bytes(path: Path, raw: bytes) -> int:
        with path.open("wb") as file:
            file.write(raw[: len(raw) // 2])
        written.append(path.name)
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(Path, "write_bytes", write_bytes)
    with pytest.raises(OSError, match=r"README\.md"):
        init(tmp_path)
    assert written and not list(tmp_path.iterdir())
