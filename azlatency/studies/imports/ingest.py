"""Copy logs, folders, archives and standard input into the folder of a study in ``data/raw``.

Logs are evidence: they are copied byte for byte, and no file is overwritten. An archive is copied as it is, unless it
contains a ``study.toml``: then it is a packed study, and is unpacked.
"""

from __future__ import annotations

import filecmp
import os
import shutil
import sys
import tarfile
import zipfile
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from tempfile import TemporaryDirectory

from azlatency.logs.parse import LogError
from azlatency.logs.source.expand import LARGEST_SOURCE, MOST_MEMBERS, iter_entries
from azlatency.studies.manifest.manifest import FILE_NAME
from azlatency.studies.store.replacing import remove_unfinished, unfinished

STANDARD_INPUT = "stdin.log"


@dataclass
class CopiedFiles:
    """Files that were copied into the folder of a study: the new ones, and how many were there with equal content.

    ``refused`` has a message per file that was not copied.
    """

    folder: Path
    new: list[Path] = field(default_factory=list)
    present: int = 0
    refused: list[str] = field(default_factory=list)
    folders: list[Path] = field(default_factory=list)
    """Folders that were created, outer ones first."""

    def undo(self) -> None:
        """Remove the new files, and the new folders that are empty."""
        for file in self.new:
            file.unlink(missing_ok=True)
        for folder in reversed(self.folders):
            if folder.is_dir() and not any(folder.iterdir()):
                folder.rmdir()

    def make_folder(self, folder: Path) -> None:
        """Create a folder with its parents."""
        missing = [parent for parent in (folder, *folder.parents) if not parent.exists()]
        for parent in reversed(missing):
            parent.mkdir(exist_ok=True)
            self.folders.append(parent)


def copy_sources(sources: Sequence[Path], folder: Path) -> CopiedFiles:
    """Copy sources into the folder of a study.

    Raises `LogError` if a source does not exist, if a file exists with different content, or if a file cannot be
    written. The folder is then left unchanged. A single file that cannot be read does not prevent the copying of the
    others.
    """
    copied = CopiedFiles(folder)
    for place, _, _ in os.walk(folder):
        remove_unfinished(Path(place))
    try:
        for source in sources:
            _copy_source(source, copied, alone=len(sources) == 1)
        if copied.refused and not copied.new and not copied.present:
            raise LogError(copied.refused[0])
    except OSError as error:
        copied.undo()
        # A write to a full disk names no file.
        raise LogError(f"{error.filename2 or error.filename or folder}: {error.strerror}; nothing was copied") from None
    except BaseException:
        copied.undo()
        raise
    return copied


@contextmanager
def readable(sources: Sequence[Path]) -> Iterator[list[Path]]:
    """Yield sources as files and folders that can be read where they are, until the context ends.

    Standard input is a temporary file, and a single packed study is unpacked to a temporary folder.
    """
    with ExitStack() as stack:
        found = []
        for source in dict.fromkeys(sources):
            is_input = str(source) == "-"
            if not is_input:
                _check_source(source)
            if is_input or (len(sources) == 1 and source.is_file() and _is_study(source)):
                folder = Path(stack.enter_context(TemporaryDirectory(prefix="azlatency-")))
                found.append(_standard_input(folder) if is_input else _unpack(source, folder))
            else:
                found.append(source)
        yield sorted(found, key=lambda path: path.name)


def _standard_input(folder: Path) -> Path:
    """Write standard input to a file in a folder."""
    file = folder / STANDARD_INPUT
    with file.open("wb") as stream:
        shutil.copyfileobj(sys.stdin.buffer, stream)
    return file


def _check_source(source: Path) -> None:
    """Raise `LogError` if a source is neither a file nor a folder."""
    if not source.exists():
        raise LogError(f"{source}: no such file or folder; check the path")
    if not source.is_dir() and not source.is_file():
        raise LogError(f"{source}: not a regular file; give a file, a folder, or - for standard input")


def _copy_source(source: Path, copied: CopiedFiles, *, alone: bool) -> None:
    if str(source) == "-":
        with TemporaryDirectory() as temporary:
            _copy(_standard_input(Path(temporary)), PurePosixPath(STANDARD_INPUT), copied, source)
        return
    if _same_or_inside(source, copied.folder):
        return
    _check_source(source)
    if source.is_dir():
        _copy_folder(source, PurePosixPath() if alone else PurePosixPath(source.name), copied)
    elif _is_study(source):
        with TemporaryDirectory() as temporary:
            _copy_folder(
                _unpack(source, Path(temporary)), PurePosixPath() if alone else PurePosixPath(source.stem), copied
            )
    else:
        _copy(source, PurePosixPath(source.name), copied, source)


def _copy_folder(source: Path, under: PurePosixPath, copied: CopiedFiles) -> None:
    """Copy all files that are not hidden. If the folder of the study is inside the source, it is skipped."""
    for entry, inside, problem in iter_entries(str(source)):
        file = Path(entry)
        if _same_or_inside(file, copied.folder):
            continue
        if problem:
            copied.refused.append(f"{file}: {problem}")
        else:
            _copy(file, under / inside, copied, file)


def _copy(file: Path, name: PurePosixPath, copied: CopiedFiles, source: Path) -> None:
    """Copy one file; a file that cannot be read is refused, a target that cannot be written raises `OSError`."""
    target = copied.folder / name
    if target.exists():
        if not target.is_file() or not filecmp.cmp(file, target, shallow=False):
            raise LogError(
                f"{source}: {target} already exists with different content; rename one, or import it as another study"
            )
        copied.present += 1
        return
    try:
        stream = file.open("rb")
    except OSError as error:
        copied.refused.append(f"{source}: {error.strerror}; check the file")
        return
    copied.make_folder(target.parent)
    # The name of a log may be as long as a name can be.
    part = unfinished(target.parent)
    try:
        with stream, part.open("wb") as copy:
            shutil.copyfileobj(stream, copy)
        shutil.copystat(file, part)
        os.rename(part, target)
    finally:
        part.unlink(missing_ok=True)
    copied.new.append(target)


def _same_or_inside(path: Path, folder: Path) -> bool:
    path, folder = path.resolve(), folder.resolve()
    return path == folder or folder in path.parents


# --- archives that hold a study


def _is_study(file: Path) -> bool:
    """Return whether a file is an archive with a ``study.toml`` at its top or in a folder at its top."""
    return any(_is_top_manifest(name) for name, _ in _members(file))


def _is_top_manifest(name: str) -> bool:
    parts = PurePosixPath(name).parts
    return len(parts) in (1, 2) and parts[-1] == FILE_NAME and parts[0] not in ("/", "..") and "\\" not in name


def _members(file: Path) -> Iterator[tuple[str, int]]:
    """Yield the names and sizes of the files in a zip or tar archive; nothing for other files and damaged archives."""
    try:
        if zipfile.is_zipfile(file):
            with zipfile.ZipFile(file) as archive:
                yield from ((entry.filename, entry.file_size) for entry in archive.infolist() if not entry.is_dir())
        elif tarfile.is_tarfile(file):
            with tarfile.open(file) as archive:
                yield from ((entry.name, entry.size) for entry in archive if entry.isfile())
    except (tarfile.TarError, zipfile.BadZipFile, EOFError, OSError):
        return


def _unpack(file: Path, folder: Path) -> Path:
    """Unpack an archive, within the limits of all archives; return the folder of its ``study.toml``."""
    members = list(_members(file))
    size = sum(member_size for _, member_size in members)
    if len(members) > MOST_MEMBERS or size > LARGEST_SOURCE:
        raise LogError(f"{file}: {len(members)} files, {size} bytes unpacked, exceed the limit; split the archive")
    try:
        if zipfile.is_zipfile(file):
            with zipfile.ZipFile(file) as packed:
                packed.extractall(folder)
        else:
            with tarfile.open(file) as archive:
                files = [entry for entry in archive if entry.isfile() or entry.isdir()]
                archive.extractall(folder, files, filter="data")
    except (tarfile.TarError, zipfile.BadZipFile, EOFError, OSError, RuntimeError, NotImplementedError) as error:
        raise LogError(f"{file}: damaged or encrypted archive ({error}); unpack it first") from None
    tops = [folder / name for name, _ in members if _is_top_manifest(name)]
    return min(tops, key=lambda path: len(path.parts)).parent
