"""Comparison of two sets of runs: the ratio with its interval, and the verdict within a practical margin.

Runs are the replicates, not packets. Unpaired runs: Welch's t on the logarithms of run values (ratio of geometric
means) or Fieller's interval of the ratio of means, with an exact permutation test of the run labels. Paired rounds:
Student's t on log ratios with an exact sign-flip test.

Sources: Welch 1947; Fieller 1954, with Welch's degrees of freedom; Schuirmann 1987 (two one-sided tests).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from azlatency.stats import exact
from azlatency.stats.across_runs.hodges_lehmann import pseudomedian
from azlatency.stats.across_runs.run_values import (
    RunValues,
    by_round,
    effective_margin,
    parse_margin,
    refusals,
    run_values,
)
from azlatency.stats.across_runs.two_groups import (
    Summary,
    fieller,
    minimum_effect,
    student_interval,
    summary,
    tost,
    welch,
)
from azlatency.stats.result import Comparison, Estimate, Scope, Verdict, verdict_of

if TYPE_CHECKING:
    from azlatency.stats.across_runs.run_values import RunData
    from azlatency.stats.arrays import FloatArray

    #: Ends of an interval; ``None`` where an end is open.
    Interval = tuple[float | None, float | None]

RATIO_METHOD = "Welch t on logarithms of run values (ratio of geometric means)"
MEAN_METHOD = "Fieller interval of the ratio of means, Welch degrees of freedom"
PAIRED_METHOD = "Student t on log ratios of rounds"


def compare(
    a: RunData,
    b: RunData,
    *,
    margin: float | str = "5%",
    confidence: float = 0.95,
    paired: bool = False,
    value: str | None = None,
    statistic: Literal["geometric", "mean"] = "geometric",
    floor: float | None = None,
    unit: str | None = None,
    what: str = "A against B",
    labels: Mapping[str, object] | None = None,
    seed: int = 0,
) -> Comparison:
    """Compare two sets of runs: the ratio of ``a`` to ``b`` with its interval and a verdict.

    Parameters
    ----------
    a, b : array_like, Series or DataFrame
        One number per run, in one unit, or one row per run, as returned by `azlatency.latency` or
        `azlatency.throughput`.
    margin : float or str
        Change that is practically equivalent: ``0.05``, ``"5%"`` or ``"2 us"``.
    confidence : float
        Level of the intervals, between 0.5 and 1.
    paired : bool
        Compare round by round: rounds are the column ``round`` of a frame, or the positions in an array. Rounds that
        only one side has are left out.
    value : str, optional
        Column of a frame to compare; by default its median, else its mean, else its throughput.
    statistic : {"geometric", "mean"}
        Ratio of geometric means, or of arithmetic means (unpaired runs only).
    floor : float, optional
        Smallest difference that matters, in the unit of the values; by default 1000 for values in ns (1 µs), else 0.
    unit : str, optional
        Canonical unit of the values; by default that of the column.
    what : str
        Name of the result.
    labels : mapping, optional
        Columns that identify the result in a frame.
    seed : int
        Seed of the permutations; used only where there are too many to enumerate.

    Returns
    -------
    Comparison
        Without a ratio if the data cannot be compared; the codes give the reason (``no_replication``,
        ``unit_conflict``, ``type_p_mismatch`` …). ``p`` is exact at the level of runs, and ``None`` if no data of this
        size can reach the level.

    Raises
    ------
    ValueError
        If the margin, the confidence or the statistic is not valid.
    KeyError
        If a frame has no such column.

    Notes
    -----
    Unpaired: Welch's t on logarithms, or Fieller's interval of the ratio of means; p from a permutation of the run
    labels. Paired: Student's t on log ratios; p from sign flips. Equivalence: two one-sided tests (Schuirmann 1987).

    Examples
    --------
    >>> base = [450e3, 440e3, 460e3, 455e3]
    >>> candidate = [570e3, 561e3, 580e3, 566e3]
    >>> print(compare(candidate, base, unit="ns", what="zone 1 → zone 2"))
    zone 1 → zone 2: 1.26× slower, 95 % CI 1.22–1.30, 4 against 4 runs
    """
    parse_margin(margin)
    if not 0.5 < confidence < 1:
        raise ValueError(f"confidence = {confidence}: between 0.5 and 1")
    if statistic not in ("geometric", "mean") or (paired and statistic == "mean"):
        raise ValueError(f"statistic = {statistic!r}: 'geometric', or 'mean' for unpaired runs")
    first, second = run_values(a, value, unit), run_values(b, value, unit)
    setting = Setting(
        margin=margin,
        confidence=confidence,
        floor=floor,
        unit=first.unit,
        what=what,
        labels=dict(labels or {}),
        seed=seed,
        run_ids=(*first.run_ids, *second.run_ids),
    )
    codes = list(refusals((a, b), value))
    if first.unit != second.unit:
        codes.append("unit_conflict")
    missing = first.missing + second.missing
    if paired:
        return _paired(first, second, setting, codes, missing)
    if not codes and not (len(first.values) and len(second.values)):
        codes = ["no_values"]
    if not codes and statistic == "geometric" and min(first.values.min(), second.values.min()) <= 0:
        codes = ["not_positive"]
    if not codes and min(len(first.values), len(second.values)) < 2:
        codes = ["no_replication"]
    if codes:
        return not_estimable(setting, codes, len(first.values) + len(second.values))
    return _unpaired(first.values, second.values, setting, statistic, missing)


class Setting(NamedTuple):
    """Parameters that every step of a comparison needs; construct it with keywords."""

    margin: float | str
    confidence: float
    floor: float | None
    unit: str
    what: str
    labels: dict[str, Any]
    seed: int
    run_ids: tuple[str, ...] = ()

    @property
    def inner(self) -> float:
        """Confidence of the interval for two one-sided tests: 90 % for 95 %."""
        return 2 * self.confidence - 1

    def estimate(
        self, value: float | None, interval: Interval, *, unit: str, n: int, method: str,
        codes: Iterable[str] = (), what: str | None = None, scope: Scope = "across_runs",
    ) -> Estimate:  # fmt: skip
        """Return an estimate with this confidence, these labels and these runs."""
        return Estimate(
            what=what or self.what,
            estimate=value,
            low=interval[0],
            high=interval[1],
            unit=unit,
            n=n,
            scope=scope,
            confidence=self.confidence,
            method=method,
            codes=tuple(dict.fromkeys(codes)),
            labels=dict(self.labels),
            run_ids=self.run_ids,
        )

    def inconclusive(self, ratio: Estimate, difference: Estimate | None = None) -> Comparison:
        """Return a comparison without a test and without a conclusion."""
        return Comparison(
            what=self.what,
            ratio=ratio,
            difference=difference,
            verdict="undetermined",
            margin=parse_margin(self.margin)[0],
            p=None,
            attainable_p=None,
            scope=ratio.scope,
            method=ratio.method,
            codes=ratio.codes,
            labels=dict(self.labels),
            run_ids=self.run_ids,
        )


def not_estimable(setting: Setting, codes: Iterable[str], n: int, scope: Scope = "across_runs") -> Comparison:
    """Return a comparison without a ratio; the codes give the reason."""
    return setting.inconclusive(
        setting.estimate(None, (None, None), unit="ratio", n=n, method="none", codes=codes, scope=scope)
    )


def _unpaired(
    x: FloatArray, y: FloatArray, setting: Setting, statistic: Literal["geometric", "mean"], missing: int
) -> Comparison:
    import numpy as np

    geometric = statistic == "geometric"
    scaled_x, scaled_y = (np.log(x), np.log(y)) if geometric else (x, y)
    first, second = summary(scaled_x), summary(scaled_y)
    reference = float(np.exp(second.mean)) if geometric else abs(second.mean)
    margin = effective_margin(setting.margin, reference, setting.unit, setting.floor)
    codes: list[str] = ["two_runs"] if min(len(x), len(y)) == 2 else []
    diagnostics: dict[str, Any] = {"runs_a": len(x), "runs_b": len(y), "missing": missing}
    ratio: float | None
    if geometric:
        ratio, bounds, inner = _log_bounds(first, second, setting, margin, diagnostics)
    else:
        ratio, bounds, inner = _fieller_bounds(first, second, setting, codes, diagnostics)
    if bounds == (None, None) and "ratio_unbounded" not in codes:
        codes.append("constant")
    # Without spread on either side the ratio is exact, but there is neither an interval nor a verdict.
    verdict = verdict_of(*bounds, *inner, margin) if "constant" not in codes else "undetermined"
    test = exact.permute_labels(scaled_x, scaled_y, seed=setting.seed)
    means = welch(summary(x), summary(y), setting.confidence)
    interval = (None, None) if means is None else (means.low, means.high)
    difference = _difference(
        float(x.mean() - y.mean()), interval, len(x) + len(y), setting, "Welch t on run values", codes
    )
    method = RATIO_METHOD if geometric else MEAN_METHOD
    ratio_estimate = _ratio(setting, ratio, bounds, difference.n, method, codes, diagnostics)
    return _with_test(setting, ratio_estimate, difference, verdict, margin, test)


def _log_bounds(
    first: Summary, second: Summary, setting: Setting, margin: float, diagnostics: dict[str, Any]
) -> tuple[float, Interval, Interval]:
    """Return the ratio of geometric means with its outer and inner interval."""
    ratio = math.exp(first.mean - second.mean)
    outer, inner = (welch(first, second, level) for level in (setting.confidence, setting.inner))
    if outer is None or inner is None:
        return ratio, (None, None), (None, None)
    equivalence = tost(outer.difference, outer.error, outer.df, -math.log1p(margin), math.log1p(margin))
    beyond = minimum_effect(outer.difference, outer.error, outer.df, math.log1p(margin))
    diagnostics.update(df=outer.df, t_p=outer.p, tost_p=equivalence.p, beyond_p=beyond)
    return ratio, (math.exp(outer.low), math.exp(outer.high)), (math.exp(inner.low), math.exp(inner.high))


def _fieller_bounds(
    first: Summary, second: Summary, setting: Setting, codes: list[str], diagnostics: dict[str, Any]
) -> tuple[float | None, Interval, Interval]:
    """Return the ratio of arithmetic means with its outer and inner interval."""
    if second.mean == 0:
        codes.append("ratio_unbounded")
        return None, (None, None), (None, None)
    outer, inner = (fieller(first, second, level) for level in (setting.confidence, setting.inner))
    if outer is None or inner is None:
        return first.mean / second.mean, (None, None), (None, None)
    diagnostics.update(df=outer.df, g=outer.g)
    if outer.low is None:
        codes.append("ratio_unbounded")
    return outer.ratio, (outer.low, outer.high), (inner.low, inner.high)


def _difference(
    value: float, interval: Interval, n: int, setting: Setting, method: str, codes: Iterable[str]
) -> Estimate:
    """Return the difference of means, in the unit of the values."""
    codes = [code for code in codes if code in ("two_runs", "constant")]
    return setting.estimate(
        value, interval, unit=setting.unit, n=n, method=method, codes=codes, what=f"{setting.what}, difference"
    )


def _ratio(
    setting: Setting, value: float | None, interval: Interval, n: int, method: str, codes: Iterable[str],
    diagnostics: dict[str, Any],
) -> Estimate:  # fmt: skip
    estimate = setting.estimate(value, interval, unit="ratio", n=n, method=method, codes=codes)
    assumptions = ("runs are exchangeable within each side",)
    return replace(estimate, n_effective=float(n), assumptions=assumptions, diagnostics=diagnostics)


def _with_test(
    setting: Setting, ratio: Estimate, difference: Estimate, verdict: Verdict, margin: float, test: exact.ExactTest
) -> Comparison:
    """Return the comparison with its exact test; without p if no data of this size can reach the level."""
    p: float | None = test.p
    if test.attainable_p > 1 - setting.confidence:
        ratio = replace(ratio, codes=(*ratio.codes, "cannot_reach_alpha"))
        p = None
    return Comparison(
        what=setting.what,
        ratio=ratio,
        difference=difference,
        verdict=verdict,
        margin=margin,
        p=p,
        attainable_p=test.attainable_p,
        scope="across_runs",
        method=f"{ratio.method}; p: {test.method}" if p is not None else f"{ratio.method}; no test",
        codes=ratio.codes,
        labels=dict(setting.labels),
        run_ids=setting.run_ids,
    )


def _paired(first: RunValues, second: RunValues, setting: Setting, codes: list[str], missing: int) -> Comparison:
    """Compare the rounds that both sides have."""
    import numpy as np

    if not codes and min((*first.values, *second.values), default=1.0) <= 0:
        codes.append("not_positive")
    if codes:
        return not_estimable(setting, codes, min(len(first.values), len(second.values)))
    of_a, of_b = by_round(first, log=True), by_round(second, log=True)
    rounds = [key for key in of_a if key in of_b]
    if len(rounds) < 2:
        return not_estimable(setting, ("no_values",) if not rounds else ("no_replication",), len(rounds))
    x, y = (np.array([side[key] for key in rounds]) for side in (of_a, of_b))
    unmatched = len(set(of_a) ^ set(of_b))
    return compare_rounds(x, y, setting, {"missing": missing, "rounds_alone": unmatched})


def compare_rounds(x: FloatArray, y: FloatArray, setting: Setting, diagnostics: dict[str, Any]) -> Comparison:
    """Compare positive values of the same rounds, at least two of them."""
    import numpy as np

    logs = np.log(x) - np.log(y)
    margin = effective_margin(setting.margin, float(np.exp(np.log(y).mean())), setting.unit, setting.floor)
    rounds = len(logs)
    codes: list[str] = ["two_runs"] if rounds == 2 else []
    diagnostics = {"rounds": rounds, **diagnostics, "hodges_lehmann": math.exp(pseudomedian(logs))}
    outer, inner = (student_interval(logs, level) for level in (setting.confidence, setting.inner))
    mean = float(logs.mean())
    if outer is None or inner is None:
        codes.append("constant")
        bounds: Interval = (None, None)
        verdict: Verdict = "undetermined"
    else:
        bounds = (math.exp(outer[0]), math.exp(outer[1]))
        verdict = verdict_of(*bounds, math.exp(inner[0]), math.exp(inner[1]), margin)
        error = float(logs.std(ddof=1)) / math.sqrt(rounds)
        equivalence = tost(mean, error, rounds - 1, -math.log1p(margin), math.log1p(margin))
        diagnostics.update(tost_p=equivalence.p, t_p=2 * tost(abs(mean), error, rounds - 1, 0.0, math.inf).p_low)
    interval = student_interval(x - y, setting.confidence) or (None, None)
    difference = _difference(
        float((x - y).mean()), interval, rounds, setting, "Student t on differences of rounds", codes
    )
    ratio = _ratio(setting, math.exp(mean), bounds, rounds, PAIRED_METHOD, codes, diagnostics)
    return _with_test(setting, ratio, difference, verdict, margin, exact.sign_flip(logs, seed=setting.seed))


def with_run_ids(result: Comparison, run_ids: Iterable[str]) -> Comparison:
    """Return the comparison and its estimates with the runs that they were computed from."""
    ids, difference = tuple(dict.fromkeys(run_ids)), result.difference
    return replace(
        result,
        run_ids=ids,
        ratio=replace(result.ratio, run_ids=ids),
        difference=None if difference is None else replace(difference, run_ids=ids),
    )
