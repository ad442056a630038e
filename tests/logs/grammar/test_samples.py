"""Columns of samples: the same samples whether they are added one by one or at once, in memory or in a file."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from helpers.cases import thinned
from hypothesis import given
from hypothesis import strategies as st

from azlatency.logs.grammar import samples
from azlatency.logs.grammar.samples import STATUSES, SampleColumns
from azlatency.logs.parse import parse_source
from azlatency.logs.source import large
from azlatency.logs.source.decode import source_from_bytes

ROWS = st.lists(st.tuples(st.integers(0, 2**40), st.integers(1, 2**40), st.sampled_from(STATUSES)), max_size=30)


@given(ROWS, st.integers(0, 5), st.booleans())
def test_samples_are_those_that_were_added(rows: list[tuple[int, int, str]], warmup: int, at_once: bool) -> None:
    with pytest.MonkeyPatch.context() as patch:
        for module in (large, samples):
            patch.setattr(module, "MOST_IN_MEMORY", 7)
        expected: list[tuple[int, int | None, str]] = []
        columns = SampleColumns()
        for seq, rtt, status in rows:
            if at_once and status == "ok":
                columns.extend(np.array([seq]), np.array([rtt]), np.array([3]))
            else:
                columns.add(seq, None if status == "lost" else rtt, status, 3)
            expected.append((seq, None if status == "lost" else rtt, status))
        warmup = min(warmup, len(rows))
        columns.relabel(warmup, "warmup")
        expected[:warmup] = [(seq, rtt, "warmup") for seq, rtt, _ in expected[:warmup]]
        assert list(columns.rows()) == expected
        assert len(columns) == len(expected)
        assert {status: columns.count(status) for status in STATUSES} == {
            status: sum(row[2] == status for row in expected) for status in STATUSES
        }
        times = [rtt for _, rtt, status in expected if status == "ok" and rtt is not None]
        assert columns.extremes() == ((min(times), max(times)) if times else None)
        stored = columns.columns()
        assert list(zip(*(stored[name] for name in ("seq", "rtt_ns", "status")), strict=True)) == expected
        assert list(stored["sent_ns"]) == [3] * len(expected)


ECHO = "{},2026-11-21 01:47:{:02d}.701664,{},{},{}.123\n"
LONG_LOGS = {
    "echo.csv": "packet_num,timestamp,send_time_ns,receive_time_ns,rtt_us\n"
    + "".join(ECHO.format(n, n % 60, 1795225639701692776 + n, 1795225639701692899 + 1001 * n, n) for n in range(400)),
    "lagscope.csv": "Index, Latency(us)\n" + "".join(f"{n}, {200 + n % 97}\n" for n in range(900)),
    "x_clat.1.log": "".join(f"{n // 20}, {80_000 + n * n}, {n % 2}, 4096, 0\n" for n in range(600)),
    "x_bw.1.log": "".join(f"{500 * n}, {80_000 + n}, 0, 0, 0\n" for n in range(600)),
    "old_clat.1.log": "".join(f"{n // 20}, {80_000 + n * n}, {n % 2}, 4096\n" for n in range(600)),
    "dump.txt": "".join(f"{80_000 + n}\n" for n in range(900)),
    "hping3.log": "HPING 10.2.3.4 (eth0 10.2.3.4): icmp mode set, 28 headers + 0 data bytes\n"
    + "".join(
        f"len=28 ip=10.2.3.4 ttl=64 id=7 icmp_seq={(65300 + n) % 65536} rtt={n % 1050}.3 ms\n" for n in range(600)
    ),
    "empty_bucket.log": "".join(f"crnt bw = {n % 30}.{n % 90 + 10}7\n" for n in range(400)),
}


def tables(text: str, name: str) -> dict[str, Any]:
    logs = parse_source(source_from_bytes(text.encode(), name), tool="latte" if name == "dump.txt" else None)
    rows = {table: logs.records(table) for table in (*logs.rows, "samples")}
    del rows["sources"][0]["imported_at"]
    return rows


# Each log and each damage occurs in the cases of make test.
@pytest.mark.parametrize(
    ("name", "damage"), thinned([(name, damage) for damage in ("", "\n", "# a note\n", "1") for name in LONG_LOGS], 3)
)
def test_rows_that_are_read_at_once_are_those_read_one_by_one(
    name: str, damage: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A blank line, another line, or a digit in front of a number in the middle of a log or at its end."""
    text = LONG_LOGS[name]
    assert tables(text, name)["runs"]
    middle = text.index("\n", len(text) // 2) + 1
    for whole in [text[:middle] + damage + text[middle:]] if damage else [text, text[:-1], text[:-3]]:
        with monkeypatch.context() as patch:
            patch.setattr("azlatency.logs.source.decode._GROUPED_FROM", 0)
            at_once = tables(whole, name)
        assert at_once == tables(whole, name)
