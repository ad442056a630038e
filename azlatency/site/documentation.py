"""The concept pages (docs/concepts/*.md) as pages of the site; `make docs` builds the whole documentation."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from markupsafe import Markup

from azlatency.site.markdown import markdown, plain_text
from azlatency.site.notebooks import INSTALLED
from azlatency.site.search import Part, Texts

CONCEPTS = INSTALLED / "docs" / "concepts"
#: Words above which a page folds its sections, and a section.
_MOST_WORDS, _SECTION = 700, re.compile(r"(<h2\b.*?</h2>)(.*?)(?=<h2\b|\Z)", re.S)


@dataclass(frozen=True)
class Document:
    """A page: its path in the site, and its Markdown, which begins with the title."""

    at: str
    source: str

    @property
    def title(self) -> str:
        """The first heading."""
        return plain_text(self.source.partition("\n")[0])

    def content(self) -> tuple[Markup, tuple[Part, ...]]:
        """Return the HTML, and the sections for the search."""
        html, texts = markdown(self.source), Texts()
        texts.html(html)
        if len(self.source.split()) > _MOST_WORDS:
            html = Markup(_SECTION.sub(r'<details class="method"><summary>\1</summary>\2</details>', str(html)))
        return html, texts.parts()


def concepts(folder: Path) -> list[Document]:
    """Return the pages of a folder by name."""
    return [
        Document(f"docs/{path.with_suffix('.html').name}", path.read_text("utf-8"))
        for path in sorted(folder.glob("*.md"))
    ]
