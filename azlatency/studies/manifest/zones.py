"""Map the logical zones of a subscription or account to physical zones.

Azure numbers zones per subscription: zone 1 of two subscriptions can be two different physical zones. Only physical
zones can be compared between subscriptions. These commands print the map:

    az account list-locations                     [{"name": "westeurope", "availabilityZoneMappings": [
    az rest --url ".../locations?api-version=…"       {"logicalZone": "1", "physicalZone": "westeurope-az3"}, …]}, …]
    aws ec2 describe-availability-zones           {"AvailabilityZones": [{"ZoneName": "us-east-1a", "ZoneId": "use1-az1"

Google's zone names (``europe-west1-b``) are already physical. Files may be UTF-8, UTF-16 or cp1252 ("Gävle").
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from azlatency.logs.source.decode import SourceError, decode
from azlatency.studies.store.folders import data_folder
from azlatency.studies.store.study import Study

_SUBSCRIPTION = re.compile(r"/subscriptions/([0-9a-fA-F-]{36})/")
_GOOGLE_ZONE = re.compile(r"[a-z]+-[a-z]+\d+-[a-z]")


class ZoneMapError(ValueError):
    """A file that is not a zone map, or two maps that contradict each other; ``file: what is wrong; what to do``."""


@dataclass
class ZoneMap:
    """Physical zones by subscription (None if unknown), region and logical zone."""

    zones: dict[tuple[str | None, str, str], str] = field(default_factory=dict)

    def physical(self, subscription: str | None, region: str | None, zone: str | None) -> str | None:
        """Return the physical zone of a logical zone, or None if no map contains it.

        A map without a subscription is used only if it is the only map of the study.
        """
        if zone is None:
            return None
        if _GOOGLE_ZONE.fullmatch(zone):
            return zone
        if region is None:
            return None
        if (physical := self.zones.get((subscription, region, zone))) is not None:
            return physical
        maps = {key[0] for key in self.zones}
        if maps == {None} or (subscription is None and len(maps) == 1):
            return self.zones.get((next(iter(maps)), region, zone))
        return None


def zone_maps(study: Study) -> dict[tuple[str | None, str, str], str]:
    """Return the physical zone by subscription, region and logical zone, of the maps that a study's manifest names."""
    folder = data_folder("raw") / study.name
    files = [folder / name for name in study.info.get("zone_maps", [])]
    return read_zone_maps([file for file in files if file.is_file()]).zones


def read_zone_maps(files: Iterable[Path]) -> ZoneMap:
    """Read one or more zone maps, outputs of the commands above.

    Raises `ZoneMapError` if a file is not a zone map, or if two files contradict each other.
    """
    merged = ZoneMap()
    for file in files:
        for key, physical in _entries(file):
            if merged.zones.setdefault(key, physical) != physical:
                region, zone = key[1:]
                raise ZoneMapError(
                    f"{file}: zone {zone} of {region} is {physical} here and {merged.zones[key]} in another map; "
                    "give only the map of the account that measured, or Azure maps with the id of each location"
                )
    return merged


def _entries(file: Path) -> Iterable[tuple[tuple[str | None, str, str], str]]:
    try:
        content = json.loads(decode(file.read_bytes(), file.name)[0])
    except OSError as error:
        raise ZoneMapError(f"{file}: {error.strerror}; check the path") from None
    except SourceError as error:
        raise ZoneMapError(str(error)) from None
    except json.JSONDecodeError as error:
        raise ZoneMapError(f"{file}:{error.lineno}: not JSON ({error.msg}); save the command's whole output") from None
    except RecursionError:
        raise ZoneMapError(f"{file}:1: nested too deeply; save the command's whole output") from None
    try:
        entries = [*_azure(content), *_amazon(content)]
    except (AttributeError, KeyError, TypeError) as error:
        raise ZoneMapError(f"{file}:1: not a zone map ({error!r}); save the command's whole output") from None
    if not entries:
        problem = "neither availabilityZoneMappings nor AvailabilityZones"
        raise ZoneMapError(f"{file}:1: {problem}; use the output of az account list-locations or aws ec2 …")
    return entries


def _azure(content: Any) -> Iterable[tuple[tuple[str | None, str, str], str]]:
    locations = content.get("value", []) if isinstance(content, dict) else content
    for location in locations if isinstance(locations, list) else []:
        if not isinstance(location, dict):
            continue
        match = _SUBSCRIPTION.search(str(location.get("id", "")))
        for mapping in location.get("availabilityZoneMappings") or []:
            key = (match[1].lower() if match else None, str(location["name"]), str(mapping["logicalZone"]))
            yield key, str(mapping["physicalZone"])


def _amazon(content: Any) -> Iterable[tuple[tuple[str | None, str, str], str]]:
    zones = content.get("AvailabilityZones", []) if isinstance(content, dict) else []
    for zone in zones:
        region = str(zone.get("RegionName") or str(zone["ZoneName"]).rstrip("abcdefghijklmnopqrstuvwxyz"))
        yield (None, region, str(zone["ZoneName"])), str(zone["ZoneId"])


def pseudonym(subscription: str) -> str:
    """Return a name for a subscription that does not reveal its id; equal ids have equal names."""
    return "subscription-" + hashlib.sha256(subscription.lower().encode()).hexdigest()[:8]
