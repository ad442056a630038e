"""Titles: the result in words."""

from __future__ import annotations

from statistics import median

import pytest

from azlatency.kit.titles import by_method, extremes, names, span, tied, times
from azlatency.stats.across_runs.main_method import Measured
from azlatency.stats.across_runs.path_differences import path_differences


def test_the_ends_are_named_with_their_values() -> None:
    values = {"AZ1 - AZ3": 1.4e6, "AZ1 - AZ2": 1.05e5, "Single node": 3.3e4}
    sentence = extremes("median round trip", values, "ns", "sockperf")
    assert sentence == "sockperf: median round trip from 33.0 µs (Single node) to 1,400 µs (AZ1 - AZ3)"


def test_a_tie_is_not_ranked() -> None:
    assert extremes("goodput", {"a": 4e9, "b": 4e9}, "bit/s", "iperf3") == "iperf3: goodput 4.00 Gbit/s (a, b)"
    title = extremes("p99", {"a → b": 459e3, "b → a": 458e3, "a → c": 263e3}, "ns", "lagscope")
    assert title == "lagscope: p99 from 263 µs (a → c) to 458–459 µs (b → a, a → b)"


def test_overlapping_intervals_are_a_tie() -> None:
    values, intervals = {"a": 100.0, "b": 150.0, "c": 300.0}, {"a": (90.0, 160.0), "b": (140.0, 170.0)}
    assert tied(values, "a", intervals) == {"a": 100.0, "b": 150.0} and tied(values, "c", intervals) == {"c": 300.0}


def test_paths_whose_runs_cannot_tell_them_apart_are_a_tie() -> None:
    runs = {"a": [90e3, 110e3, 100e3, 130e3], "b": [150e3, 95e3, 160e3, 140e3], "c": [300e3, 310e3, 290e3, 305e3]}
    values = {path: median(some) for path, some in runs.items()}
    title = extremes("mean", values, "ns", "ping", found=path_differences(runs))
    assert title == "ping: mean from 105–145 µs (a, b) to 303 µs (c)"


def test_runs_without_an_interval_are_cited_as_a_range() -> None:
    values, ranges = {"a": 2.25e6, "b": 1.53e6}, {"a": (0.27, 2.28e6), "b": (862.0, 2.28e6)}
    title = extremes("goodput", values, "bit/s", "iperf3", ranges=ranges)
    assert title == "iperf3: goodput 0.270 bit/s–2.28 Mbit/s (b, a)"


def test_the_method_with_most_paths_speaks_and_never_a_sparse_one_at_a_tie() -> None:
    values = [
        ("ping", "a", 9.0),
        ("ping", "b", 1.0),
        ("sockperf", "a", 1.0),
        ("sockperf", "b", 2.0),
        ("qperf", "a", 3.0),
    ]
    assert by_method((Measured(method, path), value) for method, path, value in values) == (
        "sockperf",
        {"a": 1.0, "b": 2.0},
    )


def test_many_names_are_counted() -> None:
    assert names(["a", "b", "a"]) == "a, b" and names(list("abcd")) == "4 paths"


def test_of_several_values_of_a_path_the_median_is_said() -> None:
    values = [("ping", "a", 1.0), ("ping", "a", 5.0), ("ping", "a", 2.0), ("ping", "a", 3.0)]
    assert by_method((Measured(method, path), value) for method, path, value in values) == ("ping", {"a": 2.5})


def test_a_ratio_is_said_in_words_from_two_on() -> None:
    assert times(1.214, "as long") == "1.21× as long"
    assert times(0.83, "as long") == "0.830× as long"
    assert times(6.2, "as long") == "6.20 times as long"
    assert times(0.000768, "as long") == "0.000768× as long"
    assert times([8.32, 8.11], "as long") == "8.11–8.32 times as long"
    assert times([0.25, 0.2], "as long") == "0.200–0.250× as long"
    assert times([0.2, 2.1], "as long") == "0.200–2.10× as long"


@pytest.mark.parametrize(
    ("values", "text"),
    [
        ((121e3,), "121 µs"),
        ((1398e3, 1436e3), "1.40–1.44 ms"),
        ((950e3, 1436e3), "0.95–1.44 ms"),
        ((40.1, 40.2), "40.1–40.2 ns"),
    ],
)
def test_a_range_has_one_unit(values: tuple[float, ...], text: str) -> None:
    assert span(values, "ns") == text
