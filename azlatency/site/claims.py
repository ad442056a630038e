"""Whether what a report says about a study agrees with itself: its card, its answers and its open questions.

The same functions compute the numbers of all pages, and `azlatency verify` recomputes them from the logs. What is left
are sentences that choose another method or another level, and intervals that no quantity can have.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from azlatency.report.tables.common import WIDEST
from azlatency.site.cards import plain_parts
from azlatency.site.markdown import plain_text
from azlatency.site.pages import Made, StudyView

_LATENCY = "01_latency"
_NUMBER = re.compile(r"\d[\d,]*(?:\.\d+)?")
#: A rate below zero, and an interval in one unit: its ends.
_NEGATIVE = re.compile(r"[−-]\d[\d.,]*(?: to |–)[−-]?\d[\d.,]* [kMGT]?(?:bit|B)/s")
_INTERVAL = re.compile(r"CI (\d[\d,.]*)–(\d[\d,.]*)")
#: Words that rank; "slowest packet" and "fastest connect" name a statistic.
_RANKS = re.compile(r"\b(longest|shortest|highest|lowest|nearest|farthest|largest|smallest|most)\b", re.I)
#: By page: what a card must not call the next step if the page is there.
_NEXT = {
    "01_latency": re.compile(r"\bmeasure round trips\b", re.I),
    "08_tool_agreement": re.compile(r"\bcompare the tools\b|\bsecond tool\b", re.I),
}


def contradictions(view: StudyView, pages: Iterable[Made]) -> Iterator[str]:
    """Yield what the pages of a study say that contradicts something else, each in a sentence."""
    made = {page.job.chapter.path.stem: page for page in pages if not page.job.chapter.is_story}
    card = next((page.card for page in made.values() if page.card), None)
    open_questions = {question.page for question in view.unanswered if not question.reported}
    for stem in sorted(open_questions & made.keys()):
        yield f"{made[stem].page} is built although its question is not answerable"
    if card is not None and card.round_trips and _LATENCY in open_questions:
        yield "the card shows round trips, and “How long does a round trip take on each path?” is not answerable"
    if card is not None and _LATENCY in made and card.badge in ("indicative", "replicated"):
        yield from _other_numbers(card.axis, [dot.text for dot in card.dots], made[_LATENCY])
    titles = [(page.page, heading) for page in made.values() for kind, _, heading, _ in page.parts if kind == "figure"]
    if card is not None:
        for stem in sorted(made.keys() & _NEXT.keys()):
            if _NEXT[stem].search(card.next_step):
                yield f"the next step of the card is what {made[stem].page} shows: {plain_text(card.next_step)}"
        if card.badge == "indicative":
            for place, title in titles:
                if _RANKS.search(title):
                    yield f"the title of a chart of {place} ranks single runs: {plain_text(title)}"
    said = [(page.page, finding.text) for page in made.values() for finding in page.findings]
    said += titles
    if card is not None:
        said += [("the card", plain_parts(part)) for part in (card.answer, card.inference)]
    for place, text in said:
        if _NEGATIVE.search(text):
            yield f"{place} shows a rate below zero: {plain_text(text)}"
        ends = ([float(end.replace(",", "").rstrip(".")) for end in match] for match in _INTERVAL.findall(text))
        if any(high > WIDEST * low for low, high in ends):
            yield f"{place} shows an interval that says nothing: {plain_text(text)}"


def _other_numbers(axis: str, shown: Iterable[str], page: Made) -> Iterator[str]:
    """Yield a sentence if the card and the answer about the same statistic have no number in common."""
    answer = next((finding.text for finding in page.findings if finding.kind == "answer"), "")
    statistic = axis.split(maxsplit=1)[0]
    if "RTT" not in axis or "reported" in axis or not plain_text(answer).lower().startswith(statistic):
        return
    numbers = {number for text in shown for number in _NUMBER.findall(text)}
    if numbers and numbers.isdisjoint(_NUMBER.findall(answer)):
        yield f"the card and {page.page} share no number of the {axis}: {plain_text(answer)}"
