"""Did the path shift during the run? Level shifts, trends, warm-up, events, lifetimes, throttling, clock steps.

A search that takes packets as independent finds shifts where there are none: in every stationary series at rho = .7
(experiment C11). So the search runs on block medians, its penalty is multiplied by their long-run variance, and every
shift must be confirmed by a self-normalised test.

Sources: Killick, Fearnhead & Eckley, JASA 107:1590 (2012), optimal partitioning; Andrews & Monahan, Econometrica 60:953
(1992); Shao & Zhang, JASA 105:1228 (2010); Bai, Review of Economics and Statistics 79:551 (1997); Hodges & Lehmann
(1963); Sen (1968); White, Simulation 69:323 (1997), MSER; Kaplan & Meier (1958).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from azlatency.stats.arrays import to_array
from azlatency.stats.result import Estimate, Result, Row
from azlatency.stats.within_run.dependence import autocorrelation_time, ljung_box, long_run_variance
from azlatency.studies.samples import of_one_run

if TYPE_CHECKING:
    import numpy as np

#: 5 % point of the self-normalised statistic (Shao & Zhang 2010). Its size in 6,000 simulated AR(1) series of 500
#: blocks: 5.3, 5.1, 6.5, 12.7 % at rho = 0, .3, .7, .95; of 100 blocks: 4.8, 5.6, 10, 31 %. It confirms, nothing more.
CRITICAL = 40.1
#: Most blocks of the exact search, fewest for any answer, blocks a segment must hold, and most shifts looked for.
MOST_BLOCKS, FEWEST_BLOCKS, SEGMENT, MOST_SHIFTS = 5000, 20, 5, 10
#: Blocks between a shift's neighbours below which it cannot be confirmed: the test rejects too often there.
CONFIRMING = 40
#: Independent blocks that each segment must be worth on average.
EFFECTIVE = 6
#: 95 % point of the law of an estimated change time (Bai 1997).
_BAI = 7.687
METHOD = "exact optimal partition of block medians, penalty 3 log(B) times their long-run variance"
HODGES_LEHMANN = "Hodges-Lehmann shift of block medians, Moses ranks at their effective number"


# ------------------------------------------------------------------------------------------------------ exact searches


def _sums(x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Cumulative sums of the centred values and of their squares, each with a leading 0."""
    import numpy as np

    centred = x - x.mean()
    return np.concatenate([[0.0], np.cumsum(centred)]), np.concatenate([[0.0], np.cumsum(centred**2)])


def optimal_partition(x: np.ndarray, penalty: float, min_segment: int = 1) -> tuple[list[int], float]:
    """Changes that minimise the sum of squared residuals plus ``penalty`` for each, exactly, and that minimum.

    ``x`` (B,), B <= 5,000. A change is the 0-based first index of the next segment. ``min_segment`` is a constraint
    inside the dynamic programme, not a repair afterwards. O(B^2). Raises `ValueError` for longer series.
    """
    import numpy as np

    n = len(x)
    if n > MOST_BLOCKS:
        raise ValueError(f"{n} values: at most {MOST_BLOCKS}; take block medians")
    sums, squares = _sums(np.asarray(x, dtype="float64"))
    best = np.full(n + 1, np.inf)
    best[0] = -penalty
    last = np.zeros(n + 1, dtype="int64")
    for end in range(min_segment, n + 1):
        starts = np.arange(0, end - min_segment + 1)
        lengths = end - starts
        cost = squares[end] - squares[starts] - (sums[end] - sums[starts]) ** 2 / lengths
        total = best[starts] + cost + penalty
        last[end] = int(total.argmin())
        best[end] = total[last[end]]
    changes, at = [], n
    while at > 0 and last[at] > 0:
        at = int(last[at])
        changes.append(at)
    return changes[::-1], float(best[n])


def best_partitions(x: np.ndarray, most: int, min_segment: int = 1) -> list[tuple[list[int], float]]:
    """The best partition with 0, 1, ... ``most`` changes and its sum of squared residuals, exactly (Bai & Perron).

    O(most B^2); fewer entries where the segments do not fit.
    """
    import numpy as np

    n = len(x)
    sums, squares = _sums(np.asarray(x, dtype="float64"))
    most = max(min(most, n // min_segment - 1), 0)
    best = np.full((most + 1, n + 1), np.inf)
    last = np.zeros((most + 1, n + 1), dtype="int64")
    for end in range(min_segment, n + 1):
        starts = np.arange(0, end - min_segment + 1)
        cost = squares[end] - squares[starts] - (sums[end] - sums[starts]) ** 2 / (end - starts)
        best[0, end] = cost[0]
        if most and end >= 2 * min_segment:
            total = best[:-1, starts] + cost
            last[1:, end] = total.argmin(axis=1)
            best[1:, end] = total.min(axis=1)
    return [(_traced(last, k, n), float(best[k, n])) for k in range(most + 1) if math.isfinite(best[k, n])]


def _traced(last: np.ndarray, changes: int, n: int) -> list[int]:
    found, at = [], n
    for k in range(changes, 0, -1):
        at = int(last[k, at])
        found.append(at)
    return found[::-1]


def without_levels(x: np.ndarray, changes: Sequence[int]) -> np.ndarray:
    """Residuals of ``x`` after the mean of each segment is taken off."""
    import numpy as np

    edges = [0, *changes, len(x)]
    return np.concatenate([x[a:b] - x[a:b].mean() for a, b in pairwise(edges)])


def find_changes(x: np.ndarray, min_segment: int = SEGMENT) -> tuple[list[int], float]:
    """Level shifts of a dependent series ``x`` (B,) and the long-run variance that the penalty rests on.

    The variance must come from residuals without the shifts, and the shifts need the variance. One or two more shifts
    are taken as long as they gain more than 3 log(B) times the long-run variance that is left when they are taken off;
    then the whole partition is found anew, exactly, at that penalty.
    """
    n = len(x)
    if n < 2 * min_segment or float(x.max()) == float(x.min()):
        return [], 0.0
    most = max(min(MOST_SHIFTS, n // (4 * min_segment)), 1)
    partitions = best_partitions(x, most, min_segment)
    variances = [_left(x, changes) for changes, _ in partitions]
    taken = 0
    while more := _worth(partitions, variances, taken, 3 * math.log(n)):
        taken += more
    if not taken:
        return [], variances[0]
    penalty = 3 * math.log(n) * variances[taken]
    return optimal_partition(x, max(penalty, 1e-300), min_segment)[0], variances[taken]


def _left(x: np.ndarray, changes: list[int]) -> float:
    """Long-run variance when shifts are taken off, for the freedom that they took; infinite where too little is left.

    Too little: fewer than `EFFECTIVE` independent blocks for each segment, where drift and shift look alike.
    """
    residual = without_levels(x, changes)
    variance, segments, n = float(residual.var()), len(changes) + 1, len(x)
    long_run = long_run_variance(residual)
    if segments > 1 and n * variance < EFFECTIVE * segments * long_run:
        return math.inf
    return long_run * n / max(n - 3 * segments, 1)


def _worth(partitions: list[tuple[list[int], float]], variances: list[float], taken: int, penalty: float) -> int:
    """How many more shifts, one or two (up and down again), gain more than their penalty; 0 for none."""
    for more in (1, 2):
        if taken + more < len(partitions):
            gain = partitions[taken][1] - partitions[taken + more][1]
            if gain > more * penalty * variances[taken + more]:
                return more
    return 0


def self_normalised(x: np.ndarray, trim: int) -> tuple[float, int]:
    """Shao & Zhang's statistic for one change of mean in ``x`` (n,), and the last index (1-based) of the left part.

    Needs no estimate of the long-run variance: the change is held against the spread of the partial sums on either
    side. Splits closer than ``trim`` to an end are left out. Above `CRITICAL`: a change at 5 %. O(n).
    """
    import numpy as np

    n = len(x)
    k = np.arange(trim, n - trim)
    centred = x - x.mean()
    if not len(k) or not centred.any():
        return 0.0, 0
    sums = np.cumsum(centred)
    spread = _side(centred)[k - 1] + _side(centred[::-1])[n - k - 1]
    change = (sums[k - 1] - k / n * sums[-1]) ** 2 / n
    with np.errstate(divide="ignore"):
        ratio = np.where(spread > 0, change * n**2 / spread, np.inf)
    best = int(ratio.argmax())
    return float(ratio[best]), int(k[best])


def _side(x: np.ndarray) -> np.ndarray:
    """For each k the sum over t <= k of (S_t - t/k S_k)^2, from running sums."""
    import numpy as np

    t = np.arange(1, len(x) + 1, dtype="float64")
    sums = np.cumsum(x)
    slope = sums / t
    total = np.cumsum(sums**2) - 2 * slope * np.cumsum(t * sums) + slope**2 * np.cumsum(t**2)
    return np.maximum(total, 0.0)


# ------------------------------------------------------------------------------------------------------ shifts of a run


@dataclass(frozen=True, slots=True)
class Shift(Result):
    """One level shift: ``change`` (later minus earlier) and when it came.

    ``at``, ``at_low``, ``at_high``: 0-based packet, or time in ns where send times were given; ``relative`` change;
    ``statistic``: self-normalised, ``confirmed`` above 40.1 among
    at least 40 blocks; ``practical``: beyond the margin asked for.
    """

    at: float
    at_low: float
    at_high: float
    change: Estimate
    relative: float
    statistic: float
    confirmed: bool
    practical: bool
    codes: tuple[str, ...] = ()
    scope: Literal["within_run"] = "within_run"

    ROW: ClassVar[Row] = (
        "at", "at_low", "at_high", "relative", "statistic", "confirmed", "practical", "scope",
        ("change", "change.estimate"), ("change_low", "change.low"), ("change_high", "change.high"),
        ("unit", "change.unit"),
    )  # fmt: skip

    def __str__(self) -> str:
        state = "confirmed" if self.confirmed else "not confirmed"
        low, high = self.change.low, self.change.high
        interval = "" if low is None or high is None else f" [{low:.6g}, {high:.6g}]"
        return (
            f"shift of {self.change.estimate:.6g}{interval} {self.change.unit} ({100 * self.relative:+.1f} %) at "
            f"{self.at:.6g} [{self.at_low:.6g}, {self.at_high:.6g}], {state}, {self.scope}"
        )


@dataclass(frozen=True, slots=True)
class Stability(Result):
    """The shifts of one run on its ``blocks`` block medians of ``block`` packets (or ns); ``codes`` say the verdict."""

    shifts: tuple[Shift, ...]
    n: int
    blocks: int
    block: float
    long_run_sd: float
    unit: str
    codes: tuple[str, ...] = ()
    labels: dict[str, Any] = field(default_factory=dict)
    method: str = METHOD
    scope: Literal["within_run"] = "within_run"

    ROW: ClassVar[Row] = (
        "stable", ("shifts", "shifts.#"), ("confirmed", "confirmed.#"), "n", "blocks", "block", "long_run_sd",
        "unit", "scope",
    )  # fmt: skip

    @property
    def stable(self) -> bool | None:
        """Whether no shift was confirmed; None where the run is too short to tell."""
        if set(self.codes) & {"no_values", "short_series"}:
            return None
        return not self.confirmed

    @property
    def confirmed(self) -> tuple[Shift, ...]:
        """The shifts that the self-normalised test confirms."""
        return tuple(shift for shift in self.shifts if shift.confirmed)

    def __str__(self) -> str:
        if self.stable is None:
            return f"stability: not estimable{self.flag_note}"
        found = "; ".join(map(str, self.shifts)) if self.shifts else "no level shift"
        return f"{found}, in {self.blocks} blocks of {self.n} packets{self.flag_note}"


def blocked(
    x: np.ndarray, times: np.ndarray | None = None, block_ns: float = 60e9, level: float = 0.5
) -> tuple[np.ndarray, np.ndarray]:
    """Medians (or quantiles at ``level``) of consecutive blocks of ``x`` (n,), and where (or when) each block begins.

    Blocks of ``block_ns`` where ``times`` are given (longer where there would be more than 5,000 of them, shorter where
    fewer than 20), else of n/1,000 packets, at least 20. Blocks of fewer than five packets are left out. Lost packets
    (``inf``) count as late.
    """
    import numpy as np

    n = len(x)
    if times is None:
        size = max(20, math.ceil(n / 1000))
        count = n // size
        medians = _levels(x[: count * size].reshape(count, size), level) if count else np.empty(0)
        return medians, np.arange(count) * float(size)
    span = float(times[-1] - times[0])
    length = min(max(block_ns, span / MOST_BLOCKS * 1.001), max(span / FEWEST_BLOCKS * 0.999, 1.0))
    edges = np.arange(times[0], times[-1] + length, length)
    cuts = np.searchsorted(times, edges)
    filled = [(a, b, e) for a, b, e in zip(cuts, [*cuts[1:], n], edges, strict=True) if b - a >= 5]
    levels = np.array([_levels(x[None, a:b], level)[0] for a, b, _ in filled])
    return levels, np.array([float(e) for *_, e in filled])


def _levels(rows: np.ndarray, level: float) -> np.ndarray:
    """The quantile of each row: the middle of the two order statistics for the median, else one order statistic."""
    import numpy as np

    if level == 0.5:
        return np.asarray(np.median(rows, axis=1))
    rank = max(math.ceil(rows.shape[1] * level - 1e-9), 1) - 1
    return np.asarray(np.partition(rows, rank, axis=1)[:, rank])


def stability(
    data: Any,
    times: Any = None,
    *,
    block_ns: float = 60e9,
    level: float = 0.5,
    margin: float = 0.05,
    confidence: float = 0.95,
    unit: str = "ns",
    labels: dict[str, object] | None = None,
) -> Stability:
    """Level shifts during one run (a VM that moved, a path that changed), each with size, time and confirmation.

    ``data`` (n,): round trips in the order of sending, in ``unit``, or the samples of one run; ``times`` (n,): send
    times in ns (of samples their own), else packets are counted. ``level``: 0.95 looks at the blocks' 95th percentiles
    instead of their medians: a tail may grow while the middle stays. ``margin``: relative size from which a shift
    matters. Codes: ``nonstationary`` (confirmed shifts: summarise each segment), ``clock_step`` (send times run
    backwards; they are then not used), ``short_series`` (fewer than 20 blocks), ``no_values``, ``constant``.
    """
    import numpy as np

    if times is None and hasattr(data, "columns") and "sent_ns" in data.columns:
        sent = of_one_run(data)["sent_ns"]
        times = sent.to_numpy(dtype="float64") if sent.notna().all() else None
    x, missing = to_array(data)
    codes: tuple[str, ...] = ("missing",) if missing else ()
    own = dict(labels or {})
    stamps = None
    if times is not None and not missing:
        stamps = np.asarray(times)
        if len(stamps) != len(x):
            raise ValueError(f"{len(stamps)} times for {len(x)} values")
        if len(stamps) and (np.diff(stamps) < 0).any():
            codes, stamps = (*codes, "clock_step"), None
    if not len(x):
        return Stability((), 0, 0, 0.0, 0.0, unit, (*codes, "no_values"), own)
    medians, begins = blocked(x, stamps, block_ns, level)
    finite = np.isfinite(medians)
    medians, begins = medians[finite], begins[finite]
    size = float(np.median(np.diff(begins))) if len(begins) > 1 else float(len(x))
    if len(medians) < FEWEST_BLOCKS:
        return Stability((), len(x), len(medians), size, 0.0, unit, (*codes, "short_series"), own)
    if medians.min() == medians.max():
        return Stability((), len(x), len(medians), size, 0.0, unit, (*codes, "constant"), own)
    changes, variance = find_changes(medians)
    shifts = tuple(_shifts(medians, begins, size, changes, variance, margin, confidence, unit))
    codes += ("nonstationary",) if any(shift.codes for shift in shifts) else ()
    return Stability(shifts, len(x), len(medians), size, math.sqrt(variance), unit, codes, own)


def _shifts(
    medians: np.ndarray,
    begins: np.ndarray,
    size: float,
    changes: list[int],
    variance: float,
    margin: float,
    confidence: float,
    unit: str,
) -> Iterable[Shift]:
    """Each change between its neighbours: size, time interval (Bai 1997, long-run variance), confirmation."""
    import numpy as np

    edges = [0, *changes, len(medians)]
    for before, at, after in zip(edges, edges[1:], edges[2:], strict=False):
        left, right = medians[before:at], medians[at:after]
        change = hodges_lehmann(right, left, confidence=confidence, unit=unit)
        step = float(right.mean() - left.mean())
        statistic, _ = self_normalised(medians[before:after], SEGMENT)
        reach = _BAI * variance / step**2 + 1 if step else math.inf
        low, high = max(at - reach, before), min(at + reach, after)
        level = float(np.median(left))
        relative = (change.estimate or 0.0) / level if level else math.inf
        start = float(begins[at])
        confirmed = statistic > CRITICAL and after - before >= CONFIRMING
        yield Shift(
            start, start - (at - low) * size, start + (high - at) * size, change, relative, statistic, confirmed,
            abs(relative) > margin, ("nonstationary",) if confirmed else (),
        )  # fmt: skip


def hodges_lehmann(
    later: np.ndarray, earlier: np.ndarray, *, confidence: float = 0.95, unit: str = "ns", what: str = "shift"
) -> Estimate:
    """Hodges-Lehmann shift of two dependent samples (a,), (b,) and its interval: quantiles of their differences.

    Moses' normal ranks with the variance multiplied by the larger autocorrelation time of the two; pairwise differences
    are counted by bisection, never stored: O((a + b) log). An end outside the differences is None.
    """
    import numpy as np
    from scipy.special import ndtri

    a, b = np.sort(later), np.sort(earlier)
    m, n = len(a), len(b)
    pairs = m * n
    if not pairs:
        return Estimate(what, None, None, None, unit, m + n, "within_run", confidence, HODGES_LEHMANN, ("no_values",))
    tau = max(autocorrelation_time(later), autocorrelation_time(earlier), 1.0)
    half = float(ndtri((1 + confidence) / 2)) * math.sqrt(tau * pairs * (m + n + 1) / 12)
    first = math.floor(pairs / 2 - half)
    middle = (_difference(a, b, (pairs + 1) // 2) + _difference(a, b, pairs // 2 + 1)) / 2
    low = _difference(a, b, first) if first >= 1 else None
    high = _difference(a, b, pairs - first + 1) if first >= 1 else None
    codes = () if first >= 1 else ("few_clusters",)
    return Estimate(
        what, middle, low, high, unit, m + n, "within_run", confidence, HODGES_LEHMANN, codes, {}, (m + n) / tau,
        ("the same law on both sides but for the shift",), {"tau": tau},
    )  # fmt: skip


def _difference(a: np.ndarray, b: np.ndarray, rank: int) -> float:
    """The rank-th smallest (1-based) of all differences a_i - b_j of two sorted series, exact to rounding."""
    import numpy as np

    if len(a) * len(b) <= 200_000:
        every = (a[:, None] - b[None, :]).ravel()
        return float(np.partition(every, rank - 1)[rank - 1])
    low, high = float(a[0] - b[-1]), float(a[-1] - b[0])
    for _ in range(60):
        middle = (low + high) / 2
        if int(np.searchsorted(b, a - middle, side="left").sum()) <= len(a) * len(b) - rank:
            high = middle
        else:
            low = middle
    return high


# --------------------------------------------------------------------------------------------------------------- events


@dataclass(frozen=True, slots=True)
class EventTest(Result):
    """Was the change before an event unusual? Its rank among the changes between all windows of the same length.

    ``change`` of the last window against the one before; ``p`` and ``attainable_p``, the smallest that this many
    windows can give.
    """

    change: float
    p: float | None
    attainable_p: float | None
    windows: int
    unit: str
    codes: tuple[str, ...] = ()
    method: str = "rank of the last window's change among all windows of the same length"
    scope: Literal["within_run"] = "within_run"

    ROW: ClassVar[Row] = (
        "change", "p", "attainable_p", "windows", "unit", "scope",
    )  # fmt: skip

    def __str__(self) -> str:
        if self.p is None or self.attainable_p is None:
            return f"change before the event: not estimable{self.flag_note}"
        return (
            f"change before the event: {self.change:.6g} {self.unit}, p = {self.p:.3g} among {self.windows} windows "
            f"(smallest possible {self.attainable_p:.3g}), {self.scope}{self.flag_note}"
        )


def event_test(
    data: Any,
    window: int = 1,
    *,
    statistic: Literal["median", "mean"] = "median",
    alpha: float = 0.05,
    unit: str = "ns",
) -> EventTest:
    """Did the level change in the last ``window`` packets before an event (a lost connection) more than it does anyway?

    ``data`` (n,): the run up to the event, cut into windows from its end; or window values themselves with ``window``
    1. p = (1 + changes at least as large) / (1 + other changes). Codes: ``no_values`` (fewer than three windows),
    ``cannot_reach_alpha`` (too few windows for any p below ``alpha``).
    """
    import numpy as np

    x, missing = to_array(data)
    codes: tuple[str, ...] = ("missing",) if missing else ()
    count = len(x) // window
    if count < 3:
        return EventTest(math.nan, None, None, count, unit, (*codes, "no_values"))
    windows = x[len(x) - count * window :].reshape(count, window)
    levels = np.median(windows, axis=1) if statistic == "median" else windows.mean(axis=1)
    changes = np.diff(levels)
    others = np.abs(changes[:-1])
    p = (1 + int((others >= abs(changes[-1])).sum())) / (1 + len(others))
    attainable = 1 / (1 + len(others))
    codes += ("cannot_reach_alpha",) if attainable > alpha else ()
    return EventTest(float(changes[-1]), p, attainable, count, unit, codes)


# -------------------------------------------------------------------------------------------------- trend and warm-up


@dataclass(frozen=True, slots=True)
class Trend(Result):
    """Drift of block medians: ``slope`` over the whole run with its interval, Kendall's ``tau`` and its ``p``."""

    slope: Estimate
    kendall: float
    p: float | None
    codes: tuple[str, ...] = ()
    scope: Literal["within_run"] = "within_run"

    ROW: ClassVar[Row] = (
        ("what", "slope.what"), ("estimate", "slope.estimate"), ("low", "slope.low"), ("high", "slope.high"),
        ("unit", "slope.unit"), ("n", "slope.n"), ("n_effective", "slope.n_effective"), "kendall", "p", "scope",
        ("confidence", "slope.confidence"), ("method", "slope.method"),
    )  # fmt: skip

    def __str__(self) -> str:
        return f"{self.slope}, Kendall's tau {self.kendall:.2f}"


def trend(data: Any, *, confidence: float = 0.95, unit: str = "ns", labels: dict[str, object] | None = None) -> Trend:
    """Drift from the begin to the end of a series: Theil-Sen's slope times its length, Kendall's test of no trend.

    ``data`` (n,); more than 400 values are first brought to 400 or fewer block medians. Variances are multiplied by the
    autocorrelation time of the residuals (Hamed & Rao 1998 in short). ``nonstationary`` where the interval leaves out
    0; ``no_values`` for fewer than three values.
    """
    import numpy as np
    from scipy.stats import kendalltau, theilslopes

    x, _ = to_array(data)
    size = math.ceil(len(x) / 400)
    levels = np.median(x[: len(x) // size * size].reshape(-1, size), axis=1) if size > 1 else x
    n = len(levels)
    method = "Theil-Sen slope over the run (Sen 1968), variance times the residuals' autocorrelation time"
    what, own = "drift over the run", dict(labels or {})
    if n < 3 or not np.isfinite(levels).all():
        none = Estimate(what, None, None, None, unit, len(x), "within_run", confidence, method, ("no_values",), own)
        return Trend(none, math.nan, None, ("no_values",))
    found = theilslopes(levels, np.arange(n), alpha=confidence)
    tau = max(autocorrelation_time(levels - found[0] * np.arange(n)), 1.0)
    wider = math.sqrt(tau)
    slope, low, high = (float(each) for each in (found[0], found[2], found[3]))
    low, high = slope - wider * (slope - low), slope + wider * (high - slope)
    kendall, p = 0.0, 1.0
    if levels.min() < levels.max():
        test = kendalltau(np.arange(n), levels)
        kendall = float(test.statistic)
        # Exact for few independent values; normal with the larger variance for dependent ones.
        z = kendall * math.sqrt(9 * n * (n - 1) / (2 * (2 * n + 5))) / wider
        p = float(test.pvalue) if tau <= 1 else math.erfc(abs(z) / math.sqrt(2))
    codes: tuple[str, ...] = ("nonstationary",) if low > 0 or high < 0 else ()
    span = n - 1
    estimate = Estimate(
        what, slope * span, low * span, high * span, unit, len(x), "within_run", confidence, method, codes, own, n / tau
    )
    return Trend(estimate, kendall, p, codes)


def warm_up(data: Any) -> int:
    """Packets at the begin of a run to leave out: the cut that makes the rest's mean surest (MSER-5, White 1997).

    ``data`` (n,). Means of five packets; the cut d minimises the sum of squares after d over (B - d)^2, in the first
    half only. 0 for fewer than 40 packets.
    """
    import numpy as np

    x, _ = to_array(data)
    count = len(x) // 5
    if count < 8:
        return 0
    means = x[: count * 5].reshape(count, 5).mean(axis=1)
    if not np.isfinite(means).all():
        return 0
    centred = means - means.mean()
    left = np.arange(count, 0, -1)
    sums, squares = np.cumsum(centred[::-1])[::-1], np.cumsum(centred[::-1] ** 2)[::-1]
    score = (squares - sums**2 / left) / left**2
    return 5 * int(score[: count // 2].argmin())


# ------------------------------------------------------------------------------------------------------------ lifetimes


@dataclass(frozen=True, slots=True)
class Lifetime(Result):
    """How long connections live: the median (Kaplan-Meier) and the rate of losses per second, censored ones included.

    ``curve``: (time, surviving share, low, high) at each loss; ``losses`` of ``n`` connections over ``seconds``.
    """

    median: Estimate
    rate: Estimate
    curve: tuple[tuple[float, float, float, float], ...]
    n: int
    losses: int
    seconds: float
    codes: tuple[str, ...] = ()
    scope: Literal["across_runs"] = "across_runs"

    ROW: ClassVar[Row] = (
        ("what", "median.what"), ("estimate", "median.estimate"), ("low", "median.low"), ("high", "median.high"),
        ("unit", "median.unit"), "n", "losses", "seconds", ("rate", "rate.estimate"), ("rate_low", "rate.low"),
        ("rate_high", "rate.high"), "scope", ("confidence", "median.confidence"), ("method", "median.method"),
    )  # fmt: skip

    def __str__(self) -> str:
        seen = f"{self.losses} of {self.n} connections were lost in {self.seconds:.6g} s together"
        high = self.rate.high
        return f"{seen}; {self.median}" + (f"; at most one in {1 / high:.6g} s" if high and not self.losses else "")


def lifetimes(seconds: Iterable[float], lost: Iterable[bool], *, confidence: float = 0.95) -> Lifetime:
    """Lifetime of connections of which some were still alive when the test ended (``lost`` False: censored).

    Median by Kaplan & Meier with the log-log interval (Brookmeyer & Crowley 1982), unbounded above while more than half
    survive; rate with the exact Poisson interval, for a constant hazard. Raises `ValueError` for unequal lengths.
    """
    import numpy as np
    from scipy.special import ndtri
    from scipy.stats import chi2

    times, ends = np.asarray(list(seconds), dtype="float64"), np.asarray(list(lost), dtype=bool)
    if times.shape != ends.shape:
        raise ValueError(f"{len(times)} lifetimes, {len(ends)} ends")
    n, losses, total = len(times), int(ends.sum()), float(times.sum())
    tail = (1 - confidence) / 2
    curve = _survival(times, ends, float(ndtri(1 - tail)))
    codes: tuple[str, ...] = () if n else ("no_values",)
    codes += ("no_replication",) if n == 1 else ()

    def first_below(column: int) -> float | None:
        return next((point[0] for point in curve if point[column] <= 0.5), None)

    estimate, low, high = first_below(1), first_below(2), first_below(3)
    codes += ("unbounded_upper",) if n and high is None else ()
    kaplan = "Kaplan & Meier 1958, log-log interval (Brookmeyer & Crowley 1982)"
    median = Estimate(
        "median lifetime", estimate, low, high, "s", n, "across_runs", confidence, kaplan, codes, {}, None,
        ("connections independent", "the test's end does not depend on the connection"),
    )  # fmt: skip
    rate_low = float(chi2.ppf(tail, 2 * losses)) / 2 / total if losses and total else 0.0
    rate_high = float(chi2.ppf(1 - tail if losses else confidence, 2 * losses + 2)) / 2 / total if total else None
    rate = Estimate(
        "losses per second", losses / total if total else None, rate_low, rate_high, "1/s", n, "across_runs",
        confidence, "exact Poisson (Garwood 1936)", () if n else ("no_values",), {}, None, ("constant hazard",),
    )  # fmt: skip
    return Lifetime(median, rate, tuple(curve), n, losses, total, codes)


def _survival(times: np.ndarray, ends: np.ndarray, z: float) -> list[tuple[float, float, float, float]]:
    """Kaplan-Meier's curve with pointwise log-log intervals, one point for each time of a loss."""
    import numpy as np

    share, spread = 1.0, 0.0
    points: list[tuple[float, float, float, float]] = []
    for time in np.unique(times[ends]):
        risk, lost = int((times >= time).sum()), int(((times == time) & ends).sum())
        share *= 1 - lost / risk
        if share <= 0 or risk == lost:
            points.append((float(time), 0.0, 0.0, points[-1][3] if points else 1.0))
            continue
        spread += lost / (risk * (risk - lost))
        half = z * math.sqrt(spread) / abs(math.log(share))
        points.append((float(time), share, share ** math.exp(half), share ** math.exp(-half)))
    return points


# ------------------------------------------------------------------------------------------- series of intervals, clock


def interval_mean(
    data: Any,
    seconds: float | Sequence[float] = 1.0,
    *,
    confidence: float = 0.95,
    unit: str = "bit/s",
    labels: dict[str, object] | None = None,
) -> Estimate:
    """Mean rate of one run from its reporting intervals: total over total time, with an interval.

    ``data`` (n,): rates in ``unit`` in order, without omitted ones; ``seconds``: length of each interval. Fewer than 5
    are refused and fewer than 30 flagged as ``short_series`` (t as if independent); from 30 on t at the effective n
    with the prewhitened long-run variance. ``burst_test`` below 60 s together. ``diagnostics``: Ljung-Box p
    (``ljung_box_p``, small where neighbours depend) and how far the first interval lies below what the others predict,
    in their standard errors (``ramp``; beyond about -3 the test had not yet got up to speed).
    """
    import numpy as np
    from scipy.special import stdtrit

    x, missing = to_array(data)
    n = len(x)
    lengths = np.broadcast_to(np.asarray(seconds, dtype="float64"), (n + missing,)) if n else np.ones(0)
    codes: tuple[str, ...] = ("missing",) if missing else ()
    # Missing intervals take their length with them; equal lengths are the rule.
    weights = lengths[:n] if not missing else np.full(n, float(lengths.mean()))
    what, own = "mean rate", dict(labels or {})
    short = "Student t of interval rates as if independent"
    method = short if n < 30 else "Student t, prewhitened long-run variance (Andrews & Monahan 1992)"
    if n and float(lengths.sum()) < 60:
        codes += ("burst_test",)
    if n < 5:
        estimate = float(np.average(x, weights=weights)) if n else None
        codes += ("short_series",) if n else ("no_values",)
        return Estimate(what, estimate, None, None, unit, n, "within_run", confidence, method, codes, own)
    estimate = float(np.average(x, weights=weights))
    variance = float(x.var(ddof=1))
    if n < 30:
        codes, effective, degrees, error = (*codes, "short_series"), float(n), float(n - 1), math.sqrt(variance / n)
    else:
        long_run = max(long_run_variance(x), variance * 1e-3)
        effective = min(n * variance / long_run, n) if variance else float(n)
        degrees, error = max(effective / 2 - 1, 1.0), math.sqrt(max(long_run, variance) / n)
    if variance == 0:
        codes += ("constant",)
    half = float(stdtrit(degrees, (1 + confidence) / 2)) * error
    rest = float(x[1:].std(ddof=1)) * math.sqrt(1 + 1 / (n - 1))
    shown = {} if variance == 0 else {"ljung_box_p": ljung_box(x, max(min(10, n // 5), 1))[1]}
    shown |= {"ramp": float(x[0] - x[1:].mean()) / rest} if rest > 0 else {}
    return Estimate(
        what, estimate, estimate - half, estimate + half, unit, n, "within_run", confidence, method, codes, own,
        effective, ("stationary during the run",), dict(shown),
    )  # fmt: skip


@dataclass(frozen=True, slots=True)
class Throttling(Result):
    """A token bucket seen in a throughput series: ``burst_rate`` until ``at_s``, then ``sustained_rate``.

    ``bucket``: what was sent beyond the sustained rate until then, in the rate's unit times seconds. All None where
    nothing is ``found``.
    """

    found: bool | None
    burst_rate: float | None
    sustained_rate: float | None
    at_s: float | None
    bucket: float | None
    seconds: float
    unit: str
    codes: tuple[str, ...] = ()
    method: str = "one downward level shift, gain above 3 log(B) times the long-run variance"
    scope: Literal["within_run"] = "within_run"

    ROW: ClassVar[Row] = (
        "found", "burst_rate", "sustained_rate", "at_s", "bucket", "seconds", "unit", "scope",
    )  # fmt: skip

    def __str__(self) -> str:
        if self.found is None:
            return f"throttling: not estimable{self.flag_note}"
        if not self.found:
            return f"no throttling within {self.seconds:.6g} s, {self.scope}{self.flag_note}"
        return (
            f"throttled after {self.at_s:.6g} s: {self.burst_rate:.6g} {self.unit}, then {self.sustained_rate:.6g} "
            f"{self.unit}, {self.scope}{self.flag_note}"
        )


def throttling(data: Any, seconds: float = 1.0, *, drop: float = 0.1, unit: str = "bit/s") -> Throttling:
    """Does a throughput series fall to a lower level and stay there, as when a token bucket runs empty (Uta 2020)?

    ``data`` (n,): rates of intervals of ``seconds`` each. ``drop``: smallest relative fall that counts. No answer for
    fewer than ten intervals (``short_series``). ``burst_test``: a run below 60 s may end before the bucket does.
    """
    x, missing = to_array(data)
    total = (len(x) + missing) * seconds
    codes: tuple[str, ...] = ("missing",) if missing else ()
    codes += ("burst_test",) if total < 60 else ()
    if len(x) < 10:
        return Throttling(None, None, None, None, None, total, unit, (*codes, "short_series"))
    none = Throttling(False, None, None, None, None, total, unit, codes)
    partitions = best_partitions(x, 1, 3)
    if x.min() == x.max() or len(partitions) < 2:
        return none
    (_, before), ((at,), after) = partitions
    residual = without_levels(x, [at])
    burst, sustained = float(x[:at].mean()), float(x[at:].mean())
    variance = max(long_run_variance(residual), 1e-12 * float(x.var()))
    if before - after <= 3 * math.log(len(x)) * variance or sustained >= (1 - drop) * burst:
        return none
    return Throttling(True, burst, sustained, at * seconds, (burst - sustained) * at * seconds, total, unit, codes)


def clock_steps(sent_ns: Any, rtt_ns: Any = None) -> list[int]:
    """0-based packets at which the clock was set: a send time before its predecessor's, a round trip <= 0.

    A wall clock may be stepped during a run; each such packet carries the code ``clock_step`` and its round trip is no
    measurement.
    """
    import numpy as np

    sent = np.asarray(sent_ns, dtype="float64")
    back = np.flatnonzero(np.diff(sent) < 0) + 1
    if rtt_ns is None:
        return [int(each) for each in back]
    rtt = np.asarray(rtt_ns, dtype="float64")
    return [int(each) for each in np.union1d(back, np.flatnonzero(rtt <= 0))]
