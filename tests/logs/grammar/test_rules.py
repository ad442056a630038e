"""Rules match whole lines; every line is accounted for."""

from __future__ import annotations

import re

from helpers.places import FIXTURES
from hypothesis import given
from hypothesis import strategies as st

from azlatency.logs.grammar.rules import (
    BLANK,
    DATA,
    KNOWN,
    LONGEST_LINE,
    PROSE,
    UNKNOWN,
    Line,
    LineAccounting,
    RuleReader,
    data,
    known,
)
from azlatency.logs.recognise import segment
from azlatency.logs.source.lines import shape_of


class Toy(RuleReader):
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


def test_a_pattern_must_match_the_whole_line() -> None:
    toy, accounting = read("toy: value 1", "wert 2", "value 3 more", "---", "", "value x")
    assert toy.values == [1, 2]
    assert toy.odd == ["value 3 more", "value x"]
    assert [accounting.kind_of(number) for number in range(1, 7)] == [DATA, DATA, UNKNOWN, KNOWN, BLANK, UNKNOWN]


def test_a_very_long_line_is_unknown() -> None:
    toy, accounting = read("value " + "1" * LONGEST_LINE)
    assert toy.values == []
    assert accounting.kind_of(1) == UNKNOWN


class Hinted(RuleReader):
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
    """Rules are selected once for all lines that differ only in digits and points; the hint still decides."""
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
def test_marking_a_range_marks_each_of_its_lines(marks: list[int], first: int, last: int, kind: int) -> None:
    by_range, by_line = LineAccounting(9), LineAccounting(9)
    for number, mark in enumerate(marks, start=1):
        by_range.mark(number, mark)
        by_line.mark(number, mark)
    by_range.raise_range(first, last, kind)
    for number in range(first, last + 1):
        by_line.mark(number, kind)
    assert [by_range.kind_of(n) for n in range(1, 10)] == [by_line.kind_of(n) for n in range(1, 10)]


def test_the_kind_with_the_highest_priority_counts() -> None:
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


def test_every_rule_of_the_package_is_a_valid_pattern() -> None:
    """Rules are compiled when a line needs them, so a wrong one would not show when it is loaded."""
    rules = [rule for _, _, of_log in segment._rules() for rule in of_log]
    assert len(rules) > 500 and all(rule.pattern.pattern for rule in rules)


def test_the_shape_of_a_rule_rules_out_no_line_that_it_matches() -> None:
    texts = [path.read_text("utf-8", "replace") for path in FIXTURES.glob("*/*") if path.is_file()]
    lines = {line.strip() for text in texts for line in text.split("\n")}
    lines |= {
        "...",
        "212992 65507 10.00 125000 0 6544.21",
        "212992 10.00 124990 6543.70",
        "8 8 0 0 1024 1024.00 1 1024.00 1",
        "Throughput(Buffers/s) Cycles/Byte       Buffers",
        "Packets Sent Packets Received Retransmits Errors",
    }
    lines |= {f"sender: {line}" for line in lines}
    shaped = [(prefix, rule) for _, prefix, rules in segment._rules() for rule in rules if rule.shape is not None]
    assert shaped
    for prefix, rule in shaped:
        shown = {
            line: line[match.end() :].lstrip() if prefix and (match := prefix.match(line)) else line for line in lines
        }
        matched = [line for line, text in shown.items() if rule.hint in text and rule.pattern.fullmatch(text)]
        assert matched, rule.expression
        assert all(re.fullmatch(rule.shape, shape_of(line).decode("utf-8", "replace").strip()) for line in matched)
