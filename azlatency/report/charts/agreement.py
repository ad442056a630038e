"""Two tools on the same paths: their ratio over the size of what they measured, after Bland and Altman."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from azlatency.report.charts.axes import ratio_ticks
from azlatency.report.charts.base import MICROSECOND, label, left_out, lines, new_figure, sizes, styled
from azlatency.report.objects import Chart, Note
from azlatency.stats.across_runs.agreement import Agreement, Pair

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_PANELS = 5
_BLUE, _ORANGE, _GREY = "#0072B2", "#D55E00", "#767676"
_VERDICTS = {
    "different": "different",
    "different_within_margin": "different, but within the margin",
    "equivalent": "equal in practice",
    "undetermined": "undetermined",
}


@styled
def agreement_plot(found: Sequence[Agreement]) -> Chart | Note:
    """Ratio of two tools on each path, shortest round trip first, with the mean ratio and the band of equality.

    ``found``: `azlatency.agreement` or `azlatency.against`; the first five are drawn.
    """
    drawn = [each for each in found if each.points and each.ratio.estimate is not None]
    if not drawn:
        return Note("No chart: no two methods of this study measured a round trip on one path.")
    shown = drawn[:_PANELS]
    paths = [_by_size(each.points) for each in shown]
    counts = [len(each) * lines(*(label(f"{path} (1,000 µs)") for path, _, _ in each)) + 2 for each in paths]
    figure, axes = new_figure(
        len(shown), 1, 0.65 + sum(0.2 * count + 0.42 for count in counts), sharex=True,
        gridspec_kw={"height_ratios": [count + 1 for count in counts]},
    )  # fmt: skip
    for axis, each, groups in zip(axes, shown, paths, strict=True):
        _panel(axis, each, groups)
    ratios = [pair.first / pair.second for each in shown for pair in each.points]
    wide = [end for each in shown for end in (each.prediction or ()) if 0.2 < end < 5]
    reach = max(abs(math.log(each)) for each in [*ratios, *wide, *(1 + each.margin for each in shown)])
    ratio_ticks(axes[-1], 1.08 * reach)
    axes[-1].set_xlabel("first tool ÷ second (log)")
    level = f"{100 * shown[0].ratio.confidence:g} %"
    margin = f"±{100 * shown[0].margin:g} %"
    caption = (
        "First tool over second, path by path, the shortest round trip on top (its typical size beside the name); a "
        f"dot is a round. Below: the mean ratio with its {level} interval, and where one more pair would lie (either "
        f"may leave the page). Band: equal in practice, {margin}. Blue: the same kind of packet; grey: packets "
        f"differ, so this is about definitions. {sizes((each.pairs for each in shown), 'pairs a comparison')}."
    )
    caption += left_out(len(shown), len(drawn), "comparisons")
    return Chart(figure, caption, "\n".join(_words(each) for each in shown))


def _by_size(points: Sequence[Pair]) -> list[tuple[str, float, list[float]]]:
    """Paths with their typical size (geometric mean of both tools, µs) and the ratios of their rounds."""
    groups: dict[str, list[Pair]] = {}
    for each in points:
        groups.setdefault(each.path, []).append(each)
    sized = [
        (
            path,
            math.exp(math.fsum(math.log(pair.first * pair.second) / 2 for pair in own) / len(own)) / MICROSECOND,
            [pair.first / pair.second for pair in own],
        )
        for path, own in groups.items()
    ]
    return sorted(sized, key=lambda each: each[1])


def _panel(axis: Axes, each: Agreement, groups: Sequence[tuple[str, float, list[float]]]) -> None:
    colour = _GREY if each.differs_in else _BLUE
    axis.axvspan(1 / (1 + each.margin), 1 + each.margin, color="#DCEBF5", linewidth=0, zorder=0)
    axis.axvline(1, color="black", linewidth=0.8, zorder=1)
    for row, (_, _, ratios) in enumerate(groups):
        axis.plot(ratios, [row] * len(ratios), "o", color=_ORANGE, markersize=4.5, markerfacecolor="none", zorder=3)
    mean, more = len(groups), len(groups) + 1
    assert each.ratio.estimate is not None
    if each.ratio.low is not None and each.ratio.high is not None:
        axis.plot([each.ratio.low, each.ratio.high], [mean, mean], color=colour, linewidth=2.4, zorder=2)
    axis.plot([each.ratio.estimate], [mean], "|", color=colour, markersize=11, markeredgewidth=2.4, zorder=3)
    if each.prediction is not None:
        axis.plot(each.prediction, [more, more], color=colour, linewidth=1.4, linestyle="--", zorder=2)
    names = [f"{path} ({size:,.3g} µs)" if size < 1000 else f"{path} ({size:,.0f} µs)" for path, size, _ in groups]
    axis.set_yticks(
        range(more + 1), [*map(label, names), "mean ratio", "one more pair" if each.prediction else "(one pair only)"]
    )
    axis.set_ylim(more + 0.6, -0.6)
    axis.grid(axis="y", visible=False)
    axis.set_title(f"{each.first} ÷ {each.second}: {_subject(each)}", fontsize=9)


def _subject(each: Agreement) -> str:
    return f"other packets ({', '.join(each.differs_in)})" if each.differs_in else _VERDICTS[each.verdict]


def _words(each: Agreement) -> str:
    ratio = each.ratio
    ends = "" if ratio.low is None or ratio.high is None else f" [{ratio.low:.4g}, {ratio.high:.4g}]"
    more = "" if each.prediction is None else f", one more pair in [{each.prediction[0]:.4g}, {each.prediction[1]:.4g}]"
    paths = "; ".join(
        f"{path} ({size:,.5g} µs): {', '.join(f'{value:.4g}' for value in ratios)}"
        for path, size, ratios in _by_size(each.points)
    )
    return f"{each.first} over {each.second}: {_subject(each)}; mean {ratio.estimate:.4g}{ends}{more}; {paths}"
