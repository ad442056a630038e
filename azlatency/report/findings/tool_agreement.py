"""Findings of the page on the agreement of tools."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from azlatency.report.findings.common import act, info
from azlatency.report.objects import Finding, Findings

if TYPE_CHECKING:
    from azlatency.stats.across_runs.agreement import Agreement


def conclude(agreements: Sequence[Agreement]) -> Findings:
    """Say which tools agree on common paths, which differ, and which send different packets.

    Parameters
    ----------
    agreements : sequence of Agreement
        One per pair of methods with common paths.

    Returns
    -------
    Findings
        At least one finding for a study without common paths.
    """
    if not agreements:
        text = (
            "No two methods of this study measured round-trip times on the same path, so their agreement cannot be "
            "assessed."
        )
        return Findings.of([info(text)])
    findings: list[Finding] = []
    same_packets = [agreement for agreement in agreements if not agreement.differs_in]
    for agreement in same_packets:
        ratio = agreement.ratio
        if agreement.agree is None or ratio.low is None or ratio.high is None or ratio.estimate is None:
            continue
        text = (
            f"{agreement.first} and {agreement.second} {'agree' if agreement.agree else 'disagree'} within "
            f"{100 * agreement.margin:g} % (ratio {ratio.estimate:.3f}, interval {ratio.low:.3f} to {ratio.high:.3f}, "
            f"{agreement.pairs} pairs)."
        )
        findings.append(info(text) if agreement.agree else act(text))
    inconclusive = sum(agreement.agree is None for agreement in same_packets)
    if inconclusive:
        text = (
            f"{inconclusive} of {len(same_packets)} pairs of tools that send the same packets are inconclusive. "
            "Measure more paths or rounds."
        )
        findings.append(act(text))
    different = len(agreements) - len(same_packets)
    if different:
        text = (
            f"{different} of {len(agreements)} pairs of methods send different packets: do not compare their numbers. "
            "Compare paths within one method only."
        )
        findings.append(act(text))
    return Findings.of(findings)
