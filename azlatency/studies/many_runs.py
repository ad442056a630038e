"""The runs and events of logs with many of them, which are described, compared and written piece by piece.

They have files of their own (`azlatency.studies.writer.LargeTables`), so that all of them are never in
memory.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import zip_longest
from typing import TYPE_CHECKING

from azlatency.logs import schema
from azlatency.logs.rows import Rows
from azlatency.studies.copies import COPIED_RUN, POSSIBLE_COPY
from azlatency.studies.parts import in_groups
from azlatency.studies.store import PARSED_RUNS, VALUE_MARKS
from azlatency.studies.writer import LargeTables

if TYPE_CHECKING:
    import pyarrow as pa

#: The columns of ``runs`` from which an import is summarized.
KINDS = (
    "source_id", "tool", "scenario", "client", "region", "zone", "physical_zone", "server", "peer_region", "peer_zone",
    "peer_physical_zone", "vm_size", "accelerated_networking", "placement",
)  # fmt: skip
#: Events that a summary tells, besides errors, and one that it tells once for all logs.
_TOLD, _TOLD_ONCE = ("not_recognised", "manifest_missing"), "manifest_conflict"
#: Of a log with many events, a summary tells so many.
_MOST_TOLD = 1000
#: Codes of events that depend on the manifest start with this.
_FROM_MANIFEST = "manifest_"
#: So many runs are Python objects at a time.
_TOGETHER = 2**12


def describe(tables: LargeTables, describe_runs: Callable[[pa.Table], tuple[pa.Table, pa.Table]]) -> Rows:
    """Add the table ``runs``, the parsed runs with the columns of the manifest; return the events of the manifest.

    ``describe_runs`` returns both for some parsed runs.
    """
    events = Rows()

    def described() -> Iterator[pa.Table]:
        for piece in tables.pieces(PARSED_RUNS):
            parsed = piece.drop_columns(list(VALUE_MARKS))
            for start in range(0, parsed.num_rows, _TOGETHER):
                runs, of_manifest = describe_runs(parsed.slice(start, _TOGETHER))
                events.extend(of_manifest.to_pylist())
                yield runs

    tables.write_table("runs", described())
    return events


def add_events(tables: LargeTables, of_manifest: Rows | None, of_copies: Rows) -> None:
    """Replace the events of the manifest, unless they are None, and of copies; those of the parsers come first."""
    events = schema.arrow_schema("events")
    groups = zip_longest(
        in_groups(of_copies.tables(events), _TOGETHER), in_groups(_kept(tables, "of copies"), _TOGETHER)
    )
    if of_manifest is None and all(new is not None and new.equals(old) for new, old in groups):
        return

    def parts() -> Iterator[pa.Table]:
        yield from _kept(tables, "of parsers")
        yield from _kept(tables, "of manifest") if of_manifest is None else of_manifest.tables(events)
        yield from of_copies.tables(events)

    tables.write_table("events", parts())


def _kept(tables: LargeTables, what: str) -> Iterator[pa.Table]:
    """Yield the events of one origin."""
    for piece in tables.pieces("events"):
        yield piece.filter(origins(piece)[what])


def origins(events: pa.Table) -> dict[str, pa.ChunkedArray]:
    """Return which events are of copies, of the manifest and of the parsers."""
    import pyarrow as pa
    import pyarrow.compute as pc

    of_copies = pc.is_in(events["code"], pa.array([COPIED_RUN, POSSIBLE_COPY]))
    of_manifest = pc.starts_with(events["code"], _FROM_MANIFEST)
    of_parsers = pc.invert(pc.or_(of_copies, of_manifest))
    return {"of copies": of_copies, "of manifest": of_manifest, "of parsers": of_parsers}


def kinds(runs: pa.Table) -> pa.Table:
    """Return the different values of the columns `KINDS` and the number of runs with each, in order."""
    groups = runs.select(KINDS).group_by(KINDS, use_threads=False).aggregate([([], "count_all")])
    return groups.select([*KINDS, "count_all"]).rename_columns([*KINDS, "count"])


def told(events: pa.Table) -> pa.Table:
    """Return the events that a summary tells."""
    import pyarrow as pa
    import pyarrow.compute as pc

    chosen = pc.or_(pc.is_in(events["code"], pa.array(_TOLD)), pc.equal(events["severity"], "error"))
    return events.filter(pc.and_(chosen, pc.not_equal(events["code"], _TOLD_ONCE)))


def first_told(tables: LargeTables) -> tuple[pa.Table, int]:
    """Return the first events that a summary tells, and the number of the others."""
    import pyarrow as pa

    found, more = schema.arrow_schema("events").empty_table(), 0
    for piece in tables.pieces("events"):
        chosen = told(piece)
        first = chosen.slice(0, _MOST_TOLD - found.num_rows)
        found, more = pa.concat_tables([found, first]), more + chosen.num_rows - first.num_rows
    return found, more
