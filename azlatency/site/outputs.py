"""The outputs of an executed notebook, ready for the templates.

Log text is hostile by assumption, and so is the text of a manifest: everything is escaped, and only our own tables and
findings, figures, and Markdown become markup, each rebuilt from its parsed form.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import msgspec
from markupsafe import Markup, escape

from azlatency.kit.cells import table_html
from azlatency.kit.objects import FINDINGS_TYPE, KINDS
from azlatency.pages.summary.card import CARD_TYPE
from azlatency.site.cards import CardView, card_view
from azlatency.site.figures import placeholder, png, svg
from azlatency.site.markdown import markdown, markdown_line
from azlatency.site.provenance import Trail

#: A bold part of a sentence.
_BOLD = re.compile("<strong>.*?</strong>")
#: Rows of a table that a page shows; a page has to open at once whatever the study's size.
_MOST_ROWS = 500
#: Rows above which a table scrolls in a window of its own.
_MANY_ROWS = 40
#: A table of more rows that is not folded shows its first 10 (style.css, page.js) until a reader wants all.
_ROWS_AT_ONCE = 15


class _Column(msgspec.Struct):
    header: str
    right: bool
    names_row: bool
    csv: list[Any]


class _Row(msgspec.Struct):
    cells: list[str]
    csv: list[list[Any]]


class _TableRecord(msgspec.Struct):
    """What `Table.record` writes, as far as a table is shown from it."""

    caption: str
    columns: list[_Column]
    rows: list[_Row]
    notes: list[str]


def own_table(record: Mapping[str, Any], trail: Trail | None = None, *, fold_notes: bool = False) -> Markup | None:
    """Return a table from its `Table.record`, with links to its logs, or None if the record is not one."""
    try:
        shape = msgspec.convert(record, _TableRecord)
    except msgspec.ValidationError:
        return None
    if not all(len(row.cells) == len(row.csv) == len(shape.columns) > 0 for row in shape.rows):
        return None
    links = (lambda row, name: None) if trail is None else trail.row
    return Markup(table_html(record, links, _MOST_ROWS, fold_notes=fold_notes))


@dataclass(frozen=True)
class Finding:
    """A finding of a page; ``text`` is Markdown, ``targets`` are the ids that its bold parts lead to."""

    kind: str
    text: str
    targets: Sequence[str] = ()

    @property
    def html(self) -> Markup:
        """The sentence as HTML."""
        targets = iter(self.targets)

        def linked(match: re.Match[str]) -> str:
            target = next(targets, "")
            return f'<a class="whole" href="#{escape(target)}">{match[0]}</a>' if target else match[0]

        return Markup(_BOLD.sub(linked, markdown_line(self.text)))

    @property
    def heading(self) -> str:
        """The heading that findings of this kind stand under; its id is ``findings_`` and the kind."""
        return KINDS[self.kind]


@dataclass(frozen=True)
class Shown:
    """An output as the template shows it: ``kind`` names the macro, the rest is for it.

    ``html`` and ``room`` are safe, ``text``, ``title`` and ``alt`` are text.
    """

    kind: str
    id: str = ""
    html: Markup = field(default_factory=Markup)
    title: str = ""
    text: str = ""
    alt: str = ""
    room: Markup = field(default_factory=Markup)
    """An empty figure of the same size, which keeps the place of one that is drawn when the page has opened."""
    phone_title: str = ""
    """The caption of the drawing for phones, if it differs: that drawing may have room for fewer rows."""
    anchor: str = ""
    headline: str = ""
    """The id of a figure, which does not change with the data, or of a table; and the title of a figure."""
    rows: int = 0
    columns: int = 0
    """Of a table."""
    first: bool = False
    """Whether it is the first figure or table of the page: a page folds less of it."""
    findings: tuple[Finding, ...] = ()
    card: CardView | None = None

    @property
    def long(self) -> bool:
        """Whether it is a table that scrolls in a window of its own."""
        return self.rows > _MANY_ROWS

    @property
    def fold(self) -> str:
        """What the fold of a table is called: its caption, without an aside such as the scope, and its size."""
        name = re.sub(r" \([^()]*\)\Z", "", self.title)
        return f"{name} ({self.rows} {'row' if self.rows == 1 else 'rows'})"

    @property
    def whole_caption(self) -> Markup:
        """The caption of a figure, and that of its drawing for phones."""
        if not self.phone_title:
            return escape(self.title)
        both = '<span class="page-width">{}</span><span class="phone-width">{}</span>'
        return Markup(both).format(self.title, self.phone_title)

    @property
    def caption(self) -> tuple[Markup, Markup]:
        """The caption of a figure: what a page shows, and what it folds.

        Above a later figure, the first sentence of its section says what it is, and its title the result.
        """
        return (self.whole_caption, Markup()) if self.first else (Markup(), self.whole_caption)

    @property
    def short(self) -> bool:
        """Whether it is a table that shows its first 10 rows until a reader wants all."""
        return self.rows > _ROWS_AT_ONCE


class Outputs:
    """Turns the outputs of one page into `Shown`, numbers its figures and collects its findings."""

    def __init__(self, trail: Trail | None = None) -> None:
        self.findings: list[Finding] = []
        self.card: CardView | None = None
        self._trail = trail
        self._count = self._tables = 0
        self._figures: Counter[str] = Counter()

    def show(self, output: Mapping[str, Any]) -> Shown:
        """How an output of a code cell is shown; what is not known to be ours comes as text."""
        kind = output["output_type"]
        if kind == "stream":
            return Shown("stream", title=str(output["name"]), text=str(output["text"]))
        if kind == "error":
            trace = "\n".join(output["traceback"]) or f"{output['ename']}: {output['evalue']}"
            return Shown("error", title=f"{output['ename']}: {output['evalue']}", text=trace)
        return self._data(output["data"], dict(output.get("metadata", {}).get("azlatency", {})))

    def _data(self, data: Mapping[str, Any], record: Mapping[str, Any]) -> Shown:
        self._count += 1
        ours = record.get("kind")
        shown, links = None, None if self._trail is None else self._trail.row
        if FINDINGS_TYPE in data:
            shown = self._findings(data[FINDINGS_TYPE])
        elif CARD_TYPE in data and (card := card_view(data[CARD_TYPE], links)) is not None:
            self.card = card
            shown = Shown("card", card=card)
        elif ours == "table" and (table := own_table(record, self._trail, fold_notes=not self._tables)) is not None:
            self._tables += 1
            shown = Shown(
                "table",
                html=table,
                title=str(record["caption"]),
                rows=table.count('scope="row"'),
                columns=table.count('scope="col"'),
                anchor=f"table-{self._tables}",
                first=self._tables == 1 and not self._figures,
            )
        elif "image/svg+xml" in data or "image/png" in data:
            shown = self._figure(data, record)
        elif "text/markdown" in data:
            shown = Shown("markdown", html=markdown(data["text/markdown"]))
        return shown or _as_text(data)

    def _figure(self, data: Mapping[str, Any], record: Mapping[str, Any]) -> Shown | None:
        plain = str(data.get("text/plain", ""))
        alt = str(record.get("alt") or plain)
        caption = str(record.get("caption") or "")
        name = caption or (alt.splitlines() or ["Figure"])[0]
        prefix = f"o{self._count}_"
        drawings = _drawings(data, record, prefix, name)
        if not drawings and "image/png" in data and (picture := png(data["image/png"], name)) is not None:
            drawings = [picture]
        if not drawings:
            return None
        phone_caption = str(record["narrow"]["caption"]) if len(drawings) > 1 else caption
        kind = re.sub(r"[^a-z0-9]+", "-", str(record.get("name") or "").lower()).strip("-") or "chart"
        self._figures[kind] += 1
        anchor = f"figure-{kind}" + (f"-{self._figures[kind]}" if self._figures[kind] > 1 else "")
        return Shown(
            "figure",
            prefix,
            Markup().join(drawings),
            title=caption,
            alt=alt,
            room=Markup().join(map(placeholder, drawings)),
            phone_title="" if phone_caption == caption else phone_caption,
            anchor=anchor,
            headline=str(record.get("title") or ""),
            first=self._figures.total() == 1 and not self._tables,
        )

    def _targets(self, record: Mapping[str, Any]) -> tuple[str, ...]:
        """Return where the bold parts of a finding lead."""
        row = None if self._trail is None else self._trail.row
        bold = re.findall(r"\*\*(.+?)\*\*", str(record["text"]))
        parts = zip(bold, record.get("refs", ()), strict=False)
        links = [row({"refs": refs}, name) if row else None for name, refs in parts]
        return tuple(link.target if link else "" for link in links)

    def _findings(self, records: Any) -> Shown | None:
        try:
            findings = tuple(
                Finding(str(record["kind"]), str(record["text"]), self._targets(record)) for record in records
            )
        except (TypeError, KeyError, AttributeError):
            return None
        if any(finding.kind not in KINDS for finding in findings):
            return None
        self.findings += findings
        return Shown("findings", findings=findings)


def _drawings(data: Mapping[str, Any], record: Mapping[str, Any], prefix: str, name: str) -> list[Markup]:
    """Return a figure as inline SVG: once, or for a page and for a phone, of which the style shows one."""
    of_phone = record.get("narrow") or {}
    narrow = svg(of_phone.get("svg", ""), f"{prefix}n", name, f"{prefix}alt", "phone-width")
    wide = svg(data.get("image/svg+xml", ""), prefix, name, f"{prefix}alt", "page-width" if narrow else "")
    return [] if wide is None else [wide] if narrow is None else [wide, narrow]


def _as_text(data: Mapping[str, Any]) -> Shown:
    """Any other output: its text form, else the source of whatever it is."""
    if "text/plain" in data:
        return Shown("text", text=str(data["text/plain"]))
    text = next(iter(data.values()), "")
    return Shown("text", text=text if isinstance(text, str) else json.dumps(text, ensure_ascii=False, indent=1))
