"""Join the rows of logs that were parsed with those that are stored, and with the manifest."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from pathlib import Path
from typing import IO

import pyarrow as pa
import pyarrow.compute as pc

from azlatency.logs import schema
from azlatency.logs.tables import Logs
from azlatency.studies.format import count_of
from azlatency.studies.manifest.manifest import DESCRIBED, FILE_NAME, Manifest
from azlatency.studies.runs.copies import (
    COPIED_RUN,
    ENOUGH,
    POSSIBLE_COPY,
    SUSPICIOUS,
    SUSPICIOUS_IN_REPORT,
    find_copies,
)
from azlatency.studies.runs.run_table import tables_of_logs
from azlatency.studies.store.tables import (
    PARSED_RUNS,
    in_order,
    read_stored,
    row_groups,
    select_sources,
    stored_schema,
)

#: Tables that depend on the bytes of the logs alone, apart from some events.
PARSED = ("sources", "metrics", "quantiles", "intervals", "histograms", "samples", "events", PARSED_RUNS)
#: Code of the events of files that describe the same run as a log.
SAME_RUN = "same_run_as_log"
#: Codes of events that depend on the manifest start with this.
_FROM_MANIFEST = "manifest_"
_MOST_NAMED = 3
_CONSEQUENCE = {
    COPIED_RUN: "counted once",
    POSSIBLE_COPY: f"too few to be sure that they are one test, so both count; if they are, ignore one in {FILE_NAME}",
}


def assemble(
    folder: Path | None,
    kept: Set[str],
    added: Iterable[Mapping[str, pa.Table]],
    large: Mapping[str, Sequence[Path | IO[bytes]]],
    paths: Mapping[str, str],
    manifest: Manifest,
) -> tuple[dict[str, pa.Table], list[str]]:
    """Return the tables of a study, and notes: the rows in the folder of the logs that are ``kept``, and the others.

    ``added`` has the tables of logs that were parsed, ``large`` the files with the samples of large logs, and ``paths``
    the path of each log by its id, in the order of the files.
    """
    parts = {name: [stored_schema(name).empty_table()] for name in PARSED if name != "samples"}
    parts["samples"] = [schema.arrow_schema("samples").empty_table()]
    seen = set(paths) - kept
    for batch in added:
        ids = set(batch["sources"]["source_id"].to_pylist())
        for name in PARSED:
            parts[name].append(select_sources(batch[name], ids & seen))
        seen -= ids
    if folder is not None and kept:
        for name in PARSED:
            stored = read_stored(folder, name)
            parts[name].insert(0, select_sources(_parser_events(stored) if name == "events" else stored, kept))
    tables = {name: in_order(pa.concat_tables(parts.pop(name)), list(paths)) for name in PARSED}
    # The path of a log is that of the first file with these bytes.
    position = tables["sources"].schema.get_field_index("path")
    tables["sources"] = tables["sources"].set_column(position, "path", pa.array(list(paths.values()), pa.string()))
    runs, of_manifest = _describe(tables[PARSED_RUNS], paths, manifest)
    tables["runs"] = runs
    of_copies, notes = _copies(tables, large, paths)
    events = pa.concat_tables([_with_names_of_logs(tables["events"], runs, paths), of_manifest, of_copies])
    tables["events"] = in_order(events, list(paths))
    return tables, notes


def _parser_events(events: pa.Table) -> pa.Table:
    """Return the events that depend neither on the manifest nor on other logs."""
    of_copies = pc.is_in(events["code"], pa.array([COPIED_RUN, POSSIBLE_COPY]))
    return events.filter(pc.invert(pc.or_(of_copies, pc.starts_with(events["code"], _FROM_MANIFEST))))


def _with_names_of_logs(events: pa.Table, runs: pa.Table, paths: Mapping[str, str]) -> pa.Table:
    """Name the log and the run in the events of files that describe the same run as the log beside them."""
    if not pc.any(pc.equal(events["code"], SAME_RUN)).as_py():
        return events
    frame = runs.select(["run_id", "source_id", "tool", "dialect", "command"]).to_pandas()
    logs = tables_of_logs(frame.assign(file=frame["source_id"].map(paths)))
    tools = dict(zip(frame["run_id"], frame["tool"], strict=True))
    sources = dict(zip(frame["run_id"], frame["source_id"], strict=True))
    rows = events.to_pylist()
    for row in rows:
        if row["code"] == SAME_RUN:
            log = logs.get(row["run_id"])
            named = f"the log of {tools[row['run_id']]}" if log is None else paths[sources[log]]
            run = "" if log is None else f" ({log})"
            row["text"] = f"this file and {named} describe the same run{run}; count only one of them"
    return pa.Table.from_pylist(rows, schema=events.schema)


def _describe(runs: pa.Table, paths: Mapping[str, str], manifest: Manifest) -> tuple[pa.Table, pa.Table]:
    """Return runs with the columns of the manifest, and its events."""
    logs = Logs()
    columns = ["run_id", "source_id", "first_line", "heading", *DESCRIBED]
    given = [name for name in columns if runs[name].null_count < runs.num_rows]
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


def _copies(
    tables: Mapping[str, pa.Table], large: Mapping[str, Sequence[Path | IO[bytes]]], paths: Mapping[str, str]
) -> tuple[pa.Table, list[str]]:
    """Return an event for each run that is, or may be, a copy of another one; and one note per file with such runs."""

    def printed(name: str, run_ids: pa.Array) -> Iterator[pa.Table]:
        yield tables[name]
        ids = {run_id[:16] for run_id in run_ids.to_pylist()} if name == "samples" else set()
        for source_id in sorted(ids & large.keys()):
            for file in large[source_id]:
                yield from row_groups(file, ["run_id", "seq", "rtt_ns"])

    reports = set(tables["sources"].filter(pc.greater(tables["sources"]["lines_prose"], 0))["source_id"].to_pylist())
    logs = Logs()
    noted: dict[tuple[str, str], list[tuple[int, str]]] = {}
    for copy in find_copies(tables["runs"], printed, SUSPICIOUS_IN_REPORT if reports else SUSPICIOUS):
        if copy.values < SUSPICIOUS and not reports & {copy.source_id, copy.of_source}:
            continue
        place = f"{paths[copy.of_source]}:{copy.of_line}"
        code = COPIED_RUN if copy.values >= ENOUGH else POSSIBLE_COPY
        text = f"prints the same {copy.values} values as {place}; {_CONSEQUENCE[code]}"
        event = {"source_id": copy.source_id, "run_id": copy.run_id, "line": copy.line}
        logs.rows["events"].append({**event, "code": code, "severity": "warning", "text": text})
        noted.setdefault((paths[copy.source_id], code), []).append((copy.line, place))
    notes = [
        f"{file}:{runs[0][0]}: {count_of(len(runs), 'run')} with the printed values of "
        f"{shortened([place for _, place in runs])}; {_CONSEQUENCE[code]}"
        for (file, code), runs in noted.items()
    ]
    return logs.to_arrow("events"), notes


def shortened(names: Sequence[str]) -> str:
    """List up to three names, and say how many more there are."""
    more = len(names) - _MOST_NAMED
    return ", ".join(names[:_MOST_NAMED]) + (f" and {more} more" if more > 0 else "")
