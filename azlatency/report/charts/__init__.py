"""The charts of the pages: results and frames in, one `Chart` out. A chart computes nothing but positions on paper.

Every chart has a caption that says what is drawn and how uncertainty is shown, and a text alternative with the numbers.
Where there is nothing to draw the function returns a `Note` with the reason. Charts of one page are in a module named
like the page; the others are in modules named after what they draw.
"""

from azlatency.kit.drawing.base import column, export, few, show
from azlatency.kit.drawing.options import Options
from azlatency.kit.drawing.truth import ground_truth
from azlatency.report.charts.summary import zone_map

__all__ = [
    "Options", "column", "export", "few", "ground_truth", "show", "zone_map",
]  # fmt: skip
