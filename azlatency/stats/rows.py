"""Results as rows of frames: the columns that every statistic shares, with NaN and "" where there is nothing."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Any, Literal

from azlatency.stats.result import Verdict

Row = dict[str, Any]
#: Columns of an estimate that do not identify it.
ESTIMATE = ("what", "estimate", "low", "high", "unit", "n")
#: Columns of quantiles within runs.
QUANTILES = ["run_id", "q", *ESTIMATE, "n_effective", "scope", "confidence", "statistic", "flags", "run_ids"]
#: Columns of a comparison, after those that identify it.
COMPARISON = [
    "what", "verdict", "margin", "ratio", "ratio_low", "ratio_high", "inner_low", "inner_high", "decides_low",
    "decides_high", "difference", "difference_low", "difference_high", "unit", "superiority", "p", "n", "scope",
    "confidence", "statistic", "flags", "assumed", "notes", "run_ids",
]  # fmt: skip


def blank_estimate(
    what: str,
    unit: str,
    n: int,
    confidence: float,
    statistic: str,
    *,
    scope: Literal["within_run", "across_runs"] = "within_run",
    labels: Mapping[str, object] | None = None,
    numbers: Iterable[str] = (),
) -> Row:
    """Return the row of a statistic without an estimate: labels, `ESTIMATE`, further ``numbers``, and its origin.

    Estimates within a run have ``n_effective`` independent values.
    """
    further = dict.fromkeys((*numbers, *(["n_effective"] if scope == "within_run" else [])), math.nan)
    interval = dict.fromkeys(("estimate", "low", "high"), math.nan)
    origin = {"scope": scope, "confidence": confidence, "statistic": statistic, "flags": "", "run_ids": ""}
    return {**(labels or {}), "what": what, **interval, "unit": unit, "n": n, **further, **origin}


def number(value: float | None) -> float:
    """Return a number, NaN for none."""
    return math.nan if value is None else float(value)


def joined(*groups: Iterable[str]) -> str:
    """Return groups of flags as the text of a cell, each flag once."""
    return " ".join(dict.fromkeys(flag for group in groups for flag in group))


def with_flags(row: Row, first: Iterable[str]) -> Row:
    """Return a row with further flags in front of its own."""
    return row | {"flags": joined(first, row["flags"].split())}


def decided(row: Row, verdict: Verdict) -> Row:
    """Return a comparison with its verdict, and the interval that decides on it: the inner one on equivalence."""
    ends = "inner" if verdict == "equivalent" and not math.isnan(row["inner_low"]) else "ratio"
    return row | {"verdict": verdict, "decides_low": row[f"{ends}_low"], "decides_high": row[f"{ends}_high"]}
