"""Findings of the page on what was measured."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from azlatency.kit.findings import act, answer, info, join
from azlatency.kit.objects import Finding, Findings
from azlatency.studies.format import count_of
from azlatency.studies.runs.run_table import run_table, whole_run_rows
from azlatency.studies.runs.samples import bounded, counted
from azlatency.studies.store.hosts import differing_facts

if TYPE_CHECKING:
    import pandas as pd

    from azlatency.studies.store.study import Study


def find(study: Study, printed: pd.DataFrame) -> Findings:
    """Summarize a study's logs: tools and paths, RTT/2, unknown lines, errors, packet loss, censored values.

    Parameters
    ----------
    study : Study
        The study of the page.
    printed : DataFrame
        One row per method with the columns ``method`` and ``printed_as``.

    Returns
    -------
    Findings
        At least one finding, also for a study without logs.
    """
    if not len(study.runs):
        counts = {"a baseline": len(study.expectations), "reported numbers": len(study.reported)}
        contents = " and ".join(name for name, count in counts.items() if count) or "nothing"
        return Findings.of(
            [answer(f"This study has no logs, only {contents}. You can quote its numbers but not test them.")]
        )
    runs = run_table(study)
    tools = ", ".join(sorted(set(study.runs["tool"])))
    paths, unread = runs["path"].nunique(), study.events[study.events["code"] == "unknown_line"]
    unknown = int(study.sources["lines_unknown"].sum())
    lines = f"**{count_of(unknown, 'line')}** not recognised" if unknown else "every line recognised"
    findings = [answer(f"**{count_of(len(runs), 'run')}** of {tools} over {count_of(paths, 'path')}; {lines}.")]
    findings += _printed_quantities(printed)
    if len(unread):
        findings.append(act(f"Not every line was recognised, first {_place(study, unread)}"))
    errors = study.events[study.events["severity"] == "error"]
    if len(errors):
        findings.append(act(f"A log reports an error: {_place(study, errors)}"))
    if differing := differing_facts(study.hosts):
        findings.append(act(f"The machines differ in {join(differing)}: a difference between paths may be theirs."))
    return Findings.of(findings + _lost(study) + _censored(study))


def _place(study: Study, events: pd.DataFrame) -> str:
    """Return place and text of the first of some events, and that there are others."""
    first = events.iloc[0]
    file = study.sources.set_index("source_id")["path"].get(first["source_id"], "")
    others = "; the page lists the others" if len(events) > 1 else ""
    return f"`{file}:{first['line']}`: {first['text']}{others}."


def _printed_quantities(printed: pd.DataFrame) -> list[Finding]:
    """Say which methods print half round trips and which print round-trip times."""
    halves = printed.loc[printed["printed_as"] == "half_round_trip", "method"]
    wholes = printed.loc[printed["printed_as"] == "round_trip", "method"]
    if len(halves) and len(wholes):
        text = (
            f"{join(halves)} {_verb(halves)} RTT/2 and {join(wholes)} {_verb(wholes)} round-trip times. Compare the "
            "tables here, not the numbers in the logs."
        )
        return [act(text)]
    if len(halves):
        return [act(f"{join(halves)} {_verb(halves)} RTT/2; every table and chart here shows round-trip times.")]
    return [info(f"{join(wholes)} {_verb(wholes)} round-trip times.")] if len(wholes) else []


def _verb(methods: Sequence[object]) -> str:
    return "prints" if len(methods) == 1 else "print"


def _lost(study: Study) -> list[Finding]:
    """Say that runs lost probes, and what that means for their means and medians."""
    lost, sent, mean = (
        whole_run_rows(study.metrics, name)["value"].astype(float) for name in ("lost", "sent", "rtt_mean")
    )
    shares = (lost / sent)[(lost > 0) & (sent > 0)].dropna()
    shares = shares[shares.index.isin(set(mean.index))].sort_values(ascending=False, kind="stable")
    if not len(shares):
        return []
    text = (
        f"{len(shares)} run{'' if len(shares) == 1 else 's'} with round-trip times lost probes, up to "
        f"{100 * shares.iloc[0]:.3g} % of them. A printed mean covers only the replies, while medians and percentiles "
        "from samples count a lost probe as infinite. Compare loss before latency."
    )
    return [act(text)]


def _censored(study: Study) -> list[Finding]:
    """Say that some replies are interval-censored, and which pages leave their runs out."""
    samples = counted(study.samples)
    censored = samples[bounded(samples)]
    if not len(censored):
        return []
    runs = censored["run_id"].nunique()
    text = (
        f"{len(censored):,} replies in {runs} run{'' if runs == 1 else 's'} of {join(censored['tool'])} are "
        "interval-censored (such as `time<1ms`). Percentiles use the bounds; a median that falls among these replies "
        "is missing; the pages on distributions, tails and stability leave these runs out. Use a tool with finer "
        "resolution."
    )
    return [act(text)]
