"""A path: who talked to whom, as one value that groups, sorts and prints."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import cached_property, total_ordering

_ARROW = " → "
_TYPED_ARROW = re.compile(r"\s*(?:→|->)\s*")
_UNKNOWN = "?"


def route(*names: str) -> str:
    """Return names with arrows between them, such as ``a → b → c``."""
    return _ARROW.join(names)


@dataclass(frozen=True, kw_only=True)
class Endpoint:
    """One end of a path, as far as the log and the manifest describe it.

    Attributes
    ----------
    machine : str or None
        Host name or address.
    region, zone : str or None
        Where the machine is. A zone number is logical: it is comparable only within one subscription.
    physical_zone : str or None
        Zone that is comparable between subscriptions.
    """

    machine: str | None = None
    region: str | None = None
    zone: str | None = None
    physical_zone: str | None = None

    def __str__(self) -> str:
        return _UNKNOWN if self.machine is None else self.machine


@total_ordering
@dataclass(frozen=True, eq=False)
class Path:
    """The way from the client of a test to its server.

    Paths are equal, sort and hash by their text. A path therefore also equals that text, so that
    ``runs[runs["path"] == "az1 → az3"]`` selects rows. The endpoints describe one run: two runs of the same scenario
    are on the same path even if they used different machines.

    Attributes
    ----------
    client, server : Endpoint
        The end that sends the first probe, and the end that answers.
    scenario : str or None
        Name that the manifest gives to the path. It replaces the names of the machines.

    Examples
    --------
    >>> path = Path.between("az1", "az3")
    >>> str(path), str(path.reversed())
    ('az1 → az3', 'az3 → az1')
    >>> path.ends
    ('az1', 'az3')
    >>> path == "az1 → az3", path == Path.parse("az1->az3")
    (True, True)
    >>> Path.parse("AZ1 - AZ3").ends is None        # the name of a scenario shows no direction
    True
    """

    client: Endpoint = field(default_factory=Endpoint)
    server: Endpoint = field(default_factory=Endpoint)
    scenario: str | None = None

    @classmethod
    def between(cls, client: str, server: str) -> Path:
        """Return the path between two machines or zones that are known by name."""
        return cls(Endpoint(machine=client), Endpoint(machine=server))

    @classmethod
    def parse(cls, text: str | Path) -> Path:
        """Return the path that a text names: ``a → b``, ``a -> b`` or a scenario. A path is returned as it is."""
        if isinstance(text, Path):
            return text
        client, *server = _TYPED_ARROW.split(text, maxsplit=1)
        return cls.between(client, server[0]) if server else cls(scenario=text)

    @cached_property
    def text(self) -> str:
        """The scenario, or else the names of both ends with an arrow between them; ``?`` for an unknown end."""
        return route(str(self.client), str(self.server)) if self.scenario is None else self.scenario

    @cached_property
    def ends(self) -> tuple[str, str] | None:
        """Names of client and server; ``None`` if an end is unknown or the scenario does not name both."""
        if self.scenario is not None:
            client, arrow, server = self.scenario.partition(_ARROW)
            return (client, server) if arrow else None
        if self.client.machine is None or self.server.machine is None:
            return None
        return self.client.machine, self.server.machine

    @property
    def is_unknown(self) -> bool:
        """Whether nothing names the path: two runs on unknown paths may have used any two paths."""
        return self.scenario is None and self.client.machine is None and self.server.machine is None

    def reversed(self) -> Path:
        """Return the path from the server to the client; a scenario that names no direction keeps its name."""
        scenario = self.scenario
        if scenario is not None and self.ends is not None:
            scenario = route(*self.ends[::-1])
        return Path(self.server, self.client, scenario)

    def __str__(self) -> str:
        return self.text

    def __repr__(self) -> str:
        return f"Path({self.text!r})"

    def __format__(self, spec: str) -> str:
        return format(self.text, spec)

    def __eq__(self, other: object) -> bool:
        return self.text == str(other) if isinstance(other, Path | str) else NotImplemented

    def __lt__(self, other: Path | str) -> bool:
        return self.text < str(other) if isinstance(other, Path | str) else NotImplemented

    def __hash__(self) -> int:
        return hash(self.text)
