"""The findings of the page on the VM against its baseline."""

from __future__ import annotations

import azlatency as az
from azlatency.report import findings
from azlatency.studies.store.study import Study


def test_a_single_run_is_inconclusive(latte: Study) -> None:
    text = str(findings.vm_baseline.find(az.baseline(latte, latte.expectations)))
    assert "**2,026 µs** on Different zones" in text and "one run each, so inconclusive" in text
