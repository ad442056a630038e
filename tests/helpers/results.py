"""Rows of frames as results, for tests of the modules that compute them."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import pandas as pd

from azlatency.stats import rows
from azlatency.stats.across_runs.comparison import Setting, compare_sides, sides_of
from azlatency.stats.across_runs.typical_run import DIAGNOSTICS

_NO_LABELS = {*rows.ESTIMATE, *DIAGNOSTICS, "n_effective", "scope", "confidence", "statistic", "flags", "run_ids"}
#: A summary, or quantiles, without rows.
NOTHING = pd.DataFrame(columns=["path", "method", "q", *rows.ESTIMATE, *DIAGNOSTICS, "flags", "run_ids"])


class Estimate(NamedTuple):
    """A row of a summary or of quantiles, with None for what is missing."""

    what: str
    estimate: float | None
    low: float | None
    high: float | None
    unit: str
    n: int
    method: str
    scope: str
    codes: tuple[str, ...]
    labels: dict[str, Any]
    run_ids: tuple[str, ...]

    @property
    def refused(self) -> bool:
        """Whether there is no estimate."""
        return self.estimate is None


def estimate_of(row: rows.Row) -> Estimate:
    """Return a row as an estimate."""
    middle, low, high = (None if math.isnan(row[name]) else row[name] for name in ("estimate", "low", "high"))
    labels = {str(name): cell for name, cell in row.items() if name not in _NO_LABELS}
    words = tuple(tuple(row[name].split()) for name in ("flags", "run_ids"))
    kind = row["statistic"], row["scope"]
    return Estimate(row["what"], middle, low, high, row["unit"], row["n"], *kind, words[0], labels, words[1])


def estimates_of(frame: pd.DataFrame) -> list[Estimate]:
    """Return the rows of a summary or of quantiles as estimates."""
    return [estimate_of({str(name): cell for name, cell in row.items()}) for row in frame.to_dict("records")]


def compare_runs(
    a: Any,
    b: Any,
    *,
    margin: float | str = "5%",
    confidence: float = 0.95,
    floor: float | None = None,
    paired: bool | None = False,
    **options: Any,
) -> rows.Row:
    """Return the row of the comparison of a with b, with the options of `azlatency.compare`."""
    return compare_sides(sides_of(a, b, paired=paired, **options), Setting(margin, confidence, floor))
