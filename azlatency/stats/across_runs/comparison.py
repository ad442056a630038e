"""Comparison of two sets of runs: the ratio with its interval, and the verdict within a practical margin.

Runs are the replicates, not packets. The ratio of typical runs and its interval come from ranks or from means of
logarithms, below four runs on each side (or six rounds) from Student's t (`log_ratio`).

Sources: Hodges & Lehmann 1963; Moses 1965; Welch 1947; Schuirmann 1987 (two one-sided tests).
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import NamedTuple

import numpy as np

from azlatency.stats.across_runs.log_ratio import LogRatio, of_groups, of_rounds, spreads_of_pairs
from azlatency.stats.across_runs.run_values import (
    RunData,
    RunValues,
    effective_margin,
    in_rounds,
    is_frame,
    parse_margin,
    refusals,
    run_values,
)
from azlatency.stats.across_runs.shared_spread import SharedSpread
from azlatency.stats.across_runs.turns import in_turns
from azlatency.stats.arrays import FloatArray
from azlatency.stats.result import verdict_of
from azlatency.stats.rows import COMPARISON, Row, decided, joined, number

#: Logarithm of the largest ratio, about that of the largest number.
_LARGEST_LOG = 700.0


class Setting(NamedTuple):
    """What is asked of two sides, and the name and the columns (``labels``) of the answer; see `azlatency.compare`."""

    margin: float | str = "5%"
    confidence: float = 0.95
    floor: float | None = None
    what: str = "A against B"
    labels: Mapping[str, object] = MappingProxyType({})


class Sides(NamedTuple):
    """The values of two sets of runs, and the flags of the reasons why they must not be compared.

    ``paired``: they are compared by round. ``random_order``: either side was the first of a round at least once.
    """

    first: RunValues
    second: RunValues
    refused: tuple[str, ...] = ()
    paired: bool = False
    random_order: bool = False


def sides_of(
    a: RunData,
    b: RunData,
    *,
    paired: bool | None = None,
    value: str | None = None,
    unit: str | None = None,
    resolution: float | None = None,
    across: Sequence[str] = (),
) -> Sides:
    """Return the values of two sets of runs for `compare_sides`; `azlatency.compare` describes the parameters.

    ``paired`` None: by round if both frames were measured in turns (`turns`).
    """
    turns = in_turns(a, b, value) if paired is None and is_frame(a) and is_frame(b) else None
    if turns is not None:
        a, b = turns.first, turns.second
    first, second = run_values(a, value, unit), run_values(b, value, unit)
    if resolution is not None:
        first, second = replace(first, resolution=resolution), replace(second, resolution=resolution)
    by_round = turns is not None or bool(paired)
    return Sides(first, second, refusals((a, b), value, across), by_round, turns is not None and turns.both_orders)


def compare_sides(sides: Sides, setting: Setting, spread: SharedSpread | None = None) -> Row:
    """Return the row of a comparison, with the columns of `blank`.

    ``spread``: how much runs vary on all paths that were measured in the same way, which counts for too few runs for
    ranks. Without a ratio if the sides cannot be compared; the flags give the reason.
    """
    check_setting(setting.margin, setting.confidence)
    first, second = sides.first, sides.second
    counts = len(first.values), len(second.values)
    flags = [*sides.refused, *(["unit_conflict"] if first.unit != second.unit else [])]
    if not flags and min((*first.values, *second.values), default=1.0) <= 0:
        flags = ["not_positive"]
    if sides.paired and not flags:
        return _compare_by_round(sides, setting)
    if not flags and not all(counts):
        flags = ["no_values"]
    if not flags and min(counts) < 2:
        flags = ["no_replication"]
    if flags:
        return blank(sides, setting, min(counts) if sides.paired else sum(counts), flags)
    logs = of_groups(first, second, _log_margin(setting, second), setting.confidence, spread)
    number_of_runs = {"n_candidate": counts[0], "n_base": counts[1]}
    superiority = {"superiority": _superiority(first.values, second.values)}
    return _concluded(logs, sides, setting, sum(counts)) | number_of_runs | superiority


def compare_family(pairs: Sequence[tuple[Sides, Setting]], kinds: Sequence[Hashable]) -> list[Row]:
    """Compare several pairs of sides; those of one kind (the same test) show together how much runs vary."""
    spreads = spreads_of_pairs([(sides.first, sides.second) for sides, _ in pairs], kinds)
    return [compare_sides(sides, setting, spread) for (sides, setting), spread in zip(pairs, spreads, strict=True)]


def check_setting(margin: float | str, confidence: float) -> None:
    """Raise `ValueError` if the margin or the confidence is not valid."""
    parse_margin(margin)
    if not 0.5 < confidence < 1:
        raise ValueError(f"confidence = {confidence}: between 0.5 and 1")


def _compare_by_round(sides: Sides, setting: Setting) -> Row:
    """Compare the rounds that both sides have."""
    of_a, of_b = in_rounds(sides.first), in_rounds(sides.second)
    rounds = [key for key in of_a if key in of_b]
    if len(rounds) < 2:
        return blank(sides, setting, len(rounds), ["no_replication" if rounds else "no_values"])
    x, y = sides.first.take(of_a[key] for key in rounds), sides.second.take(of_b[key] for key in rounds)
    return compare_rounds(sides._replace(first=x, second=y), setting)


def compare_rounds(sides: Sides, setting: Setting) -> Row:
    """Compare positive values of the same rounds, at least two of them, in the order of measuring."""
    x, y = sides.first, sides.second
    logs = of_rounds(x, y, _log_margin(setting, y), setting.confidence, random_order=sides.random_order)
    return _concluded(logs, sides, setting, len(x.values)) | {"rounds": len(x.values)}


def blank(sides: Sides, setting: Setting, n: int, flags: Iterable[str]) -> Row:
    """Return the row of a comparison without a ratio; the flags give the reason.

    The columns are the labels, `COMPARISON`, the numbers of runs ``n_base`` and ``n_candidate``, ``rounds`` (0 if the
    sides are not compared by round), and ``p_beyond``, the p-value of "the ratio is within the margin".
    """
    both = sides.first, sides.second
    known = {
        "what": setting.what,
        "verdict": "inconclusive",
        "margin": parse_margin(setting.margin)[0],
        "n": n,
        "scope": "across_runs",
        "confidence": setting.confidence,
        "statistic": "none",
        "flags": joined(flags),
        "assumed": joined(*(side.assumed for side in both)),
        "notes": "\n".join(dict.fromkeys(note for side in both for note in side.notes)),
        "run_ids": " ".join(run_id for side in both for run_id in side.run_ids),
        "unit": "",
    }
    return {
        **setting.labels,
        **{column: known.get(column, math.nan) for column in COMPARISON},
        **{"n_base": math.nan, "n_candidate": math.nan, "rounds": 0, "p_beyond": math.nan},
    }


def _concluded(logs: LogRatio, sides: Sides, setting: Setting, n: int) -> Row:
    """Return the row that follows from a log ratio: ratio, difference and verdict from one estimator.

    The difference is the ratio at the typical run of the base.
    """
    typical = float(np.median(sides.second.values))
    margin = math.expm1(_log_margin(setting, sides.second))
    ratio, (low, high), (inner_low, inner_high) = math.exp(logs.estimate), _exp(logs.outer), _exp(logs.inner)
    row = blank(sides, setting, n, logs.flags) | {
        "margin": margin,
        "ratio": ratio,
        "ratio_low": low,
        "ratio_high": high,
        "inner_low": inner_low,
        "inner_high": inner_high,
        "difference": typical * (ratio - 1),
        "difference_low": typical * (low - 1),
        "difference_high": typical * (high - 1),
        "unit": sides.first.unit,
        "p": number(logs.p),
        "statistic": logs.method,
        "p_beyond": number(logs.beyond),
    }
    return decided(row, verdict_of(low, high, inner_low, inner_high, margin))


def _log_margin(setting: Setting, base: RunValues) -> float:
    """Return the largest practically equivalent log ratio, at the typical run of the base."""
    return math.log1p(effective_margin(setting.margin, float(np.median(base.values)), base.unit, setting.floor))


def _exp(ends: tuple[float, float] | None) -> tuple[float, float]:
    """Return the ends of the interval of a ratio, NaN without an interval.

    Two runs that differ widely have an interval, at a high level, whose ends no number can have.
    """
    if ends is None:
        return math.nan, math.nan
    low, high = (math.inf if end > _LARGEST_LOG else math.exp(end) for end in ends)
    return low, high


def _superiority(first: FloatArray, second: FloatArray) -> float:
    """Return the share of pairs in which the first side is larger, ties counted half (Vargha and Delaney 2000)."""
    return float((np.sign(first[:, None] - second[None, :]).mean() + 1) / 2)
