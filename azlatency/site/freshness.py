"""Which pages are up to date: a page depends on its notebook, the code, and every file that the notebook read.

A key is the digest of everything that a result depends on. The files that a notebook reads are not guessed from its
text: its kernel reports which files it opened (`azlatency.site.kernels.warm.WarmKernel.read`). A page whose notebook
failed has no key.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from hashlib import sha256
from importlib.metadata import distributions, version
from pathlib import Path
from typing import Any

from azlatency import _HOMES, __version__

PACKAGE = Path(__file__).parents[1]
_SITE = Path(__file__).parent.name
#: Where notebooks run: the only part of the site that their results depend on.
_KERNELS = f"{_SITE}/kernels/"
#: What a notebook runs beside the packages of public names.
_RUN = ("pages", "more_tools", "__init__.py")
#: Begins the name of a folder of which the names, not the contents, matter.
LISTING = "names in "


def key(*parts: Any) -> str:
    """Return the digest of anything that JSON can express."""
    return sha256(json.dumps(parts, sort_keys=True, default=str).encode()).hexdigest()


@lru_cache(maxsize=1)
def code() -> tuple[str, str]:
    """Return the digest of the code and libraries that results depend on, and that of the code that only renders them.

    Results depend on the packages that public names live in, on what the notebooks import beside them, on the further
    parsers, and on the kernels; pages look as the rest of the site makes them. Other packages (commands, the gate,
    planning) change no page.
    """
    results, looks = sha256(), sha256()
    public = {home.split(".")[1] for home in _HOMES.values()}
    for path in sorted(PACKAGE.rglob("*")):
        name = path.relative_to(PACKAGE).as_posix()
        top = name.partition("/")[0]
        if not path.is_file() or "__pycache__" in name or top not in {*public, *_RUN, _SITE}:
            continue
        digest = looks if top == _SITE and not name.startswith(_KERNELS) else results
        digest.update(name.encode() + b"\0" + path.read_bytes() + b"\0")
    # Each access to the metadata of a library, which its version is, too, reads and parses its file.
    libraries = sorted(
        {f"{facts['Name']} {facts['Version']}" for library in distributions() if (facts := library.metadata)}
    )
    results.update("\n".join([sys.version, *libraries]).encode())
    return results.hexdigest(), looks.hexdigest()


@lru_cache(maxsize=1)
def versions() -> str:
    """Return the versions that decide the bytes of a page: of azlatency, and of what computes and draws."""
    libraries = ("numpy", "scipy", "pandas", "matplotlib", "nbconvert")
    python = ".".join(map(str, sys.version_info[:2]))
    return ", ".join(
        [f"azlatency {__version__}", f"Python {python}", *(f"{name} {version(name)}" for name in libraries)]
    )


def content_digest(name: str) -> str:
    """Return the digest of a file; of a name that begins with `LISTING` that of the names of the files in a folder."""
    if not name.startswith(LISTING):
        return file_digest(Path(name))
    folder = Path(name.removeprefix(LISTING))
    return key(sorted(path.name for path in folder.iterdir())) if folder.is_dir() else "missing"


def file_digest(path: Path) -> str:
    """Return the digest of a file's bytes; of an import's record without file times, which are not content."""
    try:
        raw = path.read_bytes()
    except OSError:
        return "missing"
    if path.name == "import.json":
        return key(_timeless(json.loads(raw)))
    return sha256(raw).hexdigest()


def _timeless(content: Any) -> Any:
    if isinstance(content, Mapping):
        return {name: _timeless(value) for name, value in content.items() if name not in ("mtime_ns", "imported_at")}
    return [_timeless(item) for item in content] if isinstance(content, list) else content


# --- the record of a site


class Record:
    """What the last report left in a folder: its files, and what each page depends on.

    It is written after the pages; a file that differs from its record counts as absent.
    """

    FILE = ".azlatency-site.json"

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        try:
            content = json.loads((folder / self.FILE).read_text("utf-8"))
        except (OSError, ValueError):
            content = {}
        if not isinstance(content, dict):
            content = {"files": content if isinstance(content, list) else []}
        files, pages = content.get("files"), content.get("pages")
        self.files: list[str] = [name for name in files or () if _inside(name)] if isinstance(files, list) else []
        self.pages: dict[str, dict[str, Any]] = {}
        if isinstance(pages, dict):
            self.pages = {name: page for name, page in pages.items() if _inside(name)}

    def is_intact(self, page: Mapping[str, Any], names: Iterable[str] | None = None) -> bool:
        """Return whether the files of a page (or those in ``names``) are as they were written."""
        digests = page["files"]
        return all(_inside(name) and file_digest(self._folder / name) == digests[name] for name in names or digests)

    def text(self, files: Sequence[str], pages: Mapping[str, Mapping[str, Any]]) -> str:
        """Return the content of the record's file."""
        return json.dumps({"files": sorted(files), "pages": pages}, ensure_ascii=False, indent=1, sort_keys=True) + "\n"


def _inside(name: Any) -> bool:
    return isinstance(name, str) and ".." not in Path(name).parts and not Path(name).is_absolute()
