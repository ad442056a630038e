"""Rows of iperf: the rate that bytes and times allow."""

from __future__ import annotations

import pytest

from azlatency.logs.grammar.units import Quantity
from azlatency.logs.parsers.iperf_rows import RateRow


def row(rate: float) -> RateRow:
    """One second with 987 MBytes, to half a MByte, and times to half a hundredth of a second at each end."""
    size = Quantity(987e6, "bytes", "987", 0.5e6, "MBytes")
    printed = Quantity(rate, "bit/s", f"{rate / 1e9:.2f}", 0.005e9, "Gbits/sec")
    return RateRow(line=1, stream="5", start_ns=0, end_ns=1_000_000_000, slack_ns=1e7, bytes=size, rate=printed)


def test_the_rate_is_bounded_by_bytes_and_times() -> None:
    low, high = row(7.90e9).bounds() or (0.0, 0.0)
    assert low == pytest.approx(8 * 986.5e6 / 1.01) and high == pytest.approx(8 * 987.5e6 / 0.99)


def test_a_rate_that_contradicts_its_bytes_does_not_agree() -> None:
    assert row(7.90e9).agrees() and not row(9.70e9).agrees()
