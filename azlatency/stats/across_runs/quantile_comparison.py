"""Comparison of estimates, for example of percentiles of two connections, and the shift function.

Source: Zou & Donner, Statistics in Medicine 27:1693, 2008 (MOVER).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace

from azlatency.stats.across_runs.comparison import Setting, not_estimable
from azlatency.stats.across_runs.run_values import effective_margin, parse_margin
from azlatency.stats.across_runs.two_groups import mover_difference
from azlatency.stats.result import Comparison, Estimate, Results, Scope, refuse_frames, verdict_of

METHOD = "MOVER on the intervals of both connections (Zou & Donner 2008)"


def compare_quantiles(
    a: Estimate,
    b: Estimate,
    *,
    margin: float | str = "5%",
    labels: Mapping[str, object] | None = None,
) -> Comparison:
    """Compare two estimates, each of one connection or of independent paths, from their intervals.

    Parameters
    ----------
    a, b : Estimate
        Estimates in the same unit and with the same confidence, for example two results of `azlatency.quantiles`.
    margin : float or str
        Change that is practically equivalent: ``0.05``, ``"5%"`` or ``"2 us"``.
    labels : mapping, optional
        Columns that identify the result in a frame.

    Returns
    -------
    Comparison
        Ratio and difference of ``a`` over ``b``. With the scope ``within_run`` the verdict is about these two
        connections, not about paths. It is ``undetermined`` if an interval is only a lower bound
        (``within_run_floor``). Estimates of different units are not comparable (``unit_conflict``).

    Notes
    -----
    MOVER (Zou & Donner 2008) on the estimates and on their logarithms. Equivalence is judged by the same interval,
    which is stricter than two one-sided tests.
    """
    scope: Scope = "within_run" if "within_run" in (a.scope, b.scope) else "across_runs"
    name = f"{a.what} against {b.what}" + (", these two connections" if scope == "within_run" else "")
    setting = Setting(
        margin=margin,
        confidence=min(a.confidence, b.confidence),
        floor=None,
        unit=a.unit,
        what=name,
        labels=dict(labels or {}),
        run_ids=tuple(dict.fromkeys((*a.run_ids, *b.run_ids))),
    )
    codes = [*a.codes, *b.codes, *(("no_replication",) if scope == "within_run" else ())]
    if a.unit != b.unit or a.confidence != b.confidence:
        return not_estimable(setting, ("unit_conflict",), a.n + b.n, scope)
    if a.estimate is None or b.estimate is None:
        return not_estimable(setting, codes or ["no_values"], a.n + b.n, scope)
    point, low, high = mover_difference((a.estimate, a.low, a.high), (b.estimate, b.low, b.high))
    ratio: tuple[float | None, float | None, float | None] = (None, None, None)
    relative = parse_margin(margin)[0]
    if min(a.estimate, b.estimate) > 0:
        logs = mover_difference(
            (math.log(a.estimate), _log(a.low), _log(a.high)), (math.log(b.estimate), _log(b.low), _log(b.high))
        )
        ratio = tuple(None if end is None else math.exp(end) for end in logs)  # type: ignore[assignment]
        relative = effective_margin(margin, b.estimate, a.unit, None)
    else:
        codes.append("not_positive")
    verdict = verdict_of(ratio[1], ratio[2], ratio[1], ratio[2], relative)
    difference = Estimate(
        what=name,
        estimate=point,
        low=low,
        high=high,
        unit=a.unit,
        n=a.n + b.n,
        scope=scope,
        confidence=setting.confidence,
        method=METHOD,
        codes=tuple(dict.fromkeys(codes)),
        labels=setting.labels,
        run_ids=setting.run_ids,
    )
    return Comparison(
        what=name,
        ratio=replace(
            difference,
            estimate=ratio[0],
            low=ratio[1],
            high=ratio[2],
            unit="ratio",
        ),
        difference=difference,
        verdict="undetermined" if "within_run_floor" in codes else verdict,
        margin=relative,
        p=None,
        scope=scope,
        method=METHOD,
        codes=difference.codes,
        labels=dict(setting.labels),
        run_ids=setting.run_ids,
    )


def _log(value: float | None) -> float | None:
    return None if value is None or value <= 0 else math.log(value)


def shift_function(a: Sequence[Estimate], b: Sequence[Estimate], *, margin: float | str = "5%") -> Results[Comparison]:
    """Compare two latency distributions quantile by quantile.

    Parameters
    ----------
    a, b : sequence of Estimate
        Quantiles of both connections. The level of a quantile is ``labels["q"]``, or ``what`` without that label.
    margin : float or str
        Change that is practically equivalent: ``0.05``, ``"5%"`` or ``"2 us"``.

    Returns
    -------
    Results[Comparison]
        One comparison (`compare_quantiles`) per level that both have, in the order of ``a``, with the label ``q``.

    Notes
    -----
    Rousselet, Pernet & Wilcox, European Journal of Neuroscience 46:1738, 2017.
    """
    refuse_frames(a=a, b=b)
    by_level = {_level(quantile): quantile for quantile in b}
    return Results(
        compare_quantiles(quantile, by_level[_level(quantile)], margin=margin, labels={"q": _level(quantile)})
        for quantile in a
        if _level(quantile) in by_level
    )


def _level(estimate: Estimate) -> object:
    return estimate.labels.get("q", estimate.what)
