"""Read a CSV or Parquet file of measurements that somebody else computed, as ``[[table]]`` describes it.

Each row with a number becomes a run whose status is ``summary_only``: what it was computed from is not there.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Hashable, Iterable
from statistics import median_high, median_low
from typing import NamedTuple

from azlatency.logs.grammar.rules import BLANK, DATA, KNOWN, PROSE
from azlatency.logs.grammar.units import Quantity, scale
from azlatency.logs.parse import to_logs
from azlatency.logs.record import Recorder, Row, Run
from azlatency.logs.source.decode import Source
from azlatency.logs.source.large import TooLargeError
from azlatency.logs.tables import Logs
from azlatency.studies.format import count_of, did_you_mean, plain
from azlatency.studies.imports.table_cells import (
    APART_IN_REGION,
    THOUSAND,
    CellError,
    check_order,
    fields_of,
    number_in,
    seem_other_units,
    start_of,
)
from azlatency.studies.manifest.measured_table import ENDS, MOMENTS, RATES, MeasuredTable, quantile_of, unit_in_words
from azlatency.studies.manifest.table_rows import TableRow, rows_of_matrix, separator_of, table_rows, unit_in
from azlatency.studies.runs.left_out import named
from azlatency.studies.runs.run_table import FROM_TABLE

#: Events that the import tells although they are no errors: rows that are left out, and numbers that look odd.
TOLD = ("no_number", "same_row", "other_unit")
#: What a heading calls half a round trip, or a delay in one direction.
_NO_ROUND_TRIP = re.compile(r"rtt ?/ ?2|\bhalf\b|\bhalbe|one[- _]?way|(?<![a-z])owd(?![a-z])|einweg", re.IGNORECASE)
_ROUND_TRIP = re.compile(r"(?<![a-z])rtt(?![a-z])|round[- _]?trip", re.IGNORECASE)
#: Longer headings, and more of them, are compared no further.
_LONGEST_HEADING, _MOST_HEADINGS = 60, 200


class _Read(NamedTuple):
    """A row with its numbers, the columns of its run, and its numbers as they are printed."""

    row: TableRow
    numbers: dict[str, Quantity]
    fields: Row
    printed: list[str]


def read_table(source: Source, table: MeasuredTable) -> Logs:
    """Return a run for each row of a table; what cannot be used is an event of its first line."""
    recorder = Recorder(source)
    reader = _Reader(recorder, table)
    recorder.accounting.mark_range(1, min(table.headings, source.line_count), PROSE)
    try:
        rows = table_rows(source)
        if table.matrix:
            rows = rows_of_matrix(rows, table.headings, table.columns_beside_matrix)
        head = next((row for row in rows if row.last_line >= table.headings), None)
        has_no_digits = source.path.casefold().endswith((".parquet", ".pq"))
        if has_no_digits and not table.step and any(name.startswith("rtt_") for name in table.numbers):
            text = f'a Parquet file shows no step of its numbers; write it, such as step = "0.01", into {table.place}'
            recorder.add_event("no_column", "error", text, 1)
        elif head is None or not any(head.cells):
            text = f"line {table.headings} has no headings; write headings = their line into {table.place}"
            recorder.add_event("no_column", "error", text, 1)
        elif reader.find_columns(head):
            for row in rows:
                reader.read(row)
            reader.write()
    except csv.Error as error:
        recorder.add_event("table_cell", "error", f"no table of text: {error}; correct the file", 1)
    except TooLargeError as error:
        recorder.add_event("too_large", "error", str(error), error.line)
    return to_logs(recorder)


class _Reader:
    """Reads rows, and writes the runs of those that agree with the others."""

    def __init__(self, recorder: Recorder, table: MeasuredTable) -> None:
        self.recorder, self.table = recorder, table
        self.places: dict[str, int] = {}
        self.headings: dict[str, str] = {}
        self.width = 0
        self.asks_point = separator_of(recorder.source) == ";"
        self.found: list[_Read] = []
        self.problems: dict[str, tuple[int, str, int]] = {}
        self.left_out: dict[str, list[int]] = {}

    def find_columns(self, head: TableRow) -> bool:
        """Find the columns by their headings; return whether all are there, and none contradicts the manifest."""
        for name, heading in self.table.columns.items():
            if isinstance(heading, int):
                found = [heading - 1] if heading > 0 else []
            else:
                found = [at for at, text in enumerate(head.cells) if text.casefold() == heading.strip().casefold()]
            if len(found) != 1:
                what = f"{len(found)} columns are" if found else "no column is"
                hint = (
                    f": write its number, such as {found[0] + 1}"
                    if found
                    else did_you_mean(str(heading), [text[:_LONGEST_HEADING] for text in head.cells[:_MOST_HEADINGS]])
                )
                hint = hint or f"; the headings are {', '.join(head.cells)[:200]}"
                return self._stop(head, f"{what} called {heading!r:.60} ({name}){hint}; correct columns")
            self.places[name] = found[0]
            self.headings[name] = head.cells[found[0]] if found[0] < len(head.cells) else ""
            key = "rate_unit" if name in RATES else "unit"
            is_rate_or_time = name in RATES or name.startswith("rtt_")
            said, own = getattr(self.table, key), unit_in_words(unit_in(self.headings[name]))
            if name in self.table.numbers and is_rate_or_time and said and own and scale(said) != scale(own):
                return self._stop(
                    head, f"the heading {self.headings[name]!r:.60} says {own}, and {key} says {said}; correct one"
                )
            if name.startswith("rtt_") and _NO_ROUND_TRIP.search(self.headings[name]) and self.table.factor == 1:
                text = f"the heading {self.headings[name]!r:.60} names no round trip, and round_trip = true"
                return self._stop(head, f"{text}; write false for half round trips (one-way delays are not read)")
            is_half = name.startswith("rtt_") and self.table.factor == 2 and isinstance(heading, str)
            if is_half and _ROUND_TRIP.search(self.headings[name]) and not _NO_ROUND_TRIP.search(self.headings[name]):
                text = f"the heading {heading!r:.60} names a round trip, and round_trip = false"
                return self._stop(head, f"{text}; write true, or name the column by its number if they are half of it")
        # A column without a heading may hold remarks.
        self.width = max(len(head.cells), *(place + 1 for place in self.places.values()))
        return True

    def _stop(self, head: TableRow, what: str) -> bool:
        self.recorder.add_event("no_column", "error", f"{what} in {self.table.place}", head.last_line)
        return False

    def read(self, row: TableRow) -> None:
        """Read a row, if it has a number that can be used."""
        if not any(row.cells):
            self.recorder.accounting.mark_range(row.first_line, row.last_line, BLANK)
            return
        self.recorder.accounting.mark_range(row.first_line, row.last_line, KNOWN)
        try:
            if any(row.cells[self.width :]):
                cells = f"{len(row.cells)} cells under {count_of(self.width, 'heading')}"
                raise CellError("cells", f"{cells}: put texts and numbers that contain the separator into quotes")
            if max(self.places.values()) >= len(row.cells):
                cells = f"only {count_of(len(row.cells), 'cell')} under {count_of(self.width, 'heading')}"
                raise CellError("short", f"{cells}: complete or delete the row")
            texts = {name: row.cells[place] for name, place in self.places.items()}
            self._check_heading_of_cell(texts)
            numbers = {
                name: number_in(texts[name], name, self.headings[name], self.table, asks_point=self.asks_point)
                for name in self.table.numbers
            }
            used = {name: number for name, number in numbers.items() if number is not None}
            if not used:
                self.left_out.setdefault("no_number", []).append(row.first_line)
                return
            check_order(used)
            fields = fields_of(texts, self.table)
        except CellError as error:
            self._refuse(row.first_line if error.kind != "heading" else self.table.headings, error.kind, str(error))
            return
        self.found.append(_Read(row, used, self._one_way(fields), [texts[name] for name in self.table.numbers]))

    def _check_heading_of_cell(self, texts: dict[str, str]) -> None:
        """Raise `CellError` if the heading above a cell of a matrix is no date, or has a unit."""
        for name, heading in self.table.columns.items():
            if heading == "column" and self.table.matrix:
                if name in MOMENTS:
                    try:
                        start_of(texts[name], self.table, is_end=name == "ended_at")
                    except CellError as error:
                        raise CellError("heading", str(error)) from None
                elif unit_in(texts[name]):
                    how = "name the end alone, and write the unit into the cells or into unit"
                    raise CellError("heading", f"the heading {texts[name]!r:.60} has a unit; {how}")

    def _one_way(self, fields: Row) -> Row:
        """Return the columns of a run; of two ways with one number, those of the way whose ends are in order."""
        if not self.table.same_both_ways:
            return fields
        pairs = [pair for pair in ENDS if {*pair} <= fields.keys()]
        ways = (
            [{one: fields[one], peer: fields[peer]} for one, peer in pairs],
            [{one: fields[peer], peer: fields[one]} for one, peer in pairs],
        )
        for ends in min(ways, key=lambda way: [list(end.values()) for end in way]):
            fields |= ends
        return fields

    def write(self) -> None:
        """Write the runs of the rows that no other one contradicts, and say what is left out."""
        kept = self._in_one_unit(self._told_once(self.found))
        for each in kept:
            run = self.recorder.start_run(
                self.table.tool_of_runs,
                each.row.first_line,
                last_line=each.row.last_line,
                status="summary_only",
                dialect=FROM_TABLE,
                settings=self.table.settings,
                **{"test": self.table.test, "protocol": self.table.protocol} | each.fields,
            )
            if any(name.startswith("rtt_") for name in each.numbers):
                run.set(printed_as="round_trip" if self.table.factor == 1 else "half_round_trip")
            for name, number in each.numbers.items():
                _add(run, name, number, each.row.first_line)
            self.recorder.accounting.mark_range(each.row.first_line, each.row.last_line, DATA)
        for line, text, rows in self.problems.values():
            more = f" ({count_of(rows, 'row')} like this)" if rows > 1 else ""
            self.recorder.add_event("table_cell", "error", text + more, line)
        self._note_odd_units(kept)
        for code, lines in self.left_out.items():
            what = {"no_number": "without a number", "same_row": "with the ends, time and numbers of another"}[code]
            text = f"{count_of(len(lines), 'row')} {what} left out (line {named([*map(str, lines)])})"
            self.recorder.add_event(code, "info", text, lines[0])
        if not kept and not self.problems:
            self.recorder.add_event("no_column", "error", "no row has a number; check the file", self.table.headings)

    def _told_once(self, rows: Iterable[_Read]) -> list[_Read]:
        """Return rows without those of equal ends and time: one of equal numbers, none of different ones."""
        groups: dict[Hashable, list[_Read]] = {}
        for each in rows:
            # Rows of equal ends without a time are repeats, except the other way of a pair.
            own = each.row.first_line if "started_at" not in each.fields and not self.table.same_both_ways else None
            groups.setdefault((own, *sorted((name, str(value)) for name, value in each.fields.items())), []).append(
                each
            )
        kept = []
        for first, *others in groups.values():
            different = [each for each in others if _values(each) != _values(first)]
            if different:
                other = different[0]
                values = (
                    f"{', '.join(other.printed)} here and {', '.join(first.printed)} in line {first.row.first_line}"
                )
                hint = "remove same_both_ways, or " if self.table.same_both_ways else ""
                hint += "add the column that tells them apart to columns, or delete one row"
                text = f"{values} for the same ends and time, so neither is used: {hint} ({self.table.place})"
                self._refuse(other.row.first_line, "twice", text)
                continue
            kept.append(first)
            if others and not self.table.same_both_ways:
                self.left_out.setdefault("same_row", []).extend(each.row.first_line for each in others)
        return kept

    def _in_one_unit(self, rows: list[_Read]) -> list[_Read]:
        """Return rows without those whose times are about a thousand times those of most rows of their path."""
        times: dict[tuple[Hashable, str], list[float]] = {}
        for each in rows:
            for name, number in each.numbers.items():
                if name.startswith("rtt_"):
                    times.setdefault((_path(each), name), []).append(number.value)
        middles = {place: (median_low(values), median_high(values)) for place, values in times.items()}
        kept = []
        for each in rows:
            odd = [
                name
                for name, number in each.numbers.items()
                if name.startswith("rtt_")
                and any(seem_other_units(number.value, middle) for middle in middles[_path(each), name])
            ]
            if odd:
                text = (
                    f"{each.numbers[odd[0]].printed} ({odd[0]}) is about a thousand times the others of its path, or a"
                )
                self._refuse(each.row.first_line, "units", f"{text} thousandth: write the unit into the cell")
            else:
                kept.append(each)
        return kept

    def _note_odd_units(self, rows: list[_Read]) -> None:
        """Say which times are so far from the usual one of their column that another unit explains them better."""
        in_region = "peer_region" not in self.places and not {"zone", "physical_zone"}.isdisjoint(self.places)
        apart = APART_IN_REGION if in_region else THOUSAND
        for name in self.table.numbers if not self.table.is_of_regions else ():
            timed = [(each.row.first_line, each.numbers[name]) for each in rows if name in each.numbers]
            if not name.startswith("rtt_") or not timed:
                continue
            values = [number.value for _, number in timed]
            middles = (median_low(values), median_high(values))
            odd = [
                (number.value / middle, line, number)
                for line, number in timed
                for middle in middles
                if seem_other_units(number.value, middle, apart)
            ]
            if odd:
                times, line, number = max(odd, key=lambda each: each[0])
                others = len({line for _, line, _ in odd}) - 1
                more = f" (and {count_of(others, 'more row')})" if others else ""
                text = f"{name} {number.printed} in line {line}{more} is {plain(times, 2)} times"
                text += " the usual one: if its unit is another, write it into the cell"
                self.recorder.add_event("other_unit", "warning", text, line)

    def _refuse(self, line: int, kind: str, what: str) -> None:
        first, text, rows = self.problems.get(kind, (line, what, 0))
        self.problems[kind] = first, text, rows + 1


def _values(read: _Read) -> dict[str, float]:
    return {name: number.value for name, number in read.numbers.items()}


def _path(read: _Read) -> Hashable:
    return tuple(read.fields.get(name) for pair in ENDS for name in pair)


def _add(run: Run, name: str, number: Quantity, line: int) -> None:
    q = quantile_of(name)
    if q is not None:
        run.add_quantile(q, number, line)
    elif name in RATES:
        run.add_metric("throughput", number, line, side=RATES[name])
    else:
        run.add_metric(name, number, line)
