"""What a report says about a study must not contradict itself."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from helpers.studies import load_card

from azlatency.kit.claim import Claim
from azlatency.pages.summary.answerable import Unanswered
from azlatency.pages.summary.card import CARD_TYPE
from azlatency.site.cards import card_view
from azlatency.site.claims import contradictions
from azlatency.site.outputs import Finding
from azlatency.site.pages import Chapter, Job, Made, StudyView

#: As page 01 of the study begins; the card shows 1,401–1,422, 105 and 66.8 µs.
ANSWER = "Median round trip: zones 1–2 **105 µs**; zone 3 to the others **1,401–1,422 µs**; inside zone 1 **66.8 µs**."


def told(
    answer: str = ANSWER, *findings: str, missing: str = "", title: str = "", step: str = "", claim: Claim | None = None
) -> list[str]:
    """Return the contradictions of a study with the card of the AKS study and a page on latency."""
    chapters = tuple(Chapter(path=Path(f"{stem}.ipynb"), title=stem) for stem in ("00_summary", "01_latency"))
    unanswered = (Unanswered(page=missing, question="?", measure="!", elsewhere=False),) if missing else ()
    view = StudyView(name="s", info={}, contents=(), unanswered=unanswered)
    card = card_view(load_card("westeurope-azure-cni")._repr_mimebundle_()[CARD_TYPE])
    card = replace(card, next_step=step or card.next_step)
    summary, latency = (Job(study=view, chapters=chapters, number=number) for number in (0, 1))
    said = (Finding("answer", answer), *(Finding("info", text) for text in findings))
    pages = [
        Made(job=summary, findings=(), card=card),
        Made(
            job=latency,
            findings=said,
            parts=(("figure", "", title, ()),),
            claims=((title, claim),) if claim else (),
        ),
    ]
    return list(contradictions(view, pages))


def test_a_study_that_agrees_with_itself_is_silent() -> None:
    assert told() == []


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        ((ANSWER, "The rate is 9.646 Gbit/s, 95 % CI −156.645 to 175.937 Gbit/s."), "shows a rate below zero"),
        ((ANSWER, "ratio 21.7, 95 % CI 0.005–88,392."), "shows an interval that says nothing"),
    ],
)  # fmt: skip
def test_what_contradicts_is_named(arguments: tuple[str, ...], problem: str) -> None:
    (found,) = told(*arguments)
    assert problem in found


def test_equal_quantity_method_and_path_mean_equal_values() -> None:
    # The card has 104.666 us; sockperf prints half of it.
    path, method = "AZ1 - AZ2", "sockperf TCP 14 B"
    (row,) = [row for row in load_card("westeurope-azure-cni").paths if (row.path, row.method) == (path, method)]
    claim = Claim(quantity="median_ns", method=method, values={path: row.value or 0.0})
    assert row.quantity == "median_ns" and told(claim=claim) == []
    (problem,) = told(claim=replace(claim, values={path: 52333.0}))
    assert problem.startswith("the card and s/01_latency.html differ in median_ns, sockperf TCP 14 B, AZ1 - AZ2: ")
    assert told(claim=replace(claim, quantity="mean_ns", values={path: 52333.0})) == []


def test_a_title_does_not_name_one_path_of_a_tie() -> None:
    # lagscope prints 459 us for both.
    claim = Claim(quantity="ratio", method="lagscope", values={"1b → 1c": 6.2, "1c → 1b": 6.2, "1a → 1c": 3.5})
    assert told(title="1b → 1c, 1c → 1b take 6.20 times as long", claim=claim) == []
    assert "names one of 2 tied paths" in told(title="1b → 1c takes 6.20 times as long", claim=claim)[0]


def test_a_title_is_held_to_the_same() -> None:
    assert "rate below zero" in told(title="Goodput −1.2–3.4 Gbit/s")[0]


def test_a_title_does_not_rank_single_runs() -> None:
    assert "ranks single runs" in told(title="Largest effect of one change: 6.20 times as long (a → b)")[0]
    assert told(title="Round trip of its slowest packet from 1.20 ms (a → b) to 2.40 ms (b → a)") == []


def test_the_next_step_is_not_a_page_that_the_study_has() -> None:
    assert "what s/01_latency.html shows" in told(step="Measure round trips on each path.")[0]


def test_a_question_is_not_both_answered_and_open() -> None:
    assert len(told(missing="01_latency")) == 2
