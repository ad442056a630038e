"""The fixtures of the tests of parsers: short ways to a parsed text and to the numbers in the tables."""

from __future__ import annotations

from typing import Any

import pytest

import azlatency as az
from azlatency.logs.parse import parse_source
from azlatency.logs.source.decode import source_from_bytes
from azlatency.logs.tables import Logs
from helpers.places import SHARED

SEEDS = SHARED / "seeds"


class Read:
    """The tables of one text, with the questions that tests ask."""

    def __init__(self, tables: Logs) -> None:
        self.tables = tables
        self.runs = tables.rows["runs"]
        self.samples = tables.sample_blocks

    def metric(self, metric: str, run: int = 0, **where: Any) -> Any:
        """The row of a metric, None where there is none."""
        rows = (row for row in self.tables.rows["metrics"] if row["run_id"] == self.runs[run]["run_id"])
        wanted = {"metric": metric, **where}
        return next((row for row in rows if all(row[key] == value for key, value in wanted.items())), None)

    def value(self, metric: str, run: int = 0, **where: Any) -> Any:
        row = self.metric(metric, run, **where)
        return None if row is None else row["value"]

    def quantile(self, q: float, run: int = 0) -> float:
        rows = (row for row in self.tables.rows["quantiles"] if row["run_id"] == self.runs[run]["run_id"])
        return next(row["value_ns"] for row in rows if abs(row["q"] - q) < 1e-9)

    def of(self, tool: str, **where: Any) -> list[int]:
        """Ordinals of the runs of a tool."""
        wanted = {"tool": tool, **where}
        return [i for i, row in enumerate(self.runs) if all(row.get(key) == value for key, value in wanted.items())]

    def codes(self, severity: str | None = None) -> list[str]:
        return [row["code"] for row in self.tables.rows["events"] if severity in (None, row["severity"])]

    def unknown(self) -> int:
        return self.tables.rows["sources"][0]["lines_unknown"]


@pytest.fixture
def read():
    def from_text(text: str, name: str = "a.log") -> Read:
        return Read(parse_source(source_from_bytes(text.encode(), name)))

    return from_text


@pytest.fixture
def seed():
    def from_seed(name: str) -> Read:
        path = SEEDS / name
        if not path.exists():
            pytest.skip("the texts that the data sets come from are not here")
        return Read(az.parse(path))

    return from_seed
