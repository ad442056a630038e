"""Reads logs into tables: parsers claim lines, each log is read by its parser, and every line is accounted for.

>>> import azlatency as az
>>> logs = az.parse("results/")             # doctest: +SKIP
>>> logs.metrics                            # doctest: +SKIP
"""

from __future__ import annotations

import warnings
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import partial
from itertools import chain, islice
from operator import itemgetter
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from azlatency.logs.grammar.command_line import describe_settings
from azlatency.logs.grammar.rules import BLANK, DATA, KNOWN, PROSE, UNKNOWN, UNMARKED, LineAccounting
from azlatency.logs.parsers import Log, Signature, load_parsers, parser_version
from azlatency.logs.parsers.common import record_no_data
from azlatency.logs.parsers.identities import check_identities
from azlatency.logs.recognise.claims import Claim, Claims, find_claims
from azlatency.logs.recognise.documents import find_document
from azlatency.logs.recognise.labels import JOINED, set_labels
from azlatency.logs.recognise.layers import add_layers
from azlatency.logs.recognise.segment import (
    Segments,
    classify_remaining_lines,
    find_lost_lines,
    find_named_tool,
    find_table,
    may_begin_line,
    segment,
)
from azlatency.logs.recognise.start_times import set_start_times
from azlatency.logs.record import Recorder, Row
from azlatency.logs.source.copied_files import CopiedFiles
from azlatency.logs.source.decode import Source, SourceError, has_control
from azlatency.logs.source.expand import expand
from azlatency.logs.source.large import LARGEST_WHOLE, FileText, TooLargeError
from azlatency.logs.source.lines import Line, unique_pieces
from azlatency.logs.source.unwrap import Unwrapped, propose_unwrapped, take_head
from azlatency.logs.tables import Logs

if TYPE_CHECKING:
    from concurrent.futures import Executor

_MOST_READINGS = 3
#: The wrapping of a large text is looked for in so many pieces of its lines.
_PIECES_OF_HEAD = 4
_END = 64
#: At most this many unknown lines have an event each.
_MOST_UNKNOWN = 2**20
#: In a file without a log, at most this many lines are compared with the results of the tools.
_MOST_NEAR = 1000
#: Code of the event for a line of prose that a rule of a parser would read.
LOST_LINE = "line_outside_log"
#: Code of the event of a file in a folder or archive that is no text: a document, a picture, a damaged archive.
UNREADABLE = "unreadable_file"
#: Code of the event of a file whose bytes are those of another one.
IDENTICAL = "identical_file"
#: What is said of a text that looks like no log.
NO_LOG = "no log of a known tool"


class LogError(ValueError):
    """An input that cannot be used. The message has the form ``file:line: what is wrong; what to do``."""

    def _render_traceback_(self) -> list[str]:
        """Show the message in a notebook without the lines of the library, which are not where the mistake is."""
        return [f"{type(self).__name__}: {self}"]


def parse(
    *paths: Path | str,
    strict: bool = False,
    executor: Executor | None = None,
    explain: Callable[[str], None] | None = None,
    tool: str | None = None,
) -> Logs:
    """Read logs into tables.

    Parameters
    ----------
    *paths : path-like
        Files, folders and archives (zip, tar; gzip, bzip2, xz and zstandard files are decompressed). Notes files and
        terminal sessions may contain several logs.
    strict : bool
        Raise `LogError` for the first error event instead of returning it in the table ``events``.
    executor : concurrent.futures.Executor, optional
        Reads the paths in parallel.
    explain : callable, optional
        Receives one line of text per claim of a parser. Ignored with ``executor``.
    tool : str, optional
        Tool to assume for a file in which no log is recognised, for example ``"latte"`` for the list of numbers that
        ``latte -dump`` writes.

    Returns
    -------
    Logs
        The tables of all files: ``sources``, ``runs``, ``metrics``, ``quantiles``, ``intervals``, ``samples``,
        ``histograms`` and ``events``, as pandas frames.

    Raises
    ------
    LogError
        If nothing of a path can be read, or with ``strict`` if a log contains an error. A file that cannot be read in a
        folder or archive with others is an event and a warning.

    Notes
    -----
    Latencies are round-trip times in nanoseconds, whatever the tool prints. Files with the same bytes are one run: the
    first is read, and an event names the others; they are two runs if times in their names differ. Text that no parser
    recognises never raises: it becomes an event. Every line is data, known, blank, prose or unknown, and the table
    ``sources`` counts them.

    Examples
    --------
    >>> import azlatency as az
    >>> logs = az.parse("data/raw/westeurope-availability-set-vs-zones")    # files, folders or archives
    >>> print(logs)
    Logs: 9 files, 8 runs, 1 error, 4 info events
      iperf3    2 runs: 2 complete
      ping      2 runs: 2 complete
      sockperf  4 runs: 4 complete
    """
    read = partial(_read_path, tool=tool) if executor is not None else partial(_iter_path, tool=tool, explain=explain)
    mapper = map if executor is None else executor.map
    copies, parts, copied = CopiedFiles(paths), [], []
    for part in chain.from_iterable(mapper(read, paths)):
        source = next(iter(part.rows["sources"]), None)
        original = copies.original_of(*(source[key] for key in ("source_id", "path", "size_bytes"))) if source else None
        if source is None or original is None:
            parts.append(part)
        else:
            copied.append((source, original))
    logs = join(parts, copies)
    for source, original in copied:
        text = f"{source['path']}: identical to {original}; counts once"
        source_id = copies.id_of(source["source_id"], original)
        logs.rows["events"].append({"source_id": source_id, "code": IDENTICAL, "severity": "info", "text": text})
    if strict and (errors := logs.errors()):
        raise LogError(errors[0])
    return logs


def _iter_path(path: Path | str, tool: str | None, explain: Callable[[str], None] | None = None) -> Iterator[Logs]:
    """Yield the tables of each source of a path, then an event for each source that cannot be read."""
    unreadable: list[str] = []
    is_empty = True
    for source in expand(path):
        if isinstance(source, SourceError):
            unreadable.append(str(source))
        else:
            is_empty = False
            yield parse_source(source, explain=explain, tool=tool)
    if unreadable and is_empty:
        raise LogError(unreadable[0])
    for message in unreadable:
        warnings.warn(message, stacklevel=3)
        yield Logs({**Logs().rows, "events": [{"code": UNREADABLE, "severity": "error", "text": message}]})


def _read_path(path: Path | str, tool: str | None) -> list[Logs]:
    """Return what `_iter_path` yields, which a worker cannot send one by one."""
    return list(_iter_path(path, tool))


def join(parts: Iterable[Logs], copies: CopiedFiles) -> Logs:
    """Return the tables of sources that are not copies together, each source with its id."""
    logs = Logs()
    for part in parts:
        ids = [copies.id_of(source["source_id"], source["path"]) for source in part.rows["sources"]]
        logs.extend(with_id(part, *ids) if ids else part)
    return logs


def with_id(logs: Logs, source_id: str) -> Logs:
    """Return the tables of one source with another id."""
    (source,) = logs.rows["sources"]
    start = len(source["source_id"])
    if source["source_id"] == source_id:
        return logs

    def renamed(row: Row) -> Row:
        ids = {name: source_id + row[name][start:] for name in ("source_id", "run_id") if row.get(name)}
        return {**row, **ids}

    rows = {name: [renamed(row) for row in rows] for name, rows in logs.rows.items()}
    blocks = [replace(block, run_id=source_id + block.run_id[start:]) for block in logs.sample_blocks]
    return Logs(rows, blocks)


def parse_source(source: Source, *, explain: Callable[[str], None] | None = None, tool: str | None = None) -> Logs:
    """Return the tables of one source; never raises on any text. For the parameters see `parse`."""
    if explain is None and (document := find_document(source)) is not None:
        return to_logs(_read_segments(Recorder(source), Segments([document], [False])))
    try:
        return to_logs(_read_best(source, explain, tool))
    except TooLargeError as error:
        recorder = Recorder(source)
        recorder.add_event("too_large", "error", str(error), error.line)
        return to_logs(recorder)


def _read_best(source: Source, explain: Callable[[str], None] | None, tool: str | None) -> Recorder:
    """Read a source as it is, or without its wrapping if fewer lines are lost that way."""
    plain = _Reading(source, find_claims(source))
    as_it_is = _read(plain) if plain.claims.weigh()[1] else None
    if explain is None and as_it_is is not None and _is_read_whole(as_it_is.accounting):
        return as_it_is
    readings = _possible_readings(plain)
    if tool in load_parsers() and not any(reading.claims.weigh()[1] for reading in readings) and len(source.lines):
        readings = [_Reading(source, Claims([Claim(0, tool)]))]
    chosen = readings[0]
    best = as_it_is if as_it_is is not None and chosen is plain else _read(chosen)
    for reading in readings[1:]:
        recorder = _read(reading)
        if _cost(recorder) < _cost(best):
            chosen, best = reading, recorder
    if explain is not None:
        _explain(source, chosen.claims, explain)
    return best


class _Reading(NamedTuple):
    """A text with the claims on it, and the wrapping that was removed from it."""

    source: Source
    claims: Claims
    wrapping: Unwrapped | None = None


def _possible_readings(plain: _Reading) -> list[_Reading]:
    """Return the source as it is, and without its wrapping if at least as many logs are recognised that way.

    If more logs are recognised without the wrapping, only those readings are returned. Otherwise the caller chooses
    the reading with the fewest unknown lines.
    """
    source, most = plain.source, plain.claims.weigh()
    shown = source
    if isinstance(source.text, FileText):
        # Lines that differ only in their digits are wrapped in the same way.
        others = (text for text, _ in islice(unique_pieces(source.lines), _PIECES_OF_HEAD))
        shown = replace(source, text="\n".join([take_head(source).whole_text, *others]))
    proposals: list[Unwrapped] = []
    for proposal in propose_unwrapped(shown, claimed=most[1] > 0, begins=most[0] > 0):
        claims = find_claims(proposal.head(source))
        if claims.weigh() > most:
            most, proposals = claims.weigh(), []
        if claims.weigh()[1] and claims.weigh() == most:
            proposals = [*proposals, proposal][-_MOST_READINGS:]
    unwrapped = (proposal.unwrap_all(source) for proposal in proposals)
    best = [_Reading(proposal.source, find_claims(proposal.source), proposal) for proposal in unwrapped]
    return best if best and most[0] > plain.claims.weigh()[0] else [plain, *best]


def _is_read_whole(accounting: LineAccounting) -> bool:
    """Return whether the logs account for every line, so that no wrapping can hide another log."""
    kinds = accounting.kinds
    return UNKNOWN not in kinds and PROSE not in kinds and UNMARKED not in kinds


def _cost(recorder: Recorder) -> tuple[int, int]:
    """Return the number of lines that this reading loses, then minus the number of lines with data."""
    counts = recorder.accounting.counts()
    lost = sum(event["code"] == LOST_LINE for event in recorder.rows["events"])
    return counts["lines_unknown"] + lost, -counts["lines_data"]


def _read(reading: _Reading) -> Recorder:
    """Read one text into a recorder of its own."""
    source, claims, wrapping = reading
    recorder = Recorder(source)
    if wrapping is not None:
        recorder.add_event("unwrapped", "info", f"{wrapping.what} are not part of the log", wrapping.line)
    segments = segment(source, claims)
    if wrapping is not None and wrapping.layers:
        add_layers(segments, source, wrapping.layers)
    return _read_segments(recorder, segments)


def _read_segments(recorder: Recorder, segments: Segments) -> Recorder:
    """Read the logs of a text, and classify and report the lines that no parser read."""
    source = recorder.source
    refused: set[str] = set()
    foreign = {source.lines[claim.position].number for claim in segments.foreign}
    for log in segments.logs:
        above_foreign = bool(foreign) and log.last_line + 1 in foreign
        if log.tool not in refused and not _parse_log(recorder, log, above_foreign=above_foreign):
            refused.add(log.tool)
    for conflict in segments.conflicts:
        tools = " and ".join(claim.tool for claim in conflict)
        line = source.lines[conflict[0].position]
        text = f"both {tools} claim {line.text.strip()!r}; put each tool's output in its own file"
        recorder.add_event("ambiguous_format", "error", text, line.number)
    for claim in segments.foreign:
        text = f"this is output of {claim.tool}, which azlatency does not read"
        recorder.add_event("foreign_tool", "warning", text, source.lines[claim.position].number)
    check_identities(recorder, {tool: parser.identities for tool, parser in load_parsers().items()})
    _fail_contradicted_runs(recorder)
    # Without a log in a very large text, or if a log is refused, one event says it all.
    skip = bool(refused) or (not segments.logs and source.size_bytes > LARGEST_WHOLE)
    if not _is_read_whole(recorder.accounting):
        set_start_times(source, recorder, segments.prose_lines)
    is_read_whole = _is_read_whole(recorder.accounting)
    if not (skip or is_read_whole):
        classify_remaining_lines(source, recorder.accounting, segments)
    if not skip and (not is_read_whole or len(recorder.rows["runs"]) > 1):
        set_labels(source, recorder.accounting, segments.prose_lines, recorder.rows["runs"], segments.logs)
    lost = () if is_read_whole else find_lost_lines(source, recorder.accounting, segments)
    near: dict[str, int] = {}
    for line, owner in islice(lost, _MOST_UNKNOWN):
        near.setdefault(owner, line.number)
        text = (
            f"{line.text.strip()[:120]!r} looks like a result of {owner}, but stands outside a log; copy the whole log"
        )
        recorder.add_event(LOST_LINE, "warning", text, line.number)
    unfinished = source.line_count and not source.text.endswith("\n")
    if unfinished and recorder.accounting.kind_of(source.line_count) == DATA:
        text = "the log ends mid-line: its last line may be truncated"
        recorder.add_event("no_final_line_feed", "info", text, source.line_count)
    if unfinished:
        _truncate_last_run(recorder)
    if not (skip or is_read_whole):
        _add_unknown_lines(recorder)
    if not recorder.rows["runs"] and not segments.conflicts and not refused:
        _report_no_log(recorder, segments, near)
    return recorder


def _report_no_log(recorder: Recorder, segments: Segments, near: dict[str, int]) -> None:
    """Say why a text has no log: ``near`` has the first line that looks like a result of a tool, by its name."""
    source, accounting = recorder.source, recorder.accounting
    if not segments.foreign and accounting.kinds.count(UNKNOWN) <= _MOST_NEAR:
        for line, owner in find_lost_lines(source, accounting, segments, UNKNOWN):
            near.setdefault(owner, line.number)
    what = "empty file" if source.line_count == 0 else NO_LOG
    named = None if near or segments.foreign else find_named_tool(source, accounting)
    if not near and (titles := find_table(source, accounting)):
        what = f"line {titles} begins a table of results, which is not read; give the logs that it was made from"
    elif named is not None:
        what = f"no log begins here: line {named[0]} names {named[1]}, but no result of it is read"
    if near:
        lines = ", ".join(f"line {line} looks like a result of {owner}" for owner, line in near.items())
        what = f"no log begins here: {lines}, but the lines that begin its log are missing"
    if segments.foreign:
        names = ", ".join(dict.fromkeys(claim.tool for claim in segments.foreign))
        what = f"{what}, but output of {names}, which azlatency does not read"
    recorder.add_event("not_recognised", "error", f"{what}; see azlatency parse --explain", 1)


def _parse_log(recorder: Recorder, log: Log, *, above_foreign: bool) -> bool:
    """Read one log with its parser; return whether it fits into memory.

    ``above_foreign``: the output of a tool that no parser reads follows, and the last line may be its banner.

    A defect of the parser must not lose the other logs of the source.
    """
    earlier, fits, parser = len(recorder.rows["runs"]), True, load_parsers()[log.tool]
    try:
        if recorder.source.size_bytes > LARGEST_WHOLE and not parser.reads_any_size:
            what = f"logs of {log.tool} in a file of more than {LARGEST_WHOLE} bytes do not fit into memory"
            raise TooLargeError(f"{what}; split the file", log.first_line)
        parser.parse(log, recorder)
        if not log.is_document:
            _tell_begun_runs(recorder, log, recorder.rows["runs"][earlier:], above_foreign=above_foreign)
    except TooLargeError as error:
        recorder.add_event("too_large", "error", str(error), error.line)
        fits = False
    except Exception as error:  # a defect of the parser or plug-in
        text = f"the {log.tool} parser failed ({error!r}); please report it"
        recorder.add_event("parser_failed", "error", text, log.first_line)

    heading = JOINED.join(log.headings) or None
    for row in recorder.rows["runs"][earlier:]:
        row["heading"] = heading
        row["command"] = row.get("command") or log.command
        if row["command"]:
            describe_settings(row, parser.commands, parser.options, parser.switches, parser.flags, parser.neutral)
    return fits


def _tell_begun_runs(recorder: Recorder, log: Log, runs: Sequence[Row], *, above_foreign: bool) -> None:
    """Tell of each further run that a log was cut within: lines that begin one, and no result.

    Below all runs, any such line shows it; above a run, one that stands there again. For ``above_foreign`` see
    `_parse_log`.
    """
    end = log.first_line - 1
    for run in sorted(runs, key=itemgetter("first_line")):
        begun: dict[Signature, Line] = {}
        for line, signature in _beginnings(recorder, log, end, run["first_line"]):
            if signature in begun:
                text = "a run begins here, but another one follows before any result of it; copy the whole log"
                recorder.add_event("no_data", "error", text, begun[signature].number)
                begun.clear()
            if not signature.inner:
                begun[signature] = line
        end = max(end, run["last_line"])
    below = [] if above_foreign else list(_beginnings(recorder, log, end, log.last_line))
    if below and not below[-1][1].inner:
        at = next(index for index, line in enumerate(log.lines) if line.number == below[0][0].number)
        text = "a further run begins here, but the log ends before any result of it; copy the whole log"
        record_no_data(recorder, replace(log, lines=log.lines[at:]), text)


def _beginnings(recorder: Recorder, log: Log, above: int, last: int) -> Iterator[tuple[Line, Signature]]:
    """Yield the lines below a line, up to another one, that a signature of the log's tool matches and that are read."""
    if above >= last:
        return
    start, stop = (bisect_right(log.lines, number, key=itemgetter(0)) for number in (above, last))
    for line in log.lines[start:stop]:
        text = line.text.strip()
        for signature in load_parsers()[log.tool].signatures:
            if (
                signature.hint in text
                and signature.then is None
                and recorder.accounting.kind_of(line.number) in (KNOWN, DATA)
                and signature.pattern.fullmatch(text)
            ):
                yield line, signature
                break


def _fail_contradicted_runs(recorder: Recorder) -> None:
    """Mark the complete runs with an error event as failed: their numbers exclude each other."""
    wrong = {event["run_id"] for event in recorder.rows["events"] if event["severity"] == "error"}
    for run in recorder.rows["runs"]:
        if run["status"] == "complete" and run["run_id"] in wrong:
            run["status"] = "failed"


def _truncate_last_run(recorder: Recorder) -> None:
    """Mark the last run as truncated if it extends to the last line, which has no line feed and is not whole.

    It is not whole if it is unknown, or known and ends with a colon.
    """
    source, number = recorder.source, recorder.source.line_count
    kind = recorder.accounting.kind_of(number)
    end = _end_of(source.text)
    if kind == KNOWN and end and not (end.endswith(":") or has_control(end)):
        return  # without building the lines of a JSON document
    text = source.lines[-1].text.rstrip()
    if not (kind == UNKNOWN or (kind == KNOWN and text.endswith(":"))):
        return
    run = max(recorder.rows["runs"], key=lambda run: run["last_line"], default=None)
    if run is None or run["status"] != "complete":
        return
    above = number - 1
    while above > run["last_line"] and recorder.accounting.kind_of(above) == BLANK:
        above -= 1
    if above > run["last_line"] and recorder.accounting.kind_of(above) not in (DATA, KNOWN):
        return
    # Below a blank line, any other text may be a note.
    is_below_blank = recorder.accounting.kind_of(number - 1) == BLANK
    if kind == KNOWN or not is_below_blank or may_begin_line(run["tool"], text):
        run["status"] = "truncated"
        text = "the log ends within this line; the results above it are kept"
        recorder.add_event("truncated", "warning", text, number, run["run_id"])


def _end_of(text: str | FileText) -> str:
    """Return the last characters of a text, without blanks at its end."""
    start = max(len(text) - _END, 0)
    end = text.read(start, len(text)).decode("utf-8", "replace") if isinstance(text, FileText) else text[start:]
    return end.rstrip()


def _add_unknown_lines(recorder: Recorder) -> None:
    """Add an event for each stretch of unknown lines, with the text of the first one and the run that contains it."""
    find = partial(recorder.accounting.find, UNKNOWN)
    if not find(0):
        return
    runs = iter(sorted(recorder.rows["runs"], key=itemgetter("first_line")))
    following, begun = next(runs, None), list[Row]()
    stretch: _Stretch | None = None
    for count, (number, text) in enumerate(recorder.source.find_texts(find)):
        if count == _MOST_UNKNOWN:
            what = f"from here on, unknown lines are only counted: there are more than {_MOST_UNKNOWN:,}"
            recorder.add_event("too_large", "error", f"{what}; check that the file is a log", number)
            break
        while following is not None and following["first_line"] <= number:
            _not_above(following["first_line"], begun).append(following)
            following = next(runs, None)
        _not_above(number, begun)
        run_id = begun[-1]["run_id"] if begun else None
        if stretch is not None and (stretch.last + 1, stretch.run_id) == (number, run_id):
            stretch.last = number
            continue
        _add_stretch(recorder, stretch)
        stretch = _Stretch(number, number, text.strip()[:120], run_id)
    _add_stretch(recorder, stretch)


@dataclass
class _Stretch:
    """Unknown lines that follow each other within one run."""

    first: int
    last: int
    text: str
    run_id: str | None


def _add_stretch(recorder: Recorder, stretch: _Stretch | None) -> None:
    if stretch is not None:
        more = f" and the lines up to {stretch.last}" if stretch.last > stretch.first else ""
        text = f"no rule matches {stretch.text!r}{more}"
        recorder.add_event("unknown_line", "warning", text, stretch.first, stretch.run_id)


def _not_above(line: int, runs: list[Row]) -> list[Row]:
    """Return runs without the last ones that end above a line."""
    while runs and runs[-1]["last_line"] < line:
        runs.pop()
    return runs


def to_logs(recorder: Recorder) -> Logs:
    """Return the tables of what was read of one source."""
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
    recorder.rows["events"].sort(key=itemgetter("line"))
    return Logs({"sources": [row], **recorder.rows}, recorder.samples)


def _explain(source: Source, claims: Claims, write: Callable[[str], None]) -> None:
    """Write which parser claims which line."""
    if not claims:
        write(f"{source.path}: no parser claims a line")
    for claim in claims:
        strength = "weak claim" if claim.weak else "claim"
        line = source.lines[claim.position]
        write(f"{source.path}:{line.number}: {strength} of {claim.tool}: {line.text.strip()[:120]!r}")
