"""Shared parts of all charts: figures without pyplot's global state, their width, style, colours and export."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from contextvars import ContextVar
from dataclasses import dataclass, fields, replace
from functools import partial, wraps
from inspect import Parameter, signature
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar
from weakref import WeakKeyDictionary

from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.font_manager import findfont, get_font
from matplotlib.text import Text

from azlatency.kit.drawing.fitting import FEWEST_LETTERS, HIGHEST, freeze, grow
from azlatency.kit.drawing.names import SHORTENED, cut, during, short, wrap
from azlatency.kit.drawing.options import (
    NAMES,
    OPTIONS,
    OPTIONS_DOC,
    WIDTHS,
    Options,
    apply,
    recolour_ground,
)
from azlatency.kit.objects import Chart, Note, fonts, style
from azlatency.stats.across_runs.run_values import check_columns, check_numbers

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes

Items = TypeVar("Items", "pd.DataFrame", Sequence[object])
#: Most panels of one figure.
MOST_PANELS = 8
#: Most charts that a summary shows.
_MOST_SHOWN = 4
#: Inches below which a chart is narrow.
_NARROW = 4.0
# Most lines of a tick label, and of a title of a panel for each of its own lines.
_LABEL_LINES, _TITLE_LINES = 3, 2
#: Characters per line, most lines and size of the figure's title, by width; inches of a line.
_HEADLINE = {"single": (42, 3, 8.5), "double": (78, 2, 10)}
_HEADLINE_INCHES = 0.19
#: What a title leaves out where it is too long: the names of paths beside their values, which the panels show.
_ASIDE = re.compile(r" \([^()]*\)")


def side_by_side(most: int, panels: int) -> int:
    """Return the number of panels per row: at most ``most`` on a page, one in a column."""
    return min(1 if narrow() else most, panels)


def label(text: str, letters: int = 46, most: int = _LABEL_LINES) -> str:
    """Wrap a tick label at ``letters`` characters (fewer in a column) and ``most`` lines, with long names shortened."""
    return wrap(text, max(letters // 2, 16) if narrow() else letters, most)


def lines(*labels: str) -> int:
    """Return the number of lines of the longest label."""
    return max((text.count("\n") for text in labels), default=0) + 1


def sizes(counts: Iterable[int], of: str) -> str:
    """Return the sample size for a caption: "n = 1 run", "n = 200 to 9,553 packets"; empty for no counts."""
    ordered = sorted(counts)
    if not ordered:
        return ""
    ends = [f"{count:,}" for count in dict.fromkeys((ordered[0], ordered[-1]))]
    if ends == ["1"]:
        of = re.sub("s\\b", "", of, count=1)
    return f"n = {' to '.join(ends)} {of}"


def few_of_each(rows: pd.DataFrame, by: str | list[str], weight: str, most: int) -> pd.DataFrame:
    """Select ``most`` rows, as many of each group as there is room for, those with the largest weights, in order."""
    ranks = rows.sort_values(weight, ascending=False, kind="stable").groupby(by, sort=False, dropna=False).cumcount()
    chosen = ranks.sort_values(kind="stable").index[:most]
    return rows[rows.index.isin(chosen)]


def left_out(shown: int, every: int, of: str) -> str:
    """Return the caption's sentence on omitted items; empty if the figure shows all."""
    return "" if shown == every else f" Shown: {shown:,} of {every:,} {of}; the table lists all."


def inches() -> float:
    """Return how wide charts are drawn: as the page or a column, or as the figure or the first axes of the caller."""
    given = OPTIONS.get()
    place: Any = given.figure or next(iter(given.places or ()), None)
    return WIDTHS[given.width or "double"] if place is None else float(place.bbox.width / place.figure.dpi)


def narrow() -> bool:
    """Return whether charts are about as narrow as one column."""
    return inches() < _NARROW


def labelled() -> bool:
    """Return whether numbers stand beside and inside the marks, and names at lines."""
    return OPTIONS.get().labels is not False


def new_figure(rows: int, columns: int, height: float, **options: Any) -> tuple[Figure, list[Axes]]:
    """Return a new figure outside pyplot's global state and its axes row by row; ``height`` in inches, of 9 at most.

    If the caller of the chart gave axes or a figure, these are used and keep their size.
    """
    given = OPTIONS.get()
    if given.places is not None:
        if len(given.places) != rows * columns:
            panels = rows * columns
            raise ValueError(f"the chart has {panels} panels; pass axes= with {panels} axes, or figure=")
        return given.places[0].get_figure(), given.places  # type: ignore[return-value]
    figure: Any = given.figure or Figure(
        figsize=(WIDTHS[given.width or "double"], min(height, HIGHEST - _HEADLINE_INCHES)), layout="constrained"
    )
    axes = figure.subplots(rows, columns, squeeze=False, **options)
    return figure, list(axes.flat)


def most_panels(height: float, beside: int, extra: float) -> int:
    """Return how many panels of ``height`` inches fit into the highest figure; ``extra`` as in `grid`."""
    return int((HIGHEST - extra) / height) * (1 if narrow() else beside)


def grid(
    panels: int, most: int, height: float, *, extra: float = 0.4, xlabel: str = "", ylabel: str = "", **options: Any
) -> tuple[Figure, list[Axes]]:
    """Return a figure of panels side by side, at most ``most`` in a row, each ``height`` inches tall.

    ``xlabel`` labels the lowest panel of each column, ``ylabel`` the first of each row; ``extra`` inches are added.
    """
    columns = side_by_side(most, panels)
    rows = math.ceil(panels / columns)
    figure, axes = new_figure(rows, columns, extra + height * rows, **options)
    for axis in axes[panels:]:
        axis.set_visible(False)
    for axis in axes[:panels:columns]:
        axis.set_ylabel(ylabel)
    for axis in axes[max(panels - columns, 0) : panels]:
        axis.set_xlabel(xlabel)
        axis.tick_params(labelbottom=True)
    return figure, axes[:panels]


def stack(
    counts: Sequence[float],
    *,
    each: float = 0.2,
    gap: float = 0.42,
    xlabel: str = "",
    sharex: bool = True,
    most: int = 1,
) -> tuple[Figure, list[Axes]]:
    """Return a figure of panels above each other: rows per panel, inches of a row, and inches between two panels.

    Panels of short names fit side by side, at most ``most`` in a row.
    """
    if side_by_side(most, len(counts)) > 1:
        figure, axes = grid(len(counts), most, each * max(counts) + gap, extra=0.6, xlabel=xlabel, sharex=sharex)
    else:
        figure, axes = new_figure(
            len(counts),
            1,
            0.6 + sum(each * count + gap for count in counts),
            sharex=sharex,
            gridspec_kw={"height_ratios": [count + 1 for count in counts]},
        )
        axes[-1].set_xlabel(xlabel)
    for axis in axes:
        axis.grid(axis="y", visible=False)
    return figure, axes


@dataclass
class _Export:
    """Folder and formats of exported charts, and the number of calls of each chart function."""

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
    folder : path or str
        Folder of the files. A function that is called again gets a number: typical_forest.pdf, typical_forest-2.pdf.

    Raises
    ------
    ValueError
        If a format is not one of svg, pdf and png.
    """
    wanted = tuple(formats.replace(",", " ").split())
    if unknown := [name for name in wanted if name not in ("svg", "pdf", "png")]:
        raise ValueError(f"export = {formats!r}: {unknown[0]} is not one of svg, pdf, png")
    _export.set(_Export(Path(folder), wanted, Counter()) if wanted else None)


def show(*charts: Chart | Note) -> None:
    """Show charts next to each other in a notebook.

    Parameters
    ----------
    *charts : Chart or Note
        The charts, of which the first four are shown; a `Note` stands for a chart with nothing to draw and is left out.
    """
    from IPython.display import display

    for chart in [chart for chart in charts if isinstance(chart, Chart)][:_MOST_SHOWN]:
        display(chart)


def few(items: Items) -> Items:
    """Return the items if they are few enough for a chart of a summary, else none of them.

    Parameters
    ----------
    items : DataFrame or list
        The rows to draw.

    Returns
    -------
    DataFrame or list
        ``items``, or an empty frame or list of the same type if there are more than 12 rows.
    """
    return items if len(items) <= 12 else items[:0]


def _save(chart: Chart, name: str) -> None:
    target = _export.get()
    if target is None:
        return
    target.calls[name] += 1
    count = target.calls[name]
    target.folder.mkdir(parents=True, exist_ok=True)
    chart.save(target.folder / (name if count == 1 else f"{name}-{count}"), target.formats)


def styled(draw: Callable[..., Chart | Note]) -> Callable[..., Chart | Note]:
    """Run a chart function with the style sheet and its options; save its chart if an export is active.

    The chart can draw itself again one column wide (`Chart.one_column`).
    """
    parameters = signature(draw)
    # The first parameter is the frame; the others without a default name its columns.
    first, *columns = (name for name, each in parameters.parameters.items() if each.default is Parameter.empty)

    @wraps(draw)
    def run(*args: Any, **keywords: Any) -> Chart | Note:
        own = {name: value for name, value in keywords.items() if name not in NAMES}
        given = parameters.bind(*args, **own).arguments
        check_columns(given[first], *(given[name] for name in columns))
        check_numbers(given[first], *(given[name] for name in columns if name == "value" and len(given[first])))
        options = OPTIONS.get().over(keywords)
        with options.applied():
            chart = drawn(*args, **keywords)
        if isinstance(chart, Note) or options.is_inside or options.width == "single":
            return chart
        return replace(chart, one_column=partial(in_one_column, replace(options, width="single"), *args, **keywords))

    def in_one_column(options: Options, *args: Any, **keywords: Any) -> Chart | Note:
        with options.applied(), during(_export, None):
            return drawn(*args, **keywords)

    def drawn(*args: Any, **keywords: Any) -> Chart | Note:
        options = OPTIONS.get()
        shortened: dict[str, str] = {}
        with style(), during(SHORTENED, shortened):
            chart = draw(*args, **keywords)
            if isinstance(chart, Note):
                return chart
            shown = chart.title if options.title is None and options.theme != "print" else options.title or ""
            chart = replace(
                chart,
                name=chart.name or draw.__name__,
                tips=_TIPS.pop(chart.figure, {}),
                title=chart.title if options.title is None else shown,
            )
            apply(options.places or chart.figure.axes)
            if options.is_inside:
                if options.title and options.ax is not None:
                    options.ax.set_title(options.title)
                elif options.title:
                    chart.figure.suptitle(options.title)
                return chart
            FigureCanvasAgg(chart.figure)  # the renderer of this canvas remembers how wide each text is
            if options.theme != "print" or options.title:  # a paper has it in the caption
                _set_headline(chart)
            _shorten_names(chart.figure)
            recolour_ground(chart.figure)
            freeze(chart.figure)
            if shortened:
                caption = f"{chart.caption} Long names are shortened; the text alternative has them in full."
                chart = replace(chart, caption=caption)
            chart = _with_unknown_letters(chart)
            _save(chart, chart.name)
            return chart

    shown = signature(draw)
    further = [Parameter(field.name, Parameter.KEYWORD_ONLY, default=None) for field in fields(Options)]
    run.__signature__ = shown.replace(parameters=[*shown.parameters.values(), *further])  # type: ignore[attr-defined]
    run.__doc__ = f"{draw.__doc__}\n    {OPTIONS_DOC}"
    return run


#: The texts that a figure in the making shows while the pointer is over a mark: id of the marks -> one text per mark.
_TIPS: WeakKeyDictionary[Any, dict[str, list[str]]] = WeakKeyDictionary()


def tip(artist: Artist, *texts: str) -> None:
    """Show a text while the pointer is over a mark; one text per mark of ``artist``, or one for all of them."""
    tips = _TIPS.setdefault(artist.get_figure(), {})
    name = f"tip{len(tips)}"
    artist.set_gid(name)
    tips[name] = list(texts)


def _set_headline(chart: Chart) -> None:
    """Write the chart's title, the result in words, above the panels; the figure grows by its lines."""
    if not chart.title:
        return
    figure, (letters, most, size) = chart.figure, _HEADLINE["single" if narrow() else "double"]
    headline = figure.suptitle(
        _headline(chart.title, letters, most), x=0.008, ha="left", fontsize=size, fontweight="bold"
    )
    while letters > 20 and headline.get_window_extent().x1 > figure.bbox.x1:  # names of wide letters
        letters -= 2
        headline.set_text(_headline(chart.title, letters, most))
    grow(figure, _HEADLINE_INCHES * (headline.get_text().count("\n") + 1) + 0.05)


def _headline(title: str, letters: int, most: int) -> str:
    """Break a title into at most so many lines; a longer one loses what is in parentheses, and then its end."""
    broken = wrap(title, letters)
    if broken.count("\n") < most:
        return broken
    shown = wrap(_ASIDE.sub("", title), letters).split("\n")
    return "\n".join(shown[:most]) + ("…" if len(shown) > most else "")


def _shorten_names(figure: Figure) -> None:
    """Shorten long names in titles and notes; tick labels are shortened when they are created."""
    for axis in figure.axes:
        spec = axis.get_subplotspec()
        room = _TITLE_LINES * figure.bbox.width / (1 if spec is None else spec.get_gridspec().ncols)
        for item in (axis._left_title, axis.title, *axis.texts):  # type: ignore[attr-defined]
            text = "\n".join(short_as_drawn(line, item, room) for line in item.get_text().split("\n"))
            if item.get_text() != text:
                item.set_text(text)


def short_as_drawn(name: str, item: Text, room: float) -> str:
    """Shorten a name until it is at most ``room`` pixels wide in the font of ``item``."""
    whole = item.get_text()

    def width(text: str) -> float:
        item.set_text(text)
        return item.get_window_extent().width

    text = short(name)
    letters = 2 * int(len(text) * room / max(width(text), 1.0))  # wide letters count twice
    while width(text) > room and letters >= FEWEST_LETTERS:
        text, letters = short(name, letters), letters - 2
    # A name of many plain words, which `short` keeps.
    letters = len(text)
    while width(text) > room and letters > FEWEST_LETTERS:
        letters -= 2
        text = cut(name, letters)
    item.set_text(whole)
    return text


def _with_unknown_letters(chart: Chart) -> Chart:
    """Add a warning to the caption if a name has characters that no installed font has."""
    shown = {ord(letter) for item in chart.figure.findobj(Text) for letter in item.get_text()} - {ord("\n")}
    rare = {letter for letter in shown if letter > ord("~")}
    for family in fonts():
        if not rare:
            return chart
        rare -= set(get_font(findfont(family)).get_charmap())
    if not rare:
        return chart
    warning = (
        " Some characters are missing from the installed fonts; the text alternative has them. Install Noto Sans CJK."
    )
    return replace(chart, caption=chart.caption + warning)
