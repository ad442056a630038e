"""Charts (`az.charts`): shapes that draw any frame with the columns that they are told, and the charts of the pages.

Every chart has a caption that says what is drawn and how uncertainty is shown, and a text alternative with the numbers.
Where there is nothing to draw the function returns a `Note` with the reason.
"""

from azlatency.report.charts import (
    Options,
    asymmetry_forest,
    changes_forest,
    column,
    emulated_errors,
    estimation_plot,
    export,
    falls_by_path,
    few,
    ground_truth,
    history,
    last_segments,
    latency_forest,
    path_matrix,
    percentile_curves,
    placement_values,
    precision_chart,
    run_series,
    run_shapes,
    runs_in_order,
    runs_needed_forest,
    show,
    single_changes,
    tail_curves,
    throughput_forest,
    throughput_series,
    zone_map,
    zone_matrices,
)
from azlatency.shapes.forest import forest

__all__ = [
    "Options", "asymmetry_forest", "changes_forest", "column", "emulated_errors",
    "estimation_plot", "export", "falls_by_path", "few", "forest", "ground_truth", "history", "last_segments",
    "latency_forest", "path_matrix", "percentile_curves", "placement_values", "precision_chart", "run_series",
    "run_shapes", "runs_in_order", "runs_needed_forest", "show", "single_changes", "tail_curves", "throughput_forest",
    "throughput_series", "zone_map", "zone_matrices",
]  # fmt: skip
