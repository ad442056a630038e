"""The work for a log grows no faster than the log: every dialect, repeated as a whole and line by line."""

from __future__ import annotations

import json
import sys
from functools import cache
from pathlib import Path
from types import FrameType
from typing import Any

import pytest
from helpers.cases import thinned
from helpers.places import FIXTURES

from azlatency.logs.parse import parse_source
from azlatency.logs.source import decode
from azlatency.logs.source.decode import source_from_bytes

LINES = 100
LONGEST = 6_000


@cache
def shortest_logs() -> dict[str, Path]:
    """Return the shortest example of each dialect."""
    logs: dict[str, Path] = {}
    for expected in sorted(FIXTURES.glob("*/*.expected.json"), key=lambda path: path.stat().st_size):
        log = expected.with_name(expected.name.removesuffix(".expected.json"))
        runs = json.loads(expected.read_text(encoding="utf-8")).get("runs") or [{}]
        if log.stat().st_size <= LONGEST:
            logs.setdefault(f"{log.parent.name} {runs[0].get('dialect')} {runs[0].get('test')}", log)
    return logs


def count_steps(text: str) -> int:
    """Return how many lines of code the parsers execute; each turn of a loop counts."""
    steps = 0

    def step(frame: FrameType, event: str, argument: Any) -> Any:
        nonlocal steps
        steps += 1
        return step

    def enter(frame: FrameType, event: str, argument: Any) -> Any:
        return step if "azlatency" in frame.f_code.co_filename else None

    source = source_from_bytes(text.encode(), "a.log")
    before = sys.gettrace()
    sys.settrace(enter)
    try:
        parse_source(source)
    finally:
        sys.settrace(before)
    return steps


def repeat_whole(text: str, count: int) -> str:
    return text * count


def repeat_lines(text: str, count: int) -> str:
    return "".join(line * count for line in text.splitlines(keepends=True))


@pytest.fixture(autouse=True)
def _long_texts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Read short texts by the code that reads long ones."""
    monkeypatch.setattr(decode, "_GROUPED_FROM", 0)


@pytest.mark.costly
@pytest.mark.parametrize("repeat", [repeat_whole, repeat_lines])
@pytest.mark.parametrize("dialect", thinned(shortest_logs(), 10))
def test_work_grows_linearly(dialect: str, repeat: Any) -> None:
    text = source_from_bytes(shortest_logs()[dialect].read_bytes(), "a.log").text
    # A document whose lines are repeated is not a document any more, so repeat them at least twice.
    count = max(1 + (repeat is repeat_lines), LINES // (9 * text.count("\n") or 1))
    for once in (text, repeat(text, count)):  # fills the caches and imports what reads each kind of text
        parse_source(source_from_bytes(once.encode(), "a.log"))
    small, middle, large = (count_steps(repeat(text, factor * count)) for factor in (1, 3, 9))
    # The first is 3 times the second if the work is linear, 9 times if it is quadratic.
    assert large - middle < 4.5 * (middle - small) + 900
