"""What the frames of runs refuse in one line, and what they say of runs with little in them."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest
from helpers.small_frames import samples
from studies.runs.test_run_table import ping

import azlatency as az
from azlatency.studies.runs.assumptions import assumptions
from azlatency.studies.runs.key import key
from azlatency.studies.runs.run_table import run_table
from azlatency.studies.runs.samples import bounds, counted, select_one_run


def test_what_is_no_study_is_refused() -> None:
    with pytest.raises(TypeError, match="'mine' is neither a study nor logs"):
        run_table("mine")
    with pytest.raises(TypeError, match="int is neither a study nor logs"):
        run_table(5)


def test_samples_of_several_runs_or_without_times_are_refused() -> None:
    with pytest.raises(ValueError, match="the frame has no column rtt_ns; its columns are seq"):
        select_one_run(pd.DataFrame({"seq": [1]}))
    with pytest.raises(ValueError, match="samples of 2 runs: select one by its run_id"):
        select_one_run(samples(2))


def test_samples_without_statuses_or_bounds_all_count_as_printed() -> None:
    frame = samples().drop(columns="status")
    assert len(counted(frame)) == len(frame)
    low, high = bounds(frame)
    assert (low == high).all()


def test_logs_without_a_run_assume_nothing(tmp_path: Path) -> None:
    (tmp_path / "notes.md").write_text("nothing was measured\n", "utf-8")
    assert assumptions(az.parse(tmp_path)) == []


def test_a_drafted_pattern_is_an_assumption(tmp_path: Path) -> None:
    raw = tmp_path / "raw"
    for name in ("az1-az2_1.log", "az1-az2_2.log"):
        (raw / name).parent.mkdir(exist_ok=True)
        (raw / name).write_text(ping("10.0.0.9", 1.0, 2.0 + len(name) + int(name[8])), "utf-8")
    pattern = "az{zone}-az{peer_zone}_{repeat}.log"
    (raw / "study.toml").write_text(f'[study]\ndrafted = true\npattern = "{pattern}"\n', "utf-8")
    az.import_study("mine", [raw], out=tmp_path)
    assert f"assumed: zones and repeats as the names say: {pattern}" in assumptions(az.load("mine", processed=tmp_path))


def test_the_key_of_a_run_has_its_path_and_method(raw: Path) -> None:
    frame = key(az.latency(az.parse(raw / "westeurope-azure-cni" / "az1-az3")))
    assert list(frame.columns[:2]) == ["path", "method"]


def stamped_ping(high: int) -> str:
    """Return a log of 60 s of ping -D, whose times are in turn 1 ms and a higher one."""
    replies = ((at, high if at % 2 else 1) for at in range(30))
    rows = [
        f"[{1795225364 + 2 * at}.141966] 64 bytes from 10.0.0.9: icmp_seq={at + 1} ttl=64 time={time}.00 ms"
        for at, time in replies
    ]
    low = (high - 1) / 2
    return "\n".join([
        "PING 10.0.0.9 (10.0.0.9) 56(84) bytes of data.", *rows, "", "--- 10.0.0.9 ping statistics ---",
        "30 packets transmitted, 30 received, 0% packet loss, time 58001ms",
        f"rtt min/avg/max/mdev = 1.000/{1 + low:.3f}/{high}.000/{low:.3f} ms", "",
    ])  # fmt: skip


def test_runs_that_overlap_in_time_are_told_with_the_lines_that_tell_them_apart(tmp_path: Path) -> None:
    for number in (1, 2):
        (tmp_path / f"one_{number}.log").write_text(stamped_ping(1 + number), "utf-8")
    found = [line.replace(f"{tmp_path}/", "") for line in assumptions(az.parse(tmp_path))]
    assert "not pooled: one_1.log and one_2.log overlap in time" in found
    assert found[-1] == '    client = "other"'
