"""Sentences whose numbers know where they come from."""

from __future__ import annotations

import pytest

from azlatency.kit.sentences import Linked, listed, plain_sentence


@pytest.mark.parametrize(("count", "text"), [(0, ""), (1, "a 1"), (2, "a 1 and b 2"), (3, "a 1, b 2 and c 3")])
def test_sentences_are_listed_as_words_are(count: int, text: str) -> None:
    sentences = [(f"{name} ", Linked(number)) for name, number in zip("abc", "123", strict=True)]
    assert plain_sentence(listed(sentences[:count])) == text
