"""Sections of the coverage table about statistics across runs."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from itertools import permutations
from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from table import Answer, Row, simulate

from azlatency.stats import asymmetry, compare, history, typical_run

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

            yield simulate(section, process.name, "typical_run", f"R = {runs}", repetitions=round(600 * share),
                           seed=runs, truth=process.median, answer=answer)  # fmt: skip


def comparisons(section: str, share: float) -> Iterator[Row]:
    """Yield how often two sets of runs of one process are called different, and a change of 10 % is found."""
    for process in (*INDEPENDENT, *DEPENDENT):
        for runs in (5, 10, 20):
            for factor in (1.0, 1.1):
                if factor != 1.0 and process in DEPENDENT:
                    continue

                def answer(
                    random: np.random.Generator, process: Process = process, runs: int = runs, factor: float = factor
                ) -> Answer:
                    step = 1.0 if "steps" in process.name else None
                    result = compare(factor * process.draw(random, runs), process.draw(random, runs), resolution=step)
                    alarm = result.verdict == "different" or (factor == 1.0 and result.verdict.startswith("different"))
                    return Answer(
                        result.ratio.low, result.ratio.high, result.ratio.low is None, bool(result.codes), alarm,
                        result.ratio.estimate,
                    )  # fmt: skip

                routine = "compare, no change" if factor == 1.0 else "compare, 10 % slower (share found)"
                yield simulate(section, process.name, routine, f"{runs} v. {runs}", repetitions=round(400 * share),
                               seed=runs, truth=factor, answer=answer)  # fmt: skip


def rounds(kind: str) -> Callable[[np.random.Generator, int, bool], pd.DataFrame]:
    """Return a process of round trips between three machines in each of two zones, with control pairs or without."""

    def draw(random: np.random.Generator, number: int, control: bool) -> pd.DataFrame:
        hosts = [f"az{zone}{machine}" for zone in "12" for machine in ("abc" if control else "a")]
        rows = []
        for i, j in permutations(hosts, 2):
            offset = random.normal(0, 0.05) if kind == "sticky" else 0.0
            noise = autoregressive(0.5)(random, number) if kind == "AR" else 100 * random.lognormal(0, 0.05, number)
            # The drift of a fixed order: the first direction of a pair is always measured first.
            drift = 0.02 * (i > j) * np.arange(number) if kind == "drift" else 0.0
            for at, value in enumerate(noise * np.exp(offset + drift)):
                rows.append({"path": f"{i} → {j}", "zone": i[:3], "peer_zone": j[:3], "round": at,
                             "median_ns": 1e4 * value})  # fmt: skip
        return pd.DataFrame(rows)

    return draw


def directions(section: str, share: float) -> Iterator[Row]:
    """Yield how often any pair of directions without a difference is called different."""
    kinds = {
        "independent rounds": "", "offset of 5 % per pair": "sticky", "AR(1), 0.5": "AR", "drift, fixed order": "drift",
    }  # fmt: skip
    for name, kind in kinds.items():
        for control in (False, True):

            def answer(random: np.random.Generator, kind: str = kind, control: bool = control) -> Answer:
                (result,) = asymmetry(rounds(kind)(random, 8, control))
                flagged = any("one_machine_pair" in pair.codes for pair in result.pairs)
                return Answer(flagged=flagged, alarm=bool(result.different))

            routine = "asymmetry, " + ("3 machines per zone" if control else "one pair of machines")
            yield simulate(section, name, routine, "8 rounds", repetitions=round(60 * share), seed=8, truth=None,
                           answer=answer)  # fmt: skip


def histories(section: str, share: float) -> Iterator[Row]:
    """Yield how often a change is found in a history without one, and in one with a step of 10 %."""
    for process in (*INDEPENDENT[:3], *DEPENDENT):
        for runs in (40,):
            for step in (1.0, 1.2):

                def answer(
                    random: np.random.Generator, process: Process = process, runs: int = runs, step: float = step
                ) -> Answer:
                    values = process.draw(random, runs) * np.where(np.arange(runs) < runs // 2, 1.0, step)
                    result = history(values, permutations=99)
                    return Answer(flagged=bool(result.codes), alarm=bool(result.changes))

                routine = "history, no change" if step == 1.0 else "history, 20 % slower from the middle (share found)"
                yield simulate(section, process.name, routine, f"R = {runs}", repetitions=round(80 * share), seed=runs,
                               truth=None, answer=answer)  # fmt: skip


SECTIONS: dict[str, Callable[[str, float], Iterator[Row]]] = {
    "Typical run: coverage of the 95 % interval": typical_runs,
    "Comparison of two sets of runs": comparisons,
    "Directions of a pair": directions,
    "History of runs": histories,
}
