"""The tables of parsed logs and of imported studies: one set of attributes for both."""

from __future__ import annotations

from abc import ABC, abstractmethod
from array import array
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime
from functools import cached_property
from html import escape
from itertools import chain, repeat
from operator import itemgetter
from typing import TYPE_CHECKING, Any

from azlatency.logs import schema
from azlatency.logs.record import Row, SampleBlock
from azlatency.logs.source.large import NULL, Repeated

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa


#: Rows of a part of the table ``samples``, and of a run whose samples share one with others.
_PART, _SHORT = 2**18, 2**10
#: At most this many blocks become one table: a log may have hundreds of thousands of runs.
_MOST_TOGETHER = 2**12
_SAMPLE_TIMES = ("seq", "sent_ns", "rtt_ns", "low_ns", "high_ns", "time_ns")


class TableSet(ABC):
    """Base class of `Logs` and of a study: the tables of `azlatency.schema` as pandas frames.

    Each frame is built on first use and kept. Times are in nanoseconds, sizes in bytes, rates in bit/s; latencies are
    round-trip times. A missing value is never 0: it is NaN in columns of ``float64`` and ``str``, NaT in
    ``datetime64[ns, UTC]``, and ``<NA>`` in ``boolean``. Integers that can be missing are ``float64``, which is exact
    for times below 104 days; those that cannot, such as ``line`` and ``seq``, are ``int64``. The type of a column does
    not depend on the data. What the library computes of the tables is kept as well, so change a copy of a frame.
    """

    @abstractmethod
    def to_arrow(self, table: str) -> pa.Table:
        """Return one table as a `pyarrow.Table`.

        Parameters
        ----------
        table : str
            A table of `azlatency.schema.TABLES`.

        Returns
        -------
        pyarrow.Table
            The table with the schema of `azlatency.schema.arrow_schema`.

        Raises
        ------
        KeyError
            If there is no table of that name. The message lists the tables.
        LogError
            If a study was imported again since it was loaded, or by a version of azlatency with other columns.
        """

    def table(self, name: str) -> pd.DataFrame:
        """Return one table as a pandas frame.

        Parameters
        ----------
        name : str
            A table of `azlatency.schema.TABLES`.

        Returns
        -------
        DataFrame
            The table with the column types that `TableSet` describes.

        Raises
        ------
        KeyError
            If there is no table of that name. The message lists the tables.
        """
        return schema.document(to_frame(self.to_arrow(name)), name)

    def records(self, table: str) -> list[Row]:
        """Return one table as a list of dictionaries with every column.

        Parameters
        ----------
        table : str
            A table of `azlatency.schema.TABLES`.

        Returns
        -------
        list of dict
            One dictionary per row. Missing values are None, times of day are ISO 8601 text.
        """
        return list(self.iter_records(table))

    def iter_records(self, table: str) -> Iterator[Row]:
        """Yield the dictionaries of `records`, without building the list.

        Parameters
        ----------
        table : str
            A table of `azlatency.schema.TABLES`.

        Yields
        ------
        dict
            One row.
        """
        for batch in self.to_arrow(table).to_batches(_PART):
            for row in batch.to_pylist():
                yield {name: _to_json_value(value) for name, value in row.items()}

    def errors(self) -> list[str]:
        """Return the error events as ``path:line: text``."""
        paths = {row["source_id"]: row["path"] for row in self.records("sources")}
        errors = (event for event in self.iter_records("events") if event["severity"] == "error")
        return [
            # A file that cannot be read is no source; the text names it.
            event["text"]
            if event["source_id"] is None
            else f"{paths[event['source_id']]}:{event['line']}: {event['text']}"
            for event in errors
        ]

    @cached_property
    def sources(self) -> pd.DataFrame:
        """One row per input file or archive member."""
        return self.table("sources")

    @cached_property
    def runs(self) -> pd.DataFrame:
        """One row per run: one test of one tool between one client and one server."""
        return self.table("runs")

    @cached_property
    def metrics(self) -> pd.DataFrame:
        """One row per printed number, as ``value`` in ``unit``."""
        return self.table("metrics")

    @cached_property
    def quantiles(self) -> pd.DataFrame:
        """One row per quantile; ``value_ns`` is a round-trip time in ns."""
        return self.table("quantiles")

    @cached_property
    def intervals(self) -> pd.DataFrame:
        """One row per reporting interval; times in ns, ``throughput`` in bit/s."""
        return self.table("intervals")

    @cached_property
    def samples(self) -> pd.DataFrame:
        """One row per probe; ``rtt_ns`` is its round-trip time in ns, missing if there was no reply."""
        return self.table("samples")

    @cached_property
    def histograms(self) -> pd.DataFrame:
        """One row per histogram bucket, with its bounds in ns and its count."""
        return self.table("histograms")

    @cached_property
    def events(self) -> pd.DataFrame:
        """One row per remark about a line: unknown lines, truncated logs, contradicting numbers, losses."""
        return self.table("events")

    @cached_property
    def computed(self) -> dict[object, pd.DataFrame]:
        """Frames computed of the tables, by the function that computed them."""
        return {}


@dataclass(repr=False)
class Logs(TableSet):
    """Parsed logs, as returned by `azlatency.parse`.

    Attributes
    ----------
    rows : dict of str to list of dict
        The rows of every table but ``samples``, as the parsers wrote them: an absent key is a missing value.
    sample_blocks : list of SampleBlock
        The samples of each run as columns.
    """

    rows: dict[str, list[Row]] = field(
        default_factory=lambda: {name: [] for name in schema.TABLES if name != "samples"}
    )
    sample_blocks: list[SampleBlock] = field(default_factory=list)

    def extend(self, other: Logs) -> None:
        """Append the tables of other logs."""
        for name, rows in other.rows.items():
            self.rows[name].extend(rows)
        self.sample_blocks.extend(other.sample_blocks)
        for name in (*schema.TABLES, "computed"):
            self.__dict__.pop(name, None)  # frames built before

    def to_arrow(self, table: str) -> pa.Table:
        """Return one table as a `pyarrow.Table`: the rows as the parsers wrote them."""
        import pyarrow as pa

        schema.names(table)  # the error names the tables
        arrow_schema = schema.arrow_schema(table)
        if table == "samples":
            return pa.concat_tables([*sample_tables(self.sample_blocks)] or [arrow_schema.empty_table()])
        return rows_to_arrow(self.rows[table], arrow_schema)

    def iter_records(self, table: str) -> Iterator[Row]:
        """Yield one table as dictionaries; see `TableSet.records`."""
        names = schema.names(table)
        rows = _iter_sample_rows(self.sample_blocks) if table == "samples" else self.rows[table]
        return ({name: _to_json_value(row.get(name)) for name in names} for row in rows)

    def __repr__(self) -> str:
        title, tools = self._summary()
        width = max((len(tool) for tool, _ in tools), default=0)
        return "\n".join([title, *(f"  {tool:{width}}  {text}" for tool, text in tools)])

    def _repr_html_(self) -> str:
        title, tools = self._summary()
        rows = "".join(f"<tr><th>{escape(tool)}</th><td>{escape(text)}</td></tr>" for tool, text in tools)
        return f"<div><p>{escape(title)}</p><table>{rows}</table></div>"

    def _summary(self) -> tuple[str, list[tuple[str, str]]]:
        """Return a title with the number of files, runs and events, and the runs of each tool with their status."""
        severities = Counter(event["severity"] for event in self.rows["events"])
        counts = [_count(len(self.rows["sources"]), "file"), _count(len(self.rows["runs"]), "run")]
        nouns = {"error": "error", "warning": "warning", "info": "info event"}
        counts += [_count(severities[severity], noun) for severity, noun in nouns.items() if severities[severity]]
        statuses: dict[str, Counter[str]] = {}
        for run in self.rows["runs"]:
            statuses.setdefault(run["tool"], Counter())[run["status"]] += 1
        tools = []
        for tool, numbers in sorted(statuses.items()):
            text = ", ".join(f"{number} {status}" for status, number in sorted(numbers.items()))
            tools.append((tool, f"{_count(numbers.total(), 'run')}: {text}"))
        return f"Logs: {', '.join(counts)}", tools


def to_frame(table: pa.Table) -> pd.DataFrame:
    """Return an Arrow table as a pandas frame with the column types that `TableSet` describes."""
    import pandas as pd
    import pyarrow as pa

    types: dict[pa.DataType, Any] = {pa.bool_(): pd.BooleanDtype()}
    for position, column in enumerate(table.schema):
        if column.type == pa.int64() and column.name not in schema.NEVER_MISSING:
            numbers = table[column.name].cast(pa.float64(), safe=False)
            table = table.set_column(position, column.name, numbers)
        elif pa.types.is_timestamp(column.type):
            # A date after 2262, such as a mistyped one of a manifest, stays in microseconds.
            with suppress(pa.ArrowInvalid):
                times = table[column.name].cast(pa.timestamp("ns", tz="UTC"))
                table = table.set_column(position, column.name, times)
    if not table.num_rows:
        # pandas cannot join two empty columns of text that Arrow stores.
        types[pa.string()] = pd.StringDtype("python", na_value=float("nan"))
    return table.to_pandas(types_mapper=types.get)


def rows_to_arrow(rows: list[Row], arrow_schema: pa.Schema) -> pa.Table:
    """Return rows as a table with a schema; an absent key is a missing value."""
    import pyarrow as pa

    return pa.table({name: _column(rows, name) for name in arrow_schema.names}, schema=arrow_schema)


def _column(rows: list[Row], name: str) -> list[Any]:
    try:
        return list(map(itemgetter(name), rows))
    except KeyError:
        return [row.get(name) for row in rows]


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" + ("s" if number != 1 else "")


def sample_tables(blocks: Iterable[SampleBlock]) -> Iterator[pa.Table]:
    """Yield the table ``samples`` in parts, in the order of the rows."""
    import pyarrow as pa

    table_schema = schema.arrow_schema("samples")
    for blocks_together in _together(blocks):
        if len(blocks_together) > 1:
            yield _table_of_short_runs(blocks_together, table_schema)
            continue
        (block,) = blocks_together
        for start in range(0, len(block.seq), _PART):
            part = slice(start, min(start + _PART, len(block.seq)))
            count = part.stop - start
            status = block.status[part]
            columns = {
                "run_id": pa.repeat(pa.scalar(block.run_id), count),
                "tool": pa.repeat(pa.scalar(block.tool), count),
                "quantity": pa.repeat(pa.scalar(block.quantity), count),
                "status": pa.repeat(pa.scalar(status.value), count)
                if isinstance(status, Repeated)
                else pa.array(status, pa.string()),
            }
            for name in _SAMPLE_TIMES:
                values = getattr(block, name)
                columns[name] = pa.nulls(count, pa.int64()) if values is None else _to_int64(values[part])
            yield pa.table([columns[name] for name in table_schema.names], schema=table_schema)


def _together(blocks: Iterable[SampleBlock]) -> Iterator[list[SampleBlock]]:
    """Yield blocks one by one, but short ones of a tool that follow each other together."""
    waiting: list[SampleBlock] = []
    count = 0
    for block in blocks:
        is_short = len(block.seq) < _SHORT
        if waiting and not (
            is_short and block.tool == waiting[0].tool and count < _PART and len(waiting) < _MOST_TOGETHER
        ):
            yield waiting
            waiting, count = [], 0
        waiting.append(block)
        count += len(block.seq) if is_short else _PART
    if waiting:
        yield waiting


def _table_of_short_runs(blocks: list[SampleBlock], table_schema: pa.Schema) -> pa.Table:
    import numpy as np
    import pyarrow as pa

    run_of_row = np.repeat(np.arange(len(blocks)), [len(block.seq) for block in blocks])
    columns = {
        name: pa.array([getattr(block, name) for block in blocks]).take(pa.array(run_of_row))
        for name in ("run_id", "quantity")
    }
    columns["tool"] = pa.repeat(pa.scalar(blocks[0].tool), len(run_of_row))
    columns["status"] = pa.array(list(chain.from_iterable(block.status for block in blocks)), pa.string())
    for name in _SAMPLE_TIMES:
        parts = ((getattr(block, name), len(block.seq)) for block in blocks)
        values = chain.from_iterable(repeat(None, count) if part is None else part for part, count in parts)
        plain = (None if value == NULL else value for value in values)
        columns[name] = pa.array(plain, pa.int64(), size=len(run_of_row))
    return pa.table([columns[name] for name in table_schema.names], schema=table_schema)


def _to_int64(values: Any) -> pa.Array:
    import numpy as np
    import pyarrow as pa

    if isinstance(values, array):  # contiguous memory, which is copied in one piece
        return pa.array(np.frombuffer(values, dtype=np.int64), pa.int64())
    if isinstance(values, np.ndarray):
        return pa.array(values, pa.int64(), mask=values == NULL)
    if isinstance(values, Repeated) and values.value is None:
        return pa.nulls(len(values), pa.int64())
    return pa.array(values, pa.int64())


def _iter_sample_rows(blocks: Iterable[SampleBlock]) -> Iterator[Row]:
    names = ("seq", "sent_ns", "rtt_ns", "status", "low_ns", "high_ns", "time_ns")
    for block in blocks:
        missing = Repeated(None, len(block.seq))
        columns = [missing if getattr(block, name) is None else getattr(block, name) for name in names]
        for values in zip(*columns, strict=True):
            plain = (value.as_py() if hasattr(value, "as_py") else value for value in values)
            row = dict(zip(names, plain, strict=True))
            yield {"run_id": block.run_id, "tool": block.tool, **row, "quantity": block.quantity}


def _to_json_value(value: Any) -> Any:
    if isinstance(value, datetime):
        return value.isoformat().replace("+00:00", "Z")
    return value
