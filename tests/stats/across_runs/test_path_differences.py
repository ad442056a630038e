"""Which of several paths differ: simulated runs of equal and of different paths."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from helpers.cases import BOTH, thinned
from scipy.stats import binom

from azlatency.stats.across_runs.path_differences import cannot_tell, differences_by_path, path_differences


def _paths(seed: int, runs: int, factors: tuple[float, ...] = (1.0, 1.0, 1.0)) -> dict[str, list[float]]:
    draws = np.random.default_rng([seed, runs]).normal(0, 0.1, (len(factors), runs))
    return {
        name: [1e5 * factor * float(run) for run in np.exp(row)]
        for name, factor, row in zip("abcdefghijklmno", factors, draws, strict=False)
    }


@pytest.mark.costly
@pytest.mark.parametrize("seeds", BOTH)
@pytest.mark.parametrize("runs", thinned([3, 5, 20, 7], 2))
def test_paths_of_one_law_are_called_different_at_most_at_the_error(runs: int, seeds: int) -> None:
    called = sum(path_differences(_paths(seed, runs)).verdict == "different" for seed in range(seeds))
    assert called <= binom.ppf(0.999, seeds, 0.05)


def test_a_difference_is_found_with_its_ratio_and_interval() -> None:
    found = path_differences(_paths(1, 7, (1.0, 1.0, 1.6)))
    (row,) = found.decisive.to_dict("records")
    assert found.verdict == "different" and len(found.pairs) == row["family"] == 3
    assert row["large"] == "c" and row["confidence"] == pytest.approx(1 - 0.05 / 3)
    assert 1.05 < row["ratio_low"] < 1.6
    assert cannot_tell(found, "a", "b") and not cannot_tell(found, "a", "c")


def test_the_largest_difference_that_is_shown_decides_and_not_the_noisiest_path() -> None:
    runs = _paths(2, 7, (1.0, 1.6)) | {"noisy": [1e5, 1e6, 2e5, 3e6, 4e4, 1e5, 9e6]}
    found = path_differences(runs)
    assert found.verdict == "different" and found.decisive["what"].item() == "b against a"
    assert found.paths["path"].iloc[-1] == "noisy"


def test_close_paths_are_equivalent_within_a_bound() -> None:
    runs = {name: [1e6 * (1 + step / 1000) for step in range(8)] for name in "abc"}
    found = path_differences(runs)
    (row,) = found.decisive.to_dict("records")
    assert found.verdict == "equivalent" and row["inner_low"] > 0.97 and row["inner_high"] < 1.03


def test_single_runs_and_runs_that_are_not_pooled_are_not_compared() -> None:
    assert path_differences({"a": [1e5], "b": [1.4e6]}).verdict == "once"
    found = path_differences({"a": [1e5], "b": [1e6, 1.1e6]})
    assert found.verdict == "once" and list(found.paths["flags"]) == ["no_replication", ""]
    assert found.pairs.empty and not cannot_tell(found, "a", "b")
    frame = pd.DataFrame({"path": ["?"] * 2 + ["a"] * 2, "method": "ping", "median_ns": [1e5, 2e5, 1e6, np.inf]})
    found = differences_by_path(frame, "ping", "median_ns")
    assert found.verdict == "refused" and found.paths.set_index("path").at["a", "flags"] == "loss_censored"


def test_of_many_paths_neighbours_and_the_ends_are_compared() -> None:
    found = path_differences({f"p{seed:02d}": _paths(seed, 3, (1.0,))["a"] for seed in range(40)})
    assert found.verdict == "inconclusive" and (found.pairs["family"] == 780).all()
    smallest, *_, largest = order = list(found.paths["path"])
    compared = {*zip(found.pairs["small"], found.pairs["large"], strict=True)}
    assert {(smallest, path) for path in order[1:]} | {(path, largest) for path in order[:-1]} <= compared
    assert (order[10], order[16]) in compared and (order[10], order[17]) not in compared


def test_both_directions_of_a_pair_are_not_compared() -> None:
    runs = _paths(1, 7, (1.0, 3.0, 1.0, 3.0))
    found = path_differences(runs, group_of={"a": "1–2", "b": "1–2", "c": "1–3", "d": "1–3"})
    assert len(found.pairs) == 4
    assert {*found.decisive[["large", "small"]].iloc[0]} in ({"a", "d"}, {"b", "c"})


def test_paths_of_two_parts_are_not_compared_and_each_part_has_its_ends() -> None:
    regions = {"a": "near", "b": "near", "c": "far", "d": "far"}
    found = path_differences(_paths(1, 7, (1.0, 1.5, 3.0, 3.0)), within=regions)
    assert {*zip(found.pairs["large"], found.pairs["small"], strict=True)} <= {("b", "a"), ("c", "d"), ("d", "c")}
    assert (found.pairs["family"] == 2).all() and found.verdict == "different"
    assert tuple(found.decisive[["large", "small"]].iloc[0]) == ("b", "a")
    # The part in the middle of all sizes is compared, too.
    many = {
        f"{part}{path}": _paths(path, 7, (level,))["a"]
        for part, level in enumerate((1.0, 2.0, 3.0))
        for path in range(6)
    }
    many["15"] = [2 * value for value in many["15"]]
    found = path_differences(many, within={path: path[0] for path in many})
    assert found.decisive["large"].item() == "15" and (found.pairs["family"] == 45).all()
