from __future__ import annotations

from azlatency.kit.sentences import Linked
from azlatency.pages.summary.card import CARD_TYPE, Answer, Card, dot, say_ends_once


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
    assert "How far this goes" not in bundle["text/markdown"] and "Background" not in repr(card)
    assert bundle[CARD_TYPE]["badge_text"] == "one run per path"


def test_ends_that_all_paths_share_stand_beside_the_axis() -> None:
    """An answer on four settings named both addresses six times."""
    values = [dot(f"{name}: a → b", [1.0], "ns") for name in ("off", "50/on")]
    said = Answer(badge="indicative", answer=("x on off: a → b.",), dots=tuple(values), axis="mean RTT")
    short = say_ends_once(said)
    assert [value.label for value in short.dots] == ["off", "50/on"]
    assert (short.answer, short.axis) == (("x on off.",), "mean RTT, a → b")
    for other in ("a → b", "on: b → a", "zones: near"):
        mixed = Answer(badge="indicative", dots=(*values, dot(other, [1.0], "ns")))
        assert say_ends_once(mixed) is mixed
    assert say_ends_once(Answer(badge="indicative", dots=tuple(values[:1]))).dots[0].label == "off: a → b"


def test_a_card_names_no_ends_that_no_log_names() -> None:
    dots = tuple(dot(f"{name}: ? → ?, 14 B", [value], "ns") for name, value in (("4G", 6e4), ("1G", 2e5)))
    said = say_ends_once(Answer(badge="indicative", answer=("60 µs on 4G: ? → ?",), dots=dots, axis="median RTT"))
    assert said.answer == ("60 µs on 4G",) and said.axis == "median RTT, 14 B"
    assert [each.label for each in said.dots] == ["4G", "1G"]
