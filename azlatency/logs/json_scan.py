"""Reads a long valid JSON document: values with the standard library, their positions in one vectorised pass.

The result is that of `azlatency.logs.json_tokens`, which reads what this module does not: damaged documents, short
ones, and those with plain values in lists. A `Scalar` is built when somebody asks for it.
"""

from __future__ import annotations

import json
import re
from array import array
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from azlatency.logs.json_tokens import DEEPEST, LONGEST_SCALAR, JsonObject, Places

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Column = NDArray[np.intp]
    Marks = NDArray[np.uint8]
    _Scalars = tuple[Column, NDArray[np.bool_]]
    _Objects = tuple[Column, Column, NDArray[np.bool_]]

_ESCAPE = re.compile(r"\\.", re.DOTALL)
_MARKS = b'",:{}[]'
_QUOTE, _COMMA, _COLON, _OPEN, _CLOSE, _BEGIN, _END = _MARKS
_IS_MARK = bytes(character in _MARKS for character in range(256))


def scan_object(text: str, position: int, into: JsonObject, line_numbers: Callable[[Column], list[int]]) -> bool:
    """Read the object at ``position`` into ``into``; False if `json_tokens.read_object` must read it.

    ``line_numbers`` returns the lines of positions in ascending order.
    """
    objects: list[JsonObject] = []

    def keep(pairs: list[tuple[str, Any]]) -> JsonObject:
        objects.append(node := JsonObject(pairs))
        return node

    # Numbers stay the tokens that the tool printed; NaN is left to the other reader.
    decoder = json.JSONDecoder(
        object_pairs_hook=keep, parse_float=str, parse_int=str, parse_constant=int, strict=False
    )  # fmt: skip
    try:
        _, end = decoder.raw_decode(text, position)
    except (ValueError, RecursionError):
        return False
    found = _find_all(text[position:end])
    if found is None:
        return False
    (starts, is_text), (begins, ends, is_flat) = found
    into.members = objects[-1].members
    objects[-1] = into
    columns = begins + position, ends + position + 1, starts.searchsorted(begins), starts.searchsorted(ends), is_flat
    starts += position
    places = Places(array("q", starts.tobytes()), array("q", line_numbers(starts)), is_text.tobytes())
    # The decoder completes the objects in the order of their ends.
    for node, span in zip(objects, zip(*(column.tolist() for column in columns), strict=True), strict=True):
        node.span, node.places = span, places
    return True


def _find_all(text: str) -> tuple[_Scalars, _Objects] | None:
    """Return where the scalar members and the objects of a document are; None if the other reader must read it."""
    if not text.isascii():
        return None
    raw = (_ESCAPE.sub("__", text) if "\\" in text else text).encode()
    at, marks = _find_marks(raw)
    scalars = _find_scalars(raw, at, marks)
    objects = None if scalars is None else _find_objects(at, marks)
    return None if scalars is None or objects is None else (scalars, objects)


def _find_marks(raw: bytes) -> tuple[Column, Marks]:
    """Return the positions of the marks outside of strings and of the quotes that open a string, and the marks."""
    import numpy as np

    at = np.frombuffer(raw.translate(_IS_MARK), dtype=bool).nonzero()[0]
    marks = np.frombuffer(raw, dtype=np.uint8)[at]
    is_quote = marks == _QUOTE
    kept = is_quote == np.logical_xor.accumulate(is_quote)
    return at[kept], marks[kept]


def _find_scalars(raw: bytes, at: Column, marks: Marks) -> _Scalars | None:
    """Return where the scalar members start, and which are strings; None for scalars in lists, and too long ones."""
    import numpy as np

    follows = (marks[:-1] == _COMMA) | (marks[:-1] == _BEGIN)
    for index in (follows & ((marks[1:] == _COMMA) | (marks[1:] == _END))).nonzero()[0].tolist():
        if marks[index] == _COMMA or raw[at[index] + 1 : at[index + 1]].strip():
            return None
    colons = (marks == _COLON).nonzero()[0]
    after = marks[colons + 1]
    is_text = after == _QUOTE
    if np.count_nonzero(marks == _QUOTE) != len(colons) + np.count_nonzero(is_text):
        return None
    is_scalar = is_text | (after == _COMMA) | (after == _CLOSE)
    colons, is_text = colons[is_scalar], is_text[is_scalar]
    starts = np.where(is_text, at[colons + 1], at[colons] + 1)
    data = np.frombuffer(raw, dtype=np.uint8)
    while (is_blank := data[starts] <= ord(" ")).any():
        starts = starts + is_blank
    if (~is_text & (at[colons + 1] - starts > LONGEST_SCALAR)).any():
        return None
    return starts, is_text


def _find_objects(at: Column, marks: Marks) -> _Objects | None:
    """Return where objects begin and end, in the order of their ends, and which have only scalars.

    None if objects and lists are too deep.
    """
    import numpy as np

    opening, closing = marks == _OPEN, marks == _CLOSE
    steps = (opening | (marks == _BEGIN)).astype(np.int64) - (closing | (marks == _END))
    if np.cumsum(steps).max() > DEEPEST + 1:
        return None
    # At each level of objects, a brace that opens and the one that closes follow each other.
    braces = (opening | closing).nonzero()[0]
    level = np.cumsum(np.where(opening[braces], 1, -1)) + closing[braces]
    pairs = braces[np.argsort(level.astype(np.int16), kind="stable")].reshape(-1, 2)
    first, last = pairs[np.argsort(pairs[:, 1])].T
    count = np.cumsum(steps != 0)
    return at[first], at[last], count[last] - count[first] == 1
