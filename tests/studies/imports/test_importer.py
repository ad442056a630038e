"""Importing a study: what is parsed again, counted once or refused."""

from __future__ import annotations

import multiprocessing
import os
import pickle
import shutil
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from helpers.places import FIXTURES

import azlatency as az
from azlatency.logs import schema
from azlatency.studies.imports import parsing
from azlatency.studies.imports.importer import import_study
from azlatency.studies.manifest.manifest import ManifestError
from azlatency.studies.store.study import load


def tables_of(folder: Path) -> dict[Path, bytes]:
    files = [file for file in folder.rglob("*.*") if file.name != "import.json"]
    return {file.relative_to(folder): file.read_bytes() for file in files if file.is_file()}


def test_an_unchanged_study_is_not_parsed_again(study: Path, out: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = import_study("cni", [study], out=out)
    monkeypatch.setattr(parsing, "_parse_file", None)
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
    assert grown.data_version == fresh.data_version
    tables = tables_of(out / "cni")
    assert tables == tables_of(tmp_path / "fresh" / "cni") and len(tables) > len(schema.TABLES)


def test_samples_of_large_logs_have_files_of_their_own(
    study: Path, out: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = "PING 10.0.0.1 (10.0.0.1) 56(84) bytes of data.\n" + "".join(
        f"64 bytes from 10.0.0.1: icmp_seq={n} ttl=64 time=0.{300 + n} ms\n" for n in range(1, 50)
    )
    (study / "az1-az1" / "ping.log").write_text(log, "utf-8")
    (study / "az1-az2" / "short-ping.log").write_text(log[:200], "utf-8")
    import_study("cni", [study], out=tmp_path / "together")
    monkeypatch.setattr(parsing, "_MOST_SAMPLES", 40)
    import_study("cni", [study], out=out)
    (study / "az1-az3" / "ping.log").write_text(log.replace("0.3", "0.4"), "utf-8")
    import_study("cni", [study], out=out)
    assert len(list((out / "cni" / "samples").glob("tool=ping/source-*.parquet"))) == 2
    parse_batch = parsing.parse_batch  # its answer travels between processes
    monkeypatch.setattr(parsing, "parse_batch", lambda batch, ids: pickle.loads(pickle.dumps(parse_batch(batch, ids))))
    import_study("cni", [study], out=tmp_path / "fresh")
    assert tables_of(out / "cni") == tables_of(tmp_path / "fresh" / "cni")
    apart, together = (load("cni", processed=folder).samples for folder in (out, tmp_path / "together"))
    for run_id, rows in together.groupby("run_id"):
        assert apart[apart["run_id"] == run_id].reset_index(drop=True).equals(rows.reset_index(drop=True))
    assert len(apart) == len(together) + 49
    (study / "az1-az3" / "ping.log").unlink()
    import_study("cni", [study], out=out)
    assert len(list((out / "cni" / "samples").glob("tool=ping/source-*.parquet"))) == 1


def test_a_changed_manifest_is_applied(study: Path, out: Path) -> None:
    import_study("cni", [study], out=out)
    text = (study / "study.toml").read_text("utf-8").replace('scenario = "AZ1 - AZ1"', 'scenario = "inside zone 1"')
    (study / "study.toml").write_text(text, "utf-8")
    import_study("cni", [study], out=out)
    assert "inside zone 1" in set(load("cni", processed=out).runs["scenario"])


def test_a_changed_manifest_needs_no_parsing(study: Path, out: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Values that the manifest set where a log has none are removed with the entry."""
    import_study("cni", [study], out=out)
    plain = load("cni", processed=out)
    before = plain.runs.drop(columns="scenario"), len(plain.events)
    text = (study / "study.toml").read_text("utf-8")
    with monkeypatch.context() as patched:
        patched.setattr(parsing, "_parse_file", None)
        entry = '\n[[run]]\nlog = "*qperf.log"\nclient = "pod-a"\nscenario = "x"\n'
        (study / "study.toml").write_text(text + entry, "utf-8")
        summary = import_study("cni", [study], out=out)
        assert (summary.parsed, summary.reused) == (0, 20) and "pod-a" in set(load("cni", processed=out).runs["client"])
        assert len(summary.problems) == 5, "one line for each pair of entries that contradict each other"
        assert all("(2 runs)" in problem for problem in summary.problems)
        assert import_study("cni", [study], out=out).problems == summary.problems
        (study / "study.toml").write_text(text, "utf-8")
        import_study("cni", [study], out=out)
    after = load("cni", processed=out)
    assert after.runs.drop(columns="scenario").equals(before[0]) and len(after.events) == before[1]


def test_the_first_of_identical_files_counts_whenever_it_was_added(study: Path, out: Path) -> None:
    import_study("cni", [study], out=out)
    shutil.copy(study / "az1-az1" / "qperf.log", study / "a.log")
    summary = import_study("cni", [study], out=out)
    assert summary.duplicates == ["az1-az1/qperf.log: identical to a.log; counted once"]
    sources = load("cni", processed=out).sources["path"]
    assert sources[0] == "a.log" and "az1-az1/qperf.log" not in set(sources)


def test_one_bad_file_does_not_end_an_import(study: Path, out: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    good = study / "az1-az1" / "qperf.log"
    shutil.copy(good, os.fsencode(study) + b"/messung_f\xfcr.log")
    (study / "link.log").symlink_to("/etc/passwd")
    (study / "linked").symlink_to("/etc")
    (study / ("n" * 251 + ".log")).write_text(good.read_text("utf-8") + "\n", "utf-8")
    os.mkfifo(study / "pipe.log")
    good.unlink()
    vanishing, growing = study / "az1-az2" / "qperf.log", study / "az1-az3" / "qperf.log"
    parse_file = parsing._parse_file

    def parse_and_change(path: str, file: str, tool: str | None) -> object:
        if file == str(vanishing):
            vanishing.unlink()
        parts = parse_file(path, file, tool)
        if file == str(growing):
            growing.write_text(growing.read_text("utf-8") + "more\n", "utf-8")
        return parts

    monkeypatch.setattr(parsing, "_parse_file", parse_and_change)
    summary = import_study("cni", [study], out=out)
    assert sorted(line.split(": ")[0] for line in summary.unreadable) == [
        "az1-az2/qperf.log",
        "az1-az3/qperf.log",
        "link.log",
        "linked",
        "pipe.log",
    ]
    loaded = load("cni", processed=out)
    assert {"messung_f\\xfcr.log", "n" * 251 + ".log"} <= set(loaded.sources["path"])
    assert len(loaded.runs) == 25 - 4 + 2
    monkeypatch.undo()
    assert import_study("cni", [study], out=out).parsed == 1, "the file that changed is read again"


def test_an_ignored_member_of_an_archive(study: Path, out: Path, tmp_path: Path) -> None:
    shutil.make_archive(str(tmp_path / "raw" / "dump"), "zip", study / "az1-az1")
    manifest = '[[run]]\nlog = "*!qperf.log"\nignore = "too short"\n[[run]]\nlog = "*"\nzone = "1"\n'
    (tmp_path / "raw" / "study.toml").write_text(manifest, "utf-8")
    summary = import_study("mine", [tmp_path / "raw"], out=out)
    assert summary.ignored == ["dump.zip!qperf.log: too short"] and "qperf" not in summary.runs_by_tool


def test_ignored_members_of_archives_in_an_archive(study: Path, out: Path, tmp_path: Path) -> None:
    """Also those that cannot be read, at every import."""
    inner = tmp_path / "inner"
    shutil.copytree(study / "az1-az1", inner / "vm1")
    (inner / "vm1" / "plot.png").write_bytes(b"\x89PNG\r\n\x1a\n" + bytes(100))
    (tmp_path / "dump").mkdir()
    shutil.make_archive(str(tmp_path / "dump" / "monday"), "gztar", inner)
    (tmp_path / "raw").mkdir()
    shutil.make_archive(str(tmp_path / "raw" / "dump"), "zip", tmp_path / "dump")
    summary = import_study("mine", [tmp_path / "raw"], out=out)
    member = "dump.zip!monday.tar.gz!./vm1"
    assert [line.split(": ")[0] for line in summary.not_recognised] == [f"{member}/plot.png:1"]
    manifest = '[[run]]\nlog = ["*.png", "*!*!*/qperf.log"]\nignore = "no"\n[[run]]\nlog = "*"\nzone = "1"\n'
    (tmp_path / "raw" / "study.toml").write_text(manifest, "utf-8")
    for _ in range(2):
        summary = import_study("mine", [tmp_path / "raw"], out=out)
        assert sorted(summary.ignored) == [f"{member}/plot.png: no", f"{member}/qperf.log: no"]
        assert not summary.unreadable and set(summary.runs_by_tool) == {"iperf3", "ntttcp", "sockperf"}
    assert set(load("mine", processed=out).sources["path"].str.rpartition("/")[0]) == {member}


def test_raw_files_are_never_changed(study: Path, out: Path) -> None:
    before = {path: (path.read_bytes(), path.stat().st_mtime_ns) for path in study.rglob("*") if path.is_file()}
    import_study("cni", [study], out=out)
    assert before == {path: (path.read_bytes(), path.stat().st_mtime_ns) for path in study.rglob("*") if path.is_file()}


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
    refused = sorted(line.split(":")[0] for line in summary.not_recognised)
    assert refused == ["binary.log", "empty.log", "unknown.log"] and not summary.unreadable


def test_an_archive_is_imported_whole(study: Path, out: Path, tmp_path: Path) -> None:
    archive = shutil.make_archive(str(tmp_path / "dump"), "zip", study)
    summary = import_study("mine", [Path(archive)], out=out)
    assert sum(summary.runs_by_tool.values()) == 25
    again = import_study("mine", [Path(archive)], out=out)
    assert again.unchanged


@pytest.mark.costly
@pytest.mark.parametrize("batch_files", [1, 7, 64])
def test_tables_do_not_depend_on_the_executor_or_its_batches(
    study: Path, out: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, batch_files: int
) -> None:
    shutil.copy(study / "az1-az1" / "qperf.log", study / "copy.log")
    import_study("cni", [study], out=out)
    monkeypatch.setattr(parsing, "_MOST_FILES", batch_files)
    done = []
    with ThreadPoolExecutor(2) as executor:
        summary = import_study(
            "cni", [study], out=tmp_path / "parallel", executor=executor, progress=lambda *counts: done.append(counts)
        )
    assert sum(summary.runs_by_tool.values()) == 25
    assert done[-1] == (21, 21)
    assert tables_of(tmp_path / "parallel" / "cni") == tables_of(out / "cni")


def _exit_at_once(_batch: object, ids: object) -> None:
    os._exit(1)


@pytest.mark.costly
def test_a_worker_process_that_dies_leaves_the_tables(study: Path, out: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import_study("cni", [study], out=out)
    before = tables_of(out / "cni")
    os.unlink(study / "az1-az1" / "qperf.log")
    shutil.copy(study / "az1-az2" / "qperf.log", study / "new.log")
    monkeypatch.setattr(parsing, "parse_batch", _exit_at_once)
    context = multiprocessing.get_context("spawn")
    message = r"a worker process died .*; check its memory and import again"
    with ProcessPoolExecutor(1, mp_context=context) as executor, pytest.raises(az.LogError, match=message):
        import_study("cni", [study], out=out, executor=executor)
    assert tables_of(out / "cni") == before


def test_workers_with_other_parsers_are_refused(study: Path, out: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    parse = parsing.parse_batch
    monkeypatch.setattr(parsing, "parse_batch", lambda batch, ids: parse(batch, ids)._replace(parser_version="old"))
    with pytest.raises(az.LogError, match=r"another version of the parsers \(old instead of .*\); install the same"):
        import_study("cni", [study], out=out)
    assert not out.exists()


def test_a_renamed_log_counts_once(study: Path, out: Path, tmp_path: Path) -> None:
    import_study("cni", [study], out=out)
    (study / "az1-az1" / "qperf.log").rename(study / "az1-az1" / "renamed.log")
    import_study("cni", [study], out=out)
    import_study("cni", [study], out=tmp_path / "fresh")
    assert tables_of(out / "cni") == tables_of(tmp_path / "fresh" / "cni")


def test_a_log_that_changes_while_it_is_read_is_left_out(
    study: Path, out: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    parse = parsing._parse_file

    def parse_and_append(path: str, file: str, tool: str | None) -> object:
        parts = parse(path, file, tool)
        if path == "az1-az1/qperf.log":
            with open(file, "ab") as log:
                log.write(b"more\n")
        return parts

    monkeypatch.setattr(parsing, "_parse_file", parse_and_append)
    summary = import_study("cni", [study], out=out)
    assert summary.unreadable == ["az1-az1/qperf.log: changed while it was read; import it again"]
    assert "az1-az1/qperf.log" not in set(load("cni", processed=out).sources["path"])
    monkeypatch.undo()
    assert import_study("cni", [study], out=out).parsed == 1


def test_a_broken_manifest_leaves_the_old_tables(study: Path, out: Path) -> None:
    import_study("cni", [study], out=out)
    (study / "study.toml").write_text("[study\n", "utf-8")
    with pytest.raises(ManifestError):
        import_study("cni", [study], out=out)
    assert len(load("cni", processed=out).runs) == 25


@pytest.mark.parametrize("value", [10**20, "x"])
def test_a_value_that_fits_no_column_refuses_its_file_alone(
    tmp_path: Path, out: Path, monkeypatch: pytest.MonkeyPatch, value: object
) -> None:
    text = (FIXTURES / "iperf3" / "3.12-tcp.json").read_text()
    (tmp_path / "good.json").write_text(text)
    (tmp_path / "bad.json").write_text(text + "\n")
    parse = parsing._parse_file

    def parse_badly(path: str, file: Path, tool: str | None) -> Any:
        sha256, parts = parse(path, file, tool)
        if path == "bad.json":
            parts[0].rows["intervals"][1]["retransmits"] = value
        return sha256, parts

    monkeypatch.setattr(parsing, "_parse_file", parse_badly)
    summary = import_study("mixed", [tmp_path / "good.json", tmp_path / "bad.json"], out=out)
    (refused,) = summary.unreadable
    assert refused.startswith(f"bad.json: line 66: retransmits {value!r} does not fit its column (")
    assert refused.endswith("); correct the log, or leave it out")
    assert load("mixed", processed=out).runs["tool"].tolist() == ["iperf3"]
