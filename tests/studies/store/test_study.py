"""The import: what it writes, that it is incremental, that it can be killed at any point, that nothing is lost."""

from __future__ import annotations

import json
import os
import re
import shutil
from pathlib import Path
from unittest import mock

import pytest
from helpers.cases import thinned
from helpers.places import ROOT

import azlatency as az
from azlatency.logs import schema
from azlatency.logs.parse import LogError
from azlatency.studies.imports import importer
from azlatency.studies.imports.importer import import_study
from azlatency.studies.manifest.manifest import _STUDY_TYPES
from azlatency.studies.runs.samples import sample_count
from azlatency.studies.store.study import (
    LAYOUT,
    StudyInfo,
    load,
    read_stamp,
)

PINGS = "emulated-zones/ping/az1a-az2a"


@pytest.fixture(scope="module")
def imported_once(tmp_path_factory: pytest.TempPathFactory, raw: Path) -> Path:
    """The studies ``cni`` and ``mine``, imported once."""
    folder = tmp_path_factory.mktemp("imported")
    import_study("cni", [raw / "westeurope-azure-cni"], out=folder)
    import_study("mine", [raw / PINGS], out=folder)
    return folder


@pytest.fixture
def imported(imported_once: Path, tmp_path: Path) -> Path:
    """A copy of `imported_once`, which a test may change."""
    return shutil.copytree(imported_once, tmp_path / "imported")


def test_tables_files_and_frames(study: Path, out: Path) -> None:
    summary = import_study("cni", [study], out=out)
    assert summary.runs_by_tool == {"iperf3": 5, "ntttcp": 5, "qperf": 10, "sockperf": 5}
    assert not summary.not_recognised and not summary.problems
    assert "accelerated_networking" not in summary.missing, "study.toml lists it under not_said"
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


def test_other_programs_read_the_files(imported: Path) -> None:
    """Plain Parquet with the unit of each column in its metadata."""
    import pandas as pd
    import pyarrow.parquet as pq

    assert len(pd.read_parquet(imported / "cni" / "runs.parquet")) == 25
    schema_of_file = pq.read_schema(imported / "cni" / "quantiles.parquet")
    assert schema_of_file.field("value_ns").metadata[b"unit"] == b"ns"


def test_samples_are_partitioned_by_tool() -> None:
    loaded = load("emulated-zones")
    folders = {path.name for path in (loaded.folder / "samples").iterdir()}
    assert folders == {"tool=echo", "tool=ping"}
    # 8 directed pairs: 12 runs of 200 pings; 12 echo runs of 200 round trips and a long one of 3,000.
    assert loaded.samples.groupby("tool").size().to_dict() == {"echo": 8 * (12 * 200 + 3000), "ping": 8 * 12 * 200}
    assert (loaded.samples["rtt_ns"].dropna() > 0).all()


def test_what_a_caller_changes_in_a_stamp_changes_no_other_one(study: Path, out: Path) -> None:
    assert read_stamp(out / "cni")["files"] == {}
    read_stamp(out / "cni")["files"]["x"] = {}
    import_study("cni", [study], out=out)
    changed = read_stamp(out / "cni")
    changed["files"].clear()
    changed["hosts"]["x"] = {}
    stamp = read_stamp(out / "cni")
    assert len(stamp["files"]) == 20 and stamp["hosts"] == {} and read_stamp(out / "none")["files"] == {}


def test_an_import_that_cannot_be_written_changes_nothing_for_the_next_one(
    study: Path, out: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import_study("cni", [study], out=out)
    log = study / "az1-az1" / "qperf.log"
    log.write_bytes(log.read_bytes() + b"\n")
    with monkeypatch.context() as patched, pytest.raises(OSError, match="disk"):
        patched.setattr(importer, "write_study", mock.Mock(side_effect=OSError("disk full")))
        import_study("cni", [study], out=out)
    summary = import_study("cni", [study], out=out)
    assert (summary.parsed, summary.reused, len(load("cni", processed=out).runs)) == (1, 19, 25)


def test_the_time_of_the_import_is_not_in_the_tables(imported: Path) -> None:
    import pyarrow.parquet as pq

    assert "imported_at" not in pq.read_schema(imported / "cni" / "sources.parquet").names
    assert load("cni", processed=imported).sources["imported_at"].nunique() == 1


def test_a_data_set_of_another_version_is_refused_by_name(imported: Path) -> None:
    stamp = imported / "cni" / "import.json"
    stamp.write_text(stamp.read_text().replace(f'"layout":{LAYOUT}', '"layout":3'))
    with pytest.raises(az.LogError, match=r"another version of azlatency\. Run: azlatency import --study cni"):
        load("cni", processed=imported)


def test_a_changed_table_is_named_and_written_again(study: Path, out: Path) -> None:
    """Other numbers and flipped bits alike; neither can enter a result or the next version."""
    import pyarrow as pa
    import pyarrow.compute as pc
    import pyarrow.parquet as pq

    import_study("cni", [study], out=out)
    file = out / "cni" / "metrics.parquet"
    original = file.read_bytes()
    table = pq.read_table(file)
    tripled = table.set_column(4, table.schema.field("value"), pc.multiply(table["value"], pa.scalar(3.0)))
    assert table.schema.names[4] == "value"
    pq.write_table(tripled, file, compression="zstd")
    for changed in (file.read_bytes(), bytes([original[0] ^ 1]) + original[1:], original[:900] + b"X" + original[901:]):
        file.write_bytes(changed)
        with pytest.raises(
            az.LogError, match=r"/cni/metrics\.parquet: not as it was imported .* Run: azlatency import"
        ):
            _ = load("cni", processed=out).metrics
        with pytest.warns(UserWarning, match=r"/cni/metrics\.parquet: not as it was imported"):
            assert not import_study("cni", [study], out=out).unchanged
        assert file.read_bytes() == original


@pytest.mark.parametrize("name", ["study.json", "expectations.json", "reported.json"])
def test_an_edited_description_is_refused(imported: Path, name: str) -> None:
    described = imported / "cni" / name
    described.write_text(described.read_text("utf-8") + "\n", "utf-8")
    with pytest.raises(az.LogError, match=rf"{name}: not as it was imported .* Run: azlatency import"):
        (loaded := load("cni", processed=imported)).reported, loaded.expectations


def test_rebuild_notices_a_log_that_was_edited_with_equal_size_and_time(study: Path, out: Path) -> None:
    first = import_study("cni", [study], out=out)
    log = study / "az1-az3" / "sockperf.log"
    text, status = log.read_text("utf-8"), log.stat()
    log.write_text(text.replace("1", "2"), "utf-8")
    os.utime(log, ns=(status.st_atime_ns, status.st_mtime_ns))
    assert import_study("cni", [study], out=out).unchanged
    assert import_study("cni", [study], out=out, rebuild=True).data_version != first.data_version


@pytest.mark.parametrize("lost", thinned(["metrics.parquet", "runs.parquet", "samples/tool=ping/*", "study.json"], 2))
def test_a_deleted_file_is_named_and_written_again(lost: str, study: Path, out: Path, raw: Path) -> None:
    for log in (raw / "emulated-zones" / "ping" / "az1a-az1b").iterdir():
        shutil.copy(log, study / log.name)
    import_study("cni", [study], out=out)
    before = {file: file.read_bytes() for file in (out / "cni").rglob("*") if file.suffix in (".parquet", ".csv")}
    loaded = load("cni", processed=out)
    for file in (out / "cni").glob(lost):
        file.unlink()
    name = lost.replace("*", ".*")
    with pytest.raises(az.LogError, match=rf"/cni/{name}: this file was deleted\. Run: azlatency import --study cni$"):
        load("cni", processed=out)
    summary = import_study("cni", [study], out=out)
    assert (summary.unchanged, summary.data_version) == (False, loaded.data_version)
    assert {file: file.read_bytes() for file in before} == before


def test_an_unknown_study_lists_the_known(imported: Path) -> None:
    with pytest.raises(az.LogError, match=r"study 'nothing' not found. Known studies: cni, mine\."):
        load("nothing", processed=imported)


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


def test_every_key_of_the_manifest_has_a_type() -> None:
    """The last three are tables and an order, not keys."""
    assert StudyInfo.__annotations__.keys() == _STUDY_TYPES.keys() | {
        "scenarios",
        "conclusions",
        "unquantified",
    }


@pytest.mark.parametrize("name", ["samples/tool=ping/part-0 (copy).parquet", "runs.1.parquet"])
def test_a_table_that_the_import_did_not_write_is_refused_by_name(imported: Path, raw: Path, name: str) -> None:
    folder = imported / "mine"
    probes = len(az.load("mine", processed=imported).samples)
    shutil.copy(folder / "samples" / "tool=ping" / "part-0.parquet", folder / name)
    with pytest.raises(LogError, match=r"part-0 \(copy\)|runs\.1.*: not a file of this import\. Delete it, or run: "):
        az.load("mine", processed=imported)
    with pytest.warns(UserWarning, match="not a file of this import; removed"):
        import_study("mine", [raw / PINGS], out=imported)
    assert not (folder / name).exists() and len(az.load("mine", processed=imported).samples) == probes


def test_a_file_whose_name_begins_with_a_dot_is_not_a_table(imported: Path) -> None:
    probes, samples = len(az.load("mine", processed=imported).samples), imported / "mine" / "samples"
    (samples / ".~lock.parquet").write_bytes(b"x")
    shutil.copy(samples / "tool=ping" / "part-0.parquet", samples / "tool=ping" / "._part-0.parquet")
    study = az.load("mine", processed=imported)
    assert len(study.samples) == sample_count(study) == probes


@pytest.mark.costly
@pytest.mark.parametrize(
    ("key", "value"), [("tables", None), ("tables", 3), ("tables", {"runs.parquet": 3}), ("files", []), ("hosts", None),
                       ("files", {"a.log": 3}), ("imported_at", []), ("imported_at", "today"), ("summary", "x")],
)  # fmt: skip
def test_an_edited_stamp_of_other_types_is_refused(imported: Path, raw: Path, key: str, value: object) -> None:
    stamp = json.loads((imported / "mine" / "import.json").read_text("utf-8"))
    (imported / "mine" / "import.json").write_text(json.dumps(stamp | {key: value}), "utf-8")
    with pytest.raises(LogError, match="imported by another version of azlatency"):
        az.load("mine", processed=imported)
    import_study("mine", [raw / PINGS], out=imported)
    assert len(az.load("mine", processed=imported).samples)


def test_a_table_without_its_hash_is_refused(imported: Path) -> None:
    stamp = json.loads((imported / "mine" / "import.json").read_text("utf-8"))
    stamp["tables"]["runs.parquet"] = None
    (imported / "mine" / "import.json").write_text(json.dumps(stamp), "utf-8")
    with pytest.raises(LogError, match=r"runs\.parquet: not as it was imported"):
        az.load("mine", processed=imported).runs  # noqa: B018
