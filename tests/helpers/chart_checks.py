"""What every chart is checked for: no text is cut or covered, letters are large enough, bytes are the same."""

from __future__ import annotations

import itertools
import re
from typing import Any

from matplotlib.text import Text

from azlatency.kit.objects import Chart, Note, style

SMALLEST_POINTS = 7


def again(chart: Chart | Note, **options: Any) -> Chart | Note:
    """The chart, drawn again with other options."""
    return chart.again(**options) if isinstance(chart, Chart) and chart.again else chart


def texts(chart: Chart) -> list[tuple[str, Any]]:
    """Every visible text of a chart with its bounding box in pixels; of an annotation without its leader."""
    with style():
        figure = chart.figure
        renderer = figure.canvas.get_renderer()  # type: ignore[attr-defined]
        figure.draw_without_rendering()
        headline = figure._suptitle
        shown = [] if headline is None else [(headline.get_text(), Text.get_window_extent(headline, renderer))]
        for axis in figure.axes:
            if not axis.get_visible():
                continue
            items = [axis.title, axis._left_title, axis.xaxis.label, axis.yaxis.label, *axis.texts]  # type: ignore[attr-defined]
            for which, (low, high) in ((axis.xaxis, axis.get_xlim()), (axis.yaxis, axis.get_ylim())):
                ticks = zip(which.get_majorticklocs(), which.get_ticklabels(), strict=False)
                items += [label for place, label in ticks if min(low, high) <= place <= max(low, high)]
            shown += [(item.get_text(), Text.get_window_extent(item, renderer)) for item in items if item.get_visible()]
    return [(text, box) for text, box in shown if text.strip()]


def assert_fit_to_print(name: str, chart: Chart) -> list[str]:
    """No text is cut, covered by another or too small. Slanted tick labels (p99) are not compared with each other.

    Returns the texts of the chart.
    """
    page = chart.figure.bbox
    boxes = texts(chart)
    assert boxes, name
    for text, box in boxes:
        inside = box.x0 >= -1 and box.y0 >= -1 and box.x1 <= page.x1 + 1 and box.y1 <= page.y1 + 1
        assert inside, f"{name}: {text!r} is cut"
    for (one, a), (two, b) in itertools.combinations(boxes, 2):
        if re.fullmatch(r"p[\d.]+", one) and re.fullmatch(r"p[\d.]+", two):
            continue
        width = min(a.x1, b.x1) - max(a.x0, b.x0)
        height = min(a.y1, b.y1) - max(a.y0, b.y0)
        assert width <= 1.5 or height <= 1.5, f"{name}: {one!r} overlaps {two!r}"
    for axis in chart.figure.axes:
        for item in (*axis.texts, *axis.get_xticklabels(), *axis.get_yticklabels(), axis.title):
            assert float(item.get_fontsize()) >= SMALLEST_POINTS, name
    return [text for text, _ in boxes]
