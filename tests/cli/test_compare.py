"""`azlatency compare`: exit codes and where the result is written."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from helpers.command import azlatency, on_screen
from helpers.sides import compare, write_side
from studies.runs.test_run_table import ping


def test_a_log_against_itself_has_nothing_to_compare(raw: Path) -> None:
    log = raw / "westeurope-azure-cni" / "az1-az3" / "sockperf.log"
    result = azlatency("compare", log, log, "--format", "json")
    assert json.loads(result.stdout)["exit_code"] == result.returncode != 0


def test_a_missing_side_is_one_line_with_exit_code_2(tmp_path: Path) -> None:
    result = azlatency("compare", "nothing", "nothing", cwd=tmp_path)
    assert result.returncode == 2 and "nothing" in result.stderr and "Traceback" not in result.stderr


@pytest.mark.costly
def test_values_have_the_prefix_that_fits_them(tmp_path: Path, raw: Path) -> None:
    """Both sides of a row have the unit of the base."""
    for name, scale in (("before", 1.0), ("after", 40.0)):
        write_side(raw, tmp_path / name, "12", scale=scale)
    lines = compare("before", "after", cwd=tmp_path).stdout.splitlines()
    latency = next(line for line in lines if "CHANGED" in line and "latency" in line)
    assert re.search(r" \d{3}(\.\d)? µs +\d\d?,\d{3} µs .* \+[\d.]+ ms ", latency), latency
    throughput = next(line for line in lines if " qperf tcp_bw " in line and "one run" not in line)
    assert re.search(r" (\d\.\d{3} Gbit/s)  \1 .* \+0 Gbit/s ", throughput), throughput


@pytest.mark.parametrize("columns", [40, pytest.param(80, marks=pytest.mark.slow)])
def test_two_single_runs_on_a_narrow_terminal_have_their_difference(columns: int, tmp_path: Path) -> None:
    """1.2 against 1.1 ms."""
    for name, rtt in (("old.log", 1.1), ("new.log", 1.2)):
        (tmp_path / name).write_text(ping("10.0.0.9", rtt, rtt, rtt), "utf-8")
    code, printed = on_screen("azlatency compare old.log new.log", columns, tmp_path)
    assert code == 3 and "+100.0 µs" in printed and "1.091" in printed
    assert max(map(len, printed.splitlines())) <= columns


@pytest.mark.slow
def test_a_column_that_is_left_out_is_not_explained(tmp_path: Path) -> None:
    for name, low in (("old", 1.1), ("new", 1.12)):
        (tmp_path / name).mkdir()
        for number in range(1, 5):
            text = ping("10.0.0.9", low, low + number / 20, 2.0)
            (tmp_path / name / f"ping_{number}.log").write_text(text, "utf-8")
    for columns, is_shown in ((200, True), (113, False)):
        _, printed = on_screen("azlatency compare old new", columns, tmp_path)
        heads = next(line for line in printed.splitlines() if "verdict" in line)
        assert ("needed" in heads, "Needed: the runs on" in printed) == (is_shown, is_shown), printed


def test_a_setting_that_no_log_names_cannot_be_compared_across(tmp_path: Path) -> None:
    for name, rtt in (("old.log", 1.1), ("new.log", 1.2)):
        (tmp_path / name).write_text(ping("10.0.0.9", rtt, rtt, rtt), "utf-8")
    done = azlatency("compare", "old.log", "new.log", "--across", "congestion", cwd=tmp_path)
    assert done.returncode == 2 and "no run names its congestion; compare without --across congestion" in done.stderr


def test_what_is_assumed_of_scenarios_is_said(tmp_path: Path) -> None:
    (tmp_path / "cc").mkdir()
    for name, low in (("bbr", 1.0), ("cubic", 1.5)):
        for number in range(1, 7):
            text = ping("10.0.0.9", low, low + number / 100, 2.0)
            (tmp_path / "cc" / f"{name}_{number}.log").write_text(text, "utf-8")
    done = azlatency("compare", "cc", "--across", "scenario", cwd=tmp_path)
    assert "assumed: the last number in the names of these files counts repeats (12 runs)" in done.stdout
    assert "kept apart" not in done.stdout, "the names are the question"
