"""Simulated round-trip times of one connection, with known quantiles: queues, long memory, clusters, pauses, drift.

Every process takes a generator and a length and returns positive values of shape (n,) whose distribution does not
change over the run, unless its name says so. Quantiles that have no formula come from a long run of the same process.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache

import numpy as np
from scipy.optimize import brentq
from scipy.special import ndtr, ndtri

from helpers.cases import correlated, fractional, stream

Process = Callable[[np.random.Generator, int], np.ndarray]


def queue(rng: np.random.Generator, n: int, load: float = 0.8) -> np.ndarray:
    """Sojourn times of an M/M/1 queue with service time 1 (Lindley's recursion), stationary from the first packet."""
    service, gap = rng.exponential(1.0, n), rng.exponential(1 / load, n)
    # The wait is a random walk that is reflected at zero; the first packet finds a queue in equilibrium.
    first = rng.exponential(1 / (1 - load)) if rng.random() < load else 0.0
    walk = first + np.concatenate([[0.0], np.cumsum(service[:-1] - gap[1:])])
    return walk - np.minimum(np.minimum.accumulate(walk), 0.0) + service


def gaussian(dependence: Process) -> Process:
    """Return the process exp(0.5 z) with the Gaussian dependence of z."""
    return lambda rng, n: np.exp(0.5 * dependence(rng, n))


def fractional_gaussian(rng: np.random.Generator, n: int, hurst: float = 0.8) -> np.ndarray:
    """Fractional Gaussian noise by circulant embedding."""
    k = np.arange(n + 1.0)
    r = 0.5 * (np.abs(k + 1) ** (2 * hurst) - 2 * k ** (2 * hurst) + np.abs(k - 1) ** (2 * hurst))
    spectrum = np.fft.fft(np.concatenate([r[:n], r[n - 1 : 0 : -1]])).real.clip(0)
    m = len(spectrum)
    noise = rng.standard_normal(m) + 1j * rng.standard_normal(m)
    return np.asarray(np.fft.fft(np.sqrt(spectrum / m) * noise).real[:n])


def regimes(rng: np.random.Generator, n: int, exponent: float = 1.5, scale: float = 20.0) -> np.ndarray:
    """Levels that stay for Pareto-distributed times (infinite variance), with 10 % noise."""
    lengths = np.minimum(np.ceil(scale * (1 + rng.pareto(exponent, n // 10))), 2 * n).astype("int64")
    stay = np.repeat(rng.standard_normal(len(lengths)), lengths)
    begin = int(rng.integers(0, n))  # away from the first stay, which is shorter than one met at random
    return np.exp(0.5 * stay[begin : begin + n]) * rng.lognormal(0, 0.1, n)


def spikes(rng: np.random.Generator, n: int, starts: float = 1e-4, length: float = 150.0) -> np.ndarray:
    """Bursts of packets ten times as late: geometric lengths, at random starts."""
    late = np.zeros(n + 2000, dtype=bool)
    for start in np.flatnonzero(rng.random(n + 2000) < starts):
        late[start : start + rng.geometric(1 / length)] = True
    return rng.lognormal(0, 0.1, n) * np.where(late[2000:], 10, 1)


def pauses(rng: np.random.Generator, n: int, every: int = 900, length: int = 12) -> np.ndarray:
    """Garbage collection: about every 900 packets a pause of which each waiting packet sees less."""
    extra = np.zeros(n)
    at = int(rng.integers(0, every))
    while at < n:
        depth = min(length, n - at)
        extra[at : at + depth] = 20 * rng.uniform(0.5, 1.5) * (1 - np.arange(depth) / length)
        at += int(every * rng.uniform(0.7, 1.3))
    return rng.lognormal(0, 0.1, n) + extra


def sawtooth(rng: np.random.Generator, n: int, period: int = 500) -> np.ndarray:
    """A level that rises by a fifth over 500 packets and falls back, from a random phase."""
    return rng.lognormal(0, 0.1, n) * (1 + 0.2 * ((np.arange(n) + rng.integers(0, period)) % period) / period)


def drift(rng: np.random.Generator, n: int, total: float = 0.01) -> np.ndarray:
    """A level that rises by 1 % over the run."""
    return rng.lognormal(0, 0.1, n) * (1 + total * np.arange(n) / n)


def autoregressive(rho: float) -> Process:
    """Return AR(1) with a lognormal margin."""
    return gaussian(lambda rng, n: correlated(rng, n, rho))


def arfima(d: float) -> Process:
    """Return ARFIMA(0, d, 0) with a lognormal margin."""
    return gaussian(lambda rng, n: fractional(rng, n, d))


PROCESSES: dict[str, Process] = {
    "independent": autoregressive(0.0),
    "AR(1) 0.95": autoregressive(0.95),
    "AR(1) 0.99": autoregressive(0.99),
    "M/M/1 0.8": queue,
    "fGn H = 0.8": gaussian(fractional_gaussian),
    "ARFIMA d = 0.3": arfima(0.3),
    "Pareto stays": regimes,
    "clustered spikes": spikes,
    "pauses": pauses,
    "sawtooth": sawtooth,
    "1 % drift": drift,
}


@cache
def quantile(name: str, p: float) -> float:
    """Return the p-quantile of a process of `PROCESSES`."""
    if name.startswith("M/M/1"):
        return -5 * math.log(1 - p)
    if name == "Pareto stays":
        return math.exp(math.hypot(0.5, 0.1) * float(ndtri(p)))
    if name == "clustered spikes":
        share = 1 - math.exp(-1e-4 * 150)
        return brentq(
            lambda x: (1 - share) * ndtr(math.log(x) / 0.1) + share * ndtr(math.log(x / 10) / 0.1) - p, 0.1, 99
        )
    if name in ("pauses", "sawtooth", "1 % drift"):
        rng = stream(77)
        return float(np.quantile(np.concatenate([PROCESSES[name](rng, 100_000) for _ in range(20)]), p))
    return math.exp(0.5 * float(ndtri(p)))
