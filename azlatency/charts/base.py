"""What all charts share: figures that no global state knows, the style, colours, axes, labels that keep apart."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from azlatency.display import Chart, style

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MICROSECOND, GIGABIT, SECOND = 1e3, 1e9, 1e9
WIDTH = 7.0
_LINE_STYLES = ("-", "--", ":", "-.")


def new_figure(rows: int, columns: int, width: float, height: float, **options: Any) -> tuple[Figure, list[Axes]]:
    """A figure that no global state knows, and its axes row by row."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height), layout="constrained")
    axes = figure.subplots(rows, columns, squeeze=False, **options)
    return figure, list(axes.flat)


def styled(draw: Any) -> Any:
    """Run a chart function under the style file."""
    from functools import wraps

    @wraps(draw)
    def run(*args: Any, **keywords: Any) -> Any:
        with style():
            chart = draw(*args, **keywords)
            if isinstance(chart, Chart):
                _freeze(chart.figure)
            return chart

    return run


def _freeze(figure: Figure) -> None:
    """Lay the figure out and leave it so: the layout engine moves things a little at each drawing."""
    for _ in range(2):
        figure.draw_without_rendering()
    figure.set_layout_engine("none")
    # The solver's answer differs from run to run in the last digits.
    for axis in figure.axes:
        left, bottom, width, height = (round(float(side), 6) for side in axis.get_position().bounds)
        axis.set_position((left, bottom, width, height))


def colour_of(index: int) -> tuple[str, str]:
    """Colour and line style of the index-th series; the style changes where the colours begin again."""
    from matplotlib import rcParams

    colours = rcParams["axes.prop_cycle"].by_key()["color"]
    return "#" + colours[index % len(colours)].lstrip("#"), _LINE_STYLES[index // len(colours) % len(_LINE_STYLES)]


def spread(positions: Sequence[float], least: float) -> list[float]:
    """Ascending positions in 0..1, moved as little as possible (least squares) to stand ``least`` apart.

    With the i-th position lowered by ``i * least`` the wish "ascending by at least that much" becomes "ascending".
    """
    from scipy.optimize import isotonic_regression

    steps = [index * least for index in range(len(positions))]
    lowered = isotonic_regression([position - step for position, step in zip(positions, steps, strict=True)]).x
    highest = max(1.0 - steps[-1], 0.0)
    return [min(max(float(spot), 0.0), highest) + step for spot, step in zip(lowered, steps, strict=True)]


def plain_log_ticks(axis: Any) -> None:
    """Ticks at 1, 2 and 5 times the powers of ten, as plain numbers."""
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter, NullLocator

    axis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.6g}"))
    axis.set_minor_locator(NullLocator())
    axis.set_minor_formatter(NullFormatter())


def nines(q: float) -> float:
    """Position of a quantile on an axis that gives each nine the same room."""
    return -math.log10(1 - q)
