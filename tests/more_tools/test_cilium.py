from __future__ import annotations

TITLE = "🔥 Network Performance Test Summary [cilium-test-1]:\n"
HEADER = "📋 Scenario | Node | Test | Min | Mean | P50 | P90 | P99 | OP/s\n"
ROW = "📋 pod-to-pod | other-node | TCP_RR | 107µs | 136.5µs | 135µs | 149µs | 1.2ms | 7310.90\n"
OLD = """\
🔥 Performance Test Summary:
---------------------------------------------
📋 Scenario        | Pod                       | Test            | Num Samples     | Duration        | Avg value
---------------------------------------------
📋 pod-net         | perf-client-668f6         | UDP_STREAM      | 3               | 1m2s            | 3042.86 (Mb/s)
"""


def test_times_are_those_of_netperf(read) -> None:
    log = read(TITLE + HEADER + ROW)
    assert log.value("rtt_mean") == 136_500
    assert log.quantile(0.99) == 1_200_000
    assert not log.codes()


def test_a_transaction_with_a_connection_is_not_a_round_trip(read) -> None:
    log = read(TITLE + HEADER + ROW.replace("TCP_RR", "TCP_CRR"))
    assert (log.value("rtt_mean"), log.value("transaction_mean")) == (None, 136_500)
    assert log.runs[0]["printed_as"] is None


def test_a_table_without_its_title_is_read(read) -> None:
    assert read(HEADER + ROW).value("rtt_min") == 107_000


def test_the_table_of_2022_names_the_pod_and_gives_the_mean_of_tests(read) -> None:
    log = read(OLD)
    assert (log.runs[0]["client"], log.runs[0]["requested_duration_ns"]) == ("perf-client-668f6", 62_000_000_000)
    assert log.value("throughput") == 3_042_860_000
    assert log.codes() == ["mean_of_runs"]


def test_a_mean_of_percentiles_is_not_a_percentile(read) -> None:
    header = "📋 Scenario | Pod | Test | Num Samples | Duration | Mean | P99\n"
    row = "📋 pod-to-pod | perf-client-668f6 | TCP_RR | {} | 10s | 57.00        μs | 1204.33      μs\n"
    log = read("🔥 Latency Test Summary:\n" + header + row.format(3) + row.format(1))
    assert (log.value("rtt_mean"), log.value("rtt_p99_mean")) == (57_000, 1_204_330)
    assert [row["run_id"] for row in log.tables.rows["quantiles"]] == [log.runs[1]["run_id"]]


def test_the_first_table_has_the_pod_as_its_scenario(read) -> None:
    log = read(OLD.replace("Scenario        | Pod  ", "Scenario ").replace("pod-net         | ", ""))
    assert (log.runs[0]["client"], log.runs[0]["test"]) == ("perf-client-668f6", "udp_stream")


def test_a_rate_that_the_mean_excludes_is_an_error(read) -> None:
    log = read(TITLE + HEADER + ROW.replace("7310.90", "73109.00"))
    assert log.codes("error") == ["rate_mismatch"]
    assert log.runs[0]["status"] == "failed"


def test_a_cut_row_is_an_unknown_line(read) -> None:
    for row in (ROW[:-2], ROW.rsplit("|", 1)[0] + "\n", ROW.replace("107µs", "107")):
        log = read(TITLE + HEADER + ROW + row)
        assert (len(log.runs), log.unknown()) == (1, 1)


def test_a_title_without_a_table_is_no_data(read) -> None:
    assert read(TITLE).runs[0]["status"] == "no_data"


def test_a_row_cut_in_front_of_its_last_cell_is_an_unknown_line(read) -> None:
    log = read(TITLE + HEADER + ROW + ROW[: ROW.rindex("|") + 1])
    assert (len(log.runs), log.unknown()) == (1, 1)
