"""The sentences that the pages on placement, tails and stability end with. Each number comes from the results given."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from azlatency.report.objects import Finding, Findings
from azlatency.stats.across_runs.placement import Change, Condition, contradicting
from azlatency.stats.result import Estimate
from azlatency.stats.within_run.tail_by_run import RunTail
from azlatency.stats.within_run.time_series import Ends, Rate, RunInTime, Segments

if TYPE_CHECKING:
    from azlatency.studies.store import Study

_MICROSECOND = 1e3


def placement(found: Sequence[Condition], steps: Sequence[Change], others: Sequence[Change]) -> Findings:
    """Of placement: what repeated runs support, what single runs cannot, what a text says, what contradicts itself."""
    if not found:
        return Findings.of([Finding("info", "No latency was measured or reported in this study.")])
    sentences: list[Finding] = []
    supported = [each for each in steps if each.comparison is not None and each.comparison.ratio.low is not None]
    for placement in dict.fromkeys(each.other.placement for each in supported):
        sentences.append(_step([each for each in supported if each.other.placement == placement]))
    single = [each for each in (*steps, *others) if each.comparison and "no_replication" in each.comparison.codes]
    if single:
        text = (
            f"{len(single)} comparisons rest on a single run a side: they describe two connections and support no "
            "ranking of placements. Repeat the runs, in rounds, before you choose a placement by them."
        )
        sentences.append(Finding("act", text))
    sentences += _disagreeing_texts(found)
    for one, two in contradicting(steps):
        slower, faster = (one, two) if one.ratio_low > 1 else (two, one)
        text = (
            f"{slower.other.method} saw {slower.other.path} slower than {slower.base.path} "
            f"({slower.ratio_low:.2f} times), {faster.other.method} saw it faster ({faster.ratio_high:.2f} times): "
            "with single runs even the direction is open."
        )
        sentences.append(Finding("act", text))
    reported = [each for each in (*steps, *others) if each.comparison is None]
    if reported:
        text = (
            f"{len(reported)} comparisons rest on numbers that stand only in a text. They can be quoted, not tested: "
            "neither the number of runs nor their spread is known for every one."
        )
        sentences.append(Finding("info", text))
    same_host = [each for each in found if each.placement == "same_host"]
    if same_host:
        low, high = (f(v for each in same_host for v in each.values) / _MICROSECOND for f in (min, max))
        text = (
            f"{low:,.4g} – {high:,.4g} µs on one host never touched the network: the round trip of two programs, "
            "not of a placement to choose."
        )
        sentences.append(Finding("info", text))
    return Findings.of(sentences)


def _step(own: Sequence[Change]) -> Finding:
    """One step from a placement to another by all methods and paths whose runs repeat."""
    ratios = [each.comparison.ratio for each in own if each.comparison is not None]
    points = [ratio.estimate for ratio in ratios if ratio.estimate is not None]
    lows, highs = (
        [end for end in ends if end is not None] for ends in zip(*((r.low, r.high) for r in ratios), strict=True)
    )
    bases = " and ".join(dict.fromkeys(f"{each.base.path} ({_words(each.base.placement)})" for each in own))
    methods = " and ".join(dict.fromkeys(each.other.method for each in own))
    span = f"{points[0]:.2f}" if len(points) == 1 else f"{min(points):.2f} to {max(points):.2f}"
    text = (
        f"{_words(own[0].other.placement).capitalize()}: {span} times the round trip of {bases}, {len(own)} "
        f"comparisons of repeated runs by {methods}; {100 * ratios[0].confidence:g} % intervals from {min(lows):.2f} "
        f"to {max(highs):.2f}."
    )
    return Finding("info", text.replace("1 comparisons", "1 comparison"))


def _disagreeing_texts(found: Sequence[Condition]) -> list[Finding]:
    """Where a text gives another number than the log of the same run."""
    logged = {each.path: each for each in found if each.origin == "log" and each.runs == 1}
    sentences = []
    for each in found:
        log = logged.get(each.path)
        if each.origin == "reported" and log is not None and each.statistic == log.statistic:
            text = (
                f"{each.path}: the text says {each.values[0] / _MICROSECOND:,.6g} µs, its own log prints "
                f"{log.values[0] / _MICROSECOND:,.6g} µs. Trust the log."
            )
            sentences += [] if each.values[0] == log.values[0] else [Finding("act", text)]
    return sentences


def _words(placement: str | None) -> str:
    return (placement or "placement not said").replace("_", " ")


def stability(
    found: Sequence[RunInTime],
    segments: Sequence[Segments],
    ends: Ends | None,
    spread: Sequence[dict[str, Any]],
    rates: Sequence[Rate],
) -> Findings:
    """Of stability: shifts that were confirmed, what could not be asked, what a text's last segments do not show."""
    sentences: list[Finding] = []
    if found:
        told = [each for each in found if each.stability.stable is not None]
        shifted = [each for each in told if not each.stability.stable]
        lost = sum(each.lost for each in found)
        probes = sum(len(each.rtt) for each in found)
        text = (
            f"{len(shifted)} of {len(told)} runs that are long enough to tell show a confirmed level shift; "
            f"{lost:,} of {probes:,} probes got no answer."
        )
        sentences.append(Finding("info", text))
        names = ", ".join(dict.fromkeys(f"{each.path} ({each.method})" for each in shifted))
        if shifted:
            sentences.append(Finding("act", f"Summarise these runs by segment, not as a whole: {names}."))
        longest = max((each.seconds or 0.0 for each in found), default=0.0)
        text = f"The longest run lasted {longest:,.4g} s: nothing is known about anything that takes longer."
        sentences.append(Finding("info", text))
    for each in segments:
        if each.event.p is None or each.event.attainable_p is None:
            continue
        text = (
            f"{each.path}: the last change before the connection broke, {each.event.change / _MICROSECOND:+,.5g} µs, "
            f"has p = {each.event.p:.2g}; the smallest that {each.event.windows} segments can give is "
            f"{each.event.attainable_p:.2g}, so they cannot show that it was unusual."
        )
        sentences.append(Finding("act", text))
    if ends is not None and ends.together:
        text = (
            f"{ends.together + 1} of the {len(ends.paths)} connections broke within a minute of each other: that "
            "points to something they share, and they count as one event, not as several."
        )
        sentences.append(Finding("info", text))
    if ends is not None and len(set(ends.lasted)) == 1 and ends.lasted[0]:
        text = (
            f"Every connection is said to have lasted {ends.lasted[0]}, yet the ends lie "
            f"{max(ends.gaps) / 60:,.0f} min apart and the starts are not given: a lifetime cannot be derived."
        )
        sentences.append(Finding("act", text))
    known = [each for each in spread if "mean" in each]
    if len(known) > 1:
        ratios = {str(each["path"]): each["p99"] / each["mean"] for each in known}
        listed = ", ".join(f"{path} {ratio:.2f}" for path, ratio in ratios.items())
        sentences.append(Finding("info", f"The reported p99 in terms of the mean: {listed}."))
    short = [each for each in rates if "burst_test" in each.mean.codes]
    if short:
        text = f"{len(short)} of {len(rates)} streams lasted less than 60 s: they show a burst, not what lasts."
        sentences.append(Finding("act", text))
    for rate in rates:
        thrown = rate.throttled
        if thrown.burst_rate is not None and thrown.sustained_rate is not None:
            text = (
                f"{rate.path} ({rate.method}) fell from {thrown.burst_rate / 1e9:.3g} to "
                f"{thrown.sustained_rate / 1e9:.3g} Gbit/s after {thrown.at_s or 0:.0f} s."
            )
            sentences.append(Finding("act", text))
    if not sentences:
        sentences.append(Finding("info", "This study holds nothing in time: no samples, no intervals, no segments."))
    return Findings.of(sentences)


def tail(found: Sequence[RunTail], curves: Sequence[Estimate], printed: Sequence[Estimate]) -> Findings:
    """Of tails: which percentiles have an interval, which fits are refused, what the limit costs."""
    sentences: list[Finding] = []
    for q, name in ((0.99, "p99"), (0.999, "p99.9"), (0.9999, "p99.99"), (0.999999, "One in a million")):
        own = [one for each in found for one in each.quantiles if one.labels["q"] == q]
        held = [one for one in own if one.low is not None and one.high is not None]
        if own:
            text = f"{name}: {len(held)} of {len(own)} runs with samples have a two-sided interval."
            sentences.append(Finding("info", text))
    refused = [each for each in found if each.fit.refused]
    if refused:
        text = f"{len(refused)} of {len(found)} tails are refused a fit: nothing is extrapolated from them."
        sentences.append(Finding("info", text))
    answered = [each for each in found if each.million is not None and not each.million.refused]
    if found and not answered:
        sentences.append(Finding("act", "No run is long enough for a round trip that is passed once in a million."))
    unsupported = [each for each in curves if {"tail_unresolved", "unbounded_upper"} & set(each.codes)]
    if curves:
        text = f"{len(unsupported)} of {len(curves)} printed percentiles have too few packets above for an upper bound."
        sentences.append(Finding("act" if unsupported else "info", text))
    if printed:
        highs = [each.high for each in printed if each.high is not None]
        text = (
            f"The printed tables allow up to {100 * max(highs):.3g} % of packets above the limit on the worst run, and "
            f"at most {100 * min(highs):.2g} % on the best."
        )
        sentences.append(Finding("info", text))
    if not sentences:
        text = "This study holds neither samples nor printed percentiles: nothing can be said of its tails."
        sentences.append(Finding("info", text))
    return Findings.of(sentences)


def way_in(study: Study) -> Findings:
    """Of a study as a whole: which pages have something to say about it."""
    kinds = {
        "the pages on latency, placement and planning": bool(
            len(study.samples) or study.metrics["metric"].eq("rtt_mean").any()
        ),
        "the page on throughput": bool((study.metrics["metric"] == "throughput").any()),
        "the pages on tails and stability, from single packets": bool(len(study.samples)),
        "the page on the VM's specification": bool(study.expectations),
        "the pages on placement and stability, as far as a text goes": bool(len(study.reported)),
    }
    useful = [name for name, has in kinds.items() if has]
    title = str(study.info.get("title", study.name))
    text = f"{title}: begin with *What was measured*, then {'; '.join(useful) or 'stop: there is nothing else'}."
    found = [Finding("info", text)]
    if study.info.get("emulated"):
        found.append(Finding("act", "This study is an emulated lab: it says nothing about a cloud."))
    if not len(study.runs):
        found.append(Finding("act", "This study holds no logs: its numbers can be quoted, not tested."))
    return Findings.of(found)
