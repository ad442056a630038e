"""Markdown as safe HTML."""

from __future__ import annotations

import re

import pytest
from bs4 import BeautifulSoup

from azlatency.site.markdown import Heading, markdown


@pytest.mark.parametrize(
    "source",
    [
        "<script>alert(1)</script>",
        "text <img src=x onerror=alert(1)>",
        "[a](javascript:alert(1))",
        "[a](<java\tscript:alert(1)>)",
        "[a](data:text/html;base64,PHNjcmlwdD4=)",
        "[a](//example.org)",
        "[a](vbscript:x 'title\" onmouseover=\"alert(1)')",
        "![x](javascript:alert(1))",
        '<a href="javascript:alert(1)">x</a>',
        "<svg onload=alert(1)>",
        '<https://example.org/"onmouseover=alert(1)//>',
        "$\\text{<img src=x onerror=alert(1)>}$",
        "$$\\text{</math><script>alert(1)</script>}$$",
        "\\begin{x}<script>\\end{x}",
        "$\\href{javascript:alert(1)}{x}$",
        "```html\n</code></pre><script>alert(1)</script>\n```",
        "```<script>\nx\n```",
        "| <script> |\n|---|\n| [x](javascript:y) |",
        "# <script>alert(1)</script>",
        "[x]: javascript:alert(1)\n\n[x]",
    ],
)
def test_hostile_markdown_stays_text(source: str) -> None:
    soup = BeautifulSoup(markdown(source), "html.parser")
    assert not soup.find_all(["script", "img", "svg", "iframe", "style"])
    for tag in soup.find_all(True):
        assert not [name for name in tag.attrs if name.startswith("on")]
        assert re.match(r"https?://example\.org|#", tag.get("href", "#"))


def test_a_comment_is_not_shown() -> None:
    html = markdown("a\n\n<!-- tests/a.log -->\n\nb <!-- c --> d\n\n<!-- <b>e</b> -->")
    assert "tests/a.log" not in html
    # What is more than a comment stays text, as other HTML does.
    assert "&lt;!-- c --&gt;" in html and "&lt;b&gt;e" in html


def test_headings_are_collected() -> None:
    headings: list[Heading] = []
    markdown("## A *b* $c$\n\n## A b c\n\n### main", headings)
    assert [(heading.level, heading.id) for heading in headings] == [(2, "a-b-c"), (2, "a-b-c-2"), (3, "main-2")]
