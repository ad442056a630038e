"""Findings of the page on the agreement of tools."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from azlatency.report.findings.common import act, info, join
from azlatency.report.objects import Finding, Findings

if TYPE_CHECKING:
    from azlatency.stats.across_runs.agreement import Agreement


def find(agreements: Sequence[Agreement]) -> Findings:
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
        if ratio.low is None or ratio.high is None or ratio.estimate is None:
            continue
        verdict = {True: "agree", False: "disagree", None: "may agree or not"}[agreement.agree]
        text = (
            f"{agreement.first} and {agreement.second} {verdict} within "
            f"{100 * agreement.margin:g} % (ratio {ratio.estimate:.3f}, interval {ratio.low:.3f} to {ratio.high:.3f}, "
            f"{agreement.pairs} pairs)."
        )
        findings.append(act(text) if agreement.agree is False else info(text))
    open_pairs = [f"{agreement.first} and {agreement.second}" for agreement in same_packets if agreement.agree is None]
    if open_pairs:
        findings.append(act(f"Inconclusive: {join(open_pairs)}. Measure more paths or rounds."))
    different = [f"{agreement.first} and {agreement.second}" for agreement in agreements if agreement.differs_in]
    if different:
        text = f"Different packets: {join(different)}. Do not compare their numbers; compare paths within one method."
        findings.append(act(text))
    return Findings.of(findings)
