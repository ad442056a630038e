"""Reads a long valid JSON document: values with msgspec, the positions of all members in one vectorised pass.

The result is that of `azlatency.logs.json_tokens`, which reads what this module does not: damaged documents, short
ones, those in which a key occurs twice, and those with plain values in lists. A `Scalar` is built when somebody asks
for it.
"""

from __future__ import annotations

import json
import re
from array import array
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec

from azlatency.logs.json_tokens import DEEPEST, LONGEST_SCALAR, JsonObject, Places

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Column = NDArray[np.intp]

#: Shorter documents are not worth the import of NumPy.
LONG = 2**15
#: Numbers with decimals stay the tokens that the tool printed; whole numbers have one spelling, except a negative zero.
DECODER: msgspec.json.Decoder[Any] = msgspec.json.Decoder(float_hook=str)
_NEGATIVE_ZERO = re.compile(r"-0(?![\d.eE])")
_LONG_SCALAR = re.compile(rf"[-+.\w]{{{LONGEST_SCALAR + 1}}}")
_QUOTE, _COLON, _OPEN, _CLOSE, _BLANK = b'":{} '


class _OtherReaderError(Exception):
    """The document has a form that this module does not read."""


class _Marks(NamedTuple):
    """Where the members' values start, which of them are strings, and where objects begin and end."""

    starts: Column
    is_text: NDArray[np.bool_]
    begins: Column
    ends: Column


def scan_object(
    text: str, position: int, into: JsonObject, lines_of: Callable[[Column], Column], document: Any = None
) -> bool:
    """Read the object at ``position`` into ``into``; False if `json_tokens.read_object` must read it.

    ``lines_of`` returns the lines of positions in ascending order. ``document`` is the object as `DECODER` returns it,
    if it ends the text; it must not be used afterwards.
    """
    try:
        end = len(text) if document is not None else json.JSONDecoder().raw_decode(text, position)[1]
        part = text[position:end]
        if not part.isascii() or ("-0" in part and _NEGATIVE_ZERO.search(part)):
            return False
        if (marks := _find_marks(part)) is None:
            return False
        content: dict[str, Any] = DECODER.decode(part) if document is None else document
        starts = marks.starts + position
        positions, lines = (array("q", column.astype("int64").tobytes()) for column in (starts, lines_of(starts)))
        places = Places(positions, lines, marks.is_text.tobytes())
        begins, ends = (marks.begins + position).tolist(), (marks.ends + position + 1).tolist()
        root = _Tree(places, begins, ends).build(content)
    except (ValueError, RecursionError, _OtherReaderError):
        return False
    into.span, into.content, into.ordinals, into.places = root.span, root.content, root.ordinals, root.places
    return True


def _find_marks(text: str) -> _Marks | None:
    """Return the marks of a document; None if the other reader must read it.

    The colon of a member follows the quote of its key, perhaps after one blank. Such a colon, or a brace, in a string
    makes the counts differ from those of the decoded document, as a key that occurs twice does.
    """
    import numpy as np

    data = np.frombuffer(text.encode(), dtype=np.uint8)
    colons = (data == _COLON).nonzero()[0]
    before = data[colons - 1]
    is_key = (before == _QUOTE) | ((before == _BLANK) & (data[colons - 2] == _QUOTE))
    if (before[~is_key] <= _BLANK).any():
        return None
    starts = colons[is_key] + 1
    while (is_blank := data[starts] <= _BLANK).any():
        starts = starts + is_blank
    is_text = data[starts] == _QUOTE
    for index in ((np.diff(starts, append=len(data)) > LONGEST_SCALAR) & ~is_text).nonzero()[0].tolist():
        if _LONG_SCALAR.match(text, int(starts[index])):
            return None
    return _Marks(starts, is_text, (data == _OPEN).nonzero()[0], (data == _CLOSE).nonzero()[0])


class _Tree:
    """Assigns the marks to the objects of a decoded document."""

    def __init__(self, places: Places, begins: list[int], ends: list[int]) -> None:
        self._places, self._begins, self._ends = places, begins, ends
        self._members = self._opened = self._closed = 0

    def build(self, content: dict[str, Any]) -> JsonObject:
        """Return the document; raise `_OtherReaderError` if the counts differ."""
        if len(self._begins) != len(self._ends):
            raise _OtherReaderError
        root = self._object(content, 0)
        if (self._members, self._opened) != (len(self._places.lines), len(self._begins)):
            raise _OtherReaderError
        return root

    def _object(self, content: dict[str, Any], depth: int) -> JsonObject:
        if depth > DEEPEST or self._opened == len(self._begins):
            raise _OtherReaderError
        begin, first = self._begins[self._opened], self._members
        self._opened += 1
        self._members += len(content)
        ordinals: Sequence[int] = range(first, self._members)
        if not {dict, list}.isdisjoint(map(type, content.values())):
            self._members, ordinals = first, []
            for key, value in content.items():
                ordinals.append(self._members)
                self._members += 1
                if type(value) is dict:
                    content[key] = self._object(value, depth + 1)
                elif type(value) is list:
                    self._list(value, depth + 1)
        span = begin, self._ends[self._closed]
        self._closed += 1
        return JsonObject(span, [], content, ordinals, self._places)

    def _list(self, items: list[Any], depth: int) -> None:
        for index, item in enumerate(items):
            if type(item) is dict:
                items[index] = self._object(item, depth + 1)
            elif type(item) is list and depth <= DEEPEST:
                self._list(item, depth + 1)
            else:
                raise _OtherReaderError
