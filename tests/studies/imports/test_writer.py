"""Writing a study: atomic, and safe to open in a spreadsheet."""

from __future__ import annotations

import csv
import errno
import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from helpers.places import FIXTURES, ROOT

from azlatency.studies.imports import parsing, writer
from azlatency.studies.imports.importer import import_study
from azlatency.studies.store.study import load


@pytest.mark.costly
def test_killed_while_writing(study: Path, out: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever call the import dies in, the old tables or the new ones are there, never half of them."""
    (study / "az1-az3" / "ping.log").write_bytes((FIXTURES / "ping" / "busybox-1.35-c4.log").read_bytes())
    monkeypatch.setattr(parsing, "_MOST_SAMPLES", 2)
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
            for name in ("_write_table", "_write_samples", "_link", "_write_text"):
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


def test_a_first_import_that_fails_leaves_no_folder(
    study: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(writer, "_write_text", fail)
    with pytest.raises(OSError, match="No space left"):
        import_study("cni", [study], out=tmp_path / "new")
    assert not (tmp_path / "new").exists()


def test_small_tables_are_written_as_csv_too(study: Path, out: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import_study(study.name, [study], out=out)
    folder = out / study.name
    rows = list(csv.DictReader((folder / "metrics.csv").read_text("utf-8").splitlines()))
    metrics = load(study.name, processed=out).metrics
    assert list(rows[0]) == list(metrics.columns) and len(rows) == len(metrics)
    assert [float(row["value"]) for row in rows] == list(metrics["value"])
    assert not (folder / "samples.csv").exists(), "samples are partitioned, and large"
    monkeypatch.setattr(writer, "CSV_ROWS", 10)
    (study / "az1-az1" / "qperf.log").unlink()
    import_study(study.name, [study], out=out)
    assert not (folder / "metrics.csv").exists() and (folder / "metrics.parquet").is_file()


def test_a_spreadsheet_takes_no_text_of_a_log_for_a_formula(tmp_path: Path, out: Path) -> None:
    (tmp_path / "mine").mkdir()
    log = ROOT / "data" / "raw" / "canadacentral-proximity-placement" / "sender.log"
    shutil.copy(log, tmp_path / "mine" / "=cmd|' C calc'!A0.log")
    import_study("mine", [tmp_path / "mine"], out=out)
    (row,) = csv.DictReader((out / "mine" / "sources.csv").read_text("utf-8").splitlines())
    assert row["path"] == "'=cmd|' C calc'!A0.log"
    assert load("mine", processed=out).sources["path"][0] == "=cmd|' C calc'!A0.log"
