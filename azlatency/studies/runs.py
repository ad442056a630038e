"""The runs of a study: one row per run, with its path and its method.

Two runs repeat each other if they have the same path (region, zone and, where known, machine of client and server) and
the same method (tool, test, protocol, message size, connections and requested rate). The log of a receiver or server
describes a test that the log of its other end contains, too; `client_side_runs` counts each test once.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from azlatency.logs.format import format_value, natural_key
from azlatency.logs.parse import LogError
from azlatency.logs.tables import Logs, TableSet
from azlatency.studies.both_ends import is_far_end, pair_ends
from azlatency.studies.copies import COPIED_RUN, find_copies
from azlatency.studies.machine_names import Maps, mapped, parse_maps
from azlatency.studies.path import Endpoint, Path, name_paths
from azlatency.studies.samples import bounds, by_run, median, order_statistic
from azlatency.studies.store import Study, StudyInfo, load

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa


#: Ends of a stream; the first that was counted is the throughput.
SIDES = ("receiver", "sender")
#: Tests of each direction of a bidirectional test, and the roles of its streams in the logs of client and server.
_ROLES_OF_TEST = {"stream-bidir": ("TX-C", "RX-S"), "stream-bidir-reverse": ("RX-C", "TX-S")}
#: What the ``run_id`` of the second row of a bidirectional test ends with, so that the index has no duplicates.
REVERSE = "-reverse"


@dataclass(frozen=True, repr=False)
class SelectedStudy(Study):
    """A study restricted to some paths.

    Attributes
    ----------
    kept_run_ids : frozenset of str
        Runs whose rows remain in the tables. The table ``sources`` remains whole.
    kept_scenarios : frozenset of str
        Scenarios whose reported numbers remain.
    one_scenario : bool
        Whether the study is one of the scenarios of a study; its paths are named by their ends alone.
    """

    kept_run_ids: frozenset[str]
    kept_scenarios: frozenset[str]
    one_scenario: bool = False

    def to_arrow(self, table: str) -> pa.Table:
        """Return one table with the rows of the selected runs; see `Study.to_arrow`."""
        import pyarrow as pa
        import pyarrow.compute as pc

        content = super().to_arrow(table)
        if "run_id" not in content.column_names:
            return content
        return content.filter(pc.is_in(content["run_id"], pa.array(sorted(self.kept_run_ids), pa.string())))

    @cached_property
    def reported(self) -> pd.DataFrame:
        """Numbers of the selected scenarios that someone published without a log."""
        reported = super().reported
        return reported[reported["scenario"].isin(self.kept_scenarios)] if len(reported) else reported


def select(study: Study, pairs: str) -> Study:
    """Restrict a study to some paths.

    Parameters
    ----------
    study : Study
        An imported study.
    pairs : str
        Names separated by commas; an empty text selects everything. A name is a path (``"az1a -> az3a"``), a scenario
        of reported numbers, or two zones in any order (``"1-3"``).

    Returns
    -------
    Study
        The study with the tables of the selected runs.

    Raises
    ------
    LogError
        If a name matches nothing. The message lists the known names.
    """
    names = [str(Path.parse(name.strip())) for name in pairs.split(",") if name.strip()]
    if not names:
        return study
    runs = run_table(study)
    zones = [_zones(path) for path in runs["path"]]
    scenarios = set(study.reported["scenario"].dropna()) if len(study.reported) else set()
    kept: set[str] = set()
    for name in names:
        pair = _zone_pair(*name.split("-"))
        matching = [
            run_id
            for run_id, path, scenario, ends in zip(runs.index, runs["path"], runs["scenario"], zones, strict=True)
            if name in (path, scenario) or (ends and ends == pair)
        ]
        if not matching and name not in scenarios:
            zone_pairs = ["-".join(ends) for ends in zones if ends]
            known = dict.fromkeys([*map(str, runs["path"]), *sorted(scenarios), *zone_pairs])
            raise LogError(f"{study.name}: no path or pair of zones named {name}. Known: {', '.join(known)}")
        kept.update(matching)
    selected = frozenset([*names, *map(str, runs.loc[sorted(kept), "path"])])
    return SelectedStudy(study.name, study.folder, study.info, study.version, frozenset(kept), selected)


def of_scenario(study: Study, scenario: str) -> Study:
    """Restrict a study to the runs of one scenario; raise `LogError` if it has no run of it."""
    runs = study.runs[study.runs["scenario"] == scenario]
    if not len(runs):
        known = ", ".join(sorted(study.runs["scenario"].dropna().unique())) or "none"
        raise LogError(f"{study.name} has no scenario {scenario!r}; known: {known}")
    kept = frozenset(map(str, runs["run_id"]))
    name = f"{study.name}@{scenario}"
    return SelectedStudy(name, study.folder, study.info, study.version, kept, frozenset([scenario]), True)


def other_study(study: Study, name: str) -> Study:
    """Return the study to compare with.

    Parameters
    ----------
    study : Study
        An imported study.
    name : str
        Name of the other study, or ``"@SCENARIO"`` for a scenario of this study. If it is empty, the manifest names
        it with the key ``before``.

    Returns
    -------
    Study
        The other study. It has no runs if no study is named, or if the one that the manifest names is not imported.

    Raises
    ------
    LogError
        If there is no study called `name`.
    """
    try:
        named = name or study.info["before"]
        if named.startswith("@"):
            return of_scenario(load(study.folder.name, processed=study.folder.parent), named[1:])
        return load(named, processed=study.folder.parent)
    except (KeyError, LogError):
        if name:
            raise
        return SelectedStudy("no other study", study.folder, {}, study.version, frozenset(), frozenset())


def without(study: Study, before: Study) -> Study:
    """Return what to compare with `other_study`: the study, or its other scenario if both are of one study.

    Parameters
    ----------
    study : Study
        An imported study, or a selection of its paths.
    before : Study
        As returned by `other_study`.

    Returns
    -------
    Study
        The study itself if `before` is another one, else the runs of the only other scenario.

    Raises
    ------
    LogError
        If the study has no other scenario, or several.
    """
    if not (isinstance(before, SelectedStudy) and before.one_scenario):
        return study
    others = set(study.runs["scenario"].dropna()) - before.kept_scenarios
    if len(others) != 1:
        names = ", ".join(sorted(others)) or "none"
        raise LogError(f"{before.name} is compared with one other scenario; name it in the parameter pairs: {names}")
    return of_scenario(study, others.pop())


def _zones(path: Path) -> tuple[str, ...]:
    client, server = path.client.zone, path.server.zone
    return () if client is None or server is None else _zone_pair(client, server)


def _zone_pair(*names: str) -> tuple[str, ...]:
    return tuple(sorted(name.strip() for name in names)) if len(names) == 2 else ()


def run_table(study: Study | Logs) -> pd.DataFrame:
    """Return one row per run, with its path and method.

    Parameters
    ----------
    study : Study or Logs
        An imported study or parsed logs.

    Returns
    -------
    DataFrame
        The columns of the table ``runs``, and ``file``, ``path`` (a `Path`: the scenario of the manifest, or the names
        of client and server, or both if the scenario has several paths), ``method`` (text), ``target_rate_bit_s`` (the
        requested rate of a stream, 0 if the log prints none), ``other_end`` (the ``run_id`` of the log of the same
        test at the server or receiver) and ``counted`` (whether the run is neither such a log nor a copy of another
        run). The index is ``run_id``. Rows are ordered by the scenarios of the
        manifest, then by file (2 before 10).
    """
    return _once(study, _run_table)


def _once(study: Study | Logs, compute: Callable[[Study | Logs], pd.DataFrame]) -> pd.DataFrame:
    """Return a copy of the frame that ``compute`` returned for the study when it was first asked for."""
    if not isinstance(study, TableSet):
        raise TypeError(f"{study!r:.80} is neither a study nor logs; pass az.load(NAME) or az.parse(PATH)")
    frames = study.computed
    if compute not in frames:
        frames[compute] = compute(study)
    return frames[compute].copy(deep=False)  # pandas copies a column when either frame changes it


def _run_table(study: Study | Logs) -> pd.DataFrame:
    import pandas as pd

    runs = study.runs.merge(study.sources[["source_id", "path"]].rename(columns={"path": "file"}), on="source_id")
    runs["method"] = pd.Series([_method(row) for row in runs.itertuples(index=False)], runs.index, dtype="str")
    runs["target_rate_bit_s"] = _target_rates(study, runs)
    for column, unit in (("message_bytes", "B"), ("connections", "connections"), ("target_rate_bit_s", "bit/s")):
        _split_methods(runs, column, unit)
    named = runs.assign(scenario=None) if getattr(study, "one_scenario", False) else runs
    # Parsed logs have no manifest.
    info: StudyInfo = study.info if isinstance(study, Study) else {}
    runs["path"] = pd.Series(_paths(named, parse_maps(info.get("machines", []))), runs.index, dtype=object)
    pairs, left_out = pair_ends(runs, _transferred(study, runs))
    runs["other_end"] = runs["run_id"].map(pairs).astype("str")
    tables = _tables_of_logs(runs)
    runs["counted"] = ~runs["run_id"].isin([*left_out, *tables, *_copies(study)])
    position = {scenario: index for index, scenario in enumerate(info.get("scenarios", []))}
    runs["order"] = runs["scenario"].map(position).fillna(len(position))
    runs["natural"] = runs["file"].map(natural_key)
    runs = runs.sort_values(["order", "natural", "file", "first_line"], kind="stable")
    return runs.drop(columns=["order", "natural"]).set_index("run_id")


def _copies(study: Study | Logs) -> set[str]:
    """Return the runs that are copies of others; an import stored them."""
    if isinstance(study, Logs):
        return set(find_copies(study.runs, study.to_arrow))
    events = study.events
    return set(events.loc[events["code"] == COPIED_RUN, "run_id"])


def _tables_of_logs(runs: pd.DataFrame) -> dict[str, str]:
    """Return for each frequency table in a file of its own (``lagscope -P``) the run whose log lies beside it.

    Such a file belongs to the log in its folder that has its name or names it in its command.
    """
    of_lagscope = runs[runs["tool"] == "lagscope"]
    in_files = of_lagscope["dialect"] == "lagscope-json"
    logs = [(PurePosixPath(log.file), str(log.command), str(log.run_id)) for log in of_lagscope[~in_files].itertuples()]
    owners = {}
    for table in of_lagscope[in_files].itertuples():
        file = PurePosixPath(str(table.file).removesuffix(".gz"))
        beside = [(log, command, run_id) for log, command, run_id in logs if log.parent == file.parent]
        named = [run_id for log, command, run_id in beside if log.stem == file.stem or file.name in command]
        if len(named) == 1:
            owners[str(table.run_id)] = named[0]
    return owners


def frequency_tables(study: Study | Logs) -> pd.DataFrame:
    """Return the classes of round-trip times that the logs contain, under the runs that they describe.

    Parameters
    ----------
    study : Study or Logs
        An imported study or parsed logs.

    Returns
    -------
    DataFrame
        The table ``histograms`` without single streams and other metrics. A table in a file of its own has the
        ``run_id`` of the log beside it.
    """
    classes = study.histograms
    classes = classes[(classes["metric"] == "rtt") & classes["stream"].isna()]
    return classes.replace({"run_id": _tables_of_logs(run_table(study).reset_index())}) if len(classes) else classes


def _transferred(study: Study | Logs, runs: pd.DataFrame) -> dict[str, float]:
    """Return the bytes of each run, of the receiver if it counted them; nothing if no log is of a far end."""
    if not is_far_end(runs).any():
        return {}
    metrics = study.metrics
    sizes = {side: of_whole_runs(metrics[metrics["side"] == side], "transferred")["value"] for side in SIDES}
    return {str(run_id): float(size) for side in reversed(SIDES) for run_id, size in sizes[side].items()}


def _target_rates(study: Study | Logs, runs: pd.DataFrame) -> pd.Series:
    """Return the rate that was requested of each run, in bit/s; 0 if the log prints none."""
    import pandas as pd

    if not (runs["tool"] == "iperf3").any():
        return pd.Series(0.0, runs.index)
    return runs["run_id"].map(of_whole_runs(study.metrics, "target_rate")["value"]).astype(float).fillna(0.0)


def _split_methods(runs: pd.DataFrame, column: str, unit: str) -> None:
    """Append a value to the name of each method that has several: four connections do not repeat one connection."""
    varies = runs.groupby("method")[column].nunique() > 1
    runs["method"] = [
        f"{method} {_value(value, unit)}" if varies[method] and value > 0 else method
        for method, value in zip(runs["method"], runs[column].to_numpy(dtype=float, na_value=math.nan), strict=True)
    ]


def _value(value: float, unit: str) -> str:
    """Return "64 B", "1 connection", "50 Mbit/s"."""
    if unit == "bit/s":
        number, prefixed = format_value(value, unit, digits=6).split(" ")
        return f"{float(number):g} {prefixed}"
    return f"{value:.0f} {unit if value > 1 else unit.removesuffix('s')}"


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
    counted = runs[runs["counted"]]
    return counted.assign(name=_names(counted))


def _names(runs: pd.DataFrame) -> list[str]:
    """Name each run by its path and method, and by what tells it from the others of the same path and method."""
    which = dict.fromkeys(runs.index, "")
    for _, group in runs.groupby(["path", "method"], sort=False):
        if len(group) > 1:
            which.update(_which(group))
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


def of_whole_runs(metrics: pd.DataFrame, metric: str) -> pd.DataFrame:
    """Return the rows of a metric that describe a run and not one of its streams, indexed by ``run_id``."""
    return _by_run(of_streams(metrics, ""), metric)


def _by_run(metrics: pd.DataFrame, metric: str) -> pd.DataFrame:
    return metrics[metrics["metric"] == metric].drop_duplicates("run_id").set_index("run_id")


def latency(study: Study | Logs) -> pd.DataFrame:
    """Return one row per run that measured round-trip times.

    Parameters
    ----------
    study : Study or Logs
        An imported study or parsed logs.

    Returns
    -------
    DataFrame
        The columns of `azlatency.studies.run_table`, and for each run:

        - ``n``: number of replies;
        - ``mean_ns``, ``median_ns``, ``p99_ns``, ``max_ns``: round-trip times in ns, ``float64``;
        - ``median_from``: ``"printed"``, ``"samples"`` or ``"classes"`` (of a frequency table);
        - ``received``: printed number of replies;
        - ``mean_ns_resolution``, ``median_ns_resolution``, ``p99_ns_resolution``: step of the printed value, in ns.

        The column types are those of `azlatency.Study`: numbers are ``float64`` if they can be missing.

    Notes
    -----
    The median and the 99th percentile are those that the tool prints, or else those of the samples, or else the middle
    of the class of a frequency table. A lost probe counts as infinite (RFC 2681): a run that lost more than half of its
    probes has an infinite median. The median is missing if only its bounds are known (``time<1ms`` of Windows).
    ``p99_ns`` is missing for fewer than 100 probes, because it would be the sample maximum.

    Examples
    --------
    >>> import azlatency as az
    >>> runs = az.latency(az.load("westeurope-azure-cni"))
    >>> print(runs[["path", "method", "mean_ns"]].head(2).to_string(index=False))
           path            method  mean_ns
    Single node     qperf tcp_lat  33800.0
    Single node sockperf TCP 14 B  33582.0
    """
    return _once(study, _latency)


def _latency(study: Study | Logs) -> pd.DataFrame:
    import pandas as pd

    runs = client_side_runs(run_table(study))
    metrics = study.metrics
    for column, metric in (
        ("mean_ns", "rtt_mean"),
        ("n", "observations"),
        ("received", "received"),
        ("max_ns", "rtt_max"),
    ):
        runs[column] = of_whole_runs(metrics, metric)["value"].reindex(runs.index)
    runs["mean_ns_resolution"] = of_whole_runs(metrics, "rtt_mean")["resolution"].reindex(runs.index)
    quantiles = study.quantiles[study.quantiles["metric"] == "rtt"]
    # The 99th percentile of fewer than 100 probes has no probe beyond it.
    resolved = quantiles[~(quantiles["beyond"] < 1 - 1e-9)]
    for column, table, q in (("median_ns", quantiles, 0.5), ("p99_ns", resolved, 0.99)):
        printed = table[table["q"] == q].drop_duplicates("run_id").set_index("run_id").reindex(runs.index)
        runs[column], runs[f"{column}_resolution"] = printed["value_ns"], printed["resolution_ns"]
    has_median = runs["median_ns"].notna()
    runs["median_from"] = pd.Series("printed", runs.index, dtype="str").where(has_median)
    without_median = _fill_from_samples(study, runs)
    _fill_from_classes(study, runs)
    runs["n"] = runs["n"].fillna(runs["received"])
    # A run whose replies are all interval-censored has neither a mean nor a median, but it has percentiles.
    return runs[runs["mean_ns"].notna() | runs["median_ns"].notna() | runs.index.isin(without_median)]


def _fill_from_samples(study: Study | Logs, runs: pd.DataFrame) -> set[str]:
    """Compute the quantiles that a run did not print; return the runs with replies but without a printed median."""
    import numpy as np

    without = {column: set(runs.index[runs[column].isna()]) for column in ("median_ns", "p99_ns")}
    answered = set()
    # Set together: each assignment to a column of text copies it.
    found: dict[str, dict[str, object]] = {name: {} for name in ("n", "p99_ns", "median_ns", "median_from")}
    for run_id, samples in by_run(study, runs[runs["median_ns"].isna() | runs["p99_ns"].isna()]).items():
        low, high = bounds(samples)
        replies = int(np.isfinite(low).sum())
        if run_id in without["median_ns"]:
            found["n"][run_id] = float(replies)
        # A run without any reply did not measure an infinite latency.
        if not replies:
            continue
        if run_id in without["p99_ns"] and len(samples) >= 100:
            least, most = (order_statistic(np.sort(end), 0.99) for end in (low, high))
            found["p99_ns"][run_id] = least if least == most else math.nan
        if run_id in without["median_ns"]:
            answered.add(run_id)
            if not math.isnan(middle := median(samples)):
                found["median_ns"][run_id], found["median_from"][run_id] = middle, "samples"
    for column, values in found.items():
        if values:
            runs.loc[list(values), column] = list(values.values())
    return answered


def _fill_from_classes(study: Study | Logs, runs: pd.DataFrame) -> None:
    """Complete the median and the 99th percentile by the middle of their classes in a frequency table."""
    incomplete = runs[runs["median_ns"].isna() | runs["p99_ns"].isna()]
    classes = frequency_tables(study)
    for run_id, table in classes[classes["run_id"].isin(incomplete.index)].groupby("run_id"):
        ordered = table.sort_values("low_ns")
        totals = ordered["count"].cumsum()
        n = int(totals.iloc[-1])
        for column, q in (("median_ns", 0.5), ("p99_ns", 0.99)):
            row = ordered.iloc[int(totals.searchsorted(math.ceil(n * q - 1e-9)))] if n else None
            if row is None or (q > 0.5 and n < 100) or math.isfinite(float(runs.at[run_id, column])):
                continue
            if row[["low_ns", "high_ns"]].isna().any():
                continue  # an open class has no middle
            runs.loc[run_id, column] = float((row["low_ns"] + row["high_ns"]) / 2)
            if column == "median_ns":
                runs.loc[run_id, "median_from"] = "classes"


def throughput(study: Study | Logs) -> pd.DataFrame:
    """Return one row per run that measured throughput, and two per run that measured both directions at once.

    Parameters
    ----------
    study : Study or Logs
        An imported study or parsed logs.

    Returns
    -------
    DataFrame
        The columns of `azlatency.studies.run_table`, and for each run:

        - ``throughput_bit_s``: goodput in bit/s, ``float64``;
        - ``side``: ``"receiver"`` or ``"sender"``, the end that counted it;
        - ``printed``, ``printed_unit``: the value as printed;
        - ``throughput_bit_s_resolution``: step of the printed value, in bit/s;
        - ``retransmits``, ``retransmits_scope``: number of retransmitted segments, and what it covers.

    Notes
    -----
    The count of the receiver is the goodput, and is taken from the receiver's log if there is one. The count of the
    sender is used only if the receiver's is unknown.

    A bidirectional test (``--bidir``) has a goodput per direction under the load of the other, and two rows: ``test``
    and ``method`` are ``stream-bidir`` for data from client to server, and ``stream-bidir-reverse`` for data from
    server to client, where ``-reverse`` is appended to the ``run_id`` as well.

    Examples
    --------
    >>> import azlatency as az
    >>> runs = az.throughput(az.load("westeurope-azure-cni"))
    >>> print(runs[["path", "method", "throughput_bit_s", "side"]].head(2).to_string(index=False))
           path     method  throughput_bit_s     side
    Single node iperf3 TCP      2.570000e+10 receiver
    Single node     ntttcp      9.839000e+10   sender
    """
    return _once(study, _throughput)


def _throughput(study: Study | Logs) -> pd.DataFrame:
    runs = client_side_runs(run_table(study))
    goodput = _with_goodput(runs, of_streams(study.metrics, ""))
    both = runs["test"] == "stream-bidir"
    if both.any():
        import pandas as pd

        parts = [goodput[~both]]
        for test in _ROLES_OF_TEST:
            methods = runs.loc[both, "method"].str.replace("stream-bidir", test, regex=False)
            direction = runs[both].assign(test=test, method=methods)
            parts.append(_with_goodput(direction.assign(name=_names(direction)), of_streams(study.metrics, test)))
        in_order = runs.index.get_indexer_for(pd.concat(parts).index).argsort(kind="stable")
        parts[-1].index += REVERSE
        goodput = pd.concat(parts).iloc[in_order]
    return goodput[goodput["throughput_bit_s"].notna()]


def of_streams(metrics: pd.DataFrame, test: str) -> pd.DataFrame:
    """Return the rows that describe a run as a whole or, for a bidirectional test, one of its directions."""
    roles = _ROLES_OF_TEST.get(test)
    return metrics[metrics["stream"].isin(roles) if roles else metrics["stream"].isna()]


def _with_goodput(runs: pd.DataFrame, metrics: pd.DataFrame) -> pd.DataFrame:
    """Append the columns of `throughput`; ``metrics`` has one row per run, metric and side."""
    import pandas as pd

    by_side = {side: _by_run(metrics[metrics["side"] == side], "throughput") for side in SIDES}
    receiver, sender = (by_side[side].reindex(runs.index) for side in SIDES)
    # The receiver's own log is the source of its count; the log of the other end may not contain it, or only a copy.
    received = by_side["receiver"].reindex(runs["other_end"]).set_index(runs.index)
    receiver = received.where(received["value"].notna(), receiver)
    sides = pd.Series("receiver", runs.index, dtype="str")
    retransmits = _by_run(metrics, "retransmits").reindex(runs.index)
    return runs.assign(
        throughput_bit_s=receiver["value"].fillna(sender["value"]),
        side=sides.where(receiver["value"].notna(), "sender"),
        printed=receiver["printed"].fillna(sender["printed"]),
        printed_unit=receiver["printed_unit"].fillna(sender["printed_unit"]),
        throughput_bit_s_resolution=receiver["resolution"].fillna(sender["resolution"]),
        retransmits=retransmits["value"],
        retransmits_scope=retransmits["scope"],
    )


_END_COLUMNS = (
    ("client", "region", "zone", "physical_zone"),
    ("server", "peer_region", "peer_zone", "peer_physical_zone"),
)


def _paths(runs: pd.DataFrame, maps: Maps) -> list[Path]:
    """Return the path of each row of the table ``runs``, with the names of `maps`; see `name_paths`."""
    columns = [name for end in _END_COLUMNS for name in end]
    cells = (runs[name].astype(object).where(runs[name].notna(), None) for name in (*columns, "scenario", "method"))
    keys = list(zip(*cells, strict=True))
    distinct = list(dict.fromkeys(keys))
    named = name_paths([_path(key, maps) for key in distinct], [key[-1] for key in distinct])
    by_key = dict(zip(distinct, named, strict=True))
    return [by_key[key] for key in keys]


def paths_by_scenario(runs: pa.Table, maps: Maps) -> dict[str, list[str]]:
    """Return the texts of the paths of each scenario of the table ``runs`` that has several paths."""
    names = [*(name for end in _END_COLUMNS for name in end), "scenario", "tool"]
    keys = list(dict.fromkeys(zip(*(runs[name].to_pylist() for name in names), strict=True)))
    paths = name_paths([_path(key, maps) for key in keys], [key[-1] for key in keys])
    texts: dict[str, list[str]] = {}
    for path in dict.fromkeys(path for path in paths if path.shared):
        texts.setdefault(path.scenario or "", []).append(path.text)
    return texts


def _path(key: tuple[str | None, ...], maps: Maps) -> Path:
    """Return the path of the values of `_END_COLUMNS` and the scenario."""
    client, server = (
        Endpoint(machine=mapped(machine, maps), region=region, zone=zone, physical_zone=physical_zone)
        for machine, region, zone, physical_zone in (key[:4], key[4:8])
    )
    return Path(client, server, key[8])


def _method(row: object) -> str:
    """Return the name of tool, test, protocol and message size, which are equal for runs that repeat each other."""
    parts = [getattr(row, "tool", "")]
    test = getattr(row, "test", None)
    protocol = getattr(row, "protocol", None)
    if isinstance(test, str) and test not in ("echo", "stream", "ping-pong"):
        parts.append(test)
    if isinstance(protocol, str) and protocol != "icmp" and protocol not in parts[-1]:
        parts.append(protocol.upper())
    size = getattr(row, "message_bytes", math.nan)
    if math.isfinite(size) and parts[0] in ("sockperf", "ping"):
        parts.append(f"{size:.0f} B")
    return " ".join(parts)
