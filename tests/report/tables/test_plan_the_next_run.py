"""The tables of the page on planning."""

from __future__ import annotations

import pandas as pd
from helpers.tables import cell

import azlatency as az
from azlatency.kit.objects import Note
from azlatency.report import tables


def test_single_runs_show_no_spread_to_plan_with(cni_latency: pd.DataFrame) -> None:
    assert "10 combinations" in str(tables.plan_the_next_run.plans(az.plan(cni_latency)))
    assert isinstance(tables.plan_the_next_run.plans([]), Note)


def test_sizes_are_those_of_the_binomial_law(cni_latency: pd.DataFrame) -> None:
    # Upper bound of p99 at 95 %: the smallest n with 0.99^n <= 0.05 is 299.
    table = tables.plan_the_next_run.smallest_sizes(az.stats.percentile_sizes(cni_latency["n"], 0.95))
    assert cell(table, "p99,", "for an upper bound") == "299"
    assert cell(table, "p99,", "runs with enough for both") == "10 of 10"
