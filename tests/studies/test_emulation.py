"""The configured links of an emulated network, read by hand in truth.json."""

from __future__ import annotations

import json

import pytest
from helpers.places import ROOT
from helpers.studies import load

from azlatency.studies.emulation import both_directions, configured_links, recorded_round_trips
from azlatency.studies.runs.path import NetworkPath, route


def test_each_direction_has_its_configured_delay() -> None:
    study = load("emulated-zones")
    links = configured_links(study)
    truth = json.loads((ROOT / "data" / "raw" / "emulated-zones" / "truth.json").read_text("utf-8"))
    configured = {name: link["base_us"] for name, link in truth["links"].items()}
    assert len(links) == len(configured)
    name, delay = next(iter(configured.items()))
    assert links.loc[str(NetworkPath.parse(name)), "delay_ns"] == delay * 1e3
    start, end = NetworkPath.parse(name).ends or ("", "")
    pair = both_directions(links, start, end)
    assert pair is not None and pair[0]["sender"] == pair[1]["receiver"] == start
    assert both_directions(links, "nowhere", end) is None


def test_each_run_has_what_the_emulator_recorded() -> None:
    study = load("emulated-zones")
    truth = json.loads((ROOT / "data" / "raw" / "emulated-zones" / "truth.json").read_text("utf-8"))
    records = recorded_round_trips(study)
    assert len(records) == len(truth["runs"]) and set(records["file"]) == set(truth["runs"])
    row = records[records["file"] == "ping/az1a-az2a/ping_r1.txt"].iloc[0]
    assert row["median_ns"] == truth["runs"]["ping/az1a-az2a/ping_r1.txt"]["median_us"] * 1e3


def test_a_run_without_a_round_trip_has_no_recorded_delay(monkeypatch: pytest.MonkeyPatch) -> None:
    log = "ping/az1a-az2a/ping_r1.txt"
    record = {"round_trips": 0, "median_us": 0.0, "mean_us": 0.0}
    monkeypatch.setattr("azlatency.studies.emulation._truth", lambda study: {"links": {}, "runs": {log: record}})
    assert recorded_round_trips(load("emulated-zones")).empty


def test_the_mean_delay_has_jitter_and_spikes() -> None:
    links = configured_links(load("emulated-zones"))
    # By hand: 85 + 4·exp(0.18) + 0.001·(1.5·120 − 4000·(120/4000)^1.5)/0.5 = 85 + 4.789 + 0.318.
    assert abs(links.loc[route("az1a", "az2a"), "mean_ns"] - 90_107) < 2


def test_a_real_network_has_no_configured_links() -> None:
    assert configured_links(load("westeurope-azure-cni")).empty
