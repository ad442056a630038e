"""A path: who talked to whom, as one value that groups, sorts and prints."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, total_ordering
from typing import Any

from azlatency.logs.recognise.labels import JOINED

_ARROW = " → "
_TYPED_ARROW = re.compile(r"\s*(?:→|->)\s*")
_UNKNOWN = "?"
#: A label that names both ends, ``zone 1 -> zone 2``, says more than the one that a log names.
_NAMES_ENDS = re.compile(r"\S\s*(?:-+>|=+>|→)\s*\S")
#: Longer names of scenarios, such as notes above a log, are shown by the parts that tell them apart, of this length.
_LONGEST, _LONGEST_PART = 100, 48
_ADDRESS = re.compile(r"[\d.]+|[\da-fA-F:]*:[\da-fA-F:.]*")
_GOOGLE_REGION, _AMAZON_REGION = re.compile(r"[a-z]+-[a-z]+\d+"), re.compile(r"[a-z]{2}(?:-[a-z]+)+-\d+")


def route(*names: str) -> str:
    """Return names with arrows between them, such as ``a → b → c``."""
    return _ARROW.join(names)


def with_label(path: str, labels: Sequence[str]) -> str:
    """Return the name of a path after the one label of its runs that it does not say.

    Addresses that change with every run, such as those of pods, say less than the names of files.
    """
    if (
        len(labels) == 1
        and not path.startswith(labels[0])
        and labels[0] not in path.split(_ARROW)
        and _ARROW in path
        and ": " not in path
    ):
        return f"{labels[0]}: {path}"
    return path


@dataclass(frozen=True, kw_only=True)
class Endpoint:
    """One end of a path, as far as log and manifest describe it: host name or address, region and zone.

    A zone number is logical: it is comparable only within one subscription; ``physical_zone`` is comparable between
    them. ``label``: name among the ends of other runs, if machine or zone alone are ambiguous; see `name_paths`.
    """

    machine: str | None = None
    region: str | None = None
    zone: str | None = None
    physical_zone: str | None = None
    label: str | None = None

    @property
    def place(self) -> tuple[str | None, str | None]:
        """Region and zone."""
        return self.region, self.zone

    @property
    def is_unknown(self) -> bool:
        """Whether nothing names the machine or its zone."""
        return self.label is None and self.machine is None and self.zone is None

    @property
    def has_name(self) -> bool:
        """Whether its machine is known by more than an address."""
        return self.machine is not None and not _ADDRESS.fullmatch(self.machine)

    def place_name(self) -> str:
        """Return the name of the zone with its region: ``us-east-1b``, ``europe-west1-c``, ``eastus zone 1``."""
        region, zone = self.place
        if region is None or zone is None:
            return region or _zone_name(zone)
        if zone.startswith(region):
            return zone
        if len(zone) == 1 and zone.isalpha():
            if _GOOGLE_REGION.fullmatch(region):
                return f"{region}-{zone}"
            if _AMAZON_REGION.fullmatch(region):
                return f"{region}{zone}"
        return f"{region} {_zone_name(zone)}"

    def __str__(self) -> str:
        return self.label or self.machine or _zone_name(self.zone)


def _zone_name(zone: str | None) -> str:
    """Return ``zone 1`` for a number or a letter, and a name such as ``use1-az1`` as it is."""
    if zone is None:
        return _UNKNOWN
    return f"zone {zone}" if len(zone) <= 2 else zone


@total_ordering
@dataclass(frozen=True, eq=False)
class NetworkPath:
    """The way from the client of a test to its server.

    Paths are equal, sort and hash by their text. A path therefore also equals that text, so that
    ``runs[runs["path"] == "az1 → az3"]`` selects rows. `name_paths` makes the texts of one study distinct.

    ``client`` sends the first probe, and ``server`` answers; ``scenario``: the name that the manifest gives to the
    path; ``shared``: several paths have this scenario, so that the text names the ends, too. ``shown``: a shorter name
    of the scenario.

    >>> path = NetworkPath.between("az1", "az3")
    >>> str(path), str(path.reversed())
    ('az1 → az3', 'az3 → az1')
    >>> path.ends
    ('az1', 'az3')
    >>> path == "az1 → az3", path == NetworkPath.parse("az1->az3")
    (True, True)
    >>> NetworkPath.parse("AZ1 - AZ3").ends is None        # the name of a scenario shows no direction
    True
    """

    client: Endpoint = field(default_factory=Endpoint)
    server: Endpoint = field(default_factory=Endpoint)
    scenario: str | None = None
    shared: bool = False
    shown: str | None = None

    @classmethod
    def between(cls, client: str, server: str) -> NetworkPath:
        """Return the path between two machines or zones that are known by name."""
        return cls(Endpoint(machine=client), Endpoint(machine=server))

    @classmethod
    def parse(cls, text: str | NetworkPath) -> NetworkPath:
        """Return the path that a text names: ``a → b``, ``a -> b``, a scenario, or ``scenario: a → b``.

        A path is returned as it is.
        """
        if isinstance(text, NetworkPath):
            return text
        client, *server = _TYPED_ARROW.split(text, maxsplit=1)
        if not server:
            return cls(scenario=text)
        scenario, shared, client = client.rpartition(": ")
        client_end, server_end = (Endpoint(machine=None if name == _UNKNOWN else name) for name in (client, server[0]))
        return cls(client_end, server_end, scenario or None, bool(shared))

    @cached_property
    def text(self) -> str:
        """The scenario, or else the names of both ends with an arrow between them; ``?`` for an unknown end."""
        names = route(str(self.client), str(self.server))
        if self.scenario is None:
            return names
        scenario = self.shown or self.scenario
        return f"{scenario}: {names}" if self.shared else scenario

    @cached_property
    def ends(self) -> tuple[str, str] | None:
        """Names of client and server; ``None`` if an end is unknown or the scenario does not name both."""
        if self.scenario is not None and not self.shared:
            return NetworkPath.parse(self.scenario).ends if _ARROW in self.scenario else None
        return None if self.is_unknown else (str(self.client), str(self.server))

    @property
    def end_names(self) -> tuple[str | None, str | None]:
        """Names of client and server, also if a scenario names the path; ``None`` for an unknown end."""
        if (ends := self.ends) is not None:
            return ends
        client, server = (None if end.is_unknown else str(end) for end in (self.client, self.server))
        return client, server

    @property
    def is_unknown(self) -> bool:
        """Whether an end is unknown and no scenario names the path: two such runs may be of different paths."""
        return (self.scenario is None or self.shared) and (self.client.is_unknown or self.server.is_unknown)

    def reversed(self) -> NetworkPath:
        """Return the path from the server to the client; a scenario that names no direction keeps its name."""
        scenario = self.scenario
        if scenario is not None and not self.shared and self.ends is not None:
            scenario = route(*self.ends[::-1])
        return NetworkPath(self.server, self.client, scenario, self.shared, self.shown)

    def __str__(self) -> str:
        return self.text

    def __repr__(self) -> str:
        return f"NetworkPath({self.text!r})"

    def __format__(self, spec: str) -> str:
        return format(self.text, spec)

    def __eq__(self, other: object) -> bool:
        return self.text == str(other) if isinstance(other, NetworkPath | str) else NotImplemented

    def __lt__(self, other: NetworkPath | str) -> bool:
        return self.text < str(other) if isinstance(other, NetworkPath | str) else NotImplemented

    def __hash__(self) -> int:
        return hash(self.text)


def name_paths(paths: Sequence[NetworkPath], methods: Sequence[str], *, drafted: bool = False) -> list[NetworkPath]:
    """Give the paths of several runs distinct texts: equal texts stand for equal regions, zones and machines.

    ``drafted``: zones were read from names, so that a path whose scenario was read from a name says both.
    """
    places: dict[str, set[tuple[str | None, str | None]]] = {}
    for end in (end for path in paths for end in (path.client, path.server)):
        if end.machine is not None or end.zone is not None:
            places.setdefault(str(end), set()).add(end.place)
    paths = _name_by_zones(paths)
    by_scenario: dict[str, list[int]] = {}
    for index, path in enumerate(paths):
        if path.scenario is not None:
            by_scenario.setdefault(path.scenario, []).append(index)
    named = [_with_labels(path, places) for path in paths]
    for runs in by_scenario.values():
        shared = [paths[index] for index in runs]
        by_place = _differ({(path.client.place, path.server.place) for path in shared})
        by_machine = any(
            _differ({(path.client.machine, path.server.machine) for path, method in of_place if method == name})
            for of_place in _grouped(shared, [methods[index] for index in runs])
            for name in {method for _, method in of_place}
        )
        of_names = drafted and any(path.shared and path.client.zone and path.server.zone for path in shared)
        if by_place or by_machine or of_names:
            regions = {end.region for path in shared for end in (path.client, path.server)}
            for index in runs:
                named[index] = _in_shared_scenario(paths[index], by_machine=by_machine, by_region=len(regions) > 1)
    shown = _short_names(by_scenario)
    alone = {
        name
        for name, runs in by_scenario.items()
        if len(name) <= _LONGEST and _NAMES_ENDS.search(name) and _is_one_pair(paths, runs)
    }
    return [
        replace(path, shared=path.shared and path.scenario not in alone, shown=shown.get(path.scenario or ""))
        for path in named
    ]


def _is_one_pair(paths: Sequence[NetworkPath], runs: Sequence[int]) -> bool:
    """Return whether some runs have the same ends, as far as these are known."""
    pairs = [(paths[run].client, paths[run].server) for run in runs]
    most = min(pairs, key=lambda pair: pair[0].is_unknown + pair[1].is_unknown)
    return all(_agree(pair, most) for pair in pairs)


def _short_names(names: Collection[str]) -> dict[str, str]:
    """Return a short name for each long one: its first part and those that tell it from others, none too long."""
    parts = {name: name.split(JOINED) for name in names}
    short = {name: name for name in names}
    for name, own in parts.items():
        if len(name) > _LONGEST:
            alike, kept = {*parts}, list[str]()
            for part in own:
                rest = {other for other in alike if part in parts[other]}
                if not kept or len(rest) < len(alike):
                    kept.append(part if len(part) <= _LONGEST_PART else f"{part[: _LONGEST_PART - 1].rstrip()}…")
                alike = rest
            short[name] = JOINED.join(kept)
    count = Counter(short.values())
    return {name: text for name, text in short.items() if text != name and count[text] == 1}


def with_known_ends(paths: Sequence[NetworkPath], methods: Sequence[str]) -> list[NetworkPath]:
    """Return paths whose unknown ends are those of the only other path with the same known end, method and scenario.

    Nothing tells such runs apart. Paths whose scenario the manifest states are left as they are.
    """
    alike: dict[tuple[str, str | None], set[tuple[Endpoint, Endpoint]]] = {}
    for path, method in zip(paths, methods, strict=True):
        if path.scenario is None or path.shared:
            alike.setdefault((method, path.scenario), set()).add((path.client, path.server))
    return [
        _completed(path, alike[method, path.scenario]) if (method, path.scenario) in alike and path.is_unknown else path
        for path, method in zip(paths, methods, strict=True)
    ]


def _completed(path: NetworkPath, pairs: Collection[tuple[Endpoint, Endpoint]]) -> NetworkPath:
    """Return a path with the ends of the pair that says most, if all pairs that have its known ends agree with that."""
    agreeing = [pair for pair in pairs if _agree((path.client, path.server), pair)]
    client, server = min(agreeing, key=lambda pair: pair[0].is_unknown + pair[1].is_unknown)
    if all(_agree(pair, (client, server)) for pair in agreeing):
        return replace(path, client=client, server=server)
    return path


def _agree(pair: tuple[Endpoint, Endpoint], other: tuple[Endpoint, Endpoint]) -> bool:
    """Return whether the other pair has all ends that the first one knows, and the same regions."""
    ends = zip(pair, other, strict=True)
    return all(known == end or (known.is_unknown and known.region == end.region) for known, end in ends)


def _name_by_zones(paths: Sequence[NetworkPath]) -> list[NetworkPath]:
    """Name paths by their zones where a log names an end by its address or not at all (``zone 1 → 10.0.2.4``)."""
    nameless = {
        (path.client.place, path.server.place)
        for path in paths
        if path.client.zone and path.server.zone and any(end.machine for end in (path.client, path.server))
        if not (path.client.has_name and path.server.has_name)
    }
    by_region = len({region for places in nameless for region, _ in places}) > 1

    def named(end: Endpoint) -> str:
        return end.place_name() if by_region else _zone_name(end.zone)

    return [
        replace(path, scenario=route(named(path.client), named(path.server)))
        if path.scenario is None and (path.client.place, path.server.place) in nameless
        else path
        for path in paths
    ]


def _grouped(paths: Sequence[NetworkPath], methods: Sequence[str]) -> list[list[tuple[NetworkPath, str]]]:
    """Return paths and methods by the places of both ends."""
    groups: dict[object, list[tuple[NetworkPath, str]]] = {}
    for path, method in zip(paths, methods, strict=True):
        groups.setdefault((path.client.place, path.server.place), []).append((path, method))
    return list(groups.values())


def _differ(keys: set[tuple[Any, ...]]) -> bool:
    """Return whether two keys have different known parts."""
    flat = [[part for end in key for part in (end if isinstance(end, tuple) else (end,))] for key in keys]
    return any(len({part for part in column if part is not None}) > 1 for column in zip(*flat, strict=True))


def _with_labels(path: NetworkPath, places: Mapping[str, set[tuple[str | None, str | None]]]) -> NetworkPath:
    """Name the places of ends whose names stand for machines or zones in several places."""

    def labelled(end: Endpoint, other: Endpoint) -> Endpoint:
        if end.machine is None and end.zone is None:
            # Two regions tell the ends of a path apart even if no zone is known.
            return replace(end, label=end.region) if end.region and end.region != other.region else end
        if len(places[str(end)]) < 2 or end.place == (None, None):
            return end
        name = end.place_name()
        return replace(end, label=name if end.machine is None else f"{end.machine} in {name}")

    return replace(path, client=labelled(path.client, path.server), server=labelled(path.server, path.client))


def _in_shared_scenario(path: NetworkPath, *, by_machine: bool, by_region: bool) -> NetworkPath:
    """Name the ends of a path whose scenario has several: by their places if these suffice."""

    def labelled(end: Endpoint, other: Endpoint) -> Endpoint:
        if end.zone is None and end.region in (None, other.region):
            return end
        name = end.place_name() if by_region else _zone_name(end.zone)
        return replace(end, label=f"{end.machine} in {name}" if by_machine and end.machine else name)

    return replace(
        path, client=labelled(path.client, path.server), server=labelled(path.server, path.client), shared=True
    )
