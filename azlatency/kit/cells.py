"""Tables that are declared once: typed rows, columns with a format and a unit, and where each number comes from."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from html import escape
from itertools import accumulate
from pathlib import Path
from typing import Any, Literal, NamedTuple, Protocol

import pandas as pd

from azlatency.kit.latex import table_latex
from azlatency.studies.format import escape_formula, fitting_unit

#: A row of a table: that of a frame, by the names of its columns.
Row = dict[str, Any]

#: Ends the note below numbers that follow from a formula and its parameters only.
NO_LOG = "no log is behind"
#: Rows of a long table that are shown at first.
FIRST_ROWS = 20
#: Characters above which a cell may be broken into lines, and columns above which a table is set closer.
_LONG_CELL, _MANY_COLUMNS = 36, 6
#: A small number with an exponent, which reads as a decimal fraction: the decimals of its first part, and the exponent.
_SMALL = re.compile(r"-?\d(?:\.(\d+))?e-0([1-7])")
#: In HTML: what contains no text of a page, and tags; then two names with an arrow, a number with its unit, and a word,
#: which may be a name, a date or an option.
_WORD = re.compile(
    r"(?s:<(svg|math|script|style|pre|code|title|option|textarea)\b.*?</\1>|<!--.*?-->)|<[^>]*>"
    r"|[A-Z]\w{0,15} \d{1,2} → [A-Z]\w{0,15} \d{1,2}(?![\w.-])|[\w.-]{1,11} [→↔] [\w.-]{1,11}(?![\w.-])"
    r"|[Zz]ones? \d{1,2}(?:–\d{1,2})?(?![\w.-])"
    r"|[-−+±]?\d[\d,.]{0,10}(?: ?– ?\d[\d,.]{0,10})? (?:[nµm]?s|min|pairs?|runs?|per s|[kMGT]?bit/s|[kMG]?B(?:/s)?|%)"
    r"(?: CI(?: \d[\d.]{0,7}–\d[\d.]{0,7})?)?(?![\w/])"
    r"|(?:--)?\w[\w.–-]*"
)
#: What has a place to break a line at, and is a name, a date, a number or an option, no compound of plain words.
_BREAKS, _NO_WORDS = re.compile("[ –-]"), re.compile(r"\d|-\w+-|^--")
#: Most letters of a name that is not broken.
_NAME = 24
#: Significant digits of a number in a CSV file: all that a float64 holds on any machine.
_CSV_DIGITS = 12


# --- where a number comes from


@dataclass(frozen=True)
class RunsRef:
    """The runs that a number was computed from.

    ``value``: what each run contributed: a metric, ``"median_ns"``, ``"mean_ns"``, ``"throughput"``, ``"n"``,
    ``"typical"`` (the median, else the mean), ``"samples"``, ``"intervals"``, ``"percentiles"``, or ``"run"``: the
    whole run. ``line``: that of the log which prints the number; ``q``: the quantile that it is, between 0 and 1.
    """

    run_ids: tuple[str, ...]
    value: str = ""
    line: int | None = None
    q: float | None = None


@dataclass(frozen=True)
class FileRef:
    """A place in a log (``file`` is its source_id) or in a file of the study's folder.

    ``file``: also ``"baseline"``, for the file that the manifest names so; ``key``: the key whose line is meant, of the
    entry with the name ``entry``; ``line`` and ``last``: the first and the last line; ``before``: the file is one of
    the study that the manifest names as the one before.
    """

    file: str
    key: str = ""
    entry: str = ""
    line: int | None = None
    last: int | None = None
    before: bool = False


@dataclass(frozen=True)
class ReportedRef:
    """A number that an author reports without its log, by scenario, metric and quantile.

    ``segment`` selects the numbers of segments of a run instead of those of whole runs.
    """

    scenario: str
    metric: str
    q: str = ""
    segment: bool = False


Ref = RunsRef | FileRef | ReportedRef
_UNSET = (None, "", False)


def ref_record(ref: Ref) -> dict[str, Any]:
    """Return a reference as JSON: the name of its class under ``ref``, and the fields that are set."""
    return {"ref": type(ref).__name__, **{name: value for name, value in asdict(ref).items() if value not in _UNSET}}


# --- cells


class Unit(NamedTuple):
    """A unit that people read: how many canonical units it is, and its name."""

    scale: float
    name: str


PLAIN = Unit(1.0, "")
MICROSECONDS = Unit(1e3, "µs")
SECONDS = Unit(1e9, "s")
GIGABITS = Unit(1e9, "Gbit/s")
PERCENT = Unit(0.01, "%")


def is_missing(value: object) -> bool:
    """Return whether a value is missing: ``None``, pandas' NA, or NaN."""
    return value is None or type(value).__name__ == "NAType" or (isinstance(value, float) and math.isnan(value))


def is_number(value: object) -> bool:
    """Return whether a value has a unit: it is neither missing nor a text nor a truth value."""
    return not is_missing(value) and not isinstance(value, str | bool)


def text(value: object) -> str:
    """Return a cell: empty where the value is missing, yes or no for a truth value, else its text."""
    if is_missing(value):
        return ""
    if type(value).__name__ in ("bool", "bool_"):
        return "yes" if value else "no"
    return str(value)


@dataclass(frozen=True)
class Format:
    """How a column's values become text, and which CSV columns they fill.

    ``text``: from a value in canonical units and the scale of the column's unit, the cell that a reader sees;
    ``parts``: what each CSV column is, ``""`` for the value itself, ``"low"``, ``"high"``; ``numbers``: from a value,
    those of the CSV columns in canonical units; ``right``: cells are set flush right, as numbers are; ``pieces``: from
    a value and a scale, the cell of each part, where there are several.
    """

    text: Callable[[Any, float], str]
    parts: tuple[str, ...] = ("",)
    numbers: Callable[[Any], tuple[Any, ...]] = lambda value: (value,)
    right: bool = True
    pieces: Callable[[Any, float], tuple[str, ...]] | None = None

    def shown(self, value: Any, scale: float) -> tuple[str, ...]:
        """Return the cell of each part: a page shows a value and the ends of its interval in columns of their own."""
        return (self.text(value, scale),) if self.pieces is None else self.pieces(value, scale)


def words(say: Callable[[Any], str] = text, missing: str = "") -> Format:
    """Return the format of values in words; ``missing`` where there is none."""
    return Format(lambda value, scale: say(value) or missing, numbers=lambda value: (say(value),), right=False)


TEXT = words()


def number_format(spec: str = ",.0f", missing: str = "") -> Format:
    """Return the format of numbers under a format specification; ``missing`` where there is none."""

    def shown(value: Any, scale: float) -> str:
        if is_missing(value):
            return missing
        text = f"{float(value) / scale:{spec}}"
        if match := _SMALL.fullmatch(text):
            text = f"{float(text):.{len(match[1] or '') + int(match[2])}f}"
        elif "e+" in text and abs(float(text)) < 1e12:
            text = f"{float(text):,.0f}"
        return re.sub("^-", "−", text).replace("inf", "∞")

    return Format(shown)


#: Three decimals; a p-value is never 0.
P_VALUE = Format(lambda p, _: "" if is_missing(p) else "< 0.001" if p < 5e-4 else f"{p:.3f}")


def interval(
    spec: str = ",.4g", missing: str = "", *, no_low: str = "", no_high: str = "", join_equal: bool = False
) -> Format:
    """Return the format of pairs (low, high): "low – high", or one number if ``join_equal`` and both print alike.

    ``no_low`` and ``no_high`` stand for an open end; without them, an open end makes the cell ``missing``.
    """
    formats = number_format(spec, no_low), number_format(spec, no_high)

    def shown(value: tuple[Any, Any], scale: float) -> str:
        ends = [end.text(at, scale) for end, at in zip(formats, value, strict=True)]
        return " – ".join(dict.fromkeys(ends) if join_equal else ends) if all(ends) else missing

    def pieces(value: tuple[Any, Any], scale: float) -> tuple[str, ...]:
        ends = [end.text(at, scale) for end, at in zip(formats, value, strict=True)]
        return tuple(ends) if all(ends) else (missing, missing)

    return Format(shown, ("low", "high"), tuple, pieces=pieces)


def with_interval(spec: str = ",.1f", missing: str = "–", *, no_low: str = "", no_high: str = "") -> Format:
    """Return the format of triples (value, low, high): "value (low – high)", or the value alone without an interval."""
    point, low_end, high_end = number_format(spec), number_format(spec, no_low), number_format(spec, no_high)

    def pieces(value: tuple[Any, Any, Any], scale: float) -> tuple[str, ...]:
        middle, low, high = value
        if is_missing(middle):
            return missing, "", ""
        ends = (
            ("", "") if is_missing(low) and is_missing(high) else (low_end.text(low, scale), high_end.text(high, scale))
        )
        return point.text(middle, scale), *ends

    def shown(value: tuple[Any, Any, Any], scale: float) -> str:
        middle, low, high = pieces(value, scale)
        return f"{middle} ({low} – {high})" if low and high else middle

    return Format(shown, ("", "low", "high"), tuple, right=False, pieces=pieces)


# --- tables


@dataclass(frozen=True)
class Column:
    """A column of a table; the functions of `azlatency.kit.table` make the usual ones.

    ``header``: without the unit; ``value``: from a row, the value in canonical units (ns, bit/s, fraction); ``unit``:
    that of the header and the cells; ``align``: by default, text is set left and numbers right; ``source``: from a row,
    where the number of the cell comes from; ``names_row``: the cell is part of the row's name (path, method); where no
    column is marked, the first one names it.
    """

    header: str
    value: Callable[[Row], Any]
    format: Format = TEXT
    unit: Unit = PLAIN
    align: Literal["left", "right"] | None = None
    source: Callable[[Row], Iterable[Ref]] | None = None
    names_row: bool = False

    @property
    def title(self) -> str:
        """The header with its unit."""
        return f"{self.header}, {self.unit.name}" if self.unit.name else self.header

    @property
    def is_right(self) -> bool:
        """Whether the cells are set flush right."""
        return self.format.right if self.align is None else self.align == "right"

    def csv_headers(self) -> list[str]:
        """Return the header of each CSV column, such as "interval low, µs"."""
        unit = f", {self.unit.name}" if self.unit.name else ""
        return [f"{self.header} {part}".rstrip() + unit for part in self.format.parts]

    def numbers(self, row: Row) -> list[Any]:
        """Return the value of each CSV column: numbers in the column's unit, texts and missing values as they are."""
        values, scale = self.format.numbers(self.value(row)), self.unit.scale
        return [value if scale == 1 or not is_number(value) else value / scale for value in values]

    def csv_values(self, row: Row) -> list[str]:
        """Return the value of each CSV column: numbers in the column's unit, in full precision."""
        return [_csv_value(value) for value in self.numbers(row)]

    def page_headers(self) -> list[tuple[str, list[str]]]:
        """Return the header of each column on a page, and those of the CSV columns that it fills."""
        csv = self.csv_headers()
        return [(self.title, csv)] if self.format.pieces is None else [(header, [header]) for header in csv]

    def page_values(self, row: Row) -> list[list[str]]:
        """Return the CSV values of each column on a page."""
        values = self.csv_values(row)
        return [values] if self.format.pieces is None else [[value] for value in values]


def _csv_value(value: Any) -> str:
    if not is_number(value):
        return text(value)
    number = float(value)
    return f"{number:.0f}" if number.is_integer() else f"{number:.{_CSV_DIGITS}g}"


def _fitting(unit: Unit, columns: Sequence[Column], rows: Sequence[Any]) -> Unit:
    """Return the unit that fits the values of the columns with this unit, without the ends of their intervals."""
    values = [column.format.numbers(column.value(row))[0] for column in columns if column.unit == unit for row in rows]
    canonical = {MICROSECONDS: "ns", GIGABITS: "bit/s"}[unit]
    return Unit(*fitting_unit(canonical, [float(value) for value in values if is_number(value)]))


@dataclass(frozen=True)
class Table:
    """A table: rows of a frame, and the columns that show them; the first one heads each row.

    ``notes``: sentences below the table, with `NO_LOG` in one where the numbers follow from parameters alone;
    ``source``: from a row, where its numbers come from.

    >>> mean = Column("mean", itemgetter("mean"), number_format(",.1f"), MICROSECONDS)
    >>> columns = [Column("path", itemgetter("path")), mean]
    >>> Table("Round trips", columns, [{"path": "a → b", "mean": 1234567.0}])
    Round trips
    <BLANKLINE>
    path   mean, µs
    a → b   1,234.6
    """

    caption: str
    columns: Sequence[Column]
    rows: Sequence[Row]
    notes: Sequence[str] = ()
    source: Callable[[Row], Iterable[Ref]] | None = None

    def __post_init__(self) -> None:
        """Give all times and all rates of the table a unit in which they are readable."""
        units = {unit: _fitting(unit, self.columns, self.rows) for unit in (MICROSECONDS, GIGABITS)}
        fitting = [replace(column, unit=units.get(column.unit, column.unit)) for column in self.columns]
        object.__setattr__(self, "columns", fitting)

    @property
    def headers(self) -> list[str]:
        """The headers with their units."""
        return [column.title for column in self.columns]

    @cached_property
    def cells(self) -> list[tuple[str, ...]]:
        """The cells of each row as a reader sees them."""
        return [tuple(c.format.text(c.value(row), c.unit.scale) for c in self.columns) for row in self.rows]

    def record(self) -> dict[str, Any]:
        """Return what a page needs to show the table: cells, CSV values, and where each number comes from."""
        columns = [
            {
                "header": header,
                "right": c.is_right or len(csv) < len(c.format.parts),
                "names_row": c.names_row,
                "csv": csv,
            }
            for c in self.columns
            for header, csv in c.page_headers()
        ]
        rows = [
            {
                "cells": [cell for c in self.columns for cell in c.format.shown(c.value(row), c.unit.scale)],
                "csv": [values for c in self.columns for values in c.page_values(row)],
                **self._refs(row),
            }
            for row in self.rows
        ]
        return {"caption": self.caption, "columns": columns, "rows": rows, "notes": list(self.notes)}

    def _refs(self, row: Row) -> dict[str, Any]:
        """Return the references of a row and of its cells, by column."""
        whole = [ref_record(ref) for ref in self.source(row)] if self.source else []
        starts = accumulate((len(column.page_headers()) for column in self.columns), initial=0)
        cells = {
            str(start): [ref_record(ref) for ref in column.source(row)]
            for start, column in zip(starts, self.columns, strict=False)
            if column.source
        }
        return {"refs": whole, "cell_refs": {index: refs for index, refs in cells.items() if refs}}

    def to_frame(self) -> pd.DataFrame:
        """Return the table as a frame: numbers in the unit of their header, the ends of an interval in own columns.

        Returns
        -------
        DataFrame
            One row per row of the table. The numbers have their full precision, not that of the shown cells.
        """
        headers = [header for column in self.columns for header in column.csv_headers()]
        rows = [[value for column in self.columns for value in column.numbers(row)] for row in self.rows]
        return pd.DataFrame(rows, columns=headers)

    def to_csv(self, path: Path | str | None = None) -> str | None:
        """Write the frame of `to_frame` as CSV; a text that a spreadsheet would execute gets an apostrophe before it.

        Parameters
        ----------
        path : Path or str, optional
            The file. Default: return the text.

        Returns
        -------
        str or None
            The text, if no file is given.
        """
        content: str | None = self.to_frame().map(escape_formula).to_csv(path, index=False, lineterminator="\n")
        return content

    def to_latex(
        self,
        path: Path | str | None = None,
        *,
        uncertainty: Literal["compact", "limits"] = "limits",
        label: str = "",
    ) -> str | None:
        """Write the table as LaTeX with the packages booktabs and siunitx, all text escaped.

        Parameters
        ----------
        path : Path or str, optional
            The file. Default: return the text.
        uncertainty : {"limits", "compact"}
            How an estimate is written: with the ends of its interval, ``444 [432, 469]``, or with the distance to the
            farther end in units of the last digits, ``444(25)``.
        label : str
            Label of the table; empty for none.

        Returns
        -------
        str or None
            The text, if no file is given.

        Raises
        ------
        ValueError
            If ``uncertainty`` is neither of the two.
        """
        if uncertainty not in ("limits", "compact"):
            raise ValueError(f"uncertainty = {uncertainty!r} is not one of limits, compact")
        content = table_latex(self, uncertainty, label)
        if path is None:
            return content
        Path(path).write_text(content, "utf-8")
        return None

    def __repr__(self) -> str:
        widths = [max(map(len, column)) for column in zip(self.headers, *self.cells, strict=True)]

        def line(cells: Sequence[str]) -> str:
            return "  ".join(
                cell.rjust(width) if column.is_right else cell.ljust(width)
                for column, cell, width in zip(self.columns, cells, widths, strict=True)
            ).rstrip()

        return "\n".join([self.caption, "", line(self.headers), *map(line, self.cells), *self.notes])

    def _repr_mimebundle_(
        self, include: object = None, exclude: object = None
    ) -> tuple[dict[str, Any], dict[str, Any]]:
        # A code host runs no script that folds a long table; a page is made from the record.
        record = self.record()
        html = table_html(record, most_rows=FIRST_ROWS, others="print the table for all")
        return {"text/plain": repr(self), "text/html": html}, {"azlatency": {"kind": "table", **record}}


class RowLinks(Protocol):
    """Where the link of a row leads, and the line behind each of its cells, by column; ids of a page."""

    @property
    def target(self) -> str:
        """Id of a line, a file or a group."""

    @property
    def at(self) -> Mapping[int, str]:
        """Ids of lines by column."""


def table_html(
    record: Mapping[str, Any],
    links: Callable[[Mapping[str, Any], str], RowLinks | None] | None = None,
    most_rows: int | None = None,
    others: str = "all are in the notebook behind this page",
    *,
    fold_notes: bool = False,
) -> str:
    """Write a table as one ``<table>`` element, all text escaped."""
    columns, rows = record["columns"], record["rows"]
    caption = escape(str(record["caption"]))
    if most_rows is not None and len(rows) > most_rows:
        caption += f" (the first {most_rows:,} of {len(rows):,} rows; {escape(others)})"
        rows = rows[:most_rows]
    head = "".join(
        f'<th scope="col"{_classes("number" * bool(column["right"]))}{_csv_attribute(column["csv"], header, links)}>'
        f"{escape(header)}</th>"
        for column in columns
        for header in [str(column["header"])]
    )
    body = "\n".join(_row_html(row, columns, links) for row in rows)
    notes = "".join(f"<p>{escape(str(note))}</p>" for note in record["notes"])
    notes = f'<details class="notes"><summary>Notes</summary>{notes}</details>' if notes and fold_notes else notes
    foot = f'<tfoot><tr><td colspan="{len(columns)}">{notes}</td></tr></tfoot>' if notes else ""
    wide = " wide" if len(columns) > _MANY_COLUMNS else ""
    return (
        f'<table class="az{wide}"><caption><span class="stay">{caption}</span></caption>\n'
        f"<thead><tr>{head}</tr></thead>\n<tbody>\n{body}\n</tbody>{foot}</table>"
    )


def _row_html(
    row: Mapping[str, Any],
    columns: Sequence[Mapping[str, Any]],
    links: Callable[[Mapping[str, Any], str], RowLinks | None] | None,
) -> str:
    cells = [str(cell) for cell in row["cells"]]
    names = [cell for cell, column in zip(cells, columns, strict=True) if column["names_row"] and cell]
    trail = links(row, ", ".join(names) or cells[0]) if links is not None else None
    written = []
    for index, (cell, column) in enumerate(zip(cells, columns, strict=True)):
        attributes = "" if index else ' scope="row"'
        attributes += _classes("number" * bool(column["right"]), "long" * (len(cell) > _LONG_CELL))
        attributes += _csv_attribute(row["csv"][index], cell, links)
        if trail is not None and index in trail.at:
            attributes += f' data-at="{escape(trail.at[index])}"'
        # It stays on the line of the last word.
        link = (
            f'&nbsp;<a class="from" href="#{escape(trail.target)}">log</a>' if trail is not None and not index else ""
        )
        tag = "td" if index else "th"
        written.append(f"<{tag}{attributes}>{escape(cell)}{link}</{tag}>")
    return f"<tr>{''.join(written)}</tr>"


def tied(html: str) -> str:
    """Keep short names with dashes, dates, options, and numbers with their units on a page from being broken."""

    def whole(part: str) -> str:
        if len(part) > _NAME or not _BREAKS.search(part) or not _NO_WORDS.search(part):
            return part
        return f'<span class="tied">{part}</span>'

    def pieces(word: re.Match[str]) -> str:
        """Of two long names, each is kept whole."""
        return whole(word[0]) if len(word[0]) <= _NAME else "–".join(map(whole, word[0].split("–")))

    return _WORD.sub(lambda word: word[0] if word[0][0] == "<" else pieces(word), html)


def _classes(*names: str) -> str:
    used = " ".join(filter(None, names))
    return f' class="{used}"' if used else ""


def _csv_attribute(values: Sequence[str], cell: str, links: object) -> str:
    """Return, for a page, the CSV values of a cell separated by tabs, unless its text is the value already."""
    joined = "\t".join(map(str, values))
    return "" if links is None or joined in (cell, cell.replace(",", "")) else f' data-csv="{escape(joined)}"'
