"""The gallery of charts: every function of `az.charts` is on the page, and its lines draw it."""

from __future__ import annotations

import inspect
import runpy
from collections.abc import Iterator
from typing import Any

import pytest
from helpers.cases import thinned
from helpers.places import ROOT

import azlatency as az

GALLERY: dict[str, Any] = runpy.run_path(str(ROOT / "tools" / "gallery.py"))
#: Functions that draw nothing.
OTHERS = {"export", "few", "show"}


@pytest.fixture(scope="module")
def names() -> Iterator[dict[str, Any]]:
    yield GALLERY["start"]()


def test_the_page_is_that_of_the_gallery() -> None:
    page = (ROOT / "docs" / "charts.md").read_text("utf-8")
    assert page == GALLERY["page"](), "run python tools/gallery.py"
    functions = {name for name in az.charts.__all__ if inspect.isfunction(getattr(az.charts, name))}
    assert functions == {example.name for example in GALLERY["EXAMPLES"]} | OTHERS


@pytest.mark.parametrize("example", thinned(GALLERY["EXAMPLES"], 12), ids=lambda example: example.name)
def test_an_example_draws_its_chart_in_five_lines(example: Any, names: dict[str, Any]) -> None:
    assert example.code.count("\n") < 5 and f"az.charts.{example.name}(" in example.code
    assert GALLERY["draw"](example, dict(names)).name == example.name
    assert (ROOT / "docs" / "images" / "charts" / f"{example.name}.png").is_file()
