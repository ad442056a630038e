"""Findings of the page on throughput."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from azlatency.report.findings.common import GIGABIT, act, info
from azlatency.report.objects import Finding, Findings
from azlatency.stats.result import Estimate

if TYPE_CHECKING:
    import pandas as pd


def conclude(runs: pd.DataFrame, across: Sequence[Estimate], comparison: pd.DataFrame) -> Findings:
    """Summarize goodput: traffic that never left the host, the VM's limit, typical goodput, retransmissions.

    Parameters
    ----------
    runs : DataFrame
        One row per run with a throughput (bit/s).
    across : sequence of Estimate
        Typical goodput across runs (bit/s), one per path and method.
    comparison : DataFrame
        One row per run with the columns ``ratio``, ``expected`` (bit/s) and ``remark``.

    Returns
    -------
    Findings
        At least one finding for a study without throughput.
    """
    if not len(runs):
        return Findings.of([info("No log of this study contains a throughput.")])
    findings: list[Finding] = []
    inside = runs[runs["placement"] == "same_host"]
    if len(inside):
        rates = inside["throughput"].astype(float) / GIGABIT
        text = (
            f"{rates.min():,.4g} – {rates.max():,.4g} Gbit/s between programs on one host never crossed the network. "
            "This is memory bandwidth."
        )
        findings.append(act(text))
    network = comparison[~comparison["remark"].str.startswith("nothing")] if len(comparison) else comparison
    if len(network):
        text = (
            f"Between hosts the runs reached {network['ratio'].min():.2f} to {network['ratio'].max():.2f} times the "
            f"{float(network['expected'].iloc[0]) / GIGABIT:g} Gbit/s expected of the VM, in tests too short to show "
            "a sustained rate."
        )
        findings.append(info(text))
    for estimate in across:
        if estimate.refused:
            continue
        assert estimate.estimate is not None and estimate.low is not None and estimate.high is not None
        text = (
            f"{estimate.what}: typical goodput {estimate.estimate / GIGABIT:,.3g} Gbit/s, "
            f"{100 * estimate.confidence:g} % interval {estimate.low / GIGABIT:,.3g} – "
            f"{estimate.high / GIGABIT:,.3g} Gbit/s over {estimate.n} runs."
        )
        findings.append(info(text))
    single = sum("no_replication" in estimate.codes for estimate in across)
    if single:
        text = (
            f"{single} of {len(across)} combinations of path and method were measured once, so they have no interval "
            "and cannot be ranked."
        )
        findings.append(act(text))
    retransmitting = runs[(runs["retransmits"].fillna(0) > 0) & (runs["retransmits_scope"] != "host")]
    if len(retransmitting):
        worst = retransmitting.loc[retransmitting["retransmits"].astype(float).idxmax()]
        most = f"{int(worst['retransmits']):,} segments, on {worst['path']} ({worst['method']})"
        findings.append(info(f"{len(retransmitting)} runs retransmitted, at most {most}."))
    return Findings.of(findings)
