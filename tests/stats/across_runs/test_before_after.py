"""Two imports and the rounds of one: what is compared, what is refused and why."""

from __future__ import annotations

from typing import Any

import pandas as pd
import pytest

import azlatency as az
from azlatency.stats.across_runs.before_after import compare_pairings, pairings
from azlatency.stats.across_runs.comparison import Setting


def runs(values: list[float], path: str = "a → b", **columns: Any) -> pd.DataFrame:
    frame = pd.DataFrame(
        {
            "path": path,
            "method": "ping",
            "tool": "ping",
            "placement": "cross_zone",
            "median_ns": [1e3 * microseconds for microseconds in values],
            **columns,
        }
    )
    return frame.set_index(pd.Index([f"{path} {columns} {at}" for at in range(len(frame))]))


def compared(after: pd.DataFrame, before: pd.DataFrame) -> pd.Series:
    """Return the only comparison."""
    found = az.stats.compare_imports(after, before)
    assert len(found) == 1
    return found.iloc[0]


BEFORE, SLOWER = [1000.0, 1010.0, 990.0, 1005.0], [1300.0, 1310.0, 1290.0, 1305.0]


def test_a_change_is_found_and_its_absence_is_shown() -> None:
    slower = compared(runs(SLOWER, vm_size="x"), runs(BEFORE, vm_size="y"))
    assert slower["verdict"] == "different" and slower["ratio"] == pytest.approx(1.3, rel=0.01)
    assert slower["flags"] == "other_vm"
    same = compared(runs(BEFORE, vm_size="x"), runs(BEFORE[::-1], vm_size="x", round=1))
    assert same["verdict"] == "equivalent" and same["flags"] == ""


def test_one_run_each_is_refused() -> None:
    change = compared(runs([1300.0]), runs([1000.0], round=1))
    assert pd.isna(change["ratio"]) and change["flags"] == "no_replication"


def test_zones_are_matched_and_refused_without_the_map_to_physical_ones() -> None:
    zones = {"zone": "3", "peer_zone": "1"}
    change = compared(runs(SLOWER, "new name", **zones), runs(BEFORE, "old name", **zones))
    assert change["flags"] == "logical_zone" and pd.isna(change["ratio"]) and change["verdict"] == "inconclusive"
    for subscription, flags in (("one", ""), ("two", "logical_zone")):
        after = runs(SLOWER, "new name", **zones, subscription="one")
        change = compared(after, runs(BEFORE, "old name", **zones, subscription=subscription))
        assert change["flags"] == flags
    mapped = {**zones, "physical_zone": "az3", "peer_physical_zone": "az1"}
    change = compared(runs(SLOWER, "new name", **mapped), runs(BEFORE, "old name", **mapped))
    assert change["verdict"] == "different" and change["flags"] == ""


def test_nothing_is_compared_with_itself_or_another_region() -> None:
    assert az.stats.compare_imports(runs(BEFORE), runs(BEFORE)).empty
    assert az.stats.compare_imports(runs(SLOWER, region="here"), runs(BEFORE, region="there")).empty
    assert az.stats.compare_imports(runs(SLOWER), runs(BEFORE).head(0)).empty


def test_other_message_sizes_are_other_packets() -> None:
    one, other = runs(SLOWER, message_bytes=14), runs(BEFORE, message_bytes=350)
    one["method"], other["method"] = "ping 14 B", "ping 350 B"
    change = compared(one, other)
    assert change["flags"] == "type_p_mismatch" and pd.isna(change["ratio"])


def test_runs_of_other_machines_or_of_the_way_back_are_no_repeats() -> None:
    """Zones match paths of other names; two pairs of machines, or an initiator at the other end, are not one path."""
    there = {"zone": "1", "peer_zone": "2", "subscription": "one"}
    back = {"zone": "2", "peer_zone": "1", "subscription": "one"}
    old = pd.concat([runs(BEFORE, "a → b", **there), runs(BEFORE, "b → a", **back)])
    new = pd.concat([runs(SLOWER, "c → d", **there), runs(BEFORE, "d → c", **back)])
    found = az.stats.compare_imports(new, old)
    assert list(found["verdict"]) == ["different", "equivalent"]
    assert list(found["n_candidate"]) == list(found["n_base"]) == [4, 4]
    other_pair = runs(SLOWER, "e → f", **there)
    assert len(az.stats.compare_imports(pd.concat([new, other_pair]), old)) == 1
    # A scenario that both sides name tells the pairs of machines apart.
    named = [side.assign(scenario="first") for side in (new, old)]
    assert len(az.stats.compare_imports(pd.concat([named[0], other_pair.assign(scenario="second")]), named[1])) == 2


def test_two_paths_of_which_nothing_is_known_are_not_one() -> None:
    one, other = runs(SLOWER, "? → 10.0.0.5", placement=None), runs(BEFORE, "? → 10.9.0.5", placement=None)
    assert az.stats.compare_imports(one, other).empty


def test_beyond_the_margin_is_a_test_of_its_own() -> None:
    matched = pairings(runs(SLOWER), runs(BEFORE, round=1))
    sides = [pairing.sides() for pairing in matched]
    (slower,), (wide,) = (compare_pairings(matched, sides, Setting(margin)) for margin in ("5%", "40%"))
    assert slower["p_beyond"] < 1e-4 and wide["p_beyond"] > 0.999
