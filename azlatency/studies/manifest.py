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

In ``log``, an asterisk matches any characters, including slashes. If several entries match a log, their values must
agree. A value of the log is never replaced: a contradiction is an error.
"""

from __future__ import annotations

import csv
import re
import tomllib
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any, Literal

from azlatency.logs.record import Row
from azlatency.logs.schema import MANIFEST_COLUMNS
from azlatency.studies.zones import ZoneMap, ZoneMapError, pseudonym, read_zone_maps

FILE_NAME = "study.toml"
_STUDY_KEYS = {
    "name", "title", "question", "date", "emulated", "source", "notes", "runs", "reported", "baseline",
    "zone_maps", "pseudonymise_subscriptions", "before",
    "region", "subscription", "vm_size", "accelerated_networking", "placement",
}  # fmt: skip
#: Keys of an entry that a log can contain as well; only the manifest contains the others.
_LOG_COLUMNS = ("tool", "client", "server", "protocol", "message_bytes", "started_at")
_SELECTORS = ("log", "transcript", "heading", "ignore")
_ENTRY_KEYS = {column.name for column in MANIFEST_COLUMNS} - {"study"} | set(_LOG_COLUMNS) | set(_SELECTORS)
_PLACEMENTS = (
    "same_host", "availability_set", "proximity_placement_group", "same_zone", "cross_zone", "cross_region",
)  # fmt: skip
_TYPES = {column.name: column.type for column in MANIFEST_COLUMNS} | {
    "tool": "string", "client": "string", "server": "string", "protocol": "string", "message_bytes": "int64",
    "started_at": "timestamp",
    "log": "string", "transcript": "string", "heading": "string", "ignore": "string",
}  # fmt: skip
_BOOLEANS = {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}
#: Files of a study that are not logs.
_OWN_FILES = (FILE_NAME, "README.md", "truth.json")


class ManifestError(ValueError):
    """A manifest that cannot be used; ``file:line: what is wrong; what to do``."""


@dataclass(frozen=True)
class Entry:
    """One ``[[run]]`` table or CSV row: a pattern of logs, and the values that apply to them."""

    place: str
    log: str | None
    transcript: str | None
    heading: str | None
    ignore: str | None
    values: dict[str, Any]

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
    zones: ZoneMap = field(default_factory=ZoneMap)
    files: list[Path] = field(default_factory=list)
    """Files of the manifest. If their content changes, the import is out of date."""

    def scenarios(self) -> list[str]:
        """Return the scenarios in the order of the entries."""
        return list(dict.fromkeys(entry.values["scenario"] for entry in self.entries if "scenario" in entry.values))

    def is_own_file(self, path: str) -> bool:
        """Return whether a path relative to the folder is a file of the manifest and not a log."""
        named = [self.study.get(key) for key in ("runs", "reported", "baseline")]
        return path in (*_OWN_FILES, *named, *self.study.get("zone_maps", []))

    def ignored(self, path: str) -> str | None:
        """Return the reason why the manifest ignores a file, or None."""
        return next((entry.ignore for entry in self.entries if entry.ignore and entry.matches(path, None)), None)

    def tool(self, path: str) -> str | None:
        """Return the tool of a log that cannot be recognised by its content, or None."""
        matching = (entry for entry in self.entries if "tool" in entry.values and entry.matches(path, None))
        return next((entry.values["tool"] for entry in matching), None)

    def describe(self, run: Row, path: str) -> list[tuple[str, str, str]]:
        """Set the columns of the manifest in a row of ``runs``; return events as (code, severity, text)."""
        events: list[tuple[str, str, str]] = []
        matching = [entry for entry in self.entries if not entry.ignore and entry.matches(path, run.get("heading"))]
        if not matching and self.entries:
            events.append(("manifest_missing", "warning", f"no entry of {FILE_NAME} matches {path}; add one"))
        values: dict[str, Any] = {}
        places: dict[str, str] = {}
        for entry in matching:
            for key, value in entry.values.items():
                if key in values and values[key] != value:
                    text = f"{key} is {values[key]!r} in {places[key]} and {value!r} in {entry.place}; keep one"
                    events.append(("manifest_conflict", "error", text))
                else:
                    values[key], places[key] = value, entry.place
        run["study"] = self.name
        run.update(self._with_defaults(values))
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
        elif run[key] != value and key != "started_at":
            text = f"{key} is {run[key]!r} in the log and {value!r} in {places[key]}; correct the manifest"
            events.append(("manifest_contradiction", "error", text))
    return events


def read_manifest(folder: Path, name: str | None = None) -> Manifest:
    """Read the manifest of a folder.

    Parameters
    ----------
    folder : pathlib.Path
        Folder of the study.
    name : str, optional
        Name of the study. Default: the name in ``study.toml``, or that of the folder.

    Returns
    -------
    Manifest
        The manifest; empty if the folder has no ``study.toml``.

    Raises
    ------
    ManifestError
        If a file of the manifest cannot be used. The message names file and line.
    """
    path = folder / FILE_NAME
    if not path.is_file():
        return Manifest(name or folder.resolve().name, folder)
    try:
        text = path.read_text("utf-8")
        content = tomllib.loads(text)
    except UnicodeDecodeError:
        raise ManifestError(f"{path}:1: not UTF-8 text; save it as UTF-8") from None
    except tomllib.TOMLDecodeError as error:
        line = re.search(r"line (\d+)", str(error))
        raise ManifestError(f"{path}:{line[1] if line else 1}: {error}; correct the TOML") from None
    study = content.get("study", {})
    _check_keys(f"{path}:1", study, _STUDY_KEYS, "[study]")
    if unknown := set(content) - {"study", "run"}:
        raise ManifestError(f"{path}:1: unknown table [{sorted(unknown)[0]}]; known: [study] and [[run]]")
    manifest = Manifest(name or study.get("name") or folder.resolve().name, folder, study, files=[path])
    lines = [number for number, line in enumerate(text.splitlines(), start=1) if line.strip() == "[[run]]"]
    for number, run in zip(lines, content.get("run", []), strict=False):
        manifest.entries.append(_entry(f"{path}:{number}", run))
    if "runs" in study:
        manifest.entries += _csv_entries(folder / study["runs"])
        manifest.files.append(folder / study["runs"])
    manifest.files += [folder / study[key] for key in ("reported", "baseline") if key in study]
    maps = [folder / name for name in study.get("zone_maps", [])]
    manifest.files += maps
    try:
        manifest.zones = read_zone_maps(maps)
    except ZoneMapError as error:
        raise ManifestError(str(error)) from None
    return manifest


def _csv_entries(path: Path) -> Iterable[Entry]:
    try:
        with path.open(encoding="utf-8-sig", newline="") as stream:
            reader = csv.DictReader(stream)
            for row in reader:
                if None in row:
                    raise ManifestError(f"{path}:{reader.line_num}: more cells than columns; quote the commas")
                yield _entry(f"{path}:{reader.line_num}", {key: value for key, value in row.items() if value})
    except OSError as error:
        raise ManifestError(f"{path}: {error.strerror}; named by {FILE_NAME}") from None


def _entry(place: str, raw: dict[str, Any]) -> Entry:
    _check_keys(place, raw, _ENTRY_KEYS, "an entry")
    if "log" not in raw and "transcript" not in raw:
        raise ManifestError(f'{place}: the entry has neither log nor transcript; add log = "…" or transcript = "…"')
    values = {key: _typed(place, key, value) for key, value in raw.items()}
    if values.get("placement") not in (None, *_PLACEMENTS):
        raise ManifestError(f"{place}: placement {values['placement']!r}; one of {', '.join(_PLACEMENTS)}")
    selectors = {key: values.pop(key, None) for key in _SELECTORS}
    return Entry(place=place, values=values, **selectors)


def _check_keys(place: str, table: dict[str, Any], known: set[str], where: str) -> None:
    if unknown := sorted(set(table) - known):
        raise ManifestError(f"{place}: unknown key {unknown[0]!r} in {where}; known: {', '.join(sorted(known))}")


def _typed(place: str, key: str, value: Any) -> Any:
    """Convert a value to the type of its column; CSV cells are text."""
    wanted = _TYPES[key]
    try:
        if wanted == "string":
            return str(value)
        if wanted == "int64":
            return int(value)
        if wanted == "bool":
            return value if isinstance(value, bool) else _BOOLEANS[str(value).strip().casefold()]
        moment = value if isinstance(value, date) else datetime.fromisoformat(value)
        if not isinstance(moment, datetime):
            moment = datetime(moment.year, moment.month, moment.day)
        return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)
    except (ValueError, KeyError, TypeError):
        raise ManifestError(f"{place}: {key} = {value!r} is not of type {wanted}; correct it") from None


def read_baseline(manifest: Manifest, table: Literal["expectation", "unquantified"]) -> list[Row]:
    """Read the tables of one name in the baseline file of a study.

    ``[[expectation]]`` is an expected value; ``[[unquantified]]`` is a command without an expected value. The list is
    empty if the study has no baseline. Raises `ManifestError` if the file cannot be read.
    """
    if "baseline" not in manifest.study:
        return []
    path = manifest.folder / manifest.study["baseline"]
    try:
        return list(tomllib.loads(path.read_text("utf-8")).get(table, []))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise ManifestError(f"{path}: {error}; named by {FILE_NAME}") from None


def read_reported(manifest: Manifest) -> list[Row]:
    """Read the numbers that someone published without a log; the list is empty if there are none."""
    if "reported" not in manifest.study:
        return []
    path = manifest.folder / manifest.study["reported"]
    try:
        with path.open(encoding="utf-8-sig", newline="") as stream:
            rows = csv.DictReader(stream)
            return [{**{key: value or None for key, value in row.items()}, "line": str(rows.line_num)} for row in rows]
    except OSError as error:
        raise ManifestError(f"{path}: {error.strerror}; named by {FILE_NAME}") from None
