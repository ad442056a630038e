"""How much a series of packets repeats itself: autocorrelation time, effective sample size, long-run variance.

Packets of one connection are not independent, and the dependence must be measured on the quantity that is reported: the
values for a mean, the indicator 1{x <= q} for a quantile. (A heavy tail hides the dependence of the raw values.)

Sources: Geyer, Practical Markov chain Monte Carlo, Statistical Science 7:473 (1992), initial monotone sequence; Andrews
& Monahan, Econometrica 60:953 (1992), prewhitening; Newey & West, Econometrica 55:703 (1987).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from azlatency.studies.samples import of_one_run, round_trips

if TYPE_CHECKING:
    import numpy as np

#: Upper clip of the prewhitening coefficient. The textbook's .97 destroys the coverage at rho = .99 (55-60 %).
CLIP = 0.9995
#: Independent values that a dependent run must be worth for any interval; below, tau itself is too uncertain.
FEW = 30
#: Batches of the ladder that looks for long memory.
LADDER = (10, 30, 100, 300)
_FIRST_LAGS = 1024
# The two checks for long memory: one-sided level, its normal quantile, and how many tau a batch must last.
_LEVEL = 0.01
_Z_LEVEL = 2.3263478740408408
_BATCH_TAUS = 4
# Below this many values nothing is said about long memory.
_SHORTEST = 200


def series(data: Any) -> tuple[np.ndarray, int]:
    """Any one-dimensional numbers as float64 without the missing ones, and how many were missing.

    Missing is NaN, None or pandas' NA; ``inf`` stays: it stands for a probe that got no answer. A frame of samples of
    *one* run gives its round trips in ns, without warm-up and duplicates, lost ones as ``inf``. Raises `ValueError`
    for anything that is not one-dimensional, for samples of several runs and for round trips known by bounds only.
    """
    import numpy as np

    if hasattr(data, "columns"):
        return round_trips(of_one_run(data)), 0
    values = data.to_numpy(dtype="float64", na_value=np.nan) if hasattr(data, "to_numpy") else data
    array = np.asarray(values, dtype="float64")
    if array.ndim != 1:
        raise ValueError(f"a series of one dimension is needed, not of {array.ndim}")
    missing = np.isnan(array)
    count = int(missing.sum())
    return (array[~missing] if count else array), count


def _dot(a: np.ndarray, b: np.ndarray) -> float:
    """Inner product of two series (n,) without the threads of BLAS, which wait for each other on a busy machine."""
    import numpy as np

    return float(np.einsum("i,i->", a, b))


def autocovariance(x: np.ndarray, lags: int) -> np.ndarray:
    """Autocovariances of ``x`` (n,) at lags 0 ... min(lags, n - 1): mean removed, divided by n (the biased form).

    The cross spectrum is summed over pieces a few times as long as the lags, so that few lags of a long series cost
    O(n log lags) in the processor's cache instead of a transform of length 2 n.
    """
    import numpy as np
    from scipy.fft import irfft, next_fast_len, rfft

    n = len(x)
    lags = min(lags, n - 1)
    centred = x - x.mean()
    if lags <= 32:
        return np.array([_dot(centred[: n - lag], centred[lag:]) for lag in range(lags + 1)]) / n
    size = next_fast_len(min(max(4 * (lags + 1), 4096), n + lags), real=True)
    step = size - lags
    spectrum = np.zeros(size // 2 + 1, dtype=complex)
    for start in range(0, n, step):
        piece = rfft(centred[start : start + step], size)
        longer = rfft(centred[start : start + size], size) if start + step < n else piece
        spectrum += piece.conj() * longer
    return irfft(spectrum, size)[: lags + 1] / n


def autocorrelation(x: np.ndarray, lags: int) -> np.ndarray:
    """Autocorrelations at lags 0 ... lags; NaN from lag 1 on for a constant series."""
    import numpy as np

    covariance = autocovariance(np.asarray(x, dtype="float64"), lags)
    with np.errstate(invalid="ignore", divide="ignore"):
        return covariance / covariance[0]


def _initial_sequence(x: np.ndarray, *, monotone: bool = True) -> tuple[float, int]:
    """Geyer's tau of ``x`` and its reach: the lag by which four fifths of the (positive) sum are gathered."""
    import numpy as np

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
    kept = pairs[: negative[0]] if len(negative) else pairs
    if not len(kept):  # strongly alternating: not even the first pair is positive
        return 1.0 / n, 1
    if monotone:
        kept = np.minimum.accumulate(kept)
    sums = np.cumsum(kept)
    reach = 2 * int(np.searchsorted(sums, 0.8 * sums[-1])) + 1
    return float((2 * sums[-1] - covariance[0]) / covariance[0]), reach


def autocorrelation_time(x: np.ndarray, *, monotone: bool = True) -> float:
    """Integrated autocorrelation time tau of ``x`` (n,): the variance of its mean is tau * variance / n.

    Geyer's initial positive sequence, made monotone by default: sums of adjacent pairs of autocovariances while they
    are positive. May be below 1 where neighbours alternate. 1 for a constant series or fewer than four values.
    """
    return _initial_sequence(x, monotone=monotone)[0]


def effective_n(x: np.ndarray) -> float:
    """Independent observations that ``x`` is worth for its mean: n / tau. May exceed n for alternating series."""
    return len(x) / autocorrelation_time(x)


def indicator_time(x: np.ndarray, q: float) -> float:
    """tau of 1{x <= q}, at least 1: what counts for a quantile near ``q``."""
    return max(autocorrelation_time((x <= q).astype("float64")), 1.0)


def block_means(x: np.ndarray, blocks: int) -> np.ndarray:
    """Means (blocks,) of as many consecutive blocks of equal length; up to ``blocks - 1`` last values are left out."""
    size = len(x) // blocks
    return x[: size * blocks].reshape(blocks, size).mean(axis=1)


def batch_error(x: np.ndarray, blocks: int) -> float:
    """Standard error of the mean of ``x`` from the spread of its block means."""
    return float(block_means(x, blocks).std(ddof=1)) / math.sqrt(blocks)


def newey_west(x: np.ndarray, lag: int) -> float:
    """Long-run variance with Bartlett weights 1 - l/(lag + 1). A cross-check only: it covers 58-76 % at rho = .95."""
    import numpy as np

    covariance = autocovariance(np.asarray(x, dtype="float64"), lag)
    weights = 1 - np.arange(1, len(covariance)) / (lag + 1)
    return float(covariance[0] + 2 * (weights * covariance[1:]).sum())


def long_run_variance(x: np.ndarray, *, clip: float = CLIP) -> float:
    """Long-run variance of ``x`` (n,), so that the mean's variance is this / n: AR(1) prewhitening (Andrews & Monahan).

    The residuals of an AR(1) fit get a Newey-West estimate at lag 4 (n/100)^(2/9), recoloured by 1/(1 - r)^2 with
    |r| clipped at ``clip``. 0 for a constant series.
    """
    import numpy as np

    n = len(x)
    if n < 3 or np.ptp(x) == 0:
        return 0.0
    centred = x - x.mean()
    r = _dot(centred[1:], centred[:-1]) / _dot(centred[:-1], centred[:-1]) if centred[:-1].any() else 0.0
    r = min(max(r, -clip), clip)
    white = centred[1:] - r * centred[:-1]
    lag = min(int(4 * (n / 100) ** (2 / 9)), len(white) - 1)
    return max(newey_west(white, lag), 0.0) / (1 - r) ** 2


def ljung_box(x: np.ndarray, lags: int) -> tuple[float, float]:
    """Ljung-Box statistic over ``lags`` autocorrelations and its chi-squared p: small where neighbours depend."""
    import numpy as np
    from scipy.stats import chi2

    n = len(x)
    r = autocorrelation(x, lags)[1:]
    statistic = float(n * (n + 2) * (r**2 / (n - np.arange(1, len(r) + 1))).sum())
    return statistic, float(chi2.sf(statistic, len(r)))


@dataclass(frozen=True, slots=True)
class Ladder:
    """Standard errors of a mean from few long and from many short batches.

    ``batches``, ``errors`` (from 10, 30, ... batches) and ``naive`` (as if independent). ``growing``: the error still
    grows between rungs whose batches are all several autocorrelation times long, beyond the chi-squared bands.
    """

    batches: tuple[int, ...]
    errors: tuple[float, ...]
    naive: float
    growing: bool


def batch_ladder(x: np.ndarray, batches: Sequence[int] = LADDER, *, tau: float | None = None) -> Ladder:
    """Batch-means standard errors of the mean of ``x`` at each number of ``batches`` that leaves two values a batch.

    Under short memory all rungs agree within their chi-squared bands (F test at 1 % of a pair of rungs) as soon as the
    batches are longer than a few ``tau`` (computed where not given).
    """
    from scipy.stats import f

    n = len(x)
    rungs = tuple(each for each in batches if n // each >= 2)
    errors = tuple(batch_error(x, each) for each in rungs)
    naive = float(x.std(ddof=1)) / math.sqrt(n) if n > 1 else 0.0
    tau = autocorrelation_time(x) if tau is None else tau
    long_enough = [(b, e) for b, e in zip(rungs, errors, strict=True) if n / b >= _BATCH_TAUS * tau and e > 0]
    growing = any(
        (few_error / many_error) ** 2 > f.isf(_LEVEL, few - 1, many - 1)
        for index, (few, few_error) in enumerate(long_enough)
        for many, many_error in long_enough[index + 1 :]
    )
    return Ladder(rungs, errors, naive, growing)


def memory_exponent(x: np.ndarray, frequencies: int) -> tuple[float, float]:
    """Memory parameter d of ``x`` (n,) from its lowest ``frequencies``, and its standard error; 0 is short memory.

    Local Whittle estimator: Robinson, Annals of Statistics 23:1630 (1995).
    """
    import numpy as np
    from scipy.fft import rfft
    from scipy.optimize import minimize_scalar

    # Only low frequencies are wanted, and the means of short blocks hold them as well.
    size = max(len(x) // (32 * frequencies), 1)
    coarse = block_means(x, len(x) // size)
    power = np.abs(rfft(coarse - coarse.mean())[1 : frequencies + 1]) ** 2
    logs = np.log(np.arange(1, len(power) + 1))
    logs -= logs.mean()
    found = minimize_scalar(
        lambda d: float(np.log((power * np.exp(2 * d * logs)).mean())), bounds=(-0.49, 0.99), method="bounded"
    )
    return float(found.x), 0.5 / math.sqrt(len(power))


def _remembers(ranks: np.ndarray, tau: float, reach: int) -> tuple[float | None, bool]:
    """Memory parameter of a series of ranks (None where the run is too short for one), and whether memory is long.

    The frequencies end below those that short memory bends, 0.15 n / reach. Where that leaves fewer than twelve, the
    dependence lasts a good part of the run: long, unless an AR(1) law with the same neighbour correlation explains it.
    """
    n = len(ranks)
    frequencies = int(min(n**0.6, 0.15 * n / max(reach, tau, 1.0))) if n and ranks.min() < ranks.max() else 0
    if frequencies < 12:
        r = min(float(autocorrelation(ranks, 1)[-1]), CLIP) if n > 3 and ranks.min() < ranks.max() else 0.0
        return None, n >= _SHORTEST and tau > 2 * (1 + r) / (1 - r)
    d, error = memory_exponent(ranks, frequencies)
    return d, d > _Z_LEVEL * error and d > 0.1


@dataclass(frozen=True, slots=True)
class Dependence:
    """What a series of ``n`` values is worth for its mean: ``tau`` (at least 1), ``n_effective`` = n / tau.

    ``rank_tau``: that of the ranks, which a few large values do not hide.
    ``memory``: d of `memory_exponent` (None where it cannot be told); ``long_memory``: no within-run interval holds.
    ``reach``: packets over which four fifths of the dependence of the ranks are gathered.
    """

    n: int
    tau: float
    n_effective: float
    rank_tau: float
    ladder: Ladder
    memory: float | None
    long_memory: bool
    reach: int = 1

    @property
    def codes(self) -> tuple[str, ...]:
        """Why there can be no within-run interval: ``long_memory``, ``few_clusters`` (dependent, worth < 30 values)."""
        worth_little = self.rank_tau > 2 and self.n / self.rank_tau < FEW
        return (("few_clusters",) if worth_little else ()) + (("long_memory",) if self.long_memory else ())

    @property
    def diagnostics(self) -> dict[str, float | int | str | bool]:
        """Numbers for `Estimate.diagnostics`."""
        shown: dict[str, float | int | str | bool] = {"tau": self.tau, "batch_errors_grow": self.ladder.growing}
        shown["reach"] = self.reach
        return shown if self.memory is None else {**shown, "memory_d": self.memory}


def _ranks(x: np.ndarray) -> np.ndarray:
    """Ranks of ``x`` (n,), ties averaged; from 50,000 values on to a thousandth of n, without sorting them all."""
    import numpy as np

    n = len(x)
    if n < 50_000:
        from scipy.stats import rankdata

        return np.asarray(rankdata(x))
    thin = np.sort(x[:: n // 25_000])
    edges = np.unique(thin[:: len(thin) // 1000])
    return np.searchsorted(edges, x).astype("float64")


def dependence(data: Any) -> Dependence:
    """Autocorrelation time, effective n and the check for long memory of a series (n,) in the order of sending.

    Missing values are left out; ``inf`` is allowed and counts as the largest.

    Long memory: the batch ladder of the ranks grows, or their memory parameter is above 0.1 and above 0 (one-sided
    1 %). Ranks, because a few large values hide the dependence of the rest. On AR(1) series about 3 % of the runs are
    called so, on ARFIMA series with d = 0.2 and 0.4 (n = 20,000) about 90-95 %.

    A slow wander under the noise of single packets is called so, too, where the run holds too few of its periods to
    tell it from long memory, and rightly: with a wander of 28 packets and a quarter of the variance, 1,000 packets are
    refused in 93 % of runs, and the intervals withheld would have held the median in 85 %; of 260 packets in 7,000 (the
    echo runs of the emulated study look so) 100 % and 83 %. Of 4,000 packets with the wander of 28, 14 % are refused
    and 91 % would hold. About 80 times ``reach`` packets (see the diagnostics) tell it apart.
    """
    import numpy as np

    x, _ = series(data)
    n = len(x)
    ranks = _ranks(x)
    finite = bool(np.isfinite(x).all()) if n else True
    rank_tau, reach = _initial_sequence(ranks)
    tau = max(autocorrelation_time(x) if finite else rank_tau, 1.0)
    ladder = batch_ladder(ranks, tau=rank_tau)
    memory, long = _remembers(ranks, rank_tau, reach)
    return Dependence(n, tau, n / tau, max(rank_tau, 1.0), ladder, memory, ladder.growing or long, reach)
