"""What the card of a study says of its history."""

from __future__ import annotations

import pandas as pd
import pytest
from helpers.studies import load_card, load_history

import azlatency as az
from azlatency.kit.sentences import plain_sentence
from azlatency.pages.summary.nights import changed_levels


def test_a_change_in_two_steps_is_said_to_be_one() -> None:
    """dal12–dal14 of IBM Cloud: 2.19 ms to June 2025, 1.55 to 1.59 ms in September, 0.62 ms from November."""
    text = plain_sentence(changed_levels(load_history("ibm-cloud-zones")))
    assert text.startswith(
        "Changed in or before the 30 days to 2025-12-14: br-sao-sao01-a → br-sao-sao05-a, mean −2.15"
    )
    assert "; in or before the 30 days to 2025-11-09: us-south-dal12-a → us-south-dal14-a, mean " in text
    assert "−1.53 ms (−71 %), in more than one step, with 3 points near 1.57 ms between (10 of 100 series" in text


def test_nobody_is_asked_to_repeat_a_published_series() -> None:
    assert load_card("ibm-cloud-zones").next_step.startswith("Measure your own pairs in at least 11 rounds")


@pytest.mark.slow
def test_two_changes_of_one_window_share_its_date() -> None:
    text = plain_sentence(changed_levels(load_history("ibm-cloud-regions")))
    assert text.startswith("Changed in or before the 30 days to 2025-11-09: Tokyo → Toronto, mean −28 ms")
    assert " and Tokyo → Washington DC, mean −28 ms (−16 %) (15 of 110 series changed). " in text


def test_a_change_of_runs_in_an_assumed_order_does_not_lead() -> None:
    values = [1e6 + step % 3 * 1e3 + (step > 19) * 5e5 for step in range(40)]
    runs = pd.DataFrame({"path": "a → b", "method": "ping", "median_ns": values})
    found = az.history(runs.assign(file=[f"ping_{step}.log" for step in range(40)]))
    assert len(found.changes) == 1 and changed_levels(found) == ()
    text = plain_sentence(changed_levels(az.history(runs.assign(round=range(40)))))
    assert text.startswith("Changed at run 21: a → b, median +")
