"""Two imports and the rounds of one: what is compared, what is refused and why."""

from __future__ import annotations

from typing import Any

import pandas as pd
import pytest

import azlatency as az


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


BEFORE, SLOWER = [1000.0, 1010.0, 990.0, 1005.0], [1300.0, 1310.0, 1290.0, 1305.0]


def test_a_change_is_found_and_its_absence_is_shown() -> None:
    (slower,) = az.stats.compare_imports(runs(SLOWER, vm_size="x"), runs(BEFORE, vm_size="y"))
    assert slower.verdict == "different" and slower.ratio.estimate == pytest.approx(1.3, rel=0.01)
    assert slower.codes == ("other_vm",)
    (same,) = az.stats.compare_imports(runs(BEFORE, vm_size="x"), runs(BEFORE[::-1], vm_size="x", round=1))
    assert same.verdict == "equivalent" and same.codes == ()


def test_one_run_each_is_refused() -> None:
    (change,) = az.stats.compare_imports(runs([1300.0]), runs([1000.0], round=1))
    assert change.ratio.estimate is None and change.codes == ("no_replication",)


def test_zones_are_matched_and_refused_without_the_map_to_physical_ones() -> None:
    zones = {"zone": "3", "peer_zone": "1"}
    (change,) = az.stats.compare_imports(runs(SLOWER, "new name", **zones), runs(BEFORE, "old name", **zones))
    assert change.codes == ("logical_zone",) and change.ratio.estimate is None and change.verdict == "inconclusive"
    for subscription, codes in (("one", ()), ("two", ("logical_zone",))):
        after = runs(SLOWER, "new name", **zones, subscription="one")
        (change,) = az.stats.compare_imports(after, runs(BEFORE, "old name", **zones, subscription=subscription))
        assert change.codes == codes
    mapped = {**zones, "physical_zone": "az3", "peer_physical_zone": "az1"}
    (change,) = az.stats.compare_imports(runs(SLOWER, "new name", **mapped), runs(BEFORE, "old name", **mapped))
    assert change.verdict == "different" and change.codes == ()


def test_nothing_is_compared_with_itself_or_another_region() -> None:
    assert az.stats.compare_imports(runs(BEFORE), runs(BEFORE)) == []
    assert az.stats.compare_imports(runs(SLOWER, region="here"), runs(BEFORE, region="there")) == []
    assert az.stats.compare_imports(runs(SLOWER), runs(BEFORE).head(0)) == []


def test_other_message_sizes_are_other_packets() -> None:
    one, other = runs(SLOWER, message_bytes=14), runs(BEFORE, message_bytes=350)
    one["method"], other["method"] = "ping 14 B", "ping 350 B"
    (change,) = az.stats.compare_imports(one, other)
    assert change.codes == ("type_p_mismatch",) and change.ratio.estimate is None


def test_runs_of_other_machines_or_of_the_way_back_are_no_repeats() -> None:
    """Zones match paths of other names; two pairs of machines, or an initiator at the other end, are not one path."""
    there = {"zone": "1", "peer_zone": "2", "subscription": "one"}
    back = {"zone": "2", "peer_zone": "1", "subscription": "one"}
    old = pd.concat([runs(BEFORE, "a → b", **there), runs(BEFORE, "b → a", **back)])
    new = pd.concat([runs(SLOWER, "c → d", **there), runs(BEFORE, "d → c", **back)])
    forth, return_trip = az.stats.compare_imports(new, old)
    assert (forth.verdict, return_trip.verdict) == ("different", "equivalent")
    assert (forth.labels["runs_after"], forth.labels["runs_before"]) == (4, 4)
    other_pair = runs(SLOWER, "e → f", **there)
    assert len(az.stats.compare_imports(pd.concat([new, other_pair]), old)) == 1
    # A scenario that both sides name tells the pairs of machines apart.
    named = [side.assign(scenario="first") for side in (new, old)]
    assert len(az.stats.compare_imports(pd.concat([named[0], other_pair.assign(scenario="second")]), named[1])) == 2


def test_two_paths_of_which_nothing_is_known_are_not_one() -> None:
    one, other = runs(SLOWER, "? → 10.0.0.5", placement=None), runs(BEFORE, "? → 10.9.0.5", placement=None)
    assert az.stats.compare_imports(one, other) == []


def test_beyond_the_margin_is_a_test_of_its_own() -> None:
    (slower,) = az.stats.compare_imports(runs(SLOWER), runs(BEFORE, round=1))
    assert slower.ratio.diagnostics["beyond_p"] < 1e-4
    (wide,) = az.stats.compare_imports(runs(SLOWER), runs(BEFORE, round=1), margin="40%")
    assert wide.ratio.diagnostics["beyond_p"] > 0.999
