"""How wide a chart is, and the titles that fit above it."""

from __future__ import annotations

import pytest

from azlatency.kit.drawing.options import Options
from azlatency.kit.drawing.sheet import Sheet


def test_a_column_is_narrow_and_has_one_panel_per_row() -> None:
    page, column = Sheet(), Sheet(Options(width="single"))
    assert not page.narrow and page.side_by_side(3, 5) == 3
    assert column.narrow and column.side_by_side(3, 5) == 1


@pytest.mark.parametrize(("letters", "most"), [(78, 2), (42, 3), (42, 2)])
def test_a_title_that_is_too_long_loses_what_is_in_parentheses_and_then_its_end(letters: int, most: int) -> None:
    title = "Round trip from 54.0–61.1 µs (2 paths) to 1,840 µs (Different zones, Standard_D4s_v3), latte"
    shown = Sheet()._headline(title, letters, most)
    assert shown.count("\n") < most and ("Standard_D4s_v3" in shown) == (letters * most > 100) and "…" not in shown
    names = " and ".join(f"very-long-name-of-a-host-{place}" for place in range(12))
    shown = Sheet()._headline(f"Round trip to {names}", letters, most)
    assert shown.count("\n") == most - 1 and shown.endswith("…")


@pytest.mark.parametrize("letters", range(30, 60))
def test_a_title_is_not_broken_between_the_ends_of_a_path(letters: int) -> None:
    shown = Sheet()._headline("Round trip from 74 µs (zones 1a–1b) to 459 µs (1b → 1c, 1c - 1b)", letters, 9)
    assert all(name in shown for name in ("(zones 1a–1b)", "1b → 1c", "1c - 1b"))
