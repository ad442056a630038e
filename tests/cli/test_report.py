"""`azlatency report`."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from helpers.command import azlatency
from helpers.places import FIXTURES, ROOT


def test_report_of_an_unknown_study_lists_the_known_studies(tmp_path: Path, raw: Path) -> None:
    shutil.copytree(raw / "uksouth-echo-latency", tmp_path / "data" / "raw" / "uksouth-echo-latency")
    azlatency("import", "--all", cwd=tmp_path)
    (tmp_path / "notebooks").mkdir()
    shutil.copy(ROOT / "notebooks" / "01_latency.ipynb", tmp_path / "notebooks")
    result = azlatency("report", "--study", "nothing", "--out", "site", cwd=tmp_path)
    assert result.returncode == 1 and "uksouth-echo-latency" in result.stderr
    assert len(result.stderr.splitlines()) == 1


#: What only the extra ``report`` installs.
HIDDEN = ("papermill", "nbformat", "nbclient", "nbconvert", "ipykernel", "latex2mathml", "IPython", "mistune")


def without_the_extra(*lines: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    """Run Python code as in an installation without the extra."""
    code = ["import sys", f"sys.modules.update(dict.fromkeys({HIDDEN!r}))", *lines]
    return subprocess.run([sys.executable, "-c", "\n".join(code)], cwd=cwd, capture_output=True, text=True, check=False)


def test_without_its_extra_the_report_says_in_one_line_what_to_install(tmp_path: Path) -> None:
    command = ("sys.argv = ['azlatency', 'report']", "from azlatency.cli import main", "main()")
    result = without_the_extra(*command, cwd=tmp_path)
    assert result.returncode == 2 and result.stdout == ""
    assert result.stderr == (
        "azlatency report needs packages that are not installed (papermill, nbformat, nbclient, nbconvert, ipykernel, "
        "latex2mathml); run python -m pip install 'azlatency[report]'\n"
    )


@pytest.mark.slow
def test_parsing_frames_charts_and_statistics_need_no_jupyter(tmp_path: Path) -> None:
    result = without_the_extra(
        "import azlatency as az",
        f"logs = az.parse({str(FIXTURES / 'ping')!r})",
        "runs = az.latency(logs)",
        "estimates = az.summarize(runs, 'mean_ns', by=['path', 'method'])",
        "az.compare(runs, runs)",
        "from azlatency.pages import common",
        "assert isinstance(common.typical_forest(runs, estimates, 'mean_ns').png(), bytes)",
        "assert str(common.typical_runs(runs, estimates, 'mean_ns', 'mean per run', 'Typical RTT'))",
        "from azlatency.cli import main",
        "sys.argv = ['azlatency', 'init', 'project']",
        "main()",
        cwd=tmp_path,
    )
    assert result.returncode == 0, result.stderr
    assert (tmp_path / "project" / "notebooks").is_dir()
