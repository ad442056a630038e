"""Sections of the coverage table about statistics within a run."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import duckdb
import numpy as np
import pandas as pd
import pyarrow as pa
from numpy.typing import NDArray
from table import Answer, Row, simulate

from azlatency import quantiles
from azlatency.stats import exceedance, remaining_wait, stability
from azlatency.stats.within_run import large_runs
from azlatency.stats.within_run.one_run import Options

sys.path.insert(0, str(Path(__file__).parents[2] / "tests"))

from helpers.processes import PROCESSES, Process, arfima, quantile

Rtt = NDArray[np.float64]


def _answered(frame: pd.DataFrame) -> Answer:
    """Return the only row of a frame as an answer; without any end it is refused."""
    (row,) = frame.to_dict("records")
    low, high, estimate = (None if math.isnan(row[name]) else row[name] for name in ("low", "high", "estimate"))
    return Answer(low, high, low is None and high is None, bool(row["flags"]), None, estimate)


def _intervals(
    section: str, scale: float, routine: str, ask: Callable[[str, Rtt], pd.DataFrame], truth: Callable[[str], float]
) -> Iterator[Row]:
    """Ask a routine about every process at two lengths."""
    for name in PROCESSES:
        for n in (5000, 20_000):

            def answer(random: np.random.Generator, n: int = n, name: str = name) -> Answer:
                return _answered(ask(name, PROCESSES[name](random, n)))

            yield simulate(
                section,
                name,
                routine,
                f"{n:,}",
                repetitions=max(int(200 * scale), 10),
                seed=n,
                truth=truth(name),
                answer=answer,
            )


def quantile_rows(section: str, scale: float, p: float) -> Iterator[Row]:
    """Estimate the coverage of a quantile of one run."""
    return _intervals(
        section, scale, f"quantiles, p{100 * p:g}", lambda _, rtt: quantiles(rtt, p), lambda name: quantile(name, p)
    )


def memory_rows(section: str, scale: float) -> Iterator[Row]:
    """Estimate how often long-range dependence of each strength is refused, and the coverage of the median."""
    for d in (0.0, 0.1, 0.2, 0.3, 0.4):
        process = arfima(d)
        for n in (2000, 5000, 20_000):

            def answer(random: np.random.Generator, n: int = n, process: Process = process) -> Answer:
                return _answered(quantiles(process(random, n), 0.5))

            yield simulate(
                section,
                f"ARFIMA d = {d:g}",
                "quantiles, p50",
                f"{n:,}",
                repetitions=max(int(200 * scale), 10),
                seed=n,
                truth=1.0,
                answer=answer,
            )


def exceedance_rows(section: str, scale: float) -> Iterator[Row]:
    """Estimate the coverage of the share above the true p99."""
    return _intervals(
        section,
        scale,
        "exceedance of the true p99",
        lambda name, rtt: exceedance(rtt, quantile(name, 0.99)),
        lambda name: 0.01,
    )


#: Round-trip times of files are in ns: values of about 1 become 100 µs.
UNIT = 1e5


def large_run_rows(section: str, scale: float) -> Iterator[Row]:
    """Estimate the coverage of quantiles whose dependence is measured by batches, as in runs of over five million.

    Batches of four probes give as many batches as a run of 1.6 million.
    """
    large_runs._SMALLEST_BATCH = 4
    for name in ("independent", "AR(1) 0.95", "M/M/1 0.8", "fGn H = 0.8", "clustered spikes", "pauses"):
        for p in (0.5, 0.99):

            def answer(random: np.random.Generator, name: str = name, p: float = p) -> Answer:
                rtt = np.rint(UNIT * PROCESSES[name](random, 100_000)).astype("int64")
                samples = pa.table(
                    {
                        "run_id": pa.repeat("a-01", len(rtt)),
                        "file_row_number": np.arange(len(rtt)),
                        "rtt_ns": rtt,
                        "status": pa.repeat("ok", len(rtt)),
                        "low_ns": pa.nulls(len(rtt)),
                        "high_ns": pa.nulls(len(rtt)),
                    }
                )
                with duckdb.connect() as connection:
                    connection.register("samples", samples)
                    _, (given,) = large_runs.estimate_large_run(connection, "a-01", [p], Options(confidence=0.95))
                return _answered(pd.DataFrame([given]))

            yield simulate(
                section,
                name,
                f"quantiles from files, p{100 * p:g}",
                "100,000",
                repetitions=max(int(100 * scale), 10),
                seed=100,
                truth=UNIT * quantile(name, p),
                answer=answer,
            )


def wait_rows(section: str, scale: float) -> Iterator[Row]:
    """Estimate the coverage of the median remaining wait."""

    def truth(name: str) -> float:
        random = np.random.default_rng(78)
        rtt = np.concatenate([PROCESSES[name](random, 100_000) for _ in range(20)])
        return float(remaining_wait(rtt, [0.5])["estimate"].item())

    return _intervals(section, scale, "remaining wait, p50", lambda _, rtt: remaining_wait(rtt, [0.5]), truth)


def shift_rows(section: str, scale: float) -> Iterator[Row]:
    """Count the false alarms of the search for level shifts in runs without one, and the shifts that it finds."""
    shifted = [("independent", 0.1), ("independent", 0.2), ("AR(1) 0.95", 0.5), ("AR(1) 0.95", 1.0),
               ("fGn H = 0.8", 0.5), ("M/M/1 0.8", 1.0), ("clustered spikes", 0.1)]  # fmt: skip
    for name, shift in [*((name, 0.0) for name in PROCESSES), *shifted]:

        def answer(random: np.random.Generator, name: str = name, shift: float = shift) -> Answer:
            rtt = PROCESSES[name](random, 5000)
            rtt[2500:] += shift * quantile(name, 0.5)
            stable = stability(rtt).run["stable"].iloc[0]
            return Answer(refused=stable is pd.NA, alarm=None if stable is pd.NA else not stable)

        routine = f"stability, {100 * shift:.0f} % slower from the middle (share found)" if shift else "stability"
        yield simulate(
            section,
            name,
            routine,
            "5,000",
            repetitions=max(int((100 if shift else 300) * scale), 10),
            seed=5,
            truth=None,
            answer=answer,
        )


#: Title of a section → its rows, given the title and the share of the usual repetitions.
SECTIONS: dict[str, Callable[[str, float], Iterator[Row]]] = {
    "Median of one run: coverage of the 95 % interval": partial(quantile_rows, p=0.5),
    "Long memory: how often it is refused, and the coverage of the median": memory_rows,
    "p99 of one run: coverage of the 95 % interval": partial(quantile_rows, p=0.99),
    "Quantiles of a large run: coverage of the 95 % interval": large_run_rows,
    "Share above a limit: coverage of the 95 % interval": exceedance_rows,
    "Remaining wait of a user: coverage of the 95 % interval": wait_rows,
    "Level shifts during a run: false alarms": shift_rows,
}
