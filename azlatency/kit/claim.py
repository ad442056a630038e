"""What a page says in numbers, as a record that a build compares with what other pages say."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, kw_only=True)
class Claim:
    """The values of one method by path that an answer, a chart or a card speaks of.

    Attributes
    ----------
    quantity : str
        Column of the run table, which names the unit: ``"median_ns"``, ``"throughput_bit_s"``.
    method : str
        The method of all values.
    values : mapping of str to float
        The typical run of each path: the median run, or the only one.
    runs : mapping of str to int
        The number of its runs; empty if unknown.
    ranges : mapping of str to (float, float)
        The smallest and the largest run of each path whose several runs have no interval that says something.
    """

    quantity: str
    method: str
    values: Mapping[str, float]
    runs: Mapping[str, int] = field(default_factory=dict)
    ranges: Mapping[str, tuple[float, float]] = field(default_factory=dict)

    @property
    def counts(self) -> str:
        """The number of runs in words."""
        fewest, most = min(self.runs.values(), default=0), max(self.runs.values(), default=0)
        each = " each" if len(self.runs) > 1 else ""
        if fewest == most:
            return f"one run{each}" if most == 1 else f"{most} runs{each}"
        return f"{fewest} to {most} runs each"
