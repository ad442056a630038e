"""Objects that a notebook cell returns: a figure, a table, findings. Each shows itself as text and as HTML or SVG.

The text form carries the numbers: it is what nbval compares and what a reader without pictures gets. All text that may
come from a log is escaped here.
"""

from __future__ import annotations

import io
import warnings
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
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
