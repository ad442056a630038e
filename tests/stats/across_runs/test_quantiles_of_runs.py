"""Medians over runs: order statistics of run values."""

from __future__ import annotations

from typing import Any

import pandas as pd
import pytest

from azlatency.stats.across_runs.quantiles_of_runs import median_of_runs, quantiles_of_runs


@pytest.mark.parametrize(
    ("values", "code"),
    [([], "no_values"), ([5.0], "no_replication"), ([5.0, 6, 7], "few_clusters"), ([5.0] * 6, "constant")],
)
def test_few_or_equal_run_values_are_flagged(values: list[float], code: str) -> None:
    result = median_of_runs(values)
    assert code in result.codes and result.scope == "across_runs"


def test_six_runs_are_bounded_by_their_range() -> None:
    result = median_of_runs([54, 55.4, 57.1, 55, 58.3, 61.09], resolution=0.1)
    assert (result.low, result.high) == pytest.approx((53.95, 61.14))
    assert result.estimate == pytest.approx(56.25)


def runs(**columns: Any) -> pd.DataFrame:
    """Four runs of a path by one method, as `azlatency.latency` gives them."""
    frame = {"path": "a → b", "method": "sockperf TCP 14 B", "tool": "sockperf", "protocol": "tcp", "test": "ping-pong",
             "message_bytes": 14, "connections": 1, "printed_as": "half_round_trip", "placement": "cross_zone",
             "round": [1, 2, 3, 4], "median_ns": [100e3, 102e3, 99e3, 101e3]}  # fmt: skip
    return pd.DataFrame({**frame, **columns})


def test_quantiles_of_a_frame_are_over_its_runs() -> None:
    frame = pd.concat([runs(), runs(path="b → a", median_ns=[200e3] * 4)])
    found = quantiles_of_runs(frame)
    assert [each.scope for each in found] == ["across_runs"] * 2 and found[0].estimate == 100.5e3
    assert "few_clusters" in found[0].codes and found[0].labels["path"] == "a → b"
    (mixed,) = quantiles_of_runs(runs(protocol=["tcp", "tcp", "udp", "udp"]))
    assert mixed.refused and mixed.codes == ("type_p_mismatch",)
