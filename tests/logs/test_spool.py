"""A spool behaves like a list, wherever its items are."""

from __future__ import annotations

import pickle
from dataclasses import dataclass
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from azlatency.logs import spool
from azlatency.logs.rows import Columns, Rows
from azlatency.logs.spool import Spool, Stored, edit, remove

VALUES = st.none() | st.integers(-(2**70), 2**70) | st.floats(allow_nan=False) | st.text(max_size=4) | st.booleans()


@dataclass(slots=True)
class Item:
    """What a parser collects."""

    line: int
    size: float | None


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(spool, "BLOCK", 3)


@given(rows=st.lists(st.dictionaries(st.sampled_from("abc"), VALUES), max_size=20), data=st.data())
def test_a_spool_is_like_a_list(rows: list[dict[str, Any]], data: st.DataObject) -> None:
    of_rows: Spool[dict[str, Any]] = Spool()
    of_rows.extend(rows)
    assert len(of_rows) == len(rows) and list(of_rows) == rows and bool(of_rows) == bool(rows)
    assert [of_rows[at] for at in range(-len(rows), len(rows))] == rows + rows
    start, stop = data.draw(st.integers(-25, 25)), data.draw(st.integers(-25, 25))
    assert of_rows[start:stop] == rows[start:stop]
    assert pickle.loads(pickle.dumps(of_rows)) == rows
    assert max(len(rows) - 3, 0) <= sum(len(part) for part in of_rows._parts if isinstance(part, Stored)) <= len(rows)
    of_rows.clear()
    of_rows.append({})
    assert list(of_rows) == [{}]


@given(sizes=st.lists(st.none() | st.floats(allow_nan=False), max_size=20), first=st.integers(0, 20))
def test_items_in_the_file_can_be_changed(sizes: list[float | None], first: int) -> None:
    def change(item: Item) -> bool:
        changed, item.line = item.line % 2 == 0, -item.line if item.line % 2 == 0 else item.line
        return changed

    plain = [Item(line, size) for line, size in enumerate(sizes)]
    of_items = Spool([], Item)
    of_items.extend(Item(line, size) for line, size in enumerate(sizes))
    edit(plain, change, first)
    edit(of_items, change, first)
    assert list(of_items) == plain


def test_only_what_is_settled_moves() -> None:
    rows = Rows(settles=False)
    for number in range(8):
        rows.append({"line": number})
    rows.settle(7)
    assert [row["line"] for row in rows.tail()] == [6, 7] and len(rows) == 8
    rows.tail()[0]["line"] = 60
    remove(rows, rows.tail()[1])
    rows.extend(Columns(1, {"line": 9}))
    rows.append({"line": 10})
    assert [row["line"] for row in rows] == [0, 1, 2, 3, 4, 5, 60, 9, 10] and rows[-1] == {"line": 10}
    assert rows.pop_last() == {"line": 10} and len(rows) == 8


@given(lines=st.lists(st.integers(0, 9), max_size=30))
def test_rows_are_sorted_by_a_column(lines: list[int]) -> None:
    rows = Rows()
    rows.extend({"line": line, "at": at} for at, line in enumerate(lines))
    assert list(rows.sorted_by("line")) == sorted(rows, key=lambda row: row["line"])


def test_a_full_disk_is_an_error() -> None:
    class Full:
        def seek(self, *place: int) -> int:
            return 0

        def write(self, content: bytes) -> int:
            return len(content) - 1

    with pytest.raises(OSError, match="full"):
        Stored([{"a": 1}], Full())  # type: ignore[arg-type]


@given(st.lists(st.tuples(st.one_of(st.integers(-9, 9), st.integers(-(2**63), 2**63 - 1)), st.integers()), max_size=40))
def test_an_index_in_a_file_is_like_a_dictionary(items: list[tuple[int, int]]) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(spool, "BLOCK", 0.5)  # four items
        index, expected = spool.Index[int](), dict[int, int]()
        for key, value in items:
            assert index.get(key) == expected.get(key)
            index[key] = expected[key] = value
        assert [index.get(key) for key, _ in items] == [expected[key] for key, _ in items]
