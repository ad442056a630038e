"""The throughput of each run, and of each direction of a bidirectional test."""

from __future__ import annotations

from helpers.places import ROOT

import azlatency as az


def test_each_direction_of_a_bidirectional_test_has_a_goodput() -> None:
    logs = az.parse(ROOT / "tests" / "fixtures" / "iperf3" / "3.12-bidir.txt")
    rows = az.throughput(logs)
    # Lines 14 and 16 of the log, [TX-C] and [RX-C] as their receivers counted them; lines 13 and 15, retransmits.
    assert list(rows["throughput_bit_s"]) == [2.81e9, 2.79e9] and list(rows["retransmits"]) == [2342, 2259]
    assert list(rows["method"]) == ["iperf3 stream-bidir TCP", "iperf3 stream-bidir-reverse TCP"]
    assert set(rows["side"]) == {"receiver"}
    assert list(rows.index) == [f"{logs.runs.at[0, 'run_id']}{end}" for end in ("", "-reverse")]


def test_the_log_of_a_server_has_the_same_directions_as_that_of_a_client() -> None:
    logs = az.parse(ROOT / "tests" / "fixtures" / "iperf3" / "3.14-server-bidir-P2.log")
    rows = az.throughput(logs, sender_only=True)
    # [SUM][RX-S] is data from the client, and [SUM][TX-S] data to the client, whose count the server does not know.
    assert dict(zip(rows["test"], rows["throughput_bit_s"], strict=True)) == {
        "stream-bidir": 196e6,
        "stream-bidir-reverse": 197e6,
    }
    assert list(rows["side"]) == ["receiver", "sender"]
    assert list(rows["method"]) == ["iperf3 stream-bidir TCP", "iperf3 stream-bidir-reverse TCP (sender)"]
    assert list(az.throughput(logs)["side"]) == ["receiver"], "the rate of a sender is not a goodput"
