"""Numbers for readers: unit prefixes, digits, intervals, singular and plural."""

from __future__ import annotations

import doctest
import math
import tomllib

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from azlatency.studies import format as format_module
from azlatency.studies.format import (
    column_unit,
    count_of,
    format_estimate,
    format_interval,
    format_number,
    format_value,
    in_order,
    join_words,
    one_prefix,
    toml_text,
)


def test_examples() -> None:
    failed, tried = doctest.testmod(format_module)
    assert tried >= 8 and not failed


@pytest.mark.parametrize(
    ("value", "unit", "text"),
    [
        (1_081_380, "ns", "1.08 ms"),
        (450_038, "ns", "450 µs"),
        (33.8e3, "ns", "33.8 µs"),
        (999_700, "ns", "1.00 ms"),
        (0.4, "ns", "0.400 ns"),
        (12e9, "ns", "12.0 s"),
        (4000e9, "ns", "4,000 s"),
        (8.4916e9, "bit/s", "8.49 Gbit/s"),
        (999.96e6, "bit/s", "1.00 Gbit/s"),
        (512e6, "bytes/s", "512 MB/s"),
        (14, "bytes", "14 B"),
        (1234.5, "1/s", "1,235 per s"),
        (0.0123, "fraction", "1.23 %"),
        (1.2681, "ratio", "1.27"),
        (0.0, "ns", "0 ns"),
        (math.inf, "ns", "∞ ns"),
        (-1500.0, "ns", "−1.50 µs"),
        (None, "ns", ""),
        (math.nan, "ns", ""),
    ],
)
def test_a_value_has_a_prefix_and_three_digits(value: float | None, unit: str, text: str) -> None:
    assert format_value(value, unit) == text


@pytest.mark.parametrize(
    ("numbers", "unit", "text"),
    [
        ((1_081_380, 1_066_580, 1_096_380), "ns", "1.08 ms, 95 % CI 1.07–1.10 ms"),
        ((450_038, 432_007, 468_822), "ns", "450 µs, 95 % CI 432–469 µs"),
        ((1.2681, 1.2471, 1.2999), "ratio", "1.27, 95 % CI 1.25–1.30"),
        ((8.4916e9, 8.31e9, 8.67e9), "bit/s", "8.5 Gbit/s, 95 % CI 8.3–8.7 Gbit/s"),
        ((946e3, 462e3, 1938e3), "ns", "950 µs, 95 % CI 460–1,940 µs"),
        ((-333e3, -500e3, 20e3), "ns", "−330 µs, 95 % CI −500 to 20 µs"),
        ((700e3, 700e3, 700e3), "ns", "700 µs, 95 % CI 700–700 µs"),
        ((1_081_380, 1_066_580, None), "ns", "1.08 ms, 95 % CI 1.07 ms or more"),
        ((1_081_380, None, 1_096_380), "ns", "1.08 ms, 95 % CI 1.10 ms or less"),
        ((1_081_380, None, None), "ns", "1.08 ms, no interval"),
        ((5e3, 4e3, math.inf), "ns", "5.00 µs, 95 % CI 4.00–∞ µs"),
    ],
)
def test_an_interval_decides_the_digits(
    numbers: tuple[float, float | None, float | None], unit: str, text: str
) -> None:
    assert format_estimate(*numbers, unit) == text


def test_ranges_share_one_prefix() -> None:
    assert format_interval(950e3, 1.05e6, "ns") == "0.95–1.05 ms"
    assert format_interval(None, None, "ns") == ""
    assert format_interval(None, 2e6, "ns") == "2.00 ms or less"


def test_ends_that_are_far_apart_have_a_prefix_each() -> None:
    assert format_interval(4.3, 355.7e6, "bit/s", like=2e6) == "4.30 bit/s–356 Mbit/s"
    assert format_interval(0.0, 355.7e6, "bit/s") == "0–356 Mbit/s"
    assert format_estimate(2.25e6, 14.2, 355.7e6, "bit/s") == "2.3 Mbit/s, 95 % CI 14.2 bit/s–356 Mbit/s"


@pytest.mark.parametrize(
    ("values", "unit", "texts"),
    [
        ((33e3, 1_422e3), "ns", ["33.0 µs", "1,422 µs"]),
        ((994e3, 1_082_500e3), "ns", ["994 µs", "1.08 s"]),
        ((553e3, 80.0), "bit/s", ["553 kbit/s", "80.0 bit/s"]),
        ((5e9, 50e6), "bit/s", ["5,000 Mbit/s", "50.0 Mbit/s"]),
    ],
)
def test_values_of_a_sentence_share_a_prefix_if_they_are_readable_in_it(
    values: tuple[float, ...], unit: str, texts: list[str]
) -> None:
    like = one_prefix(values, unit)
    assert [format_value(value, unit, like=like) for value in values] == texts


def test_small_helpers() -> None:
    assert (count_of(1, "run"), count_of(0, "run"), count_of(1200, "packet")) == ("1 run", "0 runs", "1,200 packets")
    assert [join_words(words) for words in ([], ["a"], ["a", "b"], ["a", "b", "c"])] == [
        "",
        "a",
        "a and b",
        "a, b and c",
    ]
    assert format_number(-0.0001, 2) == "0.00"
    assert column_unit("ns") == (1e3, "µs") and column_unit("count") == (1.0, "segments")


def test_the_end_of_an_interval_of_a_ratio_does_not_read_as_1() -> None:
    """A verdict "different" stands beside it."""
    assert format_estimate(1.07, 1.0042, 1.083) == "1.070, 95 % CI 1.004–1.083"
    assert format_estimate(1.07, 1.0, 1.083) == "1.07, 95 % CI 1.00–1.08"
    assert format_interval(0.92, 0.9996) == "0.920–1.000"


def test_right_to_left_names_are_marked_before_an_arrow_and_before_a_column_only() -> None:
    assert (
        in_order("\u0627\u0628 1 → \u0627\u0628 2  5") == "\u0627\u0628 1\u200e →\u200e \u0627\u0628 2\u200e  \u200e5"
    )
    assert in_order("az1 → az2  5, \u0627\u0628 1") == "az1 → az2  5, \u0627\u0628 1"


@given(st.text(st.characters(exclude_categories=["Cs"])))
@example("\U000e0001 tag, \x00, \x7f, \ufeff")
def test_toml_strings_round_trip(text: str) -> None:
    assert tomllib.loads(f'name = "{toml_text(text)}"') == {"name": text}
