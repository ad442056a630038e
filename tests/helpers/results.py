"""Rows of frames as results, for tests of the modules that compute them."""

from __future__ import annotations

import pandas as pd

from azlatency.stats import rows
from azlatency.stats.across_runs.typical_run import DIAGNOSTICS
from azlatency.stats.result import Estimate


def estimates_of(frame: pd.DataFrame) -> list[Estimate]:
    """Return the rows of a summary or of quantiles as estimates."""
    return rows.estimates(frame, *(name for name in DIAGNOSTICS if name in frame))


#: A summary, or quantiles, without rows.
NOTHING = pd.DataFrame(columns=["path", "method", "q", *rows.ESTIMATE, "flags", "run_ids"])
