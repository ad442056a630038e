from __future__ import annotations

import gzip
import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from helpers.places import FIXTURES, SHARED

import azlatency as az

PUBLIC = SHARED / "corpus" / "public3" / "flent"
T0 = 1_700_000_000
NETPERF = "/usr/bin/netperf -P 0 -H 10.0.0.9 -t {test} -l 2 -- -H 10.0.0.2"
PING = {"RUNNER": "PingRunner", "COMMAND": "/bin/ping -n -D -i 0.20 -w 4 10.0.0.2"}


def points(*values: float, **more: Any) -> list[dict[str, Any]]:
    return [{"t": T0 + second, "val": value, **more} for second, value in enumerate(values, 1)]


def pings(**by_number: float) -> list[dict[str, Any]]:
    return [{"seq": float(name[1:]), "t": T0 + int(name[1:]), "val": value} for name, value in by_number.items()]


def flent(raw: dict[str, Any], series: dict[str, Any] | None = None, version: int | None = 4, **metadata: Any) -> str:
    """A file of flent; without a version, it ends before it."""
    series = series or {}
    known = {"BATCH_NAME": None, "FLENT_VERSION": "2.3.0", "HOST": "10.0.0.2", "HOSTS": ["10.0.0.2"], "LOCAL_HOST": "a",
             "NAME": "rrul", "SERIES_META": series, "STEP_SIZE": 1.0, "TOTAL_LENGTH": 2, **metadata}  # fmt: skip
    text = json.dumps({"metadata": known, "raw_values": raw, "results": {}, "version": version}, indent=2)
    return text if version is not None else text.partition('  "results"')[0]


@pytest.mark.parametrize(("version", "value"), [(2, 20.0), (3, 20.0), (4, 50.0)])
def test_udp_flows_of_netperf_are_rates_until_version_3_and_times_since_version_4(read, version, value) -> None:
    log = read(flent({"Ping (ms) UDP BE": points(value, value, dur=1.0)},
                     {"Ping (ms) UDP BE": {"MEAN_VALUE": 50.0}}, version))  # fmt: skip
    (run,) = log.runs
    assert (run["test"], run["protocol"], run["printed_as"]) == ("rrul udp_rr", "udp", "round_trip")
    intervals = [(row["operations_per_s"], row["rtt_ns"]) for row in log.tables.rows["intervals"]]
    assert intervals == [(20.0, 50_000_000)] * 2
    assert (log.value("transaction_rate"), log.value("rtt_from_rate"), log.value("rtt_mean")) == (20.0, 50e6, None)
    assert not log.codes()


def test_a_file_that_ends_before_its_version_does_not_say_what_udp_flows_are(read) -> None:
    flows = {"Ping (ms) ICMP": pings(n1=1.0, n2=1.0), "Ping (ms) UDP BE": points(20.0, dur=1.0)}
    log = read(flent(flows, version=None))
    assert [(run["test"], run["status"]) for run in log.runs] == [("rrul icmp", "truncated")]
    assert log.codes() == ["series_not_read", "truncated"]


def test_udp_flows_that_a_lost_datagram_stopped_have_no_mean(read) -> None:
    stopped = [{"t": T0 + 1, "val": 20.0, "dur": 0.2}, {"t": T0 + 143, "val": 0.01, "dur": 142.0}]
    log = read(flent({"Ping (ms) UDP BE": stopped}, {"Ping (ms) UDP BE": {"MEAN_VALUE": 302.1}}, 3, TOTAL_LENGTH=150))
    assert log.codes() == ["stall"] and log.value("rtt_from_rate") is None
    assert [row["rtt_ns"] for row in log.tables.rows["intervals"]] == [50_000_000]


def test_only_flows_that_were_measured_are_runs(read) -> None:
    flows = {"TCP upload avg": [], "TCP upload sum": points(9.0, dur=1.0), "VoIP": points(24.8, size=92),
             "TCP upload BE": points(4.0, 5.0, dur=1.0)}  # fmt: skip
    upload = {"RUNNER": "NetperfDemoRunner", "COMMAND": NETPERF.format(test="TCP_STREAM")}
    series = {"TCP upload sum": {"RUNNER": "SumRunner"}, "TCP upload BE": upload}
    log = read(flent(flows, series))
    assert [(run["test"], run["server"], run["requested_duration_ns"]) for run in log.runs] == [
        ("rrul upload", "10.0.0.2", 2_000_000_000)
    ]
    (event,) = log.tables.rows["events"]
    assert (event["code"], event["severity"]) == ("series_not_read", "info") and "TCP upload sum, VoIP" in event["text"]


def test_swapped_directions_are_those_of_the_command(read) -> None:
    series = {"TCP upload": {"RUNNER": "NetperfDemoRunner", "COMMAND": NETPERF.format(test="TCP_MAERTS")}}
    assert read(flent({"TCP upload": points(4.0, dur=1.0)}, series)).runs[0]["test"] == "rrul download"


def test_numbers_that_are_missing_among_those_of_ping_are_lost_probes(read) -> None:
    (block,) = read(flent({"Ping (ms) ICMP": pings(n2=1.0, n4=3.5, n3=2.0, n6=1.0)}, {"Ping (ms) ICMP": PING})).samples
    assert list(block.seq) == [1, 2, 3, 4, 5, 6]
    assert list(block.status) == ["lost", "ok", "ok", "ok", "lost", "ok"]
    assert list(block.rtt_ns) == [None, 1_000_000, 2_000_000, 3_500_000, None, 1_000_000]
    assert list(block.sent_ns) == [None, 0, 999_000_000, 1_997_500_000, None, 4_000_000_000]


def test_numbers_of_ping_wrap_at_16_bits_and_repeat(read) -> None:
    wrapped = [{"seq": float(seq), "t": T0 + index, "val": 1.0} for index, seq in enumerate((65534, 65535, 0, 0, 1))]
    (block,) = read(flent({"Ping (ms) ICMP": wrapped})).samples
    assert list(block.seq) == [65534, 65535, 65536, 65536, 65537]
    assert Counter(block.status) == {"ok": 4, "duplicate": 1}


def test_values_that_are_no_numbers_are_damage(read) -> None:
    log = read(flent({"Ping (ms) ICMP": [*pings(n1=1.0), {"seq": 2.0, "t": T0, "val": "x"}, {"seq": 3.0, "val": -1}]}))
    assert log.codes() == ["malformed"] and len(log.samples[0].seq) == 1


def test_a_number_far_off_is_damage_and_not_a_million_lost_probes(read) -> None:
    log = read(flent({"Ping (ms) ICMP": pings(n1=1.0, n900000000=1.0)}))
    assert log.codes() == ["malformed"] and len(log.samples[0].seq) == 2


@pytest.mark.parametrize(("raw", "more", "reason"), [
    ({"HTTP latency": points(4.1)}, {}, "it has no raw values of ping, irtt or netperf"),
    ({"Ping (ms) ICMP": points(4.1)}, {"FAKE_RAW_VALUES": True}, "flent computed its raw values"),
])  # fmt: skip
def test_files_without_raw_values_have_no_run(read, raw, more, reason) -> None:
    log = read(flent(raw, version=2, **more))
    assert [run["status"] for run in log.runs] == ["no_data"] and not log.samples
    assert reason in log.tables.rows["events"][0]["text"]


def test_a_file_without_its_first_brace(read) -> None:
    log = read(flent({"Ping (ms) ICMP": pings(n1=1.0)}).removeprefix("{\n"))
    assert [run["status"] for run in log.runs] == ["no_data"] and "brace" in log.tables.rows["events"][0]["text"]


def test_a_file_between_other_text(read) -> None:
    file = flent({"Ping (ms) ICMP": pings(n1=1.0, n2=1.0)})
    log = read(f"notes\n{file}\nmore notes\n{file}\n")
    assert [(run["status"], run["first_line"]) for run in log.runs] == [("complete", 18), ("complete", 50)]


def test_a_tool_that_failed_is_named(read) -> None:
    log = read(flent({"Ping (ms) ICMP": pings(n1=1.0, n2=1.0)}, FAILED_RUNNERS=2))
    assert log.codes("warning") == ["runner_failed"]


def test_of_several_hosts_only_the_command_says_which_one_a_flow_measured(read) -> None:
    flows = {"Ping (ms) ICMP1 x": pings(n1=1.0), "Ping (ms) ICMP2 y": pings(n1=1.0)}
    remote = {"RUNNER": "PingRunner", "COMMAND": "ssh b '/bin/ping -n -D -w 2 10.0.0.3'", "REMOTE_HOST": "b"}
    log = read(flent(flows, {"Ping (ms) ICMP2 y": PING}, HOSTS=["10.0.0.2", "10.0.0.3"]))
    assert [(run["client"], run["server"]) for run in log.runs] == [("a", None), ("a", "10.0.0.2")]
    log = read(flent({"Ping (ms) ICMP": pings(n1=1.0)}, {"Ping (ms) ICMP": remote}))
    assert (log.runs[0]["client"], log.runs[0]["server"]) == ("b", "10.0.0.3")


def test_loaded_and_idle_round_trips_and_other_flows_do_not_repeat_each_other() -> None:
    runs = az.latency(az.parse(FIXTURES / "flent"))
    methods = set(runs["method"])
    assert len(methods) == len(runs) == 13
    assert {"flent ping icmp", "flent rrul icmp", "flent rrul udp_rr flow UDP BE"} <= methods


def test_the_file_as_flent_writes_it_is_compressed(tmp_path: Path) -> None:
    plain = FIXTURES / "flent" / "ping-lost.flent"
    path = tmp_path / "ping-lost.flent.gz"
    path.write_bytes(gzip.compress(plain.read_bytes()))
    values = [az.parse(log).metrics.drop(columns="run_id") for log in (path, plain)]
    assert values[0].equals(values[1]) and len(values[0])


@pytest.mark.skipif(not PUBLIC.is_dir(), reason="needs the shared corpus")
def test_round_trips_of_published_files_are_those_of_the_standard_library() -> None:
    for path in sorted(PUBLIC.glob("*.flent.gz")):
        raw = json.loads(gzip.decompress(path.read_bytes()))["raw_values"]
        logs = az.parse(path)
        flows = [name for name, values in raw.items() if name.startswith("Ping") and values and "dur" not in values[0]]
        assert len(flows) == len(logs.sample_blocks), path
        for name, block in zip(flows, logs.sample_blocks, strict=True):
            times = [round(point["val"] * 1e6) for point in raw[name] if "val" in point]
            assert sorted(time for time in block.rtt_ns if time is not None) == sorted(times), (path, name)
