"""What a user brings (logs, folders, archives, standard input) -> the folder of a study in ``data/raw``.

Logs are evidence: they are copied byte for byte, nothing in the folder is ever written over, and what the user gave
stays untouched. An archive stays an archive, unless it holds a ``study.toml``: then it is a study packed for the way,
and is unpacked.
"""

from __future__ import annotations

import filecmp
import os
import shutil
import sys
import tarfile
import zipfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from tempfile import TemporaryDirectory

from azlatency.logs.decode import LARGEST_SOURCE, MOST_MEMBERS
from azlatency.logs.parse import LogError
from azlatency.studies.manifest import FILE_NAME

STANDARD_INPUT = "stdin.log"


@dataclass
class Intake:
    """What was taken into ``folder``: files that are new there, and how many were there already."""

    folder: Path
    new: list[Path] = field(default_factory=list)
    known: int = 0

    def undo(self) -> None:
        """Remove the new files, and the folders that are empty without them."""
        for file in self.new:
            file.unlink(missing_ok=True)
        for folder in sorted({parent for file in self.new for parent in file.parents}, reverse=True):
            if folder == self.folder or self.folder in folder.parents:
                _remove_if_empty(folder)


def take_in(sources: Sequence[Path], folder: Path) -> Intake:
    """Copy ``sources`` into ``folder``: of a single folder (or study archive) its content, else each by its name.

    ``-`` is standard input. A source that lies in ``folder`` already stays where it is. Raises `LogError` where a file
    of that name holds other bytes, and leaves the folder as it was.
    """
    taken = Intake(folder)
    try:
        for source in sources:
            _take(source, taken, alone=len(sources) == 1)
    except BaseException:
        taken.undo()
        raise
    return taken


def _take(source: Path, taken: Intake, *, alone: bool) -> None:
    if str(source) == "-":
        with TemporaryDirectory() as temporary:
            file = Path(temporary) / STANDARD_INPUT
            with file.open("wb") as stream:
                shutil.copyfileobj(sys.stdin.buffer, stream)
            _copy(file, PurePosixPath(STANDARD_INPUT), taken, source)
        return
    if not source.exists():
        raise LogError(f"{source}: no such file or folder; check the path")
    if _same_or_inside(source, taken.folder):
        return
    if source.is_dir():
        _take_folder(source, PurePosixPath() if alone else PurePosixPath(source.name), taken)
    elif _is_study(source):
        with TemporaryDirectory() as temporary:
            _take_folder(
                _unpack(source, Path(temporary)), PurePosixPath() if alone else PurePosixPath(source.stem), taken
            )
    else:
        _copy(source, PurePosixPath(source.name), taken, source)


def _take_folder(source: Path, under: PurePosixPath, taken: Intake) -> None:
    """Every file but the hidden ones; a study's folder inside the source is not read into itself."""
    for file in sorted(path for path in source.rglob("*") if path.is_file()):
        inside = file.relative_to(source)
        if not any(part.startswith(".") for part in inside.parts) and not _same_or_inside(file, taken.folder):
            _copy(file, under / PurePosixPath(inside.as_posix()), taken, file)


def _copy(file: Path, name: PurePosixPath, taken: Intake, said: Path) -> None:
    target = taken.folder / name
    if target.exists():
        if not target.is_file() or not filecmp.cmp(file, target, shallow=False):
            raise LogError(f"{said}: {target} is there with other bytes; rename one, or import it as another study")
        taken.known += 1
        return
    target.parent.mkdir(parents=True, exist_ok=True)
    part = target.with_name(f".{target.name}.{os.getpid()}.part")
    try:
        shutil.copy2(file, part)
        os.rename(part, target)
    finally:
        part.unlink(missing_ok=True)
    taken.new.append(target)


def _same_or_inside(path: Path, folder: Path) -> bool:
    path, folder = path.resolve(), folder.resolve()
    return path == folder or folder in path.parents


def _remove_if_empty(folder: Path) -> None:
    if folder.is_dir() and not any(folder.iterdir()):
        folder.rmdir()


# --- archives that hold a study


def _is_study(file: Path) -> bool:
    """Whether it is an archive with a ``study.toml`` at its top or in its only folder."""
    return any(_is_top_manifest(name) for name, _ in _members(file))


def _is_top_manifest(name: str) -> bool:
    parts = PurePosixPath(name).parts
    return len(parts) in (1, 2) and parts[-1] == FILE_NAME and parts[0] not in ("/", "..") and "\\" not in name


def _members(file: Path) -> Iterator[tuple[str, int]]:
    """Names and sizes of the files in a zip or tar archive; none for anything else and for a damaged one."""
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
    """Unpack within the bounds of every archive; returns the folder with the ``study.toml``."""
    members = list(_members(file))
    size = sum(each for _, each in members)
    if len(members) > MOST_MEMBERS or size > LARGEST_SOURCE:
        raise LogError(f"{file}: {len(members)} files, {size} bytes unpacked, over the bound; split the archive")
    try:
        if zipfile.is_zipfile(file):
            with zipfile.ZipFile(file) as packed:
                packed.extractall(folder)
        else:
            with tarfile.open(file) as archive:
                files = [entry for entry in archive if entry.isfile() or entry.isdir()]
                archive.extractall(folder, files, filter="data")
    except (tarfile.TarError, zipfile.BadZipFile, EOFError, OSError, RuntimeError, NotImplementedError) as error:
        raise LogError(f"{file}: damaged or encrypted archive ({error}); unpack it yourself") from None
    tops = [folder / name for name, _ in members if _is_top_manifest(name)]
    return min(tops, key=lambda path: len(path.parts)).parent
