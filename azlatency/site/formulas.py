"""LaTeX as MathML that contains nothing but formulas."""

from __future__ import annotations

import re
from xml.etree import ElementTree

from markupsafe import Markup

_TAGS = frozenset(
    """
math mrow mi mn mo ms mtext mspace mfrac msqrt mroot mstyle msub msup msubsup munder mover munderover mmultiscripts
mprescripts none mtable mtr mtd mpadded mphantom menclose
    """.split()  # noqa: SIM905
)
_ATTRIBUTES = frozenset(
    """
display mathvariant stretchy fence form separator lspace rspace linethickness movablelimits accent accentunder
displaystyle scriptlevel width height depth voffset columnalign columnspacing rowspacing columnlines rowlines notation
minsize maxsize largeop symmetric
    """.split()  # noqa: SIM905
)
#: Number of arguments of elements that need all of them: latex2mathml accepts incomplete formulas.
_ARGUMENTS = {
    "mfrac": 2, "mroot": 2, "msub": 2, "msup": 2, "munder": 2, "mover": 2, "msubsup": 3, "munderover": 3,
}  # fmt: skip
#: An ampersand that begins no reference.
_AMPERSAND = re.compile(r"&(?!#x?[0-9A-Fa-f]+;|(?:lt|gt|amp);)")
_NAMESPACE = "{http://www.w3.org/1998/Math/MathML}"


def mathml(latex: str, *, block: bool = False) -> Markup:
    """Return LaTeX as MathML, or as its source text if it cannot be converted."""
    from latex2mathml.converter import convert

    mark = "$$" if block else "$"
    source = Markup('<code class="latex">{}{}{}</code>').format(mark, latex, mark)
    try:
        # latex2mathml does not escape the argument of \text: its result is as hostile as its input.
        converted = convert(latex, display="block" if block else "inline")
        root = ElementTree.fromstring(_AMPERSAND.sub("&amp;", converted))
    except Exception:  # its errors have no common class, and some are IndexError and KeyError
        return source
    if not all([_is_formula(element) for element in root.iter()]):
        return source
    return Markup(ElementTree.tostring(root, encoding="unicode"))


def _is_formula(element: ElementTree.Element) -> bool:
    """Return whether an element is complete MathML without an unknown command; unknown attributes are removed."""
    if not isinstance(element.tag, str):
        return False
    element.tag = element.tag.removeprefix(_NAMESPACE)
    for name in set(element.attrib) - _ATTRIBUTES:
        del element.attrib[name]
    if element.tag not in _TAGS or len(element) != _ARGUMENTS.get(element.tag, len(element)):
        return False
    return not (element.tag in ("mi", "mo") and "\\" in "".join(element.itertext()))
