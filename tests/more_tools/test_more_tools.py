"""The tools of `azlatency.more_tools` are plug-ins: declared as such, found as such, and nothing needs them."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tomllib
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path

import pytest
from helpers.fixture_tables import contents
from helpers.places import ROOT

from azlatency.logs import parsers
from azlatency.logs.parsers import GROUP, load_parsers, parser_version

PACKAGE = ROOT / "azlatency"
TOOLS = {path.stem for path in (PACKAGE / "more_tools").iterdir()} - {"__init__", "__pycache__", "common"}


def test_every_tool_of_the_folder_is_declared_and_installed() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    declared = project["entry-points"][GROUP]
    assert declared == {tool: f"azlatency.more_tools.{tool}:PARSER" for tool in TOOLS}
    installed = {point.name: point.value for point in entry_points(group=GROUP)}
    assert declared.items() <= installed.items(), "run make setup"
    assert load_parsers().keys() >= TOOLS


@pytest.mark.slow
def test_the_folder_can_be_deleted(tmp_path: Path) -> None:
    """The tables of all other logs are the same, and no log of its tools is read as that of another tool."""
    shutil.copytree(PACKAGE, tmp_path / "azlatency", ignore=shutil.ignore_patterns("more_tools", "__pycache__"))
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(tmp_path), str(ROOT / "tests")])}
    command = [sys.executable, "-W", "error", "-m", "helpers.fixture_tables"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    without, whole = json.loads(done.stdout), contents()
    assert without.keys() == whole.keys()
    for name, log in whole.items():
        tool = name.partition("/")[0]
        if tool not in TOOLS:
            assert without[name] == log, name
            continue
        assert without[name]["tools"] == [], name
        problems = " ".join(without[name]["problems"])
        assert any(
            text in problems for text in ("which azlatency does not read", "no log of a known tool", "no log begins")
        )


def test_the_version_of_the_parsers_covers_each_file_once(monkeypatch: pytest.MonkeyPatch) -> None:
    version, read = parser_version(), []
    read_bytes = Path.read_bytes

    def counted(path: Path) -> bytes:
        read.append(path)
        return read_bytes(path)

    monkeypatch.setattr(Path, "read_bytes", counted)
    assert parser_version.__wrapped__() == version
    ours = [path.resolve() for path in read if PACKAGE in path.resolve().parents]
    assert sorted(ours) == sorted([*(PACKAGE / "logs").rglob("*.py"), *(PACKAGE / "more_tools").rglob("*.py")])


def test_a_plug_in_of_somebody_else_comes_after_ours(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever its name is, it cannot take the name of a tool of ours."""
    other = EntryPoint("a", "somebody.parsers:PARSER", GROUP)
    monkeypatch.setattr(parsers, "entry_points", lambda group: [other, *entry_points(group=group)])
    assert parsers._plug_ins.__wrapped__()[-1] == other
