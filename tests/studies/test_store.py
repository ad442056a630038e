"""The import: what it writes, that it is incremental, that it can be killed at any point, that nothing is lost."""

from __future__ import annotations

import csv
import os
import re
import shutil
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from helpers.places import ROOT

import azlatency as az
from azlatency.logs import schema
from azlatency.studies import importer, writer
from azlatency.studies.importer import import_study
from azlatency.studies.manifest import ManifestError
from azlatency.studies.store import load, recover


@pytest.fixture
def study(tmp_path: Path, raw: Path) -> Path:
    """A copy of a real study, in a project folder of its own."""
    folder = tmp_path / "data" / "raw" / "cni"
    shutil.copytree(raw / "westeurope-azure-cni", folder)
    text = (folder / "study.toml").read_text("utf-8").replace("westeurope-azure-cni", "cni")
    (folder / "study.toml").write_text(text, "utf-8")
    return folder


@pytest.fixture
def out(tmp_path: Path) -> Path:
    return tmp_path / "processed"


def test_tables_files_and_frames(study: Path, out: Path) -> None:
    summary = import_study("cni", [study], out=out)
    assert summary.runs_by_tool == {"iperf3": 5, "ntttcp": 5, "qperf": 10, "sockperf": 5}
    assert not summary.not_recognised and not summary.problems
    assert summary.missing["accelerated_networking"] == 25
    loaded = load("cni", processed=out)
    assert len(loaded.runs) == 25
    assert set(loaded.runs["study"]) == {"cni"}
    row = loaded.runs[(loaded.runs["scenario"] == "AZ1 - AZ3") & (loaded.runs["tool"] == "sockperf")].iloc[0]
    assert (row["zone"], row["peer_zone"], row["placement"]) == ("3", "1", "cross_zone")
    assert loaded.info["question"].startswith("What do availability zones cost")
    assert loaded.expectations[0]["metric"] == "throughput"
    for name in schema.TABLES:
        assert tuple(loaded.table(name).columns) == schema.names(name)
    assert loaded.metrics["resolution"].isna().any(), "missing stays missing"


def test_other_programs_read_the_files(study: Path, out: Path) -> None:
    """Plain Parquet with the unit of each column in its metadata."""
    import pandas as pd
    import pyarrow.parquet as pq

    import_study("cni", [study], out=out)
    assert len(pd.read_parquet(out / "cni" / "runs.parquet")) == 25
    schema_of_file = pq.read_schema(out / "cni" / "quantiles.parquet")
    assert schema_of_file.field("value_ns").metadata[b"unit"] == b"ns"


def test_samples_are_partitioned_by_tool(raw: Path, out: Path) -> None:
    import_study("emulated-zones", out=out)
    loaded = load("emulated-zones", processed=out)
    folders = {path.name for path in (out / "emulated-zones" / "samples").iterdir()}
    assert folders == {"tool=echo", "tool=fping", "tool=ping", "tool=sockperf"}
    counts = loaded.samples.groupby("tool").size()
    assert counts["sockperf"] == 9553
    assert (loaded.samples["rtt_ns"].dropna() > 0).all()


def test_an_unchanged_study_is_not_parsed_again(study: Path, out: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = import_study("cni", [study], out=out)
    monkeypatch.setattr(importer, "_parse_file", None)
    again = import_study("cni", [study], out=out)
    assert again.unchanged
    assert again.runs_by_tool == first.runs_by_tool
    assert again.missing == first.missing


def test_only_what_changed_is_parsed_again(study: Path, out: Path) -> None:
    import_study("cni", [study], out=out)
    before = load("cni", processed=out)
    count = len(before.runs)
    log = study / "az1-az1" / "qperf.log"
    log.write_text(log.read_text("utf-8").replace("38.8 us", "39.9 us"), "utf-8")
    (study / "az1-az2" / "qperf.log").unlink()
    summary = import_study("cni", [study], out=out)
    assert (summary.parsed, summary.reused) == (1, 18)
    after = load("cni", processed=out)
    assert len(after.runs) == count - 2
    with pytest.raises(az.LogError, match="load it again"):
        _ = before.metrics
    printed = after.metrics[after.metrics["metric"] == "rtt_mean"]["printed"]
    assert "39.9" in set(printed) and "38.8" not in set(printed)


def test_incremental_and_fresh_imports_are_equal(study: Path, out: Path, tmp_path: Path) -> None:
    held = study / "az1-az3"
    shutil.move(held, tmp_path / "held")
    import_study("cni", [study], out=out)
    shutil.move(tmp_path / "held", held)
    import_study("cni", [study], out=out)
    import_study("cni", [study], out=tmp_path / "fresh")
    grown, fresh = load("cni", processed=out), load("cni", processed=tmp_path / "fresh")
    for name in schema.TABLES:
        keys = [column for column in ("run_id", "source_id", "metric", "q", "line", "code", "start_ns", "side")]
        tables = [each.table(name).drop(columns=["imported_at"], errors="ignore") for each in (grown, fresh)]
        by = [key for key in keys if key in tables[0].columns]
        left, right = (each.sort_values(by, kind="stable").reset_index(drop=True) for each in tables)
        assert left.equals(right), name


def test_a_changed_manifest_is_applied(study: Path, out: Path) -> None:
    import_study("cni", [study], out=out)
    text = (study / "study.toml").read_text("utf-8").replace('scenario = "AZ1 - AZ1"', 'scenario = "inside zone 1"')
    (study / "study.toml").write_text(text, "utf-8")
    import_study("cni", [study], out=out)
    assert "inside zone 1" in set(load("cni", processed=out).runs["scenario"])


def test_raw_files_are_never_changed(study: Path, out: Path) -> None:
    before = {path: (path.read_bytes(), path.stat().st_mtime_ns) for path in study.rglob("*") if path.is_file()}
    import_study("cni", [study], out=out)
    assert before == {path: (path.read_bytes(), path.stat().st_mtime_ns) for path in study.rglob("*") if path.is_file()}


def test_killed_while_writing(study: Path, out: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever call the import dies in, the old tables or the new ones are there, never half of them."""
    import_study("cni", [study], out=out)
    rows = len(load("cni", processed=out).runs)
    (study / "az1-az2" / "qperf.log").unlink()
    calls: list[str] = []

    def dying(name: str, original: Callable[..., object], fatal: int) -> Callable[..., object]:
        def call(*args: object, **keywords: object) -> object:
            calls.append(name)
            if len(calls) == fatal:
                raise KeyboardInterrupt(name)
            return original(*args, **keywords)

        return call

    for fatal in range(1, 40):
        calls.clear()
        with monkeypatch.context() as patched:
            for name in ("_write_table", "_write_samples", "_write_json"):
                patched.setattr(writer, name, dying(name, getattr(writer, name), fatal))
            patched.setattr(os, "rename", dying("rename", os.rename, fatal))
            try:
                import_study("cni", [study], out=out)
            except KeyboardInterrupt:
                assert len(load("cni", processed=out).runs) in (rows, rows - 2)
                continue
        break
    else:
        pytest.fail("the import never ended")
    assert fatal > 10, "every write was hit"
    assert len(load("cni", processed=out).runs) == rows - 2
    assert [path.name for path in out.iterdir()] == ["cni"]


def test_what_a_hard_kill_left_is_put_back(study: Path, out: Path) -> None:
    import_study("cni", [study], out=out)
    os.rename(out / "cni", out / ".cni.12345.old")
    recover(out / "cni")
    assert len(load("cni", processed=out).runs) == 25


def test_identical_files_count_once(study: Path, out: Path) -> None:
    shutil.copy(study / "az1-az1" / "qperf.log", study / "az1-az1" / "copy.log")
    summary = import_study("cni", [study], out=out)
    assert summary.runs_by_tool["qperf"] == 10
    (line,) = summary.duplicates
    assert "copy.log" in line or "qperf.log" in line


def test_odd_files_lose_nothing(study: Path, out: Path) -> None:
    (study / "binary.log").write_bytes(bytes(range(256)) * 9)
    (study / "empty.log").write_bytes(b"")
    (study / "unknown.log").write_text("nothing that a tool prints\n", "utf-8")
    summary = import_study("cni", [study], out=out)
    assert sum(summary.runs_by_tool.values()) == 25
    assert [line.split(":")[0] for line in summary.unreadable] == ["binary.log"]
    assert sorted(line.split(":")[0] for line in summary.not_recognised) == ["empty.log", "unknown.log"]


def test_an_archive_is_imported_whole(study: Path, out: Path, tmp_path: Path) -> None:
    archive = shutil.make_archive(str(tmp_path / "dump"), "zip", study)
    summary = import_study("mine", [Path(archive)], out=out)
    assert sum(summary.runs_by_tool.values()) == 25
    again = import_study("mine", [Path(archive)], out=out)
    assert again.unchanged


def test_an_executor_may_parse(study: Path, out: Path) -> None:
    with ThreadPoolExecutor(2) as executor:
        summary = import_study("cni", [study], out=out, executor=executor)
    assert sum(summary.runs_by_tool.values()) == 25


def test_a_broken_manifest_leaves_the_old_tables(study: Path, out: Path) -> None:
    import_study("cni", [study], out=out)
    (study / "study.toml").write_text("[study\n", "utf-8")
    with pytest.raises(ManifestError):
        import_study("cni", [study], out=out)
    assert len(load("cni", processed=out).runs) == 25


def test_an_unknown_study_lists_the_known(study: Path, out: Path) -> None:
    import_study("cni", [study], out=out)
    with pytest.raises(az.LogError, match=r"study 'nothing' not found. Known studies: cni\."):
        load("nothing", processed=out)


def test_small_tables_stand_beside_as_csv(study: Path, out: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import_study(study.name, [study], out=out)
    folder = out / study.name
    rows = list(csv.DictReader((folder / "metrics.csv").read_text("utf-8").splitlines()))
    metrics = load(study.name, processed=out).metrics
    assert list(rows[0]) == list(metrics.columns) and len(rows) == len(metrics)
    assert [float(row["value"]) for row in rows] == list(metrics["value"])
    assert not (folder / "samples.csv").exists(), "samples are partitioned, and large"
    monkeypatch.setattr(writer, "CSV_ROWS", 10)
    (study / "study.toml").write_text((study / "study.toml").read_text("utf-8") + "\n", "utf-8")
    import_study(study.name, [study], out=out)
    assert not (folder / "metrics.csv").exists() and (folder / "metrics.parquet").is_file()


def test_a_spreadsheet_takes_no_text_of_a_log_for_a_formula(tmp_path: Path, out: Path) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "=cmd|' C calc'!A0.log").write_text("hello\n", "utf-8")
    import_study("mine", [tmp_path / "mine"], out=out)
    (row,) = csv.DictReader((out / "mine" / "sources.csv").read_text("utf-8").splitlines())
    assert row["path"] == "'=cmd|' C calc'!A0.log"
    assert load("mine", processed=out).sources["path"][0] == "=cmd|' C calc'!A0.log"


def test_the_version_of_a_data_set_names_its_content(study: Path, out: Path, tmp_path: Path) -> None:
    """The same bytes elsewhere, touched or imported anew: the same version. Other bytes, another."""
    first = import_study(study.name, [study], out=out).data_version
    assert len(first) == 16 and load(study.name, processed=out).data_version == first
    copy = shutil.copytree(study, tmp_path / "copy" / study.name)
    assert import_study(study.name, [copy], out=tmp_path / "other").data_version == first
    log = next(path for path in copy.rglob("*.log"))
    os.utime(log, (1, 1))
    assert import_study(study.name, [copy], out=tmp_path / "other").data_version == first
    log.write_bytes(log.read_bytes() + b"\n")
    assert import_study(study.name, [copy], out=tmp_path / "other").data_version != first


def test_duckdb_reads_the_tables_as_the_documentation_says(study: Path, out: Path) -> None:
    """The recipe of docs/data-sets.md, statement by statement."""
    duckdb = pytest.importorskip("duckdb")
    import_study(study.name, [study], out=out)
    recipe = re.findall(r"```sql\n(.*?)```", (ROOT / "docs" / "data-sets.md").read_text("utf-8"), re.DOTALL)
    assert len(recipe) >= 3
    connection = duckdb.connect()
    for block in recipe:
        for statement in block.strip().rstrip(";").split(";\n"):
            rows = connection.execute(statement.replace("data/processed/*", f"{out}/*")).fetchall()
            assert rows, statement
