"""The verdict on several paths in words: the same for a card, an answer and a title."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from azlatency.kit.cells import Ref, is_missing
from azlatency.kit.sentences import Linked, Sentence
from azlatency.kit.words import at_most, in_drift, ratio_ends
from azlatency.stats.across_runs.path_differences import PathDifferences
from azlatency.stats.result import VERDICTS
from azlatency.studies.format import format_interval, percent, plain

Row = dict[str, Any]
#: Verdicts on two paths that are not shown to be different, in words.
_NOT_DIFFERENT = VERDICTS | {"equivalent": "no difference", "inconclusive": "cannot tell"}


def difference(
    found: PathDifferences,
    what: str,
    refs: Callable[[str], Ref],
    *,
    rate: bool = False,
) -> Sentence:
    """Say whether paths differ, as the beginning of a sentence that goes on with their values.

    ``what``: what is compared, in the plural; ``refs``: the runs of a path; ``rate``: the values are rates, and
    not times.
    """
    if found.decisive.empty:
        return ("Measured once: " if found.verdict == "once" else "Not compared, because the runs are not pooled: ",)
    (row,) = found.decisive.to_dict("records")
    unit, linked = "much" if rate else "long", [refs(row["large"]), refs(row["small"])]
    large, small = row["large"], row["small"]
    if found.verdict == "different":
        verb = "typically carries" if rate else "typically takes"
        return (
            f"The {what} differ{in_drift(found.decisive)}: {large} {verb} ",
            Linked(f"{plain(row['ratio'])} times", *linked),
            f" as {unit} as {small} ({interval_words(row, row['family'])}{_others(found)}): ",
        )
    if found.verdict == "equivalent":
        return f"No difference between the {what} (at most ", Linked(bound_words(row), *linked), "): "
    start = f"Cannot tell whether the {what} differ"
    if is_missing(row["ratio_low"]):
        return (f"{start}: ",)
    ends = Linked(f"{ratio_ends(row['ratio_low'], row['ratio_high'])} times", *linked, bold=False)
    return f"{start} ({large} may {'carry' if rate else 'take'} ", ends, f" as {unit} as {small}): "


def _others(found: PathDifferences) -> str:
    """Say of the comparisons that show no difference which one it is, or how many: "; 2 of 6: cannot tell"."""
    rows = found.pairs[found.pairs["verdict"] != "different"]
    if len(rows) == 1:
        (row,) = rows.to_dict("records")
        ends = "" if is_missing(row["ratio_low"]) else f", {format_interval(row['ratio_low'], row['ratio_high'])}"
        if row["verdict"] == "equivalent":
            ends = f", at most {bound_words(row)}"
        return f"; {row['large']} against {row['small']}: {_NOT_DIFFERENT[row['verdict']]}{ends}"
    counts = rows["verdict"].value_counts()
    return "".join(f"; {counts[name]} of {len(found.pairs)}: {_NOT_DIFFERENT[name]}" for name in counts.index)


def not_different(found: PathDifferences) -> str:
    """Say that paths are equal within a bound, or that their runs cannot tell: "no difference (at most 3 %)"."""
    rows = found.decisive.to_dict("records")
    if found.verdict == "equivalent":
        return f"no difference (at most {bound_words(rows[0])})"
    if not rows or is_missing(rows[0]["ratio_low"]):
        return "cannot tell them apart"
    return f"cannot tell them apart: the ratio may be {ratio_ends(rows[0]['ratio_low'], rows[0]['ratio_high'])}"


def bound_words(row: Row) -> str:
    """Return how far two equivalent paths are apart at most."""
    return at_most([row["inner_low"], row["inner_high"]])


def interval_words(row: Row, comparisons: int = 1) -> str:
    """Return the interval of a ratio, which holds for all comparisons together: "95 % CI 1.4–1.8, adjusted for 3 …"."""
    level = 1 - comparisons * (1 - row["confidence"])
    interval = f"{percent(level)} CI {format_interval(row['ratio_low'], row['ratio_high'])}"
    return f"{interval}, adjusted for {plain(comparisons)} comparisons" if comparisons > 1 else interval
