"""Page 11: levels that changed in sixty emulated rounds, and in nights that are made."""

from __future__ import annotations

import math
from datetime import timedelta

import numpy as np
import pandas as pd
import pytest
from helpers.cases import stream, thinned
from helpers.chart_checks import assert_fit_to_print
from helpers.notebooks import run
from helpers.places import ROOT
from helpers.studies import FEW_REGIONS, load, load_history
from helpers.tables import cell

import azlatency as az
from azlatency.kit.changes import in_short_seen, seen
from azlatency.kit.objects import Chart, Note
from azlatency.pages import history as page
from azlatency.stats.across_runs.run_history import History
from azlatency.stats.across_runs.sightings import sightings
from azlatency.studies.runs.selection import published_windows

NIGHTS = pd.date_range("2026-09-01", periods=50, freq="D", tz="UTC")


def nights(path: str, step: float, seed: int, **columns: object) -> pd.DataFrame:
    values = 300e3 * stream(seed).lognormal(0, 0.02, 50) * np.where(np.arange(50) >= 30, step, 1)
    return pd.DataFrame({"path": path, "method": "ping 56 B", "started_at": NIGHTS, "median_ns": values, **columns})


def found_in(found: History) -> str:
    return str(page.find(found, sightings(found)))


@pytest.fixture(scope="module")
def emulated() -> History:
    return load_history("emulated-nights")


def test_the_change_of_an_emulated_path_is_the_same_in_table_picture_and_sentence(emulated: History) -> None:
    # The median of the times that ping prints, in the median round: 338 µs in the first 25, 363 µs in the other 35.
    size = "+25.0 µs (+7.4 %, 95 % CI +7.2 to +7.8)"
    table, chart, findings = page.changes(emulated), page.history(emulated), found_in(emulated)
    assert cell(table, "az1a → az2a", "before") == "338.0 µs" and cell(table, "az1a → az2a", "after") == "363.0 µs"
    assert cell(table, "az1a → az2a", "change") == size and cell(table, "az3a → az2a", "before") == "762.7 Mbit/s"
    assert isinstance(chart, Chart)
    assert f"az1a → az2a, ping 56 B, median: 338 µs, then 363 µs; 2026-11-24 20:43: {size}" in chart.alt
    assert f"az1a → az2a, ping 56 B, median: changed on 2026-11-24 20:43: {size}." in findings
    result = "goodput −50 % (az3a → az2a); median +7 % (az1a → az2a)"
    assert chart.title == f"2 of 11 series changed, largest: {result}"
    assert f"2 of 11 series changed, largest: {result}." in findings.replace("**", "")
    assert cell(page.series(emulated), "az1a → az2a, ping 56 B, median", "level now") == "363.0 µs"
    assert cell(page.series(emulated), "az1a → az2a, ping 56 B, loss", "changes") == "0"


@pytest.mark.usefixtures("laid_out")
def test_the_label_in_force_is_in_table_picture_and_sentence() -> None:
    labels = ["image 1"] * 30 + ["image 2"] * 20
    runs = [nights("a → b", 1.1, 1), nights("a → c", 1.2, 2, label=labels), nights("b → c", 1, 3)]
    found = az.history(pd.concat(runs))
    chart = page.history(found)
    assert isinstance(chart, Chart) and str(chart.title).startswith(
        "2 of 3 series changed, largest: median +21 % (a → c)"
    )
    assert_fit_to_print("history", chart)
    panels = [axis for axis in chart.figure.axes if axis.get_visible()]
    assert [len(axis.lines[0].get_xdata()) for axis in panels] == [50] * 3
    assert "image 2" in panels[0].get_title("left").split("\n")[-1]  # the title names a → c first
    assert "b → c: " in chart.alt and "no change" in chart.alt
    assert chart.caption.startswith("ping 56 B, median: each dot is a run")
    assert "label image 2 (before: image 1)" in found_in(found)
    assert cell(page.changes(found), "a → c", "label in force") == "label image 2 (before: image 1)"
    (date,) = found.changes.loc[found.changes["path"] == "a → c", "date"]
    assert abs(date - NIGHTS[30]) <= timedelta(days=1)
    assert cell(page.changes(found), "a → c", "changed on") == f"{date:%Y-%m-%d}"


def test_a_new_version_of_the_tool_is_named_and_explained() -> None:
    found = az.history(nights("a → b", 1.1, 1, tool_version=["3.7"] * 30 + ["3.8"] * 20))
    assert "label 3.8 (before: 3.7); new version of the tool." in found_in(found)
    assert "the tool may be the cause" in str(page.changes(found))


def test_a_row_cites_the_runs_of_its_series_those_next_to_the_change_first() -> None:
    runs = nights("a → b", 0.8, 6).rename(columns={"median_ns": "throughput_bit_s"})
    found = az.history(runs.assign(run_id=[f"run-{night}" for night in range(50)]))
    table = page.changes(found)
    assert not isinstance(table, Note) and table.source is not None
    (reference,) = table.source(table.rows[0])
    at = int(found.changes["at"].iloc[0])
    assert reference.run_ids[:2] == (f"run-{at - 1}", f"run-{at}")  # type: ignore[union-attr]
    assert {*reference.run_ids} == {f"run-{night}" for night in range(50)}  # type: ignore[union-attr]
    assert reference.value == "throughput_bit_s"  # type: ignore[union-attr]


def test_a_drift_has_no_date() -> None:
    starts = pd.date_range("2026-01-01", periods=120, tz="UTC")
    values = 1e6 * np.exp(np.linspace(0, 0.1, 120) + 0.01 * stream(1).standard_normal(120))
    rising = pd.DataFrame({"path": "a → b", "method": "ping 56 B", "started_at": starts, "median_ns": values})
    found = az.history(rising)
    chart = page.history(found)
    assert isinstance(chart, Chart) and chart.title == "1 of 1 series drift, and no level changed"
    words = f"drifts by {100 * (found.series['drift'][0] - 1):+.1f} % over 120 points"
    assert f"a → b, ping 56 B, median: {words}, without a date." in found_in(found)
    assert words.startswith("drifts by +10.") and words in chart.alt and isinstance(page.changes(found), Note)


def test_a_steady_study_is_said_to_be_steady() -> None:
    found = az.history(nights("a → b", 1, 7).drop(index=[5, 6]))
    findings, chart = found_in(found), page.history(found)
    assert "**No level changed** in 1 series of up to 48 points" in findings
    assert "Nights missing: 1 of 1 series" in findings
    assert isinstance(chart, Chart) and chart.title == "No level changed in 1 series"


def test_what_is_seen_in_runs_without_times_has_no_date() -> None:
    row = {"kind": "newest", "n": 1, "date": pd.NaT, "date_last": pd.NaT, "before": 1.0, "after": 1.5, "ratio": 1.5,
           "window_ns": math.nan}  # fmt: skip
    assert seen(row, 1) == "+50 % in the last point, since an unknown date: too few to test"
    oldest = pd.DataFrame(
        {"what": list("abcdefgh"), "path": list("abcdefgh"), "metric": "median", "kind": "oldest", "unit": "ns",
         "before": 1.0, "after": 1.5, "ratio": 1.5, "date_last": pd.NaT, "window_ns": math.nan,
         "ended": False}
    )  # fmt: skip
    assert "until an unknown date at the latest" in in_short_seen(oldest)[0]


def test_short_series_have_no_chart() -> None:
    found = az.history(nights("a → b", 1, 5)[:9])
    assert isinstance(page.history(found), Note) and isinstance(page.changes(found), Note)
    assert "10 points" in found_in(found) and "too few groups" in str(page.series(found))
    assert cell(page.series(found), "a → b", "level now") == "–" and cell(page.series(found), "a → b", "changes") == ""
    assert isinstance(page.series(found._replace(series=found.series[:0])), Note)


@pytest.mark.parametrize("study", thinned(["westeurope-psping", "westeurope-azure-cni"], 2))
def test_the_notebook_runs_without_a_history(study: str) -> None:
    """No series at all, and series of one run each: the report leaves the page out, and a person opens it."""
    assert isinstance(run(ROOT / "notebooks" / "11_history.ipynb", study)[1], Note)


@pytest.mark.costly
def test_what_ibm_published_and_no_test_confirms_is_named_with_its_reason() -> None:
    """mon04-a to mon04-c came nearer four windows before the end; lon04-a to lon05-a fell only in the end."""
    found = load_history("ibm-cloud-zones")
    table = page.seen(found, sightings(found))
    assert not isinstance(table, Note)
    rows = {(row[0], row[3]): row[4:] for row in table.cells}
    nearer = "−24 % since 2026-03-29: significant for this series alone, not among all 100"
    assert rows["ca-mon-mon04-a → ca-mon-mon04-c", nearer] == ("170 µs", "130 µs")
    newest = "−33 % in the last disjoint window against the 5 before, by 2026-08-16: too few to test"
    assert rows["eu-gb-lon04-a → eu-gb-lon05-a", newest] == ("2.06 ms", "1.39 ms")
    assert rows["us-east-wdc04-a → us-east-wdc06-a", "+112 % for 1 point, 2026-06-07"] == ("690 µs", "1.46 ms")
    # What a confirmed change crossed, as sao01–sao05 and dal10–dal14 did, is not named again.
    # Sao Paulo 1–2 has one level: 1.99 to 2.05 ms, then 1.99 to 1.81 ms.
    crossed = [(path, seen) for path, seen in rows if seen.startswith(("below", "above"))]
    assert crossed == [("Sao Paulo 1 → Sao Paulo 2", "below 2 ms in all disjoint windows since 2023-11-26")]
    # dal10–dal12: 1.76 to 2.48 ms until October 2025, then 1.34 to 1.45 ms, and 2.01 ms from 18 July 2026 on:
    # its change is found at the date of dal12–dal13, which fell in the same window.
    dates = found.changes.set_index("path").loc[lambda rows: rows["flags"] == "date_of_others", "date"]
    assert {path: f"{date:%Y-%m-%d}" for path, date in dates.items()} == {
        "us-south-dal10-a → us-south-dal12-a": "2025-10-11"
    }
    dal = {seen: values for (path, seen), values in rows.items() if "dal10-a → us-south-dal12-a" in path}
    assert dal["+46 % in the last disjoint window, by 2026-08-16: too few to test"] == ("1.38 ms", "2.01 ms")
    # dal12–dal14: 2.12 to 2.22 ms until May 2025, then 1.73, 1.51 and 1.57, and 0.60 to 0.65 ms from October on.
    steps = "−27 % for 3 points, 2025-07-27 to 2025-10-05, on the way to the next level"
    assert rows["us-south-dal12-a → us-south-dal14-a", steps] == ("2.16 ms", "1.57 ms")
    # The weekly windows show that sao01–sao05 fell before 16 November 2025: 2.69 ms to the 9th, then 2.27 ms, and
    # 0.54 ms to 7 December: the window to the 14th, the next that does not overlap, is not the first to show it.
    assert cell(page.changes(found), "br-sao-sao01-a → br-sao-sao05-a", "changed by") == "2025-12-14"
    said = found_in(found)
    assert "sao05-a, netperf (table) TCP_RR, mean: changed by 2025-12-14: " in said
    assert "5 paths changed by 2025-11-09 (" in said
    assert "CI −72 to −65); in more than one step, with 3 points between the levels." in said
    assert "In 7 series, the last points differ from those before: too few to test (eu-gb-lon04-a → " in said
    assert "In 2 series that ended earlier, the last points differ from those before (Sydney 1 → Sydney 3 " in said
    assert "14 series moved by −33 % to −14 % after their first points, until 2024-11-24 at the latest" in said
    assert not any("mad02" in path and "came" not in seen and "%" in seen for path, seen in rows)


@pytest.mark.slow
def test_all_published_windows_are_drawn() -> None:
    windows = published_windows(load("ibm-cloud-zones"))
    assert len(windows) == 10_362
    found = load_history("ibm-cloud-zones")
    chart = page.over_time(windows, found)
    assert isinstance(chart, Chart) and chart.figure.get_size_inches()[1] <= 9
    # zones.csv.gz, first and last: sao01–sao05 2.64 and 0.53 ms, dal12–dal14 2.26 and 0.60; the ratio is 0.20 and 0.27.
    assert chart.title == ("From the first to the newest window, sao01–sao05 fell most of 42 paths: 2,640 µs to 530 µs")
    assert "Sao Paulo: 1–2 1,980 → 1,810 µs" in chart.alt and "sao01–sao05 2,640 → 530 µs" in chart.alt
    assert len(found.changes) == 10 and "Shown: 10 of 100" in str(page.history(found))
    both = page.over_time(published_windows(load("ibm-cloud-regions")), load_history("ibm-cloud-regions"))
    # regions.csv.gz: 172 ms on 2025-03-30, 143 ms on 2026-08-16; back 171 and 143 ms.
    title = "From the first to the newest window, Montreal → Tokyo fell most of 156 paths: 172 ms to 143 ms"
    assert isinstance(both, Chart) and both.title == title and "Thin and grey: other lines" in both.caption
    assert "dashed" in chart.caption and "Of more than" not in chart.caption
    assert "dashed" not in both.caption and "Dotted" not in both.caption and "Of more than 6 pairs" in both.caption
    # The table of changes has Tokyo → Toronto, both ways; of Tokyo's twelve lines, those that changed have names.
    named = {axis.get_title("left"): {text.get_text() for text in axis.texts} for axis in both.figure.axes}
    assert "Toronto" in named["Tokyo"] and "London" not in named["Tokyo"] and not named["Sydney"]
    without = published_windows(load("emulated-nights"))
    assert isinstance(page.over_time(without, found), Note)


@pytest.mark.slow
def test_a_change_of_one_printed_step_has_no_size_and_is_none_of_the_largest() -> None:
    """Frankfurt to London is printed as 12 ms, then as 13 ms; Tokyo to Toronto as 163 ms, then as 135 ms."""
    found = load_history("ibm-cloud-regions")
    chart = page.history(found)
    assert isinstance(chart, Chart) and "(Tokyo → Toronto)" in chart.title and chart.alt.startswith("Tokyo → Toronto: ")
    assert chart.caption.startswith("netperf (table) TCP_RR, mean: each dot is a published mean over 30 days, ")
    size = "12 ms → 13 ms, one printed step: size unknown"
    assert cell(page.changes(found), "Frankfurt → London", "change") == size
    lines = [line for line in found_in(found).splitlines() if "TCP_RR, mean: " in line]
    assert "Tokyo → Toronto" in lines[0] and size not in "".join(lines)  # the eight largest are named
    assert "16 of 110 series changed, largest: mean **−17 %** (Tokyo → Toronto); " in found_in(found)


@pytest.mark.costly
def test_round_trips_between_regions_have_axes_in_milliseconds() -> None:
    chart = page.history(load_history(FEW_REGIONS))
    assert isinstance(chart, Chart) and {axis.get_ylabel() for axis in chart.figure.axes} <= {"ms", ""}


def test_the_history_of_published_zones_shows_which_came_nearer_and_none_in_madrid() -> None:
    found = load_history("ibm-cloud-zones").changes
    fell = found.assign(month=found["date"].dt.strftime("%Y-%m"), percent=100 * (found["ratio"] - 1))
    fell = fell.set_index("path")[["month", "percent"]]
    assert fell.loc["br-sao-sao01-a → br-sao-sao05-a"].tolist() == ["2025-11", pytest.approx(-80, abs=0.5)]
    assert fell.loc["eu-gb-lon04-a → eu-gb-lon06-a"].tolist() == ["2025-10", pytest.approx(-60.3, abs=0.5)]
    assert fell.loc["us-south-dal12-a → us-south-dal14-a"].tolist() == ["2025-10", pytest.approx(-71, abs=0.5)]
    assert not fell.index.str.contains("mad|Madrid").any()
