"""Ticks and positions on an axis."""

from __future__ import annotations

import pytest

from azlatency.kit.drawing import axes
from azlatency.kit.drawing.fitting import freeze
from azlatency.kit.drawing.sheet import Sheet


def test_positions_are_moved_apart_as_little_as_possible() -> None:
    assert axes.spread([0.1, 0.5, 0.9], 0.2) == pytest.approx([0.1, 0.5, 0.9])
    assert axes.spread([0.5, 0.5], 0.2) == pytest.approx([0.4, 0.6])


@pytest.mark.parametrize(
    ("panels", "shown"), [(1, [0.5, 0.6, 0.7, 0.85, 1.0, 1.2, 1.5, 2.0]), (3, [0.5, 0.7, 1.0, 1.5]), (6, [0.5, 1.0])]
)
def test_ticks_of_ratios_are_thinned_until_they_fit_and_keep_1(panels: int, shown: list[float]) -> None:
    figure, (axis, *_) = Sheet().new_figure(1, panels, 2.0)
    axes.times_axis(axis, (0.5, 2.0))
    freeze(figure)
    assert list(axis.get_xticks()) == pytest.approx(shown)


def test_a_short_logarithmic_axis_has_more_than_one_tick() -> None:
    figure, (axis,) = Sheet().new_figure(1, 1, 2.0)
    axis.set(yscale="log", ylim=(60, 160))
    axes.plain_log_ticks(axis.yaxis)
    freeze(figure)
    assert len([tick for tick in axis.get_yticks() if 60 <= tick <= 160]) >= 3


def test_a_logarithmic_axis_ignores_a_ratio_of_zero() -> None:
    _, (axis,) = Sheet().grid(1, 1, 2.0)
    axes.times_axis(axis, (0.0, 0.5, 2.0), room=1.0)
    assert axis.get_xlim() == (0.5, 2.0)
    axes.times_axis(axis, (0.0,), room=2.0)
    assert axis.get_xlim() == (0.5, 2.0)


def test_a_quantile_has_as_many_nines_as_its_tail_is_rare() -> None:
    assert axes.nines(0.99) == pytest.approx(2) and axes.nines(0.9) == pytest.approx(1)


def test_a_short_axis_with_one_power_of_ten_has_labels_at_both_ends() -> None:
    figure, (axis, *_) = Sheet().new_figure(1, 8, 2.0)
    axis.set(xscale="log", xlim=(150, 2800))
    axes.plain_log_ticks(axis.xaxis)
    freeze(figure)
    assert list(axis.get_xticks()) == pytest.approx([200, 2000])
