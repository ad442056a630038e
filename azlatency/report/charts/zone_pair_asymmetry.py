"""Both directions between zones: matrices, initiator effects, and the ratio of the two directions."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from azlatency.logs.format import plain
from azlatency.report.charts.axes import ratio_ticks
from azlatency.report.charts.base import (
    MICROSECOND,
    MOST_ROWS,
    label,
    label_tall_panels,
    most_of,
    new_figure,
    side_by_side,
    sizes,
    styled,
)
from azlatency.report.charts.names import short
from azlatency.report.charts.palette import ESTIMATE, GREY, INK, ON_LIGHT
from azlatency.report.charts.ratios import pair_panel, pair_words, ratio_reach, ratio_title, verdict_words
from azlatency.report.charts.titles import by_method, extremes
from azlatency.report.charts.truth import configured
from azlatency.report.objects import Chart, Note
from azlatency.stats.across_runs.asymmetry import Asymmetry
from azlatency.stats.result import Comparison, Estimate
from azlatency.studies.path import Path

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_METHODS_SHOWN = 5
# Columns of a matrix that can still be read.
_MOST_ENDS = 12
# Letters of the name of an end, of a line of it, and of all names across before they are set aslant.
_LABEL, _LABEL_WIDTH, _LETTERS_ACROSS = 21, 14, 48


# --- the matrix


@styled
def zone_matrices(asymmetries: Sequence[Asymmetry]) -> Chart | Note:
    """Draw the round-trip time from each initiator (row) to each responder (column), and the initiator effects.

    Parameters
    ----------
    asymmetries : sequence of Asymmetry
        As `azlatency.asymmetry` returns them. Up to five methods are drawn, those with the most rounds first,
        and none with more than twelve zones or hosts.

    Returns
    -------
    Chart or Note
        The chart, or a note with the reason where there is nothing to draw.
    """
    candidates = sorted(
        (asymmetry for asymmetry in asymmetries if asymmetry.metric == "latency" and len(asymmetry.nodes) > 1),
        key=lambda asymmetry: -asymmetry.rounds,
    )
    drawn = [asymmetry for asymmetry in candidates if len(asymmetry.nodes) <= _MOST_ENDS]
    if candidates and not drawn:
        return Note(
            f"No chart: every method has more than {_MOST_ENDS} zones or hosts; the table lists all. Select some with "
            "`pairs`."
        )
    # A single square is a number, not a matrix.
    drawn = [asymmetry for asymmetry in drawn if len(asymmetry.cells) > 1]
    if not drawn:
        return Note("No chart: no method measured round-trip times between several known zones or hosts.")
    shown = drawn[:_METHODS_SHOWN]
    square = 0.46 if configured().rtt else 0.36
    tall = [max(1.7, square * len(asymmetry.nodes) + 0.85) + (1.3 if _crowded(asymmetry) else 0) for asymmetry in shown]
    effects = any(asymmetry.node_effects for asymmetry in shown)
    columns = side_by_side(2, 2)
    heights = tall if not effects or columns == 2 else [side for height in tall for side in (height + 0.6, height)]
    figure, axes = new_figure(
        len(heights), columns if effects else 1, sum(heights),
        gridspec_kw={"height_ratios": heights, "width_ratios": [1.25, 1][: columns if effects else 1]},
    )  # fmt: skip
    for row, asymmetry in enumerate(shown):
        _matrix_panel(axes[2 * row if effects else row], asymmetry)
        if effects:
            _initiator_panel(axes[2 * row + 1], asymmetry)
    level = f"{100 * shown[0].confidence:g} %"
    caption = (
        f"{'Left: typical' if effects else 'Typical'} round-trip time in µs from initiator (row) to responder "
        f"(column), with its {level} interval or “1 run” below; empty: not measured. "
        + (
            "Right: the effect of each initiator on its round-trip times relative to the other initiators, with its "
            f"{level} interval over rounds (hollow: one round, no interval). "
            if effects
            else ""
        )
        + (configured().caption("rtt").replace("×:", "× below:") + " " if configured().rtt else "")
        + f"{sizes((asymmetry.rounds for asymmetry in shown), 'rounds per method')}."
    )
    if len(candidates) > len(shown):
        wide = "" if len(candidates) == len(drawn) else f" and at most {_MOST_ENDS} zones or hosts"
        caption += (
            f" Shown: the {len(shown)} of {len(candidates)} methods with the most rounds{wide}; the table lists all."
        )
    cells = [
        (str(shown_one.labels["method"]), str(cell.what), float(matrix.loc[cell.labels["from"], cell.labels["to"]]))
        for shown_one, matrix in ((asymmetry, asymmetry.matrix()) for asymmetry in shown) for cell in shown_one.cells
    ]  # fmt: skip
    method, values = by_method(cells)
    title = extremes("round trip", values, "ns", method)
    return Chart(figure, caption, "\n".join(_matrix_words(asymmetry) for asymmetry in shown), title=title)


def _matrix_panel(axis: Axes, asymmetry: Asymmetry) -> None:
    import numpy as np
    import seaborn
    from matplotlib.colors import LogNorm

    values = asymmetry.m / MICROSECOND
    finite = values[np.isfinite(values)]
    # Shade on a logarithmic scale: paths between zones take about ten times as long as paths within a zone. Only the
    # lower two thirds of the shades, on which black text can be read.
    low, high = float(finite.min()), float(finite.max())
    norm = LogNorm(low / 1.1, high * (1.1 * high / low) ** 0.5)
    seaborn.heatmap(
        values, mask=~np.isfinite(values), norm=norm, cmap="Blues", cbar=False, linewidths=1, linecolor="white", ax=axis
    )
    axis.collections[-1].set_rasterized(False)
    intervals = {(cell.labels["from"], cell.labels["to"]): cell for cell in asymmetry.cells}
    for row, start in enumerate(asymmetry.nodes):
        for column, end in enumerate(asymmetry.nodes):
            value = values[row, column]
            if not math.isfinite(value):
                continue
            cell, truth = intervals[start, end], configured().rtt.get(str(Path.between(start, end)))
            below = "1 run" if cell.low is None or cell.high is None else (
                f"{_short(cell.low / MICROSECOND)}–{_short(cell.high / MICROSECOND)}"
            )  # fmt: skip
            below += f"\n× {_short(truth / MICROSECOND)}" if truth else ""
            at = (column + 0.5, row + (0.26 if truth else 0.33))
            axis.text(*at, _short(value), ha="center", va="center", fontsize=8.5, color=ON_LIGHT)
            axis.text(at[0], at[1] + (0.38 if truth else 0.4), below, ha="center", va="center", fontsize=7,
                      color=ON_LIGHT, linespacing=1.1)  # fmt: skip
    names, crowded = [short(node, _LABEL) for node in asymmetry.nodes], _crowded(asymmetry)
    places = [place + 0.5 for place in range(len(names))]
    axis.set_xticks(places, names, rotation=30 if crowded else 0, ha="right" if crowded else "center")
    axis.set_yticks(places, [label(name, _LABEL_WIDTH) for name in names], rotation=0)
    axis.tick_params(length=0)
    axis.grid(visible=False)
    for side in ("left", "bottom"):
        axis.spines[side].set_visible(False)
    axis.set_title(asymmetry.labels["method"])
    axis.set_ylabel("initiator")
    axis.set_xlabel("responder")


def _crowded(asymmetry: Asymmetry) -> bool:
    """Return whether the names are too long to fit side by side."""
    return sum(len(short(node, _LABEL)) for node in asymmetry.nodes) > _LETTERS_ACROSS


def _initiator_panel(axis: Axes, asymmetry: Asymmetry) -> None:
    effects = asymmetry.node_effects
    if not effects:
        axis.set_xticks([])
        axis.set_yticks([])
        axis.spines[:].set_visible(False)
        axis.text(
            0.5, 0.5, "no initiator effects: no pair of zones\nwas measured in both directions", ha="center",
            va="center", fontsize=8, color=GREY, transform=axis.transAxes,
        )  # fmt: skip
        return
    for row, effect in enumerate(effects):
        assert effect.estimate is not None
        middle = effect.estimate / MICROSECOND
        alone = effect.low is None or effect.high is None
        if effect.low is not None and effect.high is not None:
            ends = [effect.low / MICROSECOND, effect.high / MICROSECOND]
            axis.plot(ends, [row, row], color=ESTIMATE, linewidth=2.2, zorder=2)
        axis.plot([middle], [row], "o", color=ESTIMATE, markerfacecolor="white" if alone else ESTIMATE, zorder=3)
    axis.axvline(0, color=INK, linewidth=0.8, zorder=1)
    axis.set_yticks(
        range(len(effects)),
        [label(short(effect.what.removeprefix("initiator "), _LABEL), _LABEL_WIDTH) for effect in effects],
    )
    axis.set_ylim(len(effects) - 0.4, -0.6)
    axis.margins(x=0.15)
    axis.locator_params(axis="x", nbins=5)
    axis.grid(axis="y", visible=False)
    axis.set_title("initiator effect, µs", fontsize=9)


def _short(value: float) -> str:
    return f"{value:,.0f}" if value >= 100 else plain(value)


def _matrix_words(asymmetry: Asymmetry) -> str:
    cells = "; ".join(
        f"{cell.what} {plain(asymmetry.matrix().loc[cell.labels['from'], cell.labels['to']] / MICROSECOND, 5)}"
        + _ends(cell, MICROSECOND)
        for cell in asymmetry.cells
    )
    effects = ", ".join(
        f"{effect.what} {(effect.estimate or 0.0) / MICROSECOND:+.3g}" + _ends(effect, MICROSECOND)
        for effect in asymmetry.node_effects
    )
    return f"{asymmetry.labels['method']}: {cells} µs" + (f"; initiator effects {effects} µs" if effects else "")


def _ends(estimate: Estimate, scale: float) -> str:
    return (
        ""
        if estimate.low is None or estimate.high is None
        else f" [{plain(estimate.low / scale, 5)}, {plain(estimate.high / scale, 5)}]"
    )


# --- the ratio of both directions

_TITLES = {"latency": "round-trip time", "throughput": "goodput", "retransmits": "retransmits"}


@styled
def asymmetry_forest(asymmetries: Sequence[Asymmetry], metric: str = "latency") -> Chart | Note:
    """Draw the ratio of both directions of each pair, by method, with the band of practical equivalence.

    Parameters
    ----------
    asymmetries : sequence of Asymmetry
        As `azlatency.asymmetry` returns them.
    metric : {"latency", "throughput", "retransmits"}
        What to compare.

    Returns
    -------
    Chart or Note
        The chart, or a note with the reason where there is nothing to draw.
    """
    group = [
        asymmetry for asymmetry in asymmetries if asymmetry.metric == metric and (asymmetry.pairs or asymmetry.null)
    ]
    if not any(asymmetry.pairs for asymmetry in group):
        return Note(f"No chart: this study has no {_TITLES[metric]} in both directions between two zones.")
    quantity = _TITLES[metric]
    panels, left = _panels_by_pair(group)
    if sum(map(len, panels.values())) == 1:
        return Note(f"No chart: one comparison only. {pair_words(next(iter(panels.values()))[0])}.")
    pairs = [pair for panel in panels.values() for pair in panel]
    counts = [len(panel) for panel in panels.values()]
    figure, axes = new_figure(
        len(panels), 1, 0.65 + sum(0.19 * count + 0.42 for count in counts), sharex=True,
        gridspec_kw={"height_ratios": [count + 1 for count in counts]},
    )  # fmt: skip
    for axis, (title, panel) in zip(axes, panels.items(), strict=True):
        pair_panel(axis, panel)
        axis.set_title(title)
        _draw_truth(axis, panel, metric)
    ratio_ticks(axes[-1], ratio_reach(pairs))
    label_tall_panels(axes)
    axes[-1].set_xlabel(f"ratio of the {quantity} in both directions (log)")
    level = f"{100 * group[0].confidence:g} %"
    wider = ", wider where that is less than 1 µs" if metric == "latency" else ""
    caption = (
        f"Ratio of the {quantity} in one direction to the other, by method. Bar: {level} interval over rounds. Band: "
        f"practically equivalent (±{100 * pairs[0].margin:g} %{wider}). {verdict_words(pairs)} Adjusted for the number "
        "of pairs. "
        f"{sizes((pair.ratio.n for pair in pairs), 'rounds per pair')}.{left}"
    )
    caption += f" {configured().caption('ratio')}" if configured().rtt and metric != "retransmits" else ""
    judged = [pair for pair in pairs if pair.labels["from"] != pair.labels["to"]]
    title = ratio_title(judged or pairs, f"{quantity[:1].upper()}{quantity[1:]}, both directions")
    return Chart(figure, caption, "\n".join(map(pair_words, pairs)), title=title)


def _draw_truth(axis: Axes, pairs: Sequence[Comparison], metric: str) -> None:
    """Draw the ratio of the configured links of each pair: 1 for round trips, which cross both directions."""
    for row, pair in enumerate(pairs):
        forward = Path.between(str(pair.labels["from"]), str(pair.labels["to"]))
        rates = [configured().rate.get(str(path)) for path in (forward, forward.reversed())]
        if metric == "latency" and configured().rtt.get(str(forward)):
            axis.plot([1], [row], "x", color=INK, markersize=6.5, zorder=2.5)
        elif metric == "throughput" and rates[0] and rates[1]:
            axis.plot([rates[0] / rates[1]], [row], "x", color=INK, markersize=6.5, zorder=2.5)


def _panels_by_pair(asymmetries: Sequence[Asymmetry]) -> tuple[dict[str, list[Comparison]], str]:
    """Return the comparisons by title of their panel, control pairs last, and the caption's sentence on the others."""
    candidates = [(pair, "") for asymmetry in asymmetries for pair in asymmetry.pairs]
    candidates += [(pair, " (same zone: control pair)") for asymmetry in asymmetries for pair in asymmetry.null]
    shown, left = most_of(
        candidates, lambda item: item[0].ratio.n, "comparisons, those with the most rounds", MOST_ROWS
    )
    panels: dict[str, list[Comparison]] = {}
    for pair, suffix in shown:
        start, end = str(pair.labels["from"]), str(pair.labels["to"])
        title = f"{Path.between(start, end)} over {Path.between(end, start)}{suffix}"
        panels.setdefault(title, []).append(pair)
    return panels, left
