"""Tables of the page "Placement of the machines"."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from azlatency.report.objects import Note, Origin, Reported, Runs, Table
from azlatency.report.tables.common import micros, text, whole
from azlatency.stats.result import CODES, SHORT

if TYPE_CHECKING:
    from azlatency.stats.across_runs.placement import Change, Condition


_SAID = {"vm_size": "VM size", "accelerated_networking": "accelerated networking", "message_bytes": "message size"}


_VERDICTS = {
    "different": "differs",
    "different_within_margin": "differs, within the margin",
    "equivalent": "equal within the margin",
    "undetermined": "open: more runs",
}


def conditions(found: Sequence[Condition]) -> Table | Note:
    """What was measured under which circumstances; ``found`` as `azlatency.stats.across_runs.placement.conditions`."""
    if not found:
        return Note("This study holds no latency, neither in a log nor in a text.")
    rows = []
    for each in found:
        low, high = min(each.values), max(each.values)
        fast = {True: ", acc. networking", False: ", no acc. networking", None: ""}[each.accelerated_networking]
        rows.append(
            (
                each.path,
                (each.placement or "not said").replace("_", " "),
                micros(low, 1) if low == high else f"{micros(low, 1)} – {micros(high, 1)}",
                each.statistic,
                whole(each.runs) if each.runs is not None else "not said",
                each.origin,
                each.method,
                text(each.vm_size).removeprefix("Standard_") + fast or "not said",
            )
        )
    headers = ("path", "placement", "round trip, µs", "of a run", "runs", "from", "method", "VM")
    notes = ["Reported: stands only in a text; the log, the spread and the unit cannot be checked."]
    kept = notes if any(each.origin == "reported" for each in found) else []
    origins = [{0: (_measured(each),)} for each in found]
    return Table("Round trips by placement, near to far", headers, rows, frozenset({2, 4}), kept, origins)


def _measured(each: Condition) -> Origin:
    """The runs of a condition, or the line of the text that reports it."""
    if each.origin == "reported":
        return Reported(each.path, "rtt_mean")
    return Runs(f"{each.statistic}_ns", each.path, each.method)


def changes(found: Sequence[Change], what: str) -> Table | Note:
    """Pairs that differ in ``what`` alone; ``found`` as `azlatency.stats.across_runs.placement.changes`."""
    if not found:
        return Note(f"No two measurements of this study differ in {what} alone.")
    rows = []
    for each in found:
        base, other = (_level(each, side) for side in (each.base, each.other))
        ratio = None if each.comparison is None else each.comparison.ratio
        interval = "none"
        if ratio is not None and ratio.low is not None and ratio.high is not None:
            interval = f"{ratio.low:.3g} – {ratio.high:.3g}"
        point = f"{ratio.estimate:.3g}" if ratio is not None and ratio.estimate is not None else None
        low, high = f"{each.ratio_low:.3g}", f"{each.ratio_high:.3g}"
        measured = point or (low if low == high else f"{low} – {high}")
        rows.append((base, other, measured, interval, _runs(each), each.other.method, _conclusion(each)))
    headers = ("from", "to", "times", "interval", "runs", "method", "conclusion")
    codes = dict.fromkeys(code for each in found if each.comparison is not None for code in each.comparison.codes)
    notes = [f"{SHORT[code].capitalize()}: {CODES[code]}." for code in codes if code != "cannot_reach_alpha"]
    if "cannot_reach_alpha" in codes:
        notes.append(
            "Intervals and verdicts take the logarithms of run values as normal; with so few runs no test without that "
            "assumption could decide. Each interval holds by itself: of twenty, one is expected to miss."
        )
    origins = [{0: (_measured(each.base), _measured(each.other))} for each in found]
    return Table(f"One change at a time: {what}", headers, rows, frozenset({2, 3, 4}), notes, origins)


def _level(each: Change, side: Condition) -> str:
    if each.factor == "placement":
        placement = (side.placement or "").replace("_", " ")
        return side.path if placement in side.path.lower() else f"{side.path} ({placement})"
    value = getattr(side, each.factor)
    level = {
        "accelerated_networking": {True: "on", False: "off"}.get(value, ""),
        "message_bytes": f"{value} B",
        "vm_size": str(value).removeprefix("Standard_"),
    }[each.factor]
    return f"{level}: {side.path}"


def _runs(each: Change) -> str:
    return " / ".join("?" if side.runs is None else str(side.runs) for side in (each.base, each.other))


def _conclusion(each: Change) -> str:
    unsaid = "".join(f"; {_SAID.get(name, name)} may differ, too" for name in each.unsaid)
    if each.comparison is None:
        return "none: no log" + unsaid
    if "no_replication" in each.comparison.codes:
        return "none: one run" + unsaid
    return _VERDICTS[each.comparison.verdict] + unsaid
