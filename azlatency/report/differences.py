"""The verdict on several paths, or on a change, in words: the same for a card, an answer and a title."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Literal

from azlatency.kit.titles import ratio_range
from azlatency.report.card import Linked, Sentence
from azlatency.stats.across_runs.path_differences import largest_ratio
from azlatency.studies.format import format_interval, plain

if TYPE_CHECKING:
    from azlatency.kit.cells import Ref
    from azlatency.stats.across_runs.path_differences import PathDifferences
    from azlatency.stats.across_runs.placement import Change
    from azlatency.stats.result import Comparison

#: A ratio beyond these ends is not known.
_LOWEST, _HIGHEST = 0.001, 1_000.0


def difference(
    found: PathDifferences,
    what: str,
    refs: Callable[[str], Ref],
    name: Callable[[str], str] = str,
    *,
    rate: bool = False,
) -> Sentence:
    """Say whether paths differ, as the beginning of a sentence that goes on with their values.

    Parameters
    ----------
    found : PathDifferences
        The comparisons.
    what : str
        What is compared, in the plural: "pairs", "paths".
    refs : callable
        The runs of a path.
    name : callable
        How a path is called.
    rate : bool
        Whether the values are rates, and not times.
    """
    decisive, unit = found.decisive, "much" if rate else "long"
    if decisive is None:
        return ("Measured once: " if found.verdict == "once" else "Not compared, because the runs are not pooled: ",)
    large, small = (str(decisive.labels[side]) for side in ("large", "small"))
    linked = [refs(large), refs(small)]
    if found.verdict == "different":
        ratio = Linked(f"{plain(decisive.ratio.estimate)} times", *linked)
        verb = "carries" if rate else "takes"
        end = f" as {unit} as {name(small)} ({interval_words(decisive, found.pairs)}): "
        return f"The {what} differ{in_drift([decisive])}: {name(large)} {verb} ", ratio, end
    if found.verdict == "equivalent":
        return f"No difference between the {what} (at most ", Linked(at_most([found.bound]), *linked), "): "
    verb = "carry" if rate else "take"
    ends = Linked(f"{ratio_ends(decisive)} times", *linked, bold=False)
    start = f"Cannot tell whether the {what} differ"
    if decisive.ratio.low is None:
        return (f"{start}: ",)
    return f"{start} ({name(large)} may {verb} ", ends, f" as {unit} as {name(small)}): "


def in_drift(comparisons: Iterable[Comparison]) -> str:
    """Return the end of "the paths differ" where runs of any of the comparisons drift."""
    return " in these runs, which drift" if any(comparison.drifts for comparison in comparisons) else ""


def not_different(found: PathDifferences) -> str:
    """Say that paths are equal within a bound, or that their runs cannot tell: "no difference (at most 3 %)"."""
    if found.verdict == "equivalent":
        return f"no difference (at most {at_most([found.bound])})"
    decisive = found.decisive
    if decisive is None or decisive.ratio.low is None:
        return "cannot tell them apart"
    return f"cannot tell them apart: the ratio may be {ratio_ends(decisive)}"


def at_most(ratios: Sequence[float]) -> str:
    """Return how far ratios are from 1 at most, in percent: "3 %"."""
    return f"{plain(100 * (max(max(ratio, 1 / ratio) for ratio in ratios) - 1), 2)} %"


def interval_words(comparison: Comparison, pairs: int = 1) -> str:
    """Return the interval of a ratio, which holds for so many pairs together: "95 % CI 1.40–1.80 for all 3 pairs"."""
    ratio = comparison.ratio
    level = 1 - pairs * (1 - ratio.confidence)
    return f"{100 * level:g} % CI {format_interval(ratio.low, ratio.high)}{f' for all {pairs} pairs' * (pairs > 1)}"


def ratio_ends(*comparisons: Comparison) -> str:
    """Return what ratios may be: "0.99 to 392"; ends that are not known read as 0 and "more than 1,000"."""
    low = min(comparison.ratio.low or 0.0 for comparison in comparisons)
    high = max(comparison.ratio.high or _HIGHEST for comparison in comparisons)
    return f"{plain(low) if low >= _LOWEST else 0} to {plain(high) if high < _HIGHEST else 'more than 1,000'}"


#: What may be said of changes together; "reported" and "once": their runs are not compared.
ChangeVerdict = Literal["different", "equivalent", "inconclusive", "once", "reported"]


def verdict_on(steps: Sequence[Change], tests: int = 1) -> ChangeVerdict:
    """Return what may be said of several changes together: different only if all are, in one direction.

    ``tests`` is the number of changes that these were chosen from (Bonferroni); 1 if their intervals allow for it.
    """
    compared = [step.comparison for step in steps if step.comparison is not None]
    if len(compared) < len(steps):
        return "reported"
    if all("no_replication" in comparison.codes for comparison in compared):
        return "once"
    verdicts = {comparison.verdict for comparison in compared}
    if verdicts == {"different"} and len({(one.ratio.estimate or 1.0) > 1 for one in compared}) == 1:
        shown = all(one.p is not None and one.p * tests < 1 - one.ratio.confidence for one in compared)
        return "different" if shown or tests == 1 else "inconclusive"
    return "equivalent" if verdicts <= {"equivalent", "different_within_margin"} else "inconclusive"


def change_words(steps: Sequence[Change], tests: int = 1) -> str:
    """Say the verdict on changes that are not shown to differ: "cannot tell: the ratio may be 0.99 to 1.6"."""
    verdict = verdict_on(steps, tests)
    compared = [step.comparison for step in steps if step.comparison is not None]
    if verdict == "equivalent":
        return f"no difference (at most {at_most(list(map(largest_ratio, compared)))})"
    if verdict == "inconclusive":
        if all(comparison.verdict == "different" for comparison in compared):
            return (
                f"cannot tell from {tests} comparisons" if tests > 1 else "cannot tell: some are longer, some shorter"
            )
        known = all(comparison.ratio.low is not None for comparison in compared)
        return f"cannot tell{f': the ratio may be {ratio_ends(*compared)}' * known}"
    return "as reported" if verdict == "reported" else "measured once"


def ratios_of(steps: Sequence[Change]) -> tuple[str, str]:
    """Return the ratios of changes and, as the end of a sentence, the interval that contains all of them."""
    ratios = [step.comparison.ratio for step in steps if step.comparison is not None]
    low, high = min(ratio.low or 0.0 for ratio in ratios), max(ratio.high or math.inf for ratio in ratios)
    return ratio_range(ratio.estimate or 1.0 for ratio in ratios), f"95 % CI {format_interval(low, high)}"
