"""The pages on the tools: excerpts stand in their logs, outputs are what the command prints, names exist."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest
from helpers.places import ROOT
from typer.testing import CliRunner

from azlatency.cli import app
from azlatency.logs.parsers import load_parsers
from azlatency.logs.source.expand import expand

PAGES = ROOT / "docs" / "tools"
PACKAGE = ROOT / "azlatency"
EXCERPT = re.compile(r"<!-- (\S+) -->\n```text\n(.*?)\n```", re.DOTALL)
COMMAND = re.compile(r"```console\n\$ azlatency ([^\n]+)\n(.*?)\n```", re.DOTALL)
NAME = re.compile(r"`([a-z][a-z0-9]*(?:_[a-z0-9]+)+)`")
CODE = "\n".join(file.read_text("utf-8") for file in PACKAGE.rglob("*.py"))
#: What the tools call so, not we.
FOREIGN = {"sum_sent", "sum_received", "kb_base", "unit_base", "udp_lat", "total_bytes"}
SECTIONS = ["Output", "Numbers", "Versions", "Caveats"]
#: The tools that the library is made for; their pages also show what azlatency prints.
MAIN_TOOLS = {"iperf3", "latte", "ntttcp", "ping", "qperf", "sockperf"}

pages = pytest.mark.parametrize("path", sorted(PAGES.glob("[a-z]*.md")), ids=lambda path: path.stem)


def cleaned(name: str) -> str:
    """The text of a log as it is read: without colours, blanks at the ends of lines left out."""
    (source,) = expand(ROOT / name)
    return "\n".join(line.text.rstrip() for line in source.lines)


def test_every_tool_has_a_page() -> None:
    assert {path.stem for path in PAGES.glob("[a-z]*.md")} == {
        path.name for path in (ROOT / "tests" / "fixtures").iterdir()
    }


def test_the_comparison_lists_every_tool_and_counts_the_formats() -> None:
    text = (ROOT / "docs" / "peers.md").read_text("utf-8")
    rows = re.findall(r"^\| \[[^]]+\]\(tools/(\w+)\.md\) \| (.+) \|$", text, re.MULTILINE)
    assert sorted(name for name, _ in rows) == sorted(load_parsers())
    formats = sum(len(listed.split("; ")) for _, listed in rows)
    assert f"| {formats} of {len(rows)} tools |" in text


@pages
def test_the_page_says_what_every_page_says(path: Path) -> None:
    sections = [*SECTIONS, "In azlatency"] if path.stem in MAIN_TOOLS else SECTIONS
    assert re.findall(r"^## (.+)$", path.read_text("utf-8"), re.MULTILINE) == sections


@pages
def test_excerpts_stand_in_their_logs(path: Path) -> None:
    excerpts = EXCERPT.findall(path.read_text("utf-8"))
    assert excerpts
    for name, text in excerpts:
        assert name.startswith(f"tests/fixtures/{path.stem}/")
        assert text in cleaned(name), name


@pytest.mark.parametrize("tool", sorted(MAIN_TOOLS))
def test_outputs_are_what_the_command_prints(tool: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    commands = COMMAND.findall((PAGES / f"{tool}.md").read_text("utf-8"))
    assert commands
    for command, shown in commands:
        printed = CliRunner().invoke(app, shlex.split(command), env={"COLUMNS": "120"}).stdout
        assert printed.rstrip() == shown, f"azlatency {command}"


@pages
def test_events_named_under_caveats_exist(path: Path) -> None:
    caveats = re.split(r"^## ", path.read_text("utf-8"), flags=re.MULTILINE)[SECTIONS.index("Caveats") + 1]
    for name in set(NAME.findall(caveats)) - FOREIGN:
        assert name in CODE, name
