"""Sentences made from the rows of a frame."""

from __future__ import annotations

import pandas as pd
import pytest
from helpers.studies import load

import azlatency as az
from azlatency.kit.words import most_apart, ratio_result, with_more_connections


def test_a_row_is_a_sentence_with_its_flags_and_several_rows_explain_them_once() -> None:
    methods = az.stats.agreement(load("emulated-zones")).methods
    lines = az.say(methods).splitlines()
    assert len(lines) == 7 and sum(line.endswith("(different packets)") for line in lines) == 3
    assert lines[-1].startswith("different packets: the runs differ in tool")
    alike = methods[(methods["first"] == "lagscope TCP") & (methods["second"] == "sockperf TCP 14 B")]
    assert az.say(alike).endswith("ratio 0.99, 95 % CI 0.97–1.02, a new pair 0.89–1.11, 24 pairs")


def test_what_is_no_result_has_no_sentences() -> None:
    assert az.say(pd.DataFrame()) == ""
    with pytest.raises(ValueError, match="no sentences for a frame with the columns path"):
        az.say(pd.DataFrame({"path": ["a → b"]}))


def _ratio(ratio: float, method: str = "iperf3", **names: str) -> dict[str, object]:
    row = {"what": "", "ratio": ratio, "ratio_low": 0.98 * ratio, "ratio_high": 1.02 * ratio}
    return {**row, "verdict": "different", "flags": "", "method": method, **names}


def test_a_title_names_every_pair_of_a_tie_and_one_method_only() -> None:
    twice = [_ratio(2.0, **{"from": "a", "to": "c"}), _ratio(2.0, **{"from": "b", "to": "c"})]
    other = _ratio(2.0, "ntttcp", **{"from": "a", "to": "c"})
    assert most_apart(pd.DataFrame([*twice, other])) == ("iperf3", {"a → c": 2.0, "b → c": 2.0})
    title = "Goodput: 2 of 2 differ; a → c, b → c against the way back, 2.00 times as much (iperf3)"
    assert ratio_result(pd.DataFrame(twice), "Goodput") == title


def test_a_half_is_as_large_a_change_as_the_double() -> None:
    assert most_apart(pd.DataFrame([_ratio(0.5, **{"from": "a", "to": "c"})])) == ("iperf3", {"c → a": 2.0})
    # One path took twice as long, the other half: neither is the largest change.
    sides = pd.DataFrame([_ratio(2.0, path="a → c"), _ratio(0.5, path="b → c")])
    assert most_apart(sides)[1] == {} and ratio_result(sides, "Goodput") == "Goodput: 2 of 2 differ; ratio 0.500–2.00"


def test_connections_are_compared_within_one_direction() -> None:
    names = ("iperf3 TCP", "iperf3 stream-reverse TCP 4 connections", "iperf3 TCP 8 connections")
    runs = pd.DataFrame(
        {"path": "a → b", "method": names, "connections": [1.0, 4.0, 8.0], "throughput_bit_s": [1e9, 2e9, 3e9]}
    )
    assert with_more_connections(runs, "iperf3 TCP") == "; 8 connections: 3.00 Gbit/s (iperf3 TCP 8 connections)"
    assert with_more_connections(runs[:2], "iperf3 TCP") == ""
