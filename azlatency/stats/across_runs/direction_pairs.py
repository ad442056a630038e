"""Comparison of both directions of each pair, for the whole family of pairs and beside the spread of machines.

A pair of machines keeps its own offset over all rounds: one host answers faster, one connection takes the longer path.
Rounds repeat that offset, so they show the difference of these machines and cannot tell it from a difference between
the zones. The yardstick for zones is the spread of offsets between machines: of control pairs within one zone, where no
direction differs, and of several pairs of machines between the same zones. Without one, or with a single control pair,
the verdict is about these machines and says so.

Source: studentized maximum modulus: Stoline & Ury, Technometrics 21:87 (1979).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

import numpy as np
from scipy.special import ndtr, stdtrit
from scipy.stats import chi2

from azlatency.stats.across_runs.comparison import Setting, Sides, blank, compare_rounds, compare_sides
from azlatency.stats.across_runs.directions import DirectedValues
from azlatency.stats.across_runs.run_values import Order, geometric_mean, sorted_rounds
from azlatency.stats.result import Verdict, verdict_of
from azlatency.stats.rows import Row, decided, with_flags
from azlatency.studies.runs.path import route


def compare_directions(i: str, j: str, cells: DirectedValues, base: Setting, flags: Sequence[str]) -> Row:
    """Compare i → j with j → i: by round if two rounds are known, else unpaired, else only the ratio."""
    setting = base._replace(what=f"{route(i, j)} over back", labels={**base.labels, "from": i, "to": j})
    ways = (i, j), (j, i)
    forward, backward = (cells.by_round[way] for way in ways)
    runs = [cells.numbers(way) for way in ways]
    common = [key for key in forward if key in backward]
    if len(common) >= 2:
        ordered, is_ordered = sorted_rounds(common)
        order: Order = "round" if is_ordered else "unknown"
        there, back = (cells.values([side[key] for key in ordered], order) for side in (forward, backward))
        row = compare_rounds(Sides(there, back, paired=True), setting)
    elif not forward and not backward and min(map(len, runs)) >= 2:
        there, back = (cells.values(values, cells.order) for values in runs)
        row = compare_sides(Sides(there, back), setting)
    else:
        singles = [side[common[0]] for side in (forward, backward)] if common else map(geometric_mean, runs)
        there, back = (cells.values([value], "unknown") for value in singles)
        row = _single(Sides(there, back), 1 if common else min(map(len, runs)), setting)
    used = common if len(common) >= 2 else common[:1] or None
    return with_flags(row, flags) | {"run_ids": " ".join(dict.fromkeys(cells.run_ids(ways, used)))}


def _single(sides: Sides, n: int, setting: Setting) -> Row:
    """Return the ratio of single runs, without a conclusion."""
    x, y = (float(side.values[0]) for side in (sides.first, sides.second))
    numbers = {"ratio": x / y, "difference": x - y, "unit": sides.first.unit}
    return blank(sides, setting, n, ["no_replication"]) | numbers | {"statistic": "none: one run in each direction"}


class Yardstick(NamedTuple):
    """Standard deviation of the log ratio of both directions between machines, and its degrees of freedom.

    ``covered``: the largest log ratio inside the interval of a control pair.
    """

    spread: float
    df: int
    covered: float = 0.0

    def p(self, log_ratio: float, family: int) -> float:
        """Return the p-value of the largest of ``family`` log ratios that share this yardstick."""
        if not self.spread:
            return 1.0
        # The mean over the law of the estimated spread, at 2,000 of its quantiles.
        shares = (np.arange(2000) + 0.5) / 2000
        scale = np.sqrt(chi2.ppf(shares, self.df) / self.df)
        return float(1 - np.mean((2 * ndtr(abs(log_ratio) / self.spread * scale) - 1) ** family))


def machine_spread(pairs: Iterable[Row], control: Sequence[Row], zones: Mapping[str, str]) -> Yardstick | None:
    """Return how much the log ratio of both directions varies between pairs of machines; ``None`` if unknown.

    A control pair within one zone has an expected log ratio of 0. Pairs of machines between the same two zones vary
    around their mean.
    """
    # Equal printed values hide an offset of up to their interval.
    squares = [(math.log(row["ratio"]) or _log_width(row) / 2) ** 2 for row in control if row["ratio"] > 0]
    squares = [square for square in squares if math.isfinite(square)]
    df = len(squares)
    between: dict[tuple[str, str], list[float]] = {}
    for row in pairs:
        i, j = row["from"], row["to"]
        if i in zones and j in zones and row["ratio"] > 0:
            first, second = sorted((zones[i], zones[j]))
            sign = 1 if zones[i] == first else -1
            between.setdefault((first, second), []).append(sign * math.log(row["ratio"]))
    for logs in between.values():
        middle = math.fsum(logs) / len(logs)
        squares += [(log - middle) ** 2 for log in logs]
        df += len(logs) - 1
    ends = [abs(math.log(end)) for row in control for end in (row["ratio_low"], row["ratio_high"]) if end > 0]
    return Yardstick(math.sqrt(math.fsum(squares) / df), df, max(ends, default=0.0)) if df else None


def adjust_family(
    pairs: Sequence[Row], control: Sequence[Row], zones: Mapping[str, str], alone: str = "one_machine_pair"
) -> list[Row]:
    """Keep "different" only if it holds for the whole family of pairs, and beyond the spread of machines if known.

    ``alone``: flag of the pairs if that spread is unknown.
    """
    yardstick = machine_spread(pairs, control, zones)
    return [_of_family(row, yardstick, len(pairs), alone) for row in pairs]


def _of_family(row: Row, yardstick: Yardstick | None, family: int, alone: str) -> Row:
    """Return the comparison with the verdict that holds for its family, and for zones or these machines.

    The rounds must show a difference at all; the spread of machines includes their noise, and bounds the family.
    """
    row = {**row, "verdict_alone": row["verdict"]}
    if not row["ratio"] > 0 or math.isnan(row["ratio_low"]):
        return row
    log_ratio = math.log(row["ratio"])
    p_alone = 1.0 if math.isnan(row["p"]) else row["p"]
    p, covered = min(1.0, family * p_alone), False
    if yardstick is None:
        row = with_flags(row, [alone])
    elif yardstick.df == 1:
        # One control pair does not show how much machines differ: it covers what it shows itself, and no more.
        covered = abs(log_ratio) <= yardstick.covered
        row = with_flags(row, ["one_control_pair"]) | {"machine_spread": yardstick.spread}
    else:
        p = max(p if math.isnan(row["p"]) else row["p"], yardstick.p(log_ratio, family))
        row = _widen(row, yardstick) | {"machine_spread": yardstick.spread}
    verdict = row["verdict"]
    if covered or p >= 1 - row["confidence"]:
        verdict = _WITHOUT_DIFFERENCE.get(verdict, verdict)
    return decided(row, verdict)


def _log_width(row: Row) -> float:
    low, high = row["ratio_low"], row["ratio_high"]
    return math.log(high / low) if low > 0 else math.inf


#: Verdicts without the difference, if it does not hold for the whole family.
_WITHOUT_DIFFERENCE: dict[str, Verdict] = {"different": "inconclusive", "different_within_margin": "equivalent"}
#: Verdicts of the rounds that agree with one of the machines: both must support it.
_SUPPORTED_BY: dict[Verdict, tuple[Verdict, ...]] = {
    "different": ("different", "different_within_margin"),
    "different_within_margin": ("different_within_margin",),
    "equivalent": ("equivalent", "different_within_margin"),
}


def _widen(row: Row, yardstick: Yardstick) -> Row:
    """Return the comparison with intervals at least as wide as the offsets of machines demand."""
    ratio, confidence = row["ratio"], row["confidence"]
    outer, inner = (
        math.exp(float(stdtrit(yardstick.df, (1 + level) / 2)) * yardstick.spread)
        for level in (confidence, 2 * confidence - 1)
    )
    low, high = min(row["ratio_low"], ratio / outer), max(row["ratio_high"], ratio * outer)
    verdict = verdict_of(low, high, ratio / inner, ratio * inner, row["margin"])
    if row["verdict"] not in _SUPPORTED_BY.get(verdict, (row["verdict"],)):
        verdict = "inconclusive"
    ends = {"ratio_low": low, "ratio_high": high, "inner_low": ratio / inner, "inner_high": ratio * inner}
    return row | ends | {"verdict": verdict}
