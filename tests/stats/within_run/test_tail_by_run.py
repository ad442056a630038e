"""The tails of a whole study: which runs, and what the printed tables allow."""

from __future__ import annotations

import numpy as np
import pytest
from helpers.chart_cases import study_of
from helpers.studies import load

import azlatency as az
from azlatency.stats.within_run import tail_by_run as runtails


@pytest.fixture(scope="module")
def found() -> runtails.RunTails:
    study = load("emulated-zones")
    return runtails.run_tails(study, az.latency(study), limit=1e6, calls=10)


def test_tails_of_the_emulated_study(found: runtails.RunTails) -> None:
    samples = load("emulated-zones").samples
    assert (found.runs["packets"] >= runtails.FEWEST).all()
    for run, above in zip(found.runs.to_dict("records"), found.above.to_dict("records"), strict=True):
        rtt = samples.loc[samples["run_id"] == run["run_id"], "rtt_ns"]
        assert above["run_ids"] == run["run_id"] and above["estimate"] == pytest.approx((rtt > 1e6).mean())
        assert run["largest_ns"] == rtt.max()
    waits = found.waits.groupby("method").size()
    assert "ping 56 B" not in waits and (waits == 2 * found.runs["method"].value_counts()[waits.index]).all()


def test_lost_packets_are_slower_than_any_limit_and_have_no_point() -> None:
    study, runs = study_of({"a": np.where(np.arange(2000) < 200, np.inf, 1e5)})
    found = runtails.run_tails(study, runs, limit=5e5)
    assert found.above["estimate"].tolist() == [0.1, 0.1]
    assert found.runs["packets"].tolist() == [2000, 2000] and found.runs["largest_ns"].tolist() == [1e5, 1e5]
    assert np.isfinite(found.curve["rtt_ns"]).all() and found.curve["share"].min() > 0.1


def test_every_frame_has_its_columns_also_without_runs(found: runtails.RunTails) -> None:
    nothing = runtails.run_tails(load("emulated-zones"), az.latency(load("emulated-zones"))[:0], limit=1e6)
    for name, frame in nothing._asdict().items():
        assert frame.empty and set(frame.columns) <= set(getattr(found, name).columns), name
        assert {"run_id", "name", "path", "method"} <= set(frame.columns)


def test_printed_tables_bracket_a_limit() -> None:
    study = load("westeurope-azure-cni")
    by_path = runtails.printed_exceedances(study, az.latency(study), limit=1e6).set_index("path")
    assert by_path.at["AZ2 - AZ3", "low"] > 0.99 and by_path.at["Single node", "high"] < 1e-4
    assert runtails.printed_exceedances(load("uksouth-echo-latency"), az.latency(study)[:0], limit=1e6).empty


def test_the_rarest_are_of_the_longest_runs() -> None:
    study = load("emulated-zones")
    runs = az.latency(study)
    curves = az.stats.printed_quantiles(study.quantiles, study.metrics, labels=runs[["path", "method"]])
    kept = runtails.select_longest_runs(curves)
    assert 0 < len(kept) <= 24 and curves["n"].max() in set(kept["n"])
    assert kept["q"].min() >= 0.99


def test_a_frequency_table_counts_what_is_above_the_limit() -> None:
    """The classes above 1 ms in the tables of lagscope, counted by hand."""
    study = load("aws-euwest1-lagscope")
    found = runtails.printed_exceedances(study, az.latency(study), limit=1e6).set_index("path")
    counts = {"1a → 1b": 5, "1b → 1a": 2, "1a → 1c": 0, "1c → 1a": 7, "1b → 1c": 6, "1c → 1b": 6}
    assert {path: round(1e6 * found.at[path, "estimate"]) for path in counts} == counts
    assert not found["flags"].str.contains("interpolated").any()
