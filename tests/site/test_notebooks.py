"""Stored outputs of notebooks."""

from __future__ import annotations

import json
from pathlib import Path

import nbformat
import pytest
from helpers.sites import write
from nbformat.v4 import new_code_cell, new_markdown_cell

from azlatency.site import notebooks


@pytest.mark.slow
def test_storing_outputs_twice_changes_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "data" / "processed").mkdir(parents=True)
    good = write(tmp_path / "notebooks", "01.ipynb", new_markdown_cell("# T"), new_code_cell("study, 'é'"))
    bad = write(tmp_path / "notebooks", "02.ipynb", new_code_cell("1 / 0"))
    before = bad.read_bytes()
    failures = notebooks.store()
    stored = good.read_bytes()
    assert notebooks.store(tmp_path / "notebooks") == failures
    assert good.read_bytes() == stored
    assert [line.split(": ")[1] for line in failures] == ["ZeroDivisionError"] and bad.read_bytes() == before
    assert stored.endswith(b"}\n") and "é".encode() in stored
    content = json.loads(stored)
    assert content["metadata"] == {
        "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
        "language_info": {"name": "python"},
    }
    assert [cell["metadata"] for cell in content["cells"]] == [{"tags": ["parameters"]}, {}, {}]
    assert content["cells"][2]["outputs"][0]["data"]["text/plain"] == ["('none', 'é')"]
    assert [cell["id"] for cell in content["cells"]] == [cell.id for cell in nbformat.read(good, 4).cells]
