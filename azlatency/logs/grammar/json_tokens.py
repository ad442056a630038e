"""A JSON reader that keeps positions, tokens and duplicate keys, and returns the readable part of a truncated text.

``json.loads`` drops the position and the spelling of a number, keeps only the last of two equal keys, and returns
nothing for a truncated file. Logs need all three. This reader is for the small sections of a document; long lists are
read with the standard library, element by element (`iter_elements`).
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from json.decoder import scanstring  # type: ignore[attr-defined]
from typing import Any, NamedTuple

import msgspec

_BLANKS = frozenset(" \t\r\n")
_BLANK = re.compile(r"[ \t\r\n]*")
_SCALAR = re.compile(r"[-+.\w]{1,64}")
# Nearly every member: a key, and a scalar or a string without escapes, with the comma or brace after it.
_MEMBER = re.compile(
    r'"([^"\\]{0,80})"[ \t\r\n]*:[ \t\r\n]*(?:([-+.\w]{1,64})|"([^"\\]{0,200})")[ \t\r\n]*([,}])[ \t\r\n]*'
)
#: At most this many objects and lists are one inside the other.
_DEEPEST = 40
_WORDS = {"true": True, "false": False, "null": None}
_DECODER = json.JSONDecoder()


#: Members whose complete parts are kept where the text ends inside them, and those inside these.
Kept = Mapping[str, "Kept"]


class JsonError(ValueError):
    """Text that is not JSON from ``position`` on; ``at_end`` if the text merely ends too early."""

    def __init__(self, text: str, position: int) -> None:
        super().__init__(f"not JSON at character {position}")
        self.position = min(position, max(len(text) - 1, 0))
        self.at_end = position >= len(text)


class Scalar(NamedTuple):
    """A string, number, true, false or null: its value, its token as printed and the position of the token.

    The value of a number is None if the tool printed none (``-nan``); the token keeps what it printed.
    """

    value: Any
    token: str
    position: int


# Half the cost of the constructor.
_NEW = tuple.__new__


class JsonObject(msgspec.Struct, gc=False):
    """The members of an object in their order, duplicate keys included, and its begin and end in the text.

    The end is 0 if the text ends inside the object.
    """

    span: tuple[int, int] = (0, 0)
    pairs: list[tuple[str, Any]] = []  # a new list for each object

    @property
    def position(self) -> int:
        """Where the object begins in the text."""
        return self.span[0]

    @property
    def end(self) -> int:
        """The position after the object; 0 if the text ends inside it."""
        return self.span[1]

    def numbers(self) -> list[tuple[str, Scalar]]:
        """Return the members that are numbers, ``nan`` and too large ones included."""
        return [
            (key, value)
            for key, value in self.pairs
            if value.__class__ is Scalar and not isinstance(value.value, str) and value.token not in _WORDS
        ]

    def all(self, name: str) -> list[Any]:
        """Return every value of that name."""
        return [value for key, value in self.pairs if key == name]

    def get(self, name: str) -> Any:
        """Return the first value of that name, or None."""
        for key, value in self.pairs:
            if key == name:
                return value
        return None

    def object(self, name: str) -> JsonObject:
        """Return the first value of that name if it is an object, else an empty object."""
        value = self.get(name)
        return value if isinstance(value, JsonObject) else JsonObject()

    def objects(self, name: str) -> list[JsonObject]:
        """Return the objects in the list of that name."""
        value = self.get(name)
        return [item for item in value if isinstance(item, JsonObject)] if isinstance(value, list) else []

    def leaf(self, name: str) -> Scalar | None:
        """Return the first value of that name if it is a string, number, true, false or null."""
        value = self.get(name)
        return value if value.__class__ is Scalar else None

    def value(self, name: str) -> Any:
        """Return the plain value of a leaf, or None."""
        value = self.get(name)
        return value.value if value.__class__ is Scalar else None


def skip_blanks(text: str, position: int) -> int:
    """Return the next position that is not white space."""
    if text[position : position + 1] not in _BLANKS:
        return position
    blank = _BLANK.match(text, position)
    return blank.end() if blank else position


def read_value(text: str, position: int, depth: int = 0) -> tuple[Any, int]:
    """Return the value at ``position`` (`JsonObject`, list or `Scalar`) and its end. Raises `JsonError`."""
    mark = text[position : position + 1]
    if mark in ("{", "["):
        into: JsonObject | list[Any] = JsonObject() if mark == "{" else []
        return into, _read_into(text, position, into, depth)
    if mark == '"':
        token, end = read_string(text, position)
        return Scalar(token, token, position), end
    match = _SCALAR.match(text, position)
    # A scalar at the end of the text may have been longer.
    if match is None or match.end() >= len(text):
        raise JsonError(text, position if match is None else len(text))
    return Scalar(_to_scalar(match[0]), match[0], position), match.end()


def _read_into(
    text: str,
    position: int,
    into: JsonObject | list[Any],
    depth: int,
    kept: Kept | None = None,
) -> int:
    if isinstance(into, list):
        return _read_list(text, position, into, depth, kept)
    return read_object(text, position, into, depth, kept)


def read_object(
    text: str,
    position: int,
    into: JsonObject,
    depth: int = 0,
    kept: Kept | None = None,
) -> int:
    """Read the object at ``position`` into ``into`` and return its end.

    Raises `JsonError`; ``into`` then contains the members that are complete before the error, and the complete parts of
    the member before the error if ``kept`` contains its key.
    """
    if depth > _DEEPEST:
        raise JsonError(text, position)
    into.span = position, 0
    place = skip_blanks(text, position + 1)
    pairs = into.pairs
    while text[place : place + 1] != "}":
        if (match := _MEMBER.match(text, place)) is not None:
            key, token, quoted, mark = match.groups()
            if token is None:
                pairs.append((key, _NEW(Scalar, (quoted, quoted, match.start(3) - 1))))
            else:
                pairs.append((key, _NEW(Scalar, (_to_scalar(token), token, match.start(2)))))
            place = match.end()
            if mark == "}":
                into.span = position, match.end(4)
                return into.end
            continue
        key, place = read_string(text, place)
        place = skip_colon(text, place)
        if kept is not None and key in kept and text[place : place + 1] in ("{", "["):
            pairs.append((key, JsonObject() if text[place] == "{" else []))
            place = _read_into(text, place, pairs[-1][1], depth + 1, kept[key])
        else:
            value, place = read_value(text, place, depth + 1)
            pairs.append((key, value))
        place = skip_comma(text, place, "}")
    into.span = position, place + 1
    return into.end


def iter_elements(text: str, position: int) -> Iterator[tuple[Any, int, int]]:
    """Yield the elements of the list at ``position`` as plain values with start and end; finally (None, end, end).

    Raises `JsonError` if an element is not complete.
    """
    place = skip_blanks(text, position + 1)
    while text[place : place + 1] != "]":
        value, end = read_plain(text, place)
        yield value, place, end
        place = skip_comma(text, end, "]")
    yield None, place + 1, place + 1


def read_plain(text: str, position: int) -> tuple[Any, int]:
    """Return the value at ``position`` as the standard library reads it, and its end. Raises `JsonError`."""
    try:
        return _DECODER.raw_decode(text, position)
    except (ValueError, RecursionError):
        value, end = read_value(text, position)
        return to_plain(value), end


def to_plain(value: Any) -> Any:
    """Convert `JsonObject` and `Scalar` to dict and plain values; the last of duplicate keys counts."""
    if isinstance(value, JsonObject):
        return {key: to_plain(item) for key, item in value.pairs}
    if isinstance(value, list):
        return [to_plain(item) for item in value]
    return value.value


def _read_list(text: str, position: int, into: list[Any], depth: int, kept: Kept | None) -> int:
    """Read the list at ``position`` into ``into`` and return its end; see `read_object`."""
    if depth > _DEEPEST:
        raise JsonError(text, position)
    place = skip_blanks(text, position + 1)
    while text[place : place + 1] != "]":
        if kept is not None and text[place : place + 1] == "{":
            into.append(JsonObject())
            place = read_object(text, place, into[-1], depth + 1, kept)
        else:
            value, place = read_value(text, place, depth + 1)
            into.append(value)
        place = skip_comma(text, place, "]")
    return place + 1


def read_string(text: str, position: int) -> tuple[str, int]:
    """Return the string at ``position`` and its end. Raises `JsonError`."""
    if text[position : position + 1] != '"':
        raise JsonError(text, position)
    try:
        token, end = scanstring(text, position + 1, False)
    except ValueError:
        raise JsonError(text, len(text)) from None
    return token, end


def skip_colon(text: str, position: int) -> int:
    """Return the start of the value of a member. Raises `JsonError` if no colon follows its name."""
    place = skip_blanks(text, position)
    if text[place : place + 1] != ":":
        raise JsonError(text, place)
    return skip_blanks(text, place + 1)


def skip_comma(text: str, position: int, closing: str) -> int:
    """Return the start of the next element, or the position of the closing mark. Raises `JsonError`."""
    place = skip_blanks(text, position)
    if text[place : place + 1] == ",":
        return skip_blanks(text, place + 1)
    if text[place : place + 1] != closing:
        raise JsonError(text, place)
    return place


_MOST_DIGITS = 18
_LARGEST = 10**_MOST_DIGITS


def _to_scalar(token: str) -> Any:
    if len(token) <= _MOST_DIGITS and token.isdecimal():
        return int(token)
    if token in _WORDS:
        return _WORDS[token]
    try:
        value: int | float = int(token) if token.isdigit() else float(token)
    except ValueError:
        return None
    if isinstance(value, float) and "." not in token and -_LARGEST < value < _LARGEST:
        with suppress(ValueError):
            value = int(token)
    # nan, inf, and numbers with more digits than an integer column can store are damage, not measurements.
    return value if -_LARGEST < value < _LARGEST else None
