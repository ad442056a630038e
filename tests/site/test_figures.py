"""SVG and PNG figures, cleaned."""

from __future__ import annotations

import re

import pytest

from azlatency.kit.objects import FONT_STACK
from azlatency.site.figures import svg


def test_svg_keeps_what_draws_and_nothing_else() -> None:
    source = """<?xml version="1.0"?><!DOCTYPE svg PUBLIC "-//W3C//DTD SVG 1.1//EN" "http://www.w3.org/x.dtd">
    <svg xmlns="http://www.w3.org/2000/svg"
     xmlns:xlink="http://www.w3.org/1999/xlink" viewBox="0 0 9 9" onload="alert(1)">
    <metadata>x</metadata><style>*{fill:url(http://example.org)}</style><script>alert(1)</script>
    <defs><path id="p" d="M 0.123456 1  L 2 2.5 "/><clipPath id="c"><rect width="9"/></clipPath>
    <path id="unused"/></defs>
    <foreignObject><p>x</p></foreignObject><a href="javascript:alert(1)"><text>gone</text></a>
    <use xlink:href="#p" clip-path="url(#c)" style="fill:none" onclick="alert(1)"/>
    <use xlink:href="https://example.org/x.svg#p"/><image href="https://example.org/x.png"/>
    <image href="data:image/png;base64,AAAA"/><image href="data:image/svg+xml;base64,AAAA"/>
    <rect style="fill:url(https://example.org)"/><rect style="fill:u\\72l(x)"/>
    <text>a &lt; b<set attributeName="x"/></text>
    <animate/></svg>"""
    text = str(svg(source, "o1_", "A <name>", "o1_alt"))
    named = 'role="img" aria-labelledby="o1_title" aria-describedby="o1_alt">'
    assert text.startswith(f'<svg viewBox="0 0 9 9" style="font-family:{FONT_STACK}" {named}')
    assert '<title id="o1_title">A &lt;name&gt;</title>' in text
    assert '<path id="o1_0" d="M 0.12 1 L 2 2.5" />' in text and "unused" not in text
    assert '<use href="#o1_0" clip-path="url(#o1_1)" style="fill:none" />' in text
    assert 'href="data:image/png;base64,AAAA"' in text and "a &lt; b" in text
    assert not re.search(r"example|script|onload|onclick|foreign|animate|svg\+xml|metadata|gone|xmlns|<set|72l", text)


@pytest.mark.parametrize("source", ["", "<p/>", "<svg", "<!DOCTYPE x [<!ENTITY a 'b'>]><svg>&a;</svg>"])
def test_what_is_not_svg_is_not_shown_as_svg(source: str) -> None:
    assert svg(source, "o1_", "x") is None


def test_marks_of_one_style_share_it() -> None:
    marks = '<use href="#p" style="fill: #0072b2"><title>1</title></use><use href="#p" style="fill: #0072b2"/>'
    other = marks.replace("fill: #0072b2", "opacity: 0.5")
    source = (
        f'<svg><defs><path id="p"/></defs><g transform="scale(1)">{marks}</g><g transform="scale(1)">{other}</g></svg>'
    )
    text = str(svg(source, "o_", "x"))
    assert '<g transform="scale(1)" style="fill:var(--c0072b2)"><use href="#o_0"><title>1</title></use>' in text
    assert text.count("var(--c0072b2") == 1 and text.count("opacity:0.5") == 2
