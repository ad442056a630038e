"""The documentation as pages of the site: docs/**/*.md, the files that they show, the public names of the library."""

from __future__ import annotations

import posixpath
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from hashlib import sha256
from pathlib import Path, PurePosixPath
from typing import Any

from markupsafe import Markup

from azlatency import _HOMES, __version__
from azlatency.site.api import Module, modules
from azlatency.site.figures import png, svg
from azlatency.site.markdown import Heading, highlighted, markdown, plain_text, slug
from azlatency.site.scripts import Position, scripts
from azlatency.site.search import Part, Texts

#: The parts of the documentation in their order: the folder under docs/ and its title. Others follow by name.
_GROUPS = {
    "": "Guide",
    "concepts": "Concepts",
    "questions": "Questions",
    "tools": "Tools",
    "ci": "Continuous integration",
    "api": "Library",
}
#: Other files in docs/ that are shown unchanged.
_SHOWN = (".py", ".log", ".txt", ".sh", ".ps1", ".yml", ".yaml", ".toml", ".csv", ".json", ".xml")
_LARGEST = 200_000


@dataclass
class Document:
    """A page of the documentation: ``at`` is its path in the site, ``source`` its Markdown."""

    at: str
    title: str
    source: str
    group: str
    listed: bool = True
    code: str = ""
    """Shown below the Markdown as it is."""
    headings: list[Heading] = field(default_factory=list)
    texts: Texts = field(default_factory=Texts)

    @property
    def place(self) -> Position:
        """The position of the page in the site."""
        return Position(self.at)


class Documents:
    """The documentation in a folder; empty where there is none."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    @cached_property
    def digest(self) -> str:
        """Of all that the documentation is made of, but the code."""
        digest = sha256()
        for path in self._files():
            digest.update(path.relative_to(self._folder).as_posix().encode() + b"\0" + path.read_bytes() + b"\0")
        return digest.hexdigest()

    def _files(self) -> list[Path]:
        return sorted(path for path in self._folder.rglob("[!.]*") if path.is_file())

    @cached_property
    def documents(self) -> list[Document]:
        """Every page, in the order of the navigation."""
        documents = [*self._written(), *map(_module, self._modules)]
        documents = [self._names(), *documents] if documents else []
        order = [*_GROUPS, *sorted({document.group for document in documents} - set(_GROUPS))]
        return sorted(
            documents,
            key=lambda document: (order.index(document.group), PurePosixPath(document.at).name != "index.html"),
        )

    @property
    def groups(self) -> list[tuple[str, list[Document]]]:
        """The pages of the navigation by part: (title of the part, pages)."""
        parts: dict[str, list[Document]] = {}
        for document in self.documents:
            if document.listed:
                parts.setdefault(_GROUPS.get(document.group, document.group.replace("-", " ").capitalize()), []).append(
                    document
                )
        return list(parts.items())

    @cached_property
    def _modules(self) -> list[Module]:
        return modules(_HOMES) if self._folder.is_dir() else []

    def _written(self) -> Iterator[Document]:
        for path in self._files():
            name = path.relative_to(self._folder)
            group = name.parts[0] if len(name.parts) > 1 else ""
            if path.suffix == ".md":
                text = path.read_text("utf-8", "replace")
                title = next((plain_text(line) for line in text.splitlines() if line.startswith("# ")), path.stem)
                yield Document(f"docs/{name.with_suffix('.html').as_posix()}", title, text, group)
            elif path.suffix in _SHOWN and path.stat().st_size < _LARGEST:
                code = path.read_text("utf-8", "replace")
                at = f"docs/{name.as_posix()}.html"
                yield Document(at, name.name, f"# {name.name}", group, False, code)

    def _names(self) -> Document:
        lines = ["# The library", "", "What `import azlatency as az` offers, by module.", ""]
        for module in self._modules:
            lines += [f"## {module.name}", "", module.summary, ""]
            for entry in module.entries:
                lines.append(f"- [`{entry.name}`]({module.name}.html#{_anchor(entry.name)}): {entry.summary}")
            lines.append("")
        return Document("docs/api/index.html", "All names", "\n".join(lines), "api")

    # --- rendering

    def pages(self, environment: Any) -> dict[str, str]:
        """Return the HTML of every page by its path in the site."""
        template = environment.get_template("document.html.j2")
        known = {document.at for document in self.documents}
        made = {}
        for document in self.documents:
            html = markdown(document.source, document.headings, _Links(self._folder, document, known))
            document.texts.html(html)
            is_python = document.at.endswith(".py.html")
            made[document.at] = template.render(
                document=document, html=html, groups=self.groups, place=document.place, scripts=scripts(),
                version=__version__, code=highlighted(document.code) if is_python else document.code,
            )  # fmt: skip
        return made

    def texts(self) -> list[tuple[str, str, str, Sequence[Part]]]:
        """Return the sections of all rendered pages for the search."""
        return [(document.at, document.title, "Documentation", document.texts.parts()) for document in self.documents]


@dataclass(frozen=True)
class _Links:
    """Where the links and pictures of a document lead."""

    folder: Path
    document: Document
    known: set[str]

    def link(self, url: str) -> str | None:
        """Return the address for a relative link, "" if it leaves the site, or None if the link is not relative."""
        if "://" in url or url.startswith(("#", "mailto:")):
            return None
        path, hash_, fragment = url.partition("#")
        target = posixpath.normpath(posixpath.join(posixpath.dirname(self.document.at), path))
        for name in (f"{target.removesuffix('.md')}.html" if target.endswith(".md") else target, f"{target}.html"):
            if name in self.known:
                return self.document.place.to(name) + hash_ + fragment
        return ""

    def image(self, url: str, alt: str) -> Markup | None:
        """Embed a picture from docs/ into the page."""
        inside = posixpath.normpath(posixpath.join(posixpath.dirname(self.document.at), url))
        path = self.folder / inside.removeprefix("docs/")
        if not inside.startswith("docs/") or not path.is_file():
            return None
        if path.suffix == ".svg":
            return svg(path.read_text("utf-8"), f"{_anchor(path.stem)}_", alt)
        if path.suffix == ".png":
            import base64

            return png(base64.b64encode(path.read_bytes()).decode(), alt)
        return None


def _module(module: Module) -> Document:
    lines = [f"# {module.name}", "", module.text, ""]
    for entry in module.entries:
        lines += [f"## {entry.name}", "", "```python", entry.signature, "```", "", entry.text, ""]
        for member in entry.members:
            lines += [f"### {entry.name}.{member.name}", "", "```python", member.signature, "```", "", member.text, ""]
    return Document(f"docs/api/{module.name}.html", module.name.removeprefix("azlatency."), "\n".join(lines), "api")


def _anchor(name: str) -> str:
    """Return the id of a heading that consists of this name."""
    return slug(name, set())
