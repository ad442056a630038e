"""A log with its expected values and its tables, and the comparisons that a mapping makes."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from azlatency.logs.tables import Logs

EXACT = 1e-9
Row = dict[str, Any]


@dataclass(frozen=True)
class Check:
    """One expected value in the canonical unit, and all values of the tables that may match it."""

    key: str
    expected: Any
    found: list[Any]
    tolerance: float

    @property
    def verdict(self) -> str:
        """``equal``, ``missing`` or ``wrong``."""
        if not self.found:
            return "missing"
        return "equal" if any(self._same(value) for value in self.found) else "wrong"

    def _same(self, value: Any) -> bool:
        if isinstance(value, str) or isinstance(self.expected, str):
            return str(value) == str(self.expected)
        return math.isclose(value, self.expected, rel_tol=self.tolerance, abs_tol=1e-9)


@dataclass
class Case:
    """One log: its expected values, its tables, and the comparisons made so far."""

    path: Path
    name: str
    document: Row
    tables: Logs
    checks: list[Check] = field(default_factory=list)
    used: set[str] = field(default_factory=set)

    @property
    def expected(self) -> Row:
        """The expected values as written in the corpus."""
        return self.document.get("expected") or {}

    @property
    def runs(self) -> list[Row]:
        """Rows of the table runs."""
        return self.tables.rows["runs"]

    def text(self) -> str:
        """Return the text of the log, which some expected values refer to."""
        return self.path.read_bytes().decode("utf-8", "replace")

    # --- the tables

    def of(self, **columns: Any) -> list[int]:
        """Return the ordinals of the runs with these columns."""
        return [i for i, run in enumerate(self.runs) if all(run.get(name) == value for name, value in columns.items())]

    def column(self, name: str, run: int | None = None) -> list[Any]:
        """Return a column of the table runs without nulls."""
        rows = self.runs if run is None else self.runs[run : run + 1]
        return [row[name] for row in rows if row.get(name) is not None]

    def metric(self, name: str, run: int | None = None, **where: Any) -> list[float]:
        """Return the values of a metric; ``side`` and ``stream`` restrict the rows."""
        return [row["value"] for row in self._rows("metrics", run, metric=name, **where)]

    def quantile(self, q: float, run: int | None = None, **where: Any) -> list[float]:
        """Return the values of a quantile."""
        rows = self._rows("quantiles", run, **{"metric": "rtt", **where})
        return [row["value_ns"] for row in rows if math.isclose(row["q"], q, abs_tol=1e-9)]

    def intervals(self, run: int | None = None, **where: Any) -> list[Row]:
        """Return rows of the table intervals."""
        return list(self._rows("intervals", run, **where))

    def buckets(self, run: int | None = None, **where: Any) -> list[Row]:
        """Return rows of the table histograms."""
        return list(self._rows("histograms", run, **where))

    def samples(self, run: int | None = None, *, statuses: Iterable[str] = ("ok",)) -> list[int | None]:
        """Return the round-trip times of the samples with one of the statuses, in order."""
        times: list[int | None] = []
        for block in self.tables.sample_blocks:
            if run is None or block.run_id == self.runs[run]["run_id"]:
                pairs = zip(block.rtt_ns, block.status, strict=True)
                times += [_plain(rtt) for rtt, status in pairs if _plain(status) in statuses]
        return times

    def codes(self) -> set[str]:
        """Return the codes of all events."""
        return {row["code"] for row in self.tables.rows["events"]}

    def _rows(self, table: str, run: int | None, **where: Any) -> Iterator[Row]:
        run_id = None if run is None else (self.runs[run]["run_id"] if run < len(self.runs) else "none")
        for row in self.tables.rows[table]:
            if run_id in (None, row["run_id"]) and all(row.get(name) == value for name, value in where.items()):
                yield row

    # --- comparisons

    def check(self, key: str, expected: Any, found: list[Any], *, tolerance: float = EXACT) -> None:
        """Compare one expected value; null means that nothing is expected."""
        self.used.add(key)
        if expected is not None:
            self.checks.append(Check(key, expected, found, tolerance))

    def facts(self, *keys: str) -> None:
        """Mark keys that contain words, remarks or derived values, which the tables do not have."""
        self.used.update(keys)

    def unused(self) -> list[str]:
        """Return the keys of the expected values that the mapping did not use."""
        covered = tuple(self.used)
        return [key for key in leaves(self.expected) if not any(_within(key, parent) for parent in covered)]


Mapping = Callable[[Case], None]


def leaves(value: Any, prefix: str = "") -> Iterator[str]:
    """Yield the dotted paths of all values in a document."""
    if isinstance(value, dict):
        for name, inner in value.items():
            yield from leaves(inner, f"{prefix}.{name}" if prefix else str(name))
    elif isinstance(value, list) and value and isinstance(value[0], dict | list):
        for position, inner in enumerate(value):
            yield from leaves(inner, f"{prefix}.{position}")
    elif value is not None:
        yield prefix


def _within(key: str, parent: str) -> bool:
    return key == parent or key.startswith(parent + ".")


def _plain(value: Any) -> Any:
    return value.as_py() if hasattr(value, "as_py") else (value.item() if hasattr(value, "item") else value)
