"""A report that quotes a log does not add runs; a short log that repeats another one does."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from helpers.places import FIXTURES, ROOT

import azlatency as az

LOG = ROOT / "data" / "raw" / "westeurope-azure-cni" / "az1-az3" / "sockperf.log"


def write_report(folder: Path, *logs: Path) -> None:
    blocks = (f"Measured on Monday:\n\n```\n{log.read_text('utf-8')}```\n" for log in logs)
    (folder / "results.md").write_text("# Results\n\n" + "\n".join(blocks), "utf-8")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "dump" / "logs").mkdir(parents=True)
    shutil.copy(LOG, tmp_path / "dump" / "logs" / "az1-az2.log")
    write_report(tmp_path / "dump", LOG)
    return tmp_path / "dump"


def imported(folder: Path) -> tuple[az.studies.ImportSummary, az.Study]:
    out = folder.parent / "processed"
    summary = az.import_study("dump", [folder], out=out)
    return summary, az.load("dump", processed=out)


def test_a_quoted_log_counts_once_and_the_import_names_both_files(folder: Path) -> None:
    summary, study = imported(folder)
    assert len(study.runs) == 2, "both are stored"
    counted = az.latency(study)
    assert counted["file"].tolist() == ["logs/az1-az2.log"], "the log counts, although the report comes first"
    (note,) = summary.notes
    assert note == "results.md:7: 1 run with the printed values of logs/az1-az2.log:2; counted once"
    (event,) = study.events[study.events["code"] == "copied_run"].itertuples()
    assert event.severity == "warning" and event.text.endswith("values as logs/az1-az2.log:2; counted once")
    assert len(az.latency(az.parse(folder))) == 1, "without a study, too"


def test_copies_are_found_again_after_a_change(folder: Path) -> None:
    imported(folder)
    changed = (folder / "logs" / "az1-az2.log").read_text("utf-8").replace("753.400", "753.500")
    (folder / "logs" / "az1-az2_2.log").write_text(changed, "utf-8")
    summary, study = imported(folder)
    assert summary.reused == 2 and summary.parsed == 1 and len(summary.notes) == 1
    assert (study.events["code"] == "copied_run").sum() == 1 and len(az.latency(study)) == 2
    (folder / "results.md").unlink()
    summary, study = imported(folder)
    assert not summary.notes and len(az.latency(study)) == 2
    assert "copied_run" not in set(study.events["code"])


def test_the_manifest_can_say_that_both_count(folder: Path) -> None:
    entries = "".join(
        f'[[run]]\nlog = "{log}"\nrepeat = {repeat}\n'
        for repeat, log in enumerate(("results.md", "logs/az1-az2.log"), 1)
    )
    (folder / "study.toml").write_text(f"[study]\n{entries}", "utf-8")
    summary, study = imported(folder)
    assert not summary.notes and len(az.latency(study)) == 2


def test_few_printed_values_can_be_equal_by_chance(tmp_path: Path) -> None:
    """qperf prints three numbers; two runs of a quiet link print the same ones."""
    folder = tmp_path / "dump"
    folder.mkdir()
    text = "tcp_lat:\n    latency   =  33.8 us\n    msg_rate  =  29.6 K/sec\n"
    (folder / "run1.log").write_text(text, "utf-8")
    (folder / "run2.log").write_text(text + "\n", "utf-8")
    summary, study = imported(folder)
    assert summary.runs_by_tool == {"qperf": 2} and not summary.notes and len(az.latency(study)) == 2
    (folder / "results.md").write_text(f"# Results\n\nThe second run:\n\n```\n{text}```\n", "utf-8")
    summary, study = imported(folder)
    assert summary.notes == [
        f"{run}.log:1: 1 run with the printed values of results.md:6; {UNSURE}" for run in ("run1", "run2")
    ]
    assert len(az.latency(study)) == 3, "all count"


FULL_LOG = (FIXTURES / "sockperf" / "3.10-under-load-full.csv").read_text("utf-8")
ENDPOINT = (
    "sockperf: == version #3.10-no.git == \n"
    "sockperf[CLIENT] send on:sockperf: using recvfrom() to block on socket(s)\n\n"
    "[ 0] IP = 10.2.2.4        PORT = 11111 # UDP\n"
)


def console_log() -> str:
    """Return what sockperf printed while it wrote the full log: its statistics, without parameters and samples."""
    lines = [line for line in FULL_LOG.partition("packet, txTime")[0].splitlines() if line.startswith("sockperf: ")]
    return ENDPOINT + "\n".join(lines) + "\n"


def test_a_console_log_and_the_full_log_of_its_run_count_once(tmp_path: Path) -> None:
    """The full log has the samples and the size, the console log the server and the protocol."""
    folder = tmp_path / "dump"
    folder.mkdir()
    (folder / "run.log").write_text(console_log(), "utf-8")
    (folder / "run.txt.csv").write_text(FULL_LOG, "utf-8")
    summary, study = imported(folder)
    assert len(summary.notes) == 1 and summary.notes[0].startswith(
        "run.log:1: 1 run with the printed values of run.txt"
    )
    for source in (study, az.parse(folder)):
        (run,) = az.latency(source).to_dict("records")
        assert (run["server"], run["protocol"], run["message_bytes"]) == ("10.2.2.4", "udp", 14)
        assert run["file"].endswith("run.txt.csv") and run["path"] == "? → 10.2.2.4"


def test_a_full_log_of_another_run_counts_itself(tmp_path: Path) -> None:
    (tmp_path / "run.log").write_text(console_log().replace("SentMessages=2001", "SentMessages=2002"), "utf-8")
    (tmp_path / "run.csv").write_text(FULL_LOG, "utf-8")
    assert len(az.latency(az.parse(tmp_path))) == 2


PING = """PING 10.0.0.5 (10.0.0.5) 56(84) bytes of data.

--- 10.0.0.5 ping statistics ---
20 packets transmitted, 20 received, 0% packet loss, time 19027ms
rtt min/avg/max/mdev = 0.812/1.043/1.377/0.121 ms
"""
UNSURE = "too few to be sure that they are one test, so both count; if they are, ignore one in study.toml"


def test_a_short_log_that_is_printed_twice_is_named_with_both_places(tmp_path: Path) -> None:
    folder = tmp_path / "dump"
    folder.mkdir()
    (folder / "a.log").write_text(PING, "utf-8")
    (folder / "b.log").write_text(f"{PING}\n", "utf-8")
    (folder / "c.log").write_text(PING.replace("1.043", "1.044"), "utf-8")
    summary, study = imported(folder)
    assert summary.notes == ["b.log:1: 1 run with the printed values of a.log:1; " + UNSURE]
    (event,) = study.events[study.events["code"] == "possible_copy"].itertuples()
    assert (event.line, event.severity) == (1, "warning")
    assert event.text == "prints the same 4 values as a.log:1; " + UNSURE
    assert len(az.latency(study)) == 3
    entries = '[[run]]\nlog = "b.log"\nignore = "copy"\n[[run]]\nlog = "*"\n'
    (folder / "study.toml").write_text(f"[study]\n{entries}", "utf-8")
    summary, study = imported(folder)
    assert not summary.notes and len(az.latency(study)) == 2


def pings(count: int, times: int) -> str:
    """Return runs of ping, each of them several times."""
    text = ""
    for n in range(count):
        values = [10 + (7 * n + i * i) % 83 + i / 1000 for i in range(1, 15)]
        rows = [f"64 bytes from 10.0.0.1: icmp_seq={i} ttl=64 time={v:.3f} ms" for i, v in enumerate(values, 1)]
        head = "PING 10.0.0.1 (10.0.0.1) 56(84) bytes of data."
        counts = "--- 10.0.0.1 ping statistics ---\n14 packets transmitted, 14 received, 0% packet loss, time 9ms"
        text += times * "\n".join([head, *rows, "", counts, "", ""])
    return text


def test_each_of_many_copies_names_the_run_that_counts(tmp_path: Path) -> None:
    path = tmp_path / "a.log"
    path.write_text(pings(70, 3))
    summary = az.import_study("x", [path], out=tmp_path)
    events = az.load("x", processed=tmp_path).events
    copied = events[events["code"] == "copied_run"]
    assert len(copied) == 140 and copied["line"].is_monotonic_increasing
    assert copied["text"].iloc[0].endswith(f"values as {path.name}:1; counted once")
    assert summary.notes[0].startswith("a.log:20: 140 runs with the printed values of a.log:1, ")
