"""The tables of the page on directions."""

from __future__ import annotations

from helpers.tables import cell

import azlatency as az
from azlatency.report import tables
from azlatency.report.objects import Note
from azlatency.studies.store.study import Study


def test_a_study_measured_one_way_lists_what_it_lacks(cni: Study) -> None:
    asymmetries = az.asymmetry(cni)
    table = tables.zone_pair_asymmetry.directions(asymmetries)
    assert cell(table, "latency, sockperf TCP 14 B", "ends") == "3"
    assert cell(table, "latency, sockperf TCP 14 B", "pairs of zones, both ways") == "0"
    assert isinstance(tables.zone_pair_asymmetry.both_ways(asymmetries), Note)


def test_a_study_without_paths_has_notes() -> None:
    assert isinstance(tables.zone_pair_asymmetry.directions([]), Note)
    assert isinstance(tables.zone_pair_asymmetry.ranks([]), Note)
