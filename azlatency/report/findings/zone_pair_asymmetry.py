"""Findings of the page on both directions of a zone pair."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from azlatency.report.differences import in_drift
from azlatency.report.findings.common import MICROSECOND, act, answer, info, join, join_by_method, shares_held
from azlatency.report.objects import Finding, Findings
from azlatency.report.titles import most_apart, names, ratio_range
from azlatency.stats.across_runs.asymmetry import ABOUT_MACHINES
from azlatency.stats.across_runs.run_history import FEWEST
from azlatency.studies.emulation import both_directions
from azlatency.studies.format import count_of, plain

#: What to do about pairs with a flag, by its code.
_FLAGGED = {
    "dependent_runs": "Neighbouring rounds resemble each other: {}. Measure both directions in a random order within "
    "each round, and spread the rounds over more time.",
    "one_machine_pair": "The same two machines measured every round, so the result is about them (zone or machine: not "
    "separable): {}. For zones, measure several control pairs within a zone or several pairs of machines.",
    "one_control_pair": "One control pair does not show how much machines differ, so the result is about these "
    "machines (zone or machine: not separable): {}. Measure two or more control pairs.",
    "no_replication": "Measured in one round only, so not testable: {}.",
    "few_runs": "Few rounds, so the intervals rely on Student's *t*: {}. The page on planning says how many are "
    "needed.",
}

#: An interval whose end is farther from its ratio (in logarithms) says nothing about the initiator.
_WIDE = math.log(2)

if TYPE_CHECKING:
    import pandas as pd

    from azlatency.stats.across_runs.asymmetry import Asymmetry
    from azlatency.stats.across_runs.emulation_check import EmulatedDifference
    from azlatency.stats.result import Comparison


def find(
    asymmetries: Sequence[Asymmetry], links: pd.DataFrame, differences: Sequence[EmulatedDifference] = ()
) -> Findings:
    """Summarize which direction is slower, and what round trips cannot show.

    Parameters
    ----------
    asymmetries : sequence of Asymmetry
        One per method and metric.
    links : DataFrame
        The configured one-way delays of an emulated study; empty for any other.
    differences : sequence of EmulatedDifference
        Measured and recorded differences of an emulated study.

    Returns
    -------
    Findings
        At least one finding for a study without pairs.
    """
    pairs = [(asymmetry, pair) for asymmetry in asymmetries for pair in asymmetry.pairs]
    if not pairs:
        text = (
            "No pair of zones was measured in both directions with the same method. To compare the directions, run "
            "each tool from both ends, in rounds."
        )
        return Findings.of([act(text) if asymmetries else info(text)])
    findings = [answer(_answer(asymmetries)), *_recovered(differences)]
    findings += [
        info(_difference(asymmetry, pair))
        for asymmetry, pair in pairs
        if _differs(pair) and pair.ratio.estimate is not None and asymmetry.metric == "latency"
    ]
    round_trips = [pair for asymmetry, pair in pairs if asymmetry.metric == "latency" and pair.ratio.low is not None]
    if round_trips and not any(map(_differs, round_trips)):
        methods = join(dict.fromkeys(str(pair.labels["method"]) for pair in round_trips))
        text = (
            f"No method with several rounds shows a difference between initiators ({methods}). "
            "This does **not** show that the one-way delays are equal: a round trip is their sum, whichever end starts "
            "it."
        )
        findings.append(info(text))
    findings += _undetectable_asymmetries(pairs, links)
    for code, text in _FLAGGED.items():
        flagged = [pair for _, pair in pairs if code in pair.codes]
        if flagged:
            names = join_by_method((_pair(pair), pair.labels["method"]) for pair in flagged)
            findings.append(act(text.format(names)))
            if code == "dependent_runs" and max(pair.ratio.n for pair in flagged) >= FEWEST:
                findings.append(act("One ratio over all rounds hides a level that changed: see the page *History*."))
    return Findings.of(findings)


def _pair(pair: Comparison) -> str:
    return f"{pair.labels['from']} ↔ {pair.labels['to']}"


def _answer(asymmetries: Sequence[Asymmetry]) -> str:
    """Say how far round trips differ with the end that starts, and which transfer has a slow direction."""
    measured = [asymmetry for asymmetry in asymmetries if asymmetry.metric == "latency" and asymmetry.pairs]
    precise = [asymmetry for asymmetry in measured if any(pair.ratio.low is not None for pair in asymmetry.pairs)]
    parts = []
    if measured:
        best = (precise or measured)[0]  # of the method that the card and the titles speak of
        parts.append(f"initiators' round trips {_most_changed(best)}")
    slow = [
        pair
        for asymmetry in asymmetries
        if asymmetry.metric == "throughput"
        for pair in asymmetry.pairs
        if _differs(pair) and pair.ratio.estimate
    ]
    if slow:
        method, largest = most_apart(slow)
        verb = "carries" if len(largest) == 1 else "carry"
        parts.append(
            f"{names(largest)} {verb} **{ratio_range(largest.values())} times** the reverse goodput{in_drift(slow)} "
            f"({method})"
        )
    elif any(asymmetry.metric == "throughput" and asymmetry.pairs for asymmetry in asymmetries):
        rounds = max(asymmetry.rounds for asymmetry in asymmetries if asymmetry.metric == "throughput")
        parts.append(f"no transfer is shown to be slower in one direction over all {count_of(rounds, 'round')}")
    text = "; ".join(parts)
    return f"{text[:1].upper()}{text[1:]}."


def _most_changed(asymmetry: Asymmetry) -> str:
    """Say whether the end that starts matters: what is shown, what the intervals allow, or what was measured."""
    method = asymmetry.labels["method"]
    ratios = [pair.ratio for pair in asymmetry.pairs if pair.ratio.estimate]
    measured = _percent(max(abs(math.log(ratio.estimate or 1.0)) for ratio in ratios))
    bounds = [
        (math.log(end), math.log(ratio.estimate or end)) for ratio in ratios for end in (ratio.low, ratio.high) if end
    ]
    if not bounds:
        return f"were measured **{measured}** apart at most ({method}, one round: not testable)"
    if any(abs(end - middle) > _WIDE for end, middle in bounds):
        return f"were measured **{measured}** apart at most, inconclusive ({method})"
    most = _percent(max(abs(end) for end, _ in bounds))
    interval = f"({method}, {100 * asymmetry.confidence:g} % CI)"
    if any(map(_differs, asymmetry.pairs)):
        return f"differ by at most **{most}** {interval}"
    return f"show no difference, at most **{most}** {interval}"


def _percent(change: float) -> str:
    return f"{plain(100 * math.expm1(change), 2)} %"


def _recovered(differences: Sequence[EmulatedDifference]) -> list[Finding]:
    """Say how many intervals contain what the emulator recorded, and by how much each method is off."""
    judged = [step for step in differences if step.holds is not None]
    if not judged:
        return []
    errors: dict[str, list[float]] = {}
    for step in judged:
        errors.setdefault(step.method, []).append((step.error or 0.0) / MICROSECOND)
    largest = max(step.recorded for step in judged) / MICROSECOND
    by_method = "; ".join(
        f"{method} {min(values):+.1f} to {max(values):+.1f} µs" for method, values in sorted(errors.items())
    )
    shares = join(share for share, _ in shares_held(judged))
    text = (
        f"{shares} contain the difference that the emulator recorded, of up to {largest:,.0f} µs. "
        f"Errors of the measured differences: {by_method}."
    )
    return [info(text)]


def _differs(pair: Comparison) -> bool:
    return pair.verdict.startswith("different")


def _difference(asymmetry: Asymmetry, pair: Comparison) -> str:
    """Say how many times as long one direction takes; the longer one comes first."""
    start, end, ratio = str(pair.labels["from"]), str(pair.labels["to"]), pair.ratio.estimate or math.nan
    if ratio < 1:
        start, end, ratio = end, start, 1 / ratio
    machines = ", between these machines" if ABOUT_MACHINES.intersection(pair.codes) else ""
    drift = in_drift([pair])
    method = f"{asymmetry.labels['method']}{machines}"
    return (
        f"Started at {start}, a round trip with {end} takes **{ratio:.3g} times** as long as started at the other end"
        f"{drift} ({method}). This compares initiators, not one-way delays."
    )


def _undetectable_asymmetries(pairs: Sequence[tuple[Asymmetry, Comparison]], links: pd.DataFrame) -> list[Finding]:
    """Return one finding per pair whose configured one-way delays differ although its round trips do not."""
    findings = []
    for start, end in dict.fromkeys((str(pair.labels["from"]), str(pair.labels["to"])) for _, pair in pairs):
        if (directions := both_directions(links, start, end)) is None:
            continue
        forward, backward = (float(link["delay_ns"]) for link in directions)
        latencies = [
            pair
            for asymmetry, pair in pairs
            if asymmetry.metric == "latency" and (pair.labels["from"], pair.labels["to"]) == (start, end)
        ]
        if forward == backward or any(map(_differs, latencies)):
            continue
        gap = abs(forward - backward) / MICROSECOND
        text = (
            f"One direction between {start} and {end} is configured {gap:,.0f} µs slower than the other. Round-trip "
            "times cannot show this."
        )
        findings.append(info(text))
    return findings
