"""What all charts share: figures that no global state knows, their width in print, style, colours, saving."""

from __future__ import annotations

import textwrap
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeVar

from azlatency.report.charts.fitting import freeze
from azlatency.report.charts.names import one_figure, short
from azlatency.report.objects import Chart, fonts, style

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MICROSECOND, GIGABIT, SECOND = 1e3, 1e9, 1e9
Item = TypeVar("Item")
#: Inches: one column and the whole page of a two-column journal.
_WIDTHS = {"single": 3.5, "double": 7.0}
_column: ContextVar[Literal["single", "double"]] = ContextVar("column", default="double")
#: Most rows and most panels of one figure: about a page and a half.
MOST_ROWS, MOST_PANELS = 72, 8
# Lines of the longest tick label, and letters of the longest line of a title over one column of panels.
_LABEL_LINES, _TITLE_LETTERS = 3, 160
_LINE_STYLES = ("-", "--", ":", "-.")


@contextmanager
def column(width: Literal["single", "double"]) -> Iterator[None]:
    """Draw the charts inside this context as wide as one column of a journal (3.5 in) or its page (7 in, the default).

    Parameters
    ----------
    width : {"single", "double"}
        Letters keep their size; panels that are side by side on the page are stacked in one column.

    Raises
    ------
    ValueError
        If ``width`` is neither of the two.
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
    """A long tick label in lines of ``letters`` (on a page; fewer in a column), overlong names shortened."""
    room = letters if _column.get() == "double" else max(letters // 2, 16)
    return textwrap.fill(short(text, _LABEL_LINES * letters), room)


def lines(*labels: str) -> int:
    """Lines of the longest of the labels."""
    return max((text.count("\n") for text in labels), default=0) + 1


def sizes(counts: Iterable[int], of: str) -> str:
    """How many there are of what is drawn: "n = 3 runs", "n = 200 to 9,553 packets"; empty for nothing."""
    ordered = sorted(counts)
    if not ordered:
        return ""
    ends = [f"{count:,}" for count in dict.fromkeys((ordered[0], ordered[-1]))]
    return f"n = {' to '.join(ends)} {of}"


def most_of(items: Sequence[Item], weight: Callable[[Item], float], of: str, most: int) -> tuple[list[Item], str]:
    """The ``most`` items of the largest weight, in their order, and the sentence of a caption on what was left out.

    The sentence is empty where all are kept. ``of``: what they are and by what they were chosen.
    """
    if len(items) <= most:
        return list(items), ""
    places = sorted(range(len(items)), key=lambda place: -weight(items[place]))[:most]
    return [items[place] for place in sorted(places)], left_out(most, len(items), of)


def left_out(shown: int, every: int, of: str) -> str:
    """The sentence of a caption on what a figure has no room for; empty where it shows all."""
    return "" if shown == every else f" {shown} of {every} {of}; the table has all."


def narrow() -> bool:
    """Whether charts are drawn for one column."""
    return _column.get() == "single"


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
    """Save each chart that is drawn from now on as ``folder``/name of its function.

    Parameters
    ----------
    formats : str
        Formats separated by blanks or commas, such as ``"pdf png svg"``; ``""`` saves nothing.
    folder : Path or str
        Folder of the files. A function that is called again gets a number: latency_forest.pdf, latency_forest-2.pdf.

    Raises
    ------
    ValueError
        If a format is not one of svg, pdf and png.
    """
    wanted = tuple(formats.replace(",", " ").split())
    if unknown := [name for name in wanted if name not in ("svg", "pdf", "png")]:
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
        with style(), one_figure() as shortened:
            chart = draw(*args, **keywords)
            if isinstance(chart, Chart):
                _shorten_names(chart.figure)
                freeze(chart.figure)
                if shortened:
                    chart = replace(
                        chart,
                        caption=f"{chart.caption} Long names are shortened; the numbers as text have them in full.",
                    )
                chart = _with_unknown_letters(chart)
                _save(chart, draw.__name__)
            return chart

    return run


def _shorten_names(figure: Figure) -> None:
    """Long names in titles and notes; tick labels were shortened as they were made."""
    from matplotlib.text import Text

    for axis in figure.axes:
        spec = axis.get_subplotspec()
        room = _TITLE_LETTERS // (1 if spec is None else spec.get_gridspec().ncols)
        for item in (axis._left_title, axis.title, *axis.texts):  # type: ignore[attr-defined]
            assert isinstance(item, Text)
            if item.get_text() != (text := "\n".join(short(line, room) for line in item.get_text().split("\n"))):
                item.set_text(text)


def _with_unknown_letters(chart: Chart) -> Chart:
    """The chart; where a name has letters that no installed font has, the caption says that they are boxes."""
    from matplotlib.font_manager import findfont, get_font
    from matplotlib.text import Text

    shown = {ord(letter) for item in chart.figure.findobj(Text) for letter in item.get_text()} - {ord("\n")}
    rare = {letter for letter in shown if letter > ord("~")}
    for family in fonts():
        if not rare:
            return chart
        rare -= set(get_font(findfont(family)).get_charmap())
    if not rare:
        return chart
    warning = (
        " Some characters are missing from the installed fonts; the numbers as text have them. Install Noto Sans CJK."
    )
    return replace(chart, caption=chart.caption + warning)


def colour_of(index: int) -> tuple[str, str]:
    """Colour and line style of the index-th series; the style changes where the colours begin again."""
    from matplotlib import rcParams

    colours = rcParams["axes.prop_cycle"].by_key()["color"]
    return "#" + colours[index % len(colours)].lstrip("#"), _LINE_STYLES[index // len(colours) % len(_LINE_STYLES)]
