"""What stands in an executed notebook -> safe HTML. The layout is in templates/; here is what must not go wrong.

Log text is hostile by assumption, and so is what a manifest says: all text is escaped, Markdown gives no HTML of its
own and no link but plain ones, and of markup only the following passes, rebuilt from its parsed form: our tables,
matplotlib's SVG, and MathML made from LaTeX.
"""

from __future__ import annotations

import base64
import binascii
import html
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING, Any, ClassVar, Protocol
from xml.etree import ElementTree

from markupsafe import Markup, escape

from azlatency.report.table import table_html

if TYPE_CHECKING:
    from bs4 import BeautifulSoup
    from nbconvert.filters.markdown_mistune import MarkdownWithMath

    from azlatency.report.table import RowLinks

FINDINGS_TYPE = "application/vnd.azlatency.findings+json"

# --- markup that passes

_MATH_TAGS = """
math mrow mi mn mo ms mtext mspace mfrac msqrt mroot mstyle msub msup msubsup munder mover munderover mmultiscripts
mprescripts none mtable mtr mtd mpadded mphantom menclose
"""
_MATH_ATTRIBUTES = """
display mathvariant stretchy fence form separator lspace rspace linethickness movablelimits accent accentunder
displaystyle scriptlevel width height depth voffset columnalign columnspacing rowspacing columnlines rowlines notation
minsize maxsize largeop symmetric
"""
#: A wide formula scrolls, so that the keyboard has to reach it.
_FORMULA = Markup('<div class="formula" tabindex="0" role="group" aria-label="Formula">{}</div>')
_MATH_ARGUMENTS = {
    "mfrac": 2, "mroot": 2, "msub": 2, "msup": 2, "munder": 2, "mover": 2, "msubsup": 3, "munderover": 3,
}  # fmt: skip
_SVG_TAGS = frozenset(
    """
svg g defs path use clipPath mask rect line polyline polygon circle ellipse image text tspan linearGradient
radialGradient stop pattern marker symbol
    """.split()  # noqa: SIM905
)
_SVG_ATTRIBUTES = frozenset(
    """
id d x y x1 x2 y1 y2 dx dy cx cy r rx ry fx fy width height viewBox points transform style class opacity offset href
preserveAspectRatio clip-path clip-rule mask fill fill-opacity fill-rule stroke stroke-width stroke-opacity
stroke-linecap stroke-linejoin stroke-dasharray stroke-dashoffset stroke-miterlimit stop-color stop-opacity
gradientUnits gradientTransform clipPathUnits patternUnits patternTransform markerWidth markerHeight refX refY orient
font-family font-size font-style font-weight text-anchor dominant-baseline
    """.split()  # noqa: SIM905
)
#: Rows of a table that a page shows; a page has to open at once whatever the study's size.
_MOST_ROWS = 500
#: Rows above which a table scrolls in a window of its own.
_MANY_ROWS = 40
_RASTER = re.compile(r"data:image/(?:png|jpeg);base64,[A-Za-z0-9+/=\s]*")
_LONG_NUMBER = re.compile(r"-?\d+\.\d{3,}(?!\d*e)")
_SHIFT = re.compile(r"translate\([^()]{0,60}\)")
_FINE_NUMBER = re.compile(r"-?\d+\.\d{2,}")
#: Characters above which a page's later figure stands on the index in place of its first.
_LARGE_SKETCH = 80_000
#: Height over width above which the index shows the upper part of a figure only.
_TALL = 0.62
#: Stands for the prefix of ids in a stored sketch.
_HERE = "here_"
_CSS_URL = re.compile(r"url\(\s*(.*?)\s*\)", re.I)


class Trail(Protocol):
    """Knows for the rows of a page's tables which lines of logs they come from."""

    def row(self, row: Mapping[str, Any], name: str) -> RowLinks | None:
        """Return where a row leads."""


def own_table(record: Mapping[str, Any], trail: Trail | None = None) -> Markup | None:
    """A table from its record (`Table.record` in `azlatency.report.table`), with links to its logs; else None."""
    try:
        return Markup(table_html(record, (lambda row, name: None) if trail is None else trail.row, _MOST_ROWS))
    except (AttributeError, IndexError, KeyError, TypeError, ValueError):
        return None


def mathml(latex: str, *, block: bool = False) -> Markup:
    """LaTeX as MathML; the source text where it cannot be read."""
    from latex2mathml.converter import convert

    mark = "$$" if block else "$"
    source = Markup('<code class="latex">{}{}{}</code>').format(mark, latex, mark)
    try:
        # latex2mathml does not escape what stands in \text{}: its result is as hostile as its input.
        soup = _harmless(convert(latex, display="block" if block else "inline"), _MATH_TAGS, _MATH_ATTRIBUTES)
    except Exception:  # its errors have no common class, and some are IndexError and KeyError
        return source
    return Markup(str(soup).strip()) if soup is not None and _is_whole(soup) else source


def _is_whole(math: BeautifulSoup) -> bool:
    """Whether every command was understood and has its arguments: latex2mathml lets an incomplete formula pass."""
    for tag in math.find_all(True):
        wanted = _MATH_ARGUMENTS.get(tag.name)
        if wanted is not None and len(tag.find_all(True, recursive=False)) != wanted:
            return False
    return not any("\\" in leaf.get_text() for leaf in math.find_all(["mi", "mo"]))


def _harmless(html: str, tags: str, attributes: str) -> BeautifulSoup | None:
    """The parsed HTML, or None if an element is not one of ``tags``.

    Attributes that are not in ``attributes`` are dropped.
    """
    from bs4 import BeautifulSoup, Tag
    from bs4.element import NavigableString

    allowed, harmless = tags.split(), attributes.split()
    soup = BeautifulSoup(html, "html.parser")
    for node in list(soup.descendants):
        if isinstance(node, Tag):
            unknown = [name for name in node.attrs if name not in harmless]
            if node.name not in allowed:
                return None
            for name in unknown:
                del node.attrs[name]
        elif type(node) is not NavigableString:
            return None  # a comment, a doctype, a CDATA section
    return soup


def svg(source: str, prefix: str, title: str, described_by: str = "") -> Markup | None:
    """A figure as inline SVG without anything that acts or loads; None where it is not SVG.

    ``prefix`` is put before every id, so that figures on one page do not share them; ``title`` is its accessible name;
    ``described_by`` the id of the element that holds the text alternative.
    """
    try:
        if re.search(r"<!ENTITY", source, re.I):
            return None
        root = ElementTree.fromstring(source)
    except ElementTree.ParseError:
        return None
    if _local(root.tag) != "svg":
        return None
    used = dict.fromkeys(re.findall(r"#([^\s\"')]+)", source))
    _clean_svg(root, {name: f"{prefix}{number}" for number, name in enumerate(used)})
    name = ElementTree.Element("title", {"id": f"{prefix}title"})
    name.text = title
    root.insert(0, name)
    root.attrib |= {"role": "img", "aria-labelledby": f"{prefix}title"}
    if described_by:
        root.set("aria-describedby", described_by)
    return Markup(ElementTree.tostring(root, encoding="unicode"))


def _clean_svg(element: ElementTree.Element, ids: Mapping[str, str]) -> None:
    """Drop elements and attributes that are not known to be harmless, and ids that nothing refers to.

    ``ids``: new name by old one. Namespaces go, HTML knows them, and groups that say nothing give way to what is in
    them: a figure is thousands of elements, and a browser takes its time for each.
    """
    element.tag = _local(element.tag)
    element.text = element.text if element.tag in ("text", "tspan") else None
    kept: dict[str, str] = {}
    for qualified, value in element.attrib.items():
        name = _local(qualified)
        new = _svg_value(name, value, ids)
        if name in _SVG_ATTRIBUTES and new is not None:
            kept[name] = new
    element.attrib.clear()
    element.attrib.update(kept)
    children: list[ElementTree.Element] = []
    for child in element:
        child.tail = child.tail if element.tag in ("text", "tspan") else None
        if isinstance(child.tag, str) and _local(child.tag) in _SVG_TAGS:
            _clean_svg(child, ids)
            children += list(child) if child.tag == "g" and not child.attrib else [child]
    element[:] = children


def _svg_value(name: str, value: str, ids: Mapping[str, str]) -> str | None:
    """An attribute's value with the new ids; None where it would load something, or is an id that nothing refers to."""
    if name == "id":
        return ids.get(value)
    if name == "href":
        if value.startswith("#"):
            return f"#{ids.get(value[1:], '')}"
        return value if _RASTER.fullmatch(value) else None
    if name in ("d", "points", "x", "y"):
        # A hundredth of a point is finer than any screen or printer, and halves the page.
        value = _LONG_NUMBER.sub(_hundredths, value)
        return " ".join(value.split())
    if name == "transform":
        value = _SHIFT.sub(lambda found: _LONG_NUMBER.sub(_hundredths, found[0]), value)
    if any(not target.strip("\"'").startswith("#") for target in _CSS_URL.findall(value)):
        return None
    if "\\" in value or "@" in value or "expression" in value:
        return None  # CSS escapes could spell url( in another way
    return _CSS_URL.sub(lambda found: f"url(#{ids.get(found[1].strip(chr(34) + chr(39))[1:], '')})", value)


def _hundredths(number: re.Match[str]) -> str:
    return f"{float(number[0]):.2f}".rstrip("0").rstrip(".")


@dataclass(frozen=True)
class Sketch:
    """A page's first figure for the index, as SVG; empty where there is none."""

    svg: str = ""
    title: str = ""


def sketch(source: str, title: str) -> Sketch:
    """A figure that `svg` accepts, smaller: all pages' sketches stand on one index."""
    root = ElementTree.fromstring(source, ElementTree.XMLParser(target=ElementTree.TreeBuilder(insert_comments=True)))
    _spell_out(root)
    text = svg(ElementTree.tostring(root, encoding="unicode"), _HERE, "")
    return Sketch(_FINE_NUMBER.sub(lambda found: f"{float(found[0]):.1f}", text or ""), title)


#: What matplotlib writes before the outlines of a line of text.
_PLACED = re.compile(
    r"(translate\([-\d. ]+\)(?: rotate\([-\d. ]+\))?(?: translate\([-\d. ]+\))?) scale\((0\.\d+) -\2\)"
)


def _spell_out(root: ElementTree.Element) -> None:
    """Words as text instead of outlines, a tenth of the size; the reader's own font is good enough for a sketch.

    matplotlib says each line of text in a comment before its outlines.
    """
    for group in [each for each in root.iter() if str(each.get("id", "")).startswith("text_")]:
        lines = [html.unescape((each.text or "").strip()) for each in group if not isinstance(each.tag, str)]
        outlines = [each for each in group if isinstance(each.tag, str)]
        group[:] = []
        for line, outline in zip(lines, outlines, strict=False):
            place = _PLACED.fullmatch(outline.get("transform", ""))
            if place is not None:
                look = {"transform": place[1], "font-size": f"{100 * float(place[2]):g}"}
                look |= {"style": outline.get("style", "")} if outline.get("style") else {}
                ElementTree.SubElement(group, "text", look).text = line


def drawn(source: str, prefix: str, title: str) -> Markup:
    """A sketch for one place of a page: ``prefix`` makes its ids unique there, ``title`` is its accessible name."""
    head, _, rest = source.replace(_HERE, prefix).partition(">")
    box = re.search(r'viewBox="[-\d.]+ [-\d.]+ ([\d.]+) ([\d.]+)"', head)
    if box is not None and float(box[2]) > _TALL * float(box[1]):
        head += ' class="tall"'
    head = re.sub(r' aria-labelledby="[^"]*"', "", head)
    rest = re.sub(r'<title id="[^"]*" ?(?:/>|></title>)', "", rest, count=1)
    return Markup("{} aria-label='{}'>{}").format(Markup(head), title, Markup(rest))


def _local(name: Any) -> str:
    return str(name).rsplit("}", 1)[-1]


def png(data: str, alt: str) -> Markup | None:
    """A PNG as an image inside the page; None where it is no base64."""
    try:
        content = base64.b64encode(base64.b64decode("".join(data.split()), validate=True)).decode()
    except (binascii.Error, ValueError):
        return None
    return Markup('<img src="data:image/png;base64,{}" alt="{}">').format(content, alt)


# --- Markdown

#: A link leads to a page of the site or, as plain text does, to the web; everything else stays text.
_LINK = re.compile(r"(?:https?://|mailto:)[^\s<>\"'`\\]+|#[\w-]+|[\w-][\w./-]*\.(?:html|ipynb)(?:#[\w-]+)?")


@dataclass(frozen=True)
class Heading:
    """A heading of the page, for its table of contents."""

    level: int
    id: str
    text: str


class Links(Protocol):
    """Decides where the links and pictures of a text lead that is not a page's own."""

    def link(self, url: str) -> str | None:
        """The address; "" where there is none, so that the text stays text; None to leave it to the rule of pages."""

    def image(self, url: str, alt: str) -> Markup | None:
        """The picture as HTML."""


def markdown(source: str, headings: list[Heading] | None = None, links: Links | None = None) -> Markup:
    """Markdown with maths as HTML. Headings get ids and are added to ``headings``."""
    return Markup(_markdown(headings if headings is not None else [], links).render(source))


def markdown_line(source: str) -> Markup:
    """One sentence of Markdown, without the paragraph around it."""
    html = markdown(source).strip()
    inner = html.removeprefix("<p>").removesuffix("</p>")
    return Markup(inner if "<p>" not in inner else html)


def plain_text(source: str) -> str:
    """Markdown without its marks."""
    return markdown(source).striptags()


def _markdown(headings: list[Heading], links: Links | None) -> MarkdownWithMath:
    from nbconvert.filters.markdown_mistune import MarkdownWithMath

    renderer, inline = _markdown_classes()
    return MarkdownWithMath(renderer=renderer(headings, links), inline=inline(hard_wrap=False))


@lru_cache(maxsize=1)
def _markdown_classes() -> tuple[Any, Any]:
    """nbconvert's Markdown with safe links, ids, scopes and MathML; built on first use, because the import is slow."""
    from nbconvert.filters.markdown_mistune import IPythonRenderer, MathInlineParser

    class Inline(MathInlineParser):
        """Dollar signs as pandoc reads them: "$5 and $6" and "$HOME or $PATH" are no mathematics."""

        SPECIFICATION: ClassVar[dict[str, str]] = {
            **MathInlineParser.SPECIFICATION,
            "inline_math_tex": r"(?<![$\\])\$(?!\s)(?P<math_inline_tex>[^$]+?)(?<![\s\\])\$(?![\d$])",
        }

    class Renderer(IPythonRenderer):
        """HTML that only says what the Markdown says."""

        def __init__(self, headings: list[Heading], links: Links | None) -> None:
            super().__init__(escape=True, allow_harmful_protocols=False)
            self._headings = headings
            self._links = links

        def heading(self, text: str, level: int, **_: Any) -> str:
            plain = Markup(text).striptags()
            heading = Heading(level, slug(plain, {each.id for each in self._headings}), plain)
            self._headings.append(heading)
            return f'<h{level} id="{heading.id}">{text}</h{level}>\n'

        def link(self, text: str, url: str, title: str | None = None) -> str:
            own = self._links.link(url) if self._links is not None else None
            if own is not None:
                return f'<a href="{escape(own)}">{text}</a>' if own else f"{text} ({escape(url)})"
            if not _LINK.fullmatch(url):
                return f"{text} ({escape(url)})"
            url = re.sub(r"\.ipynb(?=#|$)", ".html", url) if "//" not in url else url
            rel = ' rel="noopener noreferrer"' if "//" in url else ""
            return f'<a href="{escape(url)}"{rel}>{text}</a>'

        def image(self, text: str, url: str, title: str | None = None) -> str:
            # A page loads nothing; text is escaped already.
            picture = self._links.image(url, Markup(text).striptags()) if self._links is not None else None
            return f"[{text}]" if picture is None else picture

        def inline_math(self, body: str) -> str:
            return mathml(body)

        def block_math(self, body: str) -> str:
            return _FORMULA.format(mathml(body, block=True))

        def latex_environment(self, name: str, body: str) -> str:
            return _FORMULA.format(mathml(f"\\begin{{{name}}}{body}\\end{{{name}}}", block=True))

        def table(self, text: str) -> str:
            return f'<div class="scroll" tabindex="0" role="group" aria-label="Table"><table>\n{text}</table></div>\n'

        def table_cell(self, text: str, align: str | None = None, head: bool = False) -> str:
            kind = ' class="number"' if align == "right" else ""
            return f'<th scope="col"{kind}>{text}</th>\n' if head else f"<td{kind}>{text}</td>\n"

    return Renderer, Inline


#: Ids of the templates and scripts.
_TAKEN = ("main", "contents", "said", "hits", "q", "count", "found", "texts")


def slug(text: str, taken: set[str]) -> str:
    """An id from a heading's text, not in ``taken``; without underscores, which only ids of figures and lines have."""
    short = re.sub(r"[\W_]+", "-", text.lower()).strip("-")[:60] or "section"
    unique, number = short, 1
    while unique in taken or unique in _TAKEN:
        number += 1
        unique = f"{short}-{number}"
    return unique


def highlighted(code: str) -> Markup:
    """Python code as HTML, with the classes of pygments."""
    return Markup(_highlighter()(code))


@lru_cache(maxsize=1)
def _highlighter() -> Any:
    from nbconvert.filters.highlight import Highlight2HTML

    return Highlight2HTML(pygments_lexer="ipython3")


# --- outputs


@dataclass(frozen=True)
class Finding:
    """A finding of a page; ``text`` is Markdown."""

    kind: str
    text: str

    @property
    def html(self) -> Markup:
        """The sentence as HTML."""
        return markdown_line(self.text)


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
    rows: int = 0
    columns: int = 0
    """Of a table."""
    findings: tuple[Finding, ...] = ()

    @property
    def long(self) -> bool:
        """Whether it is a table that scrolls in a window of its own."""
        return self.rows > _MANY_ROWS


class Outputs:
    """Turns the outputs of one page into `Shown`, numbers its figures and collects its findings."""

    def __init__(self, trail: Trail | None = None) -> None:
        self.findings: list[Finding] = []
        self.sketch = Sketch()
        self._trail = trail
        self._count = 0

    def show(self, output: Mapping[str, Any]) -> Shown:
        """How an output of a code cell is shown; what is not known to be ours comes as text."""
        kind = output["output_type"]
        if kind == "stream":
            return Shown("stream", title=str(output["name"]), text=str(output["text"]))
        if kind == "error":
            trace = "\n".join(output["traceback"]) or f"{output['ename']}: {output['evalue']}"
            return Shown("error", title=f"{output['ename']}: {output['evalue']}", text=trace)
        return self._data(output["data"], dict(output.get("metadata", {}).get("azlatency", {})))

    def _data(self, data: Mapping[str, Any], said: Mapping[str, Any]) -> Shown:
        self._count += 1
        ours = said.get("kind")
        shown = None
        if FINDINGS_TYPE in data:
            shown = self._findings(data[FINDINGS_TYPE])
        elif ours == "table" and (table := own_table(said, self._trail)) is not None:
            shown = Shown(
                "table",
                html=table,
                title=str(said["caption"]),
                rows=table.count("<tr"),
                columns=table.count('scope="col"'),
            )
        elif "image/svg+xml" in data or "image/png" in data:
            shown = self._figure(data, said)
        elif "text/markdown" in data:
            shown = Shown("markdown", html=markdown(data["text/markdown"]))
        return shown or _as_text(data)

    def _figure(self, data: Mapping[str, Any], said: Mapping[str, Any]) -> Shown | None:
        plain = str(data.get("text/plain", ""))
        alt = str(said.get("alt") or plain)
        caption = str(said.get("caption") or "")
        name = caption or (alt.splitlines() or ["Figure"])[0]
        prefix = f"o{self._count}_"
        image = svg(data["image/svg+xml"], prefix, name, f"{prefix}alt") if "image/svg+xml" in data else None
        if image is not None and not 0 < len(self.sketch.svg) <= _LARGE_SKETCH:
            drawn_small = sketch(data["image/svg+xml"], name)
            # The first figure that an index has room for, else the first.
            if not self.sketch.svg or len(drawn_small.svg) <= _LARGE_SKETCH:
                self.sketch = drawn_small
        if image is None and "image/png" in data:
            image = png(data["image/png"], name)
        return None if image is None else Shown("figure", prefix, image, title=caption, alt=alt, room=_room(image))

    def _findings(self, records: Any) -> Shown | None:
        try:
            found = tuple(Finding(str(each["kind"]), str(each["text"])) for each in records)
        except (TypeError, KeyError):
            return None
        if any(each.kind not in ("act", "info") for each in found):
            return None
        self.findings += found
        return Shown("findings", findings=found)


def _room(figure: Markup) -> Markup:
    """An empty SVG of a figure's size; nothing for what is no SVG."""
    head = re.match(r"<svg\b[^>]*>", figure)
    size = re.findall(r' (?:width|height|viewBox)="[^"]*"', head[0]) if head else []
    return Markup(f'<svg class="room" aria-hidden="true"{"".join(size)}></svg>') if size else Markup()


def _as_text(data: Mapping[str, Any]) -> Shown:
    """Any other output: its text form, else the source of whatever it is."""
    if "text/plain" in data:
        return Shown("text", text=str(data["text/plain"]))
    text = next(iter(data.values()), "")
    return Shown("text", text=text if isinstance(text, str) else json.dumps(text, ensure_ascii=False, indent=1))
