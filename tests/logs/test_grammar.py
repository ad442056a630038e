"""Rules match whole lines; the ledger accounts for every line."""

from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st

from azlatency.logs.grammar import (
    BLANK,
    DATA,
    KNOWN,
    LONGEST_LINE,
    PROSE,
    UNKNOWN,
    Line,
    LineAccounting,
    LineLog,
    data,
    known,
)


class Toy(LineLog):
    prefix = re.compile(r"toy: ")

    def __init__(self) -> None:
        self.values: list[int] = []
        self.odd: list[str] = []

    @data(r"value (\d+)", hint="value")
    @data(r"wert (\d+)", hint="wert")
    def value(self, line: Line, match: re.Match[str]) -> None:
        self.values.append(int(match[1]))

    known = known(("-", r"-+"))

    def unmatched(self, line: Line) -> None:
        self.odd.append(line.text)


def read(*texts: str) -> tuple[Toy, LineAccounting]:
    toy, accounting = Toy(), LineAccounting(len(texts))
    toy.feed([Line(number, text) for number, text in enumerate(texts, start=1)], accounting)
    return toy, accounting


def test_lines_are_matched_in_full() -> None:
    toy, accounting = read("toy: value 1", "wert 2", "value 3 more", "---", "", "value x")
    assert toy.values == [1, 2]
    assert toy.odd == ["value 3 more", "value x"]
    assert [accounting.kind_of(number) for number in range(1, 7)] == [DATA, DATA, UNKNOWN, KNOWN, BLANK, UNKNOWN]


def test_an_endless_line_is_unknown_and_costs_nothing() -> None:
    toy, accounting = read("value " + "1" * LONGEST_LINE)
    assert toy.values == []
    assert accounting.kind_of(1) == UNKNOWN


class Hinted(LineLog):
    def __init__(self) -> None:
        self.read_by: list[str] = []

    @data(r"rate 10\^6 (\S+)", hint="10^6")
    def digits_in_the_hint(self, line: Line, match: re.Match[str]) -> None:
        self.read_by.append("10^6")

    @data(r"rate .+", hint="rate")
    def any_rate(self, line: Line, match: re.Match[str]) -> None:
        self.read_by.append("rate")

    @data(r"\.{3}", hint="...")
    def points_only(self, line: Line, match: re.Match[str]) -> None:
        self.read_by.append("...")

    @data(r"\d+ \d+", hint="")
    def numbers_only(self, line: Line, match: re.Match[str]) -> None:
        self.read_by.append("numbers")


def test_lines_of_the_same_shape_may_have_different_rules() -> None:
    """Rules are found once for all lines that differ in their digits and points only; the hint still decides."""
    hinted, texts = Hinted(), ("rate 10^6 1", "rate 10^9 1", "rate 10^6 22.5", "...", "1 2", "33 4", "1.5 2", "")
    accounting = LineAccounting(len(texts))
    hinted.feed([Line(number, text) for number, text in enumerate(texts, start=1)], accounting)
    assert hinted.read_by == ["10^6", "rate", "10^6", "...", "numbers", "numbers"]
    assert [accounting.kind_of(number) for number in range(1, 9)] == [*[DATA] * 6, UNKNOWN, BLANK]


@given(
    st.lists(st.sampled_from([BLANK, PROSE, KNOWN, DATA, UNKNOWN]), min_size=9, max_size=9),
    st.integers(1, 9),
    st.integers(1, 9),
    st.sampled_from([KNOWN, DATA]),
)
def test_marking_a_range_is_marking_its_lines(marks: list[int], first: int, last: int, kind: int) -> None:
    one, other = LineAccounting(9), LineAccounting(9)
    for number, mark in enumerate(marks, start=1):
        one.mark(number, mark)
        other.mark(number, mark)
    one.raise_range(first, last, kind)
    for number in range(first, last + 1):
        other.mark(number, kind)
    assert [one.kind_of(number) for number in range(1, 10)] == [other.kind_of(number) for number in range(1, 10)]


def test_pieces_of_one_line_keep_the_most_telling_mark() -> None:
    accounting = LineAccounting(1)
    accounting.mark(1, BLANK)
    accounting.mark(1, DATA)
    accounting.mark(1, KNOWN)
    assert accounting.kind_of(1) == DATA


@given(st.lists(st.tuples(st.integers(1, 50), st.sampled_from([BLANK, PROSE, KNOWN, DATA, UNKNOWN]))))
def test_the_counts_always_add_up(marks: list[tuple[int, int]]) -> None:
    accounting = LineAccounting(50)
    for number, kind in marks:
        accounting.mark(number, kind)
    counts = accounting.counts()
    assert counts.pop("lines") == sum(counts.values()) == 50
