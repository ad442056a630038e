from __future__ import annotations

from helpers.studies import load

import azlatency as az


def pairs(name: str) -> dict[tuple[str, str], tuple[float, ...]]:
    study = load(name)
    runs = az.latency(study)
    levels = az.stats.placement.widest(az.stats.placement.conditions(study, runs))
    return {(pair.first, pair.second): pair.values for pair in az.stats.zone_pairs(study, runs, levels)}


def test_both_directions_of_a_pair_are_one_edge() -> None:
    edges = pairs("aws-euwest1-lagscope")
    assert edges["1a", "1b"] == (384e3, 386e3) and edges["1a", "1a"] == (74e3, 74e3) and len(edges) == 4


def test_reported_numbers_and_connect_times_have_edges_too() -> None:
    assert pairs("uksouth-echo-latency") == {
        ("1", "1"): (850e3,), ("1", "2"): (1425e3,), ("1", "ukwest"): (5300e3,),
    }  # fmt: skip
    assert pairs("westeurope-psping")["1", "3"] == (2.02e6, 2.07e6)


def test_a_run_on_one_host_crosses_no_zone() -> None:
    assert ("", "") not in pairs("westeurope-azure-cni") and len(pairs("westeurope-azure-cni")) == 4
