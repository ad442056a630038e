"""What a study shows on one page; expected values are read by hand in its texts."""

from __future__ import annotations

from helpers.studies import load

from azlatency.pages import summary
from azlatency.studies.store.study import Study


def test_every_conclusion_has_its_answer_and_reason(cni: Study) -> None:
    text = str(summary.conclusions(cni))
    assert "718 µs" in text and "1.44 ms and 1.40 ms (qperf)" in text and "half round trips" in text


def test_the_same_zone_number_is_another_place_elsewhere() -> None:
    text = str(summary.zone_maps(load("westeurope-psping")))
    row = next(line for line in text.splitlines() if "zone 1" in line)
    assert row.split()[-3:] == ["westeurope-az1", "westeurope-az2", "westeurope-az3"]


def test_missing_questions_are_listed_with_a_measurement(echo: Study, cni: Study) -> None:
    said = str(summary.missing(echo))
    assert "Run iperf3 or ntttcp" in said
    # Its text reports means and a 99th percentile.
    assert "How long does a round trip take" not in said and "How slow are the slowest packets?" not in said
    assert "No zone map" in str(summary.zone_maps(cni))
