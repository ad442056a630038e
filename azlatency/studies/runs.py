"""Which runs measured the same thing: a path (who talked to whom) and a method (tool, test, protocol, message size).

Only runs of one path and one method are repeats of each other. A log of the receiving end is the other half of a run
that is counted already, and a server's log holds no measurement of a path.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from functools import cached_property
from numbers import Integral
from typing import TYPE_CHECKING

from azlatency.logs.parse import LogError
from azlatency.logs.tables import Logs
from azlatency.studies.path import Endpoint, Path
from azlatency.studies.samples import bounded, by_run, median
from azlatency.studies.store import Study, load

if TYPE_CHECKING:
    import pandas as pd

_NAMES = {"sockperf": "sockperf", "echo": "echo test"}


@dataclass(frozen=True)
class SelectedStudy(Study):
    """A study of which only some paths are looked at: ``runs_kept`` by run_id, ``scenarios_kept`` by name."""

    runs_kept: frozenset[str]
    scenarios_kept: frozenset[str]

    def table(self, name: str) -> pd.DataFrame:
        """One table of data-model.md with the rows of the kept runs; ``sources`` whole."""
        table = super().table(name)
        return table[table["run_id"].isin(self.runs_kept)] if "run_id" in table.columns else table

    @cached_property
    def reported(self) -> pd.DataFrame:
        """Numbers that stand only in a text, of the kept scenarios."""
        reported = super().reported
        return reported[reported["scenario"].isin(self.scenarios_kept)] if len(reported) else reported


def select(study: Study, pairs: str) -> Study:
    """The study with some paths only; ``pairs``: "" for all, or names separated by commas.

    A name is a path ("az1a → az3a", "->" will do), a scenario of reported numbers, or two zones ("1-3", either way
    round). Raises `LogError` that lists the known ones for an unknown name.
    """
    wanted = [str(Path.parse(name.strip())) for name in pairs.split(",") if name.strip()]
    if not wanted:
        return study
    runs = run_table(study)
    zones = [_zones(run) for run in runs.itertuples(index=False)]
    scenarios = set(study.reported["scenario"].dropna()) if len(study.reported) else set()
    kept: set[str] = set()
    for name in wanted:
        pair = _pair(*name.split("-"))
        own = [
            run_id
            for run_id, path, ends in zip(runs.index, runs["path"], zones, strict=True)
            if path == name or (ends and ends == pair)
        ]
        if not own and name not in scenarios:
            known = dict.fromkeys(
                [*map(str, runs["path"]), *sorted(scenarios), *("-".join(each) for each in zones if each)]
            )
            raise LogError(f"{study.name}: no path and no pair of zones is called {name}; known: {', '.join(known)}")
        kept.update(own)
    named = frozenset([*wanted, *map(str, runs.loc[sorted(kept), "path"])])
    return SelectedStudy(study.name, study.folder, study.info, study.version, frozenset(kept), named)


def other_study(study: Study, name: str) -> Study:
    """The study to hold ``study`` against: ``name``, else the one that its manifest calls ``before``.

    Where neither is given, or the manifest's is not imported, a study without runs. Raises `LogError` for an unknown
    ``name``.
    """
    if name:
        return load(name, processed=study.folder.parent)
    try:
        return load(str(study.info["before"]), processed=study.folder.parent)
    except (KeyError, LogError):
        return SelectedStudy("no other study", study.folder, {}, study.version, frozenset(), frozenset())


def _zones(run: object) -> tuple[str, ...]:
    near, far = getattr(run, "zone", None), getattr(run, "peer_zone", None)
    return _pair(near, far) if isinstance(near, str) and isinstance(far, str) else ()


def _pair(*names: str) -> tuple[str, ...]:
    return tuple(sorted(each.strip() for each in names)) if len(names) == 2 else ()


def run_table(study: Study | Logs) -> pd.DataFrame:
    """One row a run, indexed by run_id, with ``path``, ``method``, ``file`` and the columns of ``runs``.

    ``path`` is the scenario of the manifest, else "client → server". Order: the manifest's scenarios, then files.
    """
    import pandas as pd

    runs = study.runs.merge(study.sources[["source_id", "path"]].rename(columns={"path": "file"}), on="source_id")
    runs["path"] = pd.Series([_path(row) for row in runs.to_dict("records")], runs.index, dtype=object)
    runs["method"] = [_method(row) for row in runs.itertuples(index=False)]
    for column, unit in (("message_bytes", "B"), ("connections", "connections")):
        _tell_apart(runs, column, unit)
    scenarios = study.info.get("scenarios", []) if isinstance(study, Study) else []  # parsed logs have no manifest
    place = {scenario: index for index, scenario in enumerate(scenarios)}
    runs["order"] = [place.get(path, len(place)) for path in runs["path"]]
    runs = runs.sort_values(["order", "file", "first_line"], kind="stable")
    return runs.drop(columns="order").set_index("run_id", drop=False)


def _tell_apart(runs: pd.DataFrame, column: str, unit: str) -> None:
    """Add what a column says to the names of methods that it divides: four connections are no repeat of one."""
    divided = runs.groupby("method")[column].nunique() > 1
    runs["method"] = [
        f"{method} {value:.0f} {unit if value > 1 else unit.removesuffix('s')}"
        if divided[method] and value > 0
        else method
        for method, value in zip(runs["method"], runs[column].to_numpy(dtype=float, na_value=math.nan), strict=True)
    ]


def client_side_runs(runs: pd.DataFrame) -> pd.DataFrame:
    """Without the logs of receiving ends and servers: each test counted once."""
    other_end = runs["dialect"].fillna("").str.endswith("-receiver") | (runs["test"].fillna("") == "server")
    return runs[~other_end.astype(bool)]


def of_whole_runs(metrics: pd.DataFrame, metric: str) -> pd.DataFrame:
    """The rows of one metric that are of a run and no stream of it, one a run, indexed by run_id."""
    chosen = metrics[(metrics["metric"] == metric) & metrics["stream"].isna()]
    return chosen.drop_duplicates("run_id").set_index("run_id")


def latency(study: Study | Logs) -> pd.DataFrame:
    """`run_table` of the measurements that gave a round trip, with ``n`` and the run's mean and median in ns.

    The median is printed, or computed from the samples where the log holds them; ``median_from`` says which. A probe
    without answer counts as later than any: a run that lost most of its probes has an infinite median. Where the middle
    of a run is known by its bounds only (Windows' ``time<1ms``) the median is missing.
    """
    runs = client_side_runs(run_table(study))
    metrics = study.metrics
    for column, metric in (
        ("mean_ns", "rtt_mean"),
        ("n", "observations"),
        ("received", "received"),
        ("max_ns", "rtt_max"),
    ):
        runs[column] = of_whole_runs(metrics, metric)["value"].reindex(runs.index)
    quantiles = study.quantiles
    medians = quantiles[(quantiles["metric"] == "rtt") & (quantiles["q"] == 0.5)].drop_duplicates("run_id")
    runs["median_ns"] = medians.set_index("run_id")["value_ns"].reindex(runs.index)
    runs["median_from"] = ["printed" if known else None for known in runs["median_ns"].notna()]
    answered = _medians_of_samples(study, runs)
    runs["n"] = runs["n"].fillna(runs["received"])
    # A run of which only bounds are known has neither a mean nor a median, but percentiles.
    return runs[runs["mean_ns"].notna() | runs["median_ns"].notna() | runs.index.isin(answered)]


def _medians_of_samples(study: Study | Logs, runs: pd.DataFrame) -> set[str]:
    """Fill in the median and n of runs that left samples and printed no median; gives those with an answer."""
    answered = set()
    for run_id, own in by_run(study, runs[runs["median_ns"].isna()]).items():
        answers = int((own["rtt_ns"].notna() | bounded(own)).sum())
        runs.loc[run_id, "n"] = answers
        if answers:
            answered.add(run_id)
        # A run without any answer measured no latency, not an endless one.
        if answers and not math.isnan(middle := median(own)):
            runs.loc[run_id, "median_ns"] = middle
            runs.loc[run_id, "median_from"] = "samples"
    return answered


def throughput(study: Study | Logs) -> pd.DataFrame:
    """`run_table` of stream tests with goodput: ``throughput`` (bit/s), ``side`` it was counted at,
    ``retransmits``.

    The receiver's count is the goodput; where only the sender's is known, it stands and ``side`` says so.
    """
    runs = client_side_runs(run_table(study))
    by_side = {
        side: of_whole_runs(study.metrics[study.metrics["side"] == side], "throughput")
        for side in ("receiver", "sender")
    }
    runs["throughput"] = by_side["receiver"]["value"].reindex(runs.index)
    runs["side"] = ["receiver" if known else "sender" for known in runs["throughput"].notna()]
    sender = by_side["sender"].reindex(runs.index)
    runs["throughput"] = runs["throughput"].fillna(sender["value"])
    for column in ("printed", "printed_unit"):
        runs[column] = by_side["receiver"][column].reindex(runs.index).fillna(sender[column])
    retransmits = of_whole_runs(study.metrics, "retransmits")
    runs["retransmits"] = retransmits["value"].reindex(runs.index)
    runs["retransmits_scope"] = retransmits["scope"].reindex(runs.index)
    return runs[runs["throughput"].notna()]


def _path(run: Mapping[Hashable, object]) -> Path:
    """Return the path of a row of the table ``runs``."""
    client, server = (
        Endpoint(
            machine=_text(run[machine]),
            region=_text(run[f"{peer}region"]),
            zone=_text(run[f"{peer}zone"]),
            physical_zone=_text(run[f"{peer}physical_zone"]),
        )
        for machine, peer in (("client", ""), ("server", "peer_"))
    )
    return Path(client, server, _text(run["scenario"]))


def _text(value: object) -> str | None:
    return value if isinstance(value, str) else None


def _method(row: object) -> str:
    """Tool, test, protocol and message size: what must be equal before two runs may be called repeats."""
    parts = [getattr(row, "tool", "")]
    test = getattr(row, "test", None)
    protocol = getattr(row, "protocol", None)
    if isinstance(test, str) and test not in ("echo", "stream", "ping-pong"):
        parts.append(test)
    if isinstance(protocol, str) and protocol != "icmp" and protocol not in parts[-1]:
        parts.append(protocol.upper())
    size = getattr(row, "message_bytes", None)
    if isinstance(size, Integral) and parts[0] in ("sockperf", "ping"):
        parts.append(f"{size} B")
    return " ".join(parts)
