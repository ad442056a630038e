"""Charts (`az.charts`): shapes that draw any frame with the columns that they are told, and the charts of the pages.

Every chart has a caption that says what is drawn and how uncertainty is shown, and a text alternative with the numbers.
Where there is nothing to draw the function returns a `Note` with the reason.
"""

from azlatency.report.charts import (
    Options,
    column,
    export,
    falls_by_path,
    few,
    ground_truth,
    last_segments,
    latency_forest,
    path_matrix,
    percentile_curves,
    run_series,
    run_shapes,
    runs_in_order,
    show,
    tail_curves,
    throughput_forest,
    throughput_series,
    zone_map,
)
from azlatency.shapes.forest import forest
from azlatency.shapes.matrix import matrix
from azlatency.shapes.series import series

__all__ = [
    "Options", "column", "export", "falls_by_path", "few", "forest", "ground_truth", "last_segments",
    "latency_forest", "matrix", "path_matrix", "percentile_curves", "run_series", "run_shapes",
    "runs_in_order", "series", "show", "tail_curves", "throughput_forest", "throughput_series",
    "zone_map",
]  # fmt: skip
