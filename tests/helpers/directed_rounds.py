"""Simulated rounds between three zones, with known one-way delays and costs of the initiator."""

from __future__ import annotations

import math
from typing import Any

import pandas as pd

from helpers.cases import stream

ZONES = ("az1a", "az2a", "az3a")
ONE_WAY = {(i, j): 100e3 for i in ZONES for j in ZONES if i != j}
SLOW_WAY = {**ONE_WAY, ("az3a", "az2a"): 400e3}
NO_COST = dict.fromkeys(ZONES, 0.0)


def rounds_of(
    delays: dict[tuple[str, str], float], hosts: dict[str, float], rounds: int, sd: float, seed: int, **columns: Any
) -> pd.DataFrame:
    """Round trips in ns: one-way delays of both directions, plus a cost of the initiator, times a lognormal error."""
    random = stream(seed)
    rows = []
    for number in range(1, rounds + 1):
        for (i, j), there in delays.items():
            value = (there + delays[j, i] + hosts[i]) * math.exp(random.normal(0, sd))
            ends = {"path": f"{i} → {j}", "zone": i[:3], "peer_zone": j[:3], "round": number}
            rows.append({**ends, "median_ns": value, "method": "sockperf", **columns})
    return pd.DataFrame(rows).convert_dtypes()
