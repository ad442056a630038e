"""Level shifts during one run: a VM that migrated, a path that changed.

The search runs on the normal scores of block medians (see `change_points`), so that a few late blocks weigh no more
than others, and a level must last at least a tenth of the run. Each shift has a size, a time interval and a
confirmation.

Sources: Bai, Review of Economics and Statistics 79:551 (1997); Hodges & Lehmann (1963); Shao & Zhang (2010).
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from scipy.special import ndtri
from scipy.stats import rankdata

from azlatency.stats.arrays import FloatArray, Values, to_array
from azlatency.stats.rows import Row
from azlatency.stats.within_run.change_points import (
    CONFIRMED,
    MOST_BLOCKS,
    SEGMENT,
    find_level_shifts,
    self_normalised_statistic,
)
from azlatency.stats.within_run.hodges_lehmann import hodges_lehmann
from azlatency.studies.runs.samples import select_one_run

#: Fewest blocks of any run that is judged.
FEWEST_BLOCKS = 20
#: Fewest blocks between a shift's neighbours; with fewer, the confirming test rejects too often.
CONFIRMING = 40
#: A level lasts at least this share of the run; a shorter one is a burst.
LASTING = 0.1
#: Two-sided 95 % point of the distribution of an estimated change time (Bai 1997).
_BAI = 11.033
METHOD = "exact optimal partition of the normal scores of block medians, penalty 3 log(B) times their long-run variance"
_SHIFT = [
    "at", "at_low", "at_high", "change", "change_low", "change_high", "unit", "relative", "test_statistic", "confirmed",
    "practical", "scope", "flags",
]  # fmt: skip


class Stability(NamedTuple):
    """The level of one run over time.

    Attributes
    ----------
    run : DataFrame
        One row: ``stable`` (boolean, whether no shift was confirmed; missing if the run is too short to judge),
        ``shift_count`` and ``confirmed`` shifts, ``n`` packets, ``blocks`` whose medians were searched, the length of a
        ``block`` (in packets or ns), ``unit``, ``statistic`` and ``flags``.
    shifts : DataFrame
        One row per shift, in the order of time: ``at`` with ``at_low`` and ``at_high`` (0-based packet, or time in ns
        if send times were given), ``change`` (later level minus earlier one, in ``unit``) with ``change_low`` and
        ``change_high``, ``relative`` to the earlier level, ``test_statistic`` (self-normalised), ``confirmed``
        (whether it exceeds `CONFIRMED` among at least 40 blocks) and ``practical`` (whether the relative change exceeds
        the margin).
    """

    run: pd.DataFrame
    shifts: pd.DataFrame


def block_quantiles(
    x: FloatArray, times: FloatArray | None = None, block_ns: float = 60e9, level: float = 0.5
) -> tuple[FloatArray, FloatArray]:
    """Return the medians (or quantiles at ``level``) of consecutive blocks, and where or when each block begins.

    With ``times`` a block lasts ``block_ns``; longer if there were more than 5,000 blocks, shorter if fewer than 20.
    Otherwise a block has n/1,000 packets, at least 20. Blocks of fewer than five packets are dropped. Lost packets
    (``inf``) count as the largest.
    """
    n = len(x)
    if times is None:
        size = max(20, math.ceil(n / 1000))
        count = n // size
        levels = _row_quantiles(x[: count * size].reshape(count, size), level) if count else np.empty(0)
        return levels, np.arange(count, dtype="float64") * size
    span = float(times[-1] - times[0])
    length = min(max(block_ns, span / MOST_BLOCKS * 1.001), max(span / FEWEST_BLOCKS * 0.999, 1.0))
    edges = np.arange(times[0], times[-1] + length, length)
    cuts = np.searchsorted(times, edges)
    filled = [(a, b, edge) for a, b, edge in zip(cuts, [*cuts[1:], n], edges, strict=True) if b - a >= 5]
    levels = np.array([_row_quantiles(x[None, a:b], level)[0] for a, b, _ in filled])
    return levels, np.array([float(edge) for *_, edge in filled])


def _row_quantiles(rows: FloatArray, level: float) -> FloatArray:
    """Return a quantile of each row: the mean of the two middle values for the median, else one order statistic."""
    if level == 0.5:
        return np.asarray(np.median(rows, axis=1))
    rank = max(math.ceil(rows.shape[1] * level - 1e-9), 1) - 1
    return np.asarray(np.partition(rows, rank, axis=1)[:, rank])


def stability(
    data: Values,
    times: ArrayLike | None = None,
    *,
    block_ns: float = 60e9,
    level: float = 0.5,
    margin: float = 0.05,
    confidence: float = 0.95,
    unit: str = "ns",
) -> Stability:
    """Find the level shifts of one run, each with size, time and confirmation.

    ``data``: round-trip times in ``unit`` in the order of sending, or the samples of one run; ``times``: send times in
    ns (samples bring their own), without which packets are counted. ``block_ns``: the length of a block, if there are
    send times; ``level``: that of the block quantile (0.95 finds a tail that grows while the median stays); ``margin``:
    the relative change that matters in practice. Flags: ``nonstationary`` (confirmed shifts; summarise each segment),
    ``clock_step`` (send times run backwards and are not used), ``short_series`` (fewer than 20 blocks), ``no_values``,
    ``constant``.

    Best partition of the normal scores of the block medians (Bai & Perron 2003) with the penalty 3 log(B) times their
    long-run variance (Andrews & Monahan 1992); time interval of Bai (1997); confirmation by Shao & Zhang (2010) at a
    point that holds for long-range dependence as well (Shao 2011). Runs of 5,000 packets without a shift are called
    shifted in 0 % (M/M/1 queue at 80 % load, pauses), 2 +- 1 % (fractional Gaussian noise, H = 0.8) and 3 +- 1 %
    (clusters of late packets); a shift of 20 % between independent packets that vary by 50 % is found in 96 %. A level
    that lasts less than a tenth of the run is not found.

    >>> level = np.repeat([200.0, 230.0], 20_000)
    >>> rtt = level * np.random.default_rng(2).lognormal(0, 0.1, 40_000)
    >>> stability(rtt, unit="µs").shifts["at"].tolist()
    [20000.0]
    """
    run, shifts = level_of_run(data, times, block_ns, level, margin, confidence, unit)
    return Stability(pd.DataFrame([run]).astype({"stable": "boolean"}), frame_of_shifts(shifts))


def frame_of_shifts(shifts: list[Row], *names: str) -> pd.DataFrame:
    """Return shifts as a frame, with further columns of texts in front."""
    numbers = dict.fromkeys(("at", "at_low", "at_high", "change", "change_low", "change_high", "relative"), "float64")
    types = numbers | {"test_statistic": "float64", "confirmed": "bool", "practical": "bool"}
    columns = [*names, *_SHIFT]
    return pd.DataFrame(shifts, columns=columns).astype({name: types.get(name, "str") for name in columns})


def level_of_run(
    data: Values,
    times: ArrayLike | None,
    block_ns: float = 60e9,
    level: float = 0.5,
    margin: float = 0.05,
    confidence: float = 0.95,
    unit: str = "ns",
) -> tuple[Row, list[Row]]:
    """Return the rows of `stability`: that of the run, and those of its shifts."""
    if times is None and hasattr(data, "columns") and "sent_ns" in data.columns:
        sent = select_one_run(data)["sent_ns"]
        times = sent.to_numpy(dtype="float64") if sent.notna().all() else None
    x, missing = to_array(data)
    flags: tuple[str, ...] = ("missing",) if missing else ()
    stamps = None
    if times is not None and not missing:
        stamps = np.asarray(times)
        if len(stamps) != len(x):
            raise ValueError(f"{len(stamps)} times for {len(x)} values; pass one time per value")
        if len(stamps) and (np.diff(stamps) < 0).any():
            flags, stamps = (*flags, "clock_step"), None
    run: Row = {"stable": None, "shift_count": 0, "confirmed": 0, "n": len(x), "blocks": 0, "block": 0.0, "unit": unit}
    run |= {"scope": "within_run", "statistic": METHOD, "flags": " ".join(flags)}
    if not len(x):
        return run | {"flags": " ".join([*flags, "no_values"])}, []
    medians, begins = block_quantiles(x, stamps, block_ns, level)
    finite = np.isfinite(medians)
    medians, begins = medians[finite], begins[finite]
    size = float(np.median(np.diff(begins))) if len(begins) > 1 else float(len(x))
    run |= {"blocks": len(medians), "block": size}
    if len(medians) < FEWEST_BLOCKS:
        return run | {"flags": " ".join([*flags, "short_series"])}, []
    if medians.min() == medians.max():
        return run | {"stable": True, "flags": " ".join([*flags, "constant"])}, []
    scores = ndtri((rankdata(medians) - 0.5) / len(medians))
    changes, variance = find_level_shifts(scores, max(SEGMENT, int(LASTING * len(scores))))
    found = _shifts(medians, scores, begins, size, changes, variance, margin, confidence)
    shifts = [{**shift, "unit": unit} for shift in found]
    confirmed = sum(shift["confirmed"] for shift in shifts)
    flags += ("nonstationary",) if confirmed else ()
    counts = {"stable": not confirmed, "shift_count": len(shifts), "confirmed": confirmed}
    return run | counts | {"flags": " ".join(flags)}, shifts


def _shifts(
    medians: FloatArray,
    scores: FloatArray,
    begins: FloatArray,
    size: float,
    changes: list[int],
    variance: float,
    margin: float,
    confidence: float,
) -> Iterator[Row]:
    """Yield each change point between its neighbours, with size, time interval (Bai 1997) and confirmation."""
    edges = [0, *changes, len(medians)]
    for before, at, after in zip(edges, edges[1:], edges[2:], strict=False):
        left, right = medians[before:at], medians[at:after]
        change = hodges_lehmann(right, left, confidence)
        step = float(scores[at:after].mean() - scores[before:at].mean())
        statistic, _ = self_normalised_statistic(scores[before:after], SEGMENT)
        reach = math.floor(_BAI * variance / step**2) + 1 if step else math.inf
        low, high = max(at - reach, before), min(at + reach, after)
        level = float(np.median(left))
        relative = change.estimate / level if level else math.inf
        start = float(begins[at])
        confirmed = statistic > CONFIRMED and after - before >= CONFIRMING
        yield {
            "at": start,
            "at_low": start - (at - low) * size,
            "at_high": start + (high - at) * size,
            "change": change.estimate,
            "change_low": change.low,
            "change_high": change.high,
            "relative": relative,
            "test_statistic": statistic,
            "confirmed": confirmed,
            "practical": abs(relative) > margin,
            "scope": "within_run",
            "flags": "nonstationary" if confirmed else "",
        }
