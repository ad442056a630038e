"""Sections of the coverage table about statistics across runs."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from table import Answer, Row, simulate

from azlatency.stats import typical_run

Draw = Callable[[np.random.Generator, int], NDArray[np.float64]]


class Process(NamedTuple):
    """A law of run values: ``draw`` returns runs in the order of measuring, ``median`` is that of the law."""

    name: str
    draw: Draw
    median: float


def clusters(random: np.random.Generator, runs: int) -> NDArray[np.float64]:
    """Return runs of two machines: 60 % near 100 and 40 % near 150."""
    return np.where(random.random(runs) < 0.6, 100.0, 150.0) * random.lognormal(0, 0.01, runs)


def slow_runs(random: np.random.Generator, runs: int) -> NDArray[np.float64]:
    """Return runs of which one in ten is eight times slower."""
    return np.where(random.random(runs) < 0.1, 800.0, 100.0) * random.lognormal(0, 0.02, runs)


def autoregressive(coefficient: float) -> Draw:
    """Return a process whose logarithms are AR(1) with a standard deviation of 5 %."""

    def draw(random: np.random.Generator, runs: int) -> NDArray[np.float64]:
        logs = random.standard_normal(runs)
        for run in range(1, runs):
            logs[run] = coefficient * logs[run - 1] + math.sqrt(1 - coefficient**2) * logs[run]
        return np.asarray(100 * np.exp(0.05 * logs))

    return draw


def median_of(draw: Draw) -> float:
    """Return the median of a law without a closed form, from four million values."""
    return float(np.median(draw(np.random.default_rng(99), 4_000_000)))


INDEPENDENT = [
    Process("normal, CV 5 %", lambda random, runs: random.normal(100, 5, runs), 100.0),
    Process("two clusters, 60 : 40", clusters, median_of(clusters)),
    Process("one run in ten 8× slower", slow_runs, median_of(slow_runs)),
    Process("exponential", lambda random, runs: random.exponential(100, runs), 100 * math.log(2)),
    Process("floor + lognormal", lambda random, runs: 100 + random.lognormal(1, 1.5, runs), 100 + math.e),
    Process("Pareto, shape 1.2", lambda random, runs: 100 * (1 + random.pareto(1.2, runs)), 100 * 2 ** (1 / 1.2)),
    Process("uniform, printed in steps of 1 %", lambda random, runs: random.uniform(90, 110, runs).round(), 100.0),
]
DEPENDENT = [Process(f"AR(1), {rho}", autoregressive(rho), 100.0) for rho in (0.3, 0.5, 0.8)]


def typical_runs(section: str, share: float) -> Iterator[Row]:
    """Yield the coverage of the typical run."""
    for process in (*INDEPENDENT, *DEPENDENT):
        for runs in (3, 5, 6, 8, 10, 20):

            def answer(random: np.random.Generator, process: Process = process, runs: int = runs) -> Answer:
                step = 1.0 if "steps" in process.name else None
                result = typical_run(process.draw(random, runs), resolution=step)
                return Answer(result.low, result.high, result.low is None, bool(result.codes), None, result.estimate)

            yield simulate(section, process.name, "typical_run", f"R = {runs}", repetitions=round(2000 * share),
                           seed=runs, truth=process.median, answer=answer)  # fmt: skip


SECTIONS: dict[str, Callable[[str, float], Iterator[Row]]] = {
    "Typical run: coverage of the 95 % interval": typical_runs,
}
