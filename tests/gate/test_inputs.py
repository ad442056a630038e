"""Inputs of `azlatency compare`: studies, folders, archives, logs, and usage errors."""

from __future__ import annotations

import json
import re
import zipfile
from pathlib import Path

import pytest
from helpers.places import FIXTURES
from helpers.sides import compare, write_side


@pytest.mark.slow
def test_a_side_can_be_a_study_an_archive_or_a_log(tmp_path: Path, raw: Path) -> None:
    write_side(raw, tmp_path / "data" / "raw" / "mine", "123"), write_side(raw, tmp_path / "slow", "123", scale=2.5)
    with zipfile.ZipFile(tmp_path / "slow.zip", "w") as archive:
        for file in (tmp_path / "slow").rglob("*.*"):
            archive.write(file, Path("slow") / file.relative_to(tmp_path / "slow"))
    result = compare("mine", "slow.zip", "--format", "json", cwd=tmp_path)
    assert result.returncode == 1, "the manifest inside the archive was found"
    assert (tmp_path / "data" / "processed" / "mine" / "runs.parquet").is_file()
    url = compare("mine", (tmp_path / "slow").as_uri(), "--format", "json", cwd=tmp_path)
    assert url.returncode == 1 and json.loads(url.stdout)["rows"] == json.loads(result.stdout)["rows"]
    logs = [next((tmp_path / name).rglob("vvs_r1.txt")) for name in ("slow", "data")]
    alone = compare(*logs, cwd=tmp_path)
    assert alone.returncode == 3 and "measured once" in alone.stdout


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["nothing", "a"], "nothing: not a study, a file or a folder; known studies: none"),
        (["a", "a", "--margin", "banana"], "margin 'banana'"),
        (["a", "a", "--margin", "-5%"], "margin '-5%'"),
        (["a", "a", "--metric", "p42x"], "unknown metric 'p42x'; choose from latency"),
        (["a", "a", "--confidence", "2"], "confidence"),
        (["a"], "give a candidate, or --across scenario"),
        (["a", "empty"], "empty: contains no run"),
    ],
)
def test_usage_errors_exit_2_with_a_reason(tmp_path: Path, raw: Path, arguments: list[str], says: str) -> None:
    write_side(raw, tmp_path / "a", "12")
    (tmp_path / "empty").mkdir()
    result = compare(*arguments, cwd=tmp_path)
    assert result.returncode == 2
    assert says in " ".join(result.stderr.replace("│", " ").split())


def test_the_names_of_a_folder_say_its_zones_and_which_scenario_is_the_base(tmp_path: Path) -> None:
    log = (FIXTURES / "ping" / "busybox-1.35-c4.log").read_text("utf-8")
    for scenario, digit in (("after", 7), ("before", 5)):
        (tmp_path / "dump" / scenario).mkdir(parents=True)
        for run in (1, 2):
            text = re.sub(r"time=0\.(\d\d)\d", rf"time=0.\g<1>{digit + run}", log)
            (tmp_path / "dump" / scenario / f"ping_az1-az2_run{run}.log").write_text(text, "utf-8")
    sides = json.loads(compare("dump/before", "dump/after", "--format", "json", cwd=tmp_path).stdout)["rows"]
    scenarios = json.loads(compare("dump", "--across", "scenario", "--format", "json", cwd=tmp_path).stdout)["rows"]
    assert [row["path"] for row in sides] == ["zone 1 → zone 2"]
    assert [row["path"] for row in scenarios] == ["after against before: zone 1 → zone 2"]
