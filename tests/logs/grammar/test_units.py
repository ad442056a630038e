"""Printed quantities: values, resolutions and errors."""

from __future__ import annotations

import doctest

import pytest
from hypothesis import given
from hypothesis import strategies as st

from azlatency.logs.grammar import units
from azlatency.logs.grammar.units import UnitError, count, nanoseconds, quantity, register_units
from azlatency.logs.parsers import load_parsers

load_parsers()  # registers the units of the tools


@pytest.mark.parametrize(
    ("token", "unit", "value", "canonical", "resolution"),
    [
        ("16.791", "usec", 16791.0, "ns", 0.5),
        ("0.718", "ms", 718000.0, "ns", 500.0),
        ("19235", "ms", 19235e6, "ns", 0.5e6),
        ("2.98", "GBytes", 2.98 * 1024**3, "bytes", 0.005 * 1024**3),
        ("939", "KBytes", 939 * 1024, "bytes", 512.0),
        ("25.7", "Gbits/sec", 25.7e9, "bit/s", 0.05e9),
        ("98.39", "Gbps", 98.39e9, "bit/s", 0.005e9),
        ("2.82", "GB/sec", 8 * 2.82e9, "bit/s", 8 * 0.005e9),
        ("64", "KiB", 65536.0, "bytes", 512.0),
        ("461.15", "%", 4.6115, "fraction", 0.00005),
        ("26.242", "sockperf MBps", 26.242 * 8 * 1024**2, "bit/s", 0.0005 * 8 * 1024**2),
        ("2593.903", "MHz", 2593.903e6, "Hz", 500.0),
    ],
)
def test_values_and_resolutions(token: str, unit: str, value: float, canonical: str, resolution: float) -> None:
    result = quantity(token, unit)
    assert result.value == pytest.approx(value, rel=1e-15)
    assert result.unit == canonical
    assert result.resolution == pytest.approx(resolution, rel=1e-12)
    assert result.printed == token


def test_stripped_zeros_do_not_widen_the_resolution() -> None:
    """qperf prints three significant digits and strips trailing zeros: "47 us" is 47.0."""
    assert quantity("47", "us", significant=3).resolution == 50.0
    assert quantity("718", "us", significant=3).resolution == 500.0
    assert quantity("59", "K/sec", significant=3).resolution == 50.0
    # Leading zeros do not count; with more digits than that, the last printed digit decides.
    assert quantity("0.0471", "ms", significant=3).resolution == 50.0
    assert quantity("0.047", "ms", significant=3).resolution == 50.0
    assert quantity("4711", "us", significant=3).resolution == 500.0
    assert quantity("0", "us", significant=3).resolution == 500.0


def test_a_half_round_trip_is_doubled_with_its_resolution() -> None:
    doubled = quantity("16.791", "usec").doubled()
    assert (doubled.value, doubled.resolution, doubled.printed) == (33582.0, 1.0, "16.791")


def test_counts_may_have_thousands_commas() -> None:
    assert count("430,972").value == 430972
    assert count("430,972").resolution is None


@pytest.mark.parametrize(("token", "unit"), [("1.0", "parsec"), ("x", "us"), ("nan", "us"), ("inf", "us"), ("", "us")])
def test_unknown_units_and_invalid_numbers_are_errors(token: str, unit: str) -> None:
    with pytest.raises(UnitError):
        quantity(token, unit)


def test_a_count_must_be_a_whole_number() -> None:
    with pytest.raises(UnitError):
        count("1.5")


@given(st.integers(0, 10**9), st.integers(0, 999_999_999))
def test_seconds_with_nine_decimals_are_exact(seconds: int, fraction: int) -> None:
    """A binary float would lose up to 238 ns of an epoch time."""
    assert nanoseconds(f"{seconds}.{fraction:09d}", "sec") == seconds * 10**9 + fraction


def test_a_unit_keeps_its_meaning() -> None:
    register_units({"ms": ("ns", 1_000_000)})
    with pytest.raises(UnitError, match="'ms' already has another meaning"):
        register_units({"a new unit": ("ns", 1), "ms": ("ns", 1)})
    with pytest.raises(UnitError):
        quantity("1", "a new unit")


def test_the_examples_in_the_docstring() -> None:
    assert doctest.testmod(units).failed == 0
