"""The findings of the page on what was measured."""

from __future__ import annotations

import pandas as pd

import azlatency as az
from azlatency.report import findings
from azlatency.studies.store.study import Study


def test_what_the_tools_print_is_proven_by_their_durations(cni: Study, cni_latency: pd.DataFrame) -> None:
    conclusion = findings.what_was_measured.find(cni, az.stats.unit_checks.printed_quantities(cni_latency))
    assert "qperf tcp_lat and sockperf TCP 14 B print RTT/2" in str(conclusion)
