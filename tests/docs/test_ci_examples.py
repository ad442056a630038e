"""The example workflows of docs/ci: well-formed by the vendors' reference, and their commands do what they say."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

import pytest
import yaml
from helpers.places import ROOT

CI = ROOT / "docs" / "ci"
EXAMPLES = {
    "github-workflows": "github-actions.yml",
    "gitlab-ci": "gitlab-ci.yml",
    "azure-pipelines": "azure-pipelines.yml",
}


def load(name: str) -> Any:
    """YAML 1.2 as the vendors read it: ``on`` is a word, not true."""

    class Loader(yaml.SafeLoader):
        pass

    Loader.yaml_implicit_resolvers = {
        first: [(tag, pattern) for tag, pattern in resolvers if tag != "tag:yaml.org,2002:bool"]
        for first, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items()
    }
    Loader.add_implicit_resolver("tag:yaml.org,2002:bool", re.compile(r"^(?:true|false)$"), list("tf"))
    return yaml.load((CI / name).read_text("utf-8"), Loader)


def commands(name: str) -> str:
    """All shell lines of an example."""
    content = load(name)
    if name.startswith("github"):
        return "\n".join(step.get("run", "") for step in content["jobs"]["compare"]["steps"])
    if name.startswith("gitlab"):
        return "\n".join([*content["latency"]["before_script"], *content["latency"]["script"]])
    return "\n".join(step.get("script", "") for step in content["steps"])


def test_github_actions() -> None:
    """Keys by the workflow syntax reference: each step uses an action at a version or runs a script."""
    content = load("github-actions.yml")
    assert set(content) <= {"name", "on", "permissions", "env", "jobs", "defaults", "concurrency"}
    assert set(content["on"]) <= {"pull_request", "push", "workflow_dispatch", "schedule"}
    for job in content["jobs"].values():
        assert set(job) <= {"runs-on", "timeout-minutes", "steps", "needs", "env", "if"} and job["steps"]
        identities = [step["id"] for step in job["steps"] if "id" in step]
        for step in job["steps"]:
            assert set(step) <= {"name", "id", "if", "uses", "with", "run", "env"}
            assert ("uses" in step) != ("run" in step)
            assert "uses" not in step or re.fullmatch(r"[\w-]+/[\w-]+@[0-9a-f]{40}", step["uses"])
            for identity in re.findall(r"steps\.(\w+)\.outputs", str(step)):
                assert identity in identities
        # What a run step reads of the outside comes through the environment, never pasted into the script.
        assert not any("${{" in step.get("run", "") for step in job["steps"])


def test_gitlab() -> None:
    content = load("gitlab-ci.yml")
    known = {
        "stage",
        "image",
        "timeout",
        "rules",
        "before_script",
        "script",
        "after_script",
        "allow_failure",
        "artifacts",
    }
    job = content["latency"]
    assert set(job) <= known and job["stage"] in content["stages"]
    assert job["allow_failure"] == {"exit_codes": 3}
    assert set(job["artifacts"]) <= {"when", "paths", "reports", "expire_in"} and job["artifacts"]["when"] == "always"
    assert all(isinstance(line, str) for line in [*job["script"], *job["before_script"]])
    assert " compare " in job["script"][-1], "its exit code is the job's"


def test_azure_pipelines() -> None:
    content = load("azure-pipelines.yml")
    assert set(content) <= {"trigger", "pr", "pool", "variables", "steps"} and set(content["pool"]) == {"vmImage"}
    for step in content["steps"]:
        (kind,) = {"task", "script", "publish", "checkout"} & set(step)
        assert set(step) - {kind} <= {"displayName", "inputs", "condition", "artifact", "env"}
        assert kind != "task" or re.fullmatch(r"\w+@\d+", step["task"])


@pytest.mark.parametrize("name", EXAMPLES.values())
def test_every_example_compares_reports_and_runs_a_notebook(name: str) -> None:
    text = commands(name)
    for wanted in (
        "python -m pip install -r requirements.txt",
        "azlatency import --all",
        "azlatency compare",
        "azlatency report",
        "papermill notebooks/",
    ):
        assert wanted in text
    for option in set(re.findall(r"(?<=\s)--[a-z]+", text)):
        assert option in {"--all", "--margin", "--format", "--out", "--study"}


@pytest.mark.skipif(shutil.which("check-jsonschema") is None, reason="no check-jsonschema")
@pytest.mark.parametrize("schema", EXAMPLES)
def test_examples_follow_the_schemas_of_the_vendors(schema: str) -> None:
    words = ["check-jsonschema", "--builtin-schema", f"vendor.{schema}", str(CI / EXAMPLES[schema])]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("bash") is None, reason="no bash")
def test_the_github_steps_run_and_a_change_fails_the_job(tmp_path: Path) -> None:
    """Its scripts from import to verdict, as the runner runs them, on a base and a slower candidate (real logs)."""
    (tmp_path / "notebooks").symlink_to(ROOT / "notebooks")
    for name, archive in (("main", "base"), ("candidate", "slower")):
        with zipfile.ZipFile(ROOT / "tests" / "compare" / f"{archive}.zip") as packed:
            packed.extractall(tmp_path / "data" / "raw" / name)
    content = load("github-actions.yml")
    summary, output = tmp_path / "summary.md", tmp_path / "output"
    environment = {
        **os.environ, **content["env"], "MARGIN": "5%", "GITHUB_STEP_SUMMARY": str(summary),
        "GITHUB_OUTPUT": str(output), "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
    }  # fmt: skip
    done = {}
    for step in content["jobs"]["compare"]["steps"]:
        if step.get("name") not in ("Import", "Compare", "Run one notebook with papermill", "Verdict"):
            continue
        if step["name"] == "Verdict":
            environment["CODE"] = output.read_text().strip().removeprefix("code=")
        words = ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]]
        done[step["name"]] = subprocess.run(
            words, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
        )
    for name in ("Import", "Compare", "Run one notebook with papermill"):
        assert done[name].returncode == 0, done[name].stderr
    assert output.read_text() == "code=1\n"
    assert done["Verdict"].returncode == 1 and "::error::Changed by more than 5%" in done["Verdict"].stdout
    assert summary.read_text("utf-8").startswith("### ❌ Changed by more than the margin of 5%")
    assert (tmp_path / "build" / "compare.xml").is_file()
    page = (tmp_path / "build" / "before_after.ipynb").read_text("utf-8")
    assert "az1a \\u2192 az2a" in page or "az1a → az2a" in page
