"""Which of several paths differ: the comparison of every two of them, at a level that holds for all pairs together.

The largest and the smallest of several estimates differ by chance alone, so a pair that was chosen because it lies far
apart is judged at the level of Bonferroni: of paths that are all equal, any is called different with at most the chosen
probability.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import combinations
from statistics import median
from typing import TYPE_CHECKING, Literal

from azlatency.stats.across_runs.comparison import compare_runs
from azlatency.stats.across_runs.log_ratio import spreads_of_pairs
from azlatency.stats.across_runs.run_values import refusals, run_values
from azlatency.studies.runs.groups import grouped

if TYPE_CHECKING:
    import pandas as pd

    from azlatency.stats.across_runs.run_values import RunData
    from azlatency.stats.across_runs.shared_spread import SharedSpread
    from azlatency.stats.result import Comparison

#: Of more paths, only the smallest and the largest are compared.
_MOST = 12


@dataclass(frozen=True, kw_only=True)
class PathDifferences:
    """The comparisons of paths of one method.

    Attributes
    ----------
    sizes : mapping of str to float
        The median run of each path that has several comparable runs, smallest first.
    once : tuple of str
        Paths with one run: their values describe it.
    refused : tuple of str
        Paths whose runs must not be pooled (`azlatency.stats.run_values.refusals`).
    margin : float
        Relative margin that is practically equivalent.
    confidence : float
        Level of all statements together, between 0.5 and 1.
    """

    sizes: Mapping[str, float]
    once: tuple[str, ...] = ()
    refused: tuple[str, ...] = ()
    margin: float = 0.05
    confidence: float = 0.95
    group_of: Mapping[str, str] = field(default_factory=dict)
    """Paths of one group, such as both directions of a pair of zones, are not compared."""
    _runs: Mapping[str, RunData] = field(repr=False, compare=False)
    _value: str | None = field(default=None, repr=False)
    _spread: SharedSpread | None = field(default=None, repr=False)
    _known: dict[tuple[str, str], Comparison] = field(default_factory=dict, repr=False, compare=False)

    @property
    def pairs(self) -> int:
        """The number of pairs of paths that could be called different."""
        in_group = Counter(self.group_of.get(path, path) for path in self.sizes).values()
        return math.comb(len(self.sizes), 2) - sum(math.comb(count, 2) for count in in_group)

    def _is_pair(self, first: str, second: str) -> bool:
        return self.group_of.get(first, first) != self.group_of.get(second, second)

    def compare(self, first: str, second: str) -> Comparison:
        """Return the ratio of the larger of two paths with several runs to the smaller, and the verdict on it."""
        small, large = sorted((first, second), key=lambda path: (self.sizes[path], path))
        if (small, large) not in self._known:
            self._known[small, large] = compare_runs(
                self._runs[large],
                self._runs[small],
                value=self._value,
                unit="ns" if self._value is None else None,
                paired=None,
                margin=self.margin,
                confidence=1 - (1 - self.confidence) / self.pairs,
                spread=self._spread,
                what=f"{large} against {small}",
                labels={"large": large, "small": small},
            )
        return self._known[small, large]

    def cannot_tell(self, first: str, second: str) -> bool:
        """Return whether two paths have several runs each and are not shown to be different."""
        known = {first, second} <= self.sizes.keys() and self._is_pair(first, second)
        return known and self.compare(first, second).verdict != "different"

    @property
    def decisive(self) -> Comparison | None:
        """The comparison that a statement about all paths is made from; None of fewer than two paths.

        The largest ratio of two paths that are different, else the largest that cannot be told from 1, else the one
        whose interval reaches farthest from 1: all paths are practically equivalent within it.
        """
        paths = list(self.sizes)
        tested = paths if len(paths) <= _MOST else [*paths[: _MOST // 2], *paths[-_MOST // 2 :]]
        chosen = [pair for pair in combinations(tested, 2) if self._is_pair(*pair)]
        by_size = sorted(chosen, key=lambda pair: self.sizes[pair[0]] / self.sizes[pair[1]])
        found = []
        for pair in by_size:
            found.append(self.compare(*pair))
            if found[-1].verdict == "different":
                return found[-1]
        inconclusive = [comparison for comparison in found if comparison.verdict == "inconclusive"]
        return next(iter(inconclusive), max(found, key=largest_ratio, default=None))

    @property
    def verdict(self) -> Literal["different", "equivalent", "inconclusive", "once", "refused"]:
        """What may be said of all paths; ``once`` and ``refused``: no two of them have runs to compare."""
        decisive = self.decisive
        if decisive is None:
            return "refused" if self.refused else "once"
        if decisive.verdict == "different":
            return "different"
        if decisive.verdict == "inconclusive" or len(self.sizes) > _MOST:
            return "inconclusive"
        return "equivalent"

    @property
    def bound(self) -> float:
        """The largest ratio, in either direction, that the interval of `decisive` allows."""
        return largest_ratio(self.decisive) if self.decisive is not None else math.inf


def largest_ratio(comparison: Comparison) -> float:
    """Return the largest ratio, in either direction, that the interval allows which decides on equivalence."""
    low, high = comparison.inner
    return max(high or 1.0, 1 / low if low else 1.0)


def path_differences(
    runs: Mapping[str, RunData],
    value: str | None = None,
    *,
    group_of: Mapping[str, str] | None = None,
    margin: float = 0.05,
    confidence: float = 0.95,
) -> PathDifferences:
    """Compare paths of one method with each other.

    Parameters
    ----------
    runs : mapping of str to array_like or DataFrame
        The runs of each path: a frame with the column ``value``, or one number per run in ns.
    value : str, optional
        Column of the frames.
    group_of : mapping of str to str, optional
        The group of each path, such as its pair of zones; paths of one group are not compared.
    margin : float
        Relative change that is practically equivalent.
    confidence : float
        Level of all statements together, between 0.5 and 1.

    Returns
    -------
    PathDifferences
        Nothing is compared before a statement is asked for.

    Examples
    --------
    >>> found = path_differences({"a": [100e3, 101e3, 99e3, 100e3], "b": [200e3, 202e3, 198e3, 201e3]})
    >>> found.verdict, found.decisive.what, round(found.decisive.ratio.estimate, 2)
    ('different', 'b against a', 2.0)
    """
    values = {path: run_values(data, value) for path, data in runs.items()}
    measured = {path: found for path, found in values.items() if len(found.values) + found.endless}
    several = {path: found for path, found in measured.items() if len(found.values) + found.endless > 1}
    refused = tuple(path for path in several if refusals([runs[path]], value) or not min(values[path].values) > 0)
    sizes = {path: float(median(found.values)) for path, found in several.items() if path not in refused}
    return PathDifferences(
        sizes=dict(sorted(sizes.items(), key=lambda item: (item[1], item[0]))),
        once=tuple(path for path in measured if path not in several),
        refused=refused,
        margin=margin,
        confidence=confidence,
        group_of=group_of or {},
        _runs=runs,
        _value=value,
        _spread=next(iter(spreads_of_pairs([(values[path],) for path in sizes], [0] * len(sizes))), None),
    )


def differences_by_path(
    runs: pd.DataFrame, method: str, value: str, *, group_of: Mapping[str, str] | None = None
) -> PathDifferences:
    """Compare the paths of one method of a frame with one row per run, as returned by `azlatency.latency`."""
    chosen = runs[(runs["method"] == method) & runs[value].notna()]
    by_path = {str(path): group for path, group in grouped(chosen, "path")}
    return path_differences(by_path, value, group_of=group_of)
