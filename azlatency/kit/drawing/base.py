"""What every chart function does: check its columns, draw on a sheet, lay the figure out; show and export charts."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import fields, replace
from functools import wraps
from inspect import Parameter, signature
from pathlib import Path
from typing import Any, TypeVar
from weakref import WeakKeyDictionary

import pandas as pd
from matplotlib.artist import Artist
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.font_manager import findfont, get_font
from matplotlib.text import Text

from azlatency.kit.drawing.fitting import freeze
from azlatency.kit.drawing.options import NAMES, OPTIONS_DOC, Options, apply, recolour_ground
from azlatency.kit.drawing.sheet import Sheet
from azlatency.kit.objects import FORMATS, Chart, Note, fonts, style
from azlatency.stats.across_runs.run_values import check_columns, check_numbers

Items = TypeVar("Items", "pd.DataFrame", Sequence[object])
#: Most panels of one figure.
MOST_PANELS = 8
#: Most charts that a summary shows.
_MOST_SHOWN = 4


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


def export(formats: str, folder: Path | str) -> None:
    """Save each chart that this notebook shows from now on as ``folder``/name of its function.

    Parameters
    ----------
    formats : str
        Formats separated by blanks or commas, such as ``"pdf png svg"``; ``""`` saves nothing.
    folder : path or str
        Folder of the files. A function whose charts are shown again gets a number: typical_forest.pdf,
        typical_forest-2.pdf.

    Raises
    ------
    ValueError
        If a format is not one of svg, pdf and png.
    RuntimeError
        If there are formats, and no notebook that shows charts: save them with ``chart.save``.
    """
    wanted = formats.replace(",", " ").split()
    if unknown := [name for name in wanted if name not in FORMATS]:
        raise ValueError(f"export = {formats!r}: {unknown[0]} is not one of {', '.join(FORMATS)}")
    from IPython import get_ipython

    shell, calls = get_ipython(), Counter[str]()
    if shell is None:
        if wanted:
            raise RuntimeError(f"export = {formats!r}: no notebook shows charts here; use chart.save(path)")
        return

    def save_and_show(chart: Chart) -> None:
        calls[chart.name] += 1
        count = calls[chart.name]
        Path(folder).mkdir(parents=True, exist_ok=True)
        chart.save(Path(folder) / (chart.name if count == 1 else f"{chart.name}-{count}"), wanted)
        chart._ipython_display_()

    shown = save_and_show if wanted else Chart._ipython_display_
    shell.display_formatter.ipython_display_formatter.for_type(Chart, shown)


def show(*charts: Chart | Note, **options: Any) -> None:
    """Show charts next to each other in a notebook.

    Parameters
    ----------
    *charts : Chart or Note
        The charts, of which the first four are shown; a `Note` stands for a chart with nothing to draw and is left out.
    **options
        `Options` with which they are drawn again, such as ``width="single"``.
    """
    from IPython.display import display

    for chart in [chart for chart in charts if isinstance(chart, Chart)][:_MOST_SHOWN]:
        display(chart.again(**options) if options and chart.again else chart)


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


def styled(draw: Callable[..., Chart | Note]) -> Callable[..., Chart | Note]:
    """Give a chart function a new sheet as its first argument; draw with the style sheet and the options of the call.

    The chart can draw itself again with other options (`Chart.again`).
    """
    whole = signature(draw)
    _, *own = whole.parameters.values()
    bare = whole.replace(parameters=own)
    # The first parameter is the frame; the others without a default name its columns.
    first, *columns = (each.name for each in own if each.default is Parameter.empty)

    @wraps(draw)
    def run(*args: Any, **keywords: Any) -> Chart | Note:
        options = {name: keywords.pop(name) for name in NAMES & keywords.keys()}
        given = bare.bind(*args, **keywords).arguments
        check_columns(given[first], *(given[name] for name in columns))
        check_numbers(given[first], *(given[name] for name in columns if name == "value" and len(given[first])))
        return drawn(Options(**options), *args, **keywords)

    def drawn(options: Options, *args: Any, **keywords: Any) -> Chart | Note:
        sheet = Sheet(options)
        with style():
            chart = draw(sheet, *args, **keywords)
            if isinstance(chart, Note):
                return chart
            shown = chart.title if options.title is None and options.theme != "print" else options.title or ""
            chart = replace(
                chart,
                name=chart.name or draw.__name__,
                tips=_TIPS.pop(chart.figure, {}),
                title=chart.title if options.title is None else shown,
            )
            apply(options, options.places or chart.figure.axes)
            if options.is_inside:
                if options.title and options.ax is not None:
                    options.ax.set_title(options.title)
                elif options.title:
                    chart.figure.suptitle(options.title)
                return chart
            FigureCanvasAgg(chart.figure)  # the renderer of this canvas remembers how wide each text is
            if options.theme != "print" or options.title:  # a paper has it in the caption
                sheet.set_headline(chart.figure, chart.title)
            sheet.shorten_names(chart.figure)
            recolour_ground(options, chart.figure)
            freeze(chart.figure)
            # A cut that was tried and dropped is none, and nothing of plain words is shortened.
            texts = "\n".join(item.get_text() for item in chart.figure.findobj(Text)).replace("\n", " ")
            if any(cut != whole and cut in texts for cut, whole in sheet.names.shortened.items()):
                caption = f"{chart.caption} Long names are shortened; the text alternative has them in full."
                chart = replace(chart, caption=caption)
            chart = _with_unknown_letters(chart)
        return replace(chart, again=lambda **others: drawn(replace(options, **others), *args, **keywords))

    further = [Parameter(field.name, Parameter.KEYWORD_ONLY, default=None) for field in fields(Options)]
    run.__signature__ = whole.replace(parameters=[*own, *further])  # type: ignore[attr-defined]
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
