"""Quantiles of runs that do not fit into memory: the same order statistics, from two queries of DuckDB.

The first counts the packets with each round-trip time; every order statistic follows from these counts. The second
counts the packets at or below each quantile in batches of consecutive packets. The variance of these counts and the
dependence between them give the autocorrelation time of the indicator 1{x <= q}: the mean of the batches is that of all
packets, and so is its variance (batch means; Law, Simulation Modeling and Analysis, chapter 9).
"""

from __future__ import annotations

import math
import tempfile
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from azlatency.logs.parse import LogError
from azlatency.logs.schema import ROUND_TRIP, UNCOUNTED
from azlatency.stats.arrays import FloatArray
from azlatency.stats.rows import Row
from azlatency.stats.within_run.dependence import MIN_EFFECTIVE, autocorrelation_time, dependence
from azlatency.stats.within_run.one_run import BURSTS, Options, Run
from azlatency.studies.format import plain

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

#: A study with more samples is not loaded as a whole, and DuckDB counts the packets of a run with more.
LARGE = 5_000_000
#: At most this many batches, which fit into memory, of at least this many packets.
_BATCHES, _SMALLEST_BATCH = 65_536, 64
#: The packets of a run that count, with the bounds of their times; see `azlatency.studies.runs.samples.bounds`.
_RUN = """
CREATE OR REPLACE TEMP VIEW run AS
SELECT file_row_number,
    CASE WHEN censored THEN coalesce(low_ns::DOUBLE, 0) ELSE coalesce(rtt_ns::DOUBLE, 'inf') END AS low,
    CASE WHEN censored THEN coalesce(high_ns::DOUBLE, 'inf') ELSE coalesce(rtt_ns::DOUBLE, 'inf') END AS high
FROM (SELECT *, low_ns IS NOT NULL OR high_ns IS NOT NULL AS censored FROM samples)
WHERE run_id = {run_id} AND coalesce(status, 'ok') NOT IN {uncounted}
"""


def connect(folder: Path) -> DuckDBPyConnection:
    """Return a connection whose view ``samples`` has the rows of the Parquet files in a folder, in their order.

    Raises `LogError` if DuckDB is not installed.
    """
    try:
        import duckdb
    except ImportError:
        why = f"{folder}: more than {plain(LARGE)} samples need the package duckdb"
        raise LogError(f"{why}; install azlatency[scale]") from None
    connection = duckdb.connect(config={"temp_directory": tempfile.gettempdir()})
    files = sorted(map(str, folder.glob("tool=*/*.parquet")))
    connection.read_parquet(files, file_row_number=True, hive_partitioning=False).filter(
        f"quantity = '{ROUND_TRIP}'"
    ).create_view("samples")
    return connection


def estimate_large_run(
    connection: DuckDBPyConnection, run_id: str, levels: Sequence[float], options: Options
) -> tuple[list[Row], list[Row]]:
    """Estimate the quantiles of a run of the view ``samples``, whose rows are in the order of sending.

    Returns the estimates from the lower and from the upper bounds of the values, one per level; the same list if no
    value is interval-censored.
    """
    quoted = "'" + run_id.replace("'", "''") + "'"
    connection.execute(_RUN.format(run_id=quoted, uncounted=UNCOUNTED))
    upper = _estimates(connection, "high", levels, options)
    (censored,) = connection.execute("SELECT coalesce(bool_or(low <> high), false) FROM run").fetchall()[0]
    return (_estimates(connection, "low", levels, options) if censored else upper), upper


def _estimates(connection: DuckDBPyConnection, side: str, levels: Sequence[float], options: Options) -> list[Row]:
    """Count the packets with each value, measure the dependence, and estimate."""
    counted = connection.execute(f"SELECT {side} AS value, count(*) AS n FROM run GROUP BY 1 ORDER BY 1").fetchnumpy()
    values, cumulative = np.asarray(counted["value"]), np.cumsum(counted["n"])
    run = Run(levels=values, cumulative=cumulative, n=int(cumulative[-1]) if len(cumulative) else 0, options=options)
    if not options.independent:
        run = _measure(connection, side, run, levels)
    return [run.estimate(level) for level in levels]


def _measure(connection: DuckDBPyConnection, side: str, run: Run, levels: Sequence[float]) -> Run:
    """Return the run with the autocorrelation time of every quantile and tail that the estimates ask for."""
    values = {level: run.point(level)[1] for level in _with_wider(levels)}
    asked = {level: value for level, value in values.items() if math.isfinite(value)}
    size = max(_SMALLEST_BATCH, 1 << math.ceil(math.log2(max(run.n / _BATCHES, 1))))
    shares = ", ".join(f"avg(({side} <= {value!r})::INT)" for value in asked.values()) or "count(*)"
    batch = f"file_row_number // {size}"
    counted = connection.execute(
        f"SELECT {shares} FROM run GROUP BY {batch} HAVING count(*) > {size // 2} ORDER BY {batch}"
    ).fetchnumpy()
    by_level = dict(zip(asked, map(np.asarray, counted.values()), strict=False))
    taus = {level: _batch_tau(of_level, size) for level, of_level in by_level.items()}
    rank_tau = taus.get(0.5, 1.0)
    flags: tuple[str, ...] = ()
    if 0.5 in by_level and len(by_level[0.5]) >= 4:
        measured = dependence(by_level[0.5])
        flags = ("long_memory",) if measured.long_memory else ()
        flags = (("few_clusters",) if rank_tau > 2 and run.n / rank_tau < MIN_EFFECTIVE else ()) + flags
        flags = flags or measured.warnings
    return replace(run, rank_tau=rank_tau, flags=flags, taus=taus)


def _with_wider(levels: Iterable[float]) -> list[float]:
    """Return the levels, the median, and the tails that `Run.wider_tau` and `Run.tau_beside_bursts` ask for."""
    wider = [round(10 * min(p, 1 - p) if p < 0.5 else 1 - 10 * min(p, 1 - p), 12) for p in levels]
    return sorted({0.5, *(1 - share for share in BURSTS), *levels, *(p for p in wider if 0 < p < 1)})


def _batch_tau(shares: FloatArray, size: int) -> float:
    """Return the autocorrelation time of an indicator from its mean in each batch, at least 1."""
    if len(shares) < 4 or not 0 < (share := float(shares.mean())) < 1:
        return 1.0
    of_batches = float(shares.var()) * size / (share * (1 - share))
    return max(of_batches * autocorrelation_time(shares), 1.0)
