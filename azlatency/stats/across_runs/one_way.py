"""The difference between the two directions of a path, from one-way delays."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from azlatency.stats.across_runs.comparison import compare
from azlatency.stats.result import Estimate

if TYPE_CHECKING:
    from azlatency.stats.across_runs.run_values import RunData


def one_way_difference(
    there: RunData,
    back: RunData,
    clock_error: float,
    *,
    confidence: float = 0.95,
    unit: str = "ns",
    what: str = "there less back",
) -> Estimate:
    """Compare the two directions of a path from *one-way* delays.

    Parameters
    ----------
    there, back : array_like, Series or DataFrame
        One-way delays of both directions (owping, TWAMP, tools with synchronized clocks): one number per run, in
        ``unit``.
    clock_error : float
        Bound e on the offset of the two clocks, in ``unit``.
    confidence : float
        Level of the interval, between 0 and 1.
    unit : str
        Canonical unit.
    what : str
        Name of the result.

    Returns
    -------
    Estimate
        Difference ``there`` - ``back``. A difference within the clock error is flagged ``clock_bound``.

    Raises
    ------
    ValueError
        If ``clock_error`` is negative.

    Notes
    -----
    Welch's t interval, widened by 2 e on both sides: an offset of the clocks adds to one direction and is subtracted
    from the other.
    """
    if not clock_error >= 0:
        raise ValueError(f"clock_error = {clock_error}: the bound of the clock offset must not be negative")
    comparison = compare(there, back, statistic="mean", confidence=confidence, unit=unit, floor=0.0, what=what)
    difference = comparison.difference
    if difference is None or difference.low is None or difference.high is None:
        return replace(comparison.ratio, what=what, estimate=None, low=None, high=None, unit=unit,
                       codes=comparison.codes or ("no_replication",))  # fmt: skip
    low, high = difference.low - 2 * clock_error, difference.high + 2 * clock_error
    codes = difference.codes + (
        ("clock_bound",) if low <= 0 <= high and not difference.low <= 0 <= difference.high else ()
    )
    return replace(
        difference, what=what, low=low, high=high, codes=codes,
        assumptions=("the clocks' offset stays within its bound",),
        method="Welch t on run values, widened by twice the bound of the clocks' offset",
        diagnostics={"clock_error": clock_error},
    )  # fmt: skip
