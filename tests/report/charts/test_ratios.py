"""Rows of ratios: the reach of their axis and their words."""

from __future__ import annotations

import math
from dataclasses import replace

from azlatency.report.charts import ratios
from azlatency.stats.across_runs.comparison import compare_runs


def test_the_axis_reaches_every_estimate_and_the_words_have_the_band() -> None:
    comparison = compare_runs([200e3, 202e3, 198e3, 201e3], [100e3, 101e3, 99e3, 100e3], margin="5%", unit="ns")
    comparison = replace(comparison, labels={"method": "ping"})
    assert ratios.ratio_reach([comparison]) >= math.log(2)
    text = ratios.pair_words(comparison)
    assert "band 0.9524 – 1.05" in text and "different" in text
