"""Measured differences between paths of an emulated network, drawn against the recorded ones."""

from __future__ import annotations

from collections.abc import Sequence

from azlatency.report.charts.base import MICROSECOND, label, new_figure, styled
from azlatency.report.objects import Chart, Note
from azlatency.stats.across_runs.emulation_check import EmulatedDifference

_INSIDE, _OUTSIDE = "#0072B2", "#D55E00"


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
    rows = [[step for step in drawn if step.method == method] for method in methods]
    heights = [0.26 * len(steps) for steps in rows]
    figure, axes = new_figure(
        len(methods), 1, 0.55 + sum(height + 0.5 for height in heights),
        sharex=True, gridspec_kw={"height_ratios": heights},
    )  # fmt: skip
    for axis, method, steps in zip(axes, methods, rows, strict=True):
        for row, step in enumerate(steps):
            low, high, error = _bounds(step)
            color = _INSIDE if step.holds else _OUTSIDE
            axis.plot([low, high], [row, row], color=color, linewidth=2)
            axis.plot([error], [row], "o" if step.holds else "D", color=color, markersize=4.5)
        axis.axvline(0, color="black", linewidth=1)
        axis.set_yticks(
            range(len(steps)), [f"{label(step.path)}, {step.recorded / MICROSECOND:,.0f} µs" for step in steps]
        )
        axis.set_ylim(len(steps) - 0.5, -0.5)
        axis.set_title(method)
        axis.grid(axis="y", visible=False)
    axes[-1].set_xlabel("measured less recorded difference, µs")
    inside, level = sum(bool(step.holds) for step in drawn), f"{100 * drawn[0].difference.confidence:g} %"
    caption = (
        f"Error of the measured differences to {drawn[0].reference}; beside each path the recorded difference. Bar: "
        f"{level} interval over rounds. {inside} of {len(drawn)} contain the recorded difference (blue dots); the "
        "others are orange diamonds."
    )
    texts = [f"{step.path}, {step.method}: {{1:+.1f}} µs [{{0:+.1f}}, {{2:+.1f}}]" for step in drawn]
    alt = "\n".join(
        text.format(low, error, high) for text, (low, high, error) in zip(texts, map(_bounds, drawn), strict=True)
    )
    return Chart(figure, caption, alt, title=f"{inside} of {len(drawn)} intervals contain the recorded difference")


def _bounds(step: EmulatedDifference) -> tuple[float, float, float]:
    """Return both ends of the interval and the estimate, each less the recorded difference, in µs."""
    difference = step.difference
    assert difference.low is not None and difference.high is not None and difference.estimate is not None
    ends = (difference.low, difference.high, difference.estimate)
    low, high, error = ((end - step.recorded) / MICROSECOND for end in ends)
    return low, high, error
