"""Page 05: what a placement and a setting cost, with numbers read in the raw logs."""

from __future__ import annotations

import pandas as pd
import pytest
from helpers.cases import thinned
from helpers.notebooks import run
from helpers.places import ROOT
from helpers.studies import load
from helpers.tables import cell, logs_behind

import azlatency as az
from azlatency.kit.cells import Table
from azlatency.kit.objects import Chart, Note
from azlatency.pages import placement as page
from azlatency.stats.across_runs.placement import FACTORS
from azlatency.studies.store.study import Study

NO_LINKS = pd.DataFrame()


class Measured:
    """A study with its conditions, and the steps between its placements."""

    def __init__(self, study: Study) -> None:
        self.study, self.runs = study, az.studies.newest_windows(az.latency(study))
        self.levels = az.stats.placement.conditions(study, self.runs)
        self.widest = az.stats.placement.widest_methods(self.levels)
        self.steps = self.changes(self.widest, "placement")

    def changes(self, levels: pd.DataFrame, *factors: str) -> pd.DataFrame:
        return pd.concat(az.stats.placement.changes(levels, self.runs, factor) for factor in factors)


@pytest.fixture(scope="module")
def zones() -> Measured:
    return Measured(load("westeurope-availability-set-vs-zones"))


@pytest.fixture(scope="module")
def canada() -> Measured:
    return Measured(load("canadacentral-proximity-placement"))


def test_values_by_placement_are_those_of_the_logs(zones: Measured) -> None:
    # zone3-zone1/ping.log: "rtt min/avg/max/mdev = 0.718/0.969/2.137/0.299 ms"
    table = page.conditions(zones.levels)
    row = "Zone 3 → Zone 1, cross zone, 969.0"
    assert cell(table, row, "statistic per run") == "mean" and cell(table, row, "runs") == "1"
    assert logs_behind(zones.study, table, row) == {"zone3-zone1/ping.log"}


def test_the_step_of_ping_is_the_ratio_of_the_means(zones: Measured) -> None:
    table = page.changes(zones.steps, "placement", zones.runs)
    assert isinstance(table, Table)
    # availability-set/ping.log: 1.902 ms; 0.969 / 1.902
    (ping,) = (row for row in table.cells if "ping" in row[table.headers.index("method")])
    assert ping[table.headers.index("times")] == "0.509" and ping[-1].startswith("none: one run")
    assert ping[table.headers.index("runs")] == "1 / 1" and ping[table.headers.index("interval")] == "none"


def test_a_reported_number_leads_to_the_line_of_the_text_and_has_no_conclusion(canada: Measured) -> None:
    fast = canada.changes(canada.levels, "accelerated_networking")
    table = page.changes(fast, "accelerated networking", canada.runs)
    assert isinstance(table, Table) and {row[-1] for row in table.cells} == {"none: no log"}
    references = table.record()["rows"][0]["refs"]
    assert [reference["ref"] for reference in references] == ["ReportedRef", "ReportedRef"]
    # The text: 308.55 µs without, 55 to 61.09 µs with accelerated networking.
    assert cell(table, "off: Same zone", "times") == "0.178 – 0.198"
    sizes = page.changes(canada.changes(canada.levels, "vm_size"), "VM size", canada.runs)
    assert isinstance(sizes, Table) and all(
        row[-1].endswith("accelerated networking may differ, too") for row in sizes.cells
    )


def test_each_placement_has_its_round_trip_time(zones: Measured) -> None:
    chart = page.placement_values(zones.levels, zones.runs, NO_LINKS)
    # zone3-zone1/sockperf-m1400.log: "percentile 50.000 =   93.556", with --full-rtt
    assert isinstance(chart, Chart)
    (line,) = (line for line in chart.alt.splitlines() if line.startswith("sockperf TCP 1400 B, median of a run: "))
    assert "Zone 3 → Zone 1 (cross zone), 93.556 µs" in line


def test_a_reported_range_is_drawn_by_its_ends(canada: Measured) -> None:
    chart = page.placement_values(canada.widest, canada.runs, NO_LINKS)
    assert isinstance(chart, Chart) and "[55, 61.09] µs, reported" in chart.alt
    assert isinstance(page.single_changes(canada.steps, NO_LINKS, canada.runs), Chart)
    assert (
        ": mean round trip from 54–61 µs (2 paths) to 2,026 µs" in chart.title
        and "1 run per row with a log" in chart.caption
    )


def test_a_single_measurement_is_said_in_a_note(zones: Measured) -> None:
    note = page.placement_values(zones.levels.head(1), zones.runs, NO_LINKS)
    assert isinstance(note, Note) and note.text.startswith("No chart: one measurement only. ")


def test_a_title_of_changes_that_were_measured_once_ranks_none(zones: Measured) -> None:
    chart = page.single_changes(zones.changes(zones.levels, *FACTORS), NO_LINKS, zones.runs)
    assert isinstance(chart, Chart) and chart.title == (
        "4 changes of one factor: 1.11–1.91× as long, measured once (sockperf)"
    )
    # 93.556 / 53.433 µs
    assert "sockperf TCP 1400 B 1.751, not tested" in chart.alt


def test_the_ratios_of_placements_are_drawn(zones: Measured) -> None:
    chart = page.single_changes(zones.changes(zones.levels, "placement"), NO_LINKS, zones.runs)
    # Medians of sockperf -m 1400: 93.556 / 53.433 us
    assert isinstance(chart, Chart) and "sockperf TCP 1400 B 1.751, not tested" in chart.alt
    assert "ping" not in chart.alt and "in the table only" in chart.caption


def test_ping_and_sockperf_contradict_each_other(zones: Measured) -> None:
    text = str(page.find(zones.levels, zones.steps, zones.steps[:0], zones.runs))
    # Medians of sockperf -m 1400: 93.556 / 53.433 us; means of ping: 0.969 / 1.902 ms
    said = (
        "Zone 3 → Zone 1, against Availability set, took 1.75 times as long by sockperf TCP 1400 B, 0.51 times by ping"
    )
    assert said in text and text.count("compare their minima instead") == 1


@pytest.mark.costly
def test_repeated_runs_answer_with_a_ratio_and_its_interval() -> None:
    measured = Measured(load("emulated-zones"))
    answer = page.find(measured.levels, measured.steps, measured.steps[:0], measured.runs).findings[0].text
    assert "across zones **226–853 µs** (typically **2.19–8.17×**, 95 % CI 2.1–8.4)" in answer
    chart = page.placement_values(measured.widest, measured.runs, az.studies.configured_links(measured.study))
    assert isinstance(chart, Chart) and "as first configured" in chart.caption
    assert "without a bar" not in chart.caption


def test_dots_without_a_bar_are_not_called_single_runs_where_they_are_several() -> None:
    measured = Measured(load("emulated-zones"))
    for n, said in ((7, "Several dots without a bar are runs that have no interval"), (1, "is a single run")):
        refused = measured.widest["path"] == measured.widest["path"].iloc[0]
        nothing = dict.fromkeys(("estimate", "low", "high"), float("nan"))
        levels = measured.widest.copy()
        levels.loc[refused, ["n", *nothing]] = [n, *nothing.values()]
        chart = page.placement_values(levels, measured.runs, NO_LINKS)
        assert isinstance(chart, Chart) and chart.caption.count("without a bar") == 1 and said in chart.caption


@pytest.mark.costly
def test_a_published_series_is_answered_by_its_newest_window_within_each_region() -> None:
    measured = Measured(load("ibm-cloud-zones"))
    answer = page.find(measured.levels, measured.steps, measured.steps[:0], measured.runs).findings[0].text
    # zones.csv.gz, window_end 2026-08-16: 0.13 ms (che02-a–che02-b) to 2.16 ms (dal10-a–dal13-a); 0.07 ms (mon04-a).
    values = "across zones **130–2,160 µs**, against **70–110 µs** in one zone"
    assert answer == f"Round trips, published for the 30 days to 2026-08-16: {values} (netperf)."
    assert measured.steps["path"].str[:2].tolist() == measured.steps["base_path"].str[:2].tolist()
    chart = page.placement_values(measured.widest, measured.runs, NO_LINKS)
    assert isinstance(chart, Chart)
    assert chart.caption.startswith("Each hollow dot is a path, its mean published for the 30 days to 2026-08-16. Sho")
    # All 82 paths stand in a row per region and placement, so that the ends of the title are among them.
    assert "Shown" not in chart.caption and chart.title.endswith("2,010–2,160 µs (2 paths)")
    # Dallas, 600 to 2,160 µs, stands above Sydney, 950 to 1,780 µs.
    assert "Shortest on top, by the median path." in chart.caption
    assert "Dallas, across zones, 600, 1,430, 1,540, 1,820, 2,010, 2,160 µs" in chart.alt
    steps = measured.changes(measured.widest, "placement")
    assert isinstance(page.single_changes(steps, NO_LINKS, measured.runs), Note)
    table = page.changes(steps, "placement", measured.runs)
    assert isinstance(table, Table) and table.cells[0][-1] == "none: a mean each"
    assert "the first inside a zone of the pair" in table.notes[0] and len(table.notes) == 1


def test_a_study_without_latency_has_notes(zones: Measured) -> None:
    levels, steps = zones.levels[:0], zones.steps[:0]
    assert "VM size" in str(page.changes(steps, "VM size", pd.DataFrame()))
    for note in (
        page.conditions(levels),
        page.placement_values(levels, zones.runs, NO_LINKS),
        page.single_changes(steps, NO_LINKS, zones.runs),
    ):
        assert isinstance(note, Note)
    assert note.text.endswith("differ in one of these factors alone.")
    assert "No latency was measured" in str(page.find(levels, steps, steps, zones.runs))


@pytest.mark.parametrize("study", thinned(["uksouth-echo-latency", "ec2-token-buckets"], 2))
def test_the_notebook_runs_without_runs(study: str) -> None:
    """No latency at all, and numbers of a text only."""
    assert run(ROOT / "notebooks" / "05_placement.ipynb", study)


def test_settings_of_one_placement_are_not_pooled(canada: Measured) -> None:
    """A placement group with accelerated networking, 54 to 57 µs, stands against a zone with it, 55 to 61.09."""
    answer = page.find(canada.levels, canada.steps, canada.steps[:0], canada.runs).findings[0].text
    assert answer == (
        "Round trips, as reported: in the placement group **54–57 µs** and across zones **1,364 µs**, against "
        "**55–61 µs** in one zone (latte, with accelerated networking)."
    )
