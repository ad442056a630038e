"""Findings of the page on stability."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence

from azlatency.kit.findings import MICROSECOND, act, answer, info, join_by_method
from azlatency.kit.objects import Finding, Findings
from azlatency.kit.titles import span
from azlatency.stats.within_run.throttling import Throttling
from azlatency.stats.within_run.time_series import ConnectionEnds, ReportedSegments, RunTimeSeries, ThroughputSeries
from azlatency.studies.format import count_of, one_prefix

SECOND = 1e9
#: Most runs that are listed one by one.
_MOST_RATES = 6


def find(
    runs: Sequence[RunTimeSeries],
    segments: Sequence[ReportedSegments],
    ends: ConnectionEnds | None,
    spread: Sequence[Mapping[str, object]],
    rates: Sequence[ThroughputSeries],
) -> Findings:
    """Summarize level shifts, broken connections, the spread of reported percentiles, and throttling.

    Parameters
    ----------
    runs : sequence of RunTimeSeries
        One per run with samples in time.
    segments : sequence of ReportedSegments
        Reported means of the last minutes of connections that broke.
    ends : ConnectionEnds or None
        When the reported connections broke.
    spread : sequence of mapping
        One per path with the reported ``mean`` and ``p99`` (ns), where known.
    rates : sequence of ThroughputSeries
        Throughput in time, one per stream.

    Returns
    -------
    Findings
        At least one finding.
    """
    findings = [*_answer(runs, rates, ends), *_level_shifts(runs), *_broken_connections(segments, ends)]
    ratios = {str(row["path"]): row["p99"] / row["mean"] for row in spread if "mean" in row}  # type: ignore[operator]
    if len(ratios) > 1:
        listed = ", ".join(f"{path} {ratio:.2f}" for path, ratio in ratios.items())
        findings.append(info(f"Ratio of the reported p99 to the mean: {listed}."))
    fallen = [rate for rate in rates if rate.throttled.burst_rate is not None]
    groups: dict[str, list[Throttling]] = {}
    for rate in fallen:
        groups.setdefault(f"{rate.path} ({rate.method})", []).append(rate.throttled)
    findings += [info(_fall(name, falls)) for name, falls in groups.items()]
    short = [(rate.path, rate.method) for rate in rates if "burst_test" in rate.mean.codes]
    if short:
        findings.append(act(f"Less than 60 s, so the sustained rate may be lower: {join_by_method(short)}."))
    if not findings:
        findings.append(info("This study has no time series: no samples, no intervals, no segments."))
    return Findings.of(findings)


def _answer(
    runs: Sequence[RunTimeSeries], rates: Sequence[ThroughputSeries], ends: ConnectionEnds | None
) -> list[Finding]:
    """Say how many runs kept their level, how many rates fell, or how many connections broke."""
    parts = []
    judged = [run for run in runs if run.stability.stable is not None]
    if judged:
        kept = sum(bool(run.stability.stable) for run in judged)
        parts.append(f"**{kept} of {count_of(len(judged), 'run')}** kept the level of their round-trip times")
    fallen = [rate.throttled for rate in rates if rate.throttled.burst_rate is not None]
    tested = [rate for rate in rates if rate.throttled.found is not None]
    if fallen:
        ends_of = [[getattr(fall, which) for fall in fallen] for which in ("burst_rate", "sustained_rate")]
        like = one_prefix(itertools.chain(*ends_of), "bit/s")
        burst, sustained = (span(values, "bit/s", like=like) for values in ends_of)
        after = span([(fall.at_s or 0.0) * SECOND for fall in fallen], "ns")
        verb = "falls" if len(fallen) == 1 else "fall"
        parts.append(f"**{len(fallen)} of {len(tested)}** transfers {verb} from {burst} to {sustained}, after {after}")
    elif tested:
        parts.append(f"no fall of the rate in {count_of(len(tested), 'transfer')}")
    if ends is not None:
        together = f", {ends.together + 1} of them within a minute" if ends.together else ""
        parts.append(f"**{count_of(len(ends.paths), 'connection')}** broke{together}")
    text = "; ".join(parts)
    return [answer(f"{text[:1].upper()}{text[1:]}.")] if parts else []


def _fall(name: str, falls: Sequence[Throttling]) -> str:
    """Say from which to which rate the runs of a path fell, and when."""
    rates = [[getattr(fall, which) for fall in falls] for which in ("burst_rate", "sustained_rate")]
    like = one_prefix(itertools.chain(*rates), "bit/s")
    burst, sustained = (span(values, "bit/s", like=like) for values in rates)
    seconds = dict.fromkeys(f"{pick(fall.at_s or 0.0 for fall in falls):,.0f}" for pick in (min, max))
    runs = "" if len(falls) == 1 else f" ({len(falls)} runs)"
    return f"{name}: the rate fell from **{burst}** to **{sustained}** after {'–'.join(seconds)} s{runs}."


def _level_shifts(runs: Sequence[RunTimeSeries]) -> list[Finding]:
    """Name the runs with and without a level shift, the losses, and the longest run."""
    if not runs:
        return []
    shifted = [run for run in runs if run.stability.stable is False]
    findings = []
    losing = [f"{run.path} ({run.method}): {run.lost:,} of {len(run.rtt):,} probes" for run in runs if run.lost]
    if losing:
        findings.append(info(f"Lost: {'; '.join(losing[:_MOST_RATES])}."))
    if shifted:
        names = join_by_method((run.path, run.method) for run in shifted)
        findings.append(act(f"Confirmed level shift: {names}. Summarise these runs by segment, not as a whole."))
    longest = max(runs, key=lambda run: run.seconds or 0.0)
    seconds = f"{longest.seconds or 0.0:,.4g} s"
    text = f"{longest.path} ({longest.method}) lasted longest, {seconds}; slower changes cannot be seen."
    return [*findings, info(text)]


def _broken_connections(segments: Sequence[ReportedSegments], ends: ConnectionEnds | None) -> list[Finding]:
    """Say what the last segments of broken connections show, and whether the connections broke together."""
    findings = []
    for connection in segments:
        if len(connection.changes) < 2:
            continue
        *before, last = connection.changes
        text = (
            f"{connection.path}: the last change before the connection broke, {last / MICROSECOND:+,.5g} µs, is one of "
            f"{count_of(len(before) + 1, 'change')}; so few cannot show that it was unusual."
        )
        findings.append(act(text))
    if ends is not None and ends.together:
        text = (
            f"{ends.together + 1} of the {len(ends.paths)} connections broke within a minute of each other. This "
            "suggests a common cause, so they count as one event."
        )
        findings.append(info(text))
    if ends is not None and len(set(ends.lasted)) == 1 and ends.lasted[0]:
        text = (
            f"Every connection is reported to have lasted {ends.lasted[0]}, yet they ended "
            f"{max(ends.gaps) / 60:,.0f} min apart and the starts are unknown, so a lifetime cannot be derived."
        )
        findings.append(act(text))
    return findings
