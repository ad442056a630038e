"""The sentences that pages on zones, baselines, agreement and planning end with; see `azlatency.findings`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from azlatency.display import Finding, Findings

if TYPE_CHECKING:
    import pandas as pd

    from azlatency.stats.asymmetry import Asymmetry
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
        if start + _ARROW + end not in links.index:
            continue
        there, back = (float(links.loc[_ARROW.join(way), "delay_ns"]) for way in ((start, end), (end, start)))
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
