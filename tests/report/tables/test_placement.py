"""The tables of the page on placement against the raw logs."""

from __future__ import annotations

from helpers.tables import cell, logs_behind

import azlatency as az
from azlatency.kit.cells import Table
from azlatency.kit.objects import Note
from azlatency.report import tables
from azlatency.studies.store.study import Study


def test_values_by_placement_are_those_of_the_logs(zones: Study) -> None:
    # zone3-zone1/ping.log: "rtt min/avg/max/mdev = 0.718/0.969/2.137/0.299 ms"
    conditions = az.stats.placement.conditions(zones, az.latency(zones))
    table = tables.placement.conditions(conditions)
    assert cell(table, "Zone 3 → Zone 1, cross zone, 969.0", "statistic per run") == "mean"
    assert logs_behind(zones, table, "Zone 3 → Zone 1, cross zone, 969.0") == {"zone3-zone1/ping.log"}
    changes = az.stats.placement.changes(conditions, "placement")
    shown = tables.placement.changes(changes, "placement")
    assert isinstance(shown, Table)
    # 0.969 ms / 1.902 ms
    ping = [row for row in shown.cells if "ping" in row]
    assert [row[shown.headers.index("times")] for row in ping] == ["0.509"]


def test_studies_without_latency_or_changes_have_notes() -> None:
    assert isinstance(tables.placement.conditions([]), Note)
    assert "VM size" in str(tables.placement.changes([], "VM size"))
