"""The JSON reader that keeps tokens, positions and duplicate keys."""

from __future__ import annotations

import pytest

from azlatency.logs.grammar.json_tokens import JsonError, JsonObject, iter_elements, read_object, read_value, to_plain


def test_a_number_keeps_its_token_and_position() -> None:
    text = '{"mean": 1.500, "n": 12}\n'
    value, end = read_value(text, 0)
    mean = value.leaf("mean")
    assert (mean.value, mean.token, mean.position) == (1.5, "1.500", text.index("1.500"))
    assert value.value("n") == 12 and end == text.index("}") + 1


def test_equal_keys_are_all_kept() -> None:
    value, _ = read_value('{"a": 1, "a": 2}\n', 0)
    assert [leaf.value for leaf in value.all("a")] == [1, 2]
    assert value.value("a") == 1 and to_plain(value) == {"a": 2}


@pytest.mark.parametrize("token", ["-nan", "inf", "1" * 19])
def test_a_number_that_is_not_a_measurement_has_no_value(token: str) -> None:
    value, _ = read_value(f'{{"a": {token}}}\n', 0)
    assert value.leaf("a").token == token and value.value("a") is None


def test_a_truncated_object_keeps_its_complete_members() -> None:
    into = JsonObject()
    with pytest.raises(JsonError) as error:
        read_object('{"a": 1, "b": {"c": 2}, "d": 3', 0, into)
    assert error.value.at_end
    assert [key for key, _ in into.pairs] == ["a", "b"]


def test_a_malformed_object_names_the_position() -> None:
    with pytest.raises(JsonError) as error:
        read_value('{"a": 1; "b": 2}\n', 0)
    assert (error.value.position, error.value.at_end) == (7, False)


def test_the_elements_of_a_list_have_their_positions() -> None:
    text = '[10, {"a": 1}]'
    assert list(iter_elements(text, 0)) == [(10, 1, 3), ({"a": 1}, 5, 13), (None, 14, 14)]
