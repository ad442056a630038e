"""What a report says about a study must not contradict itself."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from helpers.studies import load_card

from azlatency.report.answerable import Unanswered
from azlatency.report.card import CARD_TYPE
from azlatency.site.cards import card_view
from azlatency.site.claims import contradictions
from azlatency.site.outputs import Finding
from azlatency.site.pages import Chapter, Job, Made, StudyView

#: As page 01 of the study begins; the card shows 1,401–1,422, 105 and 66.8 µs.
ANSWER = "Median round trip: zones 1–2 **105 µs**; zone 3 to the others **1,401–1,422 µs**; inside zone 1 **66.8 µs**."


def told(answer: str = ANSWER, *findings: str, missing: str = "", title: str = "", step: str = "") -> list[str]:
    """Return the contradictions of a study with the card of the AKS study and a page on latency."""
    chapters = tuple(Chapter(path=Path(f"{stem}.ipynb"), title=stem) for stem in ("00_summary", "01_latency"))
    unanswered = (Unanswered(page=missing, question="?", measure="!", reported=False),) if missing else ()
    view = StudyView(name="s", info={}, contents=(), unanswered=unanswered)
    card = card_view(load_card("westeurope-azure-cni")._repr_mimebundle_()[CARD_TYPE])
    card = replace(card, next_step=step or card.next_step)
    summary, latency = (Job(study=view, chapters=chapters, number=number) for number in (0, 1))
    said = (Finding("answer", answer), *(Finding("info", text) for text in findings))
    pages = [
        Made(job=summary, findings=(), card=card),
        Made(job=latency, findings=said, parts=(("figure", "", title, ()),)),
    ]
    return list(contradictions(view, pages))


def test_a_study_that_agrees_with_itself_is_silent() -> None:
    assert told() == []


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        ((ANSWER.replace("105", "52.5").replace("1,401–1,422", "700–711").replace("66.8", "33.4"),),
         "the card and s/01_latency.html share no number of the median RTT, sockperf, log scale: Median round trip"),
        ((ANSWER, "The rate is 9.646 Gbit/s, 95 % CI −156.645 to 175.937 Gbit/s."), "shows a rate below zero"),
        ((ANSWER, "ratio 21.7, 95 % CI 0.005–88,392."), "shows an interval that says nothing"),
    ],
)  # fmt: skip
def test_what_contradicts_is_named(arguments: tuple[str, ...], problem: str) -> None:
    (found,) = told(*arguments)
    assert problem in found


def test_a_title_is_held_to_the_same() -> None:
    assert "rate below zero" in told(title="Goodput −1.2–3.4 Gbit/s")[0]


def test_a_title_does_not_rank_single_runs() -> None:
    assert "ranks single runs" in told(title="Largest effect of one change: 6.20 times as long (a → b)")[0]
    assert told(title="Round trip of its slowest packet from 1.20 ms (a → b) to 2.40 ms (b → a)") == []


def test_the_next_step_is_not_a_page_that_the_study_has() -> None:
    assert "what s/01_latency.html shows" in told(step="Measure round trips on each path.")[0]


def test_a_question_is_not_both_answered_and_open() -> None:
    assert len(told(missing="01_latency")) == 2
