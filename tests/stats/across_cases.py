"""Oracle cases as test parameters, the generators that their inputs name, and printed tables."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.special import ndtri

from azlatency.stats.tablebounds import PrintedTable

ORACLES = Path(__file__).parents[1] / "oracles"


def content(name: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((ORACLES / f"{name}.json").read_text("utf-8"))
    return found


def cases(name: str, *starts: str) -> list[Any]:
    """The cases whose id begins with one of ``starts``; at least one, or the oracle has changed under the test."""
    found = [case for case in content(name)["cases"] if case["id"].startswith(starts)]
    assert found, (name, starts)
    return [pytest.param(case, id=case["id"]) for case in found]


def minstd(n: int, seed: int) -> np.ndarray:
    state, drawn = seed, []
    for _ in range(n):
        state = state * 48271 % (2**31 - 1)
        drawn.append(state / (2**31 - 1))
    return np.array(drawn)


def normal(n: int, seed: int) -> np.ndarray:
    return np.asarray(ndtri(minstd(n, seed)))


def table(name: str) -> PrintedTable:
    """A printed table of seeds 000 and 001, in the printed us."""
    printed = content("printed_percentile_tables")["tables"][name]
    n = printed["n"]
    known = {1: printed["min"], n: printed["max"]}
    for p, value in zip(printed["p"], printed["value"], strict=True):
        known.setdefault(int(p * n + 0.5), value)
    ranks = tuple(sorted(known))
    return PrintedTable(n, ranks, tuple(known[rank] for rank in ranks))


def generator(seed: int) -> np.random.Generator:
    return np.random.Generator(np.random.PCG64(seed))


def within(attained: float, nominal: float, repetitions: int) -> bool:
    """Coverage in [nominal - 1.5, nominal + 3] percentage points, widened by two Monte Carlo standard errors."""
    slack = 2 * (nominal * (1 - nominal) / repetitions) ** 0.5
    return nominal - 0.015 - slack <= attained <= nominal + 0.03 + slack
