"""A frame of another library is refused by name, with what to pass instead."""

from __future__ import annotations

from collections.abc import Callable

import duckdb
import polars as pl
import pyarrow as pa
import pytest
from helpers.small_frames import runs

import azlatency as az

USES: dict[str, Callable[[object], object]] = {
    "latency": az.latency,
    "key": az.key,
    "summarize": az.summarize,
    "compare": lambda frame: az.compare(frame, frame),
    "asymmetry": az.asymmetry,
    "baseline": lambda frame: az.baseline(frame, []),
    "plan": az.plan,
    "quantiles": az.quantiles,
    "agreement": az.stats.agreement,
    "compare_imports": lambda frame: az.stats.compare_imports(frame, frame),
    "printed_quantiles": lambda frame: az.stats.printed_quantiles(frame, frame),
    "run_table": az.studies.run_table,
    "client_side_runs": az.studies.client_side_runs,
    "chart": lambda frame: az.charts.forest(frame, "median_ns", panel="method", row="path"),
}


@pytest.mark.parametrize("use", USES.values(), ids=USES)
def test_frames_of_other_libraries_are_refused_by_name(use: Callable[[object], object]) -> None:
    frame = runs(run_id=["r1", "r2", "r3", "r4"])
    for foreign, message in (
        (pl.from_pandas(frame), r"^polars\.DataFrame is not a frame of pandas; pass its to_pandas\(\), and for"),
        (
            pl.from_pandas(frame).lazy(),
            r"^polars\.LazyFrame is not a frame of pandas; pass its collect\(\)\.to_pandas\(\), ",
        ),
        (pa.Table.from_pandas(frame), r"^pyarrow\.Table is not a frame of pandas; pass its to_pandas\(\), and for"),
        (duckdb.from_df(frame), r"^duckdb\.DuckDBPyRelation is not a frame of pandas; pass its df\(\), and for"),
    ):
        with pytest.raises(TypeError, match=message):
            use(foreign)
