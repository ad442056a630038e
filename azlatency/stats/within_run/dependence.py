"""Autocorrelation time, effective sample size and long-run variance of a series of packets.

Packets of one connection are not independent. Their dependence must be measured on the quantity that is reported: on
the values for a mean, on the indicator 1{x <= q} for a quantile. (A heavy tail hides the dependence of the raw values.)

Sources: Geyer, Practical Markov chain Monte Carlo, Statistical Science 7:473 (1992), initial monotone sequence; Andrews
& Monahan, Econometrica 60:953 (1992), prewhitening; Newey & West, Econometrica 55:703 (1987).
"""

from __future__ import annotations

import math
from itertools import combinations
from typing import NamedTuple

import numpy as np
from scipy.fft import irfft, next_fast_len, rfft
from scipy.optimize import minimize_scalar
from scipy.stats import chi2, f, rankdata

from azlatency.stats.arrays import FloatArray, Values, to_array

#: Upper limit of the prewhitening coefficient. The textbook value 0.97 leaves a coverage of 55-60 % at rho = 0.99.
CLIP = 0.9995
#: Effective sample size below which the autocorrelation time itself is too uncertain for any interval.
MIN_EFFECTIVE = 30
#: Estimated effective sample size of a dependent run below which an interval may be too short. Runs with a true one of
#: 25 to 40 are answered when it comes out too large, and then cover 86 to 89 %; 75 to 87 % of them come out below 45.
ENOUGH_EFFECTIVE = 45
#: Dependence that lasts this many times as long as an AR(1) process explains may be long-range without being refused.
OUTLASTING = 2.5
#: Numbers of batches whose standard errors are compared.
LADDER = (10, 30, 100, 300)
_FIRST_LAGS = 1024
# Pieces of a series that are transformed by one call.
_AT_ONCE = 8
# The checks for long-range dependence: one-sided level, its normal quantile, and the shortest batch in units of tau.
_LEVEL = 0.01
_Z_LEVEL = 2.3263478740408408
_BATCH_TAUS = 4
# Shortest series that is checked for long-range dependence.
_SHORTEST = 200


def _dot(a: FloatArray, b: FloatArray) -> float:
    """Return the inner product without the threads of BLAS, which wait for each other on a busy machine."""
    return float(np.einsum("i,i->", a, b))


# Own code: statsmodels.acovf transforms the whole series (length 2 n); most calls need few lags of 1e6 values.
def autocovariance(x: FloatArray, lags: int) -> FloatArray:
    """Return the biased autocovariances of ``x`` at lags 0 to min(lags, n - 1).

    The cross spectrum is summed over pieces a few times as long as the lags, so that a few lags of a long series cost
    O(n log lags) in the processor's cache.
    """
    n = len(x)
    lags = min(lags, n - 1)
    centred = x - x.mean()
    if lags <= 32:
        return np.array([_dot(centred[: n - lag], centred[lag:]) for lag in range(lags + 1)]) / n
    size = next_fast_len(min(max(4 * (lags + 1), 4096), n + lags), real=True)
    step = size - lags
    spectrum = np.zeros(size // 2 + 1, dtype=complex)
    windows = np.lib.stride_tricks.sliding_window_view(centred, size)[::step] if n >= size else np.empty((0, size))
    for start in range(0, len(windows), _AT_ONCE):
        batch = windows[start : start + _AT_ONCE]
        for cross in rfft(batch[:, :step], size).conj() * rfft(batch):
            spectrum += cross
    for start in range(len(windows) * step, n, step):
        piece = rfft(centred[start : start + step], size)
        overlapping = rfft(centred[start : start + size], size) if start + step < n else piece
        spectrum += piece.conj() * overlapping
    return np.asarray(irfft(spectrum, size)[: lags + 1] / n)


def autocorrelation(x: FloatArray, lags: int) -> FloatArray:
    """Return the autocorrelations at lags 0 to ``lags``; NaN for a constant series."""
    covariance = autocovariance(np.asarray(x, dtype="float64"), lags)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray(covariance / covariance[0])


def _initial_sequence(x: FloatArray) -> tuple[float, int]:
    """Return Geyer's autocorrelation time and the lag by which four fifths of its sum are reached."""
    n = len(x)
    if n < 4 or x.min() == x.max():
        return 1.0, 1
    lags = _FIRST_LAGS
    while True:
        covariance = autocovariance(np.asarray(x, dtype="float64"), lags)
        pairs = covariance[: len(covariance) // 2 * 2].reshape(-1, 2).sum(axis=1)
        negative = np.flatnonzero(pairs <= 0)
        if len(negative) or lags >= n - 1:
            break
        lags *= 8
    positive = pairs[: negative[0]] if len(negative) else pairs
    if not len(positive):  # strongly alternating: even the first pair is negative
        return 1.0 / n, 1
    sums = np.cumsum(np.minimum.accumulate(positive))
    reach = 2 * int(np.searchsorted(sums, 0.8 * sums[-1])) + 1
    return float((2 * sums[-1] - covariance[0]) / covariance[0]), reach


def autocorrelation_time(x: FloatArray) -> float:
    """Return the integrated autocorrelation time tau: the variance of the mean of ``x`` is tau * variance / n.

    Sums adjacent pairs of autocovariances while they are positive, made monotone (Geyer's initial monotone sequence).
    Tau can be below 1 for alternating values, and is 1 for a constant series or fewer than four values.
    """
    return _initial_sequence(x)[0]


def indicator_autocorrelation_time(x: FloatArray, q: float) -> float:
    """Return the autocorrelation time of 1{x <= q}, at least 1; it determines the error of a quantile near ``q``."""
    return max(autocorrelation_time((x <= q).astype("float64")), 1.0)


def block_means(x: FloatArray, blocks: int) -> FloatArray:
    """Return the means of ``blocks`` consecutive blocks of equal length; a remainder at the end is dropped."""
    size = len(x) // blocks
    return np.asarray(x[: size * blocks].reshape(blocks, size).mean(axis=1))


def batch_error(x: FloatArray, blocks: int) -> float:
    """Return the standard error of the mean of ``x``, estimated from the spread of its block means."""
    return float(block_means(x, blocks).std(ddof=1)) / math.sqrt(blocks)


# Own code for Newey-West and Ljung-Box: statsmodels has the same numbers, but costs 1.4 s of import.
def newey_west(x: FloatArray, lag: int) -> float:
    """Return the long-run variance with Bartlett weights; alone it covers only 58-76 % at rho = 0.95."""
    covariance = autocovariance(np.asarray(x, dtype="float64"), lag)
    weights = 1 - np.arange(1, len(covariance)) / (lag + 1)
    return float(covariance[0] + 2 * (weights * covariance[1:]).sum())


def long_run_variance(x: FloatArray) -> float:
    """Return the long-run variance of ``x``: the variance of its mean is this value divided by n.

    The residuals of an AR(1) fit get a Newey-West estimate at lag 4 (n/100)^(2/9), recoloured by 1/(1 - r)^2 with
    |r| <= `CLIP` (Andrews & Monahan 1992). 0 for a constant series.
    """
    n = len(x)
    if n < 3 or np.ptp(x) == 0:
        return 0.0
    centred = x - x.mean()
    r = _dot(centred[1:], centred[:-1]) / _dot(centred[:-1], centred[:-1]) if centred[:-1].any() else 0.0
    r = min(max(r, -CLIP), CLIP)
    residuals = centred[1:] - r * centred[:-1]
    lag = min(int(4 * (n / 100) ** (2 / 9)), len(residuals) - 1)
    return max(newey_west(residuals, lag), 0.0) / (1 - r) ** 2


def ljung_box(x: FloatArray, lags: int) -> tuple[float, float]:
    """Return the Ljung-Box statistic over ``lags`` autocorrelations and its chi-squared p-value."""
    n = len(x)
    r = autocorrelation(x, lags)[1:]
    statistic = float(n * (n + 2) * (r**2 / (n - np.arange(1, len(r) + 1))).sum())
    return statistic, float(chi2.sf(statistic, len(r)))


def errors_grow(x: FloatArray, tau: float) -> bool:
    """Return whether the standard error of the mean of ``x`` grows with the length of the batches that it comes from.

    Under short-range dependence the errors agree within their chi-squared bands (F test of each pair at 1 %) once the
    batches are longer than a few autocorrelation times ``tau``.
    """
    lengths = {count: len(x) / count for count in LADDER if len(x) // count >= 2}
    errors = [(count, batch_error(x, count)) for count, length in lengths.items() if length >= _BATCH_TAUS * tau]
    pairs = combinations([(count, error) for count, error in errors if error > 0], 2)
    return any((few[1] / many[1]) ** 2 > f.isf(_LEVEL, few[0] - 1, many[0] - 1) for few, many in pairs)


def memory_exponent(x: FloatArray, frequencies: int) -> tuple[float, float]:
    """Estimate the memory parameter d of ``x`` from its lowest ``frequencies``; 0 is short-range dependence.

    Returns d and its standard error. Local Whittle estimator (Robinson, Annals of Statistics 23:1630, 1995).
    """
    # Means of short blocks carry the low frequencies as well and shorten the transform.
    size = max(len(x) // (32 * frequencies), 1)
    coarse = block_means(x, len(x) // size)
    power = np.abs(rfft(coarse - coarse.mean())[1 : frequencies + 1]) ** 2
    logs = np.log(np.arange(1, len(power) + 1))
    logs -= logs.mean()
    minimum = minimize_scalar(
        lambda d: float(np.log((power * np.exp(2 * d * logs)).mean())), bounds=(-0.49, 0.99), method="bounded"
    )
    return float(minimum.x), 0.5 / math.sqrt(len(power))


def _explained_tau(ranks: FloatArray) -> float:
    """Return the autocorrelation time of the AR(1) process with the same lag-1 correlation; 1 for a constant series."""
    r = float(autocorrelation(ranks, 1)[-1]) if len(ranks) > 3 and ranks.min() < ranks.max() else 0.0
    return (1 + min(r, CLIP)) / (1 - min(r, CLIP))


def _check_long_range(ranks: FloatArray, tau: float, reach: int, explained: float) -> tuple[float | None, bool]:
    """Return the memory parameter (None if the run is too short) and whether the dependence is long-range.

    Only frequencies below those that short-range dependence bends are used, 0.15 n / reach. If fewer than twelve
    remain, the dependence lasts a good part of the run and counts as long-range unless an AR(1) process with the same
    lag-1 correlation explains it. With more of them the estimate alone misses a third of the cases, so dependence that
    lasts three times as long as such a process explains counts as well if the lowest twenty frequencies agree.
    """
    n = len(ranks)
    varies = n > 0 and ranks.min() < ranks.max()
    frequencies = int(min(n**0.6, 0.15 * n / max(reach, tau, 1.0))) if varies else 0
    if frequencies < 12:
        return None, n >= _SHORTEST and tau > 2 * explained
    d, error = memory_exponent(ranks, frequencies)
    if d > 0.1 and d > _Z_LEVEL * error:
        return d, True
    return d, tau > 3 * explained and memory_exponent(ranks, max(frequencies, 20))[0] > 0.1


def _remove_trend(x: FloatArray) -> FloatArray:
    """Return ``x`` without its straight line: a drift makes long batches differ, but is not long-range dependence."""
    time = np.arange(len(x), dtype="float64") - (len(x) - 1) / 2
    squares = _dot(time, time)
    time *= _dot(time, x - x.mean()) / squares if squares else 0.0
    return np.subtract(x, time, out=time)


class Dependence(NamedTuple):
    """How much information a series of ``n`` dependent packets contains.

    ``tau`` is the autocorrelation time of the values, at least 1; ``rank_tau`` that of the ranks, which a few large
    values do not hide. ``memory`` is the memory parameter d (`memory_exponent`), None for short runs; ``long_memory``:
    no within-run interval is valid. ``outlasting``: ``rank_tau`` over that of an AR(1) process with the same lag-1
    correlation.
    """

    n: int
    tau: float
    rank_tau: float
    memory: float | None
    long_memory: bool
    outlasting: float = 1.0

    @property
    def flags(self) -> tuple[str, ...]:
        """Flags that forbid a within-run interval: ``few_clusters`` and ``long_memory``."""
        too_few = self.rank_tau > 2 and self.n / self.rank_tau < MIN_EFFECTIVE
        return (("few_clusters",) if too_few else ()) + (("long_memory",) if self.long_memory else ())

    @property
    def warnings(self) -> tuple[str, ...]:
        """``few_effective`` if an interval is allowed but may be too short.

        That is a dependent run with fewer than 45 effective values, or dependence that lasts 2.5 times as long as
        neighbouring packets let expect and is no oscillation: long-range dependence that was not refused.
        """
        few = self.rank_tau > 2 and self.n / self.rank_tau < ENOUGH_EFFECTIVE
        oscillates = self.memory is not None and self.memory < -0.2
        suspect = few or (self.outlasting > OUTLASTING and not oscillates)
        return ("few_effective",) if suspect and not self.flags else ()


def _coarse_ranks(x: FloatArray) -> FloatArray:
    """Return ranks with ties averaged; from 50,000 values on, ranks to a thousandth of n without a full sort."""
    n = len(x)
    if n < 50_000:
        return np.asarray(rankdata(x))
    thinned = np.sort(x[:: n // 25_000])
    edges = np.unique(thinned[:: len(thinned) // 1000])
    return np.searchsorted(edges, x).astype("float64")


def dependence(data: Values) -> Dependence:
    """Measure the autocorrelation time of one run, and check it for long-range dependence.

    ``data`` are values in the order of sending, or the samples of one run, else `ValueError`; ``inf`` (a lost probe)
    counts as the largest.

    The dependence is called long-range if the batch-means error of the ranks (without a linear drift) keeps growing
    with the batch length, if the memory parameter of the ranks exceeds 0.1 and lies above 0 at a one-sided 1 % level,
    or if the dependence lasts longer than an AR(1) process explains. Ranks are used because a few large values hide the
    dependence of the rest. The rules were chosen on independent packets, AR(1) with 0.95, an M/M/1 queue, fractional
    Gaussian noise (H = 0.8) and pauses; `make coverage` measures them on others. Weak long memory (d = 0.1) and rare
    clusters of late packets cannot be told from short memory in one run: repeat it.

    A slow oscillation below the noise of single packets is flagged as well if the run covers too few of its periods to
    tell it from long-range dependence: with one of 28 packets and a quarter of the variance, 1,000 packets are flagged
    in 93 % of runs, and the withheld intervals would have covered the median in 85 %.

    Geyer, Statistical Science 7:473 (1992); Robinson, Annals of Statistics 23:1630 (1995).

    >>> noise = np.random.default_rng(1).normal(size=20_001)
    >>> smoothed = noise[1:] + noise[:-1]
    >>> round(dependence(smoothed).tau, 1)
    2.0
    """
    x, _ = to_array(data)
    n = len(x)
    ranks = _coarse_ranks(x)
    finite = bool(np.isfinite(x).all()) if n else True
    rank_tau, reach = _initial_sequence(ranks)
    explained = _explained_tau(ranks)
    memory, long_range = _check_long_range(ranks, rank_tau, reach, explained)
    return Dependence(
        n=n,
        tau=max(autocorrelation_time(x) if finite else rank_tau, 1.0),
        rank_tau=max(rank_tau, 1.0),
        memory=memory,
        long_memory=errors_grow(_remove_trend(ranks), rank_tau) or long_range,
        outlasting=rank_tau / max(explained, 1.0),
    )
