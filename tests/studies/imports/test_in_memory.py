"""A study in memory is the one that an import writes."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from helpers.cases import thinned
from studies.runs.test_run_table import ping

import azlatency as az
from azlatency.logs import schema
from azlatency.studies.drafts.draft import draft
from azlatency.studies.imports import ingest, parsing
from azlatency.studies.imports.importer import import_study
from azlatency.studies.imports.in_memory import read_study, stored
from azlatency.studies.imports.ingest import readable
from azlatency.studies.runs.selection import select_scenario


@pytest.mark.parametrize(
    ("name", "most"),
    thinned(
        [("westeurope-psping", 2**18), ("westeurope-psping", 10), ("emulated-cloud", 2**18), ("emulated-cloud", 10)], 4
    ),
)
def test_the_tables_and_descriptions_are_those_of_an_import(
    raw: Path, tmp_path: Path, name: str, most: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The samples of large logs are in files of their own, in memory as on disk."""
    monkeypatch.setattr(parsing, "_MOST_SAMPLES", most)
    folder = raw / name
    summary = import_study(folder.name, [folder], out=tmp_path)
    imported, (study, read) = az.load(folder.name, processed=tmp_path), read_study(folder.name, [folder])
    assert not study.is_stored and len(study.samples) > 100 and bool(study.logs.large) == (most == 10)
    for table in schema.TABLES:
        expected, found = (each.to_arrow(table).to_pandas() for each in (imported, study))
        if table == "sources":
            expected, found = expected.drop(columns="imported_at"), found.drop(columns="imported_at")
        assert found.equals(expected), table
    assert (study.info, study.expectations, study.data_version) == (
        imported.info, imported.expectations, imported.data_version
    )  # fmt: skip
    assert study.reported.equals(imported.reported) and study.file_names == imported.file_names
    assert (read.runs_by_tool, read.notes, read.missing) == (summary.runs_by_tool, summary.notes, summary.missing)


def test_a_manifest_that_is_drafted_parses_no_log_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for path, rtt in (("az1-az2", 1.0), ("az1-az3", 2.0)):
        (tmp_path / path).mkdir()
        (tmp_path / path / "ping_r1.log").write_text(ping("10.0.0.9", rtt), "utf-8")
    study, _ = read_study("dump", [tmp_path])
    monkeypatch.setattr(parsing, "parse_source", None)
    described = study.described(draft("dump", study))
    assert not study.runs["zone"].notna().any() and described.runs["peer_zone"].tolist() == ["2", "3"]
    assert described.info["pattern"] and not (tmp_path / "study.toml").exists()


def test_a_stored_study_is_loaded_by_its_name_until_the_context_ends(
    raw: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AZLATENCY_DATA", str(tmp_path))
    study, _ = read_study("echo", [raw / "uksouth-echo-latency"])
    with stored(study):
        assert az.load("echo").runs.equals(study.runs)
        assert az.load("echo").imported_from() == [raw / "uksouth-echo-latency"]
    with pytest.raises(az.LogError, match="'echo' not found"):
        az.load("echo")
    assert not any(tmp_path.iterdir())


def test_two_readings_of_the_same_logs_are_two_studies(tmp_path: Path) -> None:
    (tmp_path / "ping.log").write_text(ping("10.0.0.9", 1.0, 1.1, 1.2), "utf-8")
    first, second = (read_study("ping", [tmp_path / "ping.log"])[0] for _ in "ab")
    assert first.version != second.version and first.data_version == second.data_version


def test_a_scenario_of_a_study_in_memory_has_its_rows(tmp_path: Path) -> None:
    for number, name in enumerate(("before", "after"), 1):
        (tmp_path / f"{name}.log").write_text(ping("10.0.0.9", 1.0 * number, 1.1, 1.2), "utf-8")
    study, _ = read_study("sides", [tmp_path])
    assert len(study.runs) == 2 and len(select_scenario(study, "before").runs) == 1


def test_files_with_one_name_and_different_content_are_refused(tmp_path: Path) -> None:
    for folder, rtt in (("a", 1.0), ("b", 2.0)):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "ping.log").write_text(ping("10.0.0.9", rtt), "utf-8")
    logs = [tmp_path / folder / "ping.log" for folder in "ab"]
    with pytest.raises(az.LogError, match=r"b/ping\.log: .*a/ping\.log has the same name and different content"):
        read_study("dump", logs)
    shutil.copy(*logs)
    assert len(read_study("dump", logs)[0].runs) == 1


def test_sources_are_read_where_they_are(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ingest, "TemporaryDirectory", None)
    log = tmp_path / "ping.log"
    log.write_text(ping("10.0.0.9", 1.0), "utf-8")
    with readable([log, log]) as paths:
        assert paths == [log], "a file that is named twice is read once"
    with pytest.raises(az.LogError, match="nowhere: no such file or folder"), readable([tmp_path / "nowhere"]):
        pass
