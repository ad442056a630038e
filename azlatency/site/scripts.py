"""The scripts of the pages, and the hashes by which a browser knows that they are ours."""

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
    """The texts between the script elements, and what the content security policy says of them."""

    page: Markup
    search: Markup
    hashes: Markup


@lru_cache(maxsize=1)
def scripts() -> Scripts:
    """Both scripts; `Scripts.hashes` allows these bytes and no other script, however it came into a page."""
    texts = [(_FOLDER / name).read_text("utf-8") for name in ("page.js", "search.js")]
    digests = [base64.b64encode(sha256(text.encode()).digest()).decode() for text in texts]
    page, search = map(Markup, texts)
    return Scripts(page, search, Markup(" ".join(f"'sha256-{digest}'" for digest in digests)))


@dataclass(frozen=True)
class Position:
    """Where a page stands in its site: ``at`` is its path from the site's root, with slashes."""

    at: str

    @property
    def root(self) -> str:
        """The way back to the site's root."""
        return "../" * self.at.count("/")

    @property
    def name(self) -> str:
        """Begin of the names of files that are saved from the page."""
        return self.at.removesuffix(".html").replace("/", "-")

    def to(self, target: str) -> str:
        """The address of another page, given by its path from the root, as seen from here."""
        path, hash_, fragment = target.partition("#")
        return self.root + quote(path) + hash_ + fragment
