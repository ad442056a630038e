"""Objects that a notebook cell returns: a figure, a table, findings. Each shows itself as text and as HTML or SVG.

The text form carries the numbers: it is what nbval compares and what a reader without pictures gets. All text that may
come from a log is escaped here.
"""

from __future__ import annotations

import io
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from matplotlib.figure import Figure as MatplotlibFigure

FINDINGS_TYPE = "application/vnd.azlatency.findings+json"
STYLE = Path(__file__).with_name("azlatency.mplstyle")


def style() -> Any:
    """A context in which matplotlib draws and writes as the style file says: same data, same bytes."""
    import matplotlib as mpl

    return mpl.rc_context({"svg.hashsalt": "azlatency", "svg.fonttype": "path"}, fname=STYLE)


@dataclass(frozen=True)
class Chart:
    """A matplotlib figure with its caption and a text alternative that holds the numbers."""

    figure: MatplotlibFigure
    caption: str
    alt: str

    def svg(self) -> str:
        """The chart as SVG; the same bytes for the same data, glyphs embedded."""
        buffer = io.StringIO()
        with style():
            self.figure.savefig(buffer, format="svg", metadata={"Date": None, "Creator": None})
        return buffer.getvalue()

    def png(self, dpi: int = 150) -> bytes:
        """The chart as PNG; the same bytes for the same data."""
        buffer = io.BytesIO()
        with style():
            self.figure.savefig(buffer, format="png", dpi=dpi, metadata={"Software": None})
        return buffer.getvalue()

    def pdf(self) -> bytes:
        """The chart as PDF, fonts embedded; the same bytes for the same data."""
        buffer = io.BytesIO()
        nameless = {"CreationDate": None, "Creator": None, "Producer": None}
        with style():
            self.figure.savefig(buffer, format="pdf", metadata=nameless)
        return buffer.getvalue()

    def save(self, path: Path | str, formats: Iterable[str] = ("svg", "pdf", "png")) -> list[Path]:
        """Write ``path`` with the ending of each format, PNG at 300 dpi; returns the paths."""
        stem = Path(path).with_suffix("")
        draw = {"svg": lambda: self.svg().encode(), "pdf": self.pdf, "png": lambda: self.png(300)}
        targets = [stem.with_suffix(f".{each}") for each in formats]
        for target in targets:
            target.write_bytes(draw[target.suffix[1:]]())
        return targets

    def __repr__(self) -> str:
        return f"Figure: {self.caption}\n\n{self.alt}"

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> tuple[dict[str, Any], dict[str, Any]]:
        data = {"text/plain": repr(self), "image/svg+xml": self.svg()}
        return data, {"azlatency": {"kind": "figure", "caption": self.caption, "alt": self.alt}}


@dataclass(frozen=True)
class Table:
    """A table to read: formatted cells, headers with units, a caption, notes below.

    ``numeric`` are the indexes of columns set flush right; the first column heads its row. ``origins``: for each row
    the places in logs that its cells were read from, by column (0 stands for the whole row). A place is
    ``source:line`` or ``source:first-last``, where source is a source_id or the path of a file in the study's folder.
    Pages lead from a number to its place; rows without an entry are traced by the path and method that they name.
    """

    caption: str
    headers: Sequence[str]
    rows: Sequence[Sequence[str]]
    numeric: frozenset[int] = frozenset()
    notes: Sequence[str] = ()
    origins: Sequence[Mapping[int, Sequence[str]]] = ()

    def html(self) -> str:
        """The table as one ``<table>`` element, everything escaped."""

        def kind(index: int) -> str:
            return ' class="number"' if index in self.numeric else ""

        def cell(index: int, text: str) -> str:
            tag = "td" if index else "th"
            scope = "" if index else ' scope="row"'
            return f"<{tag}{scope}{kind(index)}>{escape(text)}</{tag}>"

        head = "".join(f'<th scope="col"{kind(index)}>{escape(text)}</th>' for index, text in enumerate(self.headers))
        body = "\n".join("<tr>" + "".join(cell(i, text) for i, text in enumerate(row)) + "</tr>" for row in self.rows)
        notes = "".join(f"<p>{escape(note)}</p>" for note in self.notes)
        foot = f'<tfoot><tr><td colspan="{len(self.headers)}">{notes}</td></tr></tfoot>' if notes else ""
        return (
            f'<table class="az"><caption>{escape(self.caption)}</caption>\n<thead><tr>{head}</tr></thead>\n'
            f"<tbody>\n{body}\n</tbody>{foot}</table>"
        )

    def __repr__(self) -> str:
        widths = (
            [max(len(text) for text in column) for column in zip(self.headers, *self.rows, strict=True)]
            if self.rows
            else [len(header) for header in self.headers]
        )

        def line(cells: Sequence[str]) -> str:
            return "  ".join(
                text.rjust(width) if index in self.numeric else text.ljust(width)
                for index, (text, width) in enumerate(zip(cells, widths, strict=True))
            ).rstrip()

        return "\n".join([self.caption, "", line(self.headers), *(line(row) for row in self.rows), *self.notes])

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> tuple[dict[str, Any], dict[str, Any]]:
        data = {"text/plain": repr(self), "text/html": self.html()}
        said: dict[str, Any] = {"kind": "table", "caption": self.caption}
        if any(self.origins):
            said["origins"] = [{str(column): list(places) for column, places in row.items()} for row in self.origins]
        return data, {"azlatency": said}


@dataclass(frozen=True)
class Note:
    """A sentence in the place of a chart or table that has nothing to show, with the reason."""

    text: str

    def __repr__(self) -> str:
        return self.text


@dataclass(frozen=True)
class Finding:
    """One sentence of a page's result: something to act on, or for information."""

    kind: Literal["act", "info"]
    text: str


@dataclass(frozen=True)
class Findings:
    """What a page found; the index collects them."""

    findings: tuple[Finding, ...]

    @classmethod
    def of(cls, findings: Iterable[Finding]) -> Findings:
        """Findings from any iterable."""
        return cls(tuple(findings))

    def __repr__(self) -> str:
        lines = [f"{'Act on this' if each.kind == 'act' else 'For information'}: {each.text}" for each in self.findings]
        return "\n".join(lines) or "No findings."

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, Any]:
        records = [{"kind": each.kind, "text": each.text} for each in self.findings]
        return {"text/plain": repr(self), "text/markdown": self._markdown(), FINDINGS_TYPE: records}

    def _markdown(self) -> str:
        lines: list[str] = []
        for kind, title in (("act", "Act on this"), ("info", "For information")):
            own = [each for each in self.findings if each.kind == kind]
            if own:
                lines += [f"**{title}**", "", *(f"- {each.text}" for each in own), ""]
        return "\n".join(lines) or "No findings."
