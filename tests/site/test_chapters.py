"""Which pages a study has."""

from __future__ import annotations

from pathlib import Path

import pytest

from azlatency.pages.summary.answerable import Unanswered
from azlatency.site.pages import Chapter, StudyView


def _study(name: str, *left_out: str) -> StudyView:
    missing = tuple(Unanswered(page=page, question="?", measure="!", elsewhere=False) for page in left_out)
    return StudyView(name=name, info={}, contents=(), unanswered=missing)


def test_a_study_has_the_pages_that_it_has_data_for() -> None:
    chapters = [Chapter(path=Path(f"{stem}.ipynb"), title=stem) for stem in ("00_summary", "01_latency")]
    assert [chapter.title for chapter in _study("a", "01_latency").chapters(chapters)] == ["00_summary"]
    assert len(_study("b").chapters(chapters)) == 2


@pytest.mark.parametrize(
    ("info", "group"),
    [
        ({"region": "westeurope"}, "Azure · westeurope"),
        ({"region": "eastus2"}, "Azure · eastus2"),
        ({"region": "germanywestcentral"}, "Azure · germanywestcentral"),
        ({"region": "rack"}, "Provider not said · rack"),
        ({"region": "eu-west-1"}, "AWS · eu-west-1"),
        ({"region": "europe-west4"}, "Google Cloud · europe-west4"),
        ({"vm_size": "Standard_D4s_v5"}, "Azure · region not said"),
        ({}, "Provider not said · region not said"),
        ({"region": "<b>"}, "Provider not said · <b>"),
        ({"region": "westeurope", "emulated": True}, "Emulated lab"),
    ],
)
def test_the_index_lists_a_study_under_its_provider_and_region(info: dict[str, object], group: str) -> None:
    assert StudyView(name="a", info=info, contents=()).group == group


@pytest.mark.parametrize(
    ("regions", "info", "group"),
    [
        (("us-east-1",), {}, "AWS · us-east-1"),
        (("europe-west1",), {}, "Google Cloud · europe-west1"),
        (("eastus2", "uksouth", "westeurope"), {}, "Azure · 3 regions"),
        (("eu-de", "us-south"), {"vm_size": "cx2-8x16"}, "IBM Cloud · 2 regions"),
        (("eu-west-1", "westeurope"), {}, "Provider not said · 2 regions"),
        # The region of some runs is not that of the study.
        (("", "us-east-1"), {}, "Provider not said · region not said"),
        (("us-east-1",), {"region": "eu-west-1"}, "AWS · eu-west-1"),
    ],
)
def test_the_regions_of_the_runs_are_those_of_a_study_that_states_none(
    regions: tuple[str, ...], info: dict[str, object], group: str
) -> None:
    assert StudyView(name="a", info=info, contents=(), regions=regions).group == group


def test_a_page_has_a_short_name() -> None:
    stems = ("01_latency", "06_vm_baseline", "00_what_was_measured", "2026")
    names = [Chapter(path=Path(f"{stem}.ipynb"), title="A title").name for stem in stems]
    assert names == ["Latency", "Machines", "What was measured", "A title"]
