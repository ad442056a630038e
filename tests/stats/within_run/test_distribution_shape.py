"""Histograms of runs on a common axis, and which medians stand for them."""

from __future__ import annotations

from helpers.studies import load

import azlatency as az
from azlatency.stats.within_run.distribution_shape import run_histograms


def test_the_median_of_a_run_is_that_of_every_page() -> None:
    study = load("emulated-cloud")
    runs = az.latency(study)
    shapes = run_histograms(study, runs)
    # An even number of samples has two in the middle: their mean is the median of the run, not the lower of them.
    assert [shape.median for shape in shapes] == list(runs.loc[[shape.run_id for shape in shapes], "median_ns"])


def test_every_answered_probe_is_in_a_bin_or_beyond_the_axis() -> None:
    study = load("emulated-zones")
    histograms = run_histograms(study, az.latency(study))
    samples = study.samples[study.samples["status"] != "warmup"].groupby("run_id")["rtt_ns"]
    edges = histograms[0].edges
    for histogram in histograms:
        assert (histogram.edges == edges).all()
        assert histogram.counts.sum() + histogram.beyond == histogram.n == samples.get_group(histogram.run_id).count()
        assert histogram.median <= histogram.p99


def test_a_study_without_samples_has_no_histograms() -> None:
    study = load("westeurope-azure-cni")
    runs = az.latency(study)
    assert run_histograms(study, runs) == []
