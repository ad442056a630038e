"""Draft a ``study.toml`` or a ``runs.csv`` for a folder of logs, with marked lines to fill in.

Zones, repeats and rounds are read from names such as ``az1-az3/``, ``us-central1-a_to_us-east1-b.log`` or
``round02_ping_r1.log``, and written as patterns. A name with one zone only, or with three, does not say who talked to
whom; the draft leaves it out. Bare letters and digits (``a_to_b``, ``1-3``) are zones if some of them are at both ends.
Folders whose names say nothing of this are scenarios: their runs may have the same addresses and be of other settings.
Comments show what each pattern assigns.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from azlatency.logs.tables import Logs
from azlatency.studies.format import count_of, printable
from azlatency.studies.path import Path
from azlatency.studies.path_pattern import AZURE_REGION, CLOUD_ZONE, PathPattern, PatternError

#: A zone in a name: Google's and Amazon's names, Amazon's ids, or az1, zone-1, zone b, z1, eastus-1 with or without a
#: region of Azure. A digit of a date is none.
_ZONE = re.compile(
    rf"(?<![a-z0-9])(?:(?P<name>{CLOUD_ZONE})|(?:(?P<region>{AZURE_REGION})[ _-]?)?(?:"
    r"(?:az|(?:availability[ _-]?)?zone|z)[ _-]?(?P<number>\d)[a-z]?|(?:az|zone)[ _-](?P<letter>[a-f])|"
    r"(?<=[a-z0-9][_-])(?P<bare>[1-3])))(?![a-z0-9])",
    re.IGNORECASE,
)
#: The second zone of ``az1-3`` and ``zone1_to_2``.
_SECOND = re.compile(r"(?:-|[ _-]?to[ _-]?)(?P<number>\d)(?![a-z0-9]|-\d)", re.IGNORECASE)
#: ``a_to_b``, ``1to3`` or ``1-3`` at the start of the name of a folder or file.
_BARE = re.compile(r"(?:^|[/!])([a-f]|[1-6])(?:_to_|-to-|to|-)([a-f]|[1-6])(?![a-z0-9]|-\d)", re.IGNORECASE)
_NUMBERS = {
    "round": re.compile(r"(?<![a-z])round[_-]?(\d{1,4})(?!\d)", re.IGNORECASE),
    "repeat": re.compile(r"(?<![a-z0-9])(?:run|rep|repeat|r)[_-]?(\d{1,3})(?![a-z0-9])", re.IGNORECASE),
}
_SERVER = re.compile(r"(?<![a-z])(?:server|target|to|dst|dest|receiver|peer)[^a-z0-9]*$", re.IGNORECASE)
_CLIENT = re.compile(r"(?<![a-z])(?:client|host|from|src|source|sender)[^a-z0-9]*$", re.IGNORECASE)
#: Names of folders that say when a run was: 2024-05-01, run-20240501_1200.
_TIME = re.compile(r"(?:[a-z]+[_-]?)?\d[\d_.:TZ-]{5,}", re.IGNORECASE)
_BACKWARD = re.compile(r"<-|<=|←")
_TEXTS = ("scenario", "region", "peer_region", "zone", "peer_zone")
_FIELDS = {**dict.fromkeys(_TEXTS, "string"), "round": "int64", "repeat": "int64"}
_COLUMNS = ("log", "scenario", "zone", "peer_zone", "region", "peer_region", "round", "repeat", "ignore")
_GAP = "# fill in: "
_EXAMPLES = 3
#: More patterns than this do not describe a naming scheme; more folders are not worth describing one by one.
_MOST_PATTERNS = 24


@dataclass(frozen=True)
class _Described:
    """A log, the pattern that its name suggests, and what the pattern reads from it."""

    path: str
    pattern: str
    values: Mapping[str, str]

    def __str__(self) -> str:
        values = dict(self.values)
        ends = [(values.pop(f"{side}region", ""), values.pop(f"{side}zone", None)) for side in ("", "peer_")]
        names = [f"{region} zone {end}".strip() if len(end) == 1 else end for region, end in ends if end]
        says = [str(Path.between(*names))] if names else []
        says += [f"{name} {value if name == 'scenario' else int(value)}" for name, value in values.items()]
        return f"{self.path}: {', '.join(says)}"


def draft(name: str, tables: Logs, paths: Sequence[str]) -> str:
    """Draft a ``study.toml`` from parsed logs.

    ``paths`` are those of all sources, relative to the folder of the study, with forward slashes.
    """
    tools = _tools(tables)
    logs = [path for path in paths if path in tools]
    described = _describe(logs, tools)
    lines = [
        "[study]",
        f'name = "{_text(name)}"',
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
    named = {item.path for item in described if {"zone", "scenario"} & set(item.values)}
    folders: dict[str, list[str]] = {}
    for path in logs:
        if path not in named:
            folder = path.rpartition("/")[0]
            folders.setdefault(f"{folder}/*" if folder else path, []).append(path)
    for pattern, group in list(folders.items())[:_MOST_PATTERNS]:
        names = dict.fromkeys(tool for path in group for tool in tools[path])
        lines += [
            "",
            "[[run]]",
            f'log = "{_text(pattern)}"'.ljust(39) + f" # {count_of(len(group), 'log')}: {', '.join(names)}",
            f'{_GAP}zone = "1"            (the client\'s)',
            f'{_GAP}peer_zone = "2"       (the server\'s)',
        ]
    if len(folders) > _MOST_PATTERNS:
        lines += [
            "",
            f"# … and {count_of(len(folders) - _MOST_PATTERNS, 'more folder')}: pattern describes many at once",
        ]
    others = [printable(path) for path in paths if path not in tools]
    unknown = [f"# not recognised: {path}" for path in others[:_EXAMPLES]]
    if len(others) > _EXAMPLES:
        unknown.append(f"# … and {count_of(len(others) - _EXAMPLES, 'more file')}")
    return "\n".join([*lines, *([""] if unknown else []), *unknown]) + "\n"


def draft_runs(tables: Logs, paths: Sequence[str]) -> str:
    """Draft a ``runs.csv`` with one row per log; cells that the names do not answer are empty. See `draft`."""
    tools = _tools(tables)
    by_path: dict[str, dict[str, str]] = {}
    for item in _describe([path for path in paths if path in tools], tools):
        by_path.setdefault(item.path, {}).update(item.values)
    text = io.StringIO()
    writer = csv.DictWriter(text, _COLUMNS, restval="", lineterminator="\n")
    writer.writeheader()
    for path in paths:
        reason = {} if path in tools else {"ignore": "no log of a known tool"}
        writer.writerow({"log": _literal(path), **by_path.get(path, {}), **reason})
    return text.getvalue()


def _patterns(described: Sequence[_Described]) -> list[str]:
    """Return the key ``pattern`` of the draft, with comments on what it assigns."""
    groups: dict[str, list[_Described]] = {}
    for item in described:
        groups.setdefault(item.pattern, []).append(item)
    if not groups:
        return []
    lines = [
        "# From the names, client first. Check what the patterns assign; * instead of a field leaves a name out.",
        "pattern = [",
    ]
    for pattern, items in groups.items():
        lines.append(f'  "{_text(pattern)}",'.ljust(39) + f" # {count_of(len(items), 'log')}")
        examples = {str(sorted(item.values.items())): item for item in reversed(items)}
        lines += [f"    # {printable(str(item))}" for item in [*reversed(examples.values())][:_EXAMPLES]]
    return [*lines, "]"]


def _describe(logs: Sequence[str], tools: Mapping[str, tuple[str, ...]] | None = None) -> list[_Described]:
    """Return what the names of the logs say; logs whose names say nothing, or nothing certain, are left out."""
    bare = _bare_pairs(logs)
    described = [item for path in logs if (item := _describe_one(path, bare.get(path))) is not None]
    patterns = {item.pattern for item in described}
    if len(patterns) > _MOST_PATTERNS:
        return []
    # A pattern that reads something else from another path does not say what the names mean.
    values_by_path = {item.path: item.values for item in described}
    compiled = [PathPattern.parse(pattern, _FIELDS) for pattern in sorted(patterns)]
    wrong = {
        pattern.text
        for path in logs
        for pattern in compiled
        if (values := pattern.match(path)) is not None
        and any(values_by_path.get(path, {}).get(name) != value for name, value in values.items())
    }
    certain = [item for item in described if item.pattern not in wrong]
    return certain + _scenarios(logs, tools or {})


def _scenarios(logs: Sequence[str], tools: Mapping[str, tuple[str, ...]]) -> list[_Described]:
    """Return the scenarios that folders stand for; a pattern that matches logs in other folders is left out."""
    alike: dict[tuple[str, ...], list[str]] = {}
    for path in logs:
        alike.setdefault(tuple(re.findall(r"[/!]", path)), []).append(path)
    described = []
    for marks, paths in alike.items():
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
        said = (_TIME.fullmatch, _ZONE.search, _BARE.search, *(number.search for number in _NUMBERS.values()))
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
    word = re.search(r"[^a-z0-9]?[a-z]*[^a-z0-9]*$", text, re.IGNORECASE)
    tail = word[0] if word else text
    start = text[:1] if after else ""
    return f"{start}*{tail}" if len(start) + len(tail) < len(text) else text


def _tools(tables: Logs) -> dict[str, tuple[str, ...]]:
    names = {row["source_id"]: row["path"] for row in tables.rows["sources"]}
    tools_by_path: dict[str, list[str]] = {}
    for run in tables.rows["runs"]:
        tools_by_path.setdefault(names[run["source_id"]], []).append(run["tool"])
    return {path: tuple(dict.fromkeys(tools)) for path, tools in tools_by_path.items()}


def _literal(path: str) -> str:
    """Return a glob pattern that matches one path."""
    return re.sub(r"([*?\[])", r"[\1]", path)


def _text(value: str) -> str:
    """Escape a string for a TOML basic string."""
    escaped = value.replace("\\", "\\\\").replace('"', '\\"')
    return "".join(char if char.isprintable() else f"\\u{ord(char):04x}" for char in escaped)
