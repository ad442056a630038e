"""Parts of a study: some of its paths, one of its scenarios, and what it is compared with."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from azlatency.logs.parse import LogError
from azlatency.studies.format import did_you_mean
from azlatency.studies.runs.path import NetworkPath
from azlatency.studies.runs.run_table import FROM_TABLE, STEP, run_table, to_durations, whole_run_rows
from azlatency.studies.store.study import Stamp, Study, load

#: A year, a month or a day.
_TIME = re.compile(r"(?:19|20)\d\d(?:-\d\d(?:-\d\d)?)?")


@dataclass(frozen=True, repr=False)
class SelectedStudy(Study):
    """The part of a ``whole`` study with some of its runs, and the reported numbers of some of its scenarios.

    The table ``sources`` remains whole. ``one_scenario``: it is a scenario of the study, whose paths are named by their
    ends alone.
    """

    whole: Study
    kept_run_ids: frozenset[str]
    kept_scenarios: frozenset[str]
    one_scenario: bool = False

    @classmethod
    def of(
        cls, whole: Study, name: str, run_ids: Iterable[str], scenarios: Iterable[str] = (), *, is_one: bool = False
    ) -> SelectedStudy:
        """Return some runs of a study, and the reported numbers of some scenarios, under a name."""
        kept = frozenset(map(str, run_ids)), frozenset(scenarios)
        return cls(name, whole.folder, whole.info, whole.version, whole, *kept, is_one)

    @property
    def is_stored(self) -> bool:
        """Whether the tables of the whole study are files in ``folder``."""
        return self.whole.is_stored

    @property
    def _stamp(self) -> Stamp:
        return self.whole._stamp

    def _read_json(self, name: str) -> Any:
        return self.whole._read_json(name)

    def to_arrow(self, table: str) -> pa.Table:
        """Return one table with the rows of the selected runs; see `Study.to_arrow`."""
        content = self.whole.to_arrow(table)
        if "run_id" not in content.column_names:
            return content
        return content.filter(pc.is_in(content["run_id"], pa.array(sorted(self.kept_run_ids), pa.string())))

    @cached_property
    def reported(self) -> pd.DataFrame:
        """Numbers of the selected scenarios that someone published without a log."""
        reported = self.whole.reported
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
    names = [str(NetworkPath.parse(name.strip())) for name in pairs.split(",") if name.strip()]
    if not names:
        return study
    runs = run_table(study)
    both = zip(runs["zone"], runs["peer_zone"], strict=True)
    zones = [() if pd.isna(zone) or pd.isna(peer) else _zone_pair(zone, peer) for zone, peer in both]
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
            known = dict.fromkeys([*runs["path"], *sorted(scenarios), *zone_pairs])
            hint = did_you_mean(name, known) or "."
            raise LogError(f"{study.name}: no path or pair of zones named {name}{hint} Known: {', '.join(known)}")
        kept.update(matching)
    return SelectedStudy.of(study, study.name, kept, [*names, *runs.loc[sorted(kept), "path"]])


def select_scenario(study: Study, scenario: str) -> Study:
    """Restrict a study to the runs of one scenario, or of a time: ``2026-08``, ``2026``; `LogError` if it has none."""
    runs = run_table(study)
    chosen = runs[runs["scenario"] == scenario]
    if not len(chosen) and _TIME.fullmatch(scenario):
        return _select_time(study, runs, scenario)
    if not len(chosen):
        known = ", ".join(sorted(runs["scenario"].dropna().unique())) or "none"
        raise LogError(f"{study.name} has no scenario {scenario!r}; known: {known}")
    return SelectedStudy.of(study, f"{study.name}@{scenario}", chosen.index, [scenario], is_one=True)


def _select_time(study: Study, runs: pd.DataFrame, time: str) -> Study:
    """Restrict a study to the runs that began, and the windows that ended, in a year, a month or a day (UTC)."""
    moments = runs["started_at"].where(~is_window(runs), window_ends(runs["started_at"], runs["duration_ns"])).dropna()
    chosen = moments[moments.dt.strftime("%Y-%m-%d").str.startswith(time)]
    if not len(chosen):
        known = f"; its runs are of {moments.min():%Y-%m-%d} to {moments.max():%Y-%m-%d}" if len(moments) else ""
        raise LogError(f"{study.name} has neither a scenario nor a run of {time}{known}")
    return SelectedStudy.of(study, f"{study.name}@{time}", chosen.index)


def without_overlap(study: Study, other: Study) -> Study:
    """Leave out of a part of a study the windows that share time with one that counts in another part, by path.

    Scenarios share no data, and neither do two studies.
    """
    parts = [part for part in (study, other) if isinstance(part, SelectedStudy) and not part.one_scenario]
    if not isinstance(study, SelectedStudy) or len(parts) < 2 or study.version != other.version:
        return study
    runs, others = run_table(study), run_table(other)
    counted = others[is_window(others) & others["counted"]]
    spans: dict[tuple[str, str], list[tuple[pd.Timestamp, pd.Timestamp]]] = {}
    for path, method, *span in zip(*_spans(counted), strict=True):
        spans.setdefault((path, method), []).append((*span,))
    overlaps = [
        any(begin < end and start < stop for start, end in spans.get((path, method), ()))
        for path, method, begin, stop in zip(*_spans(runs), strict=True)
    ]
    shared = is_window(runs) & pd.Series(overlaps, runs.index, dtype=bool)
    if not shared.any():
        return study
    kept = runs.index[~shared]
    return SelectedStudy.of(study.whole, study.name, kept, study.kept_scenarios)


def _spans(runs: pd.DataFrame) -> list[pd.Series]:
    """Return path, method, begin and end of runs."""
    return [runs["path"], runs["method"], runs["started_at"], window_ends(runs["started_at"], runs["duration_ns"])]


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
            return select_scenario(load(study.folder.name, processed=study.folder.parent), named[1:])
        return load(named, processed=study.folder.parent)
    except (KeyError, LogError):
        if name:
            raise
        return replace(SelectedStudy.of(study, "no other study", ()), info={})


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
    others = set(run_table(study)["scenario"].dropna()) - before.kept_scenarios
    if len(others) != 1:
        names = ", ".join(sorted(others)) or "none"
        raise LogError(f"{before.name} is compared with one other scenario; name it in the parameter pairs: {names}")
    return select_scenario(study, others.pop())


def _zone_pair(*names: str) -> tuple[str, ...]:
    return tuple(sorted(name.strip() for name in names)) if len(names) == 2 else ()


def published_windows(study: Study) -> pd.DataFrame:
    """Return all windows of the published tables of a study, also those that overlap and do not count as runs.

    One row per window in the order of time, indexed by ``run_id``: the columns of `run_table`, ``date`` (its end, UTC)
    and ``mean_ns``, the round trip in ns, with the step of its print (``mean_ns_resolution``, ns).
    """
    runs = run_table(study)
    printed = whole_run_rows(study.metrics, "rtt_mean").reindex(runs.index)
    means = printed["value"].astype("float64")
    runs = runs.assign(mean_ns=means, mean_ns_resolution=STEP * printed["resolution"].astype("float64"))
    windows = runs[is_window(runs) & means.notna()]
    ends = window_ends(windows["started_at"], windows["duration_ns"])
    return windows.assign(date=ends).dropna(subset="date").sort_values("date", kind="stable")


def window_ends(starts: pd.Series, lengths_ns: pd.Series) -> pd.Series:
    """Return when windows ended: one that ends with a day, at midnight, ended on that day."""
    return starts + to_durations(lengths_ns - 1e3)


def is_window(runs: pd.DataFrame) -> pd.Series:
    """Return which runs are rows of a published table, each for a window of time; none of a frame that does not say."""
    if not {"dialect", "duration_ns", "started_at"} <= set(runs.columns):
        return pd.Series(data=False, index=runs.index)
    return (runs["dialect"] == FROM_TABLE) & runs["duration_ns"].notna()


def newest_windows(runs: pd.DataFrame) -> pd.DataFrame:
    """Return the runs without the earlier windows of published tables: what a series says of its last window.

    ``runs``: one row per run, as returned by `azlatency.latency`. Runs that are not windows are kept, and each method
    has a newest window of its own.
    """
    windows = runs[is_window(runs)].dropna(subset="started_at")
    newest = windows.groupby("method", dropna=False)["started_at"].transform("max")
    return runs.drop(windows.index[windows["started_at"] < newest])
