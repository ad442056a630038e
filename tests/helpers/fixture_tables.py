"""What the tables of every fixture contain, as one digest per log: ``python -m helpers.fixture_tables`` prints JSON."""

from __future__ import annotations

import hashlib
import json

import azlatency as az
from helpers.places import FIXTURES

TABLES = ("sources", "runs", "metrics", "quantiles", "intervals", "histograms", "events")
#: Columns that differ between two versions of the code.
VOLATILE = {"parser_version", "imported_at"}


def digest(logs: az.Logs) -> str:
    rows = [{key: row[key] for key in row.keys() - VOLATILE} for table in TABLES for row in logs.records(table)]
    samples = [(block.run_id, list(block.seq), list(block.rtt_ns), list(block.status)) for block in logs.sample_blocks]
    return hashlib.sha256(json.dumps([rows, samples], default=str, sort_keys=True).encode()).hexdigest()


def contents() -> dict[str, dict[str, object]]:
    """The digest, the tools of the runs and the errors and warnings of each fixture, by its name."""
    found: dict[str, dict[str, object]] = {}
    for path in sorted(FIXTURES.glob("*/*")):
        if path.is_file() and not path.name.endswith((".expected.json", ".md")):
            logs = az.parse(path)
            found[path.relative_to(FIXTURES).as_posix()] = {
                "digest": digest(logs),
                "tools": sorted({run["tool"] for run in logs.records("runs")}),
                "problems": [event["text"] for event in logs.records("events") if event["severity"] != "info"],
            }
    return found


if __name__ == "__main__":
    print(json.dumps(contents()))
