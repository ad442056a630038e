"""Logs and tables in a store that fsspec knows: ``s3://``, ``abfs://``, ``gs://``, ``memory://`` and others.

Logs are read where they are: the process that parses one downloads it to a temporary file. Tables are written to a
temporary folder and then uploaded. A store cannot rename a folder, so each import has a folder of its own,
``STUDY/VERSION/``, and the object ``STUDY/latest`` names the current one. It is written last: a reader finds either the
old tables or the new ones.
"""

from __future__ import annotations

import errno
import logging
import re
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from tempfile import TemporaryDirectory
from typing import Any
from urllib.parse import urlsplit
from urllib.request import url2pathname

from azlatency.logs.parse import LogError
from azlatency.logs.source.expand import shown_name
from azlatency.studies.store.own_files import LARGEST_FILE, read_own_toml

#: The extra that installs the package for a protocol.
_EXTRAS = {"s3": "aws", "s3a": "aws", "abfs": "azure", "abfss": "azure", "az": "azure", "gs": "google", "gcs": "google"}
#: What a store states about the version of an object, best first.
_VERSION_KEYS = ("ETag", "etag", "generation", "LastModified", "last_modified", "mtime", "updated", "created")
_LATEST = "latest"
_VERSION = re.compile(r"[0-9a-f]{16}")
#: Keeps what the package of a store logs from the terminal if nobody asks for it: `_one_line` says what went wrong.
_NO_LOG = logging.NullHandler()
#: Seconds for a first answer. Packages repeat for up to 36 s (gcsfs) or for minutes what failed, and only then say why.
_PATIENCE = 40
#: Errors of this machine and not of the store.
DISK_ERRORS = (errno.ENOSPC, errno.EDQUOT)


#: What is wrong with a log whose bytes are not those that were listed.
CHANGED = "changed while it was read; import it again"


class ChangedError(Exception):
    """An object that was replaced while it was read."""


@dataclass(frozen=True)
class RemoteFile:
    """A log in a store: URL, size in bytes, and version (the entity tag, or the time of the last change)."""

    url: str
    size: int
    version: str

    @contextmanager
    def fetched(self) -> Iterator[Path]:
        """Download the log to a temporary file. Raises `ChangedError` if it was replaced meanwhile."""
        with TemporaryDirectory(prefix="azlatency-") as folder:
            target = Path(folder) / "log"
            with _one_line(self.url):
                system, path = _open(self.url)
                before = _info(system, path)
                system.get_file(path, str(target))
                after = system.info(path)
            if _version(before) != _version(after) or target.stat().st_size != after["size"]:
                raise ChangedError(CHANGED)
            yield target


@contextmanager
def on_disk(file: str | RemoteFile) -> Iterator[Path]:
    """Yield where the bytes of a log are on this machine: those of a store in a temporary file."""
    with nullcontext(Path(file)) if isinstance(file, str) else file.fetched() as path:
        yield path


def local_path(place: Path | str) -> Path | str:
    """Return the path of a ``file:`` URL; any other place as it is.

    Raises `LogError` if the URL names another machine.
    """
    if not (isinstance(place, str) and place.lower().startswith("file:")):
        return place
    parts = urlsplit(place)
    if parts.netloc not in ("", "localhost") or not parts.path:
        raise LogError(f"{place}: names another machine; write file:///folder for a folder of this one")
    return Path(url2pathname(parts.path))


def is_url(source: Path | str | None) -> bool:
    """Return whether a source is a URL and not a path of this machine."""
    return isinstance(source, str) and "://" in source


def list_url(url: str, *, prefixed: bool) -> tuple[str, list[tuple[RemoteFile, str, str]]]:
    """List the logs at a URL of an object or a folder; ``prefixed``: with the folder's name before their paths.

    Returns what to write before each path; and file, path below the URL and problem of each log, in the order of
    `azlatency.logs.source.expand.iter_entries`.

    Raises `LogError` if there is nothing at the URL, or the store refuses access.
    """
    with _one_line(url):
        system, root = _open(url)
        _file_info(system, f"{root}/study.toml")  # for an answer in time: the list of a large store may take longer
        listing: dict[str, dict[str, Any]] = system.find(root, detail=True)
    base = root.rstrip("/")
    if not listing:
        raise LogError(f"{url}: no such file or folder; check the URL")
    if set(listing) == {base}:
        return "", [(_remote_file(system, base, listing[base]), PurePosixPath(base).name, "")]
    paths = {path: PurePosixPath(path.removeprefix(f"{base}/")) for path in listing}
    shown = (path for path in listing if not any(part.startswith(".") for part in paths[path].parts))
    in_order = sorted(shown, key=lambda path: paths[path].parts)
    entries = [(_remote_file(system, path, listing[path]), paths[path].as_posix(), "") for path in in_order]
    return (f"{shown_name(PurePosixPath(base).name)}/" if prefixed else ""), entries


@contextmanager
def fetched_manifest(root: Path | str) -> Iterator[Path | None]:
    """Download ``study.toml`` and the files that it names to a temporary folder; None if there is none at a URL."""
    if not is_url(root):
        yield None
        return
    url = str(root).rstrip("/")
    with TemporaryDirectory(prefix="azlatency-") as name:
        folder = Path(name)
        if not _fetch_own_file(url, "study.toml", folder):
            yield None
            return
        study = read_own_toml(folder / "study.toml")[0].get("study", {})
        named = [study.get(key) for key in ("runs", "reported", "baseline")] if isinstance(study, dict) else []
        maps = study.get("zone_maps", []) if isinstance(study, dict) else []
        for file in (*named, *(maps if isinstance(maps, list) else [maps])):
            if isinstance(file, str) and not {"..", "/"} & set(PurePosixPath(file).parts):
                _fetch_own_file(url, file, folder)
        yield folder


def _fetch_own_file(url: str, name: str, folder: Path) -> bool:
    """Download a file of a manifest if it exists; return whether it does."""
    with _one_line(url):
        system, path = _open(f"{url}/{name}")
        info = _file_info(system, path)
        if info is None:
            return False
        if info["size"] > LARGEST_FILE:
            raise LogError(f"{url}/{name}: more than {LARGEST_FILE} bytes; split it")
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        system.get_file(path, str(folder / name))
    return True


@contextmanager
def checked_out(url: str, name: str) -> Iterator[Path]:
    """Download the tables of a study to a temporary folder, which is missing if there are none."""
    with TemporaryDirectory(prefix="azlatency-") as temporary:
        folder = Path(temporary) / name
        place = f"{url.rstrip('/')}/{name}"
        with _one_line(place):
            system, base = _open(place)
            if _file_info(system, f"{base}/{_LATEST}"):
                version = system.cat_file(f"{base}/{_LATEST}").decode("ascii", "replace").strip()
                if not _VERSION.fullmatch(version):
                    raise LogError(f"{place}/{_LATEST}: not the name of a version; delete it and import again")
                for path in system.find(f"{base}/{version}"):
                    target = folder / path.removeprefix(f"{base}/{version}/")
                    target.parent.mkdir(parents=True, exist_ok=True)
                    system.get_file(path, str(target))
        yield folder


def publish(folder: Path, url: str, version: str) -> None:
    """Upload the tables of a study to a folder of studies, name them in ``latest``, and remove those before.

    ``version`` is a name of 16 hex digits that no earlier import has.
    """
    place = f"{url.rstrip('/')}/{folder.name}"
    with _one_line(place):
        system, base = _open(place)
        _file_info(system, f"{base}/{_LATEST}")  # before the first upload, which the packages would repeat for minutes
        for file in sorted(path for path in folder.rglob("*") if path.is_file()):
            system.put_file(str(file), f"{base}/{version}/{file.relative_to(folder).as_posix()}")
        system.pipe_file(f"{base}/{_LATEST}", f"{version}\n".encode())
        for old in system.ls(base, detail=False):
            if _VERSION.fullmatch(name := PurePosixPath(old).name) and name != version:
                system.rm(old, recursive=True)


def _open(url: str) -> tuple[Any, str]:
    """Return the file system of a URL and the path in it; listings are not kept, because objects change."""
    from fsspec.core import url_to_fs

    system, path = url_to_fs(url, use_listings_cache=False)
    for package in (type(system).__module__.partition(".")[0], "azure"):  # adlfs uses packages named azure
        logging.getLogger(package).addHandler(_NO_LOG)
    return system, str(path)


def _info(system: Any, path: str) -> dict[str, Any]:
    """Return what the store knows about a path. Raises `TimeoutError` if there is no usable answer in time."""
    from fsspec.asyn import sync
    from fsspec.exceptions import FSTimeoutError

    if not system.async_impl:
        return dict(system.info(path))
    try:
        return dict(sync(system.loop, system._info, path, timeout=_PATIENCE))
    except FSTimeoutError:
        raise TimeoutError(f"no usable answer within {_PATIENCE} s") from None


def _file_info(system: Any, path: str) -> dict[str, Any] | None:
    """Return what the store knows about an object; None if there is none."""
    try:
        info = _info(system, path)
    except (FileNotFoundError, PermissionError):  # who may not list the objects is not told that one is missing
        return None
    return info if info["type"] == "file" else None


@contextmanager
def _one_line(url: str) -> Iterator[None]:
    """Turn what a store raises into one line that says what to do."""
    try:
        yield
    except LogError:
        raise
    except ImportError as error:
        extra = _EXTRAS.get(url.partition("://")[0])
        package = f"azlatency[{extra}]" if extra else "the package that it names"
        raise LogError(f"{url}: {_brief(error)}; install {package}") from None
    except FileNotFoundError:
        raise LogError(f"{url}: no such file or folder; check the URL") from None
    except PermissionError as error:
        raise LogError(f"{url}: permission denied ({_brief(error)}); check the credentials and the rights") from None
    except TimeoutError as error:
        raise LogError(f"{url}: {_brief(error)}; check the URL, the network and the credentials") from None
    except Exception as error:  # every store has exceptions of its own
        if isinstance(error, OSError) and error.errno in DISK_ERRORS:
            raise
        raise LogError(f"{url}: {_brief(error)}; check the URL and the credentials") from None


def _brief(error: Exception) -> str:
    return (str(error).splitlines() or [""])[0] or type(error).__name__


def _remote_file(system: Any, path: str, info: dict[str, Any]) -> RemoteFile:
    return RemoteFile(system.unstrip_protocol(path), int(info["size"]), _version(info))


def _version(info: dict[str, Any]) -> str:
    return next((str(info[key]) for key in _VERSION_KEYS if info.get(key)), "")
