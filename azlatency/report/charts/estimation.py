"""Estimation plot: the run values of each placement next to their ratios to a reference placement."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from azlatency.kit.claim import Claim
from azlatency.kit.drawing import draw
from azlatency.kit.drawing.axes import plain_log_ticks, times_axis
from azlatency.kit.drawing.base import MICROSECOND, label, left_out, lines, new_figure, side_by_side, sizes, styled
from azlatency.kit.drawing.draw import number
from azlatency.kit.drawing.palette import ESTIMATE, GREY, INK
from azlatency.kit.drawing.truth import configured
from azlatency.kit.objects import Chart, Note
from azlatency.kit.titles import capitalised, names, span, tied, times
from azlatency.report.differences import change_words, verdict_on
from azlatency.stats.across_runs.main_method import rank_methods
from azlatency.stats.across_runs.placement import Change, Condition
from azlatency.studies.format import one_prefix, plain

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_PANELS = 4
#: Most paths that a title lists with their values.
_MOST_NAMED = 3


@styled
def estimation_plot(changes: Sequence[Change]) -> Chart | Note:
    """Draw run values next to ratios: a reference and its alternatives on the left, their ratios on the right.

    Parameters
    ----------
    changes : sequence of Change
        As `azlatency.stats.placement.changes` returns them. Changes with one reference and one method share a panel;
        the four panels with the most intervals are drawn.

    Returns
    -------
    Chart or Note
        The chart, or a note with the reason where there is nothing to draw.
    """
    groups: dict[tuple[str, str], list[Change]] = {}
    for change in changes:
        groups.setdefault((change.base.path, change.base.method), []).append(change)
    if not groups:
        return Note("No chart: no two measurements of this study differ in only one of these factors.")
    shown = sorted(groups.values(), key=lambda group: (-sum(map(_known, group)), -len(group)))[:_PANELS]
    shown = [sorted(group, key=lambda change: _effect(change)[1][0]) for group in shown]
    rows = [[label(change.path, 30) for change in _rows(group)] for group in shown]
    counts = [len(change) * lines(*change) for change in rows]
    columns = side_by_side(2, 2)
    heights = [count for count in counts for _ in range(2 // columns)]
    figure, axes = new_figure(
        len(heights),
        columns,
        0.7 + sum(0.22 * count + 0.6 for count in heights),
        gridspec_kw={"height_ratios": [count + 1.5 for count in heights], "width_ratios": [1.1, 1][:columns]},
    )
    for index, (group, ticks) in enumerate(zip(shown, rows, strict=True)):
        values, effects = axes[2 * index], axes[2 * index + 1]
        _values(values, _rows(group), ticks)
        _effects(effects, group, None if columns == 2 else ticks)
        # Align the rows of both panels.
        effects.set_ylim(values.get_ylim())
        values.set_title(f"{group[0].base.method}: {group[0].base.statistic} of a run, µs")
        effects.set_title("ratio to the first row", fontsize=9)
    caption = draw.caption(
        f"{'Left' if columns == 2 else 'Upper panels'}: each circle is a run (diamonds: reported in a text). "
        f"{'Right' if columns == 2 else 'Lower panels'}: ratio to the panel's first row, smallest first"
        f"{_interval_words(changes)}",
        ("Shaded: practically equivalent.", any(change.comparison for change in changes)),
        ("Hollow: no interval, valid for these connections only.", not all(map(_known, changes))),
        f"{_runs(shown)}.",
        (
            "×: configured round-trip delays of the emulated links and their ratio, without the time of the hosts.",
            any(configured().rtt.get(condition.path) for group in shown for condition in _rows(group)),
        ),
        left_out(len(shown), len(groups), "references"),
    )
    methods = rank_methods(condition.measured for group in shown for condition in _rows(group))
    main = next(group for group in shown if group[0].base.measured.method == methods[0])
    return Chart(figure, caption, "\n".join(_words(group) for group in shown), title=_title(main), claim=_claim(main))


def _claim(group: Sequence[Change]) -> Claim:
    base = group[0].base
    ratios = {change.other.path: _effect(change)[1][0] for change in group}
    return Claim(quantity=f"{base.statistic} over that of {base.path}", method=base.method, values=ratios)


def _title(group: Sequence[Change]) -> str:
    """Say how much longer the farthest paths take than the reference, if their runs show it: one, or all tied ones."""
    base, ratios = group[0].base, _claim(group).values
    intervals = {change.other.path: _effect(change)[0] for change in group}
    apart = {change.other.path: change for change in group if verdict_on([change], len(group)) == "different"}
    end = f"({base.method}, {base.statistic} of a run)"
    if not apart:
        values = {path: value for row in _rows(group) for path, value in ((row.path, row.values),)}
        like = one_prefix((value for some in values.values() for value in some), "ns")
        listed = "; ".join(f"{path} {span(some, 'ns', like=like)}" for path, some in list(values.items())[:_MOST_NAMED])
        more = f"; {len(values) - _MOST_NAMED} more" if len(values) > _MOST_NAMED else ""
        return f"{capitalised(change_words(group, len(group)))}: {listed}{more} {end}"
    known = {path: ratios[path] for path in apart}
    far = tied(known, max(known, key=known.__getitem__), intervals)
    ratio = times(far.values(), f"as long as {base.path}")
    return f"{names(far)} {'takes' if len(far) == 1 else 'take'} {ratio} {end}"


def _runs(shown: Sequence[Sequence[Change]]) -> str:
    counts = [len(condition.values) for group in shown for condition in _rows(group) if condition.origin == "log"]
    return sizes(counts, "runs per row") or "no logs"


def _known(change: Change) -> bool:
    return change.comparison is not None and change.comparison.ratio.low is not None


def _rows(group: Sequence[Change]) -> list[Condition]:
    return [group[0].base, *(change.other for change in group)]


def _values(axis: Axes, rows: Sequence[Condition], names: Sequence[str]) -> None:
    for place, condition in enumerate(rows):
        x = [value / MICROSECOND for value in condition.values]
        if condition.origin == "reported":
            axis.plot(x, [place] * len(x), color=GREY, linewidth=1.4, zorder=2)
            axis.plot(x, [place] * len(x), "D", color=GREY, markersize=4.5, zorder=3)
    logged = [
        (place, c.path, value / MICROSECOND) for place, c in enumerate(rows) if c.origin == "log" for value in c.values
    ]
    everything = [value / MICROSECOND for condition in rows for value in condition.values]
    everything += [truth / MICROSECOND for row in rows if (truth := configured().rtt.get(row.path))]
    if max(everything) > 4 * min(everything) > 0:
        axis.set_xscale("log")
        axis.set_xlim(min(everything) / 1.3, max(everything) * (max(everything) / min(everything)) ** 0.25)
        plain_log_ticks(axis.xaxis)
    else:
        axis.set_xlim(0, 1.3 * max(everything))
    draw.name_rows(axis, names)
    draw.dots(axis, [(place, value, f"{path}: {plain(value, 5)} µs") for place, path, value in logged])
    for place, condition in enumerate(rows):
        if condition.origin == "reported" or len(condition.values) == 1:
            x = [value / MICROSECOND for value in condition.values]
            draw.value_at(axis, place, max(x), *x)
        draw.truth(axis, place, configured().rtt.get(condition.path), MICROSECOND)
    axis.grid(axis="y", visible=False)


def _effects(axis: Axes, group: Sequence[Change], names: Sequence[str] | None) -> None:
    draw.equivalence(axis, next((change.comparison.margin for change in group if change.comparison), None))
    draw.point(axis, 0, 1, shape="|", colour=INK, markersize=9)
    ends = [1.0]
    for row, change in enumerate(group, start=1):
        interval, points = _effect(change)
        draw.bar(axis, row, interval)
        shape, text = "o" if change.comparison is not None else "D", _effect_words(change)
        colour, face = (ESTIMATE, ESTIMATE) if interval else (GREY, "white")
        draw.point(axis, row, *points, text=text, shape=shape, colour=colour, face=face, markersize=4.8)
        draw.at_edge(axis, row, f"{number(points[0])}×")
        truth = configured().rtt_ratio(change.other.path, change.base.path)
        draw.truth(axis, row, truth)
        ends += [*(end for end in interval if 0.05 < end < 20), *points, truth or 1.0]
    times_axis(axis, [0.9, 1.1, *ends])
    axis.set_yticks(range(len(group) + 1), names or [""] * (len(group) + 1))
    axis.grid(axis="y", visible=False)


def _effect(change: Change) -> tuple[tuple[float, ...], list[float]]:
    """Return the interval of the ratio and its estimate, or no interval and the ends of the measured range."""
    if change.comparison is not None and change.comparison.ratio.estimate is not None:
        return draw.ends_of(change.comparison.ratio), [change.comparison.ratio.estimate]
    return (), list(dict.fromkeys((change.ratio_low, change.ratio_high)))


def _effect_words(change: Change) -> str:
    return f"{change.other.path} ÷ {change.base.path}: {' – '.join(map(plain, _effect(change)[1]))}"


def _interval_words(changes: Sequence[Change]) -> str:
    levels = [
        change.comparison.ratio.confidence for change in changes if change.comparison is not None and _known(change)
    ]
    return f", bar: {100 * levels[0]:g} % interval from repeated runs." if levels else "; no path has repeated runs."


def _words(group: Sequence[Change]) -> str:
    shown = []
    for condition in _rows(group):
        values = ", ".join(plain(value / MICROSECOND, 5) for value in dict.fromkeys(condition.values))
        shown.append(f"{condition.path} {values} µs")
    shown += [f"{_effect_words(change)}{draw.brackets(_effect(change)[0], 3)}" for change in group]
    return f"{group[0].base.method}, {group[0].base.statistic} of a run: " + "; ".join(shown)
