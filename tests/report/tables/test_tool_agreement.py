"""The table of the page on tools."""

from __future__ import annotations

import pandas as pd
from helpers.tables import cell

import azlatency as az
from azlatency.report import tables
from azlatency.report.objects import Note


def test_qperf_and_sockperf_agree_on_five_paths(cni_latency: pd.DataFrame) -> None:
    # Printed means: 16.9/16.791, 38.8/37.645, 60.5/60.563, 718/708.390, 699/698.945; geometric mean 1.010.
    table = tables.tool_agreement.agreements(az.stats.agreement(cni_latency))
    assert cell(table, "qperf tcp_lat, sockperf TCP 14 B", "pairs") == "5"
    assert cell(table, "qperf tcp_lat, sockperf TCP 14 B", "ratio") == "1.010"


def test_a_study_of_one_tool_has_a_note() -> None:
    assert isinstance(tables.tool_agreement.agreements([]), Note)
