"""The findings of the page on stability."""

from __future__ import annotations

import azlatency as az
from azlatency.report import findings
from azlatency.studies.store.study import Study


def test_reported_changes_and_breaks_are_named(echo: Study) -> None:
    series = az.stats.time_series
    text = str(
        findings.stability.find(
            [],
            series.reported_segments(echo.reported),
            series.reported_connection_ends(echo.reported),
            series.reported_spread(echo.reported),
            [],
        )
    )
    # 955.87 us, then 789.58 us; breaks at 10:04:12, 13:23:55 and 13:23:58; p99 2,250 us over a mean of 1,425 us
    assert "Same AZ" in text and "-166.29 µs" in text
    assert "2 of the 3 connections" in text and "200 min" in text and "Cross AZ 1.58" in text
