"""Logical zones of a subscription or account -> physical zones, which alone can be compared between subscriptions.

Azure numbers zones per subscription: zone 1 of one is any zone of another. The map stands in the output of

    az account list-locations                     [{"name": "westeurope", "availabilityZoneMappings": [
    az rest --url ".../locations?api-version=…"       {"logicalZone": "1", "physicalZone": "westeurope-az3"}, …]}, …]
    aws ec2 describe-availability-zones           {"AvailabilityZones": [{"ZoneName": "us-east-1a", "ZoneId": "use1-az1"

Google's zone names (``europe-west1-b``) are taken as they are. Files may be UTF-8, UTF-16 or cp1252 ("Gävle").
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from azlatency.logs.decode import SourceError, decode

_SUBSCRIPTION = re.compile(r"/subscriptions/([0-9a-fA-F-]{36})/")
_GOOGLE_ZONE = re.compile(r"[a-z]+-[a-z]+\d+-[a-z]")


class ZoneMapError(ValueError):
    """A file that is no zone map, or two maps that contradict each other; ``file: what, and what to do``."""


@dataclass
class ZoneMap:
    """Physical zones by (subscription, region, logical zone); subscription None where the file does not say it."""

    zones: dict[tuple[str | None, str, str], str] = field(default_factory=dict)

    def physical(self, subscription: str | None, region: str | None, zone: str | None) -> str | None:
        """The physical zone of a logical one, None where no map says it.

        A map without a subscription counts only where a single map was read: it is then the map of the study.
        """
        if zone is None:
            return None
        if _GOOGLE_ZONE.fullmatch(zone):
            return zone
        if region is None:
            return None
        if (found := self.zones.get((subscription, region, zone))) is not None:
            return found
        maps = {key[0] for key in self.zones}
        if maps == {None} or (subscription is None and len(maps) == 1):
            return self.zones.get((next(iter(maps)), region, zone))
        return None


def read_zone_maps(files: Iterable[Path], subscriptions: Mapping[str, str] | None = None) -> ZoneMap:
    """Read one or more maps. ``subscriptions`` names the subscription of a file that does not say it, by file name.

    Raises `ZoneMapError` in one line.
    """
    merged = ZoneMap()
    for file in files:
        given = (subscriptions or {}).get(file.name)
        for key, physical in _entries(file, given):
            if merged.zones.setdefault(key, physical) != physical:
                region, zone = key[1:]
                raise ZoneMapError(
                    f"{file}: zone {zone} of {region} is {physical} here and {merged.zones[key]} in another map; "
                    "say which subscription each file is of"
                )
    return merged


def _entries(file: Path, subscription: str | None) -> Iterable[tuple[tuple[str | None, str, str], str]]:
    try:
        content = json.loads(decode(file.read_bytes(), file.name)[0])
    except OSError as error:
        raise ZoneMapError(f"{file}: {error.strerror}; check the path") from None
    except SourceError as error:
        raise ZoneMapError(str(error)) from None
    except json.JSONDecodeError as error:
        raise ZoneMapError(f"{file}:{error.lineno}: not JSON ({error.msg}); save the command's whole output") from None
    found = [*_azure(content, subscription), *_amazon(content, subscription)]
    if not found:
        what = "no availabilityZoneMappings and no AvailabilityZones"
        raise ZoneMapError(f"{file}:1: {what}; use the output of az account list-locations or aws ec2 …")
    return found


def _azure(content: Any, subscription: str | None) -> Iterable[tuple[tuple[str | None, str, str], str]]:
    locations = content.get("value", []) if isinstance(content, dict) else content
    for location in locations if isinstance(locations, list) else []:
        if not isinstance(location, dict):
            continue
        own = _SUBSCRIPTION.search(str(location.get("id", "")))
        for mapping in location.get("availabilityZoneMappings") or []:
            key = (
                subscription or (own[1].lower() if own else None),
                str(location["name"]),
                str(mapping["logicalZone"]),
            )
            yield key, str(mapping["physicalZone"])


def _amazon(content: Any, subscription: str | None) -> Iterable[tuple[tuple[str | None, str, str], str]]:
    zones = content.get("AvailabilityZones", []) if isinstance(content, dict) else []
    for zone in zones:
        region = str(zone.get("RegionName") or str(zone["ZoneName"]).rstrip("abcdefghijklmnopqrstuvwxyz"))
        yield (subscription, region, str(zone["ZoneName"])), str(zone["ZoneId"])


def pseudonym(subscription: str) -> str:
    """A name that tells subscriptions apart without naming them: the same for the same id."""
    return "subscription-" + hashlib.sha256(subscription.lower().encode()).hexdigest()[:8]
