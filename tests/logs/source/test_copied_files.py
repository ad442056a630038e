"""Files with the same bytes, and the times in their names."""

from __future__ import annotations

import json
import shutil
from concurrent.futures import ThreadPoolExecutor
from itertools import permutations
from pathlib import Path

import pytest
from helpers.command import azlatency

import azlatency as az
from azlatency.logs.source.copied_files import CopiedFiles

WINDOWS = """
Pinging 10.0.0.5 with 32 bytes of data:
Reply from 10.0.0.5: bytes=32 time=1ms TTL=64
Reply from 10.0.0.5: bytes=32 time=2ms TTL=64

Ping statistics for 10.0.0.5:
    Packets: Sent = 2, Received = 2, Lost = 0 (0% loss),
"""


SAME = "0123456789abcdef"


def ids_of(*paths: str, size: int = 400) -> dict[str, str]:
    """Return the ids of files with the same bytes that are not copies."""
    copies = CopiedFiles()
    kept = [path for path in paths if copies.original_of(SAME, path, size) is None]
    return {path: copies.id_of(SAME, path) for path in kept}


@pytest.mark.parametrize(
    ("path", "other", "differ"),
    [("ping_2026-05-01.log", "ping_2026-05-02.log", True), ("2026-05-01/a.log", "2026-05-02/a.log", True),
     ("26.02.2026/a.log", "18.12.2025/a.log", True), ("a_20260501T101500Z.log", "a_20260501T111500Z.log", True),
     ("a_2026-05-01_10-15.log", "a_2026-05-01_10-16.log", True), ("a-1779012345.log", "a-1779012999.log", True),
     ("ping.log", "ping_2026-05-02.log", False), ("a.log", "a.log", False),
     ("x/2026-05-01/a.log", "y/2026-05-01/a.log", False)],
)  # fmt: skip
@pytest.mark.parametrize("size", [400, 4000])
def test_times_in_names_tell_two_files_apart(path: str, other: str, differ: bool, size: int) -> None:
    ids = ids_of(path, other, size=size)
    assert list(ids) == ([path, other] if differ else [path])
    assert (SAME in ids.values()) != differ and len(set(ids.values())) == len(ids)


@pytest.mark.parametrize(
    ("path", "other", "differ"),
    [("ping_1.log", "ping_2.log", True), ("z1-z2/qperf.txt", "z1-z3/qperf.txt", True), ("1a/q.log", "1b/q.log", True),
     ("run 1 (1).log", "run 1 (2).log", False), ("run 1.log", "run 1 (1).log", False), ("1.log", "old/1.log", False),
     ("dump-7.zip!1.log", "1.log", False), ("1.log", "dump-7.zip!1.log", False)],
)  # fmt: skip
def test_numbers_in_names_tell_two_short_files_apart(path: str, other: str, differ: bool) -> None:
    """A log of more than a thousand bytes is never equal by chance."""
    assert list(ids_of(path, other)) == ([path, other] if differ else [path])
    assert list(ids_of(path, other, size=4000)) == [path]


@pytest.mark.parametrize(("size", "apart"), [(4000, 2), (400, 3)])
def test_the_ids_of_equal_files_do_not_depend_on_their_order(size: int, apart: int) -> None:
    """A file without a time is a copy of whichever comes first, and then stands for it."""
    paths = ["1/2026-05-01.log", "2/2026-05-01.log", "2026-05-02.log", "copy.log", "again.log"]
    expected = set(ids_of(*paths, size=size).values())
    assert len(expected) == apart
    for order in permutations(paths):
        assert set(ids_of(*order, size=size).values()) == expected


def test_an_unpacked_file_and_a_member_of_an_archive_stay_one_run_beside_others() -> None:
    """The files that stand for the members are found by their own, fewer numbers, whatever came between."""
    copies = CopiedFiles()
    paths = ["1.log", "2.log", "dump-7.zip!1.log", "1.log", "dump-7.zip!2.log", "dump-8.zip!1.log", "q.log"]
    assert [copies.original_of(SAME, path, 400) for path in paths] == [
        None, None, "1.log", "1.log", "2.log", None, "1.log",
    ]  # fmt: skip
    assert len({copies.id_of(SAME, path) for path in ("1.log", "2.log", "dump-8.zip!1.log")}) == 3


def test_a_copy_names_the_file_that_counts() -> None:
    copies = CopiedFiles()
    paths = ["copy.log", "2026-05-01.log", "2026-05-02.log", "b/2026-05-01.log", "b/2026-05-02.log", "c.log"]
    assert [copies.original_of(SAME, path, 400) for path in paths] == [
        None, "copy.log", None, "copy.log", "2026-05-02.log", "copy.log",
    ]  # fmt: skip
    assert copies.original_of("f" * 16, "copy.log", 400) is None


def test_a_file_that_is_named_twice_is_one_run_everywhere(tmp_path: Path) -> None:
    log = tmp_path / "x.log"
    log.write_text(WINDOWS, "utf-8")
    assert len(az.parse(log, log).runs) == 1
    result = azlatency("parse", log, log)
    assert len(json.loads(result.stdout)["runs"]) == 1
    assert result.stderr.strip() == f"{log}: identical to {log}; skipped"
    assert azlatency("check", log, log).stdout.splitlines()[-1].startswith("1 file:")


def test_equal_logs_have_the_same_ids_however_they_are_read(tmp_path: Path) -> None:
    """Two members of an archive, an executor and the order of the paths make no difference."""
    names = ("2026-05-01.log", "2026-05-02.log", "again.log")
    for name in names:
        (tmp_path / "dump" / name).parent.mkdir(exist_ok=True)
        (tmp_path / "dump" / name).write_text(WINDOWS, "utf-8")
    paths = [tmp_path / "dump" / name for name in names]
    expected = set(az.parse(*paths).runs["run_id"])
    assert len(expected) == 2
    with ThreadPoolExecutor(2) as executor:
        assert set(az.parse(*paths, executor=executor).runs["run_id"]) == expected
    for order in permutations(paths):
        assert set(az.parse(*order).runs["run_id"]) == expected
        printed = json.loads(azlatency("parse", *order).stdout)
        assert {run["run_id"] for run in printed["runs"]} == expected
        assert {row["source_id"] for row in printed["sources"]} == {run_id[:16] for run_id in expected}
    archive = shutil.make_archive(str(tmp_path / "dump"), "zip", tmp_path / "dump")
    assert set(az.parse(archive).runs["run_id"]) == expected
    assert set(az.parse(archive).samples["run_id"]) == expected
    for number, sources in enumerate(([archive], [tmp_path / "dump"])):
        az.import_study(f"study {number}", sources, out=tmp_path)
        assert set(az.load(f"study {number}", processed=tmp_path).runs["run_id"]) == expected


def test_a_folder_with_a_copy_and_a_file_that_cannot_be_read_is_read_by_an_executor(tmp_path: Path) -> None:
    for name in ("a.log", "b.log"):
        (tmp_path / name).write_text(WINDOWS, "utf-8")
    (tmp_path / "picture.png").write_bytes(b"\x89PNG\r\n\x1a\n" + bytes(100))
    with ThreadPoolExecutor(2) as executor, pytest.warns(UserWarning, match=r"picture\.png"):
        logs = az.parse(tmp_path, tmp_path / "b.log", executor=executor)
    assert len(logs.runs) == 1
    counts = logs.events["code"].value_counts()
    assert (counts["identical_file"], counts["unreadable_file"]) == (2, 1)
    assert set(logs.events.loc[logs.events["code"] == "identical_file", "source_id"]) == set(logs.sources["source_id"])


@pytest.mark.costly
def test_short_logs_of_other_times_are_two_runs_everywhere(tmp_path: Path) -> None:
    """Without times they are one run; a long log is never equal by chance."""
    dump = tmp_path / "dump"
    dump.mkdir()
    for name in ("2026-05-01.log", "2026-05-02.log", "again.log"):
        (dump / name).write_text(WINDOWS, "utf-8")
    logs = az.parse(dump)
    assert (len(logs.sources), len(logs.runs), len(az.latency(logs))) == (2, 2, 2)
    assert set(logs.metrics["run_id"]) == set(logs.runs.get("run_id", logs.runs.index))
    for _ in range(2):  # the second import finds nothing to do
        summary = az.import_study("nights", [dump], out=tmp_path)
        runs = az.latency(az.load("nights", processed=tmp_path))
        assert len(runs) == 2 and set(runs["file"]) == {"2026-05-01.log", "2026-05-02.log"}
    assert summary.unchanged
    (dump / "2026-05-03.log").write_text(WINDOWS, "utf-8")
    az.import_study("nights", [dump], out=tmp_path)
    assert len(az.latency(az.load("nights", processed=tmp_path))) == 3
    assert list(az.load("nights", processed=tmp_path).sources["path"]) == sorted({*runs["file"], "2026-05-03.log"})


def test_long_logs_are_copies_whatever_their_names(tmp_path: Path, raw: Path) -> None:
    for day in (1, 2):
        shutil.copy(raw / "westeurope-azure-cni" / "az1-az3" / "sockperf.log", tmp_path / f"2026-05-0{day}.log")
    assert len(az.latency(az.parse(tmp_path))) == 1
