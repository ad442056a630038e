from __future__ import annotations

import pytest
from helpers.places import FIXTURES

REPORT = """\
Start: 2026-11-22T07:08:18+0000
HOST: client-az1                  Loss%   Snt   Last   Avg  Best  Wrst StDev
  1.|-- 10.66.2.4                 30.0%    10    0.6   0.6   0.6   0.8   0.1
  2.|-- 10.66.9.9                  0.0%    10    4.6   2.6   1.3   5.9   1.8
"""
SCREEN = """\
                             My traceroute  [v0.95]
client-az1 (10.66.1.4) -> 10.66.9.9 (10.66.9.9)        2026-11-22T07:08:18+0000
Keys:  Help   Display mode   Restart statistics   Order of fields   quit
                                       Packets               Pings
 Host                                Loss%   Snt   Last   Avg  Best  Wrst StDev
 1. 10.66.2.4                         0.0%    10    0.6   0.6   0.6   0.8   0.1
 2. (waiting for reply)
 3. 10.66.9.9                         0.0%    10    4.6   2.6   1.3   5.9   1.8
"""


def test_a_mean_may_be_half_a_microsecond_per_reply_too_small(read) -> None:
    log = read(REPORT)
    assert log.metric("rtt_mean", stream=None)["resolution"] == 50_000 + 11 * 500
    assert log.metric("rtt_min", stream=None)["resolution"] == 50_000


def test_counts_do_not_follow_from_the_loss(read) -> None:
    log = read(REPORT)
    assert [log.value(name, stream=None) for name in ("sent", "received", "observations")] == [10, None, None]


def test_reports_in_one_file_are_runs(read) -> None:
    log = read(REPORT + REPORT.replace("10.66.9.9", "10.66.9.8") + REPORT.split("\n", 1)[1])
    assert [run["server"] for run in log.runs] == ["10.66.9.9", "10.66.9.8", "10.66.9.9"]
    assert ["started_at" in run for run in log.runs] == [True, True, False]
    assert set(log.codes("warning")) == {"target_assumed"}


@pytest.mark.parametrize("name", ["          ", " "])
def test_a_client_without_a_name(read, name: str) -> None:
    log = read(REPORT.replace("client-az1", name))
    assert (log.runs[0]["client"], log.runs[0]["dialect"]) == (None, "report")
    assert log.value("rtt_mean", stream=None) == 2_600_000


def test_a_copy_of_the_screen(read) -> None:
    log = read(SCREEN)
    (run,) = log.runs
    assert (run["dialect"], run["tool_version"], run["client"], run["server"]) == (
        "screen",
        "0.95",
        "client-az1",
        "10.66.9.9",
    )
    assert log.value("rtt_mean", stream=None) == 2_600_000
    assert not log.codes("warning")


def test_a_last_row_that_is_cut_is_not_the_target(read) -> None:
    log = read(REPORT.rstrip("\n")[:-5])
    assert log.runs[0]["status"] == "truncated"
    assert log.value("rtt_mean", stream=None) is None
    assert log.value("rtt_mean", stream="hop 1 10.66.2.4") is None  # it may be the last hop that is left


def test_a_number_that_fills_its_column_is_left_out(read) -> None:
    log = read(REPORT.replace("  10    4.6", "12345    4.6"))
    assert log.value("sent", stream=None) is None
    assert log.codes("warning") == ["cut_number", "target_assumed"]


def test_the_named_target_did_not_answer(read) -> None:
    text = (FIXTURES / "mtr/0.95.json").read_text().replace('"dst": "10.66.9.9"', '"dst": "10.66.9.8"')
    log = read(text)
    assert log.runs[0]["status"] == "failed"
    assert log.value("rtt_mean", stream="hop 3 10.66.9.9") == 4_151_000


@pytest.mark.parametrize(
    ("token", "resolution"),
    [("4.151", 500.0), ("3068.6", 50_000.0), ("30.5", 500.0), ("0.5", 500.0), ("123.4", 5_000.0)],
)
def test_json_has_five_significant_digits(read, token: str, resolution: float) -> None:
    text = (FIXTURES / "mtr/0.95.json").read_text().replace('"Wrst": 9.253', f'"Wrst": {token}')
    log = read(text)
    assert log.metric("rtt_max", stream=None)["resolution"] == pytest.approx(resolution)


def test_json_until_0_93_has_two_decimals_and_counts_in_quotes(read) -> None:
    text = (FIXTURES / "mtr/0.95.json").read_text().replace('"count": 3', '"count": "3"').replace("9.253", "123.40")
    log = read(text)
    assert log.metric("rtt_max", stream=None)["resolution"] == 5_000


def test_several_targets_in_one_csv(read) -> None:
    text = (FIXTURES / "mtr/0.95-all-fields.csv").read_text()
    log = read(text + text.replace("10.66.9.9", "10.66.9.8"))
    assert [run["server"] for run in log.runs] == ["10.66.9.9", "10.66.9.8"]


def test_a_command_confirms_the_target(read) -> None:
    assert not read("$ mtr -n -r -c 10 10.66.9.9\n" + REPORT).codes("warning")


def test_protocol_and_target_of_a_command(read) -> None:
    log = read("$ mtr -n -r -c 10 --udp 10.66.9.8\n" + REPORT)
    assert log.runs[0]["protocol"] == "udp"
    assert log.codes("warning") == ["target_not_reached"]


def test_a_row_without_its_header_is_not_read(read) -> None:
    log = read(REPORT.splitlines()[3] + "\n")
    assert log.runs[0]["status"] == "no_data"
    assert "no_data" in log.codes("error")


def test_a_numbered_list_is_not_a_report(read) -> None:
    log = read("1. Install version 2 of the tool\n2. Run it 3 times\nStart: at 10:00\n")
    assert not log.runs
    assert "line_outside_log" not in log.codes()
