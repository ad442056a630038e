from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest
from helpers.studies import in_memory, load
from studies.runs.test_run_table import ping

import azlatency as az
from azlatency.stats.across_runs.zone_pairs import medians_by_path, short_pair, zones_of


def pairs(name: str) -> dict[tuple[str, str], tuple[float, ...]]:
    study = load(name)
    runs = az.latency(study)
    levels = az.stats.placement.widest(az.stats.placement.conditions(study, runs))
    found = az.stats.zone_pairs(study, runs, levels)
    return {ends: tuple(group) for ends, group in found.groupby(["first", "second"], dropna=False)["value"]}


def test_both_directions_of_a_pair_are_one_edge() -> None:
    edges = pairs("aws-euwest1-lagscope")
    assert edges["1a", "1b"] == (384e3, 386e3) and edges["1a", "1a"] == (74e3, 74e3) and len(edges) == 4


def test_the_typical_run_of_a_pair_is_that_of_each_direction() -> None:
    study = load("emulated-zones")
    runs = az.latency(study)
    levels = az.stats.placement.widest(az.stats.placement.conditions(study, runs))
    found = az.stats.zone_pairs(study, runs, levels).query("first == '1' and second == '2'")
    of_method = runs[runs["method"].isin(levels["method"])]
    medians = of_method.groupby("path")["median_ns"].median()
    typical = medians_by_path(found)["value"]
    assert sorted(typical) == sorted(medians[list(found["path"].unique())]) and len(found) > len(typical) == 2


def test_sizes_of_messages_are_not_pooled(tmp_path: Path) -> None:
    """Both pairs take 0.195 ms with 56 B and 0.275 ms with 1,400 B; most runs of 1–2 are of the larger size."""
    for peer, counts in ((2, {56: 2, 1400: 6}), (3, {56: 6, 1400: 3})):
        for size, count in counts.items():
            for run in range(count):
                text = ping("10.0.0.9", *[0.195 if size == 56 else 0.275] * (3 + run))
                log = tmp_path / f"az1-az{peer}_{run}_{size}.txt"
                log.write_text(text.replace("56(84)", f"{size}({size + 28})"), "utf-8")
    (tmp_path / "study.toml").write_text('[study]\npattern = "az{zone}-az{peer_zone}_{repeat}_*.txt"\n', "utf-8")
    study = in_memory(tmp_path)
    runs = az.latency(study)
    levels = az.stats.placement.widest(az.stats.placement.conditions(study, runs))
    found = az.stats.zone_pairs(study, runs, levels)
    assert {*levels["method"]} == {"ping 56 B", "ping 1400 B"}
    assert {*found["method"]} == {"ping 1400 B"} and {*found["value"]} == {275e3} and len(found) == 9
    assert {*found["quantity"]} == {"median RTT, ping 1400 B"}


def test_reported_numbers_and_connect_times_have_edges_too() -> None:
    assert pairs("uksouth-echo-latency") == {
        ("1", "1"): (850e3,),
        ("1", "2"): (1425e3,),
        ("1", "ukwest"): (5300e3,),
    }
    assert pairs("westeurope-psping")["1", "3"] == (2.02e6, 2.07e6)


def test_a_run_on_one_host_crosses_no_zone() -> None:
    assert ("", "") not in pairs("westeurope-azure-cni") and len(pairs("westeurope-azure-cni")) == 4


@pytest.mark.parametrize(
    ("region", "zones", "shown"),
    [
        ("eu-west-1", ("eu-west-1a", "eu-west-1b"), ("1a", "1b")),
        ("westeurope", ("westeurope-az1", "westeurope-az2"), ("az1", "az2")),
        ("here", ("rack-1", "hall-1"), ("rack-1", "hall-1")),
        (None, ("rack-1", "hall-1"), ("rack-1", "hall-1")),
    ],
)
def test_zones_lose_their_region_and_nothing_else(
    region: str | None, zones: tuple[str, str], shown: tuple[str, str]
) -> None:
    row = {"path": "a → b", "zone": zones[0], "peer_zone": zones[1], "region": region, "peer_region": region}
    assert zones_of(pd.DataFrame([{**row, "placement": "cross_zone"}])) == {"a → b": shown}


def test_a_short_pair_leaves_out_shared_words_only() -> None:
    assert short_pair("us-south-dal10-a–us-south-dal12-a") == "dal10–dal12"
    assert short_pair("in-che-che02-a–in-che-che02-b") == "che02-a–che02-b"
    assert short_pair("Sao Paulo–Washington DC") == "Sao Paulo–Washington DC"
