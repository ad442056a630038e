"""Histograms of runs on a common axis, and which medians stand for them."""

from __future__ import annotations

import pytest
from helpers.studies import load

import azlatency as az
from azlatency.stats.within_run.distribution_shape import BINS, run_histograms


def test_the_median_of_a_run_is_that_of_every_page() -> None:
    study = load("emulated-cloud")
    runs = az.latency(study)
    shapes = run_histograms(study, runs).runs
    # An even number of samples has two in the middle: their mean is the median of the run, not the lower of them.
    assert list(shapes["median_ns"]) == list(runs.loc[shapes["run_id"], "median_ns"])


def test_every_answered_probe_is_in_a_bin_or_beyond_the_axis() -> None:
    study = load("emulated-zones")
    found = run_histograms(study, az.latency(study))
    answered = study.samples[study.samples["status"] != "warmup"].groupby("run_id")["rtt_ns"].count()
    assert len(found.bins) == BINS * len(found.runs) and found.bins["high_ns"].nunique() == BINS
    counts = found.bins.groupby("run_id")["count"].sum()
    shares = found.bins.groupby("run_id")["share"].last()
    for run in found.runs.to_dict("records"):
        assert counts[run["run_id"]] + run["beyond"] == run["n"] == answered[run["run_id"]]
        assert shares[run["run_id"]] == pytest.approx(counts[run["run_id"]] / (run["n"] + run["lost"]))
        assert run["median_ns"] <= run["p99_ns"]


def test_a_study_without_samples_has_no_histograms() -> None:
    study = load("westeurope-azure-cni")
    found = run_histograms(study, az.latency(study))
    assert found.runs.empty and found.bins.empty and "share" in found.bins
