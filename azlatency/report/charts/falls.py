"""When the rates of transfers fall: token buckets by size of the machine."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median

from azlatency.kit.drawing import draw
from azlatency.kit.drawing.axes import plain_log_ticks
from azlatency.kit.drawing.base import label, new_figure, styled
from azlatency.kit.drawing.palette import RUN
from azlatency.kit.objects import Chart, Note
from azlatency.kit.titles import span
from azlatency.report.charts.series import fall_words
from azlatency.report.groups import by_burst
from azlatency.stats.within_run.time_series import ThroughputSeries, falling
from azlatency.studies.format import duration, format_value, one_prefix

#: Most paths that the title names.
_MOST_NAMED = 4


@styled
def falls_by_path(rates: Sequence[ThroughputSeries]) -> Chart | Note:
    """Draw after how many minutes the rate of each run fell, by path: one dot per run, and the rates before and after.

    Parameters
    ----------
    rates : sequence of ThroughputSeries
        As `azlatency.stats.time_series.throughput_series` returns them.

    Returns
    -------
    Chart or Note
        The chart, or a note where the rate of fewer than two runs fell.
    """
    fallen, tested = falling(rates)
    if len(fallen) < 2:
        return Note("No chart: the rate of fewer than two runs fell.")
    usual, others = by_burst(fallen)
    after = {
        path: median(_minutes(rate) for rate in fallen if rate.path == path)
        for path in dict.fromkeys(rate.path for rate in fallen)
    }
    paths = sorted(after, key=after.__getitem__)
    figure, (axis,) = new_figure(1, 1, 0.9 + 0.42 * len(paths))
    axis.set_xscale("log")
    times = [_minutes(rate) for rate in fallen]
    axis.set_xlim(min(times) / 1.3, max(times) * 1.3)
    plain_log_ticks(axis.xaxis)
    draw.name_rows(axis, [label(path) for path in paths])
    for chosen, face in ((usual, ""), (others, "white")):
        for rate in chosen:
            text = f"{rate.name}: {fall_words(rate.path, rate.throttled)}"
            draw.point(axis, paths.index(rate.path), _minutes(rate), text=text, colour=RUN, face=face, markersize=5)
    left = {
        path: median(rate.throttled.sustained_rate or 0.0 for rate in usual if rate.path == path)
        for path in dict.fromkeys(rate.path for rate in usual)
    }
    for path, rate_left in left.items():
        text = f"then {format_value(rate_left, 'bit/s', like=one_prefix(left.values(), 'bit/s'))}"
        draw.at_edge(axis, paths.index(path), text)
    axis.set_xlabel("minutes until the rate falls (log)")
    axis.grid(axis="y", visible=False)
    started = span([rate.throttled.burst_rate or 0.0 for rate in usual], "bit/s", digits=2)
    other = span([rate.throttled.burst_rate or 0.0 for rate in others], "bit/s") if others else ""
    caption = draw.caption(
        f"Each dot is a transfer: the time until its rate fell and stayed low. Filled: it started at {started}.",
        (f"Hollow: at {other}.", others),
        "Right: the median rate afterwards.",
        (f"{len(tested) - len(fallen)} of {len(tested)} transfers did not fall.", len(fallen) < len(tested)),
    )
    times_of = {path: [_minutes(rate) for rate in fallen if rate.path == path] for path in paths}
    words = [f"{path}: {', '.join(duration(60e9 * time) for time in times)}" for path, times in times_of.items()]
    typical = {path: median(_minutes(rate) for rate in usual if rate.path == path) for path in paths if path in left}
    title = f"{len(fallen)} of {len(tested)} rates fall"
    if len(typical) <= _MOST_NAMED:
        title += f": after {', '.join(f'{duration(60e9 * time)} ({path})' for path, time in typical.items())}"
    return Chart(figure, caption, "\n".join(words), title=title)


def _minutes(rate: ThroughputSeries) -> float:
    return (rate.throttled.at_s or 0.0) / 60
