"""The answer card of a study as the templates see it: escaped text, and the positions of its dots."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import msgspec
from markupsafe import Markup, escape

from azlatency.kit.cells import RowLinks
from azlatency.pages.summary.card import QUOTED
from azlatency.site.markdown import markdown_line

Links = Callable[[Mapping[str, Any], str], RowLinks | None]

#: Ratio of the largest and the smallest value above which the axis is logarithmic.
_WIDE = 8.0
#: Share of the axis, in percent, that the values take at most, and that a character right of a dot takes.
_ROOM, _LETTER = 70.0, 2.1
#: Most letters of a link that does not break.
_WHOLE = 24
#: Two short names, as of zones, or the ends of a range.
_PAIR = re.compile(r"[\w.,]{1,12}–[\w.]{1,12}")


@dataclass(frozen=True, kw_only=True)
class DotView:
    """A row of the dot plot; positions in percent of the axis."""

    label: str
    text: str
    near: bool
    at: float
    low: float
    high: float
    target: str = ""
    """The id of the runs or lines that the value comes from, on the page of the card."""


@dataclass(frozen=True, kw_only=True)
class PartView:
    """A part of a sentence: text, or a number with the id of the runs or lines that it comes from."""

    text: str
    bold: bool = False
    target: str = ""

    def html(self, page: str) -> Markup:
        """Return the part as HTML; ``page`` is the address of the card's page."""
        if not self.target:
            return Markup("<b>{}</b>").format(self.text) if self.bold else _unbroken(self.text)
        shown = Markup("<b>{}</b>").format(self.text) if self.bold else escape(self.text)
        # A number stays on one line with its unit and its range; a list of names may be longer than a line.
        whole = Markup(' class="whole"') if len(self.text) <= _WHOLE else ""
        return Markup('<a{} href="{}#{}">{}</a>').format(whole, page, self.target, shown)


def _unbroken(text: str) -> Markup:
    """Return a text as HTML in which no line ends within a pair of zones, as in "1a–1b"."""
    return Markup(_PAIR.sub(r'<span class="whole">\g<0></span>', str(escape(text))))


def plain_parts(parts: Iterable[PartView]) -> str:
    """Return a sentence as text."""
    return "".join(part.text for part in parts)


@dataclass(frozen=True, kw_only=True)
class CardView:
    """A card; its texts are Markdown or plain text, and are escaped where they are shown."""

    badge: str
    badge_text: str
    question: str
    answer: tuple[PartView, ...]
    inference: tuple[PartView, ...]
    source_says: str
    likely_cause: str
    likely_cause_source: str
    next_step: str
    axis: str
    dots: tuple[DotView, ...]
    round_trips: tuple[dict[str, Any], ...] = ()
    limits: tuple[dict[str, Any], ...] = ()
    paths: tuple[dict[str, Any], ...] = ()
    assumed: tuple[str, ...] = ()
    readers: dict[str, tuple[PartView, ...]] = field(default_factory=dict)
    files: dict[str, Any] = field(default_factory=dict)

    @property
    def is_of_source(self) -> bool:
        """Whether the badge says where all numbers come from, and not how often those of the card were measured."""
        return self.badge in ("published", "emulated") or self.badge_text == QUOTED

    def line(self, text: str) -> Markup:
        """Return one of the texts as HTML."""
        return markdown_line(text)

    def sentence(self, parts: Sequence[PartView], page: str = "") -> Markup:
        """Return the answer or the inference as HTML, with links to ``page``."""
        return Markup("").join(part.html(page) for part in parts)

    def clauses(self, parts: Sequence[PartView], page: str = "") -> list[Markup]:
        """Return a sentence as its parts between semicolons; one of few parts is whole."""
        clauses: list[list[PartView]] = [[]]
        for part in parts:
            first, *others = part.text.split("; ")
            clauses[-1].append(replace(part, text=first))
            clauses += ([replace(part, text=text)] for text in others)
        return [self.sentence(part, page) for part in (clauses if len(clauses) > _FEW_CLAUSES else [parts])]


#: A sentence of more clauses is a list.
_FEW_CLAUSES = 4
_LISTS = ("round_trips", "limits", "paths", "assumed")
_SENTENCES = ("answer", "inference")
_TEXTS = (
    "badge", "badge_text", "question", "source_says", "likely_cause", "likely_cause_source", "next_step", "axis",
)  # fmt: skip


def card_view(record: Any, links: Links | None = None) -> CardView | None:
    """Return the card of a notebook's output, or None if the record is unusable; ``links`` finds where a dot leads."""
    try:
        texts: dict[str, Any] = {name: str(record[name]) for name in _TEXTS}
        texts |= {name: _sentence(record[name], links) for name in _SENTENCES}
        dots, logarithmic = _dots(record["dots"], links)
    except (KeyError, TypeError, ValueError):
        return None
    texts["axis"] += ", log scale" if logarithmic else ""
    texts |= {name: tuple(record.get(name, ())) for name in _LISTS}
    texts["round_trips"] = tuple(_linked_trip(trip, links) for trip in texts["round_trips"])
    readers = {question: _sentence(parts, links) for question, parts in dict(record.get("readers", {})).items()}
    files = {name: list(file) for name, file in dict(record.get("files", {})).items()}
    return CardView(**texts, dots=dots, readers=readers, files=files)


def _linked_trip(trip: Mapping[str, Any], links: Links | None) -> dict[str, Any]:
    """Return a round trip with the ids of what its numbers come from in the place of their references."""
    refs = trip.get("refs")
    known = refs.items() if links and isinstance(refs, Mapping) else ()
    name = f"{trip['path']}, {trip['method']}"
    found = {key: links({"refs": each}, name) for key, each in known if trip.get(key) is not None} if links else {}
    return {**trip, "refs": {key: link.target for key, link in found.items() if link}}


def stored_card(record: Mapping[str, Any] | None) -> CardView | None:
    """Return the card in the record of a report; None if it has none, or if another version stored it."""
    try:
        return msgspec.convert(record, CardView | None)
    except msgspec.ValidationError:
        return None


def _sentence(parts: Sequence[Mapping[str, Any]], links: Links | None) -> tuple[PartView, ...]:
    return tuple(
        PartView(
            text=str(part["text"]),
            bold=bool(part.get("bold")),
            target=found.target if links and (found := links(part, str(part["text"]))) else "",
        )
        for part in parts
    )


def _dots(rows: Sequence[Mapping[str, Any]], links: Links | None) -> tuple[tuple[DotView, ...], bool]:
    """Place the values on an axis from zero, or on a logarithmic one if they differ much; return which."""
    ends = [float(row[end]) for row in rows for end in ("low", "high")]
    if not rows or not all(map(math.isfinite, ends)):
        return (), False
    smallest, largest = min(ends), max(ends)
    logarithmic = smallest > 0 and largest > _WIDE * smallest
    scale: Callable[[float], float] = math.log if logarithmic else float
    if logarithmic:
        start = math.log(smallest / 1.5)
        length = math.log(largest) - start
    else:
        start = min(smallest, 0.0)
        length = (largest - start) or 1.0

    room = max(min(_ROOM, 92 - _LETTER * max(len(str(row["text"])) for row in rows)), 20.0)

    def place(value: float) -> float:
        return round(room * (scale(value) - start) / length, 1)

    dots = tuple(
        DotView(
            label=str(row["label"]),
            text=str(row["text"]),
            near=bool(row["near"]),
            at=place(float(row["value"])),
            low=place(float(row["low"])),
            high=place(float(row["high"])),
            target=link.target if links and (link := links(row, str(row["label"]))) else "",
        )
        for row in rows
    )
    return dots, logarithmic
