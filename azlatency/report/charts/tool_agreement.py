"""Bland-Altman plot: the ratio of two tools on the same paths, ordered by round-trip time."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from azlatency.report.charts import draw
from azlatency.report.charts.axes import ratio_ticks
from azlatency.report.charts.base import MICROSECOND, label, left_out, lines, sizes, stack, styled
from azlatency.report.charts.draw import number
from azlatency.report.charts.options import by_size, ordered
from azlatency.report.charts.palette import ESTIMATE, INK
from azlatency.report.charts.truth import configured
from azlatency.report.claim import known_ends
from azlatency.report.objects import Chart, Note
from azlatency.report.tables.common import VERDICTS
from azlatency.report.titles import times
from azlatency.stats.across_runs.agreement import Agreement, Pair
from azlatency.studies.format import plain

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_PANELS = 5


@styled
def agreement_plot(agreements: Sequence[Agreement]) -> Chart | Note:
    """Draw the ratio of two tools on each path, shortest round trip first.

    Parameters
    ----------
    agreements : sequence of Agreement
        Pairs of methods, as `azlatency.stats.agreement` or `azlatency.stats.against` return them. The first five are
        drawn.

    Returns
    -------
    Chart or Note
        The chart, or a note with the reason where there is nothing to draw.

    Notes
    -----
    The band shows practical equivalence. The mean ratio has its interval, and the dashed bar shows where one more pair
    would lie (Bland and Altman 1986).
    """
    known = [agreement for agreement in agreements if agreement.points and agreement.ratio.estimate is not None]
    if not known:
        return Note("No chart: no two methods of this study measured round-trip times on the same path.")
    # The ratio of methods that send different packets says nothing of either of them.
    drawn = [agreement for agreement in known if not agreement.differs_in]
    if not drawn:
        return Note("No chart: no two methods of this study sent the same packets, so a ratio has no meaning.")
    if len(drawn) == 1 and len(drawn[0].points) == 1:
        return Note(f"No chart: one pair of runs only. {_words(drawn[0])}.")
    shown = drawn[:_PANELS]
    paths = [_by_size(agreement.points) for agreement in shown]
    counts = [len(group) * lines(*(label(path) for path, _, _ in group)) + 2 for group in paths]
    figure, axes = stack(counts, xlabel="first tool ÷ second (log)")
    ratios = [pair.first / pair.second for agreement in shown for pair in agreement.points]
    wide = [end for agreement in shown for end in (agreement.prediction or ()) if 0.2 < end < 5]
    reach = max(
        abs(math.log(agreement)) for agreement in [*ratios, *wide, *(1 + agreement.margin for agreement in shown)]
    )
    ratio_ticks(axes[-1], 1.08 * reach)
    for axis, agreement, groups in zip(axes, shown, paths, strict=True):
        _panel(axis, agreement, groups)
    level = f"{100 * shown[0].ratio.confidence:g} %"
    margin = f"±{100 * shown[0].margin:g} %"
    caption = draw.caption(
        f"Ratio of the first tool to the second{by_size(', shortest path on top')}; "
        f"each dot is a round. Below: the mean ratio with its {level} interval, and the prediction interval for one "
        f"more pair (both may be clipped). Band: practically equivalent, {margin}.",
        ("Methods that send different packets are in the table only.", len(drawn) < len(known)),
        f"{sizes((agreement.pairs for agreement in shown), 'pairs per comparison')}.",
        configured().caption("alike"),
        left_out(len(shown), len(drawn), "comparisons"),
    )
    repeated = [agreement for agreement in shown if agreement.pairs > 1] or shown
    far = max(repeated, key=lambda agreement: abs(math.log(agreement.ratio.estimate or 1.0)))
    ratio = times(far.ratio.estimate or 1.0, f"as long as {far.second}")
    title = f"Round trips of {far.first} are {ratio}: {VERDICTS[far.verdict]}"
    return Chart(figure, caption, "\n".join(_words(agreement) for agreement in shown), title=title)


def _by_size(points: Sequence[Pair]) -> list[tuple[str, float, list[float]]]:
    """Return each path with what orders the paths (geometric mean of both tools) and its ratios."""
    groups: dict[str, list[Pair]] = {}
    for pair in points:
        groups.setdefault(pair.path, []).append(pair)
    sized = [
        (
            path,
            math.exp(math.fsum(math.log(pair.first * pair.second) / 2 for pair in pairs) / len(pairs)) / MICROSECOND,
            [pair.first / pair.second for pair in pairs],
        )
        for path, pairs in groups.items()
    ]
    return ordered(sized, lambda pair: pair[1], lambda pair: pair[0])


def _panel(axis: Axes, agreement: Agreement, groups: Sequence[tuple[str, float, list[float]]]) -> None:
    draw.equivalence(axis, agreement.margin)
    mean, more = len(groups), len(groups) + 1
    assert agreement.ratio.estimate is not None
    if None not in known_ends(agreement.ratio.low, agreement.ratio.high):
        draw.bar(axis, mean, draw.ends_of(agreement.ratio), ESTIMATE, 2.4)
    draw.point(axis, mean, agreement.ratio.estimate, shape="|", colour=ESTIMATE, markersize=11, markeredgewidth=2.4)
    if configured().rtt:
        draw.point(axis, mean, 1, shape="x", colour=INK, markersize=5, zorder=4)
    if agreement.prediction is not None and None not in known_ends(*agreement.prediction):
        axis.plot(agreement.prediction, [more, more], color=ESTIMATE, linewidth=1.4, linestyle="--", zorder=2)
    names = [path for path, _, _ in groups]
    last = "one more pair" if agreement.prediction else "(one pair only)"
    draw.name_rows(axis, [*map(label, names), "mean ratio", last])
    draw.dots(
        axis,
        [
            (row, ratio, f"{path}: {plain(ratio, 4)}")
            for row, (path, _, ratios) in enumerate(groups)
            for ratio in ratios
        ],
    )
    draw.at_edge(axis, mean, f"{number(agreement.ratio.estimate)}×", ESTIMATE)
    for row, (_, _, ratios) in enumerate(groups):
        if len(ratios) == 1:
            draw.value_at(axis, row, ratios[0], ratios[0])
    axis.set_title(f"{agreement.first} ÷ {agreement.second}: {VERDICTS[agreement.verdict]}", fontsize=9)


def _words(agreement: Agreement) -> str:
    known = known_ends(agreement.ratio.low, agreement.ratio.high)
    ends = [end for end in known if end is not None]
    mean = f"{plain(agreement.ratio.estimate, 4)}{draw.brackets(ends)}"
    prediction = known_ends(*(agreement.prediction or (None, None)))
    more = (
        f", one more pair in{draw.brackets([end for end in prediction if end is not None])}"
        if None not in prediction
        else ""
    )
    paths = "; ".join(
        f"{path}: {', '.join(plain(value, 4) for value in ratios)}" for path, _, ratios in _by_size(agreement.points)
    )
    title = f"{agreement.first} over {agreement.second}: {VERDICTS[agreement.verdict]}"
    return f"{title}; mean {mean}{more}; {paths}"
