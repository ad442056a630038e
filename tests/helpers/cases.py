"""Oracle cases as test parameters, the series and tables that they name, and simulated processes."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable
from functools import cache
from typing import Any, NamedTuple

import numpy as np
import pytest
from scipy.special import ndtri

from helpers.places import TESTS

ORACLES = TESTS / "oracles"
#: Replicates of the fast coverage experiments and of the full ones (``-m slow``).
FAST, FULL = 40, 2000
BOTH = [pytest.param(FAST, id="fast"), pytest.param(FULL, id="full", marks=pytest.mark.slow)]


def thinned(cases: Iterable[Any], every: int) -> list[Any]:
    """Return parameters of which ``make test`` runs every n-th, and ``make test-slow`` the others."""
    return [
        pytest.param(*(case if type(case) is tuple else (case,)), marks=[pytest.mark.slow] if place % every else [])
        for place, case in enumerate(cases)
    ]


@cache
def content(name: str) -> dict[str, Any]:
    document: dict[str, Any] = json.loads((ORACLES / f"{name}.json").read_text("utf-8"))
    return document


def cases(name: str, *starts: str) -> list[Any]:
    """Return the cases whose id begins with one of ``starts``; fail if there are none."""
    matching = [case for case in content(name)["cases"] if case["id"].startswith(starts)]
    assert matching, (name, starts)
    return [pytest.param(case, id=case["id"]) for case in matching]


@cache
def minstd(n: int, seed: int) -> np.ndarray:
    state, drawn = seed, []
    for _ in range(n):
        state = state * 48271 % (2**31 - 1)
        drawn.append(state / (2**31 - 1))
    return np.array(drawn)


def normal(n: int, seed: int) -> np.ndarray:
    return np.asarray(ndtri(minstd(n, seed)))


def ar1(n: int, rho: float, seed: int) -> np.ndarray:
    e = ndtri(minstd(int(n), int(seed)))
    return filtered(np.concatenate([e[:1], math.sqrt(1 - rho**2) * e[1:]]), rho)


def filtered(e: np.ndarray, rho: float) -> np.ndarray:
    """Return x of x[i] = rho x[i-1] + e[i]."""
    from scipy.signal import lfilter  # half a second, which every worker would need

    return np.asarray(lfilter([1.0], [1.0, -rho], e))


def generated(text: str) -> np.ndarray:
    """Return the series that an oracle's ``generator`` describes in R syntax."""
    text = text.removeprefix("x=").split(" = ")[0].replace("^", "**")
    text = re.sub(r"rep\((-?[\d.]+),(\d+)\)", r"np.repeat(\1,\2)", text)
    text = re.sub(r"\bc\((.*)\)$", r"np.concatenate([\1])", text)
    text = re.sub(r"\+c\((.*)\)$", r"+np.concatenate([\1])", text)
    n = int(re.findall(r"(?:minstd|ar1)\((\d+)", text)[0])
    names = {
        "np": np, "minstd": minstd, "ar1": ar1, "qnorm": ndtri, "exp": np.exp, "log": np.log,
        "round": lambda x: np.floor(np.abs(x) + 0.5) * np.sign(x), "i": np.arange(1, n + 1),
    }  # fmt: skip
    return np.asarray(eval(text, {"__builtins__": {}}, names))


class PrintedTable(NamedTuple):
    """Printed order statistics of ``n`` observations: ascending ``ranks`` (1 and n among them) and their ``values``."""

    n: int
    ranks: tuple[int, ...]
    values: tuple[float, ...]


def table(name: str) -> PrintedTable:
    """A printed table of the studies 000 and 001, in the printed us."""
    printed = content("printed_percentile_tables")["tables"][name]
    n = printed["n"]
    known = {1: printed["min"], n: printed["max"]}
    for p, value in zip(printed["p"], printed["value"], strict=True):
        known.setdefault(int(p * n + 0.5), value)
    ranks = tuple(sorted(known))
    return PrintedTable(n, ranks, tuple(known[rank] for rank in ranks))


def number(value: Any) -> float | None:
    """An expected interval end: the strings "inf" and "-inf" are None, no bound."""
    return None if isinstance(value, str) else float(value)


def stream(seed: int) -> np.random.Generator:
    return np.random.Generator(np.random.PCG64(seed))


def correlated(rng: np.random.Generator, n: int, rho: float) -> np.ndarray:
    """Return a stationary Gaussian AR(1) series (n,) of variance 1."""
    e = rng.standard_normal(n)
    e[1:] *= math.sqrt(1 - rho**2)
    return filtered(e, rho)


def lognormal(rng: np.random.Generator, n: int, rho: float) -> np.ndarray:
    """AR(1) in a Gaussian copula with lognormal margin, sigma 0.5; its p-quantile is exp(0.5 ndtri(p))."""
    return np.asarray(np.exp(0.5 * correlated(rng, n, rho)))


#: Quantiles of the margin of `lognormal`.
LOGNORMAL_QUANTILES = {p: math.exp(0.5 * float(ndtri(p))) for p in (0.5, 0.9, 0.99, 0.999)}


def fractional(rng: np.random.Generator, n: int, d: float) -> np.ndarray:
    """Fractional noise ARFIMA(0, d, 0) (n,) with exact covariances, by circulant embedding."""
    k = np.arange(1, n)
    r = np.concatenate([[1.0], np.cumprod((k - 1 + d) / (k - d))])
    spectrum = np.fft.fft(np.concatenate([r, r[-2:0:-1]])).real.clip(0)
    m = len(spectrum)
    noise = rng.standard_normal(m) + 1j * rng.standard_normal(m)
    return np.asarray(np.fft.fft(np.sqrt(spectrum / m) * noise).real[:n])


def attained(name: str, held: list[bool], made: int, *, nominal: float = 0.95, above: float = 0.03) -> float:
    """Print a coverage and demand it in [nominal - 1.5, nominal + ``above``] points, widened by two Monte Carlo s.e.

    ``held``: whether each interval that was not refused held the truth; ``made``: data sets, refused ones included.
    """
    share = sum(held) / len(held)
    error = math.sqrt(nominal * (1 - nominal) / len(held))
    print(f"{name}: {100 * share:.1f} % of {len(held)} intervals hold, {made - len(held)} of {made} refused")
    assert nominal - 0.015 - 2 * error <= share <= nominal + above + 2 * error, name
    return share


def within(attained: float, nominal: float, repetitions: int) -> bool:
    """Coverage in [nominal - 1.5, nominal + 3] percentage points, widened by two Monte Carlo standard errors."""
    slack = 2 * (nominal * (1 - nominal) / repetitions) ** 0.5
    return nominal - 0.015 - slack <= attained <= nominal + 0.03 + slack


def fails(name: str, held: list[bool], below: float) -> None:
    """Assert that a naive interval covers the truth less often than ``below``."""
    share = sum(held) / len(held)
    print(f"{name}: {100 * share:.1f} % (naive)")
    assert share < below, name
