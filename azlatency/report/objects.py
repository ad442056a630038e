"""Objects that a notebook cell returns: a figure, a table, findings. Each shows itself as text and as HTML or SVG.

The text form carries the numbers: it is what nbval compares and what a reader without pictures gets. All text that may
come from a log is escaped here.
"""

from __future__ import annotations

import io
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from matplotlib.figure import Figure as MatplotlibFigure

FINDINGS_TYPE = "application/vnd.azlatency.findings+json"
STYLE = Path(__file__).with_name("azlatency.mplstyle")


#: Families with letters that DejaVu Sans lacks (a host may be called 東京-1), in the order in which they are tried.
FURTHER_FONTS = (
    *("Noto Sans CJK SC", "Noto Sans CJK JP", "Noto Sans CJK KR", "Source Han Sans SC", "WenQuanYi Zen Hei"),
    *("Microsoft YaHei", "Yu Gothic", "Malgun Gothic", "PingFang SC", "Hiragino Sans", "Apple SD Gothic Neo"),
    *("Noto Sans Devanagari", "Noto Sans Thai", "Nirmala UI", "Leelawadee UI", "Arial Unicode MS"),
)


@cache
def fonts() -> tuple[str, ...]:
    """DejaVu Sans, which comes with matplotlib, and what is installed of `FURTHER_FONTS`."""
    from matplotlib.font_manager import fontManager

    installed = {font.name for font in fontManager.ttflist}
    return ("DejaVu Sans", *(name for name in FURTHER_FONTS if name in installed))


@contextmanager
def style() -> Iterator[None]:
    """A context in which matplotlib draws and writes as the style file says: same data, same bytes."""
    import matplotlib as mpl

    own: Any = {"svg.hashsalt": "azlatency", "svg.fonttype": "path"}
    with mpl.rc_context(own, fname=STYLE), warnings.catch_warnings():
        # The caption of a chart says it, once (`azlatency.report.charts.base.styled`).
        warnings.filterwarnings("ignore", r"Glyph \d+ .* missing from font")
        mpl.rcParams["font.family"] = list(fonts())
        yield


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


#: Below numbers that follow from a formula and its parameters only.
NO_LOG = "no log stands behind"


class _Origin:
    """Where a number comes from, as the metadata of an output say it: only what differs from the defaults."""

    def record(self) -> dict[str, Any]:
        """The fields that say something, and under ``from`` the name of the class."""
        said = {name: value for name, value in vars(self).items() if value}
        return {"from": type(self).__name__, **said}


@dataclass(frozen=True)
class Runs(_Origin):
    """The runs that a number was computed from, each at the line that says its ``value``.

    ``value``: a column of `runs` (``median_ns``, ``mean_ns``, ``throughput``, ``retransmits``, ``n``);
    ``typical``, the first of these that the runs have; ``latency``, the mean of each run, else its median; a metric;
    ``printed`` and a blank before one of them, for runs of which the log holds the very number; ``samples``,
    ``intervals`` or ``percentiles``; ``run`` or ``file`` for the whole of it; by default the goodput or mean of each
    run, else its median, else all of it.

    ``path``, ``method``: exactly; by default those that the cells of the row name, and with ``every`` all. ``ways``:
    ``both`` takes runs in either direction along, ``data`` takes ``path`` as that of the data of a reverse stream.
    ``run``: the run_id of the only one. ``rounds``: only these. ``without``: only runs of which the manifest does not
    say this column. ``printed_as``: only runs that print such latencies. ``part``: only methods whose name holds it.
    ``before``: of the study that the manifest names so.
    """

    value: str = ""
    path: str = ""
    method: str = ""
    every: bool = False
    ways: Literal["", "both", "data"] = ""
    run: str = ""
    rounds: tuple[str, ...] = ()
    without: str = ""
    printed_as: str = ""
    part: str = ""
    before: bool = False


@dataclass(frozen=True)
class Stated(_Origin):
    """A line of a file in the study's folder: the one that says ``key``, in the entry of that name where one is given.

    ``file``: a name, or ``baseline`` for the file that the manifest names so. ``before``: as in `Runs`.
    """

    file: str
    key: str
    entry: str = ""
    before: bool = False


@dataclass(frozen=True)
class Reported(_Origin):
    """Numbers that stand only in a text, by their scenario and metric; ``segment``: of stretches of a run."""

    scenario: str
    metric: str
    q: str = ""
    segment: bool = False


#: Where a number comes from: ``source:line`` or ``source:first-last``, where source is a source_id or the path of a
#: file in the study's folder; ``run_id@q`` for a percentile of a run; or one of the classes above.
Origin = str | Runs | Stated | Reported


@dataclass(frozen=True)
class Table:
    """A table to read: formatted cells, headers with units, a caption, notes below.

    ``numeric`` are the indexes of columns set flush right; the first column heads its row. ``origins``: for each row
    where its cells come from, by column (0 stands for the whole row). Pages lead from a number to its place; rows
    without an entry are traced by the path and method that they name. Where a number follows from parameters alone, a
    note says so (`NO_LOG`).
    """

    caption: str
    headers: Sequence[str]
    rows: Sequence[Sequence[str]]
    numeric: frozenset[int] = frozenset()
    notes: Sequence[str] = ()
    origins: Sequence[Mapping[int, Sequence[Origin]]] = ()

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
            said["origins"] = [
                {str(column): [_recorded(place) for place in places] for column, places in row.items()}
                for row in self.origins
            ]
        return data, {"azlatency": said}


def _recorded(place: Origin) -> str | dict[str, Any]:
    return place if isinstance(place, str) else place.record()


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
