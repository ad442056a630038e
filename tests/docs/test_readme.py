"""The README and the tutorial: their code prints what they show, links and files exist."""

from __future__ import annotations

import contextlib
import io
import os
import re
import shlex
import shutil
import subprocess
from pathlib import Path

import pytest
from helpers.blocks import PYTHON, console_steps, is_run, matches, numbers
from helpers.command import azlatency, on_screen
from helpers.places import ROOT
from helpers.terminal import on_terminal

README = (ROOT / "README.md").read_text("utf-8")
TUTORIAL = (ROOT / "docs" / "tutorial" / "README.md").read_text("utf-8")


def run(command: str, columns: int, folder: Path, *, in_process: bool = False) -> tuple[int, str]:
    """Run a step on a terminal and return its exit code and output; a block of Python runs in this process.

    So does, if ``in_process``, a command line of azlatency alone.
    """
    if command.startswith(PYTHON):
        with contextlib.redirect_stdout(io.StringIO()) as printed:
            exec(command.removeprefix(PYTHON), {})
        return 0, printed.getvalue()
    alone = in_process and command.startswith("azlatency ") and not {*"|;"} & {*command}
    return (on_screen if alone else on_terminal)(command, columns, folder)


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


def test_the_first_answer_is_the_one_that_is_shown(tmp_path: Path, raw: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "data" / "raw").mkdir(parents=True)
    (tmp_path / "data" / "raw" / "emulated-zones").symlink_to(raw / "emulated-zones")
    ((command, due),) = console_steps(README.partition("```python")[0])
    monkeypatch.delenv("AZLATENCY_DATA", raising=False)
    _, folders = shlex.split(command)
    places = sorted(path.relative_to(tmp_path) for path in tmp_path.glob(folders))
    code, printed = on_screen(" ".join(["azlatency", *map(str, places)]), 120, tmp_path)
    assert (code, printed.rstrip("\n")) == (0, due.rstrip("\n"))


def test_the_code_of_the_readme_runs(
    tmp_path: Path, raw: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    shutil.copytree(raw / "emulated-zones" / "sockperf" / "az1a-az2a", tmp_path / "results")
    monkeypatch.chdir(tmp_path)
    exec(README.partition("```python\n")[2].partition("```")[0], {})
    assert capsys.readouterr().out.startswith("? → 10.2.2.4, sockperf TCP: 226 µs, 95 % CI 226–")


@pytest.mark.costly
@pytest.mark.skipif(os.name != "posix" or shutil.which("sed") is None, reason="needs a POSIX shell")
def test_the_tutorial_prints_what_it_shows(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("AZLATENCY_DATA", raising=False)
    monkeypatch.chdir(project)
    pages = (project / "notebooks" / "09_before_after.ipynb").exists()
    if pages:
        assert azlatency("import", "--all").returncode == 0
    commands = console_steps(TUTORIAL)
    assert len(commands) >= 8 and sum("azlatency" in command for command, _ in commands) >= 7
    for command, due in commands:
        # Tests of the site build reports.
        if is_run(command) and (pages or not command.startswith("azlatency report")):
            code, printed = run(command, 120, project, in_process=not pages)
            assert matches(printed, due), f"$ {command}\n{printed}\nexpected\n{due}"
            assert code == 0, command
            # What writes files would find them there.
            if pages and not {"import", "report", "sed"} & set(command.split()) and not command.startswith(PYTHON):
                code, narrow = run(command, 80, project)
                assert code == 0 and numbers(narrow) <= numbers(printed), f"$ {command}\n{narrow}"
    assert (project / "build" / "mine" / "mine" / "01_latency.html").is_file() == pages
    assert not subprocess.run(["sh", "-n", "build/measure.sh"], cwd=project, capture_output=True, check=True).stderr


@pytest.mark.slow  # the test above, at another width
@pytest.mark.skipif(os.name != "posix", reason="needs a pseudo terminal")
def test_the_first_import_works_on_a_narrow_terminal(tmp_path: Path) -> None:
    shutil.copytree(ROOT / "docs" / "tutorial", tmp_path / "docs" / "tutorial")
    code, printed = on_terminal("azlatency import docs/tutorial/dump.zip --study mine", 80, tmp_path)
    assert code == 0 and "Traceback" not in printed
    assert (tmp_path / "data" / "raw" / "mine" / "study.toml").stat().st_size


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
