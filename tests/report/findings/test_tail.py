"""The findings of the page on the tail."""

from __future__ import annotations

import pandas as pd
from helpers.results import NOTHING
from helpers.studies import load

import azlatency as az
from azlatency.report import findings
from azlatency.studies.store.study import Study


def test_printed_tables_give_the_share_of_the_best_and_the_worst_run(cni: Study, cni_latency: pd.DataFrame) -> None:
    curves = az.stats.printed_quantiles(cni.quantiles, cni.metrics, labels=cni_latency[["path", "method"]])
    printed = az.stats.tail_by_run.printed_exceedances(cni, cni_latency, limit=1e6)
    text = str(findings.tail.find(cni_latency, [], curves, printed))
    # Five tables of eight percentiles; between two pods of one node at most 31 packets in a million took over 1 ms.
    assert "**100 %** on" in text and "**0.0031 %** on Single node" in text


def test_p99s_of_repeated_runs_are_said_where_no_run_is_long_enough_for_a_tail() -> None:
    runs = az.latency(load("emulated-cloud"))
    text = str(findings.tail.find(runs, [], NOTHING, [], az.summarize(runs, "p99_ns")))
    assert "Answer: p99: zone 2 to the others **" in text and "12 runs each" in text
    assert "so the tail beyond p99 is unknown" in text
    assert "so the tail is unknown" in str(findings.tail.find(runs.iloc[:0], [], NOTHING, []))
