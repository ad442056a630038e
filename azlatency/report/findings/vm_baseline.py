"""Findings of the page on the VM's baseline."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from azlatency.report.findings.common import act, info
from azlatency.report.objects import Finding, Findings
from azlatency.report.tables.common import in_unit

if TYPE_CHECKING:
    from azlatency.stats.across_runs.baseline import Conformance


def conclude(results: Sequence[Conformance]) -> Findings:
    """Count the expectations that are met, failed or open, and say why they are open.

    Parameters
    ----------
    results : sequence of Conformance
        One per expectation, path and method; without a mean where no run measured the expectation.

    Returns
    -------
    Findings
        At least one finding for a study without a baseline.
    """
    if not results:
        return Findings.of([info("This study has no baseline to compare with.")])
    measured = [result for result in results if result.mean is not None]
    findings = [act(_decided(result)) for result in measured if result.status == "fails"]
    findings += [info(_decided(result)) for result in measured if result.status == "meets"]
    findings += _inconclusive(measured)
    if any("unit_slip" in result.codes for result in measured):
        findings.append(act("A measured value is off by a factor of 100 or more. Check the units first."))
    if any("burst_test" in result.codes for result in measured):
        findings.append(act("Some tests ran for less than a minute; the sustained rate may be lower."))
    missing = len({result.what for result in results if result.mean is None})
    if missing:
        total = len({result.what for result in results})
        text = (
            f"{missing} of {total} expectations were not measured by any run. The page lists the missing measurements."
        )
        findings.append(act(text))
    return Findings.of(findings)


def _decided(result: Conformance) -> str:
    path, method = result.labels.get("path", ""), result.labels.get("method", "")
    value = in_unit(result.mean, result.mean, result.unit)
    return f"{result.what}, {path}, {method}: {result.status}, {value} in {result.runs} runs."


def _inconclusive(measured: Sequence[Conformance]) -> list[Finding]:
    """Count the inconclusive comparisons, those with a single run, and those far from the limit."""
    inconclusive = [result for result in measured if result.status == "inconclusive"]
    if not inconclusive:
        return []
    single = sum(result.runs == 1 for result in inconclusive)
    if single == len(inconclusive):
        reason = ": all are single runs, which have no bounds"
    else:
        reason = f", {single} of them because they are single runs, which have no bounds" if single else ""
    findings = [act(f"{len(inconclusive)} of {len(measured)} comparisons with the baseline are inconclusive{reason}.")]
    ratios = [result.ratio for result in inconclusive if result.ratio is not None]
    far = [ratio for ratio in ratios if not 0.5 <= ratio <= 2]
    if far:
        text = (
            f"{len(far)} of these are far from the expectation ({min(far):.2f} to {max(far):.2f} times the nearer "
            "limit). Check the expectation before you suspect the VM."
        )
        findings.append(info(text))
    return findings
