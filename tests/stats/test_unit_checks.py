"""What a tool printed, proven by the duration of its run; values read by hand in the raw logs."""

from __future__ import annotations

import pytest
from helpers.studies import load

import azlatency as az


@pytest.mark.parametrize(
    ("name", "path", "share"),
    [
        # az1-az3/sockperf.log: 6829 observations * 698.945 us / 9.550 s
        ("westeurope-azure-cni", "AZ1 - AZ3", 6829 * 698.945e-6 / 9.55),
        # zone3-zone1/sockperf-m1400.log, --full-rtt: 1060186 observations * 94.790 us / 100.549 s
        ("westeurope-availability-set-vs-zones", "Zone 3 → Zone 1", 1060186 * 94.790e-6 / 100.549),
    ],
)
def test_the_share_of_the_duration_is_one_half_for_half_round_trips(name: str, path: str, share: float) -> None:
    runs = az.latency(load(name))
    shares = az.stats.unit_checks.closed_loop_shares(runs)
    of_path = shares[(runs["path"].astype(str) == path) & (runs["tool"] == "sockperf")]
    assert pytest.approx(share, rel=1e-9) in of_path.tolist()
    assert round(2 * share) == (1 if name == "westeurope-azure-cni" else 2)


def test_all_five_sockperf_runs_prove_half_round_trips_and_qperf_proves_nothing() -> None:
    quantities = az.stats.unit_checks.printed_quantities(az.latency(load("westeurope-azure-cni")))
    verdicts = dict(zip(quantities["method"], quantities["verdict"], strict=True))
    assert verdicts["sockperf TCP 14 B"] == "half round trips, in 5 of 5 runs"
    assert verdicts["qperf tcp_lat"].startswith("nothing")


def test_the_headline_number_is_the_printed_token_with_its_line() -> None:
    study = load("canadacentral-proximity-placement")
    runs = az.studies.client_side_runs(az.studies.run_table(study))
    (headline,) = az.stats.unit_checks.headline_numbers(study, runs).to_dict("records")
    # sender.log, line 9: "Latency(usec) 2026.40"
    assert (headline["printed"], headline["line"], headline["quantity"]) == ("2026.40 usec", 9, "mean")


def test_the_expected_bandwidth_is_the_only_one_that_the_baseline_names() -> None:
    study = load("westeurope-azure-cni")
    assert az.stats.unit_checks.expected_bandwidth(study) == 4e9
    assert az.stats.unit_checks.expected_bandwidth(load("uksouth-echo-latency")) is None
