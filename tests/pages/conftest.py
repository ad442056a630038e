"""The studies whose numbers the tests of the pages have read by hand, and charts that are only read."""

from __future__ import annotations

import pytest
from helpers.studies import load

from azlatency.kit.drawing import base
from azlatency.studies.store.study import Study


@pytest.fixture
def laid_out() -> None:
    """Charts as a page shows them."""


@pytest.fixture(autouse=True)
def _words_only(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Spare charts their layout, half of their time and no word, unless a test is of charts or ``laid_out``."""
    if "charts" not in request.path.parts and "laid_out" not in request.fixturenames:
        monkeypatch.setattr(base, "freeze", lambda figure: None)


@pytest.fixture(scope="session")
def cni() -> Study:
    """Pods inside and between zones: sockperf and qperf print RTT/2, one run per path."""
    return load("westeurope-azure-cni")


@pytest.fixture(scope="session")
def zones() -> Study:
    """An availability set and a zone pair: sockperf prints round trips."""
    return load("westeurope-availability-set-vs-zones")


@pytest.fixture(scope="session")
def latte() -> Study:
    """One latte run, and an expectation of at most 2 ms."""
    return load("canadacentral-proximity-placement")


@pytest.fixture(scope="session")
def echo() -> Study:
    """A text without logs."""
    return load("uksouth-echo-latency")
