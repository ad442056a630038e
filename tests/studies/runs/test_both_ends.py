"""One test with a log at each end counts once, and its throughput is the receiver's."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest
from helpers.places import FIXTURES
from helpers.results import estimates_of

import azlatency as az
from azlatency.studies.runs.run_table import client_runs, run_table

#: Real output of two clients of the server in the fixture; their intervals are left out.
CLIENTS = {
    "forward": """\
Connecting to host 10.2.3.4, port 5001
[  5] local 10.2.1.4 port 59666 connected to 10.2.3.4 port 5001
[ ID] Interval           Transfer     Bitrate         Retr
[  5]   0.00-2.00   sec   640 MBytes  2.68 Gbits/sec  1721             sender
[  5]   0.00-2.02   sec   637 MBytes  2.64 Gbits/sec                  receiver

iperf Done.
""",
    "reverse": """\
Connecting to host 10.2.3.4, port 5001
Reverse mode, remote host 10.2.3.4 is sending
[  5] local 10.2.1.5 port 41032 connected to 10.2.3.4 port 5001
[ ID] Interval           Transfer     Bitrate         Retr
[  5]   0.00-2.00   sec   627 MBytes  2.63 Gbits/sec  315             sender
[  5]   0.00-2.00   sec   623 MBytes  2.61 Gbits/sec                  receiver

iperf Done.
""",
}


def runs_of(*files: Path) -> pd.DataFrame:
    return run_table(parsed(*files))


def parsed(*files: Path) -> az.Logs:
    logs = az.Logs()
    for file in files:
        logs.extend(az.parse(file))
    return logs


@pytest.fixture
def iperf3_ends(tmp_path: Path) -> list[Path]:
    for name, text in CLIENTS.items():
        (tmp_path / f"{name}.txt").write_text(text, "utf-8")
    return [FIXTURES / "iperf3" / "3.12-server-three-tests.txt", *(tmp_path / f"{name}.txt" for name in CLIENTS)]


def test_an_address_that_is_translated_does_not_hide_the_other_end(tmp_path: Path, iperf3_ends: list[Path]) -> None:
    """The client of a Kubernetes service prints the address of the service, its server that of the pod."""
    for name, address in (("forward", "10.100.64.107"), ("reverse", "10.100.92.131")):
        log = tmp_path / f"{name}.txt"
        log.write_text(log.read_text("utf-8").replace("10.2.3.4", address), "utf-8")
    (tmp_path / "ends").mkdir()
    server = iperf3_ends[0].read_text("utf-8")
    client = (tmp_path / "forward.txt").read_text("utf-8")
    (tmp_path / "ends" / "a_to_b.server.txt").write_text(server, "utf-8")
    (tmp_path / "ends" / "a_to_b.client.txt").write_text(client, "utf-8")
    runs = runs_of(*sorted((tmp_path / "ends").iterdir()))
    (near,) = runs[runs["dialect"] == "iperf3-text-client"].itertuples()
    assert runs.at[near.other_end, "test_id"] == "10.2.1.4:59666 10.2.3.4:5001"
    assert near.test_id == "10.2.1.4:59666 10.100.64.107:5001"


@pytest.mark.parametrize("pattern", ["test {}", "{}", "a b:{} c:1", "test:{}:5001"])
def test_identifiers_that_are_no_two_addresses(iperf3_ends: list[Path], pattern: str) -> None:
    logs = parsed(*iperf3_ends)
    for number, row in enumerate(logs.rows["runs"]):
        row["test_id"] = pattern.format(number)
    assert run_table(logs)["other_end"].isna().all()


def test_iperf3_ends_are_paired_by_their_ports(iperf3_ends: list[Path]) -> None:
    logs = parsed(*iperf3_ends)
    runs = run_table(logs)
    clients = runs[runs["dialect"] == "iperf3-text-client"]
    assert list(clients["test_id"]) == list(runs.loc[clients["other_end"], "test_id"]) and len(clients) == 2
    counted = az.throughput(logs)
    # Read by hand: 637 MBytes in 2.02 s; the receiver of the reverse test is the client; one test's client is missing.
    assert sorted(counted["throughput_bit_s"]) == [20e6, 2.61e9, 2.64e9] and set(counted["side"]) == {"receiver"}
    forward = next(
        estimate
        for estimate in estimates_of(az.summarize(counted, "throughput_bit_s"))
        if estimate.labels["method"] == "iperf3 TCP"
    )
    assert forward.n == 1 and len(forward.run_ids) == 2, "both logs stay in the provenance"


def test_a_server_without_its_client_counts(iperf3_ends: list[Path]) -> None:
    assert len(az.throughput(parsed(iperf3_ends[0]), sender_only=True)) == 3
    assert len(az.throughput(parsed(*iperf3_ends))) == 3


def test_ntttcp_ends_are_paired_by_their_names(tmp_path: Path) -> None:
    """The receiver of the test has its own count: 3.76 against 3.86 Gbit/s."""
    files = {"r1/sender.txt": "1.4.0-sender.txt", "r1/receiver.txt": "1.4.0-receiver.txt"}
    for name, fixture in files.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes((FIXTURES / "ntttcp" / fixture).read_bytes())
    (run,) = az.throughput(az.parse(tmp_path)).to_dict("records")
    assert (run["throughput_bit_s"], run["side"], run["dialect"]) == (3.76e9, "receiver", "ntttcp-linux-console-sender")


@pytest.mark.parametrize(("names", "counted"), [(["client", "server"], 1), (["a", "server"], 2), (["server"], 1)])
def test_the_names_of_two_logs_of_latte_say_their_ends(tmp_path: Path, names: list[str], counted: int) -> None:
    """Both ends print the same block."""
    block = (FIXTURES / "latte" / "b1s-sender.log").read_text("utf-8")
    block = block[block.index("Protocol") :]
    for place, name in enumerate(names):
        (tmp_path / f"latte-{name}-run1.txt").write_text(block.replace("2026.40", f"2026.4{place}"), "utf-8")
    assert len(client_runs(parsed(tmp_path))) == counted


def test_a_receiver_that_may_be_of_a_sender_is_not_counted() -> None:
    """Nothing shows that the logs are of one test, and nothing contradicts it."""
    runs = runs_of(*(FIXTURES / "ntttcp" / name for name in ("1.4.0-receiver.txt", "1.4.3-sender.json")))
    assert list(runs.sort_values("file")["counted"]) == [False, True] and runs["other_end"].isna().all()


def test_servers_of_sockperf_measure_nothing() -> None:
    runs = runs_of(FIXTURES / "sockperf" / "3.7-server.log")
    assert not runs["counted"].any()


@pytest.mark.parametrize(
    ("field", "near", "far"),
    [
        ("server", "10.0.0.5", "10.0.0.6"),
        ("repeat", 1, 2),
        ("started_at", pd.Timestamp("2026-01-01T00:00:00Z"), pd.Timestamp("2026-01-01T00:01:00Z")),
    ],
)
def test_contradicting_ends_are_two_tests(field: str, near: object, far: object) -> None:
    from azlatency.studies.runs.both_ends import pair_ends

    logs = (FIXTURES / "ntttcp" / name for name in ("1.4.0-receiver.txt", "1.4.0-sender.txt"))
    runs = runs_of(*logs).reset_index()
    for wrong, pairs in ((False, 1), (True, 0)):
        runs["file"] = ["receiver.txt" if "receiver" in file else "sender.txt" for file in runs["file"]]
        values = [far if wrong and file == "receiver.txt" else near for file in runs["file"]]
        changed = runs.assign(**{field: pd.Series(values, runs.index, dtype=object)})
        assert len(pair_ends(changed, {})[0]) == pairs
        assert len(pair_ends(changed, {})[1]) == pairs
