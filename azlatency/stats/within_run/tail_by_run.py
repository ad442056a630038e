"""The tails of a whole study: every run with enough samples, and what a printed table says of a limit."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from azlatency.stats.result import Estimate
from azlatency.stats.within_run.exceedance import exceedance, table_exceedance
from azlatency.stats.within_run.quantiles import quantiles
from azlatency.stats.within_run.tail import ClosedLoop, TailFit, closed_loop, fan_out, fit_tail, return_level
from azlatency.studies.samples import numbered_by_run, round_trips

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd

    from azlatency.studies.store import Study

#: Fewest samples of a run whose tail is looked at, most points of its curve, and the percentiles of the page.
FEWEST = 1000
POINTS = 250
LEVELS = (0.5, 0.99, 0.999, 0.9999, 0.999999)


@dataclass(frozen=True, slots=True)
class RunTail:
    """The tail of one run: round trips in ns in the order of sending (``inf``: lost) and what is known of it.

    ``own_level``: what the fit says is passed once in the run's length, to hold against the largest value seen;
    passed once in a million; both ``None`` where the fit is refused. ``loop``: of closed loops only.
    ``curve``: at most 250 round trips in ns, falling, and the share of packets at least as slow, evenly spaced in the
    logarithm of that share.
    """

    run_id: str
    path: str
    method: str
    rtt: np.ndarray
    quantiles: tuple[Estimate, ...]
    fit: TailFit
    own_level: Estimate | None
    million: Estimate | None
    slower: Estimate
    slowest: Estimate
    loop: ClosedLoop | None
    curve: tuple[np.ndarray, np.ndarray]

    @property
    def largest(self) -> float:
        """The largest answered round trip in ns."""
        import numpy as np

        return float(self.rtt[np.isfinite(self.rtt)].max())


def tails_of_runs(
    study: Study, runs: pd.DataFrame, *, limit: float, calls: int = 100, confidence: float = 0.95
) -> list[RunTail]:
    """Every run of ``runs`` (`studies.runs`) with at least 1,000 samples; ``limit`` in ns; ``calls`` at once."""
    import numpy as np

    found = []
    for run_id, own in numbered_by_run(study, runs).items():
        run, rtt = runs.loc[run_id], round_trips(own)
        if len(rtt) < FEWEST or not np.isfinite(rtt).any():
            continue
        fit = fit_tail(rtt, confidence=confidence)
        closed = str(run["closed_loop"]) == "True"
        found.append(
            RunTail(
                run_id,
                str(run["path"]),
                str(run["method"]),
                rtt,
                tuple(quantiles(rtt, LEVELS, confidence)),
                fit,
                None if fit.refused else return_level(fit, float(len(rtt)), confidence=confidence),
                None if fit.refused else return_level(fit, 1e6, confidence=confidence),
                exceedance(rtt, limit, confidence=confidence),
                fan_out(rtt, calls, confidence=confidence),
                closed_loop(rtt, (0.5, 0.99), confidence=confidence) if closed else None,
                share_slower(rtt),
            )
        )
    return found


def share_slower(rtt: np.ndarray, most: int = POINTS) -> tuple[np.ndarray, np.ndarray]:
    """At most ``most`` answered round trips, falling, and the share of all packets (n,) at least as slow."""
    import numpy as np

    n = len(rtt)
    ranks = np.unique(np.geomspace(1, n, most).astype("int64"))
    values = np.sort(rtt)[::-1][ranks - 1]
    answered = np.isfinite(values)
    return values[answered], ranks[answered] / n


def fitted_shares(fit: TailFit, values: Sequence[float]) -> list[float]:
    """Clusters above each of ``values`` (beyond the threshold) a packet, under the fitted tail; empty where refused.

    Late packets come in clusters and the law is that of their maxima: each cluster counts once, as in `return_level`.
    """
    if fit.refused or fit.threshold is None or fit.scale is None or fit.shape.estimate is None:
        return []
    shape, scale, rate = fit.shape.estimate, fit.scale, fit.zeta * fit.theta
    excesses = [max(each - fit.threshold, 0.0) / scale for each in values]
    if abs(shape) < 1e-9:
        return [rate * math.exp(-each) for each in excesses]
    return [rate * max(1 + shape * each, 0.0) ** (-1 / shape) if 1 + shape * each > 0 else 0.0 for each in excesses]


def printed_exceedances(study: Study, runs: pd.DataFrame, *, limit: float, confidence: float = 0.95) -> list[Estimate]:
    """Share above ``limit`` (ns) that each printed percentile table allows, labelled with run_id, path and method."""
    printed = study.quantiles[(study.quantiles["metric"] == "rtt") & study.quantiles["rank"].notna()]
    extremes = study.metrics[study.metrics["metric"].isin(["rtt_min", "rtt_max"])]
    tables = {str(run_id): table for run_id, table in printed.groupby("run_id", sort=False)}
    found = []
    for run_id, run in runs[runs.index.isin(set(tables))].iterrows():
        table = tables[str(run_id)]
        n = int(table["n"].iloc[0])
        known = dict(zip(table["rank"].astype(int), table["value_ns"].astype(float), strict=True))
        for metric, value in extremes.loc[extremes["run_id"] == run_id, ["metric", "value"]].itertuples(index=False):
            known[1 if metric == "rtt_min" else n] = float(value)
        ranks = sorted(known)
        labels: dict[str, object] = {"run_id": str(run_id), "path": str(run["path"]), "method": str(run["method"])}
        values = [known[rank] for rank in ranks]
        found.append(table_exceedance(limit, n, ranks, values, confidence=confidence, labels=labels))
    return found


def rarest(curves: Sequence[Estimate], most: int = 24) -> list[Estimate]:
    """Of printed percentiles (labels path, method, run_id, q) those of the runs with most packets, in their order.

    At most ``most`` estimates.
    """
    runs: dict[str, list[Estimate]] = {}
    for each in curves:
        if each.labels["q"] >= 0.99:
            runs.setdefault(str(each.labels["run_id"]), []).append(each)
    longest = sorted(runs, key=lambda run: -runs[run][0].n)
    kept: set[str] = set()
    for run in longest:
        if sum(len(runs[each]) for each in kept) + len(runs[run]) <= most:
            kept.add(run)
    return [each for run, own in runs.items() if run in kept for each in own]
