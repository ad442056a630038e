"""`azlatency import --append`: one more night, whatever happens meanwhile."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from datetime import UTC, datetime
from itertools import count
from pathlib import Path

import pytest
from helpers.command import Completed, azlatency
from helpers.nights import FIRST, MANIFEST, write_night
from helpers.sides import write_side

import azlatency as az
from azlatency.studies.imports.append import locked


def append(source: Path, cwd: Path) -> Completed:
    return azlatency("import", source, "--study", "nightly", "--append", cwd=cwd)


def runs(cwd: Path) -> int:
    return len(az.load("nightly", processed=cwd / "data" / "processed").runs)


@pytest.fixture
def nights(tmp_path: Path) -> list[Path]:
    """Return two dated folders of logs; the study that they are appended to has a pattern."""
    (tmp_path / "data" / "raw" / "nightly").mkdir(parents=True)
    (tmp_path / "data" / "raw" / "nightly" / "study.toml").write_text(MANIFEST, "utf-8")
    return [write_night(tmp_path / "in", night, "az1-az2", 450 + night).parents[1] for night in range(2)]


def test_nights_are_added_and_a_night_twice_counts_once(nights: list[Path], tmp_path: Path) -> None:
    for number, night in enumerate(nights, start=1):
        assert append(night, tmp_path).returncode == 0 and runs(tmp_path) == number
    again = append(nights[0], tmp_path)
    assert again.returncode == 0 and runs(tmp_path) == 2
    assert "already appended as 2026-09-01; counted once" in again.stderr and "0 new files" in again.stdout
    # The other half of a night.
    write_night(tmp_path / "in", 0, "az1-az3", 800)
    assert "1 new file" in append(nights[0], tmp_path).stdout and runs(tmp_path) == 3
    (nights[0] / "az1-az3" / "qperf.log").write_text("other\n")
    assert "already exists with different content" in append(nights[0], tmp_path).stderr and runs(tmp_path) == 3


def test_a_folder_without_a_date_is_recognised_by_its_logs(nights: list[Path], tmp_path: Path) -> None:
    shutil.copytree(nights[0], tmp_path / "zones")
    assert append(tmp_path / "zones", tmp_path).returncode == 0
    again = append(tmp_path / "zones", tmp_path)
    assert "name it with its date" in again.stderr and runs(tmp_path) == 1


def test_the_rows_of_a_plan_are_joined(raw: Path, tmp_path: Path) -> None:
    for number in "12":
        night = write_side(raw, tmp_path / f"2026-09-0{number}", number)
        assert append(night, tmp_path).returncode == 0
    study = az.load("nightly", processed=tmp_path / "data" / "processed")
    assert set(study.runs["round"]) == {1, 2} and study.runs["zone"].notna().all()
    before = (tmp_path / "data/raw/nightly/runs.csv").read_text("utf-8")
    append(tmp_path / "2026-09-02", tmp_path)
    assert (tmp_path / "data/raw/nightly/runs.csv").read_text("utf-8") == before
    (tmp_path / "data/raw/nightly/study.toml").write_text("[study]\n")
    refused = append(write_side(raw, tmp_path / "2026-09-03", "3"), tmp_path)
    assert refused.returncode == 1 and 'add runs = "runs.csv" to [study]' in refused.stderr


def test_an_empty_night_and_one_with_another_date_are_told(nights: list[Path], raw: Path, tmp_path: Path) -> None:
    (tmp_path / "2026-09-05").mkdir()
    empty = append(tmp_path / "2026-09-05", tmp_path)
    assert empty.stderr.startswith("  note: ") and "contains no file; nothing was appended" in empty.stderr
    # This log printed that it started on 24 November.
    (nights[0] / "az1-az2" / "qperf.log").write_bytes((raw / "emulated-nights/ping/az1a-az2a/ping_r1.txt").read_bytes())
    result = append(nights[0], tmp_path)
    assert "started_at is 2026-11-24 20:42 UTC in the log and 2026-09-01 00:00 UTC in" in result.stderr


def test_append_needs_one_source_and_a_study(tmp_path: Path) -> None:
    for words in (["--append", "--all"], ["a", "b", "--study", "x", "--append"], ["--study", "x", "--append"]):
        assert azlatency("import", *words, cwd=tmp_path).returncode == 2
    assert "check the path" in append(tmp_path / "nothing", tmp_path).stderr


def _start(night: Path, cwd: Path) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "azlatency", "import", str(night), "--study", "nightly", "--append"]
    return subprocess.Popen(command, cwd=cwd, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


@pytest.mark.slow
def test_two_jobs_at_once_lose_nothing(nights: list[Path], tmp_path: Path) -> None:
    jobs = [_start(night, tmp_path) for night in nights]
    assert [job.wait(60) for job in jobs] == [0, 0]
    assert runs(tmp_path) == 2


@pytest.mark.costly
@pytest.mark.skipif(os.name != "posix", reason="signals of POSIX")
def test_a_killed_job_leaves_the_lock_free_and_is_repeated(nights: list[Path], tmp_path: Path) -> None:
    assert append(nights[0], tmp_path).returncode == 0
    folder = tmp_path / "data" / "raw" / "nightly"
    # What a job leaves that was killed while it copied, and one that was killed before it imported.
    (folder / ".append" / "az1-az2").mkdir(parents=True)
    with locked(folder):
        job = _start(nights[1], tmp_path)
        time.sleep(0.5)
        job.send_signal(signal.SIGKILL)
        job.wait()
    shutil.copytree(nights[1], folder / nights[1].name)
    assert append(nights[1], tmp_path).returncode == 0 and runs(tmp_path) == 2
    assert not (folder / ".append").exists()


#: Runs a command, and kills it before its n-th change below the folder of the data.
KILLED = """
import os, signal, sys
from azlatency.cli import main
number, data = int(sys.argv[1]), os.environ["AZLATENCY_DATA"]
def kill(event, words):
    global number
    changes = event in ("os.rename", "os.remove", "os.mkdir", "os.rmdir")
    if (changes or event == "open" and words[1] in ("wb", "w")) and str(words[0]).startswith(data):
        number -= 1
        if not number:
            os.kill(os.getpid(), signal.SIGKILL)
sys.argv[:2] = ["azlatency"]
sys.addaudithook(kill)
main()
"""


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="signals of POSIX")
def test_a_job_killed_before_any_change_of_a_file_loses_nothing(tmp_path: Path) -> None:
    base, data = tmp_path / "base", tmp_path / "data"
    environment = {**os.environ, "AZLATENCY_DATA": str(data)}
    for night in range(3):
        write_night(base / "raw" / "nightly", night, "az1-az2", 450 + night)
    (base / "raw/nightly/study.toml").write_text(MANIFEST.replace("]", ']\nruns = "runs.csv"', 1), "utf-8")
    (base / "raw/nightly/runs.csv").write_text("log\n", "utf-8")
    assert azlatency("import", "--study", "nightly", cwd=tmp_path, AZLATENCY_DATA=str(base)).returncode == 0
    # A folder without a date, as a job writes it that has no other name for it.
    zones = shutil.move(write_night(tmp_path, 9, "az1-az3", 500).parents[1], tmp_path / "zones")
    (zones / "study.toml").write_text('[study]\nruns = "runs.csv"\n', "utf-8")
    (zones / "runs.csv").write_text("log,label\naz1-az3/qperf.log,new\n", "utf-8")
    age = (datetime.now(UTC).date() - FIRST).days - 1
    command = ["import", str(zones), "--study", "nightly", "--append", "--keep", f"{age}d"]
    contents = {*(file.read_bytes() for root in (base, zones) for file in root.rglob("*.log"))}
    for number in count(1):
        shutil.rmtree(data, ignore_errors=True)
        shutil.copytree(base, data)
        killed = subprocess.run(
            [sys.executable, "-c", KILLED, str(number), *command], env=environment, capture_output=True, check=False
        )
        before = len(az.load("nightly", processed=data / "processed").runs)
        assert azlatency(*command, cwd=tmp_path, AZLATENCY_DATA=str(data)).returncode == 0
        study = az.load("nightly", processed=data / "processed")
        logs = [file.read_bytes() for file in data.rglob("*.log")]
        assert len(study.runs) == len(logs) == 4 and {*logs} == contents, number
        assert before in (3, 4) and list(study.runs["label"].dropna()) == ["new"], number
        assert (data / "raw/nightly/runs.csv").read_text("utf-8").count("qperf") == 1, number
        assert len(list((data / "archive").rglob("*.log"))) == 2, number
        if killed.returncode != -signal.SIGKILL:
            assert number > 20
            return
