"""Does a run, or a set of runs, have one mode or several? Hartigan's dip test, at the effective number of values.

Two modes (two equal-cost paths, two placements, a power state) make a median jump and a mean describe nothing that
occurs. The dip is the largest distance between the distribution seen and the nearest one with a single mode.

Sources: Hartigan & Hartigan, Annals of Statistics 13:70 (1985); Hartigan, Applied Statistics 34:320 (1985), algorithm.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import TYPE_CHECKING, Any, ClassVar

from azlatency.stats.result import Result, Row, Scope
from azlatency.stats.within_run.dependence import dependence, series

if TYPE_CHECKING:
    import numpy as np

METHOD = "dip test (Hartigan & Hartigan 1985) against the uniform law, at the effective n"
#: Fewer values than this hold no evidence of two modes: plot them instead.
FEWEST = 30
#: More values than this are brought to as many evenly spaced order statistics; that changes the dip by less than 1e-4.
MOST = 10_000


@dataclass(frozen=True, slots=True)
class Modes(Result):
    """``dip`` of ``n`` values worth ``n_effective``, and ``p`` under one mode; ``several``: whether p < 1 - confidence.

    ``p`` and ``several`` are None where the values cannot tell; ``codes`` say why.
    """

    what: str
    dip: float | None
    p: float | None
    several: bool | None
    n: int
    n_effective: float
    scope: Scope
    confidence: float
    codes: tuple[str, ...] = ()
    labels: dict[str, Any] = field(default_factory=dict)
    method: str = METHOD

    ROW: ClassVar[Row] = ("what", "dip", "p", "several", "n", "n_effective", "scope", "confidence", "method")

    def __str__(self) -> str:
        if self.several is None:
            return f"{self.what}: no answer{self.noted}"
        found = "more than one mode" if self.several else "one mode is enough"
        return f"{self.what}: {found}, dip {self.dip:.4f}, p = {self.p:.3g}, {self.scope}, n = {self.n}{self.noted}"


def modes(
    data: Any, *, independent: bool = False, confidence: float = 0.95, labels: dict[str, object] | None = None
) -> Modes:
    """Whether the values have more than one mode.

    ``data`` (n,): one run's values in the order of sending (scope within_run), or with ``independent`` one number a run
    (across_runs); NaN is missing and ``inf`` (lost) is left out, both counted. Codes: ``no_values``, ``constant``,
    ``quantised`` (fewer than 20 distinct values: every step is a mode), ``few_clusters`` (worth fewer than 30).
    """
    import numpy as np

    x, missing = series(data)
    answered = np.sort(x[np.isfinite(x)])
    n = len(answered)
    scope: Scope = "across_runs" if independent else "within_run"
    effective = float(n) if independent or n < 4 else n / dependence(x).rank_tau
    codes = (("missing",) if missing else ()) + _refusals(answered, effective)
    dip = _dip_of(answered) if n else None
    own = dict(labels or {})
    if dip is None or codes not in ((), ("missing",)):
        return Modes("modes", dip, None, None, n, effective, scope, confidence, codes, own)
    p = dip_p(dip, effective)
    return Modes("modes", dip, p, p < 1 - confidence, n, effective, scope, confidence, codes, own)


def _refusals(ordered: np.ndarray, effective: float) -> tuple[str, ...]:
    import numpy as np

    if not len(ordered):
        return ("no_values",)
    if ordered[0] == ordered[-1]:
        return ("constant",)
    if effective < FEWEST:
        return ("few_clusters",)
    return ("quantised",) if len(np.unique(ordered)) < 20 else ()


def _dip_of(ordered: np.ndarray) -> float:
    if len(ordered) <= MOST:
        return dip_statistic(ordered)
    import numpy as np

    return dip_statistic(ordered[np.linspace(0, len(ordered) - 1, MOST).round().astype("int64")])


def dip_statistic(ordered: np.ndarray | Sequence[float]) -> float:
    """The dip of sorted values (n,), n >= 1: at least 1 / (2 n), at most 1/4.

    The nearest unimodal law is convex up to its mode and concave after it: the greatest convex minorant and the least
    concave majorant of the empirical law are compared, the modal interval closes in on where they are furthest apart,
    and what either leaves outside it counts.
    """
    import numpy as np

    x = np.asarray(ordered, dtype="float64")
    low, high, n = 0, len(x) - 1, len(x)
    if x[low] == x[high]:
        return 1 / (2 * n)
    dip = 1.0
    while True:
        convex, concave = _hull(x, low, high, 1), _hull(x, low, high, -1)
        apart, left, right = _furthest(x, convex, concave)
        if apart < dip:
            return dip / (2 * n)
        dip = max(dip, _outside(x, convex[convex <= left], 1), _outside(x, concave[concave >= right], -1))
        if (left, right) == (low, high):
            return dip / (2 * n)
        low, high = left, right


def _hull(x: np.ndarray, low: int, high: int, sign: int) -> np.ndarray:
    """Indices of the knots below (``sign`` 1: greatest convex minorant) or above (-1) the points (x_i, i)."""
    import numpy as np

    values = x.tolist()
    knots = [low]
    for i in range(low + 1, high + 1):
        while len(knots) > 1:
            last, before = knots[-1], knots[-2]
            turn = (i - last) * (values[last] - values[before]) - (values[i] - values[last]) * (last - before)
            if sign * turn > 0:
                break
            knots.pop()
        knots.append(i)
    return np.array(knots)


def _furthest(x: np.ndarray, convex: np.ndarray, concave: np.ndarray) -> tuple[float, int, int]:
    """Largest distance of the upper steps on the concave hull from the lower ones on the convex hull, and between
    which knots of either it lies; the last of equal ones."""
    import numpy as np

    if len(convex) == len(concave) == 2:
        return 1.0, int(convex[0]), int(concave[-1])
    at_concave, at_convex = concave[1:-1], convex[1:-1]
    # Steps are numbered from 0: the upper end of step i is one above its lower end.
    from_below = at_concave + 1 - np.interp(x[at_concave], x[convex], convex)
    from_above = np.interp(x[at_convex], x[concave], concave) + 1 - at_convex
    apart = np.concatenate([from_below, from_above])
    left = np.concatenate([convex[np.searchsorted(convex, at_concave, "right") - 1], at_convex])
    right = np.concatenate([at_concave, concave[np.searchsorted(concave, at_convex)]])
    place = np.concatenate([at_concave, at_convex])
    best = max(range(len(apart)), key=lambda each: (apart[each], place[each]))
    return float(apart[best]), int(left[best]), int(right[best])


def _outside(x: np.ndarray, knots: np.ndarray, sign: int) -> float:
    """Largest distance of the steps from a hull between its ``knots``; ``sign`` 1: the convex one, below them."""
    import numpy as np

    worst = 1.0
    for first, last in pairwise(knots.tolist()):
        if last - first > 1 and x[last] > x[first]:
            inside = x[first : last + 1]
            height = (inside - inside[0]) * ((last - first) / (inside[-1] - inside[0]))
            steps = np.arange(last - first + 1)
            worst = max(worst, float((sign * (steps - height)).max()) + 1)
    return worst


#: Upper quantiles of sqrt(n) dip of n uniform values (rows) at tail probabilities (columns): own simulation, 40,000
#: (n = 10,000) to 400,000 (n <= 100) sets a row.
_TAILS = (0.99, 0.9, 0.7, 0.5, 0.3, 0.2, 0.1, 0.05, 0.02, 0.01, 0.005, 0.001, 0.0001)
_NULL = {
    4: (0.250, 0.250, 0.250, 0.250, 0.265, 0.315, 0.375, 0.415, 0.448, 0.464, 0.475, 0.489, 0.496),
    5: (0.224, 0.224, 0.224, 0.271, 0.329, 0.360, 0.395, 0.417, 0.433, 0.440, 0.443, 0.446, 0.447),
    8: (0.177, 0.232, 0.282, 0.314, 0.341, 0.355, 0.401, 0.435, 0.469, 0.489, 0.505, 0.550, 0.604),
    10: (0.193, 0.247, 0.285, 0.309, 0.348, 0.376, 0.412, 0.441, 0.476, 0.505, 0.527, 0.572, 0.619),
    12: (0.204, 0.251, 0.282, 0.316, 0.356, 0.381, 0.416, 0.450, 0.490, 0.515, 0.537, 0.589, 0.644),
    15: (0.212, 0.249, 0.288, 0.324, 0.361, 0.386, 0.426, 0.460, 0.499, 0.526, 0.551, 0.598, 0.662),
    20: (0.212, 0.254, 0.295, 0.328, 0.368, 0.395, 0.435, 0.470, 0.511, 0.539, 0.566, 0.619, 0.693),
    30: (0.217, 0.260, 0.302, 0.337, 0.378, 0.405, 0.447, 0.484, 0.527, 0.556, 0.584, 0.644, 0.715),
    50: (0.222, 0.267, 0.309, 0.345, 0.387, 0.416, 0.459, 0.497, 0.542, 0.573, 0.602, 0.662, 0.732),
    100: (0.228, 0.274, 0.318, 0.355, 0.398, 0.427, 0.471, 0.511, 0.557, 0.592, 0.622, 0.690, 0.771),
    200: (0.233, 0.280, 0.324, 0.362, 0.406, 0.436, 0.481, 0.521, 0.568, 0.601, 0.634, 0.698, 0.783),
    500: (0.239, 0.285, 0.330, 0.368, 0.413, 0.443, 0.489, 0.530, 0.580, 0.614, 0.645, 0.717, 0.801),
    1000: (0.241, 0.287, 0.333, 0.371, 0.416, 0.446, 0.492, 0.534, 0.586, 0.622, 0.656, 0.723, 0.815),
    10000: (0.245, 0.292, 0.338, 0.376, 0.422, 0.453, 0.500, 0.542, 0.594, 0.631, 0.661, 0.727, 0.811),
}  # fmt: skip


def dip_p(dip: float, n: float) -> float:
    """p of a dip of ``n`` independent values under the uniform law, the worst with one mode; between .0001 and 1."""
    import numpy as np

    if dip <= 1 / (2 * n) * (1 + 1e-9):  # no sample has less
        return 1.0
    sizes = np.array(list(_NULL), dtype="float64")
    table = np.array(list(_NULL.values()))
    # sqrt(n) dip has a limit: its quantiles change linearly in 1/sqrt(n).
    row = [float(np.interp(-1 / math.sqrt(n), -1 / np.sqrt(sizes), column)) for column in table.T]
    scaled = math.sqrt(n) * dip
    if scaled < row[0]:
        return 1.0
    return float(np.exp(np.interp(scaled, row, np.log(_TAILS))))
