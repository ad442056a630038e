"""Blocks of uniform lines: found, read in bulk, and with the same result as line by line."""

from __future__ import annotations

import random
import re
from pathlib import Path
from typing import Any

import pytest
from helpers.places import FIXTURES
from hypothesis import given
from hypothesis import strategies as st

from azlatency.logs.parse import parse_source
from azlatency.logs.source import decode, lines
from azlatency.logs.source.decode import Source, source_from_bytes
from azlatency.logs.source.expand import expand
from azlatency.logs.source.lines import Line, Lines, UniformBlock, find_texts, iter_blocks, unique_pieces
from azlatency.logs.tables import Logs

LOGS = sorted(
    path for path in FIXTURES.glob("*/*") if path.is_file() and not path.name.endswith((".expected.json", ".md"))
)
HEADER = "PING 10.0.0.1 (10.0.0.1) 56(84) bytes of data.\n"
REPLY = "64 bytes from 10.0.0.1: icmp_seq={} ttl=64 time={} ms\n"


def tables_of(raw: bytes) -> Logs:
    return parse_source(source_from_bytes(raw, "a.log"))


def plain(tables: Logs) -> dict[str, Any]:
    """Return all tables without the time of import."""
    rows = {name: tables.records(name) for name in tables.rows} | {"samples": tables.records("samples")}
    for row in rows["sources"]:
        del row["imported_at"]
    return rows


def both(monkeypatch: pytest.MonkeyPatch, raw: bytes) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the tables read line by line and in blocks; blocks have three rows or more and pieces of a few lines."""
    by_line = plain(tables_of(raw))
    with monkeypatch.context() as patched:
        patched.setattr(decode, "_GROUPED_FROM", 0)
        patched.setattr(lines, "_FEWEST", 3)
        patched.setattr(lines, "_PIECE", 400)
        return by_line, plain(tables_of(raw))


@pytest.mark.costly
@pytest.mark.parametrize("path", LOGS, ids=lambda path: f"{path.parent.name}/{path.name}")
def test_a_fixture_has_the_same_tables_line_by_line_and_in_blocks(monkeypatch: pytest.MonkeyPatch, path: Path) -> None:
    if path.stat().st_size > 60_000:
        pytest.skip("shorter fixtures cover the same code")
    for source in expand(path):
        assert isinstance(source, Source)
        by_line, in_blocks = both(monkeypatch, source.text.encode())
        assert in_blocks == by_line


ODD = (
    "64 bytes from 10.0.0.1: icmp_seq=7 ttl=64 time=0.3 ms (DUP!)\n",
    "64 bytes from 10.0.0.1: icmp_seq=7 ttl=64 time=5. ms\n",
    "64 bytes from 10.0.0.1: icmp_seq=7 ttl=64 time=.5 ms\n",
    "64 bytes from 10.0.0.1: icmp_seq=7 ttl=64 time= ms\n",
    "64 bytes from 10.0.0.1: icmp_seq=7 ttl=64 time=1.2.3 ms\n",
    "64 bytes from 10.0.0.1: icmp_seq=7 ttl=6464 time=0.3 ms\n",
    "64 bytes from 10.0.0.1: icmp_seq=70000 ttl=64 time=0.3 ms\n",
    "64 bytes from 10.0.0.1: icmp_seq=7 ttl=64 time=0.000 ms\n",
    "64 bytes from 10.0.0.2: icmp_seq=7 ttl=64 time=0.3 ms\n",
    "64 bytes from 10.0.0.1: icmp_seq=7 ttl=64 time=123 ms\n",
    "64 bytes from 10.0.0.1: icmp_seq=7 time=64 ttl=0.3 ms\n",
    "64 bytes from 10.0.0.1: icmp_seq=99999999999999999999 ttl=64 time=0.3 ms\n",
    "no answer yet for icmp_seq=12\n",
    "ping: Warning: time of day goes back (-12us), taking countermeasures\n",
    "\n",
    "nonsense\n",
)


@pytest.mark.parametrize("odd", ODD)
def test_one_odd_row_in_a_block(monkeypatch: pytest.MonkeyPatch, odd: str) -> None:
    rows = [REPLY.format(seq, f"0.{300 + seq}") for seq in range(1, 60)]
    by_line, in_blocks = both(monkeypatch, (HEADER + "".join([*rows[:30], odd, *rows[30:]])).encode())
    assert in_blocks == by_line


def test_sequence_numbers_that_wrap_with_losses_and_reordering(monkeypatch: pytest.MonkeyPatch) -> None:
    draw = random.Random(3)
    numbers = [n % 65536 for n in range(65_300, 66_100) if draw.random() > 0.05]
    for _ in range(20):
        place = draw.randrange(len(numbers) - 4)
        numbers.insert(place + 3, numbers.pop(place))
        numbers.insert(place, numbers[place])
    stamped = [f"[1795228093.{n:06d}] " + REPLY.format(n, f"{draw.random():.3f}") for n in numbers]
    by_line, in_blocks = both(monkeypatch, (HEADER + "".join(stamped)).encode())
    assert in_blocks == by_line
    assert max(row["seq"] for row in by_line["samples"]) == 66_099


def test_rows_of_a_sockperf_full_log_are_exact(monkeypatch: pytest.MonkeyPatch) -> None:
    """Seconds since 1970 with nine decimals have more digits than a double."""
    header = "packet, txTime(sec), rxTime(sec), latency(usec)\n"
    banner = "sockperf: == version #3.7-no.git ==\n"
    for start in (2, 1_795_228_093):
        rows = [f"{n}, {start}.{100_000_001 + n}, {start}.{100_047_398 + n}, 23.698\n" for n in range(50)]
        by_line, in_blocks = both(monkeypatch, (banner + header + "".join(rows) + "-" * 30 + "\n").encode())
        assert in_blocks == by_line
        assert {row["rtt_ns"] for row in by_line["samples"]} == {47_397}
        assert [row["sent_ns"] for row in by_line["samples"]] == list(range(50))


@given(st.text(alphabet="ab1\n.\r\x1b \x08é", max_size=200))
def test_grouping_does_not_change_the_lines(text: str) -> None:
    raws = text.split("\n")[: None if text and not text.endswith("\n") else -1]
    eager = [line for number, raw in enumerate(raws, start=1) for line in decode._clean_lines(number, raw)]
    kept = lines._FEWEST, lines._PIECE
    lines._FEWEST, lines._PIECE = 2, 10
    try:
        grouped = lines.group_lines(text, decode._clean_lines)
        assert list(grouped) == eager
        assert [grouped[index] for index in range(len(grouped))] == eager
        for start, stop in ((0, 3), (1, 5), (2, 100)):
            assert list(grouped[start:stop]) == eager[start:stop]
        for wanted in ({2}, {1, 2, 4}, {line.number for line in eager}):
            found = find_texts(grouped, lambda above, of=wanted: min((n for n in of if n > above), default=0))
            assert list(found) == sorted({line.number: line.text for line in eager if line.number in wanted}.items())
        assert all(grouped[position] in eager for _, positions in unique_pieces(grouped) for position in positions)
    finally:
        lines._FEWEST, lines._PIECE = kept


def test_many_uniform_rows_are_one_block() -> None:
    text = HEADER + "".join(REPLY.format(n % 65536, "0.301") for n in range(1, 100_001)) + "\nend\n"
    all_lines = source_from_bytes(text.encode(), "a.log").lines
    assert isinstance(all_lines, Lines)
    shown = list(iter_blocks(all_lines))
    assert [type(entry) for entry in shown] == [Line, UniformBlock, Line, Line]
    assert (len(all_lines), all_lines[-1]) == (100_003, Line(100_003, "end"))


def test_an_absurd_number_of_sent_probes_creates_no_samples() -> None:
    end = (
        "\n--- 10.0.0.1 ping statistics ---\n999999999999 packets transmitted, 1 received, 99% packet loss, time 9ms\n"
    )
    tables = tables_of((HEADER + REPLY.format(1, "0.301") + end).encode())
    assert len(tables.sample_blocks[0].seq) == 1


FPING = "10.9.0.2 : [{}], 64 bytes, {} ms (0.500 avg, 0% loss)\n"


@pytest.mark.parametrize("odd", ["0.12", "2.345", "12", "1.2", "10.00", "1000", "0.500", "12.34", "1.00e+03"])
def test_a_truncated_time_of_fping_is_not_read(monkeypatch: pytest.MonkeyPatch, odd: str) -> None:
    rows = [FPING.format(seq, "0.523") for seq in range(20)]
    rows[7] = FPING.format(7, odd)
    by_line, in_blocks = both(monkeypatch, "".join(rows).encode())
    assert in_blocks == by_line


def test_a_number_outside_all_groups_must_be_the_same_in_all_rows() -> None:
    pattern = re.compile(r"(?P<size>\d+) of host(\d+) seq=(?P<seq>\d+) in (?P<time>[\d.]+) s")
    rows = [f"64 of host12 seq={n} in 0.5 s\n" for n in range(5)]
    text = "".join(rows)
    match = pattern.fullmatch(rows[0].strip())
    assert match is not None
    columns = UniformBlock(1, 5, text, 0, len(text)).columns(match, size=0, seq=0, time=9)
    assert columns is not None
    assert [columns[name].tolist() for name in ("size", "seq", "time")] == [
        [64] * 5,
        [0, 1, 2, 3, 4],
        [500_000_000] * 5,
    ]
    text = text.replace("host12 seq=3", "host13 seq=3")
    assert UniformBlock(1, 5, text, 0, len(text)).columns(match, size=0, seq=0, time=9) is None
