"""The findings of the page on placement."""

from __future__ import annotations

import azlatency as az
from azlatency.report import findings
from azlatency.studies.store.study import Study


def test_ping_and_sockperf_contradict_each_other(zones: Study) -> None:
    conditions = az.stats.placement.conditions(zones, az.latency(zones))
    changes = az.stats.placement.changes(az.stats.placement.widest_methods(conditions), "placement")
    text = str(findings.placement.find(conditions, changes, []))
    # Medians of sockperf -m 1400: 93.556 / 53.433 us; means of ping: 0.969 / 1.902 ms
    assert "Zone 3 → Zone 1" in text and "1.75" in text and "0.51" in text
