"""Page 09: two imports, with numbers read in the raw logs and in the manifests."""

from __future__ import annotations

import pandas as pd
import pytest
from helpers.small_frames import runs
from helpers.studies import load
from helpers.tables import cell

import azlatency as az
from azlatency.kit.cells import FileRef, RunsRef, Table
from azlatency.kit.objects import Chart, Note
from azlatency.pages import before_after as page
from azlatency.studies.store.study import Study


@pytest.fixture(scope="module")
def other() -> Study:
    return load("westeurope-availability-set-vs-zones")


@pytest.fixture(scope="module")
def found() -> pd.DataFrame:
    after, before = (az.latency(load(name)) for name in ("emulated-nights", "emulated-zones"))
    return az.stats.compare_imports(after, before)


def compared(*medians: float) -> pd.DataFrame:
    """Compare four runs whose medians are multiplied with those as they are, once per factor."""
    return pd.concat(
        az.stats.compare_imports(
            runs(median_ns=[factor * value for value in (100e3, 102e3, 99e3, 101e3)], path=f"a → {factor}"),
            runs(path=f"a → {factor}").set_index(pd.Index(["1", "2", "3", "4"])),
        )
        for factor in medians
    )


def test_settings_name_the_vm_sizes_of_both_studies(cni: Study, other: Study) -> None:
    table = page.settings(cni, other)
    assert cell(table, "VM size", "westeurope-azure-cni") == "Standard_D8ds_v4"
    assert cell(table, "VM size", "westeurope-availability-set-vs-zones") == "Standard_D4as_v4"
    assert cell(table, "VM size", "same?") == "no" and cell(table, "runs", "westeurope-azure-cni") == "25"
    assert isinstance(table, Table)
    assert table.source is not None
    refs = [FileRef("study.toml", "vm_size"), FileRef("study.toml", "vm_size", before=True)]
    assert list(table.source(table.rows[1])) == refs
    assert table.rows[-1]["after_ref"] == RunsRef(tuple(cni.runs["run_id"]), "run")


def test_settings_name_the_delays_of_two_emulated_networks() -> None:
    table = page.settings(az.load("emulated-nights"), az.load("emulated-zones"))
    row = [cell(table, "configured one-way delays", name) for name in ("emulated-nights", "emulated-zones", "same?")]
    # Of truth.json: 150, 250 and 400 µs; 25 to 375, and 445 µs from zone 3 to zone 2.
    assert row == ["150–400 µs", "25.0–445 µs", "no"]


def test_different_messages_are_not_compared(cni: Study, other: Study) -> None:
    found = az.stats.compare_imports(az.latency(cni), az.latency(other))
    table = page.changes(found)
    assert cell(table, "AZ1 - AZ3 against Zone 3 → Zone 1", "verdict") == "not estimable"
    assert "different packets" in cell(table, "AZ1 - AZ3 against Zone 3 → Zone 1", "flags")
    note = page.changes_forest(found)
    assert isinstance(note, Note) and f"none of {len(found)} comparisons is estimable" in note.text
    text = str(page.find(found))
    assert "Not estimable: AZ1 - AZ3" in text and "Not answerable: nothing was measured twice" in text


def test_table_picture_and_sentence_say_the_same_row(found: pd.DataFrame) -> None:
    (row,) = found[found["path"] == "az1a → az2a"].to_dict("records")
    ratio, low, high = (row[name] for name in ("ratio", "decides_low", "decides_high"))
    table, chart = page.changes(found), page.changes_forest(found)
    assert cell(table, "az1a → az2a, ping 56 B", "ratio") == f"{ratio:.3f}"
    assert cell(table, "az1a → az2a, ping 56 B", "interval") == f"{low:.3f} – {high:.3f}"
    # The page counts 60 nights and 12 rounds of ping on each path.
    assert cell(table, "az1a → az2a, ping 56 B", "after against before") == "60 against 12 runs"
    assert isinstance(chart, Chart) and f"az1a → az2a {ratio:.4g} [{low:.4g}, {high:.4g}], different" in chart.alt
    text = str(page.find(found, "emulated-zones"))
    assert (
        f"az1a → az2a, ping 56 B: different in these runs, which drift, ratio {ratio:.3f} ({low:.3f} to {high:.3f}) "
        "over all runs" in text
    )
    assert "2 of 3 comparisons with `emulated-zones` show a difference, 1 of 2 in runs that drift, 1 more" in text
    assert "the largest without drift: az2a → az3a, ping 56 B: **0.645×" in text


def test_the_answer_says_that_two_emulated_networks_were_configured_differently(found: pd.DataFrame) -> None:
    # truth.json: 250 µs each way between az2 and az3 in the nights, 325 and 445 µs in the zones.
    nights, zones = load("emulated-nights"), load("emulated-zones")
    differ = page.delays_differ(nights, zones)
    text = str(page.find(found, "emulated-zones", reconfigured=differ))
    assert text.startswith("Answer: The two emulated networks were configured with different delays")
    same = page.delays_differ(nights, nights) or page.delays_differ(nights, load("westeurope-azure-cni"))
    assert "configured" not in str(page.find(found, "emulated-zones", reconfigured=same))


def test_each_path_has_a_row_the_largest_change_on_top(found: pd.DataFrame) -> None:
    chart = page.changes_forest(found)
    assert isinstance(chart, Chart)
    (axis,) = chart.figure.axes
    rows = [label.get_text() for label in axis.get_yticklabels()]
    assert rows == ["az1a → az2a", "az2a → az3a", "az1a → az3a"] and axis.get_title(loc="left") == "ping 56 B"
    differ = "2 of 3 differ, 1 of 2 in runs that drift, 1 more within the margin"
    assert chart.title == f"After against before: {differ}; az2a → az3a, 0.645× as long (ping 56 B)"


def test_the_answer_lists_what_is_shown_where_nothing_changed() -> None:
    text = str(page.find(compared(1.0, 1.02)))
    assert text.startswith("Answer: No change beyond the margin is shown since the other study: of 2 comparisons, 2 ")
    (note,) = [page.changes_forest(compared(1.0))]
    assert isinstance(note, Note) and "practically equivalent at a margin of 5 %" in note.text


def test_without_comparisons_there_are_notes(cni: Study) -> None:
    nothing = az.stats.compare_imports(az.latency(cni), az.latency(cni))
    assert isinstance(page.changes(nothing), Note) and isinstance(page.changes_forest(nothing), Note)
    assert "Not answerable" in str(page.find(nothing))
