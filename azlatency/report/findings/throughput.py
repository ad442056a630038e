"""Findings of the page on throughput."""

from __future__ import annotations

from typing import TYPE_CHECKING

from azlatency.kit.findings import (
    act,
    answer,
    info,
    join,
    join_by_method,
    measured_once,
)
from azlatency.kit.objects import Finding, Findings
from azlatency.kit.titles import span
from azlatency.report.groups import answer_of, main_method
from azlatency.studies.format import count_of
from azlatency.studies.runs.run_table import REVERSE

if TYPE_CHECKING:
    import pandas as pd


def find(runs: pd.DataFrame, typical: pd.DataFrame) -> Findings:
    """Answer how much each path carries; name traffic that never left the host, single runs and retransmissions.

    Parameters
    ----------
    runs : DataFrame
        One row per run with a throughput (bit/s).
    typical : DataFrame
        Typical goodput across runs (bit/s), one per path and method.

    Returns
    -------
    Findings
        At least one finding for a study without throughput.
    """
    if not len(runs):
        return Findings.of([info("No log of this study contains a throughput.")])
    streams = runs[runs["throughput_bit_s"].astype(float) > 0]
    main = main_method(streams, "throughput_bit_s", typical)
    findings = [answer(answer_of(main, streams, "goodput", "bit/s", directed=True), main)] if main.values else []
    findings += _nothing_arrived(runs)
    inside = streams[(streams["placement"] == "same_host") & (streams["protocol"] != "udp")]
    if len(inside):
        rates = span(inside["throughput_bit_s"].astype(float), "bit/s")
        names = join(map(str, inside["path"]))
        text = f"{names}: {rates} between programs on one host. It never crossed the network; memory sets this rate."
        findings.append(act(text))
    findings += measured_once(typical) + _both_at_once(runs)
    retransmitting = runs[(runs["retransmits"].fillna(0) > 0) & (runs["retransmits_scope"] != "host")]
    if len(retransmitting):
        worst = retransmitting.iloc[retransmitting["retransmits"].astype(float).argmax()]
        text = f"{worst['path']} ({worst['method']}) retransmitted most: {int(worst['retransmits']):,} segments."
        findings.append(info(text))
    return Findings.of(findings)


def _both_at_once(runs: pd.DataFrame) -> list[Finding]:
    """Say what the goodput of a bidirectional test is."""
    both = runs[runs["test"].fillna("").str.contains("-bidir")]
    if not len(both):
        return []
    runs_of_both = count_of(both.index.str.removesuffix(REVERSE).nunique(), "run")
    text = (
        f"{runs_of_both} sent in both directions at once: stream-bidir is the goodput from client to server, "
        "stream-bidir-reverse that from server to client. Each direction was measured under the load of the other; "
        "alone, it may be faster."
    )
    return [info(text)]


def _nothing_arrived(runs: pd.DataFrame) -> list[Finding]:
    """Name the paths on which nothing arrived: that is a loss of all packets, not a rate of zero."""
    silent = runs[runs["throughput_bit_s"].astype(float) == 0]
    if not len(silent):
        return []
    names = join_by_method(zip(silent["path"], silent["method"], strict=True))
    text = (
        f"Nothing arrived on {names}: all packets were lost. This is not a measured rate; check the path and firewall."
    )
    return [act(text)]
