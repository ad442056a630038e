"""Alike reports of a long JSON document, whose numbers become columns of the table ``metrics``.

Reports that need an event, and numbers that are not plain decimals, are left to `reports.Reports`, which reads one
number at a time.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from azlatency.logs.json_lines import JsonLineMap
from azlatency.logs.json_tokens import JsonObject, Scalar
from azlatency.logs.parsers.iostat.columns import COLUMNS, CPU_METRICS
from azlatency.logs.parsers.iostat.reports import CPU_SLACK, FEWEST_CPU_SHARES, PRODUCTS
from azlatency.logs.rows import Repeating
from azlatency.logs.units import canonical_unit, ratios, shown_unit

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from azlatency.logs.json_lists import Alike, Number

    Column = NDArray[np.float64]


_SHARES = {name: (metric, "%") for name, metric in CPU_METRICS.items()}


class _Cell(NamedTuple):
    """A number of a report, and what it becomes; ``metric`` is empty if it is not stored."""

    column: str
    number: Number
    line: int
    metric: str
    unit: str
    side: str | None
    stream: str | None
    scope: str


class _Plan(NamedTuple):
    """The stored numbers of a report, which of them must agree, and the lines of all numbers."""

    cells: list[_Cell]
    shares: list[int]
    products: list[tuple[int, int, int]]
    lines: set[int]


def _plan(reports: Alike, line_map: JsonLineMap) -> _Plan | None:
    """Return how reports are read; None if they have to be read number by number."""
    shares, devices = reports.first.object("avg-cpu"), reports.first.get("disk")
    keys = [key for key, _ in reports.first.pairs]
    if not isinstance(devices, list) or len(set(keys)) < len(keys):
        return None
    cells: list[_Cell] = []
    for node in (shares, *devices):
        found = _read_cells(node, reports, line_map, is_device=node is not shares)
        if found is None:
            return None
        cells += found
    stored = [cell for cell in cells if cell.metric]
    places = {(cell.metric, cell.side, cell.stream): index for index, cell in enumerate(stored)}
    if len(places) < len(stored) or {cell.side for cell in stored} != {None, "device"}:
        return None
    order = [places[metric, None, None] for metric in CPU_METRICS.values() if (metric, None, None) in places]
    at = {(cell.stream, cell.column): index for index, cell in enumerate(stored) if cell.side}
    products = [
        (at[stream, rate], at[stream, size], at[stream, product])
        for stream in dict.fromkeys(stream for stream, _ in at)
        for rate, size, product in PRODUCTS
        if {(stream, rate), (stream, size), (stream, product)} <= at.keys()
    ]
    lines = {cell.line for cell in cells}
    return _Plan(stored, order if len(order) >= FEWEST_CPU_SHARES else [], products, lines)


def _read_cells(node: object, reports: Alike, line_map: JsonLineMap, *, is_device: bool) -> list[_Cell] | None:
    """Return the numbers of the CPU shares or of a device of the first report."""
    if not isinstance(node, JsonObject) or not all(isinstance(value, Scalar) for _, value in node.pairs):
        return None
    metrics, side, stream, scope = _SHARES, None, None, "host"
    texts = [value for _, value in node.pairs if isinstance(value.value, str)]
    if is_device:
        keys, name = {key for key, _ in node.pairs}, node.leaf("disk_device")
        if name is None or texts != [name] or ("r/s" in keys and not {"util", "%util"} & keys):
            return None
        if len(set(reports.texts(name))) > 1:
            return None
        metrics, side, stream = COLUMNS, "device", name.token.strip()
        scope = "run" if name.token.startswith(" ") else "stream"
    elif texts:
        return None
    cells = []
    for key, value in node.pairs:
        if value not in texts:
            if (number := reports.find(value)) is None:
                return None
            line = line_map.line_number(value.position)
            cells.append(_Cell(key, number, line, *metrics.get(key, ("", "")), side, stream, scope))
    return cells


class ReportColumns(NamedTuple):
    """The numbers of alike reports, a row for each report, and half of their last digits."""

    reports: Alike
    plan: _Plan
    values: Column
    halves: Column

    def write(self, line_map: JsonLineMap, run_ids: list[str]) -> None:
        """Write the rows, and mark the lines."""
        import numpy as np

        cells, count = self.plan.cells, len(self.reports)
        line_map.mark_in_all(self.reports, self.plan.lines)
        steps = np.arange(count)[:, None] * line_map.lines_between(self.reports)
        line_map.recorder.add_columns(
            "metrics",
            self.values.size,
            run_id=Repeating(run_ids, each=True),
            metric=Repeating([cell.metric for cell in cells]),
            side=Repeating([cell.side for cell in cells]),
            stream=Repeating([cell.stream for cell in cells]),
            value=self.values.reshape(-1),
            unit=Repeating([canonical_unit(cell.unit) for cell in cells]),
            printed=self.reports.tokens([cell.number for cell in cells]),
            printed_unit=Repeating([shown_unit(cell.unit) for cell in cells]),
            resolution=self.halves.reshape(-1),
            scope=Repeating([cell.scope for cell in cells]),
            line=(np.array([cell.line for cell in cells]) + steps).reshape(-1),
        )


def read_columns(reports: Alike, line_map: JsonLineMap) -> ReportColumns | None:
    """Return the numbers of alike reports; None if they have to be read number by number."""
    if (plan := _plan(reports, line_map)) is None:
        return None
    digits = reports.digits([cell.number for cell in plan.cells])
    converted = None if digits is None else ratios(*digits, [cell.unit for cell in plan.cells])
    if converted is None or not _agree(plan, *(column.T for column in converted)):
        return None
    return ReportColumns(reports, plan, *converted)


def _agree(plan: _Plan, values: Column, halves: Column) -> bool:
    """Return whether no report needs an event; see `reports`."""
    if plan.shares:
        total, slack = sum(values[index] for index in plan.shares), sum(halves[index] for index in plan.shares)
        if ((total != 0) & (abs(total - 1) > CPU_SLACK + slack)).any():
            return False
    for rate, size, product in plan.products:
        slack = halves[rate] * (values[size] + halves[size]) + values[rate] * halves[size]
        if (abs(values[rate] * values[size] - values[product]) > 1.001 * (slack + halves[product]) + 1e-9).any():
            return False
    return True
