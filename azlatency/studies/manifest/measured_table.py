"""``[[table]]`` of ``study.toml``: a CSV file of measurements that somebody else computed, each row a run.

    [[table]]
    file = "zones.csv"
    columns = {ended_at = "week", zone = "from", peer_zone = "to", rtt_mean = "average RTT"}
    unit = "ms"
    step = "0.01"                # spreadsheets drop the zeros at the end: 1.40 ms becomes 1.4
    round_trip = true            # false: the numbers are half round trips
    window = "30 d"              # each number is about this time; windows that overlap are not independent

``columns`` says which column holds what, by its heading or its number (from 1).
"""

from __future__ import annotations

import hashlib
import json
import re
from dataclasses import asdict, dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from azlatency.logs.grammar.units import UnitError, canonical_unit
from azlatency.studies.format import did_you_mean, join_words
from azlatency.studies.store.own_files import ManifestError

#: How the text of a description begins, where otherwise the tool of a log stands.
MARK = "[[table]] "
#: The code that decides what is read of a table, below the folder ``studies``.
_READERS = (
    "manifest/measured_table.py", "manifest/table_rows.py", "imports/measured_table.py", "imports/table_cells.py",
)  # fmt: skip
#: Moments of a row: when the measurement, or its window, began or ended.
MOMENTS = ("started_at", "ended_at")
_TIMES = {"s": 1, "min": 60, "h": 3600, "d": 86_400, "w": 604_800}
_WINDOW = re.compile(rf"(?P<number>[1-9]\d{{0,5}}(?:\.\d{{1,3}})?|0\.\d{{0,2}}[1-9]) ?(?P<unit>{'|'.join(_TIMES)})")
_QUANTILE = re.compile(r"rtt_p(?P<percent>\d{1,2}(?:\.\d{1,6})?)")
#: The two ends of a path.
ENDS = (
    ("client", "server"), ("region", "peer_region"), ("zone", "peer_zone"), ("physical_zone", "peer_physical_zone"),
)  # fmt: skip
#: Rates that a column may hold, by the end that counted.
RATES = {"throughput": "receiver", "throughput_sender": "sender"}
#: Numbers besides quantiles that a column may hold.
_METRICS = frozenset({"rtt_mean", "rtt_median", "rtt_min", "rtt_max", "loss", "observations", *RATES})
_KEYS = {
    "file": str, "columns": dict, "unit": str, "rate_unit": str, "round_trip": bool, "window": str, "tool": str,
    "test": str, "protocol": str, "decimal": str, "headings": int, "time_format": str, "same_both_ways": bool,
    "step": str, "matrix": bool, "started_at": str, "ended_at": str,
}  # fmt: skip
#: Those that are kept as they are written, and how some of them must be written.
_AS_WRITTEN = ("tool", "test", "protocol", "step", "headings", "decimal", "time_format", "same_both_ways", "matrix")
_FORMS = (
    ("decimal", r"[.,]?", '"," or decimal = "."'),
    ("headings", r"[1-9]\d{0,6}|", "2, the line of the headings"),
    ("time_format", r"|.*%(?:[dDFcx]|-d|e).*|.*%j.*", '"%d.%m.%Y", with day and year'),
    ("step", r"|0\.\d{0,9}[1-9]|[1-9]\d{0,9}", '"0.01"'),
    ("window", f"|{_WINDOW.pattern}", '"30 d"'),
)
_SHOWN = "file, columns, unit, round_trip, window and others; see docs/your-own-table.md"


@dataclass(frozen=True)
class MeasuredTable:
    """What the columns of a table of measurements mean.

    ``place``: ``study.toml:LINE``, for messages. ``columns``: heading, or number from 1, of the column of each key of a
    run, of ``started_at`` or ``ended_at``, and of each number. ``unit``, ``rate_unit``: of times and of rates without
    one of their own; empty if each cell has its unit. ``step``: in which times are printed, in ``unit``; empty if each
    number has the digits that are known. ``moment``: ``started_at`` or ``ended_at`` of all rows and its text, if no
    column holds it. ``factor``: what a printed time is multiplied with, 2 for a half round trip. ``window_s``:
    length of the time in seconds that each number is about; 0 if it is not said. ``headings``: their line, from 1.
    ``decimal``: the decimal sign; empty if it is not said. ``time_format``: how times are written, as for ``strptime``;
    empty for ISO 8601. ``same_both_ways``: A → B and B → A are one number that is printed twice.
    ``matrix``: each cell below a heading is a run, and the heading is an end or a time; the columns are then ``row``
    (the first cell of its row), ``column``, ``cell`` and those that have a heading of their own.
    """

    place: str
    columns: dict[str, str | int]
    tool: str = "table"
    test: str | None = None
    protocol: str | None = None
    unit: str = ""
    rate_unit: str = ""
    step: str = ""
    moment: tuple[str, str] | None = None
    factor: int = 1
    window_s: float = 0.0
    headings: int = 1
    decimal: str = ""
    time_format: str = ""
    same_both_ways: bool = False
    matrix: bool = False
    numbers: tuple[str, ...] = field(default=())

    @property
    def as_text(self) -> str:
        """The description as one line, which `from_text` reads; a change of it makes an import out of date."""
        return MARK + json.dumps(asdict(self) | {"code": _code()}, sort_keys=True)

    @classmethod
    def from_text(cls, text: str) -> MeasuredTable:
        """Return the description that `as_text` wrote."""
        content = json.loads(text.removeprefix(MARK))
        del content["code"]
        moment = content["moment"] and tuple(content["moment"])
        return cls(**content | {"numbers": tuple(content["numbers"]), "moment": moment})

    @property
    def tool_of_runs(self) -> str:
        """The tool of its runs, which are never pooled with those of a log: ``netperf (table)``."""
        return "table" if self.tool == "table" else f"{self.tool} (table)"

    @property
    def is_of_regions(self) -> bool:
        """Whether regions are the ends of its paths."""
        return "peer_region" in self.columns and not {"client", "zone", "physical_zone"} & set(self.columns)

    @property
    def columns_beside_matrix(self) -> list[str]:
        """The headings of the columns that are no cells of the matrix."""
        return [str(name) for name in self.columns.values() if name not in ("row", "column", "cell")]

    @property
    def settings(self) -> str:
        """What tells its runs from means over another time; see `azlatency.logs.grammar.command_line.settings_of`."""
        return f"period {_time_text(self.window_s)}" if self.window_s else "period none"


@cache
def _code() -> str:
    """Return a digest of the code that reads tables, so that an import detects outdated rows."""
    studies = Path(__file__).parents[1]
    return hashlib.sha256(b"".join((studies / file).read_bytes() for file in _READERS)).hexdigest()[:8]


def _time_text(seconds: float) -> str:
    unit, length = next((name, size) for name, size in reversed(_TIMES.items()) if seconds % size == 0 or size == 1)
    return f"{seconds / length:g} {unit}"


def quantile_of(name: str) -> float | None:
    """Return the share of ``rtt_p99`` or ``rtt_median``; None for other numbers."""
    if name == "rtt_median":
        return 0.5
    match = _QUANTILE.fullmatch(name)
    return None if match is None else float(match["percent"]) / 100


def unit_in_words(unit: str) -> str:
    """Return the unit as the library spells it: ``Gbit/s`` is its ``Gbps``."""
    return re.sub(r"^k(?=bps)", "K", re.sub(r"bit/s$|b/s$", "bps", unit.strip()))


def measured_table(place: str, raw: dict[str, Any], run_keys: frozenset[str]) -> tuple[str, MeasuredTable]:
    """Return the file that a ``[[table]]`` names, and what it says; raise `ManifestError` for what is missing."""
    for key, value in raw.items():
        if key not in _KEYS:
            raise ManifestError(f"{place}: unknown key {key!r} in [[table]]{did_you_mean(key, _KEYS)}; known: {_SHOWN}")
        if not isinstance(value, _KEYS[key]) or isinstance(value, bool) is not (_KEYS[key] is bool):
            raise ManifestError(f"{place}: {key} = {value!r:.60} is not of type {_KEYS[key].__name__}; correct it")
    columns = raw.get("columns", {})
    if "file" not in raw or not columns:
        example = 'columns = {zone = "from", peer_zone = "to", rtt_mean = "RTT"}'
        raise ManifestError(f'{place}: [[table]] needs file = "…" and {example}; azlatency check FILE drafts them')
    numbers = _numbers(place, columns, run_keys, matrix=raw.get("matrix", False))
    units = {key: unit_in_words(raw.get(key, "")) for key in ("unit", "rate_unit")}
    for key, canonical in (("unit", "ns"), ("rate_unit", "bit/s")):
        _check_unit(place, key, units[key], canonical)
    if any(name.startswith("rtt_") for name in numbers) and "round_trip" not in raw:
        raise ManifestError(
            f"{place}: are the times round trips? Write round_trip = true, or false if they are half round trips"
        )
    moments = [name for name in MOMENTS for said in (columns, raw) if name in said]
    if "window" in raw and not moments:
        raise ManifestError(f"{place}: window needs started_at or ended_at in columns: else nobody knows which overlap")
    if len(moments) > 1:
        raise ManifestError(f"{place}: {join_words(moments)}; keep one, and say the length with window")
    for key, pattern, example in _FORMS:
        if not re.fullmatch(pattern, str(raw.get(key, ""))):
            raise ManifestError(f"{place}: {key} = {raw[key]!r:.40}; write it as in {key} = {example}")
    window = _WINDOW.fullmatch(raw.get("window", ""))
    as_written: dict[str, Any] = {key: raw[key] for key in _AS_WRITTEN if key in raw}
    return raw["file"], MeasuredTable(
        place=place.rpartition("/")[2],
        columns=columns,
        unit=units["unit"],
        rate_unit=units["rate_unit"],
        factor=1 if raw.get("round_trip", True) else 2,
        moment=next(((name, raw[name]) for name in moments if name in raw), None),
        window_s=0.0 if window is None else float(window["number"]) * _TIMES[window["unit"]],
        numbers=numbers,
        **as_written,
    )


def _numbers(place: str, columns: dict[str, Any], run_keys: frozenset[str], *, matrix: bool) -> tuple[str, ...]:
    """Return which columns hold numbers; raise `ManifestError` for a wrong column, or none."""
    numbers = tuple(name for name in columns if name in _METRICS or quantile_of(name) is not None)
    known = {*run_keys, *MOMENTS, *_METRICS}
    for name, heading in columns.items():
        if name not in known and name not in numbers:
            raise ManifestError(
                f"{place}: {name!r} is no key of a run and no number{did_you_mean(name, known)}; numbers are rtt_mean, "
                "rtt_median, rtt_p99, throughput and others"
            )
        if isinstance(heading, bool) or not isinstance(heading, str | int):
            raise ManifestError(f"{place}: the column of {name} is {heading!r:.60}; write its heading, or its number")
        if matrix and isinstance(heading, int):
            raise ManifestError(f'{place}: the column of {name} is {heading}; of a matrix, write its heading or "row"')
    if not numbers:
        raise ManifestError(f"{place}: no column holds a number, such as rtt_mean, rtt_p99 or throughput; add it")
    if not any(name in ("rtt_mean", "rtt_median", *RATES) or quantile_of(name) == 0.5 for name in numbers):
        raise ManifestError(f"{place}: beside {numbers[0]}, a table needs rtt_mean, rtt_median or throughput; add it")
    levels = [level for level in map(quantile_of, numbers) if level is not None]
    if len(set(levels)) < len(levels):
        raise ManifestError(f"{place}: two columns hold one percentile; keep one")
    _check_ends(place, columns)
    return numbers


def _check_ends(place: str, columns: dict[str, Any]) -> None:
    """Raise `ManifestError` unless both ends of the paths are said, or a scenario that names them."""
    for one, peer in ENDS:
        if (peer in columns and one not in columns) or (
            columns.get(one) is not None and columns.get(one) == columns.get(peer)
        ):
            raise ManifestError(f"{place}: {one} and {peer} are the two ends of a path; name a column for each")
    if "scenario" not in columns and not any(peer in columns for _, peer in ENDS):
        raise ManifestError(
            f"{place}: columns do not say the ends of a path; add client and server, zone and peer_zone, or region and "
            "peer_region; or scenario, if a name stands for both"
        )


def _check_unit(place: str, key: str, unit: str, canonical: str) -> None:
    example = {"ns": "ms", "bit/s": "Gbit/s"}[canonical]
    try:
        is_right = not unit or canonical_unit(unit) == canonical
    except UnitError:
        is_right = False
    if not is_right:
        raise ManifestError(f'{place}: {key} = {unit!r:.20} is not known; write it as in {key} = "{example}"')
