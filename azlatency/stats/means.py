"""One number a run -> a statement about the path: Student's t on the logarithms of run values.

Runs are the replicates; packets are not. Pooled packets of five runs with a 5 % run effect give a "95 %" interval that
holds the truth one time in six; t on the five run values holds it 94 % of the time (coverage experiment C4).
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import TYPE_CHECKING

from azlatency.stats.result import Estimate

if TYPE_CHECKING:
    import pandas as pd

METHOD = "Student t on the logarithms of run values (geometric mean)"


def across_runs(
    values: Iterable[float],
    *,
    unit: str = "ns",
    confidence: float = 0.95,
    what: str = "typical run",
    labels: dict[str, object] | None = None,
) -> Estimate:
    """The path's typical run value: the geometric mean of positive run values and its t interval.

    ``values``: one number a run (its median, its mean, its throughput) in ``unit``. One run is refused as
    ``no_replication``, two are flagged ``two_runs``.
    """
    numbers = [float(value) for value in values]
    runs = len(numbers)

    def result(estimate: float | None, low: float | None, high: float | None, *codes: str) -> Estimate:
        return Estimate(
            what, estimate, low, high, unit, runs, "across_runs", confidence, METHOD, codes, dict(labels or {})
        )

    if not numbers:
        return result(None, None, None, "no_values")
    if any(not math.isfinite(number) or number <= 0 for number in numbers):
        return result(None, None, None, "not_positive")
    if runs == 1:
        return result(None, None, None, "no_replication")
    logs = [math.log(number) for number in numbers]
    mean = math.fsum(logs) / runs
    spread = math.sqrt(math.fsum((log - mean) ** 2 for log in logs) / (runs - 1))
    from scipy.stats import t

    half = float(t.ppf((1 + confidence) / 2, runs - 1)) * spread / math.sqrt(runs)
    codes = (("two_runs",) if runs == 2 else ()) + (("constant",) if spread == 0 else ())
    return result(math.exp(mean), math.exp(mean - half), math.exp(mean + half), *codes)


def by_path(runs: pd.DataFrame, value: str, *, unit: str = "ns", confidence: float = 0.95) -> list[Estimate]:
    """`across_runs` for each path and method of a frame of runs (`azlatency.paths`), in order of appearance.

    ``value``: the column that holds one number a run, in ``unit``; runs without it are left out.
    """
    known = runs[runs[value].notna()]
    return [
        across_runs(
            group[value],
            unit=unit,
            confidence=confidence,
            what=f"{path}, {method}",
            labels={"path": path, "method": method, "placement": group["placement"].iloc[0]},
        )
        for (path, method), group in known.groupby(["path", "method"], sort=False)
    ]
