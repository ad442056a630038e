"""`azlatency check`."""

from __future__ import annotations

from pathlib import Path

import pytest
from helpers.command import azlatency


def test_check_prints_what_each_file_can_be_used_for(raw: Path) -> None:
    result = azlatency("check", raw / "westeurope-azure-cni")
    assert result.returncode == 0
    assert result.stdout.splitlines()[-1] == "20 files: 17 usable, 3 usable with caveats, 0 unusable"
    assert "percentiles up to p99.9\n" in result.stdout


def test_check_of_an_unusable_file_exits_1(tmp_path: Path) -> None:
    (tmp_path / "x.log").write_text("hello\n")
    result = azlatency("check", "x.log", cwd=tmp_path)
    assert result.returncode == 1
    assert result.stdout.startswith("x.log: unusable")


TABLE = "from,to,mean ms\nzone-1,zone-2,1.4\nzone-1,zone-3,1.1\n"


def test_check_drafts_the_table_that_study_toml_must_describe_and_then_finds_it_usable(tmp_path: Path) -> None:
    (tmp_path / "zones.csv").write_text(TABLE)
    result = azlatency("check", "zones.csv", cwd=tmp_path)
    assert result.returncode == 1
    drafted = [line[4:] for line in result.stdout.splitlines() if line.startswith("    ")]
    assert drafted[:4] == [
        "[[table]]",
        'file = "zones.csv"',
        'columns = {client = "from", server = "to", rtt_mean = "mean ms"}',
        'unit = "ms"',
    ]
    answered = "\n".join(drafted).replace("# round_trip", "round_trip")
    (tmp_path / "study.toml").write_text(f"[study]\n{answered}\n")
    for source in ("zones.csv", "."):
        result = azlatency("check", source, cwd=tmp_path)
        assert result.returncode == 0 and "usable for the mean RTT" in result.stdout


def test_an_import_of_a_table_says_how_it_is_described(tmp_path: Path) -> None:
    (tmp_path / "zones.csv").write_text(TABLE)
    result = azlatency("import", "zones.csv", "--study", "mine", cwd=tmp_path)
    assert result.returncode == 1
    assert (
        "zones.csv:1: no log of a known tool; azlatency check drafts what study.toml must say of a table"
        in result.stderr
    )


@pytest.mark.parametrize(
    "text",
    [
        "sockperf: == version #3.7-no.git == \nsockperf: [SERVER] listen on:\n"
        "[ 0] IP = 0.0.0.0         PORT = 11112 # TCP\nsockperf: Warmup stage (sending a few dummy messages)...\n",
        f"{'-' * 59}\nServer listening on 5201 (test #1)\n{'-' * 59}\niperf3: interrupt - the server has terminated\n",
        '{\n"start":\t{\n"connected":\t[],\n"version":\t"iperf 3.12"\n},\n"intervals":\t[],\n"end":\t{\n},\n'
        '"error":\t"interrupt - the server has terminated"\n}\n',
        f"{'-' * 60}\nServer listening on TCP port 5001\nTCP window size: 85.3 KByte (default)\n{'-' * 60}\n",
        "NTTTCP for Linux 1.4.0\n*** receiver role\n01:36:46 INFO: 17 threads created\n",
    ],
    ids=["sockperf", "iperf3", "iperf3 JSON", "iperf2", "ntttcp"],
)
def test_the_log_of_a_server_without_a_client_is_no_error(tmp_path: Path, text: str) -> None:
    file = tmp_path / "server.log"
    file.write_text(text, "utf-8")
    result = azlatency("check", file)
    assert result.returncode == 0
    assert result.stdout.splitlines() == [
        f"{file}: the log of a server, without a result of its own",
        "1 file: 0 usable, 0 usable with caveats, 0 unusable, 1 of servers",
    ]
    answer = azlatency(file)
    assert (answer.returncode, answer.stderr) == (0, "")
