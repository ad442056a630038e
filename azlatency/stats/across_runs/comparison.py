"""Comparison of two sets of runs: the ratio with its interval, and the verdict within a practical margin.

Runs are the replicates, not packets. The ratio of typical runs and its interval come from ranks, below four runs on
each side (or six rounds) from Student's t on logarithms (`log_ratio`).

Sources: Hodges & Lehmann 1963; Moses 1965; Welch 1947; Schuirmann 1987 (two one-sided tests).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from azlatency.stats.across_runs.log_ratio import LogRatio, of_groups, of_rounds
from azlatency.stats.across_runs.run_values import (
    RunValues,
    effective_margin,
    in_rounds,
    is_frame,
    parse_margin,
    refusals,
    run_values,
)
from azlatency.stats.across_runs.turns import in_turns
from azlatency.stats.result import Comparison, Effect, verdict_of

if TYPE_CHECKING:
    from azlatency.stats.across_runs.run_values import RunData
    from azlatency.stats.across_runs.shared_spread import SharedSpread
    from azlatency.stats.arrays import FloatArray

    #: Ends of an interval; ``None`` where an end is open.
    Interval = tuple[float | None, float | None]

#: Logarithm of the largest ratio, about that of the largest number.
_LARGEST_LOG = 700.0


def compare_runs(  # noqa: PLR0913 - one for each option of az.compare
    a: RunData,
    b: RunData,
    *,
    margin: float | str = "5%",
    confidence: float = 0.95,
    paired: bool | None = False,
    value: str | None = None,
    floor: float | None = None,
    unit: str | None = None,
    what: str = "A against B",
    labels: Mapping[str, object] | None = None,
    resolution: float | None = None,
    spread: SharedSpread | None = None,
    across: Sequence[str] = (),
) -> Comparison:
    """Compare two sets of runs, or their rounds, for `azlatency.compare`, which describes the parameters.

    ``paired`` None: by round if both frames were measured in turns (`turns`). ``spread``: how much runs vary on all
    paths that were measured in the same way, which counts for too few runs for ranks. Without a ratio if the data
    cannot be compared; the codes give the reason.

    >>> base = [450e3, 440e3, 460e3, 455e3]
    >>> candidate = [570e3, 561e3, 580e3, 566e3]
    >>> comparison = compare_runs(candidate, base, unit="ns")
    >>> comparison.verdict, round(comparison.ratio.estimate, 2), comparison.codes
    ('different', 1.26, ())
    """
    parse_margin(margin)
    if not 0.5 < confidence < 1:
        raise ValueError(f"confidence = {confidence}: between 0.5 and 1")
    random_order = False
    if paired is None:
        turns = in_turns(a, b, value) if is_frame(a) and is_frame(b) else None
        paired = turns is not None
        if turns is not None:
            a, b, random_order = turns.first, turns.second, turns.both_orders
    first, second = run_values(a, value, unit), run_values(b, value, unit)
    if resolution is not None:
        first, second = replace(first, resolution=resolution), replace(second, resolution=resolution)

    def both(name: str) -> tuple[str, ...]:
        return tuple(dict.fromkeys([*getattr(first, name), *getattr(second, name)]))

    setting = Setting(
        margin=margin,
        confidence=confidence,
        floor=floor,
        unit=first.unit,
        what=what,
        labels={**(labels or {}), **replace(first, assumed=both("assumed"), notes=both("notes")).remarks},
        run_ids=(*first.run_ids, *second.run_ids),
    )
    codes = list(refusals((a, b), value, across))
    if first.unit != second.unit:
        codes.append("unit_conflict")
    missing = first.missing + second.missing
    if not codes and min((*first.values, *second.values), default=1.0) <= 0:
        codes = ["not_positive"]
    if paired and not codes:
        return _paired(first, second, setting, missing, random_order=random_order)
    if not codes and not (len(first.values) and len(second.values)):
        codes = ["no_values"]
    if not codes and min(len(first.values), len(second.values)) < 2:
        codes = ["no_replication"]
    if codes:
        counts = len(first.values), len(second.values)
        return not_estimable(setting, codes, min(counts) if paired else sum(counts))
    logs = of_groups(first, second, _log_margin(setting, second), confidence, spread)
    result = _conclude(
        logs,
        setting,
        second,
        len(first.values) + len(second.values),
        {"runs_a": len(first.values), "runs_b": len(second.values), "missing": missing},
    )
    return replace(result, superiority=_superiority(first.values, second.values))


def _superiority(first: FloatArray, second: FloatArray) -> float:
    """Return the share of pairs in which the first side is larger, ties counted half (Vargha and Delaney 2000)."""
    return float((np.sign(first[:, None] - second[None, :]).mean() + 1) / 2)


def _log_margin(setting: Setting, base: RunValues) -> float:
    """Return the largest practically equivalent log ratio, at the typical run of the base."""
    typical = float(np.median(base.values))
    return math.log1p(effective_margin(setting.margin, typical, setting.unit, setting.floor))


class Setting(NamedTuple):
    """Parameters that every step of a comparison needs; construct it with keywords."""

    margin: float | str
    confidence: float
    floor: float | None
    unit: str
    what: str
    labels: dict[str, Any]
    run_ids: tuple[str, ...] = ()

    @property
    def inner(self) -> float:
        """Confidence of the interval for two one-sided tests: 90 % for 95 %."""
        return 2 * self.confidence - 1

    def inconclusive(
        self, ratio: Effect, difference: Effect | None = None, *, method: str = "none", codes: Iterable[str] = ()
    ) -> Comparison:
        """Return a comparison without a test and without a conclusion."""
        return Comparison(
            what=self.what,
            ratio=ratio,
            difference=difference,
            verdict="inconclusive",
            margin=parse_margin(self.margin)[0],
            method=method,
            codes=tuple(dict.fromkeys(codes)),
            labels=dict(self.labels),
            run_ids=self.run_ids,
        )


def not_estimable(setting: Setting, codes: Iterable[str], n: int) -> Comparison:
    """Return a comparison without a ratio; the codes give the reason."""
    return setting.inconclusive(Effect(confidence=setting.confidence, n=n), codes=codes)


def _conclude(logs: LogRatio, setting: Setting, base: RunValues, n: int, diagnostics: dict[str, Any]) -> Comparison:
    """Return the comparison that follows from a log ratio: ratio, difference and verdict from one estimator.

    The difference is the ratio at the typical run of the base.
    """
    margin, typical = math.expm1(_log_margin(setting, base)), float(np.median(base.values))
    estimate, bounds, inner = math.exp(logs.estimate), _exp(logs.outer), _exp(logs.inner)
    if logs.beyond is not None:
        diagnostics = {**diagnostics, "beyond_p": logs.beyond}
    low, high = (None if end is None else typical * (end - 1) for end in bounds)
    effect = partial(Effect, confidence=setting.confidence, n=n)
    return Comparison(
        what=setting.what,
        ratio=effect(estimate=estimate, low=bounds[0], high=bounds[1], diagnostics=diagnostics),
        difference=effect(estimate=typical * (estimate - 1), low=low, high=high, unit=setting.unit),
        verdict=verdict_of(*bounds, *inner, margin),
        margin=margin,
        p=logs.p,
        method=logs.method,
        codes=tuple(dict.fromkeys(logs.codes)),
        labels=dict(setting.labels),
        inner=inner,
        run_ids=setting.run_ids,
    )


def _exp(ends: tuple[float, float] | None) -> Interval:
    # Two runs that differ widely have an interval, at a high level, whose ends no number can have.
    return (None, None) if ends is None else (_bounded_exp(ends[0]), _bounded_exp(ends[1]))


def _bounded_exp(log: float) -> float:
    return math.inf if log > _LARGEST_LOG else math.exp(log)


def _paired(first: RunValues, second: RunValues, setting: Setting, missing: int, *, random_order: bool) -> Comparison:
    """Compare the rounds that both sides have."""
    of_a, of_b = in_rounds(first), in_rounds(second)
    rounds = [key for key in of_a if key in of_b]
    if len(rounds) < 2:
        return not_estimable(setting, ("no_values",) if not rounds else ("no_replication",), len(rounds))
    x, y = (side.take([values[key] for key in rounds]) for side, values in ((first, of_a), (second, of_b)))
    alone = len(set(of_a) ^ set(of_b))
    return compare_rounds(x, y, setting, {"missing": missing, "rounds_alone": alone}, random_order=random_order)


def compare_rounds(
    x: RunValues, y: RunValues, setting: Setting, diagnostics: dict[str, Any], *, random_order: bool = False
) -> Comparison:
    """Compare positive values of the same rounds, at least two of them, in the order of measuring."""
    logs = of_rounds(x, y, _log_margin(setting, y), setting.confidence, random_order=random_order)
    return _conclude(logs, setting, y, len(x.values), {"rounds": len(x.values), **diagnostics})


def with_codes(result: Comparison, codes: tuple[str, ...]) -> Comparison:
    """Return the comparison with further codes in front."""
    return replace(result, codes=tuple(dict.fromkeys((*codes, *result.codes))))
