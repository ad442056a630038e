"""Where studies are, and how they may be called. Shell completion needs this, so it loads no library for data."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from azlatency.logs.parse import LogError

_STUDY_NAME = re.compile(r'\w[^/\\*?\[\]:|"]*(?<![ .])')
_LONGEST_NAME = 100


def check_study_name(name: str) -> str:
    """Return the name of a study; raise `LogError` if it cannot be the name of a folder on every system."""
    usable = _STUDY_NAME.fullmatch(name) and name.isprintable() and len(name.encode()) <= _LONGEST_NAME
    if usable:
        return name
    shown = name if len(name) <= _LONGEST_NAME else f"{name[:_LONGEST_NAME]}…"
    raise LogError(f"study {shown!r}: not a name for a study; use letters, digits, hyphens and underscores")


def data_folder(kind: str) -> Path:
    """Return ``data/raw``, ``data/processed`` or ``data/archive``.

    They are in ``AZLATENCY_DATA`` if that variable is set. Otherwise they are in the folder ``data`` of the working
    directory, or of its nearest parent whose ``data`` contains one of the first two.
    """
    if root := os.environ.get("AZLATENCY_DATA"):
        return Path(root) / kind
    here = Path.cwd()
    for folder in (here, *here.parents):
        # Looking for each alone would mix the logs of a new project with the tables of a project around it.
        if any((folder / "data" / either).is_dir() for either in ("raw", "processed")):
            return folder / "data" / kind
    return here / "data" / kind


@contextmanager
def data_in(folder: Path) -> Iterator[None]:
    """Make a folder the one of all data, also for processes that are started, until the context ends."""
    before = os.environ.get("AZLATENCY_DATA")
    os.environ["AZLATENCY_DATA"] = str(folder)
    try:
        yield
    finally:
        if before is None:
            del os.environ["AZLATENCY_DATA"]
        else:
            os.environ["AZLATENCY_DATA"] = before


def imported_studies() -> list[str]:
    """Return the names of the studies in ``data/processed``, sorted, without what an import has not finished."""
    return sorted(path.parent.name for path in data_folder("processed").glob("[!.]*/import.json"))


def list_studies() -> list[str]:
    """Return the names of the studies that can be imported.

    Returns
    -------
    list of str
        The subfolders that contain a ``study.toml``, sorted.

    Examples
    --------
    >>> import azlatency as az
    >>> "westeurope-azure-cni" in az.list_studies()
    True
    """
    return sorted(path.parent.name for path in data_folder("raw").glob("*/study.toml"))
