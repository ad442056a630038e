"""`azlatency compare`: exit codes, what is compared, and escaping in every format."""

from __future__ import annotations

import csv
import html
import json
import re
import zipfile
from pathlib import Path
from xml.etree import ElementTree

import pytest
from helpers.command import Completed, azlatency
from helpers.places import TESTS

HOSTILE = 'az1a | <img src=x onerror=alert(1)> **b** [l](https://x.y) @all "q" \x1b[31m ]]> &amp; `c`'


def write_side(raw: Path, folder: Path, rounds: str, *, scale: float = 1.0, rename: str | None = None) -> Path:
    """Write qperf logs of some rounds; ``scale`` multiplies the printed latencies and adjusts the message rates."""

    def scaled(found: re.Match[str]) -> str:
        return f"{found[1]}{float(found[2]) * scale:.6g}{found[3]}{float(found[4]) / scale:.6g}"

    source = raw / "emulated-zones"
    rows = [
        row
        for row in csv.DictReader((source / "runs.csv").read_text("utf-8").splitlines())
        if row["round"] and row["round"] in rounds and "qperf/" in row["log"] and "vvs" in row["log"]
    ]
    for row in rows:
        target = folder / row["log"]
        target.parent.mkdir(parents=True, exist_ok=True)
        text = (source / row["log"]).read_text("utf-8")
        pattern = r"(latency\s+=\s+)([\d.]+)( us\n\s+msg_rate\s+=\s+)([\d.]+)"
        target.write_text(re.sub(pattern, scaled, text) if scale != 1 else text, "utf-8")
        if rename and row["scenario"] == "az1a → az2a":
            row["scenario"] = rename
    (folder / "study.toml").write_text('[study]\nregion = "emulated"\nruns = "runs.csv"\n', "utf-8")
    with (folder / "runs.csv").open("w", encoding="utf-8", newline="") as stream:
        writer = csv.DictWriter(stream, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    return folder


def compare(*arguments: object, cwd: Path) -> Completed:
    return azlatency("compare", *arguments, cwd=cwd, AZLATENCY_DATA=str(cwd / "data"))


def test_rounds_without_a_change_are_inconclusive_with_too_few_runs(tmp_path: Path, raw: Path) -> None:
    """Rounds 1 and 3 against round 2: nothing changed, and there are too few runs to show it."""
    write_side(raw, tmp_path / "a", "13"), write_side(raw, tmp_path / "b", "2")
    for base, candidate in ("ab", "ba"):
        result = compare(base, candidate, "--format", "json", cwd=tmp_path)
        assert result.returncode == 3
        found = json.loads(result.stdout)
        assert found["outcome"] == "undetermined" and found["exit_code"] == 3
        assert {row["verdict"] for row in found["rows"]} == {"undetermined"}
        row = next(row for row in found["rows"] if row["path"] == "az1a → az1b" and row["method"] == "qperf tcp_lat")
        assert row["codes"] == "no_replication" and row["ratio"] is None
        assert row["runs_needed_low"] == 5 and row["runs_needed_high"] == 79
        assert "5 to 79 runs on each side are needed to show it" in row["reason"]


def test_a_scaled_copy_is_reported_as_changed(tmp_path: Path, raw: Path) -> None:
    write_side(raw, tmp_path / "base", "123"), write_side(raw, tmp_path / "slow", "123", scale=2.5)
    result = compare("base", "slow", "--format", "json", cwd=tmp_path)
    assert result.returncode == 1
    found = json.loads(result.stdout)
    beyond = [row for row in found["rows"] if row["verdict"] == "beyond"]
    assert len(beyond) == 8 and {row["method"] for row in beyond} == {"qperf tcp_lat"}
    for row in beyond:
        assert row["ratio"] == pytest.approx(2.5, rel=1e-4)
        assert row["ratio_low"] > 1.05 and row["scope"] == "across_runs" and row["p_beyond"] <= 0.05
    assert compare("slow", "base", cwd=tmp_path).returncode == 1, "faster is a change too"
    assert compare("base", "slow", "--margin", "300%", "--path", "az2a → az3a", cwd=tmp_path).returncode == 3
    only = compare("base", "slow", "--margin", "300%", "--path", "az2a → az3a", "--metric", "mean", cwd=tmp_path)
    assert "no change" in only.stdout and "one run" in only.stdout, "tcp_lat within, udp_lat ran once"


def test_identical_logs_on_both_sides_are_left_out(tmp_path: Path, raw: Path) -> None:
    write_side(raw, tmp_path / "a", "123"), write_side(raw, tmp_path / "b", "123")
    result = compare("a", "b", cwd=tmp_path)
    assert result.returncode == 3
    assert "logs are on both sides, byte for byte, and left out" in result.stdout


def test_paths_missing_in_the_candidate_prevent_an_unchanged_outcome(tmp_path: Path, raw: Path) -> None:
    write_side(raw, tmp_path / "a", "123"), write_side(raw, tmp_path / "b", "23", scale=1.0001)
    result = compare("a", "b", "--format", "json", cwd=tmp_path)
    found = json.loads(result.stdout)
    assert "az1a → az1b, qperf udp_lat (latency)" in found["only_in_base"]
    assert result.returncode == 3


def test_a_side_can_be_a_study_an_archive_or_a_log(tmp_path: Path, raw: Path) -> None:
    write_side(raw, tmp_path / "data" / "raw" / "mine", "123"), write_side(raw, tmp_path / "slow", "123", scale=2.5)
    with zipfile.ZipFile(tmp_path / "slow.zip", "w") as archive:
        for file in (tmp_path / "slow").rglob("*.*"):
            archive.write(file, Path("slow") / file.relative_to(tmp_path / "slow"))
    result = compare("mine", "slow.zip", "--format", "json", cwd=tmp_path)
    assert result.returncode == 1, "the manifest inside the archive was found"
    assert (tmp_path / "data" / "processed" / "mine" / "runs.parquet").is_file()
    logs = [next((tmp_path / name).rglob("vvs_r1.txt")) for name in ("slow", "data")]
    alone = compare(*logs, cwd=tmp_path)
    assert alone.returncode == 3 and "path unknown" in alone.stdout, "a qperf log names neither end"


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["nothing", "a"], "nothing: not a study, a file or a folder; known studies: none"),
        (["a", "a", "--margin", "banana"], "margin 'banana'"),
        (["a", "a", "--margin", "-5%"], "margin '-5%'"),
        (["a", "a", "--metric", "p42x"], "unknown metric 'p42x'; choose from latency"),
        (["a", "a", "--confidence", "2"], "confidence"),
        (["a"], "Missing argument"),
        (["a", "empty"], "empty: contains no run"),
    ],
)
def test_usage_errors_exit_2_with_a_reason(tmp_path: Path, raw: Path, arguments: list[str], says: str) -> None:
    write_side(raw, tmp_path / "a", "12")
    (tmp_path / "empty").mkdir()
    result = compare(*arguments, cwd=tmp_path)
    assert result.returncode == 2
    assert says in " ".join(result.stderr.replace("│", " ").split())


def test_percentiles_and_throughput_can_be_compared(tmp_path: Path, raw: Path) -> None:
    source = raw / "emulated-zones" / "sockperf"
    for name, rounds in (("a", "12"), ("b", "3")):
        for at in rounds:
            target = tmp_path / name / f"az1a-az2a_{at}.txt"
            target.parent.mkdir(exist_ok=True)
            target.write_bytes((source / "az1a-az2a" / f"pp_tcp_r{at}.txt").read_bytes())
        entry = '[study]\nregion = "emulated"\n[[run]]\nlog = "*"\nscenario = "az1a → az2a"\n'
        (tmp_path / name / "study.toml").write_text(entry, "utf-8")
    found = json.loads(
        compare("a", "b", "--metric", "p99", "--metric", "p99.9", "--format", "json", cwd=tmp_path).stdout
    )
    assert [row["metric"] for row in found["rows"]] == ["p99", "p99.9"]
    assert all((row["runs_after"], row["runs_before"]) == (1, 2) for row in found["rows"])
    write_side(raw, tmp_path / "c", "12"), write_side(raw, tmp_path / "d", "3")
    found = json.loads(compare("c", "d", "--metric", "throughput", "--format", "json", cwd=tmp_path).stdout)
    assert {row["method"] for row in found["rows"]} == {"qperf tcp_bw"}


# --- formats


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory, raw: Path) -> Path:
    """Write two sides in which the name of one path contains markup of every format."""
    folder = tmp_path_factory.mktemp("hostile")
    write_side(raw, folder / "base", "123", rename=HOSTILE)
    write_side(raw, folder / "slow", "123", scale=2.5, rename=HOSTILE)
    return folder


def test_json_keeps_names_unescaped(hostile: Path) -> None:
    found = json.loads(compare("base", "slow", "--format", "json", cwd=hostile).stdout)
    assert HOSTILE in {row["path"] for row in found["rows"]}


def test_the_table_escapes_control_characters(hostile: Path) -> None:
    result = compare("base", "slow", cwd=hostile)
    assert "\x1b" not in result.stdout and "\\x1b[31m" in result.stdout
    assert "CHANGED" in result.stdout and "across runs" in result.stdout


def test_markdown_fits_a_job_summary(hostile: Path) -> None:
    text = compare("base", "slow", "--format", "markdown", cwd=hostile).stdout
    assert len(text.encode()) < 1024**2
    rows = [line for line in text.splitlines() if line.startswith("| ") and "---" not in line]
    assert {line.count("|") for line in rows} == {12}, "a name with a bar makes no cell"
    outside = re.sub(r"</?(details|summary)>", "", text)
    assert "<" not in outside and "](" not in text and "@all" not in html.unescape(text)
    (row,) = (line for line in rows if "onerror" in line and "tcp" in line)
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


# --- recorded logs: ten rounds with a one-way delay of 200 µs, and ten with 260 µs


def half(folder: Path, archive: str, odd: bool) -> Path:
    """Keep only the odd or only the even rounds of a recorded study."""
    with zipfile.ZipFile(TESTS / "compare" / f"{archive}.zip") as packed:
        packed.extractall(folder)
    rows = list(csv.DictReader((folder / "runs.csv").read_text("utf-8").splitlines()))
    for row in rows:
        if row["round"] and (int(row["round"]) % 2 == 1) != odd:
            (folder / row["log"]).unlink()
    return folder


@pytest.mark.parametrize("archive", ["base", "slower"])
def test_odd_against_even_rounds_of_one_study_never_change(tmp_path: Path, archive: str) -> None:
    half(tmp_path / "odd", archive, True), half(tmp_path / "even", archive, False)
    for metrics in (["latency"], ["mean"], ["p99"], ["throughput"], ["latency", "mean", "p90", "throughput"]):
        options = [word for metric in metrics for word in ("--metric", metric)]
        assert compare("odd", "even", *options, cwd=tmp_path).returncode in (0, 3)


def test_no_change_is_shown_with_enough_runs(tmp_path: Path) -> None:
    half(tmp_path / "odd", "base", True), half(tmp_path / "even", "base", False)
    result = compare("odd", "even", "--tool", "sockperf", "--format", "json", cwd=tmp_path)
    assert result.returncode == 0, result.stdout
    found = json.loads(result.stdout)
    assert [row["verdict"] for row in found["rows"]] == ["within", "within"]
    assert all(row["ratio_low"] < 1 < row["ratio_high"] for row in found["rows"])


def test_an_added_delay_is_detected_and_measured(tmp_path: Path) -> None:
    """The slower recording has 60 µs more per direction, so 120 µs more RTT."""
    folder = TESTS / "compare"
    sides = (folder / "base.zip", folder / "slower.zip")
    result = compare(*sides, "--tool", "sockperf", "--format", "json", cwd=tmp_path)
    assert result.returncode == 1, result.stdout
    for row in json.loads(result.stdout)["rows"]:
        assert row["verdict"] == "beyond" and row["p_beyond"] < 0.001
        assert row["difference_low"] < 120e3 < row["difference_high"]
        assert (row["runs_after"], row["runs_before"]) == (10, 10)
    wide = compare(*sides, "--tool", "sockperf", "--margin", "200us", cwd=tmp_path)
    assert wide.returncode == 0, "a margin in microseconds"


# --- error rates


@pytest.mark.slow
@pytest.mark.parametrize(("runs", "spread", "ratio"), [(3, 0.1, 1.0), (5, 0.2, 1.0), (5, 0.05, 1.05), (10, 0.03, 1.05)])
def test_false_changes_are_at_most_one_in_twenty(runs: int, spread: float, ratio: float) -> None:
    """Compare six paths 300 times, with no change or with a change of exactly the margin."""
    import numpy as np
    import pandas as pd

    from azlatency.gate.verdict import Compared, assign_verdicts
    from azlatency.stats.across_runs.before_after import compare_pairing, pairings

    random = np.random.default_rng(1)

    def side(name: str, factor: float) -> pd.DataFrame:
        values = 1e6 * factor * np.exp(random.normal(0, spread, 6 * runs))
        frame = pd.DataFrame({"path": [f"a → {at // runs}" for at in range(6 * runs)], "median_ns": values})
        return frame.assign(method="ping", tool="ping", placement="cross_zone").set_index(
            pd.Index([f"{name}{at}" for at in range(6 * runs)])
        )

    claimed = shown = 0
    for _ in range(300):
        matched = pairings(side("a", ratio), side("b", 1.0))
        compared = [
            Compared(metric="latency", pairing=pairing, comparison=compare_pairing(pairing, margin="5%"))
            for pairing in matched
        ]
        rows = assign_verdicts(compared, 0.95)
        claimed += any(row.verdict == "beyond" for row in rows)
        shown += ratio > 1 and all(row.verdict == "within" for row in rows)
    assert claimed / 300 < 0.075, "5 % and three standard errors"
    assert shown / 300 < 0.075, "nor is no change claimed where it changed by the margin"
