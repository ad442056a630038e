"""Findings of the page on stability."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from azlatency.report.findings.common import MICROSECOND, act, info
from azlatency.report.objects import Finding, Findings
from azlatency.stats.within_run.time_series import ConnectionEnds, ReportedSegments, RunTimeSeries, ThroughputSeries


def conclude(
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
    findings = [*_level_shifts(runs), *_broken_connections(segments, ends)]
    ratios = {str(row["path"]): row["p99"] / row["mean"] for row in spread if "mean" in row}  # type: ignore[operator]
    if len(ratios) > 1:
        listed = ", ".join(f"{path} {ratio:.2f}" for path, ratio in ratios.items())
        findings.append(info(f"Ratio of the reported p99 to the mean: {listed}."))
    short = sum("burst_test" in rate.mean.codes for rate in rates)
    if short:
        text = f"{short} of {len(rates)} streams lasted less than 60 s; the sustained rate may be lower."
        findings.append(act(text))
    for rate in rates:
        throttled = rate.throttled
        if throttled.burst_rate is not None and throttled.sustained_rate is not None:
            text = (
                f"{rate.path} ({rate.method}) fell from {throttled.burst_rate / 1e9:.3g} to "
                f"{throttled.sustained_rate / 1e9:.3g} Gbit/s after {throttled.at_s or 0:.0f} s."
            )
            findings.append(act(text))
    if not findings:
        findings.append(info("This study has no time series: no samples, no intervals, no segments."))
    return Findings.of(findings)


def _level_shifts(runs: Sequence[RunTimeSeries]) -> list[Finding]:
    """Count confirmed level shifts and losses; name the longest run."""
    if not runs:
        return []
    tested = [run for run in runs if run.stability.stable is not None]
    shifted = [run for run in tested if not run.stability.stable]
    lost, probes = sum(run.lost for run in runs), sum(len(run.rtt) for run in runs)
    text = (
        f"{len(shifted)} of {len(tested)} runs that are long enough to test show a confirmed level shift; "
        f"{lost:,} of {probes:,} probes were lost."
    )
    findings = [info(text)]
    if shifted:
        names = ", ".join(dict.fromkeys(f"{run.path} ({run.method})" for run in shifted))
        findings.append(act(f"Summarise these runs by segment, not as a whole: {names}."))
    longest = max(run.seconds or 0.0 for run in runs)
    text = f"The longest run lasted {longest:,.4g} s; slower changes cannot be seen."
    return [*findings, info(text)]


def _broken_connections(segments: Sequence[ReportedSegments], ends: ConnectionEnds | None) -> list[Finding]:
    """Say what the last segments of broken connections show, and whether the connections broke together."""
    findings = []
    for connection in segments:
        event = connection.event
        if event.p is None or event.attainable_p is None:
            continue
        text = (
            f"{connection.path}: the last change before the connection broke, {event.change / MICROSECOND:+,.5g} µs, "
            f"has p = {event.p:.2g}; the smallest that {event.windows} segments can give is "
            f"{event.attainable_p:.2g}, so they cannot show that it was unusual."
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
