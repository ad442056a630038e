"""How many runs, packets or rounds are needed? Asked before measuring, or after a pilot.

A pilot's standard deviation is itself uncertain, so a forecast takes its upper bound; from fewer than five runs there
is only a range. A stopping rule needs a floor: "stop when the interval is narrow" from three runs on holds the truth
in 56-67 % of cases where a slow mode is rare (experiment C13).

Sources: Maricq et al., OSDI 2018 (CONFIRM), here in closed form instead of 200 random subsets; Le Boudec 2010, theorem
2.1; Hoefler & Belli, SC 2015, rule 5.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, ClassVar, Literal, NamedTuple

from azlatency.stats import exact
from azlatency.stats.across_runs.run_values import floats, refusals, run_ids_of, run_values, value_column
from azlatency.stats.across_runs.two_groups import summary
from azlatency.stats.result import Result, Results, Row, Scope
from azlatency.stats.within_run.order_statistics import order_statistic_ranks

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd
    from numpy.typing import NDArray

    FloatArray = NDArray[np.float64]

#: Fewer runs than this and a forecast is a guess: the range is given instead.
PILOT = 5
#: A stopping rule looks at nothing before so many runs.
STOP_FLOOR = 20
#: The search for a number of runs ends here; the answer is then "more than that".
_MOST = 10**15


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan(Result):
    """``needed`` in all (None where refused or beyond the search), of which ``done`` exist; ``low``..``high`` bound it.

    ``at_pilot_spread``: what would be needed if the pilot's spread were the true one. ``reached``: enough are done.
    """

    what: str
    needed: int | None
    done: int
    low: int | None
    high: int | None
    at_pilot_spread: int | None
    unit: str
    confidence: float
    scope: Scope
    method: str
    codes: tuple[str, ...] = ()
    labels: dict[str, Any] = field(default_factory=dict)

    ROW: ClassVar[Row] = (
        "what", "needed", "done", "more", "low", "high", "at_pilot_spread", "unit", "confidence", "scope", "method",
    )  # fmt: skip

    @property
    def more(self) -> int | None:
        """How many are still missing."""
        return None if self.needed is None else max(0, self.needed - self.done)

    def __str__(self) -> str:
        if self.needed is not None:
            return f"{self.what}: {self.needed:,} {self.unit}, {self.more:,} more than measured{self.flag_note}"
        if self.low is None:
            return f"{self.what}: not estimable{self.flag_note}"
        if self.high is None:
            return f"{self.what}: at least {self.low:,} {self.unit}{self.flag_note}"
        return f"{self.what}: between {self.low:,} and {self.high:,} {self.unit}{self.flag_note}"


def runs_needed(
    values: Any,
    relative: float = 0.05,
    *,
    confidence: float = 0.95,
    assurance: float = 0.8,
    value: str | None = None,
    labels: dict[str, object] | None = None,
) -> Plan:
    """Runs for an interval of the typical run within ``relative`` (0.05 = ±5 %), by Student's t on logs.

    ``values``: one number a run of a pilot (array, Series or frame with the column ``value``). The spread used is its
    upper chi-squared bound at ``assurance``; ``low`` and ``high`` come from its bounds on both sides. Fewer than five
    runs give the range only (``few_clusters``), fewer than two nothing.
    """
    import numpy as np
    from scipy.stats import chi2

    if not 0 < relative < 10 or not 0.5 <= assurance < 1:
        raise ValueError(f"relative = {relative}, assurance = {assurance}: 0.05 is ±5 %, 0.8 is 80 %")
    found = run_values(values, value)
    runs = len(found.values)
    what = f"runs for ±{100 * relative:g} %"
    method = f"t on logs; spread at its upper {100 * assurance:g} % chi-squared bound"
    codes = list(refusals([values], value))
    if not codes and not runs:
        codes = ["no_values"]
    if not codes and found.values.min() <= 0:
        codes = ["not_positive"]
    if not codes and runs < 2:
        codes = ["no_replication"]
    spread = summary(np.log(found.values)).sd if not codes else math.nan
    if not codes and spread == 0:
        codes = ["constant"]
    if codes:
        return Plan(
            what=what,
            needed=None,
            done=runs,
            low=None,
            high=None,
            at_pilot_spread=None,
            unit="runs",
            confidence=confidence,
            scope="across_runs",
            method=method,
            codes=tuple(codes),
            labels=dict(labels or {}),
            run_ids=found.run_ids,
        )
    at, low, high = (
        _runs_for(spread * math.sqrt((runs - 1) / chi2.ppf(tail, runs - 1)) if tail else spread, relative, confidence)
        for tail in (None, assurance, 1 - assurance)
    )
    refused = runs < PILOT
    return Plan(
        what=what,
        needed=None if refused else high,
        done=runs,
        low=low,
        high=high,
        at_pilot_spread=at,
        unit="runs",
        confidence=confidence,
        scope="across_runs",
        method=method,
        codes=("few_clusters",) if refused else (),
        labels=dict(labels or {}),
        run_ids=found.run_ids,
    )


def _runs_for(spread: float, relative: float, confidence: float) -> int | None:
    """Smallest R with t * spread / sqrt(R) <= log(1 + relative); the left side falls with R, so it is bisected."""
    from scipy.special import stdtrit

    wanted = math.log1p(relative)

    def enough(runs: int) -> bool:
        return float(stdtrit(runs - 1, (1 + confidence) / 2)) * spread / math.sqrt(runs) <= wanted

    return _smallest(enough, 2)


def _smallest(enough: Callable[[int], bool], start: int) -> int | None:
    """The smallest number from ``start`` on that is enough, for a condition that stays true once it is."""
    low, high = start - 1, start
    while not enough(high):
        low, high = high, 2 * high
        if high > _MOST:
            return None
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high


def runs_for_spread(spread: float, relative: float = 0.05, confidence: float = 0.95) -> int:
    """Runs for an interval within ``relative`` where run values spread by ``spread`` (sd of their logarithms, known).

    0.1 is about 10 %. Nothing is added for not knowing the spread: from a pilot, use `runs_needed`.
    """
    if not 0 < spread < 10 or not 0 < relative < 10 or not 0 < confidence < 1:
        raise ValueError(f"spread = {spread}, relative = {relative}, confidence = {confidence}: 0.05 is 5 %")
    return _runs_for(spread, relative, confidence) or _MOST


def runs_to_decide(
    a: Any,
    b: Any,
    margin: float = 0.05,
    *,
    confidence: float = 0.95,
    assurance: float = 0.8,
    value: str | None = None,
    labels: dict[str, object] | None = None,
) -> Plan:
    """Runs on each side until two one-sided tests show that nothing beyond ``margin`` changed, where nothing did.

    ``a``, ``b``: one number a run (arrays, Series or frames with the column ``value``). ``assurance`` is both the power
    of the tests and the level of the upper bound of the spread, which is pooled over the two sides. With fewer than
    four degrees of freedom there is a range only (``few_clusters``), with none nothing (``no_replication``).
    Source: Schuirmann 1987, for a true ratio of 1, in the usual approximation by two quantiles of t.
    """
    import numpy as np
    from scipy.stats import chi2

    if not 0 < margin < 10 or not 0.5 <= assurance < 1:
        raise ValueError(f"margin = {margin}, assurance = {assurance}: 0.05 is 5 %, 0.8 is 80 %")
    sides = [run_values(each, value) for each in (a, b)]
    run_ids = tuple(run_id for side in sides for run_id in side.run_ids)
    found = [side.values for side in sides]
    done = min(len(each) for each in found)
    what = f"runs on each side to show no change beyond {100 * margin:g} %"
    method = f"two one-sided t tests on logs, power {100 * assurance:g} % at no change; spread as in runs_needed"
    codes = ["not_positive"] if any(len(each) and each.min() <= 0 for each in found) else []
    df = sum(max(0, len(each) - 1) for each in found)
    if not codes and not df:
        codes = ["no_replication" if done else "no_values"]
    square = 0.0
    if not codes:
        square = sum(summary(np.log(each)).sd ** 2 * (len(each) - 1) for each in found if len(each) > 1) / df
        codes = [] if square > 0 else ["constant"]
    if codes:
        return Plan(
            what=what,
            needed=None,
            done=done,
            low=None,
            high=None,
            at_pilot_spread=None,
            unit="runs on each side",
            confidence=confidence,
            scope="across_runs",
            method=method,
            codes=tuple(codes),
            labels=dict(labels or {}),
            run_ids=run_ids,
        )
    at, low, high = (
        _runs_for_no_change(math.sqrt(square * (df / chi2.ppf(tail, df) if tail else 1)), margin, confidence, assurance)
        for tail in (None, assurance, 1 - assurance)
    )
    refused = df < PILOT - 1
    return Plan(
        what=what,
        needed=None if refused else high,
        done=done,
        low=low,
        high=high,
        at_pilot_spread=at,
        unit="runs on each side",
        confidence=confidence,
        scope="across_runs",
        method=method,
        codes=("few_clusters",) if refused else (),
        labels=dict(labels or {}),
        run_ids=run_ids,
    )


def _runs_for_no_change(spread: float, margin: float, confidence: float, power: float) -> int | None:
    """Smallest R with (t_confidence + t_(1+power)/2) spread sqrt(2/R) <= log(1 + margin), 2R - 2 degrees of freedom."""
    from scipy.special import stdtrit

    wanted = math.log1p(margin)

    def enough(runs: int) -> bool:
        df = 2 * runs - 2
        quantiles = float(stdtrit(df, confidence)) + float(stdtrit(df, (1 + power) / 2))
        return quantiles * spread * math.sqrt(2 / runs) <= wanted

    return _smallest(enough, 2)


def plan(
    runs: pd.DataFrame,
    relative: float = 0.05,
    *,
    confidence: float = 0.95,
    assurance: float = 0.8,
    value: str | None = None,
) -> Results[Plan]:
    """`runs_needed` for each path and method of a frame of `azlatency.studies.runs`, labels path and method.

    ``value``: the column with one number a run; by default the median, else the mean, else the throughput of a method.
    """
    plans = []
    for method, own in runs.groupby("method", sort=False) if len(runs) else ():
        column = value_column(own, value)
        for path, group in own[own[column].notna()].groupby("path", sort=False):
            labels = {"path": path, "method": method, "value": column}
            plans.append(runs_needed(group, relative, confidence=confidence, assurance=assurance,
                                     value=column, labels=labels))  # fmt: skip
    return Results(plans)


#: Relative half-widths for which curves are drawn.
PRECISIONS = (0.01, 0.02, 0.03, 0.05, 0.1, 0.2, 0.3, 0.5)


def precision_curves(
    runs: pd.DataFrame,
    plans: Iterable[Plan],
    relatives: Sequence[float] = PRECISIONS,
    *,
    confidence: float = 0.95,
    assurance: float = 0.8,
) -> list[list[Plan]]:
    """For each method the path that needs the most of its ``plans``: its `runs_needed` at each precision.

    ``runs``: the frame that ``plan`` got. Methods without a path of two runs that differ have no curve.
    """
    worst: dict[object, Plan] = {}
    for each in plans:
        found = worst.get(each.labels["method"])
        if each.at_pilot_spread and (found is None or each.at_pilot_spread > (found.at_pilot_spread or 0)):
            worst[each.labels["method"]] = each
    curves = []
    for plan in worst.values():
        own = runs[(runs["path"] == plan.labels["path"]) & (runs["method"] == plan.labels["method"])]
        values = own[plan.labels["value"]].dropna()
        curves.append(
            [
                runs_needed(values, relative, confidence=confidence, assurance=assurance,
                            labels={**plan.labels, "relative": relative})
                for relative in relatives
            ]
        )  # fmt: skip
    return curves


def confirm_by_path(runs: pd.DataFrame, relative: float = 0.05, *, confidence: float = 0.95) -> Results[Plan]:
    """`confirm` for each path and method of a frame of `azlatency.studies.runs`, labels path and method."""
    plans = []
    for method, own in runs.groupby("method", sort=False) if len(runs) else ():
        column = value_column(own)
        for path, group in own[own[column].notna()].groupby("path", sort=False):
            plan = confirm(group, relative, confidence=confidence, value=column)
            plans.append(replace(plan, labels={"path": path, "method": method}))
    return Results(plans)


# --- exact CONFIRM


class Bounds(NamedTuple):
    """Expected ends of the median's interval over all subsets of ``size`` runs."""

    size: int
    low: float
    high: float


def expected_bounds(
    values: FloatArray,
    size: int,
    confidence: float = 0.95,
    ranks: Callable[[int, float, float], tuple[int, int]] = order_statistic_ranks,
) -> Bounds:
    """Mean over all subsets without replacement of the order-statistic interval of the median, in closed form.

    E[X_(k:s)] = sum over j of x_(j) C(j-1, k-1) C(N-j, s-k) / C(N, s). An end without a rank is infinite.
    """
    import numpy as np
    from scipy.special import gammaln

    ordered = np.sort(values)
    total = len(ordered)
    low, high = ranks(size, 0.5, confidence)

    def log_choose(n: FloatArray, k: int) -> FloatArray:
        inside = (k >= 0) & (n >= k)
        safe = np.where(inside, n, k)
        logs = gammaln(safe + 1.0) - gammaln(k + 1.0) - gammaln(safe - k + 1.0)
        return np.asarray(np.where(inside, logs, -np.inf))

    def mean_of(rank: int) -> float:
        if not 1 <= rank <= size:
            return -math.inf if rank < 1 else math.inf
        j = np.arange(1.0, total + 1)
        weights = np.exp(
            log_choose(j - 1, rank - 1)
            + log_choose(total - j, size - rank)
            - log_choose(np.array([float(total)]), size)
        )
        return float((weights * ordered).sum())

    return Bounds(size, mean_of(low), mean_of(high))


def confirm(
    values: Any,
    relative: float = 0.05,
    *,
    confidence: float = 0.95,
    smallest: int = 10,
    value: str | None = None,
    ranks: Callable[[int, float, float], tuple[int, int]] = order_statistic_ranks,
) -> Plan:
    """Runs for a median within ``relative``, from many runs that exist: CONFIRM without its Monte Carlo noise.

    The smallest s >= ``smallest`` at which the expected interval of s of these runs lies within ``relative`` of their
    median; ``needed`` is None where all of them are not enough. Needs more than ``smallest`` runs.
    """
    import numpy as np

    found = run_values(values, value)
    runs = len(found.values)
    what, method = f"runs for a median within ±{100 * relative:g} %", "exact CONFIRM (closed form over all subsets)"
    codes = list(refusals([values], value))
    if not codes and runs <= smallest:
        codes = ["few_clusters"] if runs else ["no_values"]
    if not codes and found.values.min() <= 0:
        codes = ["not_positive"]
    plan = Plan(
        what=what, needed=None, done=runs, low=None, high=None, at_pilot_spread=None, unit="runs",
        confidence=confidence, scope="across_runs", method=method, codes=tuple(codes), run_ids=found.run_ids,
    )  # fmt: skip
    if codes:
        return plan
    median = float(np.median(found.values))
    for size in range(smallest, runs + 1):
        _, low, high = expected_bounds(found.values, size, confidence, ranks)
        if max(median - low, high - median) <= relative * median:
            return replace(plan, needed=size, low=size, high=size)
    return replace(plan, low=runs + 1)


# --- what a design can reach at all


def smallest_n(p: float, confidence: float = 0.95, *, sides: Literal["two", "upper", "range"] = "two") -> int:
    """Fewest independent observations with which a distribution-free interval of the p-quantile exists.

    ``two``: an equal-tailed one with both ends; ``upper``: an upper bound; ``range``: from smallest to largest value
    (Thompson). p99.9 at 95 %: 3,688 / 2,995 / 2,995. With dependence these are *effective* observations.
    """
    if not 0 < p < 1 or not 0 < confidence < 1:
        raise ValueError(f"p = {p}, confidence = {confidence}: between 0 and 1")
    alpha = 1 - confidence
    slack = 1 + 1e-12
    if sides == "upper":
        return _smallest(lambda n: p**n <= alpha * slack, 1) or _MOST
    if sides == "two":
        return _smallest(lambda n: max(p, 1 - p) ** n <= alpha / 2 * slack, 1) or _MOST
    return _smallest(lambda n: p**n + (1 - p) ** n <= alpha * slack, 1) or _MOST


def rounds_needed(tests: int = 1, confidence: float = 0.95, *, paired: bool = True) -> int:
    """Rounds (or runs on each side, ``paired=False``) before *any* data can reach the level in a family of tests.

    Bonferroni on the smallest attainable p, which is Holm's first step: 7 rounds or 5 against 5 runs for the three
    pairs of three zones. That is when a test can begin to decide, not when it will: plan one round more.
    """
    if tests < 1:
        raise ValueError(f"tests = {tests}: at least one")
    smallest = exact.attainable_paired if paired else (lambda runs: exact.attainable_unpaired(runs, runs))
    return _smallest(lambda runs: smallest(runs) * tests < 1 - confidence, 2) or _MOST


class PercentileSize(NamedTuple):
    """`smallest_n` of a percentile for each kind of bound, and how many of ``runs`` runs have as many for ``two``."""

    q: float
    two: int
    upper: int
    range: int
    enough: int
    runs: int
    run_ids: tuple[str, ...] = ()


def percentile_sizes(
    sizes: Iterable[Any] = (),
    confidence: float = 0.95,
    levels: Sequence[float] = (0.5, 0.9, 0.95, 0.99, 0.999, 0.9999, 0.99999, 0.999999),
) -> list[PercentileSize]:
    """`smallest_n` for each level; ``sizes``: observations of each run that exists (unknown ones are left out)."""
    numbers = floats(sizes)
    known = [float(number) for number in numbers if math.isfinite(number)]
    ids = [run_id for run_id, number in zip(run_ids_of(sizes), numbers, strict=False) if math.isfinite(number)]
    found = []
    for q in levels:
        two, upper, span = (smallest_n(q, confidence, sides=sides) for sides in ("two", "upper", "range"))
        found.append(PercentileSize(q, two, upper, span, sum(each >= two for each in known), len(known), tuple(ids)))
    return found


class ZoneRounds(NamedTuple):
    """`rounds_needed` before the pairs of some zones can be told apart: in rounds, and unpaired on each side."""

    zones: int
    pairs: int
    rounds: int
    unpaired: int


def rounds_by_zones(zones: Iterable[int] = (2, 3, 4, 5, 6), confidence: float = 0.95) -> list[ZoneRounds]:
    """`rounds_needed` for all pairs of so many zones."""
    found = []
    for count in zones:
        pairs = count * (count - 1) // 2
        paired, unpaired = (rounds_needed(pairs, confidence, paired=each) for each in (True, False))
        found.append(ZoneRounds(count, pairs, paired, unpaired))
    return found


# --- stopping


class Stop(NamedTuple):
    """Whether to stop, the relative half-width now (None without an interval), and the reason in words."""

    stop: bool
    half_width: float | None
    reason: str


def may_stop(
    values: Iterable[float], relative: float = 0.05, *, confidence: float = 0.95, floor: int = STOP_FLOOR
) -> Stop:
    """May one stop measuring? Only from ``floor`` runs on, when the interval is narrow and no new mode has come up.

    A new mode: a value of the last third beyond all earlier ones by more than ``relative``. ``values`` in the order of
    measuring, positive.
    """
    import numpy as np
    from scipy.stats import t as student

    logs = np.log(np.asarray([float(each) for each in values if each > 0]))
    runs, _, spread = summary(logs)
    if runs < 2:
        return Stop(False, None, "fewer than two runs")
    half = math.expm1(float(student.ppf((1 + confidence) / 2, runs - 1)) * spread / math.sqrt(runs))
    if runs < floor:
        return Stop(False, half, f"fewer than {floor} runs: a rare slow mode may not have been seen yet")
    if half > relative:
        return Stop(False, half, f"the interval is ±{100 * half:.3g} %")
    earlier, last = logs[: 2 * runs // 3], logs[2 * runs // 3 :]
    slack = math.log1p(relative)
    if last.max() > earlier.max() + slack or last.min() < earlier.min() - slack:
        return Stop(False, half, "the last third brought values that were not seen before")
    return Stop(True, half, f"±{100 * half:.3g} % from {runs} runs")
