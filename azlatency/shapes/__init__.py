"""Charts (`az.charts`): shapes that draw any frame with the columns that they are told, and the charts of the pages.

Every chart has a caption that says what is drawn and how uncertainty is shown, and a text alternative with the numbers.
Where there is nothing to draw the function returns a `Note` with the reason.
"""

from azlatency.report.charts import (
    Options,
    column,
    export,
    few,
    ground_truth,
    latency_forest,
    path_matrix,
    percentile_curves,
    run_shapes,
    runs_in_order,
    show,
    tail_curves,
    throughput_forest,
    zone_map,
)
from azlatency.shapes.course import course
from azlatency.shapes.forest import forest
from azlatency.shapes.matrix import matrix
from azlatency.shapes.series import series

__all__ = [
    "Options", "column", "course", "export", "few", "forest", "ground_truth",
    "latency_forest", "matrix", "path_matrix", "percentile_curves", "run_shapes",
    "runs_in_order", "series", "show", "tail_curves", "throughput_forest",
    "zone_map",
]  # fmt: skip
