"""The studies whose numbers the tests of the pages have read by hand."""

from __future__ import annotations

import pytest
from helpers.studies import load

from azlatency.studies.store.study import Study


@pytest.fixture(scope="session")
def cni() -> Study:
    return load("westeurope-azure-cni")


@pytest.fixture(scope="session")
def latte() -> Study:
    return load("canadacentral-proximity-placement")
