"""What names leave open."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from helpers.places import FIXTURES

import azlatency as az
from azlatency.studies.drafts.questions import Question, answered, groups, questions
from azlatency.studies.manifest.manifest import read_manifest

PING = next(path for path in sorted((FIXTURES / "ping").glob("iputils*.log")) if "unreach" not in path.name)


def _logs(folder: Path, names: list[str]) -> tuple[az.Logs, list[str]]:
    """Write logs that differ in blank lines only, and read them."""
    for number, name in enumerate(names):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(PING.read_text("utf-8") + "\n" * number, "utf-8")
    logs = az.parse(folder)
    for row in logs.rows["sources"]:
        row["path"] = Path(row["path"]).relative_to(folder).as_posix()
    return logs, [row["path"] for row in logs.rows["sources"]]


def test_groups_are_those_of_the_draft(tmp_path: Path) -> None:
    logs, paths = _logs(tmp_path, ["az1-az2/docker_1.log", "az1-az2/docker_2.log", "az1-az2/linux_1.log"])
    assert [(group.treatment, group.repeats) for group in groups(logs, paths)] == [("docker", 2), ("linux", 1)]


@pytest.mark.parametrize(
    ("answers", "expected"),
    [
        ({}, [("ft", None), ("sp", None)]),
        ({"conditions": "no"}, [(None, None), (None, None)]),
        ({"number": "client"}, [("ft", "7"), ("sp", "8")]),
    ],
)
def test_answers_complete_the_study(
    tmp_path: Path, answers: dict[str, str], expected: list[tuple[str | None, str | None]]
) -> None:
    """With the defaults, nothing is pooled that differs; each answer does what its question says."""
    logs, paths = _logs(tmp_path, ["ft/ft_7.log", "sp/sp_8.log"])
    asked: list[Question] = []

    def ask(question: Question) -> str:
        asked.append(question)
        return next((value for word, value in answers.items() if word in question.text), question.default)

    (tmp_path / "study.toml").write_text(answered("x", logs, paths, ask), "utf-8")
    manifest = read_manifest(tmp_path)
    found = []
    for path in paths:
        run: dict[str, object] = {"heading": None}
        assert manifest.describe(run, path) == []
        found.append((run.get("scenario"), run.get("zone")))
    assert found == expected
    assert all(question.names for question in asked) and len(asked) <= 3


def test_one_client_is_asked_for(tmp_path: Path) -> None:
    logs, paths = _logs(tmp_path, ["docker.log", "linux.log"])
    assert list(questions(logs, paths)) == ["treatments", "client"]
    text = answered("x", logs, paths, lambda question: question.default or 'vm"7')
    assert re.search(r'log = \["docker.log", "linux.log"\]\nclient = "vm\\"7"', text)


def test_nothing_is_asked_if_the_names_say_all(tmp_path: Path) -> None:
    logs, paths = _logs(tmp_path, ["az1-az2/r1.log", "az1-az2/r2.log"])
    assert questions(logs, paths) == {}
