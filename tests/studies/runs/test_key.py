"""Runs that are not repeats of each other are never pooled: real logs of which one thing was changed."""

from __future__ import annotations

import re
from pathlib import Path

import pandas as pd
import pytest
from helpers.cases import thinned
from helpers.places import FIXTURES
from helpers.results import estimates_of

import azlatency as az
from azlatency.studies.runs import key
from azlatency.studies.runs.path import NetworkPath

#: The prompt above a log, its command, and the log.
COMMANDS = {
    "iperf3": ("iperf3 -c 10.2.2.4 -t 10", "iperf3/3.12-timestamps.txt"),
    "ping": ("ping -c 4 10.2.1.5", "ping/busybox-1.35-c4.log"),
    "lagscope": ("lagscope -s10.2.2.4 -n500", "lagscope/1.0.1-n500.log"),
}
#: Options that make a test another one, and what the method then says of it.
OPTIONS = [
    ("iperf3", "-t 60", "60 s"), ("iperf3", "-n 10K", "burst"), ("iperf3", "-k 100", "blocks 100"),
    ("iperf3", "-w 256K", "window 256K"), ("iperf3", "-M 1400", "MSS 1400"), ("iperf3", "-C bbr", "congestion bbr"),
    ("iperf3", "-b 50M", "50 Mbit/s"), ("iperf3", "-O 3", "warm-up 3 s"), ("iperf3", "--no-delay", "no-delay"),
    ("iperf3", "-l 8K", "length 8K"), ("iperf3", "--fq-rate 50M", "fq-rate 50M"),
    ("iperf3", "-b100M", "100 Mbit/s"), ("iperf3", "-w256K", "window 256K"), ("iperf3", "-Cbbr", "congestion bbr"),
    ("iperf3", "-l64K", "length 64K"), ("ping", "-i0.2", "-i 0.2"), ("ping", "-qi0.2", "-i 0.2"),
    ("ping", "-c 100", "n = 100"), ("ping", "-i 0.2", "-i 0.2"),
    ("lagscope", "-n5000", "n = 5000"),
]  # fmt: skip
#: Members of the document of iperf3 that make a test another one.
MEMBERS = [
    ("duration", "60", "60 s"), ("bytes", "10240", "burst"), ("blocks", "1600", "200 MiB"),
    ("omit", "3", "warm-up 3 s"),    ("blksize", "1400", "1400 B"), ("tos", "16", "tos 16"),
    ("sock_bufsize", "262144", "window 262144"),
    ("target_bitrate", "50000000", "50 Mbit/s"), ("reverse", "1", "stream-reverse"),
]  # fmt: skip


def folder_of(tmp_path: Path, *texts: str) -> Path:
    """Write each log twice, with other bytes or another time but the same numbers."""
    for number, text in enumerate(texts):
        for repeat in range(2):
            again = text.replace('"timesecs":\t1795225326', f'"timesecs":\t{1795225326 + 100 * number + 10 * repeat}')
            (tmp_path / f"{number}-{repeat}.log").write_text(again + "\n" * (repeat + 1), "utf-8")
    return tmp_path


def pooled(folder: Path) -> list[tuple[str, set[str]]]:
    """Return the method of each estimate, and the numbers of the texts whose runs it pools."""
    logs = az.parse(folder)
    frames = [frame for frame in (az.latency(logs), az.throughput(logs)) if len(frame)]
    files = pd.concat(frames)["file"].map(lambda file: Path(file).name.partition("-")[0])
    return [
        (str(estimate.labels["method"]), {files[run_id] for run_id in estimate.run_ids})
        for frame in frames
        for estimate in estimates_of(az.summarize(frame))
        if estimate.estimate is not None
    ]


@pytest.mark.costly
@pytest.mark.parametrize(
    ("tool", "option", "named"), thinned(OPTIONS, 3), ids=lambda value: str(value).replace(" ", "")
)
def test_another_option_of_the_command_is_another_test(tool: str, option: str, named: str, tmp_path: Path) -> None:
    command, log = COMMANDS[tool]
    text = (FIXTURES / log).read_text("utf-8")
    flag = re.match(r"-+[a-z]", option, re.IGNORECASE)
    assert flag is not None
    words = [
        word for word in re.findall(r"(?:-\w ?)?\S+", command) if not word.startswith(flag[0]) or word == "-c 10.2.2.4"
    ]
    changed = " ".join([*words, option])
    groups = pooled(folder_of(tmp_path, *(f"root@vm1:~# {each}\n{text}" for each in (command, changed))))
    assert all(len(texts) == 1 for _, texts in groups)
    assert any(named in method for method, texts in groups if texts == {"1"}), groups


@pytest.mark.parametrize(("member", "value", "named"), thinned(MEMBERS, 3))
def test_another_member_of_a_document_is_another_test(member: str, value: str, named: str, tmp_path: Path) -> None:
    text = (FIXTURES / "iperf3" / "3.12-tcp.json").read_text("utf-8")
    changed, count = re.subn(rf'("{member}":\s*)\d+', rf"\g<1>{value}", text, count=1)
    assert count == 1 and changed != text
    groups = pooled(folder_of(tmp_path, text, changed))
    assert all(len(texts) == 1 for _, texts in groups)
    assert any(named in method for method, texts in groups if texts == {"1"}), groups


def test_repeats_are_pooled_and_their_method_names_no_field(tmp_path: Path) -> None:
    text = (FIXTURES / "iperf3" / "3.12-tcp.json").read_text("utf-8")
    assert pooled(folder_of(tmp_path, text)) == [("iperf3 TCP", {"0"})]


def test_a_receiver_that_waits_for_late_datagrams_makes_no_other_test(tmp_path: Path) -> None:
    """Two tests of 3 s, of which the second receiver counted for 5.34 s."""
    text = (FIXTURES / "iperf3" / "3.12-udp.txt").read_text("utf-8")
    late = text.replace("0.00-3.00   sec  30.8 MBytes  86.1", "0.00-5.34   sec  30.8 MBytes  48.4")
    (tmp_path / "run1.txt").write_text(text, "utf-8")
    (tmp_path / "run2.txt").write_text(late, "utf-8")
    runs = az.throughput(az.parse(tmp_path))
    assert list(runs["amount"]) == ["3 s", "3 s"] and list(runs["duration_ns"]) == [3e9, 5.34e9]
    assert runs["method"].nunique() == 1


def frame(**columns: object) -> pd.DataFrame:
    fixed = {
        "tool": "qperf",
        "test": "tcp_lat",
        "protocol": "tcp",
        "path": NetworkPath.between("a", "b"),
        "mean_ns": 1e5,
    }
    return pd.DataFrame({**fixed, "printed_as": "half_round_trip", "message_bytes": float("nan"), **columns})


def test_a_run_of_unknown_size_repeats_no_run_of_a_known_one() -> None:
    runs = frame(message_bytes=[64.0, 64.0, 128.0, None, None])
    methods, unknown = key.label(runs)
    assert methods == ["qperf tcp_lat 64 B"] * 2 + ["qperf tcp_lat 128 B"] + ["qperf tcp_lat unknown size"] * 2
    assert unknown == ["", "", "", "mixed_sizes", "mixed_sizes"]
    codes = {
        estimate.labels["method"]: estimate.codes
        for estimate in estimates_of(az.summarize(runs.assign(method=methods, unknown=unknown)))
    }
    assert codes["qperf tcp_lat unknown size"] == ("mixed_sizes",)


def test_unknown_sizes_are_pooled_if_none_is_known_to_differ() -> None:
    """Nothing then shows that the sizes are not the same: the default of the tool."""
    assert key.label(frame(message_bytes=[64.0, None, None])) == (["qperf tcp_lat"] * 3, [""] * 3)


def test_a_setting_that_only_some_logs_state() -> None:
    """A command without -w has the default window; without a command, the window is unknown."""
    methods, _ = key.label(frame(settings=["window 256K", "", None]))
    assert methods == ["qperf tcp_lat window 256K", "qperf tcp_lat default window", "qperf tcp_lat unknown window"]
    assert key.differing([frame(settings=["congestion cubic"]), frame(settings=["congestion bbr"])]) == [
        "setting congestion"
    ]


def test_a_treatment_splits_the_runs_of_one_path_only() -> None:
    other = NetworkPath.between("a", "c")
    sizes = ["D4s", "D4s", "F8s"]
    assert (
        key.label(frame(vm_size=sizes, path=[NetworkPath.between("a", "b")] * 2 + [other]))[0] == ["qperf tcp_lat"] * 3
    )
    assert key.label(frame(vm_size=sizes))[0] == ["qperf tcp_lat D4s"] * 2 + ["qperf tcp_lat F8s"]


@pytest.mark.parametrize(
    ("size", "text"),
    [(10240, "10 KiB"), (10_000, "10 kB"), (209715200, "200 MiB"), (1448, "1,448 B"), (131072, "128 KiB")],
)
def test_amounts_have_the_prefix_with_the_fewest_digits(size: int, text: str) -> None:
    assert key.bytes_text(size) == text


def test_a_document_need_not_state_the_congestion_control() -> None:
    assert key.label(frame(settings=["congestion cubic", ""]))[0] == ["qperf tcp_lat"] * 2
    methods, _ = key.label(frame(settings=["congestion cubic", ""], command="iperf3 -c a"))
    assert methods == ["qperf tcp_lat congestion cubic", "qperf tcp_lat default congestion"]
