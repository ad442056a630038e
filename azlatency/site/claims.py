"""Whether what a report says about a study agrees with itself: its card, its answers and its open questions.

Answers, titles of charts and cards carry the values that they are about (`Claim`): equal quantity, method and path must
mean equal values. What is left are sentences that rank a tie, and intervals that no quantity can have.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator

from azlatency.kit.intervals import _WIDEST as WIDEST
from azlatency.kit.titles import tied
from azlatency.site.cards import CardView, plain_parts
from azlatency.site.markdown import plain_text
from azlatency.site.pages import Made, StudyView

_LATENCY = "01_latency"
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
    made = {page.job.chapter.path.stem: page for page in pages}
    card = next((page.card for page in made.values() if page.card), None)
    open_questions = {question.page for question in view.unanswered if not question.elsewhere}
    for stem in sorted(open_questions & made.keys()):
        yield f"{made[stem].page} is built although its question is not answerable"
    if card is not None and card.round_trips and _LATENCY in open_questions:
        yield "the card shows round trips, and “How long does a round trip take on each path?” is not answerable"
    yield from _unequal_values(card, made.values())
    yield from _split_ties(made.values())
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


def _unequal_values(card: CardView | None, pages: Iterable[Made]) -> Iterator[str]:
    """Yield a sentence for each value of a path that two places of a study say differently."""
    rows = card.paths if card is not None else ()
    known = {(row["quantity"], row["method"], row["path"]): (row["value"], "the card") for row in rows if row["value"]}
    for page in pages:
        for _, claim in page.claims:
            for path, value in claim.values.items():
                key = claim.quantity, claim.method, path
                other, place = known.setdefault(key, (value, page.page))
                if not math.isclose(other, value, rel_tol=1e-9):
                    yield f"{place} and {page.page} differ in {', '.join(key)}: {other} and {value}"


def _split_ties(pages: Iterable[Made]) -> Iterator[str]:
    """Yield a sentence for each title of a chart that names one path of a tie and not the others."""
    for page in pages:
        titles = {heading for kind, _, heading, _ in page.parts if kind == "figure"}
        for said, claim in page.claims:
            for choose in (min, max) if claim.values and said in titles else ():
                tie = tied(claim.values, choose(claim.values, key=claim.values.__getitem__))
                if 0 < sum(path in said for path in tie) < len(tie):
                    yield f"the title of a chart of {page.page} names one of {len(tie)} tied paths: {plain_text(said)}"
