"""How often is a run of A above a run of B: A12 with Brunner & Munzel's interval, Hodges-Lehmann, exact rank test.

For run values only. On packets a rank test finds 0.1 us "significant" and, since packets depend on each other, calls a
path different from itself (experiment C14 shows it); there is no such function here.

Sources: Vargha & Delaney 2000 (A12); Brunner & Munzel, Biom. J. 42:17, 2000; Hodges & Lehmann 1963; Moses 1965.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

from azlatency.stats import exact
from azlatency.stats.across_runs.run_values import refusals, run_values
from azlatency.stats.result import Result, Row, Scope

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    FloatArray = NDArray[np.float64]

METHOD = "A12 with the Brunner-Munzel t interval; exact rank-sum permutation"
#: More runs than this, and the exact law of the rank sum costs more than it tells.
_EXACT_RUNS = 200


class BrunnerMunzel(NamedTuple):
    """Estimate of P(X < Y) + P(X = Y)/2, statistic, degrees of freedom, p and t interval (not cut to [0, 1])."""

    estimate: float
    statistic: float
    df: float
    p: float
    low: float
    high: float


class Shift(NamedTuple):
    """Hodges-Lehmann shift of X over Y, Moses' interval by rank counts and the confidence that it attains."""

    estimate: float
    low: float | None
    high: float | None
    confidence: float | None


@dataclass(frozen=True, slots=True)
class RankEffect(Result):
    """``a12``: share of pairs of runs in which A is the larger (ties count half), with its interval; 0.5 = no effect.

    ``shift`` (Hodges-Lehmann, in ``unit``) says by how much; ``p`` of the exact permutation of rank sums, missing where
    no data of this size could decide. A refused effect has no ``a12`` and says why in ``codes``.
    """

    what: str
    a12: float | None
    low: float | None
    high: float | None
    shift: Shift | None
    unit: str
    n: tuple[int, int]
    p: float | None
    attainable_p: float | None
    confidence: float
    scope: Scope = "across_runs"
    method: str = METHOD
    codes: tuple[str, ...] = ()
    labels: dict[str, Any] = field(default_factory=dict)

    ROW: ClassVar[Row] = (
        "what", "a12", "low", "high", "cliffs_delta", ("shift", "shift.estimate"), ("shift_low", "shift.low"),
        ("shift_high", "shift.high"), "unit", ("n_a", "n.0"), ("n_b", "n.1"), "p", "attainable_p", "scope",
        "confidence", "method",
    )  # fmt: skip

    @property
    def cliffs_delta(self) -> float | None:
        """2 A12 - 1."""
        return None if self.a12 is None else 2 * self.a12 - 1

    def __str__(self) -> str:
        if self.a12 is None:
            return f"{self.what}: not estimable{self.flag_note}"
        interval = "" if self.low is None else f", {100 * self.confidence:g} % [{self.low:.3g}, {self.high:.3g}]"
        return f"{self.what}: A is above B in {100 * self.a12:.3g} % of pairs of runs{interval}{self.flag_note}"


def rank_effect(
    a: Any, b: Any, *, confidence: float = 0.95, value: str | None = None, what: str = "A against B"
) -> RankEffect:
    """`RankEffect` of two sets of run values (as `comparison.compare` takes them, unpaired)."""
    first, second = run_values(a, value), run_values(b, value)
    x, y = first.values, second.values
    codes = list(refusals((a, b), value))
    if first.unit != second.unit:
        codes.append("unit_conflict")
    if not codes and not (len(x) and len(y)):
        codes = ["no_values"]
    sizes = (len(x), len(y))
    if codes:
        found = tuple(dict.fromkeys(codes))
        return RankEffect(what, None, None, None, None, first.unit, sizes, None, None, confidence, codes=found)
    a12 = superiority(x, y)
    bm = brunner_munzel(x, y, confidence)
    if min(sizes) < 2:
        codes.append("no_replication")
    elif bm is None:
        codes.append("constant" if a12 == 0.5 else "separation")
    attainable = exact.attainable_unpaired(*sizes)
    p = rank_sum_p(x, y) if sum(sizes) <= _EXACT_RUNS else None
    if attainable > 1 - confidence:
        codes.append("cannot_reach_alpha")
        p = None
    low, high = (None, None) if bm is None else (max(0.0, 1 - bm.high), min(1.0, 1 - bm.low))
    shift = hodges_lehmann(x, y, confidence)
    return RankEffect(
        what, a12, low, high, shift, first.unit, sizes, p, attainable, confidence, codes=tuple(dict.fromkeys(codes))
    )


def superiority(x: FloatArray, y: FloatArray) -> float:
    """P(X > Y) + P(X = Y)/2 over all pairs; O(n log n)."""
    import numpy as np

    ordered = np.sort(y)
    below, upto = np.searchsorted(ordered, x, "left"), np.searchsorted(ordered, x, "right")
    return float((below + upto).sum() / (2 * len(x) * len(y)))


def brunner_munzel(x: FloatArray, y: FloatArray, confidence: float = 0.95) -> BrunnerMunzel | None:
    """Brunner & Munzel's test and t interval of P(X < Y) + P(X = Y)/2.

    ``None`` where it does not exist: fewer than two values in a group, complete separation, no spread in ranks.
    """
    from scipy.stats import rankdata
    from scipy.stats import t as student

    m, n = len(x), len(y)
    if min(m, n) < 2:
        return None
    import numpy as np

    joint = rankdata(np.concatenate([x, y]))
    place_x, place_y = joint[:m] - rankdata(x), joint[m:] - rankdata(y)
    var_x, var_y = float(place_x.var(ddof=1)), float(place_y.var(ddof=1))
    if not var_x + var_y > 0:
        return None
    estimate = float(place_y.mean()) / m
    parts = (var_x / (m * n**2), var_y / (n * m**2))
    error = math.sqrt(sum(parts))
    df = (m * var_x + n * var_y) ** 2 / ((m * var_x) ** 2 / (m - 1) + (n * var_y) ** 2 / (n - 1))
    statistic = (estimate - 0.5) / error
    half = float(student.ppf((1 + confidence) / 2, df)) * error
    return BrunnerMunzel(
        estimate, statistic, df, 2 * float(student.sf(abs(statistic), df)), estimate - half, estimate + half
    )


def rank_sum_p(x: FloatArray, y: FloatArray) -> float:
    """Two-sided p of the rank sum by its exact permutation law, midranks for ties."""
    import numpy as np
    from scipy.stats import rankdata

    ranks = rankdata(np.concatenate([x, y]))
    m = len(x)
    support, law = exact.rank_sum_distribution(ranks, m)
    middle = m * ranks.mean()
    return min(1.0, float(law[np.abs(support - middle) >= abs(ranks[:m].sum() - middle) - 1e-9].sum()))


def hodges_lehmann(x: FloatArray, y: FloatArray, confidence: float = 0.95) -> Shift:
    """Median of all differences x - y and Moses' interval, exact without ties and conservative with them."""
    import numpy as np

    differences = np.sort(np.subtract.outer(x, y).ravel())
    m, n = len(x), len(y)
    estimate = float(np.median(differences))
    if m + n > _EXACT_RUNS:
        return Shift(estimate, None, None, None)
    support, law = exact.rank_sum_distribution(np.arange(1.0, m + n + 1), m)
    cumulative = np.cumsum(law)
    # The smallest count u of pairs x > y with P(U <= u) >= alpha/2 (R's qwilcox); 0 leaves no interval.
    count = int(support[np.searchsorted(cumulative, (1 - confidence) / 2 - 1e-12)] - m * (m + 1) / 2)
    if count < 1:
        return Shift(estimate, None, None, None)
    attained = 1 - 2 * float(cumulative[support - m * (m + 1) / 2 <= count - 1][-1])
    return Shift(estimate, float(differences[count - 1]), float(differences[m * n - count]), attained)
