"""Read a CSV file of measurements that somebody else computed, as ``[[table]]`` of ``study.toml`` describes it.

Each row with a number becomes a run whose status is ``summary_only``: what it was computed from is not there.
"""

from __future__ import annotations

import csv
import re
from datetime import UTC, datetime, timedelta

from azlatency.logs.grammar.rules import BLANK, DATA, KNOWN, PROSE
from azlatency.logs.grammar.units import Quantity, UnitError, canonical_unit, count, quantity
from azlatency.logs.parse import to_logs
from azlatency.logs.record import Recorder, Row, Run
from azlatency.logs.source.decode import Source
from azlatency.logs.source.large import TooLargeError
from azlatency.logs.tables import Logs
from azlatency.studies.format import count_of, did_you_mean
from azlatency.studies.manifest.manifest import check_placement, typed
from azlatency.studies.manifest.measured_table import MOMENTS, RATES, MeasuredTable, quantile_of, unit_in_words
from azlatency.studies.manifest.table_rows import CELL, DATE, LONGEST_CELL, TableRow, table_rows
from azlatency.studies.runs.run_table import FROM_TABLE
from azlatency.studies.store.own_files import ManifestError

#: What people write where nothing was measured.
_NOTHING = frozenset({"", "-", "–", "—", "n/a", "na", "nan", "null", "none", "."})
_SEPARATED = re.compile(r"[.,'\u00a0\u202f ]")
#: Thousands are separated by one sign, in groups of three.
_THOUSANDS = re.compile(r"[+-]?\d{1,3}(?P<sign>[.,'\u00a0\u202f ])\d{3}(?:(?P=sign)\d{3})*")
#: The two ends of a path, for values that hold both ways.
_ENDS = (
    ("client", "server"), ("region", "peer_region"), ("zone", "peer_zone"), ("physical_zone", "peer_physical_zone"),
)  # fmt: skip
_DAY = timedelta(days=1)


class _CellError(ValueError):
    """A cell that cannot be used; ``kind`` says why without the cell, so that many are told as one."""

    def __init__(self, kind: str, what: str) -> None:
        super().__init__(what)
        self.kind = kind


def read_table(source: Source, table: MeasuredTable) -> Logs:
    """Return a run for each row of a table; what cannot be used is an event of its first line."""
    recorder = Recorder(source)
    reader = _Reader(recorder, table)
    recorder.accounting.mark_range(1, min(table.headings, source.line_count), PROSE)
    try:
        rows = table_rows(source)
        head = next((row for row in rows if row.last_line >= table.headings), None)
        if head is None:
            recorder.add_event("no_column", "error", f"the file has no line {table.headings} with headings", 1)
        elif reader.find_columns(head):
            for row in rows:
                reader.read(row)
    except csv.Error as error:
        recorder.add_event("table_cell", "error", f"no table of text: {error}; correct the file", 1)
    except TooLargeError as error:
        recorder.add_event("too_large", "error", str(error), error.line)
    reader.finish()
    return to_logs(recorder)


class _Reader:
    """Turns rows into runs, and remembers what could not be used."""

    def __init__(self, recorder: Recorder, table: MeasuredTable) -> None:
        self.recorder, self.table = recorder, table
        self.places: dict[str, int] = {}
        self.problems: dict[str, tuple[int, str, int]] = {}
        self.without_number: list[int] = []
        self.told: dict[tuple[tuple[str, str], ...], tuple[int, list[str]]] = {}

    def find_columns(self, head: TableRow) -> bool:
        """Find the columns by their headings; return whether all are there."""
        for name, heading in self.table.columns.items():
            if isinstance(heading, int):
                found = [heading - 1] if 0 < heading <= len(head.cells) else []
            else:
                found = [at for at, text in enumerate(head.cells) if text.casefold() == heading.strip().casefold()]
            if len(found) != 1:
                what = "no column is" if not found else f"{len(found)} columns are"
                hint = did_you_mean(str(heading), head.cells) or f" The headings are: {', '.join(head.cells)[:200]}."
                text = f"{what} called {heading!r:.60} ({name}).{hint} Correct columns in {self.table.place}"
                self.recorder.add_event("no_column", "error", text, head.last_line)
                return False
            self.places[name] = found[0]
        return True

    def read(self, row: TableRow) -> None:
        """Add the run of a row, if it has a number that can be used."""
        accounting = self.recorder.accounting
        if not any(row.cells):
            accounting.mark_range(row.first_line, row.last_line, BLANK)
            return
        accounting.mark_range(row.first_line, row.last_line, KNOWN)
        try:
            texts = {name: row.cells[place] for name, place in self.places.items()}
        except IndexError:
            self._refuse(
                row, _CellError("cells", f"only {count_of(len(row.cells), 'cell')}; quote the separators in texts")
            )
            return
        try:
            numbers = {name: self._number(name, texts[name]) for name in self.table.numbers}
            fields = self._fields(texts)
        except _CellError as error:
            self._refuse(row, error)
            return
        used = {name: number for name, number in numbers.items() if number is not None}
        if not used:
            self.without_number.append(row.first_line)
        elif not self._is_told_before(row, fields, texts):
            described = {"test": self.table.test, "protocol": self.table.protocol} | fields
            run = self.recorder.start_run(
                self.table.tool,
                row.first_line,
                last_line=row.last_line,
                status="summary_only",
                dialect=FROM_TABLE,
                settings=self.table.settings,
                **described,
            )
            if any(name.startswith("rtt_") for name in used):
                run.set(printed_as="round_trip" if self.table.factor == 1 else "half_round_trip")
            for name, number in used.items():
                _add(run, name, number, row.first_line)
            accounting.mark_range(row.first_line, row.last_line, DATA)

    def finish(self) -> None:
        """Report what could not be used: each kind once, with its first line."""
        for line, text, rows in self.problems.values():
            more = f" ({count_of(rows, 'row')} like this)" if rows > 1 else ""
            self.recorder.add_event("table_cell", "error", text + more, line)
        if self.without_number:
            lines = ", ".join(map(str, self.without_number[:3])) + (", …" if len(self.without_number) > 3 else "")
            text = f"no number in {count_of(len(self.without_number), 'row')} (lines {lines}); left out"
            self.recorder.add_event("no_number", "info", text, self.without_number[0])

    def _refuse(self, row: TableRow, error: _CellError) -> None:
        line, text, rows = self.problems.get(error.kind, (row.first_line, str(error), 0))
        self.problems[error.kind] = line, text, rows + 1

    def _number(self, name: str, cell: str) -> Quantity | None:
        """Return the number of a cell, None for an empty one."""
        if cell.casefold() in _NOTHING:
            return None
        match = CELL.fullmatch(cell) if len(cell) <= LONGEST_CELL else None
        if match is None:
            raise _CellError(f"text {name}", f"{cell!r:.60} is no number ({name}); correct the cell or empty it")
        token = self._token(match["number"], cell)
        if name == "observations":
            try:
                return count(token)
            except UnitError:
                raise _CellError(f"count {name}", f"{cell!r} is no whole number ({name}); correct it") from None
        wanted = "bit/s" if name in RATES else "fraction" if name == "loss" else "ns"
        key = "rate_unit" if wanted == "bit/s" else "unit"
        said = {"bit/s": self.table.rate_unit, "ns": self.table.unit, "fraction": "1"}[wanted]
        unit = unit_in_words(match["unit"] or "") or said
        if not unit:
            example = "Gbit/s" if wanted == "bit/s" else "ms"
            text = f'no unit of {name}: write it as in {key} = "{example}" into {self.table.place}'
            raise _CellError(f"unit {name}", text)
        try:
            if canonical_unit(unit) != wanted:
                raise UnitError
            found = quantity(token, unit)._replace(printed=match["number"])
        except UnitError:
            raise _CellError(f"unit {name}", f"{cell!r} is no {name} with a known unit; correct the cell") from None
        if found.value < 0 or (wanted == "ns" and found.value == 0):
            raise _CellError(f"sign {name}", f"{cell!r} is no {name}: it must be above 0; correct or empty the cell")
        if wanted == "ns" and self.table.step and unit == said:
            found = found.with_resolution(quantity(self.table.step, unit).value / 2)
        return found if wanted != "ns" or self.table.factor == 1 else found.doubled()

    def _token(self, number: str, cell: str) -> str:
        """Return a number with a point as its decimal sign, and without separators of thousands."""
        if "," in number and not self.table.decimal:
            text = f'is the comma in {cell!r} the decimal sign? Write decimal = "," into {self.table.place}'
            raise _CellError("decimal", f'{text}, or decimal = "." if it separates thousands')
        point = self.table.decimal or "."
        whole, _, rest = number.partition(point)
        digits = _SEPARATED.sub("", whole) if _THOUSANDS.fullmatch(whole) else whole
        if not re.fullmatch(r"[+-]?\d+", digits) or not re.fullmatch(r"\d*(?:[eE][+-]?\d+)?", rest):
            raise _CellError("digits", f"{cell!r} is no number with the decimal sign {point!r}; correct the cell")
        return f"{digits}.{rest}" if rest else digits

    def _fields(self, texts: dict[str, str]) -> Row:
        """Return the columns of the run that the row says: its ends, and when it began."""
        fields: Row = {}
        try:
            for name, text in texts.items():
                if name not in self.table.numbers and name not in MOMENTS and text.casefold() not in _NOTHING:
                    fields[name] = typed("", name, text)
            check_placement("", fields.get("placement"))
        except ManifestError as error:
            raise _CellError("field", str(error).removeprefix(": ")) from None
        ends = [name for pair in _ENDS for name in pair if name in texts]
        if missing := [name for name in ends if name not in fields]:
            raise _CellError(
                f"end {missing[0]}", f"{missing[0]} is empty: each row needs both ends; complete or delete it"
            )
        moment = next((name for name in MOMENTS if name in texts), None)
        if moment is not None and texts[moment].casefold() not in _NOTHING:
            fields["started_at"] = self._start(texts[moment], is_end=moment == "ended_at")
        if self.table.window_s:
            fields["duration_ns"] = round(self.table.window_s * 1e9)
        return fields

    def _start(self, text: str, *, is_end: bool) -> datetime:
        """Return when a window began; a date as its end is the end of that day."""
        try:
            if self.table.time_format:
                moment = datetime.strptime(text, self.table.time_format)
                if moment.year == 1900:
                    raise ValueError
                is_date = not re.search(r"%[HIMSpcXT]", self.table.time_format)
            else:
                moment, is_date = datetime.fromisoformat(text), DATE.fullmatch(text) is not None
        except ValueError:
            example = 'time_format = "%d.%m.%Y"'
            what = f"{text!r:.40} is no date of the form 2026-01-31; say how dates are written, year included, as in"
            raise _CellError("time", f"{what} {example} in {self.table.place}") from None
        moment = moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)
        if is_end:
            moment += (_DAY if is_date else timedelta()) - timedelta(seconds=self.table.window_s)
        return moment

    def _is_told_before(self, row: TableRow, fields: Row, texts: dict[str, str]) -> bool:
        """Return whether an earlier row has the number: of the same ends and time, or of the other way.

        Other numbers there are told, and not used.
        """
        own, other = _key(fields), _key(_other_way(fields))
        # Rows of equal ends without a time are repeats.
        keys = [own] if "started_at" in fields else []
        keys += [other] if self.table.same_both_ways and other != own else []
        line, before = next((self.told[key] for key in keys if key in self.told), (0, []))
        printed = [texts[name] for name in self.table.numbers]
        self.told.setdefault(own, (row.first_line, printed))
        if line and before != printed:
            values = f"{', '.join(printed)} here and {', '.join(before)} in line {line} for the same ends and time"
            hint = "add the column that tells them apart to columns, or delete one row"
            if self.table.same_both_ways:
                hint = "remove same_both_ways, " + hint
            self._refuse(row, _CellError("twice", f"{values}: {hint} ({self.table.place})"))
        return bool(line)


def _other_way(fields: Row) -> Row:
    pairs = [(one, peer) for one, peer in _ENDS if one in fields and peer in fields]
    return fields | {one: fields[peer] for one, peer in pairs} | {peer: fields[one] for one, peer in pairs}


def _key(fields: Row) -> tuple[tuple[str, str], ...]:
    return tuple(sorted((name, str(value)) for name, value in fields.items() if value is not None))


def _add(run: Run, name: str, number: Quantity, line: int) -> None:
    q = quantile_of(name)
    if q is not None:
        run.add_quantile(q, number, line)
    elif name in RATES:
        run.add_metric("throughput", number, line, side=RATES[name])
    else:
        run.add_metric(name, number, line)
