"""The texts of all pages, by section, for the search page."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from typing import Any

from markupsafe import Markup

#: Most characters of one section and of all sections on the search page.
SECTION, WHOLE = 1500, 1_000_000
#: A section of a page: the id of its heading, the heading, its text.
Part = tuple[str, str, str]
_HEADING = re.compile(r'<h[1-6] id="([^"]+)">(.*?)</h[1-6]>', re.S)
_ROW_HEAD = re.compile(r'<th [^>]*scope="row"[^>]*>(.*?)</th>', re.S)
_CAPTION = re.compile(r"<caption[^>]*>(.*?)</caption>", re.S)
_LINK = re.compile(r'<a class="from".*?</a>', re.S)


class Texts:
    """Collects the texts of a page while it is rendered."""

    def __init__(self) -> None:
        self._parts: list[list[str]] = [["", "", ""]]

    def html(self, html: str) -> None:
        """Add rendered Markdown; a heading starts a section."""
        pieces = _HEADING.split(html)
        self._add(_plain(pieces[0]))
        for anchor, heading, text in zip(pieces[1::3], pieces[2::3], pieces[3::3], strict=True):
            self._parts.append([anchor, _plain(heading), ""])
            self._add(_plain(text))

    def output(self, shown: Any) -> None:
        """Add an output: the caption and row headers of a table, the text alternative of a figure."""
        if shown.kind == "table":
            heads = dict.fromkeys(_plain(_LINK.sub("", head)) for head in _ROW_HEAD.findall(shown.html))
            self._add(" ".join([*map(_plain, _CAPTION.findall(shown.html)), *heads]))
        elif shown.kind == "findings":
            self._add(" ".join(finding.text for finding in shown.findings))
        elif shown.html and shown.kind == "markdown":
            self.html(shown.html)
        else:
            self._add(f"{shown.title} {shown.alt or shown.text}")

    def _add(self, text: str) -> None:
        if text.strip():
            self._parts[-1][2] = f"{self._parts[-1][2]} {' '.join(text.split())}".strip()[:SECTION]

    def parts(self) -> tuple[Part, ...]:
        """Return the sections in order."""
        return tuple((anchor, heading, text) for anchor, heading, text in self._parts if heading or text)


def _plain(html: str) -> str:
    return Markup(html).striptags()


def texts_of(pages: Iterable[tuple[str, str, str, Sequence[Part]]]) -> Markup:
    """Return the data block of the search page as JSON that cannot end its script element.

    ``pages``: path in the site, title, group and sections of every page. If the texts are too long, every section is
    truncated.
    """
    from urllib.parse import quote

    listed = list(pages)
    total = sum(len(text) for *_, parts in listed for _, _, text in parts)
    most = SECTION if total <= WHOLE else max(100, SECTION * WHOLE // total)
    content = [
        [quote(path), title, group, [[anchor, heading, text[:most]] for anchor, heading, text in parts]]
        for path, title, group, parts in listed
    ]
    text = json.dumps(content, ensure_ascii=False, separators=(",", ":"))
    return Markup(text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026"))
