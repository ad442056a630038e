"""The answer card of a study: question, answer in a sentence, badge, values, and what to measure next."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, Literal

from azlatency.kit.cells import Ref, ref_record
from azlatency.kit.objects import escape_markdown
from azlatency.kit.sentences import Sentence, plain_sentence
from azlatency.kit.titles import span

CARD_TYPE = "application/vnd.azlatency.card+json"
Badge = Literal["indicative", "incomplete", "replicated", "not_measured", "emulated"]
BADGES: dict[Badge, str] = {
    "indicative": "one run per path",
    "incomplete": "some paths repeated",
    "replicated": "repeated runs, 95 % CI",
    "not_measured": "not measured",
    "emulated": "emulated",
}


@dataclass(frozen=True, kw_only=True)
class Dot:
    """One value of a card.

    Attributes
    ----------
    label : str
        Path or placement.
    value : float
        The value in the card's unit.
    low, high : float
        Ends of the range that is drawn: of the runs, or of the interval across runs. Equal to ``value`` without one.
    text : str
        The value as it is written beside the dot.
    near : bool
        Whether it is a reference, such as one zone; the others are compared with it.
    refs : tuple of RunsRef, FileRef or ReportedRef
        Where the value comes from.
    """

    label: str
    value: float
    low: float
    high: float
    text: str
    near: bool = False
    refs: tuple[Ref, ...] = ()


@dataclass(frozen=True, kw_only=True)
class RoundTrip:
    """The round trip of a path and method for the comparison across studies, as in a row of `crossings`; ns.

    ``pair`` are the zones, ``runs`` is 0 if a text reports the value; what is unknown is empty or None.
    """

    placement: str
    region: str
    pair: str
    path: str
    method: str
    value: float
    low: float
    high: float
    p99: float | None
    added: float | None
    runs: int


@dataclass(frozen=True, kw_only=True)
class TypicalRun:
    """The median run of a path and method, for the comparison with the next report; canonical units.

    ``value`` is ``None`` if it is infinite: most probes were lost. ``resolution`` is the largest rounding error of the
    printed values.
    """

    path: str
    method: str
    value: float | None
    unit: str
    resolution: float


@dataclass(frozen=True, kw_only=True)
class Limit:
    """An upper limit of round trips that somebody published, with the words and the source; ns."""

    value: float
    printed: str
    source: str


def dot(
    label: str,
    values: Iterable[float],
    unit: str,
    *refs: Ref,
    near: bool = False,
    text: str = "",
    value: float | None = None,
    like: float | None = None,
) -> Dot:
    """Return the dot of one or several values, which shows their range; ``value`` is where it stands.

    ``refs`` are where the values come from; ``like`` as in `span`.
    """
    numbers = sorted(values)
    low, high = numbers[0], numbers[-1]
    middle = (low + high) / 2 if value is None else value
    return Dot(
        label=label, value=middle, low=low, high=high, text=text or span(numbers, unit, like=like), near=near, refs=refs
    )


@dataclass(frozen=True, kw_only=True)
class Card:
    """The answer of a study to its question.

    Attributes
    ----------
    study, title, question : str
        Name of the study, and what its manifest states.
    badge : str
        A key of `BADGES`: how far to trust the answer.
    reported : bool
        Whether the numbers come from a text, without logs.
    answer : Sentence
        What the data show: a description of these runs. Empty if there is nothing to describe.
    inference : Sentence
        What the data support beyond these runs.
    dots : tuple of Dot
        The values behind the answer.
    axis : str
        What the values are.
    source_says : str
        The first conclusion of the source, and what the data say about it.
    likely_cause, likely_cause_source : str
        An explanation from elsewhere. It is not a finding.
    next_step : str
        What to measure next.
    round_trips : tuple of RoundTrip
        Every round trip with a placement; empty for an emulated network.
    limits : tuple of Limit
        Upper limits that the expectations of the study state.
    paths : tuple of TypicalRun
        The typical round trip and rate of every path and method.
    assumed : tuple of str
        What is assumed of the runs, and what keeps them apart, a sentence each.
    readers : mapping of str to Sentence
        What the study says to the questions of readers.
    files : mapping of str to (str, int)
        By log file: its ``source_id`` and the number of its runs.
    """

    study: str
    title: str
    question: str
    badge: Badge
    reported: bool
    answer: Sentence
    inference: Sentence
    dots: tuple[Dot, ...]
    axis: str
    next_step: str
    source_says: str = ""
    likely_cause: str = ""
    likely_cause_source: str = ""
    round_trips: tuple[RoundTrip, ...] = ()
    limits: tuple[Limit, ...] = ()
    paths: tuple[TypicalRun, ...] = ()
    assumed: tuple[str, ...] = ()
    readers: Mapping[str, Sentence] = field(default_factory=dict)
    files: Mapping[str, tuple[str, int]] = field(default_factory=dict)

    @property
    def badge_text(self) -> str:
        """The badge in words."""
        return f"{BADGES[self.badge]}{', quoted from the source' if self.reported else ''}"

    def __repr__(self) -> str:
        values = [f"  {dot.label}: {dot.text}" for dot in self.dots]
        parts = [
            f"{self.question} [{self.badge_text}]",
            *self.assumed,
            f"In these runs: {plain_sentence(self.answer)}" if self.answer else "",
            *([f"{self.axis}:", *values] if values else []),
            f"How far this goes: {plain_sentence(self.inference)}" if self.inference else "",
            f"The source: {self.source_says}" if self.source_says else "",
            f"Likely cause, not a finding: {self.likely_cause} ({self.likely_cause_source})"
            if self.likely_cause
            else "",
            f"Next: {self.next_step}" if self.next_step else "",
        ]
        return "\n".join(part for part in parts if part)

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, Any]:
        dots = [asdict(dot) | {"refs": [ref_record(ref) for ref in dot.refs]} for dot in self.dots]
        sentences: dict[str, Any] = {"answer": _record(self.answer), "inference": _record(self.inference)}
        sentences["readers"] = {question: _record(sentence) for question, sentence in self.readers.items()}
        record = asdict(self) | sentences | {"badge_text": self.badge_text, "dots": dots}
        return {"text/plain": repr(self), "text/markdown": self._markdown(), CARD_TYPE: record}

    def _markdown(self) -> str:
        rows = [f"| {_cell(dot.label)} | {_cell(dot.text)} |" for dot in self.dots]
        table = ["", f"| | {_cell(self.axis)} |", "| --- | ---: |", *rows] if rows else []
        lines = [
            f"**{self.question}** ({self.badge_text})",
            *(f"\n{escape_markdown(line.strip())}" for line in self.assumed),
            f"\n**In these runs:** {_markdown(self.answer)}" if self.answer else "",
            *table,
            f"\n**How far this goes:** {_markdown(self.inference)}" if self.inference else "",
            f"\n**The source:** {self.source_says}" if self.source_says else "",
            f"\n**Likely cause, not a finding:** {self.likely_cause} Source: {self.likely_cause_source}"
            if self.likely_cause
            else "",
            f"\n**Next:** {self.next_step}" if self.next_step else "",
        ]
        return "\n".join(line for line in lines if line or table)


def _record(sentence: Sentence) -> list[dict[str, Any]]:
    """Return a sentence as JSON: the text of each part, and whether a number is bold and its references."""
    return [
        {"text": part}
        if isinstance(part, str)
        else {"text": part.text, "bold": part.bold, "refs": [ref_record(ref) for ref in part.refs]}
        for part in sentence
    ]


def _markdown(sentence: Sentence) -> str:
    return "".join(
        escape_markdown(part) if isinstance(part, str) else f"**{part.text}**" if part.bold else part.text
        for part in sentence
    )


def _cell(text: str) -> str:
    return text.replace("|", "\\|")
