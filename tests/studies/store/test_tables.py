"""Rows of logs are selected and ordered by the log that they belong to."""

from __future__ import annotations

import pyarrow as pa

from azlatency.studies.store.tables import in_order, select_sources, source_ids

ROWS = pa.table({"run_id": ["b" * 16 + "-01", "a" * 16 + "-01", "b" * 16 + "-02"], "value": [1, 2, 3]})


def test_rows_of_some_logs_in_an_order() -> None:
    assert source_ids(ROWS).to_pylist() == ["b" * 16, "a" * 16, "b" * 16]
    assert select_sources(ROWS, {"b" * 16})["value"].to_pylist() == [1, 3]
    assert in_order(ROWS, ["a" * 16, "b" * 16])["value"].to_pylist() == [2, 1, 3]
    assert select_sources(ROWS, {"a" * 16, "b" * 16}) is ROWS
