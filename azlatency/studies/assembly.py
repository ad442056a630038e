"""Join the rows of logs that were parsed with those that are stored, and with the manifest.

The rows of a log in ``runs`` and ``events`` depend on its path and on the manifest, too, and ``events`` names the runs
that are copies of others. Where nothing of this changed, the stored files stay.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from azlatency.logs.format import count_of
from azlatency.logs.tables import Logs
from azlatency.studies.copies import (
    COMPARED,
    COPIED_RUN,
    ENOUGH,
    POSSIBLE_COPY,
    PRINTED,
    SUSPICIOUS,
    SUSPICIOUS_IN_REPORT,
    are_alike,
    copies_among,
    counts_of,
)
from azlatency.studies.manifest import DESCRIBED, FILE_NAME, ONLY_DESCRIBED, Manifest
from azlatency.studies.parts import (
    Change,
    count_parts,
    in_order,
    of_sources,
    part_files,
    read_part,
    rows_of,
    sample_stem,
    sample_stems,
    source_ids,
    split,
    updated,
)
from azlatency.studies.store import PARSED_RUNS, VALUE_MARKS, stored_schema
from azlatency.studies.writer import LargeTables

if TYPE_CHECKING:
    import pyarrow as pa

#: Tables that depend on the bytes of the logs alone, in one row of files each.
_PARSED = ("metrics", "quantiles", "intervals", "histograms", PARSED_RUNS)
#: Tables that are read as a whole: the first has the order of the logs, the other depends on all runs.
_WHOLE = ("sources", "events")
#: The columns of ``runs`` from which an import is summarized.
_KINDS = (
    "source_id", "tool", "scenario", "client", "region", "zone", "physical_zone", "server", "peer_region", "peer_zone",
    "peer_physical_zone", "vm_size", "accelerated_networking", "placement",
)  # fmt: skip
#: Events in the summary, besides errors. Codes of events that depend on the manifest start with the prefix.
_IN_SUMMARY, _FROM_MANIFEST = ("not_recognised", "manifest_missing"), "manifest_"
#: The columns of ``runs`` by which runs are counted and compared.
_OF_RUNS = tuple(dict.fromkeys(("run_id", "source_id", "first_line", *COMPARED, *_KINDS)))
_CONFLICT = "manifest_conflict"
_MOST_NAMED = 3
_CONSEQUENCE = {
    COPIED_RUN: "counted once",
    POSSIBLE_COPY: f"too few to be sure that they are one test, so both count; if they are, ignore one in {FILE_NAME}",
}


class Assembled(NamedTuple):
    """The tables of a study.

    Attributes
    ----------
    files : dict of str to list of pyarrow.Table or None
        The parts of each table by its stem, with None for those whose stored file is still right.
    kinds_of_runs : pyarrow.Table
        The columns `_KINDS` of the runs, and the ``count`` of runs that have these values.
    told : pyarrow.Table
        The events in the summary.
    notes : list of str
        A line for each file with copies of other runs.
    """

    files: dict[str, Sequence[pa.Table | None]]
    kinds_of_runs: pa.Table
    told: pa.Table
    notes: list[str]


def assemble(
    folder: Path,
    added: Mapping[str, pa.Table],
    large: Mapping[str, LargeTables],
    paths: Mapping[str, str],
    kept: Set[str],
    manifest: Manifest,
    *,
    same_manifest: bool,
) -> Assembled:
    """Return the tables of a study from the stored rows in ``folder`` that are ``kept`` and those that are ``added``.

    ``added`` has the rows by name of the table, ``large`` the long tables of large logs, to which the tables ``runs``
    and ``events`` are added, ``paths`` the path of each log by its id, in the order of the files; ``same_manifest``:
    whether the stored rows of ``runs`` are of this manifest.
    """
    stored, stored_events = (_stored(folder, name) if kept else [] for name in _WHOLE)
    before = {
        source_id: path
        for part in stored
        for source_id, path in zip(part["source_id"].to_pylist(), part["path"].to_pylist(), strict=True)
    }
    change = Change(list(paths), list(before), kept)
    files: dict[str, Sequence[pa.Table | None]] = {name: updated(folder, name, added[name], change) for name in _PARSED}
    files |= _samples(folder, added["samples"], change)
    files["sources"] = _changed(stored, [_sources(stored, added["sources"], paths, kept)])
    joined = {source_id for source_id in kept if before[source_id] == paths[source_id]} if same_manifest else set()
    if _have_conflict(stored_events):
        joined.clear()  # a message counts all runs with a contradiction
    undescribed = _undescribed(folder, files, added, list(paths), paths.keys() - joined)
    described, of_manifest = _describe(undescribed, paths, manifest)
    files["runs"] = updated(folder, "runs", described, Change(change.order, change.before, joined))
    runs = rows_of(folder, "runs", files["runs"], stored_schema("runs"), columns=_OF_RUNS)
    runs = in_order(runs, change.order)
    of_copies, notes = _copies(folder, files, large, runs, paths)
    events = _events(stored_events, added["events"], of_manifest, of_copies, change, joined)
    files["events"] = _changed(stored_events, split(events, count_parts(events.num_rows, len(paths))))
    return Assembled(files, in_order(_count_kinds(runs), change.order), in_order(_told(events), change.order), notes)


def _count_kinds(runs: pa.Table) -> pa.Table:
    """Return the different values of the columns `_KINDS` and the number of runs with each, in order."""
    groups = runs.select(_KINDS).group_by(_KINDS, use_threads=False).aggregate([([], "count_all")])
    return groups.select([*_KINDS, "count_all"]).rename_columns([*_KINDS, "count"])


def _told(events: pa.Table) -> pa.Table:
    """Return the events in the summary."""
    import pyarrow as pa
    import pyarrow.compute as pc

    chosen = pc.or_(pc.is_in(events["code"], pa.array(_IN_SUMMARY)), pc.equal(events["severity"], "error"))
    return events.filter(pc.and_(chosen, pc.not_equal(events["code"], _CONFLICT)))


def _origins(events: pa.Table) -> dict[str, pa.ChunkedArray]:
    """Return which events are of copies, of the manifest and of the parsers."""
    import pyarrow as pa
    import pyarrow.compute as pc

    of_copies = pc.is_in(events["code"], pa.array([COPIED_RUN, POSSIBLE_COPY]))
    of_manifest = pc.starts_with(events["code"], _FROM_MANIFEST)
    of_parsers = pc.invert(pc.or_(of_copies, of_manifest))
    return {"of copies": of_copies, "of manifest": of_manifest, "of parsers": of_parsers}


def _have_conflict(events: Iterable[pa.Table]) -> bool:
    import pyarrow.compute as pc

    return any(pc.any(pc.equal(part["code"], _CONFLICT)).as_py() for part in events)


def _stored(folder: Path, name: str) -> list[pa.Table]:
    return [read_part(file, stored_schema(name)) for file in part_files(folder, name)]


def _changed(stored: Sequence[pa.Table], parts: Sequence[pa.Table]) -> Sequence[pa.Table | None]:
    """Return the parts of a table, with None for those that are stored."""
    if len(stored) != len(parts):
        return parts
    return [None if part.equals(before) else part for part, before in zip(parts, stored, strict=True)]


def _samples(folder: Path, added: pa.Table, change: Change) -> dict[str, Sequence[pa.Table | None]]:
    """Return the parts of the samples of each tool."""
    import pyarrow.compute as pc

    stored = sample_stems(folder) if change.kept else []
    new = {sample_stem(tool): tool for tool in pc.unique(added["tool"]).to_pylist()}
    parts: dict[str, Sequence[pa.Table | None]] = {}
    for stem in sorted({*stored, *new}):
        rows = added.filter(pc.equal(added["tool"], new.get(stem))) if stem in new else added.slice(0, 0)
        of_tool = updated(folder, stem, rows.drop_columns(["tool"]), change if stem in stored else Change(change.order))
        if any(part is None or part.num_rows for part in of_tool):
            parts[stem] = of_tool
    return parts


def _sources(stored: Sequence[pa.Table], added: pa.Table, paths: Mapping[str, str], kept: Set[str]) -> pa.Table:
    """Return the table ``sources``, which has the order of the logs, and therefore one part only."""
    import pyarrow as pa

    table = in_order(pa.concat_tables([*(of_sources(part, kept) for part in stored), added]), list(paths))
    # The path of a log is that of the first file with these bytes.
    position = table.schema.get_field_index("path")
    return table.set_column(position, table.field("path"), pa.array(list(paths.values()), pa.string()))


# --- the manifest


def _undescribed(
    folder: Path,
    files: Mapping[str, Sequence[pa.Table | None]],
    added: Mapping[str, pa.Table],
    order: Sequence[str],
    ids: Set[str],
) -> pa.Table:
    """Return the parsed runs of some logs, in order: those whose stored rows are not of this manifest and path."""
    runs = added[PARSED_RUNS]
    if not ids <= set(runs["source_id"].to_pylist()):
        runs = rows_of(folder, PARSED_RUNS, files[PARSED_RUNS], stored_schema(PARSED_RUNS), ids=ids)
    return in_order(runs.drop_columns(list(VALUE_MARKS)), order)


def _describe(runs: pa.Table, paths: Mapping[str, str], manifest: Manifest) -> tuple[pa.Table, pa.Table]:
    """Return runs with the columns of the manifest, and its events."""
    import pyarrow as pa

    logs = Logs()
    columns = ["run_id", "source_id", "first_line", "heading", *DESCRIBED]
    given = [name for name in columns if runs[name].null_count < runs.num_rows]
    if not manifest.entries and ONLY_DESCRIBED.isdisjoint(given):
        # All runs have the defaults of the study.
        run = dict.fromkeys(columns)
        manifest.describe(run, "")
        for name in ONLY_DESCRIBED:
            position = runs.schema.get_field_index(name)
            field = runs.field(position)
            runs = runs.set_column(position, field, pa.repeat(pa.scalar(run[name], field.type), runs.num_rows))
        return runs, logs.to_arrow("events")
    rows = [{**dict.fromkeys(columns), **run} for run in runs.select(given).to_pylist()]
    for run in rows:
        for code, severity, text in manifest.describe(run, paths[run["source_id"]]):
            event = {"source_id": run["source_id"], "run_id": run["run_id"], "line": run["first_line"]}
            logs.rows["events"].append({**event, "code": code, "severity": severity, "text": text})
    for name in DESCRIBED:
        position = runs.schema.get_field_index(name)
        values = pa.array([run[name] for run in rows], runs.field(position).type)
        runs = runs.set_column(position, runs.field(position), values)
    return runs, logs.to_arrow("events")


# --- events


def _events(
    stored: Sequence[pa.Table], added: pa.Table, of_manifest: pa.Table, of_copies: pa.Table, change: Change,
    joined: Set[str],
) -> pa.Table:  # fmt: skip
    """Return all events in the order of the logs: of each, first those of the parsers."""
    import pyarrow as pa

    before = pa.concat_tables([added.slice(0, 0), *stored])
    origin = _origins(before)
    parts = [
        of_sources(before.filter(origin["of parsers"]), change.kept_ids), added,
        of_sources(before.filter(origin["of manifest"]), joined), of_manifest, of_copies,
    ]  # fmt: skip
    return in_order(pa.concat_tables(parts), change.order)


def _copies(
    folder: Path,
    files: Mapping[str, Sequence[pa.Table | None]],
    large: Mapping[str, LargeTables],
    runs: pa.Table,
    paths: Mapping[str, str],
) -> tuple[pa.Table, list[str]]:
    """Return an event for each run that is, or may be, a copy of another one; and one note per file with such runs."""
    import pyarrow.compute as pc

    def tables(name: str, run_ids: Sequence[str]) -> Iterator[pa.Table]:
        ids = {run_id[:16] for run_id in run_ids}
        stems = [stem for stem in files if "/" in stem] if name == "samples" else [name]
        columns = ["run_id", PRINTED[name]]
        yield stored_schema(name).empty_table().select(columns)
        for stem in stems:
            yield rows_of(folder, stem, files[stem], stored_schema(name), columns=columns, ids=ids)
        for source_id in sorted(ids & large.keys()):
            for place in large[source_id].places(name):
                yield from large[source_id].pieces(place, columns)

    marked = _Marked(in_order(rows_of(
        folder, PARSED_RUNS, files[PARSED_RUNS], stored_schema(PARSED_RUNS), columns=["run_id", *VALUE_MARKS]
    ), list(paths)), runs)  # fmt: skip
    sizes = {source_id: marked.sizes[source_id] for source_id in paths if source_id in marked.sizes}
    sources = rows_of(folder, "sources", files["sources"], stored_schema("sources"))
    reports = set(sources.filter(pc.greater(sources["lines_prose"], 0))["source_id"].to_pylist())
    logs = Logs()
    noted: dict[tuple[str, str], _Noted] = {}
    fewest = SUSPICIOUS_IN_REPORT if reports else SUSPICIOUS
    for copy in copies_among(marked.alike_runs, marked.marks[marked.alike], sizes, tables, fewest):
        if copy.values < SUSPICIOUS and not reports & {copy.source_id, copy.of_source}:
            continue
        place = f"{paths[copy.of_source]}:{copy.of_line}"
        code = COPIED_RUN if copy.values >= ENOUGH else POSSIBLE_COPY
        text = f"prints the same {copy.values} values as {place}; {_CONSEQUENCE[code]}"
        event = {"source_id": copy.source_id, "run_id": copy.run_id, "line": copy.line}
        logs.rows["events"].append({**event, "code": code, "severity": "warning", "text": text})
        noted.setdefault((paths[copy.source_id], code), _Noted(copy.line)).add(place)
    notes = [
        f"{file}:{note.line}: {count_of(note.count, 'run')} with the printed values of "
        f"{shortened(note.places, note.count)}; {_CONSEQUENCE[code]}"
        for (file, code), note in noted.items()
    ]
    return logs.to_arrow("events"), notes


class _Marked:
    """Which runs print values like another one.

    Attributes
    ----------
    marks, alike : ndarray
        The mark of each run, and whether another one has it and enough values.
    sizes : dict of str to int
        Number of runs of each log.
    """

    def __init__(self, parsed: pa.Table, runs: pa.Table) -> None:
        self._runs = runs
        assert parsed["run_id"].equals(runs["run_id"])
        self.sizes = dict(counts_of(source_ids(parsed)))
        self.marks = parsed[VALUE_MARKS[0]].to_numpy()
        self.alike = are_alike(self.marks, parsed[VALUE_MARKS[1]].to_numpy() >= SUSPICIOUS_IN_REPORT)

    def alike_runs(self, names: Sequence[str]) -> Iterator[pa.Table]:
        """Yield columns of the runs that are alike."""
        import pyarrow as pa

        yield self._runs.select(names).filter(pa.array(self.alike))


class _Noted:
    """The runs of a file that are copies: the line of the first, how many, and the first places of the originals."""

    def __init__(self, line: int) -> None:
        self.line, self.count = line, 0
        self.places: list[str] = []

    def add(self, place: str) -> None:
        """Count a run, and keep its place if it is one of the first."""
        self.count += 1
        if len(self.places) < _MOST_NAMED:
            self.places.append(place)


def shortened(names: Sequence[str], count: int | None = None) -> str:
    """List up to three names; ``count`` says how many there are if not all are given."""
    more = (len(names) if count is None else count) - _MOST_NAMED
    return ", ".join(names[:_MOST_NAMED]) + (f" and {more} more" if more > 0 else "")
