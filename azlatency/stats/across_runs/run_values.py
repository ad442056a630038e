"""Run values: one number per run from a frame or an array, and reasons why runs must not be compared or pooled.

The reasons are checked before anything is computed: RTT/2 against RTT, ICMP against TCP, zone numbers of two
subscriptions. They are flags, see `azlatency.stats.result`.
"""

from __future__ import annotations

import math
import re
from collections.abc import Hashable, Iterable, Sequence, Sized
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from pandas.api.types import is_numeric_dtype

from azlatency.logs.grammar.units import UnitError, nanoseconds
from azlatency.logs.schema import refuse_foreign
from azlatency.stats.arrays import FloatArray
from azlatency.studies.format import count_of, did_you_mean, natural_key
from azlatency.studies.runs.key import differing
from azlatency.studies.runs.left_out import cut_in_words, is_incomplete

if TYPE_CHECKING:
    from typing_extensions import TypeIs

#: One number per run, or one row per run of `azlatency.latency` or `azlatency.throughput`.
RunData: TypeAlias = "Iterable[float] | NDArray[np.number] | pd.Series | pd.DataFrame | RunValues"

#: Where the order of measuring comes from: the caller, a column, the names of the files (assumed), or nowhere.
Order: TypeAlias = Literal["given", "started_at", "round", "file", "unknown"]
#: Columns of a run table with one number per run, in the order of preference.
VALUE_COLUMNS = ("median_ns", "mean_ns", "throughput_bit_s", "retransmits")
#: Columns of a run table that have a history, and the name of each as a metric.
METRICS = {
    "median_ns": "median", "mean_ns": "mean", "p99_ns": "p99", "throughput_bit_s": "goodput", "loss": "loss",
}  # fmt: skip
_UNITS = {"_ns": "ns", "_bit_s": "bit/s", "_bytes": "bytes", "n": "count", "received": "count", "retransmits": "count"}
# Columns that order the runs, that name them, and that say which ones count.
_OF_RUN = ("started_at", "round", "file", "first_line", "run_id", "other_end", "status", "assumed")
#: 1 µs: a smaller difference has no practical effect, even if it is a large percentage.
FLOOR_NS = 1000.0
#: Dates in names that do not begin with the year.
_DATE = re.compile(r"(?<!\d)(?P<one>\d{1,2})([-_.])(?P<two>\d{1,2})\2(?P<year>(?:19|20)\d\d)(?!\d)")
_MONTHS = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"]
_MONTH_AND_DAY = re.compile(rf"(?<![a-z])(?P<month>{'|'.join(_MONTHS)})[-_. ]?(?P<day>\d{{1,2}})(?!\d)", re.IGNORECASE)


@dataclass(frozen=True, slots=True, kw_only=True)
class RunValues:
    """One finite number per run, in ``unit``.

    ``missing`` counts values that are missing or infinite, ``endless`` the infinite ones: runs that lost most of their
    probes. ``run_ids`` are those of the values, then of the infinite ones; empty if the input does not name its runs.
    ``resolution`` is the largest step of the printed values, 0 if unknown. ``order``: where the order comes from, see
    `in_time_order`. ``assumed``: keys of `ASSUMED`; ``notes``: sentences about single runs.
    """

    values: FloatArray
    rounds: tuple[Hashable, ...] | None
    missing: int
    unit: str
    column: str | None = None
    endless: int = 0
    run_ids: tuple[str, ...] = ()
    resolution: float = 0.0
    order: Order = "given"
    assumed: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def in_order(self) -> bool:
        """Whether the values are in the order of measuring, which may be assumed."""
        return self.order != "unknown"

    @property
    def rounding_variance(self) -> float:
        """The variance that the rounding of the print adds to the logarithms of positive values."""
        return float((self.resolution / np.median(self.values)) ** 2 / 12)

    def take(self, values: Iterable[float]) -> RunValues:
        """Return other values with the same unit, resolution and order."""
        return replace(self, values=np.array(list(values), dtype=float), rounds=None, missing=0, endless=0)


def without_value(runs: int, column: str) -> tuple[str, ...]:
    """Return the note about runs that have no value in the column, if there are any."""
    name = "count" if column == "retransmits" else METRICS.get(column, column)
    return (f"{count_of(runs, 'run')} without a {name} left out",) if runs else ()


def run_ids_of(data: object) -> tuple[str, ...]:
    """Return the run_id of each row of a frame or Series, from its column or index; empty if it has neither.

    A missing one is an empty text.
    """
    if "run_id" in getattr(data, "columns", ()):
        run_ids = data["run_id"]  # type: ignore[index]
    else:
        index = getattr(data, "index", None)
        run_ids = index if getattr(index, "name", None) == "run_id" else ()
    return tuple("" if pd.isna(run_id) else str(run_id) for run_id in run_ids)


def is_frame(data: object) -> TypeIs[pd.DataFrame]:
    """Return whether the data are a frame, without importing pandas; raise `TypeError` for one of another library."""
    refuse_foreign(data)
    return hasattr(data, "columns") and hasattr(data, "groupby")


def floats(data: Iterable[float] | pd.Series) -> FloatArray:
    """Return a one-dimensional float array; missing values of any kind become NaN."""
    if isinstance(data, pd.Series):
        return np.asarray(pd.to_numeric(data, errors="coerce").to_numpy(dtype="float64", na_value=np.nan))
    numbers = data if isinstance(data, Sequence | np.ndarray) else list(data)
    array = np.asarray([np.nan if number is None or number is pd.NA else number for number in numbers], dtype=float)
    return array.ravel()


def check_columns(runs: object, *names: str) -> None:
    """Raise `TypeError` if the runs are not a frame, `KeyError` if it has rows and no such column."""
    if not is_frame(runs):
        raise TypeError(f"{type(runs).__name__} is not a frame of runs; pass az.latency(study) or az.throughput(study)")
    for name in names:
        if name not in runs.columns and len(runs):
            columns = [str(column) for column in runs.columns]
            hint = did_you_mean(name, columns, cutoff=0.6) or f"; the columns are {', '.join(columns)}"
            raise KeyError(f"unknown column {name!r}{hint}")


def check_numbers(frame: pd.DataFrame, *names: str) -> None:
    """Raise `TypeError` if one of these columns has texts."""
    for name in names:
        texts = [] if is_numeric_dtype(frame[name]) else [value for value in frame[name] if isinstance(value, str)]
        if texts:
            raise TypeError(f"column {name!r} has the text {texts[0]!r:.40}; make it numbers with pd.to_numeric")


def value_column(frame: pd.DataFrame, value: str | None = None) -> str:
    """Return the column with one number per run: ``value``, else the first of `VALUE_COLUMNS` that has any number.

    If no run has a number, as a ping has none whose replies all took "<1ms", it is the first of them. Raises `KeyError`
    if there is no such column; the message contains the most similar name, or all columns.
    """
    if value is not None:
        check_columns(frame, value)
        return value
    known = [column for column in VALUE_COLUMNS if column in frame.columns]
    if known:
        return next((column for column in known if frame[column].notna().any()), known[0])
    columns = ", ".join(map(str, frame.columns))
    raise KeyError(f"no value in any of {', '.join(VALUE_COLUMNS)}; name a column (value=…) of: {columns}")


def unit_of(column: str | None) -> str:
    """Return the canonical unit that a column name implies; empty if it implies none."""
    if column is None:
        return ""
    suffixes = (unit for suffix, unit in _UNITS.items() if suffix.startswith("_") and column.endswith(suffix))
    return _UNITS.get(column) or next(suffixes, "")


def run_values(data: RunData, value: str | None = None, unit: str | None = None) -> RunValues:
    """Return one number per run of an array, a Series or a frame (column ``value``); run values stay as they are.

    NaN and infinite values are counted and left out. Rounds come from the column ``round`` of a frame, else from the
    position. The runs of a frame are sorted by `in_time_order`; those of an array are taken as sorted.
    """
    if isinstance(data, RunValues):
        return data if unit is None else replace(data, unit=unit)
    resolution = 0.0
    order: Order = "given"
    assumed: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    if is_frame(data):
        assumed = tuple(sorted(code for text in _distinct([data], "assumed") for code in text.split()))
        data, notes = _complete(data)
        column = value_column(data, value)
        # To sort all columns of a run table takes several times longer; one run is in order.
        data, order = in_time_order(only_values(data, column) if len(data) > 1 else data)
        resolution = resolution_of(data, column)
        array = floats(data[column])
        if value is None:
            notes += without_value(int(np.isnan(array).sum()), column)
        rounds = _rounds(data)
        column_unit = unit_of(column)
    elif hasattr(data, "to_arrow"):  # a study or logs
        raise TypeError(f"{type(data).__name__} is not a frame of runs; pass az.latency(study) or az.throughput(study)")
    else:
        array, column = floats(data), None
        rounds = tuple(range(len(array)))
        column_unit = unit_of(getattr(data, "name", None)) if hasattr(data, "to_numpy") else ""
    finite = np.isfinite(array)
    infinite = np.isinf(array)
    ids = run_ids_of(data)
    used = [run_id for mask in (finite, infinite) for run_id, chosen in zip(ids, mask, strict=False) if chosen]
    if is_frame(data) and "other_end" in data.columns:
        # The log of the other end of a test is a source of its values, too.
        used += [str(run_id) for run_id in data["other_end"][data["other_end"].notna()]]
    kept = None if rounds is None else tuple(key for key, usable in zip(rounds, finite, strict=True) if usable)
    return RunValues(
        values=array[finite],
        rounds=kept,
        missing=int((~finite).sum()),
        unit=column_unit if unit is None else unit,
        column=column,
        endless=int(infinite.sum()),
        run_ids=tuple(dict.fromkeys(used)),
        resolution=resolution,
        order=order,
        assumed=assumed,
        notes=notes,
    )


def only_values(runs: pd.DataFrame, column: str) -> pd.DataFrame:
    """Return the columns that `run_values` reads, without those that only `refusals` does."""
    used = {column, resolution_column(column), *_OF_RUN}
    return runs[[name for name in runs.columns if name in used]]


def _complete(runs: pd.DataFrame) -> tuple[pd.DataFrame, tuple[str, ...]]:
    """Return the complete ones of several runs, with a sentence that names the others; all if none is complete."""
    if len(runs) < 2 or "status" not in runs.columns:
        return runs, ()
    cut = is_incomplete(runs)
    if not cut.any() or cut.all():
        return runs, ()
    return runs[~cut], cut_in_words(runs[cut])


def in_time_order(runs: pd.DataFrame) -> tuple[pd.DataFrame, Order]:
    """Return the runs of one path and method in the order of measuring, and where that order comes from.

    ``started_at`` or else the number in ``round``, if all runs have a different one; else the names of their files (2
    before 10), whose order is assumed to be that of measuring. Rows without ``file`` stay as they are, in an unknown
    order.
    """
    columns: tuple[Order, ...] = ("started_at", "round")
    for column in columns:
        if column not in runs.columns or not len(runs) or runs[column].isna().any() or not runs[column].is_unique:
            continue
        if column == "started_at" or pd.api.types.is_numeric_dtype(runs[column].infer_objects()):
            return _sorted(runs, [column]), column
    if "file" not in runs.columns:
        return runs, "unknown"
    lines = ["first_line"] if "first_line" in runs.columns else []
    return _sorted(runs, ["file", *lines]), "file"


def _sorted(runs: pd.DataFrame, columns: list[str]) -> pd.DataFrame:
    # A study of many paths has one run of each.
    return runs.sort_values(columns, kind="stable", key=_natural) if len(runs) > 1 else runs


def _natural(column: pd.Series) -> pd.Series:
    return _dates_first(column.astype(str)).map(natural_key) if column.name == "file" else column


def _dates_first(names: pd.Series) -> pd.Series:
    """Return names with the dates that all of them have in an order of their own: ``31-01-2026``, ``Jan31``."""
    dates = [_DATE.search(name) for name in names]
    # The month comes first in "01-31-2026".
    month, day = ("one", "two") if any(date and int(date["two"]) > 12 for date in dates) else ("two", "one")
    if all(dates):
        return names.map(lambda name: _DATE.sub(lambda date: f"{date['year']}-{date[month]:0>2}-{date[day]:0>2}", name))
    if all(map(_MONTH_AND_DAY.search, names)):
        return names.map(lambda name: _MONTH_AND_DAY.sub(_month_and_day, name))
    return names


def _month_and_day(match: re.Match[str]) -> str:
    return f"{_MONTHS.index(match['month'][:3].casefold()) + 1:02}-{match['day']:0>2}"


def sorted_rounds(rounds: Sequence[Hashable]) -> tuple[Sequence[Hashable], bool]:
    """Return the rounds in their order, and whether they have one."""
    try:
        return sorted(rounds), True  # type: ignore[type-var]
    except TypeError:
        return rounds, False


def resolution_of(frame: pd.DataFrame, column: str) -> float:
    """Return the largest known step of the printed values."""
    name = resolution_column(column)
    steps = floats(frame[name]) if name in frame.columns else ()
    return max((float(step) for step in steps if math.isfinite(step)), default=0.0)


def resolution_column(column: str) -> str:
    """Return the name of the column with the resolutions of a column."""
    return f"{column}_resolution"


def _rounds(frame: pd.DataFrame) -> tuple[Hashable, ...] | None:
    if "round" not in frame.columns or frame["round"].isna().all():
        return None
    return tuple(None if missing else key for key, missing in zip(frame["round"], frame["round"].isna(), strict=True))


def in_rounds(values: RunValues) -> dict[Hashable, float]:
    """Return the value of each round; several positive values of a round are averaged on the logarithmic scale."""
    groups: dict[Hashable, list[float]] = {}
    for key, number in zip(values.rounds or (None,) * len(values.values), values.values, strict=True):
        if key is not None:
            groups.setdefault(key, []).append(number)
    return {key: geometric_mean(numbers) for key, numbers in groups.items()}


def geometric_mean(values: Iterable[float]) -> float:
    """Return the geometric mean of positive values."""
    logs = [math.log(value) for value in values]
    return math.exp(math.fsum(logs) / len(logs))


def refusals(frames: Iterable[RunData], value: str | None = None, across: Sequence[str] = ()) -> tuple[str, ...]:
    """Return the flags of the reasons why these runs must not be compared or pooled; empty if there is no reason.

    `FLAGS` says what each of them means. Fields of the key (`azlatency.key`) in ``across`` may differ.
    """
    unnamed = [data.values if isinstance(data, RunValues) else data for data in frames]
    sides = [data if is_frame(data) or isinstance(data, Sized) else list(data) for data in unnamed]
    # A run that lost most of its probes is the slowest, so it cannot be left out.
    values = (floats(data[value_column(data, value)] if is_frame(data) else data) for data in sides)
    endless = ("loss_censored",) if any(np.isinf(numbers).any() for numbers in values) else ()
    repeated = ("duplicate_runs",) if any(map(_has_duplicates, sides)) else ()
    parts = [data for data in sides if is_frame(data)]
    if not parts:
        return (*repeated, *endless)
    column = value_column(parts[0], value)
    flags = [*repeated, *_unit_problems(parts, column)]
    if differing(parts, across):
        flags.append("type_p_mismatch")
    if column == "throughput_bit_s" and len(_distinct(parts, "side")) > 1:
        flags.append("sender_only")
    rows = sum(map(len, parts))
    flags += sorted({flag for text in _distinct(parts, "unknown") for flag in text.split()}) if rows > 1 else []
    if _zones_are_logical(parts):
        flags.append("logical_zone")
    if any("path" in part.columns and len(_distinct([part], "path")) > 1 for part in parts):
        flags.append("mixed_paths")
    if any("status" in part.columns and len(part) and is_incomplete(part).all() for part in parts):
        flags.append("incomplete_runs")
    return (*flags, *endless)


def _has_duplicates(data: object) -> bool:
    """Return whether two rows are of one run."""
    run_ids = [run_id for run_id in run_ids_of(data) if run_id]
    return len(set(run_ids)) < len(run_ids)


def _distinct(parts: list[pd.DataFrame], column: str) -> set[Any]:
    """Return the distinct values of a column over all frames, without missing values."""
    # Series.dropna takes ten times as long as all the rest, for the few rows of a path.
    distinct = (entry for part in parts if column in part.columns for entry in part[column].unique())
    return {entry for entry in distinct if not pd.isna(entry)}


def _unit_problems(parts: list[pd.DataFrame], column: str) -> list[str]:
    printed = _distinct(parts, "printed_as")
    # `unit` is the unit of this column in a frame of metrics; other frames have none.
    conflict = len(_distinct(parts, "unit")) > 1 or ("one_way" in printed and len(printed) > 1)
    if not column.endswith("_ns"):  # those are round trips, whatever the tool printed
        conflict |= {"round_trip", "half_round_trip"} <= printed
    latency = unit_of(column) == "ns"
    flags = ["unit_unknown"] if "unknown" in printed and latency else []
    return [*flags, "unit_conflict"] if conflict else flags


def _zones_are_logical(parts: list[pd.DataFrame]) -> bool:
    if len(_distinct(parts, "subscription")) < 2:
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
    """Return a practical margin as (relative, absolute in ns): ``0.05``, ``"0.05"``, ``"5%"`` or ``"2 us"``.

    Raises `ValueError` if the margin has another form or is not positive.
    """
    relative, absolute = 0.0, 0.0
    if not isinstance(margin, str):
        relative = float(margin)
    elif match := re.fullmatch(r"\s*([0-9.]+)\s*%\s*", margin):
        relative = float(match[1]) / 100
    elif match := re.fullmatch(r"\s*([0-9.]+)\s*([a-zµμ]+)\s*", margin):
        try:
            absolute = float(nanoseconds(match[1], match[2]))
        except UnitError as error:
            raise ValueError(f"margin {margin!r}: {error}") from None
    elif re.fullmatch(r"\s*0?\.[0-9]+\s*", margin):  # "5" may mean 5 %
        relative = float(margin)
    if not (math.isfinite(relative) and (relative > 0 or absolute > 0)):
        raise ValueError(f"margin {margin!r}: write 0.05, '5%' or '2 us'")
    return relative, absolute


def parse_fraction(value: float | str) -> float:
    """Return a fraction that is a number or a text: ``0.05``, ``"0.05"`` or ``"5%"``; else raise `ValueError`."""
    if not isinstance(value, str):
        return value
    try:
        relative, absolute = parse_margin(value)
    except ValueError:
        relative, absolute = 0.0, 0.0
    if absolute or not relative:
        raise ValueError(f"{value!r} is not a fraction; write '5%' or 0.05")
    return relative


def effective_margin(margin: float | str, reference: float, unit: str, floor: float | None = None) -> float:
    """Return the relative margin at a reference value: at least the absolute ``floor``.

    ``floor`` is in ``unit``; by default 1 µs for latencies in ns and 0 otherwise.
    """
    relative, absolute = parse_margin(margin)
    if absolute and unit != "ns":
        raise ValueError(f"margin {margin!r}: the values are not in ns; use a relative margin")
    lowest = (FLOOR_NS if unit == "ns" else 0.0) if floor is None else floor
    return max(relative, max(absolute, lowest) / reference if reference > 0 else 0.0)
