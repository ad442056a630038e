"""Tables of the page on the baseline of a VM."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from operator import attrgetter
from typing import TYPE_CHECKING, Any, NamedTuple

from azlatency.report.objects import Note
from azlatency.report.table import Column, FileRef, Format, Ref, RunsRef, Table, Unit, interval, number, text
from azlatency.report.tables.common import (
    COUNT,
    FLAGS,
    LABELLED_METHOD,
    codes_of,
    explain,
    level,
    read_in,
)
from azlatency.stats.result import results_only
from azlatency.studies.format import plain

if TYPE_CHECKING:
    from azlatency.stats.across_runs.baseline import Conformance
    from azlatency.studies.store.study import Study

_RATES = ("bit/s", "bytes/s", "1/s")


_DIGITS = Format(lambda value, scale: "" if value is None else plain(value / scale, 5))


@results_only
def conformance(results: Sequence[Conformance]) -> Table[Conformance] | Note:
    """Return each expectation and the runs that measured it; ``results`` as `baseline` returns them."""
    if not results:
        return Note("This study has no baseline to compare its runs with.")
    rows = [result for result in results if result.mean is not None]
    if not rows:
        return Note(
            "No run of this study measured a quantity of the baseline, so every expectation is inconclusive. The table "
            "below lists what to run."
        )

    units = {read_in(result.unit).name for result in rows}
    unit = Unit(1.0, units.pop() if len(units) == 1 else "")

    def scaled(result: Conformance, *values: float | None) -> tuple[float | None, ...]:
        scale = read_in(result.unit).scale
        return tuple(None if value is None else value / scale for value in values)

    bounds: Column[Conformance] = Column(
        f"one-sided {level(rows[0].confidence)} bounds",
        lambda result: scaled(result, result.low, result.high),
        interval(",.4g"),
        unit,
    )
    columns: list[Column[Conformance]] = [
        Column("expectation", lambda result: f"{result.what}, {result.labels.get('path', '')}", names_row=True),
        LABELLED_METHOD,
        *([] if unit.name else [Column("unit", lambda result: read_in(result.unit).name)]),
        Column("expected", lambda result: scaled(result, result.limit_low, result.limit_high),
               interval(",.6g", no_low="no limit", no_high="no limit"), unit,
               source=lambda result: [FileRef("baseline", "printed", result.what)]),
        Column("runs", attrgetter("runs"), COUNT),
        Column("typical run", lambda result: scaled(result, result.mean)[0], _DIGITS, unit),
        *([bounds] if any(result.low is not None for result in rows) else []),
        Column("× limit", attrgetter("ratio"), number(".2f")),
        Column("verdict", attrgetter("status")),
        Column("runs to decide", attrgetter("decides_in_words")),
        FLAGS,
    ]  # fmt: skip
    notes = ["× limit: typical run ÷ nearer limit; 1.00 is within the limits.", *explain(codes_of(rows))]
    return Table("Expected and measured (scope: across runs)", columns, rows, notes, lambda row: [_runs_ref(row)])


def _runs_ref(result: Conformance) -> RunsRef:
    """Return the runs that an expectation was compared with."""
    return RunsRef(result.run_ids, str(result.labels.get("metric") or ""))


class OpenExpectation(NamedTuple):
    """An expectation that is not decided on every path, and the results on the paths that were measured."""

    expectation: Mapping[str, Any]
    results: list[Conformance]

    @property
    def runs(self) -> int:
        """Return the number of runs that measured it."""
        return sum(result.runs for result in self.results)

    @property
    def missing(self) -> str:
        """Return the runs that are needed for a decision."""
        undecided = [result for result in self.results if result.status == "inconclusive"]
        most = max(undecided, key=lambda result: result.decides or 0, default=None)
        if not self.runs:
            return "runs of any kind"
        if most is None or not most.decides:
            return "repeats on each path"
        return f"{most.decides_in_words} of the path that needs the most"

    def refs(self) -> list[Ref]:
        """Return the expectation's line and the runs that measured it."""
        name = FileRef("baseline", "name", str(self.expectation.get("name")))
        return [name, *(_runs_ref(result) for result in self.results if result.runs)]


@results_only
def still_to_run(
    results: Sequence[Conformance], expectations: Sequence[Mapping[str, Any]]
) -> Table[OpenExpectation] | Note:
    """Return for each expectation that is not decided on every path what was run, what is missing, and the command."""
    if not expectations:
        return Note("This study has no baseline. Add what its VMs should deliver to its folder (baseline.toml).")
    rows = []
    for expectation in expectations:
        matching = [result for result in results if result.what == expectation.get("name")]
        if any(result.status == "inconclusive" for result in matching):
            rows.append(OpenExpectation(expectation, matching))
    if not rows:
        return Note("Every expectation is decided on every path that was measured.")
    columns: list[Column[OpenExpectation]] = [
        Column("expectation", lambda row: str(row.expectation.get("name"))),
        Column("tool", lambda row: row.expectation.get("tool") or "any"),
        Column("runs so far", attrgetter("runs"), COUNT),
        Column("missing", attrgetter("missing")),
        Column("each run", lambda row: "60 s or longer" if row.expectation.get("unit") in _RATES else "any length"),
        Column("command or conditions, as the source gives them", _command),
    ]
    notes = [
        "A throughput or disk test shorter than 60 s can show a burst instead of the sustained rate. If a command asks "
        "for less, make it longer."
    ]
    return Table("What to run", columns, rows, notes, lambda row: row.refs())


def _command(row: OpenExpectation) -> str:
    return str(row.expectation.get("command") or row.expectation.get("conditions") or "not said")


def unquantified(study: Study) -> Table[Mapping[str, Any]] | Note:
    """Return the commands that the study's source runs without saying what they should show."""
    commands = study.info.get("unquantified") or []
    if not commands:
        return Note("Every command in the source of this study has an expected value.")
    columns: list[Column[Mapping[str, Any]]] = [
        Column("what", lambda command: command.get("name")),
        Column("tool", lambda command: command.get("tool")),
        Column("command, as the source gives it", lambda command: command.get("command")),
    ]
    notes = ["Such a run can be described and compared, but it cannot pass or fail."]

    def source(command: Mapping[str, Any]) -> list[Ref]:
        return [FileRef("baseline", "name", text(command.get("name")))]

    return Table("Commands without an expectation", columns, commands, notes, source)
