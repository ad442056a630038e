"""What a parser hands over: runs, their numbers and events."""

from __future__ import annotations

import pytest
from helpers.places import FIXTURES

from azlatency.logs import record
from azlatency.logs.grammar.units import quantity
from azlatency.logs.parse import parse_source
from azlatency.logs.record import Recorder
from azlatency.logs.source.decode import source_from_bytes


@pytest.fixture
def recorder() -> Recorder:
    return Recorder(source_from_bytes(b"one\ntwo\nthree\n", "a.log"))


def test_runs_are_numbered_within_their_source(recorder: Recorder) -> None:
    runs = [recorder.start_run("ping", line, test="icmp") for line in (1, 3)]
    source_id = recorder.source.source_id
    assert [run.run_id for run in runs] == [f"{source_id}-01", f"{source_id}-02"]
    assert recorder.rows["runs"][1]["first_line"] == 3 and recorder.rows["runs"][1]["status"] == "complete"


def test_a_number_keeps_its_token_unit_and_line(recorder: Recorder) -> None:
    recorder.start_run("ping", 1).add_metric("rtt_mean", quantity("0.969", "ms"), 2)
    (row,) = recorder.rows["metrics"]
    assert (row["value"], row["unit"], row["printed"], row["printed_unit"], row["line"]) == (
        969_000.0,
        "ns",
        "0.969",
        "ms",
        2,
    )


def test_a_different_value_of_the_same_metric_is_an_error_with_both_lines(recorder: Recorder) -> None:
    run = recorder.start_run("ping", 1)
    for line, token in ((1, "0.969"), (2, "0.969"), (3, "1.902")):
        run.add_metric("rtt_mean", quantity(token, "ms"), line)
    assert len(recorder.rows["metrics"]) == 1 and run.codes == {"value_conflict"}
    (event,) = recorder.rows["events"]
    assert (event["line"], event["severity"], event["run_id"]) == (3, "error", run.run_id)
    assert "1.902" in event["text"] and "0.969 in line 1" in event["text"]


@pytest.mark.parametrize(
    "name", ["ping/iputils-20221126-sigquit.log", "iostat/12.6.1-x.json", "qperf/0.4.11-vvs-four-tests.log"]
)
def test_what_follows_too_many_runs_is_left_out_with_one_error(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    text = (FIXTURES / name).read_bytes()
    runs = parse_source(source_from_bytes(text * 3, "a")).records("runs")
    monkeypatch.setattr(record, "MOST_RUNS", 2)
    logs = parse_source(source_from_bytes(text * 3, "a"))
    assert [row["first_line"] for row in logs.records("runs")] == [row["first_line"] for row in runs[:2]]
    (event,) = (event for event in logs.records("events") if event["severity"] == "error")
    assert (event["code"], event["line"]) == ("too_large", runs[2]["first_line"])
