"""Reports of one form in a long JSON document, whose numbers become columns of the table ``metrics``.

Reports that need an event, and numbers that are not plain decimals, are left to `reports.Reports`, which reads one
number at a time.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import chain
from typing import TYPE_CHECKING, NamedTuple

from azlatency.logs.grammar import DATA
from azlatency.logs.json_lines import JsonLineMap
from azlatency.logs.json_tokens import JsonObject
from azlatency.logs.parsers.iostat.columns import COLUMNS, CPU_METRICS
from azlatency.logs.parsers.iostat.reports import CPU_SLACK, FEWEST_CPU_SHARES, PRODUCTS
from azlatency.logs.units import canonical_unit, quantities, shown_unit

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Column = NDArray[np.float64]

#: The keys of the CPU shares, then of each device, with its name in front.
Shape = tuple[tuple[str, ...], ...]


def shape_of(node: JsonObject) -> Shape | None:
    """Return the form of a report; None if it has to be read number by number."""
    cpu, disks = node.content.get("avg-cpu"), node.content.get("disk")
    if not isinstance(cpu, JsonObject) or not isinstance(disks, list):
        return None
    objects = [cpu, *disks]
    if not all(isinstance(each, JsonObject) and isinstance(each.ordinals, range) for each in objects):
        return None
    devices = [(disk.content.get("disk_device"), *disk.content) for disk in disks]
    return (tuple(cpu.content), *devices)


class _Cell(NamedTuple):
    """What a member of a report becomes; ``metric`` is empty if it is not stored."""

    metric: str = ""
    unit: str = "1"
    side: str | None = None
    stream: str | None = None
    scope: str = ""
    column: str = ""


class _Plan(NamedTuple):
    """The members of a report in their order, which of them are names, and the stored ones that must agree."""

    cells: list[_Cell]
    names: list[int]
    shares: list[int]
    products: list[tuple[int, int, int]]


@lru_cache(maxsize=64)
def _plan(shape: Shape) -> _Plan | None:
    """Return how reports of a form are read; None if the form itself needs an event."""
    shares, *devices = shape
    cells = [_Cell(CPU_METRICS[key], "%", None, None, "host", key) if key in CPU_METRICS else _Cell() for key in shares]
    names = []
    for device, *keys in devices:
        if not isinstance(device, str) or ("r/s" in keys and not {"util", "%util"} & set(keys)):
            return None
        names.append(len(cells) + keys.index("disk_device"))
        fields = "device", device.strip(), "run" if device.startswith(" ") else "stream"
        cells += [_Cell(*COLUMNS[key], *fields, key) if key in COLUMNS else _Cell() for key in keys]
    stored = [cell for cell in cells if cell.metric]
    places = {(cell.metric, cell.side, cell.stream): index for index, cell in enumerate(stored)}
    if len(places) < len(stored) or {cell.side for cell in stored} != {None, "device"}:
        return None
    order = [places[metric, None, None] for metric in CPU_METRICS.values() if (metric, None, None) in places]
    at = {(cell.stream, cell.column): index for index, cell in enumerate(stored) if cell.side}
    streams = dict.fromkeys(stream for stream, _ in at)
    products = [
        (at[stream, rate], at[stream, size], at[stream, product])
        for stream in streams
        for rate, size, product in PRODUCTS
        if {(stream, rate), (stream, size), (stream, product)} <= at.keys()
    ]
    return _Plan(cells, names, order if len(order) >= FEWEST_CPU_SHARES else [], products)


@dataclass
class ReportColumns:
    """The numbers of several reports, one report after the other."""

    cells: list[_Cell]
    printed: list[str]
    values: Column
    halves: Column
    lines: NDArray[np.int64]
    marked: list[tuple[int, int]]
    run_ids: list[str] = field(default_factory=list)

    def write(self, line_map: JsonLineMap) -> None:
        """Write the rows, and mark the lines."""
        count, width = len(self.run_ids), len(self.cells)
        for first, last in self.marked:
            line_map.recorder.accounting.raise_range(first, last, DATA)
        line_map.recorder.add_columns(
            "metrics",
            len(self.printed),
            run_id=[run_id for run_id in self.run_ids for _ in range(width)],
            metric=[cell.metric for cell in self.cells] * count,
            side=[cell.side for cell in self.cells] * count,
            stream=[cell.stream for cell in self.cells] * count,
            value=self.values,
            unit=[canonical_unit(cell.unit) for cell in self.cells] * count,
            printed=self.printed,
            printed_unit=[shown_unit(cell.unit) for cell in self.cells] * count,
            resolution=self.halves,
            scope=[cell.scope for cell in self.cells] * count,
            line=self.lines,
        )


def read_columns(shape: Shape, nodes: Sequence[JsonObject]) -> ReportColumns | None:
    """Return the numbers of reports of one form; None if they have to be read number by number."""
    import numpy as np

    if (plan := _plan(shape)) is None or (places := nodes[0].places) is None:
        return None
    objects = [each for node in nodes for each in (node.content["avg-cpu"], *node.content["disk"])]
    members = list(chain.from_iterable([each.content.values() for each in objects]))
    if not set(map(type, members)) <= {str, int}:
        return None
    ordinals = np.fromiter(chain.from_iterable([each.ordinals for each in objects]), dtype=np.int64, count=len(members))
    width = len(plan.cells)
    is_text = np.frombuffer(places.is_text, dtype=bool)[ordinals].reshape(-1, width)
    is_name = np.isin(np.arange(width), plan.names)
    if (is_text != is_name).any():
        return None
    all_lines = np.frombuffer(places.lines, dtype=np.int64)[ordinals].reshape(-1, width)
    for index in reversed(range(width)):
        if not plan.cells[index].metric:
            del members[index :: len(members) // len(nodes)]
    printed = members if str in (kinds := set(map(type, members))) and len(kinds) == 1 else list(map(str, members))
    stored = [cell for cell in plan.cells if cell.metric]
    converted = quantities(printed, [cell.unit for cell in stored])
    if converted is None:
        return None
    values, halves = converted
    if not _agree(plan, values.reshape(-1, len(stored)).T, halves.reshape(-1, len(stored)).T):
        return None
    lines = all_lines[:, [bool(cell.metric) for cell in plan.cells]].reshape(-1)
    marked = np.sort(all_lines[:, ~is_name], axis=None)
    edges = (np.diff(marked) > 1).nonzero()[0]
    ranges = list(zip(marked[np.append(0, edges + 1)].tolist(), marked[np.append(edges, -1)].tolist(), strict=True))
    return ReportColumns(stored, printed, values, halves, lines, ranges)


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
