"""Draft a ``study.toml`` or a ``runs.csv`` for a folder of logs, with marked lines to fill in.

Zones, repeats and rounds are read from names such as ``az1-az3/``, ``us-central1-a_to_us-east1-b.log`` or
``round02_ping_r1.log``, and written as patterns. A name with three zones, or with one and no word for its end
(``from_us-east-1a``), does not say who talked to whom; the draft leaves it out. Bare letters and digits (``a_to_b``,
``1-3``) are zones if some of them are at both ends.
Comments show what each pattern assigns. What else the names tell apart is no part of the draft: the run table reads it
(`azlatency.studies.runs.treatments`).
"""

from __future__ import annotations

import csv
import fnmatch
import io
import os.path
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from types import MappingProxyType

import pandas as pd

from azlatency.logs.parse import NO_LOG
from azlatency.logs.recognise.labels import JOINED
from azlatency.logs.tables import Logs
from azlatency.studies.format import count_of, literal, printable, toml_lines, toml_text
from azlatency.studies.manifest.names import series_that_count
from azlatency.studies.manifest.path_pattern import AZURE_REGION, CLOUD_ZONE, ZONE_ID, PathPattern, PatternError
from azlatency.studies.runs.groups import grouped
from azlatency.studies.runs.path import NetworkPath
from azlatency.studies.runs.treatments import treatments
from azlatency.studies.store.study import Study

#: A zone in a name: Google's and Amazon's names, Amazon's ids, or az1, zone-1, zone b, z1, eastus-1 with or without a
#: region of Azure. A digit of a date is none.
_ZONE = re.compile(
    rf"(?<![a-z0-9])(?:(?P<name>{CLOUD_ZONE})|(?:(?P<region>{AZURE_REGION})[ _-]?)?(?:"
    r"(?:(?:az|(?:availability[ _-]?)?zone)[ _-]?(?=[1-9]\d)|(?:az|(?:availability[ _-]?)?zone|z)[ _-]?0?(?=\d(?!\d)))"
    r"(?P<number>\d{1,2})[a-z]?|(?:az|zone)[ _-](?P<letter>[a-f])|"
    r"(?<=[a-z0-9][_-])(?P<bare>[1-6])))(?![a-z0-9])",
    re.IGNORECASE,
)
#: The second zone of ``az1-3``, ``zone1_to_2`` and ``us-east-1a-to-1b``.
_SECOND = re.compile(r"(?:-|[ _-]?to[ _-]?)(?P<number>\d(?P<letter>[a-f])?)(?![a-z0-9]|-\d)", re.IGNORECASE)
#: Two zones without a separator: ``z1z2``, ``az1az2``.
_JOINED_ZONES = re.compile(
    r"(?<![a-z0-9])(?P<word>az|zone|z)(?P<zone>\d)(?P=word)(?P<peer_zone>\d)(?![a-z0-9])", re.IGNORECASE
)
#: ``a_to_b``, ``1to3`` or ``1-3`` at the start of the name of a folder or file, or digits behind a region of Azure.
_BARE = re.compile(
    rf"(?:^|[/!]|(?<![a-z0-9])(?P<region>{AZURE_REGION})[_-](?=[1-3]\D+[1-3]))"  # no region has more zones
    r"(?P<zone>[a-f]|[1-6][a-f]?)(?:_to_|-to-|to|-)(?P<peer_zone>[a-f]|[1-6][a-f]?)(?![a-z0-9]|-\d)",
    re.IGNORECASE,
)
#: ``10.1.0.4_to_10.2.0.5`` and ``h1-h4``: two addresses, or two machines whose names differ in their numbers.
_ADDRESS = r"\d{1,3}(?:\.\d{1,3}){3}"
_HOSTS = re.compile(
    rf"(?<![\d.])(?P<client>{_ADDRESS})(?:_to_|-to-|to|->|_|-)(?P<server>{_ADDRESS})(?![\d.]*\d)"
    r"|(?<![a-z0-9])(?P<zone>(?P<word>[a-z]{1,12})\d{1,3})(?:_to_|-to-|to|->|_|-|(?P<folder>/(?:[a-z0-9.]{1,15}[_-]){0,3}))"
    r"(?P<peer_zone>(?!(?P=zone)(?!\d))(?P=word)\d{1,3})(?![a-z0-9])",
    re.IGNORECASE,
)
#: Words with numbers that are not machines, and those whose folder is that of the client: ``vm1/ping-to-vm2.log``.
_NO_HOSTS = re.compile(r"r|run|rep|repeat|round|test|try|t|v|p|m|q|day|step|part", re.IGNORECASE)
_MACHINES = re.compile(r"vm|node|host|machine|server|instance|worker|bench", re.IGNORECASE)
#: Folders that name both ends: ``host-X/target-Y``.
_CLIENT_FOLDER = re.compile(r"(client|host|from|src|source|sender)[-_=]([^/!]+)", re.IGNORECASE)
_SERVER_FOLDER = re.compile(r"(server|target|to|dst|dest|receiver|peer)[-_=]([^/!]+)", re.IGNORECASE)
#: Words in the name of a file that say who measured.
_ROLE = re.compile(r"(?<![a-z])(?:client|host|server|target|proxy|relay|gateway)(?![a-z])", re.IGNORECASE)
_NUMBERS = {
    "round": re.compile(r"(?<![a-z])(?P<word>round)[_-]?(?P<number>\d{1,4})(?!\d)", re.IGNORECASE),
    "repeat": re.compile(r"(?<![a-z0-9])(?P<word>run|rep|repeat|r)[_-]?(?P<number>\d{1,3})(?![a-z0-9])", re.IGNORECASE),
}
#: What says in front of a zone which end it is of: ``from_``, ``to-vm-``.
_SERVER = re.compile(r"(?<![a-z])(?:server|target|to|dst|dest|receiver|peer)(?:[^a-z0-9]vm)?[^a-z0-9]*$", re.IGNORECASE)
_CLIENT = re.compile(r"(?<![a-z])(?:client|host|from|src|source|sender)(?:[^a-z0-9]vm)?[^a-z0-9]*$", re.IGNORECASE)
_BACKWARD = re.compile(r"<-|<=|←")
_TEXTS = ("region", "peer_region", "zone", "peer_zone", "client", "server")
_FIELDS = {**dict.fromkeys(("scenario", *_TEXTS), "string"), "round": "int64", "repeat": "int64"}
_COLUMNS = (
    "log", "scenario", "zone", "peer_zone", "region", "peer_region", "client", "server", "round", "repeat", "ignore",
)  # fmt: skip
_GAP = "# fill in: "
_DRAFTED = "drafted = true"
_ZONES = (f'{_GAP}zone = "1"            (the client\'s)', f'{_GAP}peer_zone = "2"       (the server\'s)')
_EXAMPLES = 3
#: More patterns than this do not describe a naming scheme; more folders are not worth describing one by one.
_MOST_PATTERNS = 24
#: At most about this many lines of entries instead of patterns.
_MOST_ENTRY_LINES = 400
#: At most this many patterns are compared with each log.
_MOST_COMPARED = 256


@dataclass(frozen=True)
class _Described:
    """A log, the pattern that its name suggests, and what the pattern reads from it."""

    path: str
    pattern: str
    values: Mapping[str, str]

    def __str__(self) -> str:
        values = dict(self.values)
        scenario = [values.pop("scenario")] if "scenario" in values else []
        ends = [
            (values.pop(f"{side}region", ""), values.pop(f"{side}zone", None), values.pop(machine, None))
            for side, machine in (("", "client"), ("peer_", "server"))
        ]
        names = [
            machine or (f"{region} zone {end}".strip() if end and len(end) == 1 else end or region)
            for region, end, machine in ends
        ]
        says = [*scenario, *([str(NetworkPath.between(*names))] if all(names) else [])]
        says += [f"{name} {int(value)}" for name, value in values.items()]
        return f"{self.path}: {', '.join(says)}"


def _runs_of(study: Study | Logs) -> pd.DataFrame:
    """Return what a draft reads of each run: the path of its log, tool, ends, zone and label; empty where unknown."""
    runs = study.runs.merge(study.sources[["source_id", "path"]], on="source_id")
    return runs[["path", "tool", "client", "server", "zone", "heading"]].astype(object).fillna("")


def _tools(runs: pd.DataFrame) -> dict[str, tuple[str, ...]]:
    """Return the tools of each log with a run."""
    return {str(path): tuple(dict.fromkeys(tools)) for path, tools in grouped(runs, "path")["tool"]}


def _addresses(runs: pd.DataFrame) -> dict[str, list[tuple[str, str]]]:
    """Return the addresses of the client and the server of each run, by log; empty where a log names none."""
    ends = grouped(runs, "path")[["client", "server"]]
    return {str(path): list(rows.itertuples(index=False, name=None)) for path, rows in ends}


def draft(name: str, study: Study | Logs) -> str:
    """Draft a ``study.toml`` from logs whose paths are relative to the folder of the study."""
    runs, paths = _runs_of(study), list(study.sources["path"])
    tools = _tools(runs)
    logs = [path for path in paths if path in tools]
    described = _describe(logs, _addresses(runs))
    scenarios = _scenarios(logs, tools, described)
    if not any(runs["heading"]):  # a scenario of study.toml hides labels
        described = _with_folders(described, scenarios, logs)
    lines = [
        "[study]",
        f'name = "{toml_text(name)}"',
        f'{_GAP}title = "…"',
        f'{_GAP}question = "…?"',
        f'{_GAP}region = "westeurope"',
        f'{_GAP}subscription = "…"          (zone numbers are per subscription)',
        f'{_GAP}vm_size = "Standard_D4s_v5"',
        f"{_GAP}accelerated_networking = true",
        f"{_GAP}date = 2026-01-31",
        f'{_GAP}source = "who measured, where it is published"',
    ]
    entries, without_entry = _end_entries(described, logs)
    named = {item.path for item in described if {"zone", "client", "peer_region"} & set(item.values)} - without_entry
    unnamed = runs[(runs["zone"] == "") & ~runs["path"].isin(named)]
    of_labels, is_labelled = _label_entries(unnamed)
    without_zone = {*unnamed.loc[~is_labelled, "path"]}
    open_logs = [path for path in logs if path in without_zone]
    patterns = _patterns(described)
    if of_labels and not patterns:
        lines += ["# From the labels above the logs, client first. Check them, then delete this line:", _DRAFTED]
    lines += [*patterns, *entries, *of_labels, *_open_entries(open_logs, logs, tools, scenarios)]
    others = [printable(path) for path in paths if path not in tools]
    unknown = [f"# not recognised: {path}" for path in others[:_EXAMPLES]]
    if len(others) > _EXAMPLES:
        unknown.append(f"# … and {count_of(len(others) - _EXAMPLES, 'more file')}")
    return "\n".join([*lines, *([""] if unknown else []), *unknown]) + "\n"


def _label_entries(runs: pd.DataFrame) -> tuple[list[str], pd.Series]:
    """Return an entry for the zones that each label names (``zone1 -> zone2 run 3``), and which runs have one."""
    labels = {label for heading in runs["heading"].unique() for label in heading.split(JOINED)}
    read = {label: item for label in labels if (item := _describe_one(label, None, None, frozenset()))}
    pairs = {label: item for label, item in read.items() if "zone" in item.values}
    own = runs["heading"].map(lambda heading: next(filter(pairs.get, heading.split(JOINED)[::-1]), ""))
    groups: dict[tuple[str, str, tuple[tuple[str, str], ...]], list[str]] = {}
    for path, label in dict.fromkeys(zip(runs["path"], own, strict=True)):
        if label:
            ends = tuple((name, pairs[label].values[name]) for name in _TEXTS if name in pairs[label].values)
            marks, pattern = _marks(pairs[label]), pairs[label].pattern
            between = literal(label[marks[0][0] : marks[-1][1]])
            glob = pattern.partition("{")[0] + between + pattern.rpartition("}")[2]
            groups.setdefault((path, glob, ends), []).append(label)
    lines: list[str] = []
    for (path, glob, ends), alike in groups.items():
        is_own = {*fnmatch.filter(labels, glob)} == {*alike}
        for heading in [glob] if is_own else map(literal, alike):
            lines += ["", "[[run]]", *toml_lines(transcript=literal(path), heading=heading, **dict(ends))]
    # So many labels are no names of pairs.
    return (lines, own != "") if len(lines) <= _MOST_ENTRY_LINES else ([], own.isna())


def _open_entries(
    paths: Sequence[str], logs: Sequence[str], tools: Mapping[str, tuple[str, ...]], scenarios: Mapping[str, str]
) -> list[str]:
    """Return an entry to fill in for each group of logs whose names do not say their zones."""
    groups: dict[str, list[str]] = {}
    for path in paths:
        groups.setdefault(scenarios.get(path, ""), []).append(path)
    lines: list[str] = []
    for place, (scenario, group) in enumerate(list(groups.items())[:_MOST_PATTERNS]):
        names = ", ".join(dict.fromkeys(tool for path in group for tool in tools[path]))
        read = [f"# its names say: {printable(scenario)}"] if scenario else []
        lines += [
            "",
            *read,
            "[[run]]",
            f"log = {_globs(group, logs)}".ljust(39) + f" # {count_of(len(group), 'log')}: {names}",
            *(_ZONES if place == 0 else ["# likewise"]),
        ]
    if len(groups) > _MOST_PATTERNS:
        rest = sum(map(len, list(groups.values())[_MOST_PATTERNS:]))
        # Without an entry for them, the next import would refuse them.
        lines += ["", f"# … and {count_of(rest, 'more log')}: pattern describes many at once", "[[run]]", 'log = "*"']
    return lines


def _globs(group: Sequence[str], logs: Sequence[str]) -> str:
    """Return a pattern that matches the logs of a group and no others; else their paths."""
    if len(group) == len(logs):
        return '"*"'
    folder = os.path.commonpath([path.rpartition("/")[0] for path in group])
    glob = f"{literal(folder)}/*"
    if folder and len(fnmatch.filter(logs, glob)) == len(group):
        return f'"{toml_text(glob)}"'
    shown = ", ".join(f'"{toml_text(literal(path))}"' for path in group)
    return f"[{shown}]" if len(group) > 1 else shown


def _scenarios(
    logs: Sequence[str], tools: Mapping[str, tuple[str, ...]], described: Sequence[_Described]
) -> dict[str, str]:
    """Return what the names of logs of the same tools and ends say that the others do not."""
    values: dict[str, dict[str, str]] = {}
    for item in described:
        values.setdefault(item.path, {}).update(item.values)
    groups = [(tools[path], *(values.get(path, {}).get(name) for name in _TEXTS)) for path in logs]
    known = [frozenset(int(values.get(path, {}).get(name, -1)) for name in _NUMBERS) for path in logs]
    found = treatments(groups, logs, [None] * len(logs), known)
    return {path: each.scenario for path, each in zip(logs, found, strict=True) if each.scenario}


def draft_runs(study: Study | Logs) -> str:
    """Draft a ``runs.csv`` with one row per log; cells that the names do not answer are empty. See `draft`."""
    runs, paths = _runs_of(study), list(study.sources["path"])
    tools = _tools(runs)
    logs = [path for path in paths if path in tools]
    described = _describe(logs, _addresses(runs))
    by_path = {path: {"scenario": scenario} for path, scenario in _scenarios(logs, tools, described).items()}
    for item in described:
        by_path.setdefault(item.path, {}).update(item.values)
    text = io.StringIO()
    writer = csv.DictWriter(text, _COLUMNS, restval="", lineterminator="\n")
    writer.writeheader()
    for path in paths:
        reason = {} if path in tools else {"ignore": NO_LOG}
        writer.writerow({"log": literal(path), **by_path.get(path, {}), **reason})
    return text.getvalue()


def _patterns(described: Sequence[_Described]) -> list[str]:
    """Return the key ``pattern`` of the draft, with comments on what it assigns."""
    groups: dict[str, list[_Described]] = {}
    for item in described:
        if item.pattern:
            groups.setdefault(item.pattern, []).append(item)
    if not groups:
        return []
    lines = [
        "# From the names, client first. Check what the patterns assign; * instead of a field leaves a name out.",
        "# Then delete this line:",
        _DRAFTED,
        "pattern = [",
    ]
    for pattern, items in groups.items():
        lines.append(f'  "{toml_text(pattern)}",'.ljust(39) + f" # {count_of(len(items), 'log')}")
        examples = {str(sorted(item.values.items())): item for item in reversed(items)}
        lines += [f"    # {printable(str(item))}" for item in [*reversed(examples.values())][:_EXAMPLES]]
    return [*lines, "]"]


def _host_pairs(logs: Sequence[str], addresses: Mapping[str, Sequence[tuple[str, str]]]) -> dict[str, re.Match[str]]:
    """Return where names contain two addresses or two machines; none if one address would be two of these machines."""
    pairs: dict[str, re.Match[str]] = {}
    machines: dict[str, set[str]] = {}
    for path in logs:
        found = [
            match
            for match in _HOSTS.finditer(path)
            if not (word := match["word"])
            or (_MACHINES.fullmatch(word) if match["folder"] else not _NO_HOSTS.fullmatch(word))
        ]
        if len(found) == 1:
            pairs[path] = found[0]
            for ends in addresses.get(path, ()) if found[0]["word"] else ():
                for address, end in zip(ends, ("zone", "peer_zone"), strict=True):
                    machines.setdefault(address, set()).add(found[0][end].lower())
    # Thresholds such as "k115-k219" look like machines, too.
    contradicted = any(address and len(names) > 1 for address, names in machines.items())
    return {path: match for path, match in pairs.items() if not (contradicted and match["word"])}


def _describe(
    logs: Sequence[str], addresses: Mapping[str, Sequence[tuple[str, str]]] = MappingProxyType({})
) -> list[_Described]:
    """Return what the names of the logs say; logs whose names say nothing, or nothing certain, are left out.

    ``addresses``: those of the client and the server of each run, by log.
    """
    bare, hosts = _bare_pairs(logs), _host_pairs(logs, addresses)
    folders = {path: ends for path in logs if (ends := _folder_ends(path)) is not None}
    series = series_that_count(logs)
    of_zones = {path: item for path in logs if (item := _describe_one(path, bare.get(path), hosts.get(path), series))}
    if any("zone" not in of_zones[path].values if path in of_zones else True for path in folders):
        # One pattern for all folders, whether their names are zones or not.
        of_zones = {path: item for path, item in of_zones.items() if path not in folders}
        of_zones |= {path: item for path, ends in folders.items() if (item := _describe_folders(path, ends))}
    described = [item for path in logs if (item := of_zones.get(path)) is not None]
    swapped = _swapped(described, addresses)
    named = [_numbers_of(item) if item.path in swapped else item for item in described]
    described = [item for item in named if item is not None]
    wrong = _misread(described, logs)
    if wrong:  # only the logs of such a pattern are named one by one
        few = {name for name, count in Counter(item.pattern for item in described).items() if count <= _EXAMPLES}
        exact = [_exact(item) if item.pattern in wrong & few else item for item in described]
        described = [item for item in exact if item is not None]
        wrong = _misread(described, logs)
        misread = [item for item in described if item.pattern in wrong]
        described = [item for item in described if item.pattern not in wrong]
        numbers = [item for each in misread if (item := _numbers_of(each)) is not None]
        wrong = _misread(described + numbers, logs)
        described += [*(item for item in numbers if item.pattern not in wrong), *map(_ends_of, misread)]
    counts = Counter(item.pattern for item in described if item.pattern and item.pattern not in wrong)
    kept = {pattern for pattern, _ in counts.most_common(_MOST_PATTERNS)} | {""}
    return [item for item in described if item.pattern in kept and item.values]


def _swapped(described: Sequence[_Described], addresses: Mapping[str, Sequence[tuple[str, str]]]) -> set[str]:
    """Return the logs whose client is the server of more of the logs of their two zones than their server is.

    ``z1z2-reverse.json`` may name the zones of ``z1z2.json``, and its client be in zone 2.
    """
    pairs: dict[tuple[str | None, ...], list[str]] = {}
    for item in described:
        ends = tuple(item.values.get(name) for name in _TEXTS)
        if {"zone", "peer_zone"} <= {*item.values} and item.values["zone"] != item.values["peer_zone"]:
            pairs.setdefault(ends, []).append(item.path)
    swapped: set[str] = set()
    for paths in pairs.values():
        servers = Counter(server for path in paths for server in {server for _, server in addresses.get(path, ())})
        swapped |= {
            path
            for path in paths
            for client, server in addresses.get(path, ())
            if client and servers[client] > servers[server]
        }
    return swapped


def _with_folders(described: list[_Described], scenarios: Mapping[str, str], logs: Sequence[str]) -> list[_Described]:
    """Return the logs with the folder above their zones as scenario, if that is all that tells names apart."""
    folders = [_folder_above(item) if "zone" in item.values else "" for item in described]
    # Folders of days are no scenarios.
    if (
        not scenarios
        or len({*folders}) < 2
        or not all(
            folder and scenarios.get(item.path, folder) == folder
            for item, folder in zip(described, folders, strict=True)
        )
    ):
        return described
    with_folders = [
        replace(item, pattern=f"{{scenario}}/{item.pattern}", values={"scenario": folder, **item.values})
        for item, folder in zip(described, folders, strict=True)
    ]
    return described if _misread(with_folders, logs) else with_folders


def _folder_above(item: _Described) -> str:
    """Return the folder that contains what the pattern of a log describes; nothing if it has none."""
    parts = re.split(r"[/!]", item.path)[::-1] if item.pattern else []
    return "".join(parts[len(re.split(r"[/!]", item.pattern)) :][:1])


def _misread(described: Sequence[_Described], logs: Sequence[str]) -> set[str]:
    """Return the patterns that read something else from a path than its name says."""
    values_by_path: dict[str, dict[str, str]] = {}
    for item in described:
        values_by_path.setdefault(item.path, {}).update(item.values)
    compiled = [PathPattern.parse(pattern, _FIELDS) for pattern in sorted({item.pattern for item in described})]
    return {
        pattern.text
        for path in logs
        for pattern in compiled[:_MOST_COMPARED]
        if (values := pattern.match(path)) is not None
        and any(values_by_path.get(path, {}).get(name) != value for name, value in values.items())
    } | {pattern.text for pattern in compiled[_MOST_COMPARED:]}


def _exact(item: _Described) -> _Described | None:
    """Return the log with a pattern of its whole path, without asterisks."""
    position, text = 0, ""
    for start, end, name in _marks(item):
        text += item.path[position:start] + f"{{{name}}}"
        position = end
    return _with_pattern(item.path, text + item.path[position:], item.values)


def _numbers_of(item: _Described) -> _Described | None:
    """Return the log with a pattern of its round and repeat only; None if it has neither."""
    marks = [mark for mark in _marks(item) if mark[2] in _NUMBERS]
    expected = {name: item.values[name] for _, _, name in marks}
    return _with_pattern(item.path, _pattern(item.path, marks), expected) if marks else None


def _marks(item: _Described) -> list[tuple[int, int, str]]:
    """Return where the values of a log are in its path, in the order of its pattern."""
    marks, position = [], 0
    for name in re.findall(r"\{(\w+)\}", item.pattern):
        start = item.path.find(item.values[name], position)
        position = start + len(item.values[name])
        marks.append((start, position, name))
    return marks


def _with_pattern(path: str, pattern: str, expected: Mapping[str, str] | None = None) -> _Described | None:
    """Return a log with what a pattern reads from its path; None if that is not what is expected."""
    try:
        values = PathPattern.parse(pattern, _FIELDS).match(path)
    except PatternError:  # the name contains a brace or an asterisk
        return None
    return _Described(path, pattern, values) if values and values == (expected or values) else None


def _ends_of(item: _Described) -> _Described:
    """Return the log with what its name says about its ends, and without a pattern: it gets an entry of its own."""
    return _Described(item.path, "", {name: item.values[name] for name in _TEXTS if name in item.values})


def _end_entries(described: Sequence[_Described], logs: Sequence[str]) -> tuple[list[str], set[str]]:
    """Return entries for the logs whose names no pattern describes without describing others, and the logs without."""
    groups: dict[tuple[tuple[str, str], ...], list[str]] = {}
    for item in described:
        if not item.pattern:
            groups.setdefault(tuple(item.values.items()), []).append(item.path)
    lines: list[str] = []
    left_out: set[str] = set()
    for values, paths in groups.items():
        globs = sorted({_without_numbers(path) for path in paths})
        if len(lines) > _MOST_ENTRY_LINES or len(globs) > _EXAMPLES:
            left_out.update(paths)
            continue
        matched = {path for glob in globs for path in fnmatch.filter(logs, glob)}
        chosen = globs if matched == set(paths) else [literal(path) for path in paths[:_MOST_PATTERNS]]
        left_out.update(paths[_MOST_PATTERNS:] if chosen is not globs else ())
        for glob in chosen:
            head = (
                [] if lines else ["", "# Other names look like these, so these logs have entries instead of a pattern."]
            )
            lines += [*head, "[[run]]", *toml_lines(log=glob, **dict(values))]
    return lines, left_out


def _without_numbers(path: str) -> str:
    """Return a glob for the logs that differ from a path in their round and repeat only."""
    spans = sorted(match.span("number") for number in _NUMBERS.values() if (match := number.search(path)))
    parts = [path[start:end] for start, end in pairwise([0, *(place for span in spans for place in span), len(path)])]
    return "*".join(literal(part) for part in parts[::2])


def _folder_ends(path: str) -> tuple[int, int] | None:
    """Return which folders are of client and server, such as ``host-X/target-Y``; None if they do not name both."""
    folders = re.split(r"[/!]", path)[:-1]
    ends = [
        [depth for depth, name in enumerate(folders) if which.fullmatch(name)]
        for which in (_CLIENT_FOLDER, _SERVER_FOLDER)
    ]
    return (ends[0][0], ends[1][0]) if all(len(end) == 1 for end in ends) else None


def _describe_folders(path: str, ends: tuple[int, int]) -> _Described | None:
    """Return the pattern of a log in ``host-X/target-Y``; None if the name of the file does not say which of them sent.

    ``bw_target_host.json`` was measured from Y to X, and ``bw_proxy_target.json`` by a third machine.
    """
    marks, parts = re.findall(r"[/!]", path), re.split(r"[/!]", path)
    words = [
        parts[end][: -len(match[2]) - 1]
        for end, which in zip(ends, (_CLIENT_FOLDER, _SERVER_FOLDER), strict=True)
        if (match := which.fullmatch(parts[end]))
    ]
    order = re.search(rf"(?<![a-z])({words[0]}|{words[1]})[-_](?:to[-_])?({words[0]}|{words[1]})(?![a-z])", parts[-1])
    others = _ROLE.findall(parts[-1])
    if others and (order is None or order[1] == order[2]):
        return None
    fields = ["region", "peer_region"]
    if order is not None and order[1] == words[1]:
        fields.reverse()
    for end, word, field in zip(ends, words, fields, strict=True):
        parts[end] = f"{parts[end][: len(word) + 1]}{{{field}}}"
    first = min(ends)
    shown = [part if depth in ends else "*" for depth, part in enumerate(parts)]
    shown[-1] = f"*{order[0]}*" if order else "*"
    text = "".join(part + mark for part, mark in zip(shown[first:], [*marks[first:], ""], strict=True))
    return _with_pattern(path, text)


def _bare_pairs(logs: Sequence[str]) -> dict[str, re.Match[str]]:
    """Return where names contain two bare zones; nothing if no zone is both that of a client and that of a server."""
    pairs = {path: matches[0] for path in logs if len(matches := list(_BARE.finditer(path))) == 1}
    clients, servers = ({match[end].lower() for match in pairs.values()} for end in ("zone", "peer_zone"))
    if not clients & servers or len({name.isdigit() for name in clients | servers}) > 1 or len(clients | servers) == 1:
        return {}
    # The second number of "eastus-1-1", "eastus-1-2" may count runs.
    if any(
        match["region"]
        and match["zone"] == match["peer_zone"]
        and not any(number.search(path, match.end()) for number in _NUMBERS.values())
        for path, match in pairs.items()
    ):
        return {}
    return pairs


def _describe_one(
    path: str, bare: re.Match[str] | None, hosts: re.Match[str] | None, series: frozenset[str]
) -> _Described | None:
    """Return the pattern of one path: the fields with the text of their folders, from the first field on.

    ``series`` are those of `series_that_count` of all paths.
    """
    marks: list[tuple[int, int, str]] = []
    found = list(_ZONE.finditer(path))
    of_regions = [match for match in found if match["region"] is not None]
    regions = [match.span("region") for match in of_regions]
    # A region may be that of one end or of both; behind those of both, a number of its own counts runs.
    if len(regions) == 2 and all(match["bare"] for match in found if match["region"] is None):
        found = of_regions
    else:
        regions, found = [], [match for match in found if match["bare"] is None]
    zones = [(*match.span(match.lastgroup or ""), _word(path, match.start())) for match in found]
    if len(zones) == 1 and (second := _SECOND.match(path, _zone_end(path, zones[0]))) is not None:
        # "us-east-1a-to-1b": both ends have the same form.
        start, end, word = zones[0]
        letter = 2 if re.search(r"-\d[a-f]$", path[start:end], re.IGNORECASE) else 0
        if bool(letter) == bool(second["letter"]):
            zones = [(end - letter if letter else start, end, word), (*second.span("number"), "")]
    elif len(zones) == 2 and sorted(bool(match["name"]) for match in found) == [False, True]:
        # "usw2-az1-az2": the region of both stands in front of the first.
        zones = [
            (end - 1 if re.fullmatch(ZONE_ID, path[start:end], re.IGNORECASE) else start, end, word)
            for start, end, word in zones
        ]
    if not zones:
        joined = [bare] if bare is not None else _JOINED_ZONES.finditer(path)
        zones = [(*match.span(end), "") for match in joined for end in ("zone", "peer_zone")]
        regions = [bare.span("region")] if bare is not None and bare["region"] else []
    if not zones and hosts is not None:
        ends = ("client", "server") if hosts["client"] else ("zone", "peer_zone")
        marks += [(*hosts.span(end), end) for end in ends]
    names = [path[start:end] for start, end, _ in zones]
    if len(zones) == 4 and names[:2] == names[2:]:  # "az1-az2/az1-az2_r1.log" names one pair twice
        del zones[2:]
    if len(zones) == 2:
        fields = ["zone", "peer_zone"]
        words = [word for _, _, word in zones]
        if words[0] == "server" or words[1] == "client" or _BACKWARD.search(path, zones[0][1], zones[1][0]):
            fields.reverse()
        if words not in (["server", "server"], ["client", "client"]):
            marks += [(start, end, field) for (start, end, _), field in zip(zones, fields, strict=True)]
            marks += [(*span, name.replace("zone", "region")) for span, name in zip(regions, fields, strict=False)]
    elif len(zones) == 1 and zones[0][2]:  # "from_eu-west-1a.txt"
        marks.append((*zones[0][:2], "zone" if zones[0][2] == "client" else "peer_zone"))
    for field, number in _NUMBERS.items():
        matches = [match for match in number.finditer(path) if match["word"] not in ("r", "R") or "r" in series]
        if len(matches) == 1:
            marks.append((*matches[0].span("number"), field))
    marks.sort()
    if not marks or any(start < end for (_, end, _), (start, _, _) in pairwise(marks)):
        return None
    expected = {field: path[start:end] for start, end, field in marks}
    # "*-{zone}" reads more than the zone of "iperf3-eu-north-1a".
    patterns = _pattern(path, marks), _pattern(path, marks, starts_exact=True)
    return _with_pattern(path, patterns[0], expected) or _with_pattern(path, patterns[1], expected)


def _zone_end(path: str, zone: tuple[int, int, str]) -> int:
    """Return where a zone ends, after the letter of a machine (``az1a``)."""
    start, end, _ = zone
    return end + (end - start == 1 and path[end : end + 1].isalpha())


def _word(path: str, start: int) -> str:
    """Return which end the word in front of a zone names: ``client``, ``server`` or nothing."""
    before = path[max(start - 20, 0) : start]
    return "server" if _SERVER.search(before) else "client" if _CLIENT.search(before) else ""


def _pattern(path: str, marks: Sequence[tuple[int, int, str]], *, starts_exact: bool = False) -> str:
    """Replace the marks by fields. Folders without a field become ``*``, and so does text that is far from a field."""
    pattern, position = "", max(path.rfind(mark, 0, marks[0][0]) for mark in "/!") + 1
    for start, end, field in marks:
        text = path[position:start]
        pattern += text if starts_exact and not pattern else _between(text, first=not pattern)
        pattern += f"{{{field}}}"
        position = end
    return pattern + _between(path[position:], first=False, last=True)


def _between(text: str, *, first: bool, last: bool = False) -> str:
    """Shorten the text before, between or after fields to what separates them, and the rest to ``*``."""
    head, *rest = re.split(r"([/!])", text)
    if not rest:
        return _head(head) if last else _tail(head, after=not first)
    end = ("*" if rest[-1] else "") if last else _tail(rest[-1], after=False)
    return _head(head) + "".join(part if part in "/!" else "*" for part in rest[:-1]) + end


def _head(text: str) -> str:
    """Return what follows a field in its folder: the letter of a machine, one more character, and ``*``."""
    start = re.match(r"[a-z]?[^a-z0-9]?", text, re.IGNORECASE)
    kept = (start[0] if start else "") or text[:1]
    return f"{kept}*" if len(text) > len(kept) else text


def _tail(text: str, *, after: bool) -> str:
    """Return what precedes a field in its folder: a word and what separates it, after ``*``."""
    word = re.search(r"[^a-z0-9]?[a-z]*[^a-z0-9]*0?$", text, re.IGNORECASE)
    tail = word[0] if word else text
    start = text[:1] if after else ""
    return f"{start}*{tail}" if len(start) + len(tail) < len(text) else text
