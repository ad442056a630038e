"""One number has one definition: what the pages of each study show must not contradict itself."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Any

import nbformat
import numpy as np
import pandas as pd
import pytest
from helpers.places import ROOT
from helpers.results import NOTHING, estimates_of
from helpers.studies import load, load_card

import azlatency as az
from azlatency.kit.cells import Table
from azlatency.kit.groups import answer_of, main_method, ranges_of, values_of
from azlatency.kit.objects import Chart, Note
from azlatency.kit.sentences import plain_sentence
from azlatency.pages import (
    common,
    latency,
    placement,
    stability,
    summary,
    tail,
    throughput,
    vm_baseline,
    zone_pair_asymmetry,
)
from azlatency.stats.across_runs.main_method import measured_runs, rank_methods
from azlatency.studies.store.study import Study

STUDIES = (
    "canadacentral-proximity-placement", "cassandra-vm-baseline", "ec2-token-buckets", "uksouth-echo-latency",
    "westeurope-azure-cni", "westeurope-psping",
    # The others have what these have: runs of sockperf and of lagscope, or all of it.
    *(
        pytest.param(name, marks=pytest.mark.slow)
        for name in ("aws-euwest1-lagscope", "emulated-cloud", "emulated-zones", "westeurope-availability-set-vs-zones")
    ),
)  # fmt: skip
SUMMARY = ROOT / "notebooks" / "00_summary.ipynb"
of_each_study = pytest.mark.parametrize("name", STUDIES)


@dataclass(frozen=True)
class Pages:
    """A study with the results that its pages on latency, throughput, tails, directions and the baseline show."""

    study: Study
    runs: pd.DataFrame
    streams: pd.DataFrame
    typical: Any
    curves: Any
    directions: Any

    @cached_property
    def rates(self) -> pd.DataFrame:
        """The rates in time of all runs, of both ends."""
        return az.stats.time_series.throughput_series(self.study.intervals, az.studies.run_table(self.study))

    @cached_property
    def tables(self) -> list[Table]:
        """The tables with numbers that several pages show."""
        goodput = az.summarize(self.streams, "throughput_bit_s", unit="bit/s") if len(self.streams) else NOTHING
        everything = [
            latency.printed(self.study, self.runs),
            common.printed_percentiles(self.curves, (0.5, 0.99, 0.999, 0.9999, 0.99999)),
            latency.paths(self.runs, self.typical),
            throughput.paths(self.streams, goodput),
            *(zone_pair_asymmetry.both_ways(self.directions, metric) for metric in ("latency", "throughput")),
            zone_pair_asymmetry.both_ways(self.directions, "retransmits"),
            vm_baseline.conformance(az.baseline(self.study)) if self.study.expectations else Note(""),
        ]
        return [table for table in everything if isinstance(table, Table)]


@cache
def pages_of(name: str) -> Pages:
    study = load(name)
    runs, streams = az.latency(study), az.throughput(study)
    labels = runs[["path", "method", "name"]]
    curves = az.stats.printed_quantiles(
        study.quantiles, study.metrics, az.studies.frequency_tables(study), labels=labels
    )
    typical = az.summarize(runs, "median_ns") if len(runs) else NOTHING
    return Pages(study, runs, streams, typical, curves, az.asymmetry(study))


def rows_of(table: Table) -> list[dict[str, str]]:
    record = table.record()
    headers = [column["header"] for column in record["columns"]]
    return [dict(zip(headers, row["cells"], strict=True)) for row in record["rows"]]


@of_each_study
def test_a_typical_run_is_the_median_run_of_the_path_on_every_page(name: str) -> None:
    pages = pages_of(name)
    values = {key: group for key, group in pages.runs.groupby(["path", "method"])["median_ns"]}
    typical = {}
    for estimate in estimates_of(pages.typical):
        key = estimate.labels["path"], estimate.labels["method"]
        if estimate.estimate is not None:
            typical[str(key[0]), key[1]] = estimate.estimate
            assert estimate.estimate == pytest.approx(values[key].median())
    shown = 0
    for cell in pages.directions.cells.query("metric == 'latency'").to_dict("records"):
        value = typical.get((cell["what"], cell["method"]))
        if value is not None:
            assert cell["estimate"] == pytest.approx(value), cell["what"]
            shown += 1
    assert shown or name != "emulated-cloud"


#: A number or a range with its unit: "226–227 µs", "1.40 Gbit/s".
QUANTITY = re.compile(r"(\d[\d,.]*)(?:–(\d[\d,.]*))? (ns|µs|ms|s|[kMGT]?bit/s)(?![\w/])")
SCALES = {
    "ns": 1,
    "µs": 1e3,
    "ms": 1e6,
    "s": 1e9,
    "bit/s": 1,
    "kbit/s": 1e3,
    "Mbit/s": 1e6,
    "Gbit/s": 1e9,
    "Tbit/s": 1e12,
}


def quantities_in(text: str) -> list[float]:
    """Return the times in ns and the rates in bit/s that a text says."""
    found = QUANTITY.findall(text.replace("**", ""))
    return [float(end.replace(",", "")) * SCALES[unit] for *ends, unit in found for end in ends if end]


@pytest.mark.costly
@of_each_study
def test_card_title_answer_and_table_show_the_same_values(name: str) -> None:
    """The values of the method that says most: of each path its typical run, or the range of runs without one."""
    pages, card = pages_of(name), load_card(name)
    streams = pages.streams[pages.streams["throughput_bit_s"].astype(float) > 0]
    checked = 0
    for runs, unit in ((pages.runs, "ns"), (streams, "bit/s")):
        if runs.empty:
            continue
        method = rank_methods(measured_runs(runs))[0]
        column = "throughput_bit_s"
        if unit == "ns":
            column = "median_ns" if runs.loc[runs["method"] == method, "median_ns"].notna().all() else "mean_ns"
        typical = az.summarize(runs, column)
        main = main_method(runs, column, typical)
        on_card = dict(card.paths.query("method == @method and unit == @unit")[["path", "value"]].to_numpy())
        assert on_card and values_of(main) == pytest.approx({path: on_card[path] for path in values_of(main)})
        # An interval or a range of runs that are far apart is said instead of the value in its middle.
        ends = typical.loc[typical["method"] == method, ["low", "high"]].to_numpy().ravel()
        ranges = np.array(list(ranges_of(main).values())).ravel()
        known = np.array([*on_card.values(), *ranges, *ends], dtype=float)
        known = known[np.isfinite(known)]
        chart = common.typical_forest(runs, typical, column)
        title = chart.title if isinstance(chart, Chart) else ""
        for text in (title, answer_of(runs, column, typical, "value", unit)[0]):
            for value in quantities_in(text):
                assert min(abs(known / value - 1)) < 0.006, f"{value} in {text}: three digits of a known value"
                checked += 1
        table = common.typical_runs(runs, typical, column, "each run", "Typical runs")
        rows = [row for row in table.to_frame().to_dict("records") if row["method"] == method]
        for row in rows:
            # Where no path has an estimate, there is no such column.
            for header in [header for header in row if header.startswith("typical run")]:
                value = row[header] * SCALES[header.rpartition(", ")[2]]
                assert math.isnan(value) or value == pytest.approx(on_card[row["path"]])
        if unit == "ns" and "RTT" in card.axis and card.badge != "emulated" and not card.reported:
            # The dots of a card may be of several message sizes.
            of_all = np.array([*known, *card.paths.query("unit == 'ns'")["value"]], dtype=float)
            for dot in card.dots:
                assert min(abs(of_all / dot.low - 1)) < 1e-9, dot
    assert checked or name in (
        "cassandra-vm-baseline",
        "ec2-token-buckets",
        "uksouth-echo-latency",
        "westeurope-psping",
    )


@of_each_study
def test_a_typical_rate_lies_among_the_rates_of_its_runs(name: str) -> None:
    pages = pages_of(name)
    for table in pages.tables:
        for row in rows_of(table):
            for header in [header for header in row if header.startswith("typical run,") and row[header]]:
                ends = [float(row[end].replace(",", "")) for end in row if " per run " in end]
                value = float(row[header].replace(",", ""))
                assert not ends or min(ends) * 0.995 <= value <= max(ends) * 1.005, row


@of_each_study
def test_no_interval_has_equal_ends_and_no_verdict_contradicts_its_flags(name: str) -> None:
    for table in pages_of(name).tables:
        for row in rows_of(table):
            for low in [header for header in row if "interval low" in header and row[header]]:
                assert row[low] != row[low.replace("interval low", "interval high")], (table.caption, row)
            verdict, flags = row.get("verdict", ""), row.get("flags", "")
            if verdict.startswith("different"):
                assert "one run" not in flags and "one pair of machines" not in flags, row
            if "rounds" in row and verdict:
                assert (verdict == "one round") == (row["rounds"] == "1"), row


@of_each_study
def test_a_percentile_is_the_printed_one_in_every_table_and_its_bracket_is_not_an_interval(name: str) -> None:
    pages = pages_of(name)
    printed = pages.study.quantiles
    values = {(row.run_id, row.q): row.value_ns for row in printed[printed["metric"] == "rtt"].itertuples()}
    shown = {(str(curve.labels["run_id"]), curve.labels["q"]): curve for curve in estimates_of(pages.curves)}
    for key, value in values.items():
        # A "percentile" that is the maximum has the digits of the maximum.
        if key[0] in pages.runs.index and "maximum_in_disguise" not in shown[key].codes:
            assert shown[key].estimate == pytest.approx(value), key
    bracket = common.printed_percentiles(pages.curves)
    if isinstance(bracket, Table):
        assert not [header for header in bracket.headers if "interval" in header or "%" in header]


def test_pages_02_and_06_judge_the_bandwidth_of_a_vm_once() -> None:
    pages = pages_of("westeurope-azure-cni")
    typical = az.summarize(pages.streams, "throughput_bit_s", unit="bit/s")
    assert "expected" not in str(throughput.find(pages.streams, typical))
    found = az.baseline(pages.study)
    assert set(found.loc[found["estimate"].notna(), "status"]) == {"inconclusive"}


def test_the_ratio_of_directions_says_that_it_is_not_the_ratio_of_the_medians() -> None:
    # az1a ↔ az3a by ping: 919.5 and 967 µs are the median runs, 1.002 is the median of the ratios of the rounds.
    table = zone_pair_asymmetry.both_ways(pages_of("emulated-cloud").directions)
    assert isinstance(table, Table)
    assert any(header.startswith("typical ratio of a round") for header in table.headers)
    assert "ratio of these medians" in " ".join(table.notes)


@pytest.mark.slow
@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=pytest.mark.slow) if name == "ec2-token-buckets" else name for name in STUDIES],
)
def test_no_title_of_a_chart_of_the_summary_contradicts_the_card(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    shown: list[Any] = []
    monkeypatch.setattr(az.charts, "show", lambda *charts, **_: shown.extend(charts))
    monkeypatch.setattr(az, "load", load)
    cells = [cell for cell in nbformat.read(SUMMARY, as_version=4).cells if cell.cell_type == "code"]
    values: dict[str, Any] = {"study": name}
    for cell in cells:
        if "parameters" not in cell.metadata.get("tags", []):
            exec(cell.source, values)
    card = load_card(name)
    said = " ".join([plain_sentence(card.answer), *(dot.text for dot in card.dots)])
    titles = [chart.title for chart in shown if isinstance(chart, Chart)]
    assert not any(re.search(r"\b(longest|shortest|highest|lowest|nearest|farthest)\b", title) for title in titles)
    assert titles or name == "cassandra-vm-baseline"
    for title in titles:
        assert set(re.findall(r"\d+ of \d+", title)) <= set(re.findall(r"\d+ of \d+", said)), title
        assert "visibly" not in said or not re.search("nearest|longest|shortest", title), title
        # The card of an emulated study is about differences.
        if card.badge != "emulated" and re.search("nearest|longest round trip", title):
            assert set(re.findall(r"[\d,.]*\d(?=[–\d,.]* [µm]s)", title)) <= set(re.findall(r"[\d,.]*\d", said)), title


@pytest.mark.costly
@of_each_study
def test_a_finding_has_one_unit_per_quantity(name: str) -> None:
    pages = pages_of(name)
    study, runs, streams = pages.study, pages.runs, pages.streams
    conditions = az.stats.placement.conditions(study, runs)
    steps = az.stats.placement.changes(az.stats.placement.widest_methods(conditions), runs, "placement")
    means = az.summarize(runs, "mean_ns") if len(runs) else NOTHING
    late = az.summarize(runs, "p99_ns") if len(runs) else NOTHING
    goodput = az.summarize(streams, "throughput_bit_s", unit="bit/s") if len(streams) else NOTHING
    tails = az.stats.tail_by_run.run_tails(study, runs[:0], limit=1e6)
    nothing_in_time = az.stats.time_series.run_time_series(study, runs[:0])
    segments = az.stats.time_series.reported_segments(study.reported[:0])
    broken = az.stats.time_series.reported_connection_ends(study.reported[:0])
    said = [
        *latency.find(runs, pages.typical, means, pages.curves).findings,
        *throughput.find(streams, goodput).findings,
        *tail.find(study, runs, tails, pages.curves, tails.above, late).findings,
        *placement.find(conditions, steps, steps[:0], runs).findings,
        *vm_baseline.find(az.baseline(study)).findings,
        *stability.find(nothing_in_time, segments, broken, pages.rates).findings,
    ]
    for finding in said:
        for prefixes in (r"\d (ns|µs|ms)\b", r"\d ([kMGT]?bit/s)", r"\d ([kMG]?B/s)"):
            assert len(set(re.findall(prefixes, finding.text))) < 2, finding.text
    answers = [finding for finding in said if finding.kind == "answer"]
    assert [finding.text for finding in answers if len(finding.text.split()) > 30] == []
    # A page begins with the card's numbers: both speak of the method that measured the most paths.
    typical = {number for finding in answers[:1] for number in re.findall(r"[\d,.]+\d", finding.text)}
    card = load_card(name)
    if (
        card.badge in ("indicative", "replicated")
        and not card.reported
        and "RTT" in card.axis
        and "median" in card.axis
    ):
        assert typical & {number for dot in card.dots for number in re.findall(r"[\d,.]+\d", dot.text)}


@of_each_study
def test_no_shown_rate_or_time_can_be_negative(name: str) -> None:
    pages = pages_of(name)
    lows = [
        *pages.typical["low"],
        *pages.curves["low"],
        *pages.rates["low"],
    ]
    assert not any(low < 0 for low in lows)


def test_a_number_of_a_text_gives_way_to_the_log_of_its_run() -> None:
    # Canada Central: the text says 2130.93 µs for the run whose logs print 2026.40.
    study, card = load("canadacentral-proximity-placement"), load_card("canadacentral-proximity-placement")
    levels = az.stats.placement.conditions(study, az.latency(study))
    shown = [*levels["lowest"], *levels["highest"], *card.round_trips["value"]]
    assert 2130930 not in shown and 2026400 in shown
    assert "2,131" not in repr(card) and "2,130" not in repr(card)


def test_a_mean_of_twenty_pings_is_not_what_a_placement_costs() -> None:
    # One of the pings of the availability set took 10.3 ms: 1.902 ms on average, beside medians of 44 and 53 µs.
    trips = load_card("westeurope-availability-set-vs-zones").round_trips
    longest = trips.loc[trips["placement"] == "availability_set", "value"].max()
    assert longest == pytest.approx(53_433) and not trips["method"].str.startswith("ping").any()


@of_each_study
def test_no_question_is_both_answered_and_not_answerable(name: str) -> None:
    asked = summary.missing(pages_of(name).study)
    questions = [] if isinstance(asked, Note) else [row["question"] for row in rows_of(asked)]
    card = load_card(name)
    if len(card.round_trips):
        assert "How long does a round trip take on each path?" not in questions
