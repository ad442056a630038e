"""The answer card of a study: question, answer in a sentence, badge, values, and what to measure next."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Any, Literal

import pandas as pd

from azlatency.kit.cells import Ref, ref_record
from azlatency.kit.objects import escape_markdown
from azlatency.kit.sentences import Sentence, plain_sentence
from azlatency.kit.titles import span

CARD_TYPE = "application/vnd.azlatency.card+json"
#: The badge of numbers that a text reports without logs.
QUOTED = "quoted from the source"
Badge = Literal["indicative", "incomplete", "replicated", "published", "not_measured", "emulated"]
BADGES: dict[Badge, str] = {
    "indicative": "one run per path",
    "incomplete": "some without interval",
    "replicated": "repeated runs",
    "published": "published means",
    "not_measured": "not measured",
    "emulated": "emulated",
}
#: What the badges mean, by their text.
MEANINGS = {
    BADGES["indicative"]: "each path was measured once; how much a second run differs is not known",
    BADGES["incomplete"]: "a path that was measured once, or too few times, has no interval",
    BADGES["replicated"]: "each path was measured several times and has a 95 % interval",
    BADGES["published"]: "a provider publishes means; the measurements behind them are not known",
    QUOTED: "numbers of a text, without the logs",
    BADGES["not_measured"]: "no measurement was published",
    BADGES["emulated"]: "a lab with configured delays, not a cloud",
}


@dataclass(frozen=True, kw_only=True)
class Dot:
    """One value of a card in its unit, as it is drawn and as it is written (``text``).

    ``low`` and ``high`` are the range of the runs, or the interval across runs. ``near``: a reference, such as one
    zone, with which the others are compared. ``refs``: where the value comes from.
    """

    label: str
    value: float
    low: float
    high: float
    text: str
    near: bool = False
    refs: tuple[Ref, ...] = ()


def dot(
    label: str,
    values: Iterable[float],
    unit: str,
    *refs: Ref,
    near: bool = False,
    text: str = "",
    value: float | None = None,
    like: float | None = None,
    step: float = 0.0,
) -> Dot:
    """Return the dot of one or several values, which shows their range; ``value`` is where it stands.

    ``refs`` are where the values come from; ``like`` and ``step`` as in `span`.
    """
    numbers = sorted(values)
    low, high = numbers[0], numbers[-1]
    middle = (low + high) / 2 if value is None else value
    text = text or span(numbers, unit, like=like, step=step)
    return Dot(label=label, value=middle, low=low, high=high, text=text, near=near, refs=refs)


@dataclass(frozen=True, kw_only=True)
class Answer:
    """What one kind of answer says: a description of these runs, and what the data support beyond them (``inference``).

    ``badge``: how far to trust it; ``dots``: the values behind it, and ``axis`` what they are; ``next_step``: what to
    measure next; ``reported``: the numbers come from a text, without logs.
    """

    badge: Badge
    answer: Sentence = ()
    inference: Sentence = ()
    dots: tuple[Dot, ...] = ()
    axis: str = ""
    next_step: str = ""
    reported: bool = False


#: The message size behind a path; a path of which no log names an end.
_SIZE, _UNKNOWN = re.compile(r", [\d,]+ B$"), ": ? → ?"


def say_ends_once(answer: Answer) -> Answer:
    """Return an answer with the ends that all its paths share beside its axis; their scenarios tell them apart."""
    names = [dot.label.rpartition(": ") for dot in answer.dots]
    ends = {mark + behind for _, mark, behind in names}
    if len(names) < 2 or len(ends) > 1 or not all(shared.startswith(": ") and "→" in shared for shared in ends):
        return answer
    (shared,) = ends
    path = _SIZE.sub("", shared)

    def short(sentence: Sentence) -> Sentence:
        parts = (part.replace(shared, "") if isinstance(part, str) else part for part in sentence)
        return tuple(part.replace(path, "") if isinstance(part, str) else part for part in parts)

    dots = tuple(replace(dot, label=scenario) for dot, (scenario, *_) in zip(answer.dots, names, strict=True))
    return replace(
        answer,
        answer=short(answer.answer),
        inference=short(answer.inference),
        dots=dots,
        axis=answer.axis + shared.replace(_UNKNOWN, "").replace(": ", ", ", 1),
    )


@dataclass(frozen=True, kw_only=True, eq=False)
class Card(Answer):
    """The answer of a study to its question, for its summary and for the index of the report.

    ``source_says`` is the first conclusion of the source, and what the data say about it; ``likely_cause`` an
    explanation from elsewhere, and not a finding; ``assumed`` what is assumed of the runs, a sentence each; ``readers``
    what the study says to the questions of readers. ``round_trips``: the round trip of each path with a placement, for
    the comparison across studies, as `crossings` returns it: ``value``, ``low``, ``high``, ``p99`` and ``added`` in ns,
    ``runs`` (0 if a text reports it), ``resolution`` (step of the print in ns), ``least`` and ``most`` of the windows
    of a published series, and ``refs``, where it comes from. ``limits``: the upper limits that expectations state:
    ``value`` in ns, ``printed``, ``source``. ``paths``: the median run of each ``path`` and ``method``, for the
    comparison with the next report: ``value`` in ``unit``, infinite if most probes were lost, and the largest rounding
    error of its print (``resolution``). ``files``: by log file, its ``source_id`` and the number of its runs.
    """

    study: str
    title: str
    question: str
    source_says: str = ""
    likely_cause: str = ""
    likely_cause_source: str = ""
    round_trips: pd.DataFrame = field(default_factory=pd.DataFrame)
    limits: pd.DataFrame = field(default_factory=pd.DataFrame)
    paths: pd.DataFrame = field(default_factory=pd.DataFrame)
    assumed: tuple[str, ...] = ()
    readers: Mapping[str, Sentence] = field(default_factory=dict)
    files: Mapping[str, tuple[str, int]] = field(default_factory=dict)

    @property
    def badge_text(self) -> str:
        """The badge in words."""
        # How many runs are behind a quoted number is often not said.
        return QUOTED if self.reported else BADGES[self.badge]

    def __repr__(self) -> str:
        values = [f"{self.axis}:", *(f"  {dot.label}: {dot.text}" for dot in self.dots)] if self.dots else []
        answer, *others = (f"{name}: {said}" if said else "" for name, said in self._said(plain_sentence))
        parts = [f"{self.question} [{self.badge_text}]", answer, *values, *self.assumed, *others]
        return "\n".join(part for part in parts if part)

    def _said(self, written: Callable[[Sentence], str]) -> list[tuple[str, str]]:
        """Return the parts of the card with their names; those that the study does not have are empty."""
        cause = f"{self.likely_cause} Source: {self.likely_cause_source}" if self.likely_cause else ""
        return [
            ("In these runs", written(self.answer)),
            ("How far this goes", written(self.inference)),
            ("The source", self.source_says),
            ("Background, not a finding", cause),
            ("Next", self.next_step),
        ]

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, Any]:
        record = vars(self) | {
            "badge_text": self.badge_text,
            "answer": _record(self.answer),
            "inference": _record(self.inference),
            "readers": {question: _record(sentence) for question, sentence in self.readers.items()},
            "dots": [asdict(dot) | {"refs": [ref_record(ref) for ref in dot.refs]} for dot in self.dots],
            **{name: _rows(getattr(self, name)) for name in ("round_trips", "limits", "paths")},
        }
        return {"text/plain": repr(self), "text/markdown": self._markdown(), CARD_TYPE: record}

    def _markdown(self) -> str:
        rows = [f"| {_cell(dot.label)} | {_cell(dot.text)} |" for dot in self.dots]
        table = ["", f"| | {_cell(self.axis)} |", "| --- | ---: |", *rows] if rows else []
        answer, *others = (f"\n**{name}:** {said}" if said else "" for name, said in self._said(_markdown))
        assumed = [f"\n{escape_markdown(line.strip())}" for line in self.assumed]
        lines = [f"**{self.question}** ({self.badge_text})", answer, *table, *assumed, *others]
        return "\n".join(line for line in lines if line or table)


def _rows(frame: pd.DataFrame) -> list[dict[str, Any]]:
    """Return rows as JSON, which has neither a missing number nor an infinite one."""
    return [
        {
            str(name): None if isinstance(value, float) and not math.isfinite(value) else value
            for name, value in row.items()
        }
        for row in frame.to_dict("records")
    ]


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
