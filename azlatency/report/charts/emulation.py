"""Measured differences between paths of an emulated network, drawn against the recorded ones."""

from __future__ import annotations

from collections.abc import Sequence

from azlatency.report.charts import draw
from azlatency.report.charts.base import MICROSECOND, label, stack, styled
from azlatency.report.charts.options import by_size, ordered
from azlatency.report.charts.palette import ESTIMATE, INK, RUN
from azlatency.report.objects import Chart, Note
from azlatency.stats.across_runs.emulation_check import EmulatedDifference


@styled
def emulated_errors(differences: Sequence[EmulatedDifference]) -> Chart | Note:
    """Draw, for each path and method, the interval of the measured difference less the recorded one.

    Parameters
    ----------
    differences : sequence of EmulatedDifference
        As `azlatency.stats.emulated_differences` returns them.

    Returns
    -------
    Chart or Note
        The chart, or a note with the reason where there is nothing to draw.
    """
    drawn = [step for step in differences if step.holds is not None]
    if not drawn:
        return Note("No chart: the network was not emulated, or no path was measured in several rounds.")
    methods = list(dict.fromkeys(step.method for step in drawn))
    rows = [ordered((s for s in drawn if s.method == method), _error, lambda s: s.path) for method in methods]
    figure, axes = stack([len(steps) for steps in rows], xlabel="measured less recorded difference, µs")
    for axis, method, steps in zip(axes, methods, rows, strict=True):
        for row, step in enumerate(steps):
            low, high, error = _bounds(step)
            colour = ESTIMATE if step.holds else RUN
            draw.bar(axis, row, (low, high), colour, 2)
            draw.point(
                axis, row, error, text=_words(step), shape="o" if step.holds else "D", colour=colour, markersize=4.5
            )
            draw.at_edge(axis, row, f"{error:+.1f}", colour)
        axis.axvline(0, color=INK, linewidth=1)
        names = [f"{step.path}, {step.recorded / MICROSECOND:,.0f} µs" for step in steps]
        draw.name_rows(axis, [label(name) for name in names], 0.5)
        axis.set_title(method)
    inside, level = sum(bool(step.holds) for step in drawn), f"{100 * drawn[0].difference.confidence:g} %"
    caption = (
        f"Error of the measured differences to {drawn[0].reference}{by_size(', smallest first')}; beside each path the "
        f"recorded difference; the line at 0 is the ground truth. Bar: {level} interval over rounds. {inside} of "
        f"{len(drawn)} contain the recorded difference (blue dots); the others are orange diamonds."
    )
    alt = "\n".join(map(_words, drawn))
    return Chart(figure, caption, alt, title=f"{inside} of {len(drawn)} intervals contain the recorded difference")


def _bounds(step: EmulatedDifference) -> tuple[float, float, float]:
    """Return both ends of the interval and the estimate, each less the recorded difference, in µs."""
    difference = step.difference
    assert difference.low is not None and difference.high is not None and difference.estimate is not None
    ends = (difference.low, difference.high, difference.estimate)
    low, high, error = ((end - step.recorded) / MICROSECOND for end in ends)
    return low, high, error


def _error(step: EmulatedDifference) -> float:
    return _bounds(step)[2]


def _words(step: EmulatedDifference) -> str:
    low, high, error = _bounds(step)
    return f"{step.path}, {step.method}: {error:+.1f} µs [{low:+.1f}, {high:+.1f}]"
