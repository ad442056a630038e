"""What a parser writes into: the accounting of the lines of a source, and the rows of every table.

A `Recorder` belongs to one source. `Recorder.start_run` returns a `Run`, whose methods add metrics, quantiles,
intervals, samples and events. Rows are plain dictionaries with the column names of `azlatency.logs.schema`.
"""

from __future__ import annotations

import math
import weakref
from collections.abc import Iterable, MutableSequence, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from azlatency.logs.grammar import LineAccounting
from azlatency.logs.large import MOST_IN_MEMORY, FileText, Integers, Labels, TooLargeError
from azlatency.logs.rows import Columns, Rows, joined
from azlatency.logs.spool import BLOCK, Spool, remove
from azlatency.logs.units import Quantity

if TYPE_CHECKING:
    from azlatency.logs.decode import Source

Row = dict[str, Any]
#: Tables whose rows are changed until their run ends.
_CHANGING = ("runs", "metrics", "quantiles")
_APPENDED = ("intervals", "histograms", "events")
#: A run needs up to 60 bytes in an import.
MOST_RUNS = 2**21


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


class SampleBlocks(Spool[SampleBlock]):
    """The samples of the runs of a large log. Those of many short runs move into a file together."""

    _waiting = 0

    def append(self, value: SampleBlock) -> None:
        """Add the samples of a run."""
        columns = [column for column in vars(value).values() if isinstance(column, Integers | Labels)]
        if any(column.in_file for column in columns):
            for column in columns:
                column.settle()
            self.add_part((value,))
            return
        super().append(value)
        self._waiting += len(value.seq)
        if self._waiting >= MOST_IN_MEMORY // 4:
            self.settle(len(self.tail()), whole_blocks=False)
            self._waiting = 0


class Recorder:
    """Receives everything that is read from one source.

    Attributes
    ----------
    source : Source
        The source that is being read.
    accounting : LineAccounting
        The kind of every line.
    rows : dict of str to sequence of dict
        The rows of every table but ``sources`` and ``samples``.
    samples : sequence of SampleBlock
        The samples of each run.
    """

    def __init__(self, source: Source) -> None:
        self.source = source
        self.accounting = LineAccounting(source.line_count)
        self._is_large = isinstance(source.text, FileText)
        self.rows: dict[str, MutableSequence[Row]] = {name: [] for name in (*_CHANGING, *_APPENDED)}
        if self._is_large:
            self.rows = {name: Rows(settles=name not in _CHANGING, in_file=True) for name in self.rows}
        self.samples: MutableSequence[SampleBlock] = SampleBlocks() if self._is_large else []
        self._open: list[weakref.ref[Run]] = []
        self._most_open = BLOCK // 8

    def start_run(self, tool: str, first_line: int, **fields: Any) -> Run:
        """Add a run.

        Parameters
        ----------
        tool : str
            Name of the tool.
        first_line : int
            1-based number of the first line of the run.
        **fields
            Other columns of the table ``runs``.

        Returns
        -------
        Run
            The run, to which numbers can be added.
        """
        runs, source_id = self.rows["runs"], self.source.source_id
        self._check_room(first_line)
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
        run = Run(self, run_id, row, _first_quantile=len(self.rows["quantiles"]))
        if self._is_large:
            self._open.append(weakref.ref(run))
            if len(self._open) > self._most_open:
                self._settle_ended()
        return run

    def add_runs(self, tool: str, rows: Iterable[Row], **fields: Any) -> list[str]:
        """Add runs that end, and of which the caller adds the numbers as columns.

        Parameters
        ----------
        tool : str
            Name of the tool.
        rows : iterable of dict
            Columns of the table ``runs``, of which ``first_line`` is required.
        **fields
            Columns that all of them have.

        Returns
        -------
        list of str
            The identifiers of the runs.
        """
        runs, source_id = self.rows["runs"], self.source.source_id
        shared = {"source_id": source_id, "tool": tool, "status": "complete", **fields}
        run_ids = []
        for number, row in enumerate(rows, start=len(runs) + 1):
            self._check_room(row["first_line"])
            run_ids.append(run_id := run_id_of(source_id, number))
            runs.append({"run_id": run_id, "last_line": row["first_line"], **shared, **row})
        if self._is_large and len(run_ids) > 1:
            self._settle_ended()
        return run_ids

    @property
    def is_full(self) -> bool:
        """Whether no further run fits into memory."""
        return len(self.rows["runs"]) >= MOST_RUNS

    def _check_room(self, line: int) -> None:
        """Raise `TooLargeError` if no further run, which begins in a line, fits into memory."""
        if self.is_full:
            text = f"from here on, nothing is read: there are more than {MOST_RUNS:,} runs in this file; split it"
            raise TooLargeError(text, line)

    def _settle_ended(self) -> None:
        """Let the rows of the first runs move into a file, up to a run to which the parser still refers."""
        self._open = [of_run for of_run in self._open if of_run() is not None]
        self._most_open = 2 * len(self._open) + BLOCK // 8
        in_use = {run.run_id for of_run in self._open if (run := of_run()) is not None}
        for name in _CHANGING:
            if isinstance(rows := self.rows[name], Rows):
                tail = rows.tail()
                rows.settle(next((at for at, row in enumerate(tail) if row["run_id"] in in_use), len(tail)))

    def add_columns(self, table: str, length: int, **columns: Any) -> None:
        """Add many rows of a table as columns; see `azlatency.logs.rows.Columns`.

        Metrics that are added in this way are not found by `Run.value` and `Run.row_of`, and the caller knows that none
        of them is printed twice.
        """
        self.add_rows(table, Columns(length, columns))

    def add_rows(self, table: str, rows: Iterable[Row]) -> None:
        """Add rows of a table, which stay `azlatency.logs.rows.Columns` if they are."""
        self.rows[table] = joined(self.rows[table], rows)

    def add_event(self, code: str, severity: str, text: str, line: int, run_id: str | None = None) -> None:
        """Report something about a line.

        Parameters
        ----------
        code : str
            Stable name of the kind of event, in snake case.
        severity : {"info", "warning", "error"}
            An error means that the numbers of the log cannot be trusted as they are.
        text : str
            What is wrong and what to do, as one sentence.
        line : int
            1-based number of the line.
        run_id : str, optional
            The run that the line belongs to.
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

    Attributes
    ----------
    recorder : Recorder
        The recorder of the source.
    run_id : str
        Identifier of the run.
    row : dict
        The row of the table ``runs``.
    codes : set of str
        Codes of the events of this run so far.
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
        """Add one number.

        Parameters
        ----------
        name : str
            Name of the metric, for example ``"rtt_mean"`` or ``"throughput"``.
        quantity : Quantity
            The number in its canonical unit.
        line : int
            1-based number of the line that prints it.
        side : str, optional
            ``"client"``, ``"server"``, ``"sender"``, ``"receiver"``, ``"local"``, ``"remote"`` or ``"device"``.
        stream : str, optional
            Stream or thread; None for the run as a whole.
        scope : str
            What the number covers: ``"run"``, ``"stream"``, ``"process"`` or ``"host"``.

        Notes
        -----
        If the metric, side and stream already have a different value, an error event is added instead of a row.
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

    def value(self, name: str, *, side: str | None = None, stream: str | None = None) -> float | None:
        """Return the value of a metric added before, in its canonical unit, or None."""
        row = self._metrics.get((name, side, stream))
        return None if row is None else row["value"]

    def row_of(self, name: str, *, side: str | None = None, stream: str | None = None) -> Row | None:
        """Return the row of a metric added before, or None."""
        return self._metrics.get((name, side, stream))

    def rows_of(self, names: Sequence[str], stream: str | None = None, side: str | None = None) -> list[Row | None]:
        """Return the rows of several metrics added before; None for each that was not."""
        return [self._metrics.get((name, side, stream)) for name in names]

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
            remove(self.recorder.rows["metrics"], row)

    def add_quantile(self, q: float, quantity: Quantity, line: int, **fields: Any) -> Row | None:
        """Add a printed quantile.

        Parameters
        ----------
        q : float
            The quantile, between 0 and 1: 0.99 for the 99th percentile.
        quantity : Quantity
            Its value in ns.
        line : int
            1-based number of the line that prints it.
        **fields
            Other columns of the table ``quantiles``; ``metric`` is ``"rtt"`` unless given.

        Returns
        -------
        dict or None
            The new row. None if ``q`` is not between 0 and 1; an error event is added instead.
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

    def add_columns(self, table: str, length: int, **columns: Any) -> None:
        """Add many rows of a table as columns; see `Recorder.add_columns`."""
        self.recorder.add_columns(table, length, run_id=self.run_id, **columns)

    def add_samples(self, **columns: Any) -> None:
        """Add the samples of the run as columns of equal length; see `SampleBlock`."""
        if len(columns["seq"]):
            self.recorder.samples.append(SampleBlock(self.run_id, self.row["tool"], **columns))
