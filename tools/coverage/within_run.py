"""Sections of the coverage table about statistics within a run."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from table import Answer, Row, simulate

from azlatency.stats import exceedance, quantiles, remaining_wait, stability
from azlatency.stats.result import Estimate

sys.path.insert(0, str(Path(__file__).parents[2] / "tests"))

from helpers.processes import PROCESSES, quantile

Rtt = NDArray[np.float64]


def _intervals(
    section: str, scale: float, routine: str, ask: Callable[[str, Rtt], Estimate], truth: Callable[[str], float]
) -> Iterator[Row]:
    """Ask a routine about every process at two lengths."""
    for name in PROCESSES:
        for n in (5000, 20_000):

            def answer(random: np.random.Generator, n: int = n, name: str = name) -> Answer:
                given = ask(name, PROCESSES[name](random, n))
                open_ends = given.low is None and given.high is None
                return Answer(
                    low=given.low, high=given.high, refused=open_ends, flagged=bool(given.codes),
                    estimate=given.estimate,
                )  # fmt: skip

            yield simulate(
                section, name, routine, f"{n:,}", repetitions=max(int(200 * scale), 10), seed=n, truth=truth(name),
                answer=answer,
            )  # fmt: skip


def quantile_rows(section: str, scale: float, p: float) -> Iterator[Row]:
    """Estimate the coverage of a quantile of one run."""
    return _intervals(
        section, scale, f"quantiles, p{100 * p:g}", lambda _, rtt: quantiles(rtt, p)[0], lambda name: quantile(name, p)
    )


def exceedance_rows(section: str, scale: float) -> Iterator[Row]:
    """Estimate the coverage of the share above the true p99."""
    return _intervals(
        section, scale, "exceedance of the true p99", lambda name, rtt: exceedance(rtt, quantile(name, 0.99)),
        lambda name: 0.01,
    )  # fmt: skip


def wait_rows(section: str, scale: float) -> Iterator[Row]:
    """Estimate the coverage of the median remaining wait."""

    def truth(name: str) -> float:
        random = np.random.default_rng(78)
        rtt = np.concatenate([PROCESSES[name](random, 100_000) for _ in range(20)])
        return float(remaining_wait(rtt, [0.5])[0].estimate or 0.0)

    return _intervals(section, scale, "remaining wait, p50", lambda _, rtt: remaining_wait(rtt, [0.5])[0], truth)


def shift_rows(section: str, scale: float) -> Iterator[Row]:
    """Count the false alarms of the search for level shifts in runs without one."""
    for name in PROCESSES:

        def answer(random: np.random.Generator, name: str = name) -> Answer:
            stable = stability(PROCESSES[name](random, 5000)).stable
            return Answer(refused=stable is None, alarm=None if stable is None else not stable)

        yield simulate(
            section, name, "stability", "5,000", repetitions=max(int(100 * scale), 10), seed=5, truth=None,
            answer=answer,
        )  # fmt: skip


#: Title of a section → its rows, given the title and the share of the usual repetitions.
SECTIONS: dict[str, Callable[[str, float], Iterator[Row]]] = {
    "Median of one run: coverage of the 95 % interval": partial(quantile_rows, p=0.5),
    "p99 of one run: coverage of the 95 % interval": partial(quantile_rows, p=0.99),
    "Share above a limit: coverage of the 95 % interval": exceedance_rows,
    "Remaining wait of a user: coverage of the 95 % interval": wait_rows,
    "Level shifts during a run: false alarms": shift_rows,
}
