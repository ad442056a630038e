"""Cards, titles and answers say that paths differ where the comparison of their runs does, and only there."""

from __future__ import annotations

import re

import pytest
from helpers.pair_runs import PATHS, equal_law, pair_data, pair_runs
from helpers.results import compare_runs
from scipy.stats import binom

import azlatency as az
from azlatency.kit.cells import RunsRef
from azlatency.kit.differences import difference
from azlatency.kit.groups import answer_of
from azlatency.kit.objects import Chart
from azlatency.kit.sentences import plain_sentence
from azlatency.kit.words import at_most, ratio_ends
from azlatency.pages import common
from azlatency.pages.summary.card import Answer
from azlatency.pages.summary.zones import pairs_of_zones
from azlatency.stats.across_runs.path_differences import path_differences


def _card(values: list[list[float]]) -> tuple[Answer, str]:
    card = pairs_of_zones(pair_data(values))
    assert card is not None
    return card, plain_sentence(card.answer)


def _title(values: list[list[float]]) -> str:
    runs = pair_runs(values)
    chart = common.typical_forest(runs, az.summarize(runs, "median_ns"))
    assert isinstance(chart, Chart)
    return chart.title


def _answer(values: list[list[float]]) -> str:
    runs = pair_runs(values)
    return answer_of(runs, "median_ns", az.summarize(runs, "median_ns"), "median round trip", "ns")[0]


@pytest.mark.costly
@pytest.mark.parametrize(
    ("runs", "seeds"), [(3, 4), *(pytest.param(runs, 200, marks=pytest.mark.slow) for runs in (3, 5, 7, 20))]
)
def test_pairs_of_one_law_are_said_to_differ_at_most_at_the_error(runs: int, seeds: int) -> None:
    said = [_card(equal_law(seed, runs))[1] for seed in range(seeds)]
    differ = sum("The pairs differ" in text or "is far" in text for text in said)
    assert differ <= binom.ppf(0.999, seeds, 0.05)
    assert all(text.startswith(("Cannot tell", "No difference", "The pairs differ")) for text in said)


@pytest.mark.costly
def test_where_runs_cannot_tell_the_card_the_title_and_the_answer_say_so() -> None:
    values = equal_law(3, 7)
    card, text = _card(values)
    assert text.startswith(
        "Cannot tell whether the pairs differ (1b → 1c may take 0.801 to 1.31 times as long as 1a → 1b)"
    )
    assert card.badge == "replicated" and "7 rounds" not in card.next_step
    assert " to " not in _title(values)
    assert "; cannot tell them apart: the ratio may be 0.801 to 1.31" in _answer(values)
    assert len(_answer(values).split()) <= 30


@pytest.mark.costly
def test_a_true_difference_is_said_with_its_ratio_and_interval() -> None:
    values = equal_law(1, 7, (1.0, 1.0, 1.6))
    card, text = _card(values)
    assert (
        text.startswith("The pairs differ: 1b → 1c typically takes 1.")
        and ", adjusted for 3 comparisons; 1a → 1" in text
    )
    # Two of the three have one law: nothing tells them apart.
    assert re.search(r"; 1a → 1(b against 1a → 1c|c against 1a → 1b): cannot tell, 0\.\d+–1\.\d+\): 1a–1b ", text)
    first = plain_sentence(card.inference).split("µs")[0]
    assert first.startswith("Typical runs: ") and "1b → 1c" in plain_sentence(card.inference)
    assert ": median round trip from " in _title(values) and "(1b → 1c)" in _title(values)
    assert "zones 1b–1c **" in _answer(values) and "cannot tell" not in _answer(values)


def test_several_comparisons_that_cannot_tell_are_counted() -> None:
    """Of four paths only d is longer: its three comparisons differ, and the three of a, b and c cannot tell."""
    spread = (0.9, 0.95, 1.0, 1.02, 1.05, 1.08, 1.1)
    runs = {
        name: [1e5 * level * step for step in spread] for name, level in zip("abcd", (1, 1.01, 1.02, 3), strict=True)
    }
    found = path_differences(runs)
    text = plain_sentence(difference(found, "paths", lambda path: RunsRef((path,))))
    assert ", adjusted for 6 comparisons; 3 of 6: cannot tell): " in text


def test_a_comparison_of_equal_paths_has_a_bound() -> None:
    values = [
        [level + 100 * (number * step % 7) for number in range(8)] for step, level in ((1, 3e5), (2, 3e5), (3, 5e5))
    ]
    assert re.search(r"comparisons; 1a → 1. against 1a → 1.: no difference, at most 0\.\d+ %\): ", _card(values)[1])


def test_single_runs_are_described() -> None:
    card, text = _card([[1401e3], [105e3], [300e3]])
    assert text == "Measured once: 300–1,401 µs from zone 1b to the other zones, 105 µs between zones 1a and 1c."
    assert card.badge == "indicative"
    assert "at least 7 rounds" in card.next_step


def test_equal_pairs_have_a_bound() -> None:
    values = [[3e5 + 100 * (number * step % 7) for number in range(8)] for step in (1, 2, 3)]
    card, text = _card(values)
    assert text.startswith("No difference between the pairs (at most 0.") and card.badge == "replicated"
    assert "; no difference (at most 0." in _answer(values)


def test_the_intervals_of_the_paths_of_the_claim_are_among_those_shown() -> None:
    card, text = _card(equal_law(1, 7, (1.0, 1.0, 1.6)))
    claimed = [path for path in PATHS if path in text.split(" (95 % CI")[0]]
    assert len(claimed) == 2 and all(path in plain_sentence(card.inference) for path in claimed)


def test_a_badge_names_intervals_only_if_the_card_shows_them() -> None:
    card, _ = _card([[1e3, 3e5], [1e4, 9e6], [3e5]])
    assert card.badge == "incomplete" and "No interval: 1a → 1b (2 runs: too far apart)" in plain_sentence(
        card.inference
    )


def test_ratios_are_said_in_words() -> None:
    wide = compare_runs([1e5, 9e6], [1e5, 2e5], unit="ns")
    assert ratio_ends(wide["ratio_low"], wide["ratio_high"]) == "0 to more than 1,000"
    assert at_most([0.97, 1.02]) == "3.1 %"
