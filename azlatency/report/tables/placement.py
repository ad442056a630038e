"""Tables of the page "Placement of the machines"."""

from __future__ import annotations

from collections.abc import Sequence
from operator import attrgetter
from typing import TYPE_CHECKING

from azlatency.kit.cells import MICROSECONDS, Column, Ref, Table, interval, number, text
from azlatency.kit.objects import Note
from azlatency.report.tables.common import METHOD, PATH, codes_of, condition_ref, explain, spaced
from azlatency.stats.result import DRIFTS, results_only

if TYPE_CHECKING:
    from azlatency.stats.across_runs.placement import Change, Condition

_FACTORS = {"vm_size": "VM size", "accelerated_networking": "accelerated networking", "message_bytes": "message size"}
_VERDICTS = {
    "different": "differs",
    "different_within_margin": "differs, within the margin",
    "equivalent": "equivalent within the margin",
    "inconclusive": "inconclusive: more runs",
}
_NETWORKING = {True: ", acc. networking", False: ", no acc. networking", None: ""}


@results_only
def conditions(results: Sequence[Condition]) -> Table[Condition] | Note:
    """Return what was measured under which conditions; ``results`` as `placement.conditions` returns them."""
    if not results:
        return Note("This study has no latency, neither in a log nor in a text.")
    columns: list[Column[Condition]] = [
        PATH,
        Column("placement", lambda condition: spaced(condition.placement) or "not said"),
        Column("RTT", lambda condition: (min(condition.values), max(condition.values)),
               interval(",.1f", join_equal=True), MICROSECONDS),
        Column("statistic per run", attrgetter("statistic")),
        Column("runs", attrgetter("runs"), number(",.0f", missing="not said")),
        Column("from", attrgetter("origin")),
        METHOD,
        Column("VM", _vm),
    ]  # fmt: skip
    note = "Reported: a number from a text, without its log; neither its spread nor its unit can be checked."
    notes = [note] if any(condition.origin == "reported" for condition in results) else []
    caption = "Round-trip times by placement, nearest first"
    return Table(caption, columns, results, notes, lambda condition: [condition_ref(condition)])


def _vm(condition: Condition) -> str:
    size = text(condition.vm_size).removeprefix("Standard_")
    return size + _NETWORKING[condition.accelerated_networking] or "not said"


@results_only
def changes(results: Sequence[Change], what: str) -> Table[Change] | Note:
    """Return pairs of conditions that differ in ``what`` alone; ``results`` as `placement.changes` returns them."""
    if not results:
        return Note(f"No two measurements of this study differ in {what} alone.")
    columns: list[Column[Change]] = [
        Column("from", lambda change: _level(change, change.base), names_row=True),
        Column("to", lambda change: _level(change, change.other), names_row=True),
        Column("times", _ratio, interval(".3g", join_equal=True)),
        Column("interval", _interval, interval(".3g", missing="none")),
        Column("runs", _runs, align="right"),
        Column("method", attrgetter("other.method")),
        Column("conclusion", _conclusion),
    ]
    codes = codes_of(change.comparison for change in results if change.comparison is not None)
    notes = explain(codes)
    if codes:
        notes.append("The intervals are not adjusted for multiplicity: about one in 20 misses the true ratio.")

    def source(change: Change) -> list[Ref]:
        return [condition_ref(change.base), condition_ref(change.other)]

    return Table(f"One change at a time: {what}", columns, results, notes, source)


def _ratio(change: Change) -> tuple[float | None, float | None]:
    """Return the estimated ratio, else the range of measured ratios."""
    point = None if change.comparison is None else change.comparison.ratio.estimate
    return (change.ratio_low, change.ratio_high) if point is None else (point, point)


def _interval(change: Change) -> tuple[float | None, float | None]:
    ratio = None if change.comparison is None else change.comparison.ratio
    return (None, None) if ratio is None else (ratio.low, ratio.high)


def _level(change: Change, side: Condition) -> str:
    if change.factor == "placement":
        placement = spaced(side.placement)
        return side.path if placement in side.path.lower() else f"{side.path} ({placement})"
    value = getattr(side, change.factor)
    level = {
        "accelerated_networking": {True: "on", False: "off"}.get(value, ""),
        "message_bytes": f"{value} B",
        "vm_size": str(value).removeprefix("Standard_"),
    }[change.factor]
    return f"{level}: {side.path}"


def _runs(change: Change) -> str:
    return " / ".join("?" if side.runs is None else str(side.runs) for side in (change.base, change.other))


def _conclusion(change: Change) -> str:
    unsaid = "".join(f"; {_FACTORS.get(name, name)} may differ, too" for name in change.unsaid)
    if change.comparison is None:
        return "none: no log" + unsaid
    if "no_replication" in change.comparison.codes:
        return "none: one run" + unsaid
    return (DRIFTS if change.comparison.drifts else _VERDICTS[change.comparison.verdict]) + unsaid
