"""Logs for a terminal."""

from __future__ import annotations

from helpers.places import ROOT

import azlatency as az
from azlatency.cli.console import full_rows, microseconds, run_summary


def test_times_have_up_to_three_decimals() -> None:
    assert [microseconds(value) for value in (1_397_890.0, 50_000.0, 1.0, None)] == ["1,397.89", "50", "0.001", ""]


def test_a_summary_has_one_row_per_run() -> None:
    (row,) = run_summary(az.parse(ROOT / "data" / "raw" / "westeurope-azure-cni" / "az1-az3" / "sockperf.log"))
    assert row["mean"] and not row["Gbit/s"]


def test_full_rows_are_texts() -> None:
    assert full_rows([{"a": 1, "b": None}]) == [{"a": "1", "b": ""}]
