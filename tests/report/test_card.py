from __future__ import annotations

import pytest

from azlatency.kit.titles import span
from azlatency.report.card import CARD_TYPE, Card, Linked, dot, listed, plain_sentence


@pytest.mark.parametrize(
    ("values", "text"),
    [
        ((121e3,), "121 µs"),
        ((1398e3, 1436e3), "1.40–1.44 ms"),
        ((950e3, 1436e3), "0.95–1.44 ms"),
        ((40.1, 40.2), "40.1–40.2 ns"),
    ],
)
def test_a_range_has_one_unit(values: tuple[float, ...], text: str) -> None:
    assert span(values, "ns") == text


def test_the_markdown_has_the_values_and_no_empty_part() -> None:
    card = Card(
        study="mine",
        title="Mine",
        question="Far?",
        badge="indicative",
        reported=False,
        answer=("Yes, *not* ", Linked("2 ms"), "."),
        inference=(),
        dots=(dot("a | b", [2e6], "ns"),),
        axis="mean RTT",
        next_step="Repeat.",
    )
    bundle = card._repr_mimebundle_()
    assert "| a \\| b | 2.00 ms |" in bundle["text/markdown"]
    assert "Yes, \\*not\\* **2 ms**." in bundle["text/markdown"] and "Yes, *not* 2 ms." in repr(card)
    assert "How far this goes" not in bundle["text/markdown"] and "Likely cause" not in repr(card)
    assert bundle[CARD_TYPE]["badge_text"] == "one run per path"


@pytest.mark.parametrize(("count", "text"), [(0, ""), (1, "a 1"), (2, "a 1 and b 2"), (3, "a 1, b 2 and c 3")])
def test_sentences_are_listed_as_words_are(count: int, text: str) -> None:
    sentences = [(f"{name} ", Linked(number)) for name, number in zip("abc", "123", strict=True)]
    assert plain_sentence(listed(sentences[:count])) == text
