"""How the round trips of each run are distributed, and where two distributions of one path differ.

Shapes are counts on a logarithmic axis, not smoothed: a tool that prints whole microseconds shows its steps, and two
modes that lie close stay two. What is said of two runs is said of these two connections (``within_run``).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from azlatency.stats.across_runs.comparison import shift_function
from azlatency.stats.result import Comparison, Computed, Estimate
from azlatency.stats.within_run.quantiles import quantiles
from azlatency.studies.samples import numbered_by_run, order_statistic, round_trips

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd

    from azlatency.studies.store import Study

#: Fewest samples of a run with a shape, bins of the axis, and the share of packets that the axis leaves to the text.
FEWEST, BINS, BEYOND = 100, 160, 0.002
#: Levels at which two runs are held against each other: the deciles, and the tail as far as a short run resolves it.
LEVELS = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99)
#: Levels of a curve that is drawn from samples: eight a nine, and the median.
CURVE = tuple(sorted([0.1, 0.5, *(round(1 - 10 ** (-step / 8), 12) for step in range(1, 49))]))


@dataclass(frozen=True, slots=True)
class RunShape:
    """The histogram of one run's answered round trips on an axis that all runs share.

    ``edges``: (BINS + 1,) bounds in ns, evenly spaced in logarithms; ``counts``: (BINS,); ``beyond``: answered packets
    right of the last edge. ``n`` counts the answered, ``lost`` those without answer. ``median`` and ``p99`` in ns are
    observations of the run; a lost packet counts as infinitely late.
    """

    run_id: str
    path: str
    method: str
    n: int
    lost: int
    edges: np.ndarray
    counts: np.ndarray
    beyond: int
    median: float
    p99: float


@dataclass(frozen=True, slots=True)
class ShiftFunction(Computed):
    """Quantile by quantile, one run over another of the same path and method: `azlatency.shift_function`."""

    path: str
    method: str
    first: str
    last: str
    sizes: tuple[int, int]
    levels: tuple[Comparison, ...]


def shapes_of_runs(study: Study, runs: pd.DataFrame) -> list[RunShape]:
    """The shape of every run of ``runs`` (`azlatency.studies.runs`) with at least 100 answered samples, in their order.

    The axis reaches from the smallest positive value of all runs to the largest of their 99.8th percentiles;
    round trips of 0 (a clock that was set back) stand in its first bin.
    """
    import numpy as np

    values = {run_id: each for run_id, each in _values(study, runs).items() if np.isfinite(each).sum() >= FEWEST}
    if not values:
        return []
    ordered = {run_id: np.sort(each) for run_id, each in values.items()}
    low = min((float(each[each > 0][0]) for each in ordered.values() if (each > 0).any()), default=1.0)
    high = max(low, *(order_statistic(each[np.isfinite(each)], 1 - BEYOND) for each in ordered.values()))
    # A constant run still has a bin to stand in.
    edges = np.geomspace(low / 1.02, high * 1.02, BINS + 1)
    return [_shape(run_id, runs.loc[run_id], each, edges) for run_id, each in ordered.items()]


def _shape(run_id: str, run: pd.Series, ordered: np.ndarray, edges: np.ndarray) -> RunShape:
    import numpy as np

    answered = ordered[np.isfinite(ordered)]
    places = np.searchsorted(answered, edges)
    places[0] = 0
    return RunShape(
        run_id, str(run["path"]), str(run["method"]), len(answered), len(ordered) - len(answered), edges,
        np.diff(places), int(len(answered) - places[-1]), order_statistic(ordered, 0.5), order_statistic(ordered, 0.99),
    )  # fmt: skip


def _values(study: Study, runs: pd.DataFrame) -> dict[str, np.ndarray]:
    """Round trips in ns in the order of sending, ``inf`` where there was no answer, by run_id in the runs' order."""
    return {run_id: round_trips(own) for run_id, own in numbered_by_run(study, runs).items()}


def medians(estimates: Sequence[Estimate]) -> list[Estimate]:
    """Of percentiles (label q) the medians; of a run that has both a printed and a sampled one, the first."""
    found: dict[object, Estimate] = {}
    for each in estimates:
        if each.labels["q"] == 0.5:
            found.setdefault(each.labels["run_id"], each)
    return list(found.values())


def shift_functions(
    study: Study, runs: pd.DataFrame, *, margin: float | str = "5%", confidence: float = 0.95
) -> list[ShiftFunction]:
    """For each path and method with samples of several rounds: the last round's run over the first's, level by level.

    Of a path measured several times in a round: the first run of the first round, the last of the last.
    """
    if "round" not in runs.columns:
        return []
    known = runs[runs["round"].notna()]
    values = {run_id: each for run_id, each in _values(study, known).items() if len(each) >= FEWEST}
    found = []
    for (path, method), own in known[known.index.isin(values)].groupby(["path", "method"], sort=False):
        ends: Sequence[pd.Series] = [own.sort_values("round", kind="stable").iloc[place] for place in (0, -1)]
        before, after = (values[str(each.name)] for each in ends)
        if ends[0]["round"] == ends[1]["round"]:
            continue
        levels = shift_function(
            quantiles(after, LEVELS, confidence), quantiles(before, LEVELS, confidence), margin=margin
        )
        names = [f"round {each['round']}" for each in ends]
        found.append(
            ShiftFunction(
                path=str(path),
                method=str(method),
                first=names[0],
                last=names[1],
                sizes=(len(before), len(after)),
                levels=tuple(levels),
                run_ids=(str(ends[0].name), str(ends[1].name)),
            )
        )
    return found
