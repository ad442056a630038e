"""Sentences whose numbers know the runs or lines that they come from."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from azlatency.kit.cells import Ref
from azlatency.studies.format import separators


@dataclass(frozen=True, init=False)
class Linked:
    """A number of a sentence, and the runs or lines that it comes from: both sides of a ratio.

    ``bold`` marks the numbers that answer the question.
    """

    text: str
    refs: tuple[Ref, ...]
    bold: bool

    def __init__(self, text: str, *refs: Ref, bold: bool = True) -> None:
        for name, value in (("text", text), ("refs", tuple(dict.fromkeys(refs))), ("bold", bold)):
            object.__setattr__(self, name, value)


#: Plain text and numbers.
Sentence = tuple[str | Linked, ...]


def listed(sentences: Iterable[Sentence]) -> Sentence:
    """Join sentences as words are joined: "a, b and c"."""
    parts = list(sentences)
    of_parts = zip(separators(len(parts)), parts, strict=True)
    return tuple(piece for before, part in of_parts for piece in ((before, *part) if before else part))


def plain_sentence(sentence: Sentence) -> str:
    """Return a sentence without its references."""
    return "".join(part if isinstance(part, str) else part.text for part in sentence)
