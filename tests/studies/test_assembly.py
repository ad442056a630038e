"""No import can be told from a fresh one, and the tables of large studies have parts, of which few change."""

from __future__ import annotations

import json
import shutil
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import azlatency as az
from azlatency.logs import schema
from azlatency.studies import importer
from azlatency.studies.importer import import_study
from azlatency.studies.store import STAMP_FILE, load

#: What happens to one of the logs of a study between two imports.
STEPS = st.tuples(st.sampled_from(["add", "remove", "change", "rename", "describe", "copy"]), st.integers(0, 30))


def contents(folder: Path) -> dict[Path, bytes]:
    files = [file for file in folder.rglob("*.*") if file.name != STAMP_FILE]
    return {file.relative_to(folder): file.read_bytes() for file in files if file.is_file()}


@pytest.mark.usefixtures("small_parts")
@settings(max_examples=5, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(steps=st.lists(STEPS, min_size=1, max_size=5))
def test_an_import_cannot_be_told_from_a_fresh_one(
    study: Path, tmp_path_factory: pytest.TempPathFactory, steps: list[tuple[str, int]]
) -> None:
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


def test_tables_do_not_depend_on_parts_or_executors(
    study: Path, out: Path, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    whole = import_study("cni", [study], out=out)
    tables = {name: load("cni", processed=out).table(name) for name in schema.TABLES if name != "sources"}
    request.getfixturevalue("small_parts")
    divided = import_study("cni", [study], out=tmp_path / "one")
    with ThreadPoolExecutor(2) as executor:
        import_study("cni", [study], out=tmp_path / "two", executor=executor)
    assert contents(tmp_path / "one") == contents(tmp_path / "two")
    assert len(list((tmp_path / "one").rglob("metrics-*-of-00008.parquet"))) == 8
    study_of_parts = load("cni", processed=tmp_path / "one")
    for name, table in tables.items():
        assert study_of_parts.table(name).equals(table), name
    assert divided.data_version == whole.data_version
    assert not (tmp_path / "one" / "cni" / "metrics.csv").exists(), "a spreadsheet gets whole tables"


def test_samples_have_parts_too(tmp_path: Path, request: pytest.FixtureRequest) -> None:
    (tmp_path / "logs").mkdir()
    for number in range(100, 112):
        reply = "64 bytes from 10.0.0.1: icmp_seq={} ttl=64 time=0.{}{} ms\n"
        text = "".join(reply.format(seq, number, seq) for seq in range(1, 9))
        (tmp_path / "logs" / f"{number}.log").write_text(f"PING 10.0.0.1 (10.0.0.1) 56(84) bytes of data.\n{text}")
    import_study("pings", [tmp_path / "logs"], out=tmp_path / "whole")
    request.getfixturevalue("small_parts")
    import_study("pings", [tmp_path / "logs"], out=tmp_path / "parts")
    folder = tmp_path / "parts" / "pings" / "samples" / "tool=ping"
    assert len(list(folder.glob("part-*-of-00004.parquet"))) == 4
    whole, divided = (load("pings", processed=tmp_path / name) for name in ("whole", "parts"))
    assert len(whole.samples) == 12 * 8 and divided.samples.equals(whole.samples)
    assert [low.estimate for low in az.quantiles(divided, [0.5])] == [
        low.estimate for low in az.quantiles(whole, [0.5])
    ]


@pytest.mark.usefixtures("small_parts")
def test_a_new_log_changes_the_files_of_its_part(study: Path, out: Path) -> None:
    log = study / "az1-az1" / "qperf.log"
    held = log.rename(study.parent / "held")
    import_study("cni", [study], out=out)
    before = {file.name: file.stat().st_ino for file in (out / "cni").glob("metrics-*.parquet")}
    held.rename(log)
    import_study("cni", [study], out=out)
    after = {file.name: file.stat().st_ino for file in (out / "cni").glob("metrics-*.parquet")}
    assert before.keys() == after.keys()
    assert sum(before[name] != after[name] for name in after) == 1, "the others are links to the files before"


def test_tables_of_another_layout_are_written_anew(study: Path, out: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importer, "LAYOUT", 1)
    import_study("cni", [study], out=out)
    monkeypatch.undo()
    assert import_study("cni", [study], out=out).parsed == 20
