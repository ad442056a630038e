"""Freeze the layout of a figure: break long texts, and keep every position when it is drawn again."""

from __future__ import annotations

import textwrap
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, ScalarFormatter

from azlatency.studies.format import plain

#: Inches of a panel that needs labels of its own, and of a line of them.
_TALL, _LABEL_INCHES = 1.4, 0.17
#: Inches of the highest figure: it fits on a page of a journal.
HIGHEST = 9.0
#: Fewest letters of a line of a title.
FEWEST_LETTERS = 8


def freeze(figure: Figure) -> None:
    """Lay the figure out and fix the result: the layout engine moves things slightly at each drawing."""
    for which in (which for axis in figure.axes for which in (axis.xaxis, axis.yaxis)):
        if not which.get_label_text():
            # Any place: matplotlib measures all tick labels again to find one, even for a label that is not there.
            which.set_label_coords(0, 0)
    titles = [axis._left_title for axis in figure.axes]  # type: ignore[attr-defined]
    texts = [title.get_text() for title in titles]
    # A long title, which is broken below, would leave no room for the axes of a narrow figure.
    for title, text in zip(titles, texts, strict=True):
        title.set_text(text and "\n".join("x" for _ in text.split("\n")))
    _lay_out(figure)
    # A layout takes longer than the rest of a chart, so it is repeated only after a change.
    changed = _label_tall_panels(figure) | _separate_thousands(figure)
    for title, text in zip(titles, texts, strict=True):
        title.set_text(text)
    if _break_long_lines(figure):
        # Shorter lines make the axes wider, which leaves more room for the lines.
        _lay_out(figure)
        changed |= _break_long_lines(figure)
    if changed:
        _lay_out(figure)
    if _pull_titles_in(figure):
        _lay_out(figure)
        _pull_titles_in(figure)
    # Any engine, "none" too, would let each file be drawn twice.
    figure.set_layout_engine(None)
    # The solver's result varies in the last digits.
    for axis in figure.axes:
        left, bottom, width, height = (round(float(side), 6) for side in axis.get_position().bounds)
        axis.set_position((left, bottom, width, height))


def _lay_out(figure: Figure) -> None:
    """Place everything as a drawing would, which takes a third longer."""
    engine = figure.get_layout_engine()
    figure.draw_without_rendering() if engine is None else engine.execute(figure)


def grow(figure: Figure, inches: float) -> None:
    """Make a figure taller, up to the highest one."""
    width, height = figure.get_size_inches()
    figure.set_size_inches(width, max(height, min(height + inches, HIGHEST)))


def _label_tall_panels(figure: Figure) -> bool:
    """Repeat the labels of a shared x axis below each tall panel; return whether there were any."""
    changed = False
    for axis in figure.axes:
        tall = axis.get_window_extent().height >= _TALL * figure.dpi
        if tall and not axis.xaxis.get_tick_params().get("labelbottom", True):
            axis.tick_params(labelbottom=True)
            grow(figure, _LABEL_INCHES)
            changed = True
    return changed


def _separate_thousands(figure: Figure) -> bool:
    """Write 1,000 on linear axes, as everywhere else; return whether there were any."""
    changed = False

    for which in (which for axis in figure.axes for which in (axis.xaxis, axis.yaxis)):
        if (
            isinstance(which.get_major_formatter(), ScalarFormatter)
            and max(map(abs, which.get_view_interval())) >= 1000
        ):
            which.set_major_formatter(FuncFormatter(lambda value, _: plain(value, 7)))
            changed = True
    return changed


def _break_long_lines(figure: Figure) -> bool:
    """Break titles and axis labels that are too wide into lines; return whether there were any."""
    page, changed = figure.bbox, False
    for axis in figure.axes:
        for item in (axis._left_title, axis.xaxis.label, axis.yaxis.label):  # type: ignore[attr-defined]
            box = item.get_window_extent()
            length = box.height if item is axis.yaxis.label else box.width
            room = {axis.xaxis.label: _centred(axis, page), axis.yaxis.label: page.height}.get(item, 0.0)
            if item is axis._left_title:  # type: ignore[attr-defined]
                inner, end = axis.get_window_extent(), _right_end(axis, figure)
                room, moved = end - box.x0, item.get_position()[0] < 0
                if moved or (length > room and axis.get_tightbbox() is not None):
                    # A title that is too long for its axes starts at the left edge of the tick labels.
                    start = min((axis.yaxis.get_tightbbox() or box).x0, inner.x0)
                    item.set_x((start - inner.x0) / inner.width)
                    room = end - start
            if length > room > 0:
                changed, lines = True, item.get_text().split("\n")
                letters = int(max(map(len, lines)) * room / length) - 1
                while length > room and letters >= FEWEST_LETTERS:
                    item.set_text("\n".join(textwrap.fill(line, letters) for line in lines))
                    box = item.get_window_extent()
                    length, letters = box.height if item is axis.yaxis.label else box.width, letters - 2
    return changed


def _pull_titles_in(figure: Figure) -> bool:
    """Move titles that start or end outside the page back onto it; return whether there were any."""
    changed = False
    for axis in figure.axes:
        title = axis._left_title  # type: ignore[attr-defined]
        box = title.get_window_extent()
        before, beyond = figure.bbox.x0 + 2 - box.x0, box.x1 - figure.bbox.x1 + 2
        move = before if before > 0 else -min(beyond, -before)
        if title.get_text() and move and (before > 0 or beyond > 0):
            title.set_x(title.get_position()[0] + move / axis.get_window_extent().width)
            changed = True
    return changed


def _centred(axis: Axes, page: Any) -> float:
    """Return the room for a text centred under the axes, in pixels."""
    box = axis.get_window_extent()
    middle = (box.x0 + box.x1) / 2
    return float(2 * min(middle - page.x0, page.x1 - middle))


def _right_end(axis: Axes, figure: Figure) -> float:
    """Return where the next panel in the row, with its tick labels, or the right edge of the page is, in pixels."""
    box, ends = axis.get_window_extent(), [figure.bbox.x1]
    for other in figure.axes:
        side = other.get_window_extent()
        if other.get_visible() and side.x0 > box.x1 and min(side.y1, box.y1) > max(side.y0, box.y0):
            ends.append((other.yaxis.get_tightbbox() or side).x0 - 4)
    return float(min(ends))
