"""Findings of the page that compares two imports, and the rounds of one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from azlatency.report.findings.common import act, info, join
from azlatency.report.objects import Finding, Findings

if TYPE_CHECKING:
    from azlatency.stats.result import Comparison


def find(imports: Sequence[Comparison], rounds: Sequence[Comparison]) -> Findings:
    """Say what changed, what is practically equivalent, and what cannot be compared.

    Parameters
    ----------
    imports : sequence of Comparison
        The other import against this one, one per path and method.
    rounds : sequence of Comparison
        The last round against the first one, one per method.

    Returns
    -------
    Findings
        At least one finding.
    """
    findings: list[Finding] = []
    for comparison in imports:
        ratio = comparison.ratio
        if comparison.verdict == "different" and ratio.estimate is not None and ratio.low is not None:
            text = f"{comparison.what}: changed, ratio {ratio.estimate:.3f} ({ratio.low:.3f} to {ratio.high:.3f})."
            findings.append(act(text))
    refused = [comparison.what for comparison in imports if comparison.ratio.estimate is None]
    if refused:
        text = f"Not estimable: {join(refused)}. A change of the network cannot be told from one of the measurement."
        findings.append(act(text))
    if rounds:
        findings += [info(str(comparison)) for comparison in rounds if comparison.ratio.low is not None]
    else:
        findings.append(info("This study was not measured in rounds, so changes during it cannot be assessed."))
    return Findings.of(findings)
