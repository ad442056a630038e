"""Find runs that are printed twice, for example in a log and in the report that quotes it.

Two runs with the same printed values are one test if there are too many values for chance: at least `ENOUGH`
different values with three or more digits. Repeated runs of iperf3 or qperf can print the same few values, so shorter
copies count as runs, with a warning from `SUSPICIOUS` values on, or `SUSPICIOUS_IN_REPORT` if a report prints one of
them. So do runs whose logs or manifest name different places, rounds, repeats or times, without a warning.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from azlatency.logs.parse import LogError
from azlatency.logs.schema import arrow_schema

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd
    import pyarrow as pa
    from numpy.typing import NDArray

#: Code of the event of a run that is a copy.
COPIED_RUN = "copied_run"
#: Code of the event of a run that may be a copy.
POSSIBLE_COPY = "possible_copy"
#: At least this many different values of three digits or more are not equal by chance.
ENOUGH = 12
#: From this many on, equal values are suspicious; from fewer, if a file has text around its logs and may quote another.
SUSPICIOUS, SUSPICIOUS_IN_REPORT = 4, 2
#: What the runs of one test have in common, apart from what they measured.
_SAME = ["tool", "dialect", "test", "protocol"]
#: If two runs differ in one of these, they are different runs, whatever they print.
_TELLS_APART = (
    "scenario", "round", "repeat", "region", "zone", "peer_region", "peer_zone", "client", "server", "started_at",
    "message_bytes", "connections", "requested_bytes", "requested_count", "requested_duration_ns", "warmup_ns",
    "settings",
)  # fmt: skip
#: What names a run.
_NAMES = ("run_id", "source_id", "first_line")
#: The values of these columns of a run.
Places = tuple[Any, ...]
#: The columns of the table ``runs`` that are compared.
COMPARED = (*_SAME, *_TELLS_APART)
#: The columns of each table that identify and hold printed values. The small tables select which runs are compared.
_SMALL = {
    "metrics": ["metric", "side", "stream", "printed", "printed_unit"],
    "quantiles": ["metric", "stream", "q", "printed", "printed_unit"],
}
_LARGE = {"intervals": ["side", "stream", "start_ns", "throughput_printed_bit_s"], "samples": ["seq", "rtt_ns"]}
COLUMNS = _SMALL | _LARGE
#: At most this many values are sorted at once to find those that occur twice.
_MOST_VALUES = 2**18
#: At most this many runs with equal marks are compared at a time, whole groups of them.
_MOST_COMPARED = 2**17
#: At most this many runs have their values counted together, and at most this many are Python objects.
_MOST_COUNTED, _TOGETHER = 2**15, 2**12
#: The column of each table that holds printed values.
PRINTED = {"metrics": "printed", "quantiles": "printed", "intervals": "throughput_printed_bit_s", "samples": "rtt_ns"}


class Copy(NamedTuple):
    """A run that prints the same ``values`` different values as another one, which counts."""

    run_id: str
    source_id: str
    line: int
    of_source: str
    of_line: int
    values: int


def find_copies(runs: pd.DataFrame, table: Callable[[str], pa.Table], fewest: int = ENOUGH) -> set[str]:
    """Return the runs that print the same values as another run; see `copies_among`.

    ``runs`` is the table of that name; ``table`` returns a table of the same runs by its name.
    """
    import pyarrow as pa

    marks, counts = _marks(runs["run_id"], table)
    marked = have_equal_marks(marks, counts >= fewest)
    sizes = runs["source_id"].value_counts(sort=False).to_dict()
    compared = pa.schema([arrow_schema("runs").field(name) for name in (*_NAMES, *COMPARED)])
    chosen = pa.Table.from_pandas(runs.loc[marked, compared.names], compared, preserve_index=False)
    copies = copies_among(
        lambda names: [chosen.select(names)], marks[marked], sizes, lambda name, _: [table(name)], fewest
    )
    return {copy.run_id for copy in copies}


def have_equal_marks(marks: NDArray[np.uint64], enough: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Return which runs have the mark of another run (`value_marks`), of those that have enough values."""
    return enough & _are_repeated(marks)


def _are_repeated(values: NDArray[np.uint64]) -> NDArray[np.bool_]:
    """Return which values occur twice, without an object for each."""
    import numpy as np

    found = np.zeros(len(values), np.bool_)
    count = -(-len(values) // _MOST_VALUES)
    for number in range(count):
        places = np.flatnonzero(values % np.uint64(count) == number)
        ordered = np.sort(values[places])
        found[places] = _are_among(values[places], np.unique(ordered[1:][ordered[1:] == ordered[:-1]]))
    return found


def _are_among(values: NDArray[np.uint64], some: NDArray[np.uint64]) -> NDArray[np.bool_]:
    """Return which values are among some, which are in order."""
    import numpy as np

    found = np.zeros(len(values), np.bool_)
    for start in range(0, len(values) if len(some) else 0, _MOST_VALUES):
        part = values[start : start + _MOST_VALUES]
        places = np.minimum(np.searchsorted(some, part), len(some) - 1)
        found[start : start + len(part)] = some[places] == part
    return found


def copies_among(
    runs: Callable[[Sequence[str]], Iterable[pa.Table]],
    marks: NDArray[np.uint64],
    sizes: Mapping[str, int],
    tables: Callable[[str, Sequence[str]], Iterable[pa.Table]],
    fewest: int,
) -> Iterator[Copy]:
    """Find copies among the runs that are alike: those with at least ``fewest`` different values in common.

    ``runs`` returns columns of these runs, in parts, in the order of their ``marks``; ``sizes`` is the number of runs
    of each source, in the order of the sources; ``tables`` returns the parts of a table that contain all rows of some
    runs. There may be very many, so that little is kept of those that have too few values.

    Yields
    ------
    Copy
        The run that counts is that of the file with the fewest runs: a log, not the report that quotes it.

    Raises
    ------
    LogError
        If there are too many copies of the same runs.
    """
    import numpy as np

    if not len(marks):
        return
    groups = np.concatenate([_hashes(part, _SAME) for part in runs(_SAME)]) * np.uint64(31) + marks
    count = -(-len(groups) // _MOST_COMPARED)
    for number in range(count):
        yield from _copies_in(runs, groups, groups % np.uint64(count) == number, sizes, tables, fewest)


def _copies_in(
    runs: Callable[[Sequence[str]], Iterable[pa.Table]],
    groups: NDArray[np.uint64],
    some: NDArray[np.bool_],
    sizes: Mapping[str, int],
    tables: Callable[[str, Sequence[str]], Iterable[pa.Table]],
    fewest: int,
) -> Iterator[Copy]:
    """Find copies in some groups of runs that are alike; see `copies_among`."""
    import numpy as np
    import pyarrow as pa
    import pyarrow.compute as pc

    places = np.flatnonzero(some)
    groups = groups[places]

    def chosen(names: Sequence[str], rows: NDArray[np.bool_]) -> pa.Table:
        parts, at, wanted = [], 0, np.zeros(len(some), np.bool_)
        wanted[places[rows]] = True
        for part in runs(names):
            parts.append(part.filter(pa.array(wanted[at : at + part.num_rows])))
            at += part.num_rows
        return pa.concat_tables(parts)

    repeated = np.flatnonzero(_are_repeated(groups))
    first_of_each = np.zeros(len(groups), np.bool_)
    first_of_each[repeated[np.unique(groups[repeated], return_index=True)[1]]] = True
    run_ids = chosen(["run_id"], first_of_each)["run_id"]
    different = np.concatenate(
        [
            _different_values(run_ids.slice(start, _MOST_COUNTED).to_pylist(), tables)
            for start in range(0, len(run_ids), _MOST_COUNTED)
        ]
        or [np.zeros(0, np.int64)]
    )
    by_group = np.argsort(groups[first_of_each])
    known, different = groups[first_of_each][by_group], different[by_group]
    rows = _are_among(groups, known[different >= fewest])
    groups = groups[rows]
    if len(groups) > 2 * _MOST_COMPARED:
        raise LogError(f"{len(groups)} runs print the same values as another run; import the logs without the copies")
    table = chosen([*_NAMES, *_TELLS_APART], rows)
    ranks = pc.index_in(table["source_id"], value_set=pa.array(list(sizes), pa.string())).to_numpy()
    of_sources = np.array(list(sizes.values()), np.int64)[ranks]
    copies, originals = _with_originals(table, groups, np.lexsort((ranks, of_sources, groups)))
    in_order = np.lexsort((copies, ranks[copies], of_sources[copies]))
    copies, originals = copies[in_order], originals[in_order]
    values = different[np.searchsorted(known, groups[copies])]
    for start in range(0, len(copies), _TOGETHER):
        part = slice(start, start + _TOGETHER)
        copied = table.select(_NAMES).take(pa.array(copies[part]))
        original = table.select(_NAMES[1:]).take(pa.array(originals[part]))
        shown = (column.to_pylist() for column in (*copied.columns, *original.columns))
        yield from map(Copy._make, zip(*shown, values[part].tolist(), strict=True))


def _with_originals(
    table: pa.Table, groups: NDArray[np.uint64], ordered: NDArray[np.intp]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the rows of the runs that are copies, and those of their originals, which precede them in an order."""
    import numpy as np
    import pyarrow as pa

    copies, originals = array("q"), array("q")
    of_group: dict[Places, int] = {}
    last = None
    for start in range(0, len(ordered), _TOGETHER):
        part = ordered[start : start + _TOGETHER]
        columns = (table[name].take(pa.array(part)).to_pylist() for name in _TELLS_APART)
        for at, group, here in zip(part.tolist(), groups[part].tolist(), zip(*columns, strict=True), strict=True):
            if group != last:
                of_group, last = {}, group
            first = next((original for other, original in of_group.items() if not _told_apart(here, other)), None)
            if first is None:
                of_group[here] = at
            else:
                copies.append(at)
                originals.append(first)
    return np.array(copies, np.int64), np.array(originals, np.int64)


def _marks(run_ids: pd.Series, table: Callable[[str], pa.Table]) -> tuple[NDArray[np.uint64], NDArray[np.int64]]:
    """Return the marks of runs. Large tables are read only if the small ones do not tell all runs apart."""
    import pandas as pd

    marks, counts = value_marks(run_ids, table, _SMALL)
    if pd.Series(marks).duplicated().any():
        more, others = value_marks(run_ids, table, _LARGE)
        marks, counts = marks + more, counts + others
    return marks, counts


def value_marks(
    run_ids: pa.Array | pd.Series, table: Callable[[str], pa.Table], columns: dict[str, list[str]] = COLUMNS
) -> tuple[NDArray[np.uint64], NDArray[np.int64]]:
    """Return a number for each run that is equal for equal printed values in any order, and how many values it has."""
    import numpy as np
    import pyarrow as pa

    ids = pa.array(run_ids, pa.string())
    marks, counts = np.zeros(len(ids), np.uint64), np.zeros(len(ids), np.int64)
    for name in columns:
        mark_values(name, table(name), ids, marks, counts)
    return marks, counts


def mark_values(
    name: str, content: pa.Table, ids: pa.Array, marks: NDArray[np.uint64], counts: NDArray[np.int64]
) -> None:
    """Add what rows of the table ``name`` contribute to the marks of runs and to their numbers of values."""
    import numpy as np
    import pyarrow.compute as pc

    content = content.select(["run_id", *COLUMNS[name]])
    positions = pc.index_in(content["run_id"], value_set=ids)
    if positions.null_count:
        content, positions = content.filter(pc.is_valid(positions)), positions.drop_null()
    chosen = positions.to_numpy()
    np.add.at(marks, chosen, _hashes(content, COLUMNS[name]))
    np.add.at(counts, chosen[content[PRINTED[name]].is_valid().to_numpy()], 1)


def _hashes(content: pa.Table, names: list[str]) -> NDArray[np.uint64]:
    """Return a hash of each row. A text is hashed once for all rows that contain it."""
    import numpy as np
    import pandas as pd
    import pyarrow as pa

    rows = np.zeros(content.num_rows, np.uint64)
    for name in names:
        column = content[name].combine_chunks()
        if pa.types.is_string(column.type):
            coded = column.fill_null("").dictionary_encode()
            distinct = np.array(coded.dictionary.to_pylist(), dtype=object)
            hashes = pd.util.hash_array(distinct, categorize=False)[coded.indices.to_numpy()]
        else:
            hashes = pd.util.hash_array(column.fill_null(0).to_numpy())
        rows = rows * np.uint64(31) + np.where(column.is_valid(), hashes, np.uint64(0))
    return pd.util.hash_array(rows)


def _different_values(
    run_ids: Sequence[str], tables: Callable[[str, Sequence[str]], Iterable[pa.Table]]
) -> NDArray[np.int64]:
    """Return how many different values with at least three significant digits each run printed."""
    import numpy as np
    import pyarrow as pa
    import pyarrow.compute as pc

    ids = pa.array(run_ids, pa.string())
    parts, most = [], _MOST_VALUES
    for name, column in PRINTED.items():
        for content in tables(name, run_ids):
            position = pc.index_in(content["run_id"], value_set=ids)
            values = pa.table({"run": position, "value": content[column]})
            values = values.filter(pc.and_(pc.is_valid(position), pc.is_valid(content[column])))
            values = values.group_by(["run", "value"]).aggregate([])
            parts.append(values.set_column(1, "value", values["value"].cast(pa.string())).select(["run", "value"]))
            if sum(part.num_rows for part in parts) > most:
                parts = [pa.concat_tables(parts).group_by(["run", "value"]).aggregate([])]
                most = 2 * parts[0].num_rows + _MOST_VALUES
    values = pa.concat_tables(parts).group_by(["run", "value"]).aggregate([])
    digits = pc.utf8_trim(pc.replace_substring_regex(values["value"], r"e.*|\D", ""), "0")
    long = values.filter(pc.greater_equal(pc.utf8_length(digits), 3))
    return np.bincount(long["run"].to_numpy(), minlength=len(run_ids))


def counts_of(column: pa.ChunkedArray) -> Iterator[tuple[Any, int]]:
    """Yield each value of a column and how often it occurs; as dictionaries, they would take ten times as long."""
    counts = column.value_counts()
    return zip(counts.field("values").to_pylist(), counts.field("counts").to_pylist(), strict=True)


def _told_apart(one: Places, other: Places) -> bool:
    return one != other and any(
        here != there and here is not None and there is not None for here, there in zip(one, other, strict=True)
    )
