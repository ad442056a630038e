"""Sources -> tables: claims collected, logs cut out, each read by its parser, every line accounted for.

>>> import azlatency as az
>>> tables = az.parse("run.log")              # doctest: +SKIP
>>> tables.frame("metrics")                   # doctest: +SKIP
"""

from __future__ import annotations

from array import array
from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from itertools import accumulate
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from azlatency.logs import schema
from azlatency.logs.decode import Source, SourceError, expand
from azlatency.logs.grammar import DATA
from azlatency.logs.lines import texts_of
from azlatency.logs.parsers import Claim, claims, parser_version, parsers
from azlatency.logs.record import Recorder, Row, SampleBlock
from azlatency.logs.segment import cut, settle
from azlatency.logs.unwrap import Unwrapped, candidates, sample

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa


_MOST_READINGS = 3


class LogError(ValueError):
    """A log that cannot be used, as ``file:line: what, and what to do``."""


@dataclass
class Tables:
    """The tables of data-model.md as lists of rows; samples as blocks of columns."""

    rows: dict[str, list[Row]] = field(
        default_factory=lambda: {name: [] for name in schema.TABLES if name != "samples"}
    )
    samples: list[SampleBlock] = field(default_factory=list)

    def extend(self, other: Tables) -> None:
        """Append another set of tables."""
        for name, rows in other.rows.items():
            self.rows[name].extend(rows)
        self.samples.extend(other.samples)

    def arrow(self, table: str) -> pa.Table:
        """One table as `pyarrow.Table` with the schema of `schema`. Raises `KeyError` for an unknown one."""
        import pyarrow as pa

        arrow_schema = schema.arrow_schema(table)
        if table == "samples":
            return pa.concat_tables(
                [_sample_table(block, arrow_schema) for block in self.samples] or [arrow_schema.empty_table()]
            )
        rows = self.rows[table]
        return pa.table({name: [row.get(name) for row in rows] for name in arrow_schema.names}, schema=arrow_schema)

    def frame(self, table: str) -> pd.DataFrame:
        """One table as a pandas frame with Arrow-backed types: what is missing is missing, never 0 or NaN."""
        return to_frame(self.arrow(table))

    def records(self, table: str) -> list[Row]:
        """One table as a list of records with every column, times as ISO text; what `parse --format json` prints."""
        names = schema.names(table)
        rows = _sample_rows(self.samples) if table == "samples" else self.rows[table]
        return [{name: _plain(row.get(name)) for name in names} for row in rows]

    def errors(self) -> list[str]:
        """The error events as ``path:line: text``."""
        paths = {row["source_id"]: row["path"] for row in self.rows["sources"]}
        return [
            f"{paths[row['source_id']]}:{row['line']}: {row['text']}"
            for row in self.rows["events"]
            if row["severity"] == "error"
        ]


def to_frame(table: pa.Table) -> pd.DataFrame:
    """An Arrow table as pandas frame with Arrow-backed types."""
    import pandas as pd

    return table.to_pandas(types_mapper=pd.ArrowDtype)


def parse(
    *paths: Path | str,
    strict: bool = False,
    executor: Executor | None = None,
    explain: Callable[[str], None] | None = None,
    tool: str | None = None,
) -> Tables:
    """Parse files, archives or folders into tables.

    ``tool`` names the tool of sources in which no parser finds a log of its own, such as a list of bare numbers.
    ``strict`` turns the first error event into `LogError`. ``executor`` maps the files over its workers. ``explain`` is
    called with one line for each claim of each parser. Raises `LogError` for a path that cannot be read.
    """
    tables = Tables()
    if executor is None:
        for path in paths:
            for source in expand(path):
                if isinstance(source, SourceError):
                    raise LogError(str(source))
                tables.extend(parse_source(source, explain=explain, tool=tool))
    else:
        for part in executor.map(partial(parse, tool=tool), paths):
            tables.extend(part)
    if strict and (errors := tables.errors()):
        raise LogError(errors[0])
    return tables


def parse_source(source: Source, *, explain: Callable[[str], None] | None = None, tool: str | None = None) -> Tables:
    """Tables of one decoded source; never raises on odd text.

    ``tool`` is whose log it is where nothing in it says so; what the text itself shows is never overruled.
    """
    readings = _readings(source)
    if tool in parsers() and not any(reading.claims for reading in readings) and len(source.lines):
        readings = [_Reading(source, [Claim(0, tool, source.lines[0])])]
    chosen, best = readings[0], _read(readings[0])
    for reading in readings[1:]:
        recorder = _read(reading)
        if _unknown(recorder) < _unknown(best):
            chosen, best = reading, recorder
    if explain is not None:
        _explain(source, chosen.claims, explain)
    return _tables(best)


class _Reading(NamedTuple):
    """A text with what the parsers claim of it, and what was taken away from around its lines."""

    source: Source
    claims: list[Claim]
    wrapping: Unwrapped | None = None


def _readings(source: Source) -> list[_Reading]:
    """The source as it stands and, where that shows as many logs, the same without what stands around its lines.

    The latter alone where more logs are recognised in it; else that reading is right which leaves fewer unknown lines.
    """
    plain = _Reading(source, claims(source))
    most = _weight(plain.claims)
    best: list[_Reading] = []
    for proposal in candidates(source, claimed=bool(plain.claims), surely=most[0] > 0):
        found = claims(sample(proposal.source))
        if _weight(found) > most:
            most, best = _weight(found), []
        if found and _weight(found) == most:
            best = [*best, _Reading(proposal.source, found, proposal)][-_MOST_READINGS:]
    best = [reading._replace(claims=claims(reading.source)) for reading in best]
    return best if best and most[0] > _weight(plain.claims)[0] else [plain, *best]


def _weight(found: list[Claim]) -> tuple[int, int]:
    """Claims that begin a log, then all of them."""
    return sum(not claim.weak for claim in found), len(found)


def _unknown(recorder: Recorder) -> int:
    return recorder.ledger.counts()["lines_unknown"]


def _read(reading: _Reading) -> Recorder:
    """Everything in one text, written into a recorder of its own."""
    source, found, wrapping = reading
    recorder = Recorder(source)
    if wrapping is not None:
        recorder.event("unwrapped", "info", f"{wrapping.what}: no part of the log", wrapping.line)
    done = cut(source, found)
    for log in done.logs:
        _parse_log(recorder, log)
    for conflict in done.conflicts:
        names = " and ".join(f"{claim.tool}" for claim in conflict)
        recorder.event(
            "ambiguous_format",
            "error",
            f"claimed by {names}: {conflict[0].line.text.strip()!r}; keep one tool a file",
            conflict[0].line.number,
        )
    unknown = settle(source, recorder.ledger, done)
    if source.text and not source.text.endswith("\n") and recorder.ledger.of(source.line_count) == DATA:
        text = "the text ends without a line feed: its last line may be cut short"
        recorder.event("no_final_line_feed", "info", text, source.line_count)
    _unknown_lines(recorder, unknown)
    if not recorder.rows["runs"] and not done.conflicts:
        what = "empty file" if source.line_count == 0 else f"no log of a known tool ({', '.join(parsers())})"
        recorder.event("not_recognised", "error", f"{what}; see azlatency parse --explain", 1)
    return recorder


def _parse_log(recorder: Recorder, log: Any) -> None:
    """One log through its parser, a defect of which must not lose the other logs of the source."""
    before = len(recorder.rows["runs"])
    try:
        parsers()[log.tool].parse(log, recorder)
    except Exception as error:  # a defect of the parser or plug-in
        recorder.event(
            "parser_failed", "error", f"the {log.tool} parser failed ({error!r}); please report it", log.first_line
        )
    for row in recorder.rows["runs"][before:]:
        row["heading"] = " / ".join(log.headings) or None
        row["command"] = row.get("command") or log.command


def _unknown_lines(recorder: Recorder, unknown: list[int]) -> None:
    """An event for each unknown line, with the text of its first one and the run it stands in."""
    texts = texts_of(recorder.source.lines, set(unknown)) if unknown else {}
    runs = sorted(recorder.rows["runs"], key=lambda row: row["first_line"])
    begins = [row["first_line"] for row in runs]
    furthest = list(accumulate((row["last_line"] for row in runs), max))
    for number in unknown:
        at = bisect_right(begins, number) - 1
        while at >= 0 and runs[at]["last_line"] < number <= furthest[at]:
            at -= 1
        run_id = runs[at]["run_id"] if at >= 0 and number <= furthest[at] else None
        text = texts.get(number, "").strip()
        recorder.event("unknown_line", "warning", f"no rule matches {text[:120]!r}", number, run_id)


def _tables(recorder: Recorder) -> Tables:
    source = recorder.source
    row: Row = {
        "source_id": source.source_id,
        "path": source.path,
        "sha256": source.sha256,
        "size_bytes": source.size_bytes,
        "encoding": source.encoding,
        **recorder.ledger.counts(),
        "imported_at": datetime.now(UTC).replace(microsecond=0),
        "parser_version": parser_version(),
    }
    events = sorted(recorder.rows["events"], key=lambda event: event["line"])
    return Tables({"sources": [row], **recorder.rows, "events": events}, recorder.samples)


def _explain(source: Source, found: list[Claim], say: Callable[[str], None]) -> None:
    """Which tool claimed which line."""
    if not found:
        say(f"{source.path}: no parser claims a line of it")
    for claim in found:
        strength = "weak claim" if claim.weak else "claim"
        say(f"{source.path}:{claim.line.number}: {strength} of {claim.tool}: {claim.line.text.strip()[:120]!r}")


def _sample_table(block: SampleBlock, arrow_schema: pa.Schema) -> pa.Table:
    import pyarrow as pa

    count = len(block.seq)
    columns = {
        "run_id": pa.repeat(pa.scalar(block.run_id), count),
        "tool": pa.repeat(pa.scalar(block.tool), count),
        "seq": _integers(block.seq),
        "sent_ns": _integers(block.sent_ns),
        "rtt_ns": _integers(block.rtt_ns),
        "status": pa.array(block.status, pa.string()),
        "low_ns": pa.nulls(count, pa.int64()) if block.low_ns is None else _integers(block.low_ns),
        "high_ns": pa.nulls(count, pa.int64()) if block.high_ns is None else _integers(block.high_ns),
    }
    return pa.table(columns, schema=arrow_schema)


def _integers(values: Sequence[int | None]) -> pa.Array:
    import numpy as np
    import pyarrow as pa

    # What has its numbers side by side in memory is copied in one piece.
    return pa.array(np.frombuffer(values, dtype=np.int64) if isinstance(values, array) else values, pa.int64())


def _sample_rows(blocks: list[SampleBlock]) -> Iterator[Row]:
    for block in blocks:
        low = block.low_ns if block.low_ns is not None else [None] * len(block.seq)
        high = block.high_ns if block.high_ns is not None else [None] * len(block.seq)
        columns = zip(block.seq, block.sent_ns, block.rtt_ns, block.status, low, high, strict=True)
        for values in columns:
            plain = [value.as_py() if hasattr(value, "as_py") else value for value in values]
            names = ("seq", "sent_ns", "rtt_ns", "status", "low_ns", "high_ns")
            yield {"run_id": block.run_id, "tool": block.tool, **dict(zip(names, plain, strict=True))}


def _plain(value: Any) -> Any:
    """A value as JSON knows it."""
    if isinstance(value, datetime):
        return value.isoformat().replace("+00:00", "Z")
    return value
