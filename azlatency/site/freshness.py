"""What need not be run again: a page is as fresh as the notebook, the code, and every file that was read for it.

A key is the digest of all that a result depends on. What a notebook reads is not guessed from its text: its kernel
tells which files it opened (`azlatency.site.kernels.WarmKernel.read`). A page whose notebook failed has no key.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from hashlib import sha256
from importlib.metadata import distributions
from pathlib import Path
from typing import Any

PACKAGE = Path(__file__).parents[1]
#: Modules that change how a page looks and not what its notebook computes.
_LOOKS = "site/"
#: Modules that no page and no notebook uses.
_ELSEWHERE = ("cli/", "gate/", "planning/", "__main__.py")
#: Begins the name of a folder of which the names, not the contents, matter.
LISTING = "names in "


def key(*parts: Any) -> str:
    """A digest of anything that JSON can say."""
    return sha256(json.dumps(parts, sort_keys=True, ensure_ascii=False, default=str).encode()).hexdigest()


@lru_cache(maxsize=1)
def code() -> tuple[str, str]:
    """Digests of the code and libraries that results depend on, and of the code that only shows them."""
    results, looks = sha256(), sha256()
    for path in sorted(PACKAGE.rglob("*")):
        name = path.relative_to(PACKAGE).as_posix()
        if path.is_file() and "__pycache__" not in name and not name.startswith(_ELSEWHERE):
            part = looks if name.startswith(_LOOKS) and name != "site/kernels.py" else results
            part.update(name.encode() + b"\0" + path.read_bytes() + b"\0")
    installed = sorted({f"{each.metadata['Name']} {each.version}" for each in distributions() if each.metadata})
    results.update("\n".join([sys.version, *installed]).encode())
    return results.hexdigest(), looks.hexdigest()


class Contents:
    """Digests of files, each read once; a missing file has a digest of its own."""

    def __init__(self) -> None:
        self._known: dict[str, str] = {}

    def __call__(self, names: Iterable[str]) -> dict[str, str]:
        """Digest by name. A name that begins with `LISTING` stands for the names of the files in a folder."""
        return {name: self._of(name) for name in sorted(set(names))}

    def _of(self, name: str) -> str:
        if name not in self._known:
            self._known[name] = _listing(name) if name.startswith(LISTING) else file_digest(Path(name))
        return self._known[name]


def file_digest(path: Path) -> str:
    """Digest of a file's bytes; of an import's record without the times of the files, which say nothing of content."""
    try:
        raw = path.read_bytes()
    except OSError:
        return "missing"
    if path.name == "import.json":
        return key(_timeless(json.loads(raw)))
    return sha256(raw).hexdigest()


def _timeless(content: Any) -> Any:
    if isinstance(content, Mapping):
        return {name: _timeless(each) for name, each in content.items() if name != "mtime_ns"}
    return [_timeless(each) for each in content] if isinstance(content, list) else content


def _listing(name: str) -> str:
    folder = Path(name.removeprefix(LISTING))
    return key(sorted(each.name for each in folder.iterdir())) if folder.is_dir() else "missing"


# --- what stands in a site's folder


class Record:
    """What a report left in its folder: the files that are its own, and for each page what it depends on.

    Written after the pages; a file that is not as recorded counts as absent.
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
        self.pages: dict[str, dict[str, Any]] = pages if isinstance(pages, dict) else {}

    def whole(self, known: Mapping[str, Any], names: Iterable[str] | None = None) -> bool:
        """Whether the files of a page (or those of ``names``) are as they were written."""
        own = known["files"]
        return all(_inside(each) and file_digest(self._folder / each) == own[each] for each in names or own)

    def text(self, files: Sequence[str], pages: Mapping[str, Mapping[str, Any]]) -> str:
        """The content of the record's file."""
        return json.dumps({"files": sorted(files), "pages": pages}, ensure_ascii=False, indent=1, sort_keys=True) + "\n"


def _inside(name: Any) -> bool:
    return isinstance(name, str) and ".." not in Path(name).parts and not Path(name).is_absolute()
