"""The configured links of an emulated network, read by hand in truth.json."""

from __future__ import annotations

import json

from helpers.places import ROOT

import azlatency as az
from azlatency.studies.emulation import both_directions, configured_links
from azlatency.studies.path import Path


def test_each_direction_has_its_configured_delay() -> None:
    study = az.load("emulated-zones")
    links = configured_links(study)
    truth = json.loads((ROOT / "data" / "raw" / "emulated-zones" / "truth.json").read_text("utf-8"))
    configured = {
        name: link["base_us"] for profile in truth["profiles"].values() for name, link in profile["directions"].items()
    }
    assert len(links) == len(configured)
    name, delay = next(iter(configured.items()))
    assert links.loc[Path.parse(name), "delay_ns"] == delay * 1e3
    start, end = Path.parse(name).ends or ("", "")
    pair = both_directions(links, start, end)
    assert pair is not None and pair[0]["sender"] == pair[1]["receiver"] == start
    assert both_directions(links, "nowhere", end) is None


def test_a_real_network_has_no_configured_links() -> None:
    assert configured_links(az.load("westeurope-azure-cni")).empty
