"""Page 08: two tools on the same paths, with numbers read in the raw logs."""

from __future__ import annotations

import pandas as pd
import pytest
from helpers.studies import load
from helpers.tables import cell

import azlatency as az
from azlatency.kit.objects import Chart, Note
from azlatency.pages import tool_agreement as page
from azlatency.stats.across_runs.agreement import Agreement


@pytest.fixture(scope="module")
def found() -> Agreement:
    return az.stats.agreement(load("westeurope-azure-cni"))


def unlike(found: Agreement) -> pd.DataFrame:
    return found.methods.assign(first="other", differs_in="protocol", flags="type_p_mismatch")


def test_qperf_and_sockperf_agree_on_five_paths(found: Agreement) -> None:
    # Printed means: 16.9/16.791, 38.8/37.645, 60.5/60.563, 718/708.390, 699/698.945; geometric mean 1.010.
    table = page.agreements(found)
    assert cell(table, "qperf tcp_lat, sockperf TCP 14 B", "pairs") == "5"
    assert cell(table, "qperf tcp_lat, sockperf TCP 14 B", "ratio") == "1.010"
    text = str(page.find(found))
    assert "qperf tcp_lat and sockperf TCP 14 B agree within 5 % (ratio 1.010" in text and "5 pairs" in text


def test_the_table_the_sentence_and_the_picture_say_the_same_row(found: Agreement) -> None:
    (row,) = found.methods.to_dict("records")
    low, high = f"{row['ratio_low']:.3f}", f"{row['ratio_high']:.3f}"
    table, chart = page.agreements(found), page.agreement_plot(found)
    assert cell(table, "qperf", "95 % interval") == f"{low} – {high}"
    assert f"interval {low} to {high}" in str(page.find(found))
    assert isinstance(chart, Chart) and "mean ratio 1.01 [0.994, 1.026], equivalent" in chart.alt


def test_each_path_has_the_ratio_of_the_printed_means(found: Agreement) -> None:
    chart = page.agreement_plot(found)
    # 38.8 us of qperf over 37.645 us of sockperf
    assert isinstance(chart, Chart) and "AZ1 - AZ1" in chart.alt and "1.031" in chart.alt
    rows = [item.get_text() for item in chart.figure.axes[0].get_yticklabels()]
    assert rows[-2:] == ["mean ratio", "new pair, prediction"] and len(rows) == 7
    low, high = chart.figure.axes[0].get_xlim()
    assert 1 / 1.1 < low < 1 / 1.05 and 1.05 < high < 1.1


def test_methods_that_send_different_packets_have_no_ratio(found: Agreement) -> None:
    both = found._replace(methods=pd.concat([found.methods, unlike(found)]))
    note = page.agreement_plot(found._replace(methods=unlike(found)))
    assert isinstance(note, Note) and "no two methods of this study sent the same packets" in note.text
    chart = page.agreement_plot(both)
    assert isinstance(chart, Chart) and len(chart.figure.axes) == 1
    assert cell(page.agreements(both), "other", "verdict") == "different packets: protocol"
    assert "Different packets: other and sockperf TCP 14 B." in str(page.find(both))


def test_of_many_tools_those_with_the_reference_are_drawn() -> None:
    chart = page.agreement_plot(az.stats.agreement(load("emulated-zones")), "lagscope TCP")
    assert isinstance(chart, Chart)
    titles = [axis.get_title(loc="left") for axis in chart.figure.axes]
    assert len(titles) == 2 and all(title.startswith("lagscope TCP ÷ ") for title in titles)


def test_a_study_of_one_tool_has_notes() -> None:
    nothing = Agreement(pd.DataFrame(), pd.DataFrame())
    assert isinstance(page.agreements(nothing), Note) and isinstance(page.agreement_plot(nothing), Note)
    assert "cannot be assessed" in str(page.find(nothing))
