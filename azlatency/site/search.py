"""The texts of all pages for the search page: findings, rows of tables, figures, and prose.

A reader searches for a result, so findings and numbers come first. The prose of a notebook is the same on the pages of
every study: it is listed once.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from typing import Any
from urllib.parse import quote

from markupsafe import Markup

from azlatency.site.cards import plain_parts
from azlatency.site.markdown import plain_text

#: Most characters of a text, of all texts of a section, and of all texts on the search page.
TEXT, SECTION, WHOLE = 600, 24_000, 1_200_000
#: Texts of one kind ("finding", "row", "figure", "text"): the kind, the id of their heading, what they stand under
#: (heading, caption of a table), and the texts.
Part = tuple[str, str, str, tuple[str, ...]]
_HEADING = re.compile(r'<h[1-6] id="([^"]+)">(.*?)</h[1-6]>', re.S)
_ROW = re.compile(r"<tr>(<th scope=\"row\".*?)</tr>", re.S)
_CELL = re.compile(r"<t[hd]\b[^>]*>(.*?)</t[hd]>", re.S)
_LINK = re.compile(r'(?:&nbsp;)?<a class="from".*?</a>', re.S)


class Texts:
    """Collects the texts of a page while it is rendered."""

    def __init__(self) -> None:
        self._parts: list[tuple[str, str, str, list[str]]] = []
        self._anchor = self._heading = ""

    def html(self, html: str) -> None:
        """Add rendered Markdown; a heading starts a section."""
        pieces = _HEADING.split(html)
        self._add("text", self._heading, [_plain(pieces[0])])
        for anchor, heading, text in zip(pieces[1::3], pieces[2::3], pieces[3::3], strict=True):
            self._anchor, self._heading = anchor, _plain(heading)
            self._add("text", self._heading, [_plain(text) or self._heading])

    def output(self, shown: Any) -> None:
        """Add an output: the rows of a table, the text alternative of a figure, the sentences of findings or a card."""
        if shown.kind == "table":
            rows = [" · ".join(map(_cell, _CELL.findall(row))) for row in _ROW.findall(shown.html)]
            self._add("row", shown.title, rows, shown.anchor)
        elif shown.kind == "findings":
            for finding in shown.findings:
                self._add("finding", finding.heading, [plain_text(finding.text)], f"findings_{finding.kind}")
        elif shown.kind == "card":
            card = shown.card
            texts = [*map(plain_parts, (card.answer, card.inference)), plain_text(card.next_step)]
            self._add("finding", card.question, texts)
        elif shown.kind == "figure":
            self._add("figure", shown.headline or shown.title, shown.alt.split("\n"), shown.anchor)
        elif shown.html and shown.kind == "markdown":
            self.html(shown.html)
        else:
            self._add("text", self._heading, [f"{shown.title} {shown.alt or shown.text}"])

    def _add(self, kind: str, heading: str, texts: Iterable[str], anchor: str | None = None) -> None:
        kept, room = [], SECTION
        for text in texts:
            short = " ".join(text.split())[:TEXT]
            room -= len(short)
            if short and room > 0:
                kept.append(short)
        if kept:
            self._parts.append((kind, self._anchor if anchor is None else anchor, heading, kept))

    def parts(self) -> tuple[Part, ...]:
        """Return the texts in the order of the page."""
        return tuple((kind, anchor, heading, tuple(texts)) for kind, anchor, heading, texts in self._parts)


def _plain(html: str) -> str:
    return Markup(html).striptags()


def _cell(html: str) -> str:
    return _plain(_LINK.sub("", html))


def texts_of(pages: Iterable[tuple[str, str, str, Sequence[Part]]]) -> Markup:
    """Return the data block of the search page as JSON that cannot end its script element.

    ``pages``: path in the site, title, group and texts of every page. Prose that several pages share is listed once. If
    the texts are too long, each of them is truncated.
    """
    listed, known = [], set()
    for path, title, group, parts in pages:
        kept = [part for part in parts if part[0] != "text" or (part[2], part[3]) not in known]
        known |= {(part[2], part[3]) for part in kept if part[0] == "text"}
        listed.append((path, title, group, kept))
    total = sum(len(text) for *_, parts in listed for *_, texts in parts for text in texts)
    most = TEXT if total <= WHOLE else max(40, TEXT * WHOLE // total // 4)
    content = [
        [quote(path), title, group, [[*where, [text[:most] for text in texts]] for *where, texts in parts]]
        for path, title, group, parts in listed
    ]
    text = json.dumps(content, ensure_ascii=False, separators=(",", ":"))
    return Markup(text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026"))
