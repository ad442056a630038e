"""The findings of the page on directions."""

from __future__ import annotations

import azlatency as az
from azlatency.report import findings
from azlatency.studies.store import Study


def test_one_way_measurements_ask_for_the_other_direction(cni: Study) -> None:
    (finding,) = findings.zone_pair_asymmetry.conclude(az.asymmetry(cni), az.studies.configured_links(cni)).findings
    assert finding.kind == "act" and "both" in finding.text
