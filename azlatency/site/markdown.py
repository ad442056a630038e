"""Markdown as safe HTML: no markup of its own, only plain links, formulas as MathML; and highlighted code."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any, ClassVar

from markupsafe import Markup, escape

from azlatency.site.formulas import mathml

if TYPE_CHECKING:
    from nbconvert.filters.markdown_mistune import MarkdownWithMath

#: A wide formula scrolls, so that the keyboard has to reach it.
_FORMULA = Markup('<div class="formula" tabindex="0" role="group" aria-label="Formula">{}</div>')
#: A link leads to a page of the site or, as plain text does, to the web; everything else stays text.
_LINK = re.compile(r"(?:https?://|mailto:)[^\s<>\"'`\\]+|#[\w-]+|[\w-][\w./-]*\.(?:html|ipynb|md)(?:#[\w-]+)?")
#: A comment for writers of a page, which readers do not see.
_COMMENT = re.compile(r"<!--[^<>]{0,1000}-->")


@dataclass(frozen=True)
class Heading:
    """A heading of the page, for its table of contents."""

    level: int
    id: str
    text: str


def markdown(source: str, headings: list[Heading] | None = None) -> Markup:
    """Markdown with maths as HTML. Headings get ids and are added to ``headings``."""
    return Markup(_markdown(headings if headings is not None else []).render(source))


def markdown_line(source: str) -> Markup:
    """One sentence of Markdown, without the paragraph around it."""
    html = markdown(source).strip()
    inner = html.removeprefix("<p>").removesuffix("</p>")
    return Markup(inner if "<p>" not in inner else html)


def plain_text(source: str) -> str:
    """Markdown without its marks."""
    return markdown(source).striptags()


def _markdown(headings: list[Heading]) -> MarkdownWithMath:
    from nbconvert.filters.markdown_mistune import MarkdownWithMath

    renderer, inline = _markdown_classes()
    return MarkdownWithMath(renderer=renderer(headings), inline=inline(hard_wrap=False))


@lru_cache(maxsize=1)
def _markdown_classes() -> tuple[Any, Any]:
    """Build nbconvert's Markdown with safe links, ids, scopes and MathML on first use; the import is slow."""
    from nbconvert.filters.markdown_mistune import IPythonRenderer, MathInlineParser

    class Inline(MathInlineParser):
        """Dollar signs as pandoc reads them: "$5 and $6" and "$HOME or $PATH" are no mathematics."""

        SPECIFICATION: ClassVar[dict[str, str]] = {
            **MathInlineParser.SPECIFICATION,
            "inline_math_tex": r"(?<![$\\])\$(?!\s)(?P<math_inline_tex>[^$]+?)(?<![\s\\])\$(?![\d$])",
        }

    class Renderer(IPythonRenderer):
        """HTML that only says what the Markdown says."""

        def __init__(self, headings: list[Heading]) -> None:
            super().__init__(escape=True, allow_harmful_protocols=False)
            self._headings = headings

        def heading(self, text: str, level: int, **_: Any) -> str:
            plain = Markup(text).striptags()
            heading = Heading(level, slug(plain, {heading.id for heading in self._headings}), plain)
            self._headings.append(heading)
            return f'<h{level} id="{heading.id}">{text}</h{level}>\n'

        def link(self, text: str, url: str, title: str | None = None) -> str:
            if not _LINK.fullmatch(url):
                return text if url.startswith("../") else f"{text} ({escape(url)})"
            url = re.sub(r"\.(?:ipynb|md)(?=#|$)", ".html", url) if "//" not in url else url
            rel = ' rel="noopener noreferrer"' if "//" in url else ""
            return f'<a href="{escape(url)}"{rel}>{text}</a>'

        def image(self, text: str, url: str, title: str | None = None) -> str:
            return f"[{text}]"  # a page loads nothing; text is escaped already

        def block_html(self, html: str) -> str:
            return "" if _COMMENT.fullmatch(html.strip()) else super().block_html(html)

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
    """Return a new id from a heading's text, without underscores, which mark ids of figures and lines."""
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
