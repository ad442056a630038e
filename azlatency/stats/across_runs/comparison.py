"""Is path A slower than path B, and by how much? Run values in, effect and interval first, then what may be concluded.

Runs are the replicates. Unpaired runs: Welch's t on log run values (ratio of geometric means) or Fieller's interval of
the ratio of means, and an exact permutation of run labels as p. Paired rounds: Student's t on log ratios and an exact
sign flip. One run each can only give "these two connections": MOVER on the intervals of their quantiles.

Sources: Welch 1947; Fieller 1954, with Welch's degrees of freedom; Schuirmann 1987 (two one-sided tests); Zou & Donner,
Stat. Med. 27:1693, 2008 (MOVER). Coverage: experiments C5, C10, C12 and C14.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from azlatency.stats import exact
from azlatency.stats.across_runs.run_values import (
    RunValues,
    by_round,
    effective_margin,
    parse_margin,
    refusals,
    run_values,
)
from azlatency.stats.result import Comparison, Estimate, Results, Scope, Verdict, verdict_of

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    FloatArray = NDArray[np.float64]

RATIO_METHOD = "Welch t on logarithms of run values (ratio of geometric means)"
MEAN_METHOD = "Fieller interval of the ratio of means, Welch degrees of freedom"
PAIRED_METHOD = "Student t on log ratios of rounds"
MOVER_METHOD = "MOVER on the intervals of both connections (Zou & Donner 2008)"


class Summary(NamedTuple):
    """Size, mean and sample standard deviation (n - 1) of one group."""

    n: int
    mean: float
    sd: float


class Welch(NamedTuple):
    """Difference of means (first minus second), its standard error, degrees of freedom, t, p and interval."""

    difference: float
    error: float
    df: float
    t: float
    p: float
    low: float
    high: float


class Fieller(NamedTuple):
    """Ratio of means and its interval; ``g >= 1`` means that the denominator may be 0 and there is no interval."""

    ratio: float
    df: float
    g: float
    low: float | None
    high: float | None


class Tost(NamedTuple):
    """Two one-sided tests: t and p of both, and the larger p."""

    t_low: float
    t_high: float
    p_low: float
    p_high: float
    p: float


# --- closed forms; each takes what it needs and no more, so that an oracle can hold it


def summary(values: FloatArray) -> Summary:
    """n, mean and sd (n - 1; NaN for fewer than two values)."""
    n = len(values)
    if n < 2:
        return Summary(n, float(values.mean()) if n else math.nan, math.nan)
    # Equal values have no spread, whatever rounding makes of their mean.
    spread = 0.0 if values.max() == values.min() else float(values.std(ddof=1))
    return Summary(n, float(values.mean()), spread)


def welch(first: Summary, second: Summary, confidence: float = 0.95) -> Welch | None:
    """Welch's t; ``None`` where a group has fewer than two values or both have no spread."""
    from scipy.stats import t as student

    if min(first.n, second.n) < 2:
        return None
    parts = [each.sd**2 / each.n for each in (first, second)]
    if not sum(parts) > 0:
        return None
    error = math.sqrt(sum(parts))
    df = sum(parts) ** 2 / (parts[0] ** 2 / (first.n - 1) + parts[1] ** 2 / (second.n - 1))
    difference = first.mean - second.mean
    half = float(student.ppf((1 + confidence) / 2, df)) * error
    p = 2 * float(student.sf(abs(difference) / error, df))
    return Welch(difference, error, df, difference / error, p, difference - half, difference + half)


def fieller(first: Summary, second: Summary, confidence: float = 0.95) -> Fieller | None:
    """Fieller's interval of the ratio of two independent means; ``None`` as for `welch` and for a zero denominator.

    The degrees of freedom are Welch's for ``mean_a - ratio * mean_b``.
    """
    from scipy.stats import t as student

    if min(first.n, second.n) < 2 or second.mean == 0:
        return None
    var_a, var_b = first.sd**2 / first.n, second.sd**2 / second.n
    if not var_a + var_b > 0:
        return None
    ratio = first.mean / second.mean
    scaled = ratio**2 * var_b
    if var_a + scaled == 0:
        return None
    df = (var_a + scaled) ** 2 / (var_a**2 / (first.n - 1) + scaled**2 / (second.n - 1))
    square = float(student.ppf((1 + confidence) / 2, df)) ** 2
    g = square * var_b / second.mean**2
    if g >= 1:
        return Fieller(ratio, df, g, None, None)
    half = math.sqrt(square * (var_a * (1 - g) + ratio**2 * var_b)) / abs(second.mean)
    return Fieller(ratio, df, g, (ratio - half) / (1 - g), (ratio + half) / (1 - g))


def tost(difference: float, error: float, df: float, low: float, high: float) -> Tost:
    """Two one-sided t tests that ``difference`` lies between the margins ``low`` and ``high`` (Schuirmann 1987)."""
    from scipy.stats import t as student

    t_low, t_high = (difference - low) / error, (difference - high) / error
    p_low, p_high = float(student.sf(t_low, df)), float(student.cdf(t_high, df))
    return Tost(t_low, t_high, p_low, p_high, max(p_low, p_high))


def minimum_effect(difference: float, error: float, df: float, margin: float) -> float:
    """p of the t test that ``difference`` is no further from 0 than ``margin``, in either direction.

    Small where the whole interval lies beyond the margin (Murphy & Myors, J. Appl. Psychol. 84:234, 1999).
    """
    from scipy.stats import t as student

    return min(1.0, 2 * float(student.sf((abs(difference) - margin) / error, df)))


def mover_difference(
    first: tuple[float, float | None, float | None], second: tuple[float, float | None, float | None]
) -> tuple[float, float | None, float | None]:
    """Difference of two independent (estimate, low, high) by squaring and adding; an open end stays open (``None``)."""
    (a, a_low, a_high), (b, b_low, b_high) = first, second
    point = a - b
    low = None if a_low is None or b_high is None else point - math.hypot(a - a_low, b_high - b)
    high = None if a_high is None or b_low is None else point + math.hypot(a_high - a, b - b_low)
    return point, low, high


# --- the comparison of run values


def compare(
    a: Any,
    b: Any,
    *,
    margin: float | str = "5%",
    confidence: float = 0.95,
    paired: bool = False,
    value: str | None = None,
    statistic: Literal["geometric", "mean"] = "geometric",
    floor: float | None = None,
    unit: str | None = None,
    what: str = "A against B",
    labels: dict[str, object] | None = None,
    seed: int = 0,
) -> Comparison:
    """Compare two sets of runs, ``a`` over ``b``.

    ``a``, ``b``: one number a run: arrays, Series, or frames of `runs` with the column ``value`` (default:
    the median, else the mean, else the throughput). ``paired``: rounds in which both were measured (the frames' column
    ``round``, or the positions of arrays). ``statistic``: ratio of geometric means, or of arithmetic means (unpaired
    only). ``margin``: what is practically equal, ``"5%"``, ``0.05`` or ``"2 us"``, never below ``floor`` (1 us for
    latencies). ``p`` is exact at the level of runs, and missing where no data of this size could decide.

    Data that do not allow a comparison give a `Comparison` without a ratio whose codes say why; a wrong argument
    raises `ValueError` or `KeyError`.
    """
    parse_margin(margin)
    if not 0.5 < confidence < 1:
        raise ValueError(f"confidence = {confidence}: between 0.5 and 1")
    if statistic not in ("geometric", "mean") or (paired and statistic == "mean"):
        raise ValueError(f"statistic = {statistic!r}: 'geometric', or 'mean' for unpaired runs")
    first, second = run_values(a, value, unit), run_values(b, value, unit)
    run_ids = (*first.run_ids, *second.run_ids)
    setting = Setting(margin, confidence, floor, first.unit, what, dict(labels or {}), seed, run_ids)
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
        return _refused(setting, tuple(dict.fromkeys(codes)), len(first.values) + len(second.values), "across_runs")
    return _unpaired(first.values, second.values, setting, statistic, missing)


class Setting(NamedTuple):
    """What every branch of a comparison needs to write its result."""

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
        """Confidence of the interval that two one-sided tests look at: 90 % for 95 %."""
        return 2 * self.confidence - 1


def _refused(setting: Setting, codes: tuple[str, ...], n: int, scope: Scope) -> Comparison:
    ratio = Estimate(
        what=setting.what,
        estimate=None,
        low=None,
        high=None,
        unit="ratio",
        n=n,
        scope=scope,
        confidence=setting.confidence,
        method="none",
        codes=codes,
        labels=dict(setting.labels),
        run_ids=setting.run_ids,
    )
    margin = parse_margin(setting.margin)[0]
    return Comparison(
        what=setting.what,
        ratio=ratio,
        difference=None,
        verdict="undetermined",
        margin=margin,
        p=None,
        attainable_p=None,
        scope=scope,
        method="none",
        codes=codes,
        labels=dict(setting.labels),
        run_ids=setting.run_ids,
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
    # Both groups constant: the effect is what it is, the interval and the verdict are refused.
    verdict = verdict_of(*bounds, *inner, margin) if "constant" not in codes else "undetermined"
    test = exact.permute_labels(scaled_x, scaled_y, seed=setting.seed)
    raw = welch(summary(x), summary(y), setting.confidence)
    difference = _difference(float(x.mean() - y.mean()), raw, len(x) + len(y), setting, "Welch t on run values", codes)
    method = RATIO_METHOD if geometric else MEAN_METHOD
    return _result(setting, ratio, bounds, difference, verdict, margin, test, method, codes, diagnostics)


def _log_bounds(
    first: Summary, second: Summary, setting: Setting, margin: float, diagnostics: dict[str, Any]
) -> tuple[float, tuple[float | None, float | None], tuple[float | None, float | None]]:
    """Ratio of geometric means with its outer and inner interval."""
    ratio = math.exp(first.mean - second.mean)
    outer, inner = (welch(first, second, level) for level in (setting.confidence, setting.inner))
    if outer is None or inner is None:
        return ratio, (None, None), (None, None)
    equal = tost(outer.difference, outer.error, outer.df, -math.log1p(margin), math.log1p(margin))
    beyond = minimum_effect(outer.difference, outer.error, outer.df, math.log1p(margin))
    diagnostics.update(df=outer.df, t_p=outer.p, tost_p=equal.p, beyond_p=beyond)
    return ratio, (math.exp(outer.low), math.exp(outer.high)), (math.exp(inner.low), math.exp(inner.high))


def _fieller_bounds(
    first: Summary, second: Summary, setting: Setting, codes: list[str], diagnostics: dict[str, Any]
) -> tuple[float | None, tuple[float | None, float | None], tuple[float | None, float | None]]:
    """Ratio of arithmetic means with its outer and inner interval."""
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
    point: float, found: Welch | None, n: int, setting: Setting, method: str, codes: Sequence[str]
) -> Estimate:
    """Difference of means in the unit of the values."""
    low, high = (None, None) if found is None else (found.low, found.high)
    return Estimate(
        what=f"{setting.what}, difference",
        estimate=point,
        low=low,
        high=high,
        unit=setting.unit,
        n=n,
        scope="across_runs",
        confidence=setting.confidence,
        method=method,
        codes=tuple(each for each in codes if each in ("two_runs", "constant")),
        labels=dict(setting.labels),
        run_ids=setting.run_ids,
    )


def _result(
    setting: Setting,
    ratio: float | None,
    bounds: tuple[float | None, float | None],
    difference: Estimate,
    verdict: Verdict,
    margin: float,
    test: exact.ExactTest,
    method: str,
    codes: list[str],
    diagnostics: dict[str, Any],
) -> Comparison:
    """Put together; a test that no data of this size could pass is not made."""
    p: float | None = test.p
    if test.attainable_p > 1 - setting.confidence:
        codes.append("cannot_reach_alpha")
        p = None
    all_codes = tuple(dict.fromkeys(codes))
    estimate = Estimate(
        what=setting.what,
        estimate=ratio,
        low=bounds[0],
        high=bounds[1],
        unit="ratio",
        n=difference.n,
        scope="across_runs",
        confidence=setting.confidence,
        method=method,
        codes=all_codes,
        labels=dict(setting.labels),
        n_effective=float(difference.n),
        assumptions=("runs are exchangeable within each side",),
        diagnostics=diagnostics,
        run_ids=setting.run_ids,
    )
    tested = f"{method}; p: {test.method}" if p is not None else f"{method}; no test"
    return Comparison(
        what=setting.what,
        ratio=estimate,
        difference=difference,
        verdict=verdict,
        margin=margin,
        p=p,
        attainable_p=test.attainable_p,
        scope="across_runs",
        method=tested,
        codes=all_codes,
        labels=dict(setting.labels),
        run_ids=setting.run_ids,
    )


def _paired(first: RunValues, second: RunValues, setting: Setting, codes: list[str], missing: int) -> Comparison:
    """Rounds in which both sides have a value."""
    import numpy as np

    if not codes and min((*first.values, *second.values), default=1.0) <= 0:
        codes.append("not_positive")
    if codes:
        n = min(len(first.values), len(second.values))
        return _refused(setting, tuple(dict.fromkeys(codes)), n, "across_runs")
    of_a, of_b = by_round(first, log=True), by_round(second, log=True)
    rounds = [each for each in of_a if each in of_b]
    if len(rounds) < 2:
        return _refused(setting, ("no_values",) if not rounds else ("no_replication",), len(rounds), "across_runs")
    x, y = (np.array([side[each] for each in rounds]) for side in (of_a, of_b))
    alone = len(set(of_a) ^ set(of_b))
    return compare_rounds(x, y, setting, {"missing": missing, "rounds_alone": alone})


def compare_rounds(x: FloatArray, y: FloatArray, setting: Setting, diagnostics: dict[str, Any]) -> Comparison:
    """The paired comparison of positive, aligned values, at least two of them; ``setting`` as made by `compare`."""
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
        bounds: tuple[float | None, float | None] = (None, None)
        verdict: Verdict = "undetermined"
    else:
        bounds = (math.exp(outer[0]), math.exp(outer[1]))
        verdict = verdict_of(*bounds, math.exp(inner[0]), math.exp(inner[1]), margin)
        error = float(logs.std(ddof=1)) / math.sqrt(rounds)
        equal = tost(mean, error, rounds - 1, -math.log1p(margin), math.log1p(margin))
        diagnostics.update(tost_p=equal.p, t_p=2 * tost(abs(mean), error, rounds - 1, 0.0, math.inf).p_low)
    raw = student_interval(x - y, setting.confidence)
    point = float((x - y).mean())
    found = None if raw is None else Welch(point, 0.0, rounds - 1, 0.0, 0.0, *raw)
    difference = _difference(point, found, rounds, setting, "Student t on differences of rounds", codes)
    test = exact.sign_flip(logs, seed=setting.seed)
    return _result(
        setting, math.exp(mean), bounds, difference, verdict, margin, test, PAIRED_METHOD, codes, diagnostics
    )


def student_interval(values: FloatArray, confidence: float) -> tuple[float, float] | None:
    """Student's t interval of a mean; ``None`` for fewer than two values or no spread."""
    from scipy.stats import t as student

    n, mean, sd = summary(values)
    if n < 2 or not sd > 1e-12 * max(abs(mean), 1e-300):
        return None
    half = float(student.ppf((1 + confidence) / 2, n - 1)) * sd / math.sqrt(n)
    return mean - half, mean + half


def pseudomedian(values: FloatArray) -> float:
    """Hodges-Lehmann estimate of one sample: the median of all averages of two values, each with itself included."""
    import numpy as np

    if not len(values):
        return math.nan
    first, second = np.triu_indices(len(values))
    return float(np.median((values[first] + values[second]) / 2))


def with_run_ids(result: Comparison, run_ids: Iterable[str]) -> Comparison:
    """The comparison and its estimates with the runs that they were computed from."""
    ids, difference = tuple(dict.fromkeys(run_ids)), result.difference
    return replace(
        result,
        run_ids=ids,
        ratio=replace(result.ratio, run_ids=ids),
        difference=None if difference is None else replace(difference, run_ids=ids),
    )


# --- one connection each: no claim about paths


def compare_quantiles(
    a: Estimate,
    b: Estimate,
    *,
    margin: float | str = "5%",
    what: str | None = None,
    labels: dict[str, Any] | None = None,
) -> Comparison:
    """Two estimates, of one connection each or of independent paths, by MOVER on the difference and on the logarithms.

    The confidence is that of the estimates. Scope ``within_run`` means: these two connections, no claim about paths.
    Equivalence is judged by the same interval, which is stricter than two one-sided tests. Where an interval is only a
    floor (code ``within_run_floor``), the verdict stays ``undetermined``.
    """
    scope: Scope = "within_run" if "within_run" in (a.scope, b.scope) else "across_runs"
    name = what or f"{a.what} against {b.what}" + (", these two connections" if scope == "within_run" else "")
    run_ids = tuple(dict.fromkeys((*a.run_ids, *b.run_ids)))
    setting = Setting(margin, min(a.confidence, b.confidence), None, a.unit, name, dict(labels or {}), 0, run_ids)
    codes = [*a.codes, *b.codes, *(("no_replication",) if scope == "within_run" else ())]
    if a.unit != b.unit or a.confidence != b.confidence:
        return _refused(setting, ("unit_conflict",), a.n + b.n, scope)
    if a.estimate is None or b.estimate is None:
        return _refused(setting, tuple(dict.fromkeys(codes or ["no_values"])), a.n + b.n, scope)
    ends = [(each.estimate, each.low, each.high) for each in (a, b)]
    point, low, high = mover_difference(*ends)  # type: ignore[arg-type]
    if min(a.estimate, b.estimate) > 0:
        logs = [tuple(None if each is None or each <= 0 else math.log(each) for each in end) for end in ends]
        ratio_point, ratio_low, ratio_high = (
            None if each is None else math.exp(each)
            for each in mover_difference(*logs)  # type: ignore[arg-type]
        )
        relative = effective_margin(margin, b.estimate, a.unit, None)
    else:
        ratio_point = ratio_low = ratio_high = None
        relative = parse_margin(margin)[0]
        codes.append("not_positive")
    floor_only = "within_run_floor" in codes
    verdict: Verdict = verdict_of(ratio_low, ratio_high, ratio_low, ratio_high, relative)
    found = tuple(dict.fromkeys(codes))
    difference = Estimate(
        what=name, estimate=point, low=low, high=high, unit=a.unit, n=a.n + b.n, scope=scope,
        confidence=setting.confidence, method=MOVER_METHOD, codes=found, labels=setting.labels, run_ids=run_ids,
    )  # fmt: skip
    ratio = replace(
        difference, estimate=ratio_point, low=ratio_low, high=ratio_high, unit="ratio",
        diagnostics={"verdict_of_the_interval": verdict},
    )  # fmt: skip
    return Comparison(
        what=name,
        ratio=ratio,
        difference=difference,
        verdict="undetermined" if floor_only else verdict,
        margin=relative,
        p=None,
        attainable_p=None,
        scope=scope,
        method=MOVER_METHOD,
        codes=found,
        labels=dict(setting.labels),
        run_ids=run_ids,
    )


def shift_function(a: Sequence[Estimate], b: Sequence[Estimate], *, margin: float | str = "5%") -> Results[Comparison]:
    """Where two latency laws differ: `compare_quantiles` at every level that both lists hold, in order of ``a``.

    The level is ``labels["q"]``, else ``what``. Rousselet et al., Eur. J. Neurosci. 46:1738, 2017.
    """
    known = {_level(each): each for each in b}
    return Results(
        compare_quantiles(each, known[_level(each)], margin=margin, labels={"q": each.labels.get("q", each.what)})
        for each in a
        if _level(each) in known
    )


def _level(estimate: Estimate) -> object:
    return estimate.labels.get("q", estimate.what)
