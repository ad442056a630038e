"""What a statistic returns: an estimate with its interval, or a typed refusal, which is a value, not an exception."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

Scope = Literal["within_run", "across_runs"]

#: Refusals and warnings by stable code, in the words that a reader sees.
CODES = {
    "no_replication": "nothing can be said about the path, only about this connection in these minutes",
    "two_runs": "the interval exists but is very wide",
    "within_run_floor": "packets of one connection are not independent: the true interval is wider than this",
    "tail_unresolved": "too few observations lie above this percentile to bound it",
    "unbounded_upper": "the percentile may lie beyond the largest observation",
    "maximum_in_disguise": "the printed percentile is the largest observation",
    "no_values": "no value to work with",
    "constant": "all values are equal",
    "not_positive": "a value is zero or negative: no logarithm",
}
#: The same in a word or two, for the cells of a table whose notes give the sentences.
SHORT = {
    "no_replication": "one run",
    "two_runs": "two runs",
    "within_run_floor": "floor",
    "tail_unresolved": "too few above",
    "unbounded_upper": "no upper bound",
    "maximum_in_disguise": "is the maximum",
    "no_values": "no value",
    "constant": "constant",
    "not_positive": "not positive",
}


@dataclass(frozen=True, slots=True)
class Estimate:
    """An estimate, its interval and what may be said of it.

    ``estimate``, ``low``, ``high`` in ``unit`` (``None`` where refused or unbounded); ``n`` observations (``scope``
    within_run) or runs (across_runs); ``confidence`` of the interval; ``method`` with its source; ``codes``: keys of
    `CODES`.
    """

    what: str
    estimate: float | None
    low: float | None
    high: float | None
    unit: str
    n: int
    scope: Scope
    confidence: float
    method: str
    codes: tuple[str, ...] = ()
    labels: dict[str, Any] = field(default_factory=dict)

    @property
    def refused(self) -> bool:
        """Whether there is no estimate."""
        return self.estimate is None

    @property
    def remarks(self) -> tuple[str, ...]:
        """The warnings and refusals in words."""
        return tuple(f"{SHORT[code]}: {CODES[code]}" for code in self.codes)

    def row(self) -> dict[str, Any]:
        """One row of a frame: the labels, then the fields, codes joined by blanks."""
        return {
            **self.labels,
            "what": self.what,
            "estimate": self.estimate,
            "low": self.low,
            "high": self.high,
            "unit": self.unit,
            "n": self.n,
            "scope": self.scope,
            "confidence": self.confidence,
            "method": self.method,
            "codes": " ".join(self.codes),
        }

    def __str__(self) -> str:
        remarks = f" ({'; '.join(self.remarks)})" if self.codes else ""
        if self.estimate is None:
            return f"{self.what}: no answer{remarks}"
        low = "-∞" if self.low is None else f"{self.low:.6g}"
        high = "∞" if self.high is None else f"{self.high:.6g}"
        interval = f"{100 * self.confidence:g} % [{low}, {high}]"
        return f"{self.what}: {self.estimate:.6g} {self.unit}, {interval}, {self.scope}, n = {self.n}{remarks}"
