"""Find runs that are printed twice, for example in a log and in the report that quotes it.

Two runs with the same printed values are one test if there are too many values for chance: at least `ENOUGH`
different values with three or more digits. Repeated runs of iperf3 or qperf can print the same few values, so shorter
copies count as runs, with a warning from `SUSPICIOUS` values on, or `SUSPICIOUS_IN_REPORT` if a report prints one of
them. So do runs whose logs or manifest name different places, rounds, repeats or times, without a warning.

A full log of sockperf prints the values of its console log, and the samples. Samples and intervals therefore tell two
runs apart only if both have some.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
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
_SAME = ["tool", "dialect"]
#: If two runs differ in one of these, they are different runs, whatever they print.
TELLS_APART = (
    "test", "protocol", "scenario", "round", "repeat", "region", "zone", "peer_region", "peer_zone", "client", "server",
    "started_at", "message_bytes", "connections", "requested_bytes", "requested_count", "requested_duration_ns",
    "warmup_ns", "settings",
)  # fmt: skip
#: The columns of each table that identify and hold printed values. The large tables are read only for runs that the
#: small ones do not tell apart.
_SMALL = {
    "metrics": ["metric", "side", "stream", "printed", "printed_unit"],
    "quantiles": ["metric", "stream", "q", "printed", "printed_unit"],
}
_LARGE = {"intervals": ["side", "stream", "start_ns", "throughput_printed_bit_s"], "samples": ["seq", "rtt_ns"]}
#: The column of each table that holds printed values.
_PRINTED = {"metrics": "printed", "quantiles": "printed", "intervals": "throughput_printed_bit_s", "samples": "rtt_ns"}


class Copy(NamedTuple):
    """A run that prints the same ``values`` different values as another one, which counts."""

    run_id: str
    source_id: str
    line: int
    of_run: str
    of_source: str
    of_line: int
    values: int


class _Printed(NamedTuple):
    """A run, the marks of all that it prints and of all but samples and intervals, and its different values."""

    row: dict[str, Any]
    mark: int
    summary: int
    values: int


def find_copies(
    runs: pa.Table, tables: Callable[[str, pa.Array], Iterable[pa.Table]], fewest: int = ENOUGH
) -> Iterator[Copy]:
    """Yield the runs with at least ``fewest`` different values that are all printed by another run, too.

    ``tables`` returns the parts of a table, by its name, that contain all rows of some runs. The run that counts is
    that of the file with the fewest runs: a log, not the report that quotes it; of two, the one with samples.
    """
    rows = np.arange(runs.num_rows)
    summaries = np.zeros(len(rows), np.uint64)
    marks, counts = _hashes(runs, _SAME), np.zeros(len(rows), np.int64)
    for columns in (_SMALL, _LARGE):
        run_ids = runs["run_id"].take(pa.array(rows)).combine_chunks()
        for name in columns if len(rows) else ():
            for part in tables(name, run_ids):
                _mark(part, columns[name], run_ids, marks, counts)
        if columns is _SMALL:
            _, inverse, repeats = np.unique(marks, return_inverse=True, return_counts=True)
            repeated = repeats[inverse] > 1
            rows, marks, counts = rows[repeated], marks[repeated], counts[repeated]
            summaries = marks.copy()
    enough = counts >= fewest
    rows, marks, summaries = rows[enough], marks[enough], summaries[enough]
    if not len(rows):
        return
    ranks = runs["source_id"].combine_chunks().dictionary_encode().indices.to_numpy()
    sizes = np.bincount(ranks)[ranks]
    in_order = np.lexsort((rows, ranks[rows], marks == summaries, sizes[rows]))
    rows, marks, summaries = rows[in_order], marks[in_order], summaries[in_order]
    _, firsts, groups = np.unique(marks, return_index=True, return_inverse=True)
    values = _different_values(runs["run_id"].take(pa.array(rows[firsts])).combine_chunks(), tables)[groups]
    enough = values >= fewest
    originals: dict[int, list[_Printed]] = {}
    names = ["run_id", "source_id", "first_line", *TELLS_APART]
    columns_of_runs = (column[enough].tolist() for column in (marks, summaries, values))
    of_runs = runs.select(names).take(pa.array(rows[enough])).to_pylist()
    for run in map(_Printed, of_runs, *columns_of_runs):
        others = originals.setdefault(run.summary, [])
        original = next((other for other in others if _is_same_test(run, other)), None)
        if original is None:
            others.append(run)
        else:
            place, of_place = ((one["run_id"], one["source_id"], one["first_line"]) for one in (run.row, original.row))
            yield Copy(*place, *of_place, min(run.values, original.values))


def _mark(
    content: pa.Table, columns: list[str], run_ids: pa.Array, marks: NDArray[np.uint64], counts: NDArray[np.int64]
) -> None:
    """Add rows to the marks of their runs, which are equal for equal rows in any order, and count their values."""
    positions = pc.index_in(content["run_id"], value_set=run_ids)
    if positions.null_count:
        content, positions = content.filter(pc.is_valid(positions)), positions.drop_null()
    chosen = positions.to_numpy()
    np.add.at(marks, chosen, _hashes(content, columns))
    printed = next(name for name in columns if name in _PRINTED.values())
    np.add.at(counts, chosen[content[printed].is_valid().to_numpy()], 1)


def _hashes(content: pa.Table, names: list[str]) -> NDArray[np.uint64]:
    """Return a hash of each row. A text is hashed once for all rows that contain it."""
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
    hashed: NDArray[np.uint64] = pd.util.hash_array(rows)
    return hashed


def _different_values(run_ids: pa.Array, tables: Callable[[str, pa.Array], Iterable[pa.Table]]) -> NDArray[np.int64]:
    """Return how many different values with at least three significant digits each run printed."""
    parts = []
    for name, column in _PRINTED.items():
        for content in tables(name, run_ids):
            position = pc.index_in(content["run_id"], value_set=run_ids)
            values = pa.table({"run": position, "value": content[column]})
            values = values.filter(pc.and_(pc.is_valid(position), pc.is_valid(content[column])))
            values = values.group_by(["run", "value"]).aggregate([])
            parts.append(values.set_column(1, "value", values["value"].cast(pa.string())).select(["run", "value"]))
    values = pa.concat_tables(parts).group_by(["run", "value"]).aggregate([])
    digits = pc.utf8_trim(pc.replace_substring_regex(values["value"], r"e.*|\D", ""), "0")
    long = values.filter(pc.greater_equal(pc.utf8_length(digits), 3))
    return np.bincount(long["run"].to_numpy(), minlength=len(run_ids))


def _is_same_test(one: _Printed, other: _Printed) -> bool:
    is_summary = one.mark == one.summary or other.mark == other.summary
    return (is_summary or one.mark == other.mark) and not _told_apart(one.row, other.row)


def _told_apart(one: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    pairs = ((one[name], other[name]) for name in TELLS_APART)
    return any(here != there and here is not None and there is not None for here, there in pairs)
