"""The example of docs/add-a-parser.md, installed as a plug-in and run from the command line."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from helpers.places import ROOT

EXAMPLES = ROOT / "docs" / "examples"


def install(folder: Path, module: str, text: str) -> dict[str, str]:
    """Install a module with an entry point into a folder, as pip does, and return the environment."""
    (folder / f"{module}.py").write_text(text, "utf-8")
    info = folder / f"{module}-0.1.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {module}\nVersion: 0.1\n")
    (info / "entry_points.txt").write_text(f"[azlatency.parsers]\n{module} = {module}:PARSER\n")
    return {**os.environ, "PYTHONPATH": str(folder)}


def parse(log: Path, env: dict[str, str]) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "azlatency", "parse", str(log), "--format", "json", "--samples"]
    return subprocess.run(command, capture_output=True, text=True, env=env, check=False)


def test_the_example_reads_a_real_log(tmp_path: Path) -> None:
    env = install(tmp_path, "arping_parser", (EXAMPLES / "arping_parser.py").read_text("utf-8"))
    result = parse(EXAMPLES / "arping.log", env)
    assert result.returncode == 0, result.stderr
    content = json.loads(result.stdout)
    (run,) = content["runs"]
    assert (run["tool"], run["client"], run["server"], run["status"]) == ("arping", "10.9.0.1", "10.9.0.2", "complete")
    assert [sample["rtt_ns"] for sample in content["samples"]] == [573_000, 544_000, 546_000, 539_000, 551_000]
    assert {row["metric"]: row["value"] for row in content["metrics"]} == {"sent": 5, "received": 5}
    (source,) = content["sources"]
    assert (source["lines"], source["lines_data"], source["lines_unknown"]) == (8, 8, 0)


def test_a_truncated_log_is_reported(tmp_path: Path) -> None:
    env = install(tmp_path, "arping_parser", (EXAMPLES / "arping_parser.py").read_text("utf-8"))
    (tmp_path / "cut.log").write_text("".join((EXAMPLES / "arping.log").read_text().splitlines(True)[:4]))
    content = json.loads(parse(tmp_path / "cut.log", env).stdout)
    assert content["runs"][0]["status"] == "truncated"
    assert len(content["samples"]) == 3


@pytest.mark.slow
def test_a_plug_in_brings_its_own_units_and_code_page_phrases(tmp_path: Path) -> None:
    text = (EXAMPLES / "arping_parser.py").read_text("utf-8")
    text = text.replace('nanoseconds(match[1], "ms")', 'nanoseconds(match[1], "arping jiffy")')
    text = text.replace("Unicast reply from", "Unicast Antwort für").replace('"reply from"', '"Antwort"')
    text = text.replace(
        "    signatures = ",
        '    units = {"arping jiffy": ("ns", 4_000_000)}\n'
        '    code_page_phrases = {"cp850": ("Antwort für",)}\n'
        "    signatures = ",
    )
    env = install(tmp_path, "arping_parser", text)
    log = (EXAMPLES / "arping.log").read_text("utf-8").replace("Unicast reply from", "Unicast Antwort für")
    (tmp_path / "windows.log").write_bytes(log.encode("cp850"))
    result = parse(tmp_path / "windows.log", env)
    assert result.returncode == 0, result.stderr
    content = json.loads(result.stdout)
    assert content["sources"][0]["encoding"] == "cp850"
    assert [sample["rtt_ns"] for sample in content["samples"]][:2] == [2_292_000, 2_176_000]


BROKEN = {
    "not_importable": "import nothing_of_that_name\n",
    "not_a_parser": "PARSER = object()\n",
    "raises": "raise SystemError('broken')\n",
    "second_ping": "from azlatency.logs.parsers.ping import PingParser\nPARSER = PingParser()\n",
}


@pytest.mark.slow
def test_a_broken_plug_in_is_a_named_warning(tmp_path: Path, raw: Path) -> None:
    for module, text in BROKEN.items():
        env = install(tmp_path, module, text)
    result = parse(raw / "westeurope-azure-cni" / "az1-az1" / "sockperf.log", env)
    assert result.returncode == 0
    assert len(json.loads(result.stdout)["runs"]) == 1
    for module, line in zip(sorted(BROKEN), result.stderr.splitlines(), strict=True):
        assert line.startswith(f"warning: parser {module!r} ({module}:PARSER) is not usable")


@pytest.mark.slow
def test_a_plug_in_is_not_hidden_by_what_was_parsed_before(tmp_path: Path) -> None:
    """While it is broken, each command warns; when it is mended, the next command uses it."""
    env = install(tmp_path, "arping_parser", "raise SystemError('broken')\n")
    for _ in range(2):
        assert "'arping_parser' (arping_parser:PARSER) is not usable" in parse(EXAMPLES / "arping.log", env).stderr
    (tmp_path / "arping_parser.py").write_text((EXAMPLES / "arping_parser.py").read_text("utf-8"))
    assert len(json.loads(parse(EXAMPLES / "arping.log", env).stdout)["runs"]) == 1


def test_a_parser_that_fails_on_a_log_does_not_hide_the_others(tmp_path: Path, raw: Path) -> None:
    text = (
        (EXAMPLES / "arping_parser.py")
        .read_text("utf-8")
        .replace("text = ArpingText", "raise KeyError(1); text = ArpingText")
    )
    env = install(tmp_path, "arping_parser", text)
    both = (EXAMPLES / "arping.log").read_bytes() + (
        raw / "westeurope-azure-cni" / "az1-az1" / "qperf.log"
    ).read_bytes()
    (tmp_path / "both.log").write_bytes(both)
    result = parse(tmp_path / "both.log", env)
    assert result.returncode == 1
    assert "the arping parser failed" in result.stderr and "Traceback" not in result.stderr
    assert {run["tool"] for run in json.loads(result.stdout)["runs"]} == {"qperf"}
