"""Quantiles of runs that do not fit into memory: the same order statistics, read from files in three passes.

1. A log-linear histogram tells in which class each order statistic lies.
2. The values at or below each quantile are counted in batches of consecutive probes. The variance of these counts and
   the dependence between them give the autocorrelation time of the indicator 1{x <= q}: the mean of the batches is
   that of all values, and so is its variance (batch means; Law, Simulation Modeling and Analysis, chapter 9).
3. The values in the classes that contain an estimate or an end of an interval are read: these are exact.

A pass reads one row group at a time and returns at most some hundred kilobytes, so memory does not grow with the run.
The passes are the same functions in this process and in the workers of an executor.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any, TypeAlias

from azlatency.stats.within_run.dependence import MIN_EFFECTIVE, autocorrelation_time, dependence
from azlatency.stats.within_run.log_histograms import CLASSES, LogHistogram, class_bounds, class_of, log_histogram
from azlatency.stats.within_run.one_run import BURSTS, Options, Run
from azlatency.stats.within_run.order_statistics import point_rank
from azlatency.studies.segments import grouped

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from azlatency.stats.arrays import FloatArray
    from azlatency.stats.result import Estimate
    from azlatency.studies.segments import Segment

    _Counted: TypeAlias = tuple[FloatArray, NDArray[np.int64]]

#: Samples of a study or run from which on they are not loaded as a whole.
LARGE = 2_000_000
#: At most this many batches, which fit into memory, of at least this many probes.
_BATCHES, _SMALLEST_BATCH = 65_536, 64
_Mapper = Callable[..., Iterable[Any]]


@dataclass(frozen=True, slots=True, kw_only=True)
class LargeRun(Run):
    """One run in files: its histogram, and the values of the classes that were read."""

    histogram: LogHistogram
    cumulative: NDArray[np.int64]
    taus: dict[float, float] = field(default_factory=dict)
    values: dict[int, tuple[FloatArray, NDArray[np.int64]]] = field(default_factory=dict)
    """Distinct values of each class that was read, ascending, and how many packets have each."""
    needed: set[int] = field(default_factory=set)
    """Classes that were asked for and are not read yet."""

    def tau(self, p: float) -> float:
        """Return the autocorrelation time measured by batches; see `Run.tau`."""
        return self.taus.get(p, 1.0)

    def value_at(self, rank: int) -> float | None:
        """Return an order statistic; the middle of its class until that is read."""
        import numpy as np

        if not 1 <= rank <= self.cumulative[-1]:
            return None
        at = int(np.searchsorted(self.cumulative, rank))
        if at not in self.values:
            self.needed.add(at)
            low, high = class_bounds(np.array([at]))
            return float(low[0] + high[0]) / 2
        levels, counts = self.values[at]
        below = int(self.cumulative[at]) - int(self.histogram.counts[at])
        return float(levels[np.searchsorted(np.cumsum(counts), rank - below)])

    def steps(self) -> tuple[str, ...]:
        """Return ``constant`` or ``quantised``; see `Run.steps`. More than twenty classes have as many levels."""
        import numpy as np

        used = np.flatnonzero(self.histogram.counts)
        if not 0 < len(used) < 20:
            return ()
        levels, _ = self._levels(used)
        if len(levels) == 1 and not self.histogram.lost:
            return ("constant",)
        return ("quantised",) if 0 < len(levels) < 20 else ()

    def levels_between(self, low: float, high: float) -> tuple[FloatArray, int]:
        """Return the distinct values around [low, high] and how many lie inside; none if there are more than five."""
        import numpy as np

        used = np.flatnonzero(self.histogram.counts)
        first, last = np.searchsorted(used, class_of(np.array([low, high])))
        levels, counts = (
            self._levels(used[max(first - 1, 0) : last + 2]) if last - first <= 5 else self._levels(used[:0])
        )
        start, stop = int(np.searchsorted(levels, low)), int(np.searchsorted(levels, high, "right"))
        return levels[max(start - 1, 0) : stop + 1], int(counts[start:stop].sum())

    def _levels(self, classes: NDArray[np.int64]) -> tuple[FloatArray, NDArray[np.int64]]:
        """Return the distinct values of some classes and their counts; nothing until all of them are read."""
        import numpy as np

        if missing := set(classes.tolist()) - self.values.keys():
            self.needed.update(missing)
            classes = classes[:0]
        parts = [self.values[at] for at in classes.tolist()]
        levels = np.concatenate([np.empty(0), *(part[0] for part in parts)])
        return levels, np.concatenate([np.empty(0, dtype=np.int64), *(part[1] for part in parts)])


def estimate_large_run(
    segments: Sequence[Segment], levels: Sequence[float], options: Options, executor: Executor | None = None
) -> tuple[list[Estimate], list[Estimate]]:
    """Estimate the quantiles of one run at ``levels`` from its segments, which are in the order of sending.

    ``executor`` reads the segments (default: this process). Returns the estimates from the lower and from the upper
    bounds of the values, one per level; the same list if no value is interval-censored.
    """
    mapper: _Mapper = executor.map if executor is not None else map
    lower, upper = LogHistogram.empty(), LogHistogram.empty()
    censored = False
    groups = grouped(segments)
    for low, high in mapper(_histograms, groups):
        lower, upper, censored = lower + low, upper + (low if high is None else high), censored or high is not None
    of_upper = _estimates(groups, 1, upper, levels, options, mapper)
    return (_estimates(groups, 0, lower, levels, options, mapper) if censored else of_upper), of_upper


def _histograms(segments: Sequence[Segment]) -> tuple[LogHistogram, LogHistogram | None]:
    """Return the histograms of the lower and the upper bounds of segments; None instead of the same one twice."""
    lower, upper, censored = LogHistogram.empty(), LogHistogram.empty(), False
    for segment in segments:
        low, high = segment.bounds()
        of_low = log_histogram(low)
        lower, upper = lower + of_low, upper + (of_low if low is high else log_histogram(high))
        censored = censored or low is not high
    return lower, upper if censored else None


def _estimates(
    groups: Sequence[Sequence[Segment]],
    side: int,
    histogram: LogHistogram,
    levels: Sequence[float],
    options: Options,
    mapper: _Mapper,
) -> list[Estimate]:
    """Measure the dependence, read the values that the estimates need, and estimate."""
    run = _measure(groups, side, histogram, levels, options, mapper)
    for level in levels:
        run.estimate(level)
    if run.needed:
        _read_classes(run, groups, side, mapper)
    return [run.estimate(level) for level in levels]


def _measure(
    groups: Sequence[Sequence[Segment]],
    side: int,
    histogram: LogHistogram,
    levels: Sequence[float],
    options: Options,
    mapper: _Mapper,
) -> LargeRun:
    """Return the run with the autocorrelation time of every quantile and tail that the estimates ask for."""
    import numpy as np

    cumulative, n = np.cumsum(histogram.counts), histogram.n
    diagnostics: dict[str, float | int | str | bool] = {"missing": 0, "lost": histogram.lost}
    if options.independent:
        return LargeRun(
            n=n, rank_tau=1.0, codes=(), diagnostics=diagnostics, options=options, histogram=histogram,
            cumulative=cumulative,
        )  # fmt: skip
    classes = {level: int(np.searchsorted(cumulative, point_rank(n, level))) for level in _with_wider(levels)}
    classes = {level: at for level, at in classes.items() if at < CLASSES}
    size = max(_SMALLEST_BATCH, 1 << math.ceil(math.log2(max(n / _BATCHES, 1))))
    edges = class_bounds(np.array(list(classes.values()), dtype=np.int64))[1]
    shares = np.concatenate(
        [np.empty((len(edges), 0)), *mapper(partial(_batch_shares, side, edges, size), groups)], axis=1
    )
    taus = {level: _batch_tau(of_level, size) for level, of_level in zip(classes, shares, strict=True)}
    rank_tau = taus.get(0.5, 1.0)
    codes: tuple[str, ...] = ()
    if 0.5 in classes and shares.shape[1] >= 4:
        measured = dependence(shares[list(classes).index(0.5)])
        codes = ("long_memory",) if measured.long_memory else ()
        codes = (("few_clusters",) if rank_tau > 2 and n / rank_tau < MIN_EFFECTIVE else ()) + codes
        codes = codes or measured.warnings
        diagnostics["reach"] = size * measured.reach
        if measured.memory is not None:
            diagnostics["memory_d"] = measured.memory
    return LargeRun(
        n=n, rank_tau=rank_tau, codes=codes, diagnostics=diagnostics, options=options, histogram=histogram,
        cumulative=cumulative, taus=taus,
    )  # fmt: skip


def _with_wider(levels: Iterable[float]) -> list[float]:
    """Return the levels, the median, and the tails that `Run.wider_tau` and `Run.tau_beside_bursts` ask for."""
    wider = [round(10 * min(p, 1 - p) if p < 0.5 else 1 - 10 * min(p, 1 - p), 12) for p in levels]
    return sorted({0.5, *(1 - share for share in BURSTS), *levels, *(p for p in wider if 0 < p < 1)})


def _batch_shares(side: int, edges: FloatArray, size: int, segments: Sequence[Segment]) -> NDArray[np.float64]:
    """Return the share of values below each edge in batches of ``size``, without the incomplete last of a segment."""
    import numpy as np

    shares = [np.empty((len(edges), 0))]
    for segment in segments:
        values = segment.bounds()[side]
        batches = values[: len(values) // size * size].reshape(-1, size)
        counts = [np.count_nonzero(batches < edge, axis=1) for edge in edges]
        shares.append(np.array(counts, dtype="float64").reshape(len(edges), len(batches)) / size)
    return np.concatenate(shares, axis=1)


def _batch_tau(shares: FloatArray, size: int) -> float:
    """Return the autocorrelation time of an indicator from its mean in each batch, at least 1."""
    if len(shares) < 4 or not 0 < (share := float(shares.mean())) < 1:
        return 1.0
    of_batches = float(shares.var()) * size / (share * (1 - share))
    return max(of_batches * autocorrelation_time(shares), 1.0)


def _read_classes(run: LargeRun, groups: Sequence[Sequence[Segment]], side: int, mapper: _Mapper) -> None:
    """Read the distinct values of the classes that the estimates need, and how many packets have each."""
    import numpy as np

    wanted = np.array(sorted(run.needed), dtype=np.int64)
    levels, counts = _merged(mapper(partial(_distinct, side, wanted), groups))
    classes = class_of(levels)
    for at in wanted.tolist():
        run.values[at] = levels[classes == at], counts[classes == at]
    run.needed.clear()


def _distinct(side: int, wanted: NDArray[np.int64], segments: Sequence[Segment]) -> _Counted:
    """Return the distinct values of segments in some classes, and how many packets have each."""
    import numpy as np

    is_wanted = np.zeros(CLASSES, dtype=bool)
    is_wanted[wanted] = True
    finite = (values[np.isfinite(values)] for values in (segment.bounds()[side] for segment in segments))
    return _merged(np.unique(values[is_wanted[class_of(values)]], return_counts=True) for values in finite)


def _merged(parts: Iterable[_Counted]) -> _Counted:
    """Add the counts of equal values."""
    import numpy as np

    levels, counts = np.empty(0), np.empty(0, dtype=np.int64)
    for part_levels, part_counts in parts:
        levels, where = np.unique(np.concatenate([levels, part_levels]), return_inverse=True)
        counts = np.bincount(where, np.concatenate([counts, part_counts]), len(levels)).astype(np.int64)
    return levels, counts
