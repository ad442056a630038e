"""What the fixtures cannot say of ntttcp: units of Windows and of old XML, cut and joined logs, the seeds' numbers."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from helpers.cut_logs import event_code_set, read_log
from helpers.logs import first_run, read_text
from helpers.places import FIXTURES, SHARED

import azlatency as az
from azlatency.logs.source.decode import source_from_bytes

FIXTURES = FIXTURES / "ntttcp"
LOGS = sorted(path for path in FIXTURES.iterdir() if not path.name.endswith(".expected.json"))
CUTS = 40

# Numbers made up; the layout is the one of Windows' console (5.39).
WINDOWS = """Copyright Version 5.39
Network activity progressing...


Thread  Time(s) Throughput(KB/s) Avg B / Compl
======  ======= ================ =============
     0   10.001        51200.000     65536.000
     1    0.000            0.000     65536.000


#####  Totals:  #####


   Bytes(MEG)    realtime(s) Avg Frame Size Throughput(MB/s)
================ =========== ============== ================
     1000.000000      10.000       1417.829          100.000


Throughput(Buffers/s) Cycles/Byte       Buffers
===================== =========== =============
             1600.000       7.036     16000.000


DPCs(count/s) Pkts(num/DPC)   Intr(count/s) Pkts(num/intr)
============= ============= =============== ==============
     4218.744         1.708        6055.769          1.190


Packets Sent Packets Received Retransmits Errors Avg. CPU %
============ ================ =========== ====== ==========
      700000            60000          12      0     15.075

"""
OLD_XML = """<ntttcps computername="vm" version="5.33-linux">
	<parameters>
		<udp>False</udp>
		<run_time>3</run_time>
	</parameters>
	<total_bytes metric="MB">1568</total_bytes>
	<realtime metric="s">3.000000</realtime>
	<throughput metric="MB/s">522.754</throughput>
	<throughput metric="mbps">4182.033</throughput>
	<packets_retransmitted>0</packets_retransmitted>
	<errors>0</errors>
</ntttcps>
"""


def fixture(name: str) -> str:
    return source_from_bytes((FIXTURES / name).read_bytes(), name).text


def metric(tables: az.Logs, name: str, stream: str | None = None) -> Any:
    rows = [row for row in tables.records("metrics") if (row["metric"], row["stream"]) == (name, stream)]
    return rows[0]["value"] if rows else None


def rows(tables: az.Logs) -> set[tuple[Any, ...]]:
    ids = [run["run_id"] for run in tables.records("runs")]
    names = ("metric", "stream", "value", "printed", "scope")
    return {(ids.index(row["run_id"]), *(row[name] for name in names)) for row in tables.records("metrics")}


def test_windows_counts_in_powers_of_1024() -> None:
    tables = read_log(WINDOWS)
    assert metric(tables, "transferred") == 1000 * 1024**2
    assert metric(tables, "throughput") == 100 * 1024**2 * 8
    assert metric(tables, "throughput", "0") == 51200 * 1024 * 8
    assert metric(tables, "throughput", "1") is None, "0.000 seconds were not measured"
    assert metric(tables, "cpu_busy") == pytest.approx(0.15075)
    assert metric(tables, "retransmits") == 12
    assert tables.records("runs")[0]["tool_version"] == "5.39"
    assert tables.records("runs")[0]["dialect"] == "ntttcp-windows-console"
    assert tables.records("sources")[0]["lines_unknown"] == 0
    assert event_code_set(tables) == {"lines_missing"}, "the total includes the thread whose rate is 0.000"


def test_a_row_with_more_values_than_titles_is_not_read() -> None:
    tables = read_log(WINDOWS.replace("     1000.000000      10.000", "     1000.000000 7 10.000"))
    assert metric(tables, "transferred") is None
    assert "column_mismatch" in event_code_set(tables)


def test_xml_of_linux_before_2021_has_binary_units() -> None:
    tables = read_log(OLD_XML)
    assert metric(tables, "throughput") == 4182.033 * 1024**2
    assert metric(tables, "transferred") == 1568 * 1024**2
    assert tables.records("runs")[0]["dialect"] == "ntttcp-linux-xml-pre2021-sender"
    assert event_code_set(tables) == {"unit_epoch"}


# The layout of 1.4.0 of 2019: six decimals, always zeros, because the number of MiB is truncated.
XML_OF_2019 = OLD_XML.replace(">1568<", ">292.000000<").replace("3.000000", "2.098150").replace("522.754", "139.170")
XML_OF_2019 = XML_OF_2019.replace("4182.033", "1113.361").replace(
    "\t<total_bytes",
    """\t<thread index="0">
\t\t<realtime metric="s">2.098</realtime>
\t\t<throughput metric="KB/s">142506.112</throughput>
\t\t<throughput metric="MB/s">139.166</throughput>
\t\t<throughput metric="mbps">1113.329</throughput>
\t</thread>
\t<total_bytes""",
)


def test_threads_prove_that_old_xml_is_binary() -> None:
    tables = read_log(XML_OF_2019)
    assert metric(tables, "transferred") == 306184192
    assert metric(tables, "throughput") == pytest.approx(1113.361 * 2**20, rel=1e-12)
    assert metric(tables, "throughput", "0") == pytest.approx(1113.329 * 2**20, rel=1e-12)
    assert first_run(tables)["dialect"] == "ntttcp-linux-xml-pre2021-sender"
    assert event_code_set(tables) == {"unit_epoch"}


def test_threads_prove_that_whole_megabytes_are_decimal() -> None:
    tables = read_log(XML_OF_2019.replace("139.166", "142.506").replace("1113.329", "1140.049"))
    assert metric(tables, "transferred") == 292e6
    assert metric(tables, "throughput") == 1113.361e6
    assert event_code_set(tables) == {"sum_mismatch"}, "the edited rate of the thread exceeds the total"


def test_units_that_contradict_each_other_are_left_out() -> None:
    tables = read_log(XML_OF_2019.replace("292.000000", "292.500000"))
    assert metric(tables, "transferred") is metric(tables, "throughput") is metric(tables, "throughput", "0") is None
    assert "unit_conflict" in event_code_set(tables)
    assert first_run(tables)["status"] == "failed"


def test_rates_in_two_units_that_differ_are_reported() -> None:
    tables = read_log(XML_OF_2019.replace("1113.361", "1713.361"))
    assert "rate_mismatch" in event_code_set(tables)
    assert first_run(tables)["status"] == "failed"


def test_the_unit_of_an_element_is_read() -> None:
    element = '<tcp_average_rtt metric="ms">2</tcp_average_rtt>\n</ntttcps>'
    assert metric(read_log(OLD_XML.replace("</ntttcps>", element)), "tcp_rtt_mean") == 2e6
    seconds = read_log(OLD_XML.replace('metric="s">3.000000', 'metric="ms">3000.000'))
    assert first_run(seconds)["duration_ns"] == 3 * 10**9
    tables = read_log(OLD_XML.replace('metric="MB"', 'metric="GB"'))
    assert metric(tables, "transferred") is None
    assert "unit_ambiguous" in event_code_set(tables)


WINDOWS_5_0 = """Copyright Version 5.0
Network activity progressing...

Thread  Realtime(s) Throughput(KB/s) Throughput(Mbit/s)
======  =========== ================ ==================
     0       10.000       102400.000            838.861

#####  Totals:  #####

   Bytes(MEG)    realtime(s) Avg Frame Size Throughput(Mbit/s)
================ =========== ============== ==================
     1000.000000      10.000       1457.654            838.861
"""


def test_megabits_of_windows_5_0_have_the_unit_that_bytes_and_time_show() -> None:
    tables = read_log(WINDOWS_5_0)
    assert metric(tables, "transferred") == 1000 * 2**20
    assert metric(tables, "throughput") == 838.861e6
    assert metric(tables, "throughput", "0") == 102400 * 8 * 1024
    binary = read_log(WINDOWS_5_0.replace("1457.654            838.861", "1457.654            800.000"))
    assert metric(binary, "throughput") == 800 * 2**20
    neither = read_log(WINDOWS_5_0.replace("1457.654            838.861", "1457.654            700.000"))
    assert metric(neither, "throughput") is None
    assert "unit_ambiguous" in event_code_set(neither)


def test_a_setting_cut_within_its_number_is_left_out() -> None:
    tables = read_log("NTTTCP for Linux 1.4.0\ntest duration (sec):\t\t 6")
    assert first_run(tables).get("requested_duration_ns") is None


def test_xml_of_linux_since_2021_has_decimal_units() -> None:
    tables = read_log(fixture("1.4.3-receiver.xml"))
    assert metric(tables, "transferred") == 1392984336
    assert metric(tables, "throughput") == 3720.571e6
    assert tables.records("runs")[0]["requested_duration_ns"] == 3 * 10**9


def test_xml_of_windows_has_milliseconds_and_binary_megabytes() -> None:
    text = OLD_XML.replace("5.33-linux", "5.39").replace("<run_time>3<", "<run_time>3000<")
    tables = read_log(text)
    assert metric(tables, "throughput") == 4182.033e6
    assert metric(tables, "transferred") == 1568 * 1024**2
    assert tables.records("runs")[0]["requested_duration_ns"] == 3 * 10**9
    assert tables.records("runs")[0]["tool_version"] == "5.39"


def test_the_three_forms_of_one_test_agree() -> None:
    console = read_log(fixture("1.4.3-sender-verbose.txt"))
    for name in ("1.4.3-sender.xml", "1.4.3-sender.json"):
        report = read_log(fixture(name))
        assert metric(report, "transferred") == metric(console, "transferred")
        assert metric(report, "throughput") == pytest.approx(metric(console, "throughput"), rel=2e-3)
        assert metric(report, "retransmits") == metric(console, "retransmits") == 170640
        assert metric(report, "cpu_process") == pytest.approx(metric(console, "cpu_process"), abs=1e-4)
        assert metric(report, "throughput", "63") == pytest.approx(metric(console, "throughput", "63"), rel=2e-3)
        assert metric(report, "packets_sent") is None, "a zero that Linux does not measure"


def test_scopes_tell_the_machine_from_the_process() -> None:
    scopes = {row["metric"]: row["scope"] for row in read_log(fixture("1.4.3-sender-quiet.txt")).records("metrics")}
    assert scopes["retransmits"] == scopes["cpu_idle"] == scopes["cycles_per_byte"] == "host"
    assert scopes["cpu_process"] == "process"
    assert scopes["throughput"] == "run"


def test_real_time_lines_are_not_intervals() -> None:
    tables = read_log(fixture("1.4.3-sender-udp.txt"))
    assert tables.records("intervals") == []
    assert tables.records("sources")[0]["lines_unknown"] == 0


@pytest.mark.parametrize("path", LOGS, ids=lambda path: path.name)
def test_a_cut_log_gives_no_wrong_number(path: Path) -> None:
    text = source_from_bytes(path.read_bytes(), path.name).text
    lines = text.splitlines(keepends=True)
    whole = read_log(text)
    for length in sorted({round(1 + step * (len(lines) - 1) / CUTS) for step in range(CUTS)}):
        part = read_log("".join(lines[:length]))
        assert "parser_failed" not in event_code_set(part)
        assert rows(part) <= rows(whole), f"cut after line {length}"
        if rows(part) != rows(whole) and part.records("runs"):
            assert part.records("runs")[0]["status"] != "complete", f"cut after line {length}"


@pytest.mark.parametrize("name", ["1.4.0-sender.txt", "1.1.0-sender-verbose.log", "1.4.3-receiver.xml"])
def test_a_line_cut_in_the_middle_gives_no_number(name: str) -> None:
    text = fixture(name)
    whole = rows(read_log(text))
    for length in range(len(text) // 2, len(text), 5):
        assert rows(read_log(text[:length])) <= whole, text[:length][-80:]


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("1.4.0-sender.txt", "1.4.0-receiver.txt"),
        ("1.4.3-sender.xml", "1.4.3-receiver.xml"),
        ("1.4.3-receiver.json", "1.4.3-sender.json"),
        ("1.1.0-sender-verbose.log", "1.4.3-receiver.json"),
    ],
)
def test_two_logs_in_one_file_are_the_runs_of_both(first: str, second: str) -> None:
    both = read_log(fixture(first) + fixture(second))
    expected = rows(read_log(fixture(first))) | {(1, *row[1:]) for row in rows(read_log(fixture(second)))}
    assert rows(both) == expected
    assert [run["status"] for run in both.records("runs")] == ["complete", "complete"]
    assert both.records("sources")[0]["lines_unknown"] == 0


def test_a_rate_that_contradicts_its_bytes_is_reported() -> None:
    text = fixture("1.4.0-sender.txt").replace("throughput\t:3.86Gbps", "throughput\t:4.05Gbps")
    assert "rate_mismatch" in event_code_set(read_log(text))


@pytest.mark.skipif(not SHARED.is_dir(), reason="the shared material is not there")
def test_the_numbers_of_the_notes() -> None:
    tables = az.parse(SHARED / "seeds" / "azure-cni-zone-pairs.md")
    ids = [run["run_id"] for run in tables.records("runs") if run["tool"] == "ntttcp"]
    values = {(row["run_id"], row["metric"]): row for row in tables.records("metrics")}
    assert [values[run_id, "throughput"]["printed"] for run_id in ids] == ["98.39", "11.82", "11.82", "11.91", "11.87"]
    first = ids[0]
    assert values[first, "transferred"]["value"] == 132878434304
    assert values[first, "cpu_process"]["value"] == pytest.approx(4.6115)
    assert values[first, "retransmits"]["value"] == 7079
    run = next(run for run in tables.records("runs") if run["run_id"] == first)
    assert run["duration_ns"] == 10_800_000_000
    assert run["requested_duration_ns"] == 10_000_000_000
    assert run["connections"] == 64


def test_sixteen_columns_of_windows_on_one_line(read) -> None:
    """Version 5.28 dumps the names, the bars and the numbers of all totals on a line each; composed after ntttcp.c."""
    names = (
        "Bytes(MEG) realtime(s) Avg Frame Size Throughput(MB/s) Throughput(Buffers/s) Cycles/Byte Buffers "
        "DPCs(count/s) Pkts(num/DPC) Intr(count/s) Pkts(num/intr) Packets Sent Packets Received Retransmits Errors "
        "Avg. CPU %"
    )
    bars = " ".join("=" * 10 for _ in range(16))
    numbers = "34243.000000 300.005 1417.829 114.141 1826.260 5.511 547888 3421.100 2.100 5210.300 1.400 1 2 13 0 4.310"
    log = read(f"Copyright Version 5.28\n{names}\n{bars}\n{numbers}\n")
    assert log.value("throughput") == 114.141 * 2**20 * 8
    assert log.value("transferred") == 34243 * 2**20
    assert [log.value(name) for name in ("packets_sent", "packets_received", "retransmits", "errors")] == [1, 2, 13, 0]
    assert log.value("cpu_busy") == 0.0431
    assert log.runs[0]["duration_ns"] == 300_005_000_000
    assert (log.unknown(), log.codes("error")) == (0, [])


@pytest.mark.parametrize(
    ("lines", "status", "severity"),
    [
        ("01:00:00 INFO: 17 threads created\n", "no_data", "info"),
        ("01:00:00 INFO: 17 threads created\n01:00:09 INFO: Interrupted by Ctrl+C\n", "no_data", "info"),
        (
            "01:00:00 INFO: 17 threads created\n01:00:09 INFO: Test cycle time negotiated is: 4 seconds\n",
            *("truncated", "error"),
        ),
        (
            "01:00:00 INFO: Test cycle time negotiated is: 4 seconds\n01:00:00 INFO: 17 threads created\n",
            *("truncated", "error"),
        ),
    ],
)
def test_a_log_without_totals_is_truncated_unless_a_receiver_waits(lines: str, status: str, severity: str) -> None:
    tables = read_text(f"NTTTCP for Linux 1.4.0\n---------------------------------------------------------\n{lines}")
    assert (first_run(tables)["status"], tables.rows["metrics"]) == (status, [])
    assert [event["severity"] for event in tables.rows["events"]] == [severity]


def test_a_heading_of_html_is_not_a_result(read) -> None:
    assert "line_outside_log" not in read("<h1>Notes 1</h1>\n\nA sentence.\n", "a.md").codes()


def test_tables_of_one_column_without_their_head(read) -> None:
    log = read(
        " Throughput(MB/s)\n================\n           4.749\n\n\nThroughput(Buffers/s) \n===================== \n"
        "               37.993 \n\n\nRetransmits Errors Avg. CPU %\n =========== ====== ==========\n"
        "         12      0     14.704\n"
    )
    assert log.value("throughput") == pytest.approx(4.749 * 2**20 * 8)
    assert (log.value("retransmits"), log.runs[0]["dialect"]) == (12, "ntttcp-windows-console")


def test_threads_of_linux_are_not_of_windows(read) -> None:
    log = read(
        "NTTTCP for Linux 1.4.0\n*** sender role\n15:22:36 INFO: Test cycle finished.\n"
        "15:22:36 INFO:  Thread  Time(s) Throughput\n15:22:36 INFO:  ======  ======= ==========\n"
        "15:22:36 INFO:  0        60.00   31.79Mbps\n15:22:36 INFO: #####  Totals:  #####\n"
        "15:22:36 INFO: test duration    :60.00 seconds\n15:22:36 INFO:   throughput     :31.79Mbps\n"
    )
    assert log.runs[0]["dialect"] == "ntttcp-linux-console-sender"


def test_a_number_alone_in_prose_is_of_no_tool(read) -> None:
    assert "line_outside_log" not in read("# Scores\n\nThe results of the runs:\n\n373.37\n\n1\n", "a.md").codes()


def test_windows_counts_interrupts_of_the_machine() -> None:
    rows = (
        "#####  Totals:  #####\n\n   Bytes(MEG)    realtime(s) Avg Frame Size Throughput(MB/s)\n"
        "================ =========== ============== ================\n"
        "    33931.000000      30.004       1459.983         1130.887\n\n"
        "DPCs(count/s) Pkts(num/DPC)   Intr(count/s) Pkts(num/intr)\n"
        "============= ============= =============== ==============\n"
        "    15232.492         6.278       35183.038          2.718\n\n"
        "Packets Sent Packets Received Retransmits Errors Avg. CPU %\n"
        "============ ================ =========== ====== ==========\n"
        "    24369617          2869275           0      0      3.092\n"
    )
    logs = read_text(rows)
    (rate,) = [row for row in logs.rows["metrics"] if row["metric"] == "interrupt_rate"]
    assert (rate["value"], rate["unit"], rate["scope"], rate["line"]) == (35183.038, "1/s", "host", 9)
    assert logs.rows["runs"][0]["status"] == "complete"
