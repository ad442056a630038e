"""Patterns of file names that say who talked to whom: ``{region}-{zone}/to-{peer_zone}/*/{scenario}_{repeat}.log``.

A field in braces is a column of the manifest and takes characters other than a slash, as many as possible; ``*`` takes
any characters other than a slash. A pattern describes a whole path, or its last folders and the file. ``{scenario}``
may occur several times: a scenario of two folders has the names of both, ``wireguard/loss``.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

_FIELD = re.compile(r"\{([^{}]*)\}|(\*)|([^{}*]+)")
MOST_FIELDS = 16
#: Longer names are not described; the work grows with the square of this.
_LONGEST_NAME = 255
_SEPARATORS = re.compile(r"[/!]")
#: Values that a field of this type accepts; a text may be anything.
_VALUES = {
    "int64": re.compile(r"\d{1,9}"),
    "bool": re.compile(r"true|false|yes|no|0|1", re.IGNORECASE),
    "timestamp": re.compile(r"\d{4}-\d\d-\d\d(?:[T ]\d\d:?\d\d(?::?\d\d(?:\.\d{1,9})?)?(?:Z|[+-]\d\d:?\d\d)?)?"),
}
#: The ID of a zone as Amazon writes it, which names the same place in every account: use1-az4; not day1-az4.
ZONE_ID = r"(?:af|ap|ca|cn|eu|il|me|mx|sa|us)[a-z]{1,2}\d-az\d"
#: Zones as Google and Amazon write them: europe-west1-c, us-east-1b, use1-az1.
CLOUD_ZONE = rf"[a-z]{{2,15}}-[a-z]{{3,15}}\d{{1,2}}-[a-f]|[a-z]{{2}}(?:-[a-z]{{3,10}}){{1,2}}-\d[a-f]|{ZONE_ID}"
#: Regions of Azure: eastus2, westeurope, germanywestcentral. Their zones are numbers.
AZURE_REGION = (
    r"(?:(?:(?:north|south|east|west|central)+(?:us|europe|asia|india)|(?:canada|brazil|uk|france|germany|norway|sweden|"
    r"switzerland|poland|italy|spain|austria|belgium|denmark|uae|southafrica|qatar|israel|japan|korea|australia|newzealand|"
    r"malaysia|indonesia|mexico|chile|jioindia|china)(?:north|south|east|west|central)+)\d?)"
)
#: Any other zone is one word, or a word and a zone of Azure: 1, b, westeurope-az1.
_ZONE_VALUE = re.compile(rf"[A-Za-z0-9]{{1,30}}(?:-az\d)?|{CLOUD_ZONE}")
#: Regions and zones of clouds contain hyphens; where one stands, it is preferred to a longer text.
_PREFERRED = {
    "region": re.compile(r"[a-z]{2,15}(?:-[a-z]{1,15}){1,3}-?\d{1,2}"),
    "zone": re.compile(rf"(?:{CLOUD_ZONE})(?![a-z0-9])"),
}


class PatternError(ValueError):
    """A pattern that cannot be used: what is wrong and what to do."""


@dataclass(frozen=True)
class PathPattern:
    """A pattern of paths: its text, the kind (``"field"``, ``"any"``, ``"text"``) and name or text of each part.

    ``types`` are those of the fields.
    """

    text: str
    tokens: tuple[tuple[str, str], ...]
    types: Mapping[str, str]

    @classmethod
    def parse(cls, text: str, types: Mapping[str, str]) -> PathPattern:
        """Read a pattern whose fields are among ``types``; raise `PatternError` if it is not one."""
        tokens: list[tuple[str, str]] = []
        for field, star, literal in (match.groups() for match in _FIELD.finditer(text)):
            tokens.append(("field", field) if field is not None else ("any", "*") if star else ("text", literal))
        fields = [name for kind, name in tokens if kind == "field"]
        if "".join(f"{{{name}}}" if kind == "field" else name for kind, name in tokens) != text or not fields:
            raise PatternError(f"pattern {text!r} has no field or an unpaired brace; write fields as {{zone}}")
        if unknown := [name for name in fields if name not in types]:
            raise PatternError(f"unknown field {{{unknown[0]}}} in the pattern; known: {', '.join(sorted(types))}")
        if repeated := [name for name in fields if fields.count(name) > 1 and name != "scenario"]:
            raise PatternError(f"{{{repeated[0]}}} occurs twice in the pattern; use * for one of them")
        if len(tokens) > 4 * MOST_FIELDS or len(fields) > MOST_FIELDS:
            raise PatternError(f"the pattern has more than {MOST_FIELDS} fields; shorten it")
        if joined := [after for (kind, _), (after_kind, after) in pairwise(tokens) if "text" not in (kind, after_kind)]:
            raise PatternError(f"nothing separates {{{joined[0]}}} from the field before it; put text between them")
        return cls(text, tuple(tokens), {name: types[name] for name in fields})

    def match(self, path: str) -> dict[str, str] | None:
        """Return the values of the fields for a path, or None if the pattern does not describe it."""
        if max(map(len, _SEPARATORS.split(path))) > _LONGEST_NAME:
            return None
        for start in (0, *(mark.end() for mark in _SEPARATORS.finditer(path))):
            if (values := _Matcher(self, path[start:]).match()) is not None:
                return values
        return None


class _Matcher:
    """Matches one text. Every pair of token and position is tried once, so the time is bounded."""

    def __init__(self, pattern: PathPattern, text: str) -> None:
        self.tokens, self.types, self.text = pattern.tokens, pattern.types, text
        self.failed: set[tuple[int, int]] = set()

    def match(self) -> dict[str, str] | None:
        """Return the values of the fields."""
        values: dict[str, str] = {}
        return values if self._from(0, 0, values) else None

    def _from(self, token: int, position: int, values: dict[str, str]) -> bool:
        if token == len(self.tokens):
            return position == len(self.text)
        if (token, position) in self.failed:
            return False
        kind, name = self.tokens[token]
        if kind == "text":
            if self.text.startswith(name, position) and self._from(token + 1, position + len(name), values):
                return True
        else:
            for end in self._ends(position, token):
                if self._from(token + 1, end, values):
                    if kind == "field":  # the parts that follow are known already
                        values[name] = "/".join([self.text[position:end], *([values[name]] if name in values else [])])
                    return True
        self.failed.add((token, position))
        return False

    def _ends(self, position: int, token: int) -> Sequence[int]:
        """Return where a field that starts at a position may end, the preferred end first."""
        (kind, name), *rest = self.tokens[token : token + 2]
        following = rest[0][1] if rest else ""
        mark = _SEPARATORS.search(self.text, position)
        last = mark.start() if mark else len(self.text)
        if kind == "any":
            return range(last, position - 1, -1)
        value = _ZONE_VALUE if name.endswith("zone") else _VALUES.get(self.types[name])
        ends = [
            end
            for end in range(last, position, -1)
            if self.text.startswith(following, end) and (not value or value.fullmatch(self.text, position, end))
        ]
        preferred = _PREFERRED.get(name.removeprefix("peer_"))
        if preferred is not None and (match := preferred.match(self.text, position, last)):
            ends.insert(0, match.end())
        return ends
