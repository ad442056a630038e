"""`Logs`: the tables as frames, Arrow tables and records, and how they print."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from helpers.logs import read_text
from helpers.places import FIXTURES

import azlatency as az
from azlatency.logs import schema
from azlatency.logs.tables import Logs

LOG = FIXTURES / "ping" / "iputils-20221126-loss.log"


@pytest.fixture(scope="module")
def logs() -> Logs:
    return az.parse(LOG, FIXTURES / "sockperf" / "3.7-interrupted.log")


@pytest.mark.parametrize("table", schema.TABLES)
def test_every_table_is_the_same_as_frame_arrow_table_and_records(logs: Logs, table: str) -> None:
    frame = getattr(logs, table)
    assert tuple(frame.columns) == schema.names(table)
    assert logs.to_arrow(table).schema == schema.arrow_schema(table)
    assert super(Logs, logs).records(table) == logs.records(table)
    assert len(frame) == len(logs.records(table))


def test_a_frame_is_built_once_and_again_after_more_logs_are_added(logs: Logs) -> None:
    assert logs.runs is logs.runs
    more = az.parse(LOG)
    assert len(more.runs) == 1
    more.extend(logs)
    assert len(more.runs) == 3


def test_a_lost_probe_is_missing_and_not_zero(logs: Logs) -> None:
    lost = logs.samples.loc[logs.samples["status"] == "lost", "rtt_ns"]
    assert len(lost) > 0 and lost.isna().all()
    assert np.isnan(lost.to_numpy(dtype="float64", na_value=np.nan)).all()


def test_an_unknown_table_is_an_error_that_lists_the_tables(logs: Logs) -> None:
    for read in (logs.table, logs.records, logs.to_arrow):
        with pytest.raises(KeyError, match="no table 'rows'; tables: sources, runs"):
            read("rows")


def test_logs_print_a_summary(logs: Logs) -> None:
    title, *tools = repr(logs).splitlines()
    assert title.startswith("Logs: 2 files, 2 runs")
    assert tools == ["  ping      1 run: 1 complete", "  sockperf  1 run: 1 interrupted"]
    assert repr(Logs()) == "Logs: 0 files, 0 runs"


def test_events_are_counted_by_severity() -> None:
    title, *tools = repr(read_text("hello\n")).splitlines()
    assert (title, tools) == ("Logs: 1 file, 0 runs, 1 error, 1 warning", [])


def test_html_is_escaped() -> None:
    hostile = Logs()
    hostile.rows["runs"].append({"run_id": "x-01", "tool": "<script>", "status": "complete"})
    html = hostile._repr_html_()
    assert "<script>" not in html and "&lt;script&gt;" in html


def test_errors_name_file_and_line(tmp_path: Path) -> None:
    path = tmp_path / "a.log"
    path.write_text("hello\n")
    (error,) = az.parse(path).errors()
    assert error.startswith(f"{path.as_posix()}:1: no log of a known tool")
