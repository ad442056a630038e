"""The sentences that pages on zones, baselines, agreement and planning end with; see `findings`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from azlatency.report.objects import Finding, Findings
from azlatency.report.tables.common import in_unit
from azlatency.studies.emulation import both_directions

if TYPE_CHECKING:
    import pandas as pd

    from azlatency.stats.across_runs.agreement import Agreement
    from azlatency.stats.across_runs.asymmetry import Asymmetry
    from azlatency.stats.across_runs.baseline import Conformance
    from azlatency.stats.across_runs.planning import PercentileSize, Plan, ZoneRounds
    from azlatency.stats.result import Comparison

_MICROSECOND = 1e3
_ARROW = " → "


def asymmetry(found: Sequence[Asymmetry], links: pd.DataFrame) -> Findings:
    """Of both directions: which data direction is slower, what initiators do, what round trips cannot show."""
    pairs = [(each, pair) for each in found for pair in each.pairs]
    if not pairs:
        text = (
            "No pair of zones was measured in both directions by one method: nothing can be said about initiators or "
            "data directions. Run each tool from both ends, in rounds."
        )
        return Findings.of([Finding("act" if found else "info", text)])
    said: list[Finding] = []
    for each, pair in pairs:
        if not pair.verdict.startswith("different") or pair.ratio.estimate is None or each.metric == "retransmits":
            continue
        start, end, times = str(pair.labels["from"]), str(pair.labels["to"]), pair.ratio.estimate
        if times < 1:
            start, end, times = end, start, 1 / times
        held = "carries {} times the goodput of" if each.metric == "throughput" else "takes {} times the round trip of"
        text = f"{start}{_ARROW}{end} {held.format(f'{times:.3g}')} the way back ({each.labels['method']})."
        said.append(Finding("act", text))
    round_trips = [pair for each, pair in pairs if each.metric == "latency" and pair.ratio.low is not None]
    if round_trips and not any(pair.verdict.startswith("different") for pair in round_trips):
        methods = len({pair.labels["method"] for pair in round_trips})
        text = (
            f"None of {methods} round-trip methods with more than one round shows a difference between initiators. "
            "That says **nothing** about the one-way delays: a round trip is their sum, whoever asks."
        )
        said.append(Finding("info", text))
    said += [Finding("info", text) for text in _hidden(pairs, links)]
    turned = [(each, one) for each in found for one in each.detours if one.diagnostics["violated"]]
    for each, one in turned:
        said.append(Finding("act", f"{one.what}: the detour is shorter ({each.labels['method']})."))
    alone = [pair for _, pair in pairs if "no_replication" in pair.codes]
    few = [pair for _, pair in pairs if "cannot_reach_alpha" in pair.codes]
    if alone:
        text = f"{len(alone)} of {len(pairs)} pairs of directions were measured in one round: shown, not judged."
        said.append(Finding("act", text))
    if few:
        text = (
            f"{len(few)} of {len(pairs)} pairs of directions have too few rounds for an exact test; where they are "
            "judged, Student's *t* was trusted. The page on planning says how many rounds are needed."
        )
        said.append(Finding("act", text))
    return Findings.of(said)


def _hidden(pairs: Sequence[tuple[Asymmetry, Comparison]], links: pd.DataFrame) -> list[str]:
    """Programmed one-way asymmetries beside what round trips say of them."""
    texts = []
    for start, end in dict.fromkeys((str(pair.labels["from"]), str(pair.labels["to"])) for _, pair in pairs):
        if (programmed := both_directions(links, start, end)) is None:
            continue
        there, back = (float(way["delay_ns"]) for way in programmed)
        own = [pair for each, pair in pairs if each.metric == "latency" and pair.labels["from"] == start
               and pair.labels["to"] == end]  # fmt: skip
        if there == back or any(pair.verdict.startswith("different") for pair in own):
            continue
        gap = abs(there - back) / _MICROSECOND
        texts.append(
            f"Programmed: one way between {start} and {end} is {gap:,.0f} µs longer than the other. No round trip "
            "shows it, as none can."
        )
    return texts


def baseline(results: Sequence[Conformance]) -> Findings:
    """Of a baseline: how many expectations are met, failed or open, and why they are open."""
    if not results:
        return Findings.of([Finding("info", "This study has no baseline: nothing is expected of its VMs.")])
    measured = [each for each in results if each.mean is not None]
    missing = len({each.what for each in results if each.mean is None})
    said: list[Finding] = []
    for status, kind in (("fails", "act"), ("meets", "info")):
        for each in measured:
            if each.status == status and each.mean is not None:
                where = f"{each.labels.get('path', '')}, {each.labels.get('method', '')}"
                text = (
                    f"{each.what}, {where}: {status}, {in_unit(each.mean, each.mean, each.unit)} in {each.runs} runs."
                )
                said.append(Finding(kind, text))  # type: ignore[arg-type]
    still = [each for each in measured if each.status == "inconclusive"]
    if still:
        single = sum(each.runs == 1 for each in still)
        why = "" if not single else ": each is a single run, which has no bounds" if single == len(still) else (
            f", {single} of them because a single run has no bounds"
        )  # fmt: skip
        text = f"{len(still)} of {len(measured)} comparisons with the baseline are inconclusive{why}."
        said.append(Finding("act", text))
        far = [each for each in still if each.ratio is not None and not 0.5 <= each.ratio <= 2]
        if far:
            low, high = (pick(each.ratio or 0.0 for each in far) for pick in (min, max))
            text = (
                f"{len(far)} of these are far from what is expected ({low:.2f} to {high:.2f} times the nearer limit): "
                "look at the expectation before the VM."
            )
            said.append(Finding("info", text))
    if any("unit_slip" in each.codes for each in measured):
        said.append(Finding("act", "A measured value is a hundred times off or more: compare the units first."))
    if any("burst_test" in each.codes for each in measured):
        said.append(Finding("act", "Some tests ran for less than a minute: they show the burst, not what lasts."))
    if missing:
        total = len({each.what for each in results})
        text = f"{missing} of {total} expectations were measured by no run; the page lists what would have to be run."
        said.append(Finding("act", text))
    return Findings.of(said)


def planning(plans: Sequence[Plan], sizes: Sequence[PercentileSize], rounds: Sequence[ZoneRounds]) -> Findings:
    """Of planning: how many runs, which percentiles the runs support, how many rounds for three zones."""
    said: list[Finding] = []
    known = [each for each in plans if each.at_pilot_spread is not None]
    alone = len(plans) - len(known)
    if known:
        reached = [each for each in known if each.high is not None and each.high <= each.done]
        aim = known[0].what.removeprefix("runs ")
        text = f"{len(reached)} of {len(known)} repeated combinations of path and method have runs enough {aim}."
        said.append(Finding("info", text))
        worst = max(known, key=lambda each: (each.high is None, each.high or 0))
        most = "more than can be named" if worst.high is None else f"up to {worst.high:,}"
        where = f"{worst.labels['path']} ({worst.labels['method']}), whose {worst.done} runs spread the most"
        said.append(Finding("act", f"The path that needs the most is {where}: {most} {worst.what}."))
    if alone:
        text = (
            f"{alone} of {len(plans)} combinations of path and method show no spread (one run, or equal values): "
            "no number of runs follows from them. Measure a handful of rounds first."
        )
        said.append(Finding("act", text))
    if sizes and sizes[0].runs:
        good = [each for each in sizes if each.enough == each.runs]
        deepest = f"p{100 * good[-1].q:.6g}" if good else "no percentile"
        some = [each for each in sizes if each.enough]
        reach = f"the longest reach p{100 * some[-1].q:.6g}" if some else "none reaches any"
        text = f"Every run has observations enough for {deepest} with both bounds, if they were independent; {reach}."
        said.append(Finding("info", text))
    three = next((each for each in rounds if each.zones == 3), None)
    if three is not None:
        text = f"Before the pairs of three zones can be told apart by an exact test, {three.rounds} rounds are needed."
        said.append(Finding("info", text))
    return Findings.of(said)


def agreement(found: Sequence[Agreement]) -> Findings:
    """Of tools on common paths: which agree, which differ, which send other packets, which were paired once."""
    if not found:
        text = "No two methods of this study measured a round trip on one path: nothing can be said about agreement."
        return Findings.of([Finding("info", text)])
    said: list[Finding] = []
    same = [each for each in found if not each.differs_in]
    for each in same:
        if each.agree is None or each.ratio.low is None or each.ratio.high is None or each.ratio.estimate is None:
            continue
        interval = f"ratio {each.ratio.estimate:.3f}, interval {each.ratio.low:.3f} to {each.ratio.high:.3f}"
        verb = "agree" if each.agree else "disagree"
        text = f"{each.first} and {each.second} {verb} within {100 * each.margin:g} % ({interval}, {each.pairs} pairs)."
        said.append(Finding("info" if each.agree else "act", text))
    still = [each for each in same if each.agree is None]
    if still:
        text = f"{len(still)} of {len(same)} pairs of tools with equal packets are undetermined: more paths or rounds."
        said.append(Finding("act", text))
    other = len(found) - len(same)
    if other:
        text = (
            f"{other} of {len(found)} pairs of methods send different packets: what lies between them is a difference "
            "of definitions, and neither is wrong. Compare paths within one method only."
        )
        said.append(Finding("act", text))
    return Findings.of(said)


def changes(imports: Sequence[Comparison], rounds: Sequence[Comparison]) -> Findings:
    """Of two imports and of the rounds of one: what changed, what is equal in practice, what was refused."""
    said: list[Finding] = []
    for each in (*imports, *rounds):
        ratio = each.ratio
        if each.verdict == "different" and ratio.estimate is not None and ratio.low is not None:
            text = f"{each.what}: changed, ratio {ratio.estimate:.3f} ({ratio.low:.3f} to {ratio.high:.3f})."
            said.append(Finding("act", text))
    refused = [each for each in imports if each.ratio.estimate is None]
    if refused:
        text = (
            f"{len(refused)} of {len(imports)} comparisons between the two imports are refused: they cannot tell a "
            "change of the network from a change of the measurement."
        )
        said.append(Finding("act", text))
    if not imports:
        said.append(Finding("info", "The two imports have nothing in common that could be compared."))
    if rounds:
        equal = sum(each.verdict in ("equivalent", "different_within_margin") for each in rounds)
        still = sum(each.verdict == "undetermined" for each in rounds)
        text = (
            f"First against last round, over all paths: {equal} of {len(rounds)} methods equal in practice, {still} "
            "undetermined."
        )
        said.append(Finding("info", text))
    else:
        said.append(Finding("info", "This study was not measured in rounds: nothing can be said about change in it."))
    return Findings.of(said)
