"""Find runs that are printed twice, for example in a log and in the report that quotes it.

Two runs with the same printed values are one test if there are too many values for chance: at least `ENOUGH`
different values with three or more digits. Repeated runs of iperf3 or qperf can print the same few values, so shorter
copies count as runs. So do runs whose logs or manifest name different places, rounds, repeats or times.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING

from azlatency.logs.record import Row

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa

#: Code of the event of a run that is a copy.
COPIED_RUN = "copied_run"
#: So many different values of three digits or more are not equal by chance.
ENOUGH = 12
#: What the runs of one test have in common, apart from what they measured.
_SAME = ["tool", "dialect", "test", "protocol"]
#: If two runs differ in one of these, they are different runs, whatever they print.
_TELLS_APART = (
    "scenario", "round", "repeat", "region", "zone", "peer_region", "peer_zone", "client", "server", "started_at",
)  # fmt: skip
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


def find_copies(runs: pd.DataFrame, table: Callable[[str], pa.Table]) -> dict[str, tuple[str, int]]:
    """Find the runs that print the same values as another run.

    Parameters
    ----------
    runs : DataFrame
        The table ``runs``.
    table : callable
        Returns a table of the same runs by its name.

    Returns
    -------
    dict of str to (str, int)
        ``run_id`` of a copy to the ``run_id`` of the run that counts, and the number of different values. The run that
        counts is that of the file with the fewest runs: a log, not the report that quotes it.
    """
    import pandas as pd

    marks = pd.util.hash_pandas_object(runs.set_index("run_id")[_SAME].astype("str"), index=False)
    marks = _marked(marks, _SMALL, table)
    if marks.is_unique:
        return {}
    marks = _marked(marks[marks.duplicated(keep=False)], _LARGE, table)
    sizes = runs.groupby("source_id")["run_id"].transform("size")
    rows = runs.assign(size=sizes).sort_values("size", kind="stable").set_index("run_id")
    rows = rows[rows.index.isin(marks[marks.duplicated(keep=False)].index)]
    places = rows[[*_TELLS_APART]].astype(object).where(rows.notna(), None).reset_index().to_dict("records")
    groups: dict[int, list[Row]] = {}
    for mark, row in zip(marks.reindex(rows.index), places, strict=True):
        groups.setdefault(mark, []).append(row)
    different = _different_values(pd.Index([group[0]["run_id"] for group in groups.values()]), table)
    copies: dict[str, tuple[str, int]] = {}
    for group in groups.values():
        values = different.get(group[0]["run_id"], 0)
        if values < ENOUGH:
            continue
        originals: list[Row] = []
        for row in group:
            first = next((other for other in originals if not _told_apart(row, other)), None)
            if first is None:
                originals.append(row)
            else:
                copies[row["run_id"]] = first["run_id"], values
    return copies


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
        column = next(column for column in names if column in _VALUES)
        rows = _of_runs(table(name).select(["run_id", column]), run_ids).dropna()
        parts.append(rows.rename(columns={column: "value"}).astype({"value": "str"}).drop_duplicates())
    values = pd.concat(parts).drop_duplicates()
    long = [len(re.sub(r"\D", "", value.partition("e")[0]).strip("0")) >= 3 for value in values["value"]]
    return values["run_id"][long].value_counts().to_dict()


def _told_apart(one: Row, other: Row) -> bool:
    return any(one[name] != other[name] and None not in (one[name], other[name]) for name in _TELLS_APART)
