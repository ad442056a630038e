"""The history of a study: planted changes, odd nights, several studies."""

from __future__ import annotations

import json
import shutil
from datetime import timedelta
from pathlib import Path

import numpy as np
import pytest
from helpers.nights import CHANGED, FIRST, NIGHTS, changed_nights, history, values, write_night, write_nights
from helpers.studies import load

import azlatency as az
from azlatency.stats.across_runs.levels import find_steps


@pytest.fixture(scope="module")
def nights(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return changed_nights(tmp_path_factory.mktemp("nights") / "nights")


def test_a_planted_change_has_its_date_and_size_and_fails_the_job(nights: Path) -> None:
    result = history(nights, "--format", "json", cwd=nights.parent)
    record = json.loads(result.stdout)
    assert result.returncode == record["exit_code"] == 1 and record["outcome"] == "changed"
    changed = [series for series in record["series"] if series["changes"]]
    (change,) = changed[0]["changes"]
    assert [series["path"] for series in changed] == ["zone 1 → zone 3"]
    dates = [str(FIRST + timedelta(days=CHANGED + shift)) for shift in (-1, 0, 1)]
    assert change["date"][:10] in dates and change["ratio"] == pytest.approx(1.08, abs=0.02)
    assert change["ratio_low"] < 1.08 < change["ratio_high"]


def test_too_few_nights_end_with_3(nights: Path, tmp_path: Path) -> None:
    few = write_nights(tmp_path / "few", {"az1-az2": values(450, 9)})
    result = history(few, cwd=tmp_path)
    assert result.returncode == 3 and "10 points per series are needed; the longest has 9" in result.stdout


def test_many_short_series_are_one_line_and_skipped_cases(tmp_path: Path) -> None:
    levels = {f"az1-az{zone}": values(450 + zone, 9) for zone in range(2, 7)} | {"az2-az1": values(400, 22)}
    folder = write_nights(tmp_path / "short", levels)
    lines = history(folder, cwd=tmp_path).stdout.splitlines()
    assert not any(line.startswith("too short") for line in lines) and lines[1].startswith("no change  zone 2 → zone 1")
    shown = "zone 1 → zone 2, zone 1 → zone 3, zone 1 → zone 4, …"
    assert any(f"5 series have fewer than 10 points, too few to judge ({shown})." in line for line in lines)
    assert 'tests="6"' in history(folder, "--format", "junit", cwd=tmp_path).stdout


def test_a_missing_night_and_a_renamed_path_are_told(nights: Path, tmp_path: Path) -> None:
    folder = shutil.copytree(nights, tmp_path / "odd")
    shutil.rmtree(folder / str(FIRST + timedelta(days=8)))
    for night in range(30, NIGHTS):
        shutil.move(
            folder / str(FIRST + timedelta(days=night)) / "az1-az2", folder / f"{FIRST + timedelta(days=night)}/az2-az2"
        )
    result = history(folder, cwd=tmp_path)
    assert "Nights without a run in 2 series" in result.stdout
    assert "zone 1 → zone 2 was last measured on 2026-09-30; zone 2 → zone 2 began then" in result.stdout


def test_several_studies_are_one_family(nights: Path, tmp_path: Path) -> None:
    other = write_nights(tmp_path / "other", {"az1-az2": values(470)})
    record = json.loads(history(nights, other, "--format", "json", cwd=tmp_path).stdout)
    assert {series["family"] for series in record["series"]} == {3}
    assert {series["path"].partition(": ")[0] for series in record["series"]} == {str(nights), str(other)}


def test_a_night_with_several_runs_is_one_point(tmp_path: Path) -> None:
    folder = write_nights(tmp_path / "several", {"az1-az2": values(450, 22)})
    write_night(folder, 3, "az1-az2", 455.0).rename(folder / "2026-09-04" / "az1-az2" / "qperf_2.log")
    write_night(folder, 3, "az1-az2", 450.0)
    manifest = (folder / "study.toml").read_text("utf-8").replace("qperf.log", "qperf*.log")
    (folder / "study.toml").write_text(manifest, "utf-8")
    record = json.loads(history(folder, "--format", "json", cwd=tmp_path).stdout)
    assert [series["n"] for series in record["series"]] == [22]


def test_the_planted_changes_of_the_emulated_nights_are_found_and_no_other(raw: Path) -> None:
    """The tail from round 36 on is in what the emulator recorded; in the p99 of ping, stalls of the machine hide it."""
    study = load("emulated-nights")
    slower, narrower = az.history(study).changes.to_dict("records")
    assert (slower["path"], slower["metric"]) == ("az1a → az2a", "median")
    assert (narrower["path"], narrower["metric"]) == ("az3a → az2a", "goodput")
    truth = json.loads((raw / "emulated-nights" / "truth.json").read_text("utf-8"))["runs"]

    def recorded(log: str, key: str) -> np.ndarray:
        return np.array([truth[log.format(number)][key] for number in range(1, 61)])

    medians = recorded("ping/az1a-az2a/ping_r{}.txt", "median_us")
    planted = np.median(medians[25:]) / np.median(medians[:25])
    assert slower["at"] == 25 and slower["ratio"] == pytest.approx(planted, abs=0.02)
    assert narrower["at"] == 45 and narrower["ratio"] == pytest.approx(0.5, abs=0.02)
    (tail,) = find_steps(recorded("ping/az1a-az3a/ping_r{}.txt", "p99_us"), 0.05 / 11)
    assert tail.at == 35 and find_steps(recorded("ping/az2a-az3a/ping_r{}.txt", "p99_us"), 0.05 / 11) == []
