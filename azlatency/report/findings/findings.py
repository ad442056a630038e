"""The sentences that a page ends with: to act on, or for information. Each number comes from the results given.

A finding never says more than its scope allows: one run is a statement about a connection, not about a path.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from azlatency.report.findings.findings_tail import placement, stability, tail, way_in
from azlatency.report.findings.findings_zones import agreement, asymmetry, baseline, changes, planning
from azlatency.report.objects import Finding, Findings
from azlatency.stats.result import Estimate
from azlatency.studies.runs import of_whole_runs
from azlatency.studies.samples import bounded, counted

if TYPE_CHECKING:
    import pandas as pd

    from azlatency.studies.store import Study

__all__ = [
    "agreement",
    "asymmetry",
    "baseline",
    "changes",
    "latency",
    "measured",
    "placement",
    "planning",
    "stability",
    "tail",
    "throughput",
    "way_in",
]

_MICROSECOND, _GIGABIT = 1e3, 1e9


def measured(study: Study, evidence: pd.DataFrame) -> Findings:
    """Of what was measured: size, half round trips, unknown lines, errors, missing repeats."""
    found: list[Finding] = []
    runs, sources = study.runs, study.sources
    if not len(runs):
        kinds = {"a baseline": len(study.expectations), "reported numbers": len(study.reported)}
        held = " and ".join(name for name, count in kinds.items() if count) or "nothing"
        text = f"This study holds no logs, only {held}: its numbers can be quoted, not tested."
        return Findings.of([Finding("info", text)])
    tools = ", ".join(sorted(set(runs["tool"])))
    lines = int(sources["lines"].sum())
    found.append(Finding("info", f"{len(runs)} runs of {tools} in {len(sources)} files, {lines:,} lines."))
    halves = evidence[evidence["printed_as"] == "half_round_trip"]["method"]
    fulls = evidence[evidence["printed_as"] == "round_trip"]["method"]
    if len(halves) and len(fulls):
        text = (
            f"{_list(halves)} print **half** round trips, {_list(fulls)} print round trips: compare only the tables "
            "here, never the logs."
        )
        found.append(Finding("act", text))
    elif len(halves):
        text = f"{_list(halves)} print **half** round trips; every table and chart here shows round trips."
        found.append(Finding("act", text))
    elif len(fulls):
        found.append(Finding("info", f"{_list(fulls)} print round trips."))
    unknown = int(sources["lines_unknown"].sum())
    if unknown:
        found.append(Finding("act", f"{unknown} lines matched no rule; see the remarks of the parsers."))
    else:
        found.append(Finding("info", "Every line of every file is accounted for; none is unknown."))
    errors = study.events[study.events["severity"] == "error"]
    if len(errors):
        found.append(Finding("act", f"{len(errors)} errors in the logs; see the remarks of the parsers."))
    return Findings.of(found + _lost(study) + _bounded(study))


def _lost(study: Study) -> list[Finding]:
    """That runs lost probes, and what that means for their means and medians."""
    lost, sent, mean = (
        of_whole_runs(study.metrics, name)["value"].astype(float) for name in ("lost", "sent", "rtt_mean")
    )
    shares = (lost / sent)[(lost > 0) & (sent > 0)].dropna()
    shares = shares[shares.index.isin(set(mean.index))].sort_values(ascending=False, kind="stable")
    if not len(shares):
        return []
    text = (
        f"{len(shares)} run{'' if len(shares) == 1 else 's'} that measured a round trip lost probes, up to "
        f"{100 * shares.iloc[0]:.3g} % of them: a printed mean is that of the answers alone, while medians and "
        "percentiles from samples count a lost probe as later than any. Compare loss before latency."
    )
    return [Finding("act", text)]


def _bounded(study: Study) -> list[Finding]:
    """That some replies have no number, and which pages therefore leave their runs out."""
    samples = counted(study.samples)
    unknown = samples[bounded(samples)]
    if not len(unknown):
        return []
    runs = unknown["run_id"].nunique()
    text = (
        f"{len(unknown):,} replies in {runs} run{'' if runs == 1 else 's'} of {_list(unknown['tool'])} have no number, "
        "only bounds (as `time<1ms`): percentiles work with the bounds, a median among them is missing, and shapes, "
        "tails and stability leave these runs out. Measure with a tool of finer resolution."
    )
    return [Finding("act", text)]


def latency(
    runs: pd.DataFrame, medians: Sequence[Estimate], means: Sequence[Estimate], within: Sequence[Estimate]
) -> Findings:
    """Of latency: what can be said of the paths, what only of connections, what of no tail.

    Medians stand before means; a path and method that print no median enter by their mean.
    """
    if not len(runs):
        return Findings.of([Finding("info", "No log of this study gives a latency.")])
    found: list[Finding] = []
    have = {(each.labels["path"], each.labels["method"]) for each in medians}
    across = [*medians, *(each for each in means if (each.labels["path"], each.labels["method"]) not in have)]
    answered = [each for each in across if not each.refused]
    for each in answered:
        assert each.estimate is not None and each.low is not None and each.high is not None
        value, low, high = (f"{number / _MICROSECOND:,.4g}" for number in (each.estimate, each.low, each.high))
        text = (
            f"{each.what}: typical {'median' if each in medians else 'mean'} round trip {value} µs, "
            f"{100 * each.confidence:g} % interval {low} – {high} µs over {each.n} runs."
        )
        found.append(Finding("info", text))
    single = [each for each in across if "no_replication" in each.codes]
    if single:
        text = (
            f"{len(single)} of {len(across)} combinations of path and method were measured once: a ranking of these "
            "paths cannot be supported. Repeat each run, in rounds, before you compare zones."
        )
        found.append(Finding("act", text))
    disguised = [each for each in within if "maximum_in_disguise" in each.codes]
    if disguised:
        least = min(disguised, key=lambda each: each.n)
        text = (
            f"{len(disguised)} printed percentiles are the run's maximum and no percentile "
            f"(for example {least.what} of {least.n:,} observations, {least.labels['path']})."
        )
        found.append(Finding("act", text))
    return Findings.of(found)


def throughput(runs: pd.DataFrame, across: Sequence[Estimate], comparison: pd.DataFrame) -> Findings:
    """Of throughput: what left the host, what the VM promises, what was measured once."""
    if not len(runs):
        return Findings.of([Finding("info", "No log of this study gives a throughput.")])
    found: list[Finding] = []
    inside = runs[runs["placement"] == "same_host"]
    if len(inside):
        rates = inside["throughput"].astype(float) / _GIGABIT
        text = (
            f"{rates.min():,.4g} – {rates.max():,.4g} Gbit/s inside one host never left it: this is memory bandwidth, "
            "not a property of the network."
        )
        found.append(Finding("act", text))
    network = comparison[~comparison["remark"].str.startswith("nothing")] if len(comparison) else comparison
    if len(network):
        text = (
            f"Between hosts the runs reached {network['ratio'].min():.2f} to {network['ratio'].max():.2f} times the "
            f"{float(network['expected'].iloc[0]) / _GIGABIT:g} Gbit/s expected of the VM, in tests too short to show "
            "what lasts."
        )
        found.append(Finding("info", text))
    answered = [each for each in across if not each.refused]
    for each in answered:
        assert each.estimate is not None and each.low is not None and each.high is not None
        text = (
            f"{each.what}: typical goodput {each.estimate / _GIGABIT:,.3g} Gbit/s, {100 * each.confidence:g} % "
            f"interval {each.low / _GIGABIT:,.3g} – {each.high / _GIGABIT:,.3g} Gbit/s over {each.n} runs."
        )
        found.append(Finding("info", text))
    if any("no_replication" in each.codes for each in across):
        single = sum("no_replication" in each.codes for each in across)
        text = f"{single} of {len(across)} combinations of path and method were measured once: no interval, no ranking."
        found.append(Finding("act", text))
    lossy = runs[(runs["retransmits"].fillna(0) > 0) & (runs["retransmits_scope"] != "host")]
    if len(lossy):
        worst = lossy.loc[lossy["retransmits"].astype(float).idxmax()]
        most = f"{int(worst['retransmits']):,} segments, on {worst['path']} ({worst['method']})"
        found.append(Finding("info", f"{len(lossy)} runs retransmitted; the most, {most}."))
    return Findings.of(found)


def _list(names: pd.Series) -> str:
    unique = list(dict.fromkeys(names))
    return unique[0] if len(unique) == 1 else ", ".join(unique[:-1]) + " and " + unique[-1]
