"""Groups of paths: how a sentence speaks of many paths."""

from __future__ import annotations

import pandas as pd
import pytest
from helpers.studies import FEW_REGIONS, load

import azlatency as az
from azlatency.kit.groups import answer_of, groups, main_method, ranges_of, run_counts, say, values_of


def _runs(rows: dict[tuple[str, str], float]) -> pd.DataFrame:
    """Return a run per path between two zones of one region."""
    return pd.DataFrame(
        [
            {
                "path": f"{zone}{place} → {peer}",
                "method": "sockperf TCP",
                "zone": zone,
                "peer_zone": peer,
                "region": "r",
                "peer_region": "r",
                "placement": "same_zone" if zone == peer else "cross_zone",
                "median_ns": value,
            }
            for place, ((zone, peer), value) in enumerate(rows.items())
        ]
    )


def test_directions_of_a_round_trip_are_one_pair_and_far_zones_are_named() -> None:
    times = {("1", "2"): 226e3, ("2", "1"): 227e3, ("1", "3"): 830e3, ("3", "2"): 853e3, ("1", "1"): 101e3}
    runs = _runs(times)
    main = main_method(runs, "median_ns")
    text = "zones 1–2: **226–227 µs**; zone 3 to the others **830–853 µs**; inside zone 1: **101 µs**"
    assert say(groups(main, runs), "ns") == text
    nothing = az.summarize(runs, "median_ns")
    assert answer_of(runs, "median_ns", nothing, "median round trip", "ns")[0].endswith("(sockperf TCP, one run each).")


def test_a_slow_direction_of_a_transfer_is_an_exception_by_name() -> None:
    runs = _runs({("2", "3"): 0.99e9, ("3", "2"): 0.5e9, ("1", "2"): 1e9, ("2", "1"): 1.01e9})
    found = groups(main_method(runs, "median_ns"), runs, directed=True)
    assert [group.name for group in found] == ["zone 3 → 2", "zone 2 → 3, zones 1–2"]
    assert [group.values for group in found] == [(0.5e9,), (0.99e9, 1e9, 1.01e9)]


def test_an_answer_has_the_digits_that_the_logs_print() -> None:
    """The frequency tables of lagscope have whole microseconds: 74, 263, 384, 386 and 459."""
    runs = az.latency(load("aws-euwest1-lagscope"))
    sentence, _ = answer_of(runs, "median_ns", az.summarize(runs, "median_ns"), "median", "ns")
    assert "zones 1a–1b **384–386 µs**" in sentence and "inside zone 1a **74 µs**" in sentence


def test_many_groups_are_a_range_and_paths_without_zones_have_their_names() -> None:
    runs = pd.DataFrame({"path": list("abcdef"), "method": "ping", "median_ns": [10.0**power for power in range(6)]})
    text = say(groups(main_method(runs, "median_ns"), runs), "ns")
    assert text == "from **1.00 ns** (a) to **100 µs** (f)"


@pytest.mark.costly
def test_pairs_of_regions_are_called_regions_and_a_group_has_both_ends_of_its_values() -> None:
    runs = az.studies.newest_windows(az.latency(load(FEW_REGIONS)))
    # regions.csv.gz, window_end 2026-08-16: Osaka to Tokyo 9, Chennai to Sao Paulo 363, Sao Paulo to Chennai 369
    text = "from **9 ms** (regions Osaka–Tokyo) to **363–369 ms** (regions Chennai–Sao Paulo)"
    assert say(groups(main_method(runs, "mean_ns"), runs), "ns") == text
    zones = az.studies.newest_windows(az.latency(load("ibm-cloud-zones")))
    # zones.csv.gz, the same window: 0.13 and 0.14 ms for three pairs each of Chennai and of Montreal
    assert say(groups(main_method(zones, "mean_ns"), zones), "ns").startswith("from **130–140 µs** (6 pairs of zones)")


def test_what_never_crossed_the_network_is_no_answer() -> None:
    runs = az.latency(load("westeurope-azure-cni"))
    main = main_method(runs, "median_ns")
    assert "Single node" in values_of(main) and not any("Single" in group.name for group in groups(main, runs))


def test_a_run_that_lost_most_of_its_probes_is_the_slowest_one() -> None:
    """Two pages that left it out of the median contradicted the card, which did not."""
    runs = pd.DataFrame({"path": "a", "method": "ping", "median_ns": [1e6, 2e6, float("inf")]})
    main = main_method(runs, "median_ns", az.summarize(runs, "median_ns"))
    assert values_of(main) == {"a": 2e6} and ranges_of(main) == {"a": (1e6, 2e6)}


def test_the_number_of_runs_is_said_in_words() -> None:
    runs = pd.DataFrame({"path": list("abbb"), "method": "ping", "median_ns": 1e5})
    assert run_counts(main_method(runs.drop_duplicates("path"), "median_ns"), runs) == "one run each"
    assert run_counts(main_method(runs, "median_ns"), runs) == "1 to 3 runs each"
    assert run_counts(main_method(runs[runs["path"] == "b"], "median_ns"), runs) == "3 runs"
