"""The method that a statement about several paths is made from."""

from __future__ import annotations

import pandas as pd

from azlatency.stats.across_runs.main_method import Measured, measured_runs, rank_methods, sends_rarely


def test_placements_then_paths_then_runs_then_the_way_of_sending_decide() -> None:
    ping = [Measured("ping", path, 2, 9e9) for path in "ab"]
    steady = [Measured("sockperf TCP", path, 2) for path in "ab"]
    assert rank_methods([*ping, *steady]) == ["sockperf TCP", "ping"]
    assert rank_methods([*steady, *ping, Measured("ping", "a")]) == ["ping", "sockperf TCP"]
    assert rank_methods([*ping, *steady, Measured("qperf tcp_lat", "a", placement="same_zone")])[0] == "sockperf TCP"
    wide = [Measured("echo TCP", "a", placement=place) for place in ("same_zone", "cross_zone")]
    assert rank_methods([*ping, *steady, *wide])[0] == "echo TCP"


def test_medians_then_packets_decide_between_equals_and_the_first_stays_first() -> None:
    means, few, many = (Measured("qperf tcp_lat", "a", packets=9, has_median=False), Measured("x", "a", packets=1),
                        Measured("y", "a", packets=2))  # fmt: skip
    assert rank_methods([means, few, many]) == ["y", "x", "qperf tcp_lat"]
    assert rank_methods([Measured("y", "a"), Measured("x", "a")]) == ["y", "x"] and rank_methods([]) == []


def test_a_reverse_test_comes_after_an_equal_one_in_the_direction_of_the_path() -> None:
    reverse, forward = Measured("iperf3 stream-reverse TCP", "a"), Measured("iperf3 TCP", "a")
    assert rank_methods([reverse, forward]) == ["iperf3 TCP", "iperf3 stream-reverse TCP"]
    assert rank_methods([reverse, reverse, forward])[0] == "iperf3 stream-reverse TCP", "more runs"


def test_a_rate_that_was_asked_for_comes_last() -> None:
    """Two TCP tests of 2 · 10 bit/s, which carry 19.5 and 15; UDP of an unknown rate; TCP that was told nothing."""
    told = [
        ("reached", "tcp", 10.0, 2.0, 19.5),
        ("missed", "tcp", 10.0, 2.0, 15.0),
        ("UDP", "udp", 0.0, None, 9.0),
        ("TCP", "tcp", 0.0, None, 1.0),
    ]
    columns = ["method", "protocol", "target_rate_bit_s", "connections", "throughput_bit_s"]
    frame = pd.DataFrame(told, columns=columns).assign(path="a")
    assert [run.paced for run in measured_runs(frame)] == [2, 1, 1, 0]
    assert rank_methods(measured_runs(pd.concat([frame] + [frame[:3]] * 4))) == ["TCP", "missed", "UDP", "reached"]
    assert not any(run.paced for run in measured_runs(frame.drop(columns="throughput_bit_s"))), "UDP round trips"


def test_runs_of_a_frame_count_with_what_it_has() -> None:
    frame = pd.DataFrame(
        {"method": ["ping"], "path": ["a"], "median_ns": [None], "n": [None], "placement": ["same_zone"]}
    )
    assert measured_runs(frame) == [Measured("ping", "a", 1, 0.0, "same_zone", False)]
    assert measured_runs(frame[["method"]]) == [Measured("ping", "")]


def test_the_parser_of_a_tool_says_whether_it_sends_rarely() -> None:
    assert sends_rarely("ping 56 B") and not sends_rarely("sockperf TCP 14 B") and not sends_rarely("")
