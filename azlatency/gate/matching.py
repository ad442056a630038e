"""Match the paths of two sides: common names, names mapped by patterns, and the nearest names where nothing matches."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import replace
from difflib import get_close_matches

import pandas as pd

from azlatency.studies.format import did_you_mean
from azlatency.studies.manifest.machine_names import Maps, machine_of, mapped
from azlatency.studies.runs.assumptions import below_common_folder, joining_entry
from azlatency.studies.runs.key import label
from azlatency.studies.runs.left_out import named
from azlatency.studies.runs.path import NetworkPath, name_paths
from azlatency.studies.runs.treatments import FROM_NAME

#: At most this many pairs of names that are alike are listed.
_MOST_ALIKE = 3


def align_paths(
    after: pd.DataFrame, before: pd.DataFrame, maps: Maps = (), *, scenarios: bool = True, across: Sequence[str] = ()
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Name paths and methods of both sides by the same rule, so that equal texts stand for equal paths and methods.

    ``after`` and ``before`` have one row per run, as returned by `azlatency.studies.runs.with_network_paths`. ``maps``:
    patterns of machines, zones or scenarios and the names to use instead, for example for addresses that change with
    every run. ``scenarios``: whether scenarios name paths; not if two scenarios are compared with each other.
    ``across``: fields of the key that may differ; no method names them.
    """
    frames = [after, before]
    paths = [_plain(path, maps, scenarios=scenarios) for frame in frames for path in frame["path"]]
    named = name_paths(paths, [method for frame in frames for method in frame["method"]])
    columns = {"path": pd.Series(list(map(str, named)), dtype="str")}
    if all("tool" in frame.columns for frame in frames):
        columns["method"], columns["unknown"] = label(pd.concat(frames, ignore_index=True).assign(**columns), across)
    both = pd.DataFrame(columns)
    after, before = (
        frame.assign(**part.set_axis(frame.index))
        for frame, part in zip(frames, (both[: len(after)], both[len(after) :]), strict=True)
    )
    return after, before


def _plain(path: NetworkPath, maps: Maps, *, scenarios: bool) -> NetworkPath:
    """Return a path without the labels of its own side, and with mapped names."""
    client, server = (
        replace(end, label=None, machine=machine_of(end.machine, maps), zone=mapped(end.zone, maps))
        for end in (path.client, path.server)
    )
    scenario = mapped(path.scenario, maps) if scenarios else None
    return NetworkPath(client, server, scenario, path.shared and scenarios)


def unknown_name(what: str, name: str, known: Sequence[str], advice: str) -> str:
    """Say that a name is unknown, with the known name that is most like it."""
    return f"unknown {what} {name!r}{did_you_mean(name, known, cutoff=0.5) or ';'} {advice}"


def nothing_in_common(base: pd.DataFrame, candidate: pd.DataFrame) -> list[str]:
    """Say why no path and method is on both sides, and what to do: other methods, or other names of the ends."""
    if not len(base) or not len(candidate):
        return []
    sides = (base, candidate)
    common = [path for path in dict.fromkeys(base["path"]) if path in set(candidate["path"])]
    if common:
        old, new = (", ".join(dict.fromkeys(side.loc[side["path"] == common[0], "method"])) for side in sides)
        if old == new:
            return []
        return [
            f"Both sides measured {common[0]}, but with different methods: {old} in the base, {new} in the candidate. "
            "There is nothing in common to compare; measure both with one method"
        ]
    if apart := numbers_apart(base, candidate):
        return apart
    if options := _map_options(sides):
        return [f"No path is on both sides. If their ends correspond, add: {options}"]
    paths = [list(dict.fromkeys(side["path"])) for side in sides]
    pairs = [(name, close[0]) for name in paths[0] if (close := get_close_matches(name, paths[1], n=1, cutoff=0.6))]
    hint = "; ".join(f"{name} and {other}" for name, other in pairs[:_MOST_ALIKE])
    if not hint:
        return ["No path is on both sides; give the ends the same names with --map PATTERN=NAME"]
    return [f"No path is on both sides. The most alike are {hint}; --map PATTERN=NAME gives ends the same name"]


def numbers_apart(base: pd.DataFrame, candidate: pd.DataFrame) -> list[str]:
    """Say for each side that the numbers in the names of its files keep its runs apart, and what joins them."""
    return [*_numbered("base", base), *_numbered("candidate", candidate)]


def _numbered(name: str, runs: pd.DataFrame) -> list[str]:
    apart = runs[runs["assumed"].fillna("").str.contains(FROM_NAME)] if "assumed" in runs else runs.iloc[:0]
    files = below_common_folder(apart["file"], runs["file"]) if len(apart) else []
    lines = joining_entry(files) if files else []
    if len(lines) != 2 or not lines[1].startswith("pattern"):  # the other side has no scenario, either
        return []
    scenarios = named(list(dict.fromkeys(apart["scenario"])))
    # Without blanks, a narrow terminal does not break the line that is to be copied.
    entry = f"run=[{{{lines[1].replace(' = ', '=', 1)}}}]"
    return [
        f"The numbers in the names of its files keep the runs of the {name} apart: {scenarios}. If they count "
        f"repeats, write {entry} into study.toml in its folder"
    ]


def _map_options(sides: Sequence[pd.DataFrame]) -> str:
    """Return the options that give the ends of two sides with one path each the same names."""
    options: list[str] = []
    for end in ("client", "server"):
        names = [list(dict.fromkeys(side[end].dropna())) for side in sides]
        if any(len(each) > 1 for each in names) or len({len(each) for each in names}) > 1:
            return ""
        if names[0] != names[1]:
            options += [f"--map {shlex.quote(f'{each[0]}={end}')}" for each in names]
    return " ".join(options)
