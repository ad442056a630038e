"""The tables of the page on stability against the numbers of a text."""

from __future__ import annotations

from helpers.tables import cell

import azlatency as az
from azlatency.kit.objects import Note
from azlatency.report import tables
from azlatency.studies.store.study import Study


def test_the_last_change_before_a_break_is_the_reported_one(echo: Study) -> None:
    # Text: 955.87, then 789.58 in the last 100 records; "Down by 166.29 μs".
    table = tables.stability.segments(az.stats.time_series.reported_segments(echo.reported))
    assert cell(table, "Same AZ", "last change, µs") == "-166.29"


def test_connections_end_as_reported(echo: Study) -> None:
    # 10:04:12, 13:23:55 and 13:23:58: 11,983 s and 11,986 s after the first.
    table = tables.stability.ends(az.stats.time_series.reported_connection_ends(echo.reported))
    assert cell(table, "Cross AZ", "broke at, as printed") == "2025-03-20 13:23:58"
    assert cell(table, "Cross AZ", "seconds after the first") == "11,986"


def test_the_spread_is_relative_to_the_mean(echo: Study) -> None:
    # 2,250 us / 1,425 us
    table = tables.stability.reported_spread(az.stats.time_series.reported_spread(echo.reported))
    assert cell(table, "Cross AZ", "p99, µs") == "2,250" and cell(table, "Cross AZ", "p99 ÷ mean") == "1.58"


def test_studies_without_samples_or_texts_have_notes() -> None:
    stability = tables.stability
    for note in (
        stability.runs_in_time([]),
        stability.shifts([]),
        stability.ends(None),
        stability.segments([]),
        stability.reported_spread([]),
        stability.rates([]),
    ):
        assert isinstance(note, Note)
