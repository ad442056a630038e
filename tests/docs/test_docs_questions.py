"""The pages of questions: their code runs as printed, and the intervals hold what is known of the emulated network."""

from __future__ import annotations

import doctest
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from unittest import mock

import pytest
from helpers.places import ROOT
from helpers.studies import load

import azlatency as az
from azlatency.stats.result import FLAGS
from azlatency.studies.runs.path import NetworkPath

FOLDER = ROOT / "docs" / "questions"
PAGES = sorted(FOLDER.glob("*.md"))
#: Words in code type that are not flags.
LABELS = (
    "within_run",
    "across_runs",
    "different_within_margin",
    "ljung_box_p",
    "verdict_alone",
    "machine_spread",
    "ratio_low",
    "run_ids",
    "decides_low",
    "decides_high",
    "ratio_high",
    "inner_low",
    "inner_high",
)
OPTIONS = doctest.NORMALIZE_WHITESPACE | doctest.REPORT_NDIFF


@pytest.fixture(scope="module", autouse=True)
def _studies_are_loaded_once() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(az, "load", cache(az.load))
        yield


@pytest.mark.costly
@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_the_code_of_a_page_gives_what_it_shows(page: Path) -> None:
    with mock.patch.object(az, "load", load):
        results = doctest.testfile(str(page), module_relative=False, optionflags=OPTIONS, encoding="utf-8")
    assert results.failed == 0
    assert results.attempted or page.stem == "README"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_pages_name_only_what_is_there(page: Path) -> None:
    """Links lead to pages, functions and codes exist; every page but the index has its sections."""
    text = page.read_text("utf-8")
    for target in re.findall(r"\]\(([^)#]+)", text):
        assert (page.parent / target).is_file(), target
    for name in re.findall(r"`?\baz\.(\w+)", text):
        assert name in az.__all__, name
    for code in re.findall(r"`([a-z]+_[a-z_]+)`", text):
        known = FLAGS | dict.fromkeys(LABELS)
        assert code in known, code
    assert page.stem == "README" or "Sources:" in text or page.stem == "truth"
    index = (FOLDER / "README.md").read_text("utf-8")
    assert page.stem == "README" or f"({page.name})" in index


@pytest.fixture(scope="module")
def study() -> az.Study:
    return load("emulated-zones")


def test_every_initiator_ratio_holds_one(study: az.Study) -> None:
    """Both round trips of a pair cross the same two programmed delays, whatever either is."""
    pairs = az.asymmetry(study, metric="latency").pairs
    judged = pairs[~pairs["same_zone"] & pairs["ratio_low"].notna()]
    assert len(judged) >= 12
    assert ((judged["ratio_low"] <= 1) & (judged["ratio_high"] >= 1)).all()


def test_the_programmed_ratio_of_rates_is_found(study: az.Study) -> None:
    """Goodput of a test of one second reaches the rate of the faster direction later: up to 2 % are missing."""
    links = az.studies.configured_links(study)
    due = links.loc["az2a → az3a", "rate_bit_s"] / links.loc["az3a → az2a", "rate_bit_s"]
    assert due == 2
    pairs = az.asymmetry(study, metric="throughput").pairs
    pairs = pairs[~pairs["same_zone"]]
    slow = pairs[pairs["what"] == "az2a → az3a over back"]
    assert set(slow["method"]) == {"iperf3 TCP", "ntttcp (sender)"} and set(slow["verdict"]) == {"different"}
    assert ((slow["ratio_low"] <= due) & (due <= slow["ratio_high"] * 1.02)).all()
    even = pairs.drop(slow.index)
    assert ((even["ratio_low"] <= 1) & (even["ratio_high"] >= 1)).all()


def test_no_interval_lies_below_the_configured_delay(study: az.Study) -> None:
    """Hosts only add to the configured delay: it is a lower bound on every typical run."""
    links, runs = az.studies.configured_links(study), az.latency(study)
    typical = az.summarize(runs[~runs["method"].str.startswith(("fping", "lagscope"))], "mean_ns")
    for estimate in typical.dropna(subset=["estimate"]).itertuples():
        path = estimate.path
        if path not in links.index:
            continue
        configured = links.loc[path, "mean_ns"] + links.loc[str(NetworkPath.parse(path).reversed()), "mean_ns"]
        assert estimate.estimate > configured, estimate
