"""Logs that are cut or joined must not give numbers that the complete logs do not give."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from azlatency.logs.parse import parse_source
from azlatency.logs.source.decode import source_from_bytes
from azlatency.logs.tables import Logs

METRICS = ("metric", "side", "stream", "value", "printed")


def read_log(text: str | bytes, name: str = "log.txt") -> Logs:
    return parse_source(source_from_bytes(text if isinstance(text, bytes) else text.encode(), name))


def event_code_set(logs: Logs) -> set[str]:
    return {event["code"] for event in logs.records("events")}


def rows_by_run(logs: Logs, table: str, columns: tuple[str, ...]) -> set[tuple[Any, ...]]:
    """The rows of a table as (ordinal of the run, columns…)."""
    ids = [run["run_id"] for run in logs.records("runs")]
    return {(ids.index(row["run_id"]), *(row[column] for column in columns)) for row in logs.records(table)}


def assert_cuts_add_no_rows(
    text: str,
    lengths: Iterable[int],
    *,
    tables: dict[str, tuple[str, ...]],
    loud: frozenset[str] = frozenset(),
) -> None:
    """Check that no cut of the text gives a row that the whole text does not, unless it has an event of ``loud``."""
    complete = {table: rows_by_run(read_log(text), table, columns) for table, columns in tables.items()}
    for length in lengths:
        part = read_log(text[:length])
        assert "parser_failed" not in event_code_set(part)
        if event_code_set(part) & loud:
            continue
        for table, columns in tables.items():
            assert rows_by_run(part, table, columns) <= complete[table], f"{table} after {text[:length][-90:]!r}"


def line_ends(text: str) -> list[int]:
    """The length of the text up to each line feed but the last."""
    ends = [index + 1 for index, character in enumerate(text) if character == "\n"]
    return [end for end in ends if end < len(text)]


def assert_joined_logs_keep_both_runs(first: str, second: str, columns_of_runs: tuple[str, ...]) -> None:
    """Check that two logs in one file give the runs and metrics of both."""
    one, two, both = read_log(first), read_log(second), read_log(first + second)
    shift = len(one.records("runs"))
    for table, columns in (("metrics", METRICS), ("runs", columns_of_runs)):
        shifted = {(ordinal + shift, *values) for ordinal, *values in rows_by_run(two, table, columns)}
        assert rows_by_run(both, table, columns) == rows_by_run(one, table, columns) | shifted
    assert both.records("sources")[0]["lines_unknown"] == 0
