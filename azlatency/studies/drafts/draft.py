"""Draft a ``study.toml`` or a ``runs.csv`` for a folder of logs, with marked lines to fill in.

Zones, repeats and rounds are read from names such as ``az1-az3/``, ``us-central1-a_to_us-east1-b.log`` or
``round02_ping_r1.log``, and written as patterns. A name with one zone only, or with three, does not say who talked to
whom; the draft leaves it out. Bare letters and digits (``a_to_b``, ``1-3``) are zones if some of them are at both ends.
Folders whose names say nothing of this are scenarios: their runs may have the same addresses and be of other settings.
Comments show what each pattern assigns.
"""

from __future__ import annotations

import csv
import fnmatch
import io
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from azlatency.logs.tables import Logs
from azlatency.studies.format import count_of, printable
from azlatency.studies.manifest.names import differing_words
from azlatency.studies.manifest.path_pattern import AZURE_REGION, CLOUD_ZONE, PathPattern, PatternError
from azlatency.studies.runs.path import NetworkPath

#: A zone in a name: Google's and Amazon's names, Amazon's ids, or az1, zone-1, zone b, z1, eastus-1 with or without a
#: region of Azure. A digit of a date is none.
_ZONE = re.compile(
    rf"(?<![a-z0-9])(?:(?P<name>{CLOUD_ZONE})|(?:(?P<region>{AZURE_REGION})[ _-]?)?(?:"
    r"(?:az|(?:availability[ _-]?)?zone|z)[ _-]?0?(?P<number>\d)[a-z]?|(?:az|zone)[ _-](?P<letter>[a-f])|"
    r"(?<=[a-z0-9][_-])(?P<bare>[1-3])))(?![a-z0-9])",
    re.IGNORECASE,
)
#: The second zone of ``az1-3`` and ``zone1_to_2``.
_SECOND = re.compile(r"(?:-|[ _-]?to[ _-]?)(?P<number>\d)(?![a-z0-9]|-\d)", re.IGNORECASE)
#: ``a_to_b``, ``1to3`` or ``1-3`` at the start of the name of a folder or file.
_BARE = re.compile(r"(?:^|[/!])([a-f]|[1-6])(?:_to_|-to-|to|-)([a-f]|[1-6])(?![a-z0-9]|-\d)", re.IGNORECASE)
#: ``10.1.0.4_to_10.2.0.5`` and ``h1-h4``: two addresses, or two machines whose names differ in their numbers.
_ADDRESS = r"\d{1,3}(?:\.\d{1,3}){3}"
_HOSTS = re.compile(
    rf"(?<![\d.])(?P<client>{_ADDRESS})(?:_to_|-to-|to|->|_|-)(?P<server>{_ADDRESS})(?![\d.]*\d)"
    r"|(?<![a-z0-9])(?P<zone>(?P<word>[a-z]{1,12})\d{1,3})(?:_to_|-to-|to|->|_|-)(?P<peer_zone>(?P=word)\d{1,3})(?![a-z0-9])",
    re.IGNORECASE,
)
#: Words with numbers that are not machines.
_NO_HOSTS = re.compile(r"r|run|rep|repeat|round|test|try|t|v|p|m|q|day|step|part", re.IGNORECASE)
#: Folders that name both ends: ``host-X/target-Y``.
_CLIENT_FOLDER = re.compile(r"(client|host|from|src|source|sender)[-_=]([^/!]+)", re.IGNORECASE)
_SERVER_FOLDER = re.compile(r"(server|target|to|dst|dest|receiver|peer)[-_=]([^/!]+)", re.IGNORECASE)
#: Words in the name of a file that say who measured.
_ROLE = re.compile(r"(?<![a-z])(?:client|host|server|target|proxy|relay|gateway)(?![a-z])", re.IGNORECASE)
_NUMBERS = {
    "round": re.compile(r"(?<![a-z])round[_-]?(\d{1,4})(?!\d)", re.IGNORECASE),
    "repeat": re.compile(r"(?<![a-z0-9])(?:run|rep|repeat|r)[_-]?(\d{1,3})(?![a-z0-9])", re.IGNORECASE),
}
_SERVER = re.compile(r"(?<![a-z])(?:server|target|to|dst|dest|receiver|peer)[^a-z0-9]*$", re.IGNORECASE)
_CLIENT = re.compile(r"(?<![a-z])(?:client|host|from|src|source|sender)[^a-z0-9]*$", re.IGNORECASE)
#: Names of folders that say when a run was: 2024-05-01, run-20240501_1200.
_TIME = re.compile(r"(?:[a-z]+[_-]?)?\d[\d_.:TZ-]{5,}", re.IGNORECASE)
_BACKWARD = re.compile(r"<-|<=|←")
_TEXTS = ("scenario", "region", "peer_region", "zone", "peer_zone", "client", "server")
_FIELDS = {**dict.fromkeys(_TEXTS, "string"), "round": "int64", "repeat": "int64"}
_COLUMNS = (
    "log", "scenario", "zone", "peer_zone", "region", "peer_region", "client", "server", "round", "repeat", "ignore",
)  # fmt: skip
_GAP = "# fill in: "
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
        ends = [
            (values.pop(f"{side}region", ""), values.pop(f"{side}zone", None), values.pop(machine, None))
            for side, machine in (("", "client"), ("peer_", "server"))
        ]
        names = [
            machine or (f"{region} zone {end}".strip() if end and len(end) == 1 else end or region)
            for region, end, machine in ends
        ]
        says = [str(NetworkPath.between(*names))] if all(names) else []
        says += [f"{name} {value if name == 'scenario' else int(value)}" for name, value in values.items()]
        return f"{self.path}: {', '.join(says)}"


def draft(name: str, tables: Logs, paths: Sequence[str], *, treatments: bool = True) -> str:
    """Draft a ``study.toml`` from parsed logs.

    ``paths`` are those of all sources, relative to the folder of the study, with forward slashes. Without
    ``treatments``, no scenario is drafted.
    """
    tools = _tools(tables)
    logs = [path for path in paths if path in tools]
    described = [item for item in _describe(logs, tools) if treatments or "scenario" not in item.values]
    lines = [
        "[study]",
        f'name = "{quoted(name)}"',
        f'{_GAP}title = "…"',
        f'{_GAP}question = "…?"',
        f'{_GAP}region = "westeurope"',
        f'{_GAP}subscription = "…"          (zone numbers are per subscription)',
        f'{_GAP}vm_size = "Standard_D4s_v5"',
        f"{_GAP}accelerated_networking = true",
        f"{_GAP}date = 2026-01-31",
        f'{_GAP}source = "who measured, where it is published"',
        *_patterns(described),
    ]
    entries, without_entry = _end_entries(described, logs)
    lines += entries
    lines += _treatment_entries(_treatments(logs, tools, described), logs) if treatments else []
    named = {item.path for item in described if {"zone", "scenario", "client", "peer_region"} & set(item.values)}
    named -= without_entry
    folders: dict[str, list[str]] = {}
    for path in logs:
        if path not in named:
            folder = path.rpartition("/")[0]
            folders.setdefault(f"{folder}/*" if folder else path, []).append(path)
    if len(folders) > _MOST_PATTERNS:
        # The same folders with other numbers, times and hosts need one entry.
        by_shape: dict[str, list[str]] = {}
        for group in folders.values():
            for path in group:
                by_shape.setdefault(_shape(path), []).append(path)
        folders = dict(sorted(by_shape.items(), key=lambda item: -len(item[1])))
    paths_of = {row["source_id"]: row["path"] for row in tables.rows["sources"]}
    without_zone = {paths_of[row["source_id"]] for row in tables.rows["runs"] if not row.get("zone")}
    for pattern, group in list(folders.items())[:_MOST_PATTERNS]:
        names = dict.fromkeys(tool for path in group for tool in tools[path])
        lines += [
            "",
            "[[run]]",
            f'log = "{quoted(pattern)}"'.ljust(39) + f" # {count_of(len(group), 'log')}: {', '.join(names)}",
        ]
        if not without_zone.isdisjoint(group):
            lines += [
                f'{_GAP}zone = "1"            (the client\'s)',
                f'{_GAP}peer_zone = "2"       (the server\'s)',
            ]
    if len(folders) > _MOST_PATTERNS:
        rest = sum(map(len, list(folders.values())[_MOST_PATTERNS:]))
        lines += ["", f"# … and {count_of(rest, 'more log')}: pattern describes many at once"]
    others = [printable(path) for path in paths if path not in tools]
    unknown = [f"# not recognised: {path}" for path in others[:_EXAMPLES]]
    if len(others) > _EXAMPLES:
        unknown.append(f"# … and {count_of(len(others) - _EXAMPLES, 'more file')}")
    return "\n".join([*lines, *([""] if unknown else []), *unknown]) + "\n"


def _treatment_entries(treatments: Mapping[str, str], logs: Sequence[str]) -> list[str]:
    """Return the entries that make words in the names of logs their scenarios."""
    by_words: dict[str, list[str]] = {}
    for path, words in treatments.items():
        by_words.setdefault(words, []).append(path)
    lines: list[str] = []
    unnamed = []
    for words, paths in sorted(by_words.items(), key=lambda item: -len(item[1])):
        chosen = set(paths)
        glob = _glob(paths, words, [path for path in logs if path not in chosen]) if len(lines) < 96 else None
        if glob is None:
            unnamed.append(printable(words))
            continue
        start = (
            []
            if lines
            else ["", "# The names differ in these words: other treatments are other scenarios, repeats are not."]
        )
        lines += [*start, "[[run]]", f'log = "{quoted(glob)}"'.ljust(39) + f" # {count_of(len(paths), 'log')}",
                  f'scenario = "{quoted(words)}"']  # fmt: skip
    if unnamed:
        lines += ["", f"# fill in scenario for the names with: {'; '.join(unnamed[:_EXAMPLES])}"
                  + (f"; and {len(unnamed) - _EXAMPLES} more" if len(unnamed) > _EXAMPLES else "")]  # fmt: skip
    return lines


def _shape(path: str) -> str:
    """Return a glob for the logs whose paths differ in the names of folders and in numbers only."""
    folders, name = path.count("/"), re.sub(r"[0-9]+", "*", literal(path.rpartition("/")[2]))
    return "*/" * folders + name


def described_by_names(tables: Logs, paths: Sequence[str]) -> dict[str, dict[str, str]]:
    """Return for each log what its name says, by column of the manifest."""
    tools = _tools(tables)
    by_path: dict[str, dict[str, str]] = {}
    logs = [path for path in paths if path in tools]
    described = _describe(logs, tools)
    for item in described:
        by_path.setdefault(item.path, {}).update(item.values)
    for path, words in _treatments(logs, tools, described).items():
        by_path.setdefault(path, {}).setdefault("scenario", words)
    return by_path


def draft_runs(tables: Logs, paths: Sequence[str]) -> str:
    """Draft a ``runs.csv`` with one row per log; cells that the names do not answer are empty. See `draft`."""
    tools = _tools(tables)
    by_path = described_by_names(tables, paths)
    text = io.StringIO()
    writer = csv.DictWriter(text, _COLUMNS, restval="", lineterminator="\n")
    writer.writeheader()
    for path in paths:
        reason = {} if path in tools else {"ignore": "no log of a known tool"}
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
        "pattern = [",
    ]
    for pattern, items in groups.items():
        lines.append(f'  "{quoted(pattern)}",'.ljust(39) + f" # {count_of(len(items), 'log')}")
        examples = {str(sorted(item.values.items())): item for item in reversed(items)}
        lines += [f"    # {printable(str(item))}" for item in [*reversed(examples.values())][:_EXAMPLES]]
    return [*lines, "]"]


def _describe(logs: Sequence[str], tools: Mapping[str, tuple[str, ...]] | None = None) -> list[_Described]:
    """Return what the names of the logs say; logs whose names say nothing, or nothing certain, are left out."""
    bare = _bare_pairs(logs)
    folders = {path: ends for path in logs if (ends := _folder_ends(path)) is not None}
    of_zones = {path: item for path in logs if (item := _describe_one(path, bare.get(path))) is not None}
    if any("zone" not in of_zones[path].values if path in of_zones else True for path in folders):
        # One pattern for all folders, whether their names are zones or not.
        of_zones = {path: item for path, item in of_zones.items() if path not in folders}
        of_zones |= {path: item for path, ends in folders.items() if (item := _describe_folders(path, ends))}
    described = [item for path in logs if (item := of_zones.get(path)) is not None]
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
    certain = [item for item in described if item.pattern in kept and item.values]
    scenarios = _scenarios(logs, tools or {})
    # Where names differ within a folder as well, it is not the folder that tells the treatments apart.
    is_told_apart = not (tools and _treatments([item.path for item in scenarios], tools, certain + scenarios))
    return certain + (scenarios if is_told_apart else [])


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
    for name, value in _in_order(item):
        start = item.path.find(value, position)
        text += item.path[position:start] + f"{{{name}}}"
        position = start + len(value)
    try:
        values = PathPattern.parse(text + item.path[position:], _FIELDS).match(item.path)
    except PatternError:
        return None
    return _Described(item.path, text + item.path[position:], values) if values == item.values else None


def _numbers_of(item: _Described) -> _Described | None:
    """Return the log with a pattern of its round and repeat only; None if it has neither."""
    position, marks = 0, []
    for name, value in _in_order(item):
        start = item.path.find(value, position)
        position = start + len(value)
        if name in _NUMBERS:
            marks.append((start, position, name))
    if not marks:
        return None
    pattern = _pattern(item.path, marks)
    values = PathPattern.parse(pattern, _FIELDS).match(item.path)
    expected = {name: item.values[name] for _, _, name in marks}
    return _Described(item.path, pattern, values) if values == expected else None


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
        said = [f'{name} = "{quoted(value)}"' for name, value in values]
        for glob in chosen:
            head = (
                [] if lines else ["", "# Other names look like these, so these logs have entries instead of a pattern."]
            )
            lines += [*head, "[[run]]", f'log = "{quoted(glob)}"', *said]
    return lines, left_out


def _without_numbers(path: str) -> str:
    """Return a glob for the logs that differ from a path in their round and repeat only."""
    spans = sorted(match.span(1) for number in _NUMBERS.values() if (match := number.search(path)))
    parts = [path[start:end] for start, end in pairwise([0, *(place for span in spans for place in span), len(path)])]
    return "*".join(literal(part) for part in parts[::2])


def _in_order(item: _Described) -> list[tuple[str, str]]:
    """Return the fields of a pattern in the order in which it contains them, with their values."""
    return [(name, item.values[name]) for name in re.findall(r"\{(\w+)\}", item.pattern)]


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
    try:
        values = PathPattern.parse(text, _FIELDS).match(path)
    except PatternError:
        return None
    return _Described(path, text, values) if values else None


def _treatments(
    logs: Sequence[str], tools: Mapping[str, tuple[str, ...]], described: Sequence[_Described]
) -> dict[str, str]:
    """Return the words in which the names of logs of the same tools and ends differ, by log; see `differing_words`."""
    ends: dict[str, dict[str, str]] = {}
    for item in described:
        ends.setdefault(item.path, {}).update(item.values)
    groups: dict[tuple[object, ...], list[str]] = {}
    for path in logs:
        values = ends.get(path, {})
        groups.setdefault((tools[path], *(values.get(name) for name in _TEXTS)), []).append(path)
    words = {path: found for group in groups.values() for path, found in differing_words(group).items() if found}
    return {path: " ".join(found) for path, found in words.items()}


def _glob(paths: Sequence[str], words: str, others: Sequence[str]) -> str | None:
    """Return a glob that matches the paths and none of the others: their words, or a name without its numbers."""
    by_words = "*" + "*".join(literal(word) for word in words.split()) + "*"
    names = {re.sub(r"[0-9]+", "*", literal(path.rpartition("/")[2])) for path in paths}
    folders = {re.sub(r"[0-9]+", "*", literal(path)) for path in paths}
    candidates = [
        by_words,
        *(f"*/{name}" for name in names if len(names) == 1),
        *(folders if len(folders) == 1 else ()),
    ]
    for glob in candidates:
        matches = re.compile(fnmatch.translate(glob)).match
        if all(map(matches, paths)) and not any(map(matches, others)):
            return glob
    return None


def _scenarios(logs: Sequence[str], tools: Mapping[str, tuple[str, ...]]) -> list[_Described]:
    """Return the scenarios that folders stand for; a pattern that matches logs in other folders is left out."""
    by_depth: dict[tuple[str, ...], list[str]] = {}
    for path in logs:
        by_depth.setdefault(tuple(re.findall(r"[/!]", path)), []).append(path)
    described = []
    for marks, paths in by_depth.items():
        fields = _folder_fields([re.split(r"[/!]", path)[:-1] for path in paths], [tools.get(path) for path in paths])
        if "{scenario}" not in fields:
            continue
        text = "".join(field + mark for field, mark in zip(fields, marks, strict=True)) + "*"
        pattern = PathPattern.parse(text, _FIELDS)
        values = {path: found for path in logs if (found := pattern.match(path)) is not None}
        if set(values) == set(paths):
            described += [_Described(path, text, found) for path, found in values.items()]
    return described


def _folder_fields(folders: Sequence[Sequence[str]], tools: Sequence[object]) -> list[str]:
    """Return a field for each level of folders: a number from 1 to n is a repeat, names that vary are scenarios.

    Names that say something else or when a run was, and folders with the logs of one tool each, are left out.
    """
    levels = list(zip(*folders, strict=True))
    fields = []
    for depth, names in enumerate(levels):
        # 1, 2, 3 or, for archives in an archive, 1.tar, 2.tar, 3.tar
        ends = {tuple(name.partition(".")[1:]) for name in names}
        firsts = [name.partition(".")[0] for name in names]
        numbers = {int(name) for name in firsts if re.fullmatch(r"[0-9]{1,9}", name)}
        counted = numbers and min(numbers) < 2 and max(numbers) - min(numbers) == len(numbers) - 1
        of_tool = ({name for name, other in zip(names, tools, strict=True) if other == tool} for tool in set(tools))
        said = (
            _TIME.fullmatch,
            _ZONE.search,
            _HOSTS.search,
            _BARE.search,
            *(number.search for number in _NUMBERS.values()),
        )
        if all(len(group) == 1 for group in of_tool) or any(any(map(find, names)) for find in said):
            fields.append("*")
        elif counted and len(ends) == 1 and len(set(names)) == len(numbers) and "{repeat}" not in fields:
            fields.append("{repeat}" + "".join(*ends))
        else:  # "tcp" says nothing beside "tcp_1G" in the folder below
            below = levels[depth + 1 :]
            repeated = any(all(map(str.__contains__, deeper, names)) for deeper in below)
            fields.append("*" if repeated else "{scenario}")
    return fields


def _bare_pairs(logs: Sequence[str]) -> dict[str, re.Match[str]]:
    """Return where names contain two bare zones; nothing if no zone is both that of a client and that of a server."""
    pairs = {path: matches[0] for path in logs if len(matches := list(_BARE.finditer(path))) == 1}
    clients, servers = ({match[end].lower() for match in pairs.values()} for end in (1, 2))
    if not clients & servers or len({name.isdigit() for name in clients | servers}) > 1 or len(clients | servers) == 1:
        return {}
    return pairs


def _describe_one(path: str, bare: re.Match[str] | None) -> _Described | None:
    """Return the pattern of one path: the fields with the text of their folders, from the first field on."""
    marks: list[tuple[int, int, str]] = []
    found = list(_ZONE.finditer(path))
    regions = [match.span("region") for match in found if match["region"] is not None]
    if len(regions) != 2 or len(found) != 2:  # a region may be that of one end or of both
        regions, found = [], [match for match in found if match["bare"] is None]
    zones = [(*match.span(match.lastgroup or ""), _word(path, match.start())) for match in found]
    if len(zones) == 1 and (second := _SECOND.match(path, _zone_end(path, zones[0]))) is not None:
        zones.append((second.start("number"), second.end("number"), ""))
    if not zones and bare is not None:
        zones = [(*bare.span(end), "") for end in (1, 2)]
    hosts = [match for match in _HOSTS.finditer(path) if not (match["word"] and _NO_HOSTS.fullmatch(match["word"]))]
    if not zones and len(hosts) == 1:
        ends = ("client", "server") if hosts[0]["client"] else ("zone", "peer_zone")
        marks += [(*hosts[0].span(end), end) for end in ends]
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
    for field, number in _NUMBERS.items():
        if len(matches := list(number.finditer(path))) == 1:
            marks.append((matches[0].start(1), matches[0].end(1), field))
    marks.sort()
    if not marks or any(start < end for (_, end, _), (start, _, _) in pairwise(marks)):
        return None
    pattern = _pattern(path, marks)
    try:
        values = PathPattern.parse(pattern, _FIELDS).match(path)
    except PatternError:  # the name contains a brace or an asterisk
        return None
    expected = {field: path[start:end] for start, end, field in marks}
    return _Described(path, pattern, values) if values == expected else None


def _zone_end(path: str, zone: tuple[int, int, str]) -> int:
    """Return where a zone ends, after the letter of a machine (``az1a``)."""
    start, end, _ = zone
    return end + (end - start == 1 and path[end : end + 1].isalpha())


def _word(path: str, start: int) -> str:
    """Return which end the word in front of a zone names: ``client``, ``server`` or nothing."""
    before = path[max(start - 20, 0) : start]
    return "server" if _SERVER.search(before) else "client" if _CLIENT.search(before) else ""


def _pattern(path: str, marks: Sequence[tuple[int, int, str]]) -> str:
    """Replace the marks by fields. Folders without a field become ``*``, and so does text that is far from a field."""
    pattern, position = "", max(path.rfind(mark, 0, marks[0][0]) for mark in "/!") + 1
    for start, end, field in marks:
        pattern += _between(path[position:start], first=not pattern) + f"{{{field}}}"
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


def _tools(tables: Logs) -> dict[str, tuple[str, ...]]:
    names = {row["source_id"]: row["path"] for row in tables.rows["sources"]}
    tools_by_path: dict[str, list[str]] = {}
    for run in tables.rows["runs"]:
        tools_by_path.setdefault(names[run["source_id"]], []).append(run["tool"])
    return {path: tuple(dict.fromkeys(tools)) for path, tools in tools_by_path.items()}


def literal(path: str) -> str:
    """Return a glob pattern that matches one path."""
    return re.sub(r"([*?\[])", r"[\1]", path)


def quoted(value: str) -> str:
    """Escape a string for a TOML basic string."""
    escaped = value.replace("\\", "\\\\").replace('"', '\\"')
    return "".join(char if char.isprintable() else f"\\u{ord(char):04x}" for char in escaped)
