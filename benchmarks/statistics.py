"""Measure the statistics: CPU time relative to a sort of the same values, and peak memory.

``python -m benchmarks.statistics`` runs only these rows.
"""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable

import numpy as np

#: Packets of a long run; resamples of the bootstrap used for comparison, and how many of them are timed.
N, RESAMPLES, TIMED = 1_000_000, 9_999, 20
LEVELS = (0.5, 0.9, 0.99, 0.999, 0.9999)


def cpu(work: Callable[[], object]) -> float:
    """Return the CPU seconds of one call."""
    begin = time.process_time()
    work()
    return time.process_time() - begin


def least(work: Callable[[], object], turns: int = 3) -> float:
    """Return the smallest CPU time of several calls in seconds."""
    return min(cpu(work) for _ in range(turns))


def packets(n: int, seed: int = 1, rho: float = 0.9) -> np.ndarray:
    """Simulate n dependent lognormal round-trip times in ns, with a heavy tail."""
    from scipy.signal import lfilter

    rng = np.random.Generator(np.random.PCG64(seed))
    slow = np.asarray(lfilter([np.sqrt(1 - rho**2)], [1.0, -rho], rng.standard_normal(n)))
    return 100_000 * np.exp(0.3 * slow) * (1 + rng.pareto(3.0, n) * (rng.random(n) < 0.01))


def whole_report(x: np.ndarray) -> None:
    """Compute everything that the report shows of one run: five quantiles, the mean, the tail, level shifts."""
    import azlatency as az

    az.quantiles(x, LEVELS)
    az.stats.mean(x)
    az.stats.fit_tail(x)
    az.stats.stability(x)


def compared(x: np.ndarray, y: np.ndarray) -> None:
    """Compare two runs quantile by quantile."""
    import azlatency as az

    az.stats.shift_function(az.quantiles(x, LEVELS), az.quantiles(y, LEVELS))


def matrix() -> None:
    """Test the asymmetry of three zones in eight rounds with the exact max-T test."""
    import pandas as pd

    import azlatency as az

    rng = np.random.Generator(np.random.PCG64(3))
    zones = ("a", "b", "c")
    rows = [
        {"path": f"{i} → {j}", "round": r, "method": "m", "median_ns": 1e5 * rng.lognormal(0, 0.02)}
        for r in range(8) for i in zones for j in zones if i != j
    ]  # fmt: skip
    az.asymmetry(pd.DataFrame(rows))


def histogram(x: np.ndarray) -> tuple[float, float]:
    """Return the CPU seconds of five quantiles of a histogram, and the largest relative error of an interval end."""
    import azlatency as az

    bins, counts = np.unique(np.floor(np.log2(x) * 1024), return_counts=True)
    low, high = 2 ** (bins / 1024), 2 ** ((bins + 1) / 1024)
    found = az.stats.histogram_quantiles(low, high, counts, LEVELS, smooth=True)
    exact = az.quantiles(x, LEVELS, independent=True)
    ends = [(a, b) for own, due in zip(found[:3], exact[:3], strict=True)
            for a, b in ((own.low, due.low), (own.high, due.high)) if a is not None and b is not None]  # fmt: skip
    off = max(abs(a / b - 1) for a, b in ends)
    return least(lambda: az.stats.histogram_quantiles(low, high, counts, LEVELS, smooth=True)), off


def peak_megabytes(code: str) -> float:
    """Return the peak memory in MB of a new interpreter that runs ``code``, including imports and data."""
    tail = "\nimport resource; print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)"
    # Linux counts the peak of the process that starts the program too: a small shell stands between the two.
    words = ["sh", "-c", '"$0" -c "$1"; exit $?', sys.executable, code + tail]
    done = subprocess.run(words, capture_output=True, text=True, check=True)
    return float(done.stdout.split()[-1])


def print_row(what: str, own: float, peer: float, goal: str) -> None:
    """Print one row: CPU seconds, and the ratio to a sort of a million values."""
    print(
        f"{what:44} {own:8.3f} s   {'np.sort of 1e6':34} {peer:8.3f} s   {own / peer:14.1f}x   goal {goal}", flush=True
    )


def statistics() -> None:
    """Run all benchmarks of statistics."""
    from scipy.stats import bootstrap

    import azlatency as az

    x, y = packets(N), packets(N, 2)
    whole_report(x[:20_000])  # loads the modules
    compared(x[:20_000], y[:20_000])
    matrix()
    sort = least(lambda: np.sort(x))
    report = least(lambda: whole_report(x))
    print_row("whole report of a run of 1e6", report, sort, "<= 2 s CPU")
    peak = peak_megabytes("from benchmarks.statistics import N, packets, whole_report; whole_report(packets(N))")
    print(f"{'  its peak memory, imports included':44} {peak:8.0f} MB{'':59} goal <= 300 MB")
    print_row("two runs of 1e6, level by level", least(lambda: compared(x, y)), sort, "<= 4 s CPU")
    print_row("three zones, eight rounds, exact max-T", least(matrix), sort, "<= 0.2 s")
    own = least(lambda: az.quantiles(x, 0.99))
    one = cpu(lambda: bootstrap((x,), lambda v, axis: np.quantile(v, 0.99, axis=axis), n_resamples=TIMED, batch=1,
                                method="percentile", random_state=1)) / TIMED  # fmt: skip
    print(f"{'p99 of 1e6, dependence included':44} {own:8.3f} s   "
          f"{f'scipy bootstrap, {RESAMPLES} (of {TIMED})':34} {one * RESAMPLES:8.1f} s   "
          f"{one * RESAMPLES / own:8.0f}x faster   goal >= 200x")  # fmt: skip
    seconds, off = histogram(x)
    print(f"{'five quantiles of a histogram':44} {1000 * seconds:8.2f} ms   ends up to p99 off by {off:.1e}"
          f"{'':28} goal <= 5 ms, 4e-4")  # fmt: skip
    more = packets(10 * N)
    print(f"{'whole report, 1e7 over 1e6':44} {cpu(lambda: whole_report(more)) / report:8.1f}x  {'':60} goal <= 12x")


if __name__ == "__main__":
    statistics()
