"""Elements that are read at once are those of the reader with positions; others are left to it."""

from __future__ import annotations

import json
import random
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from azlatency.logs.json_lists import Alike, AlikeReader, Element
from azlatency.logs.json_tokens import JsonObject, Scalar, read_object
from azlatency.logs.units import quantity, ratios


def read(text: str) -> list[Any]:
    """Return the elements of the list ``a`` of a document."""
    reader = AlikeReader(text, msgspec.json.Decoder(msgspec.Raw).decode(text)).read
    end = read_object(text, text.index("{"), document := JsonObject(), kept={"a": {}}, reader=reader)
    assert end == len(text.rstrip())
    elements: list[Any] = document.get("a")
    return elements


def document(tokens: list[tuple[str, ...]], indent: str = "\n  ", comma: str = ",\n ") -> str:
    rows = (f'{{"x1": {first},{indent}"y": [{{"z": "{second} bps"}}]}}' for first, second in tokens)
    return f'{{"before": 1, "a": [{comma.join(rows)} ], "after": {{"x": 2}}}}'


def leaves(element: JsonObject) -> tuple[Scalar, Scalar]:
    first, second = element.leaf("x1"), element.objects("y")[0].leaf("z")
    assert first is not None and second is not None
    return first, second


@given(
    st.lists(
        st.tuples(st.integers(0, 10**8), st.from_regex(r"(0|[1-9][0-9]{0,3})\.[0-9]{1,5}", fullmatch=True)),
        min_size=3,
        max_size=40,
    )
)
def test_numbers_are_those_of_the_text(numbers: list[tuple[Any, Any]]) -> None:
    tokens = [(str(first), second) for first, second in numbers]
    text = document(tokens)
    (alike,) = read(text)
    assert isinstance(alike, Alike) and len(alike) == len(tokens)
    assert [tuple(leaf.token for leaf in leaves(each)) for each in alike.objects()] == [
        (first, f"{second} bps") for first, second in tokens
    ]
    places = [alike.find(leaf, ending) for leaf, ending in zip(leaves(alike.first), ("", " bps"), strict=True)]
    found = [place for place in places if place is not None]
    assert list(zip(*[iter(alike.tokens(found))] * 2, strict=True)) == tokens
    digits = alike.digits(found)
    converted = None if digits is None else ratios(*digits, ["us", "ms"])
    assert converted is not None
    for row, values in zip(tokens, converted[0].tolist(), strict=True):
        assert values == [quantity(row[0], "us").value, quantity(row[1], "ms").value]
    for row, halves in zip(tokens, converted[1].tolist(), strict=True):
        assert halves == [quantity(row[0], "us").resolution, quantity(row[1], "ms").resolution]


def test_groups_of_other_elements_are_separate_and_long_lists_are_read_in_parts() -> None:
    same, other = ("1", "2.5"), ("-1", "2.5")
    rows = [*[same] * 5000, other, other, *[same] * 3, *[other] * 4]
    text = document(rows)
    elements = read(text)
    assert [len(each) for each in elements] == [5000, 1, 1, 3, 4]
    objects = [each for part in elements for each in part.objects()]
    assert [leaves(each)[0].token for each in objects] == [first for first, _ in rows]


@pytest.mark.parametrize(
    "odd",
    [
        '{"x1": 1,\n  "y": [{"z": "2. 5bps"}]}',  # the same text without digits, but in other places
        '{"x1": 1,\n  "y": [{"z": "25. bps"}]}',
        '{"x1": 1,\n  "y": [{"z": " 2.5bps"}]}',
        '{"x": 11,\n  "y": [{"z": "2.5 bps"}]}',
        '{"x1": 1,\n  "y": [{"z": "2.5 bps"}], "y": []}',
        '{"x1": 1,\n   "y": [{"z": "2.5 bps"}]}',
        '{"x1": 1e3,\n  "y": [{"z": "2.5 bps"}]}',
        "{}",
    ],
)
@pytest.mark.parametrize("place", [0, 3, 9])
def test_an_element_of_another_form_is_read_by_itself(odd: str, place: int) -> None:
    rows = ['{"x1": 1,\n  "y": [{"z": "2.5 bps"}]}'] * 9
    text = '{"a": [' + ", ".join([*rows[:place], odd, *rows[place:]]) + "]}"
    elements = read(text)
    read_object(text, text.index(odd), expected := JsonObject())
    assert (
        expected in [next(each.objects()) for each in elements]
        and sum(len(each) for each in elements if isinstance(each, Alike)) == 9
    )


def test_a_comma_with_other_blanks_ends_the_elements_that_are_alike() -> None:
    text = document([("1", "2.5")] * 8).replace(",\n {", ", {", 1)
    assert [type(each) for each in read(text)] == [Element, Alike]


@pytest.mark.parametrize(
    ("first", "second", "ending"),
    [
        ("-1", "2.5", " bp"),
        ("1e3", "2.5", ""),
        ("true", "-2.5", " bps"),
        ("null", "1.5.2", " bps"),
        ("1E1", "2.", " bps"),
        ("-1.5", ".5", " bps"),
    ],
)
def test_other_values_than_plain_decimals_are_not_found(first: str, second: str, ending: str) -> None:
    (alike,) = read(document([(first, second)] * 4))
    assert [alike.find(leaf, end) for leaf, end in zip(leaves(alike.first), ("", ending), strict=True)] == [None, None]


def test_numbers_of_too_many_digits_are_not_converted() -> None:
    (alike,) = read(document([("1", "1" * 17 + ".0")] * 3))
    number = alike.find(leaves(alike.first)[1], " bps")
    assert alike.tokens([number]) == ["1" * 17 + ".0"] * 3 and alike.digits([number]) is None


@pytest.mark.parametrize("seed", range(3))
def test_a_document_with_other_blanks_in_front_is_read_too(seed: int) -> None:
    draw = random.Random(seed)
    content = {"a": [{"v": draw.randrange(10**6), "k": {"w": "5.0"}} for _ in range(50)]}
    text = "\n\t" + json.dumps(content, indent=draw.choice([None, 1])) + "\n"
    (alike,) = read(text)
    assert alike.tokens([alike.find(alike.first.leaf("v"))]) == [str(each["v"]) for each in content["a"]]
