"""Rows of ratios: the reach of their axis and their words."""

from __future__ import annotations

import math
from dataclasses import replace

from azlatency.report.charts import ratios
from azlatency.stats.across_runs.comparison import compare_runs


def test_a_title_names_every_pair_of_a_tie() -> None:
    twice = compare_runs([200e3, 202e3, 198e3, 201e3], [100e3, 101e3, 99e3, 100e3], margin="5%", unit="ns")
    pairs = [replace(twice, labels={"method": "iperf3", "from": end, "to": "c"}) for end in ("a", "b")]
    assert ratios.ratio_title(pairs, "Goodput") == (
        "Goodput: 2 of 2 differ; a → c, b → c against back, 2.00 times as much (iperf3)"
    )


def test_the_axis_reaches_every_estimate_and_the_words_have_the_band() -> None:
    comparison = compare_runs([200e3, 202e3, 198e3, 201e3], [100e3, 101e3, 99e3, 100e3], margin="5%", unit="ns")
    comparison = replace(comparison, labels={"method": "ping"})
    assert ratios.ratio_reach([comparison]) >= math.log(2)
    text = ratios.pair_words(comparison)
    assert "band 0.9524 – 1.05" in text and "different" in text
