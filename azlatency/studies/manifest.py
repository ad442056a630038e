"""What a log cannot say: ``study.toml`` (or a CSV with one row a log) -> columns of the table ``runs``.

    [study]
    name = "westeurope-azure-cni"
    question = "What do availability zones cost inside one AKS cluster?"
    region = "westeurope"

    [[run]]
    log = "az1-az3/*.log"        # or transcript = "notes.md", heading = "AZ1 - AZ3"
    zone = "1"
    peer_zone = "3"

In ``log`` an asterisk matches any characters, slashes included. Every log must be matched by exactly one entry, or by
several that say the same. What the log itself says is never overruled: a contradiction is an error.
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
#: Keys of an entry that the log may say as well; the rest only the manifest knows.
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
#: Files of a study folder that describe it; they are no logs.
_OWN_FILES = (FILE_NAME, "README.md", "truth.json")


class ManifestError(ValueError):
    """A manifest that cannot be used, as ``file:line: what, and what to do``."""


@dataclass(frozen=True)
class Entry:
    """One ``[[run]]`` table or CSV row: which logs it is about and what it says of them."""

    place: str
    log: str | None
    transcript: str | None
    heading: str | None
    ignore: str | None
    values: dict[str, Any]

    def about(self, path: str, heading: str | None) -> bool:
        """Whether the entry is about the log at ``path`` under ``heading`` ("outer / inner")."""
        if self.transcript is not None:
            headings = (heading or "").split(" / ")
            wanted = self.heading
            return fnmatchcase(path, self.transcript) and (
                wanted is None or any(fnmatchcase(each.casefold(), wanted.casefold()) for each in headings)
            )
        return self.log is not None and fnmatchcase(path, self.log)


@dataclass
class Manifest:
    """A study: what it is about, defaults for all runs, and an entry for each log or group of logs."""

    name: str
    folder: Path
    study: dict[str, Any] = field(default_factory=dict)
    entries: list[Entry] = field(default_factory=list)
    zones: ZoneMap = field(default_factory=ZoneMap)
    files: list[Path] = field(default_factory=list)
    """The files it was read from; their content decides whether an import is stale."""

    def scenarios(self) -> list[str]:
        """The scenarios in the order of the entries: the order in which the author tells them."""
        return list(dict.fromkeys(entry.values["scenario"] for entry in self.entries if "scenario" in entry.values))

    def is_own_file(self, path: str) -> bool:
        """Whether a path relative to the folder is part of the manifest, not a log."""
        named = [self.study.get(key) for key in ("runs", "reported", "baseline")]
        return path in (*_OWN_FILES, *named, *self.study.get("zone_maps", []))

    def ignored(self, path: str) -> str | None:
        """The reason why a file is left out, or None."""
        return next((entry.ignore for entry in self.entries if entry.ignore and entry.about(path, None)), None)

    def tool(self, path: str) -> str | None:
        """Whose log a file is, for logs in which nothing says so; None where the manifest does not tell."""
        return next(
            (entry.values["tool"] for entry in self.entries if "tool" in entry.values and entry.about(path, None)), None
        )

    def describe(self, run: Row, path: str) -> list[tuple[str, str, str]]:
        """Set the manifest's columns in a row of ``runs``; returns events as (code, severity, text)."""
        events: list[tuple[str, str, str]] = []
        matching = [entry for entry in self.entries if not entry.ignore and entry.about(path, run.get("heading"))]
        if not matching and self.entries:
            events.append(("manifest_missing", "warning", f"no entry of {FILE_NAME} is about {path}; add one"))
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
        """Fill in physical zones from the map of the run's subscription; where both speak they must agree."""
        events = []
        subscription = run.get("subscription")
        for logical, physical, region in (
            ("zone", "physical_zone", "region"),
            ("peer_zone", "peer_physical_zone", "peer_region"),
        ):
            found = self.zones.physical(subscription, run.get(region), run.get(logical))
            if found is None:
                continue
            if run.get(physical) not in (None, found):
                text = f"{physical} is {run[physical]!r} in the manifest and {found!r} in the zone map; correct one"
                events.append(("manifest_contradiction", "error", text))
            else:
                run[physical] = found
        if subscription is not None and self.study.get("pseudonymise_subscriptions"):
            run["subscription"] = pseudonym(subscription)
        return events

    def _with_defaults(self, values: dict[str, Any]) -> dict[str, Any]:
        """The entry's values over the study's, the server as the client where nothing else is said."""
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
    """What the zones and regions alone say about where the two ends stand."""
    region, peer_region = values.get("region"), values.get("peer_region")
    if region and peer_region and region != peer_region:
        return "cross_region"
    zone, peer_zone = values.get("zone"), values.get("peer_zone")
    if zone is None or peer_zone is None:
        return None
    return "same_zone" if zone == peer_zone else "cross_zone"


def _contradictions(run: Row, values: dict[str, Any], places: dict[str, str]) -> list[tuple[str, str, str]]:
    """Take from the manifest what the log does not say; where both speak they must agree."""
    events = []
    for key in _LOG_COLUMNS:
        said = values.get(key)
        if said is None:
            continue
        if run.get(key) is None:
            run[key] = said
        elif run[key] != said and key != "started_at":
            text = f"the log says {key} = {run[key]!r}, {places[key]} says {said!r}; correct the manifest"
            events.append(("manifest_contradiction", "error", text))
    return events


def read_manifest(folder: Path, name: str | None = None) -> Manifest:
    """Read ``study.toml`` of a folder; a folder without one gives a manifest that says nothing.

    Raises `ManifestError` naming file and line.
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
        raise ManifestError(f'{place}: the entry names no log; add log = "…" or transcript = "…"')
    values = {key: _typed(place, key, value) for key, value in raw.items()}
    if values.get("placement") not in (None, *_PLACEMENTS):
        raise ManifestError(f"{place}: placement {values['placement']!r}; one of {', '.join(_PLACEMENTS)}")
    selectors = {key: values.pop(key, None) for key in _SELECTORS}
    return Entry(place=place, values=values, **selectors)


def _check_keys(place: str, found: dict[str, Any], known: set[str], where: str) -> None:
    if unknown := sorted(set(found) - known):
        raise ManifestError(f"{place}: unknown key {unknown[0]!r} in {where}; known: {', '.join(sorted(known))}")


def _typed(place: str, key: str, value: Any) -> Any:
    """A value in the type of its column; CSV cells come as text."""
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
        raise ManifestError(f"{place}: {key} = {value!r} is no {wanted}; correct it") from None


def read_baseline(manifest: Manifest, table: Literal["expectation", "unquantified"]) -> list[Row]:
    """The tables of one name in the study's baseline file, [] where there is none. Raises `ManifestError`.

    ``[[expectation]]``: what is expected; ``[[unquantified]]``: a command that the source runs without saying what it
    should show.
    """
    if "baseline" not in manifest.study:
        return []
    path = manifest.folder / manifest.study["baseline"]
    try:
        return list(tomllib.loads(path.read_text("utf-8")).get(table, []))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise ManifestError(f"{path}: {error}; named by {FILE_NAME}") from None


def read_reported(manifest: Manifest) -> list[Row]:
    """The rows of the study's table of numbers that stand only in a text, [] where there is none."""
    if "reported" not in manifest.study:
        return []
    path = manifest.folder / manifest.study["reported"]
    try:
        with path.open(encoding="utf-8-sig", newline="") as stream:
            rows = csv.DictReader(stream)
            return [{**{key: value or None for key, value in row.items()}, "line": str(rows.line_num)} for row in rows]
    except OSError as error:
        raise ManifestError(f"{path}: {error.strerror}; named by {FILE_NAME}") from None
