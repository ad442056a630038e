"""Frames or arrays -> one number a run, and the reasons why two sets of runs must not be compared.

The reasons are looked for before anything is computed: a half round trip beside a full one, ICMP beside TCP, zone
numbers of two subscriptions. Each is a stable code of `azlatency.stats.result.CODES`.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Sequence, Sized
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from azlatency.studies.path import Path

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd
    from numpy.typing import NDArray

    FloatArray = NDArray[np.float64]

#: Columns of `azlatency.studies.runs` that hold one number a run, in the order in which they are looked for.
VALUE_COLUMNS = {"median_ns": "ns", "mean_ns": "ns", "throughput": "bit/s", "retransmits": "count"}
#: What must be equal before two latencies are of one kind of packet (RFC 2681's Type-P) and of one test.
TYPE_P = ("tool", "test", "protocol", "message_bytes", "connections")
#: 1 µs: a smaller difference has no practical effect, whatever the percentage.
FLOOR_NS = 1000.0


@dataclass(frozen=True, slots=True)
class RunValues:
    """One finite number a run: ``values`` in ``unit``, the ``rounds`` they belong to, how many were ``missing``.

    ``endless``: how many of the missing are infinite, since most of the run's probes got no answer. ``run_ids``: the
    runs of the values, in their order, then the endless ones; empty where the input does not name its runs.
    """

    values: FloatArray
    rounds: tuple[Hashable, ...] | None
    missing: int
    unit: str
    column: str | None = None
    endless: int = 0
    run_ids: tuple[str, ...] = ()


def run_ids_of(data: object) -> tuple[str, ...]:
    """The run_id of each row of a frame or Series, from its column or its index; empty where it has neither."""
    if "run_id" in getattr(data, "columns", ()):
        return tuple(str(run_id) for run_id in data["run_id"])  # type: ignore[index]
    index = getattr(data, "index", None)
    named = getattr(index, "name", None) == "run_id"
    return tuple(str(run_id) for run_id in index) if named else ()  # type: ignore[union-attr]


def is_frame(data: object) -> bool:
    """Whether it is a frame, without importing pandas."""
    return hasattr(data, "columns") and hasattr(data, "groupby")


def floats(data: Any) -> FloatArray:
    """A one-dimensional float array; missing of any kind becomes NaN."""
    import numpy as np
    import pandas as pd

    if isinstance(data, pd.Series):
        return np.asarray(pd.to_numeric(data, errors="coerce").to_numpy(dtype="float64", na_value=np.nan))
    numbers = data if isinstance(data, Sequence | np.ndarray) else list(data)
    array = np.asarray([np.nan if each is None or each is pd.NA else each for each in numbers], dtype=float)
    return array.ravel()


def value_column(frame: pd.DataFrame, value: str | None = None) -> str:
    """The column with one number a run: ``value``, else the first of `VALUE_COLUMNS` that holds any number.

    Raises `KeyError` (with the columns there are) where there is none: a typing error, not a matter of the data.
    """
    if value is not None:
        if value not in frame.columns:
            raise KeyError(f"no column {value!r}; columns: {', '.join(map(str, frame.columns))}")
        return value
    for column in VALUE_COLUMNS:
        if column in frame.columns and (frame[column].notna().any() or not len(frame)):
            return column
    raise KeyError(f"name the column of run values (value=…); columns: {', '.join(map(str, frame.columns))}")


def unit_of(column: str | None) -> str:
    """The unit that the name of a column of the data set tells; empty where it tells none."""
    if column is None:
        return ""
    return VALUE_COLUMNS.get(column, "ns" if column.endswith("_ns") else "")


def run_values(data: Any, value: str | None = None, unit: str | None = None) -> RunValues:
    """One number a run from an array, a Series or a frame (column ``value``), NaN and infinite ones counted and left
    out. Rounds come from the frame's column ``round``, else from the position.
    """
    import numpy as np

    if is_frame(data):
        column = value_column(data, value)
        array = floats(data[column])
        rounds = _rounds(data)
        own_unit = unit_of(column)
    else:
        array, column = floats(data), None
        rounds = tuple(range(len(array)))
        own_unit = unit_of(getattr(data, "name", None)) if hasattr(data, "to_numpy") else ""
    good = np.isfinite(array)
    endless = np.isinf(array)
    ids = run_ids_of(data)
    used = [run_id for part in (good, endless) for run_id, chosen in zip(ids, part, strict=False) if chosen]
    kept = tuple(each for each, ok in zip(rounds, good, strict=True) if ok) if rounds is not None else None
    return RunValues(array[good], kept, int((~good).sum()), own_unit if unit is None else unit, column,
                     int(endless.sum()), tuple(dict.fromkeys(used)))  # fmt: skip


def _rounds(frame: pd.DataFrame) -> tuple[Hashable, ...] | None:
    if "round" not in frame.columns or frame["round"].isna().all():
        return None
    return tuple(None if missing else each for each, missing in zip(frame["round"], frame["round"].isna(), strict=True))


def by_round(values: RunValues, *, log: bool) -> dict[Hashable, float]:
    """The value of each round; several runs of one round are averaged (on the log scale: geometrically)."""
    import numpy as np

    groups: dict[Hashable, list[float]] = {}
    for each, number in zip(values.rounds or (None,) * len(values.values), values.values, strict=True):
        if each is not None:
            groups.setdefault(each, []).append(float(number))
    average = (lambda many: float(np.exp(np.mean(np.log(many))))) if log else (lambda many: float(np.mean(many)))
    return {each: average(many) for each, many in groups.items()}


def refusals(frames: Iterable[Any], value: str | None = None) -> tuple[str, ...]:
    """Codes of the reasons why these frames must not be compared or pooled; empty where there is none.

    ``unit_unknown``: a log does not say what it measured. ``unit_conflict``: one-way beside round trip, or half beside
    full in a column that is not the data set's (its ``…_ns`` columns are round trips whatever was printed).
    ``type_p_mismatch``: different tool, test, protocol, message size or connections. ``logical_zone``: zone numbers
    of several subscriptions without physical zones. ``path_unknown``: several runs of which no log names an end, so
    that they may be of any paths. ``loss_censored``: an infinite run value; nothing came back, so that it is the
    slowest run of all and cannot be left out.
    """
    every = [data if is_frame(data) or isinstance(data, Sized) else list(data) for data in frames]
    endless = ("loss_censored",) if any(_endless(data, value) for data in every) else ()
    parts = [data for data in every if is_frame(data)]
    if not parts:
        return endless
    column = value_column(parts[0], value)
    found = [*_unit_problems(parts, column)]
    if any(len(_known(parts, name)) > 1 for name in TYPE_P):
        found.append("type_p_mismatch")
    if _zones_are_logical(parts):
        found.append("logical_zone")
    if _of_unknown_ends(parts) > 1:
        found.append("path_unknown")
    return (*found, *endless)


def _of_unknown_ends(parts: Iterable[Any]) -> int:
    """How many runs have a path whose ends nobody named."""
    return sum(int((part["path"] == str(Path())).sum()) for part in parts if "path" in part.columns)


def _endless(data: Any, value: str | None) -> bool:
    """Whether a run value is infinite."""
    import numpy as np

    return bool(np.isinf(floats(data[value_column(data, value)] if is_frame(data) else data)).any())


def _known(parts: list[pd.DataFrame], column: str) -> set[Any]:
    """Distinct values of a column over all frames; missing ones say nothing."""
    return {each for part in parts if column in part.columns for each in part[column].dropna().unique()}


def _unit_problems(parts: list[pd.DataFrame], column: str) -> list[str]:
    printed = _known(parts, "printed_as")
    # `unit` is the unit of this column in a frame of metrics; other frames have none.
    conflict = len(_known(parts, "unit")) > 1 or ("one_way" in printed and len(printed) > 1)
    if not column.endswith("_ns"):
        conflict |= {"round_trip", "half_round_trip"} <= printed
    latency = unit_of(column) == "ns"
    codes = ["unit_unknown"] if "unknown" in printed and latency else []
    return [*codes, "unit_conflict"] if conflict else codes


def _zones_are_logical(parts: list[pd.DataFrame]) -> bool:
    if len(_known(parts, "subscription")) < 2:
        return False
    ends = (("zone", "physical_zone"), ("peer_zone", "peer_physical_zone"))
    for part in parts:
        for logical, physical in ends:
            if logical not in part.columns:
                continue
            zoned = part[part[logical].notna()]
            if len(zoned) and (physical not in part.columns or zoned[physical].isna().any()):
                return True
    return False


def parse_margin(margin: float | str) -> tuple[float, float]:
    """A practical margin as (relative, absolute in ns): ``0.05``, ``"5%"`` or ``"2 us"``.

    Raises `ValueError` for what is none of these, or is not positive.
    """
    import re

    from azlatency.logs.units import UnitError, nanoseconds

    relative, absolute = 0.0, 0.0
    if not isinstance(margin, str):
        relative = float(margin)
    elif found := re.fullmatch(r"\s*([0-9.]+)\s*%\s*", margin):
        relative = float(found[1]) / 100
    elif found := re.fullmatch(r"\s*([0-9.]+)\s*([a-zµμ]+)\s*", margin):
        try:
            absolute = float(nanoseconds(found[1], found[2]))
        except UnitError as error:
            raise ValueError(f"margin {margin!r}: {error}") from None
    if not (math.isfinite(relative) and (relative > 0 or absolute > 0)):
        raise ValueError(f"margin {margin!r}: write 0.05, '5%' or '2 us'")
    return relative, absolute


def effective_margin(margin: float | str, reference: float, unit: str, floor: float | None = None) -> float:
    """The relative margin at a reference value: the larger of the relative one and the absolute ``floor``.

    ``floor`` in ``unit``; by default 1 us for latencies in ns and none otherwise.
    """
    relative, absolute = parse_margin(margin)
    if absolute and unit != "ns":
        raise ValueError(f"margin {margin!r}: the values are not in ns")
    lowest = (FLOOR_NS if unit == "ns" else 0.0) if floor is None else floor
    return max(relative, max(absolute, lowest) / reference if reference > 0 else 0.0)
