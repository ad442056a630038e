from __future__ import annotations

from datetime import UTC, datetime

import pytest
from helpers.parsed import Read
from helpers.short_logs import PING, QPERF

from azlatency.logs.parse import parse_source
from azlatency.logs.source.decode import source_from_bytes

FIRST, SECOND, THIRD = (f"Tue Nov  1 18:29:4{second} UTC 2016\n" for second in (6, 7, 8))


def read(text: str) -> Read:
    return Read(parse_source(source_from_bytes(text.encode(), "a.log")))


def starts(log: Read) -> list[int | None]:
    """The second of the start of each run."""
    return [None if (start := row.get("started_at")) is None else start.second for row in log.runs]


@pytest.mark.parametrize(
    "date",
    [
        "Tue Nov  1 18:29:46 UTC 2016",
        "Tue Nov  1 06:29:46 PM UTC 2016",
        "Tue 01 Nov 2016 06:29:46 PM UTC",
        "Tue, 01 Nov 2016 19:29:46 +0100",
        "2016-11-01T18:29:46Z",
        "2016-11-01 13:59:46.000000000-04:30",
        "2016-11-02T00:29:46,5+06",
    ],
)
def test_a_date_above_a_log_is_its_start(date: str) -> None:
    log = read(f"{date}\n{QPERF}")
    [run] = log.runs
    assert run["started_at"].replace(microsecond=0) == datetime(2016, 11, 1, 18, 29, 46, tzinfo=UTC)
    assert (log.unknown(), log.codes()) == (0, [])


def test_a_prompt_may_stand_between_the_date_and_the_log() -> None:
    log = read(f"user@vm1:~$ date\n{FIRST}user@vm1:~$ qperf 10.0.0.4 tcp_lat\n{QPERF}")
    assert starts(log) == [46]


@pytest.mark.parametrize(
    ("date", "why"),
    [
        ("Tue Nov  1 18:29:46 2016", "no time zone"),
        ("Tue Nov  1 18:29:46 CST 2016", "CST, which is not one time zone"),
        ("Tue Nov  1 18:29:46 PM UTC 2016", "not one: "),
    ],
)
def test_a_date_without_a_certain_time_zone_is_told(date: str, why: str) -> None:
    log = read(f"{date}\n{QPERF}")
    assert starts(log) == [None]
    [event] = log.tables.rows["events"]
    assert (event["code"], event["line"]) == ("start_time_unknown", 1)
    assert why in event["text"] and event["text"].endswith("add it to study.toml")


@pytest.mark.parametrize(
    ("text", "seconds", "unknown"),
    [
        (FIRST + QPERF + SECOND + PING, [46, 47], 0),
        (FIRST + PING + SECOND + QPERF, [46, 47], 0),
        (FIRST + QPERF + SECOND, [46], 1),
        (FIRST + QPERF + SECOND + PING + THIRD, [46, None], 2),  # the start of the second, or the end of the first
        (FIRST + QPERF + SECOND + THIRD + PING + SECOND, [46, 48], 2),
        (QPERF + FIRST + PING + SECOND, [None, None], 2),
        (QPERF + FIRST + PING, [None, None], 1),
        (FIRST + "a remark\n" + QPERF, [None], 2),
        ("Mon Nov  1 18:29:46 UTC 2016\n" + QPERF, [None], 1),  # it was a Tuesday
        ("2016-02-30 18:29:46Z\n" + QPERF, [None], 1),
    ],
)
def test_dates_that_may_be_the_end_of_a_log_are_not_used(text: str, seconds: list[int], unknown: int) -> None:
    log = read(text)
    assert starts(log) == seconds
    assert log.unknown() == unknown


def test_a_log_that_prints_its_start_keeps_it() -> None:
    log = read(FIRST + PING.replace("64 bytes", "[1478025000.500000] 64 bytes"))
    assert starts(log) == [0]
