"""Runs needed per path for one precision, and over precisions for the path that needs the most runs."""

from __future__ import annotations

import math
from collections.abc import Sequence

from azlatency.kit.drawing import draw
from azlatency.kit.drawing.axes import plain_log_ticks
from azlatency.kit.drawing.base import MOST_ROWS, grid, label, lines, most_of, narrow, sizes, stack, styled
from azlatency.kit.drawing.options import by_size, ordered
from azlatency.kit.drawing.palette import BAND, ESTIMATE, RUN
from azlatency.kit.objects import Chart, Note
from azlatency.report.groups import runs_enough
from azlatency.stats.across_runs.planning import FEASIBLE, Plan

_COLUMNS, _CURVES = 3, 12
#: Letters of the longest name of a path beside which two panels stand side by side.
_SHORT = 20
_NOTHING = (
    "No chart: no path of this study has two runs with the same method, so the spread between runs is unknown. Run "
    "each path a few times first."
)


@styled
def runs_needed_forest(plans: Sequence[Plan]) -> Chart | Note:
    """Draw the runs that each path needs, at the pilot's spread and at the bounds of the true spread.

    Parameters
    ----------
    plans : sequence of Plan
        As `azlatency.plan` returns them.

    Returns
    -------
    Chart or Note
        The chart, or a note with the reason where there is nothing to draw.
    """
    answered = [plan for plan in plans if plan.at_pilot_spread is not None]
    shown, left = most_of(answered, lambda plan: plan.done, "paths and methods, those with the most runs", MOST_ROWS)
    panels: dict[str, list[Plan]] = {}
    for plan in shown:
        panels.setdefault(str(plan.labels["method"]), []).append(plan)
    if not panels:
        return Note(_NOTHING)
    if len(shown) == 1:
        return Note(f"No chart: one path only. {_words(shown[0])}.")
    panels = {
        method: ordered(rows, lambda plan: plan.at_pilot_spread or 0, lambda plan: plan.labels["path"])
        for method, rows in panels.items()
    }
    names = [label(str(plan.labels["path"])) for plan in shown]
    counts = [len(rows) * lines(*names) for rows in panels.values()]
    beside = 2 if len(counts) > 2 and max(map(len, names)) <= _SHORT else 1
    figure, axes = stack(counts, xlabel=f"{shown[0].what} (log)", most=beside)
    for axis, (method, rows) in zip(axes, panels.items(), strict=True):
        for row, plan in enumerate(rows):
            assert plan.at_pilot_spread is not None
            ends = [plan.low or plan.at_pilot_spread, plan.high or plan.at_pilot_spread]
            draw.bar(axis, row, ends)
            draw.point(axis, row, plan.at_pilot_spread, text=_words(plan), face="white")
            draw.point(axis, row, plan.done, shape="|", colour=RUN, markersize=11, markeredgewidth=2.2, zorder=4)
        draw.name_rows(axis, [label(plan.labels["path"]) for plan in rows])
        axis.set_title(method)
        axis.set_xscale("log")
    low, high = axes[-1].get_xlim()
    axes[-1].set_xlim(low, high * (high / low) ** (0.3 if narrow() else 0.1))
    plain_log_ticks(axes[-1].xaxis)
    for axis, rows in zip(axes, panels.values(), strict=True):
        for row, plan in enumerate(rows):
            feasible = plan.high is not None and plan.high <= FEASIBLE
            draw.text_at(
                axis,
                row,
                max(plan.high or plan.at_pilot_spread or 0, plan.done),
                f"{plan.high}" if feasible else f"> {FEASIBLE}",
            )
    caption = (
        f"Runs needed per path{by_size(', fewest first')}. Circle: if the true spread equals the observed one; "
        f"bar: from the lower to the upper bound of the spread; number: the upper bound, to plan with (> {FEASIBLE}: "
        "longer runs or more machines help more); orange tick: "
        "runs done. "
        f"{sizes((plan.done for rows in panels.values() for plan in rows), 'runs per path so far')}.{left}"
    )
    title = runs_enough(answered)[0].replace("**", "").removesuffix(".")
    return Chart(figure, caption, "\n".join(_words(plan) for rows in panels.values() for plan in rows), title=title)


@styled
def precision_chart(curves: Sequence[Sequence[Plan]]) -> Chart | Note:
    """Draw the runs needed against the precision wanted, one panel per method.

    Parameters
    ----------
    curves : sequence of sequence of Plan
        As `azlatency.stats.precision_curves` returns them; the title speaks of the first.

    Returns
    -------
    Chart or Note
        The chart, or a note with the reason where there is nothing to draw.
    """
    if not curves:
        return Note(_NOTHING)
    curves, left = most_of(curves, lambda curve: curve[0].done, "methods, those with the most runs", _CURVES)
    figure, axes = grid(
        len(curves), _COLUMNS, 2.3, xlabel="half-width, ±% (log)", ylabel="runs (log)", sharex=True, sharey=True
    )
    for axis, curve in zip(axes, curves, strict=True):
        x = [100 * float(plan.labels["relative"]) for plan in curve]
        middle = [float(plan.at_pilot_spread or math.nan) for plan in curve]
        low = [float(plan.low or math.nan) for plan in curve]
        high = [float(plan.high or math.nan) for plan in curve]
        axis.fill_between(x, low, high, color=BAND, linewidth=0, zorder=1)
        axis.plot(x, high, color=ESTIMATE, linewidth=1.8, zorder=3)
        axis.plot(x, middle, color=ESTIMATE, linewidth=1.2, linestyle="--", zorder=2)
        axis.axhline(curve[0].done, color=RUN, linewidth=1.2, zorder=2)
        axis.set_title(f"{curve[0].labels['method']}\n{curve[0].labels['path']}", fontsize=8.5)
        axis.set_xscale("log")
        axis.set_yscale("log")
        plain_log_ticks(axis.xaxis)
        plain_log_ticks(axis.yaxis)
    caption = (
        "Runs needed for an interval of a given half-width, for the path of each method that needs the most runs. "
        "Solid: at the upper bound of the spread (plan with this number); dashed: at the pilot's spread; band: down to "
        f"the lower bound; orange line: runs done. {sizes((curve[0].done for curve in curves), 'runs so far')}.{left}"
    )
    alt = "\n".join("; ".join(_words(plan) for plan in curve) for curve in curves)
    return Chart(figure, caption, alt, title=_title(curves[0]))


def _title(curve: Sequence[Plan]) -> str:
    """Say the narrowest width that feasible runs reach, and the next one, which they do not."""
    path = f"({curve[0].labels['path']}, {curve[0].labels['method']})"
    runs = {float(plan.labels["relative"]): plan.high for plan in curve}
    reached = [width for width, high in runs.items() if high is not None and high <= FEASIBLE]
    if not reached:
        return f"{FEASIBLE} runs are not enough for ±{100 * max(runs):g} % {path}"
    width = min(reached)
    narrower = [other for other in runs if other < width]
    more = f", ±{100 * max(narrower):g} % more than {FEASIBLE}" if narrower else ""
    return f"±{100 * width:g} % takes {runs[width]} runs{more} {path}"


def _words(plan: Plan) -> str:
    low, high = ("∞" if end is None else f"{end:,}" for end in (plan.low, plan.high))
    pilot = "∞" if plan.at_pilot_spread is None else f"{plan.at_pilot_spread:,}"
    return f"{plan.labels['path']}, {plan.labels['method']}: {plan.what} {pilot} [{low}, {high}], {plan.done} done"
