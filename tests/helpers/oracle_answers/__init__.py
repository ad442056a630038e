"""What this library answers to every oracle case, number by number, and how an answer is held against the oracle.

An answer is a function of a case's input that returns a dict of the same shape as the case's ``expected``. Numbers of
methods that the library does not offer are computed here as well, from scipy or from the definition, and each such
function says why the method is not offered. `Differs` is the only way to answer with another number; it needs a reason.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Any

import numpy as np

Answer = Callable[[dict[str, Any]], dict[str, Any]]


@dataclass(frozen=True)
class Entry:
    """``answer`` to the cases of ``file`` whose id begins with ``start``; ``tolerances``: path pattern -> name of the
    oracle's own tolerance, where its prefix does not name the path."""

    file: str
    start: str
    answer: Answer
    tolerances: dict[str, str]


REGISTRY: list[Entry] = []


def answers(file: str, *starts: str, **tolerances: str) -> Callable[[Answer], Answer]:
    """Register an answer. ``tolerances``: keys with ``__`` for dots; a closing ``_`` stands for whatever follows."""
    patterns = {_pattern(key): name for key, name in tolerances.items()}

    def register(answer: Answer) -> Answer:
        REGISTRY.extend(Entry(file, start, answer, patterns) for start in starts)
        return answer

    return register


def _pattern(key: str) -> str:
    dotted = key.replace("__", ".")
    return f"{dotted}*" if dotted.endswith(".") else f"{dotted[:-1]}*" if dotted.endswith("_") else dotted


def entry_of(file: str, case_id: str) -> Entry | None:
    """The entry with the longest start that fits."""
    entries = [entry for entry in REGISTRY if entry.file == file and case_id.startswith(entry.start)]
    return max(entries, key=lambda entry: len(entry.start), default=None)


class Refused:
    """The answer to an expected error: the codes or the words of the refusal."""

    def __init__(self, why: object) -> None:
        self.why = why


@dataclass(frozen=True)
class Differs:
    """A number that is not the oracle's, on purpose: the ``value``, the ``reason``, and ``near``: relative distance."""

    value: float
    reason: str
    near: float


class Either:
    """Two answers of which the oracle holds one: a rank that stands exactly on a step of its law."""

    def __init__(self, *values: Any) -> None:
        self.values = values


@dataclass(frozen=True)
class Number:
    """A number whose tolerance is not the oracle's own prefix's, e.g. of a Monte Carlo quantity in the notes."""

    value: float
    within: float


def problems(expected: Any, answer: Any, case: dict[str, Any], entry: Entry, path: str = "") -> list[str]:
    """Every leaf of ``expected`` that the answer misses, in words."""
    if isinstance(expected, dict):
        if not isinstance(answer, dict):
            return [f"{path}: {answer!r} for a group"]
        return [
            problem
            for key, value in expected.items()
            for problem in (
                problems(value, answer[key], case, entry, f"{path}.{key}".lstrip("."))
                if key in answer
                else [f"{path}.{key}: not answered".lstrip(".")]
            )
        ]
    if isinstance(expected, list) and not isinstance(answer, Refused):
        results = list(answer)
        if len(results) != len(expected):
            return [f"{path}: {len(results)} values for {len(expected)}"]
        return [
            problem
            for at, (value, result) in enumerate(zip(expected, results, strict=True))
            for problem in problems(value, result, case, entry, f"{path}.{at}")
        ]
    return (
        []
        if _agrees(expected, answer, case.get("tolerance") or {}, entry, path)
        else [f"{path}: {answer!r}, expected {expected!r}"]
    )


def _agrees(expected: Any, answer: Any, tolerance: Any, entry: Entry, path: str) -> bool:
    if isinstance(answer, Refused):
        return isinstance(expected, str) and bool(answer.why)
    if isinstance(answer, Either):
        return any(_agrees(expected, value, tolerance, entry, path) for value in answer.values)
    if isinstance(answer, Differs):
        # Where the oracle's software gave up, any number is further than it got.
        return len(answer.reason) > 20 and (
            expected is None or math.isclose(answer.value, expected, rel_tol=answer.near)
        )
    if expected is None or expected in ("inf", "-inf"):
        return answer is None or not math.isfinite(answer)
    if answer is None:
        return False
    if isinstance(expected, bool | str):
        return bool(answer == expected)
    if isinstance(answer, Number):
        return abs(answer.value - expected) <= answer.within
    kind, allowed = tolerance_of(path, tolerance or {}, entry)
    # R prints a p below 1e-300 as 0.
    slack = allowed * (abs(expected) or 1e-3) if kind == "rel" else allowed
    return abs(float(answer) - expected) <= slack + 2e-15 * abs(expected)


def tolerance_of(path: str, tolerance: dict[str, Any], entry: Entry) -> tuple[str, float]:
    """(rel or abs, size) for a path: by the entry's patterns, else by prefix, else the one for all; else exact."""
    # A list of tolerances is one for each element: "abs_bca.0", "abs_bca.1".
    known = {name: value for name, value in tolerance.items() if isinstance(value, int | float)}
    known |= {
        f"{name}.{at}": limit
        for name, value in tolerance.items()
        if isinstance(value, list)
        for at, limit in enumerate(value)
    }
    for pattern, name in entry.tolerances.items():
        if fnmatchcase(path, pattern):
            return ("rel" if name.endswith("rel") else "abs"), float(known[name])
    leaf = path.split(".")
    for name, value in known.items():
        stem, _, kind = name.rpartition("_")
        if stem and kind in ("rel", "abs") and any(part.startswith(stem) for part in leaf):
            return kind, float(value)
    for name in ("rel", "abs", "exact_rel", "p_abs"):
        if name in known:
            return ("rel" if name.endswith("rel") else "abs"), float(known[name])
    # What is left are counts: "index": 3 allows three places, "rank": 0 none.
    counted = [limit for name, limit in known.items() if "_" not in name]
    return "abs", float(counted[0]) if len(counted) == 1 and len(known) <= 2 else 0.0


def array(values: Any) -> np.ndarray:
    """A float array; null is NaN."""
    return np.array([math.nan if value is None else value for value in values], dtype="float64")
