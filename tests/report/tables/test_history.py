"""Tables of the history."""

from __future__ import annotations

import pandas as pd
from helpers.cases import stream

import azlatency as az
from azlatency.kit.objects import Note
from azlatency.report import tables


def test_changes_and_series_are_listed_with_their_runs() -> None:
    nights = pd.date_range("2026-09-01", periods=50, freq="D", tz="UTC")
    values = 1e9 * stream(6).lognormal(0, 0.02, 50)
    values[30:] *= 0.8
    runs = pd.DataFrame({"path": "a → b", "method": "iperf3", "started_at": nights, "throughput_bit_s": values})
    series = az.history(runs.assign(run_id=[f"run-{night}" for night in range(50)]))
    table = tables.history.changes(series)
    assert not isinstance(table, Note) and "goodput" in str(table) and "Mbit/s" in str(table)
    (reference,) = table.source(table.rows[0])  # type: ignore[misc]
    assert reference.run_ids[0] == "run-0" and len(reference.run_ids) == 50
    assert "a → b" in str(tables.history.series(series)) and isinstance(tables.history.changes(series[:0]), Note)
