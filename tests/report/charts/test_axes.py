"""Ticks and positions on an axis."""

from __future__ import annotations

import pytest

from azlatency.report.charts import axes, base


def test_positions_are_moved_apart_as_little_as_possible() -> None:
    assert axes.spread([0.1, 0.5, 0.9], 0.2) == pytest.approx([0.1, 0.5, 0.9])
    assert axes.spread([0.5, 0.5], 0.2) == pytest.approx([0.4, 0.6])


def test_every_other_tick_is_kept_in_a_column() -> None:
    ticks = [0.5, 0.7, 0.85, 1.0, 1.2, 1.5, 2.0]
    assert axes.thinned(ticks, 0.6, 1.6) == [0.7, 0.85, 1.0, 1.2, 1.5]
    with base.column("single"):
        assert axes.thinned(ticks, 0.5, 2.0) == [0.7, 1.0, 1.5]


def test_a_quantile_has_as_many_nines_as_its_tail_is_rare() -> None:
    assert axes.nines(0.99) == pytest.approx(2) and axes.nines(0.9) == pytest.approx(1)
