from __future__ import annotations

from azlatency.kit.sentences import Linked
from azlatency.pages.summary.card import CARD_TYPE, Card, dot


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
