"""The tables of the data set: the names, types and units of their columns.

Parsers write these tables; files, statistics and users read them. Times are in nanoseconds, sizes in bytes, rates in
bit/s, fractions between 0 and 1; latencies are round-trip times, whatever the tool prints. The declaration needs no
pyarrow, so that the command line starts fast; `arrow_schema` builds the pyarrow schema from it.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["MANIFEST_COLUMNS", "TABLES", "UNCOUNTED", "Column", "arrow_schema", "names"]


@dataclass(frozen=True, slots=True)
class Column:
    """One column of a table.

    Attributes
    ----------
    name : str
        Name of the column.
    type : str
        ``"string"``, ``"int64"``, ``"float64"``, ``"bool"`` or ``"timestamp"``.
    unit : str
        Unit of the values; empty if they have none.
    doc : str
        Description.
    """

    name: str
    type: str
    unit: str = ""
    doc: str = ""


def _columns(text: str) -> tuple[Column, ...]:
    """Parse lines of the form ``name | type | unit | description``."""
    rows = [[cell.strip() for cell in line.split("|")] for line in text.strip().splitlines()]
    return tuple(Column(*row) for row in rows)


#: Facts about a run that only a manifest contains; every name is also a key of study.toml and a column of runs.csv.
MANIFEST_COLUMNS = _columns("""
study                  | string |  | folder of the study
scenario               | string |  | the author's name for what was compared
repeat                 | int64  |  | which repetition of the same test, from 1
round                  | int64  |  | which round of the whole plan, from 1
subscription           | string |  | subscription or account whose zone numbers are used
region                 | string |  | region of the client
zone                   | string |  | logical zone of the client, per subscription
physical_zone          | string |  | physical zone of the client, comparable between subscriptions
peer_region            | string |  | region of the server
peer_zone              | string |  | logical zone of the server, per subscription
peer_physical_zone     | string |  | physical zone of the server
vm_size                | string |  | VM size of the client
peer_vm_size           | string |  | VM size of the server
accelerated_networking | bool   |  | accelerated networking enabled
placement              | string |  | same_host, availability_set, same_zone, cross_zone and so on
notes                  | string |  | remarks of the manifest about this log
""")

TABLES: dict[str, tuple[Column, ...]] = {
    "sources": _columns("""
        source_id      | string    |       | first 16 hex digits of the SHA-256 of the raw bytes
        path           | string    |       | as given, relative where possible; archive members after a '!'
        sha256         | string    |       | of the raw bytes
        size_bytes     | int64     | bytes |
        encoding       | string    |       | as decoded
        lines          | int64     |       | lines = data + known + blank + prose + unknown
        lines_data     | int64     |       | lines with a number or fact that is kept
        lines_known    | int64     |       | lines of the tool without anything to keep
        lines_blank    | int64     |       |
        lines_prose    | int64     |       | text around the logs of a transcript or notes file
        lines_unknown  | int64     |       | lines inside a log that no rule matches
        imported_at    | timestamp |       |
        parser_version | string    |       |
    """),
    "runs": (
        *_columns("""
        run_id                | string    |       | source_id-NN
        source_id             | string    |       |
        first_line            | int64     |       | 1-based
        last_line             | int64     |       | 1-based, inclusive
        tool                  | string    |       |
        tool_version          | string    |       |
        dialect               | string    |       |
        test                  | string    |       |
        protocol              | string    |       |
        command               | string    |       | command line, if the log or its prompt shows it
        heading               | string    |       | headings above the log in a notes file, outermost first
        client                | string    |       |
        server                | string    |       |
        test_id               | string    |       | equal in the logs of both ends of a test: its ports; null if unknown
        message_bytes         | int64     | bytes |
        connections           | int64     |       |
        requested_duration_ns | int64     | ns    |
        requested_bytes       | int64     | bytes | amount of data that the test was told to send
        requested_count       | int64     |       | number of probes or messages that the test was told to send
        duration_ns           | int64     | ns    | measured
        warmup_ns             | int64     | ns    |
        settings              | string    |       | options such as "window 256K; MSS 1400"; empty: defaults
        started_at            | timestamp |       | UTC
        printed_as            | string    |       | round_trip, half_round_trip, one_way or unknown; null for throughput
        closed_loop           | bool      |       | the next probe waits for the last reply
        status                | string    |       | complete, interrupted, truncated, failed, no_data or summary_only
        """),
        *MANIFEST_COLUMNS,
    ),
    "metrics": _columns("""
        run_id     | string  | |
        metric     | string  | |
        side       | string  | | client, server, sender, receiver, local, remote, device, or null
        stream     | string  | | null for the run as a whole
        value      | float64 | | in the canonical unit
        unit       | string  | |
        printed    | string  | | token exactly as in the log; null if the value follows from others
        printed_unit | string | | unit as the log spells it
        resolution | float64 | | half-width of the rounding interval, canonical unit; null if exact
        scope      | string  | | run, stream, process or host
        line       | int64   | | 1-based
    """),
    "quantiles": _columns("""
        run_id        | string  |    |
        metric        | string  |    |
        stream        | string  |    |
        q             | float64 |    | 0..1
        value_ns      | float64 | ns | round trip
        printed       | string  |    | token exactly as in the log
        printed_unit  | string  |    | unit as the log spells it
        resolution_ns | float64 | ns |
        n             | int64   |    | observations
        rank          | int64   |    | 1-based order statistic that the value is
        beyond        | float64 |    | n (1 - q): observations above
        origin        | string  |    | printed, samples or histogram
        resolved      | bool    |    | false if the value is the sample maximum reported as a percentile
        line          | int64   |    | 1-based
    """),
    "intervals": _columns("""
        run_id             | string  |       |
        side               | string  |       |
        stream             | string  |       |
        start_ns           | int64   | ns    |
        end_ns             | int64   | ns    |
        bytes              | float64 | bytes |
        bytes_resolution   | float64 | bytes |
        throughput         | float64 | bit/s | recomputed from bytes and time if possible
        throughput_printed | float64 | bit/s |
        retransmits        | int64   |       |
        cwnd_bytes         | float64 | bytes |
        rtt_ns             | int64   | ns    |
        jitter_ns          | int64   | ns    |
        lost               | int64   |       |
        datagrams          | int64   |       |
        operation_rate     | float64 | 1/s   | connections or operations per second
        omitted            | bool    |       |
        line               | int64   |       | 1-based
    """),
    "samples": _columns("""
        run_id   | string |    |
        tool     | string |    |
        seq      | int64  |    |
        sent_ns  | int64  | ns | since the run's first probe
        rtt_ns   | int64  | ns | null if there was no reply, and for other quantities than round_trip
        status   | string |    | ok, lost, duplicate, out_of_order, unreachable, warmup, or void (time invalid)
        low_ns   | int64  | ns | only for interval-censored values
        high_ns  | int64  | ns | only for interval-censored values
        quantity | string |    | what was measured: round_trip, or connect (time to open a connection)
        time_ns  | int64  | ns | measured time of other quantities than round_trip; null if there was no reply
    """),
    "histograms": _columns("""
        run_id  | string |    |
        metric  | string |    |
        stream  | string |    |
        low_ns  | int64  | ns |
        high_ns | int64  | ns | null if open-ended
        count   | int64  |    |
        line    | int64  |    | 1-based
    """),
    "events": _columns("""
        source_id | string | |
        run_id    | string | | null outside a run
        line      | int64  | | 1-based
        code      | string | | stable, snake_case
        severity  | string | | info, warning or error
        text      | string | |
    """),
}


#: Columns of integers that have a value in every row.
NEVER_MISSING = {
    *(column.name for column in TABLES["sources"] if column.name.startswith("lines")),
    *("size_bytes", "first_line", "last_line", "line", "seq", "start_ns", "end_ns", "count"),
}
#: The quantity of samples that are round-trip times.
ROUND_TRIP = "round_trip"
#: Statuses of samples that no statistic counts, neither as a time nor as a loss.
UNCOUNTED = ("warmup", "duplicate", "void")


@cache
def names(table: str) -> tuple[str, ...]:
    """Return the column names of a table, in order.

    Parameters
    ----------
    table : str
        A key of `TABLES`.

    Returns
    -------
    tuple of str
        The names.

    Raises
    ------
    KeyError
        If there is no table of that name. The message lists the tables.

    Examples
    --------
    >>> names("histograms")
    ('run_id', 'metric', 'stream', 'low_ns', 'high_ns', 'count', 'line')
    """
    if table not in TABLES:
        raise KeyError(f"no table {table!r}; tables: {', '.join(TABLES)}")
    return tuple(column.name for column in TABLES[table])


@cache
def arrow_schema(table: str) -> pa.Schema:
    """Return the pyarrow schema of a table.

    Parameters
    ----------
    table : str
        A key of `TABLES`.

    Returns
    -------
    pyarrow.Schema
        The schema. The metadata of each field contains its ``unit`` and ``description``.
    """
    import pyarrow as pa

    types = {
        "string": pa.string(),
        "int64": pa.int64(),
        "float64": pa.float64(),
        "bool": pa.bool_(),
        "timestamp": pa.timestamp("us", tz="UTC"),
    }
    return pa.schema(
        [
            pa.field(column.name, types[column.type], metadata={"unit": column.unit, "description": column.doc})
            for column in TABLES[table]
        ],
        metadata={"azlatency_table": table},
    )
