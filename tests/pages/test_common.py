"""What pages 01 to 03 share, with numbers read in the raw logs."""

from __future__ import annotations

import pandas as pd
import pytest
from helpers.results import NOTHING
from helpers.studies import load
from helpers.tables import cell, logs_behind

import azlatency as az
from azlatency.kit.cells import Table
from azlatency.kit.objects import Chart, Note
from azlatency.pages import common
from azlatency.studies.store.study import Study


def test_the_typical_run_has_the_digits_of_its_interval_and_the_logs_of_its_runs(cni: Study) -> None:
    # Line 24 of az1-az2/sockperf.log: percentile 50.000 = 52.745 is RTT/2.
    runs = az.latency(cni)
    table = common.typical_runs(runs, az.summarize(runs, "median_ns"), "median_ns", "median RTT per run", "Typical RTT")
    (row,) = (row for row in table.cells if row[:2] == ("AZ1 - AZ2", "sockperf TCP 14 B"))
    assert row[2] == "105.49" and "one run" in row[-1]
    assert logs_behind(cni, table, "AZ1 - AZ2, sockperf") == {"az1-az2/sockperf.log"}


def test_equal_runs_have_no_interval_but_a_value() -> None:
    runs = pd.DataFrame({"path": "a → b", "method": "ping", "median_ns": [1e5] * 6, "run_id": list("abcdef")})
    typical = az.summarize(runs, "median_ns").assign(low=1e5, high=1e5)
    table = common.typical_runs(runs, typical, "median_ns", "median per run", "Typical RTT")
    assert cell(table, "a → b", "median per run, µs") == "100" == cell(table, "a → b", "typical run, µs")
    assert cell(table, "a → b", "95 % interval, µs") == ""


def test_a_printed_percentile_names_its_line_and_the_line_of_its_count(cni: Study) -> None:
    curves = az.stats.printed_quantiles(cni.quantiles, cni.metrics, labels=az.latency(cni)[["path", "method", "name"]])
    note = common.printed_percentiles(curves[curves["q"] == 0.5], (0.99, 0.999))
    assert str(note) == "No log of this study prints percentiles such as p99 and p99.9."
    table = common.printed_percentiles(curves, (0.99,))
    assert isinstance(table, Table)
    row = table.record()["rows"][0]
    (run_id,) = row["refs"][0]["run_ids"]
    assert row["refs"] == [{"ref": "RunsRef", "run_ids": (run_id,), "q": 0.99}]
    assert row["cell_refs"]["2"] == [{"ref": "RunsRef", "run_ids": (run_id,), "value": "n"}]
    assert isinstance(common.printed_percentiles(NOTHING), Note)


def test_each_square_has_the_value_of_its_direction_and_its_interval() -> None:
    runs = az.throughput(load("emulated-zones"), sender_only=True)
    typical = az.summarize(runs, "throughput_bit_s")
    chart = common.zone_matrix(runs, typical, "throughput_bit_s")
    assert isinstance(chart, Chart) and "zone 3 → zone 2" not in chart.alt and "3 → 2 0.495 [" in chart.alt
    shown = [text.get_text() for text in chart.figure.axes[0].texts]
    slow = typical.set_index(["path", "method"]).loc[("az3a → az2a", "iperf3 TCP")]
    assert "0.495" in shown and f"{slow['low'] / 1e9:.3f}–{slow['high'] / 1e9:.3f}" in shown
    assert "12 runs each" in chart.title and "Below: the 95 % interval." in chart.caption


def test_the_title_of_a_matrix_names_the_range_of_its_squares() -> None:
    """Medians of sockperf, twice 33.408 and 711.131; those of one host, twice 16.493, are between no zones."""
    runs = az.latency(load("westeurope-azure-cni"))
    chart = common.zone_matrix(runs, az.summarize(runs))
    assert isinstance(chart, Chart) and chart.title.startswith("Median round trip by pair of zones: 66.8–1,422 µs")
    runs = az.latency(load("aws-euwest1-lagscope"))
    chart = common.zone_matrix(runs, az.summarize(runs, "p99_ns"), "p99_ns")
    assert isinstance(chart, Chart) and chart.title.startswith("99th percentile by pair of zones: 102–505 µs")
    # The newest mean from Chennai to Dallas is printed as 248 ms: title, squares and text alternative have one unit.
    runs = az.latency(load("ibm-cloud-regions"))
    chart = common.zone_matrix(runs, az.summarize(runs, "mean_ns"), "mean_ns")
    assert isinstance(chart, Chart) and "Chennai → Dallas 248 [" in chart.alt and chart.alt.endswith(" ms")


def test_two_pairs_and_less_than_the_wanted_share_are_no_matrix(cni: Study) -> None:
    runs = az.latency(load("westeurope-availability-set-vs-zones"))
    assert isinstance(common.zone_matrix(runs, az.summarize(runs)), Note)
    runs = az.latency(cni)
    assert isinstance(common.zone_matrix(runs, az.summarize(runs), filled=0.5), Note)


@pytest.mark.slow
def test_fifty_zones_are_shades_with_their_names_on_all_sides() -> None:
    zones = [f"z{place:02d}" for place in range(50)]
    pairs = [(a, b) for a in zones for b in zones[::7] if a != b]
    runs = pd.DataFrame(pairs, columns=["zone", "peer_zone"]).assign(
        path=[" → ".join(pair) for pair in pairs],
        method="ping",
        region="r",
        peer_region="r",
        placement="cross_zone",
        median_ns=[1e5 + 1e4 * abs(int(a[1:]) - int(b[1:])) for a, b in pairs],
    )
    chart = common.zone_matrix(runs, NOTHING)
    assert isinstance(chart, Chart) and "Light: 110 µs; dark: 590 µs" in chart.caption
    axis = chart.figure.axes[0]
    assert not axis.texts and [text.get_text() for text in axis.get_yticklabels()] == [*zones, *zones]
    more = runs.assign(zone=[f"{zone}{place % 2}" for place, zone in enumerate(runs["zone"])], path=runs.index.map(str))
    note = common.zone_matrix(more, NOTHING)
    assert isinstance(note, Note) and "zones are too many" in note.text
    # Pairs within regions of three zones each fill little of a matrix of all zones.
    few = runs[runs["zone"].str[1:].astype(int) // 3 == runs["peer_zone"].str[1:].astype(int) // 3]
    few = pd.concat([few.assign(zone=f"{region}{few['zone'].iloc[0]}", peer_zone=region) for region in "abcdefgh"])
    few = few.assign(path=range(len(few)))
    note = common.zone_matrix(few.astype({"path": str}), NOTHING)
    assert isinstance(note, Note) and "most pairs of zones were not measured" in note.text


def test_medians_are_named_with_their_paths(cni: Study) -> None:
    # az1-az3/sockperf.log: "percentile 50.000 =  700.618", printed as RTT/2
    runs = az.latency(cni)
    chart = common.typical_forest(runs, az.summarize(runs, "median_ns"))
    assert isinstance(chart, Chart) and "sockperf TCP 14 B: " in chart.alt and "AZ1 - AZ3, 1,401.2 µs" in chart.alt


def test_goodput_is_drawn_with_the_expected_bandwidth(cni: Study) -> None:
    runs = az.throughput(cni)
    typical = az.summarize(runs, "throughput_bit_s")
    chart = common.typical_forest(runs, typical, "throughput_bit_s", expected=4e9)
    assert isinstance(chart, Chart) and "4 Gbit/s expected of the VM" in chart.caption
    (line,) = (line for line in chart.alt.splitlines() if line.startswith("iperf3 TCP: "))
    assert "AZ1 - AZ3, 7.91 Gbit/s" in line
    dashed = [line for line in chart.figure.axes[0].lines if line.get_linestyle() == "--"]
    assert [list(line.get_xdata()) for line in dashed] == [[4, 4]]


@pytest.mark.costly
def test_the_title_counts_the_paths_that_are_left_out() -> None:
    runs = pd.DataFrame(
        {
            "path": [f"a → {place}" for place in range(100)],
            "method": "ping",
            "median_ns": [1e6 - 1e3 * place for place in range(100)],
        }
    )
    chart = common.typical_forest(runs, NOTHING)
    assert isinstance(chart, Chart) and "of 100 paths and methods" in chart.caption
    assert chart.figure.get_size_inches()[1] < 10 and "901–1,000 µs (100 paths)" in chart.title
    # Paths that the title names are among those that are drawn.
    values = {"a → 7": 1e5, "a → 50": 1.01e5, "a → 51": 9e6, "a → 77": 9.01e6}
    chart = common.typical_forest(runs.assign(median_ns=runs["path"].map(values).fillna(1e6)), NOTHING)
    assert isinstance(chart, Chart) and "(a → 7, a → 50)" in chart.title and "(a → 51, a → 77)" in chart.title
    assert all(f"{path}, " in chart.alt for path in values)


def test_the_title_says_the_estimate_that_is_drawn() -> None:
    medians = {"a → b": [1e6, 1.1e6, 1.2e6, 1.5e6], "a → c": [2e6, 2.1e6, 3e6, 3.2e6]}
    rows = [(path, "ping", median) for path, values in medians.items() for median in values]
    runs = pd.DataFrame(rows, columns=["path", "method", "median_ns"])
    typical = az.summarize(runs, "median_ns")
    chart = common.typical_forest(runs, typical)
    # 2.55 ms: its interval supports tenths, here and in the table.
    table = common.typical_runs(runs, typical, "median_ns", "median per run", "Typical RTT")
    assert cell(table, "a → c", "typical run, µs") == "2,600"
    assert isinstance(chart, Chart)
    assert chart.title == "ping: median round trip from 1.15 ms (a → b) to 2.6 ms (a → c)"


def test_an_interval_that_is_smaller_than_the_dots_can_be_read() -> None:
    runs = pd.DataFrame({"path": "a → b", "method": "ping", "median_ns": [830e3 + 1e3 * place for place in range(8)]})
    typical = az.summarize(runs, "median_ns")
    assert list(typical[["low", "high"]].round(-2).iloc[0] / 1e3) == [830.7, 836.3]
    more = runs.assign(path="a → c", median_ns=840e3 + 1e3 * runs.index)
    both = pd.concat([runs, more], ignore_index=True)
    chart = common.typical_forest(both, az.summarize(both, "median_ns"))
    assert isinstance(chart, Chart) and "Smallest first, by the typical run before rounding." in chart.caption
    assert any(item.get_text() == "834 (831–836)" for item in chart.figure.axes[0].texts)


def test_the_files_behind_a_page_are_listed_with_their_sizes(latte: Study, echo: Study) -> None:
    table = common.provenance(latte)
    # `wc -c`: sender.log 307 bytes, receiver.log 304 bytes
    sizes = tuple(cell(table, name, "bytes, unpacked") for name in ("sender.log", "receiver.log"))
    assert sizes == ("307", "304")
    # `gzip -l`: 79,235 bytes packed, 1,089,249 unpacked; `sha256sum` of the packed file.
    packed = common.provenance(load("ibm-cloud-regions"))
    assert cell(packed, "regions.csv.gz", "bytes, unpacked") == "1,089,249"
    assert cell(packed, "regions.csv.gz", "SHA-256 of the file (first 16 digits)") == "6ca5062084446761"
    assert isinstance(common.provenance(echo), Note)


@pytest.mark.usefixtures("laid_out")
def test_the_forest_of_an_emulated_study_draws_what_was_configured() -> None:
    links = az.studies.configured_links(load("emulated-zones"))
    runs = pd.DataFrame(
        {"path": "az2a → az3a", "method": "ping", "median_ns": [8e5, 9e5], "p99_ns": [9e5, 1e6], "placement": None}
    )
    chart = common.typical_forest(runs, az.summarize(runs, "median_ns"), links=links)
    # truth.json: 325 µs one way, 445 µs the other
    assert isinstance(chart, Chart) and "link as first configured" in chart.caption
    assert "configured 770 µs" in chart.svg()
    for value, configured in (("median_ns", pd.DataFrame()), ("p99_ns", links)):
        chart = common.typical_forest(runs, az.summarize(runs, value), value, links=configured)
        assert isinstance(chart, Chart) and "configured" not in chart.caption


@pytest.mark.costly
def test_charts_print_no_digit_that_the_log_does_not_have() -> None:
    """The lagscope logs print whole µs: 74 µs inside zone 1a."""
    runs = az.latency(load("aws-euwest1-lagscope"))
    typical = az.summarize(runs, "median_ns")
    matrix, forest = common.zone_matrix(runs, typical), common.typical_forest(runs, typical)
    assert isinstance(matrix, Chart) and "1a → 1a 74;" in matrix.alt
    assert isinstance(forest, Chart) and "74" in [text.get_text() for text in forest.figure.axes[0].texts]
    assert "74.0" not in [text.get_text() for text in forest.figure.axes[0].texts]
    # iperf3 prints 7.91 and 11.8 Gbit/s in these runs, and the typical run of twelve may lie between two whole µs.
    streams = az.throughput(load("westeurope-azure-cni"))
    matrix = common.zone_matrix(streams, az.summarize(streams, "throughput_bit_s"), "throughput_bit_s")
    assert isinstance(matrix, Chart) and "3 → 1 7.91;" in matrix.alt and "1 → 1 11.8;" in matrix.alt
    repeated = az.latency(load("emulated-cloud"))
    matrix = common.zone_matrix(repeated, az.summarize(repeated, "median_ns"))
    assert isinstance(matrix, Chart) and "2 → 2 98–100 [93, 138]" in matrix.alt
