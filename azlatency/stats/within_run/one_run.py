"""The values of one run, which can say what any of its quantiles is and how sure that is."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from azlatency.stats.arrays import FloatArray
from azlatency.stats.rows import Row, blank_estimate, joined
from azlatency.stats.within_run.dependence import dependence, indicator_autocorrelation_time
from azlatency.stats.within_run.order_statistics import EFFECTIVE, EXACT, MIN_BEYOND, interval_ranks, point_rank
from azlatency.studies.format import percentile

#: Effective packets beyond a percentile of dependent packets with fewer of which the interval may be too short: with
#: 20 to 100 it covers 88 to 90 % (p99 of 100,000 packets), because the dependence of rare packets is underestimated.
ENOUGH_BEYOND = 125
#: Flags of runs without any interval.
NO_INTERVAL = frozenset({"long_memory", "few_clusters"})
#: Shares of the slowest packets among which bursts are looked for.
BURSTS = (0.1, 0.01)


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """How the statistics of a run are estimated and labelled."""

    confidence: float
    independent: bool = False
    resolution: float = 0.0
    unit: str = "ns"
    labels: Mapping[str, object] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """One run: its distinct values, ascending, and how many packets are at or below each.

    ``n`` includes lost probes, ``rank_tau`` is the autocorrelation time of the ranks. ``taus`` are the autocorrelation
    times of the indicators of some quantiles; others are measured with ``series``, the values in the order of sending.
    """

    levels: FloatArray
    cumulative: NDArray[np.int64]
    n: int
    options: Options
    rank_tau: float = 1.0
    flags: tuple[str, ...] = ()
    taus: dict[float, float] = field(default_factory=dict)
    series: FloatArray | None = None

    def tau(self, p: float) -> float:
        """Return the autocorrelation time of the indicator of the p-quantile; 1 if the quantile is refused."""
        if p not in self.taus:
            self.taus[p] = 1.0
            value = self.point(p)[1]
            if not self.options.independent and self.series is not None and math.isfinite(value):
                self.taus[p] = indicator_autocorrelation_time(self.series, value)
        return self.taus[p]

    def value_at(self, rank: int) -> float:
        """Return the order statistic of a 1-based rank; NaN beyond the values or if it is a lost probe."""
        if not len(self.levels) or not 1 <= rank <= self.cumulative[-1]:
            return math.nan
        value = float(self.levels[np.searchsorted(self.cumulative, rank)])
        return value if math.isfinite(value) else math.nan

    def steps(self) -> tuple[str, ...]:
        """Return ``constant`` or ``quantised`` if the answered values are equal or take fewer than twenty levels."""
        count, values = len(self.levels), int(self.cumulative[-1]) if len(self.levels) else 0
        if not count or not math.isfinite(self.levels[0]):
            return ()
        if count == 1 and self.n == values > 1:
            return ("constant",)
        return ("quantised",) if count < min(20, values / 2) else ()

    def levels_between(self, low: float, high: float) -> tuple[FloatArray, int]:
        """Return the distinct values from just below to just above [low, high], and how many packets lie inside."""
        first, last = int(np.searchsorted(self.levels, low)), int(np.searchsorted(self.levels, high, "right"))
        levels = self.levels[max(first - 1, 0) : last + 1]
        below, within = (int(self.cumulative[end - 1]) if end else 0 for end in (first, last))
        return levels[np.isfinite(levels)], within - below

    def cautious_tau(self, p: float) -> float:
        """Return the larger tau of the quantile itself and of a tail ten times as wide.

        A few exceedances estimate their own dependence badly. Judged by its own tau alone, a quantile would count as
        resolved just when tau came out too small: the intervals that remained covered 62 % (p99.9, rho = 0.95,
        n = 40,000).
        """
        if self.options.independent:
            return 1.0
        return max(self.tau(p), self.wider_tau(p))

    def wider_tau(self, p: float) -> float:
        """Return the autocorrelation time of a tail ten times as wide; that of the ranks beyond the median."""
        wider = 10 * min(p, 1 - p)
        return self.rank_tau if wider >= 0.5 - 1e-9 else self.tau(round(wider if p < 0.5 else 1 - wider, 12))

    def tau_beside_bursts(self, p: float, own: float) -> float:
        """Return ``own``, the autocorrelation time of the p-quantile's indicator, with the part that bursts hide.

        Bursts of late packets hardly show in the autocorrelation of 1{x <= median}, but how many of them a run catches
        shifts its median: with them, the interval covers 93 to 98 % (20,000 to 100,000 packets), without 84 to 93 %.
        The number of packets in the tail of a share s has the variance n s tau_s, and p of each step in it reaches the
        count at or below the quantile. A share below a quarter of ``own`` is noise.
        """
        if self.options.independent or not 0.1 < p < 0.9:
            return own
        hidden = p / (1 - p) * max(share * (self.tau(1 - share) - own) for share in BURSTS)
        return own + hidden if hidden > own / 4 else own

    def point(self, p: float) -> tuple[tuple[str, ...], float]:
        """Return the order statistic of rank ceil(n p), or NaN and the flag of the reason why there is none."""
        if not self.n:
            return ("no_values",), math.nan
        value = self.value_at(point_rank(self.n, p))
        if math.isnan(value):
            return ("loss_censored",), math.nan
        if self.n * (1 - p) < 1 - 1e-9 and p > 0.5:
            return ("tail_unresolved",), math.nan
        return (), value

    def estimate(self, p: float) -> Row:
        """Return the row of the p-quantile, with the ends of its interval that the run can support."""
        n, independent = self.n, self.options.independent
        refusal, value = self.point(p)
        tau, cautious = self.tau_beside_bursts(p, self.tau(p)), self.cautious_tau(p)
        resolved = n * min(p, 1 - p) / cautious >= MIN_BEYOND
        # If the quantile is not resolved, its remaining end rests on the larger tau.
        confidence = self.options.confidence
        ranks = interval_ranks(n, p, tau if resolved else cautious, confidence, independent=independent)
        low, high = self.value_at(ranks.low), self.value_at(ranks.high)
        flags = [*refusal, *self.flags, *self.steps()]
        if n and not independent and n * (1 - p) / cautious < MIN_BEYOND:
            flags, high = [*flags, "tail_unresolved"], math.nan
        if n and not independent and n * p / cautious < MIN_BEYOND:
            flags, low = [*flags, "tail_unresolved"], math.nan
        if NO_INTERVAL & set(flags):
            low = high = math.nan
        elif n and math.isnan(high):
            flags.append("unbounded_upper")
        elif tau > 2 and min(p, 1 - p) <= 0.1 and n * min(p, 1 - p) / tau < ENOUGH_BEYOND:
            flags.append("few_effective")
        step = 0.0 if "constant" in flags else self._step(low, high)
        if step:
            flags.append("quantised")
            low, high = low - step / 2, high + step / 2
        method = EXACT if independent else EFFECTIVE
        labels = {**self.options.labels, "q": p}
        row = blank_estimate(percentile(p), self.options.unit, n, confidence, method, labels=labels)
        ends = {"estimate": value, "low": low, "high": high}
        return row | ends | {"n_effective": ranks.n_effective, "flags": joined(flags)}

    def _step(self, low: float, high: float) -> float:
        """Return the step of the values if it exceeds half the interval [low, high], else 0.

        The step is the given resolution, or the gap between neighbouring values if the interval contains many equal
        values.
        """
        if math.isnan(low) or math.isnan(high):
            return 0.0
        if resolution := self.options.resolution:
            return resolution if resolution > (high - low) / 2 else 0.0
        levels, inside = self.levels_between(low, high)
        if len(levels) > 5 or len(levels) < 2 or inside < 4 * len(levels):
            return 0.0
        step = float(np.diff(levels).min())
        return step if step > (high - low) / 2 else 0.0


def sort_run(x: FloatArray, options: Options, *, lost: int = 0, missing: int = 0) -> Run:
    """Count the distinct values of one run, the lost and the missing ones, and measure the dependence."""
    levels, counts = np.unique(x, return_counts=True)
    measured = None if options.independent or len(x) < 4 else dependence(x)
    flags: tuple[str, ...] = ("missing",) if missing else ()
    if measured is not None:
        flags += measured.flags + measured.warnings
    return Run(
        levels=levels,
        cumulative=np.cumsum(counts),
        n=len(x) + lost,
        series=x,
        flags=flags,
        options=options,
        rank_tau=1.0 if measured is None else measured.rank_tau,
    )
