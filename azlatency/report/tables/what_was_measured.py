"""Tables of the page "What was measured"."""

from __future__ import annotations

from collections.abc import Mapping
from operator import itemgetter
from typing import TYPE_CHECKING, Any, NamedTuple

from azlatency.kit.cells import Column, FileRef, Ref, RunsRef, Table, interval, number, text, words
from azlatency.kit.objects import Note
from azlatency.kit.units import in_unit
from azlatency.report.tables.common import COUNT, MANY_FILES, METHOD, PRINTED, by_name, from_runs, spaced, whole_file
from azlatency.studies.runs.groups import grouped
from azlatency.studies.store.hosts import differing_facts

if TYPE_CHECKING:
    import pandas as pd

    from azlatency.studies.store.study import Study

_MANY_PLACES = 20
_NOT_SAID = "not said"
_SEVERITIES = {"error": 0, "warning": 1, "info": 2}
_MANIFEST = {
    "question": "Question",
    "region": "Region",
    "vm_size": "VM size",
    "accelerated_networking": "Accelerated networking",
    "placement": "Placement",
    "date": "Date",
    "source": "Source",
    "notes": "Notes",
}


def about(study: Study) -> Table[tuple[str, str, str]]:
    """Return what the study's manifest says about it."""
    rows = [(key, title, text(study.info.get(key)) or _NOT_SAID) for key, title in _MANIFEST.items()]
    if study.info.get("emulated"):
        rows.insert(1, ("emulated", "Emulated", "yes: a lab with configured delays, not a cloud"))
    columns: list[Column[tuple[str, str, str]]] = [
        Column("what", lambda row: row[1]),
        Column("as the manifest says", lambda row: row[2]),
    ]
    title = str(study.info.get("title", study.name))
    return Table(title, columns, rows, source=lambda row: [FileRef("study.toml", row[0])])


def host_differences(study: Study) -> Table[tuple[str, str, list[str]]] | None:
    """Return the facts in which the machines of a study differ; None if none is known to differ."""
    differing = differing_facts(study.hosts)
    rows = [(fact, value, hosts) for fact, values in differing.items() for value, hosts in values.items()]
    if not rows:
        return None
    columns: list[Column[tuple[str, str, list[str]]]] = [
        Column("what", lambda row: row[0]),
        Column("value", lambda row: row[1]),
        Column("machines", lambda row: "; ".join(row[2])),
    ]
    note = (
        "A difference between paths may be one between machines. "
        "As the script of the measurement recorded it; a fact that a machine did not tell is left out."
    )
    return Table("What differs between the machines", columns, rows, [note])


def inventory(runs: pd.DataFrame) -> Table[tuple[str, dict[str, list[str]]]] | Note:
    """Return the number of runs by path (rows) and method (columns); ``runs`` as `run_table` returns them."""
    if not len(runs):
        return Note("This study has no logs: its numbers come from a text or a specification (below).")
    rows: dict[str, dict[str, list[str]]] = {path: {} for path in runs["path"]}
    for run_id, path, method in zip(runs.index, runs["path"], runs["method"], strict=True):
        rows[path].setdefault(method, []).append(str(run_id))
    columns: list[Column[tuple[str, dict[str, list[str]]]]] = [
        Column("path", lambda row: row[0]),
        *(_count_of(method) for method in dict.fromkeys(runs["method"])),
    ]
    return Table("Runs by path and method", columns, list(rows.items()), source=_inventoried)


def _count_of(method: str) -> Column[tuple[str, dict[str, list[str]]]]:
    return Column(method, lambda row: len(row[1].get(method, ())) or None, number(",.0f", missing="–"))


def _inventoried(row: tuple[str, dict[str, list[str]]]) -> list[Ref]:
    return [RunsRef(tuple(run_id for run_ids in row[1].values() for run_id in run_ids))]


def quantities(evidence: pd.DataFrame) -> Table[Any] | Note:
    """Return what each latency method printed, and the evidence for it.

    ``evidence`` as `azlatency.stats.unit_checks.printed_quantities` returns it.
    """
    if not len(evidence):
        return Note("No log of this study prints a latency.")
    columns: list[Column[Any]] = [
        METHOD,
        Column("the log prints", lambda row: PRINTED.get(row.printed_as, row.printed_as)),
        Column("to RTT", lambda row: "× 2" if row.printed_as == "half_round_trip" else "× 1", align="right"),
        Column("runs", lambda row: row.runs, COUNT),
        Column("n · mean ÷ duration", lambda row: (row.share_low, row.share_high), interval(".3f")),
        Column("evidence", lambda row: row.verdict),
    ]
    note = (
        "A closed loop sends the next probe when the last one is answered: n · mean ÷ duration is near 1 if the tool "
        "prints round-trip times, and near ½ if it prints RTT/2."
    )
    rows = list(evidence.itertuples(index=False))
    return Table("What each tool printed", columns, rows, [note], from_runs("latency"))


class Headlines(NamedTuple):
    """The first numbers that the tools printed for a path, by "method, quantity"."""

    path: str
    numbers: dict[str, Any]
    conclusion: str


def headline(headlines: pd.DataFrame, runs: pd.DataFrame) -> Table[Headlines] | Note:
    """Return the headline numbers as printed, and the conclusions that they support.

    ``headlines``: `azlatency.stats.unit_checks.headline_numbers` of ``runs``.
    """
    if not len(headlines):
        return Note("No run of this study prints a headline number.")
    numbers: dict[str, dict[str, Any]] = {}
    for row in headlines.itertuples(index=False):
        numbers.setdefault(str(row.path), {})[f"{row.method}, {row.quantity}"] = row
    rows = [Headlines(path, cells, _repeated(runs[runs["path"] == path])) for path, cells in numbers.items()]
    columns: list[Column[Headlines]] = [Column("path", lambda row: row.path)]
    columns += [_headline_column(name) for name in dict.fromkeys(name for row in rows for name in row.numbers)]
    columns.append(Column("conclusion", lambda row: row.conclusion))
    note = "Printed tokens, unchanged. Do not compare columns: they are different quantities."
    return Table("The headline numbers as printed", columns, rows, [note])


def _headline_column(name: str) -> Column[Headlines]:
    def source(row: Headlines) -> list[Ref]:
        number = row.numbers.get(name)
        line = None if number is None or text(number.line) == "" else int(number.line)
        return [] if number is None else [RunsRef((number.run_id,), "printed", line)]

    def printed(row: Headlines) -> str:
        return row.numbers[name].printed if name in row.numbers else ""

    return Column(name, printed, words(missing="–"), align="right", source=source)


def _repeated(runs: pd.DataFrame) -> str:
    """Return what the first runs of a path support."""
    counts = grouped(runs, "method").size()
    several = int((counts > 1).sum())
    if not several:
        return "one run per method: describes these connections, not the path"
    return f"first of several runs by {several} of {len(counts)} methods; see the intervals of the path"


_LINES = ("lines", "lines_data", "lines_known", "lines_blank", "lines_prose", "lines_unknown")


def ledger(study: Study) -> Table[Any] | Note:
    """Return how every line of every file was accounted for; of many files, those with unknown lines."""
    sources = by_name(study.sources)
    if not len(sources):
        return Note("No files.")
    unknown = sources["lines_unknown"]
    notes = [f"{len(sources)} files, {sources['lines'].sum():,} lines, {unknown.sum():,} unknown."]
    listed = sources
    if len(sources) > MANY_FILES:
        listed = sources[unknown > 0].head(MANY_FILES)
        notes.append(f"Files without unknown lines ({(unknown == 0).sum()}) are only in the total.")
    total = {"path": "all files", **{name: sources[name].sum() for name in _LINES}}
    columns = [
        Column("file", itemgetter("path")),
        *(Column(name.removeprefix("lines_"), itemgetter(name), COUNT) for name in _LINES),
    ]

    def source(row: Any) -> list[Ref]:
        return [whole_file(file) for file in (sources.itertuples(index=False) if row is total else [row])]

    rows = [*(row for _, row in listed.iterrows()), total]
    return Table("Every line accounted for", columns, rows, notes, source)


class EventGroup(NamedTuple):
    """The events of one code and severity."""

    code: str
    severity: str
    events: pd.DataFrame
    first_place: str


def events(study: Study) -> Table[EventGroup] | Note:
    """Return the parsers' events: code, count, and the first place."""
    if not len(study.events):
        return Note("The parsers reported no events.")
    paths = dict(zip(study.sources["source_id"], study.sources["path"], strict=True))
    rows = []
    for (code, severity), group in grouped(study.events, ["code", "severity"]):
        first = group.iloc[0]
        place = f"{paths.get(first['source_id'], '')}:{first['line']}"
        rows.append(EventGroup(str(code), str(severity), group, place))
    columns: list[Column[EventGroup]] = [
        Column("code", lambda row: row.code),
        Column("severity", lambda row: row.severity),
        Column("times", lambda row: len(row.events), COUNT),
        Column("first place", lambda row: row.first_place),
        Column("text there", lambda row: str(row.events.iloc[0]["text"])),
    ]
    rows.sort(key=lambda row: (_SEVERITIES[row.severity], row.code))
    return Table("Events of the parsers", columns, rows, source=_event_places)


def _event_places(row: EventGroup) -> list[Ref]:
    first = row.events.head(_MANY_PLACES)
    return [FileRef(event.source_id, line=int(event.line)) for event in first.itertuples(index=False)]


_NEEDED_FOR = {
    "zone": "comparing zones",
    "peer_zone": "comparing zones",
    "physical_zone": "comparing with another subscription",
    "vm_size": "comparing with the VM's specification",
    "accelerated_networking": "explaining latencies of 100 µs and more",
    "placement": "distinguishing paths within a host from paths across the network",
    "repeat": "distinguishing repeats from different experiments",
    "started_at": "ordering the runs in time",
}


class Missing(NamedTuple):
    """A column of ``runs`` and the runs without a value in it."""

    column: str
    run_ids: tuple[str, ...]


def missing(study: Study) -> Table[Missing] | Note:
    """Return the metadata that the manifest lacks, and what each item is needed for."""
    runs = study.runs
    if not len(runs):
        return Note("No runs, so no metadata is missing.")
    rows = [Missing(column, tuple(runs.loc[runs[column].isna(), "run_id"])) for column in _NEEDED_FOR]
    rows = [row for row in rows if row.run_ids]
    if not rows:
        return Note("The manifest has zones, VM size, placement, repeat and time of every run.")
    columns: list[Column[Missing]] = [
        Column("what", lambda row: row.column),
        Column("runs without it", lambda row: f"{len(row.run_ids)} of {len(runs)}", align="right"),
        Column("needed for", lambda row: _NEEDED_FOR[row.column]),
    ]
    return Table("Missing metadata", columns, rows, source=from_runs("run"))


_REPORTED = ("scenario", "tool", "metric", "q", "segment", "printed", "vm_size", "accelerated_networking", "notes")


def reported(study: Study) -> Table[Mapping[str, Any]] | Note:
    """Return the numbers that an author reports without their logs."""
    frame = study.reported
    if not len(frame):
        return Note("No numbers outside the logs.")
    columns: list[Column[Mapping[str, Any]]] = [Column(name, itemgetter(name)) for name in _REPORTED if name in frame]
    columns.append(Column("conclusion", _conclusion))
    note = "Reported in prose or tables: no log, no spread. You can quote them, but not test them."
    file = str(study.info.get("reported"))

    def source(row: Mapping[str, Any]) -> list[Ref]:
        return [FileRef(file, line=int(row["line"]))] if "line" in row else []

    rows = [row for _, row in frame.iterrows()]
    return Table("Numbers reported without a log", columns, rows, [note], source)


_QUOTABLE = {
    "rtt_mean": "quotable; without count and spread, differences cannot be tested",
    "rtt": "quotable; a percentile without an interval",
    "rtt_min": "one packet: the best case, not typical latency",
    "rtt_max": "one packet: does not describe the path",
    "rtt_mean_ratio": "ratio of two single measurements, without an interval",
    "rtt_mean_change": "one of few changes; tested on the page Stability",
    "failed_at": "a point in time; three failures do not give a rate",
}


def _conclusion(row: Mapping[str, Any]) -> str:
    """Return what a number without its log supports."""
    metric = text(row["metric"])
    if metric == "rtt_mean" and "segment" in row and text(row["segment"]):
        return "quotable; a segment of one connection, without its spread"
    return _QUOTABLE.get(metric, "context, not a measurement")


def expectations(study: Study) -> Table[Mapping[str, Any]] | Note:
    """Return what the study's baseline expects."""
    if not study.expectations:
        return Note("This study has no baseline.")

    def stated(key: str) -> Any:
        return lambda row: [FileRef("baseline", key, text(row.get("name")))]

    columns: list[Column[Mapping[str, Any]]] = [
        Column("what", lambda row: row.get("name")),
        Column("tool", lambda row: row.get("tool")),
        Column("relation", lambda row: spaced(row.get("relation"))),
        Column("as printed", lambda row: row.get("printed"), source=stated("printed")),
        Column(
            "read as",
            lambda row: in_unit(row.get("low"), row.get("high"), text(row.get("unit"))),
            source=lambda row: stated("high" if row.get("low") is None else "low")(row),
        ),
        Column("conditions", lambda row: row.get("conditions")),
        Column("notes", lambda row: row.get("notes")),
    ]
    return Table("What the baseline expects", columns, study.expectations, source=stated("name"))
