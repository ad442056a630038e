"""The README: its code runs, the tutorial prints what it shows, links and files exist."""

from __future__ import annotations

import contextlib
import io
import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from helpers.command import azlatency
from helpers.places import ROOT

README = (ROOT / "README.md").read_text("utf-8")
#: Marks a block of Python among the commands.
PYTHON = "#!python\n"
TUTORIAL = README.partition("## Tutorial")[2].partition("\n## ")[0]


def blocks() -> list[tuple[str, str]]:
    """The fenced blocks of the tutorial: (language, content)."""
    return re.findall(r"```(\w+)\n(.*?)```", TUTORIAL, re.DOTALL)


def steps() -> list[tuple[str, str]]:
    """Return the commands and their output in order; a block of Python is a command, followed by its output."""
    commands: list[tuple[str, str]] = []
    for language, content in blocks():
        if language == "console":
            for part in re.split(r"^\$ ", content, flags=re.MULTILINE)[1:]:
                command, _, printed = part.partition("\n")
                commands.append((command, printed))
        elif language == "python":
            commands.append((f"{PYTHON}{content}", ""))
        else:
            commands[-1] = (commands[-1][0], content)
    return commands


def run(command: str) -> tuple[int, str]:
    """Run a step and return its exit code and output; what needs a shell or starts kernels runs in another process."""
    if command.startswith(PYTHON):
        with contextlib.redirect_stdout(io.StringIO()) as printed:
            exec(command.removeprefix(PYTHON), {})
        return 0, printed.getvalue()
    if command.startswith("azlatency ") and not set(command) & set("|;<>$") and "report" not in command:
        done = azlatency(*shlex.split(command)[1:], merged=True)
        return done.returncode, done.stdout
    done = subprocess.run(
        ["sh", "-c", command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False
    )
    return done.returncode, done.stdout


def matches(printed: str, due: str) -> bool:
    """Compare output; an ellipsis matches anything, inside a line or for whole lines."""
    pattern = ".*".join(re.escape(part) for part in due.rstrip("\n").split("…"))
    return re.fullmatch(pattern, printed.rstrip("\n"), re.DOTALL) is not None


@pytest.fixture(
    params=[pytest.param("", id="without-report"), pytest.param("*.ipynb", id="all-pages", marks=pytest.mark.slow)]
)
def project(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """Create the part of a clone that the tutorial uses; without notebooks there is no report."""
    (tmp_path / "tests").symlink_to(ROOT / "tests")
    (tmp_path / "notebooks").mkdir()
    for notebook in (ROOT / "notebooks").glob(request.param) if request.param else ():
        (tmp_path / "notebooks" / notebook.name).symlink_to(notebook)
    shutil.copytree(ROOT / "docs" / "tutorial", tmp_path / "docs" / "tutorial")
    # The default studies of the page "before and after".
    for name in ("westeurope-availability-set-vs-zones", "westeurope-azure-cni"):
        shutil.copytree(ROOT / "data" / "raw" / name, tmp_path / "data" / "raw" / name)
    return tmp_path


def test_the_first_code_block_prints_what_it_shows(tmp_path: Path, raw: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shutil.copytree(raw / "emulated-zones" / "sockperf" / "az1a-az2a", tmp_path / "results")
    monkeypatch.chdir(tmp_path)
    block, _, rest = README.partition("```python\n")[2].partition("```")
    statement, _, expression = block.rstrip().rpartition("\n")
    names: dict[str, object] = {}
    exec(statement, names)
    shown = rest.partition("```text\n")[2].partition("```")[0]
    # By hand from pp_tcp_r1.txt: the printed percentile 50 is 117.503 µs, half of a round trip.
    assert str(eval(expression, names)).split() == shown.split() and "235006.0" in shown


@pytest.mark.skipif(os.name != "posix" or shutil.which("sed") is None, reason="needs a POSIX shell")
def test_the_tutorial_prints_what_it_shows(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.delenv("AZLATENCY_DATA", raising=False)
    monkeypatch.chdir(project)
    pages = (project / "notebooks" / "09_before_after.ipynb").exists()
    if pages:
        assert azlatency("import", "--all").returncode == 0
    commands = steps()
    assert len(commands) >= 8 and sum("azlatency" in command for command, _ in commands) >= 7
    for command, due in commands:
        if command.startswith("azlatency report") and not pages:
            continue  # tests of the site build reports
        code, printed = run(command)
        assert matches(printed, due), f"$ {command}\n{printed}\nexpected\n{due}"
        assert code == 0, command
    assert (project / "build" / "mine" / "mine" / "01_latency.html").is_file() == pages
    assert not subprocess.run(["sh", "-n", "build/measure.sh"], cwd=project, capture_output=True, check=True).stderr


def test_links_and_pictures_of_the_readme_exist() -> None:
    links = re.findall(r"\]\(([^)\s]+)\)", README.replace("\n", " "))
    assert len(links) > 20
    for link in links:
        assert (ROOT / link.partition("#")[0]).exists(), link
    picture = ROOT / "docs" / "images" / "report.png"
    assert picture.read_bytes().startswith(b"\x89PNG") and picture.stat().st_size < 300_000


def test_links_between_documents_exist() -> None:
    for page in (ROOT / "docs").rglob("*.md"):
        text = re.sub(r"```.*?```", "", page.read_text("utf-8"), flags=re.DOTALL)
        for link in re.findall(r"\]\(([^)\s]+)\)", text):
            if "://" not in link:
                assert (page.parent / link.partition("#")[0]).exists(), f"{page.name}: {link}"


def test_only_the_tutorial_uses_its_dump() -> None:
    """No other test depends on the dump, so it can change with the tutorial."""
    others = [path for path in (ROOT / "tests").rglob("*.py") if path.name != "test_readme.py"]
    assert not [path.name for path in others if "tutorial" + "/dump" in path.read_text("utf-8")]


def test_the_citation_file_is_valid_and_the_archive_says_the_same() -> None:
    """It has the keys that Citation File Format 1.2.0 requires, and the version of the library."""
    import json

    import yaml

    import azlatency

    content = yaml.safe_load((ROOT / "CITATION.cff").read_text("utf-8"))
    assert {"cff-version", "message", "title", "authors"} <= set(content)
    assert content["cff-version"] == "1.2.0" and content["type"] == "software" and content["license"] == "MIT"
    assert content["version"] == azlatency.__version__
    assert all(
        set(author) <= {"name", "family-names", "given-names", "alias", "orcid"} for author in content["authors"]
    )
    deposit = json.loads((ROOT / ".zenodo.json").read_text("utf-8"))
    for name in ("title", "version", "license", "keywords"):
        assert deposit[name] == content[name]
    assert deposit["description"] == " ".join(content["abstract"].split())
    assert [author["name"] for author in deposit["creators"]] == [author["name"] for author in content["authors"]]
