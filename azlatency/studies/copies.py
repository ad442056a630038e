"""Find runs that are printed twice, for example in a log and in the report that quotes it.

Two runs with the same printed values are one test if there are too many values for chance: at least `ENOUGH`
different values with three or more digits. Repeated runs of iperf3 or qperf can print the same few values, so shorter
copies count as runs, with a warning from `SUSPICIOUS` values on, or `SUSPICIOUS_IN_REPORT` if a report prints one of
them. So do runs whose logs or manifest name different places, rounds, repeats or times, without a warning.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from azlatency.logs.record import Row

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
#: The columns of the table ``runs`` that are compared.
COMPARED = (*_SAME, *_TELLS_APART)
#: The columns of each table that identify and hold printed values. The small tables select which runs are compared.
_SMALL = {
    "metrics": ["metric", "side", "stream", "printed", "printed_unit"],
    "quantiles": ["metric", "stream", "q", "printed", "printed_unit"],
}
_LARGE = {
    "intervals": ["side", "stream", "start_ns", "throughput_printed"],
    "samples": ["seq", "rtt_ns"],
}
_VALUES = ("printed", "throughput_printed", "rtt_ns")
#: The numeric column of each table that follows from the printed value.
_NUMBERS = {"metrics": "value", "quantiles": "value_ns", "intervals": "throughput_printed", "samples": "rtt_ns"}


def find_copies(
    runs: pd.DataFrame, table: Callable[[str], pa.Table], fewest: int = ENOUGH
) -> dict[str, tuple[str, int]]:
    """Find the runs that print the same values as another run.

    Parameters
    ----------
    runs : DataFrame
        The table ``runs``; of its columns, ``run_id``, ``source_id`` and `COMPARED` are used.
    table : callable
        Returns a table of the same runs by its name.
    fewest : int
        Different values that two runs must have in common.

    Returns
    -------
    dict of str to (str, int)
        ``run_id`` of a copy to the ``run_id`` of the run that counts, and the number of different values. The run that
        counts is that of the file with the fewest runs: a log, not the report that quotes it.
    """
    import pandas as pd

    alike = runs[_alike(runs["run_id"], table, fewest)].set_index("run_id")
    if alike.empty:
        return {}
    marks = pd.util.hash_pandas_object(alike[_SAME].astype("str"), index=False)
    for columns in (_SMALL, _LARGE):
        marks = _marked(marks, columns, table)
        marks = marks[marks.duplicated(keep=False).to_numpy()]
        if marks.empty:
            return {}
    first_of_each = marks.drop_duplicates()
    different = _different_values(first_of_each.index, table)
    values = {mark: different.get(run_id, 0) for run_id, mark in first_of_each.items()}
    marks = marks[[values[mark] >= fewest for mark in marks]]
    rows = alike.loc[marks.index, list(_TELLS_APART)].astype(object)
    rows = rows.where(rows.notna(), None).assign(
        mark=marks, size=alike.loc[marks.index, "source_id"].map(runs["source_id"].value_counts())
    )
    copies: dict[str, tuple[str, int]] = {}
    originals: dict[int, list[Row]] = {}
    for row in rows.sort_values("size", kind="stable").reset_index().to_dict("records"):
        of_mark = originals.setdefault(row["mark"], [])
        first = next((other for other in of_mark if not _told_apart(row, other)), None)
        if first is None:
            of_mark.append(row)
        else:
            copies[row["run_id"]] = first["run_id"], values[row["mark"]]
    return copies


def _alike(run_ids: pd.Series, table: Callable[[str], pa.Table], fewest: int) -> NDArray[np.bool_]:
    """Select the runs that may be copies: with enough values, whose bits have the sum of those of another run.

    Equal tokens have equal values. To add bits costs a tenth of comparing tokens, which only the selected runs need.
    """
    import numpy as np
    import pandas as pd
    import pyarrow as pa
    import pyarrow.compute as pc

    ids = pa.array(run_ids, pa.string())
    sums, counts = np.zeros(len(ids), np.uint64), np.zeros(len(ids), np.int64)
    for tables in (_SMALL, _LARGE):
        for name, columns in tables.items():
            content = table(name)
            positions = pc.index_in(content["run_id"], value_set=ids)
            used = pc.and_(pc.is_valid(content[_printed(columns)]), pc.is_valid(positions))
            chosen = positions.filter(used).to_numpy()
            values = content[_NUMBERS[name]].filter(used).to_numpy().astype(np.float64)
            np.add.at(sums, chosen, values.view(np.uint64))
            counts += np.bincount(chosen, minlength=len(ids))
        alike = pd.Series(sums).duplicated(keep=False).to_numpy()
        if not alike.any():
            break
    return alike & (counts >= fewest)


def _printed(columns: list[str]) -> str:
    """Return the column of printed values."""
    return next(column for column in columns if column in _VALUES)


def _marked(marks: pd.Series, columns: dict[str, list[str]], table: Callable[[str], pa.Table]) -> pd.Series:
    """Add the values of some tables to a number per run, which is equal for equal values in any order."""
    import pandas as pd

    for name, names in columns.items():
        rows = _of_runs(table(name).select(["run_id", *names]), marks.index)
        hashes = pd.util.hash_pandas_object(rows[names], index=False).groupby(rows["run_id"]).sum()
        marks = marks * 31 + hashes.reindex(marks.index, fill_value=0)
    return marks


def _of_runs(content: pa.Table, run_ids: pd.Index) -> pd.DataFrame:
    import pyarrow as pa
    import pyarrow.compute as pc

    chosen = content.filter(pc.is_in(content["run_id"], value_set=pa.array(run_ids, pa.string())))
    return chosen.to_pandas()


def _different_values(run_ids: pd.Index, table: Callable[[str], pa.Table]) -> dict[str, int]:
    """Return how many different values with at least three significant digits each run printed."""
    import pandas as pd

    parts = []
    for name, names in (_SMALL | _LARGE).items():
        column = _printed(names)
        rows = _of_runs(table(name).select(["run_id", column]), run_ids).dropna().drop_duplicates()
        parts.append(rows.rename(columns={column: "value"}).astype({"value": "str"}))
    values = pd.concat(parts).drop_duplicates()
    long = values["value"].str.partition("e")[0].str.replace(r"\D", "", regex=True).str.strip("0").str.len() >= 3
    return values["run_id"][long.to_numpy()].value_counts().to_dict()


def _told_apart(one: Row, other: Row) -> bool:
    return any(one[name] != other[name] and None not in (one[name], other[name]) for name in _TELLS_APART)
