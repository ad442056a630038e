"""The studies whose numbers the tests of the pages have read by hand."""

from __future__ import annotations

import pytest
from helpers.studies import load

from azlatency.studies.store.study import Study


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
