"""The record of what a page says in numbers."""

from __future__ import annotations

import pandas as pd
from helpers.results import NOTHING
from helpers.studies import load

import azlatency as az
from azlatency.kit.claim import Claim
from azlatency.kit.groups import main_method
from azlatency.kit.objects import FINDINGS_TYPE
from azlatency.pages import common, latency


def test_a_number_of_runs_is_said_in_words() -> None:
    claim = Claim(quantity="median_ns", method="ping", values={"a": 1.0, "b": 2.0}, runs={"a": 1, "b": 1})
    assert claim.counts == "one run each"
    assert Claim(quantity="median_ns", method="ping", values={}, runs={"a": 1, "b": 3}).counts == "1 to 3 runs each"


def test_an_answer_and_a_chart_carry_the_values_that_they_are_about() -> None:
    study = load("aws-euwest1-lagscope")
    runs, typical = az.latency(study), az.summarize(az.latency(study), "median_ns")
    chart = common.typical_forest(runs, typical)
    answer = latency.find(runs, typical, NOTHING, NOTHING)
    record = chart._repr_mimebundle_()[1]["azlatency"]["claim"]
    assert record == answer._repr_mimebundle_()[FINDINGS_TYPE][0]["claim"]
    # Percentile 50 of the two logs between 1b and 1c: 459 us.
    assert record["quantity"] == "median_ns" and record["values"]["1b → 1c"] == record["values"]["1c → 1b"] == 459e3


def test_a_run_that_lost_most_of_its_probes_is_the_slowest_one() -> None:
    """Two pages that left it out of the median contradicted the card, which did not."""
    runs = pd.DataFrame({"path": "a", "method": "ping", "median_ns": [1e6, 2e6, float("inf")]})
    main = main_method(runs, "median_ns", az.summarize(runs, "median_ns"))
    assert main.values == {"a": 2e6} and main.ranges == {"a": (1e6, 2e6)}
