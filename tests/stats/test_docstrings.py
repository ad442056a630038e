"""The examples in the docstrings of the statistics run and print what they show."""

from __future__ import annotations

import doctest
import importlib
import pkgutil

import pytest

import azlatency.stats

MODULES = sorted(info.name for info in pkgutil.walk_packages(azlatency.stats.__path__, "azlatency.stats."))
OPTIONS = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS


@pytest.mark.parametrize("name", MODULES)
def test_examples_print_what_they_show(name: str) -> None:
    results = doctest.testmod(importlib.import_module(name), optionflags=OPTIONS)
    assert results.failed == 0
