"""Matrices of zone pairs: symmetric and antisymmetric parts, node effects, cycles and detours, computed by hand."""

from __future__ import annotations

import math

import numpy as np
import pytest

from azlatency.stats.across_runs.matrices import decompose, hodge, triangles

NAN = math.nan


def test_a_matrix_is_the_sum_of_its_symmetric_and_antisymmetric_parts() -> None:
    parts = decompose(np.array([[0.0, 12.0], [8.0, 0.0]]))
    assert parts.s[0, 1] == parts.s[1, 0] == 10 and parts.k[0, 1] == -parts.k[1, 0] == 2
    assert parts.share == pytest.approx(0.2)


def test_a_pair_measured_in_one_direction_is_missing_in_both_parts() -> None:
    parts = decompose(np.array([[0.0, 12.0], [NAN, 0.0]]))
    assert np.isnan(parts.s).all() and np.isnan(parts.k).all() and parts.share is None


def test_differences_of_node_effects_have_no_residual_and_no_curl() -> None:
    effects = np.array([2.0, -1.0, -1.0])
    k = effects[:, None] - effects[None, :]
    result = hodge(k)
    assert result.node_effects == pytest.approx(effects) and result.share == pytest.approx(1)
    assert result.residual == pytest.approx(np.zeros((3, 3)), abs=1e-12)


def test_a_cycle_is_not_explained_by_node_effects() -> None:
    k = np.array([[0.0, 1.0, -1.0], [-1.0, 0.0, 1.0], [1.0, -1.0, 0.0]])
    result = hodge(k)
    assert result.node_effects == pytest.approx([0, 0, 0], abs=1e-12) and result.share == pytest.approx(0)
    assert result.residual == pytest.approx(k)


def test_a_detour_is_compared_without_the_time_of_its_middle_host() -> None:
    s = np.array([[NAN, 1000.0, 300.0], [1000.0, NAN, 400.0], [300.0, 400.0, NAN]])
    shorter = next(triangle for triangle in triangles(s) if triangle.via == 2)
    assert (shorter.direct, shorter.detour, shorter.excess) == (1000, 700, 300)
    assert next(triangle for triangle in triangles(s, np.array([50.0] * 3)) if triangle.via == 2).detour == 650
