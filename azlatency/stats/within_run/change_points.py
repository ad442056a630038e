"""Change points of a dependent series: exact partitions, a penalty that knows the dependence, a confirming test.

A search that takes packets as independent finds change points in every stationary series at rho = 0.7 (coverage
experiment C11). Here the penalty is multiplied by the long-run variance, and every change point must be confirmed by a
self-normalised test.

Sources: Bai & Perron, J. Applied Econometrics 18:1 (2003), exact partitions; Andrews & Monahan, Econometrica 60:953
(1992); Shao & Zhang, JASA 105:1228 (2010).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from azlatency.stats.arrays import FloatArray
from azlatency.stats.within_run.dependence import long_run_variance

#: 5 % point of the self-normalised statistic (Shao & Zhang 2010). Its size in 6,000 simulated AR(1) series of 500
#: blocks is 5.3, 5.1, 6.5, 12.7 % at rho = 0, 0.3, 0.7, 0.95; of 100 blocks 4.8, 5.6, 10, 31 %. It only confirms.
CRITICAL = 40.1
#: Confirms a shift. The 5 % point under long-range dependence with a memory parameter of 0.4 (0.2 without) is 113 and
#: 102 with 250 and 1,000 blocks; rare clusters of late packets and levels with heavy-tailed stays need as much as this.
CONFIRMED = 200.0
#: Most blocks of the exact search, fewest blocks of a segment, most change points of the search.
MOST_BLOCKS, SEGMENT, MOST_CHANGES = 5000, 5, 10
#: Effective blocks that each segment must have on average.
EFFECTIVE = 6


def best_partitions(x: FloatArray, most: int, min_segment: int = 1) -> list[tuple[list[int], float]]:
    """Return the best partition with 0, 1, ... ``most`` change points and its sum of squared residuals (Bai & Perron).

    A change point is the 0-based first index of the next segment. O(most B^2); fewer entries if the segments do not
    fit. Raises `ValueError` for more than 5,000 values.
    """
    n = len(x)
    if n > MOST_BLOCKS:
        raise ValueError(f"{n} values: at most {MOST_BLOCKS}; take block medians")
    centred = np.asarray(x, dtype="float64") - np.mean(x)
    sums, squares = (np.concatenate([[0.0], np.cumsum(values)]) for values in (centred, centred**2))
    most = max(min(most, n // min_segment - 1), 0)
    best = np.full((most + 1, n + 1), np.inf)
    last = np.zeros((most + 1, n + 1), dtype="int64")
    lengths, rows = np.arange(n, 0, -1), np.arange(most)
    for end in range(min_segment, n + 1):
        starts = end - min_segment + 1
        cost = squares[end] - squares[:starts] - (sums[end] - sums[:starts]) ** 2 / lengths[n - end : n - end + starts]
        best[0, end] = cost[0]
        if most and end >= 2 * min_segment:
            total = best[:-1, :starts] + cost
            last[1:, end] = at = total.argmin(axis=1)
            best[1:, end] = total[rows, at]
    return [(_trace_back(last, k, n), float(best[k, n])) for k in range(most + 1) if math.isfinite(best[k, n])]


def cheapest(partitions: Sequence[tuple[list[int], float]], penalty: float) -> tuple[list[int], float]:
    """Return the partition with the least sum of squares plus ``penalty`` per change point, and that sum."""
    costs = [squares + penalty * len(changes) for changes, squares in partitions]
    place = int(np.argmin(costs))
    return partitions[place][0], costs[place]


def _trace_back(last: NDArray[np.int64], changes: int, n: int) -> list[int]:
    """Return the change points of the best partition with that many."""
    points, end = [], n
    for k in range(changes, 0, -1):
        end = int(last[k, end])
        points.append(end)
    return points[::-1]


def remove_segment_means(x: FloatArray, changes: Sequence[int]) -> FloatArray:
    """Return the residuals of ``x`` after the mean of each segment is subtracted."""
    edges = [0, *changes, len(x)]
    return np.concatenate([x[start:end] - x[start:end].mean() for start, end in pairwise(edges)])


def find_level_shifts(x: FloatArray, min_segment: int = SEGMENT) -> tuple[list[int], float]:
    """Find the level shifts of a dependent series, and the long-run variance that the penalty uses.

    The variance must come from residuals without the shifts, and the shifts need the variance. So one or two shifts are
    added as long as they gain more than 3 log(B) times the long-run variance of what remains without them; the
    partition is then the best one at that penalty.
    """
    n = len(x)
    if n < 2 * min_segment or float(x.max()) == float(x.min()):
        return [], 0.0
    most = max(min(MOST_CHANGES, n // (4 * min_segment)), 1)
    partitions = best_partitions(x, MOST_CHANGES, min_segment)
    variances = [_residual_variance(x, changes) for changes, _ in partitions[: most + 1]]
    accepted = 0
    while more := _count_worthwhile(partitions[: most + 1], variances, accepted, 3 * math.log(n)):
        accepted += more
    if not accepted:
        return [], variances[0]
    return cheapest(partitions, 3 * math.log(n) * variances[accepted])[0], variances[accepted]


def _residual_variance(x: FloatArray, changes: list[int]) -> float:
    """Return the long-run variance without the shifts, adjusted for degrees of freedom.

    Infinite with fewer than `EFFECTIVE` independent blocks per segment, where drift and shift look alike.
    """
    residual = remove_segment_means(x, changes)
    variance, segments, n = float(residual.var()), len(changes) + 1, len(x)
    long_run = long_run_variance(residual)
    if segments > 1 and n * variance < EFFECTIVE * segments * long_run:
        return math.inf
    return long_run * n / max(n - 3 * segments, 1)


def _count_worthwhile(
    partitions: list[tuple[list[int], float]], variances: list[float], accepted: int, penalty: float
) -> int:
    """Return how many further shifts, one or two (up and down again), gain more than their penalty; 0 for none."""
    for more in (1, 2):
        if accepted + more < len(partitions):
            gain = partitions[accepted][1] - partitions[accepted + more][1]
            if gain > more * penalty * variances[accepted + more]:
                return more
    return 0


def self_normalised_statistic(x: FloatArray, trim: int) -> tuple[float, int]:
    """Return Shao & Zhang's statistic for one change of mean, and the last 1-based index of the left part.

    It needs no estimate of the long-run variance: the change is compared with the spread of the partial sums on either
    side. Splits closer than ``trim`` to an end are excluded. Above `CRITICAL` it rejects at 5 %. O(n).
    """
    n = len(x)
    k = np.arange(trim, n - trim)
    centred = x - x.mean()
    if not len(k) or not centred.any():
        return 0.0, 0
    sums = np.cumsum(centred)
    spread = _partial_sum_spread(centred)[k - 1] + _partial_sum_spread(centred[::-1])[n - k - 1]
    change = (sums[k - 1] - k / n * sums[-1]) ** 2 / n
    with np.errstate(divide="ignore"):
        ratio = np.where(spread > 0, change * n**2 / spread, np.inf)
    best = int(ratio.argmax())
    return float(ratio[best]), int(k[best])


def _partial_sum_spread(x: FloatArray) -> FloatArray:
    """Return for each k the sum over t <= k of (S_t - t/k S_k)^2, from running sums."""
    t = np.arange(1, len(x) + 1, dtype="float64")
    sums = np.cumsum(x)
    slope = sums / t
    total = np.cumsum(sums**2) - 2 * slope * np.cumsum(t * sums) + slope**2 * np.cumsum(t**2)
    return np.asarray(np.maximum(total, 0.0))
