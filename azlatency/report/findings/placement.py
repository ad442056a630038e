"""Findings of the page on placement."""

from __future__ import annotations

from collections.abc import Sequence

from azlatency.kit.claim import interval_of
from azlatency.kit.findings import MICROSECOND, act, answer, count_or_names, info, join, join_by_method
from azlatency.kit.objects import Finding, Findings
from azlatency.kit.titles import span
from azlatency.report.differences import change_words, in_drift, ratios_of, verdict_on
from azlatency.report.findings.summary.answer import PLACES
from azlatency.stats.across_runs.placement import Change, Condition, contradicting, widest
from azlatency.studies.format import one_prefix

#: Most placements that the answer names.
_MOST_STEPS = 3


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
    findings += _answer(conditions, steps, others)
    measured = [change for change in (*steps, *others) if change.comparison is not None]
    single = [change for change in measured if change.comparison and "no_replication" in change.comparison.codes]
    # Where no comparison has repeats, or none has logs, the answer and the summary say so.
    if 0 < len(single) < len(measured):
        names = join_by_method((change.other.path, change.other.method) for change in single)
        findings.append(act(f"Measured once: {names}. Repeat the runs, in rounds, before you choose a placement."))
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
    if reported and measured:
        findings.append(
            act(f"Reported without logs: {count_or_names(reported)}. Quote these numbers, but do not test them.")
        )
    same_host = [value for condition in conditions if condition.placement == "same_host" for value in condition.values]
    if same_host:
        shown = span(same_host, "ns", like=one_prefix(same_host, "ns"))
        text = f"{shown} on one host never crossed the network; this is not a placement option."
        findings.append(info(text))
    return Findings.of(findings)


def _answer(conditions: Sequence[Condition], steps: Sequence[Change], others: Sequence[Change]) -> list[Finding]:
    """Say what each placement, or else each setting, costs in the kind of measurement with most placements."""
    kind = {(condition.origin, condition.kind) for condition in widest(conditions)}
    chosen = [step for step in steps or others if (step.other.origin, step.other.kind) in kind] or steps or others
    groups: dict[str, dict[str, list[Change]]] = {}
    for step in chosen:
        level, base = (in_words(getattr(side, step.factor)) for side in (step.other, step.base))
        groups.setdefault(base, {}).setdefault(level, []).append(step)
    parts = []
    like = one_prefix((value for step in chosen for side in (step.base, step.other) for value in _values(side)), "ns")
    for base, levels in groups.items():
        bases = [value for group in levels.values() for step in group for value in _values(step.base)]
        effects = [
            f"{level} {_effect(group, like, len(chosen))}" for level, group in list(levels.items())[:_MOST_STEPS]
        ]
        parts.append(f"{join(effects)}, against **{span(bases, 'ns', like=like)}** {base}")
    if not parts:
        return []
    source = {"once": ", measured once", "reported": ", as reported"}.get(verdict_on(chosen), "")
    text = f"Round trips{source}: {'; '.join(parts[:_MOST_STEPS])} ({chosen[0].other.method.split()[0]})."
    return [answer(text)]


def _effect(group: Sequence[Change], like: float | None, tests: int) -> str:
    """Return the values of a placement or setting with the verdict on them, if their runs allow one."""
    values = f"**{span([value for step in group for value in _values(step.other)], 'ns', like=like)}**"
    verdict = verdict_on(group, tests)
    if verdict in ("once", "reported"):
        return values
    if verdict != "different":
        return f"{values} ({change_words(group, tests)})"
    ratios, interval = ratios_of(group)
    drift = in_drift(step.comparison for step in group if step.comparison is not None)
    return f"{values} (**{ratios} times** as long{drift}, {interval})"


def _values(level: Condition) -> tuple[float, ...]:
    """Return the typical run of a condition if its interval is known, else its runs."""
    estimate = level.typical.estimate if level.typical is not None and interval_of(level.typical) else None
    return level.values if estimate is None else (estimate,)


def _disagreeing_texts(conditions: Sequence[Condition]) -> list[Finding]:
    """List numbers of a text that differ from the log of the same run, which replaces them."""
    return [
        act(
            f"{condition.path}: the text says {condition.superseded / MICROSECOND:,.6g} µs, but its log prints "
            f"{condition.values[0] / MICROSECOND:,.6g} µs. The log counts."
        )
        for condition in conditions
        if condition.superseded is not None and condition.superseded != condition.values[0]
    ]


def in_words(level: object) -> str:
    """Return a placement or setting as a sentence names it."""
    if isinstance(level, bool):
        return f"{'with' if level else 'without'} accelerated networking"
    if isinstance(level, int):
        return f"with {level:,} B"
    return PLACES.get(str(level), f"on {level}")
