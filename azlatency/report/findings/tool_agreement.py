"""Findings of the page on the agreement of tools."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from azlatency.report.findings.common import act, answer, info, join
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
    same_packets = [agreement for agreement in agreements if not agreement.differs_in]
    findings: list[Finding] = [answer(_answer(same_packets))]
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


def _answer(agreements: Sequence[Agreement]) -> str:
    """Count the pairs of tools that agree, disagree or are open; without any, say that packets differ."""
    if not agreements:
        return "No two tools sent the same packets, so their numbers cannot be compared."
    words = {True: ("agrees", "agree"), False: ("disagrees", "disagree"), None: ("is inconclusive", "are inconclusive")}
    counts = {verdict: sum(one.agree is verdict for one in agreements) for verdict in words}
    parts = [f"**{count}** {words[verdict][count > 1]}" for verdict, count in counts.items() if count]
    margin = f"{100 * agreements[0].margin:g} %"
    if len(agreements) == 1:
        return f"The only pair of tools that send the same packets **{words[agreements[0].agree][0]}** within {margin}."
    return f"Of {len(agreements)} pairs of tools that send the same packets, {', '.join(parts)} within {margin}."
