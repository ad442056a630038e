"""No import can be told from a fresh one."""

from __future__ import annotations

import json
import shutil
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from helpers.places import FIXTURES
from hypothesis import given, settings
from hypothesis import strategies as st

import azlatency as az
from azlatency.studies.imports import importer
from azlatency.studies.imports.importer import import_study
from azlatency.studies.store.study import STAMP_FILE, load

#: What happens to one of the logs of a study between two imports.
STEPS = st.tuples(st.sampled_from(["add", "remove", "change", "rename", "describe", "copy"]), st.integers(0, 30))


def contents(folder: Path) -> dict[Path, bytes]:
    files = [file for file in folder.rglob("*.*") if file.name != STAMP_FILE]
    return {file.relative_to(folder): file.read_bytes() for file in files if file.is_file()}


@pytest.mark.costly
@pytest.mark.parametrize("examples", [3, pytest.param(25, marks=pytest.mark.slow)])
def test_an_import_cannot_be_told_from_a_fresh_one(
    study: Path, tmp_path_factory: pytest.TempPathFactory, examples: int
) -> None:
    @settings(max_examples=examples, deadline=None)
    @given(steps=st.lists(STEPS, min_size=1, max_size=5))
    def check(steps: list[tuple[str, int]]) -> None:
        place = tmp_path_factory.mktemp("steps")
        logs = shutil.copytree(study, place / "logs" / "cni", ignore=shutil.ignore_patterns("az[23]-*"))
        held = [log.rename(place / f"{number}.log") for number, log in enumerate(sorted(logs.rglob("*.log"))[::3])]
        import_study("cni", [logs], out=place / "grown")
        for number, (step, which) in enumerate(steps):
            present = sorted(logs.rglob("*.log"))
            log = present[which % len(present)]
            if step == "add" and held:
                held.pop().rename(logs / f"{which}-{number}.log")
            elif step == "remove":
                log.unlink()
            elif step == "change":
                log.write_bytes(log.read_bytes() + b"\n")
            elif step == "rename":
                log.rename(log.with_name(f"{which}.{number}.log"))
            elif step == "describe":
                with (logs / "study.toml").open("a") as manifest:
                    manifest.write(f'\n[[run]]\nlog = "*{which % 7}*.log"\nnotes = "{number}"\n')
            else:
                shutil.copy(log, logs / f"{which}-copy-{number}.log")
            import_study("cni", [logs], out=place / "grown")
        fresh = import_study("cni", [logs], out=place / "fresh")
        assert contents(place / "grown" / "cni") == contents(place / "fresh" / "cni")
        stamps = [json.loads((place / name / "cni" / STAMP_FILE).read_text("utf-8")) for name in ("grown", "fresh")]
        assert stamps[0]["summary"] == stamps[1]["summary"]
        assert load("cni", processed=place / "grown").data_version == fresh.data_version

    check()


PING = """PING 10.0.0.{0} (10.0.0.{0}) 56(84) bytes of data.
64 bytes from 10.0.0.{0}: icmp_seq=1 ttl=64 time=0.638 ms

--- 10.0.0.{0} ping statistics ---
1 packets transmitted, 1 received, 0% packet loss, time 0ms
rtt min/avg/max/mdev = 0.638/0.638/0.638/0.000 ms
"""
#: Names with and without a time, in folders that are before and after them.
NAMES = ("a.log", "z.log", "2026-05-01.log", "2026-05-02.log", "b/2026-05-01.log", "b/2026-05-03T10-15.log", "b/c.log")
WRITES = st.tuples(st.sampled_from(NAMES), st.sampled_from([None, 4, 5]))


@pytest.mark.slow
@pytest.mark.parametrize("examples", [10, pytest.param(200, marks=pytest.mark.slow)])
def test_equal_logs_with_times_in_their_names_are_imported_as_afresh(
    tmp_path_factory: pytest.TempPathFactory, examples: int
) -> None:
    """Whatever is added, deleted and changed between two imports, and in whatever order."""

    @settings(max_examples=examples, deadline=None)
    @given(rounds=st.lists(st.lists(WRITES, min_size=1, max_size=4), min_size=2, max_size=4))
    def check(rounds: list[list[tuple[str, int | None]]]) -> None:
        place = tmp_path_factory.mktemp("equal")
        logs = place / "logs"
        (logs / "b").mkdir(parents=True)
        for writes in rounds:
            for name, host in writes:
                (logs / name).unlink(missing_ok=True)
                if host is not None:
                    (logs / name).write_text(PING.format(host), "utf-8")
            grown = import_study("equal", [logs], out=place / "grown")
        fresh = import_study("equal", [logs], out=place / "fresh")
        assert (grown.duplicates, grown.runs_by_tool) == (fresh.duplicates, fresh.runs_by_tool)
        if fresh.runs_by_tool:
            assert contents(place / "grown" / "equal") == contents(place / "fresh" / "equal")
            runs = set(load("equal", processed=place / "fresh").runs["run_id"])
            assert set(az.parse(logs).runs["run_id"]) == runs

    check()


def test_tables_do_not_depend_on_the_executor(study: Path, tmp_path: Path) -> None:
    import_study("cni", [study], out=tmp_path / "one")
    with ThreadPoolExecutor(2) as executor:
        import_study("cni", [study], out=tmp_path / "two", executor=executor)
    assert contents(tmp_path / "one") == contents(tmp_path / "two")


def test_tables_of_another_layout_are_written_anew(study: Path, out: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importer, "LAYOUT", 1)
    import_study("cni", [study], out=out)
    monkeypatch.undo()
    assert import_study("cni", [study], out=out).parsed == 20


def test_a_frequency_table_names_the_log_and_the_run_that_it_belongs_to(tmp_path: Path) -> None:
    folder = tmp_path / "logs"
    folder.mkdir()
    for name in ("1.0.1-P-json.log", "1.0.1-P-n5000.json"):
        shutil.copy(FIXTURES / "lagscope" / name, folder / name)
    (folder / "1.0.1-P-json.log").rename(folder / "1.0.1-P-n5000.log")
    az.import_study("mine", [folder], out=tmp_path)
    study = az.load("mine", processed=tmp_path)
    (run_id,) = az.latency(study).index
    (text,) = study.events.loc[study.events["code"] == "same_run_as_log", "text"]
    assert text == f"this file and 1.0.1-P-n5000.log describe the same run ({run_id}); count only one of them"
    assert set(az.studies.frequency_tables(study)["run_id"]) == {run_id}
    (folder / "1.0.1-P-n5000.log").unlink()
    az.import_study("mine", [folder], out=tmp_path)
    (text,) = (events := az.load("mine", processed=tmp_path).events).loc[events["code"] == "same_run_as_log", "text"]
    assert text.startswith("this file and the log of lagscope describe")
