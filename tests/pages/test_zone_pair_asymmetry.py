"""Page 04: both directions, with numbers read in the raw logs and in what the emulator was configured to."""

from __future__ import annotations

import pandas as pd
import pytest
from helpers.chart_checks import assert_fit_to_print
from helpers.studies import load
from helpers.tables import cell

import azlatency as az
from azlatency.kit.cells import Table
from azlatency.kit.objects import Chart, Note
from azlatency.pages import zone_pair_asymmetry as page
from azlatency.stats.across_runs.asymmetry import Asymmetry
from azlatency.studies.store.study import Study

NO_LINKS = pd.DataFrame()


@pytest.fixture(scope="module")
def zones() -> Study:
    return load("emulated-zones")


@pytest.fixture(scope="module")
def found(zones: Study) -> Asymmetry:
    return az.asymmetry(zones)


@pytest.fixture(scope="module")
def links(zones: Study) -> pd.DataFrame:
    return az.studies.configured_links(zones)


@pytest.fixture(scope="module")
def steps(zones: Study, links: pd.DataFrame) -> pd.DataFrame:
    return az.stats.emulated_differences(links, az.studies.recorded_round_trips(zones), az.latency(zones))


def test_a_study_measured_one_way_lists_what_it_lacks(cni: Study) -> None:
    found = az.asymmetry(cni)
    table = page.directions(found)
    assert cell(table, "latency, sockperf TCP 14 B", "ends") == "3"
    assert cell(table, "latency, sockperf TCP 14 B", "pairs of zones, both ways") == "0"
    assert isinstance(page.both_ways(found), Note) and isinstance(page.asymmetry_forest(found, NO_LINKS), Note)
    (finding,) = page.find(found, NO_LINKS).findings
    assert finding.kind == "act" and "both" in finding.text


def test_a_study_without_paths_has_notes() -> None:
    nothing = az.asymmetry(load("cassandra-vm-baseline"))
    for note in (page.directions(nothing), page.ranks(nothing), page.both_ways(nothing)):
        assert isinstance(note, Note)
    assert "run each tool from both ends" in str(page.find(nothing, NO_LINKS))


def test_table_picture_and_sentence_say_the_same_row(found: Asymmetry, links: pd.DataFrame) -> None:
    rows = found.pairs[(found.pairs["metric"] == "throughput") & (found.pairs["what"] == "az2a → az3a over back")]
    (row,) = rows[rows["method"] == "iperf3 TCP"].to_dict("records")
    assert row["verdict"] == "different" and f"{row['ratio']:.3f}" == "1.991"
    table, chart = page.both_ways(found, "throughput"), page.asymmetry_forest(found, links, "throughput")
    assert cell(table, "az2a ↔ az3a, iperf3 TCP", "typical ratio of a round") == "1.991"
    assert cell(table, "az2a ↔ az3a, iperf3 TCP", "interval") == "1.947 – 2.000"
    assert isinstance(chart, Chart) and "iperf3 TCP 1.991 [1.947, 2], different" in chart.alt
    assert chart.title.endswith("most az2a → az3a against the way back, 1.99× as much (iperf3 TCP)")
    assert "az2a → az3a carries **1.99×** the reverse goodput (iperf3 TCP)" in str(page.find(found, links))


def test_the_emulated_network_and_its_configuration(found: Asymmetry, links: pd.DataFrame, steps: pd.DataFrame) -> None:
    assert links.loc["az3a → az2a", "delay_ns"] - links.loc["az2a → az3a", "delay_ns"] == 120e3
    assert "is configured 120 µs slower than the other" in str(page.find(found, links, steps))
    chart = page.asymmetry_forest(found, links, "throughput")
    assert isinstance(chart, Chart) and "×: ratio of the configured links." in chart.caption
    table = page.emulated_differences(steps)
    assert isinstance(table, Table)
    assert {ref.get("key") for ref in table.record()["rows"][0]["refs"]} >= {"az1a->az2a", "az2a->az1a"}


@pytest.mark.usefixtures("laid_out")
def test_errors_of_the_emulated_paths_are_drawn_around_zero(steps: pd.DataFrame) -> None:
    chart = page.emulated_errors(steps)
    assert isinstance(chart, Chart)
    assert_fit_to_print("emulated errors", chart)
    judged = steps[steps["holds"].notna()]
    assert [axis.get_title("left") for axis in chart.figure.axes] == list(dict.fromkeys(judged["method"]))
    assert all(len(axis.get_yticks()) == 6 for axis in chart.figure.axes)
    for axis in chart.figure.axes:
        errors = [float(text.get_text().replace("−", "-")) for text in axis.texts]
        assert errors == sorted(errors)
    table = page.emulated_differences(steps)
    assert isinstance(table, Table) and len(table.cells) == len(judged)


def test_the_answer_says_the_largest_difference_of_round_trips_and_of_transfers() -> None:
    study = load("emulated-cloud")
    answer = page.find(az.asymmetry(study), az.studies.configured_links(study)).findings[0]
    assert answer.kind == "answer" and len(answer.text.split()) <= 30
    # No interval of a pair of zones reaches farther from 1 than 1.21; the measured ratios are 0.985 to 1.01.
    said = "Cross-zone RTT A→B, B→A may differ (inconclusive): intervals within **21 %** (ping 56 B, 95 % CI)"
    assert said in answer.text
    # Both paths from zone 2 to zone 3 carry 0.79 Gbit/s and back 0.40 Gbit/s, so neither is the most different.
    assert "az2a → az3a, az2b → az3b carry **1.99–2.00×** the reverse goodput" in answer.text


def test_a_large_difference_of_initiators_is_not_called_inconclusive() -> None:
    """Zone a waits three times as long for b as b for a, in each of eight rounds."""
    rows = [
        {"path": path, "zone": path[0], "peer_zone": path[-1], "round": number, "method": "m", "median_ns": value}
        for number in range(8)
        for path, value in (("a → b", 3e5 * (1 + number / 500)), ("b → a", 1e5 * (1 + number / 400)))
    ]
    text = page.find(az.asymmetry(pd.DataFrame(rows)), NO_LINKS).findings[0].text
    assert text == "RTT A→B and B→A differ by at most **200 %** (m, 95 % CI)."


def test_a_level_that_changed_is_looked_up_in_the_history() -> None:
    """From round 46 on, one direction has half the rate; one ratio over all rounds does not say so."""
    study = load("emulated-nights")
    text = str(page.find(az.asymmetry(study), az.studies.configured_links(study)))
    assert "Goodput of az2a ↔ az3a differs by direction and drifts: no one ratio holds" in text
    assert "see the page *History*" in text


def test_ratios_of_dependent_rounds_are_named(found: Asymmetry, links: pd.DataFrame) -> None:
    pairs = found.pairs[~found.pairs["same_zone"]]
    methods = set(pairs.loc[pairs["flags"].str.contains("dependent_runs"), "method"])
    lines = [line for line in str(page.find(found, links)).splitlines() if "Consecutive rounds" in line]
    assert methods == {"ping 56 B"} and len(lines) == 1 and "(ping 56 B)" in lines[0]
    assert "in a random order within each round" in lines[0]


def test_the_caption_explains_bars_only_where_there_are_some() -> None:
    once = page.asymmetry_forest(az.asymmetry(load("aws-euwest1-lagscope")), NO_LINKS)
    assert isinstance(once, Chart) and "Bar:" not in once.caption and "without a bar: not tested" in once.caption


@pytest.mark.slow
def test_windows_of_a_published_series_are_counted_each_way_and_have_no_known_machines() -> None:
    found = az.asymmetry(load("ibm-cloud-regions"))
    # regions.csv.gz: 36 windows of 30 days without overlap name Dallas to Frankfurt, and as many the reverse.
    table = page.both_ways(found)
    assert cell(table, "Dallas ↔ Frankfurt", "windows each way") == "36"
    assert cell(table, "Dallas ↔ Frankfurt", "flags") == "machines unknown, drift"
    chart = page.asymmetry_forest(found, NO_LINKS)
    assert (
        isinstance(chart, Chart)
        and "n = 6 to 36 windows each way." in chart.caption
        and "over windows" in chart.caption
    )
    text = str(page.find(found, NO_LINKS))
    assert "95 % CI, published means)" in text.splitlines()[0] and "does not say which machines it measured" in text
    assert "The same two machines" not in text and "random order" not in text


def test_a_direction_without_retransmits_has_none(found: Asymmetry) -> None:
    """iperf3 of emulated-zones: "retransmits": 0 in most rounds of az1a → az3a; 0.5 is an addend of the ratio."""
    table = page.both_ways(found, "retransmits")
    assert isinstance(table, Table)
    row = table.to_frame().set_index("pair").filter(like=", segments")
    assert (row == 0).any(axis=None) and not (row == 0.5).any(axis=None)
