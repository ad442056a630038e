"""The nightly workflows and the page *Nightly in fifteen minutes*: their commands run, from an empty folder."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
import yaml
from helpers.cases import stream
from helpers.command import azlatency
from helpers.nights import MANIFEST, write_nights
from helpers.places import ROOT

CI = ROOT / "docs" / "ci"
PAGE = (ROOT / "docs" / "nightly.md").read_text("utf-8")
NAMES = ("nightly-github-actions.yml", "nightly-gitlab-ci.yml", "nightly-azure-pipelines.yml")
#: `gh issue list` and `gh issue create`, with the titles in a file.
GH = """#!/bin/sh
case "$2" in
    list) python -c 'import json; print(json.dumps([{"title": line.strip()} for line in open("'"$TOLD"'")]))' ;;
    create) echo "$4" >> "$TOLD" ;;
esac
"""
NIGHT = "tcp_lat:\n    latency   =  {value:.5g} us\n    msg_rate  =  {rate:.5g} K/sec\n"


def load(name: str) -> Any:
    return yaml.safe_load((CI / name).read_text("utf-8"))


def commands(name: str) -> str:
    """Return all shell lines of a workflow."""
    content = load(name)
    if "github" in name:
        return "\n".join(step.get("run", "") for step in content["jobs"]["nightly"]["steps"])
    if "gitlab" in name:
        return "\n".join([*content["pages"]["before_script"], *content["pages"]["script"]])
    return "\n".join(step.get("script", "") for step in content["steps"])


@pytest.mark.parametrize("name", NAMES)
def test_every_workflow_measures_appends_keeps_judges_and_reports(name: str) -> None:
    text = commands(name)
    steps = ("sh measure.sh", "--append", "git add data/raw", "git push", "azlatency history", "azlatency report")
    assert [wanted for wanted in steps if wanted not in text] == []
    assert text.index("--append") < text.index("git add data/raw") and '--since "$SINCE"' in text
    for words in re.findall(r"azlatency (\w+)(.*?)(?:\|\||>|$)", text, re.MULTILINE):
        options = azlatency(words[0], "--help").stdout
        assert all(option in options for option in re.findall(r"--[a-z]+", words[1]))
    assert f"({CI.name}/{name})" in PAGE


def test_the_github_workflow_pins_its_actions_and_pastes_nothing() -> None:
    for step in load(NAMES[0])["jobs"]["nightly"]["steps"]:
        assert ("uses" in step) != ("run" in step) and "${{" not in step.get("run", "")
        assert "uses" not in step or re.fullmatch(r"[\w-]+/[\w-]+@[0-9a-f]{40}", step["uses"])


def _project(tmp_path: Path, environment: dict[str, str]) -> Path:
    """Return a checkout with 30 nights, of which the last ten are 15 % slower, and its remote repository."""

    def git(*words: str, cwd: Path) -> None:
        subprocess.run(
            ["git", "-c", "user.name=a", "-c", "user.email=a@b", *words], cwd=cwd, env=environment, check=True
        )

    git("init", "-q", "--bare", "-b", "main", "remote.git", cwd=tmp_path)
    git("clone", "-q", "remote.git", "project", cwd=tmp_path)
    project = tmp_path / "project"
    nights = project / "data" / "raw" / "nightly"
    first = datetime.now(UTC).date() - timedelta(days=30)
    values = 450 * stream(81).lognormal(0, 0.02, 31)
    write_nights(nights, {"az1-az2": [value * (1.15 if night >= 20 else 1) for night, value in enumerate(values[:30])]})
    folders = sorted(path for path in nights.iterdir() if path.is_dir())
    for number, folder in reversed(list(enumerate(folders))):
        folder.rename(nights / str(first + timedelta(days=number)))
    (project / "measure.sh").write_text(
        f'mkdir -p "$1/az1-az2"\ncat > "$1/az1-az2/qperf.log" <<END\n{NIGHT.format(value=517.4, rate=1.9327)}END\n'
    )
    (project / ".gitignore").write_text("build/\ndata/processed/\n")
    git("add", "-A", cwd=project)
    git("commit", "-q", "-m", "Nights", cwd=project)
    git("push", "-q", "-u", "origin", "main", cwd=project)
    return project


@pytest.mark.slow
@pytest.mark.skipif(not (shutil.which("bash") and shutil.which("git")), reason="no bash or no git")
def test_the_steps_of_the_github_workflow_run_and_a_change_opens_one_issue(tmp_path: Path) -> None:
    """As the runner runs them, two nights; the report is left out, and `gh` keeps titles in a file."""
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "gh").write_text(GH)
    (tmp_path / "bin" / "gh").chmod(0o755)
    path = os.pathsep.join([str(tmp_path / "bin"), str(Path(sys.executable).parent), os.environ["PATH"]])
    environment = {
        **os.environ, **load(NAMES[0])["env"], "PATH": path, "TOLD": str(tmp_path / "told"), "HOME": str(tmp_path),
        "GITHUB_STEP_SUMMARY": str(tmp_path / "summary.md"), "GITHUB_OUTPUT": str(tmp_path / "output"),
    }  # fmt: skip
    project = _project(tmp_path, environment)
    (project / "build" / "site").mkdir(parents=True)
    (project / "build" / "site" / "index.html").write_text("<p>report</p>")
    (tmp_path / "told").touch()

    def run(step: Any) -> subprocess.CompletedProcess[str]:
        words = ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]]
        return subprocess.run(words, cwd=project, env=environment, capture_output=True, text=True, check=False)

    steps = {step.get("name", ""): step for step in load(NAMES[0])["jobs"]["nightly"]["steps"] if "run" in step}
    verdict = steps.pop("Verdict")
    failed = {name: done.stderr for name, step in steps.items() if name not in ("Set up", "Report")
              if (done := run(step)).returncode}  # fmt: skip
    assert not failed
    environment["CODE"] = (tmp_path / "output").read_text().strip().removeprefix("code=")
    assert run(verdict).returncode == 1
    titles = (tmp_path / "told").read_text("utf-8").splitlines()
    assert len(titles) == 1
    assert re.fullmatch(r"Latency changed: zone 1 → zone 2, qperf tcp_lat.*, mean, on \d{4}-\d\d-\d\d", titles[0])
    again = run(verdict)
    assert again.returncode == 0 and not again.stderr, "the next night, the same change has its issue"
    assert (tmp_path / "told").read_text("utf-8").splitlines() == titles
    assert "zone 1 → zone 2" in (tmp_path / "summary.md").read_text("utf-8")

    def kept(branch: str) -> str:
        words = ["git", "ls-tree", "-r", "--name-only", branch]
        return subprocess.run(words, cwd=tmp_path / "remote.git", capture_output=True, text=True, check=True).stdout

    assert f"data/raw/nightly/{datetime.now(UTC):%Y-%m-%d}/az1-az2/qperf.log" in kept("main")
    assert kept("gh-pages").split() == ["index.html"]


@pytest.mark.slow
def test_the_commands_of_the_page_run(tmp_path: Path) -> None:
    """All but the installation and the report, which other tests run; the logs of 25 nights are given."""
    blocks = re.findall(r"^```sh\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)
    assert azlatency(*blocks[0].splitlines()[0].split()[1:], cwd=tmp_path).returncode == 0
    project = tmp_path / "zones-nightly"
    manifest = re.search(r"<<'END'\n(.*?)END", blocks[1], re.DOTALL)
    assert manifest
    (project / "data" / "raw" / "nightly").mkdir(parents=True)
    (project / "data" / "raw" / "nightly" / "study.toml").write_text(manifest[1], "utf-8")
    values = [float(value) for value in 450 * stream(82).lognormal(0, 0.02, 25)]
    nights = write_nights(tmp_path / "nights", {"az1-az2": values})
    assert date.fromisoformat("2026-09-01") and (nights / "2026-09-01").is_dir()
    for night in sorted(path for path in nights.iterdir() if path.is_dir()):
        words = [night if word == "2026-09-01" else word for word in blocks[2].split()[1:]]
        assert azlatency(*words, cwd=project).returncode == 0
    verdict = azlatency(*blocks[3].split()[1:], "--format", "json", cwd=project)
    assert verdict.returncode == 0 and [series["n"] for series in json.loads(verdict.stdout)["series"]] == [25]
    export = blocks[4].splitlines()[1]
    assert azlatency(*export.split()[1:], cwd=project).returncode == 0 and (project / "history.duckdb").is_file()
    assert MANIFEST.splitlines()[0] in manifest[1]
