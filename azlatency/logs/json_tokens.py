"""JSON read with positions: every value keeps its token and its place, doubled keys are kept, a cut text gives a
part.

``json.loads`` forgets where a number stood and how it was spelled, lets the last of two equal keys win, and gives
nothing at all for a file that was cut. Logs need all three. This reader is for the small sections of a document; long
lists are read with the standard library, element by element (`elements`).
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from json.decoder import scanstring  # type: ignore[attr-defined]
from typing import Any, NamedTuple

_BLANKS = frozenset(" \t\r\n")
_BLANK = re.compile(r"[ \t\r\n]*")
_SCALAR = re.compile(r"[-+.\w]{1,64}")
# What nearly every member is: a key and a scalar or a string without escapes, with the mark behind it.
_MEMBER = re.compile(
    r'"([^"\\]{0,80})"[ \t\r\n]*:[ \t\r\n]*(?:([-+.\w]{1,64})|"([^"\\]{0,200})")[ \t\r\n]*([,}])[ \t\r\n]*'
)
_DEEPEST = 40
_WORDS = {"true": True, "false": False, "null": None}
_DECODER = json.JSONDecoder()


class JsonError(ValueError):
    """Text that is not JSON from ``position`` on; ``at_end`` where it merely stops."""

    def __init__(self, text: str, position: int) -> None:
        super().__init__(f"not JSON at character {position}")
        self.position = min(position, max(len(text) - 1, 0))
        self.at_end = position >= len(text)


class Scalar(NamedTuple):
    """A string, number, true, false or null: its value, its token as printed and where that stands.

    A number is None where the tool printed no number (``-nan``); its token tells.
    """

    value: Any
    token: str
    position: int


@dataclass(slots=True)
class JsonObject:
    """The members of an object in order, doubled keys included."""

    pairs: list[tuple[str, Any]] = field(default_factory=list)
    position: int = 0

    def all(self, name: str) -> list[Any]:
        """Every value of that name."""
        return [value for key, value in self.pairs if key == name]

    def get(self, name: str) -> Any:
        """The first value of that name, or None."""
        for key, value in self.pairs:
            if key == name:
                return value
        return None

    def object(self, name: str) -> JsonObject:
        """The first value of that name where it is an object, else an empty one."""
        found = self.get(name)
        return found if isinstance(found, JsonObject) else JsonObject()

    def objects(self, name: str) -> list[JsonObject]:
        """The objects of the list of that name."""
        found = self.get(name)
        return [item for item in found if isinstance(item, JsonObject)] if isinstance(found, list) else []

    def leaf(self, name: str) -> Scalar | None:
        """The first value of that name where it is a string, number, true, false or null."""
        found = self.get(name)
        return found if isinstance(found, Scalar) else None

    def value(self, name: str) -> Any:
        """The plain value of a leaf; None where there is none."""
        found = self.leaf(name)
        return None if found is None else found.value


def skip_blanks(text: str, position: int) -> int:
    """The next position that is no white space."""
    if text[position : position + 1] not in _BLANKS:
        return position
    found = _BLANK.match(text, position)
    return found.end() if found else position


def read_value(text: str, position: int, depth: int = 0) -> tuple[Any, int]:
    """The value at ``position`` (`JsonObject`, list or `Scalar`) and the position behind it. Raises `JsonError`."""
    mark = text[position : position + 1]
    if mark == "{":
        into = JsonObject()
        return into, read_object(text, position, into, depth)
    if mark == "[":
        return _read_list(text, position, depth)
    if mark == '"':
        token, end = read_string(text, position)
        return Scalar(token, token, position), end
    found = _SCALAR.match(text, position)
    # A scalar that the text ends with may have been longer.
    if found is None or found.end() >= len(text):
        raise JsonError(text, position if found is None else len(text))
    return Scalar(_to_scalar(found[0]), found[0], position), found.end()


def read_object(text: str, position: int, into: JsonObject, depth: int = 0) -> int:
    """Read the object at ``position`` into ``into``; returns the position behind it.

    Raises `JsonError`; ``into`` then has the members that stand complete before the fault.
    """
    if depth > _DEEPEST:
        raise JsonError(text, position)
    into.position = position
    place = skip_blanks(text, position + 1)
    pairs = into.pairs
    while text[place : place + 1] != "}":
        if (found := _MEMBER.match(text, place)) is not None:
            key, token, quoted, mark = found.groups()
            if token is None:
                pairs.append((key, Scalar(quoted, quoted, found.start(3) - 1)))
            else:
                pairs.append((key, Scalar(_to_scalar(token), token, found.start(2))))
            place = found.end()
            if mark == "}":
                return found.end(4)
            continue
        key, place = read_string(text, place)
        place = expect(text, place, ":")
        value, place = read_value(text, place, depth + 1)
        pairs.append((key, value))
        place = skip_comma(text, place, "}")
    return place + 1


def iter_elements(text: str, position: int) -> Iterator[tuple[Any, int, int]]:
    """The elements of the list at ``position`` as plain values, each with its begin and end; then (None, end, end).

    Raises `JsonError` where an element is not complete.
    """
    place = skip_blanks(text, position + 1)
    while text[place : place + 1] != "]":
        value, end = read_plain(text, place)
        yield value, place, end
        place = skip_comma(text, end, "]")
    yield None, place + 1, place + 1


def read_plain(text: str, position: int) -> tuple[Any, int]:
    """The value at ``position`` as the standard library reads it, and the position behind. Raises `JsonError`."""
    try:
        return _DECODER.raw_decode(text, position)
    except (ValueError, RecursionError):
        value, end = read_value(text, position)
        return to_plain(value), end


def to_plain(value: Any) -> Any:
    """`JsonObject` and `Scalar` as dict and plain values; the last of doubled keys stays."""
    if isinstance(value, JsonObject):
        return {key: to_plain(item) for key, item in value.pairs}
    if isinstance(value, list):
        return [to_plain(item) for item in value]
    return value.value


def _read_list(text: str, position: int, depth: int) -> tuple[list[Any], int]:
    if depth > _DEEPEST:
        raise JsonError(text, position)
    items: list[Any] = []
    place = skip_blanks(text, position + 1)
    while text[place : place + 1] != "]":
        value, place = read_value(text, place, depth + 1)
        items.append(value)
        place = skip_comma(text, place, "]")
    return items, place + 1


def read_string(text: str, position: int) -> tuple[str, int]:
    """The string at ``position`` and the position behind it. Raises `JsonError`."""
    if text[position : position + 1] != '"':
        raise JsonError(text, position)
    try:
        token, end = scanstring(text, position + 1, False)
    except ValueError:
        raise JsonError(text, len(text)) from None
    return token, end


def expect(text: str, position: int, mark: str) -> int:
    """The position behind ``mark`` and white space. Raises `JsonError` where something else stands."""
    place = skip_blanks(text, position)
    if text[place : place + 1] != mark:
        raise JsonError(text, place)
    return skip_blanks(text, place + 1)


def skip_comma(text: str, position: int, closing: str) -> int:
    """Behind an element: the begin of the next one, or the closing mark."""
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
    # What no tool measures is damage: nan, inf, or more digits than the integer columns hold.
    return value if -_LARGEST < value < _LARGEST else None
