"""Which of several paths differ: simulated runs of equal and of different paths."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from helpers.cases import BOTH
from scipy.stats import binom

from azlatency.stats.across_runs.path_differences import differences_by_path, path_differences


def _paths(seed: int, runs: int, factors: tuple[float, ...] = (1.0, 1.0, 1.0)) -> dict[str, list[float]]:
    draws = np.random.default_rng([seed, runs]).normal(0, 0.1, (len(factors), runs))
    return {
        name: [1e5 * factor * float(run) for run in np.exp(row)]
        for name, factor, row in zip("abcdefghijklmno", factors, draws, strict=False)
    }


@pytest.mark.parametrize("seeds", BOTH)
@pytest.mark.parametrize("runs", [3, 5, 7, 20])
def test_paths_of_one_law_are_called_different_at_most_at_the_error(runs: int, seeds: int) -> None:
    called = sum(path_differences(_paths(seed, runs)).verdict == "different" for seed in range(seeds))
    assert called <= binom.ppf(0.999, seeds, 0.05)


def test_a_difference_is_found_with_its_ratio_and_interval() -> None:
    found = path_differences(_paths(1, 7, (1.0, 1.0, 1.6)))
    assert found.verdict == "different" and found.decisive is not None and found.pairs == 3
    assert found.decisive.labels["large"] == "c" and found.decisive.ratio.confidence == pytest.approx(1 - 0.05 / 3)
    assert found.decisive.ratio.low is not None and 1.05 < found.decisive.ratio.low < 1.6
    assert found.cannot_tell("a", "b") and not found.cannot_tell("a", "c")


def test_the_largest_difference_that_is_shown_decides_and_not_the_noisiest_path() -> None:
    runs = _paths(2, 7, (1.0, 1.6)) | {"noisy": [1e5, 1e6, 2e5, 3e6, 4e4, 1e5, 9e6]}
    found = path_differences(runs)
    assert found.verdict == "different" and found.decisive is not None and found.decisive.what == "b against a"
    assert list(found.sizes)[-1] == "noisy"


def test_close_paths_are_equivalent_within_a_bound() -> None:
    runs = {name: [1e6 * (1 + step / 1000) for step in range(8)] for name in "abc"}
    found = path_differences(runs)
    assert found.verdict == "equivalent" and found.bound < 1.03


def test_single_runs_and_runs_that_are_not_pooled_are_not_compared() -> None:
    assert path_differences({"a": [1e5], "b": [1.4e6]}).verdict == "once"
    found = path_differences({"a": [1e5], "b": [1e6, 1.1e6]})
    assert found.verdict == "once" and found.once == ("a",) and not found.cannot_tell("a", "b")
    frame = pd.DataFrame({"path": ["?"] * 2 + ["a"] * 2, "method": "ping", "median_ns": [1e5, 2e5, 1e6, np.inf]})
    found = differences_by_path(frame, "ping", "median_ns")
    assert found.verdict == "refused" and found.refused == ("a",)


def test_of_many_paths_only_the_ends_are_compared() -> None:
    found = path_differences({f"p{at:02d}": _paths(at, 3, (1.0,))["a"] for at in range(40)})
    assert found.verdict == "inconclusive" and found.pairs == 780


def test_both_directions_of_a_pair_are_not_compared() -> None:
    runs = _paths(1, 7, (1.0, 3.0, 1.0, 3.0))
    found = path_differences(runs, group_of={"a": "1–2", "b": "1–2", "c": "1–3", "d": "1–3"})
    assert found.pairs == 4 and found.decisive is not None
    assert {found.decisive.labels["large"], found.decisive.labels["small"]} in ({"a", "d"}, {"b", "c"})
