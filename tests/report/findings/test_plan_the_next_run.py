"""The findings of the page on planning."""

from __future__ import annotations

import pandas as pd

import azlatency as az
from azlatency.report import findings


def test_runs_without_spread_ask_for_repeats(cni_latency: pd.DataFrame) -> None:
    sizes = az.stats.percentile_sizes(cni_latency["n"], 0.95)
    conclusion = findings.plan_the_next_run.find(az.plan(cni_latency), sizes)
    # The shortest run has 6,738 packets: enough for p99.9 (3,688). The longest has 295,149: enough for p99.99 (36,887).
    text = str(conclusion)
    assert (
        conclusion.findings[0].kind == "answer"
        and "no spread: 5 paths" in text
        and "every run up to p99.9," in text
        and "p99.99." in text
    )
