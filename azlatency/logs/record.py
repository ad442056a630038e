"""What a parser writes into: the accounting of the lines of a source, and the rows of every table.

A `Recorder` belongs to one source. `Recorder.start_run` returns a `Run`, whose methods add metrics, quantiles,
intervals, samples and events. Rows are plain dictionaries with the column names of `azlatency.logs.schema`.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from azlatency.logs.grammar.rules import LineAccounting
from azlatency.logs.grammar.units import Quantity, count
from azlatency.logs.source.large import TooLargeError

if TYPE_CHECKING:
    from azlatency.logs.source.decode import Source

Row = dict[str, Any]
_TABLES = ("runs", "metrics", "quantiles", "intervals", "histograms", "events")
#: At most this many runs are read from one file: each needs up to 10 kB.
MOST_RUNS = 2**18


def run_id_of(source_id: str, number: int) -> str:
    """Return the identifier of a run of a source, which are counted from 1."""
    return f"{source_id}-{number:02d}"


@dataclass
class SampleBlock:
    """The samples of one run as columns of equal length (lists or arrays), named as in the table ``samples``."""

    run_id: str
    tool: str
    seq: Sequence[int]
    sent_ns: Sequence[int | None]
    rtt_ns: Sequence[int | None]
    status: Sequence[str]
    low_ns: Sequence[int | None] | None = None
    high_ns: Sequence[int | None] | None = None
    quantity: str = "round_trip"
    time_ns: Sequence[int | None] | None = None


class Recorder:
    """Receives what is read from one source: the kinds of its lines, the rows of all tables, and samples."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self.accounting = LineAccounting(source.line_count)
        self.rows: dict[str, list[Row]] = {name: [] for name in _TABLES}
        self.samples: list[SampleBlock] = []

    def start_run(self, tool: str, first_line: int, **fields: Any) -> Run:
        """Add a run of a tool and return it; ``fields`` are other columns of the table ``runs``."""
        runs, source_id = self.rows["runs"], self.source.source_id
        if self.is_full:
            text = f"from here on, nothing is read: there are more than {MOST_RUNS:,} runs in this file; split it"
            raise TooLargeError(text, first_line)
        run_id = run_id_of(source_id, len(runs) + 1)
        row: Row = {
            "run_id": run_id,
            "last_line": first_line,
            "source_id": source_id,
            "tool": tool,
            "status": "complete",
            **fields,
            "first_line": first_line,
        }
        runs.append(row)
        return Run(self, run_id, row, _first_quantile=len(self.rows["quantiles"]))

    @property
    def is_full(self) -> bool:
        """Whether no further run fits into memory."""
        return len(self.rows["runs"]) >= MOST_RUNS

    def add_event(self, code: str, severity: str, text: str, line: int, run_id: str | None = None) -> None:
        """Report something about a line, and what to do, as one sentence.

        ``code``: stable name of the kind of event, in snake case; ``severity``: ``"info"``, ``"warning"`` or
        ``"error"``, which means that the numbers of the log cannot be trusted as they are.
        """
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
    """One run that is being read; its methods add rows that belong to it.

    ``row``: that of the table ``runs``; ``codes``: those of the events of this run so far.
    """

    recorder: Recorder
    run_id: str
    row: Row
    _metrics: dict[tuple[str, str | None, str | None], Row] = field(default_factory=dict)
    codes: set[str] = field(default_factory=set)
    #: Earlier rows of the table quantiles belong to other runs; keeps the time linear for a file with many runs.
    _first_quantile: int = 0

    def set(self, **fields: Any) -> None:
        """Set columns of the run's row in the table ``runs``."""
        self.row.update(fields)

    def add_event(self, code: str, severity: str, text: str, line: int) -> None:
        """Report something about a line of this run; see `Recorder.add_event`."""
        self.codes.add(code)
        self.recorder.add_event(code, severity, text, line, self.run_id)

    def end_as(self, status: str, severity: str, text: str, line: int) -> None:
        """Set the status of the run, and report why, under the same name."""
        self.row["status"] = status
        self.add_event(status, severity, text, line)

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
        """Add one number, for example ``"rtt_mean"`` or ``"throughput"``, that a line prints.

        ``side``: ``"client"``, ``"server"``, ``"sender"``, ``"receiver"``, ``"local"``, ``"remote"`` or ``"device"``;
        ``stream``: stream or thread, None for the run as a whole; ``scope``, what the number covers: ``"run"``,
        ``"stream"``, ``"process"`` or ``"host"``. If the metric, side and stream already have a different value, an
        error event is added instead of a row.
        """
        value, unit, printed, resolution, printed_unit = quantity
        row: Row = {
            "run_id": self.run_id,
            "metric": name,
            "side": side,
            "stream": stream,
            "value": value,
            "unit": unit,
            "printed": printed,
            "printed_unit": printed_unit,
            "resolution": resolution,
            "scope": scope,
            "line": line,
        }
        present = self._metrics.setdefault((name, side, stream), row)
        if present is row:
            self.recorder.rows["metrics"].append(row)
        elif not math.isclose(present["value"], value, rel_tol=1e-12):
            text = f"{name} is {printed} here but {present['printed']} in line {present['line']}"
            self.add_event("value_conflict", "error", text, line)

    def add_counts(self, line: int, **counts: str | int | None) -> None:
        """Add counts by their names: tokens of a line, or integers that follow from it; None is missing."""
        for name, number in counts.items():
            if isinstance(number, str):
                self.add_metric(name, count(number), line)
            elif number is not None:
                self.add_metric(name, Quantity(float(number), "count", None, None), line)

    def value(self, name: str, *, side: str | None = None, stream: str | None = None) -> float | None:
        """Return the value of a metric added before, in its canonical unit, or None."""
        row = self._metrics.get((name, side, stream))
        return None if row is None else row["value"]

    def row_of(self, name: str, *, side: str | None = None, stream: str | None = None) -> Row | None:
        """Return the row of a metric added before, or None."""
        return self._metrics.get((name, side, stream))

    def metric_rows(self) -> Iterable[Row]:
        """Return the rows of the metrics added before, for every side and stream."""
        return self._metrics.values()

    def quantile_rows(self, metric: str, stream: str | None = None) -> list[Row]:
        """Return the quantiles of a metric added before."""
        rows = self.recorder.rows["quantiles"]
        if len(rows) == self._first_quantile:
            return []
        return [
            row
            for row in rows[self._first_quantile :]
            if row["metric"] == metric and row["stream"] == stream and row["run_id"] == self.run_id
        ]

    def quantile_places(self) -> list[tuple[str, str | None]]:
        """Return metric and stream of the quantiles added before."""
        if len(self.recorder.rows["quantiles"]) == self._first_quantile:
            return []
        rows = self.recorder.rows["quantiles"][self._first_quantile :]
        return list(dict.fromkeys((row["metric"], row["stream"]) for row in rows if row["run_id"] == self.run_id))

    def remove_metric(self, name: str) -> None:
        """Remove a metric that a later line shows to be missing."""
        row = self._metrics.pop((name, None, None), None)
        if row is not None:
            rows = self.recorder.rows["metrics"]
            del rows[next(index for index in reversed(range(len(rows))) if rows[index] is row)]

    def add_quantile(self, q: float, quantity: Quantity, line: int, **fields: Any) -> Row | None:
        """Add the quantile ``q`` (0.99 for the 99th percentile) that a line prints; return its row.

        ``fields``: other columns of the table ``quantiles``; ``metric`` is ``"rtt"`` unless given. None, and an error
        event, if ``q`` is not between 0 and 1.
        """
        if not 0 < q < 1:
            self.add_event("no_percentile", "error", f"p{100 * q:g} is not a percentile; its value is omitted", line)
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
        """Add one reporting interval; ``fields`` are columns of the table ``intervals``."""
        self.recorder.rows["intervals"].append({"run_id": self.run_id, **fields})

    def add_bucket(self, **fields: Any) -> None:
        """Add one histogram bucket; ``fields`` are columns of the table ``histograms``."""
        self.recorder.rows["histograms"].append({"run_id": self.run_id, **fields})

    def add_samples(self, **columns: Any) -> None:
        """Add the samples of the run as columns of equal length; see `SampleBlock`."""
        if len(columns["seq"]):
            self.recorder.samples.append(SampleBlock(self.run_id, self.row["tool"], **columns))
