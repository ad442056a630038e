"""Compare the logs of a study with its last import: which files are new, gone or different."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, TypeAlias

from azlatency.logs.parsers import parser_version
from azlatency.logs.source.expand import iter_entries, shown_name
from azlatency.studies.format import count_of, plain
from azlatency.studies.manifest.manifest import FILE_NAME, Manifest, read_manifest
from azlatency.studies.store.folders import data_folder
from azlatency.studies.store.own_files import ManifestError
from azlatency.studies.store.remote import RemoteFile, is_url, list_url
from azlatency.studies.store.study import digest, read_stamp

#: What is known of a file: its size, time and hash, its tool, and its sources.
Mark: TypeAlias = dict[str, Any]


def changed_since_import(name: str) -> str:
    """Say how the logs and the manifest of a study differ from its imported tables.

    For example ``"parser version changed, 3 files added, 2 removed"``. Empty if the tables are up to date, or if the
    logs were imported from a URL or from a place that no longer exists.
    """
    stamp = read_stamp(data_folder("processed") / name)
    roots = [Path(root) for root in stamp["roots"]] or [data_folder("raw") / name]
    if any(map(is_url, stamp["roots"])) or not all(root.exists() for root in roots):
        return ""
    try:
        manifest = find_manifest(name, roots)
        listed, _ = list_files(roots, manifest, archive_of(name, roots))
        files = {path: file for path, file in listed if manifest.ignored(path) is None}
    except (ManifestError, OSError) as error:
        return f"the manifest cannot be read ({error})"
    before = stamp["files"]
    counts = {
        "added": len(files.keys() - before.keys()),
        "removed": len(before.keys() - files.keys() - set(stamp["archived"])),
        "changed": sum("sha256" not in fingerprint(files[path], before[path]) for path in files.keys() & before.keys()),
    }
    numbers = [(count, verb) for verb, count in counts.items() if count]
    changes = ["parser version changed"] if stamp["parser_version"] != parser_version() else []
    changes += [f"{count_of(count, 'file')} {verb}" for count, verb in numbers[:1]]  # the noun is written once
    changes += [f"{plain(count)} {verb}" for count, verb in numbers[1:]]
    changes += [f"{FILE_NAME} changed"] if stamp["manifest"] != digest(manifest.files) else []
    return ", ".join(changes)


def find_manifest(name: str, roots: Sequence[Path | str]) -> Manifest:
    """Read the manifest of a single source folder, or otherwise that of ``data/raw/<name>``; it may be empty."""
    root = roots[0] if len(roots) == 1 else None
    folder = root if isinstance(root, Path) and root.is_dir() else None
    raw = data_folder("raw") / name
    if folder is not None and ((folder / FILE_NAME).is_file() or not raw.is_dir()):
        return read_manifest(folder, name)
    return read_manifest(raw, name)


def archive_of(name: str, roots: Sequence[Path | str]) -> Path | None:
    """Return the folder of the logs that `retention` moved away, if the logs of the study are in ``data/raw``."""
    return data_folder("archive") / name if [*roots] == [data_folder("raw") / name] else None


def list_files(
    roots: Sequence[Path | str], manifest: Manifest, archive: Path | None = None
) -> tuple[list[tuple[str, str | RemoteFile]], list[str]]:
    """Return the path to show and the file of every log, and a message for every file that is not read.

    Hidden files and the files of the manifest are left out. A symbolic link inside a folder is refused, because it
    could show any file of this machine. A name that is not UTF-8 is shown with its bytes escaped.
    """
    files: list[tuple[str, str | RemoteFile]] = []
    refused: list[str] = []
    entries: Iterable[tuple[str | RemoteFile, str, str]]
    for root in roots:
        if isinstance(root, str):
            prefix, entries = list_url(root, prefixed=len(roots) > 1)
        else:
            prefix = f"{shown_name(root.name)}/" if len(roots) > 1 and root.is_dir() else ""
            entries = iter_entries(str(root)) if root.is_dir() else [(str(root), root.name, "")]
            if archive is not None:
                entries = _with_archive(root, archive)
        for file, inside, problem in entries:
            path = prefix + shown_name(inside)
            if manifest.is_own_file(path):
                continue
            if problem:
                refused.append(f"{path}: {problem}")
            else:
                files.append((path, file))
    return files, refused


def _with_archive(root: Path, archive: Path) -> list[tuple[str, str, str]]:
    """Return the entries of a study with the logs that `retention` moved, each where it was in the order."""
    archived = iter_entries(str(archive)) if archive.is_dir() else ()
    by_path = {entry[1]: entry for entry in (*archived, *iter_entries(str(root)))}
    return sorted(by_path.values(), key=lambda entry: entry[1].split("/"))


def fingerprint(file: str | RemoteFile, before: Mark | None) -> Mark:
    """Return size and time of a file, with what else ``before`` says of it if its bytes are the same.

    They are read only if size or time differ. The hash of a new file is left to the process that parses it.
    """
    if isinstance(file, RemoteFile):
        current: Mark = {"size": file.size, "mtime_ns": file.version}
    else:
        status = os.stat(file)
        current = {"size": status.st_size, "mtime_ns": status.st_mtime_ns}
    if before is None or all(before[key] == value for key, value in current.items()):
        return before or current
    is_same = isinstance(file, str) and digest([Path(file)]) == before["sha256"]
    return before | current if is_same else current


def has_changed(file: str, mark: Mark) -> bool:
    """Return whether a file is not the one that `fingerprint` described."""
    try:
        status = os.stat(file)
    except OSError:
        return True
    return bool((status.st_size, status.st_mtime_ns) != (mark["size"], mark["mtime_ns"]))
