"""What all charts share: widths, sizes and what is left out."""

from __future__ import annotations

from azlatency.report.charts import base


def test_a_column_is_narrow_and_has_one_panel_per_row() -> None:
    assert not base.narrow() and base.side_by_side(3, 5) == 3
    with base.column("single"):
        assert base.narrow() and base.side_by_side(3, 5) == 1
    assert not base.narrow()


def test_sizes_are_a_number_or_a_range() -> None:
    assert base.sizes([3, 3], "runs") == "n = 3 runs"
    assert base.sizes([9553, 200], "packets") == "n = 200 to 9,553 packets"
    assert base.sizes([], "runs") == ""


def test_the_largest_items_are_kept_in_order_and_the_rest_is_counted() -> None:
    kept, sentence = base.most_of([5, 1, 9, 7], float, "runs with the most packets", 2)
    assert kept == [9, 7] and "2 of 4 runs with the most packets" in sentence
    assert base.most_of([5, 1], float, "runs", 2) == ([5, 1], "")
