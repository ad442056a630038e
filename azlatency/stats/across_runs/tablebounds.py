"""Two printed percentile tables side by side: what follows from them for certain, and nothing more.

Between two printed ranks the values are unknown, so the mass of each gap is pushed to one end, then to the other. The
results bound the two samples that were measured; about the connections they are a floor (code ``within_run_floor``).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar

from azlatency.stats.result import Estimate, Result, Row, Scope

if TYPE_CHECKING:
    import pandas as pd

METHOD = "mass between printed ranks pushed to either end"


@dataclass(frozen=True, slots=True)
class PrintedTable:
    """Printed order statistics of ``n`` observations: ascending ``ranks`` (1 and n among them) and their ``values``."""

    n: int
    ranks: tuple[int, ...]
    values: tuple[float, ...]

    @classmethod
    def of_run(cls, quantiles: pd.DataFrame, metrics: pd.DataFrame, run_id: str | None = None) -> PrintedTable | None:
        """The table of one run from a study's frames; ``None`` without minimum, maximum or any printed quantile."""
        if run_id is not None:
            quantiles, metrics = quantiles[quantiles["run_id"] == run_id], metrics[metrics["run_id"] == run_id]
        printed = quantiles[(quantiles["metric"] == "rtt") & quantiles["rank"].notna()]
        ends = metrics[metrics["metric"].isin(["rtt_min", "rtt_max"])].set_index("metric")["value"]
        if not len(printed) or not {"rtt_min", "rtt_max"} <= set(ends.index):
            return None
        n = int(printed["n"].iloc[0])
        known = dict(zip(printed["rank"].astype(int), printed["value_ns"].astype(float), strict=True))
        known[1], known[n] = float(ends["rtt_min"]), float(ends["rtt_max"])
        ranks = tuple(sorted(known))
        return cls(n, ranks, tuple(known[rank] for rank in ranks))

    def pushed(self, *, up: bool) -> tuple[list[float], list[float]]:
        """Values and their shares with the mass of each gap at its upper (``up``) or lower end."""
        counts = [float(self.ranks[0])]
        counts += [float(high - low) for low, high in zip(self.ranks, self.ranks[1:], strict=False)]
        values = list(self.values)
        if up:
            return values, [each / self.n for each in counts]
        # The printed value itself keeps one observation, the rest of its gap lies at the value before it.
        low = [0.0] * len(counts)
        for place, count in enumerate(counts):
            low[place] += 1.0 if place else count
            if place:
                low[place - 1] += count - 1
        return values, [each / self.n for each in low]


@dataclass(frozen=True, slots=True)
class Superiority(Result):
    """Certain bounds ``low <= P(A < B) <= high`` for one observation of each sample (ties count half)."""

    what: str
    low: float | None
    high: float | None
    n: tuple[int, int]
    scope: Scope = "within_run"
    method: str = METHOD
    codes: tuple[str, ...] = ("within_run_floor",)
    labels: dict[str, Any] = field(default_factory=dict)

    ROW: ClassVar[Row] = (
        "what", "low", "high", "verdict", ("n_a", "n.0"), ("n_b", "n.1"), "scope", "method",
    )  # fmt: skip

    @property
    def verdict(self) -> str:
        """``a_lower``, ``b_lower`` or ``undetermined``: which sample tends to be the lower, for certain."""
        if self.low is None or self.high is None:
            return "undetermined"
        return "a_lower" if self.low > 0.5 else "b_lower" if self.high < 0.5 else "undetermined"

    def __str__(self) -> str:
        if self.low is None or self.high is None:
            return f"{self.what}: not estimable{self.flag_note}"
        return f"{self.what}: P(A < B) lies in [{self.low:.4f}, {self.high:.4f}], {self.verdict}{self.flag_note}"


def superiority_bounds(
    a: PrintedTable | None, b: PrintedTable | None, *, what: str = "A against B", labels: dict[str, Any] | None = None
) -> Superiority:
    """Bounds on P(A < B) + P(A = B)/2 from two printed tables; refused as ``no_values`` where one is missing."""
    if a is None or b is None:
        sizes = (0 if a is None else a.n, 0 if b is None else b.n)
        return Superiority(what, None, None, sizes, codes=("no_values",), labels=dict(labels or {}))
    low = _less(a.pushed(up=True), b.pushed(up=False))
    high = _less(a.pushed(up=False), b.pushed(up=True))
    return Superiority(what, low, high, (a.n, b.n), labels=dict(labels or {}))


def _less(a: tuple[list[float], list[float]], b: tuple[list[float], list[float]]) -> float:
    return sum(
        (1.0 if x < y else 0.5 if x == y else 0.0) * p * q
        for x, p in zip(*a, strict=True)
        for y, q in zip(*b, strict=True)
    )


def mean_bounds(table: PrintedTable, power: int = 1) -> tuple[float, float]:
    """Certain bounds of the sample's mean (or second moment, ``power`` 2): a printed mean outside contradicts them."""
    low, high = (
        sum(share * each**power for each, share in zip(*table.pushed(up=up), strict=True)) for up in (False, True)
    )
    return low, high


def quantile_difference(a: Estimate, b: Estimate, *, what: str | None = None) -> Estimate:
    """Difference of two brackets, A minus B, by Bonferroni: rigorous where both brackets are, and wide.

    Two brackets at 97.5 % give a difference at 95 %.
    """
    known = a.estimate is not None and b.estimate is not None and a.unit == b.unit
    codes = dict.fromkeys((*a.codes, *b.codes, *(() if a.unit == b.unit else ("unit_conflict",))))
    return Estimate(
        what or f"{a.what} against {b.what}, these two connections",
        a.estimate - b.estimate if known else None,  # type: ignore[operator]
        a.low - b.high if known and a.low is not None and b.high is not None else None,
        a.high - b.low if known and a.high is not None and b.low is not None else None,
        a.unit,
        a.n + b.n,
        "within_run",
        max(0.0, a.confidence + b.confidence - 1),
        "Bonferroni of two brackets of printed order statistics",
        tuple(codes),
    )


def tables_of(runs: Sequence[str], quantiles: pd.DataFrame, metrics: pd.DataFrame) -> dict[str, PrintedTable]:
    """The printed table of each run that has one, by run_id, in the order given."""
    found = {run_id: PrintedTable.of_run(quantiles, metrics, run_id) for run_id in runs}
    return {run_id: table for run_id, table in found.items() if table is not None}
