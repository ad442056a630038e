"""The scripts of the pages, and their hashes for the content security policy."""

from __future__ import annotations

import base64
from dataclasses import dataclass
from functools import lru_cache
from hashlib import sha256
from pathlib import Path
from urllib.parse import quote

from markupsafe import Markup

_FOLDER = Path(__file__).parent / "templates" / "azlatency"


@dataclass(frozen=True)
class Scripts:
    """The sources of the scripts, and their hashes for the content security policy."""

    page: Markup
    search: Markup
    hashes: Markup


@lru_cache(maxsize=1)
def scripts() -> Scripts:
    """Return both scripts; `Scripts.hashes` makes the browser run these scripts and no others."""
    texts = [(_FOLDER / name).read_text("utf-8") for name in ("page.js", "search.js")]
    digests = [base64.b64encode(sha256(text.encode()).digest()).decode() for text in texts]
    page, search = map(Markup, texts)
    return Scripts(page, search, Markup(" ".join(f"'sha256-{digest}'" for digest in digests)))


@dataclass(frozen=True)
class Position:
    """The position of a page in the site: ``at`` is its path from the root, with slashes."""

    at: str

    @property
    def root(self) -> str:
        """Relative path to the root of the site."""
        return "../" * self.at.count("/")

    @property
    def name(self) -> str:
        """Prefix of the names of files that are saved from the page."""
        return self.at.removesuffix(".html").replace("/", "-")

    def to(self, target: str) -> str:
        """Return the relative address of a page, given by its path from the root."""
        path, hash_, fragment = target.partition("#")
        return self.root + quote(path) + hash_ + fragment
