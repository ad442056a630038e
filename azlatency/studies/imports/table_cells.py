"""The cells of a table of measurements as numbers, ends and times; what cannot be used says why, and what to write."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from itertools import chain, pairwise

from azlatency.logs.grammar.units import Quantity, UnitError, canonical_unit, count, quantity
from azlatency.logs.record import Row
from azlatency.studies.manifest.manifest import check_placement, typed
from azlatency.studies.manifest.measured_table import ENDS, MOMENTS, RATES, MeasuredTable, unit_in_words
from azlatency.studies.manifest.table_rows import CELL, DATE, LONGEST_CELL
from azlatency.studies.store.own_files import ManifestError

#: What people write where nothing was measured.
_NOTHING = frozenset({
    "", "-", "–", "—", "n/a", "na", "nan", "null", "none", ".", "k. a.", "k.a.", "#n/a", "#div/0!", "#value!", "tbd",
})  # fmt: skip
_SEPARATED = re.compile(r"[.,'\u00a0\u202f ]")
#: Thousands are separated by one sign, in groups of three; 0.812 has none.
_THOUSANDS = re.compile(r"[+-]?[1-9]\d{0,2}(?P<sign>[.,'\u00a0\u202f ])\d{3}(?:(?P=sign)\d{3})*")
_EXPONENT = re.compile(r"[eE][+-]?\d{1,3}$")
_ISO = re.compile(rf"{DATE.pattern}(?:[T ]\d\d:\d\d(?::\d\d(?:[.,]\d{{1,9}})?)?(?:Z|[+-]\d\d:?\d\d)?)?")
#: A month, and a week of ISO 8601.
_MONTH, _WEEK = re.compile(r"\d{4}-\d\d"), re.compile(r"\d{4}-W\d\d")
#: Rows and columns of a table that hold what was computed from the others.
_COMPUTED = frozenset({
    "average", "avg", "mean", "median", "total", "sum", "min", "max", "all", "ø", "durchschnitt", "mittelwert", "summe",
})  # fmt: skip
_ENDS = frozenset(chain.from_iterable(ENDS))
_LONGEST_NAME = 500
#: A year outside of these is a typing error.
_YEARS = range(1980, 2100)
_DAY = timedelta(days=1)
#: Of numbers of one path, or of one row, that are so many times apart one may be in another unit.
THOUSAND = (500, 2000)
#: The same of different paths, if these are between zones of one region.
APART_IN_REGION = (100, 10_000)


class CellError(ValueError):
    """A cell that cannot be used; ``kind`` says why without the cell, so that many are told as one."""

    def __init__(self, kind: str, what: str) -> None:
        super().__init__(what)
        self.kind = kind


def is_empty(cell: str) -> bool:
    """Return whether a cell says that nothing was measured."""
    return cell.casefold() in _NOTHING


def _is_unit(text: str) -> bool:
    """Return whether a text is nothing but a unit, as in a second row of headings."""
    try:
        return text[:1].isalpha() and len(text) <= LONGEST_CELL and bool(canonical_unit(unit_in_words(text)))
    except UnitError:
        return False


def number_in(cell: str, name: str, heading: str, table: MeasuredTable, *, asks_point: bool = False) -> Quantity | None:
    """Return the number of a cell, None for an empty one and for a unit below a heading; else raise `CellError`.

    ``asks_point``: a point before three digits may separate thousands, as a comma always may.
    """
    if is_empty(cell) or _is_unit(cell.strip("[]() ")):
        return None
    match = CELL.fullmatch(cell) if len(cell) <= LONGEST_CELL else None
    if match is None:
        raise CellError(f"text {name}", f"{cell!r:.60} is no number ({name}); correct the cell or empty it")
    if asks_point and not table.decimal and "." in match["number"] and _THOUSANDS.fullmatch(match["number"]):
        raise CellError("decimal", _which_sign("point", cell, ".", ",", table))
    token = _token(match["number"], cell, table)
    if name == "observations":
        try:
            return count(token)
        except UnitError:
            raise CellError(f"count {name}", f"{cell!r} is no whole number ({name}); correct it") from None
    wanted = "bit/s" if name in RATES else "fraction" if name == "loss" else "ns"
    key = "rate_unit" if wanted == "bit/s" else "unit"
    said = {"bit/s": table.rate_unit, "ns": table.unit, "fraction": "%" if "%" in heading else "1"}[wanted]
    unit = unit_in_words(match["unit"] or "") or said
    if not unit:
        example = "Gbit/s" if wanted == "bit/s" else "ms"
        raise CellError(f"unit {name}", f'no unit of {name}: write it as in {key} = "{example}" into {table.place}')
    try:
        if canonical_unit(unit) != wanted:
            raise UnitError
        found = quantity(token, unit)._replace(printed=match["number"])
    except UnitError:
        raise CellError(f"unit {name}", f"{cell!r} is no {name} with a known unit; correct the cell") from None
    if found.value < 0 or (wanted != "fraction" and found.value == 0) or (wanted == "fraction" and found.value > 1):
        bounds = "between 0 and 1, or 0 % and 100 %" if wanted == "fraction" else "above 0"
        raise CellError(f"sign {name}", f"{cell!r} is no {name}: it must be {bounds}; correct or empty the cell")
    if wanted == "ns" and table.step and unit == said:
        found = found.with_resolution(quantity(table.step, unit).value / 2)
    return found if wanted != "ns" or table.factor == 1 else found.doubled()


def _which_sign(name: str, cell: str, sign: str, other: str, table: MeasuredTable) -> str:
    text = f'is the {name} in {cell!r} the decimal sign? Write decimal = "{sign}" into {table.place}'
    return f'{text}, or decimal = "{other}" if it separates thousands'


def _token(number: str, cell: str, table: MeasuredTable) -> str:
    """Return a number with a point as its decimal sign, and without separators of thousands."""
    if "," in number and not table.decimal:
        raise CellError("decimal", _which_sign("comma", cell, ",", ".", table))
    point = table.decimal or "."
    exponent = _EXPONENT.search(number)
    mantissa = number[: exponent.start()] if exponent else number
    whole, _, rest = mantissa.partition(point)
    digits = _SEPARATED.sub("", whole) if _THOUSANDS.fullmatch(whole) else whole
    if not re.fullmatch(r"[+-]?\d*", digits) or not re.fullmatch(r"\d*", rest) or not (digits.strip("+-") or rest):
        raise CellError("digits", f"{cell!r} is no number with the decimal sign {point!r}; correct the cell")
    return (f"{digits or 0}.{rest}" if rest else digits) + (exponent[0] if exponent else "")


def check_order(numbers: dict[str, Quantity]) -> None:
    """Raise `CellError` if the numbers of a row cannot be of one distribution, or seem to have different units."""
    percentiles = sorted((name for name in numbers if name.startswith("rtt_p")), key=lambda name: float(name[5:]))
    chains = ["rtt_min", "rtt_median", *percentiles, "rtt_max"], ["rtt_min", "rtt_mean", "rtt_max"]
    for below, above in chain(*(pairwise([name for name in names if name in numbers]) for names in chains)):
        if numbers[below].value > numbers[above].value:
            printed = f"{below} {numbers[below].printed} is above {above} {numbers[above].printed}"
            raise CellError("order", f"{printed}: correct the row, or columns")
    means = [name for name in numbers if name in ("rtt_mean", "rtt_median", "rtt_p99", "rtt_p95", "rtt_p90")]
    if means:
        low, high = (pick(means, key=lambda name: numbers[name].value) for pick in (min, max))
        if seem_other_units(numbers[low].value, numbers[high].value):
            printed = f"{low} {numbers[low].printed} and {high} {numbers[high].printed}"
            raise CellError("units", f"{printed} are a thousand times apart: write the unit into each cell")


def seem_other_units(one: float, other: float, apart: tuple[int, int] = THOUSAND) -> bool:
    """Return whether two times are about a thousand times apart, as milliseconds and microseconds are."""
    low, high = sorted((one, other))
    return low > 0 and apart[0] < high / low < apart[1]


def fields_of(texts: dict[str, str], table: MeasuredTable) -> Row:
    """Return the columns of the run that a row says: its ends, and when it began; raise `CellError`."""
    fields: Row = {}
    for name, text in texts.items():
        if "\n" in text:
            raise CellError("break", f"a line break in {name}: a quotation mark is missing, or one too many")
        if len(text) > _LONGEST_NAME:
            raise CellError("long", f"{name} has {len(text)} characters, more than {_LONGEST_NAME}; shorten it")
        if name in _ENDS and text.casefold() in _COMPUTED:
            raise CellError("computed", f"{text!r} ({name}) is no end of a path; delete the row, or the column")
        if name not in table.numbers and name not in MOMENTS and not is_empty(text):
            try:
                fields[name] = typed("", name, text)
                check_placement("", fields.get("placement"))
            except ManifestError as error:
                raise CellError("field", str(error).removeprefix(": ")) from None
    if missing := [name for pair in ENDS for name in pair if name in texts and name not in fields]:
        raise CellError(f"end {missing[0]}", f"{missing[0]} is empty: each row needs both ends; complete or delete it")
    if table.is_of_regions:  # a region that is measured from inside is a path, too
        fields |= {"client": fields["region"], "server": fields["peer_region"]}
    if moment := table.moment or next(((name, texts[name]) for name in MOMENTS if name in texts), None):
        name, text = moment
        if is_empty(text):
            raise CellError("no time", f"{name} is empty: complete it, or delete the row")
        fields["started_at"] = start_of(text, table, is_end=name == "ended_at")
    if table.window_s:
        fields["duration_ns"] = round(table.window_s * 1e9)
    return fields


def start_of(text: str, table: MeasuredTable, *, is_end: bool) -> datetime:
    """Return when a window began, in UTC if the text names no zone: a month and a week with their first day.

    A date as the end of a window is the end of that day; without a window, it is the day itself.
    """
    is_long = not table.time_format and bool(_MONTH.fullmatch(text) or _WEEK.fullmatch(text))
    if is_long and is_end:
        raise CellError("time", f"{text!r} is no day on which a window ended; name it started_at in {table.place}")
    try:
        if table.time_format:
            moment = datetime.strptime(text, table.time_format)
            is_date = not re.search(r"%[HIMSpcXTs]", table.time_format)
        elif is_long or _ISO.fullmatch(text):
            day = f"{text}-01" if _MONTH.fullmatch(text) else text.replace(",", ".")
            moment, is_date = datetime.fromisoformat(day), DATE.fullmatch(text) is not None
        else:
            raise ValueError
        moment = moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)
    except (ValueError, OverflowError):
        raise CellError("time", _no_date(text, table)) from None
    if moment.year not in _YEARS:
        raise CellError("year", f"the year of {text!r:.40} is not between {_YEARS[0]} and {_YEARS[-1]}; correct it")
    if not is_end or not table.window_s:
        return moment
    return moment + (_DAY if is_date else timedelta()) - timedelta(seconds=table.window_s)


def _no_date(text: str, table: MeasuredTable) -> str:
    """Say that a text, which may be a heading, is no date, and what to do."""
    if any(table.columns.get(name) == "column" for name in MOMENTS):
        return (
            f"the heading {text!r:.40} is no date: add it to columns, delete it, or write time_format in {table.place}"
        )
    expected = f"of the form {table.time_format!r} (time_format)" if table.time_format else "of the form 2026-01-31"
    example = 'time_format = "%d.%m.%Y"'
    how = f"correct it, or say how dates are written, day and year included, as in {example} in {table.place}"
    return f"{text!r:.40} is no date {expected}; {how}"
