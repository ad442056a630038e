"""Read the ground truth of an emulated study: the configured delays, and those that the emulator recorded.

They are in the file ``truth.json`` of the study. No parser and no statistic of real studies uses them; only pages that
check whether the tools and this library find the delays.
"""

from __future__ import annotations

import json
import math
from typing import Any

import pandas as pd

from azlatency.logs.parse import LogError
from azlatency.logs.schema import document
from azlatency.studies.runs.path import NetworkPath, route
from azlatency.studies.store.folders import data_folder
from azlatency.studies.store.own_files import ManifestError, check_no_link, check_regular, read_own_text
from azlatency.studies.store.study import Study

_FILE = "truth.json"
_COLUMNS = ("sender", "receiver", "delay_ns", "mean_ns", "rate_bit_s")
_MICROSECOND, _MEGABIT = 1e3, 1e6
#: The configured links of a real network.
NOT_EMULATED = pd.DataFrame()


def both_directions(links: pd.DataFrame, start: str, end: str) -> tuple[pd.Series, pd.Series] | None:
    """Return the rows of `configured_links` for both directions of a pair; None if one of them is not configured."""
    forward, backward = route(start, end), route(end, start)
    return (links.loc[forward], links.loc[backward]) if {forward, backward} <= set(links.index) else None


def sums_of_both_directions(links: pd.DataFrame, column: str = "delay_ns") -> dict[str, float]:
    """Return the sum of a column of `configured_links` over both directions by path; empty if the network is real."""
    return {
        path: float(links.at[path, column] + links.at[back, column])
        for path in links.index
        if (back := str(NetworkPath.parse(path).reversed())) in links.index
    }


def _mean_delay_us(link: dict[str, float]) -> float:
    """Return the mean delay of a link: base, lognormal jitter, and rare spikes of a Pareto law with an upper limit."""
    jitter = link["jitter_median_us"] * math.exp(link["jitter_sigma"] ** 2 / 2)
    scale, shape, cap = (link[f"spike_{name}"] for name in ("scale_us", "shape", "cap_us"))
    spike = (shape * scale - cap * (scale / cap) ** shape) / (shape - 1)
    return float(link["base_us"] + jitter + link["spike_probability"] * spike)


def _truth(study: Study) -> dict[str, Any]:
    """Return what ``truth.json`` of a study contains; nothing for a real network."""
    file = data_folder("raw") / study.name / _FILE
    try:
        check_no_link(file, study.name)
        if not file.exists():
            return {"links": {}, "runs": {}}
        check_regular(file, study.name)
        truth: dict[str, Any] = json.loads(read_own_text(file))
    except ManifestError as error:
        raise LogError(str(error)) from None
    except json.JSONDecodeError as error:
        raise LogError(f"{file}:{error.lineno}: not JSON ({error.msg}); correct or remove the file") from None
    if not isinstance(truth, dict):
        raise _malformed(study, TypeError("not an object"))
    return truth


def _malformed(study: Study, error: Exception) -> LogError:
    file = data_folder("raw") / study.name / _FILE
    return LogError(f"{file}:1: not an emulated network ({error}); correct or remove the file")


def route_changes(study: Study) -> list[tuple[tuple[str, str], int]]:
    """Return the zones between which the route of an emulated network changed, and the first round of the new route."""
    changes = _truth(study).get("route_changes", ())
    return [((str(change["zones"][0]), str(change["zones"][1])), int(change["from_round"])) for change in changes]


def planted_changes(study: Study) -> list[tuple[set[str], int]]:
    """Return the links that each change of an emulated network concerns (``a → b``), and the first round after it."""
    truth = _truth(study)
    changes = [
        ({str(NetworkPath.parse(change["link"]))}, int(change["from_round"]))
        for change in truth.get("link_changes", ())
    ]
    for zones, first in route_changes(study):
        hosts = {name: host["zone"] for name, host in truth["hosts"].items()}
        ends = {route(a, b) for a in hosts for b in hosts if {hosts[a], hosts[b]} == set(zones)}
        changes.append((ends, first))
    return changes


def configured_links(study: Study) -> pd.DataFrame:
    """Return the configured links of an emulated network.

    Parameters
    ----------
    study : Study
        An imported study.

    Returns
    -------
    DataFrame
        One row per direction of a link, indexed by its path (``a → b``); empty if the network is real. Columns:
        ``sender``, ``receiver``; ``delay_ns``, the configured one-way delay; ``mean_ns``, the delay plus the mean of
        the configured jitter; ``rate_bit_s``, the configured rate.

    Raises
    ------
    LogError
        If ``truth.json`` does not describe an emulated network.
    """
    rows = []
    try:
        for name, link in _truth(study)["links"].items():
            if (ends := NetworkPath.parse(name).ends) is None:
                raise KeyError(f"{name!r} is not sender->receiver")
            delays = (link["base_us"] * _MICROSECOND, _mean_delay_us(link) * _MICROSECOND)
            rows.append((*ends, *delays, link["rate_mbit_s"] * _MEGABIT))
    except (AttributeError, KeyError, TypeError, ValueError, ArithmeticError) as error:
        raise _malformed(study, error) from None
    frame = pd.DataFrame(rows, columns=list(_COLUMNS))
    frame.index = pd.Index([route(row.sender, row.receiver) for row in frame.itertuples()], dtype="str", name="path")
    return document(frame, "run_table", "configured_links")


def recorded_round_trips(study: Study) -> pd.DataFrame:
    """Return the delays that the emulator recorded in each run.

    Parameters
    ----------
    study : Study
        An imported study.

    Returns
    -------
    DataFrame
        One row per run, indexed by ``run_id``; empty if the network is real. Columns: ``file``, the log; ``median_ns``
        and ``mean_ns`` of the sums of both delays, from the emulator's read to the end of its write. The time of the
        hosts is not in them. A run without a round trip has no row.

    Raises
    ------
    LogError
        If ``truth.json`` does not describe an emulated network.
    """
    try:
        records = {
            log: (record["median_us"] * _MICROSECOND, record["mean_us"] * _MICROSECOND)
            for log, record in _truth(study)["runs"].items()
            if record["round_trips"]
        }
    except (AttributeError, KeyError, TypeError) as error:
        raise _malformed(study, error) from None
    files = study.runs["source_id"].map(study.sources.set_index("source_id")["path"])
    rows = [
        (run_id, file, *records[file])
        for run_id, file in zip(study.runs["run_id"], files, strict=True)
        if file in records
    ]
    frame = pd.DataFrame(rows, columns=["run_id", "file", "median_ns", "mean_ns"]).set_index("run_id")
    return document(frame, "runs", "run_table", "latency")
