"""Runs of one path and samples of runs, as small frames."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from helpers.cases import stream


def runs(**columns: Any) -> pd.DataFrame:
    """Four runs of a path by one method, as `azlatency.latency` gives them."""
    frame = {"path": "a → b", "method": "sockperf TCP 14 B", "tool": "sockperf", "protocol": "tcp", "test": "ping-pong",
             "message_bytes": 14, "connections": 1, "printed_as": "half_round_trip", "placement": "cross_zone",
             "round": [1, 2, 3, 4], "median_ns": [100e3, 102e3, 99e3, 101e3]}  # fmt: skip
    return pd.DataFrame({**frame, **columns})


def samples(runs_: int = 1, n: int = 400) -> pd.DataFrame:
    rng = stream(600)
    parts = [
        pd.DataFrame(
            {
                "run_id": f"r{run}",
                "sent_ns": np.arange(n) * 1_000_000_000,
                "status": "ok",
                "rtt_ns": pd.array(rng.lognormal(11, 0.2, n).round(), dtype="Int64"),
            }
        )
        for run in range(runs_)
    ]
    return pd.concat(parts, ignore_index=True)
