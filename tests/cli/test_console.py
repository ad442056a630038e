"""Logs for a terminal."""

from __future__ import annotations

from helpers.places import ROOT

import azlatency as az
from azlatency.cli.console import full_table, microseconds, run_summary


def test_times_have_up_to_three_decimals() -> None:
    assert [microseconds(value) for value in (1_397_890.0, 50_000.0, 1.0, None)] == ["1,397.89", "50", "0.001", ""]


def test_a_summary_has_one_row_per_run_and_no_empty_column() -> None:
    table = run_summary(az.parse(ROOT / "data" / "raw" / "westeurope-azure-cni" / "az1-az3" / "sockperf.log"))
    headers = [str(column.header) for column in table.columns]
    assert table.row_count == 1 and "mean" in headers and "Gbit/s" not in headers


def test_a_full_table_leaves_out_columns_without_a_value() -> None:
    table = full_table([{"a": 1, "b": None}, {"a": None, "b": None}], "title")
    assert [str(column.header) for column in table.columns] == ["a"] and table.row_count == 2
