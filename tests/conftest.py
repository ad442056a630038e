"""Shared paths: the raw data of the project, and the public material beside it where it is present."""

from __future__ import annotations

import gc
import os
import re
import sys
from pathlib import Path
from typing import Any

import pytest
from _pytest.assertion import rewrite
from _pytest.runner import runtestprotocol
from helpers.places import ROOT, SHARED
from hypothesis import HealthCheck, settings

# No limit per example: on a busy machine any example may be slow. HYPOTHESIS_PROFILE=slow-machine tries fewer of them.
settings.register_profile("default", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("slow-machine", settings.get_profile("default"), max_examples=15)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "default"))


def pytest_configure(config: pytest.Config) -> None:
    """Rewrite the assertions of the test files before the workers start, each of which would otherwise do so again."""
    if hasattr(config, "workerinput") or not config.getoption("tx", None) or sys.dont_write_bytecode:
        return
    state = config.stash[rewrite.assertstate_key]
    for place in (Path(argument.partition("::")[0]) for argument in config.args):
        for file in place.rglob("test_*.py") if place.is_dir() else [place] * (place.suffix == ".py"):
            folder = rewrite.get_cache_dir(file)
            folder.mkdir(parents=True, exist_ok=True)
            pyc = folder / (file.stem + rewrite.PYC_TAIL)
            if rewrite._read_pyc(file, pyc) is None:
                status, code = rewrite._rewrite_test(file, config)
                rewrite._write_pyc(state, code, status, pyc)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """Run the tests of a file on one worker; all pages share cards and drawings, and all notebooks a kernel."""
    from xdist.scheduler import LoadFileScheduling

    class OneWorkerForEach(LoadFileScheduling):
        def _split_scope(self, nodeid: str) -> str:
            file = super()._split_scope(nodeid)
            if file.endswith(".ipynb"):
                return "notebooks"
            return "pages" if re.search("/(gate|pages|kit|site)/", file) else file

    return OneWorkerForEach(config, log) if config.getoption("dist") == "loadfile" else None


def pytest_runtest_protocol(item: pytest.Item, nextitem: pytest.Item | None) -> bool | None:
    """Send one report per test from a worker: to send those of its setup and teardown takes longer than many a test."""
    if not hasattr(item.config, "workerinput") or item.config.getoption("durations") is not None:
        return None
    for report in runtestprotocol(item, log=False, nextitem=nextitem):
        if report.when == "call" or not report.passed:
            item.ihook.pytest_runtest_logreport(report=report)
    return True


def pytest_collection_finish() -> None:
    """Look for garbage less often, and never among the thousands of tests and the modules, which stay anyway."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(100_000, 50, 100)


@pytest.fixture(scope="session")
def raw() -> Path:
    """The studies of the project."""
    return ROOT / "data" / "raw"


@pytest.fixture(scope="session")
def shared() -> Path:
    """Material beside the project; tests that need it are skipped where it is absent."""
    folder = SHARED
    if not folder.is_dir():
        pytest.skip("no shared material beside the project")
    return folder
