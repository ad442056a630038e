"""Measure the statistics: CPU time relative to other libraries, and peak memory."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from benchmarks.results import COSTS, ROWS, pair, value

#: Packets of a long run; resamples of the bootstrap used for comparison, and how many of them are timed.
N, RESAMPLES, TIMED = 1_000_000, 9_999, 20
LEVELS = (0.5, 0.9, 0.99, 0.999, 0.9999)
#: Samples in files, and of a row group.
LARGE, GROUP = 100_000_000, 2**18


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
    """Compute everything that the report shows of one run: five quantiles and level shifts."""
    import azlatency as az

    az.quantiles(x, LEVELS)
    az.stats.stability(x)


def matrix() -> None:
    """Test the asymmetry of three zones in eight rounds with the exact max-T test."""
    import pandas as pd

    import azlatency as az

    rng = np.random.Generator(np.random.PCG64(3))
    zones = ("a", "b", "c")
    rows = [
        {"path": f"{i} → {j}", "round": r, "method": "m", "median_ns": 1e5 * rng.lognormal(0, 0.02)}
        for r in range(8)
        for i in zones
        for j in zones
        if i != j
    ]
    az.asymmetry(pd.DataFrame(rows))


def peak_megabytes(code: str) -> float:
    """Return the peak memory in MB of a new interpreter that runs ``code``, including imports and data."""
    tail = "\nimport resource; print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)"
    # Linux counts the peak of the process that starts the program too: a small shell stands between the two.
    words = ["sh", "-c", '"$0" -c "$1"; exit $?', sys.executable, code + tail]
    done = subprocess.run(words, capture_output=True, text=True, check=True)
    return float(done.stdout.split()[-1])


def packets_table(n: int, run_id: str, start: int, seed: int) -> pa.Table:
    """Return samples of a run as the importer writes them."""
    columns = {
        "run_id": pa.repeat(pa.scalar(run_id), n),
        "seq": pa.array(np.arange(start, start + n)),
        "sent_ns": pa.array(np.arange(start, start + n) * 100_000),
        "rtt_ns": pa.array(packets(n, seed).astype("int64")),
        "quantity": pa.repeat(pa.scalar("round_trip"), n),
        "status": pa.repeat(pa.scalar("ok"), n),
        "low_ns": pa.nulls(n, pa.int64()),
        "high_ns": pa.nulls(n, pa.int64()),
        "time_ns": pa.nulls(n, pa.int64()),
    }
    return pa.table(columns)


def large_study(folder: Path, n: int) -> Path:
    """Write a study with one run of ``n`` samples; return the file of its samples."""
    import azlatency as az
    from azlatency.studies.imports.importer import import_study
    from azlatency.studies.store.study import digest, read_stamp, write_stamp

    log = folder / "source" / "a.log"
    log.parent.mkdir(exist_ok=True)
    log.write_text("".join(f"64 bytes from 10.0.0.1: icmp_seq={i} ttl=64 time=0.3{i} ms\n" for i in range(1, 9)))
    import_study("large", [log.parent], out=folder)
    study = az.load("large", processed=folder)
    (run_id,) = study.runs["run_id"]
    (file,) = (folder / "large" / "samples").rglob("*.parquet")
    schema = pq.read_schema(file)
    options = {"compression": "zstd", "use_dictionary": ["run_id", "status"],
               "column_encoding": dict.fromkeys(("seq", "sent_ns", "rtt_ns"), "DELTA_BINARY_PACKED")}  # fmt: skip
    with pq.ParquetWriter(file, schema, **options) as writer:
        for start in range(0, n, GROUP):
            size = min(GROUP, n - start)
            writer.write_table(packets_table(size, run_id, start, start).select(schema.names).cast(schema))
    stamp = read_stamp(study.folder)
    stamp["tables"][file.relative_to(study.folder).as_posix()] = digest([file])
    write_stamp(study.folder, stamp)
    return file


def in_files(folder: Path) -> None:
    """Estimate the quantiles of a run in Parquet files, exactly."""
    import duckdb

    import azlatency as az

    file = large_study(folder, LARGE)
    study = az.load("large", processed=folder)

    def exact_duckdb() -> None:
        duckdb.sql(f"SELECT quantile_disc(rtt_ns, {list(LEVELS)}) FROM '{file}'").fetchall()

    pair(
        "five quantiles with intervals of 1e8 samples in Parquet",
        lambda: cpu(lambda: az.quantiles(study, LEVELS)),
        {"DuckDB, exact quantiles alone": lambda: cpu(exact_duckdb)},
        turns=3,
    )
    code = f"import azlatency as az; from pathlib import Path; s = az.load('large', processed=Path({str(folder)!r}))\n"
    value("five quantiles of 1e8 samples in Parquet: peak memory", peak_megabytes(code + "az.quantiles(s)"), "MB", 500)
    COSTS["quantiles of samples in Parquet"] = {}
    for size in (LARGE, LARGE // 10, LARGE // 100, LARGE // 1000):
        large_study(folder, size)
        study = az.load("large", processed=folder)
        COSTS["quantiles of samples in Parquet"][size] = cpu(lambda study=study: az.quantiles(study, LEVELS))
    COSTS["quantiles of samples in Parquet"] = dict(reversed(COSTS["quantiles of samples in Parquet"].items()))


def statistics(folder: Path) -> None:
    """Run all benchmarks of statistics."""
    from scipy.stats import bootstrap

    import azlatency as az

    x = packets(N)
    whole_report(x[:20_000])  # loads the modules
    matrix()

    def resample() -> float:
        once = cpu(
            lambda: bootstrap(
                (x,),
                lambda v, axis: np.quantile(v, 0.99, axis=axis),
                n_resamples=TIMED,
                batch=1,
                method="percentile",
                random_state=1,
            )
        )
        return once / TIMED * RESAMPLES

    sort = {"np.sort of 1e6": lambda: cpu(lambda: np.sort(x))}
    pair("statistics of a run of 1e6", lambda: cpu(lambda: whole_report(x)), sort)
    pair("three zones, eight rounds, exact max-T", lambda: cpu(matrix), sort)
    pair(
        "p99 of 1e6 with its interval, dependence included",
        lambda: cpu(lambda: az.quantiles(x, 0.99)),
        {f"scipy bootstrap, {RESAMPLES} (of {TIMED})": resample},
        [1 / 200],
        turns=3,
    )
    for row, most in zip(ROWS[-3:-1], (2, 0.2), strict=True):
        value(f"{row['what']}: CPU", min(row["own_s"]), "s", most)
    peak = peak_megabytes("from benchmarks.statistics import N, packets, whole_report; whole_report(packets(N))")
    value("statistics of a run of 1e6: peak memory, imports included", peak, "MB", 300)
    COSTS["statistics of a run in memory"] = {}
    for size in (10**3, 10**4, 10**5, 10**6, 10**7):
        x = packets(size)
        COSTS["statistics of a run in memory"][size] = cpu(lambda x=x: whole_report(x))
    costs = COSTS["statistics of a run in memory"]
    value("statistics, 1e7 over 1e6 values", costs[10**7] / costs[10**6], "times the CPU", 12)
    in_files(folder)
