"""Intervals of the percentiles that a tool printed.

A printed percentile is an order statistic of known rank. The exact order-statistic interval of a quantile needs two
ranks that are seldom printed. The printed value at the next lower rank bounds the lower end from below, and the one at
the next higher rank bounds the upper end from above. This bracket covers at least as often as the exact interval (Le
Boudec, Performance Evaluation, EPFL Press 2010, theorem 2.1), for independent packets. Packets of one connection are
not independent, so every such interval is flagged ``within_run_floor``.
"""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

import pandas as pd

from azlatency.logs.schema import refuse_foreign
from azlatency.stats.rows import QUANTILES, Row, blank_estimate, joined
from azlatency.stats.within_run.histograms import histogram_quantiles
from azlatency.stats.within_run.order_statistics import order_statistic_ranks
from azlatency.studies.format import percentile
from azlatency.studies.runs.groups import grouped

METHOD = "bracket by printed order statistics; ranks by the exact binomial interval (Le Boudec 2010, thm 2.1)"


def bracket(
    p: float,
    n: int,
    ranks: Sequence[int],
    values: Sequence[float],
    *,
    confidence: float = 0.95,
    labels: Mapping[str, object] | None = None,
) -> Row:
    """Return the row of the p-quantile of one run, enclosed between printed order statistics."""
    low_rank, high_rank = order_statistic_ranks(n, p, confidence) if n else (0, 1)
    below = bisect_right(ranks, low_rank) - 1
    above = bisect_left(ranks, high_rank)
    rank = int(p * n + 0.5)
    flags = {
        "within_run_floor": True,
        "no_values": rank not in ranks,
        "unbounded_upper": above == len(ranks),
        "tail_unresolved": n and n * (1 - p) < 1,
        "maximum_in_disguise": rank == n,
    }
    row = blank_estimate(percentile(p), "ns", n, confidence, METHOD, labels=labels)
    return row | {
        "estimate": values[ranks.index(rank)] if rank in ranks else math.nan,
        "low": values[below] if below >= 0 else math.nan,
        "high": values[above] if above < len(ranks) else math.nan,
        "flags": joined(name for name, is_so in flags.items() if is_so),
    }


class PercentileTable(NamedTuple):
    """The order statistics that one run's log printed."""

    run_id: str
    levels: list[float]
    n: int
    ranks: list[int]
    values: list[float]


def percentile_tables(quantiles: pd.DataFrame, metrics: pd.DataFrame) -> Iterator[PercentileTable]:
    """Yield the printed round-trip percentiles of each run, with minimum and maximum from its metrics."""
    printed = quantiles[(quantiles["metric"] == "rtt") & quantiles["rank"].notna()]
    extremes = metrics[metrics["metric"].isin(["rtt_min", "rtt_max"])]
    for run_id, table in grouped(printed, "run_id"):
        n = int(table["n"].iloc[0])
        by_rank = dict(zip(table["rank"].astype(int), table["value_ns"].astype(float), strict=True))
        for metric, value in extremes.loc[extremes["run_id"] == run_id, ["metric", "value"]].itertuples(index=False):
            by_rank[1 if metric == "rtt_min" else n] = float(value)
        ranks = sorted(by_rank)
        levels = sorted(table["q"].astype(float))
        yield PercentileTable(str(run_id), levels, n, ranks, [by_rank[rank] for rank in ranks])


def printed_quantiles(
    quantiles: pd.DataFrame,
    metrics: pd.DataFrame,
    classes: pd.DataFrame | None = None,
    *,
    confidence: float = 0.95,
    labels: pd.DataFrame | None = None,
) -> pd.DataFrame:
    """Enclose every printed round-trip percentile between the values printed around it, or by a frequency table.

    ``quantiles``, ``metrics``: tables of a study or of parsed logs; minimum and maximum are the metrics ``rtt_min`` and
    ``rtt_max``. ``classes``: frequency tables (`azlatency.studies.frequency_tables`). The intervals of a run that has
    one come from its classes, which are finer than a few percentiles; its estimates are the printed percentiles where
    they exist. ``labels``: the runs to use, indexed by run_id; its columns become labels of the estimates.

    One estimate in ns per run and printed percentile (or level of `histograms.LEVELS`), in the order of runs and
    levels. All are flagged ``within_run_floor``; ``maximum_in_disguise`` marks a percentile that is the sample maximum.
    Le Boudec, Performance Evaluation, EPFL Press 2010, theorem 2.1.
    """
    for table in (quantiles, metrics, classes, labels):
        refuse_foreign(table)
    tables = {table.run_id: table for table in percentile_tables(quantiles, metrics)}
    printed = quantiles.loc[quantiles["metric"] == "rtt", ["run_id", "q", "value_ns"]].itertuples(index=False)
    as_printed = {(str(row.run_id), float(row.q)): float(row.value_ns) for row in printed}
    by_class = {} if classes is None else dict(iter(grouped(classes, "run_id")))
    frames = []
    for run_id in dict.fromkeys([*tables, *by_class]) if labels is None else map(str, labels.index):
        run_labels = {"run_id": run_id, **({} if labels is None else labels.loc[run_id].to_dict())}
        if run_id in by_class:
            low, high, counts = (by_class[run_id][name].astype("float64") for name in ("low_ns", "high_ns", "count"))
            found = histogram_quantiles(low, high, counts, confidence=confidence, labels=run_labels)
            # The value that the tool printed, so that every page shows one number for it.
            exact = found["q"].map(lambda q, run_id=run_id: as_printed.get((run_id, q), math.nan))
            is_inside = exact.between(found["low"], found["high"])
            frames.append(found.assign(estimate=exact.where(is_inside, found["estimate"])))
        elif run_id in tables:
            _, levels, n, ranks, values = tables[run_id]
            rows = [bracket(q, n, ranks, values, confidence=confidence, labels={**run_labels, "q": q}) for q in levels]
            frames.append(pd.DataFrame(rows))
    return pd.concat(frames, ignore_index=True) if frames else pd.DataFrame(columns=QUANTILES)
