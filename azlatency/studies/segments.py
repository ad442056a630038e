"""The samples of an imported study in pieces that fit into memory: row groups of its Parquet files."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from typing import TYPE_CHECKING

from azlatency.logs.schema import UNCOUNTED

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa
    import pyarrow.parquet as pq
    from numpy.typing import NDArray

    from azlatency.studies.store import Study

_OTHERS = ("status", "low_ns", "high_ns")
#: A task reads this many segments, about 17 million samples in a second: a scheduler needs some milliseconds per task.
_TOGETHER = 64


@dataclass(frozen=True, slots=True)
class Segment:
    """Rows of one run in one row group of a file. A process that can read the file needs nothing else."""

    file: str
    row_group: int
    start: int
    stop: int

    def bounds(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return the lower and upper bounds of the counted round-trip times as `azlatency.studies.samples.bounds`.

        The same array twice if no value is interval-censored.
        """
        import numpy as np

        file = _open(self.file)
        names = ["rtt_ns", *(name for name in _OTHERS if not _is_known(file, self.row_group, name))]
        table = file.read_row_group(self.row_group, columns=names).slice(self.start, self.stop - self.start)
        if "status" in names:
            table = _counted(table)
        values = _to_float(table["rtt_ns"])
        if table["rtt_ns"].null_count:
            values[np.isnan(values)] = np.inf
        if not {"low_ns", "high_ns"} & set(names):
            return values, values
        low, high = (
            _to_float(table[name]) if name in names else np.full(len(values), np.nan) for name in ("low_ns", "high_ns")
        )
        interval = ~(np.isnan(low) & np.isnan(high))
        if not interval.any():
            return values, values
        return (
            np.where(interval, np.where(np.isnan(low), 0.0, low), values),
            np.where(interval, np.where(np.isnan(high), np.inf, high), values),
        )


def segments_by_run(study: Study) -> dict[str, list[Segment]]:
    """Return the segments of each run of a study, in the order of sending. Only run ids are read."""
    study.verify("samples")
    segments: dict[str, list[Segment]] = {}
    for path in sorted((study.folder / "samples").glob("tool=*/*.parquet")):
        file = _open(str(path))
        for row_group in range(file.metadata.num_row_groups):
            for run_id, start, stop in _runs_of(file, row_group):
                segments.setdefault(run_id, []).append(Segment(str(path), row_group, start, stop))
    return segments


def grouped(segments: Sequence[Segment]) -> list[Sequence[Segment]]:
    """Return groups of consecutive segments: what one task of an executor reads."""
    return [segments[start : start + _TOGETHER] for start in range(0, len(segments), _TOGETHER)]


def read_bounds(segments: Sequence[Segment]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the bounds of all segments of a run; the same array twice if no value is interval-censored."""
    import numpy as np

    pieces = [segment.bounds() for segment in segments]
    low = np.concatenate([piece[0] for piece in pieces])
    if all(piece[0] is piece[1] for piece in pieces):
        return low, low
    return low, np.concatenate([piece[1] for piece in pieces])


def sample_count(study: Study) -> int:
    """Return the number of samples of a study without reading them."""
    return sum(_open(str(path)).metadata.num_rows for path in (study.folder / "samples").glob("tool=*/*.parquet"))


def _open(path: str) -> pq.ParquetFile:
    import pyarrow.parquet as pq

    state = os.stat(path)
    metadata = _metadata(path, (state.st_mtime_ns, state.st_ino, state.st_size))
    return pq.ParquetFile(path, metadata=metadata, read_dictionary=["run_id", "status"])


@lru_cache(maxsize=16)
def _metadata(path: str, state: tuple[int, ...]) -> pq.FileMetaData:
    """Return the metadata of all row groups of a file in this state; read for each group, they cost quadratic time."""
    import pyarrow.parquet as pq

    return pq.read_metadata(path)


def _is_known(file: pq.ParquetFile, row_group: int, name: str) -> bool:
    """Return whether the statistics of a row group show that all its packets count, or that none has this bound."""
    known = _statistics(file, row_group, name)
    if known is None:
        return False
    if name == "status":
        return known.has_min_max and known.min == known.max and known.min not in UNCOUNTED
    return known.has_null_count and known.null_count == file.metadata.row_group(row_group).num_rows


def _statistics(file: pq.ParquetFile, row_group: int, name: str) -> pq.Statistics | None:
    return file.metadata.row_group(row_group).column(file.schema_arrow.names.index(name)).statistics


def _counted(table: pa.Table) -> pa.Table:
    """Return the rows without warm-up, duplicates and void samples."""
    import pyarrow as pa
    import pyarrow.compute as pc

    uncounted = pc.is_in(table["status"].cast(pa.string()), value_set=pa.array(sorted(UNCOUNTED)))
    return table.filter(pc.invert(uncounted)) if pc.any(uncounted).as_py() else table


def _runs_of(file: pq.ParquetFile, row_group: int) -> Iterator[tuple[str, int, int]]:
    """Yield run id, first row and row after the last of each run in a row group."""
    import numpy as np

    of_run_id = _statistics(file, row_group, "run_id")
    if of_run_id is not None and of_run_id.has_min_max and of_run_id.min == of_run_id.max:
        yield of_run_id.min, 0, file.metadata.row_group(row_group).num_rows
        return
    column = file.read_row_group(row_group, columns=["run_id"])["run_id"].combine_chunks()
    ids = column.indices.to_numpy()
    starts = [0, *(np.flatnonzero(np.diff(ids)) + 1).tolist(), len(ids)]
    for start, stop in pairwise(starts):
        yield column.dictionary[int(ids[start])].as_py(), start, stop


def _to_float(column: pa.ChunkedArray) -> NDArray[np.float64]:
    """Return a column as float64 of its own memory, with NaN for missing values."""
    import numpy as np

    if column.null_count == len(column):
        return np.full(len(column), np.nan)
    return np.array(column.to_numpy(), dtype="float64")
