"""What a notebook cell returns besides tables: a chart, a note, findings. Each has a text form with the numbers.

nbval compares the text form, and readers without pictures read it.
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


#: Font families with characters that DejaVu Sans lacks (a host may be named 東京-1), in the order of preference.
FURTHER_FONTS = (
    *("Noto Sans CJK SC", "Noto Sans CJK JP", "Noto Sans CJK KR", "Source Han Sans SC", "WenQuanYi Zen Hei"),
    *("Microsoft YaHei", "Yu Gothic", "Malgun Gothic", "PingFang SC", "Hiragino Sans", "Apple SD Gothic Neo"),
    *("Noto Sans Devanagari", "Noto Sans Thai", "Nirmala UI", "Leelawadee UI", "Arial Unicode MS"),
)


@cache
def fonts() -> tuple[str, ...]:
    """Return DejaVu Sans, which comes with matplotlib, and the installed families of `FURTHER_FONTS`."""
    from matplotlib.font_manager import fontManager

    installed = {font.name for font in fontManager.ttflist}
    return ("DejaVu Sans", *(name for name in FURTHER_FONTS if name in installed))


@contextmanager
def style() -> Iterator[None]:
    """Let matplotlib draw with the project's style file: the same data produces the same bytes."""
    import matplotlib as mpl

    settings: Any = {"svg.hashsalt": "azlatency", "svg.fonttype": "path"}
    with mpl.rc_context(settings, fname=STYLE), warnings.catch_warnings():
        # The caption of a chart mentions it once (`azlatency.report.charts.base.styled`).
        warnings.filterwarnings("ignore", r"Glyph \d+ .* missing from font")
        mpl.rcParams["font.family"] = list(fonts())
        yield


@dataclass(frozen=True)
class Chart:
    """A matplotlib figure with its caption and a text alternative that contains the numbers."""

    figure: MatplotlibFigure
    caption: str
    alt: str

    def svg(self) -> str:
        """Return the chart as SVG with embedded glyphs."""
        buffer = io.StringIO()
        with style():
            self.figure.savefig(buffer, format="svg", metadata={"Date": None, "Creator": None})
        return buffer.getvalue()

    def png(self, dpi: int = 150) -> bytes:
        """Return the chart as PNG at ``dpi`` dots per inch."""
        buffer = io.BytesIO()
        with style():
            self.figure.savefig(buffer, format="png", dpi=dpi, metadata={"Software": None})
        return buffer.getvalue()

    def pdf(self) -> bytes:
        """Return the chart as PDF with embedded fonts."""
        buffer = io.BytesIO()
        metadata = {"CreationDate": None, "Creator": None, "Producer": None}
        with style():
            self.figure.savefig(buffer, format="pdf", metadata=metadata)
        return buffer.getvalue()

    def save(self, path: Path | str, formats: Iterable[str] = ("svg", "pdf", "png")) -> list[Path]:
        """Write the chart to files.

        Parameters
        ----------
        path : Path or str
            Path of the files; its ending is replaced by that of each format.
        formats : iterable of str
            ``"svg"``, ``"pdf"`` and ``"png"`` (300 dpi), or some of them.

        Returns
        -------
        list of Path
            The files.
        """
        stem = Path(path).with_suffix("")
        draw = {"svg": lambda: self.svg().encode(), "pdf": self.pdf, "png": lambda: self.png(300)}
        targets = [stem.with_suffix(f".{name}") for name in formats]
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
    """A sentence with the reason why a chart or table has nothing to show."""

    text: str

    def __repr__(self) -> str:
        return self.text


@dataclass(frozen=True)
class Finding:
    """One sentence of a page's conclusion: something to act on, or for information."""

    kind: Literal["act", "info"]
    text: str


@dataclass(frozen=True)
class Findings:
    """The conclusions of a page; the index collects them."""

    findings: tuple[Finding, ...]

    @classmethod
    def of(cls, findings: Iterable[Finding]) -> Findings:
        """Return the findings of any iterable."""
        return cls(tuple(findings))

    def __repr__(self) -> str:
        lines = [
            f"{'Act on this' if finding.kind == 'act' else 'For information'}: {finding.text}"
            for finding in self.findings
        ]
        return "\n".join(lines) or "No findings."

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, Any]:
        records = [{"kind": finding.kind, "text": finding.text} for finding in self.findings]
        return {"text/plain": repr(self), "text/markdown": self._markdown(), FINDINGS_TYPE: records}

    def _markdown(self) -> str:
        lines: list[str] = []
        for kind, title in (("act", "Act on this"), ("info", "For information")):
            chosen = [finding for finding in self.findings if finding.kind == kind]
            if chosen:
                lines += [f"**{title}**", "", *(f"- {finding.text}" for finding in chosen), ""]
        return "\n".join(lines) or "No findings."
