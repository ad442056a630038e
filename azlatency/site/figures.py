"""Figures as inline SVG or PNG that neither act nor load anything.

The colours of the charts become variables of the page, so that figures follow its light or dark scheme.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Mapping
from typing import Any
from xml.etree import ElementTree

from markupsafe import Markup

from azlatency.kit.drawing.palette import DARK
from azlatency.kit.objects import FONT_STACK

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
_RASTER = re.compile(r"data:image/(?:png|jpeg);base64,[A-Za-z0-9+/=\s]*")
_LONG_NUMBER = re.compile(r"-?\d+\.\d{3,}(?!\d*e)")
_SHIFT = re.compile(r"translate\([^()]{0,60}\)")
_COLOUR = re.compile(r"#[0-9a-f]{6}\b")
_COLON = re.compile(r"\s*:\s*")
#: The style of nearly all texts of a figure.
_FONT = f"font-family:{FONT_STACK}"
_OPACITY = re.compile(r"(?<![\w-])opacity")
_CSS_URL = re.compile(r"url\(\s*(.*?)\s*\)", re.I)


def svg(source: str, prefix: str, title: str, described_by: str = "", width: str = "") -> Markup | None:
    """Return a figure as inline SVG without scripts and external references, or None if it is not SVG.

    ``prefix`` is put before every id, so that figures on one page do not share them; ``title`` is its accessible name;
    ``described_by`` the id of the element with the text alternative; ``width`` a class, of a figure that is drawn for a
    page or for a phone.
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
    root.attrib |= {"style": _FONT, "role": "img", "aria-labelledby": f"{prefix}title"}
    if described_by:
        root.set("aria-describedby", described_by)
    if width:
        root.set("class", width)
    return Markup(ElementTree.tostring(root, encoding="unicode"))


def _clean_svg(element: ElementTree.Element, ids: Mapping[str, str]) -> None:
    """Drop elements and attributes that are not known to be harmless, and ids that nothing refers to.

    ``ids``: new name by old one. Namespaces go, HTML knows them, and groups that say nothing give way to what is in
    them: a figure is thousands of elements, and a browser takes its time for each.
    """
    element.tag = _local(element.tag)
    element.text = element.text if element.tag in ("text", "tspan", "title") else None
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
        # A mark shows its title under the pointer; any other title would name the figure.
        tip = element.tag in ("use", "path") and isinstance(child.tag, str) and _local(child.tag) == "title"
        if tip or (isinstance(child.tag, str) and _local(child.tag) in _SVG_TAGS):
            _clean_svg(child, ids)
            children += list(child) if child.tag == "g" and not child.attrib else [child]
    element[:] = children
    if element.tag == "g" and "style" not in element.attrib:
        _share_style(element)


def _share_style(group: ElementTree.Element) -> None:
    """Give the group the style that all its marks have: the dots of a series repeat it hundreds of times."""
    styles = {child.get("style", "") if child.tag == "use" else "" for child in group}
    # A group is transparent as a whole, its marks one by one.
    if len(group) > 1 and len(styles) == 1 and (style := styles.pop()) and not _OPACITY.search(style):
        group.set("style", style)
        for child in group:
            del child.attrib["style"]


def _svg_value(name: str, value: str, ids: Mapping[str, str]) -> str | None:
    """Return an attribute's value with new ids, or None if it loads something or is an unused id."""
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
        value = _SHIFT.sub(lambda match: _LONG_NUMBER.sub(_hundredths, match[0]), value)
    if any(not target.strip("\"'").startswith("#") for target in _CSS_URL.findall(value)):
        return None
    if "\\" in value or "@" in value or "expression" in value:
        return None  # CSS escapes could spell url( in another way
    value = _CSS_URL.sub(lambda match: f"url(#{ids.get(match[1].strip(chr(34) + chr(39))[1:], '')})", value)
    return _short_style(value) if name == "style" else value


def _short_style(value: str) -> str:
    """Return a style without its blanks and without the font of the whole figure, in the colours of the scheme.

    A colour of the charts becomes a variable of the page with the colour in its name: it has another value in the dark
    scheme, and page.js names the colour again where it saves a figure.
    """
    value = _COLOUR.sub(lambda colour: f"var(--c{colour[0][1:]})" if colour[0] in DARK else colour[0], value)
    return ";".join(part for part in re.split(r"\s*;\s*", _COLON.sub(":", value.strip())) if part and part != _FONT)


def scheme_style() -> Markup:
    """Return the style rule that gives each colour of the charts its value in the light and in the dark scheme."""
    pairs = ";".join(f"--c{light[1:]}:light-dark({light},{dark})" for light, dark in DARK.items())
    return Markup(":root{{{}}}").format(pairs)


def _hundredths(number: re.Match[str]) -> str:
    return f"{float(number[0]):.2f}".rstrip("0").rstrip(".")


def _local(name: Any) -> str:
    return str(name).rsplit("}", 1)[-1]


def png(data: str, alt: str) -> Markup | None:
    """Return a PNG as an inline image, or None if the data are not base64."""
    try:
        content = base64.b64encode(base64.b64decode("".join(data.split()), validate=True)).decode()
    except (binascii.Error, ValueError):
        return None
    return Markup('<img src="data:image/png;base64,{}" alt="{}">').format(content, alt)


def placeholder(figure: Markup) -> Markup:
    """Return an empty SVG with the size of a figure, or an empty string if it is not SVG."""
    head = re.match(r"<svg\b[^>]*>", figure)
    size = re.findall(r' (?:width|height|viewBox)="[^"]*"', head[0]) if head else []
    width = re.search(r' class="([\w-]+)"', head[0]) if head else None
    kind = f"room {width[1]}" if width else "room"
    return Markup(f'<svg class="{kind}" aria-hidden="true"{"".join(size)}></svg>') if size else Markup()
