"""The public names of `azlatency`: few, typed, imported on first use."""

from __future__ import annotations

import ast
import doctest
import importlib
import importlib.util
import inspect
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from helpers.places import ROOT

import azlatency as az

INIT = ROOT / "azlatency" / "__init__.py"


def typed_names() -> dict[str, str]:
    """Return the module of each name that the type checker sees."""
    block = next(node for node in ast.parse(INIT.read_text("utf-8")).body if isinstance(node, ast.If))
    homes = {}
    for node in block.body:
        assert isinstance(node, ast.ImportFrom)
        for alias in node.names:
            assert alias.asname, "an explicit re-export"
            value = getattr(importlib.import_module(str(node.module)), alias.name, None)
            is_module = value is None or getattr(value, "__name__", "") == f"{node.module}.{alias.name}"
            homes[str(alias.asname)] = f"{node.module}.{alias.name}" if is_module else str(node.module)
    return homes


def test_lazy_names_and_typed_names_agree() -> None:
    assert typed_names() == az._HOMES
    for name in az._HOMES:
        assert getattr(az, name) is not None


def test_the_public_names_fit_a_screen() -> None:
    assert set(dir(az)) == {*az._HOMES, "__version__"}
    assert len(dir(az)) <= 25


def test_an_unknown_name_is_an_error_that_lists_the_nearest_first() -> None:
    with pytest.raises(AttributeError, match="module 'azlatency' has no attribute 'sumarise'; names: summarize, "):
        _ = az.sumarise
    assert not hasattr(az, "__wrapped__")


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project with the two studies of the examples, one of them imported."""
    folder = tmp_path_factory.mktemp("project")
    for name in ("westeurope-azure-cni", "westeurope-availability-set-vs-zones"):
        shutil.copytree(ROOT / "data" / "raw" / name, folder / "data" / "raw" / name)
    az.import_study("westeurope-azure-cni", [folder / "data/raw/westeurope-azure-cni"], out=folder / "data/processed")
    return folder


@pytest.mark.costly
@pytest.mark.parametrize("name", [name for name in az._HOMES if inspect.isfunction(getattr(az, name))])
def test_the_example_of_every_function_prints_what_it_shows(
    name: str, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(project)
    function = getattr(az, name)
    (test,) = doctest.DocTestFinder(recurse=False).find(function, name, globs=function.__globals__)
    assert test.examples
    assert doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS).run(test).failed == 0


@pytest.mark.slow
def test_a_users_script_is_checked_strictly(tmp_path: Path) -> None:
    script = """
import azlatency as az
study = az.load("mine")
results = az.summarize(az.latency(az.parse("results/")), by="path")
reveal_type(results)
reveal_type(az.compare([1.0], [2.0]))
reveal_type(az.summarize([1.0])["estimate"])
reveal_type(az.latency)
az.load(42)
az.doesnotexist()
az.charts.doesnotexist()
study.doesnotexist
az.compare([1.0], [2.0], paired="mode")
"""
    (tmp_path / "script.py").write_text(script, "utf-8")
    command = [sys.executable, "-m", "mypy", "--strict", "--no-error-summary", "script.py"]
    printed = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False).stdout.splitlines()
    lines = [line for line in printed if ": error: " in line or "Revealed type" in line]
    # Frames are known as such where the types of pandas are installed.
    frame = "DataFrame" if importlib.util.find_spec("pandas-stubs") else "Any"
    revealed = [frame, frame, "Any", "def (study: azlat"]
    errors = ["[arg-type]", "[attr-defined]", "[attr-defined]", "[attr-defined]", "[arg-type]"]
    assert len(lines) == len(revealed) + len(errors), lines
    assert all(part in line for part, line in zip([*revealed, *errors], lines, strict=True)), lines
