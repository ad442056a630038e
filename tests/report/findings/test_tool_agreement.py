"""The findings of the page on tools."""

from __future__ import annotations

import pandas as pd

import azlatency as az
from azlatency.report import findings


def test_tools_that_agree_are_named_with_their_ratio(cni_latency: pd.DataFrame) -> None:
    text = str(findings.tool_agreement.find(az.stats.agreement(cni_latency)))
    assert "qperf tcp_lat and sockperf TCP 14 B" in text and "1.010" in text and "5 pairs" in text
