"""The map of zones, with times of runs that the tests choose."""

from __future__ import annotations

from itertools import combinations_with_replacement
from typing import Literal

import pandas as pd
import pytest
from helpers.chart_checks import assert_fit_to_print

from azlatency.kit.objects import Chart, Note
from azlatency.shapes.zone_map import zone_map


def zone_runs(*pairs: tuple[str, str, list[float]], path: str = "", method: str = "") -> pd.DataFrame:
    """Return a run per value, as `az.stats.zone_pairs` does."""
    rows = [(first, second, path, method, value) for first, second, values in pairs for value in values]
    frame = pd.DataFrame(rows, columns=["first", "second", "path", "method", "value"])
    return frame.assign(quantity="mean RTT, qperf", run_ids="")


def test_the_map_writes_times_on_the_edges_and_marks_far_pairs() -> None:
    chart = zone_map(zone_runs(("1", "1", [77.6e3]), ("1", "2", [121e3]), ("1", "3", [1398e3]), ("2", "3", [1436e3])))
    assert isinstance(chart, Chart)
    texts = {text.get_text() for text in chart.figure.axes[0].texts}
    assert {"121 µs", "1,398 µs", "1,436 µs", "inside: 77.6 µs"} <= texts
    assert chart.figure.axes[0].get_xlabel() == "schematic: places and lengths mean nothing"
    assert [line.get_linestyle() for line in chart.figure.axes[0].lines[:3]] == ["-", "--", "--"]


def test_repeated_runs_show_their_median_and_range_and_an_emulated_link_its_delay() -> None:
    link = zone_runs(("1", "2", [150e3, 160e3, 900e3]), path="a → b", method="qperf tcp_lat")
    links = pd.DataFrame({"delay_ns": [50e3, 70e3]}, index=["a → b", "b → a"])
    chart = zone_map(pd.concat([link, zone_runs(("1", "3", [2e6]))], ignore_index=True), links)
    assert isinstance(chart, Chart) and "as first configured" in chart.caption
    assert "160 µs\n(150–900 µs)\n× 120 µs" in {text.get_text() for text in chart.figure.axes[0].texts}


def test_pairs_that_are_tied_are_named_together_with_the_median_run_of_each_path() -> None:
    there = zone_runs(("1", "2", [100e3, 100e3, 300e3]), path="a → b")
    back = zone_runs(("1", "2", [120e3, 120e3, 120e3]), path="b → a")
    others = zone_runs(("1", "3", [830e3]), ("2", "3", [853e3]))
    chart = zone_map(pd.concat([there, back, others], ignore_index=True))
    assert isinstance(chart, Chart)
    assert chart.title == "From 100–120 µs (zones 1–2) to 830–853 µs (zone 3 to the others), mean RTT, qperf"


@pytest.mark.costly
@pytest.mark.parametrize("zones", [6, 12])
@pytest.mark.parametrize("width", ["double", "single"])
def test_many_zones_are_a_heat_map_with_every_value(zones: int, width: Literal["double", "single"]) -> None:
    names = [f"zone-{number}" for number in range(10, 10 + zones)]
    ends = list(combinations_with_replacement(names, 2))
    pairs = zone_runs(*((*both, [50e3 + 1e3 * place]) for place, both in enumerate(ends)))
    chart = zone_map(pairs[:-1], width=width)
    assert isinstance(chart, Chart)
    texts = assert_fit_to_print("heat map", chart)
    assert {f"{50 + place:.1f}" if place < 50 else f"{50 + place}" for place in range(len(pairs) - 1)} <= set(texts)
    assert {*names} <= set(texts) and "in µs" in chart.caption and "zone-10 – zone-11: 51.0 µs" in chart.alt


def test_a_map_of_more_zones_than_a_heat_map_holds_is_a_sentence() -> None:
    chart = zone_map(zone_runs(*(("1", str(number), [50e3]) for number in range(2, 15))))
    assert isinstance(chart, Note) and "14 zones are too many" in chart.text


def test_without_zone_pairs_there_is_no_map() -> None:
    assert isinstance(zone_map(zone_runs(("1", "1", [77.6e3]))), Note)
    # The number of one pair needs no map.
    assert isinstance(zone_map(zone_runs(("1", "1", [77.6e3]), ("1", "2", [121e3]))), Note)


def test_a_number_of_a_map_has_the_digits_of_its_log() -> None:
    chart = zone_map(zone_runs(("1", "1", [74e3]), ("1", "2", [384e3]), ("1", "3", [99.5e3])).assign(step=1e3))
    assert isinstance(chart, Chart) and "inside 1: 74 µs" in chart.alt


def test_wide_numbers_of_a_narrow_map_do_not_hide_each_other() -> None:
    there, back = ([(*ends, [low, low + 5e3, low + 9e3]) for ends in ("12", "13", "23")] for low in (1.222e6, 1.575e6))
    inside = zone_runs(("1", "1", [80e3, 81e3, 82e3]))
    pairs = pd.concat([zone_runs(*there, path="a"), zone_runs(*back, path="b"), inside], ignore_index=True)
    chart = zone_map(pairs, width="single")
    assert isinstance(chart, Chart)
    assert "1,227–1,580 µs\n(1,222–1,584 µs)" in assert_fit_to_print("a narrow map", chart)


def test_the_last_line_below_a_zone_of_a_narrow_map_is_inside_the_figure() -> None:
    inside = [(str(zone), str(zone), [75e3, 79e3, 316e3]) for zone in (1, 2, 3)]
    across = [("1", "2", [349e3]), ("1", "3", [897e3]), ("2", "3", [562e3])]
    links = pd.DataFrame({"delay_ns": [20e3, 18e3]}, index=["a → b", "b → a"])
    runs = zone_runs(*inside, *across, path="a → b")
    chart = zone_map(runs, links, width="single")
    assert isinstance(chart, Chart)
    chart.figure.draw_without_rendering()
    notes = [text for text in chart.figure.axes[0].texts if text.get_text().startswith("inside")]
    assert [text.get_text().count("\n") for text in notes] == [2, 2, 2]
    assert min(text.get_window_extent().y0 for text in notes) > 0


def test_zones_of_two_regions_are_not_one_map() -> None:
    one = zone_runs(("1", "2", [117e3]), ("1", "3", [117e3]))
    both = pd.concat([one.assign(within="francecentral"), one.assign(within="japaneast")], ignore_index=True)
    chart = zone_map(both)
    assert isinstance(chart, Note) and "pairs of zones are of 2 regions or scenarios" in chart.text
    assert isinstance(zone_map(one.assign(within="")), Chart)
