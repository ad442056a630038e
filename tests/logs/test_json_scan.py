"""The vectorised reader of long documents returns what the reader with positions returns."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from azlatency.logs.json_scan import scan_object
from azlatency.logs.json_tokens import JsonObject, Scalar, read_object

STRINGS = st.text(st.characters(codec="ascii"), max_size=6)
SCALARS = STRINGS | st.integers() | st.floats() | st.booleans() | st.none()
MEMBERS = st.recursive(
    st.dictionaries(STRINGS, SCALARS, max_size=4),
    lambda inner: st.dictionaries(STRINGS, SCALARS | inner | st.lists(inner | st.lists(inner, max_size=2)), max_size=4),
    max_leaves=20,
)


def scan(text: str, position: int = 0) -> JsonObject | None:
    into = JsonObject()
    return into if scan_object(text, position, into, lambda positions: positions) else None


def strings(value: Any) -> list[str]:
    """Return the keys and the strings in a document."""
    if isinstance(value, dict):
        return [*value, *(text for member in value.values() for text in strings(member))]
    if isinstance(value, list):
        return [text for item in value for text in strings(item)]
    return [value] if isinstance(value, str) else []


def assert_same(value: Any, other: Any) -> None:
    assert type(value) is type(other)
    if isinstance(value, JsonObject):
        assert (value.position, value.end) == (other.position, other.end)
        assert value.numbers(int) == other.numbers(int)
        assert [key for key, _ in value.pairs] == [key for key, _ in other.pairs]
        for (_, member), (_, same) in zip(value.pairs, other.pairs, strict=True):
            assert_same(member, same)
    elif isinstance(value, list):
        for item, same in zip(value, other, strict=True):
            assert_same(item, same)
    else:
        assert isinstance(value, Scalar)
        assert value == other and type(value.value) is type(other.value)


@given(MEMBERS, st.sampled_from([None, 1, "\t"]), st.sampled_from(["", "log\n"]))
def test_every_document_is_read_as_by_the_other_reader(document: Any, indent: int | str | None, above: str) -> None:
    text = above + json.dumps(document, indent=indent) + "\n"
    if (scanned := scan(text, len(above))) is not None:
        read_object(text, len(above), other := JsonObject())
        assert_same(scanned, other)
    else:  # a number that is not JSON, or a mark in a string
        assert "NaN" in text or "Infinity" in text or set(":{}") & set("".join(strings(document)))


def test_members_in_lists_do_not_count_for_the_object_around_them() -> None:
    scanned = scan('{"a": {}, "b": "", "c": [{"d": 0, "e": null}]}')
    assert scanned is not None and scanned.numbers(int) == []


def test_tokens_and_escapes_are_kept() -> None:
    text = '{"a": 1.50, "g" : "x\\"", "b": [{"c": -0.0}, {}], "d": {"e": null}, "f":\ttrue}'
    scanned = scan(text)
    assert scanned is not None
    read_object(text, 0, other := JsonObject())
    assert_same(scanned, other)
    again = scan(text)
    assert again is not None and again.value("a") == 1.5 and again.leaf("f") == other.leaf("f")


@pytest.mark.parametrize(
    "text",
    [
        '{"a": [1]}',
        '{"a": ["x"]}',
        '{"a": [{}, 1, {}]}',
        '{"a": [[], "x"]}',
        '{"a": 1, "a": 1}',
        '{"a": {"b": 1, "b": 2}, "c": "d\\": "}',
        '{"a"  : 1}',
        '{"a": "{"}',
        '{"a": "}{"}',
        '{"a": -0}',
        '{"a": 1',
        '{"a": -nan}',
        '{"a": NaN}',
        '{"a": "é"}',
        f'{{"a": {"1" * 65}}}',
        '{"a": ' * 50 + "1" + "}" * 50,
    ],
)
def test_other_texts_are_left_to_the_other_reader(text: str) -> None:
    assert scan(text) is None
