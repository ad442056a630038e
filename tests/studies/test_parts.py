"""Which log is in which part of a table."""

from __future__ import annotations

import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from azlatency.studies import writer
from azlatency.studies.parts import Change, count_parts, in_order, part_names, part_of, split

IDS = st.lists(st.integers(0, 2**64 - 1).map("{:016x}".format), unique=True, max_size=40)
COUNTS = st.integers(0, 6).map(lambda power: 2**power)


@given(st.integers(0, 10**9), st.integers(0, 10**7))
def test_the_number_of_parts_depends_on_rows_and_logs_and_is_a_power_of_two(rows: int, sources: int) -> None:
    count = count_parts(rows, sources)
    assert count & (count - 1) == 0 and 1 <= count <= count_parts(2 * rows, 2 * sources)
    assert count == 1 or (rows / count >= 2**13 and sources / count >= 2**9)
    assert count == 1 or rows > writer.CSV_ROWS, "a table for a spreadsheet is one file"


def test_a_study_of_a_thousand_logs_has_one_file_per_table() -> None:
    assert count_parts(10**9, 1_000) == 1
    assert part_names("metrics", 1) == ["metrics.parquet"]
    assert part_names("samples/tool=ping/part-0", 2)[1] == "samples/tool=ping/part-00001-of-00002.parquet"


@given(IDS, COUNTS)
def test_parts_divide_the_logs(ids: list[str], count: int) -> None:
    """Twice as many parts divide each part; a part has the rows of its logs in their order."""
    for source_id in ids:
        assert 0 <= part_of(source_id, count) < count
        assert part_of(source_id, 2 * count) // 2 == part_of(source_id, count)
    table = pa.table({"source_id": pa.array(ids * 2, pa.string()), "row": range(2 * len(ids))})
    divided = split(in_order(table, ids), count)
    assert len(divided) == count
    for part, rows in enumerate(divided):
        of_part = [source_id for source_id in ids if part_of(source_id, count) == part]
        assert rows["source_id"].to_pylist() == [source_id for source_id in of_part for _ in range(2)]
    assert sorted(row for rows in divided for row in rows["row"].to_pylist()) == list(range(2 * len(ids)))


@given(IDS, COUNTS, st.data())
def test_a_part_changes_with_its_logs_alone(ids: list[str], count: int, data: st.DataObject) -> None:
    now = data.draw(st.permutations(ids)) if ids else []
    kept = {source_id for source_id in ids if data.draw(st.booleans())}
    changed = Change(now, ids, kept).parts(count)
    for part in range(count):
        before, after = ([one for one in order if part_of(one, count) == part] for order in (ids, now))
        assert (part in changed) == (before != after or not kept.issuperset(before))
