from __future__ import annotations

import pytest
from helpers.logs import event_codes, first_run, read_text
from helpers.places import FIXTURES, SHARED

import azlatency as az
from azlatency.logs.recognise.claims import find_claims
from azlatency.logs.source.decode import source_from_bytes

PUBLIC = SHARED / "corpus" / "public" / "psping"
ICMP, CONNECT, LATENCY, BANDWIDTH = (
    (FIXTURES / "psping" / f"typed-{name}.log").read_bytes().decode()
    for name in ("icmp", "connect", "latency", "bandwidth")
)
WINDOWS = """
Pinging 10.2.2.4 with 32 bytes of data:
Reply from 10.2.2.4: bytes=32 time=1ms TTL=128

Ping statistics for 10.2.2.4:
    Packets: Sent = 1, Received = 1, Lost = 0 (0% loss),
Approximate round trip times in milli-seconds:
    Minimum = 1ms, Maximum = 1ms, Average = 1ms
"""


def tools(text: str) -> set[str]:
    return {claim.tool for claim in find_claims(source_from_bytes(text.encode(), "a.log"))}


def test_a_connect_time_is_not_a_round_trip_time(read) -> None:
    log = read(CONNECT)
    assert (log.value("rtt_mean"), log.value("connect_mean")) == (None, 1_510_000)
    (block,) = log.samples
    assert block.quantity == "connect" and all(time is None for time in block.rtt_ns)
    assert list(block.time_ns) == [3_470_000, 1_130_000, 1_910_000, 1_500_000]
    assert block.status == ["warmup", "ok", "ok", "ok"]
    assert log.codes() == ["connect_time"]
    assert log.runs[0].get("printed_as") is None


def test_the_first_icmp_replies_are_the_warm_up(read) -> None:
    log = read(ICMP)
    assert log.samples[0].status == ["warmup", "warmup", "ok", "ok", "lost", "ok"]
    assert log.value("loss") == 0.25


def test_statistics_that_the_replies_deny(read) -> None:
    assert read(ICMP.replace("Minimum = 1.21ms", "Minimum = 1.20ms")).codes("error") == ["value_conflict"]
    assert read(ICMP.replace("Reply from 10.2.2.4: 1.25ms\n", "")).codes("warning") == ["count_mismatch"]


def test_the_maximum_of_the_latency_mode_is_misspelled(read) -> None:
    log = read(LATENCY)
    assert (log.value("rtt_max"), log.runs[0]["message_bytes"]) == (580_000, 8192)
    assert read(LATENCY.replace("Maxiumum", "Maximum")).value("rtt_max") == 580_000


def test_a_histogram_of_another_run(read) -> None:
    assert read(LATENCY.replace("0.29\t2", "0.29\t200")).codes("warning") == ["count_mismatch"]


def test_an_old_version_names_no_port_and_no_statistics_line(read) -> None:
    old = CONNECT.replace(" from 10.2.1.4:50672:", "").replace("TCP connect statistics for 10.2.2.4:443:\n", "")
    log = read(old)
    assert (log.value("connect_mean"), log.unknown()) == (1_510_000, 0)


def test_quiet_progress_overwrites_itself(read) -> None:
    quiet = "TCP connect to 10.2.2.4:443:\n101 iterations (warmup 1) ping test: 575705100%\n"
    log = read(
        quiet + "\nTCP connect statistics for 10.2.2.4:443:\n  Sent = 100, Received = 100, Lost = 0 (0% loss),\n"
    )
    assert (log.unknown(), log.value("received")) == (0, 100)


def test_a_log_without_statistics(read) -> None:
    log = read(CONNECT[: CONNECT.index("\nTCP connect statistics")])
    lines = CONNECT.split("\n")
    for metric, printed in (("connect_min", "1.13"), ("connect_max", "1.91")):
        assert log.metric(metric)["printed"] == printed
        assert lines[log.metric(metric)["line"] - 1].endswith(f" {printed}ms")
    assert log.metric("connect_mean")["printed"] is None
    assert log.value("connect_mean") == pytest.approx(1_513_333.33)
    assert log.runs[0]["status"] == "truncated"


def test_a_refused_connection(read) -> None:
    log = read(
        "TCP connect to 10.2.2.4:443:\n3 iterations (warmup 1) ping test:\n"
        "Connecting to 10.2.2.4:443 (warmup): The remote computer refused the network connection.\n"
        "Connecting to 10.2.2.4:443: from 0.0.0.0:50672: \n"
        "This operation returned because the timeout period expired.\n"
        "\nTCP connect statistics for 10.2.2.4:443:\n  Sent = 1, Received = 0, Lost = 1 (100% loss),\n"
    )
    assert (log.runs[0]["status"], log.value("loss"), log.unknown()) == ("no_data", 1, 0)
    assert log.samples[0].status == ["warmup", "lost"] and log.samples[0].quantity == "connect"


def test_windows_ping_stays_ping() -> None:
    assert tools(WINDOWS) == {"ping"}
    assert tools(ICMP) == {"psping"}
    assert tools(ICMP[ICMP.index("Pinging") :]) == {"psping"}
    assert tools(WINDOWS[: WINDOWS.index("Reply")]) == {"ping"}


def test_windows_ping_after_psping(read) -> None:
    log = read(ICMP + WINDOWS)
    assert [row["tool"] for row in log.runs] == ["psping", "ping"]
    assert log.value("rtt_mean", 1) == 1_000_000


@pytest.mark.parametrize("first", [ICMP, CONNECT, LATENCY])
@pytest.mark.parametrize("second", [ICMP, CONNECT, LATENCY])
def test_two_logs_are_two_runs(read, first: str, second: str) -> None:
    joined = read(first + second)
    assert len(joined.runs) == 2
    for run, text in enumerate((first, second)):
        alone = read(text)
        for metric in ("rtt_mean", "connect_mean", "sent", "received"):
            assert joined.value(metric, run) == alone.value(metric)
    assert joined.unknown() == 0


def test_rates_of_a_bandwidth_test_count_1024_bytes(read) -> None:
    """Its histogram has the same rates in bytes a second; the two must agree."""
    log = read(BANDWIDTH)
    assert log.value("throughput", side="sender") == 5.75 * 2**20 * 8
    assert log.codes() == []
    assert read(BANDWIDTH.replace("2621440.00", "2500000.00")).codes("error") == ["unit_conflict"]
    assert read(BANDWIDTH.replace("Average = 5.75", "Average = 7.75")).codes("error") == ["impossible_spread"]


def test_rates_without_a_named_side_are_not_read(read) -> None:
    log = read(BANDWIDTH.replace("TCP sender bandwidth statistics:\r\n", ""))
    assert log.tables.rows["metrics"] == []
    assert (log.unknown(), log.runs[0]["status"]) == (1, "truncated")


@pytest.mark.parametrize(
    ("name", "metric", "value"),
    [
        ("gh__icmp_hist_warmup2", "rtt_mean", 41_780_000),
        ("gh__tcp_hist_warmup2", "connect_mean", 41_420_000),
        ("gh__tcp_latency_hist", "rtt_max", 50_880_000),
        ("msdocs__sql_private_endpoint_nosummary", "connect_mean", 1_737_500),
        ("msdocs__wvd_indented", "connect_max", 3_830_000),
    ],
)
def test_published_logs(name: str, metric: str, value: float) -> None:
    path = PUBLIC / f"{name}.log"
    if not path.exists():
        pytest.skip("the collected logs are not here")
    tables = az.parse(path)
    assert {row["tool"] for row in tables.rows["runs"]} == {"psping"}
    assert next(row["value"] for row in tables.rows["metrics"] if row["metric"] == metric) == value
    assert tables.rows["sources"][0]["lines_unknown"] == 0


def test_placeholders_instead_of_addresses(read) -> None:
    log = read(
        "TCP connect to <IP Address>:443:\n2 iterations (warmup 1) ping test:\n"
        "Connecting to <IP Address>:443: from 10.0.0.4:60650: 3.83ms\n"
        "Connecting to <IP Address>:443: from 10.0.0.4:60652: 2.21ms\n"
        "TCP connect statistics for <IP Address>:443:\n  Sent = 2, Received = 2, Lost = 0 (0% loss),\n"
        "  Minimum = 2.21ms, Maximum = 3.83ms, Average = 3.02ms\n"
    )
    assert log.runs[0]["server"] == "<IP Address>"
    assert log.value("connect_mean") == 3_020_000
    assert log.unknown() == 0


@pytest.mark.parametrize(
    ("fixture", "old", "new", "code"),
    [
        ("typed-connect.log", "Average = 1.51ms", "Average = 1.91ms", "summary_mismatch"),
        ("typed-latency.log", "Maxiumum = 0.58ms", "Maxiumum = 0.98ms", "summary_mismatch"),
        ("typed-latency.log", "0.29\t2", "0.59\t2", "not_monotone"),
    ],
)
def test_what_lines_and_histogram_contradict_fails_the_run(fixture: str, old: str, new: str, code: str) -> None:
    text = (FIXTURES / "psping" / fixture).read_text("utf-8")
    assert old in text and first_run(read_text(text))["status"] == "complete"
    logs = read_text(text.replace(old, new))
    assert first_run(logs)["status"] == "failed" and code in event_codes(logs)
