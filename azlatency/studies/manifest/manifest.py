"""Read the manifest of a study: facts about runs that the logs do not contain.

The manifest is ``study.toml``, or a CSV file with one row per log; its keys become columns of the table ``runs``.

    [study]
    name = "westeurope-azure-cni"
    question = "What do availability zones cost inside one AKS cluster?"
    region = "westeurope"

    [[run]]
    log = "az1-az3/*.log"        # or transcript = "notes.md", heading = "AZ1 - AZ3"
    zone = "1"
    peer_zone = "3"

In ``log``, an asterisk matches any characters, including slashes. ``pattern`` reads values from the paths of the logs
(`azlatency.studies.manifest.path_pattern`). If several entries match a log, their values must agree. A value of the log
is never replaced: a contradiction is an error.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from datetime import UTC, date, datetime, timedelta
from fnmatch import fnmatchcase
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

from azlatency.logs.record import Row
from azlatency.logs.schema import MANIFEST_COLUMNS
from azlatency.studies.manifest.machine_names import parse_maps
from azlatency.studies.manifest.measured_table import MeasuredTable, measured_table
from azlatency.studies.manifest.path_pattern import PathPattern, PatternError
from azlatency.studies.manifest.zones import ZoneMap, ZoneMapError, pseudonym, read_zone_maps
from azlatency.studies.store.own_files import (
    ManifestError,
    check_no_link,
    check_regular,
    own_file,
    read_own_csv,
    read_own_toml,
)

FILE_NAME = "study.toml"
#: Keys of [study] with the type of their values.
_STUDY_TYPES = {
    **dict.fromkeys(("name", "title", "question", "source", "notes", "before"), "string"),
    **dict.fromkeys(("likely_cause", "likely_cause_source", "not_measured"), "string"),
    **dict.fromkeys(("runs", "reported", "baseline"), "file"),
    **dict.fromkeys(("region", "subscription", "vm_size", "placement"), "string"),
    **dict.fromkeys(("emulated", "pseudonymise_subscriptions", "accelerated_networking", "drafted"), "bool"),
    "date": "date", "zone_maps": "files", "pattern": "patterns", "machines": "list", "not_said": "columns",
}  # fmt: skip
#: Keys of ``[[conclusion]]``, and those that must be stated; see `azlatency.studies.conclusions`.
_CONCLUSION_KEYS = {"said", "we_say", "because", "source_line"}
_CONCLUSION_TEXTS = ("said", "we_say", "because")
#: Keys of an entry that a log can contain as well; only the manifest contains the others.
_LOG_COLUMNS = (
    "tool", "client", "server", "protocol", "message_bytes", "connections", "requested_bytes", "requested_count",
    "requested_duration_ns", "settings", "started_at",
)  # fmt: skip
#: The same, of the places of both ends: a few tools print them. A default of ``[study]`` gives way to the log.
_PLACE_COLUMNS = ("region", "zone", "vm_size", "peer_region", "peer_zone", "peer_vm_size", "placement")
#: The columns of a run that the manifest may set.
DESCRIBED = (*(column.name for column in MANIFEST_COLUMNS), *_LOG_COLUMNS)
#: Those of them that a log hardly ever contains.
ONLY_DESCRIBED = frozenset(DESCRIBED) - frozenset(_LOG_COLUMNS)
_SELECTORS = ("log", "transcript", "heading", "ignore", "pattern")
_ENTRY_KEYS = {column.name for column in MANIFEST_COLUMNS} - {"study"} | set(_LOG_COLUMNS) | set(_SELECTORS)
_PLACEMENTS = (
    "same_host", "availability_set", "proximity_placement_group", "same_zone", "cross_zone", "cross_region",
)  # fmt: skip
_TYPES = {column.name: column.type for column in MANIFEST_COLUMNS} | {
    **dict.fromkeys(("tool", "client", "server", "protocol", "settings"), "string"),
    **dict.fromkeys(("message_bytes", "connections", "requested_bytes", "requested_count"), "int64"),
    "requested_duration_ns": "int64",
    "started_at": "timestamp",
    **dict.fromkeys(_SELECTORS, "string"),
}
_PYTHON_TYPES: dict[str, type | tuple[type, ...]] = {
    "bool": bool, "date": (date, str), "list": list, "columns": list,
}  # fmt: skip
#: Columns that a pattern can read from a path.
_FIELD_TYPES = {name: kind for name, kind in _TYPES.items() if name not in (*_SELECTORS, "study", "notes")}
#: Those that a column of a table may hold.
_IN_COLUMNS = frozenset(_FIELD_TYPES) - {"tool", "started_at"} | {"notes"}
#: Zones of Google and Amazon contain the name of their region.
_ZONE_WITH_REGION = re.compile(r"(?P<google>[a-z]+-[a-z]+\d+)-[a-z]|(?P<amazon>[a-z]{2}(?:-[a-z]+)+-\d)[a-z]")
_LARGEST_INTEGER = 2**53
_SHOWN = 60
_BOOLEANS = {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}
#: A log that is this far from its stated start is of another night, wherever on earth its name is of.
_OTHER_NIGHT = timedelta(days=2)
#: Files of a study that are not logs.
_OWN_FILES = (FILE_NAME, "README.md", "truth.json")


@dataclass(frozen=True)
class Entry:
    """One ``[[run]]`` table or CSV row: a pattern of logs, and the values that apply to them."""

    place: str
    log: str | None
    transcript: str | None
    heading: str | None
    ignore: str | None
    values: dict[str, Any]
    pattern: PathPattern | None = None

    def values_of(self, path: str, heading: str | None) -> dict[str, Any] | None:
        """Return the values for the log at ``path`` under ``heading``, or None if the entry does not apply to it."""
        if self.pattern is None:
            return self.values if self.matches(path, heading) else None
        if (fields := self.pattern.match(path)) is None or not (self.log is None or self.matches(path, heading)):
            return None
        return {name: typed(self.place, name, text) for name, text in fields.items()} | self.values

    def matches(self, path: str, heading: str | None) -> bool:
        """Return whether the entry applies to the log at ``path`` under ``heading`` (``outer / inner``)."""
        if self.transcript is not None:
            headings = (heading or "").split(" / ")
            pattern = self.heading
            return fnmatchcase(path, self.transcript) and (
                pattern is None or any(fnmatchcase(part.casefold(), pattern.casefold()) for part in headings)
            )
        return self.log is not None and fnmatchcase(path, self.log)


@dataclass
class Manifest:
    """The manifest of a study: its description, defaults for all runs, and one entry per group of logs."""

    name: str
    folder: Path
    study: dict[str, Any] = field(default_factory=dict)
    entries: list[Entry] = field(default_factory=list)
    conclusions: list[dict[str, Any]] = field(default_factory=list)
    """What the author concluded, and what the data say (`azlatency.studies.conclusions`)."""
    tables: dict[str, MeasuredTable] = field(default_factory=dict)
    """The tables of measurements among the files, by path."""
    zones: ZoneMap = field(default_factory=ZoneMap)
    files: list[Path] = field(default_factory=list)
    """Files of the manifest. If their content changes, the import is out of date."""
    conflicts: dict[str, tuple[str, int]] = field(default_factory=dict)
    """Contradictions of two entries: ``file:line`` of the first run that has them, and the number of runs."""
    _first_conflicts: dict[tuple[str, str], str] = field(default_factory=dict, repr=False)
    """The first contradiction of each pair of entries."""
    _merged: dict[tuple[int, ...] | None, dict[str, Any]] = field(default_factory=dict, repr=False)
    """The values of `_with_defaults` by the entries that match a log."""

    def scenarios(self) -> list[str]:
        """Return the scenarios of the entries in their order, without those that a pattern reads from paths."""
        return list(dict.fromkeys(entry.values["scenario"] for entry in self.entries if "scenario" in entry.values))

    def is_own_file(self, path: str) -> bool:
        """Return whether a path relative to the folder is a file of the manifest and not a log."""
        return path in self._own_files

    @cached_property
    def _own_files(self) -> frozenset[str | None]:
        named = [self.study.get(key) for key in ("runs", "reported", "baseline")]
        return frozenset([*_OWN_FILES, *named, *self.study.get("zone_maps", [])])

    def ignored(self, path: str) -> str | None:
        """Return the reason why the manifest ignores a file, or None."""
        if not self._ignores:
            return None
        entries = self._entries_for(path)
        return next((entry.ignore for entry in entries if entry.ignore and entry.matches(path, None)), None)

    @cached_property
    def _ignores(self) -> bool:
        return any(entry.ignore for entry in self.entries)

    @cached_property
    def _names_tools(self) -> bool:
        return any("tool" in entry.values or entry.pattern is not None for entry in self.entries)

    def tool(self, path: str) -> str | None:
        """Return how a file is read: the tool of a log that cannot be recognised, the text of a table, or None."""
        if path in self.tables:
            return self.tables[path].as_text
        if not self._names_tools:
            return None
        values = (entry.values_of(path, None) for entry in self._entries_for(path) if not entry.ignore)
        return next((row["tool"] for row in values if row and "tool" in row), None)

    @cached_property
    def _entries_by_path(self) -> dict[str | None, list[int]]:
        """Positions of the entries of one log by its path; the others are at None."""
        positions: dict[str | None, list[int]] = {None: []}
        for position, entry in enumerate(self.entries):
            literal = entry.log is not None and entry.transcript is None and not set("*?[") & set(entry.log)
            positions.setdefault(entry.log if literal else None, []).append(position)
        return positions

    def _entries_for(self, path: str) -> Iterator[Entry]:
        """Yield the entries that may apply to a log, in their order."""
        of_path, others = self._entries_by_path.get(path), self._entries_by_path[None]
        for position in sorted([*of_path, *others]) if of_path else others:
            yield self.entries[position]

    def describe(self, run: Row, path: str) -> list[tuple[str, str, str]]:
        """Set the columns of the manifest in a row of ``runs``; return events as (code, severity, text)."""
        events: list[tuple[str, str, str]] = []
        entries = [entry for entry in self._entries_for(path) if not entry.ignore]
        matching = [
            (entry, entry_values) for entry in entries if (entry_values := entry.values_of(path, run.get("heading")))
        ]
        is_described = path in self.tables or not self.entries
        if not matching and not is_described and not any(entry.matches(path, run.get("heading")) for entry in entries):
            events.append(("manifest_missing", "warning", f"no entry of {FILE_NAME} matches this log; add one"))
        values: dict[str, Any] = {}
        places: dict[str, str] = {}
        conflicts: dict[tuple[str, str], str] = {}
        for entry, of_entry in matching:
            for key, value in of_entry.items():
                if key in values and values[key] != value:
                    text = f"{key} is {values[key]!r} in {places[key]} and {value!r} in {entry.place}; keep one"
                    events.append(("manifest_conflict", "error", text))
                    conflicts.setdefault((places[key], entry.place), text)
                else:
                    values[key], places[key] = value, entry.place
        for pair, text in conflicts.items():
            message = self._first_conflicts.setdefault(pair, text)
            first, count = self.conflicts.get(message, (f"{path}:{run.get('first_line')}", 0))
            self.conflicts[message] = first, count + 1
        run["study"] = self.name
        printed = {key: run[key] for key in _PLACE_COLUMNS if run.get(key) is not None}
        events += [
            _contradiction(key, printed[key], values[key], places[key])
            for key in printed
            if values.get(key) not in (None, printed[key])
        ]
        differs = bool(printed) or any(entry.pattern for entry, _ in matching)
        same = None if differs else tuple(id(entry) for entry, _ in matching)
        if (merged := self._merged.get(same)) is None:
            merged = self._with_defaults(values | printed)
            if same is not None:
                self._merged[same] = merged
        run.update(merged)
        events += _contradictions(run, values, places)
        events += self._physical_zones(run)
        return events

    def _physical_zones(self, run: Row) -> list[tuple[str, str, str]]:
        """Set the physical zones from the zone map; report contradictions with the manifest."""
        events = []
        subscription = run.get("subscription")
        for logical, physical, region in (
            ("zone", "physical_zone", "region"),
            ("peer_zone", "peer_physical_zone", "peer_region"),
        ):
            mapped = self.zones.physical(subscription, run.get(region), run.get(logical))
            if mapped is None:
                continue
            if run.get(physical) not in (None, mapped):
                text = f"{physical} is {run[physical]!r} in the manifest and {mapped!r} in the zone map; correct one"
                events.append(("manifest_contradiction", "error", text))
            else:
                run[physical] = mapped
        if subscription is not None and self.study.get("pseudonymise_subscriptions"):
            run["subscription"] = pseudonym(subscription)
        return events

    def _with_defaults(self, values: dict[str, Any]) -> dict[str, Any]:
        """Combine the values of the entries with the defaults of the study and, for the server, those of the client."""
        study = self.study
        keys = ("region", "subscription", "vm_size", "accelerated_networking", "placement")
        merged = {key: study[key] for key in keys if key in study}
        merged |= {key: value for key, value in values.items() if key not in _LOG_COLUMNS}
        for end in ("", "peer_"):
            if f"{end}region" not in merged and (named := _ZONE_WITH_REGION.fullmatch(merged.get(f"{end}zone") or "")):
                merged[f"{end}region"] = named["google"] or named["amazon"]
        merged.setdefault("peer_region", merged.get("region"))
        merged.setdefault("peer_vm_size", merged.get("vm_size"))
        if "placement" not in merged:
            merged["placement"] = _placement(merged)
        return merged


def _placement(values: dict[str, Any]) -> str | None:
    """Return the placement that follows from zones and regions, or None if they are unknown."""
    region, peer_region = values.get("region"), values.get("peer_region")
    if region and peer_region and region != peer_region:
        return "cross_region"
    zone, peer_zone = values.get("zone"), values.get("peer_zone")
    if zone is None or peer_zone is None:
        return None
    return "same_zone" if zone == peer_zone else "cross_zone"


def _contradictions(run: Row, values: dict[str, Any], places: dict[str, str]) -> list[tuple[str, str, str]]:
    """Set values that the log does not contain; report values that contradict the log."""
    events = []
    for key in _LOG_COLUMNS:
        value = values.get(key)
        if value is None:
            continue
        if run.get(key) is None:
            run[key] = value
        elif key == "started_at":
            if abs(run[key] - value) > _OTHER_NIGHT:
                times = (f"{time:%Y-%m-%d %H:%M} UTC" for time in (run[key], value))
                text = "started_at is {} in the log and {} in {}; check the clock or the name".format(
                    *times, places[key]
                )
                events.append(("manifest_contradiction", "error", text))
        elif run[key] != value:
            events.append(_contradiction(key, run[key], value, places[key]))
    return events


def _contradiction(key: str, printed: Any, stated: Any, place: str) -> tuple[str, str, str]:
    text = f"{key} is {printed!r} in the log and {stated!r} in {place}; correct the manifest"
    return "manifest_contradiction", "error", text


def read_manifest(folder: Path, name: str | None = None) -> Manifest:
    """Read the manifest of a folder; it is empty without ``study.toml``. ``name`` replaces the name of the study in it.

    Raises `ManifestError` if a file of the manifest cannot be used. The message names file and line.
    """
    path = folder / FILE_NAME
    check_no_link(path, str(folder))
    if not path.exists():
        return Manifest(name or folder.resolve().name, folder)
    check_regular(path, str(folder))
    return _manifest(folder, name, *read_own_toml(path))


def parse_manifest(text: str, name: str) -> Manifest:
    """Return the manifest in a text that is not in a file and names no files."""
    return replace(_manifest(Path(), name, tomllib.loads(text), text), files=[])


def _manifest(folder: Path, name: str | None, content: dict[str, Any], text: str) -> Manifest:
    """Return the manifest of the content and the text of a ``study.toml``."""
    path = folder / FILE_NAME
    if unknown := set(content) - {"study", "run", "table", "conclusion"}:
        known = "[study], [[run]], [[table]] and [[conclusion]]"
        raise ManifestError(f"{path}:1: unknown table [{sorted(unknown)[0]}]; known: {known}")
    study = content.get("study", {})
    if not isinstance(study, dict):
        raise ManifestError(f"{path}:{_line_of(text, 'study')}: study is not a table; write [study]")
    runs, stated = (_list_of_tables(path, content, text, key) for key in ("run", "conclusion"))
    manifest = Manifest(name or "", folder, study, files=[path])
    _check_study(path, study, text, manifest)
    manifest.name = manifest.name or study.get("name") or folder.resolve().name
    for place, run in _with_places(path, text, "run", runs):
        manifest.entries += _entries(place, run)
    for place, table in _with_places(path, text, "table", _list_of_tables(path, content, text, "table")):
        pattern, described = measured_table(place, table, _IN_COLUMNS)
        for file in _matching(folder, pattern):
            own_file(folder, file, place)
            if manifest.tables.setdefault(file, described) is not described:
                raise ManifestError(f"{place}: {file} is described in {manifest.tables[file].place}, too; keep one")
    manifest.conclusions = [_conclusion(path, *numbered) for numbered in enumerate(stated, start=1)]
    if "runs" in study:
        file = folder / study["runs"]
        for line, row in read_own_csv(file):
            manifest.entries.append(_entry(f"{file}:{line}", {key: cell for key, cell in row.items() if cell}))
    try:
        manifest.zones = read_zone_maps(folder / file for file in study.get("zone_maps", []))
    except ZoneMapError as error:
        raise ManifestError(str(error)) from None
    return manifest


def _matching(folder: Path, pattern: str) -> list[str]:
    """Return the files of a folder that match a pattern such as ``zones-*.csv``; the pattern itself if none does."""
    names = [file.name for file in folder.iterdir()] if {*"*?"} & {*pattern} and folder.is_dir() else []
    return sorted(name for name in names if fnmatchcase(name, pattern)) or [pattern]


def _with_places(path: Path, text: str, key: str, tables: list[dict[str, Any]]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the place of each ``[[key]]`` in the file, and its content."""
    heading = re.compile(rf"[ \t]*\[\[[ \t]*[\"']?{key}[\"']?[ \t]*\]\]")
    lines = [number for number, line in enumerate(text.splitlines(), start=1) if heading.match(line)]
    for number, table in zip(lines + [1] * len(tables), tables, strict=False):
        yield f"{path}:{number}", table


def _line_of(text: str, key: str) -> int:
    """Return the line of the first assignment of a key, or of the table of that name."""
    assignment = re.compile(rf"[ \t]*(?:[\"']?{re.escape(key)}[\"']?[ \t]*=|\[+[ \t]*{re.escape(key)}\b)")
    return next((number for number, line in enumerate(text.splitlines(), start=1) if assignment.match(line)), 1)


def _check_study(path: Path, study: dict[str, Any], text: str, manifest: Manifest) -> None:
    """Check the table ``[study]``; add the files and patterns that it names to the manifest."""
    for key, value in study.items():
        place = f"{path}:{_line_of(text, key)}"
        _check_keys(place, {key: value}, set(_STUDY_TYPES), "[study]")
        kind = _STUDY_TYPES[key]
        items = value if kind in ("files", "patterns") and isinstance(value, list) else [value]
        if not all(isinstance(item, _PYTHON_TYPES.get(kind, str)) for item in items):
            raise ManifestError(f"{place}: {key} = {_shown(value)} is not of type {kind}; correct it")
        if kind in ("file", "files"):
            manifest.files += [own_file(manifest.folder, item, place) for item in items]
            study[key] = items if kind == "files" else value
        if kind == "patterns":
            manifest.entries += [_entry(place, {"pattern": item}) for item in items]
        if kind == "list":
            try:
                parse_maps(value)
            except (ValueError, AttributeError):
                raise ManifestError(f'{place}: {key} = {_shown(value)} is no list of "PATTERN=NAME"') from None
        if kind == "columns" and (unknown := [name for name in value if name not in ONLY_DESCRIBED]):
            raise ManifestError(f"{place}: {key}: {_shown(unknown[0])} is no key of a run that a log does not contain")
        if key == "placement":
            check_placement(place, value)


def _shown(value: Any) -> str:
    """Return a value for a message; a long one is cut."""
    try:
        text = repr(value)
    except (RecursionError, ValueError):
        return "…"
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"


def _conclusion(path: Path, number: int, stated: dict[str, Any]) -> dict[str, Any]:
    where = f"[[conclusion]] {number}"
    _check_keys(f"{path}:1", stated, _CONCLUSION_KEYS, where)
    for key in _CONCLUSION_TEXTS:
        if not isinstance(stated.get(key), str):
            raise ManifestError(f'{path}:1: {where} has no text {key}; add {key} = "…"')
    return stated


def _entries(place: str, raw: dict[str, Any]) -> list[Entry]:
    """Return an entry for each log and pattern of a table, which may be lists."""
    for key in ("log", "pattern"):
        if isinstance(items := raw.get(key), list) and items:
            return [entry for item in items for entry in _entries(place, {**raw, key: item})]
    return [_entry(place, raw)]


def _entry(place: str, raw: dict[str, Any]) -> Entry:
    _check_keys(place, raw, _ENTRY_KEYS, "an entry")
    if not {"log", "transcript", "pattern"} & set(raw):
        raise ManifestError(f'{place}: the entry has neither log, pattern nor transcript; add log = "…"')
    values = {key: typed(place, key, value) for key, value in raw.items()}
    check_placement(place, values.get("placement"))
    selectors = {key: values.pop(key, None) for key in _SELECTORS}
    if selectors["pattern"] is not None:
        try:
            selectors["pattern"] = PathPattern.parse(selectors["pattern"], _FIELD_TYPES)
        except PatternError as error:
            raise ManifestError(f"{place}: {error}") from None
    return Entry(place=place, values=values, **selectors)


def check_placement(place: str, value: str | None) -> None:
    """Raise `ManifestError` for a placement that does not exist."""
    if value not in (None, *_PLACEMENTS):
        raise ManifestError(f"{place}: placement {_shown(value)}; one of {', '.join(_PLACEMENTS)}")


def _check_keys(place: str, table: dict[str, Any], known: set[str], where: str) -> None:
    if unknown := sorted(set(table) - known):
        raise ManifestError(f"{place}: unknown key {_shown(unknown[0])} in {where}; known: {', '.join(sorted(known))}")


def typed(place: str, key: str, value: Any) -> Any:
    """Convert a value to the type of its column; CSV cells are text."""
    wanted = _TYPES[key]
    try:
        if wanted == "string":
            return _string(value)
        if wanted == "int64":
            return _integer(value)
        if wanted == "bool":
            return value if isinstance(value, bool) else _BOOLEANS[str(value).strip().casefold()]
        moment = value if isinstance(value, date) else datetime.fromisoformat(value)
        if not isinstance(moment, datetime):
            moment = datetime(moment.year, moment.month, moment.day)
        return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)
    except (ValueError, KeyError, TypeError, OverflowError):
        raise ManifestError(f"{place}: {key} = {_shown(value)} is not of type {wanted}; correct it") from None


def _string(value: Any) -> str:
    """Return a text; a zone may be written as a number."""
    if isinstance(value, bool) or not isinstance(value, str | int):
        raise TypeError
    return str(value)


def _integer(value: Any) -> int:
    """Return a number of a CSV cell or of TOML; raise `ValueError` for fractions and huge numbers."""
    if isinstance(value, bool) or not isinstance(value, str | int):
        raise TypeError
    number = int(value)
    if abs(number) > _LARGEST_INTEGER:
        raise OverflowError
    return number


def read_baseline(manifest: Manifest, table: Literal["expectation", "unquantified"]) -> list[Row]:
    """Read the tables of one name in the baseline file of a study.

    ``[[expectation]]`` is an expected value; ``[[unquantified]]`` is a command without an expected value. The list is
    empty if the study has no baseline. Raises `ManifestError` if the file cannot be read.
    """
    if "baseline" not in manifest.study:
        return []
    path = manifest.folder / manifest.study["baseline"]
    content, text = read_own_toml(path)
    return _list_of_tables(path, content, text, table)


def _list_of_tables(path: Path, content: dict[str, Any], text: str, key: str) -> list[dict[str, Any]]:
    tables = content.get(key, [])
    if not isinstance(tables, list) or not all(isinstance(row, dict) for row in tables):
        raise ManifestError(f"{path}:{_line_of(text, key)}: {key} is not a list of tables; write [[{key}]]")
    return tables


def read_reported(manifest: Manifest) -> list[Row]:
    """Read the numbers that someone published without a log; the list is empty if there are none."""
    if "reported" not in manifest.study:
        return []
    rows = read_own_csv(manifest.folder / manifest.study["reported"])
    return [{**{key: value or None for key, value in row.items()}, "line": str(line)} for line, row in rows]
