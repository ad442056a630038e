from __future__ import annotations

import pytest

from azlatency.logs.grammar.units import quantity
from azlatency.more_tools.common import netperf_percentile


@pytest.mark.parametrize(("token", "resolution"), [("7", 1_000), ("42", 1_000), ("421", 10_000), ("4217", 100_000)])
def test_a_percentile_of_netperf_is_known_to_two_digits(token: str, resolution: float) -> None:
    value = netperf_percentile(quantity(token, "us"))
    assert (value.printed, value.resolution) == (token, resolution)
