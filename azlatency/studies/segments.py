"""The samples of an imported study in pieces that fit into memory: row groups of its Parquet files."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

from azlatency.logs.schema import UNCOUNTED

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa
    import pyarrow.parquet as pq
    from numpy.typing import NDArray

    from azlatency.studies.store import Study

_COLUMNS = ("rtt_ns", "status", "low_ns", "high_ns")
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
        import pyarrow as pa
        import pyarrow.compute as pc

        table = _open(self.file).read_row_group(self.row_group, columns=list(_COLUMNS))
        table = table.slice(self.start, self.stop - self.start)
        uncounted = pc.is_in(table["status"].cast(pa.string()), value_set=pa.array(sorted(UNCOUNTED)))
        if pc.any(uncounted).as_py():
            table = table.filter(pc.invert(uncounted))
        values, low, high = (_to_float(table[name]) for name in ("rtt_ns", "low_ns", "high_ns"))
        interval = ~(np.isnan(low) & np.isnan(high))
        values[np.isnan(values)] = np.inf
        if not interval.any():
            return values, values
        return (
            np.where(interval, np.where(np.isnan(low), 0.0, low), values),
            np.where(interval, np.where(np.isnan(high), np.inf, high), values),
        )


def segments_by_run(study: Study) -> dict[str, list[Segment]]:
    """Return the segments of each run of a study, in the order of sending. Only run ids are read."""
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

    return pq.ParquetFile(path, read_dictionary=["run_id", "status"])


def _runs_of(file: pq.ParquetFile, row_group: int) -> Iterator[tuple[str, int, int]]:
    """Yield run id, first row and row after the last of each run in a row group."""
    import numpy as np

    group = file.metadata.row_group(row_group)
    of_run_id = group.column(file.schema_arrow.names.index("run_id")).statistics
    if of_run_id is not None and of_run_id.has_min_max and of_run_id.min == of_run_id.max:
        yield of_run_id.min, 0, group.num_rows
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
