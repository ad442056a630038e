"""What every chart function takes besides its data: where to draw, and how the figure looks.

`azlatency.kit.drawing.base.styled` takes these arguments out of a call, so that the functions do not list them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any, Literal

import seaborn
from matplotlib import rcParams
from matplotlib.axes import Axes
from matplotlib.collections import Collection
from matplotlib.colors import to_hex, to_rgb, to_rgba
from matplotlib.figure import Figure, SubFigure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.text import Annotation, Text

from azlatency.kit.drawing.axes import plain_log_ticks
from azlatency.kit.drawing.palette import DARK, ESTIMATE, HUES, RUN

#: Inches of one column and of the page of a journal.
WIDTHS = {"single": 3.3, "double": 7.0}
OPTIONS_DOC = "Further arguments of every chart: ``help(az.charts.Options)``."
_THEMES = ("light", "dark", "print")
_LOG = ("", "x", "y", "xy")


@dataclass(frozen=True)
class Options:
    """Where a chart is drawn and how it looks; None is what the chart does by itself.

    A call of a shape takes each of them as an argument. A chart that a function of a page has drawn is drawn again with
    others: ``chart.again(width="single")``.

    Attributes
    ----------
    ax, axes : Axes, or a sequence of them
        Axes to draw into: one, or as many as the chart has panels.
    figure : Figure or SubFigure
        Figure to draw into.
    title : str
        Title instead of the result in words; ``""`` for none.
    xlim, ylim : tuple of float
        Limits of the axes of every panel.
    log : {"", "x", "y", "xy"}
        Which axes are logarithmic.
    palette : str, sequence or mapping
        Colours: the name of a palette of seaborn, a list of colours, or a colour for each path.
    width : {"single", "double"}
        One column (3.3 in) or the page (7 in, the default) of a journal. Letters keep their size; panels that are side
        by side on the page are stacked in one column.
    labels : bool
        False leaves out the numbers beside and inside the marks and the names at lines, as in a figure of many small
        charts; the text alternative has them.
    theme : {"light", "dark", "print"}
        Colours on white, on a dark ground, or on white without grid and title.
    """

    ax: Axes | None = None
    axes: Sequence[Axes] | None = None
    figure: Figure | SubFigure | None = None
    title: str | None = None
    xlim: tuple[float | None, float | None] | None = None
    ylim: tuple[float | None, float | None] | None = None
    log: str | None = None
    palette: str | Sequence[str] | Mapping[str, str] | None = None
    width: Literal["single", "double"] | None = None
    labels: bool | None = None
    theme: Literal["light", "dark", "print"] | None = None

    def __post_init__(self) -> None:
        for name, known in (("log", _LOG), ("width", tuple(WIDTHS)), ("theme", _THEMES)):
            value = getattr(self, name)
            if value is not None and value not in known:
                raise ValueError(f"{name} = {value!r} is not one of {', '.join(map(repr, known))}")
        if sum(place is not None for place in (self.ax, self.axes, self.figure)) > 1:
            raise ValueError("pass one of ax, axes and figure")

    @property
    def places(self) -> list[Axes] | None:
        """The axes to draw into, if they are given."""
        if self.ax is not None:
            return [self.ax]
        return None if self.axes is None else [axis for row in _rows(self.axes) for axis in row]

    @property
    def is_inside(self) -> bool:
        """Whether the chart is drawn into a figure of the caller, which keeps its size and its layout."""
        return self.places is not None or self.figure is not None

    @property
    def colours(self) -> Mapping[str, str] | Sequence[str] | None:
        """The colours that the caller chose: in the order of the pairs, or by path."""
        if self.palette is None or isinstance(self.palette, Mapping):
            return self.palette
        count = len(HUES) if isinstance(self.palette, str) else len(self.palette)
        return [to_hex(colour) for colour in seaborn.color_palette(self.palette, count)]


#: Names of the options.
NAMES = frozenset(field.name for field in fields(Options))


def _rows(axes: Any) -> Iterable[Iterable[Any]]:
    rows = axes.tolist() if hasattr(axes, "tolist") else list(axes)
    return [row if isinstance(row, list | tuple) else [row] for row in rows]


def apply(options: Options, axes: Sequence[Axes]) -> None:
    """Set scales, limits and colours of the axes that a chart has drawn."""
    for axis in axes:
        for letter, limits in (("x", options.xlim), ("y", options.ylim)):
            which = getattr(axis, f"{letter}axis")
            if options.log is not None:
                wanted = "log" if letter in options.log else "linear"
                if which.get_scale() != wanted and (wanted == "log" or which.get_scale() == "log"):
                    axis.set(**{f"{letter}scale": wanted})
                    if wanted == "log":
                        plain_log_ticks(which)
                # The scale of a shared axis has changed already.
                label = which.get_label_text().removesuffix(" (log)")
                which.set_label_text(f"{label} (log)" if which.get_scale() == "log" and label else label)
            if limits is not None:
                axis.set(**{f"{letter}lim": limits})
                for text in axis.texts:
                    if isinstance(text, Annotation):
                        text.set_annotation_clip(text.xycoords in ("data", ("data", "data")))
        if options.theme == "print":
            axis.grid(visible=False)
    replaced = _recoloured(options)
    for axis in axes if replaced else ():
        ground = axis.get_facecolor()
        _recolour(axis, replaced)
        if options.theme is None:  # black marks are white on a black ground, which stays
            axis.set_facecolor(ground)


def _recoloured(options: Options) -> dict[str, str]:
    """Return the colour to use instead of each colour of the charts."""
    found = dict(DARK) if options.theme == "dark" else {}
    if options.theme is None and _is_dark(rcParams["axes.facecolor"]):  # a style context of the caller
        found = {light: dark for light, dark in DARK.items() if light != "#ffffff"}
    chosen = options.colours
    if chosen and not isinstance(chosen, Mapping):
        found |= dict(zip((ESTIMATE, RUN), chosen, strict=False))
    return found


def _is_dark(colour: Any) -> bool:
    return colour not in ("none", "auto") and sum(to_rgb(colour)) < 1


def recolour_ground(options: Options, figure: Any) -> None:
    """Give a whole figure the ground of the dark theme."""
    if options.theme == "dark":
        _recolour(figure, DARK)


def _recolour(parent: Any, colours: Mapping[str, str]) -> None:
    """Replace colours of everything that is drawn in axes or a figure."""

    def other(colour: Any) -> Any:
        rgba = to_rgba(colour)
        found = colours.get(to_hex(rgba))
        return (*to_rgba(found)[:3], rgba[3]) if found and rgba[3] else colour

    for item in parent.findobj():
        if isinstance(item, Line2D):
            item.set(
                color=other(item.get_color()),
                markerfacecolor=other(item.get_markerfacecolor()),
                markeredgecolor=other(item.get_markeredgecolor()),
            )
        elif isinstance(item, Text):
            item.set_color(other(item.get_color()))
        elif isinstance(item, Patch):
            item.set(facecolor=other(item.get_facecolor()), edgecolor=other(item.get_edgecolor()))
        elif isinstance(item, Collection) and item.get_array() is None:
            item.set(
                facecolor=[other(each) for each in item.get_facecolor()],
                edgecolor=[other(each) for each in item.get_edgecolor()],
            )
