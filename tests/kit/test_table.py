"""Tables from frames: cells, units, references, flags."""

from __future__ import annotations

import math

import pandas as pd

from azlatency.kit.cells import MICROSECONDS
from azlatency.kit.table import count, ends, flags, number, p_value, table, text

FRAME = pd.DataFrame(
    {"path": ["a → b", "b → a"], "n": [6, 1], "rtt": [412_345.0, math.nan], "low": [400e3, 1.0], "high": [420e3, 1e6],
     "p": [0.0001, 0.25], "flags": ["few_runs", "few_runs two_runs"], "run_ids": ["r1 r2", ""]}
)  # fmt: skip
COLUMNS = {
    "path": text("path", names_row=True),
    "runs": count("n"),
    "RTT": number("rtt", ",.1f", MICROSECONDS, missing="–"),
    "interval": ends("low", "high", ",.0f", MICROSECONDS, missing="not known"),
    "p": p_value("p"),
    "flags": flags(hide=["two_runs"]),
}


def test_a_table_shows_the_columns_of_a_frame_in_their_units() -> None:
    shown = table(FRAME, "Round trips", COLUMNS, ["A note."], value="median_ns")
    assert shown.headers == ["path", "runs", "RTT, µs", "interval, µs", "p", "flags"]
    assert shown.cells[0] == ("a → b", "6", "412.3", "400 – 420", "< 0.001", "few runs")
    assert shown.to_frame()["RTT, µs"].iloc[0] == 412.345


def test_missing_values_and_intervals_that_say_nothing_are_not_shown() -> None:
    assert table(FRAME, "Round trips", COLUMNS).cells[1] == ("b → a", "1", "–", "not known", "0.250", "few runs")


def test_rows_name_their_runs_and_each_flag_is_explained_once() -> None:
    shown = table(FRAME, "Round trips", COLUMNS, ["A note."], value="median_ns")
    record = shown.record()
    assert record["rows"][0]["refs"] == [{"ref": "RunsRef", "run_ids": ("r1", "r2"), "value": "median_ns"}]
    assert [note.partition(":")[0] for note in record["notes"]] == ["A note.", "Few runs", "Two runs"]
