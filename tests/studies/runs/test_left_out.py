"""Runs whose values are not used, and how they are named."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import pandas as pd
import pytest
from helpers.command import azlatency
from helpers.places import FIXTURES
from helpers.studies import in_memory, load
from studies.runs.test_run_table import ping

import azlatency as az
from azlatency.pages import summary
from azlatency.studies.runs.left_out import in_words, measured_otherwise, used_runs, without_result
from azlatency.studies.runs.round_trips import has_times
from azlatency.studies.runs.run_table import client_runs

DEAD = (
    "PING 10.0.0.9 (10.0.0.9) 56(84) bytes of data.\n\n--- 10.0.0.9 ping statistics ---\n"
    "12 packets transmitted, 0 received, 100% packet loss, time 11254ms\n"
)
REFUSED = "iperf3: error - unable to connect to server: Connection refused\n"


def logs(folder: Path, **texts: str) -> az.Logs:
    for name, text in texts.items():
        (folder / f"{name}.log").write_text(text, "utf-8")
    return az.parse(folder)


def cut(*milliseconds: float) -> str:
    return ping("10.0.0.9", *milliseconds).partition("\n---")[0]


def files(logs: az.Logs) -> list[str]:
    return [Path(file).stem for file in used_runs(logs)["file"]]


def test_a_dead_path_and_a_client_that_could_not_connect_are_named_with_the_reason(tmp_path: Path) -> None:
    found = logs(tmp_path, ping_1=ping("10.0.0.9", 1.0, 2.0), ping_2=DEAD, iperf=REFUSED)
    assert sorted(without_result(found).values()) == ["failed", "no reply: 12 of 12 lost"]
    runs = client_runs(found)
    (sentence,) = in_words(runs.assign(file=runs["file"].map(lambda file: Path(file).name)), without_result(found))
    assert sentence == "2 runs without a result left out: iperf.log (failed), ping_2.log (no reply: 12 of 12 lost)"
    assert files(found) == ["ping_1"]


def test_a_ping_of_windows_below_its_resolution_is_named(tmp_path: Path) -> None:
    """Eight of ten replies took less than 1 ms, as did the mean: nothing but bounds is known."""
    (tmp_path / "ping.txt").write_bytes(
        b"\r\nPinging 10.1.0.5 with 32 bytes of data:\r\n"
        + b"Reply from 10.1.0.5: bytes=32 time=1ms TTL=128\r\n" * 2
        + b"Reply from 10.1.0.5: bytes=32 time<1ms TTL=128\r\n" * 8
        + b"\r\nPing statistics for 10.1.0.5:\r\n    Packets: Sent = 10, Received = 10, Lost = 0 (0% loss),\r\n"
        + b"Approximate round trip times in milli-seconds:\r\n"
        + b"    Minimum = 0ms, Maximum = 1ms, Average = 0ms\r\n"
    )
    (tmp_path / "qperf.log").write_text("tcp_lat:\n    latency  =  16.9 us\n", "utf-8")
    study = in_memory(tmp_path)
    line = "1 run without a result left out: ping.txt (RTTs below the resolution of the tool)"
    assert line in azlatency(tmp_path).stderr.splitlines() and line in summary.make_card(study).assumed


def test_a_cut_run_that_is_used_is_named_and_flagged(tmp_path: Path) -> None:
    (tmp_path / "ping_l.txt").write_text(cut(1.0, 2.0, 3.0), "utf-8")
    result = azlatency(tmp_path / "ping_l.txt")
    assert "one run, cut or failed" in result.stdout
    assert "1 cut or failed run used, because it has no complete repeat: ping_l.txt (cut)" in result.stderr
    (tmp_path / "ping_2.txt").write_text(ping("10.0.0.9", 1.0, 2.0, 3.0), "utf-8")
    (tmp_path / "ping_l.txt").rename(tmp_path / "ping_1.txt")
    result = azlatency(tmp_path)
    assert "cut or failed" not in result.stdout
    assert "1 run left out: ping_1.txt (cut)" in result.stderr and "used" not in result.stderr


def test_a_run_that_measured_something_else_has_a_result() -> None:
    found = az.parse(FIXTURES / "fio" / "2.21-read-16k.json")
    assert len(found.runs) and without_result(found) == {} and in_words(client_runs(found), {}) == []
    assert not len(used_runs(found)), "neither a time nor a rate of a path"


def test_runs_that_measured_disks_are_counted(tmp_path: Path) -> None:
    for name in ("fio/2.21-read-16k.log", "fio/3.16-randread-4k.json", "sockperf/2.7-udp-burst.log"):
        (tmp_path / Path(name).name).write_bytes((FIXTURES / name).read_bytes())
    said = "2 runs of fio have no round trip or goodput; azlatency parse shows what they measured"
    assert measured_otherwise(az.parse(tmp_path)) == [said]
    assert not measured_otherwise(az.parse(tmp_path / "2.7-udp-burst.log"))


def test_cut_runs_are_used_only_where_no_repeat_is_complete(tmp_path: Path) -> None:
    found = logs(tmp_path, ping_1=ping("10.0.0.9", 1.0, 2.0), ping_2=cut(1.0, 3.0))
    assert files(found) == ["ping_1"]
    (tmp_path / "ping_1.log").write_text(cut(1.0, 2.0), "utf-8")
    assert files(az.parse(tmp_path)) == ["ping_1", "ping_2"]


def test_a_run_that_measured_connections_only_is_used() -> None:
    study = load("westeurope-psping")
    alone = az.latency(study, quantity="connect").index.difference(az.latency(study).index)
    assert len(used_runs(study).index.intersection(alone))


def test_a_run_that_measured_a_rate_only_is_used() -> None:
    logs = az.parse(FIXTURES / "iperf3" / "3.12-tcp.json")
    assert az.latency(logs).empty and len(used_runs(logs)) == 1 and without_result(logs) == {}


@pytest.mark.parametrize("table", ["metrics", "quantiles", "histograms", "samples"])
def test_each_table_can_have_the_times_to_open_a_connection(table: str) -> None:
    other = pd.DataFrame({"metric": ["rtt_mean", "rtt"], "quantity": "round_trip"})
    tables = dict.fromkeys(["metrics", "quantiles", "histograms", "samples"], other)
    assert not has_times(SimpleNamespace(**tables), "connect")  # type: ignore[arg-type]
    metric = "connect_mean" if table == "metrics" else "connect"
    tables[table] = pd.DataFrame({"metric": [metric], "quantity": "connect"})
    assert has_times(SimpleNamespace(**tables), "connect")  # type: ignore[arg-type]
