"""`azlatency compare`: exit codes and where the result is written."""

from __future__ import annotations

import json
from pathlib import Path

from helpers.command import azlatency


def test_a_log_against_itself_has_nothing_to_compare(raw: Path) -> None:
    log = raw / "westeurope-azure-cni" / "az1-az3" / "sockperf.log"
    result = azlatency("compare", log, log, "--format", "json")
    assert json.loads(result.stdout)["exit_code"] == result.returncode != 0


def test_a_missing_side_is_one_line_with_exit_code_2(tmp_path: Path) -> None:
    result = azlatency("compare", "nothing", "nothing", cwd=tmp_path)
    assert result.returncode == 2 and "nothing" in result.stderr and "Traceback" not in result.stderr
