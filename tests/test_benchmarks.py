"""The page of the benchmarks shows the stored result, and later results are compared with it."""

import json
import sys
from typing import Any

import pytest
from helpers.places import ROOT

sys.path.insert(0, str(ROOT))
from azlatency.logs.schema import TABLES
from benchmarks import results
from benchmarks.statistics import packets_table


def row(what: str, own: list[float], peer: list[float], most: float | None = None) -> dict[str, Any]:
    ratio = sorted(own)[len(own) // 2] / sorted(peer)[len(peer) // 2]
    return {"what": what, "own_s": own, "peer": "p", "peer_s": peer, "ratio": ratio, "most": most}


@pytest.mark.skipif(not results.STORED.is_file(), reason="no result is stored; run make bench and make bench-store")
def test_the_page_shows_the_stored_result() -> None:
    stored = json.loads(results.STORED.read_text("utf-8"))
    assert results.PAGE.read_text("utf-8") == results.page(stored), "run make bench-store"
    assert results.CHART.is_file()
    assert len(stored["rows"]) > 30 and len(stored["cpu_s_by_size"]) >= 4


def test_made_samples_have_the_columns_of_a_study() -> None:
    made = packets_table(3, "r", 0, 1).column_names
    assert {*made, "tool"} == {column.name for column in TABLES["samples"]}


def test_a_ratio_that_changed_is_named() -> None:
    steady, slower = row("a", [1.0, 1.01, 0.99, 1.0], [0.5] * 4), row("a", [2.0, 2.02, 1.98, 2.0], [0.5] * 4)
    assert results.compare([steady], [steady]) == ["  1 of 1 ratios are equal to within 25%"]
    changed, count = results.compare([steady], [slower])
    assert changed.startswith("  a, against p: 2.00× higher") and count == "  0 of 1 ratios are equal to within 25%"
    assert results.compare([], [slower]) == ["  0 of 0 ratios are equal to within 25%"]


@pytest.mark.parametrize(
    ("ratio", "most", "text"),
    [(1.2, 1.5, "≤ 1.5×: met"), (1.6, 1.5, "≤ 1.5×: missed"), (0.05, 1 / 15, "≥ 15× faster: met"), (2.0, None, "")],
)
def test_goals(ratio: float, most: float | None, text: str) -> None:
    assert results.goal_of(row("a", [ratio], [1.0], most)) == text
