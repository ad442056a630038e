"""Rows of frames as results, for tests of the modules that compute them."""

from __future__ import annotations

import math

import pandas as pd

from azlatency.stats import rows
from azlatency.stats.across_runs.typical_run import DIAGNOSTICS
from azlatency.stats.result import Estimate

_NO_LABELS = {*rows.ESTIMATE, *DIAGNOSTICS, "scope", "confidence", "statistic", "flags", "run_ids"}
#: A summary, or quantiles, without rows.
NOTHING = pd.DataFrame(columns=["path", "method", "q", *rows.ESTIMATE, *DIAGNOSTICS, "flags", "run_ids"])


def estimates_of(frame: pd.DataFrame) -> list[Estimate]:
    """Return the rows of a summary or of quantiles as estimates."""
    found = []
    for row in frame.to_dict("records"):
        middle, low, high = (None if math.isnan(row[name]) else row[name] for name in ("estimate", "low", "high"))
        found.append(
            Estimate(
                what=row["what"],
                estimate=middle,
                low=low,
                high=high,
                unit=row["unit"],
                n=row["n"],
                scope=row["scope"],
                confidence=row["confidence"],
                method=row["statistic"],
                codes=tuple(row["flags"].split()),
                labels={str(name): cell for name, cell in row.items() if name not in _NO_LABELS},
                diagnostics={name: row[name] for name in DIAGNOSTICS if not math.isnan(row.get(name, math.nan))},
                run_ids=tuple(row["run_ids"].split()),
            )
        )
    return found
