"""Charts of changes between two imports or between rounds, and of the quantiles at which two runs differ."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from azlatency.report.charts import draw
from azlatency.report.charts.axes import ratio_ticks, times_axis
from azlatency.report.charts.base import MOST_ROWS, grid, label, left_out, lines, most_of, sizes, stack, styled, tip
from azlatency.report.charts.options import by_size, ordered
from azlatency.report.charts.palette import ESTIMATE, GREY, INK
from azlatency.report.charts.ratios import pair_panel, pair_words, ratio_reach, ratio_title, verdict_words
from azlatency.report.charts.truth import configured
from azlatency.report.objects import Chart, Note
from azlatency.report.titles import names
from azlatency.stats.result import Comparison
from azlatency.stats.within_run.distribution_shape import ShiftFunction
from azlatency.studies.format import plain

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_PANELS = 6


@styled
def changes_forest(comparisons: Sequence[Comparison]) -> Chart | Note:
    """Draw the ratio after / before of every comparison that has one, with the band of practical equivalence.

    Parameters
    ----------
    comparisons : sequence of Comparison
        As `azlatency.stats.compare_imports` or `azlatency.stats.compare_rounds_of` return them.

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
    truths = [_recorded_change(comparison) for comparison in drawn]
    for row, truth in enumerate(truths):
        draw.truth(axes[0], row, truth, text=f"{names[row]}: recorded {plain(truth, 4)}")
    ratio_ticks(axes[0], ratio_reach(drawn))
    level = f"{100 * drawn[0].ratio.confidence:g} %"
    caption = draw.caption(
        f"Ratio after / before{by_size(', the largest change on top')}. Bar: {level} interval. Band: practically "
        f"equivalent. {verdict_words(drawn)} "
        f"{sizes((comparison.ratio.n for comparison in drawn), 'runs or pairs of runs per comparison')}.",
        (configured().caption("recorded change"), any(truths)),
        left,
    )
    title = ratio_title(every, "After against before")
    return Chart(figure, caption, "\n".join(pair_words(comparison) for comparison in drawn), title=title)


@styled
def shift_functions(shifts: Sequence[ShiftFunction]) -> Chart | Note:
    """Draw the ratio of the last round to the first, quantile by quantile, with the band of practical equivalence.

    Parameters
    ----------
    shifts : sequence of ShiftFunction
        As `azlatency.stats.distribution_shape.shift_functions` returns them. Six are drawn: the one with the
        largest change and those with the most packets.

    Returns
    -------
    Chart or Note
        The chart, or a note with the reason where there is nothing to draw.
    """
    answered = [shift for shift in shifts if any(level.ratio.estimate is not None for level in shift.levels)]
    if not answered:
        return Note("No chart: no path of this study has samples of two rounds by the same method.")
    ratios = [(shift, level) for shift in answered for level in shift.levels if level.ratio.estimate is not None]
    where, _ = max(ratios, key=lambda item: abs(math.log(item[1].ratio.estimate or 1.0)))
    shown = sorted(answered, key=lambda shift: (shift is not where, -min(shift.sizes)))[:_PANELS]
    figure, axes = grid(len(shown), 2, 2.0, ylabel="last ÷ first (log)", sharey=True)
    for axis, shift in zip(axes, shown, strict=True):
        _shift_panel(axis, shift)
    times_axis(axes[0], [end for axis in axes for end in axis.dataLim.intervaly], upright=True)
    level = f"{100 * shown[0].levels[0].ratio.confidence:g} %"
    bounded = [level.ratio.low is not None for shift in shown for level in shift.levels]
    # Each comparison is of two connections, so none is called the largest.
    paths = names(shift.path for shift in shown)
    title = f"Last round against the first, by quantile: one run each, so not tested ({paths})"
    caption = draw.caption(
        f"Ratio of the last round to the first at each quantile. Bar: pointwise {level} interval, for these two "
        f"connections only{'' if all(bounded) else '; hollow: no valid interval'}. Band: practically equivalent. A "
        "flat line means that the whole distribution shifted; a line that rises at its right end means that only the "
        "tail did. "
        f"{sizes((size for shift in shown for size in shift.sizes), 'packets per run')}.",
        (configured().caption("recorded ratio"), any(map(_recorded, shown))),
        left_out(len(shown), len(shifts), "pairs of runs"),
    )
    return Chart(figure, caption, "\n".join(_shift_words(shift) for shift in shown), title=title)


def _largest_first(comparison: Comparison) -> float:
    return -abs(math.log(comparison.ratio.estimate or 1.0))


def _recorded_change(comparison: Comparison) -> float | None:
    """Return the ratio of the recorded delays of two rounds; None for rates and for runs without their pair."""
    runs, difference = comparison.ratio.run_ids, comparison.difference
    of_times = difference is not None and difference.unit == "ns"
    if not of_times or not {"first", "last"} <= comparison.labels.keys() or len(runs) != 2 * comparison.ratio.n:
        return None
    return configured().recorded_ratio(runs[: len(runs) // 2], runs[len(runs) // 2 :])


def _shift_panel(axis: Axes, shift: ShiftFunction) -> None:
    draw.equivalence(axis, shift.levels[0].margin, upright=True)
    if (truth := _recorded(shift)) is not None:
        axis.axhline(truth, color=INK, linewidth=1, linestyle="--", zorder=1)
    known = [(x, level.ratio) for x, level in enumerate(shift.levels) if level.ratio.estimate is not None]
    axis.plot([x for x, _ in known], [ratio.estimate or 1.0 for _, ratio in known], color=GREY, linewidth=0.8, zorder=2)
    for x, ratio in known:
        if ends := draw.ends_of(ratio):
            axis.plot([x, x], ends, color=ESTIMATE, linewidth=2, zorder=2)
        face = ESTIMATE if ends else "white"
        (dot,) = axis.plot(
            [x], [ratio.estimate or 1.0], "o", color=ESTIMATE, markerfacecolor=face, markersize=4.5, zorder=3
        )
        tip(dot, f"p{100 * float(shift.levels[x].labels['q']):g}: {plain(ratio.estimate, 4)}")
    names = [f"p{100 * float(level.labels['q']):g}" for level in shift.levels]
    axis.set_xticks(range(0, len(names), 2), names[::2])
    axis.set_xlim(-0.5, len(names) - 0.5)
    axis.set_title(f"{shift.path}, {shift.method}", fontsize=9)


def _recorded(shift: ShiftFunction) -> float | None:
    """Return the ratio of the delays that the emulator recorded in the last and the first run."""
    return configured().recorded_ratio(shift.run_ids[1:], shift.run_ids[:1])


def _shift_words(shift: ShiftFunction) -> str:
    parts = [
        f"p{100 * float(level.labels['q']):g} {plain(ratio.estimate, 4)}{draw.brackets(draw.ends_of(ratio))}"
        for level in shift.levels
        if (ratio := level.ratio).estimate is not None
    ]
    sizes = " and ".join(f"{size:,}" for size in shift.sizes)
    return f"{shift.path}, {shift.method}, {shift.last} over {shift.first}, n = {sizes}: {'; '.join(parts)}"
