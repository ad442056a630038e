"""What the card of a study says of its history."""

from __future__ import annotations

import pandas as pd
import pytest
from helpers.studies import load, load_card, load_history

import azlatency as az
from azlatency.kit.objects import Note
from azlatency.kit.sentences import plain_sentence
from azlatency.pages.summary.nights import changed_levels, changes, changes_by_date


@pytest.mark.costly
def test_a_change_in_two_steps_is_said_to_be_one() -> None:
    """dal12–dal14 of IBM Cloud: 2.19 ms to June 2025, 1.55 to 1.59 ms in September, 0.62 ms from November."""
    text = plain_sentence(changed_levels(load_history("ibm-cloud-zones"), az.latency(load("ibm-cloud-zones"))))
    assert text.startswith("Changed by 2025-12-14: Sao Paulo sao01–sao05, mean −2.15")
    assert "; by 2025-11-09: Dallas dal12–dal14, mean " in text
    assert "−1.54 ms (−71 %), in more than one step, with 3 points between the levels (10 of 100 series" in text


@pytest.mark.slow
def test_paths_that_fell_with_another_at_the_end_are_named_with_it() -> None:
    """The newest windows: 101 and 101 ms between Tokyo and Sydney, 108 and 108 ms between Osaka and Sydney.

    Before, the medians were 117 and 116 ms, and 123.5 ms both ways; no other path of Sydney fell by 5 %.
    """
    runs = az.latency(load("ibm-cloud-regions"))
    text = plain_sentence(changes_by_date(load_history("ibm-cloud-regions"), runs))
    assert "not confirmed: Tokyo ↔ Sydney −14 % to −13 % and Osaka ↔ Sydney −13 %; 2 series differ" in text


def test_nobody_is_asked_to_repeat_a_published_series() -> None:
    assert load_card("ibm-cloud-zones").next_step.startswith("Measure your own pairs in at least 11 rounds")


@pytest.mark.slow
def test_two_changes_of_one_window_share_its_date() -> None:
    text = plain_sentence(changed_levels(load_history("ibm-cloud-regions"), az.latency(load("ibm-cloud-regions"))))
    assert text.startswith("Changed by 2025-11-09: Tokyo → Toronto, mean −28 ms")
    assert " and Tokyo → Washington DC, mean −28 ms (−17 %) (16 of 110 series changed, 1 significant" in text


def test_a_change_of_runs_in_an_assumed_order_does_not_lead() -> None:
    values = [1e6 + step % 3 * 1e3 + (step > 19) * 5e5 for step in range(40)]
    runs = pd.DataFrame({"path": "a → b", "method": "ping", "median_ns": values, "region": None, "placement": None})
    found = az.history(runs.assign(file=[f"ping_{step}.log" for step in range(40)]))
    assert len(found.changes) == 1 and changed_levels(found, runs) == ()
    text = plain_sentence(changed_levels(az.history(runs.assign(round=range(40))), runs))
    assert text.startswith("Changed at run 21: a → b, median +")


def test_a_summary_lists_the_changes_and_the_regions_without_one() -> None:
    """mad02–mad05 0.61 to 0.64 ms and mad04–mad05 0.77 to 0.81 ms in all 22 windows of zones.csv.gz: 1.052 times."""
    shown = changes(load_history("ibm-cloud-zones"), az.latency(load("ibm-cloud-zones")))
    assert not isinstance(shown, Note)
    rows = {row["path"]: row for row in shown.rows}
    assert (len(rows), rows["Dallas dal12–dal14"]["change"]) == (18, "−71 %")
    assert rows["Sao Paulo sao01–sao05"]["levels"] == "2.68 ms → 530 µs"
    # dal10–dal12: 1.36, 1.64, 1.99, 2.08, 2.14 and 2.01 ms from 2026-07-12 on, each the mean of 30 days.
    assert rows["Dallas dal10–dal12"]["now"] == "2.01 ms, off this level"
    assert rows["Dallas dal12–dal14"]["now"] == "600 µs"
    late = rows["London lon04–lon05"]
    assert (late["levels"], late["change"], late["now"]) == ("2.06 ms → 1.39 ms", "−33 %, not confirmed", "1.39 ms")
    assert rows["Chennai and Mumbai"]["change"] == "too short to test"
    last = rows["Madrid, Montreal, Osaka, Sydney, Tokyo and Toronto"]
    assert last["change"].startswith("no change confirmed; ") and ": Madrid 1.05, Sydney 1.21," in last["change"]
    assert last["levels"] == "–"


def test_runs_of_a_lab_have_no_table_of_published_changes() -> None:
    assert isinstance(changes(load_history("emulated-nights"), az.latency(load("emulated-nights"))), Note)
    note = changes(load_history("westeurope-psping"), az.latency(load("westeurope-psping")))
    assert isinstance(note, Note) and note.text == "This study has no published series."
