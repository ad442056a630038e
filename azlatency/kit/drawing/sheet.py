"""One chart in the making: its figure and axes, how wide they are, and the names that fit beside them."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.layout_engine import ConstrainedLayoutEngine
from matplotlib.text import Text

from azlatency.kit.drawing.fitting import FEWEST_LETTERS, HIGHEST, grow
from azlatency.kit.drawing.names import Names
from azlatency.kit.drawing.options import WIDTHS, Options
from azlatency.kit.objects import NARROW

# Most lines of a tick label, and of a title of a panel for each of its own lines.
_LABEL_LINES, _TITLE_LINES = 3, 2
#: Characters per line, most lines and size of the figure's title, narrow and wide; inches of a line.
_HEADLINE = {True: (42, 3, 8.5), False: (78, 2, 10)}
_HEADLINE_INCHES = 0.19
#: Share of a panel's width between two of them.
_BETWEEN = 0.03
#: What a title leaves out where it is too long: the names of paths beside their values, which the panels show.
_ASIDE = re.compile(r" \([^()]*\)")


@dataclass(frozen=True)
class Sheet:
    """What a shape draws on: the options of the call, and the names of the figure."""

    options: Options = field(default_factory=Options)
    names: Names = field(default_factory=Names)

    @property
    def inches(self) -> float:
        """How wide the chart is drawn: as the page or a column, or as the figure or the first axes of the caller."""
        given = self.options
        place: Any = given.figure or next(iter(given.places or ()), None)
        return WIDTHS[given.width or "double"] if place is None else float(place.bbox.width / place.figure.dpi)

    @property
    def narrow(self) -> bool:
        """Whether the chart is about as narrow as one column."""
        return self.inches < NARROW

    @property
    def labelled(self) -> bool:
        """Whether numbers stand beside and inside the marks, and names at lines."""
        return self.options.labels is not False

    def side_by_side(self, most: int, panels: int) -> int:
        """Return the number of panels per row: at most ``most`` on a page, one in a column."""
        return min(1 if self.narrow else most, panels)

    def label(self, text: str, letters: int = 46, most: int = _LABEL_LINES) -> str:
        """Wrap a tick label at ``letters`` characters (fewer in a column), long names shortened to ``most`` lines."""
        return self.names.wrap(text, max(letters // 2, 16) if self.narrow else letters, most)

    def new_figure(self, rows: int, columns: int, height: float, **options: Any) -> tuple[Figure, list[Axes]]:
        """Return a new figure outside pyplot's global state and its axes row by row; ``height``: inches, at most 9.

        If the caller of the chart gave axes or a figure, these are used and keep their size.
        """
        given = self.options
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

    def most_panels(self, height: float, beside: int, extra: float) -> int:
        """Return how many panels of ``height`` inches fit into the highest figure; ``extra`` as in `grid`."""
        return int((HIGHEST - extra) / height) * (1 if self.narrow else beside)

    def grid(
        self,
        panels: int,
        most: int,
        height: float,
        *,
        extra: float = 0.4,
        xlabel: str = "",
        ylabel: str = "",
        **options: Any,
    ) -> tuple[Figure, list[Axes]]:
        """Return a figure of panels side by side, at most ``most`` in a row, each ``height`` inches tall.

        ``xlabel`` labels the lowest panel of each column, ``ylabel`` the first of each row; ``extra`` inches are added.
        """
        columns = self.side_by_side(most, panels)
        rows = math.ceil(panels / columns)
        figure, axes = self.new_figure(rows, columns, extra + height * rows, **options)
        for axis in axes[panels:]:
            axis.set_visible(False)
        for axis in axes[:panels:columns]:
            axis.set_ylabel(ylabel)
        for axis in axes[max(panels - columns, 0) : panels]:
            axis.set_xlabel(xlabel)
            axis.tick_params(labelbottom=True)
        return figure, axes[:panels]

    def stack(
        self,
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
        if self.side_by_side(most, len(counts)) > 1:
            figure, axes = self.grid(
                len(counts), most, each * max(counts) + gap, extra=0.6, xlabel=xlabel, sharex=sharex
            )
            # Between the numbers right of a panel and the names of the next one; a caller's figure keeps its own.
            if isinstance(engine := figure.get_layout_engine(), ConstrainedLayoutEngine):
                engine.set(wspace=_BETWEEN)
        else:
            figure, axes = self.new_figure(
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

    def set_headline(self, figure: Figure, title: str) -> None:
        """Write the title, the result in words, above the panels; the figure grows by its lines."""
        if not title:
            return
        letters, most, size = _HEADLINE[self.narrow]
        look: dict[str, Any] = {"fontsize": size, "fontweight": "bold"}
        headline = figure.suptitle(self._headline(title, letters, most), x=0.008, ha="left", **look)
        while letters > 20 and headline.get_window_extent().x1 > figure.bbox.x1:  # names of wide letters
            letters -= 2
            headline.set_text(self._headline(title, letters, most))
        grow(figure, _HEADLINE_INCHES * (headline.get_text().count("\n") + 1) + 0.05)

    def _headline(self, title: str, letters: int, most: int) -> str:
        """Break a title into at most so many lines; a longer one loses what is in parentheses, and then its end."""
        broken = self.names.wrap(title, letters)
        if broken.count("\n") < most:
            return broken
        shown = self.names.wrap(_ASIDE.sub("", title), letters).split("\n")
        return "\n".join(shown[:most]) + ("…" if len(shown) > most else "")

    def shorten_names(self, figure: Figure) -> None:
        """Shorten long names in titles and notes; tick labels are shortened when they are created."""
        for axis in figure.axes:
            spec = axis.get_subplotspec()
            room = _TITLE_LINES * figure.bbox.width / (1 if spec is None else spec.get_gridspec().ncols)
            for item in (axis._left_title, axis.title, *axis.texts):  # type: ignore[attr-defined]
                text = "\n".join(self.short_as_drawn(line, item, room) for line in item.get_text().split("\n"))
                if item.get_text() != text:
                    item.set_text(text)

    def short_as_drawn(self, name: str, item: Text, room: float) -> str:
        """Shorten a name until it is at most ``room`` pixels wide in the font of ``item``."""
        whole = item.get_text()

        def width(text: str) -> float:
            item.set_text(text)
            return item.get_window_extent().width

        text = self.names.short(name)
        letters = 2 * int(len(text) * room / max(width(text), 1.0))  # wide letters count twice
        while width(text) > room and letters >= FEWEST_LETTERS:
            text, letters = self.names.short(name, letters), letters - 2
        # A name of many plain words, which `short` keeps.
        letters = len(text)
        while width(text) > room and letters > FEWEST_LETTERS:
            letters -= 2
            text = self.names.cut(name, letters)
        item.set_text(whole)
        return text
