"""Importing on a Dask cluster: the same bytes, whatever happens to the workers."""

from __future__ import annotations

import os
import signal
import socket
import sys
from pathlib import Path

import pytest

import azlatency as az
from azlatency.studies.imports import parsing
from azlatency.studies.imports.cluster import dask_executor
from azlatency.studies.imports.importer import import_study


def contents(folder: Path) -> dict[Path, bytes]:
    files = [file for file in folder.rglob("*") if file.is_file() and file.name != "import.json"]
    return {file.relative_to(folder): file.read_bytes() for file in files}


def test_a_missing_package_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(az.LogError, match=r"install azlatency\[dask\]$"), dask_executor("tcp://127.0.0.1:1"):
        pass


@pytest.mark.slow
def test_a_cluster_that_is_not_there(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("distributed")
    monkeypatch.setattr("azlatency.studies.imports.cluster._PATIENCE", 1)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        address = f"tcp://127.0.0.1:{free.getsockname()[1]}"
    for wrong in (address, "nonsense://x"):
        message = f"^{wrong}: no Dask scheduler answers .*; check the address$"
        with pytest.raises(az.LogError, match=message) as error, dask_executor(wrong):
            pass
        assert "\n" not in str(error.value)


@pytest.mark.slow
def test_a_cluster_without_workers(monkeypatch: pytest.MonkeyPatch) -> None:
    distributed = pytest.importorskip("distributed")
    monkeypatch.setattr("azlatency.studies.imports.cluster._PATIENCE", 1)
    with (
        distributed.LocalCluster(n_workers=0, dashboard_address=None) as cluster,
        pytest.raises(az.LogError, match=r"has no worker; start one$"),
        dask_executor(cluster.scheduler_address),
    ):
        pass


@pytest.mark.slow
def test_a_worker_that_dies_changes_nothing(
    study: Path, out: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    distributed = pytest.importorskip("distributed")
    import_study("cni", [study], out=out)
    monkeypatch.setattr(parsing, "_MOST_FILES", 1)
    killed: list[int] = []
    with distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster:

        def kill_one(done: int, total: int) -> None:
            if not killed and done < total:
                killed.append(cluster.workers[0].pid)
                os.kill(killed[0], signal.SIGKILL)

        with dask_executor(cluster.scheduler_address) as executor:
            summary = import_study("cni", [study], out=tmp_path / "dask", executor=executor, progress=kill_one)
    assert killed and not summary.unreadable
    assert contents(tmp_path / "dask" / "cni") == contents(out / "cni")


def _die(_batch: object, ids: object) -> None:
    os.kill(os.getpid(), signal.SIGKILL)


@pytest.mark.slow
def test_logs_that_kill_every_worker_leave_the_tables(study: Path, out: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    distributed = pytest.importorskip("distributed")
    import_study("cni", [study], out=out)
    before = contents(out / "cni")
    log = study / "az1-az1" / "qperf.log"
    log.write_text(log.read_text("utf-8").replace("38.8 us", "39.9 us"), "utf-8")
    monkeypatch.setattr(parsing, "parse_batch", _die)
    with distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster:
        address = cluster.scheduler_address
        message = "4 workers died on the same logs; give them more memory and import again"
        with pytest.raises(az.LogError, match=message), dask_executor(address) as executor:
            import_study("cni", [study], out=out, executor=executor)
    assert contents(out / "cni") == before
