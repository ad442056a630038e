"""Numbers that are read at once are those of `decimal`, or the lines are left to be read one by one."""

from __future__ import annotations

import re
from decimal import Decimal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from azlatency.logs.source import number_columns
from azlatency.logs.source.number_columns import Rows

NUMBERS = st.from_regex(r"[0-9]{1,9}(\.[0-9]{1,9})?", fullmatch=True)
PATTERN = re.compile(r"v1\.2 <(?P<first>-?[0-9.]+)>, (?P<other>[0-9.]+) é(?P<last>\d+)", re.ASCII)


def read(rows: list[str], widths: tuple[str, ...] = (), **decimals: int | None) -> list[list[int]] | None:
    match = PATTERN.fullmatch(rows[0])
    assert match is not None
    columns = Rows(match, decimals, widths).read("".join(f"{row}\n" for row in rows).encode())
    return None if columns is None else [column.tolist() for column in columns]


@pytest.mark.parametrize("examples", [10, pytest.param(100, marks=pytest.mark.slow)])
def test_numbers_are_exact(examples: int) -> None:
    @settings(max_examples=examples)
    @given(st.lists(st.tuples(NUMBERS, NUMBERS, st.integers(0, 2**63 - 1)), min_size=1, max_size=15), st.booleans())
    def check(numbers: list[tuple[str, str, int]], negative: bool) -> None:
        sign = "-" * negative
        rows = [f"v1.2 <{sign}{first}>, {other} é{last}" for first, other, last in numbers]
        columns = read(rows, ("other",), first=9, other=None, last=0)
        first, last, widths = columns or ([], [], [])
        assert first == [int(Decimal(sign + text).scaleb(9)) for text, _, _ in numbers]
        assert last == [number for _, _, number in numbers]
        assert widths == [len(other) for _, other, _ in numbers]

    check()


@pytest.mark.parametrize("equal", [True, False])
def test_pieces_and_steps_change_nothing(monkeypatch: pytest.MonkeyPatch, equal: bool) -> None:
    numbers = [f"{(7919 * index) % 9973:04}" if equal else f"{(7919 * index) % 9973}" for index in range(1000)]
    rows = [f"v1.2 <{text[:-2] or 0}.{text[-2:]}>, 5 é{text}" for text in numbers]
    whole = read(rows, first=2, other=None, last=0)
    assert whole is not None and whole[1] == [int(text) for text in numbers]
    assert all(first % 100 == last % 100 for first, last in zip(*whole, strict=True))
    monkeypatch.setattr(number_columns, "_PIECE", 100)
    monkeypatch.setattr(number_columns, "_STEP", 3)
    assert read(rows, first=2, other=None, last=0) == whole


def test_lines_of_too_many_layouts_are_left(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = [f"v1.2 <{'1' * place}.{'1' * (9 - place)}>, 5 é5" for place in range(1, 9)]
    assert read(rows, first=9, other=None, last=0) is not None
    monkeypatch.setattr(number_columns, "_MOST_COMPARISONS", 4)
    assert read(rows, first=9, other=None, last=0) is None


@pytest.mark.parametrize(
    "row",
    [
        "v1.3 <2.5>, 7 é8",  # another number that does not vary
        "v12 <2.5>, 7. é8",
        "v1.2 <.5>, 7 é8",
        "v1.2 <2.>, 7 é8",
        "v1.2 <2.5.1>, 7 é8",
        "v1.2 <2.5001>, 7 é8",  # more decimals than the power of ten
        "v1.2 <2.5>, 7 é9223372036854775808",
        "v1.2 <9223372036854776.5>, 7 é8",
        "v1.2 <2.5>, 7 é8.0",
        "v1.2 <2.5>, 7 8é",  # another place
        "v1.2 <2.5>7, 7 é8",
        "v1.2 <>, 7 é8",
        "v1.2 <2.5>, 7 é8\n",
    ],
)
def test_rows_of_another_form_are_left(row: str) -> None:
    usual = "v1.2 <2.5>, 7 é8"
    assert read([usual, usual], first=3, other=0, last=0) == [[2500] * 2, [7] * 2, [8] * 2]
    assert read([usual, row], first=3, other=0, last=0) is None
    assert read([usual, row, usual], first=3, other=0, last=0) is None


def test_two_groups_may_share_a_number() -> None:
    match = re.fullmatch(r"(?P<whole>\d+)\.(?P<rest>\d+)", "1.5")
    assert match is not None
    columns = Rows(match, {"whole": 0, "rest": 0}).read(b"1.5\n23.45\n3.6\n")
    assert [column.tolist() for column in columns or []] == [[1, 23, 3], [5, 45, 6]]
