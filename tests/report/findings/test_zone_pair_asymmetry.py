"""The findings of the page on directions."""

from __future__ import annotations

import pandas as pd
from helpers.studies import load

import azlatency as az
from azlatency.report import findings
from azlatency.studies.store.study import Study


def test_one_way_measurements_ask_for_the_other_direction(cni: Study) -> None:
    (finding,) = findings.zone_pair_asymmetry.find(az.asymmetry(cni), az.studies.configured_links(cni)).findings
    assert finding.kind == "act" and "both" in finding.text


def test_the_answer_says_the_largest_difference_of_round_trips_and_of_transfers() -> None:
    study = load("emulated-cloud")
    answer = findings.zone_pair_asymmetry.find(az.asymmetry(study), az.studies.configured_links(study)).findings[0]
    assert answer.kind == "answer" and len(answer.text.split()) <= 30
    # No interval of a pair of zones reaches farther from 1 than 1.21; the measured ratios are 0.985 to 1.01.
    assert "Initiators' round trips show no difference, at most **21 %** (ping 56 B, 95 % CI)" in answer.text
    # Both paths from zone 2 to zone 3 carry 0.79 Gbit/s and back 0.40 Gbit/s, so neither is the most different.
    assert "az2a → az3a, az2b → az3b carry **1.99–2.00 times** the reverse goodput" in answer.text


def test_a_large_difference_of_initiators_is_not_called_inconclusive() -> None:
    """Zone a waits three times as long for b as b for a, in each of eight rounds."""
    rows = [
        {"path": path, "zone": path[0], "peer_zone": path[-1], "round": number, "method": "m", "median_ns": value}
        for number in range(8)
        for path, value in (("a → b", 3e5 * (1 + number / 500)), ("b → a", 1e5 * (1 + number / 400)))
    ]
    links = az.studies.configured_links(load("emulated-nights"))
    text = findings.zone_pair_asymmetry.find(az.asymmetry(pd.DataFrame(rows)), links).findings[0].text
    assert text == "Initiators' round trips differ by at most **200 %** (m, 95 % CI)."


def test_a_level_that_changed_is_looked_up_in_the_history() -> None:
    """From round 46 on, one direction has half the rate; one ratio over all rounds does not say so."""
    study = load("emulated-nights")
    text = str(findings.zone_pair_asymmetry.find(az.asymmetry(study), az.studies.configured_links(study)))
    assert "carries **1.01 times** the reverse goodput in these runs, which drift (iperf3 TCP)" in text
    assert "see the page *History*" in text


def test_ratios_of_dependent_rounds_are_named() -> None:
    emulated = load("emulated-zones")
    measured = az.asymmetry(emulated)
    conclusion = findings.zone_pair_asymmetry.find(measured, az.studies.configured_links(emulated))
    methods = {one.labels["method"] for one in measured for pair in one.pairs if "dependent_runs" in pair.codes}
    (text,) = (finding.text for finding in conclusion.findings if "Neighbouring rounds" in finding.text)
    assert methods == {"ping 56 B"} and all(f"({method})" in text for method in methods)
    assert "in a random order within each round" in text
