"""The tails of a whole study: which runs, and what the printed tables allow."""

from __future__ import annotations

import pytest
from helpers.studies import load

import azlatency as az
from azlatency.stats.within_run import tail_by_run as runtails


@pytest.fixture(scope="module")
def found() -> list[runtails.RunTail]:
    study = load("emulated-zones")
    return runtails.run_tails(study, az.latency(study), limit=1e6, calls=10)


def test_tails_of_the_emulated_study(found: list[runtails.RunTail]) -> None:
    assert all(len(tail.rtt) >= runtails.FEWEST for tail in found)
    for tail in found:
        assert tail.slower.estimate == pytest.approx((tail.rtt > 1e6).mean())
        assert len(tail.waits) == (0 if tail.method == "ping 56 B" else 2)
        assert tail.largest == tail.rtt.max()


def test_printed_tables_bracket_a_limit() -> None:
    study = load("westeurope-azure-cni")
    by_path = {
        exceedance.labels["path"]: exceedance
        for exceedance in runtails.printed_exceedances(study, az.latency(study), limit=1e6)
    }
    assert by_path["AZ2 - AZ3"].low is not None and by_path["AZ2 - AZ3"].low > 0.99
    assert by_path["Single node"].high is not None and by_path["Single node"].high < 1e-4
    assert runtails.printed_exceedances(load("uksouth-echo-latency"), az.latency(study)[:0], limit=1e6) == []


def test_the_rarest_are_of_the_longest_runs() -> None:
    study = load("emulated-zones")
    runs = az.latency(study)
    curves = az.stats.printed_quantiles(study.quantiles, study.metrics, labels=runs[["path", "method"]])
    kept = runtails.select_longest_runs(curves, 12)
    assert 0 < len(kept) <= 12 and curves["n"].max() in set(kept["n"])
    assert kept["q"].min() >= 0.99
