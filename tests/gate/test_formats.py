"""Formats of `azlatency compare`: escaping, JSON, Markdown, JUnit."""

from __future__ import annotations

import html
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pandas as pd
import pytest
from helpers.results import compare_runs
from helpers.sides import compare, write_side

from azlatency.gate import comparison_sheet, verdict
from azlatency.gate.verdict import Decision, Judgement, judge
from azlatency.stats.rows import Row

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


@pytest.mark.slow
def test_json_keeps_names_unescaped(hostile: Path) -> None:
    document = json.loads(compare("base", "slow", "--format", "json", cwd=hostile).stdout)
    assert HOSTILE in {row["path"] for row in document["rows"]}


@pytest.mark.costly
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


def _row(decision: Decision, candidate: list[float], *, needed: int | None = None, low: int | None = None) -> Row:
    """A row of five runs of 100 µs or so against a candidate; its interval, and a plan if it is inconclusive."""
    values = {"base": [100.0, 101, 99, 100, 102], "candidate": candidate}
    base, other = (pd.DataFrame({"median_ns": [1e3 * value for value in some]}) for some in values.values())
    row = compare_runs(other, base, value="median_ns") | {"p_beyond": 0.08}
    plan = {"done": 5, "needed": needed, "needed_low": low, "needed_high": 2509}
    if decision != "inconclusive":
        plan = dict.fromkeys(plan)
    (judged,) = verdict.decide(pd.DataFrame([row]), 0.95).to_dict("records")
    assert judged["decision"] == decision
    row = {str(name): cell for name, cell in judged.items()} | plan
    return {**row, "reason": verdict.reason(row)}


def test_the_interval_that_decides_is_shown() -> None:
    row = _row("within", [100.0, 101, 99, 100, 103])
    assert row["verdict"] == "equivalent"
    low, high = row["inner_low"], row["inner_high"]
    assert comparison_sheet._interval(row) == f"{low:.3f} – {high:.3f} (90 %)" and high < 1.05


def test_a_change_that_may_be_chance_among_all_rows_is_named() -> None:
    row = _row("inconclusive", [130.0, 131, 129, 133, 128], needed=20)
    assert row["ratio_low"] > 1.05 and row["cause"] == "family"
    assert "not significant among all rows, p = 0.08" in row["reason"]
    assert _row("inconclusive", [100.0, 101, 99, 100, 120], needed=20)["cause"] == ""
    assert _row("inconclusive", [106.0, 107, 105, 106, 108], needed=20)["cause"] == "margin"


@pytest.mark.parametrize(
    ("needed", "low", "shown"), [(2509, 80, "over 200"), (None, 3, "3 – over 200"), (35, 20, "35")]
)
def test_more_than_two_hundred_runs_are_no_advice(needed: int | None, low: int, shown: str) -> None:
    row = _row("inconclusive", [100.0, 101, 99, 100, 120], needed=needed, low=low)
    assert comparison_sheet._runs_needed(row) == shown
    assert ("accept a wider margin" in row["reason"]) == (shown == "over 200") == (not verdict.is_feasible(row))
