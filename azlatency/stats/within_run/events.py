"""Test whether the latency before an event, such as a lost connection, changed more than it changes otherwise."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Literal

from azlatency.stats.arrays import to_array
from azlatency.stats.result import Result, Row

if TYPE_CHECKING:
    from azlatency.stats.arrays import Values


@dataclass(frozen=True, slots=True, kw_only=True)
class EventTest(Result):
    """The change before an event, ranked among the changes between all windows of the same length.

    Attributes
    ----------
    change : float
        Level of the last window minus the one before, in ``unit``.
    p, attainable_p : float or None
        p-value, and the smallest one that this number of windows allows.
    windows : int
        Number of windows.
    """

    change: float
    p: float | None
    attainable_p: float | None
    windows: int
    unit: str
    codes: tuple[str, ...] = ()
    method: str = "rank of the last window's change among all windows of the same length"
    scope: Literal["within_run"] = "within_run"

    ROW: ClassVar[Row] = ("change", "p", "attainable_p", "windows", "unit", "scope", ("statistic", "method"))

    def __str__(self) -> str:
        if self.p is None or self.attainable_p is None:
            return f"change before the event: not estimable{self.flag_note}"
        return (
            f"change before the event: {self.change:.6g} {self.unit}, p = {self.p:.3g} among {self.windows} windows "
            f"(smallest possible {self.attainable_p:.3g}), {self.scope}{self.flag_note}"
        )


def event_test(
    data: Values,
    window: int = 1,
    *,
    statistic: Literal["median", "mean"] = "median",
    unit: str = "ns",
) -> EventTest:
    """Test whether the level changed before an event more than between other windows of the run.

    Parameters
    ----------
    data : array_like, Series or DataFrame, shape (n,)
        The run up to the event, in ``unit``; it is cut into windows from its end. Or window values with ``window`` 1.
    window : int
        Packets per window.
    statistic : {"median", "mean"}
        Level of a window.
    unit : str
        Unit of the values.

    Returns
    -------
    EventTest
        The last change and its p-value. ``no_values``: fewer than three windows. ``loss_censored``: a window is lost.
        ``cannot_reach_alpha``: too few windows for any p below 0.05.

    Notes
    -----
    Rank test: p = (1 + changes at least as large) / (1 + other changes).

    Examples
    --------
    >>> from azlatency.stats.within_run.events import event_test
    >>> test = event_test([813.0, 888.0, 925.0, 956.0, 790.0], unit="µs")
    >>> test.change, test.p, test.codes
    (-166.0, 0.25, ('cannot_reach_alpha',))
    """
    import numpy as np

    x, missing = to_array(data)
    codes: tuple[str, ...] = ("missing",) if missing else ()
    count = len(x) // window
    if count < 3:
        return EventTest(
            change=math.nan, p=None, attainable_p=None, windows=count, unit=unit, codes=(*codes, "no_values")
        )
    windows = x[len(x) - count * window :].reshape(count, window)
    levels = np.median(windows, axis=1) if statistic == "median" else windows.mean(axis=1)
    if not np.isfinite(levels).all():
        codes += ("loss_censored",)
        return EventTest(change=math.nan, p=None, attainable_p=None, windows=count, unit=unit, codes=codes)
    changes = np.diff(levels)
    earlier = np.abs(changes[:-1])
    p = (1 + int((earlier >= abs(changes[-1])).sum())) / (1 + len(earlier))
    attainable = 1 / (1 + len(earlier))
    codes += ("cannot_reach_alpha",) if attainable > 0.05 else ()
    return EventTest(change=float(changes[-1]), p=p, attainable_p=attainable, windows=count, unit=unit, codes=codes)
