"""Reading a log that a test spells out, and what the tables say about it."""

from __future__ import annotations

from typing import Any

from azlatency.logs.parse import parse_source
from azlatency.logs.source.decode import source_from_bytes
from azlatency.logs.tables import Logs


def read_text(text: str) -> Logs:
    return parse_source(source_from_bytes(text.encode(), "a.log"))


def metric_values(logs: Logs, run: int = 0) -> dict[str, float]:
    run_id = logs.rows["runs"][run]["run_id"]
    return {row["metric"]: row["value"] for row in logs.rows["metrics"] if row["run_id"] == run_id}


def event_codes(logs: Logs) -> list[str]:
    return [row["code"] for row in logs.rows["events"]]


def first_run(logs: Logs) -> dict[str, Any]:
    return logs.rows["runs"][0]
