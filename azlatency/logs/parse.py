"""Sources -> tables: claims collected, logs cut out, each read by its parser, every line accounted for.

>>> import azlatency as az
>>> logs = az.parse("run.log")              # doctest: +SKIP
>>> logs.metrics                            # doctest: +SKIP
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable
from concurrent.futures import Executor
from datetime import UTC, datetime
from functools import partial
from itertools import accumulate
from pathlib import Path
from typing import Any, NamedTuple

from azlatency.logs.claims import Claim, find_claims
from azlatency.logs.decode import Source, SourceError, expand
from azlatency.logs.grammar import DATA
from azlatency.logs.lines import texts_by_number
from azlatency.logs.parsers import load_parsers, parser_version
from azlatency.logs.record import Recorder, Row
from azlatency.logs.segment import classify_remaining_lines, segment
from azlatency.logs.tables import Logs
from azlatency.logs.unwrap import Unwrapped, propose_unwrapped, take_head

_MOST_READINGS = 3


class LogError(ValueError):
    """A log that cannot be used, as ``file:line: what, and what to do``."""


def parse(
    *paths: Path | str,
    strict: bool = False,
    executor: Executor | None = None,
    explain: Callable[[str], None] | None = None,
    tool: str | None = None,
) -> Logs:
    """Parse files, archives or folders into logs.

    ``tool`` names the tool of sources in which no parser finds a log of its own, such as a list of bare numbers.
    ``strict`` turns the first error event into `LogError`. ``executor`` maps the files over its workers. ``explain`` is
    called with one line for each claim of each parser. Raises `LogError` for a path that cannot be read.
    """
    logs = Logs()
    if executor is None:
        for path in paths:
            for source in expand(path):
                if isinstance(source, SourceError):
                    raise LogError(str(source))
                logs.extend(parse_source(source, explain=explain, tool=tool))
    else:
        for part in executor.map(partial(parse, tool=tool), paths):
            logs.extend(part)
    if strict and (errors := logs.errors()):
        raise LogError(errors[0])
    return logs


def parse_source(source: Source, *, explain: Callable[[str], None] | None = None, tool: str | None = None) -> Logs:
    """Tables of one decoded source; never raises on odd text.

    ``tool`` is whose log it is where nothing in it says so; what the text itself shows is never overruled.
    """
    readings = _readings(source)
    if tool in load_parsers() and not any(reading.claims for reading in readings) and len(source.lines):
        readings = [_Reading(source, [Claim(0, tool, source.lines[0])])]
    chosen, best = readings[0], _read(readings[0])
    for reading in readings[1:]:
        recorder = _read(reading)
        if _unknown(recorder) < _unknown(best):
            chosen, best = reading, recorder
    if explain is not None:
        _explain(source, chosen.claims, explain)
    return _to_logs(best)


class _Reading(NamedTuple):
    """A text with what the parsers claim of it, and what was taken away from around its lines."""

    source: Source
    claims: list[Claim]
    wrapping: Unwrapped | None = None


def _readings(source: Source) -> list[_Reading]:
    """The source as it stands and, where that shows as many logs, the same without what stands around its lines.

    The latter alone where more logs are recognised in it; else that reading is right which leaves fewer unknown lines.
    """
    plain = _Reading(source, find_claims(source))
    most = _weight(plain.claims)
    best: list[_Reading] = []
    for proposal in propose_unwrapped(source, claimed=bool(plain.claims), surely=most[0] > 0):
        found = find_claims(take_head(proposal.source))
        if _weight(found) > most:
            most, best = _weight(found), []
        if found and _weight(found) == most:
            best = [*best, _Reading(proposal.source, found, proposal)][-_MOST_READINGS:]
    best = [reading._replace(claims=find_claims(reading.source)) for reading in best]
    return best if best and most[0] > _weight(plain.claims)[0] else [plain, *best]


def _weight(found: list[Claim]) -> tuple[int, int]:
    """Claims that begin a log, then all of them."""
    return sum(not claim.weak for claim in found), len(found)


def _unknown(recorder: Recorder) -> int:
    return recorder.accounting.counts()["lines_unknown"]


def _read(reading: _Reading) -> Recorder:
    """Everything in one text, written into a recorder of its own."""
    source, found, wrapping = reading
    recorder = Recorder(source)
    if wrapping is not None:
        recorder.add_event("unwrapped", "info", f"{wrapping.what}: no part of the log", wrapping.line)
    done = segment(source, found)
    for log in done.logs:
        _parse_log(recorder, log)
    for conflict in done.conflicts:
        names = " and ".join(f"{claim.tool}" for claim in conflict)
        recorder.add_event(
            "ambiguous_format",
            "error",
            f"claimed by {names}: {conflict[0].line.text.strip()!r}; keep one tool a file",
            conflict[0].line.number,
        )
    unknown = classify_remaining_lines(source, recorder.accounting, done)
    if source.text and not source.text.endswith("\n") and recorder.accounting.of(source.line_count) == DATA:
        text = "the text ends without a line feed: its last line may be cut short"
        recorder.add_event("no_final_line_feed", "info", text, source.line_count)
    _unknown_lines(recorder, unknown)
    if not recorder.rows["runs"] and not done.conflicts:
        what = "empty file" if source.line_count == 0 else f"no log of a known tool ({', '.join(load_parsers())})"
        recorder.add_event("not_recognised", "error", f"{what}; see azlatency parse --explain", 1)
    return recorder


def _parse_log(recorder: Recorder, log: Any) -> None:
    """One log through its parser, a defect of which must not lose the other logs of the source."""
    before = len(recorder.rows["runs"])
    try:
        load_parsers()[log.tool].parse(log, recorder)
    except Exception as error:  # a defect of the parser or plug-in
        recorder.add_event(
            "parser_failed", "error", f"the {log.tool} parser failed ({error!r}); please report it", log.first_line
        )
    for row in recorder.rows["runs"][before:]:
        row["heading"] = " / ".join(log.headings) or None
        row["command"] = row.get("command") or log.command


def _unknown_lines(recorder: Recorder, unknown: list[int]) -> None:
    """An event for each unknown line, with the text of its first one and the run it stands in."""
    texts = texts_by_number(recorder.source.lines, set(unknown)) if unknown else {}
    runs = sorted(recorder.rows["runs"], key=lambda row: row["first_line"])
    begins = [row["first_line"] for row in runs]
    furthest = list(accumulate((row["last_line"] for row in runs), max))
    for number in unknown:
        at = bisect_right(begins, number) - 1
        while at >= 0 and runs[at]["last_line"] < number <= furthest[at]:
            at -= 1
        run_id = runs[at]["run_id"] if at >= 0 and number <= furthest[at] else None
        text = texts.get(number, "").strip()
        recorder.add_event("unknown_line", "warning", f"no rule matches {text[:120]!r}", number, run_id)


def _to_logs(recorder: Recorder) -> Logs:
    source = recorder.source
    row: Row = {
        "source_id": source.source_id,
        "path": source.path,
        "sha256": source.sha256,
        "size_bytes": source.size_bytes,
        "encoding": source.encoding,
        **recorder.accounting.counts(),
        "imported_at": datetime.now(UTC).replace(microsecond=0),
        "parser_version": parser_version(),
    }
    events = sorted(recorder.rows["events"], key=lambda event: event["line"])
    return Logs({"sources": [row], **recorder.rows, "events": events}, recorder.samples)


def _explain(source: Source, found: list[Claim], say: Callable[[str], None]) -> None:
    """Which tool claimed which line."""
    if not found:
        say(f"{source.path}: no parser claims a line of it")
    for claim in found:
        strength = "weak claim" if claim.weak else "claim"
        say(f"{source.path}:{claim.line.number}: {strength} of {claim.tool}: {claim.line.text.strip()[:120]!r}")
