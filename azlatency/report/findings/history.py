"""Findings of the page "Night after night"."""

from __future__ import annotations

from collections.abc import Sequence

from azlatency.kit.findings import act, answer, info
from azlatency.kit.objects import Finding, Findings
from azlatency.kit.titles import last_changes
from azlatency.stats.across_runs.run_history import FEWEST, RunHistory
from azlatency.stats.result import SHORT

#: Most changes that are listed one by one.
_MOST = 8


def find(series: Sequence[RunHistory]) -> Findings:
    """Say which levels changed, when and by how much.

    Parameters
    ----------
    series : sequence of RunHistory
        As `azlatency.history` returns them.

    Returns
    -------
    Findings
        At least one finding.
    """
    judged = [one for one in series if not one.refused]
    if not judged:
        return Findings.of([info(f"No series has {FEWEST} points, so no change of level can be found.")])
    changed = [one for one in judged if one.changes]
    findings: list[Finding] = [
        answer(
            f"**{len(changed)} of {len(judged)} series** changed their level: {last_changes(changed)}."
            if changed
            else f"**No level changed** in {len(judged)} series of up to {max(one.n for one in judged)} points."
        )
    ]
    drifting = [one for one in judged if one.drift is not None]
    findings += [act(f"{one.what}: {one.drift_in_words}, without a date.") for one in drifting[:_MOST]]
    every = [change for one in changed for change in one.changes]
    findings += [act(f"{change}.") for change in every[:_MOST]]
    if len(every) > _MOST:
        findings.append(info(f"{len(every) - _MOST} more changes are in the table."))
    for code in ("clock_set_back", "nights_missing", "order_assumed"):
        if flagged := sum(code in one.codes for one in judged):
            findings.append(info(f"{SHORT[code].rstrip('?').capitalize()}: {flagged} of {len(judged)} series."))
    return Findings.of(findings)
