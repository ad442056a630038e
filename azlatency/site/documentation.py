"""The concept pages (docs/concepts/*.md) as pages of the site; `make docs` builds the whole documentation."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from azlatency import __version__
from azlatency.site.markdown import markdown, plain_text
from azlatency.site.notebooks import INSTALLED
from azlatency.site.scripts import Position, scripts
from azlatency.site.search import Part, Texts

CONCEPTS = INSTALLED / "docs" / "concepts"


@dataclass(frozen=True)
class Document:
    """A page: its path in the site, and its Markdown, which begins with the title."""

    at: str
    source: str

    @property
    def title(self) -> str:
        """The first heading."""
        return plain_text(self.source.partition("\n")[0])

    def page(self, environment: Any, documents: Sequence[Document]) -> tuple[str, tuple[Part, ...]]:
        """Return the HTML, with links to all ``documents``, and the sections for the search."""
        html, texts = markdown(self.source), Texts()
        texts.html(html)
        template = environment.get_template("document.html.j2")
        page = template.render(
            document=self,
            html=html,
            documents=documents,
            place=Position(self.at),
            scripts=scripts(),
            version=__version__,
        )
        return page, texts.parts()


def concepts(folder: Path) -> list[Document]:
    """Return the pages of a folder by name."""
    return [
        Document(f"docs/{path.with_suffix('.html').name}", path.read_text("utf-8"))
        for path in sorted(folder.glob("*.md"))
    ]
