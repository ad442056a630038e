"""Chart of changes between two imports."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from azlatency.kit.drawing import draw
from azlatency.kit.drawing.axes import ratio_ticks
from azlatency.kit.drawing.base import MOST_ROWS, label, lines, most_of, sizes, stack, styled
from azlatency.kit.drawing.options import by_size, ordered
from azlatency.kit.objects import Chart, Note
from azlatency.report.charts.ratios import pair_panel, pair_words, ratio_reach, ratio_title, verdict_words
from azlatency.stats.result import Comparison

if TYPE_CHECKING:
    pass


@styled
def changes_forest(comparisons: Sequence[Comparison]) -> Chart | Note:
    """Draw the ratio after / before of every comparison that has one, with the band of practical equivalence.

    Parameters
    ----------
    comparisons : sequence of Comparison
        As `azlatency.stats.compare_imports` returns them.

    Returns
    -------
    Chart or Note
        The chart, or a note with the reason where there is nothing to draw.
    """
    drawn = [comparison for comparison in comparisons if comparison.ratio.estimate is not None]
    if not drawn:
        why = f"none of {len(comparisons)} comparisons is estimable" if comparisons else "there is nothing to compare"
        return Note(f"No chart: {why}; the table says why.")
    if len(drawn) == 1:
        return Note(f"No chart: one comparison only. {pair_words(drawn[0])}.")
    every = sorted(drawn, key=_largest_first)
    drawn, left = most_of(
        every, lambda comparison: comparison.ratio.n, "comparisons, those with the most runs", MOST_ROWS
    )
    several = len({comparison.labels["path"] for comparison in drawn}) > 1

    def name(comparison: Comparison) -> str:
        method = str(comparison.labels["method"])
        return f"{comparison.labels['path']}, {method}" if several else method

    drawn = ordered(drawn, _largest_first, name)
    names = list(map(name, drawn))
    figure, axes = stack([len(drawn) * lines(*map(label, names))], xlabel="after ÷ before (log)")
    pair_panel(axes[0], drawn, names)
    ratio_ticks(axes[0], ratio_reach(drawn))
    level = f"{100 * drawn[0].ratio.confidence:g} %"
    caption = draw.caption(
        f"Ratio after / before{by_size(', the largest change on top')}. Bar: {level} interval. Band: practically "
        f"equivalent. {verdict_words(drawn)} "
        f"{sizes((comparison.ratio.n for comparison in drawn), 'runs or pairs of runs per comparison')}.",
        left,
    )
    title = ratio_title(every, "After against before")
    return Chart(figure, caption, "\n".join(pair_words(comparison) for comparison in drawn), title=title)


def _largest_first(comparison: Comparison) -> float:
    return -abs(math.log(comparison.ratio.estimate or 1.0))
