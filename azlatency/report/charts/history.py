"""The history of each path: one dot per run or night, the levels as steps, and where they changed."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from azlatency.kit.drawing import draw
from azlatency.kit.drawing.base import GIGABIT, MICROSECOND, MOST_PANELS, grid, label, left_out, sizes, styled, tip
from azlatency.kit.drawing.palette import ESTIMATE, INK, RUN
from azlatency.kit.objects import Chart, Note
from azlatency.kit.titles import last_changes, percent
from azlatency.studies.format import format_value, plain

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from azlatency.stats.across_runs.run_history import Change, RunHistory

_READ_IN = {"ns": (MICROSECOND, "µs"), "bit/s": (GIGABIT, "Gbit/s"), "fraction": (0.01, "%")}
#: Most letters of a line above a panel.
_LETTERS = 34
#: A value this many times the highest level is drawn at the upper edge, or it would hide the levels.
_HIGHEST = 1.5


@styled
def history(series: Sequence[RunHistory]) -> Chart | Note:
    """Draw the history of each path, method and metric; those that changed are preferred if there are many.

    Parameters
    ----------
    series : sequence of RunHistory
        As `azlatency.history` returns them.

    Returns
    -------
    Chart or Note
        The chart, or a note with the reason where there is nothing to draw.
    """
    judged = [one for one in series if not one.refused]
    if not judged:
        return Note("No chart: no path was measured often enough for a history.")
    moving = [one for one in judged if one.changes or len(set(one.values)) > 1]
    first = sorted(moving or judged, key=lambda one: not one.changes)[:MOST_PANELS]
    shown = [one for one in judged if any(one is chosen for chosen in first)]
    figure, axes = grid(len(shown), 3, 1.35, xlabel="" if all(one.times for one in shown) else "run, in order")
    for axis, one in zip(axes, shown, strict=True):
        _panel(axis, one)
    changed = [one for one in judged if one.changes]
    title = f"No level changed in {len(judged)} series"
    if any(one.drift_in_words for one in judged):
        title = f"{sum(one.drift is not None for one in judged)} of {len(judged)} series drift, and no level changed"
    if changed:
        title = f"{len(changed)} of {len(judged)} series changed: {last_changes(changed)}"
    caption = draw.caption(
        "Each dot is a run, or the median of a night with several; thick line: level, the median of the dots between "
        f"two changes. {sizes((one.n for one in shown), 'points per panel')}.",
        ("Dashed: change of level, with the 95 % interval of its date.", any(one.changes for one in shown)),
        ("Triangles: values above the panel.", any(_beyond(one) for one in shown)),
        left_out(len(shown), len(judged), "series, those that changed first"),
    )
    return Chart(figure, caption, "\n".join(_words(one) for one in shown), title=title)


def _top(one: RunHistory) -> float:
    return max(one.levels) * _HIGHEST


def _beyond(one: RunHistory) -> list[int]:
    """Return the positions of the values that are drawn at the upper edge."""
    top = _top(one)
    return [place for place, value in enumerate(one.values) if value > top > 0]


def _panel(axis: Axes, one: RunHistory) -> None:
    from matplotlib.dates import AutoDateLocator, ConciseDateFormatter
    from matplotlib.ticker import MaxNLocator

    scale, unit = _READ_IN.get(one.unit, (1.0, one.unit))
    places: Any = list(one.times) if one.times else list(range(1, one.n + 1))
    beyond = set(_beyond(one))
    near = [place for place in range(one.n) if place not in beyond]
    (marks,) = axis.plot(
        [places[place] for place in near], [one.values[place] / scale for place in near], "o", color=RUN, markersize=2.5
    )
    tip(marks, *(_hint(one, place) for place in near))
    if beyond:
        (edge,) = axis.plot(
            [places[place] for place in sorted(beyond)], [_top(one) / scale] * len(beyond), "^", color=RUN, markersize=3
        )
        tip(edge, *(_hint(one, place) for place in sorted(beyond)))
    starts = [0, *(change.at for change in one.changes), one.n]
    for (begin, end), level in zip(pairwise(starts), one.levels, strict=True):
        axis.plot([places[begin], places[end - 1]], [level / scale] * 2, color=ESTIMATE, linewidth=1.6)
    for change in one.changes:
        axis.axvspan(places[change.at_low], places[change.at_high], color=INK, alpha=0.08, linewidth=0)
        line = axis.axvline(places[change.at], color=INK, linewidth=0.9, linestyle="--")
        tip(line, str(change))
    name = label(f"{one.labels['path']}, {one.labels['method']}, {one.labels['metric']}", _LETTERS, 2)
    axis.set_title("\n".join([name, *(_short(one, change) for change in one.changes[-1:])]), fontsize=8)
    axis.set_ylabel(unit)
    axis.margins(y=0.12)
    axis.yaxis.set_major_locator(MaxNLocator(nbins=4))
    if one.times:
        locator = AutoDateLocator(minticks=3, maxticks=5)
        axis.xaxis.set_major_locator(locator)
        axis.xaxis.set_major_formatter(ConciseDateFormatter(locator, show_offset=False))


def _hint(one: RunHistory, place: int) -> str:
    when = f"{one.times[place]:%Y-%m-%d %H:%M}" if one.times else f"run {place + 1}"
    mark = f", {one.run_labels[place]}" if one.run_labels[place] else ""
    return f"{when}: {format_value(one.values[place], one.unit, digits=4)}{mark}"


def _short(one: RunHistory, change: Change) -> str:
    """Return the last change for the title of a panel: date, size and label in force."""
    return ", ".join(part for part in (change.date, percent(change), change.label) if part)


def _words(one: RunHistory) -> str:
    scale, unit = _READ_IN.get(one.unit, (1.0, one.unit))
    levels = ", then ".join(f"{plain(level / scale, 5)} {unit}" for level in one.levels)
    changes = "; ".join(f"{change.date}: {change.size}" for change in one.changes)
    return f"{one.what}: {levels}; {changes or one.drift_in_words or 'no change'}"
