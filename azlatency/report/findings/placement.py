"""Findings of the page on placement."""

from __future__ import annotations

from collections.abc import Sequence

from azlatency.report.card import span
from azlatency.report.findings.common import MICROSECOND, act, info, join, join_by_method
from azlatency.report.objects import Finding, Findings
from azlatency.stats.across_runs.placement import Change, Condition, contradicting
from azlatency.studies.format import one_prefix


def find(conditions: Sequence[Condition], steps: Sequence[Change], others: Sequence[Change]) -> Findings:
    """Summarize what repeated runs support, what single runs cannot, and where text and log disagree.

    Parameters
    ----------
    conditions : sequence of Condition
        What was measured or reported, one per path, placement and method.
    steps : sequence of Change
        Comparisons of a placement with the closest one.
    others : sequence of Change
        Comparisons of other settings (accelerated networking, VM size, message size).

    Returns
    -------
    Findings
        At least one finding for a study without latency.
    """
    if not conditions:
        return Findings.of([info("No latency was measured or reported in this study.")])
    findings: list[Finding] = []
    repeated = [step for step in steps if step.comparison is not None and step.comparison.ratio.low is not None]
    for placement in dict.fromkeys(step.other.placement for step in repeated):
        findings.append(_step([step for step in repeated if step.other.placement == placement]))
    findings += _single_runs(steps)
    single = [
        change for change in (*steps, *others)
        if change.comparison is not None and "no_replication" in change.comparison.codes
    ]  # fmt: skip
    if single:
        names = join_by_method((change.other.path, change.other.method) for change in single)
        text = (
            f"Measured once: {names}. The ratios describe connections and do not rank placements. Repeat the runs, in "
            "rounds, before you choose a placement."
        )
        findings.append(act(text))
    findings += _disagreeing_texts(conditions)
    for first, second in contradicting(steps):
        slower, faster = (first, second) if first.ratio_low > 1 else (second, first)
        text = (
            f"{slower.other.method} measured {slower.other.path} {slower.ratio_low:.2f} times as long as "
            f"{slower.base.path}, {faster.other.method} {faster.ratio_high:.2f} times. They send different packets, "
            "and a mean of few packets follows its slowest one; compare their minima instead."
        )
        findings.append(act(text))
    reported = [change.other.path for change in (*steps, *others) if change.comparison is None]
    if reported:
        findings.append(act(f"Reported without logs: {join(reported)}. Quote these numbers, but do not test them."))
    same_host = [value for condition in conditions if condition.placement == "same_host" for value in condition.values]
    if same_host:
        shown = span(same_host, "ns", like=one_prefix(same_host, "ns"))
        text = f"{shown} on one host never crossed the network; this is not a placement option."
        findings.append(info(text))
    return Findings.of(findings)


def _single_runs(steps: Sequence[Change]) -> list[Finding]:
    """Say what each placement costs in runs without repeats, and in reported numbers."""
    findings = []
    for step in steps:
        if step.comparison is not None and step.comparison.ratio.low is not None:
            continue
        ratios = dict.fromkeys(f"{ratio:.2f}" for ratio in (step.ratio_low, step.ratio_high))
        like = one_prefix((*step.other.values, *step.base.values), "ns")
        text = (
            f"{step.other.path} ({step.other.method}): **{span(step.other.values, 'ns', like=like)}**, "
            f"{'–'.join(ratios)} times the {span(step.base.values, 'ns', like=like)} of {step.base.path} "
            f"({step.other.statistic} RTT)."
        )
        findings.append(info(text))
    return findings[:12]


def _step(changes: Sequence[Change]) -> Finding:
    """Summarize the change from one placement to another over all methods and paths with repeated runs."""
    ratios = [change.comparison.ratio for change in changes if change.comparison is not None]
    points = [ratio.estimate for ratio in ratios if ratio.estimate is not None]
    lows = [ratio.low for ratio in ratios if ratio.low is not None]
    highs = [ratio.high for ratio in ratios if ratio.high is not None]
    bases = " and ".join(
        dict.fromkeys(f"{change.base.path} ({_in_words(change.base.placement)})" for change in changes)
    )
    methods = " and ".join(dict.fromkeys(change.other.method for change in changes))
    span = f"{points[0]:.2f}" if len(points) == 1 else f"{min(points):.2f} to {max(points):.2f}"
    count = "1 comparison" if len(changes) == 1 else f"{len(changes)} comparisons"
    text = (
        f"{_in_words(changes[0].other.placement).capitalize()}: {span} times the round-trip time of {bases}, {count} "
        f"of repeated runs by {methods}; {100 * ratios[0].confidence:g} % intervals from {min(lows):.2f} "
        f"to {max(highs):.2f}."
    )
    return info(text)


def _disagreeing_texts(conditions: Sequence[Condition]) -> list[Finding]:
    """List numbers of a text that differ from the log of the same run."""
    logged = {
        condition.path: condition for condition in conditions if condition.origin == "log" and condition.runs == 1
    }
    findings = []
    for condition in conditions:
        log = logged.get(condition.path)
        if condition.origin != "reported" or log is None or condition.statistic != log.statistic:
            continue
        if condition.values[0] != log.values[0]:
            text = (
                f"{condition.path}: the text says {condition.values[0] / MICROSECOND:,.6g} µs, but its log prints "
                f"{log.values[0] / MICROSECOND:,.6g} µs. Trust the log."
            )
            findings.append(act(text))
    return findings


def _in_words(placement: str | None) -> str:
    return (placement or "unknown placement").replace("_", " ")
