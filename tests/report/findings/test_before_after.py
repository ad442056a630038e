"""The findings of the page on two imports."""

from __future__ import annotations

import pandas as pd

import azlatency as az
from azlatency.report import findings
from azlatency.studies.store.study import Study


def test_imports_with_different_packets_are_not_estimable(cni_latency: pd.DataFrame, zones: Study) -> None:
    changes = az.stats.compare_imports(cni_latency, az.latency(zones))
    text = str(findings.before_after.find(changes))
    assert "Not estimable: AZ1 - AZ3" in text and "Not estimable" in text
