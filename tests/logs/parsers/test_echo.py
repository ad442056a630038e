from __future__ import annotations

import pytest
from helpers.logs import event_codes, metric_values, read_text
from helpers.places import FIXTURES

HEADER = "packet_num,timestamp,send_time_ns,receive_time_ns,rtt_us\n"
ROWS = """\
1,2026-11-21 01:47:31.837115,1795225651837134845,1795225651857078090,19943.245
2,2026-11-21 01:47:31.891334,1795225651891356290,1795225651891477156,120.866
3,2026-11-21 01:47:31.921187,1795225651921212273,1795225651921331895,119.622
"""


def test_round_trips_are_exact_to_the_nanosecond(read) -> None:
    log = read(HEADER + ROWS, "timings.csv")
    assert list(log.samples[0].rtt_ns) == [19_943_245, 120_866, 119_622]
    assert list(log.samples[0].sent_ns) == [0, 54_221_445, 84_077_428]
    assert log.tables.records("runs")[0]["started_at"] == "2026-11-21T01:47:31.837134Z"
    assert log.codes() == []


def test_a_clock_set_back_between_sending_and_receiving(read) -> None:
    row = "4,2026-11-21 01:47:32.000000,1795225652000000000,1795225651999000000,-1000.000\n"
    log = read(HEADER + ROWS + row)
    assert list(log.samples[0].rtt_ns)[-1] is None
    assert log.codes() == ["clock_step"]


def test_a_clock_set_back_between_two_packets(read) -> None:
    row = "4,2026-11-21 01:47:22.000000,1795225642000000000,1795225642000120000,120.000\n"
    log = read(HEADER + ROWS + row)
    assert list(log.samples[0].rtt_ns)[-1] is None
    assert log.codes() == ["clock_step"]


def test_a_row_whose_columns_contradict_each_other(read) -> None:
    log = read(HEADER + ROWS.replace("120.866", "121.866"))
    assert list(log.samples[0].rtt_ns) == [19_943_245, None, 119_622]
    assert log.codes("error") == ["value_conflict"]


def test_a_row_cut_short_is_an_unknown_line(read) -> None:
    log = read((HEADER + ROWS)[:-3])
    assert log.unknown() == 1
    assert len(log.samples[0].seq) == 2


def test_the_packet_that_ended_the_run_is_lost(read) -> None:
    stamp = "2026-11-21 01:47:32.001 - "
    log = read(
        f"{stamp}INFO - Starting Echo Client - logging to a.log\n"
        f"{stamp}INFO - Sending packet #1 (64 bytes)...\n"
        f"{stamp}INFO - Received response for packet #1 in 120.866 μs\n"
        f"{stamp}INFO - Sending packet #2 (64 bytes)...\n"
        f"{stamp}ERROR - TCP CONNECTION DROP: Connection closed by server\n"
    )
    assert list(log.samples[0].status) == ["ok", "lost"]
    assert log.runs[0]["status"] == "interrupted"
    assert log.codes("warning") == ["connection_drop"]


def test_lines_that_the_console_lost_are_not_lost_packets() -> None:
    """Composed from echo_client.py: the lines with a μ are missing, the counts are complete."""
    line = "2026-11-21 01:47:19.701 - INFO - "
    tables = read_text(
        line
        + "Starting Echo Client\n"
        + line
        + "Sending packet #1 (1400 bytes)...\n"
        + line
        + "Sending packet #2 (1400 bytes)...\n"
        "--- Echo Client Statistics ---\n" + line + "Packets: Sent = 2, Received = 2, Lost = 0 (0.0% loss)\n"
    )
    assert tables.sample_blocks == []
    assert metric_values(tables) == {"sent": 2, "received": 2, "lost": 0, "loss": 0, "observations": 2}
    assert "lines_missing" in event_codes(tables)


def test_a_log_that_ends_before_its_times_is_truncated() -> None:
    text = (FIXTURES / "echo" / "cca290c-one.log").read_text("utf-8")
    for end in ("2026-11-21 01:47:34.541 - INFO - RTT: Min", "RTT: Min"):
        assert read_text(text[: text.index(end)]).rows["runs"][0]["status"] == "truncated"


def test_one_flow_is_one_connection_and_one_run() -> None:
    tables = read_text(
        "packet_num,timestamp,send_time_ns,receive_time_ns,rtt_us\n"
        "1,2026-11-21 01:47:19.701664,1795225639701692776,1795225639702037188,344.412\n"
        "2,2026-11-21 01:47:20.701664,1795225640701692776,1795225640702037188,344.412\n"
    )
    assert [row["connections"] for row in tables.rows["runs"]] == [1]


@pytest.mark.parametrize(("printed", "codes"), [("25.500", []), ("95.500", ["summary_mismatch"])])
def test_extremes_are_compared_with_the_replies(read, printed: str, codes: list[str]) -> None:
    stamp = "2026-11-21 01:47:19.701 - INFO - "
    log = read(
        f"{stamp}Received response for packet #1 in 15.500 μs\n{stamp}Received response for packet #2 in 25.500 μs\n"
        f"{stamp}Packets: Sent = 2, Received = 2, Lost = 0 (0.0% loss)\n"
        f"{stamp}RTT: Min = 15.500μs, Max = {printed}μs, Avg = 20.500μs\n"
    )
    assert log.codes("error") == codes
    assert log.runs[0]["status"] == ("failed" if codes else "complete")
