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
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from scipy.special import ndtr, stdtrit
from scipy.stats import chi2

from azlatency.stats.across_runs.comparison import Setting, compare_rounds, compare_runs, with_codes
from azlatency.stats.across_runs.directions import DirectedValues, geometric_mean
from azlatency.stats.across_runs.run_values import RunValues, sorted_rounds
from azlatency.stats.result import Comparison, Effect, Verdict, verdict_of
from azlatency.studies.runs.path import route


def _common_rounds(i: str, j: str, cells: DirectedValues, unit: str) -> tuple[RunValues, RunValues]:
    """Return the values of the rounds that both directions have, in their order."""
    forward, backward = cells.by_round[i, j], cells.by_round[j, i]
    ordered, is_ordered = sorted_rounds([key for key in forward if key in backward])
    there, back = (
        cells.values([side[key] for key in ordered], unit, "round" if is_ordered else "unknown")
        for side in (forward, backward)
    )
    return there, back


def compare_directions(i: str, j: str, cells: DirectedValues, base: Setting, codes: tuple[str, ...]) -> Comparison:
    """Compare i → j with j → i: by round if two rounds are known, else unpaired, else only the ratio."""
    setting = base._replace(what=f"{route(i, j)} over back", labels={**base.labels, "from": i, "to": j})
    forward, backward = cells.by_round[i, j], cells.by_round[j, i]
    common = [key for key in forward if key in backward]
    if len(common) >= 2:
        first, second = _common_rounds(i, j, cells, setting.unit)
        alone = {"rounds_alone": len(set(forward) ^ set(backward))}
        comparison = compare_rounds(first, second, setting, alone)
    elif not forward and not backward and min(len(cells.all_values[i, j]), len(cells.all_values[j, i])) >= 2:
        first, second = (cells.values(cells.all_values[way], base.unit, cells.order) for way in ((i, j), (j, i)))
        comparison = compare_runs(
            first,
            second,
            margin=base.margin,
            confidence=base.confidence,
            floor=base.floor,
            what=setting.what,
            labels=setting.labels,
        )
    elif common:
        comparison = _single(forward[common[0]], backward[common[0]], 1, setting)
    else:
        x, y = cells.all_values[i, j], cells.all_values[j, i]
        comparison = _single(geometric_mean(x), geometric_mean(y), min(len(x), len(y)), setting)
    used = common if len(common) >= 2 else common[:1] or None
    run_ids = tuple(dict.fromkeys(cells.run_ids([(i, j), (j, i)], used)))
    return replace(with_codes(comparison, codes), run_ids=run_ids)


def _single(x: float, y: float, n: int, setting: Setting) -> Comparison:
    """Return the ratio of single runs, without a conclusion."""
    ratio = Effect(estimate=x / y, confidence=setting.confidence, n=n)
    difference = Effect(estimate=x - y, unit=setting.unit, confidence=setting.confidence, n=n)
    method, codes = "none: one run in each direction", ("no_replication",)
    return setting.inconclusive(ratio, difference, method=method, codes=codes)


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


def machine_spread(
    pairs: Iterable[tuple[tuple[str, str], Comparison]], control: Sequence[Comparison], zones: Mapping[str, str]
) -> Yardstick | None:
    """Return how much the log ratio of both directions varies between pairs of machines; ``None`` if unknown.

    A control pair within one zone has an expected log ratio of 0. Pairs of machines between the same two zones vary
    around their mean.
    """
    # Equal printed values hide an offset of up to their interval.
    squares = [(math.log(pair.ratio.estimate) or _log_width(pair) / 2) ** 2 for pair in control if pair.ratio.estimate]
    squares = [square for square in squares if math.isfinite(square)]
    df = len(squares)
    between: dict[tuple[str, str], list[float]] = {}
    for (i, j), pair in pairs:
        if i in zones and j in zones and pair.ratio.estimate:
            first, second = sorted((zones[i], zones[j]))
            sign = 1 if zones[i] == first else -1
            between.setdefault((first, second), []).append(sign * math.log(pair.ratio.estimate))
    for logs in between.values():
        middle = math.fsum(logs) / len(logs)
        squares += [(log - middle) ** 2 for log in logs]
        df += len(logs) - 1
    ends = [abs(math.log(end)) for pair in control for end in (pair.ratio.low, pair.ratio.high) if end and end > 0]
    return Yardstick(math.sqrt(math.fsum(squares) / df), df, max(ends, default=0.0)) if df else None


def adjust_family(
    pairs: list[tuple[tuple[str, str], Comparison]],
    control: Sequence[Comparison],
    zones: Mapping[str, str],
    setting: Setting,
    alone: str = "one_machine_pair",
) -> tuple[Comparison, ...]:
    """Keep "different" only if it holds for the whole family of pairs, and beyond the spread of machines if known.

    ``alone``: flag of the pairs if that spread is unknown.
    """
    yardstick = machine_spread(pairs, control, zones)
    return tuple(_of_family(result, yardstick, len(pairs), setting, alone) for _, result in pairs)


def _of_family(
    result: Comparison, yardstick: Yardstick | None, family: int, setting: Setting, alone: str
) -> Comparison:
    """Return the comparison with the verdict that holds for its family, and for zones or these machines.

    The rounds must show a difference at all; the spread of machines includes their noise, and bounds the family.
    """
    labels = {**result.labels, "verdict_alone": result.verdict}
    estimate = result.ratio.estimate
    if not estimate or result.ratio.low is None:
        return replace(result, labels=labels)
    p = min(1.0, family * (1.0 if result.p is None else result.p))
    covered = False
    if yardstick is None:
        result = with_codes(result, (alone,))
    else:
        labels.update(machine_spread=yardstick.spread)
        if yardstick.df == 1:
            # One control pair does not show how much machines differ: it covers what it shows itself, and no more.
            covered = abs(math.log(estimate)) <= yardstick.covered
            result = with_codes(result, ("one_control_pair",))
        else:
            p_machines = yardstick.p(math.log(estimate), family)
            p = max(p if result.p is None else result.p, p_machines)
            labels.update(p_machines=p_machines)
            result = _widen(result, yardstick, setting)
    verdict = result.verdict
    if covered or p >= 1 - setting.confidence:
        verdict = _WITHOUT_DIFFERENCE.get(verdict, verdict)
    return replace(result, verdict=verdict, labels=labels)


def _log_width(result: Comparison) -> float:
    low, high = result.ratio.low, result.ratio.high
    return math.log(high / low) if low and high else math.inf


#: Verdicts without the difference, if it does not hold for the whole family.
_WITHOUT_DIFFERENCE: dict[str, Verdict] = {"different": "inconclusive", "different_within_margin": "equivalent"}
#: Verdicts of the rounds that agree with one of the machines: both must support it.
_SUPPORTED_BY: dict[Verdict, tuple[Verdict, ...]] = {
    "different": ("different", "different_within_margin"),
    "different_within_margin": ("different_within_margin",),
    "equivalent": ("equivalent", "different_within_margin"),
}


def _widen(result: Comparison, yardstick: Yardstick, setting: Setting) -> Comparison:
    """Return the comparison with intervals at least as wide as the offsets of machines demand."""
    ratio = result.ratio
    if ratio.estimate is None or ratio.low is None or ratio.high is None:
        return result
    outer, inner = (
        math.exp(float(stdtrit(yardstick.df, (1 + level) / 2)) * yardstick.spread)
        for level in (setting.confidence, setting.inner)
    )
    low, high = min(ratio.low, ratio.estimate / outer), max(ratio.high, ratio.estimate * outer)
    verdict = verdict_of(low, high, ratio.estimate / inner, ratio.estimate * inner, result.margin)
    if result.verdict not in _SUPPORTED_BY.get(verdict, (result.verdict,)):
        verdict = "inconclusive"
    both = (ratio.estimate / inner, ratio.estimate * inner)
    return replace(result, ratio=replace(ratio, low=low, high=high), verdict=verdict, inner=both)
