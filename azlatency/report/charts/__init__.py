"""The charts of the pages: results and frames in, one `Chart` out. A chart computes nothing but positions on paper.

Every chart has a caption that says what is drawn and how uncertainty is shown, and a text alternative with the numbers.
Where there is nothing to draw the function returns a `Note` with the reason. Charts of one page are in a module named
like the page; the others are in modules named after what they draw.
"""

from azlatency.kit.drawing.base import column, export, few, show
from azlatency.kit.drawing.options import Options
from azlatency.kit.drawing.truth import ground_truth
from azlatency.report.charts.forests import latency_forest, throughput_forest
from azlatency.report.charts.path_matrix import path_matrix
from azlatency.report.charts.percentiles import percentile_curves
from azlatency.report.charts.run_order import runs_in_order
from azlatency.report.charts.shapes import run_shapes
from azlatency.report.charts.summary import zone_map
from azlatency.report.charts.tail import tail_curves

__all__ = [
    "Options", "column", "export", "few", "ground_truth",
    "latency_forest", "path_matrix", "percentile_curves", "run_shapes",
    "runs_in_order",
    "show", "tail_curves", "throughput_forest",
    "zone_map",
]  # fmt: skip
