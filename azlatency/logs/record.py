"""What a parser writes into: the ledger of its source and the rows of every table.

A `Recorder` belongs to one source; `Recorder.start_run` opens a run and returns a `Run`, whose methods add metrics,
quantiles, intervals, samples and events. Rows are plain dicts with the column names of `azlatency.logs.schema`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from azlatency.logs.grammar import LineAccounting
from azlatency.logs.units import Quantity

if TYPE_CHECKING:
    from azlatency.logs.decode import Source

Row = dict[str, Any]


@dataclass
class SampleBlock:
    """The samples of one run as columns (lists or arrays of equal length); ``low_ns``/``high_ns`` may be absent."""

    run_id: str
    tool: str
    seq: Sequence[int]
    sent_ns: Sequence[int | None]
    rtt_ns: Sequence[int | None]
    status: Sequence[str]
    low_ns: Sequence[int | None] | None = None
    high_ns: Sequence[int | None] | None = None


class Recorder:
    """The tables and the ledger of one source."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self.accounting = LineAccounting(source.line_count)
        self.rows: dict[str, list[Row]] = {
            name: [] for name in ("runs", "metrics", "quantiles", "intervals", "histograms", "events")
        }
        self.samples: list[SampleBlock] = []

    def start_run(self, tool: str, first_line: int, **fields: Any) -> Run:
        """Open a run that begins at ``first_line``; ``fields`` are columns of the table ``runs``."""
        run_id = f"{self.source.source_id}-{len(self.rows['runs']) + 1:02d}"
        row: Row = {"run_id": run_id, "source_id": self.source.source_id, "tool": tool, "first_line": first_line}
        row["last_line"] = first_line
        row["status"] = "complete"
        row.update(fields)
        self.rows["runs"].append(row)
        return Run(self, run_id, row, _first_quantile=len(self.rows["quantiles"]))

    def add_event(self, code: str, severity: str, text: str, line: int, run_id: str | None = None) -> None:
        """Tell something about a line; ``severity`` is info, warning or error."""
        self.rows["events"].append(
            {
                "source_id": self.source.source_id,
                "run_id": run_id,
                "line": line,
                "code": code,
                "severity": severity,
                "text": text,
            }
        )


@dataclass
class Run:
    """One run being read; the methods add rows that belong to it."""

    recorder: Recorder
    run_id: str
    row: Row
    _metrics: dict[tuple[str, str | None, str | None], Row] = field(default_factory=dict)
    codes: set[str] = field(default_factory=set)
    """Codes of the events told so far."""
    _first_quantile: int = 0
    """Rows of quantiles before this one belong to other runs; keeps a file of many runs linear."""

    def set(self, **fields: Any) -> None:
        """Set columns of the run's row in the table ``runs``."""
        self.row.update(fields)

    def add_event(self, code: str, severity: str, text: str, line: int) -> None:
        """Tell something about a line of this run."""
        self.codes.add(code)
        self.recorder.add_event(code, severity, text, line, self.run_id)

    def add_metric(
        self,
        name: str,
        quantity: Quantity,
        line: int,
        *,
        side: str | None = None,
        stream: str | None = None,
        scope: str = "run",
    ) -> None:
        """Add one number. A second, different value for the same metric, side and stream is an event, not a row."""
        key = (name, side, stream)
        if (present := self._metrics.get(key)) is not None:
            if not math.isclose(present["value"], quantity.value, rel_tol=1e-12):
                text = f"{name} is {quantity.printed} here and {present['printed']} in line {present['line']}"
                self.add_event("value_conflict", "error", text, line)
            return
        row: Row = {
            "run_id": self.run_id,
            "metric": name,
            "side": side,
            "stream": stream,
            "value": quantity.value,
            "unit": quantity.unit,
            "printed": quantity.printed,
            "printed_unit": quantity.printed_unit,
            "resolution": quantity.resolution,
            "scope": scope,
            "line": line,
        }
        self._metrics[key] = row
        self.recorder.rows["metrics"].append(row)

    def value(self, name: str, *, side: str | None = None, stream: str | None = None) -> float | None:
        """The value of a metric added before, in its canonical unit, or None."""
        row = self._metrics.get((name, side, stream))
        return None if row is None else row["value"]

    def row_of(self, name: str, *, side: str | None = None, stream: str | None = None) -> Row | None:
        """The row of a metric added before, or None."""
        return self._metrics.get((name, side, stream))

    def metric_rows(self, name: str) -> list[Row]:
        """The rows of a metric added before, of every side and stream."""
        return [row for (metric, _, _), row in self._metrics.items() if metric == name]

    def quantile_rows(self, metric: str, stream: str | None = None) -> list[Row]:
        """The quantiles of a metric added before."""
        rows = self.recorder.rows["quantiles"][self._first_quantile :]
        return [
            row for row in rows if row["metric"] == metric and row["stream"] == stream and row["run_id"] == self.run_id
        ]

    def remove_metric(self, name: str, *, side: str | None = None, stream: str | None = None) -> None:
        """Take a metric back that a later line shows to be missing, not zero."""
        row = self._metrics.pop((name, side, stream), None)
        if row is not None:
            self.recorder.rows["metrics"].remove(row)

    def add_quantile(self, q: float, quantity: Quantity, line: int, **fields: Any) -> Row | None:
        """Add a printed quantile of the round trip (or of ``metric=``); returns the row for later completion.

        What is not between 0 and 1 is no quantile: an event, and nothing is added.
        """
        if not 0 < q < 1:
            self.add_event("no_percentile", "error", f"p{100 * q:g} is no percentile; its value is left out", line)
            return None
        row: Row = {
            "run_id": self.run_id,
            "metric": "rtt",
            "stream": None,
            "q": q,
            "value_ns": quantity.value,
            "printed": quantity.printed,
            "printed_unit": quantity.printed_unit,
            "resolution_ns": quantity.resolution,
            "n": None,
            "rank": None,
            "beyond": None,
            "origin": "printed",
            "resolved": None,
            "line": line,
            **fields,
        }
        self.recorder.rows["quantiles"].append(row)
        return row

    def add_interval(self, **fields: Any) -> None:
        """Add one reporting interval; columns as in the schema, absent ones are null."""
        self.recorder.rows["intervals"].append({"run_id": self.run_id, **fields})

    def add_bucket(self, **fields: Any) -> None:
        """Add one histogram bucket."""
        self.recorder.rows["histograms"].append({"run_id": self.run_id, **fields})

    def add_samples(self, **columns: Any) -> None:
        """Add the run's samples as columns; see `SampleBlock`."""
        if len(columns["seq"]):
            self.recorder.samples.append(SampleBlock(self.run_id, self.row["tool"], **columns))
