from __future__ import annotations

import pytest
from helpers.logs import first_run, metric_values, read_text
from helpers.places import SHARED

import azlatency as az

PUBLIC = SHARED / "corpus" / "public" / "netperf"
ENDS = "from 0.0.0.0 (0.0.0.0) port 0 AF_INET to 10.2.2.4 () port 0 AF_INET"
RR = f"MIGRATED TCP REQUEST/RESPONSE TEST {ENDS} : first burst 0\n"
UDP_RR = RR.replace("TCP", "UDP")
TABLE = """\
Local /Remote
Socket Size   Request  Resp.   Elapsed  Trans.
Send   Recv   Size     Size    Time     Rate
bytes  Bytes  bytes    bytes   secs.    per sec

16384  131072 1        1       2.00     4000.00
16384  131072
"""
STREAM = f"MIGRATED TCP STREAM TEST {ENDS}\n"


def test_n1_percentiles_come_from_buckets(read) -> None:
    log = read(RR + "P50_LATENCY=20\nP90_LATENCY=176\nP99_LATENCY=2680\n")
    rows = log.tables.rows["quantiles"]
    assert [row["resolution_ns"] for row in rows] == [1_000, 10_000, 100_000]
    assert {row["origin"] for row in rows} == {"histogram"}
    falling = read(RR + "P50_LATENCY=200\nP90_LATENCY=176\n")
    assert (falling.tables.rows["quantiles"], falling.codes("error")) == ([], ["not_monotone"])


def test_n2_two_means_in_one_output(read) -> None:
    log = read(RR + "MEAN_LATENCY=61.03\nRT_LATENCY=61.459\nTRANSACTION_RATE=16271.003\n")
    assert (log.value("rtt_mean"), log.value("rtt_from_rate")) == (61_030, 61_459)
    stalled = read(RR + "MEAN_LATENCY=61.03\nRT_LATENCY=614.590\nTRANSACTION_RATE=1627.100\n")
    assert stalled.codes("warning") == ["stall"]


def test_n3_a_burst_has_several_transactions_in_flight(read) -> None:
    log = read(RR.replace("burst 0", "burst 4") + TABLE)
    assert log.value("rtt_from_rate") == 5e9 / 4000
    unknown = read(RR.replace(" : first burst 0", "") + TABLE)
    assert (unknown.value("rtt_from_rate"), unknown.codes("warning")) == (None, ["burst_unknown"])


def test_rate_and_round_trip_that_contradict_each_other(read) -> None:
    log = read(RR + "RT_LATENCY=61.459\nTRANSACTION_RATE=8135.500\n")
    assert log.codes("warning") == ["rate_mismatch"]


def test_n4_a_lost_datagram_ends_udp_rr_silently(read) -> None:
    log = read(UDP_RR + TABLE.replace("4000.00", "20.50"))
    assert log.codes("warning") == ["udp_loss_possible"]
    assert read(UDP_RR + TABLE).codes() == []


def test_n5_the_confidence_interval_is_that_of_the_rate(read) -> None:
    banner = RR.replace(" : first", " : +/-2.500% @ 99% conf.  : first")
    assert read(banner + "MEAN_LATENCY=61.03\nTHROUGHPUT_CONFID=4.900\n").codes("warning") == []
    log = read(banner + "MEAN_LATENCY=61.03\nTHROUGHPUT_CONFID=23.629\n")
    assert log.value("throughput_ci_width") == pytest.approx(0.23629)
    assert log.codes("warning") == ["confidence_not_reached"]
    assert read(banner + "MEAN_LATENCY=61.03\nTHROUGHPUT_CONFID=-1.000\n").value("throughput_ci_width") is None


def test_n6_ctrl_c_leaves_normal_output(read) -> None:
    log = read("$ netperf -t TCP_RR -l 10 -H 10.2.2.4\n" + RR + TABLE)
    assert (log.runs[0]["status"], log.codes("warning")) == ("interrupted", ["interrupted"])
    assert read("$ netperf -t TCP_RR -l 2 -H 10.2.2.4\n" + RR + TABLE).runs[0]["status"] == "complete"


def test_n7_the_deviation_is_the_populations(read) -> None:
    log = read(RR + "STDDEV_LATENCY=500.00\nTHROUGHPUT=10.00\nTHROUGHPUT_UNITS=Trans/s\nELAPSED_TIME=1.00\n")
    assert (log.value("rtt_sd"), log.value("rtt_sd_population")) == (None, 500_000)
    assert "sd_not_convertible" in log.codes("info")
    exact = read(RR + "STDDEV_LATENCY=500.00\nMEAN_LATENCY=61.03\n>100_SECS: 2\nHIST_TOTAL:      2\n")
    assert exact.value("rtt_sd") == pytest.approx(500_000 * 2**0.5)
    assert exact.metric("rtt_sd")["printed"] == "500.00"


def test_n8_an_impossible_deviation(read) -> None:
    log = read(RR + "MIN_LATENCY=600\nMAX_LATENCY=900\nSTDDEV_LATENCY=783.80\nMEAN_LATENCY=700.00\n")
    assert log.codes("error") == ["impossible_spread"]
    assert [log.value(f"rtt_{name}") for name in ("min", "max", "sd", "sd_population")] == [None] * 4
    assert log.value("rtt_mean") == 700_000


def test_a_mean_outside_its_extremes(read) -> None:
    assert read(RR + "MIN_LATENCY=600\nMAX_LATENCY=900\nMEAN_LATENCY=500.00\n").codes("error") == ["impossible_spread"]


@pytest.mark.parametrize("test", ["Connect/Request/Response", "Connect/Close"])
def test_a_transaction_with_a_connection_is_not_a_round_trip(read, test: str) -> None:
    banner = RR.replace("REQUEST/RESPONSE", test).replace(" : first burst 0", "")
    log = read(banner + TABLE)
    assert (log.value("rtt_from_rate"), log.value("transaction_rate")) == (None, 4000)
    assert log.codes() == ["not_a_round_trip"]
    omni = read(banner + "MEAN_LATENCY=286.00\nP50_LATENCY=280\n")
    assert (omni.value("rtt_mean"), omni.value("transaction_mean")) == (None, 286_000)
    assert {row["metric"] for row in omni.tables.rows["quantiles"]} == {"transaction"}


def test_latencies_of_a_stream_are_those_of_send_calls(read) -> None:
    log = read(STREAM + "MEAN_LATENCY=3.00\nTHROUGHPUT=1102.42\nTHROUGHPUT_UNITS=10^6bits/s\n")
    assert (log.value("rtt_mean"), log.value("send_call_mean")) == (None, 3_000)
    assert log.value("throughput", side="receiver") == pytest.approx(1_102_420_000)


@pytest.mark.parametrize(
    ("unit", "bits"), [("10^9bits", 1e9), ("10^0bits", 1), ("KBytes", 8 * 1024), ("MBytes", 8 * 1024**2), ("Bytes", 8)]
)
def test_units_of_throughput(read, unit: str, bits: float) -> None:
    titles = "Recv   Send    Send\nSocket Socket  Message  Elapsed\nSize   Size    Size     Time     Throughput\n"
    log = read(
        f"{STREAM}{titles}bytes  bytes   bytes    secs.    {unit}/sec\n\n131072  16384  16384    1.00     2.50\n"
    )
    assert log.value("throughput", side="receiver") == pytest.approx(2.5 * bits)
    assert log.unknown() == 0


def test_a_classic_stream_counts_what_the_sender_sent(read) -> None:
    units = "bytes  bytes   bytes    secs.    10^6bits/sec\n\n131072  16384  16384    1.00     2.50\n"
    assert read(STREAM.removeprefix("MIGRATED ") + units).value("throughput", side="sender") == 2_500_000


def test_a_rate_without_its_unit_is_left_out(read) -> None:
    for text in (
        STREAM + "9412.50\n",
        STREAM + "THROUGHPUT=9412.50\n",
        STREAM + "131072  16384  16384    1.00     2.50\n",
    ):
        log = read(text)
        assert log.value("throughput", side="receiver") is None
        assert "unit_ambiguous" in log.codes("warning")


def test_a_table_of_another_quantity_is_never_a_transaction_rate(read) -> None:
    log = read(RR + TABLE.replace("Trans.", "Tput  ").replace("per sec", "per hour"))
    assert (log.value("transaction_rate"), log.unknown()) == (None, 1)


def test_datagrams_sent_and_received(read) -> None:
    log = read(
        STREAM.replace("TCP", "UDP") + "Socket  Message  Elapsed      Messages\n"
        "Size    Size     Time         Okay Errors   Throughput\n"
        "bytes   bytes    secs            #      #   10^6bits/sec\n\n"
        "212992   65507   1.00        12345      0    6469.55\n212992           1.00        12340           6466.93\n"
    )
    assert (log.value("throughput", side="sender"), log.value("throughput", side="receiver")) == (6469.55e6, 6466.93e6)
    assert log.value("loss") == pytest.approx(5 / 12345)
    assert log.unknown() == 0


def test_p_0_prints_no_titles(read) -> None:
    rows = "16384  131072 1        1       1.00     22748.43   \n16384  131072\n"
    log = read(rows)
    assert (log.value("transaction_rate"), log.value("rtt_from_rate")) == (22748.43, None)
    assert log.codes("warning") == ["unit_assumed", "test_unknown"]
    known = read("$ netperf -t TCP_RR -l 1 -P 0\n" + rows)
    assert known.value("rtt_from_rate") == pytest.approx(1e9 / 22748.43)


def test_a_bare_csv_line_is_refused(read) -> None:
    assert read("18,76.50,2680,13034.736\n").runs == []


def test_values_under_too_few_titles_are_refused(read) -> None:
    log = read(RR + "Minimum Latency Microseconds,Mean Latency Microseconds\n15,61.03,20\n")
    assert log.tables.rows["metrics"] == []
    assert "column_mismatch" in log.codes("error")


def test_titles_wrapped_by_a_paste(read) -> None:
    log = read(
        RR.replace(" to 10", " to\n10")
        + "Minimum Latency Microseconds,90th Percentile\nLatency Microseconds,Mean Latency\nMicroseconds,Throughput,\n"
        "Throughput Units\n15,61,31.50,31746.03,Trans/s\n"
    )
    assert (log.value("rtt_min"), log.quantile(0.9), log.value("rtt_mean")) == (15_000, 61_000, 31_500)
    assert (log.value("transaction_rate"), log.runs[0]["server"], log.unknown()) == (31746.03, "10.2.2.4", 0)


def test_a_banner_wrapped_by_a_mail(read) -> None:
    log = read(RR.replace(" to 10", "\nto 10") + "Mean Latency Microseconds\n31.50\n")
    assert (log.value("rtt_mean"), log.runs[0]["server"], log.unknown()) == (31_500, "10.2.2.4", 0)


def test_human_columns(read) -> None:
    log = read(
        RR + "Minimum      Mean         Round     Throughput Throughput Local       \n"
        "Latency      Latency      Trip                 Units      Send Socket \n"
        "Microseconds Microseconds Latency                         Size        \n"
        "                          usec/tran                       Final       \n"
        "15           61.03        61.459    16271.00   Trans/s    16384       \n"
    )
    assert (log.value("rtt_min"), log.value("rtt_mean"), log.value("rtt_from_rate")) == (15_000, 61_030, 61_459)
    assert (log.value("transaction_rate"), log.unknown()) == (16271, 0)


def test_several_printings_of_one_rate(read) -> None:
    log = read(RR + "TRANSACTION_RATE=16271.003\nTHROUGHPUT=16271.00\nTHROUGHPUT_UNITS=Trans/s\n")
    assert (log.value("transaction_rate"), log.codes()) == (16271.003, [])
    other = read(RR + "TRANSACTION_RATE=16271.003\nTHROUGHPUT=16272.00\nTHROUGHPUT_UNITS=Trans/s\n")
    assert other.codes("error") == ["value_conflict"]


def test_interim_results_in_each_form(read) -> None:
    lines = (
        "Interim result: 4000.00 Trans/s over 0.500 seconds ending at 1795226254.850\n"
        "Interim result: 5000.00 Trans/s over 0.250 seconds ending at 1795226255.100\n"
    )
    fields = ("INTERIM_RESULT[0]=4000.00", "UNITS[0]=Trans/s", "INTERVAL[0]=0.500", "ENDING[0]=1795226254.850")
    keyed = "".join(f"NETPERF_{field}\n" for field in fields)
    log = read(RR + lines + TABLE)
    intervals = log.tables.rows["intervals"]
    assert [(row["start_ns"], row["end_ns"], row["rtt_ns"]) for row in intervals] == [
        (0, 500_000_000, 250_000),
        (500_000_000, 750_000_000, 200_000),
    ]
    assert log.runs[0]["started_at"].isoformat() == "2026-11-21T01:57:34.350000+00:00"
    for text in (keyed, "4000.00,Trans/s,0.500,1795226254.850\n"):
        row = read(RR + text + "MEAN_LATENCY=61.03\n").tables.rows["intervals"][0]
        assert (row["end_ns"], row["rtt_ns"]) == (500_000_000, 250_000)
    stream = read(STREAM + lines.replace("Trans/s", "10^6bits/s")).tables.rows["intervals"]
    assert [row["throughput_bit_s"] for row in stream] == [4e9, 5e9]


def test_a_histogram_without_all_its_rows(read) -> None:
    row = "TEN_USEC      :    0: 6150: 6792:  137:   48:   18:   16:   14:    1:    3\n"
    assert "count_mismatch" in read(RR + TABLE + row + "HIST_TOTAL:      13394\n").codes("warning")
    log = read(RR + TABLE + row + "HIST_TOTAL:      13179\n")
    assert (log.value("observations"), log.codes()) == (13179, [])


def test_a_number_cut_at_the_end_of_the_text(read) -> None:
    log = read(RR + "MEAN_LATENCY=61.03\nMAX_LATENCY=25")
    assert (log.value("rtt_max"), log.codes("warning")) == (None, ["unfinished_line", "truncated"])


def test_a_missing_server_is_a_failed_run(read) -> None:
    log = read("establish control: are you sure there is a netserver listening on 127.0.0.1 at port 18999?\n")
    assert (log.runs[0]["status"], log.codes("error")) == ("failed", ["failed"])


@pytest.mark.parametrize(
    ("name", "codes"),
    [
        ("doc__tcp_rr_plain", set()),
        ("doc__udp_rr_cpu", set()),
        ("pkb__netperf_results_0", {"impossible_spread"}),
        ("pkb__netperf_results_1", {"impossible_spread"}),
        ("pkb__netperf_results_2", {"confidence_not_reached"}),
        ("pkb__netperf_results_8", {"column_mismatch", "truncated", "unknown_line"}),
        ("pkb__netperf_results_txt", set()),
    ],
)
def test_published_logs(name: str, codes: set[str]) -> None:
    path = PUBLIC / f"{name}.log"
    if not path.exists():
        pytest.skip("the collected logs are not here")
    tables = az.parse(path)
    assert {row["tool"] for row in tables.rows["runs"]} == {"netperf"}
    assert {row["code"] for row in tables.rows["events"] if row["severity"] != "info"} == codes


STREAM_TITLES = """Recv   Send    Send
Socket Socket  Message  Elapsed
Size   Size    Size     Time     Throughput
bytes  bytes   bytes    secs.    10^6bits/sec

"""


@pytest.mark.parametrize("banner", ["", f"MIGRATED TCP STREAM TEST {ENDS}\n"])
def test_a_row_of_transactions_under_the_titles_of_a_stream_is_left_out(banner: str) -> None:
    logs = read_text(banner + STREAM_TITLES + "16384  131072 1        1       10.00    22718.42\n16384  131072\n")
    assert {row["metric"] for row in logs.records("metrics")} == set()
    assert first_run(logs)["status"] == "failed"
    assert "column_mismatch" in {event["code"] for event in logs.records("events")}


def test_a_row_of_a_stream_under_the_banner_of_transactions_is_left_out() -> None:
    logs = read_text(RR + "131072  16384  16384    10.00    9412.34\n")
    assert {row["metric"] for row in logs.records("metrics")} == set()
    assert first_run(logs)["status"] == "failed"


@pytest.mark.parametrize(("sockets", "status"), [("16384  131072", "complete"), ("16384  1310", "truncated")])
def test_remote_sizes_at_the_end_of_the_text_prove_the_end_if_they_are_whole(sockets: str, status: str) -> None:
    logs = read_text(RR + "16384  131072 1        1       10.00    22718.42\n" + sockets)
    assert first_run(logs)["status"] == status


@pytest.mark.parametrize(
    "notes",
    [
        " to 10.0.0.2",
        " to 10.0.0.2 : histogram : interval",
        " from 0.0.0.0 (0.0.0.0) port 0 AF_INET to 10.0.0.2 () port 0 AF_INET : +/-2.500% @ 99% conf.  : demo",
        " from (null) (0.0.0.0) port 0 AF_INET to 10.0.0.2 () port 0 AF_INET : first burst 0 : cpu bind",
    ],
)
def test_banners_of_every_version(notes: str) -> None:
    """Before 2.4 the banner names only the remote host (nettest_bsd.c)."""
    tables = read_text(
        f"TCP STREAM TEST{notes}\nRecv   Send    Send\nSocket Socket  Message  Elapsed\n"
        "Size   Size    Size     Time     Throughput\nbytes  bytes   bytes    secs.    10^6bits/sec\n\n"
        "131072  16384  16384    10.00    9386.99\n"
    )
    assert tables.rows["runs"][0]["server"] == "10.0.0.2"
    assert metric_values(tables)["throughput"] == 9_386_990_000
    assert tables.rows["sources"][0]["lines_unknown"] == 0


def test_rows_of_p_0_that_were_appended_are_runs_with_their_own_lines(read) -> None:
    log = read("16384  131072 1        1       1.00     22748.43\n16384  131072\n" * 3)
    assert [(run["status"], run["first_line"], run["last_line"]) for run in log.runs] == [
        ("complete", 1, 2),
        ("complete", 3, 4),
        ("complete", 5, 6),
    ]


OMNI_RATE = """\
Minimum      90th         99th         Throughput
Latency      Percentile   Percentile
Microseconds Latency      Latency
             Microseconds Microseconds
96           226          412          5088.28
"""


def test_the_throughput_of_transactions_has_their_unit_unless_an_option_changes_it(read) -> None:
    log = read(
        "$ netperf -t TCP_RR -H 10.2.2.4 -- -O MIN_LATENCY,P90_LATENCY,P99_LATENCY,THROUGHPUT\n" + RR + OMNI_RATE
    )
    assert (log.value("transaction_rate"), log.value("rtt_min"), log.unknown()) == (5088.28, 96_000, 0)
    assert round(log.value("rtt_from_rate")) == 196_530
    assert (log.codes("warning"), log.runs[0]["status"]) == ([], "complete")
    assert read(RR + OMNI_RATE).codes("warning") == ["unit_assumed"]
    for other in ("$ netperf -f m -t TCP_RR -H 10.2.2.4\n" + RR, STREAM):
        assert "unit_ambiguous" in read(other + OMNI_RATE).codes("warning")


def test_a_table_whose_titles_lost_their_leading_blanks_is_read(read) -> None:
    log = read(
        RR + "Minimum      Mean         Maximum      99th         Stddev       Transaction\n"
        "Latency      Latency      Latency      Percentile   Latency      Rate\n"
        "Microseconds Microseconds Microseconds Latency      Microseconds Tran/s\n"
        "Microseconds\n"
        "42           57.68        187          70           4.03         51949.295\n"
    )
    assert [log.value(f"rtt_{name}") for name in ("min", "mean", "max", "sd_population")] == [
        42e3,
        57_680,
        187e3,
        4_030,
    ]
    assert (log.value("transaction_rate"), log.unknown()) == (51949.295, 0)
    (p99,) = log.tables.rows["quantiles"]
    assert (p99["q"], p99["value_ns"]) == (0.99, 70_000)


def test_titles_without_blanks_that_fit_two_columns_are_not_read(read) -> None:
    titles = "Local       Remote\nCPU         CPU\nUtil %      Util\n%\n"
    assert read(RR + OMNI_RATE + titles.replace("Util %  ", "Util    ") + "1.00        2.00\n").unknown() > 0


def test_the_last_value_of_a_table_that_is_cut_is_left_out(read) -> None:
    log = read(RR + OMNI_RATE.rstrip()[:-2])
    assert (log.value("transaction_rate"), log.value("rtt_min"), log.runs[0]["status"]) == (None, 96_000, "truncated")
    padded = read(RR + OMNI_RATE.rstrip() + "      ")
    assert (padded.value("transaction_rate"), padded.runs[0]["status"]) == (5088.28, "complete")
