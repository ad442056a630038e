"""Read the files that a manifest names, and nothing else.

A study may come from somebody else. What its manifest names must lie inside its folder and be a regular file of
limited size; symbolic links are refused, because they could show any file of this machine.
"""

from __future__ import annotations

import csv
import re
import stat
import tomllib
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import Any

#: Manifests and tables are written by people; a larger file is not one.
LARGEST_FILE = 16 * 1024**2


class ManifestError(ValueError):
    """A manifest that cannot be used; ``file:line: what is wrong; what to do``."""


def own_file(folder: Path, name: str, place: str) -> Path:
    """Return a file that a manifest names, a regular file inside ``folder``; ``place`` names it in messages.

    Raises `ManifestError` if the file is missing, outside the folder, a link, not regular, or too large.
    """
    parts = PurePosixPath(name).parts
    if not parts or "\0" in name or ".." in parts or "\\" in name or PurePosixPath(name).is_absolute():
        raise ManifestError(f"{place}: {name!r} is not a file in the folder of the study; copy it there")
    path = folder
    for part in parts:
        path = path / part
        check_no_link(path, place)
    check_regular(path, place)
    return path


def check_no_link(path: Path, place: str) -> None:
    """Raise `ManifestError` if a path is a symbolic link."""
    if path.is_symlink():
        raise ManifestError(f"{place}: {path} is a symbolic link; copy the file that it points to")


def check_regular(path: Path, place: str) -> None:
    """Raise `ManifestError` if a path is not a regular file of at most `LARGEST_FILE` bytes."""
    try:
        status = path.stat()
    except OSError as error:
        raise ManifestError(f"{place}: {path}: {error.strerror}; add the file or remove its name") from None
    if not stat.S_ISREG(status.st_mode):
        raise ManifestError(f"{place}: {path} is not a regular file; name a file")
    if status.st_size > LARGEST_FILE:
        raise ManifestError(f"{place}: {path} has {status.st_size} bytes, more than {LARGEST_FILE}; split it")


def read_own_text(path: Path) -> str:
    """Return the text of a file of a manifest; raise `ManifestError` if it cannot be read."""
    try:
        return path.read_bytes().decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = error.object.count(b"\n", 0, error.start) + 1
        raise ManifestError(f"{path}:{line}: not UTF-8 text; save it as UTF-8") from None
    except OSError as error:
        raise ManifestError(f"{path}: {error.strerror}; check the file") from None


def read_own_toml(path: Path) -> tuple[dict[str, Any], str]:
    """Return the content and the text of a TOML file; raise `ManifestError` if it is not TOML."""
    text = read_own_text(path)
    try:
        return tomllib.loads(text), text
    except RecursionError:
        raise ManifestError(f"{path}:1: nested too deeply; correct the TOML") from None
    except ValueError as error:
        line = re.search(r"at line (\d+)", str(error))
        raise ManifestError(f"{path}:{line[1] if line else 1}: {error}; correct the TOML") from None


def read_own_csv(path: Path) -> Iterator[tuple[int, dict[str, str]]]:
    """Yield the line and the cells of each row of a CSV file; raise `ManifestError` if it is not one."""
    reader = csv.DictReader(read_own_text(path).splitlines(keepends=True))
    try:
        for row in reader:
            if None in row:
                raise ManifestError(f"{path}:{reader.line_num}: more cells than columns; quote the commas")
            yield reader.line_num, {key: value or "" for key, value in row.items()}
    except csv.Error as error:
        raise ManifestError(f"{path}:{reader.line_num}: {error}; correct the CSV") from None
