"""The runs of a study: one row per run, with its path and its method.

Two runs repeat each other if they have the same path (region, zone and, where known, machine of client and server) and
the same method (`azlatency.key`). The log of a receiver or server
describes a test that the log of its other end contains, too; `client_side_runs` counts each test once.
"""

from __future__ import annotations

import math
import re
from bisect import bisect_left
from collections.abc import Callable, Hashable, Mapping, Sequence
from functools import wraps
from itertools import pairwise
from pathlib import PurePosixPath
from typing import Any, TypeVar, cast

import numpy as np
import pandas as pd
import pyarrow as pa

from azlatency.logs.parse import IDENTICAL
from azlatency.logs.parsers import find_parser
from azlatency.logs.schema import document, refuse_foreign
from azlatency.logs.tables import Logs, TableSet
from azlatency.studies.format import natural_key
from azlatency.studies.manifest.machine_names import Maps, machine_of, parse_maps
from azlatency.studies.runs import key
from azlatency.studies.runs.both_ends import is_far_end, pair_ends
from azlatency.studies.runs.copies import COPIED_RUN, TELLS_APART, find_copies
from azlatency.studies.runs.groups import grouped
from azlatency.studies.runs.path import Endpoint, NetworkPath, name_paths, with_known_ends
from azlatency.studies.runs.treatments import (
    NUMBER_COUNTS,
    ONE_CLIENT,
    ONE_SERVER,
    Described,
    treatments,
    with_inherited,
)
from azlatency.studies.store.study import Study, StudyInfo

#: Ends of a stream; the first that was counted is the throughput.
SIDES = ("receiver", "sender")
#: Code of the refusal to pool runs that overlap in time.
OVERLAP = "overlapping_runs"
#: Code of the refusal to pool runs that only an assumed counter joins, and whose values are this many times apart.
DOUBTFUL, FAR_APART = "doubtful_number", 4
#: Start times have whole seconds, and clocks differ: the last second of a run, or its last fifth, shows no overlap.
_UNCERTAIN_NS, _CERTAIN_SHARE = 1e9, 0.8
#: Columns that show which runs of one path and method overlap.
_OF_OVERLAP = ("path", "method", "started_at", "duration_ns")
#: Dialect of the rows of a table of measurements.
FROM_TABLE = "table"
#: A step of printed values is twice the largest rounding error, which the tables have as resolution.
STEP = 2
#: What the ``run_id`` of the second row of a bidirectional test ends with, so that the index has no duplicates.
REVERSE = "-reverse"
#: Tests of each direction of a bidirectional test, and the roles of its streams in the logs of client and server.
ROLES_OF_TEST = {"stream-bidir": ("TX-C", "RX-S"), "stream-bidir-reverse": ("RX-C", "TX-S")}


Compute = TypeVar("Compute", bound=Callable[..., pd.DataFrame])


def once_per_study(compute: Compute) -> Compute:
    """Make a function of a study, and of options, compute its frame once; each caller gets a copy."""

    @wraps(compute)
    def copy_of_frame(study: Study | Logs, *options: Hashable) -> pd.DataFrame:
        if not isinstance(study, TableSet):
            refuse_foreign(study)
            name = repr(study) if isinstance(study, str) else type(study).__name__
            raise TypeError(f"{name:.80} is neither a study nor logs; pass az.load(NAME) or az.parse(PATH)")
        frames, key = study.computed, (compute, *options)
        if key not in frames:
            frames[key] = compute(study, *options)
        return frames[key].copy(deep=False)  # pandas copies a column when either frame changes it

    return cast("Compute", copy_of_frame)


@once_per_study
def run_table(study: Study | Logs) -> pd.DataFrame:
    """Return one row per run, with its path and method.

    Parameters
    ----------
    study : Study or Logs
        An imported study or parsed logs.

    Returns
    -------
    DataFrame
        The columns of the table ``runs``, and ``file``, ``path`` (text: the scenario of the manifest, or the names of
        client and server, or both if the scenario has several paths or is read from a name), ``scenario`` (that of the
        manifest, else what the name of the file and the label above the log say that others do not), ``assumed`` (codes
        of what no log, name or label says, see `azlatency.key`), ``client_end`` and ``server_end`` (the names of
        the two ends, missing if unknown), ``method`` (text: the fields in which the runs differ, see
        `azlatency.key`), ``unknown`` (codes of the refusals to pool a run, because
        its key is unknown), the columns of the key, ``other_end`` (the ``run_id`` of the log of the same
        test at the server or receiver) and ``counted`` (whether the run is neither such a log, nor a copy of another
        run, nor a row of a table whose window overlaps a later one). The index is ``run_id``. Rows are ordered by the
        scenarios of the manifest, then by file (2 before 10).
    """
    runs = _described_runs(study)
    paths = list(runs["path"])
    ends = [path.end_names for path in paths]
    runs["path"] = _texts([path.text for path in paths], runs)
    for place, column in enumerate(("client_end", "server_end")):
        runs[column] = _texts([names[place] for names in ends], runs)
    position = {scenario: index for index, scenario in enumerate(_info(study).get("scenarios", []))}
    runs["order"] = runs["scenario"].map(position).fillna(len(position))
    runs["natural"] = runs["file"].map(natural_key)
    runs = runs.sort_values(["order", "natural", "file", "first_line"], kind="stable")
    runs["counted"] &= ~overlapping_windows(runs, lambda: _numbers_of_rows(study))
    return document(runs.drop(columns=["order", "natural"]).set_index("run_id"), "runs", "run_table")


def with_network_paths(runs: pd.DataFrame, study: Study | Logs) -> pd.DataFrame:
    """Return runs of a study with `NetworkPath` objects in the column ``path``, to name the paths of two studies."""
    described = _described_runs(study)
    by_source = dict(zip(described["run_id"], described["path"], strict=True))
    # Both rows of a bidirectional test have the path of its run.
    paths = [by_source[run_id.removesuffix(REVERSE)] for run_id in runs.index]
    return runs.assign(path=_objects(paths, runs.index))


@once_per_study
def _described_runs(study: Study | Logs) -> pd.DataFrame:
    """Return the table ``runs`` with the columns of the key and of `run_table`, and with `NetworkPath` objects."""
    runs = study.runs.merge(study.sources[["source_id", "path"]].rename(columns={"path": "file"}), on="source_id")
    copies = _copies(study)
    runs = _completed(runs, copies)
    runs = key.describe(
        runs, lambda metric: whole_run_values(study.metrics, metric), lambda: _sender_times(study.intervals)
    )
    pairs, left_out = pair_ends(runs, _transferred(study, runs))
    runs["other_end"] = runs["run_id"].map(pairs).astype("str")
    runs["counted"] = ~runs["run_id"].isin([*left_out, *tables_of_logs(runs), *copies])
    bases = key.bases(runs)
    runs["method"] = _texts(bases, runs)
    one_scenario = getattr(study, "one_scenario", False)
    maps = parse_maps(_info(study).get("machines", []))
    drafted = bool(_info(study).get("drafted"))
    guessed = runs["scenario"].notna() & drafted
    without = runs.assign(scenario=None) if one_scenario else runs
    runs = _labelled(runs, _paths(without, maps, guessed, drafted=drafted))
    others = _other_files(study, runs)
    described = [Described(None, ())] * len(runs) if one_scenario else _treatments(runs, others)
    unnamed = _unnamed_ends(runs)
    assumed = [" ".join([*each.assumed, *codes]) for each, codes in zip(described, unnamed, strict=True)]
    runs["assumed"] = _texts(assumed, runs)
    found, stated = _texts([each.scenario for each in described], runs), runs["scenario"]
    if found.notna().any():
        runs = runs.assign(scenario=runs["scenario"].where(found.isna(), found), method=_texts(bases, runs))
        runs = _labelled(runs, _paths(runs, maps, found.notna() | guessed, drafted=drafted))
    if one_scenario or runs["scenario"].notna().all():
        return runs
    # What tells one path's runs apart names those of the others, too.
    apart = _apart(runs.assign(scenario=stated), others, bases)
    # A name says more than an unknown end, and than addresses that change with every run, such as those of pods.
    is_unknown = runs["path"].map(lambda path: path.is_unknown).astype(bool)
    is_server = [str(path.server) == name for path, name in zip(runs["path"], apart, strict=True)]
    nameless = apart.where(is_unknown & runs["scenario"].isna()).mask(is_server)
    if nameless.notna().any():
        runs = runs.assign(scenario=runs["scenario"].fillna(nameless), method=_texts(bases, runs))
        from_names = found.notna() | guessed | nameless.notna()
        runs = _labelled(runs, _paths(runs, maps, from_names, drafted=drafted))
    return runs.assign(scenario=runs["scenario"].fillna(apart))


def _apart(runs: pd.DataFrame, others: set[str], bases: list[str]) -> pd.Series:
    """Return what the names say that tell apart runs of other ends or other settings: it is their scenario, too."""
    zones = zip(*(runs[name].fillna("") for name in ("zone", "peer_zone")), bases, strict=True)
    described = _treatments(runs.assign(path=list(zones), method=""), others)
    return _texts([each.scenario for each in described], runs)


def _sender_times(intervals: pd.DataFrame) -> pd.Series:
    """Return by run when the last interval of its sender ended (ns)."""
    counted = intervals[(intervals["side"] == "sender") & ~intervals["omitted"].fillna(value=False)]
    return grouped(counted, "run_id")["end_ns"].max().astype(float)


def _labelled(runs: pd.DataFrame, paths: list[NetworkPath]) -> pd.DataFrame:
    """Return runs with their paths, and with the methods and refusals that belong to these."""
    texts = _texts([path.text for path in paths], runs)
    methods, unknown = key.label(runs.assign(path=texts))
    named = runs.assign(path=texts, method=_texts(methods, runs))
    # Those rows of tables that count do not overlap.
    # To select rows of all columns takes several times longer.
    compared = named[[*_OF_OVERLAP, "run_id", "file"]]
    overlapping = overlapping_runs(compared[named["counted"] & (named["dialect"] != FROM_TABLE)])
    unknown = [
        f"{codes} {OVERLAP}".strip() if run_id in overlapping else codes
        for codes, run_id in zip(unknown, runs["run_id"], strict=True)
    ]
    return named.assign(path=_objects(paths, runs.index), unknown=_texts(unknown, runs))


def overlapping_runs(runs: pd.DataFrame) -> dict[str, str]:
    """Return for each run that overlaps in time with another of its path, method and scenario that other run.

    Such runs may be of different machines. Runs of one file are one after the other, whatever their times say.
    """
    is_timed = runs["started_at"].notna() & (runs["duration_ns"] > _UNCERTAIN_NS)
    # To sort all columns, or each group by itself, takes several times longer.
    in_order = runs.loc[is_timed, [*_OF_OVERLAP, "run_id", "file"]].sort_values("started_at", kind="stable")
    lasted = in_order["duration_ns"]
    ends = in_order["started_at"] + to_durations((lasted * _CERTAIN_SHARE).clip(upper=lasted - _UNCERTAIN_NS))
    groups: dict[tuple[str, str], list[tuple[str, str, pd.Timestamp, pd.Timestamp]]] = {}
    columns = (in_order[name] for name in ("path", "method", "run_id", "file", "started_at"))
    for path, method, *row in zip(*columns, ends, strict=True):
        groups.setdefault((path, method), []).append((*row,))
    found: dict[str, str] = {}
    for rows in groups.values():
        for (run_id, file, _, end), (other_id, other_file, start, _) in pairwise(rows):
            if start < end and file != other_file:
                found[run_id], found[other_id] = other_id, run_id
    return found


def refuse_doubtful(runs: pd.DataFrame, values: pd.Series) -> pd.DataFrame:
    """Refuse to pool runs whose last number is only assumed to count repeats if their values are far apart."""
    counted = np.array([NUMBER_COUNTS in codes.split() for codes in runs["assumed"].fillna("")], dtype=bool)
    if not counted.any():
        return runs
    of_counted = values[
        counted & values.between(0, math.inf, inclusive="neither")
    ]  # a run that lost its probes says it
    by = [runs.loc[of_counted.index, name].fillna("") for name in ("path", "method", "scenario")]
    groups = of_counted.groupby(by, sort=False, dropna=False)
    doubtful = of_counted.index[groups.transform("max") > FAR_APART * groups.transform("min")]
    unknown = runs["unknown"].mask(runs.index.isin(doubtful), (runs["unknown"] + f" {DOUBTFUL}").str.strip())
    return runs.assign(unknown=unknown)


def to_durations(nanoseconds: pd.Series) -> pd.Series:
    """Return times in ns as durations, in µs."""
    # A start time of a wrong clock, in the year 2343, has no nanoseconds.
    return pd.to_timedelta(nanoseconds, unit="ns").astype("timedelta64[us]")


def _other_files(study: Study | Logs, runs: pd.DataFrame) -> set[str]:
    """Return the files without a run: copies of others, empty logs."""
    names = set(study.sources["path"])
    if isinstance(study, Study):
        names |= study.file_names
    else:
        texts = (row["text"] for row in study.rows["events"] if row["code"] == IDENTICAL)
        names |= {text.partition(": identical to ")[0] for text in texts}
    return names - set(runs["file"])


def _treatments(runs: pd.DataFrame, others: set[str]) -> list[Described]:
    """Return what names and labels say about the runs that count and whose scenario the manifest does not say."""
    described = [Described(None, ())] * len(runs)
    is_open = runs["counted"] & runs["scenario"].isna()
    # A label may be inherited from a run whose scenario the manifest says.
    in_order = runs[runs["counted"]].sort_values(["file", "first_line"], kind="stable")
    ends = [*zip(in_order["client"].fillna(""), in_order["server"].fillna(""), strict=True)]
    texts = in_order["heading"].astype(object).where(in_order["heading"].notna(), None)
    headings = pd.Series(with_inherited(list(in_order["file"]), list(texts), ends), in_order.index, dtype=object)
    open_runs = runs[["path", "method", "file", "round", "repeat", "dialect", "started_at"]][is_open]
    numbers = open_runs[["round", "repeat"]].astype(float).fillna(-1).astype(int).to_numpy()
    found = treatments(
        list(zip(map(str, open_runs["path"]), open_runs["method"], strict=True)),
        list(map(_without_year, open_runs["file"], open_runs["dialect"], open_runs["started_at"])),
        list(headings[open_runs.index]),
        [frozenset(row.tolist()) for row in numbers],
        others,
        list(pd.Series(ends, in_order.index, dtype=object)[open_runs.index]),
    )
    for place, each in zip(is_open.to_numpy().nonzero()[0], found, strict=True):
        described[place] = each
    return described


def _without_year(file: str, dialect: str | None, started_at: pd.Timestamp) -> str:
    """Return the name of a table without its year, and its month: its rows say it, so it tells nothing apart."""
    if dialect != FROM_TABLE or pd.isna(started_at):
        return file
    # A window that ended in January began in the year before.
    years = f"{started_at.year}|{started_at.year + 1}"
    return re.sub(rf"(?<!\d)(?:{years})(?:[-_.]?(?:0[1-9]|1[0-2]))?(?!\d)", "", file)


def _unnamed_ends(runs: pd.DataFrame) -> list[list[str]]:
    """Return what is assumed of the ends of each path that its log does not name."""
    codes: list[list[str]] = [[] for _ in range(len(runs))]
    for code, (machine, _, zone, _), place in ((ONE_CLIENT, END_COLUMNS[0], 0), (ONE_SERVER, END_COLUMNS[1], 1)):
        is_unnamed = runs[machine].isna() & runs[zone].isna()
        for found, path, unnamed in zip(codes, runs["path"], is_unnamed, strict=True):
            end = (path.client, path.server)[place]
            # Two regions tell ends apart without a name.
            is_region = end.label is not None and end.label == end.region
            if unnamed and not is_region and (path.scenario is None or path.shared):
                found.append(code)
    return codes


def _texts(values: Sequence[str | None], runs: pd.DataFrame) -> pd.Series:
    return pd.Series(values, runs.index, dtype="str")


def _info(study: Study | Logs) -> StudyInfo:
    """Return what the manifest states; parsed logs have none."""
    return study.info if isinstance(study, Study) else {}


def _objects(paths: list[NetworkPath], index: pd.Index) -> pd.Series:
    return pd.Series(paths, index, dtype=object)


def overlapping_windows(runs: pd.DataFrame, numbers: Callable[[], pd.Series]) -> pd.Series:
    """Return which rows of a table share time with another one of their path and method that counts.

    Means over 30 days that are published every week have most of their packets in common. The last window counts, and
    each that ends before the next one that counts begins; those with most ``numbers`` first.
    """
    is_timed = (runs["dialect"] == FROM_TABLE) & runs["started_at"].notna() & (runs["duration_ns"] > 0)
    overlaps = pd.Series(data=False, index=runs.index)
    if not is_timed.any():
        return overlaps
    timed = runs.loc[is_timed, [*_OF_OVERLAP, "run_id"]]
    timed = timed.assign(numbers=-timed["run_id"].map(numbers()).fillna(0))
    for _, group in grouped(timed, ["path", "method"]):
        in_turn = group.sort_values(["numbers", "started_at"], kind="stable", ascending=[True, False])
        starts = in_turn["started_at"].to_numpy("datetime64[us]").astype(np.int64).tolist()
        counted: list[tuple[int, float]] = []
        for run_id, start, length in zip(in_turn.index, starts, in_turn["duration_ns"] / 1e3, strict=True):
            at = bisect_left(counted, (start, 0.0))
            # Rows of one moment are repeats.
            overlaps[run_id] = any(
                begin < start + length and start < end and begin != start
                for begin, end in counted[max(at - 1, 0) : at + 1]
            )
            if not overlaps[run_id]:
                counted.insert(at, (start, start + length))
    return overlaps


def _numbers_of_rows(study: Study | Logs) -> pd.Series:
    """Return how many numbers each run has."""
    return study.metrics["run_id"].value_counts().add(study.quantiles["run_id"].value_counts(), fill_value=0)


def _copies(study: Study | Logs) -> dict[str, str]:
    """Return the runs that are copies, and the runs that they are copies of; an import stored which ones are."""
    if isinstance(study, Logs):
        found = find_copies(study.to_arrow("runs"), lambda name, _: [study.to_arrow(name)])
        return {copy.run_id: copy.of_run for copy in found}
    events = study.events
    copies = dict.fromkeys(map(str, events.loc[events["code"] == COPIED_RUN, "run_id"]), "")
    if copies:
        # Samples were compared by the import.
        small = {name: [study.to_arrow(name)] for name in ("metrics", "quantiles")}
        for copy in find_copies(study.to_arrow("runs"), lambda name, _: small.get(name, [])):
            one, other = copy.run_id, copy.of_run
            copies |= {one: other} if one in copies else {other: one} if other in copies else {}
    return copies


def _completed(runs: pd.DataFrame, copies: Mapping[str, str]) -> pd.DataFrame:
    """Complete runs by what only their copies print: a full log of sockperf names neither server nor protocol."""
    by_id = runs.set_index("run_id")
    pairs = [(run_id, other) for run_id, other in copies.items() if other in by_id.index]
    pairs = [(run_id, other) for run_id, other in pairs if pd.isna(by_id.at[other, "protocol"])]
    if not pairs:
        return runs
    originals = {other: run_id for run_id, other in pairs}
    said = by_id.loc[list(originals.values())].set_axis(list(originals)).reindex(runs["run_id"]).set_axis(runs.index)
    return runs.assign(**{name: runs[name].fillna(said[name]) for name in (*TELLS_APART, "heading", "command")})


def tables_of_logs(runs: pd.DataFrame) -> dict[str, str]:
    """Return for each frequency table in a file of its own the run whose log lies beside it.

    Such a file belongs to the log of its tool in its folder that has its name or names it in its command.
    """
    owners = {}
    for tool in runs["tool"].unique():
        if (dialect := find_parser(tool).table_dialect) is None:
            continue
        of_tool = runs[runs["tool"] == tool]
        in_files = of_tool["dialect"] == dialect
        logs = [(PurePosixPath(log.file), str(log.command), str(log.run_id)) for log in of_tool[~in_files].itertuples()]
        for table in of_tool[in_files].itertuples():
            file = PurePosixPath(str(table.file).removesuffix(".gz"))
            beside = [(log, command, run_id) for log, command, run_id in logs if log.parent == file.parent]
            named = [run_id for log, command, run_id in beside if log.stem == file.stem or file.name in command]
            if len(named) == 1:
                owners[str(table.run_id)] = named[0]
    return owners


def frequency_tables(study: Study | Logs, metric: str = "rtt") -> pd.DataFrame:
    """Return the classes of times that the logs contain, under the runs that they describe.

    Parameters
    ----------
    study : Study or Logs
        An imported study or parsed logs.
    metric : str
        ``"rtt"``, or ``"connect"`` for the times to open a connection.

    Returns
    -------
    DataFrame
        The table ``histograms`` without single streams and other metrics. A table in a file of its own has the
        ``run_id`` of the log beside it.
    """
    classes = study.histograms
    classes = classes[(classes["metric"] == metric) & classes["stream"].isna()]
    return classes.replace({"run_id": tables_of_logs(run_table(study).reset_index())}) if len(classes) else classes


def _transferred(study: Study | Logs, runs: pd.DataFrame) -> dict[str, float]:
    """Return the bytes of each run, of the receiver if it counted them; nothing if no log is of a far end."""
    if not is_far_end(runs).any():
        return {}
    metrics = study.metrics
    sizes = {side: whole_run_values(metrics[metrics["side"] == side], "transferred") for side in SIDES}
    return {str(run_id): float(size) for side in reversed(SIDES) for run_id, size in sizes[side].items()}


@once_per_study
def client_runs(study: Study | Logs) -> pd.DataFrame:
    """Return `client_side_runs` of the run table of a study, named once."""
    return client_side_runs(run_table(study))


def client_side_runs(runs: pd.DataFrame) -> pd.DataFrame:
    """Return the runs so that each test counts once, although both of its ends may have written a log.

    Parameters
    ----------
    runs : DataFrame
        As returned by `run_table`.

    Returns
    -------
    DataFrame
        The rows of clients and senders, and those of receivers and servers without such a row, with a column ``name``:
        path and method and, where several runs share them, the round, the repeat or the file.
    """
    refuse_foreign(runs)
    counted = runs[runs["counted"]]
    return document(counted.assign(name=names_of(counted)), "runs", "run_table")


def names_of(runs: pd.DataFrame) -> list[str]:
    """Name each run by its path and method, and by what tells it from the others of the same path and method."""
    which = dict.fromkeys(runs.index, "")
    used = runs[["path", "method", "round", "repeat", "file", "first_line"]]
    for places in grouped(used, ["path", "method"]).indices.values():
        if len(places) > 1:
            which.update(_which(used.iloc[places]))
    ends = zip(runs.index, runs["path"], runs["method"], strict=True)
    return [f"{path}, {method}{which[run_id]}" for run_id, path, method in ends]


def _which(group: pd.DataFrame) -> dict[str, str]:
    """Return the round, the repeat, the file or the line of each run, whichever differs between all of them."""
    for column in ("round", "repeat", "file"):
        if group[column].notna().all() and group[column].is_unique:
            return {
                str(run_id): f", {value}" if column == "file" else f", {column} {value:.0f}"
                for run_id, value in group[column].items()
            }
    places = zip(group.index, group["file"], group["first_line"], strict=True)
    return {str(run_id): f", {file}:{line}" for run_id, file, line in places}


def name_of(run: pd.Series) -> str:
    """Return the name of a run as `client_side_runs` gives it, else its path and method."""
    return str(run.get("name", f"{run['path']}, {run['method']}"))


def whole_run_rows(metrics: pd.DataFrame, metric: str) -> pd.DataFrame:
    """Return the rows of a metric that describe a run and not one of its streams, indexed by ``run_id``."""
    return by_run_id(stream_rows(metrics, ""), metric)


def whole_run_values(metrics: pd.DataFrame, metric: str, column: str = "value") -> pd.Series:
    """Return a column of `whole_run_rows`, without a copy of the other ones."""
    chosen = ((metrics["metric"] == metric) & metrics["stream"].isna()).to_numpy(dtype=bool)
    run_ids = pd.Index(metrics["run_id"].array[chosen], name="run_id")
    values = pd.Series(metrics[column].array[chosen], run_ids, name=column)
    return values if run_ids.is_unique else values[~run_ids.duplicated()]


def counted_losses(metrics: pd.DataFrame) -> pd.DataFrame:
    """Return ``lost`` and ``sent`` of the runs that print both and know what became of most of what they sent.

    A test that asks for few replies, such as under-load of sockperf, counts only those that it asked for as lost.
    """
    lost, sent, received = (whole_run_values(metrics, name) for name in ("lost", "sent", "received"))
    # sockperf counts the lost ones after its warm-up.
    sent, received = (
        whole_run_values(metrics, f"valid_{name}").combine_first(every)
        for name, every in (("sent", sent), ("received", received))
    )
    # A receiver of UDP counts the datagrams that it expected.
    sent = sent.combine_first(whole_run_values(metrics[metrics["side"] == "receiver"], "datagrams"))
    counts = pd.DataFrame({"lost": lost, "sent": sent, "received": received}).dropna(subset=["lost", "sent"])
    known = counts["received"].isna() | (2 * (counts["received"] + counts["lost"]) > counts["sent"])
    return counts.loc[known, ["lost", "sent"]]


def by_run_id(metrics: pd.DataFrame, metric: str) -> pd.DataFrame:
    """Return the first row of a metric for each run, indexed by ``run_id``."""
    return metrics[metrics["metric"] == metric].drop_duplicates("run_id").set_index("run_id")


def stream_rows(metrics: pd.DataFrame, test: str) -> pd.DataFrame:
    """Return the rows that describe a run as a whole or, for a bidirectional test, one of its directions."""
    roles = ROLES_OF_TEST.get(test)
    return metrics[metrics["stream"].isin(roles) if roles else metrics["stream"].isna()]


END_COLUMNS = (
    ("client", "region", "zone", "physical_zone"),
    ("server", "peer_region", "peer_zone", "peer_physical_zone"),
)


def _paths(runs: pd.DataFrame, maps: Maps, from_names: pd.Series, *, drafted: bool) -> list[NetworkPath]:
    """Return the path of each row of the table ``runs``, with the names of `maps`; see `name_paths`.

    ``from_names`` are the rows whose scenario was read from a name: their paths name the ends, too.
    """
    columns = [name for end in END_COLUMNS for name in end]
    cells = (runs[name].astype(object).where(runs[name].notna(), None) for name in (*columns, "scenario", "method"))
    keys = list(zip(*cells, from_names.tolist(), strict=True))
    distinct = list(dict.fromkeys(keys))
    paths = [_path(each, maps, shared=each[-1]) for each in distinct]
    methods = [each[-2] for each in distinct]
    named = name_paths(with_known_ends(paths, methods), methods, drafted=drafted)
    by_key = dict(zip(distinct, named, strict=True))
    return [by_key[each] for each in keys]


def paths_by_scenario(runs: pa.Table, maps: Maps) -> dict[str, list[str]]:
    """Return the texts of the paths of each scenario of the table ``runs`` that has several paths."""
    names = [*(name for end in END_COLUMNS for name in end), "scenario", "tool"]
    keys = list(dict.fromkeys(zip(*(runs[name].to_pylist() for name in names), strict=True)))
    paths = name_paths([_path(each, maps) for each in keys], [each[-1] for each in keys])
    texts: dict[str, list[str]] = {}
    for path in dict.fromkeys(path for path in paths if path.shared):
        texts.setdefault(path.scenario or "", []).append(path.text)
    return texts


def _path(cells: tuple[Any, ...], maps: Maps, *, shared: bool = False) -> NetworkPath:
    """Return the path of the values of `END_COLUMNS` and the scenario."""
    client, server = (
        Endpoint(machine=machine_of(machine, maps), region=region, zone=zone, physical_zone=physical_zone)
        for machine, region, zone, physical_zone in (cells[:4], cells[4:8])
    )
    return NetworkPath(client, server, cells[8], shared)
