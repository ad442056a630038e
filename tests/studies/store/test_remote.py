"""Logs and tables in an object store: the tables are those of the same logs in a folder."""

from __future__ import annotations

import asyncio
import os
import re
import shutil
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import fsspec
import pytest
from fsspec.asyn import AsyncFileSystem
from fsspec.implementations.memory import MemoryFileSystem
from helpers.places import FIXTURES

import azlatency as az
from azlatency.studies.imports.changes import changed_since_import
from azlatency.studies.imports.importer import import_study
from azlatency.studies.store import remote
from azlatency.studies.store.study import load

BUCKET = "logs"


@pytest.fixture
def store() -> Iterator[MemoryFileSystem]:
    system = fsspec.filesystem("memory")
    yield system
    system.rm("/", recursive=True)


def upload(system: fsspec.AbstractFileSystem, folder: Path, to: str) -> None:
    for file in sorted(path for path in folder.rglob("*") if path.is_file()):
        system.pipe_file(f"{to}/{file.relative_to(folder).as_posix()}", file.read_bytes())


def local_tables(folder: Path) -> dict[str, bytes]:
    files = [file for file in folder.rglob("*") if file.is_file() and file.name != "import.json"]
    return {file.relative_to(folder).as_posix(): file.read_bytes() for file in files}


def stored_tables(system: fsspec.AbstractFileSystem, base: str) -> dict[str, bytes]:
    version = system.cat_file(f"{base}/latest").decode().strip()
    contents = {path.partition(f"/{version}/")[2]: system.cat_file(path) for path in system.find(f"{base}/{version}")}
    assert contents.pop("import.json")
    return contents


def test_the_tables_of_a_store_are_those_of_a_folder(study: Path, out: Path, store: MemoryFileSystem) -> None:
    (study / ".hidden").write_text("no log")
    import_study("cni", [study], out=out)
    upload(store, study, "/dump/cni")
    with ThreadPoolExecutor(2) as executor:
        summary = import_study("cni", ["memory://dump/cni"], out="memory://tables/", executor=executor)
    assert summary.folder == "memory://tables/cni"
    assert stored_tables(store, "/tables/cni") == local_tables(out / "cni")
    loaded = load("cni", processed="memory://tables")
    assert loaded.data_version == load("cni", processed=out).data_version == summary.data_version
    assert loaded.runs.equals(load("cni", processed=out).runs)


def test_only_a_changed_object_is_parsed_again(study: Path, store: MemoryFileSystem) -> None:
    upload(store, study, "/dump/cni")
    source, out = ["memory://dump/cni"], "memory://tables"
    first = import_study("cni", source, out=out)
    assert import_study("cni", source, out=out).unchanged
    (version,) = [path for path in store.ls("/tables/cni", detail=False) if not path.endswith("latest")]
    log = "/dump/cni/az1-az1/qperf.log"
    store.pipe_file(log, store.cat_file(log).replace(b"38.8 us", b"39.9 us"))
    again = import_study("cni", source, out=out)
    assert (again.parsed, again.reused) == (1, first.parsed - 1)
    printed = load("cni", processed=out).metrics["printed"]
    assert (printed == "39.9").any() and not (printed == "38.8").any()
    assert not store.exists(version)


def test_single_objects_and_several_folders(study: Path, out: Path, store: MemoryFileSystem) -> None:
    upload(store, study, "/dump/cni")
    one = import_study("one", ["memory://dump/cni/az1-az1/qperf.log"], out=out)
    assert set(one.runs_by_tool) == {"qperf"}
    two = import_study("two", ["memory://dump/cni/az1-az1", "memory://dump/cni/az1-az2"], out=out)
    assert {path.split("/")[0] for path in load("two", processed=out).sources["path"]} == {"az1-az1", "az1-az2"}
    assert two.usable
    assert changed_since_import("two") == ""


def test_an_object_that_changes_while_it_is_read_is_left_out(
    study: Path, out: Path, store: MemoryFileSystem, monkeypatch: pytest.MonkeyPatch
) -> None:
    upload(store, study, "/dump/cni")
    get = MemoryFileSystem.get_file

    def get_and_replace(system: MemoryFileSystem, path: str, target: str) -> None:
        get(system, path, target)
        if path.endswith("az1-az1/qperf.log"):
            system.pipe_file(path, b"replaced")

    monkeypatch.setattr(MemoryFileSystem, "get_file", get_and_replace)
    summary = import_study("cni", ["memory://dump/cni"], out=out)
    assert summary.unreadable == ["az1-az1/qperf.log: changed while it was read; import it again"]
    assert "az1-az1/qperf.log" not in set(load("cni", processed=out).sources["path"])


@pytest.mark.parametrize(
    ("url", "message"),
    [
        ("memory://nowhere", r"^memory://nowhere: no such file or folder; check the URL$"),
        ("unknown://x", r"^unknown://x: Protocol not known: unknown; check the URL and the credentials$"),
    ],
)
def test_a_source_that_is_not_there(url: str, message: str, out: Path) -> None:
    with pytest.raises(az.LogError, match=message):
        import_study("x", [url], out=out)
    assert not out.exists()


def test_a_missing_package_is_named(out: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "s3fs", None)
    with pytest.raises(az.LogError, match=r"^s3://b/x: .*; install azlatency\[aws\]$"):
        import_study("x", ["s3://b/x"], out=out)


def test_a_store_that_refuses_leaves_the_tables(
    study: Path, out: Path, store: MemoryFileSystem, monkeypatch: pytest.MonkeyPatch
) -> None:
    upload(store, study, "/dump/cni")
    import_study("cni", ["memory://dump/cni"], out="memory://tables")
    before = stored_tables(store, "/tables/cni")
    store.rm("/dump/cni/az1-az1/qperf.log")

    def refuse(system: MemoryFileSystem, source: str, target: str, **_options: object) -> None:
        if "samples" in target or "runs" in target:
            raise PermissionError("Access Denied")
        put(system, source, target)

    put = MemoryFileSystem.put_file
    monkeypatch.setattr(MemoryFileSystem, "put_file", refuse)
    with pytest.raises(az.LogError, match=r"^memory://tables/cni: permission denied \(Access Denied\); check the cred"):
        import_study("cni", ["memory://dump/cni"], out="memory://tables")
    assert stored_tables(store, "/tables/cni") == before


def test_a_full_disk_is_not_blamed_on_the_store(
    study: Path, out: Path, store: MemoryFileSystem, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(_system: MemoryFileSystem, _path: str, target: str) -> None:
        raise OSError(remote.DISK_ERRORS[0], "No space left on device", target)

    upload(store, study / "az1-az1", "/dump")
    monkeypatch.setattr(MemoryFileSystem, "get_file", full)
    with pytest.raises(OSError, match="No space left on device"):
        import_study("x", ["memory://dump"], out=out)
    assert not out.exists()


def test_a_manifest_cannot_name_files_outside_its_folder(out: Path, store: MemoryFileSystem) -> None:
    store.pipe_file("/secret.csv", b"x")
    store.pipe_file("/dump/study.toml", b'[study]\nname = "x"\nruns = "../secret.csv"\n')
    store.pipe_file("/dump/a.log", b"x")
    with pytest.raises(ValueError, match="not a file in the folder of the study"):
        import_study("x", ["memory://dump"], out=out)


def test_a_store_that_does_not_answer_is_named(out: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Silent(AsyncFileSystem):
        async def _info(self, path: str, **_options: object) -> dict[str, object]:
            await asyncio.sleep(3600)
            return {}

    fsspec.register_implementation("silent", Silent, clobber=True)
    monkeypatch.setattr(remote, "_PATIENCE", 1)
    message = "no usable answer within 1 s; check the URL, the network and the credentials$"
    for source, target, named in (
        (["silent://b/x"], out, "silent://b/x"),
        (["silent://b/x", "silent://b/y"], out, "silent://b/x"),
        (["memory://x"], "silent://b/t", "silent://b/t/x"),
    ):
        with pytest.raises(az.LogError, match=f"^{named}: {message}"):
            import_study("x", source, out=target)
    assert not out.exists()


# --- real servers that speak the protocols of Amazon S3 and Azure Blob Storage


@contextmanager
def serving(command: list[str], option: str, log: Path, variables: dict[str, str] | None = None) -> Iterator[str]:
    """Run a server on a free port, which follows the option; its address."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    with log.open("w") as output:
        environment = {**os.environ, **(variables or {})}
        server = subprocess.Popen([*command, option, str(port)], stdout=output, stderr=output, env=environment)
        try:
            for _ in range(300):
                with socket.socket() as probe:
                    if probe.connect_ex(("127.0.0.1", port)) == 0:
                        break
                time.sleep(0.1)
            yield f"http://127.0.0.1:{port}"
        finally:
            server.terminate()
            server.wait()


@pytest.fixture
def s3(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[fsspec.AbstractFileSystem]:
    pytest.importorskip("moto")
    with serving([sys.executable, "-m", "moto.server", "-H", "127.0.0.1"], "-p", tmp_path / "server.log") as address:
        for name, value in {
            "AWS_ENDPOINT_URL": address,
            "AWS_ACCESS_KEY_ID": "key",
            "AWS_SECRET_ACCESS_KEY": "secret",
            "AWS_DEFAULT_REGION": "us-east-1",
            "AWS_MAX_ATTEMPTS": "1",
            "NO_PROXY": "127.0.0.1",
        }.items():
            monkeypatch.setenv(name, value)
        system = fsspec.filesystem("s3", skip_instance_cache=True)
        system.mkdir(BUCKET)
        yield system


def check_store(system: fsspec.AbstractFileSystem, protocol: str, study: Path, out: Path) -> None:
    """Import from the store and into it: the bytes are those of the folder, and what is not there is named."""
    import_study("cni", [study], out=out)
    upload(system, study, f"{BUCKET}/dump")
    source, target = [f"{protocol}://{BUCKET}/dump"], f"{protocol}://{BUCKET}/tables"
    import_study("cni", source, out=target)
    assert stored_tables(system, f"{BUCKET}/tables/cni") == local_tables(out / "cni")
    assert import_study("cni", source, out=target).unchanged
    assert load("cni", processed=target).data_version == load("cni", processed=out).data_version
    system.rm_file(f"{BUCKET}/dump/az1-az1/qperf.log")
    (study / "az1-az1" / "qperf.log").unlink()
    assert (import_study("cni", source, out=target).reused, import_study("cni", [study], out=out).reused) == (19, 19)
    assert stored_tables(system, f"{BUCKET}/tables/cni") == local_tables(out / "cni")
    with pytest.raises(az.LogError, match=rf"^{protocol}://nowhere/x: no such file or folder; check the URL$"):
        import_study("other", [f"{protocol}://nowhere/x"], out=target)
    with pytest.raises(az.LogError, match=rf"^{protocol}://nowhere/cni: .*; check the "):
        import_study("cni", source, out=f"{protocol}://nowhere")


@pytest.mark.slow
def test_from_and_to_s3(study: Path, out: Path, s3: fsspec.AbstractFileSystem) -> None:
    check_store(s3, "s3", study, out)


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("azurite-blob") is None, reason="needs Azurite: npm install --global azurite")
def test_from_and_to_azure(study: Path, out: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    azure = pytest.importorskip("adlfs").AzureBlobFileSystem
    command = ["azurite-blob", "--location", str(tmp_path / "blobs"), "--skipApiVersionCheck", "--disableTelemetry"]
    variables = {"AZURITE_ACCOUNTS": "tester:cmlnaHQ="}
    with serving(command, "--blobPort", tmp_path / "server.log", variables) as address:
        account = f"DefaultEndpointsProtocol=http;AccountName=tester;BlobEndpoint={address}/tester;AccountKey="
        monkeypatch.setenv("AZURE_STORAGE_CONNECTION_STRING", f"{account}cmlnaHQ=")
        azure.clear_instance_cache()
        system = fsspec.filesystem("abfs")
        system.mkdir(BUCKET)
        check_store(system, "abfs", study, out)
        before = system.find(f"{BUCKET}/tables")
        monkeypatch.setenv("AZURE_STORAGE_CONNECTION_STRING", f"{account}d3Jvbmc=")
        azure.clear_instance_cache()
        with pytest.raises(az.LogError, match=rf"^abfs://{BUCKET}/dump: Server failed to authenticate .*credentials$"):
            import_study("cni", [f"abfs://{BUCKET}/dump"], out=f"abfs://{BUCKET}/tables")
        assert system.find(f"{BUCKET}/tables") == before
    azure.clear_instance_cache()


@pytest.fixture
def google(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[pytest.MonkeyPatch]:
    # Neither the type of a bucket nor credentials are asked for outside of this machine.
    monkeypatch.setenv("GCSFS_EXPERIMENTAL_ZB_HNS_SUPPORT", "false")
    monkeypatch.setenv("NO_GCE_CHECK", "true")
    monkeypatch.setenv("GOOGLE_APPLICATION_CREDENTIALS", str(tmp_path / "none"))
    system = pytest.importorskip("gcsfs").GCSFileSystem
    system.clear_instance_cache()
    yield monkeypatch
    system.clear_instance_cache()


@pytest.mark.slow
@pytest.mark.skipif(
    shutil.which("fake-gcs-server") is None, reason="needs go install github.com/fsouza/fake-gcs-server@latest"
)
def test_from_and_to_google(study: Path, out: Path, tmp_path: Path, google: pytest.MonkeyPatch) -> None:
    command = ["fake-gcs-server", "-scheme", "http", "-host", "127.0.0.1", "-backend", "memory"]
    with serving(command, "-port", tmp_path / "server.log") as address:
        google.setenv("STORAGE_EMULATOR_HOST", address)
        system = fsspec.filesystem("gs", project="tests")
        system.mkdir(BUCKET)
        check_store(system, "gs", study, out)


@contextmanager
def answering(status: int | None) -> Iterator[str]:
    """Answer every request with an HTTP status; None: accept connections and stay silent. The address."""

    class Answer(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_error(status or 0)

        do_HEAD = do_GET

    if status is None:
        with socket.create_server(("127.0.0.1", 0), backlog=50) as silent:
            yield f"http://127.0.0.1:{silent.getsockname()[1]}"
        return
    with ThreadingHTTPServer(("127.0.0.1", 0), Answer) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


def nobody_listening() -> str:
    with socket.create_server(("127.0.0.1", 0)) as closed:
        return f"http://127.0.0.1:{closed.getsockname()[1]}"


#: The command line with a limit of few seconds.
HASTY = "from azlatency.cli import main; from azlatency.studies.store import remote; remote._PATIENCE = 3; main()"


def import_from(url: str, address: str, folder: Path) -> str:
    """Import from a store at an address, in a process of its own; what it prints, which is one line."""
    account = f"DefaultEndpointsProtocol=http;AccountName=tester;BlobEndpoint={address}/tester;AccountKey=cmlnaHQ="
    variables = {
        # gcsfs logs the type of the bucket that it cannot find out.
        "STORAGE_EMULATOR_HOST": address, "GCSFS_EXPERIMENTAL_ZB_HNS_SUPPORT": "true", "NO_GCE_CHECK": "true",
        "GOOGLE_APPLICATION_CREDENTIALS": str(folder / "none"),
        "AWS_ENDPOINT_URL": address, "AWS_ACCESS_KEY_ID": "key", "AWS_SECRET_ACCESS_KEY": "secret",
        "AWS_DEFAULT_REGION": "us-east-1",
        "AZURE_STORAGE_CONNECTION_STRING": account,
        "NO_PROXY": "127.0.0.1", "AZLATENCY_DATA": str(folder),
    }  # fmt: skip
    command = [sys.executable, "-c", HASTY, "import", url, "--study", "x", "--out", str(folder)]
    done = subprocess.run(command, env=os.environ | variables, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (1, "", 1), done.stderr
    assert not list(folder.iterdir())
    return done.stderr


STORES = {"gs": "gcsfs", "s3": "s3fs", "abfs": "adlfs"}


@pytest.mark.slow
@pytest.mark.parametrize("status", [None, 401, 403, 500])
@pytest.mark.parametrize("protocol", STORES)
def test_a_store_that_refuses_or_stays_silent_is_named_in_one_line(
    protocol: str, status: int | None, tmp_path: Path
) -> None:
    pytest.importorskip(STORES[protocol])
    url = f"{protocol}://{BUCKET}/dump"
    with answering(status) as address:
        line = import_from(url, address, tmp_path)
    assert re.fullmatch(rf"{url}: .+; check the ([\w, ]+ )?credentials( and the rights)?\n", line), line
    if status is None:
        assert "no usable answer within 3 s" in line
    if status == 403:
        assert "Forbidden" in line


@pytest.mark.slow
@pytest.mark.parametrize("protocol", STORES)
def test_a_store_where_nobody_listens_is_named_in_one_line(protocol: str, tmp_path: Path) -> None:
    pytest.importorskip(STORES[protocol])
    url = f"{protocol}://{BUCKET}/dump"
    line = import_from(url, nobody_listening(), tmp_path)
    assert re.fullmatch(rf"{url}: .+; check the ([\w, ]+ )?credentials\n", line), line


@pytest.mark.slow
def test_the_command_line_reads_s3_on_a_dask_cluster(
    study: Path, out: Path, s3: fsspec.AbstractFileSystem, tmp_path: Path
) -> None:
    distributed = pytest.importorskip("distributed")
    upload(s3, study, f"{BUCKET}/dump")
    import_study("cni", [study], out=out)
    with distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster:
        command = ["import", f"s3://{BUCKET}/dump", "--study", "cni", "--out", f"s3://{BUCKET}/t", "--dask"]
        done = subprocess.run(
            [sys.executable, "-m", "azlatency", *command, cluster.scheduler_address],
            cwd=tmp_path,
            env={**os.environ, "AZLATENCY_DATA": str(tmp_path / "none")},
            capture_output=True,
            text=True,
            check=False,
        )
    assert done.returncode == 0, done.stderr
    assert f"-> s3://{BUCKET}/t/cni, data version" in done.stdout
    assert stored_tables(s3, f"{BUCKET}/t/cni") == local_tables(out / "cni")


def test_a_file_url_is_a_folder_of_this_machine(tmp_path: Path) -> None:
    shutil.copy(next((FIXTURES / "ping").glob("*.log")), tmp_path / "x.log")
    summary = az.import_study("mine", [(tmp_path / "x.log").as_uri()], out=tmp_path.as_uri())
    assert summary.folder == tmp_path / "mine" and (tmp_path / "mine" / "runs.parquet").is_file()
    assert len(az.load("mine", processed=tmp_path.as_uri()).runs) == 1
    with pytest.raises(az.LogError, match=r"names another machine; write file:///folder"):
        az.import_study("mine", ["file://host/x.log"], out=tmp_path)


def test_an_unknown_study_names_the_nearest(tmp_path: Path) -> None:
    (tmp_path / "zones").mkdir()
    (tmp_path / "zones" / "import.json").write_text("{}")
    with pytest.raises(az.LogError, match=r"not found; did you mean 'zones'\? Known studies: zones\."):
        az.load("zonse", processed=tmp_path)
