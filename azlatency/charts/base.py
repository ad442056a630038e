"""What all charts share: figures that no global state knows, their width in print, style, colours, axes, labels."""

from __future__ import annotations

import math
import textwrap
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from azlatency.display import Chart, style

if TYPE_CHECKING:
    import numpy as np
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MICROSECOND, GIGABIT, SECOND = 1e3, 1e9, 1e9
#: Inches: one column and the whole page of a two-column journal.
_WIDTHS = {"single": 3.5, "double": 7.0}
_column: ContextVar[Literal["single", "double"]] = ContextVar("column", default="double")
#: Ticks of a ratio by the reach of its axis (in logarithms to either side).
_RATIO_TICKS = (
    (0.06, (0.95, 0.96, 0.97, 0.98, 0.99, 1.0, 1.01, 1.02, 1.03, 1.04, 1.05)),
    (0.12, (0.9, 0.92, 0.94, 0.96, 0.98, 1.0, 1.02, 1.04, 1.06, 1.08, 1.1)),
    (0.4, (0.7, 0.8, 0.9, 1.0, 1.1, 1.2, 1.3, 1.4)),
    (0.8, (0.5, 0.6, 0.7, 0.85, 1.0, 1.2, 1.5, 2.0)),
    (2.5, (0.1, 0.2, 0.3, 0.5, 0.7, 1.0, 1.5, 2.0, 3.0, 5.0, 10.0)),
)
_LINE_STYLES = ("-", "--", ":", "-.")


@contextmanager
def column(width: Literal["single", "double"]) -> Iterator[None]:
    """Charts drawn inside are as wide as one column of a journal (3.5 in) or its page (7 in, as without this).

    Letters keep their size; panels that stand side by side on the page stand below each other in one column.
    """
    if width not in _WIDTHS:
        raise ValueError(f"column = {width!r}: 'single' or 'double'")
    token = _column.set(width)
    try:
        yield
    finally:
        _column.reset(token)


def side_by_side(most: int, panels: int) -> int:
    """Panels in a row: at most ``most`` on a page, one in a column."""
    return min(most if _column.get() == "double" else 1, panels)


def label(text: str, letters: int = 46) -> str:
    """A long tick label in lines of ``letters`` (on a page; fewer in a column)."""
    return textwrap.fill(text, letters if _column.get() == "double" else max(letters // 2, 16))


def lines(*labels: str) -> int:
    """Lines of the longest of the labels."""
    return max((each.count("\n") for each in labels), default=0) + 1


def narrow() -> bool:
    """Whether charts are drawn for one column."""
    return _column.get() == "single"


def thinned(ticks: Sequence[float], low: float, high: float, middle: float = 1.0) -> list[float]:
    """The ticks inside the axis; in a column every other one, ``middle`` among them."""
    inside = [each for each in ticks if low <= each <= high]
    if _column.get() == "double" or len(inside) < 6:
        return inside
    start = inside.index(middle) % 2 if middle in inside else 0
    return inside[start::2]


def new_figure(rows: int, columns: int, height: float, **options: Any) -> tuple[Figure, list[Axes]]:
    """A figure that no global state knows, as wide as `column` says, and its axes row by row; ``height`` in inches."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(_WIDTHS[_column.get()], height), layout="constrained")
    axes = figure.subplots(rows, columns, squeeze=False, **options)
    return figure, list(axes.flat)


@dataclass
class _Export:
    """Where charts are also saved to, in which formats, and how often each function was called."""

    folder: Path
    formats: tuple[str, ...]
    calls: Counter[str]


_export: ContextVar[_Export | None] = ContextVar("export", default=None)


def export(formats: str, folder: Path | str) -> None:
    """From here on also save each chart as ``folder``/name of its function; ``formats``: "pdf png svg", "" for none.

    A function that is called again counts: latency_forest.pdf, latency_forest-2.pdf. Raises `ValueError` for a format
    that is none of the three.
    """
    wanted = tuple(formats.replace(",", " ").split())
    if unknown := [each for each in wanted if each not in ("svg", "pdf", "png")]:
        raise ValueError(f"export = {formats!r}: {unknown[0]} is none of svg, pdf, png")
    _export.set(_Export(Path(folder), wanted, Counter()) if wanted else None)


def _save(chart: Chart, name: str) -> None:
    target = _export.get()
    if target is None:
        return
    target.calls[name] += 1
    count = target.calls[name]
    target.folder.mkdir(parents=True, exist_ok=True)
    chart.save(target.folder / (name if count == 1 else f"{name}-{count}"), target.formats)


def styled(draw: Any) -> Any:
    """Run a chart function under the style file; save its chart where that is wanted."""
    from functools import wraps

    @wraps(draw)
    def run(*args: Any, **keywords: Any) -> Any:
        with style():
            chart = draw(*args, **keywords)
            if isinstance(chart, Chart):
                _freeze(chart.figure)
                _save(chart, draw.__name__)
            return chart

    return run


def _freeze(figure: Figure) -> None:
    """Lay the figure out and leave it so: the layout engine moves things a little at each drawing."""
    for _ in range(2):
        figure.draw_without_rendering()
        _break_long_lines(figure)
    for _ in range(2):
        figure.draw_without_rendering()
        _pull_titles_in(figure)
    figure.set_layout_engine("none")
    # The solver's answer differs from run to run in the last digits.
    for axis in figure.axes:
        left, bottom, width, height = (round(float(side), 6) for side in axis.get_position().bounds)
        axis.set_position((left, bottom, width, height))


def _break_long_lines(figure: Figure) -> None:
    """Titles and axis labels that are wider than their room, in as many lines as they need."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    renderer = FigureCanvasAgg(figure).get_renderer()
    page = figure.bbox
    for axis in figure.axes:
        for item in (axis._left_title, axis.xaxis.label, axis.yaxis.label):  # type: ignore[attr-defined]
            box = item.get_window_extent(renderer)
            length = box.height if item is axis.yaxis.label else box.width
            room = {axis.xaxis.label: _centred(axis, page), axis.yaxis.label: page.height}.get(item, 0.0)
            if item is axis._left_title:  # type: ignore[attr-defined]
                room = _right_end(axis, figure) - box.x0
                if length > room and axis.get_tightbbox(renderer) is not None:
                    # A title that is too long for its axes begins where their tick labels do.
                    inner = axis.get_window_extent()
                    start = min(axis.yaxis.get_tightbbox(renderer).x0, box.x0)  # type: ignore[union-attr]
                    item.set_x((start - inner.x0) / inner.width)
                    room += box.x0 - start
            if length > room > 0:
                letters = max(len(line) for line in item.get_text().split("\n"))
                shorter = max(int(letters * room / length) - 1, 8)
                item.set_text("\n".join(textwrap.fill(line, shorter) for line in item.get_text().split("\n")))


def _pull_titles_in(figure: Figure) -> None:
    """Titles that were moved left begin on the page, however the layout moved since."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    renderer = FigureCanvasAgg(figure).get_renderer()
    for axis in figure.axes:
        title = axis._left_title  # type: ignore[attr-defined]
        missing = figure.bbox.x0 + 2 - title.get_window_extent(renderer).x0
        if missing > 0:
            title.set_x(title.get_position()[0] + missing / axis.get_window_extent().width)


def _centred(axis: Axes, page: Any) -> float:
    """Pixels that a text centred under the axes may be wide."""
    own = axis.get_window_extent()
    middle = (own.x0 + own.x1) / 2
    return float(2 * min(middle - page.x0, page.x1 - middle))


def _right_end(axis: Axes, figure: Figure) -> float:
    """Where the next panel in the row begins, or the page ends, in pixels."""
    own = axis.get_window_extent()
    others = [other.get_window_extent() for other in figure.axes if other is not axis and other.get_visible()]
    beside = [box.x0 for box in others if box.x0 > own.x1 and min(box.y1, own.y1) - max(box.y0, own.y0) > 0]
    return float(min([figure.bbox.x1, *(edge - 4 for edge in beside)]))


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


def plain_log_ticks(axis: Any, *, decades_only: bool = False) -> None:
    """Ticks at the powers of ten (and 2 and 5 times them), as plain numbers."""
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter, NullLocator

    axis.set_major_locator(LogLocator(subs=(1,) if decades_only else (1, 2, 5)))
    axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.6g}"))
    axis.set_minor_locator(NullLocator())
    axis.set_minor_formatter(NullFormatter())


def ratio_ticks(axis: Axes, reach: float, *, upright: bool = False) -> None:
    """A logarithmic axis of ratios around 1 (across, or ``upright``), ``reach`` (in logarithms) to either side."""
    from matplotlib.ticker import FixedLocator, FuncFormatter, NullFormatter, NullLocator

    which = axis.yaxis if upright else axis.xaxis
    axis.set(**{f"{which.axis_name}scale": "log", f"{which.axis_name}lim": (math.exp(-reach), math.exp(reach))})
    if reach > _RATIO_TICKS[-1][0]:
        plain_log_ticks(which, decades_only=narrow())
        return
    ticks = next(some for limit, some in _RATIO_TICKS if reach <= limit)
    which.set_major_locator(FixedLocator(thinned(ticks, math.exp(-reach), math.exp(reach))))
    which.set_major_formatter(FuncFormatter(lambda value, _: f"{value:.3g}"))
    which.set_minor_locator(NullLocator())
    which.set_minor_formatter(NullFormatter())


def times_axis(axis: Axes, ends: Sequence[float]) -> None:
    """A logarithmic axis across for ratios that need not lie around 1: from the least of ``ends`` to the largest."""
    from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator

    low, high = min(ends) / 1.15, max(ends) * 1.15
    axis.set_xscale("log")
    axis.set_xlim(low, high)
    if max(ends) > 4 * min(ends):
        plain_log_ticks(axis.xaxis, decades_only=narrow() and max(ends) > 40 * min(ends))
        return
    # Less than two octaves: 1, 2 and 5 are too few.
    ticks = thinned((0.25, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1, 1.2, 1.5, 2, 2.5, 3, 4), low, high)
    axis.xaxis.set_major_locator(FixedLocator(ticks))
    axis.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axis.xaxis.set_minor_locator(NullLocator())


def stretches(edges: Any, places: Any, values: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Middle, smallest, median and largest finite value of each stretch of time that holds one.

    ``edges``: (stretches + 1,); ``places``: (n,) the stretch of each value; ``values``: (n,).
    """
    import numpy as np

    good = np.isfinite(values)
    places, values = places[good], values[good]
    order = np.argsort(places, kind="stable")
    places, values = places[order], values[order]
    which, starts = np.unique(places, return_index=True)
    parts = np.split(values, starts[1:])
    middle = (edges[which] + edges[which + 1]) / 2
    columns = [np.array([measure(part) for part in parts]) for measure in (np.min, np.median, np.max)]
    return middle, *columns


def nines(q: float) -> float:
    """Position of a quantile on an axis that gives each nine the same room."""
    return -math.log10(1 - q)
