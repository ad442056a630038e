"""Rank sets of paths."""

from __future__ import annotations

from helpers.cases import stream

from azlatency.stats.across_runs.ranking import rank_sets


def test_rank_sets() -> None:
    random = stream(12)
    groups = {
        name: (level * random.lognormal(0, 0.01, 8)).tolist()
        for name, level in (("c", 700.0), ("a", 60.0), ("b", 690.0), ("near b", 691.0))
    }
    sets = {rank.what: (rank.low, rank.high) for rank in rank_sets(groups)}
    assert sets["a"] == (1, 1) and sets["b"][0] == 2 and sets["near b"][1] <= 4
    assert sets["b"][0] <= sets["near b"][1]
    paired = {name: {r: v * (1 + r / 10) for r, v in enumerate(values)} for name, values in groups.items()}
    assert rank_sets(paired)[0].what == "a" and "rank 1 of 4" in str(rank_sets(paired)[0])
    lonely = rank_sets({"a": [1.0], "b": [5.0, 5.1, 5.2]})
    assert all((rank.low, rank.high) == (1, 2) for rank in lonely)
    assert rank_sets({}) == []


def test_levels_do_not_depend_on_the_order_in_which_rounds_are_listed() -> None:
    rising = {at: 100.0 + at for at in range(12)}
    listed = {at: rising[at] for at in (5, 2, 9, 0, 7, 11, 3, 8, 1, 10, 4, 6)}
    first, second = (rank_sets({"a": group})[0].level for group in (rising, listed))
    assert first == second and "dependent_runs" in first.codes
    assert "dependent_runs" not in rank_sets({"a": list(rising.values())})[0].level.codes, "a sequence has no order"


def test_a_coarse_print_excludes_no_rank() -> None:
    groups = {"a": [10.0] * 5 + [11.0], "b": [11.0] * 5 + [12.0]}
    assert [(rank.low, rank.high) for rank in rank_sets(groups)] == [(1, 1), (2, 2)]
    coarse = rank_sets(groups, resolution=2.0)
    assert [(rank.low, rank.high) for rank in coarse] == [(1, 2), (1, 2)]
