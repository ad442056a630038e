"""Runs of six paths by two methods in three rounds, with ids that say what each run is."""

from __future__ import annotations

import pandas as pd

PATHS = ("a → b", "b → a", "a → c", "c → a", "b → c", "c → b")


def round_runs() -> pd.DataFrame:
    """Three rounds of six paths by two methods; each run_id says what it is."""
    rows = [
        {
            "run_id": f"{method}/{path}/{round_}",
            "path": path,
            "method": method,
            "tool": method,
            "round": round_,
            "mean_ns": 1e6 + 1e4 * at + 1e3 * round_ * (at % 2) + (5e3 if method == "ping" else 0.0),
            "zone": path[0],
            "peer_zone": path[-1],
            "placement": "cross_zone",
            "n": 100,
        }
        for method in ("ping", "echo")
        for at, path in enumerate(PATHS)
        for round_ in (1, 2, 3)
    ]
    return pd.DataFrame(rows).set_index("run_id")
