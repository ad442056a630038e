"""How many runs are needed for a precision or a decision, before measuring or after a pilot.

A plan promises the interval that the report prints: that of `typical_run` for a precision, that of `compare` for a
decision, each reached in 80 % of cases if the logarithms of the run values are normal and the runs independent. The
spread of a pilot is itself uncertain, so a forecast uses its upper bound; and the runs of a pilot may lie on two
levels, so from five runs on the interval must also be short enough among the runs of the pilot. Fewer than five runs
allow only a range. A plan never says that nothing is missing while the interval of the pilot is too wide.

Sources: Hoefler & Belli, SC 2015, rule 5; Schuirmann 1987; Lehmann, Nonparametrics (1975), section 2.4 (efficiency of
the Hodges-Lehmann estimate); Shamos 1976 (spread from the distances of all pairs).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from scipy.special import betaincinv, chdtri, gammaincinv, stdtrit

from azlatency.stats.across_runs.attainable import MOST, smallest_number
from azlatency.stats.across_runs.log_ratio import of_groups
from azlatency.stats.across_runs.main_method import measured_runs, rank_methods
from azlatency.stats.across_runs.run_order import WIDENING, run_order
from azlatency.stats.across_runs.run_values import (
    RunData,
    RunValues,
    check_columns,
    parse_fraction,
    refusals,
    run_values,
    value_column,
)
from azlatency.stats.across_runs.two_groups import summary
from azlatency.stats.across_runs.typical_run import FEWEST_FOR_RANKS, median_ends, typical_run
from azlatency.stats.arrays import FloatArray
from azlatency.stats.result import FEASIBLE
from azlatency.stats.rows import number
from azlatency.stats.within_run.order_statistics import order_statistic_ranks
from azlatency.studies.format import percent
from azlatency.studies.runs.groups import grouped

#: With fewer runs than this a forecast gives only a range.
PILOT = 5
#: Share of cases in which as many runs as forecast are enough, where nobody chose another one.
_ASSURANCE = 0.8
#: Relative half-widths for which curves are drawn.
PRECISIONS = (0.01, 0.02, 0.03, 0.05, 0.1, 0.2, 0.3, 0.5)
#: Columns of a plan, after those that identify it.
_COLUMNS = [
    "what", "needed", "low", "high", "done", "more", "at_pilot_spread", "precision", "unit", "confidence", "scope",
    "statistic", "flags", "run_ids",
]  # fmt: skip
_KEYS = ["path", "method", "value"]


class Plan(NamedTuple):
    """How many runs exist and how many are needed, with the bounds that follow from those of the pilot's spread.

    ``needed`` is ``None`` where it is not estimable, and above `FEASIBLE` runs (``out_of_reach``).
    """

    done: int
    needed: int | None = None
    low: int | None = None
    high: int | None = None
    at_pilot_spread: int | None = None
    flags: tuple[str, ...] = ()

    @property
    def more(self) -> int | None:
        """How many are still missing; ``None`` if ``needed`` is unknown."""
        return None if self.needed is None else max(0, self.needed - self.done)


def runs_needed(
    values: RunData,
    relative: float | str = 0.05,
    *,
    confidence: float = 0.95,
    assurance: float = _ASSURANCE,
    value: str | None = None,
) -> pd.DataFrame:
    """Return the number of runs for an interval of the typical run within ``relative``, as one row of `azlatency.plan`.

    ``values``: the pilot, one positive number per run, or one row per run (the column ``value``).

    The interval is that of `azlatency.summarize`, whose ends lie within ``relative`` of the typical run in a share
    ``assurance`` of cases for normal logarithms. The spread is the upper chi-squared bound of the pilot's at
    ``assurance``; ``low`` and ``high`` come from its bounds on both sides. It is the median distance of two runs,
    in which a slow run does not count by its size. From five runs on, the interval must also be short enough among
    the runs of the pilot, where its ends are expected (of fewer than six runs, among samples of it); and more runs
    are needed than there are while the interval of the pilot is too wide. A pilot that drifts is flagged
    (``dependent_runs``): the plan takes its change for spread.

    >>> import azlatency as az
    >>> print(az.say(runs_needed([450e3, 440e3, 460e3, 455e3, 462e3, 448e3], 0.01)))
    runs for ±1 %: 154 runs, 148 more than measured
    """
    return pd.DataFrame([_row(values, parse_fraction(relative), confidence, assurance, value)], columns=_COLUMNS)


def _row(
    values: RunData, relative: float, confidence: float, assurance: float, value: str | None = None
) -> dict[str, Any]:
    if not 0 < relative < 10 or not 0.5 <= assurance < 1:
        raise ValueError(f"relative = {relative}, assurance = {assurance}: 0.05 is ±5 %, 0.8 is 80 %")
    pilot = run_values(values, value)
    found = _for_precision(pilot, refusals([values], value), relative, confidence, assurance)
    drifts = found.low is not None and pilot.in_order and run_order(pilot.values).drifts
    return {
        "what": f"runs for ±{percent(relative)}",
        **{name: number(getattr(found, name)) for name in ("needed", "low", "high", "more", "at_pilot_spread")},
        "done": found.done,
        "precision": relative,
        "unit": "runs",
        "confidence": confidence,
        "scope": "across_runs",
        "statistic": f"interval of the median run on logs; spread at its upper {percent(assurance)} chi-squared bound",
        "flags": " ".join([*found.flags, *["dependent_runs"] * drifts]),
        "run_ids": " ".join(pilot.run_ids),
    }


def _for_precision(
    pilot: RunValues, refused: tuple[str, ...], relative: float, confidence: float, assurance: float
) -> Plan:
    """Return the number of runs for an interval of the typical run within ``relative``."""
    runs = len(pilot.values)
    flags = list(refused)
    if not flags and not runs:
        flags = ["no_values"]
    if not flags and pilot.values.min() <= 0:
        flags = ["not_positive"]
    if not flags and runs < 2:
        flags = ["no_replication"]
    spread = _spread(np.log(pilot.values)) if not flags else math.nan
    if not flags and spread == 0:
        flags = ["constant"]
    if flags:
        return Plan(runs, flags=tuple(flags))
    logs, limit = np.log(pilot.values), math.log1p(relative)
    typical = typical_run(pilot, confidence=confidence)
    middle, low, high = (typical[name] for name in ("estimate", "low", "high"))
    # NaN, the ends of no interval, lie within nothing.
    is_within = high <= middle * (1 + relative) and low >= middle / (1 + relative)

    def needed(sd: float) -> int | None:
        return _runs_for(sd, relative, confidence, assurance)

    plan = _forecast(runs, spread, runs - 1, assurance, needed, 0 if is_within else runs + 1)
    if plan.needed is None or plan.flags:
        return plan

    def enough(many: int) -> bool:
        return _reach_among(logs, many, confidence, assurance) <= limit

    among = smallest_number(enough, plan.needed, SEARCHED)
    is_feasible = among is not None and among <= FEASIBLE
    return plan._replace(
        needed=among if is_feasible else None, high=among, flags=() if is_feasible else ("out_of_reach",)
    )


def _reach_among(logs: FloatArray, runs: int, confidence: float, assurance: float) -> float:
    """Return the longer side of the interval of ``runs`` runs like those of a pilot, where its ends are expected."""
    rank, _ = order_statistic_ranks(runs, 0.5, confidence)
    if rank < 1:  # Student's interval, which a slow run lengthens by its size
        drawn = np.random.Generator(np.random.PCG64(runs)).choice(logs, (_SAMPLES, runs)).std(axis=1, ddof=1)
        quantile = float(stdtrit(runs - 1, (1 + confidence) / 2))
        return WIDENING * quantile * float(np.quantile(drawn, assurance)) / math.sqrt(runs)
    share = float(betaincinv(rank, runs - rank + 1, 1 - assurance))
    low, middle, high = np.quantile(logs, (share, 0.5, 1 - share), method="hazen")
    return WIDENING * float(max(high - middle, middle - low))


def _forecast(
    done: int, spread: float, df: int, assurance: float, needed: Callable[[float], int | None], least: int = 0
) -> Plan:
    """Return the numbers needed at a pilot's spread and at its chi-squared bounds, at least ``least``."""
    bounds = (spread * math.sqrt(df / (2 * gammaincinv(df / 2, tail))) for tail in (assurance, 1 - assurance))
    low, high, middle = (None if runs is None else max(runs, least) for runs in map(needed, (*bounds, spread)))
    plan = Plan(done, low=low, high=high, at_pilot_spread=middle)
    return plan._replace(flags=("small_pilot",)) if df < PILOT - 1 else plan._replace(needed=high)


def _runs_for(spread: float, relative: float, confidence: float, assurance: float) -> int | None:
    """Return the smallest number of runs whose interval lies within ``relative`` in a share ``assurance`` of cases."""
    limit = math.log1p(relative) / spread
    return smallest_number(lambda runs: _reach(runs, confidence, assurance) <= limit, 2)


#: Simulated samples for a plan, and the number of runs from which the interval shrinks with the root of the number.
_SAMPLES, _MANY = 1_000, 150


@lru_cache(maxsize=1024)
def _reach(runs: int, confidence: float, assurance: float) -> float:
    """Return the quantile ``assurance`` of the longer side of the interval of the median run, for a spread of 1."""
    if runs > _MANY:
        return _reach(_MANY, confidence, assurance) * math.sqrt(_MANY / runs)
    if runs < FEWEST_FOR_RANKS:
        spread = math.sqrt(float(chdtri(runs - 1, 1 - assurance)) / (runs - 1))
        return WIDENING * float(stdtrit(runs - 1, (1 + confidence) / 2)) * spread / math.sqrt(runs)
    samples = np.random.Generator(np.random.PCG64(runs)).standard_normal((_SAMPLES, runs))
    ends = median_ends(samples, confidence)
    if ends is None:
        return math.inf
    middle = np.median(samples, axis=1)
    return WIDENING * float(np.quantile(np.maximum(middle - ends[0], ends[1] - middle), assurance))


def runs_for_spread(spread: float, relative: float) -> int:
    """Return the number of runs for an interval within ``relative`` at a known spread, to which nothing is added."""
    if not 0 < spread < 10 or not 0 < relative < 10:
        raise ValueError(f"spread = {spread}, relative = {relative}: 0.05 is 5 %")
    return _runs_for(spread, relative, 0.95, _ASSURANCE) or MOST


def runs_to_reach(runs: RunValues, relative: float, confidence: float) -> int | None:
    """Return the number of runs for an interval within ``relative`` at the spread of runs that vary; else ``None``."""
    spread = max(_spread(np.log(runs.values)), math.sqrt(runs.rounding_variance))
    return _runs_for(spread, relative, confidence, 0.5) if spread > 0 and relative > 0 else None


def runs_to_decide(a: RunData, b: RunData, margin: float, *, confidence: float = 0.95) -> Plan:
    """Return the number of runs on each side that show equivalence if nothing changed.

    Two one-sided tests (Schuirmann 1987) at a true ratio of 1, in the usual approximation by two quantiles of t, with
    the spread pooled over both sides, as in `runs_needed`; more than there are while the interval is wider than the
    margin.
    """
    if not 0 < margin < 10:
        raise ValueError(f"margin = {margin}: 0.05 is 5 %")
    sides = [run_values(side) for side in (a, b)]
    groups = [side.values for side in sides]
    done = min(map(len, groups))
    flags = ["not_positive"] if any(len(group) and group.min() <= 0 for group in groups) else []
    df = sum(max(0, len(group) - 1) for group in groups)
    if not flags and not df:
        flags = ["no_replication" if done else "no_values"]
    variance = 0.0
    if not flags:
        variance = sum(_spread(np.log(group)) ** 2 * (len(group) - 1) for group in groups if len(group) > 1) / df
        flags = [] if variance > 0 else ["constant"]
    if flags:
        return Plan(done, flags=tuple(flags))

    def needed(sd: float) -> int | None:
        return _runs_for_no_change(sd, margin, confidence, _ASSURANCE)

    limit = math.log1p(margin)
    ratio = of_groups(sides[0], sides[1], limit, confidence) if done > 1 else None
    is_wide = ratio is None or ratio.inner is None or max(abs(end - ratio.estimate) for end in ratio.inner) > limit
    return _forecast(done, math.sqrt(variance), df, _ASSURANCE, needed, done + 1 if is_wide else 0)


def _spread(logs: FloatArray) -> float:
    """Return the standard deviation that ranks see: from three runs on, a distance of two runs (Shamos 1976).

    A slow run counts as one run, not by its size: the median distance is one of two ordinary runs, from five runs on;
    of three or four runs, it is the longest distance without one of them. The chi-squared bound of the standard
    deviation lies above the true one in at least the promised share of cases for 5 to 60 normal values (simulated).
    """
    if len(logs) < 3:
        return summary(logs).sd
    thinned = np.sort(logs)[:: len(logs) // _MOST_IN_PAIRS + 1]
    distances = np.concatenate([thinned[place:] - start for place, start in enumerate(thinned, 1)])
    distance = float(np.sort(distances)[2 * len(logs) - 6]) if len(logs) < PILOT else float(np.median(distances))
    return distance / _DISTANCES.get(len(logs), _DISTANCE) or summary(logs).sd


#: Median distance of two normal values of variance 1, the median of the distance that few runs use, and the most runs
#: that are set in pairs.
_DISTANCE, _DISTANCES, _MOST_IN_PAIRS = 0.9539, {3: 0.362, 4: 0.814}, 2_000
#: Most runs that are tried for the runs of a pilot.
SEARCHED = 5_000
#: Efficiency of the Hodges-Lehmann estimate for normal values: 3 / pi.
_EFFICIENCY = 3 / math.pi


def _runs_for_no_change(spread: float, margin: float, confidence: float, power: float) -> int | None:
    """Return the smallest R with (c t_confidence + t_(1+power)/2) spread sqrt(2/R) <= log(1 + margin), df = 2R - 2.

    c is the factor by which `compare` widens every interval of runs. Its price for the choice of the shorter of two
    is left out: for normal values the shorter one is about as much better than ranks, whose efficiency is taken here
    (4 to 22 runs planned for 80 % reach 83 to 94 % of 600 pairs).
    """
    limit = math.log1p(margin)

    def enough(runs: int) -> bool:
        df = 2 * runs - 2
        quantiles = WIDENING * float(stdtrit(df, confidence)) + float(stdtrit(df, (1 + power) / 2))
        return quantiles * spread * math.sqrt(2 / runs / _EFFICIENCY) <= limit

    return smallest_number(enough, 2)


def plan(
    runs: pd.DataFrame,
    relative: float | str = 0.05,
    *,
    confidence: float = 0.95,
    assurance: float = _ASSURANCE,
    value: str | None = None,
) -> pd.DataFrame:
    """Return the number of runs that each path and method needs for an interval of the typical run within ``relative``.

    Parameters
    ----------
    runs : DataFrame
        Pilot: one row per run, as returned by `azlatency.latency` or `azlatency.throughput`.
    relative : float or str
        Relative half-width to reach; ``0.05`` or ``"5%"`` is ±5 %.
    confidence : float
        Level of the intervals, between 0 and 1.
    assurance : float
        Level of the upper bound on the spread, from 0.5 to below 1.
    value : str, optional
        Column with one number per run; by default the median, else the mean, else the throughput of a method.

    Returns
    -------
    DataFrame
        One row per path and method: the column of the runs (``value``), the runs that are ``needed`` in all, that are
        ``done``, and ``more``. Fewer than five runs allow only the range ``low`` to ``high`` (``small_pilot``), one run
        nothing (``no_replication``). Above 200 runs, ``needed`` is missing (``out_of_reach``).

    Raises
    ------
    ValueError
        If ``relative`` or ``assurance`` is out of range.

    Notes
    -----
    See `azlatency.stats.runs_needed`.

    Examples
    --------
    >>> import azlatency as az
    >>> import pandas as pd
    >>> pilot = pd.DataFrame({"path": "a → b", "method": "ping", "median_ns": [450e3, 440e3, 460e3, 455e3, 448e3]})
    >>> print(az.say(plan(pilot, "1%")))
    a → b, ping, runs for ±1 %: 145 runs, 140 more than measured
    """
    check_columns(runs, "path", "method")
    relative = parse_fraction(relative)
    rows = []
    for method, of_method in grouped(runs, "method") if len(runs) else ():
        column = value_column(of_method, value)
        for path, group in grouped(of_method[of_method[column].notna()], "path"):
            row = _row(group, relative, confidence, assurance, column)
            rows.append({"path": path, "method": method, "value": column, **row})
    return pd.DataFrame(rows, columns=[*_KEYS, *_COLUMNS])


def precision_curves(
    runs: pd.DataFrame, plans: pd.DataFrame, *, confidence: float = 0.95, assurance: float = _ASSURANCE
) -> pd.DataFrame:
    """Return the number of runs at each precision, for the path of each method that needs the most; see `runs_needed`.

    ``plans``: what `azlatency.plan` returns for ``runs``. One row per method and ``precision``, first the method that
    says most about all paths. A method whose paths have a single run each, or no spread, has no row.
    """
    check_columns(plans, *_KEYS, "at_pilot_spread")
    most = plans[plans["at_pilot_spread"].notna()].sort_values("at_pilot_spread", ascending=False, kind="stable")
    ranks = rank_methods(measured_runs(runs))
    most = most.drop_duplicates("method").sort_values("method", key=lambda names: names.map(ranks.index))
    rows = []
    for key in most[_KEYS].to_dict("records"):
        of_path = runs[(runs["path"] == key["path"]) & (runs["method"] == key["method"])]
        values = of_path[key["value"]].dropna()
        rows += [{**key, **_row(values, precision, confidence, assurance)} for precision in PRECISIONS]
    return pd.DataFrame(rows, columns=[*_KEYS, *_COLUMNS])
