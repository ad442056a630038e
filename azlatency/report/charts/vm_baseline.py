"""Measured values of a VM next to the expected range."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING

from azlatency.report.card import span
from azlatency.report.charts import draw
from azlatency.report.charts.axes import plain_log_ticks
from azlatency.report.charts.base import label, lines, narrow, sizes, stack, styled
from azlatency.report.charts.draw import number
from azlatency.report.charts.options import by_size, ordered
from azlatency.report.charts.palette import BAND, ESTIMATE, GREY, RUN
from azlatency.report.objects import Chart, Note
from azlatency.report.tables.common import limits, read_in, verdict_of_all
from azlatency.stats.across_runs.baseline import Conformance
from azlatency.studies.format import column_unit, plain

if TYPE_CHECKING:
    from matplotlib.axes import Axes

#: Marker, edge and fill of each verdict, distinguishable without colour.
_MARKS = {"meets": ("o", ESTIMATE, ESTIMATE), "fails": ("X", RUN, RUN), "inconclusive": ("o", GREY, "white")}
_LOGARITHMIC_FROM = 15.0


@styled
def baseline_bullets(results: Sequence[Conformance]) -> Chart | Note:
    """Draw one panel per expectation: the band that it allows, and each path's mean with its bounds and verdict.

    Parameters
    ----------
    results : sequence of Conformance
        As `azlatency.baseline` returns them.

    Returns
    -------
    Chart or Note
        The chart, or a note with the reason where there is nothing to draw.
    """
    if not results:
        return Note("No chart: this study has no baseline.")
    panels: dict[str, list[Conformance]] = {}
    for result in results:
        if result.mean is not None:
            panels.setdefault(result.what, []).append(result)
    if not panels:
        return Note("No chart: no run of this study measured a quantity of the baseline.")
    panels = {
        what: ordered(rows, lambda result: result.mean or 0.0, lambda result: result.labels["path"])
        for what, rows in panels.items()
    }
    counts = [len(rows) * lines(*map(_where, rows)) for rows in panels.values()]
    shown = [result for rows in panels.values() for result in rows]
    if len(shown) == 1:
        return Note(f"No chart: one measurement only. {_words(shown[0])}.")
    figure, axes = stack(counts, each=0.21, gap=0.85, sharex=False)
    for axis, (what, rows) in zip(axes, panels.items(), strict=True):
        _panel(axis, rows)
        axis.set_title(f"{what}: {_expected(rows[0])}")
    level = f"{100 * results[0].confidence:g} %"
    counted = Counter(str(result.status) for result in shown)
    marks = {"meets": "filled dot: meets", "fails": "cross: fails", "inconclusive": "hollow grey: inconclusive"}
    words = "; ".join(text for status, text in marks.items() if counted[status])
    verdicts = {"meets": "as expected", "fails": "outside the expected range", "inconclusive": "inconclusive"}
    title = ", ".join(f"{counted[status]} {text}" for status, text in verdicts.items() if counted[status])
    if len(panels) == 1:
        title = f"{_range(shown)} where {_expected(shown[0])} is expected: {verdict_of_all(shown) or title}"
    caption = draw.caption(
        f"Mean of the runs and the expected range (blue){by_size(', in the order of size')}.",
        (f"Bar: one-sided {level} bounds, below and above.", any(r.low is not None for r in shown)),
        ("No bar: a single run.", any(r.low is None for r in shown)),
        f"{words[:1].upper()}{words[1:]}. {sizes((result.runs for result in shown), 'runs')}.",
    )
    return Chart(figure, caption, "\n".join(_words(result) for rows in panels.values() for result in rows), title=title)


def _panel(axis: Axes, rows: Sequence[Conformance]) -> None:
    scale, unit = read_in(rows[0].unit)
    edges = [limit / scale for limit in (rows[0].limit_low, rows[0].limit_high) if limit is not None]
    points = [result.mean / scale for result in rows if result.mean is not None]
    ends = [end / scale for result in rows for end in (result.low, result.high) if end is not None]
    most, least = max([*edges, *points, *ends]), min([*edges, *points])
    logarithmic = least > 0 and most > _LOGARITHMIC_FROM * least
    left, right = (least / 1.5, most * 1.2) if logarithmic else (0.0, 1.06 * most)
    if logarithmic:
        axis.set_xscale("log")
        plain_log_ticks(axis.xaxis)
    axis.set_xlim(left, right)
    axis.set_xlabel(unit + (" (log)" if logarithmic else ""))
    band = [left if rows[0].limit_low is None else rows[0].limit_low / scale,
            right if rows[0].limit_high is None else rows[0].limit_high / scale]  # fmt: skip
    axis.axvspan(*band, color=BAND, linewidth=0, zorder=0)
    for row, result in enumerate(rows):
        assert result.mean is not None
        shape, edge, face = _MARKS[result.status]
        value = result.mean / scale
        if bounds := draw.ends_of(result, scale):
            draw.bar(axis, row, (max(bounds[0], left), bounds[1]), edge, 2)
        draw.point(axis, row, value, text=_words(result), shape=shape, colour=edge, face=face, markersize=5.5)
        # In a column, words would leave no room for the dots; shape and colour say the same.
        draw.at_edge(axis, row, number(value) if narrow() else f"{number(value)}, {result.status}", edge)
    draw.name_rows(axis, [_where(result) for result in rows])


def _where(result: Conformance) -> str:
    return label(", ".join(str(result.labels[key]) for key in ("path", "method") if result.labels.get(key)))


def _expected(result: Conformance) -> str:
    return limits(result.limit_low, result.limit_high, result.unit, ("at most ", "at least ", " to "))


def _range(results: Sequence[Conformance]) -> str:
    unit = results[0].unit
    return span([result.mean for result in results if result.mean is not None], unit, like=column_unit(unit)[0])


def _words(result: Conformance) -> str:
    scale, unit = read_in(result.unit)
    ends = draw.brackets(draw.ends_of(result, scale), 5)
    where = ", ".join(str(result.labels[key]) for key in ("path", "method") if result.labels.get(key))
    assert result.mean is not None
    return f"{result.what}, {where}: {plain(result.mean / scale, 5)}{ends} {unit}, {_expected(result)}: {result.status}"
