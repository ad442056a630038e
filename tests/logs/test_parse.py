"""Reading files: what is returned, what is raised, and what is explained."""

from __future__ import annotations

from pathlib import Path

import pytest
from helpers.logs import event_codes, metric_values
from helpers.places import ROOT

import azlatency as az
from azlatency.logs.parse import LogError, parse

SENDER = ROOT / "data" / "raw" / "canadacentral-proximity-placement" / "sender.log"


def test_a_log_is_read_into_one_run_with_its_numbers() -> None:
    logs = parse(SENDER)
    # sender.log, line 9: "Latency(usec) 2026.40"
    assert len(logs.runs) == 1 and metric_values(logs)["rtt_mean"] == 2_026_400.0
    assert az.parse is parse


def test_the_lines_that_identify_the_tool_are_explained() -> None:
    lines: list[str] = []
    parse(SENDER, explain=lines.append)
    assert any("claim of latte" in line for line in lines)
    assert all(str(SENDER) in line for line in lines)


def test_a_file_without_a_log_is_an_event_and_in_strict_mode_an_exception(tmp_path: Path) -> None:
    path = tmp_path / "a.log"
    path.write_text("hello\n")
    logs = parse(path)
    assert logs.errors() and len(logs.runs) == 0 and len(event_codes(logs)) >= 1
    with pytest.raises(LogError, match=r"a\.log:1: no log of a known tool"):
        parse(path, strict=True)
