"""When to stop measuring: a rule with a minimum number of runs.

The rule "stop when the interval is narrow" needs that minimum. Applied from three runs on, its interval covers the
truth in only 56 % to 67 % of cases if a slow mode is rare.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import NamedTuple

from azlatency.stats.across_runs.two_groups import summary

#: Fewest runs before the rule may stop.
MINIMUM_RUNS = 20


class Stop(NamedTuple):
    """Answer of the stopping rule.

    Attributes
    ----------
    stop : bool
        Whether to stop.
    half_width : float or None
        Relative half-width of the interval; ``None`` without an interval.
    reason : str
        The reason in words.
    """

    stop: bool
    half_width: float | None
    reason: str


def may_stop(
    values: Iterable[float], relative: float = 0.05, *, confidence: float = 0.95, floor: int = MINIMUM_RUNS
) -> Stop:
    """Decide whether to stop measuring.

    Parameters
    ----------
    values : iterable of float
        One positive number per run, in the order of measuring; NaN is left out.
    relative : float
        Relative half-width to reach; ``0.05`` is ±5 %.
    confidence : float
        Level of the interval, between 0 and 1.
    floor : int
        Fewest runs before the rule may stop.

    Returns
    -------
    Stop
        ``stop`` is true from ``floor`` runs on if the interval is narrow enough and the last third of the runs shows no
        new mode: no value beyond all earlier ones by more than ``relative``.

    Notes
    -----
    Student's t on the logarithms of the values.
    """
    import numpy as np
    from scipy.special import stdtrit

    given = [float(value) for value in values if not math.isnan(value)]
    if unusable := sum(not 0 < value < math.inf for value in given):
        return Stop(False, None, f"{unusable} values are infinite or not positive")
    logs = np.log(given)
    runs, _, spread = summary(logs)
    if runs < 2:
        return Stop(False, None, "fewer than two runs")
    half = math.expm1(float(stdtrit(runs - 1, (1 + confidence) / 2)) * spread / math.sqrt(runs))
    if runs < floor:
        return Stop(False, half, f"fewer than {floor} runs: a rare slow mode may not have been seen yet")
    if half > relative:
        return Stop(False, half, f"the interval is ±{100 * half:.3g} %")
    earlier, last = logs[: 2 * runs // 3], logs[2 * runs // 3 :]
    slack = math.log1p(relative)
    if last.max() > earlier.max() + slack or last.min() < earlier.min() - slack:
        return Stop(False, half, "the last third brought values that were not seen before")
    return Stop(True, half, f"±{100 * half:.3g} % from {runs} runs")
