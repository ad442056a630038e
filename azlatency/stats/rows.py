"""Results as rows of frames: the columns that every statistic shares, with NaN and "" where there is nothing."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import pandas as pd

if TYPE_CHECKING:
    from collections.abc import Iterable

    from azlatency.stats.result import Comparison, Estimate

Row = dict[str, Any]
#: Columns of an estimate that do not identify it.
ESTIMATE = ("what", "estimate", "low", "high", "unit", "n")

#: Columns of `of_comparison`, after the labels.
COMPARISON = [
    "what", "verdict", "margin", "ratio", "ratio_low", "ratio_high", "inner_low", "inner_high", "decides_low",
    "decides_high", "difference", "difference_low", "difference_high", "unit", "superiority", "p", "n", "scope",
    "confidence", "statistic", "flags", "assumed", "notes", "run_ids",
]  # fmt: skip


def number(value: float | None) -> float:
    """Return a number, NaN for none."""
    return math.nan if value is None else float(value)


def of_estimate(estimate: Estimate, *diagnostics: str) -> Row:
    """Return an estimate with its interval, and some of its diagnostics."""
    return {
        **_named(estimate.labels),
        "what": estimate.what,
        "estimate": number(estimate.estimate),
        "low": number(estimate.low),
        "high": number(estimate.high),
        "unit": estimate.unit,
        "n": estimate.n,
        **{name: estimate.diagnostics.get(name, math.nan) for name in diagnostics},
        **_shared(estimate, estimate.confidence),
    }


def frame_of(estimates: Iterable[Estimate], *diagnostics: str) -> pd.DataFrame:
    """Return estimates of single runs as a frame: labels, estimate, diagnostics, and the independent values behind."""
    found = [{**of_estimate(each, *diagnostics), "n_effective": number(each.n_effective)} for each in estimates]
    return pd.DataFrame(found, columns=None if found else ["run_id", "q", *ESTIMATE, "n_effective", "flags", "run_ids"])


def of_comparison(comparison: Comparison) -> Row:
    """Return a comparison: ratio, difference and verdict; ``decides_low`` and ``decides_high`` decide on it."""
    ratio, difference = comparison.ratio, comparison.difference
    low, high = comparison.decides
    return {
        **_named(comparison.labels),
        "what": comparison.what,
        "verdict": comparison.verdict,
        "margin": comparison.margin,
        "ratio": number(ratio.estimate),
        "ratio_low": number(ratio.low),
        "ratio_high": number(ratio.high),
        "inner_low": number(comparison.inner[0]),
        "inner_high": number(comparison.inner[1]),
        "decides_low": number(low),
        "decides_high": number(high),
        "difference": number(difference.estimate if difference else None),
        "difference_low": number(difference.low if difference else None),
        "difference_high": number(difference.high if difference else None),
        "unit": difference.unit if difference else "",
        "superiority": number(comparison.superiority),
        "p": number(comparison.p),
        "n": ratio.n,
        **_shared(comparison, ratio.confidence),
    }


def _shared(result: Estimate | Comparison, confidence: float) -> Row:
    return {
        "scope": result.scope,
        "confidence": confidence,
        "statistic": result.method,
        "flags": " ".join(result.codes),
        "assumed": str(result.labels.get("assumed") or ""),
        "notes": str(result.labels.get("notes") or ""),
        "run_ids": " ".join(result.run_ids),
    }


def _named(labels: dict[str, Any]) -> Row:
    return {name: label for name, label in labels.items() if name not in ("assumed", "notes")}
