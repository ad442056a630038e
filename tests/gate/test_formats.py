"""Formats of `azlatency compare`: escaping, JSON, Markdown, JUnit."""

from __future__ import annotations

import html
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from helpers.sides import compare, write_side

from azlatency.gate import verdict
from azlatency.gate.verdict import Judgement, judge

HOSTILE = 'az1a | <img src=x onerror=alert(1)> **b** [l](https://x.y) @all "q" \x1b[31m ]]> &amp; `c`'


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory, raw: Path) -> Iterator[Path]:
    """Write two sides in which the name of one path contains markup of every format; they are judged once."""
    folder = tmp_path_factory.mktemp("hostile")
    write_side(raw, folder / "base", "123", rename=HOSTILE)
    write_side(raw, folder / "slow", "123", scale=2.5, rename=HOSTILE)
    judged: dict[object, Judgement] = {}

    def judge_once(*sides: Any, names: object, **options: Any) -> Judgement:
        if names not in judged:
            judged[names] = judge(*sides, names=names, **options)  # type: ignore[arg-type]
        return judged[names]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(verdict, "judge", judge_once)
        yield folder


def test_json_keeps_names_unescaped(hostile: Path) -> None:
    document = json.loads(compare("base", "slow", "--format", "json", cwd=hostile).stdout)
    assert HOSTILE in {row["path"] for row in document["rows"]}


def test_the_table_escapes_control_characters(hostile: Path) -> None:
    result = compare("base", "slow", cwd=hostile)
    assert "\x1b" not in result.stdout and "\\x1b[31m" in result.stdout
    assert "CHANGED" in result.stdout and "across runs" in result.stdout


def test_markdown_fits_a_job_summary(hostile: Path) -> None:
    text = compare("base", "slow", "--format", "markdown", cwd=hostile).stdout
    assert len(text.encode()) < 1024**2
    rows = [line for line in text.splitlines() if line.startswith("| ") and "---" not in line]
    assert {line.count("|") for line in rows} == {14}, "a name with a bar makes no cell"
    outside = re.sub(r"</?(details|summary)>", "", text)
    assert "<" not in outside and "](" not in text and "@all" not in html.unescape(text)
    (row,) = (line for line in rows if "onerror" in line and "CHANGED" in line)
    shown = html.unescape(row).replace("\u200b", "")
    assert "<img src=x onerror=alert(1)> **b** [l](https://x.y) @all" in shown


#: Elements of the common JUnit schemas, with their attributes and the order of their children.
JUNIT = {
    "testsuites": (set(), ["testsuite"]),
    "testsuite": (
        {"name", "tests", "failures", "errors", "skipped", "time", "timestamp", "hostname", "id", "package"},
        ["properties", "testcase", "system-out", "system-err"],
    ),
    "properties": (set(), ["property"]),
    "property": ({"name", "value"}, []),
    "testcase": ({"name", "classname", "time"}, ["skipped", "failure"]),
    "failure": ({"message", "type"}, []),
    "skipped": ({"message"}, []),
    "system-out": (set(), []),
    "system-err": (set(), []),
}


def check_junit(text: str) -> ElementTree.Element:
    """Check every element against the schemas and return the suite."""
    root = ElementTree.fromstring(text.encode())
    assert root.tag == "testsuites" and len(root) == 1
    for element in root.iter():
        attributes, children = JUNIT[element.tag]
        assert set(element.attrib) == attributes
        order = [children.index(child.tag) for child in element]
        assert order == sorted(order)
    suite = root[0]
    cases = suite.findall("testcase")
    assert int(suite.attrib["tests"]) == len(cases)
    assert int(suite.attrib["failures"]) == len(suite.findall("testcase/failure"))
    assert int(suite.attrib["skipped"]) == len(suite.findall("testcase/skipped"))
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d", suite.attrib["timestamp"])
    assert all(case.attrib["name"] and case.attrib["classname"] for case in cases)
    return suite


def test_junit_follows_the_common_schemas(hostile: Path) -> None:
    result = compare("base", "slow", "--format", "junit", "--out", "ci/compare.xml", cwd=hostile)
    assert result.returncode == 1 and "CHANGED" in result.stdout, "the log of the job shows the table"
    suite = check_junit((hostile / "ci" / "compare.xml").read_text("utf-8"))
    assert suite.attrib["failures"] == "8"
    names = {case.attrib["classname"] for case in suite.findall("testcase")}
    assert HOSTILE.replace("\x1b", "\\x1b") in names


def test_junit_without_comparisons_contains_a_skipped_case(tmp_path: Path, raw: Path) -> None:
    write_side(raw, tmp_path / "a", "1"), write_side(raw, tmp_path / "b", "1")
    suite = check_junit(compare("a", "b", "--format", "junit", cwd=tmp_path).stdout)
    assert (suite.attrib["tests"], suite.attrib["skipped"]) == ("1", "1")
