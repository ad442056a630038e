"""Log-linear histograms: exact counts, classes of a thousandth, sums that do not depend on the order."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from azlatency.stats.within_run.log_histograms import (
    CLASSES,
    LogHistogram,
    class_bounds,
    class_of,
    log_histogram,
    log_histograms,
)
from azlatency.studies.samples import bounds, counted
from azlatency.studies.store import load


@given(st.lists(st.integers(0, 2**62) | st.sampled_from([2**k + d for k in range(1, 62) for d in (-1, 0, 1)])))
def test_every_value_lies_in_its_class(numbers: list[int]) -> None:
    values = np.array(numbers, dtype="float64")
    classes = class_of(values)
    low, high = class_bounds(classes)
    assert ((low <= values) & (values < high)).all()
    assert (classes < CLASSES).all()
    assert ((high - low) / np.maximum(low, 1024) <= 1 / 1024).all()


def test_classes_are_in_order_without_gaps() -> None:
    low, high = class_bounds(np.arange(CLASSES))
    assert (high[:-1] == low[1:]).all() and low[0] == 0


def test_sums_do_not_depend_on_the_order() -> None:
    values = np.append(np.random.default_rng(1).lognormal(11, 1, 10_000), [np.inf, np.inf])
    whole = log_histogram(values)
    parts = [log_histogram(part) for part in np.split(values, [10, 4_000])]
    assert (sum(reversed(parts), start=LogHistogram.empty()).counts == whole.counts).all()
    assert whole.lost == 2 and whole.n == 10_002


@pytest.mark.parametrize("q", [0.01, 0.5, 0.99, 0.999])
def test_quantiles_are_within_half_a_thousandth_of_numpy(q: float) -> None:
    values = np.random.default_rng(2).lognormal(11, 1, 100_000)
    (estimate,) = log_histogram(values).quantiles([q])
    assert estimate.estimate == pytest.approx(np.quantile(values, q, method="inverted_cdf"), rel=0.0005)


def test_lost_probes_count_as_infinite() -> None:
    values = np.append(np.full(900, 1000.0), np.full(100, np.inf))
    p50, p99 = log_histogram(values).quantiles([0.5, 0.99])
    assert p50.estimate == 1000.5 and p50.n == 1000
    assert p99.estimate is None and "tail_unresolved" in p99.codes


def test_each_run_of_a_study_is_counted() -> None:
    study = load("emulated-zones")
    with ThreadPoolExecutor(2) as executor:
        histograms = log_histograms(study, executor=executor)
    groups = dict(list(counted(study.samples).groupby("run_id")))
    assert histograms.keys() == groups.keys()
    for run_id, histogram in histograms.items():
        values = bounds(groups[run_id])[1]
        assert (histogram.counts == log_histogram(values).counts).all() and histogram.n == len(values)
