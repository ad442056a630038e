"""`azlatency compare`: exit codes and where the result is written."""

from __future__ import annotations

import json
import re
from pathlib import Path

from helpers.command import azlatency
from helpers.sides import compare, write_side


def test_a_log_against_itself_has_nothing_to_compare(raw: Path) -> None:
    log = raw / "westeurope-azure-cni" / "az1-az3" / "sockperf.log"
    result = azlatency("compare", log, log, "--format", "json")
    assert json.loads(result.stdout)["exit_code"] == result.returncode != 0


def test_a_missing_side_is_one_line_with_exit_code_2(tmp_path: Path) -> None:
    result = azlatency("compare", "nothing", "nothing", cwd=tmp_path)
    assert result.returncode == 2 and "nothing" in result.stderr and "Traceback" not in result.stderr


def test_values_have_the_prefix_that_fits_them(tmp_path: Path, raw: Path) -> None:
    """Both sides of a row have the unit of the base."""
    for name, scale in (("before", 1.0), ("after", 40.0)):
        write_side(raw, tmp_path / name, "12", scale=scale)
    lines = compare("before", "after", cwd=tmp_path).stdout.splitlines()
    latency = next(line for line in lines if "CHANGED" in line and "latency" in line)
    assert re.search(r" \d{3}(\.\d)? µs +\d\d?,\d{3} µs .* \+[\d.]+ ms ", latency), latency
    throughput = next(line for line in lines if " qperf tcp_bw " in line and "one run" not in line)
    assert re.search(r" (\d\.\d{3} Gbit/s)  \1 .* \+0 Gbit/s ", throughput), throughput
