from __future__ import annotations

from helpers.places import FIXTURES

CLIENT = (FIXTURES / "ncps" / "1.1-client.log").read_text("utf-8")


def test_the_first_version_prints_a_literal_carriage_return_and_other_arguments(read) -> None:
    text = CLIENT.replace("cRrtt/i", "cRrtt/i\\r", 1).replace(
        "ncps -c 10.66.1.5 -r 2 -N 20", "/opt/cps -c -r 16 10.7.0.6,0,10.7.0.8,7201,100,100,0,1"
    )
    log = read(text)
    assert (log.runs[0]["dialect"], log.runs[0]["server"]) == ("cps-client", "10.7.0.8")
    assert "message_bytes" not in log.runs[0]
    assert log.unknown() == 0


def test_numbers_that_are_printed_twice_must_agree(read) -> None:
    for old, new in (("Median:1,", "Median:2,"), ("###CPS,100000:2440", "###CPS,100000:2441")):
        log = read(CLIENT.replace(old, new))
        assert log.codes("error") == ["value_conflict"]


def test_a_rate_must_be_the_connections_by_the_time(read) -> None:
    log = read(CLIENT.replace("###ENDCPS 41305", "###ENDCPS 14305"))
    assert log.codes("error") == ["rate_mismatch"]
    assert log.runs[0]["status"] == "failed"


def test_percentiles_without_connections_or_of_capped_times_are_left_out(read) -> None:
    text = CLIENT.replace("===        1 ", "===       -1 ").replace("25:1,", "25:-1,")
    log = read(text.replace(" 28\n", " 10000000\n", 1).replace("99.99:28", "99.99:10000000"))
    rows = log.tables.rows["quantiles"]
    assert [row["q"] for row in rows] == [0.5, 0.75, 0.9, 0.95, 0.99, 0.999]
    assert log.codes() == ["capped", "connect_time"]


def test_a_mean_is_cut_to_whole_microseconds(read) -> None:
    assert read(CLIENT).metric("connect_mean")["resolution"] == 1_000


def test_parts_of_a_log_are_read(read) -> None:
    for start in ("=== CMDLINE", "=== Time", "###ENDCPS", "=== SYN RTT", "###SYNRTT"):
        log = read(CLIENT[CLIENT.index(start) :])
        assert log.runs[0]["status"] == "complete", start
        assert len(log.tables.rows["quantiles"]) == 8


def test_a_log_that_ends_early_is_truncated(read) -> None:
    assert read(CLIENT[: CLIENT.index("=== CMDLINE")]).runs[0]["status"] == "truncated"


def test_two_silent_tests_in_a_file_are_two_runs(read) -> None:
    silent = CLIENT[CLIENT.index("\n=== CMDLINE") :]
    assert len(read(silent + silent.replace("-t 5", "-t 6")).runs) == 2
    assert len(read(CLIENT + CLIENT).runs) == 2


def test_ports_that_were_used_again_are_reported(read) -> None:
    row = CLIENT.split("\n")[1].rstrip()
    assert "ports_reused" in read(CLIENT.replace(row, row + " REP", 1)).codes()


def test_a_tool_that_stopped_has_a_failed_run(read) -> None:
    log = read(CLIENT.split("\n")[0] + "\nFAILURE 98 at ncps.c:525 cps_core_loop\n")
    assert log.runs[0]["status"] == "failed"
