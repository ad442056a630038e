"""Rows that are kept as columns behave like a list of dictionaries."""

from __future__ import annotations

import pickle
from array import array
from typing import Any

import numpy as np
import pytest

from azlatency import schema
from azlatency.logs.rows import Columns, Rows, joined, rows_to_arrow

HISTOGRAM = schema.arrow_schema("histograms")


def columns() -> Columns:
    lows = np.array([0, 10], dtype=np.int64)
    return Columns(
        2,
        {"run_id": "a", "metric": "rtt", "low_ns": lows, "high_ns": [10, None], "count": 7, "line": array("q", [3, 4])},
    )


BUILT: list[dict[str, Any]] = [
    {"run_id": "a", "metric": "rtt", "low_ns": 0, "high_ns": 10, "count": 7, "line": 3},
    {"run_id": "a", "metric": "rtt", "low_ns": 10, "high_ns": None, "count": 7, "line": 4},
]
OTHER: dict[str, Any] = {"run_id": "b", "metric": "rtt", "low_ns": 5, "count": 1, "line": 9}


def test_columns_are_the_rows_that_they_stand_for() -> None:
    assert len(columns()) == 2 and list(columns()) == BUILT
    assert type(next(iter(columns()))["low_ns"]) is int
    assert rows_to_arrow(columns(), HISTOGRAM).equals(rows_to_arrow(BUILT, HISTOGRAM))


def test_rows_keep_the_order_in_which_they_were_added() -> None:
    rows = joined([OTHER], columns())
    rows.append(OTHER)
    rows += [OTHER]
    expected = [OTHER, *BUILT, OTHER, OTHER]
    assert isinstance(rows, Rows) and len(rows) == 5 and list(rows) == expected
    assert rows_to_arrow(rows, HISTOGRAM).combine_chunks().equals(rows_to_arrow(expected, HISTOGRAM).combine_chunks())
    assert list(pickle.loads(pickle.dumps(rows))) == expected
    assert rows[1:3] == BUILT and rows[-1] is OTHER


def test_rows_can_be_changed() -> None:
    rows = joined([OTHER], columns())
    rows[1]["count"] = 8
    del rows[0]
    rows.insert(0, OTHER | {"line": 1})
    rows[2] = OTHER
    assert [row["count"] for row in rows] == [1, 8, 1] and rows[0]["line"] == 1


def test_joined_rows_are_independent_of_the_added_ones() -> None:
    added = joined([], columns())
    rows = joined([], added)
    rows.append(OTHER)
    added.append(OTHER)
    assert (len(rows), len(added)) == (3, 3)


def test_a_column_of_the_wrong_length_is_an_error() -> None:
    with pytest.raises(ValueError, match="zip"):
        list(Columns(2, {"run_id": "a", "line": [1]}))
