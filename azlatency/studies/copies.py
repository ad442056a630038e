"""Find runs that are printed twice, for example in a log and in the report that quotes it.

Two runs with the same printed values are one test if there are too many values for chance: at least `ENOUGH`
different values with three or more digits. Repeated runs of iperf3 or qperf can print the same few values, so shorter
copies count as runs, with a warning from `SUSPICIOUS` values on, or `SUSPICIOUS_IN_REPORT` if a report prints one of
them. So do runs whose logs or manifest name different places, rounds, repeats or times, without a warning.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd
    import pyarrow as pa
    from numpy.typing import NDArray

#: Code of the event of a run that is a copy.
COPIED_RUN = "copied_run"
#: Code of the event of a run that may be a copy.
POSSIBLE_COPY = "possible_copy"
#: So many different values of three digits or more are not equal by chance.
ENOUGH = 12
#: So many of them are seldom equal by chance; fewer, if a file has text around its logs and may quote another one.
SUSPICIOUS, SUSPICIOUS_IN_REPORT = 4, 2
#: What the runs of one test have in common, apart from what they measured.
_SAME = ["tool", "dialect", "test", "protocol"]
#: If two runs differ in one of these, they are different runs, whatever they print.
_TELLS_APART = (
    "scenario", "round", "repeat", "region", "zone", "peer_region", "peer_zone", "client", "server", "started_at",
)  # fmt: skip
#: The values of these columns of a run.
Places = tuple[Any, ...]
#: The columns of the table ``runs`` that are compared.
COMPARED = (*_SAME, *_TELLS_APART)
#: The columns of each table that identify and hold printed values. The small tables select which runs are compared.
_SMALL = {
    "metrics": ["metric", "side", "stream", "printed", "printed_unit"],
    "quantiles": ["metric", "stream", "q", "printed", "printed_unit"],
}
_LARGE = {"intervals": ["side", "stream", "start_ns", "throughput_printed"], "samples": ["seq", "rtt_ns"]}
COLUMNS = _SMALL | _LARGE
#: So many values are collected before those that occur twice are removed.
_MOST_VALUES = 2**18
#: The column of each table that holds printed values.
PRINTED = {"metrics": "printed", "quantiles": "printed", "intervals": "throughput_printed", "samples": "rtt_ns"}


def find_copies(
    runs: pd.DataFrame, table: Callable[[str], pa.Table], fewest: int = ENOUGH
) -> dict[str, tuple[str, int]]:
    """Find the runs that print the same values as another run; see `copies_among`.

    ``runs`` needs ``run_id``, ``source_id`` and `COMPARED`; ``table`` returns a table of the same runs by its name.
    """
    marks, counts = _marks(runs["run_id"], table)
    alike = are_alike(marks, counts, fewest)
    sizes = runs["source_id"].value_counts().to_dict()
    return copies_among(runs[alike], marks[alike], sizes, lambda name, ids: [table(name)], fewest)


def are_alike(marks: NDArray[np.uint64], counts: NDArray[np.int64], fewest: int) -> NDArray[np.bool_]:
    """Return which runs have the mark of another run (`value_marks`) and enough values."""
    import pandas as pd

    alike: NDArray[np.bool_] = pd.Series(marks).duplicated(keep=False).to_numpy() & (counts >= fewest)
    return alike


def copies_among(
    runs: pd.DataFrame,
    marks: NDArray[np.uint64],
    sizes: Mapping[str, int],
    tables: Callable[[str, Sequence[str]], Iterable[pa.Table]],
    fewest: int,
) -> dict[str, tuple[str, int]]:
    """Find copies among the runs that are alike: those with at least ``fewest`` different values in common.

    ``sizes`` is the number of runs of each source; ``tables`` returns the parts of a table that contain all rows of
    some runs.

    Returns
    -------
    dict of str to (str, int)
        ``run_id`` of a copy to the ``run_id`` of the run that counts, and the number of different values. The run that
        counts is that of the file with the fewest runs: a log, not the report that quotes it.
    """
    import pandas as pd

    chosen = runs.set_index("run_id")
    if chosen.empty:
        return {}
    same = pd.util.hash_pandas_object(chosen[_SAME].astype("str"), index=False)
    of_runs = same * 31 + marks
    of_runs = of_runs[of_runs.duplicated(keep=False).to_numpy()]
    first_of_each = of_runs.drop_duplicates()
    different = _different_values(first_of_each.index.tolist(), tables)
    values = {mark: different.get(run_id, 0) for run_id, mark in first_of_each.items()}
    of_runs = of_runs[[values[mark] >= fewest for mark in of_runs]]
    rows = chosen.loc[of_runs.index, list(_TELLS_APART)].astype(object)
    rows = rows.where(rows.notna(), None).assign(
        mark=of_runs, size=[sizes[source_id] for source_id in chosen.loc[of_runs.index, "source_id"]]
    )
    rows = rows.sort_values("size", kind="stable")
    copies: dict[str, tuple[str, int]] = {}
    originals: dict[int, dict[Places, str]] = {}
    places = zip(*(rows[name].tolist() for name in _TELLS_APART), strict=True)
    for run_id, mark, place in zip(rows.index.tolist(), rows["mark"].tolist(), places, strict=True):
        of_mark = originals.setdefault(mark, {})
        first = next((original for other, original in of_mark.items() if not _told_apart(place, other)), None)
        if first is None:
            of_mark[place] = run_id
        else:
            copies[run_id] = first, values[mark]
    return copies


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
) -> dict[str, int]:
    """Return how many different values with at least three significant digits each run printed."""
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
    return {run_ids[run]: count for run, count in counts_of(long["run"])}


def counts_of(column: pa.ChunkedArray) -> Iterator[tuple[Any, int]]:
    """Yield each value of a column and how often it occurs; as dictionaries, they would take ten times as long."""
    counts = column.value_counts()
    return zip(counts.field("values").to_pylist(), counts.field("counts").to_pylist(), strict=True)


def _told_apart(one: Places, other: Places) -> bool:
    return one != other and any(
        here != there and here is not None and there is not None for here, there in zip(one, other, strict=True)
    )
