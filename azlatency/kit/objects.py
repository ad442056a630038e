"""What a notebook cell returns besides tables: a chart, a note, findings. Each has a text form with the numbers.

nbval compares the text form, and readers without pictures read it.
"""

from __future__ import annotations

import io
import os
import re
import warnings
from base64 import b64encode
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal
from xml.etree import ElementTree

import matplotlib as mpl
from matplotlib.font_manager import fontManager
from PIL import Image

from azlatency.kit.cells import Ref, ref_record
from azlatency.studies.format import visible

if TYPE_CHECKING:
    from matplotlib.figure import Figure as MatplotlibFigure

FINDINGS_TYPE = "application/vnd.azlatency.findings+json"
STYLE = Path(__file__).with_name("azlatency.mplstyle")
_SVG, _DECLARATION = "http://www.w3.org/2000/svg", '<?xml version="1.0" encoding="utf-8"?>\n'
#: The families that matplotlib lists are those of this machine; readers have others.
_FONTS, FONT_STACK = re.compile(r"(?<=font-family: )'DejaVu Sans'[^;\"]*"), "'DejaVu Sans', Verdana, sans-serif"


#: Font families with characters that DejaVu Sans lacks (a host may be named 東京-1), in the order of preference.
FURTHER_FONTS = (
    *("Noto Sans CJK SC", "Noto Sans CJK JP", "Noto Sans CJK KR", "Source Han Sans SC", "WenQuanYi Zen Hei"),
    *("Microsoft YaHei", "Yu Gothic", "Malgun Gothic", "PingFang SC", "Hiragino Sans", "Apple SD Gothic Neo"),
    *("Noto Sans Devanagari", "Noto Sans Thai", "Nirmala UI", "Leelawadee UI", "Arial Unicode MS"),
)


@cache
def fonts() -> tuple[str, ...]:
    """Return DejaVu Sans, which comes with matplotlib, and the installed families of `FURTHER_FONTS`."""
    installed = {font.name for font in fontManager.ttflist}
    return ("DejaVu Sans", *(name for name in FURTHER_FONTS if name in installed))


#: Settings of matplotlib that are no matter of looks, or that a style context inside another one has changed itself.
_OWN = frozenset({"backend", "interactive", "svg.hashsalt", "svg.fonttype", "text.parse_math", "axes.titley"})


@contextmanager
def style() -> Iterator[None]:
    """Let matplotlib draw with the project's style file: the same data produces the same bytes."""
    # What the caller changed since matplotlib was loaded counts more than the style file.
    changed = {
        name: value
        for name, value in mpl.rcParams.items()
        if name not in _OWN and value != mpl.rcParamsOrig.get(name, value)
    }
    settings: Any = {"svg.hashsalt": "azlatency", "svg.fonttype": "none"}
    with mpl.rc_context(settings, fname=STYLE), warnings.catch_warnings():
        # The caption of a chart mentions it once (`azlatency.kit.drawing.base.styled`).
        warnings.filterwarnings("ignore", r"Glyph \d+ .* missing from font")
        mpl.rcParams["font.family"] = list(fonts())
        mpl.rcParams.update(changed)
        yield


#: Environment variable of a process whose charts need no PNG in a notebook: drawing it takes as long as the SVG.
WITHOUT_PNG = "AZLATENCY_CHARTS_WITHOUT_PNG"
#: Environment variable of a process whose charts are shown on pages for phones too: they are drawn at both widths.
BOTH_WIDTHS = "AZLATENCY_CHARTS_IN_BOTH_WIDTHS"
#: Inches below which a chart is as narrow as one column.
NARROW = 4.0
#: Formats of charts.
FORMATS = ("svg", "pdf", "png")
#: Endings of images and documents that a chart is not saved as; any other ending is part of a name.
_OTHER_FORMATS = frozenset({"bmp", "emf", "eps", "gif", "jpeg", "jpg", "pgf", "ps", "svgz", "tif", "tiff", "webp"})


@dataclass(frozen=True)
class Chart:
    """A matplotlib figure with its title, its caption and a text alternative that contains the numbers.

    ``title`` is the result in words, ``name`` that of the function that drew the chart. ``tips`` are the texts that the
    marks show under the pointer, by the id of their artist.
    ``again`` draws the chart again with other `azlatency.charts.Options`: ``chart.again(width="single")``. It is None
    in a figure of the caller.
    """

    figure: MatplotlibFigure
    caption: str
    alt: str
    title: str = ""
    name: str = ""
    tips: Mapping[str, Sequence[str]] = field(default_factory=dict)
    again: Callable[..., Chart | Note] | None = field(default=None, compare=False)

    def svg(self) -> str:
        """Return the chart as SVG. Its text is text: it can be searched, selected and edited."""
        drawn = self._drawn("svg", Date=None, Creator=None).decode()
        # A name of a log may have characters that XML forbids.
        return _with_tips(visible(_FONTS.sub(FONT_STACK, drawn)), visible(dict(self.tips)))

    def png(self, dpi: int = 150) -> bytes:
        """Return the chart as PNG at ``dpi`` dots per inch."""
        return self._drawn("png", dpi, Software=None)

    def _small_png(self) -> bytes:
        """Return the chart as a PNG of few colours, which is a third as large: notebooks are stored in repositories."""
        buffer = io.BytesIO()
        with Image.open(io.BytesIO(self.png(100))) as picture:
            picture.convert("RGB").quantize(64).save(buffer, "png", optimize=True)
        return buffer.getvalue()

    def pdf(self) -> bytes:
        """Return the chart as PDF with embedded fonts."""
        return self._drawn("pdf", CreationDate=None, Creator=None, Producer=None)

    def _drawn(self, form: str, dpi: int | None = None, **metadata: None) -> bytes:
        """Return the chart in a format; ``metadata`` names what is left out, so that equal charts are equal bytes."""
        buffer = io.BytesIO()
        with style():
            self.figure.savefig(buffer, format=form, dpi=dpi or "figure", metadata=metadata)
        return buffer.getvalue()

    def save(self, path: Path | str, formats: Iterable[str] = FORMATS) -> list[Path]:
        """Write the chart to files.

        Parameters
        ----------
        path : Path or str
            A file, whose ending is its format, or a name without such an ending, to which that of each format is added:
            ``tail_p99.9`` becomes ``tail_p99.9.svg``, ``tail_p99.9.pdf`` and ``tail_p99.9.png``.
        formats : iterable of str
            Formats of a name without an ending: ``"svg"``, ``"pdf"`` and ``"png"`` (300 dpi), or some of them.

        Returns
        -------
        list of Path
            The files.

        Raises
        ------
        ValueError
            If a format is none of these.

        Examples
        --------
        >>> chart.save("tail.pdf")  # doctest: +SKIP
        [PosixPath('tail.pdf')]
        """
        draw: dict[str, Callable[[], bytes]] = {
            "svg": lambda: self.svg().encode(),
            "pdf": self.pdf,
            "png": lambda: self.png(300),
        }
        path = Path(path)
        ending = path.suffix[1:].lower()
        chosen = [ending] if ending in draw or ending in _OTHER_FORMATS else list(formats)
        if unknown := [name for name in chosen if name not in draw]:
            raise ValueError(f"{path}: a chart cannot be saved as {unknown[0]!r}; choose {', '.join(draw)}")
        targets = {name: path if name == ending else path.with_name(f"{path.name}.{name}") for name in chosen}
        for name, target in targets.items():
            target.write_bytes(draw[name]())
        return list(targets.values())

    def __repr__(self) -> str:
        title = f"{self.title}\n\n" if self.title else ""
        return f"Figure: {title}{self.caption}\n\n{self.alt}"

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> tuple[dict[str, Any], dict[str, Any]]:
        data = {"text/plain": repr(self), "image/svg+xml": self.svg()}
        if os.environ.get(WITHOUT_PNG) is None:
            # JupyterLab shows SVG only in trusted notebooks, which those of a clone, Binder or papermill are not.
            data["image/png"] = b64encode(self._small_png()).decode()
        record: dict[str, Any] = {"title": self.title, "name": self.name, "caption": self.caption, "alt": self.alt}
        in_both = os.environ.get(BOTH_WIDTHS) is not None and self.figure.get_figwidth() > NARROW
        narrow = self.again(width="single") if in_both and self.again else None
        if isinstance(narrow, Chart):
            record["narrow"] = {"svg": narrow.svg(), "caption": narrow.caption}
        return data, {"azlatency": {"kind": "figure", **record}}

    def _ipython_display_(self) -> None:
        """Show the figure and, as Markdown, its caption: a code host shows one form of each output."""
        from IPython.display import display

        data, metadata = self._repr_mimebundle_()
        display(data, metadata=metadata, raw=True)
        text = f"**Figure.** {escape_markdown(self.caption)}"
        caption = {"text/markdown": text, "text/plain": f"Figure. {self.caption}"}
        display(caption, metadata={"azlatency": {"kind": "caption"}}, raw=True)


def escape_markdown(text: str) -> str:
    """Escape what Markdown reads as markup: names of hosts and files may contain it."""
    return re.sub(r"([\\`*_\[\]<>$|#])", r"\\\1", text)


def _with_tips(source: str, tips: Mapping[str, Sequence[str]]) -> str:
    """Add the texts of ``tips`` to their marks as titles, which browsers show under the pointer."""
    if not tips:
        return source
    for prefix, space in (("", _SVG), ("xlink", "http://www.w3.org/1999/xlink")):
        ElementTree.register_namespace(prefix, space)
    root = ElementTree.fromstring(source)
    for group in root.iter(f"{{{_SVG}}}g"):
        texts = tips.get(group.get("id", ""))
        if not texts:
            continue
        marks = list(group.iter(f"{{{_SVG}}}use")) or list(group.findall(f".//{{{_SVG}}}g/{{{_SVG}}}path"))
        marks = marks or list(group.iter(f"{{{_SVG}}}path"))
        for mark, text in zip(
            marks, texts if len(texts) == len(marks) else ["; ".join(texts)] * len(marks), strict=True
        ):
            ElementTree.SubElement(mark, f"{{{_SVG}}}title").text = text
    return _DECLARATION + ElementTree.tostring(root, encoding="unicode") + "\n"


@dataclass(frozen=True)
class Note:
    """A sentence with the reason why a chart or table has nothing to show."""

    text: str

    def __repr__(self) -> str:
        return self.text

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> tuple[dict[str, Any], dict[str, Any]]:
        return {"text/plain": self.text}, {"azlatency": {"kind": "note"}}


#: Headings of the findings by kind, in their order on a page.
KINDS = {"answer": "Answer", "act": "Before you rely on it", "info": "What else these data show"}


@dataclass(frozen=True)
class Finding:
    """One sentence of a page's conclusion: the answer to its question, something to act on, or for information.

    ``refs``: what the bold parts come from, in their order.
    """

    kind: Literal["answer", "act", "info"]
    text: str
    refs: tuple[tuple[Ref, ...], ...] = ()

    def record(self) -> dict[str, Any]:
        """Return the finding as JSON."""
        refs = {"refs": [[ref_record(ref) for ref in part] for part in self.refs]} if self.refs else {}
        return {"kind": self.kind, "text": self.text, **refs}


@dataclass(frozen=True)
class Findings:
    """The conclusions of a page; the index collects them."""

    findings: tuple[Finding, ...]

    @classmethod
    def of(cls, findings: Iterable[Finding]) -> Findings:
        """Return the findings of any iterable."""
        return cls(tuple(findings))

    def __repr__(self) -> str:
        return "\n".join(f"{KINDS[finding.kind]}: {finding.text}" for finding in self.findings) or "No findings."

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, Any]:
        records = [finding.record() for finding in self.findings]
        return {"text/plain": repr(self), "text/markdown": self._markdown(), FINDINGS_TYPE: records}

    def _markdown(self) -> str:
        lines: list[str] = []
        for kind, title in KINDS.items():
            chosen = [finding for finding in self.findings if finding.kind == kind]
            if chosen:
                lines += [f"**{title}**", "", *(f"- {finding.text}" for finding in chosen), ""]
        return "\n".join(lines) or "No findings."
