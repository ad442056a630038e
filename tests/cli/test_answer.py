"""`azlatency DUMP` and `azlatency report DUMP`: from a dump to an answer with one command."""

from __future__ import annotations

import re
import shutil
import zipfile
from pathlib import Path

import pytest
from helpers.command import azlatency, on_screen
from helpers.places import FIXTURES, ROOT
from studies.runs.test_run_table import ping


@pytest.fixture
def dump(tmp_path: Path) -> Path:
    folder = tmp_path / "my dump"
    for path, rtt in (("az1-az2", 1.0), ("az1-az3", 2.0)):
        (folder / path).mkdir(parents=True)
        for number in range(1, 8):
            text = ping("10.0.0.9", rtt, rtt + 0.1 + number / 100, rtt + 0.2)
            (folder / path / f"ping_run{number}.log").write_text(text, "utf-8")
    return folder


def test_a_dump_is_answered_and_nothing_is_written(dump: Path, tmp_path: Path) -> None:
    before = sorted(tmp_path.rglob("*"))
    done = azlatency(dump, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    rows = done.stdout.splitlines()
    assert rows[0].split()[:8] == ["path", "method", "runs", "median", "run", "95", "%", "CI"]
    assert rows[1].startswith("zone 1 → zone 2") and " 7 " in rows[1]
    assert "assumed: zones and repeats as the names say" in done.stderr
    assert sorted(tmp_path.rglob("*")) == before


@pytest.mark.costly
def test_archives_logs_and_standard_input_are_dumps_too(dump: Path, tmp_path: Path) -> None:
    archive = tmp_path / "dump.zip"
    with zipfile.ZipFile(archive, "w") as packed:
        for log in dump.rglob("*.log"):
            packed.write(log, log.relative_to(dump))
    assert azlatency(archive, cwd=tmp_path).stdout == azlatency(dump, cwd=tmp_path).stdout
    log = next(dump.rglob("*.log"))
    assert azlatency("-", cwd=tmp_path, stdin=log.read_bytes()).returncode == 0
    several = azlatency(dump / "az1-az2", dump / "az1-az3", cwd=tmp_path)
    assert "zone 1 → zone 3" in several.stdout, "the names of the folders that are given count"


def test_copies_and_runs_without_a_time_or_a_rate_are_said(tmp_path: Path) -> None:
    """One log and its copy, the same run twice under headings of one file, and a log of disks."""
    folder = tmp_path / "dump"
    folder.mkdir()
    for name in ("a.log", "b.log"):
        shutil.copy(FIXTURES / "ping" / "busybox-1.35-c4.log", folder / name)
    run = (ROOT / "data" / "raw" / "westeurope-azure-cni" / "single-node" / "sockperf.log").read_text("utf-8")
    (folder / "twice.txt").write_text(f"{run}\n{run}", "utf-8")
    shutil.copy(FIXTURES / "fio" / "2.21-read-16k.log", folder / "disk.log")
    said = azlatency(folder, cwd=tmp_path).stderr
    assert "b.log: identical to a.log; counted once\n" in said
    assert re.search(r"^twice.txt:\d+: prints the same \d+ values as twice.txt:2; counted once$", said, re.MULTILINE)
    assert "1 run of fio has no round trip or goodput; azlatency parse shows what they measured\n" in said


def test_a_row_of_means_says_so(tmp_path: Path) -> None:
    """qperf prints the mean only, sockperf both."""
    logs = ROOT / "data" / "raw" / "westeurope-azure-cni" / "single-node"
    said = azlatency(logs, cwd=tmp_path).stdout.splitlines()
    means = [line for line in said if re.search(r"\bmean, one run$", line)]
    assert [" qperf tcp_lat " in line for line in means] == [True] and " sockperf TCP 14 B " in "".join(said)
    assert "mean: the value of a run is its mean, because not every run of this method has a median" in said


@pytest.mark.parametrize("content", [b"", b"# Notes\n\nNothing was measured.\n"])
def test_a_dump_without_logs_is_one_line(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "empty").mkdir()
    (tmp_path / "empty" / "notes.md").write_bytes(content)
    for command in ([], ["report"]):
        done = azlatency(*command, "empty", cwd=tmp_path)
        assert done.returncode == 1 and "empty: no log recognised in notes.md:1: " in done.stderr
        assert done.stderr.count("\n") == 1 and "Traceback" not in done.stderr


def test_something_that_is_neither_a_command_nor_a_path_is_a_usage_error(tmp_path: Path) -> None:
    done = azlatency("nothing", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (
        2, "nothing: no such file, folder or command; azlatency -h lists the commands\n"
    )  # fmt: skip
    assert "did you mean azlatency report?" in azlatency("reprot", cwd=tmp_path).stderr


@pytest.mark.costly
@pytest.mark.parametrize("command", [["answer"], ["parse"], ["import", "--study", "s"]], ids=lambda words: words[0])
def test_every_command_has_the_same_exit_code_for_what_it_cannot_read(tmp_path: Path, command: list[str]) -> None:
    """A file that is not a log by its type is named; one that could have been a log is a failure."""
    content = {"sheet.xlsx": b"", "picture.png": b"\x89PNG\r\n\x1a\n\0\0", "cut.zip": b"PK\3\4", "link.log": None}
    with zipfile.ZipFile(tmp_path / "made.xlsx", "w") as packed:
        packed.writestr("[Content_Types].xml", "<Types/>")
    content["sheet.xlsx"] = (tmp_path / "made.xlsx").read_bytes()
    for name, raw in content.items():
        folder = tmp_path / name.partition(".")[0]
        folder.mkdir()
        (folder / "ping.log").write_text(ping("10.0.0.9", 1.0, 1.1, 1.2), "utf-8")
        if raw is None:
            (folder / name).symlink_to("/nowhere")
        else:
            (folder / name).write_bytes(raw)
        project = tmp_path / f"project-{name}"
        project.mkdir()
        done = azlatency(*command, folder, cwd=project, AZLATENCY_DATA=str(project / "data"))
        assert name in done.stderr and done.returncode == (name in ("cut.zip", "link.log")), (name, done.stderr)


@pytest.mark.parametrize("command", [["answer"], ["report"], ["parse"], ["import", "--study", "s"]], ids=" ".join)
def test_a_folder_or_an_archive_without_a_file_says_so(tmp_path: Path, command: list[str]) -> None:
    (tmp_path / "folder" / "inner").mkdir(parents=True)
    zipfile.ZipFile(tmp_path / "empty.zip", "w").close()
    for source in ("folder", "empty.zip"):
        done = azlatency(*command, source, cwd=tmp_path, AZLATENCY_DATA=str(tmp_path / "data"))
        assert done.returncode == 1 and ("no file to read" in done.stderr or "no usable log" in done.stderr)
        assert not (tmp_path / "data" / "processed").exists(), source


def test_files_that_are_no_logs_are_counted_by_their_kind(tmp_path: Path) -> None:
    for name in ("a.png", "b.png", "c.pdf", "README.md", "results.txt", "notes.md"):
        (tmp_path / "dump").mkdir(exist_ok=True)
        (tmp_path / "dump" / name).write_bytes((b"\0\1" if name[0] in "abc" else b"no ping: ") + name.encode())
    done = azlatency("dump", cwd=tmp_path)
    assert "no log recognised in 5 files (" in done.stderr and ", for example results.txt:1: " in done.stderr
    assert "2 .png" in done.stderr and done.stderr.count("\n") == 1


def test_a_row_says_what_the_names_of_files_say(tmp_path: Path) -> None:
    """Pods have other addresses in each run, so that no two runs have one path."""
    for number, name in enumerate(("calico/1", "calico/2", "cilium/1", "cilium/2")):
        (tmp_path / "dump" / name).mkdir(parents=True)
        (tmp_path / "dump" / name / "ping.log").write_text(ping(f"10.0.0.{number}", 1.0, 1.1, 1.2), "utf-8")
    shown = azlatency("dump", cwd=tmp_path).stdout
    assert "calico: ? → 10.0.0.1" in shown and "cilium: ? → 10.0.0.2" in shown


def test_a_row_names_the_folder_and_the_zones_of_a_draft(tmp_path: Path) -> None:
    for number, name in enumerate(("m5large/a_to_b", "m5large/b_to_a", "t3micro/a_to_b")):
        file = tmp_path / "dump" / f"{name}.log"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(ping(f"10.0.0.{number}", 1.0, 1.1, 1.2), "utf-8")
    shown = azlatency("dump", cwd=tmp_path).stdout
    assert all(f"{row}  ping" in shown for row in ("m5large: zone a → zone b", "t3micro: zone a → zone b"))


def test_a_row_without_ends_says_its_folder(raw: Path, tmp_path: Path) -> None:
    shutil.copytree(raw / "westeurope-azure-cni", tmp_path / "dump", ignore=shutil.ignore_patterns("*.toml"))
    assert "single-node: ? → ?" in azlatency("dump", cwd=tmp_path).stdout


def test_the_example_is_the_file_whose_reason_says_most(tmp_path: Path) -> None:
    (tmp_path / "dump").mkdir()
    for name in ("LICENSE", "a.txt", "b.txt"):
        (tmp_path / "dump" / name).write_text(f"All rights of {name}\n", "utf-8")
    (tmp_path / "dump" / "notes.md").write_text("# Throughput of iperf3\n\niperf3 -c host\n", "utf-8")
    done = azlatency("dump", cwd=tmp_path)
    assert ", for example notes.md:1: no log begins here: line 1 names iperf3" in done.stderr


@pytest.mark.slow
def test_a_report_of_a_dump_says_what_is_assumed(dump: Path, tmp_path: Path) -> None:
    done = azlatency("report", dump, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    page = tmp_path / "my-dump-report" / "my-dump" / "00_summary.html"
    assert done.stdout.splitlines()[-1] == "my-dump-report/my-dump/00_summary.html"
    text = page.read_text("utf-8")
    assert "assumed: zones and repeats as the names say: " in text
    assert sorted(path.name for path in tmp_path.iterdir()) == ["my dump", "my-dump-report"]


def test_the_runs_that_are_assumed_are_those_that_are_used(tmp_path: Path) -> None:
    """Five repeats, a cut one and a client that could not connect, which names neither end."""
    folder = tmp_path / "dump"
    folder.mkdir()
    for number in range(1, 6):
        (folder / f"ping_{number}.log").write_text(ping("10.0.0.9", 1.0, 1.1 + number / 100, 1.2), "utf-8")
    (folder / "ping_6.log").write_text(ping("10.0.0.9", 1.0, 9.0, 9.0).partition("\n---")[0], "utf-8")
    refused = "iperf3: error - unable to connect to server: Connection refused\n"
    (folder / "iperf.log").write_text(refused, "utf-8")
    done = azlatency(folder, cwd=tmp_path)
    assert [line for line in done.stderr.splitlines() if "assumed" in line or "left out" in line] == [
        "assumed: one client, which these logs do not name (5 runs)",
        "assumed: the last number in the names of these files counts repeats (5 runs); if it names a thing, add below "
        '[study]: pattern = "ping_{scenario}.log"',
        "1 run without a result left out: iperf.log (failed)",
        "1 run left out: ping_6.log (cut)",
    ]


@pytest.mark.slow
def test_an_interval_that_says_nothing_is_neither_on_the_page_nor_in_the_terminal(tmp_path: Path) -> None:
    """Runs of 1, 3 and 30 ms: the ends of Student's t with two degrees of freedom are a factor of thousands apart."""
    for side, factor in (("base", 1.0), ("new", 1.1)):
        (tmp_path / side).mkdir()
        for number, rtt in enumerate((1.0 * factor, 3.0 * factor, 30.0 * factor), 1):
            (tmp_path / side / f"round{number}_ping.log").write_text(
                ping("10.0.0.9", rtt, rtt + 0.1, rtt + 0.2), "utf-8"
            )
    done = azlatency("report", "base", "--out", "site", cwd=tmp_path)
    assert "too far apart" in done.stdout and "–" not in done.stdout
    assert "too far apart" in (tmp_path / "site" / "base" / "00_summary.html").read_text("utf-8")
    compared = azlatency("compare", "base", "new", cwd=tmp_path).stdout
    assert "  not known  " in compared.splitlines()[1]


def test_a_percentile_among_the_lost_probes_is_lost_and_a_cut_run_has_no_part_in_it(tmp_path: Path) -> None:
    """Of 100 probes of 1 ms two were lost; a second run of 3 ms is cut."""
    replies = (
        ping("10.0.0.9", *[1.0] * 100).replace("icmp_seq=7 ", "icmp_seq=101 ").replace("icmp_seq=8 ", "icmp_seq=102 ")
    )
    text = replies.replace("100 packets transmitted, 100 received, 0%", "102 packets transmitted, 100 received, 1.96%")
    (tmp_path / "ping_1.log").write_text(text, "utf-8")
    (tmp_path / "ping_2.log").write_text(ping("10.0.0.9", *[3.0] * 100).partition("\n---")[0], "utf-8")
    heads, row, *_ = azlatency(tmp_path / "ping_1.log", tmp_path / "ping_2.log", cwd=tmp_path).stdout.splitlines()
    assert row[: heads.index("p99") + 3].split()[-1] == "lost", row
    assert "∞" not in row and row.split()[6] == "1"


def test_notes_are_wrapped_between_words_and_lines_to_copy_stay_whole(tmp_path: Path) -> None:
    (tmp_path / "dump").mkdir()
    for name, rtt in (("with_a_long_name_near_1", 1.0), ("with_a_long_name_near_2", 1.1), ("far", 2.0)):
        (tmp_path / "dump" / f"{name}.log").write_text(ping("10.0.0.9", rtt, rtt, rtt), "utf-8")
    _, printed = on_screen("azlatency dump", 40, tmp_path)
    lines = printed.splitlines()
    assert "assumed: one client, which these logs do" in lines and "not name (2 runs)" in lines
    assert "    [[run]]" in lines and "azlatency import DUMP --study NAME" in " ".join(lines)
    assert max(len(line) for line in lines if not line.startswith("    ")) <= 40, printed
