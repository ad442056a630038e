"""The record of what a page says in numbers."""

from __future__ import annotations

from azlatency.kit.claim import Claim


def test_a_number_of_runs_is_said_in_words() -> None:
    claim = Claim(quantity="median_ns", method="ping", values={"a": 1.0, "b": 2.0}, runs={"a": 1, "b": 1})
    assert claim.counts == "one run each"
    assert Claim(quantity="median_ns", method="ping", values={}, runs={"a": 1, "b": 3}).counts == "1 to 3 runs each"
