"""Findings of the page that compares two imports."""

from __future__ import annotations

import math
from collections.abc import Sequence

from azlatency.kit.findings import act, answer, join
from azlatency.kit.objects import Finding, Findings
from azlatency.kit.titles import times
from azlatency.report.differences import in_drift
from azlatency.stats.result import Comparison
from azlatency.studies.format import count_of


def find(imports: Sequence[Comparison]) -> Findings:
    """Say what changed, what is practically equivalent, and what cannot be compared.

    Parameters
    ----------
    imports : sequence of Comparison
        The other import against this one, one per path and method.

    Returns
    -------
    Findings
        At least one finding.
    """
    findings: list[Finding] = [answer(_answer(imports))]
    for comparison in imports:
        ratio = comparison.ratio
        if comparison.verdict == "different" and ratio.estimate is not None and ratio.low is not None:
            interval = f"{ratio.estimate:.3f} ({ratio.low:.3f} to {ratio.high:.3f})"
            text = f"{comparison.what}: changed{in_drift([comparison])}, ratio {interval}."
            findings.append(act(text))
    refused = [comparison.what for comparison in imports if comparison.ratio.estimate is None]
    if refused:
        text = f"Not estimable: {join(refused)}. A change of the network cannot be told from one of the measurement."
        findings.append(act(text))
    return Findings.of(findings)


def _answer(comparisons: Sequence[Comparison]) -> str:
    """Say how many comparisons show a change and the largest of them, or that none does."""
    judged = [comparison for comparison in comparisons if comparison.ratio.low is not None]
    if not judged:
        return "Not answerable: nothing was measured twice in the same way, several times each."
    changed = [comparison for comparison in judged if comparison.verdict == "different"]
    counts = {
        "practically equivalent": sum(comparison.verdict == "equivalent" for comparison in judged),
        "different within the margin": sum(comparison.verdict == "different_within_margin" for comparison in judged),
        "inconclusive": sum(comparison.verdict == "inconclusive" for comparison in judged),
    }
    number = count_of(len(judged), "comparison")
    if not changed:
        listed = ", ".join(f"{count} {name}" for name, count in counts.items() if count)
        return f"No change beyond the margin is shown since the other study: of {number}, {listed}."
    most = max(changed, key=lambda comparison: abs(math.log(comparison.ratio.estimate or 1.0)))
    ratio = times(most.ratio.estimate or 1.0, "the value before")
    since = f"changed since the other study{in_drift([most])}"
    return f"**{len(changed)} of {number}** {since}; most of all {most.what}: **{ratio}**."
