"""Findings of the page on the VM's baseline."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from azlatency.report.card import span
from azlatency.report.findings.common import act, answer, info, join
from azlatency.report.objects import Finding, Findings
from azlatency.report.tables.common import in_unit, limits, verdict_of_all
from azlatency.report.titles import capitalised
from azlatency.studies.format import column_unit, count_of

if TYPE_CHECKING:
    from azlatency.stats.across_runs.baseline import Conformance


def find(results: Sequence[Conformance]) -> Findings:
    """Say which expectations are met, failed or open, and why they are open.

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
    findings = [answer(_answer(results))]
    findings += [act(_decided(result)) for result in measured if result.status == "fails"]
    findings += [info(_decided(result)) for result in measured if result.status == "meets"]
    findings += _inconclusive(measured)
    if any("unit_slip" in result.codes for result in measured):
        findings.append(act("A measured value is off by a factor of 100 or more. Check the units first."))
    if any("burst_test" in result.codes for result in measured):
        findings.append(act("Some tests ran for less than a minute; the sustained rate may be lower."))
    missing = dict.fromkeys(result.what for result in results if result.mean is None)
    if missing:
        names = "; ".join(missing)
        findings.append(act(f"Not measured by any run: {names}. The page lists the commands."))
    return Findings.of(findings)


def _answer(results: Sequence[Conformance]) -> str:
    """Count the expectations by what the runs decide; the worst result of an expectation counts."""
    order = ("fails", "inconclusive", "meets")
    worst: dict[str, str] = {}
    for result in results:
        status = "not measured" if result.mean is None else result.status
        before = worst.get(result.what, status)
        worst[result.what] = min((before, status), key=lambda name: order.index(name) if name in order else len(order))
    counts = {name: sum(status == name for status in worst.values()) for name in ("meets", *order[:2], "not measured")}
    words = {"meets": "met", "fails": "failed"}
    measured = [result for result in results if result.mean is not None]
    if len(worst) == 1 and measured:
        first, values = measured[0], [result.mean for result in measured if result.mean is not None]
        shown = span(values, first.unit, like=column_unit(first.unit)[0])
        said, verdict = limits(first.limit_low, first.limit_high, first.unit), next(iter(worst.values()))
        found = verdict_of_all(measured) or words.get(verdict, verdict)
        return f"{capitalised(first.what)}: **{shown}** measured, {said} expected; **{found}**."
    parts = [f"**{count} {words.get(name, name)}**" for name, count in counts.items() if count]
    return f"Of {count_of(len(worst), 'expectation')}: {', '.join(parts)}."


def _decided(result: Conformance) -> str:
    path, method = result.labels.get("path", ""), result.labels.get("method", "")
    value = in_unit(result.mean, result.mean, result.unit)
    return f"{result.what}, {path}, {method}: {result.status}, {value} in {count_of(result.runs, 'run')}."


def _compared(results: Sequence[Conformance]) -> str:
    """Describe comparisons of one expectation and method that decide nothing: paths, values and the expectation."""
    first, paths = results[0], [str(result.labels.get("path", "")) for result in results]
    # In the unit of the limit.
    means = [result.mean for result in results if result.mean is not None]
    values = span(means, first.unit, like=column_unit(first.unit)[0])
    expected = limits(first.limit_low, first.limit_high, first.unit)
    runs = {result.runs for result in results}
    count = "one run each" if runs == {1} else f"{min(runs)} to {max(runs)} runs"
    method = first.labels.get("method", "")
    return f"{first.what} ({method}): **{values}** on {join(paths)}, expected {expected}; {count}, so inconclusive."


def _inconclusive(measured: Sequence[Conformance]) -> list[Finding]:
    """Describe the inconclusive comparisons, and say why they decide nothing."""
    inconclusive = [result for result in measured if result.status == "inconclusive"]
    if not inconclusive:
        return []
    groups: dict[tuple[str, str], list[Conformance]] = {}
    for result in inconclusive:
        groups.setdefault((result.what, str(result.labels.get("method", ""))), []).append(result)
    findings = [info(_compared(group)) for group in groups.values()]
    ratios = [result.ratio for result in inconclusive if result.ratio is not None]
    far = [ratio for ratio in ratios if not 0.5 <= ratio <= 2]
    if far:
        text = (
            f"Values of {min(far):.2g} to {max(far):.2g} times the limit are far from the expectation. Check the "
            "expectation before you suspect the VM."
        )
        findings.append(act(text))
    if any(result.runs == 1 for result in inconclusive):
        findings.append(act("A single run has no bounds, so these comparisons decide nothing. Repeat the runs."))
    return findings
