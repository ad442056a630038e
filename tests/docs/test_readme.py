"""The tutorial of the README: its commands print what it says; links lead somewhere."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from helpers.places import ROOT

README = (ROOT / "README.md").read_text("utf-8")
#: Stands before a block of Python among the commands.
PYTHON = "#!python\n"
TUTORIAL = README.partition("## Tutorial")[2].partition("\n## ")[0]


def blocks() -> list[tuple[str, str]]:
    """The fenced blocks of the tutorial: (language, content)."""
    return re.findall(r"```(\w+)\n(.*?)```", TUTORIAL, re.DOTALL)


def steps() -> list[tuple[str, str]]:
    """Commands and what they print, in order; a block of Python is a command, the text below it what it prints."""
    found: list[tuple[str, str]] = []
    for language, content in blocks():
        if language == "console":
            for part in re.split(r"^\$ ", content, flags=re.MULTILINE)[1:]:
                command, _, printed = part.partition("\n")
                found.append((command, printed))
        elif language == "python":
            found.append((f"{PYTHON}{content}", ""))
        else:
            found[-1] = (found[-1][0], content)
    return found


def matches(printed: str, due: str) -> bool:
    """The same text; an ellipsis stands for anything, line by line or for whole lines."""
    pattern = ".*".join(re.escape(part) for part in due.rstrip("\n").split("…"))
    return re.fullmatch(pattern, printed.rstrip("\n"), re.DOTALL) is not None


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A clone as the reader has it after `make report`, without the parts that the tutorial does not touch."""
    for name in ("notebooks", "tests"):
        (tmp_path / name).symlink_to(ROOT / name)
    (tmp_path / "docs").mkdir()
    shutil.copytree(ROOT / "docs" / "tutorial", tmp_path / "docs" / "tutorial")
    # The page on before and after takes these for its default.
    for name in ("westeurope-availability-set-vs-zones", "westeurope-azure-cni"):
        shutil.copytree(ROOT / "data" / "raw" / name, tmp_path / "data" / "raw" / name)
    return tmp_path


@pytest.mark.skipif(os.name != "posix" or shutil.which("sed") is None, reason="a POSIX shell's tutorial")
def test_the_tutorial_prints_what_it_says(project: Path) -> None:
    environment = {**os.environ, "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"}
    environment.pop("AZLATENCY_DATA", None)
    prepare = ["azlatency", "import", "--all"]
    subprocess.run(prepare, cwd=project, env=environment, capture_output=True, check=True)
    found = steps()
    assert len(found) >= 8 and sum("azlatency" in command for command, _ in found) >= 7
    for command, due in found:
        program = [sys.executable, "-c"] if command.startswith(PYTHON) else ["sh", "-c"]
        done = subprocess.run(
            [*program, command.removeprefix(PYTHON)], cwd=project, env=environment, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, text=True, check=False,
        )  # fmt: skip
        assert matches(done.stdout, due), f"$ {command}\n{done.stdout}\ninstead of\n{due}"
        assert done.returncode == 0, command
    assert (project / "build" / "mine" / "mine" / "01_latency.html").is_file()
    assert not subprocess.run(["sh", "-n", "build/measure.sh"], cwd=project, capture_output=True, check=True).stderr


def test_links_and_pictures_of_the_readme_are_there() -> None:
    links = re.findall(r"\]\(([^)\s]+)\)", README.replace("\n", " "))
    assert len(links) > 20
    for link in links:
        assert (ROOT / link.partition("#")[0]).exists(), link
    picture = ROOT / "docs" / "images" / "report.png"
    assert picture.read_bytes().startswith(b"\x89PNG") and picture.stat().st_size < 300_000


def test_links_between_documents_are_there() -> None:
    for page in (ROOT / "docs").rglob("*.md"):
        text = re.sub(r"```.*?```", "", page.read_text("utf-8"), flags=re.DOTALL)
        for link in re.findall(r"\]\(([^)\s]+)\)", text):
            if "://" not in link:
                assert (page.parent / link.partition("#")[0]).exists(), f"{page.name}: {link}"


def test_the_dump_is_the_tutorials_alone() -> None:
    """No other test reads it, so that it stays what an analyst would bring."""
    others = [path for path in (ROOT / "tests").rglob("*.py") if path.name != "test_readme.py"]
    assert not [path.name for path in others if "tutorial" + "/dump" in path.read_text("utf-8")]


def test_the_citation_file_holds_what_its_format_asks_for() -> None:
    """Required by version 1.2.0 of the Citation File Format; its version is the library's."""
    import yaml

    import azlatency

    content = yaml.safe_load((ROOT / "CITATION.cff").read_text("utf-8"))
    assert {"cff-version", "message", "title", "authors"} <= set(content)
    assert content["cff-version"] == "1.2.0" and content["type"] == "software" and content["license"] == "MIT"
    assert content["version"] == azlatency.__version__
    assert all(
        set(author) <= {"name", "family-names", "given-names", "alias", "orcid"} for author in content["authors"]
    )
