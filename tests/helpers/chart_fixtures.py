"""Studies, their results and their charts, computed once for all tests of charts."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import pytest

from helpers.chart_cases import DrawnCharts, StudyResults
from helpers.places import ROOT
from helpers.studies import load

#: A study with everything, and two without logs; the slow set draws all.
FAST = {"emulated-zones", "uksouth-echo-latency", "cassandra-vm-baseline"}
STUDIES = [
    pytest.param(path.parent.name, marks=[] if path.parent.name in FAST else [pytest.mark.slow])
    for path in sorted((ROOT / "data" / "raw").glob("*/study.toml"))
]


@pytest.fixture(scope="session")
def results_of() -> Callable[[str], StudyResults]:
    """A function that loads a study by its name and returns its results; it loads each study once."""
    return cache(lambda name: StudyResults(load(name)))


@pytest.fixture(scope="session", params=STUDIES)
def results(request: pytest.FixtureRequest, results_of: Callable[[str], StudyResults]) -> StudyResults:
    return results_of(request.param)


@pytest.fixture(scope="session")
def study(results: StudyResults) -> Any:
    return results.study


@pytest.fixture(scope="session")
def drawn_of(results_of: Callable[[str], StudyResults]) -> Callable[[str], DrawnCharts]:
    """A function that returns the charts of a study, as wide as a page; each is drawn once."""
    return cache(lambda name: DrawnCharts(results_of(name)))


@pytest.fixture(scope="session")
def drawn(results: StudyResults, drawn_of: Callable[[str], DrawnCharts]) -> DrawnCharts:
    """The charts of a study by their names."""
    return drawn_of(results.study.name)
