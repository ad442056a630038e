"""The output of tools that no parser reads is named, and is never read as the log of another tool."""

from pathlib import Path

import pytest

from azlatency.logs.parse import parse_source
from azlatency.logs.parsers import load_parsers
from azlatency.logs.recognise.foreign import FOREIGN_TOOLS
from azlatency.logs.source.decode import source_from_bytes
from azlatency.logs.tables import Logs
from tests.helpers.places import SHARED

HTTPING = """\
PING http://10.2.3.4:80/ (/):
connected to 10.2.3.4:80 (154 bytes), seq=0 time=  3.61 ms

--- http://10.2.3.4:80/ httping statistics ---
3 packets transmitted, 3 packets received, 0% packet loss
round-trip min/avg/max = 3.4/4.7/7.2 ms
"""
ETHR = """\
Using destination: 10.2.3.4, ip: 10.2.3.4, port: 8888
[  6] local 10.2.1.4 port 50894 connected to 10.2.3.4 port 8888
- - - - - - - - - - - - - - - - - - - - - - -
[ ID]   Protocol    Interval      Bits/s
[  6]     TCP      000-001 sec    12.54G
"""
MPSTAT = """\
Linux 6.1.0 (az1a) \t03/11/2022 \t_x86_64_\t(1 CPU)

03:16:15 PM  CPU    %usr   %nice    %sys %iowait    %irq   %soft  %steal  %guest  %gnice   %idle
03:16:17 PM  all    0.00    0.00    0.50    0.00    0.00    0.00    0.00    0.00    0.00   99.50
"""
CIFSIOSTAT_JSON = """\
{"sysstat": {
\t"hosts": [
\t\t{
\t\t\t"nodename": "SYSSTAT.TEST",
\t\t\t"sysname": "Linux",
\t\t\t"statistics": [
\t\t\t\t{
\t\t\t\t\t"filesystem": [
\t\t\t\t\t\t{"filesystem": "a", "rkB/s": 0.02, "wkB/s": 0.00, "rops/s": 0.19, "wops/s": 0.10}
\t\t\t\t\t]
\t\t\t\t}
\t\t\t]
\t\t}
\t]
}}
"""
TCPING = """\
seq 0: tcp response from 10.2.3.4 [open]  1.201 ms
seq 1: tcp response from 10.2.3.4 [open]  1.187 ms
"""
PERFKIT = """\
{"metric": "Min Latency", "value": 0.022, "unit": "ms", "timestamp": 1795561697.173911, "test": "ping", \
"product_name": "PerfKitBenchmarker", "official": false, "owner": "root", "run_uri": "12ec6eff-68bf-4ea3", \
"sample_uri": "2ac1a73e-e836-4db6", "labels": "|ip_type:internal|,|receiving_zone:us-central1-b|"}
"""
PING = """\
PING 10.2.3.5 (10.2.3.5): 56 data bytes
64 bytes from 10.2.3.5: seq=0 ttl=64 time=1.000 ms

--- 10.2.3.5 ping statistics ---
1 packets transmitted, 1 packets received, 0% packet loss
round-trip min/avg/max = 1.000/1.000/1.000 ms
"""
IOSTAT = """\
avg-cpu:  %user   %nice %system %iowait  %steal   %idle
          75.00    0.00   24.51    0.00    0.49    0.00
"""


#: Tools of that folder that have a parser by now.
_READ_SINCE = {"cilium", "hping3", "k8s_netperf", "mtr", "ncps", "uperf"}


def read(text: str) -> Logs:
    return parse_source(source_from_bytes(text.encode(), "a.log"))


def foreign_lines(logs: Logs) -> list[tuple[int, str]]:
    return [(event["line"], event["text"]) for event in logs.rows["events"] if event["code"] == "foreign_tool"]


@pytest.mark.parametrize(
    ("text", "line", "tool"),
    [
        (HTTPING, 1, "httping"),
        (ETHR, 4, "ethr"),
        (MPSTAT, 3, "mpstat"),
        (CIFSIOSTAT_JSON, 8, "cifsiostat"),
        (TCPING, 1, "tcping"),
        (PERFKIT, 1, "PerfKitBenchmarker (give what its tools printed)"),
        (" 1  192.168.0.1 (192.168.0.1)  7.689 ms  4.747 ms  5.933 ms\n", 1, "traceroute"),
    ],
)
def test_foreign_output_is_named_and_not_read(text: str, line: int, tool: str) -> None:
    logs = read(text)
    assert not logs.rows["runs"]
    assert foreign_lines(logs) == [(line, f"this is output of {tool}, which azlatency does not read")]
    [error] = [event for event in logs.rows["events"] if event["severity"] == "error"]
    assert error["code"] == "not_recognised"
    assert f"but output of {tool}, which azlatency does not read" in error["text"]


@pytest.mark.parametrize("text", [HTTPING + "\n" + PING, PING + "\n" + HTTPING])
def test_log_beside_foreign_output_is_read(text: str) -> None:
    logs = read(text)
    assert [(run["tool"], run["server"]) for run in logs.rows["runs"]] == [("ping", "10.2.3.5")]
    assert len(foreign_lines(logs)) == 1
    assert not logs.errors()


def test_weak_claim_above_a_foreign_header_is_kept_if_it_has_rows() -> None:
    text = IOSTAT + "\nDevice             tps    kB_read/s    kB_wrtn/s    kB_read    kB_wrtn\nvda 1.00 2.00 3.00 2 3\n"
    logs = read(text + "\n\n\n" + MPSTAT)
    assert [run["tool"] for run in logs.rows["runs"]] == ["iostat"]


def test_a_foreign_tool_shares_lines_with_known_tools_only() -> None:
    shares = {name for tool in FOREIGN_TOOLS.values() for name in tool.shares}
    assert shares <= {*load_parsers(), *FOREIGN_TOOLS}


@pytest.mark.skipif(not (SHARED / "corpus/public2/foreign").is_dir(), reason="needs the shared corpus")
def test_foreign_files_of_the_corpus_have_no_run() -> None:
    for path in sorted((SHARED / "corpus/public2/foreign").iterdir()):
        logs = parse_source(source_from_bytes(Path(path).read_bytes(), path.name))
        if {run["tool"] for run in logs.rows["runs"]} & _READ_SINCE:
            continue
        assert all(run["status"] != "complete" for run in logs.rows["runs"]), path.name
        assert logs.errors(), path.name
