"""Page 01: latency, with numbers read in the raw logs."""

from __future__ import annotations

import math
from itertools import pairwise

import pandas as pd
import pytest
from helpers.chart_checks import again, assert_fit_to_print
from helpers.results import NOTHING
from helpers.studies import load
from helpers.tables import cell, logs_behind

import azlatency as az
from azlatency.kit.cells import Table
from azlatency.kit.drawing.palette import looks
from azlatency.kit.objects import Chart, Note
from azlatency.pages import common
from azlatency.pages import latency as page
from azlatency.site.provenance import StudyLogs
from azlatency.stats.within_run.distribution_shape import run_histograms
from azlatency.studies.store.study import Study

RUN = "AZ1 - AZ3, sockperf TCP 14 B"


@pytest.fixture(scope="module")
def cni_latency(cni: Study) -> pd.DataFrame:
    return az.latency(cni)


@pytest.fixture(scope="module")
def echo() -> Study:
    return load("uksouth-echo-latency")


def test_a_printed_mean_keeps_its_digits_and_unit(cni: Study, cni_latency: pd.DataFrame) -> None:
    # az1-az3/sockperf.log: "====> avg-latency=698.945 (std-dev=49.453"
    table = page.printed(cni, cni_latency)
    assert (cell(table, RUN, "mean"), cell(table, RUN, "unit"), cell(table, RUN, "sd")) == ("698.945", "usec", "49.453")
    assert cell(table, RUN, "quantity") == "RTT/2" and cell(table, RUN, "n") == "6,829"
    assert logs_behind(cni, table, RUN) == {"az1-az3/sockperf.log"}


def test_a_median_of_half_round_trips_is_shown_as_a_round_trip(cni: Study, cni_latency: pd.DataFrame) -> None:
    # "percentile 50.000 =  700.618", printed as RTT/2
    curves = az.stats.printed_quantiles(cni.quantiles, cni.metrics, labels=cni_latency[["path", "method"]])
    table = common.printed_percentiles(curves)
    assert cell(table, f"{RUN}, p50", "RTT, µs") == "1,401.236"
    assert logs_behind(cni, table, f"{RUN}, p50") == {"az1-az3/sockperf.log"}
    typical = page.paths(cni_latency, az.summarize(cni_latency, "median_ns"))
    assert cell(typical, "AZ1 - AZ3", "median RTT per run, µs") == "1,401.2"


def test_a_path_without_medians_has_an_empty_range(cni: Study, cni_latency: pd.DataFrame) -> None:
    estimates = az.summarize(cni_latency, "median_ns")
    without = cni_latency.assign(median_ns=cni_latency["median_ns"].where(cni_latency["path"] != "AZ1 - AZ3"))
    table = page.paths(without, estimates)
    assert cell(table, RUN, "median RTT per run, µs") == ""


def test_a_percentile_that_is_the_maximum_is_not_supported(cni: Study, cni_latency: pd.DataFrame) -> None:
    # 6,829 observations: "percentile 99.999 = 1862.908" is also "<MAX> observation = 1862.908"
    curves = az.stats.printed_quantiles(cni.quantiles, cni.metrics, labels=cni_latency[["path", "method"]])
    assert cell(page.unresolved(curves), f"{RUN}, p99.999", "RTT, µs") == "3,725.816"


def test_a_study_without_latency_has_notes(echo: Study) -> None:
    runs = az.latency(echo)
    assert isinstance(page.printed(echo, runs), Note)
    assert isinstance(page.paths(runs, NOTHING), Note) and isinstance(common.printed_percentiles(NOTHING), Note)


def test_repeats_of_a_path_are_distinguished_and_maxima_have_their_own_column() -> None:
    study = load("emulated-zones")
    runs = az.latency(study)
    table = page.printed(study, runs[runs["tool"] == "lagscope"])
    assert isinstance(table, Table)
    names = [row[0] for row in table.cells]
    assert len(set(names)) == len(names) == 24 and names[0].endswith(", round 1")
    maxima = table.headers.index("maximum, not percentile")
    # lagscope/az1a-az1b round 1: 1,000 pings, so p99.99 and p99.999 are the maximum.
    assert table.cells[0][maxima] == "p99.99, p99.999"
    assert not [cell for row in table.cells for cell in row if "†" in cell]


def test_runs_that_print_no_statistic_are_counted_and_not_listed() -> None:
    study = load("emulated-zones")
    runs = az.latency(study)
    samples_only = runs[runs["tool"] == "echo"]
    table = page.printed(study, runs)
    assert isinstance(table, Table)
    assert len(table.cells) == len(runs) - len(samples_only)
    assert all(any(value not in ("", "–") for value in row[4:-1]) for row in table.cells)
    assert f"Not listed: {len(samples_only)} runs print single observations and no statistic." in table.notes
    assert isinstance(page.printed(study, samples_only), Note)


def test_the_number_of_observations_leads_to_its_own_line() -> None:
    zones = load("westeurope-availability-set-vs-zones")
    runs = az.latency(zones)
    table = page.printed(zones, runs[runs["file"] == "availability-set/sockperf-m1400.log"])
    assert isinstance(table, Table)
    record = table.record()
    [row] = record["rows"]
    refs = row["cell_refs"][str([column["header"] for column in record["columns"]].index("n"))]
    # Line 16: "Total 1842588 observations"
    assert row["cells"][3] == "1,842,588" and [place.line for place, _ in StudyLogs(zones).index.find(refs)] == [16]


AT = pd.to_datetime("2026-01-01") + pd.to_timedelta(range(12), unit="h")


def _runs(path: str, values: list[float]) -> pd.DataFrame:
    return pd.DataFrame({"path": path, "method": "ping 56 B", "started_at": AT, "median_ns": values, "mean_ns": values})


def test_runs_that_resemble_their_neighbours_are_drawn_first_and_named() -> None:
    rising = _runs("b → c", [1e6 + 1e4 * step for step in range(12)])
    mixed = _runs("a → b", [5e5, 6e5, 5.1e5, 5.9e5, 5.2e5, 5.8e5, 5.3e5, 5.7e5, 5.4e5, 5.6e5, 5.45e5, 5.55e5])
    # The rows of a frame may have any order; the time of measuring decides.
    runs = pd.concat([mixed, rising.sample(frac=1, random_state=1)], ignore_index=True)
    ordered = az.summarize(runs)
    chart = page.order_of_runs(runs, ordered)
    assert isinstance(chart, Chart) and "in 1 of 2 series" in str(chart.title)
    assert chart.alt.splitlines()[0].startswith("b → c, ping 56 B: 1,000, 1,010, 1,020")
    assert ordered["lag1_p"][0] > 0.05 and ordered["lag1_p"][1] <= 1e-3
    headings = " ".join(axis.get_title(loc="left") for axis in chart.figure.axes)
    assert "p < 0.001" in headings and "p = 0.000" not in headings
    text = str(page.runs_in_order(ordered))
    assert "drift" in text
    sentences = str(page.find(runs, ordered, NOTHING, NOTHING))
    assert "1 of 2 paths and methods: b → c (ping 56 B)" in sentences


def test_few_runs_and_runs_without_an_order_are_not_tested() -> None:
    few = _runs("a → b", [1e6 + step for step in range(12)])[:5]
    assert isinstance(page.order_of_runs(few, az.summarize(few)), Note)
    note = page.runs_in_order(az.summarize(few))
    assert isinstance(note, Note) and "assumes independent runs" in str(note)
    unordered = _runs("a → b", [1e6 + step for step in range(12)]).drop(columns="started_at")
    ordered = az.summarize(unordered)
    assert isinstance(page.order_of_runs(unordered, ordered), Note)
    assert isinstance(page.runs_in_order(ordered), Note)


@pytest.mark.costly
@pytest.mark.usefixtures("laid_out")
def test_the_configured_delay_is_drawn_in_an_emulated_study() -> None:
    study = load("emulated-zones")
    runs = az.latency(study)
    chart = page.order_of_runs(runs, az.summarize(runs), az.studies.configured_links(study))
    assert isinstance(chart, Chart) and "Dotted: configured round-trip delay" in chart.caption
    assert_fit_to_print("runs in order", chart)
    delays = {}
    for axis in chart.figure.axes:
        for line in axis.lines:
            if line.get_linestyle() == ":":
                delays[axis.get_title("left").split(",")[0]] = float(line.get_ydata()[0])
    # truth.json: 85 + 85 µs, 375 + 375 µs, 325 + 445 µs, and 25 + 25 µs inside a zone.
    expected = {frozenset("12"): 170, frozenset("13"): 750, frozenset("23"): 770, frozenset("1"): 50}
    assert delays == {path: expected[frozenset(path) & frozenset("123")] for path in delays} != {}


def test_printed_percentiles_are_drawn_as_round_trips(cni: Study, cni_latency: pd.DataFrame) -> None:
    curves = az.stats.printed_quantiles(cni.quantiles, cni.metrics, labels=cni_latency[["path", "method"]])
    chart = page.percentile_curves(curves)
    # single-node/sockperf.log: "percentile 50.000 =   16.493" and "percentile 99.000 =   24.549", printed as RTT/2
    assert isinstance(chart, Chart) and "Single node, sockperf TCP 14 B, n = 283,507" in chart.alt
    assert "p50 32.986 [" in chart.alt and "p99 49.098 [" in chart.alt
    assert chart.title.startswith("sockperf TCP 14 B: p99 of single runs from 49.1 µs (Single node) to ")


def _percentiles(*rows: tuple[str, str, float, float]) -> pd.DataFrame:
    """Percentiles without intervals: path, method, level, µs."""
    frame = pd.DataFrame(rows, columns=["path", "method", "q", "estimate"])
    return frame.assign(
        run_id=frame["method"] + frame["path"],
        estimate=1e3 * frame["estimate"],
        low=float("nan"),
        high=float("nan"),
        n=1000,
        confidence=0.95,
        statistic="",
        flags="",
    )


def test_the_method_of_the_title_comes_first_the_others_in_the_order_of_the_data() -> None:
    methods = ["ping", "sockperf", "qperf", "netperf", "latte", "echo"]
    chart = page.percentile_curves(_percentiles(*(("a → b", method, 0.99, 100.0) for method in methods)))
    assert isinstance(chart, Chart)
    assert [axis.get_title("left") for axis in chart.figure.axes] == ["sockperf", "ping", *methods[2:]]
    assert chart.title.startswith("sockperf: ")


def test_each_name_stands_beside_a_piece_of_its_line_in_the_order_of_the_ends() -> None:
    """The panels share an axis whose limits only the last panel makes final."""
    rows = [
        (path, method, q, scale * time)
        for method, scale in (("near", 1.0), ("far", 1e3))
        for path, factor in (("a → b", 50.0), ("b → a", 60.0), ("a → c", 500.0))
        for q, time in ((0.5, factor), (0.99, 3 * factor))
    ]
    chart = page.percentile_curves(_percentiles(*rows))
    assert isinstance(chart, Chart) and chart.title.startswith("near: ") and "(a → c)" in chart.title
    look = looks(["a → b", "b → a", "a → c"])
    for axis in chart.figure.axes:
        pieces = {path: line for line in axis.lines for path in look if line.get_gid() == f"end of {path}"}
        assert {path: piece.get_color() for path, piece in pieces.items()} == {path: look[path].colour for path in look}
        heights = [pieces[path].get_window_extent().y0 for path in ("a → b", "b → a", "a → c")]
        assert heights == sorted(heights)


def test_studies_without_samples_have_a_note() -> None:
    study = load("westeurope-azure-cni")
    assert isinstance(page.run_shapes(run_histograms(study, az.latency(study))), Note)


def test_each_run_is_drawn_with_its_size() -> None:
    study = az.studies.select(load("emulated-zones"), "az1a -> az2a")
    histograms = run_histograms(study, az.latency(study))
    chart = page.run_shapes(histograms)
    assert isinstance(chart, Chart) and "az1a → az2a" in chart.alt


@pytest.mark.costly
def test_every_path_has_a_curve_if_there_are_more_runs_than_a_chart_shows() -> None:
    study = load("emulated-zones")
    histograms = run_histograms(study, az.latency(study))
    chart = page.run_shapes(histograms)
    assert isinstance(chart, Chart) and f"36 of {len(histograms.runs)} runs" in chart.caption
    assert {line.split(",")[0] for line in chart.alt.splitlines()} == set(histograms.runs["path"])


def test_single_runs_and_maxima_are_named(cni: Study, cni_latency: pd.DataFrame) -> None:
    curves = az.stats.printed_quantiles(cni.quantiles, cni.metrics, labels=cni_latency[["path", "method"]])
    medians, means = (az.summarize(cni_latency, value) for value in ("median_ns", "mean_ns"))
    text = str(page.find(cni_latency, medians, means, curves))
    # az2-az3/sockperf.log: "Total 6738 observations", percentile 99.999 = <MAX> = 1149.838
    assert "the largest of 6,738 observations" in text and "p99.999 of AZ2 - AZ3" in text
    # sockperf.log of AZ1 - AZ2 prints percentile 50 = 52.518 us, half of a round trip; each path has one run.
    assert "zones 1–2: **105 µs**" in text and "one run each" in text
    assert "Measured once" not in text  # the answer says it


def test_a_study_without_latency_has_one_finding_for_information(echo: Study) -> None:
    (finding,) = page.find(az.latency(echo), NOTHING, NOTHING, NOTHING).findings
    assert finding.kind == "info"


def test_the_answer_says_the_method_that_measured_the_most_paths_and_runs() -> None:
    spreads = {"sockperf TCP": 1e3, "ping 56 B": 20e3, "echo TCP": 5e3}
    rows = [
        {"path": "a → b", "method": method, "median_ns": 450e3 + spread * step, "mean_ns": 460e3}
        for method, spread in spreads.items()
        for step in range(6)
    ]
    runs = pd.DataFrame([*rows, {"path": "a → c", "method": "ping 56 B", "median_ns": 700e3, "mean_ns": 700e3}])
    answer, *others = page.find(runs, az.summarize(runs, "median_ns"), NOTHING, NOTHING).findings
    assert answer.kind == "answer" and len(answer.text.split()) <= 30
    assert answer.text == "Median round trip: a → b **500 µs**; a → c **700 µs** (ping 56 B, 1 to 6 runs each)."
    assert "Measured once with ping 56 B: a → c." in str(others)


def test_the_first_runs_that_lie_apart_are_named() -> None:
    times = [492e3, 478e3, 463e3, 450e3, 452e3, 451e3, 449e3, 448e3, 449.5e3, 451.5e3, 450.5e3, 450.2e3]
    starts = pd.date_range("2026-11-01", periods=len(times), freq="h", tz="UTC")
    runs = pd.DataFrame(
        {"path": "a → b", "method": "ping 56 B", "median_ns": times, "mean_ns": times, "started_at": starts}
    )
    text = str(page.find(runs, az.summarize(runs, "median_ns"), NOTHING, NOTHING))
    assert (
        "a → b, ping 56 B: the first 3 runs in measuring order lie apart from all later runs; leave them out." in text
    )


@pytest.mark.costly
def test_a_published_series_is_described_by_its_newest_window() -> None:
    runs = az.studies.newest_windows(az.latency(load("ibm-cloud-zones")))
    means = az.summarize(runs, "mean_ns")
    findings = page.find(runs, NOTHING, means, NOTHING.assign(flags=[])).findings
    # zones.csv.gz, window_end 2026-08-16: 0.13 and 0.14 ms in Chennai and Montreal, 2.01 and 2.16 ms from dal10.
    assert findings[0].text.startswith(
        "Mean round trip: from **130–140 µs** (6 pairs of zones) to **2,010–2,160 µs** ("
    )
    assert findings[0].text.endswith("(netperf (table) TCP_RR, the 30 days to 2026-08-16).")
    # Neither to leave out first windows nor to repeat any; the source has one number for both ways.
    assert [finding.kind for finding in findings] == ["answer", "info"] and "not a direction" in findings[1].text
    table = page.paths(runs, means)
    assert cell(table, "us-south-dal10-a → us-south-dal13-a", "mean RTT per window, µs") == "2,160"
    assert cell(table, "us-south-dal10-a → us-south-dal13-a", "flags") == ""


@pytest.mark.costly
@pytest.mark.usefixtures("laid_out")
def test_many_zones_in_a_column_name_some_of_the_columns() -> None:
    """40 zones beside each other have 100 px of a telephone: every third one is named, as the rows name all."""
    zones = [f"zone{number:02}" for number in range(40)]
    pairs = [(one, two) for one in zones for two in zones if one != two]
    ends = pd.DataFrame(pairs, columns=["zone", "peer_zone"])
    runs = ends.assign(path=ends.index.astype(str), method="ping", region="r", peer_region="r", median_ns=1e6)
    chart = again(common.zone_matrix(runs.assign(placement="cross_zone"), NOTHING), width="single")
    assert isinstance(chart, Chart)
    axis = chart.figure.axes[0]
    named = [bool(text.get_text()) for text in axis.get_xticklabels()[:40]]
    assert named == [place % 3 == 0 for place in range(40)]
    boxes = [text.get_window_extent() for text in axis.get_xticklabels()[:40:3]]
    assert all(left.x1 <= right.x0 for left, right in pairwise(boxes))


@pytest.mark.slow
def test_both_ways_of_a_published_series_keep_their_arrow() -> None:
    runs = az.studies.newest_windows(az.latency(load("ibm-cloud-regions")))
    means = az.summarize(runs, "mean_ns")
    assert "not a direction" not in str(page.find(runs, NOTHING, means, NOTHING.assign(flags=[])))
    chart = common.zone_matrix(runs, means, "mean_ns")
    assert isinstance(chart, Chart) and chart.title.startswith("Mean round trip by pair of regions: 9–369 ms")
    forest = common.typical_forest(runs, means, "mean_ns")
    assert isinstance(forest, Chart) and "as published for the 30 days to 2026-08-16" in forest.caption


def test_a_title_of_percentiles_has_the_numbers_of_the_runs_that_are_drawn() -> None:
    """Of more pairs than there are colours, the longest path of another method is not drawn."""
    near = [(f"a{place} → b{place}", "ping", 0.99, 100.0 + place) for place in range(9)]
    chart = page.percentile_curves(_percentiles(*near))
    assert isinstance(chart, Chart) and "Shown: 6 of 9 runs" in chart.caption
    drawn = [float(line.rpartition("p99 ")[2].removesuffix(" µs")) for line in chart.alt.splitlines()]
    assert chart.title == f"ping: p99 of single runs {min(drawn):.0f}–{max(drawn):.0f} µs (6 paths)"


def test_bands_are_spoken_of_where_one_is_drawn() -> None:
    levels = pd.DataFrame({"run_id": "r1", "path": "a → b", "method": "ping", "q": [0.5, 0.99], "estimate": [1e5, 2e5],
                           "low": math.nan, "high": math.nan, "n": 200, "flags": "", "confidence": 0.95})  # fmt: skip
    many = pd.concat([levels.assign(run_id=f"r{number}") for number in range(11)], ignore_index=True)
    both = pd.concat([many, levels.assign(run_id="s", method="echo", low=9e4, high=3e5)], ignore_index=True)
    bare, banded = (page.percentile_curves(frame, samples=True) for frame in (many, both))
    assert isinstance(bare, Chart) and "band" not in bare.caption.lower()
    assert isinstance(banded, Chart) and "Panels of more than 10 runs have no bands." in banded.caption
