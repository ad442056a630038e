"""Both directions between zones: matrices, and the ratio of the two directions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from azlatency.report.card import span
from azlatency.report.charts import draw
from azlatency.report.charts.axes import ratio_ticks
from azlatency.report.charts.base import (
    MICROSECOND,
    MOST_ROWS,
    label,
    lines,
    most_of,
    narrow,
    new_figure,
    sizes,
    stack,
    styled,
)
from azlatency.report.charts.draw import number
from azlatency.report.charts.heat_map import MOST_ENDS, crowded, is_upright, name_ends, shade
from azlatency.report.charts.options import by_size, ordered
from azlatency.report.charts.palette import INK, ON_LIGHT
from azlatency.report.charts.ratios import pair_panel, pair_words, ratio_reach, ratio_title, verdict_words
from azlatency.report.charts.truth import configured
from azlatency.report.claim import Claim
from azlatency.report.objects import Chart, Note
from azlatency.report.titles import by_method, capitalised
from azlatency.stats.across_runs.asymmetry import Asymmetry
from azlatency.stats.across_runs.main_method import Measured
from azlatency.stats.result import Comparison, Estimate
from azlatency.studies.format import one_prefix, plain
from azlatency.studies.runs.path import NetworkPath

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_METHODS_SHOWN = 5
# Most letters of the title of a panel that has a neighbour.
_LETTERS_BESIDE = 46
# Most ends with an interval in each square, on a page and in a column.
_INTERVAL = (6, 4)


# --- the matrix


@styled
def zone_matrices(asymmetries: Sequence[Asymmetry]) -> Chart | Note:
    """Draw the round-trip time from each initiator (row) to each responder (column).

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
    drawn = [asymmetry for asymmetry in candidates if len(asymmetry.nodes) <= MOST_ENDS]
    if candidates and not drawn:
        return Note(
            f"No chart: every method has more than {MOST_ENDS} zones or hosts; the table lists all. Select some with "
            "`pairs`."
        )
    # A single square is a number, not a matrix.
    drawn = [asymmetry for asymmetry in drawn if len(asymmetry.cells) > 1]
    if not drawn:
        return Note("No chart: no method measured round-trip times between several known zones or hosts.")
    shown = drawn[:_METHODS_SHOWN]
    known = any(configured().rtt.get(str(path)) for asymmetry in shown for path in _paths(asymmetry))
    square = 0.46 if known else 0.36
    tall = [
        max(1.7, square * len(asymmetry.nodes) + 0.85) + (1.3 if crowded(asymmetry.nodes) else 0) for asymmetry in shown
    ]
    most = max(len(asymmetry.nodes) for asymmetry in shown)
    figure, axes = new_figure(len(tall), 1, sum(tall), gridspec_kw={"height_ratios": tall})
    for axis, asymmetry in zip(axes, shown, strict=True):
        _matrix_panel(axis, asymmetry)
    level, upright = f"{100 * shown[0].confidence:g} %", [is_upright(asymmetry.nodes) for asymmetry in shown]
    wide = "" if len(candidates) == len(drawn) else f" and at most {MOST_ENDS} zones or hosts"
    caption = draw.caption(
        f"Typical round-trip time in µs from initiator (row) to responder "
        f"(column){f', with its {level} interval or “1 run” below' if most <= _INTERVAL[narrow()] else ''}; empty: "
        "not measured.",
        (configured().caption("rtt").replace("×:", "× below:"), known and not any(upright)),
        (f"{sizes((asymmetry.rounds for asymmetry in shown), 'rounds per method')}.", shown[0].rounds),
        (
            f"Shown: the {len(shown)} of {len(candidates)} methods with the most rounds{wide}; the table lists all.",
            len(candidates) > len(shown),
        ),
    )
    method, values = by_method(
        (Measured(str(one.labels["method"]), str(cell.what), one.rounds), _typical(one, cell))
        for one in shown
        for cell in one.cells
    )
    main = next(one for one in shown if str(one.labels["method"]) == method)
    statistic = str(main.diagnostics["value"]).removesuffix("_ns")
    reach = span(values.values(), "ns", like=one_prefix(values.values(), "ns"))
    title = f"{capitalised(statistic)} round trip from zone to zone {reach}, {method}"
    alt = "\n".join(_matrix_words(asymmetry) for asymmetry in shown)
    return Chart(figure, caption, alt, title=title, claim=_claim(main, values))


def _claim(asymmetry: Asymmetry, values: dict[str, float]) -> Claim | None:
    """Return what other pages say of the same runs; nothing if a value is that of rounds of several runs."""
    left_out = asymmetry.diagnostics["without_round"] not in (0, asymmetry.diagnostics["runs"])
    if left_out or any(len(cell.run_ids) != cell.n for cell in asymmetry.cells):
        return None
    return Claim(
        quantity=str(asymmetry.diagnostics["value"]),
        method=str(asymmetry.labels["method"]),
        values=values,
        runs={str(cell.what): cell.n for cell in asymmetry.cells},
    )


def _typical(asymmetry: Asymmetry, cell: Estimate) -> float:
    """Return the typical run of a direction in ns, or its only run."""
    start, end = (asymmetry.nodes.index(str(cell.labels[name])) for name in ("from", "to"))
    return float(asymmetry.m[start, end])


def _matrix_panel(axis: Axes, asymmetry: Asymmetry) -> None:
    upright = is_upright(asymmetry.nodes)
    shade(axis, asymmetry.m / MICROSECOND)
    for cell in asymmetry.cells:
        start, end = str(cell.labels["from"]), str(cell.labels["to"])
        truth = configured().rtt.get(str(NetworkPath.between(start, end)))
        ends = "–".join(map(number, draw.ends_of(cell, MICROSECOND)))
        small = [] if len(asymmetry.nodes) > _INTERVAL[narrow()] else [ends or "1 run"]
        small += [f"× {number(truth / MICROSECOND)}"] if truth and not upright else []
        at = asymmetry.nodes.index(end) + 0.5, asymmetry.nodes.index(start) + (0.5, 0.33, 0.26)[len(small)]
        look: Any = {"ha": "center", "va": "center", "color": ON_LIGHT}
        axis.text(
            *at,
            number(_typical(asymmetry, cell) / MICROSECOND),
            fontsize=7.5 if upright else 8.5,
            rotation=90 if upright else 0,
            **look,
        )
        axis.text(at[0], at[1] + 0.4, "\n".join(small), fontsize=7, linespacing=1.1, **look)
    name_ends(axis, asymmetry.nodes)
    axis.set_title(asymmetry.labels["method"])
    axis.set_ylabel("initiator")
    axis.set_xlabel("responder")


def _paths(asymmetry: Asymmetry) -> list[NetworkPath]:
    return [NetworkPath.between(str(cell.labels["from"]), str(cell.labels["to"])) for cell in asymmetry.cells]


def _matrix_words(asymmetry: Asymmetry) -> str:
    cells = "; ".join(
        f"{cell.what} {plain(_typical(asymmetry, cell) / MICROSECOND, 5)}"
        + draw.brackets(draw.ends_of(cell, MICROSECOND), 5)
        for cell in asymmetry.cells
    )
    return f"{asymmetry.labels['method']}: {cells} µs"


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
        return Note(f"No chart: one comparison only. {pair_words(group[0].pairs[0])}.")
    pairs = [pair for panel in panels.values() for _, pair in panel]
    counts = [len(panel) * lines(*(label(name) for name, _ in panel)) for panel in panels.values()]
    beside = 2 if max(map(len, panels)) <= _LETTERS_BESIDE else 1
    figure, axes = stack(counts, xlabel="ratio of both directions (log)", most=beside)
    for axis, (title, panel) in zip(axes, panels.items(), strict=True):
        pair_panel(axis, [pair for _, pair in panel], [name for name, _ in panel])
        axis.set_title(title)
    truths = [
        _draw_truth(axis, row, pair, metric)
        for axis, panel in zip(axes, panels.values(), strict=True)
        for row, (_, pair) in enumerate(panel)
    ]
    ratio_ticks(axes[-1], ratio_reach(pairs))
    level = f"{100 * group[0].confidence:g} %"
    wider = ", wider where that is less than 1 µs" if metric == "latency" else ""
    caption = draw.caption(
        f"Ratio of the {quantity} in one direction to the other{by_size(', smallest first')}. Bar: {level} "
        f"interval over rounds. Band: practically equivalent (±{100 * pairs[0].margin:g} %{wider}). "
        f"{verdict_words(pairs)} Adjusted for the number of pairs. "
        f"{sizes((pair.ratio.n for pair in pairs), 'rounds per pair')}.{left}",
        (configured().caption("ratio"), any(truths)),
    )
    judged = [pair for pair in pairs if pair.labels["from"] != pair.labels["to"]]
    title = ratio_title(judged or pairs, f"{quantity[:1].upper()}{quantity[1:]}, both directions")
    return Chart(figure, caption, "\n".join(map(pair_words, pairs)), title=title)


def _draw_truth(axis: Axes, row: int, pair: Comparison, metric: str) -> bool:
    """Draw the ratio of the configured links if it is known: 1 for round trips, which cross both directions."""
    forward = NetworkPath.between(str(pair.labels["from"]), str(pair.labels["to"]))
    rates = [configured().rate.get(str(path)) for path in (forward, forward.reversed())]
    truth = {"latency": 1.0 if configured().rtt.get(str(forward)) else None}.get(metric)
    if metric == "throughput" and rates[0] and rates[1]:
        truth = rates[0] / rates[1]
    if truth is not None:
        draw.point(axis, row, truth, shape="x", colour=INK, markersize=6.5, zorder=2.5)
    return truth is not None


def _panels_by_pair(asymmetries: Sequence[Asymmetry]) -> tuple[dict[str, list[tuple[str, Comparison]]], str]:
    """Return the comparisons by title of their panel and name of their row, and the caption's sentence on the others.

    A panel is a pair of ends with one row per method, control pairs last; a single method has a row per pair.
    """
    candidates = [(pair, "") for asymmetry in asymmetries for pair in asymmetry.pairs]
    candidates += [(pair, " (same zone)") for asymmetry in asymmetries for pair in asymmetry.null]
    shown, left = most_of(
        candidates, lambda item: item[0].ratio.n, "comparisons, those with the most rounds", MOST_ROWS
    )
    one_method = len({pair.labels["method"] for pair, _ in shown}) == 1
    panels: dict[str, list[tuple[str, Comparison]]] = {}
    for pair, suffix in sorted(shown, key=lambda item: (bool(item[1]), item[0].ratio.estimate or 1.0)):
        path = NetworkPath.between(str(pair.labels["from"]), str(pair.labels["to"]))
        words = (f"{path} over {path.reversed()}{suffix}", str(pair.labels["method"]))
        title, name = words[::-1] if one_method else words
        panels.setdefault(title, []).append((name, pair))
    return {title: ordered(panel, lambda _: 0, lambda row: row[0]) for title, panel in panels.items()}, left
