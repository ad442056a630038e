"""The verdict on several paths, or on a change, in words: the same for a card, an answer and a title."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

from azlatency.kit.sentences import Linked, Sentence
from azlatency.kit.words import at_most, ratio_ends
from azlatency.studies.format import format_interval, plain

if TYPE_CHECKING:
    from azlatency.kit.cells import Ref
    from azlatency.stats.across_runs.path_differences import PathDifferences
    from azlatency.stats.result import Comparison


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
    ends = Linked(f"{ratio_ends(decisive.ratio.low, decisive.ratio.high)} times", *linked, bold=False)
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
    return f"cannot tell them apart: the ratio may be {ratio_ends(decisive.ratio.low, decisive.ratio.high)}"


def interval_words(comparison: Comparison, pairs: int = 1) -> str:
    """Return the interval of a ratio, which holds for so many pairs together: "95 % CI 1.40–1.80 for all 3 pairs"."""
    ratio = comparison.ratio
    level = 1 - pairs * (1 - ratio.confidence)
    return f"{100 * level:g} % CI {format_interval(ratio.low, ratio.high)}{f' for all {pairs} pairs' * (pairs > 1)}"
