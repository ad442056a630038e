"""Agreement of two tools on the same paths, if they send the same kind of packet.

Pairs are (path, round). Bland & Altman on log ratios: the geometric mean ratio with Student's t interval, limits of
agreement, a prediction interval for a single pair, and two one-sided tests. Correlation and Lin's coefficient are not
offered: over paths from 17 to 718 µs they are 0.9999 for tools that disagree by a quarter.

Sources: Bland & Altman, Lancet 327:307, 1986; RFC 2681 (Type-P); Schuirmann 1987.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

from azlatency.stats.across_runs.run_values import check_columns, is_frame, parse_margin, resolution_of, run_ids_of
from azlatency.stats.across_runs.two_groups import summary, tost
from azlatency.stats.result import VERDICTS, Estimate, Result, Results, Row, Scope, Verdict, refuse_frames, verdict_of
from azlatency.studies.format import count_of, format_estimate, format_interval, join_words
from azlatency.studies.runs.groups import check_complete, grouped

if TYPE_CHECKING:
    import pandas as pd

    from azlatency.stats.arrays import FloatArray
    from azlatency.studies.store.study import Study

METHOD = "Bland-Altman on log ratios of (path, round) pairs; two one-sided t tests"
#: Message sizes that differ by less count as equal: 64 bytes take 0.05 µs at 10 Gbit/s.
SAME_SIZE_BYTES = 64


class Pair(NamedTuple):
    """Values of two tools on one path in one round (``None`` if rounds are unknown)."""

    path: str
    round: Hashable | None
    first: float
    second: float
    run_ids: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Agreement(Result):
    """Two tools compared on common paths and rounds, ``first`` over ``second``.

    Attributes
    ----------
    first, second : str
        Methods.
    pairs : int
        Number of pairs of (path, round).
    ratio : Estimate
        Geometric mean ratio with its interval.
    limits : tuple of float or None
        Limits of agreement: the ratio of 95 % of the pairs (1.96 sd).
    prediction : tuple of float or None
        Interval for the ratio of one more pair by Student's t; it also holds for few pairs.
    tost_p : float or None
        p-value of the two one-sided tests.
    verdict : {"different", "different_within_margin", "equivalent", "inconclusive"}
        Verdict on the mean ratio. With the code ``type_p_mismatch`` it is about definitions, not accuracy.
    margin : float
        Relative margin that is practically equivalent.
    differs_in : tuple of str
        Properties in which the packets differ.
    points : tuple of Pair
        The pairs.
    """

    first: str
    second: str
    pairs: int
    ratio: Estimate
    limits: tuple[float, float] | None
    prediction: tuple[float, float] | None
    tost_p: float | None
    verdict: Verdict
    margin: float
    scope: Scope = "across_runs"
    method: str = METHOD
    codes: tuple[str, ...] = ()
    labels: dict[str, Any] = field(default_factory=dict)
    differs_in: tuple[str, ...] = ()
    points: tuple[Pair, ...] = ()

    ROW: ClassVar[Row] = (
        "first", "second", "pairs", ("ratio", "ratio.estimate"), ("ratio_low", "ratio.low"),
        ("ratio_high", "ratio.high"), ("limit_low", "limits.0"), ("limit_high", "limits.1"),
        ("prediction_low", "prediction.0"), ("prediction_high", "prediction.1"), "tost_p", "verdict", "margin",
        "agree", "differs_in", "scope", ("statistic", "method"),
    )  # fmt: skip

    @property
    def agree(self) -> bool | None:
        """Whether they agree within the margin; ``None`` if inconclusive or if their packets differ."""
        if self.differs_in or self.verdict == "inconclusive":
            return None
        return self.verdict in ("equivalent", "different_within_margin")

    def __str__(self) -> str:
        name = f"{self.first} over {self.second}"
        ratio = self.ratio
        if ratio.estimate is None:
            return f"{name}: not estimable{self.flag_note}"
        different = f"not comparable, they differ in {join_words(self.differs_in)}"
        subject = different if self.differs_in else VERDICTS[self.verdict]
        value = format_estimate(ratio.estimate, ratio.low, ratio.high, confidence=ratio.confidence)
        single = "" if self.prediction is None else f", a single pair {format_interval(*self.prediction)}"
        return f"{name}: {subject}; ratio {value}{single}, {count_of(self.pairs, 'pair')}{self.flag_note}"


def bland_altman(
    first: Sequence[float] | FloatArray,
    second: Sequence[float] | FloatArray,
    *,
    names: tuple[str, str] = ("first", "second"),
    margin: float | str = "5%",
    confidence: float = 0.95,
    codes: tuple[str, ...] = (),
    differs_in: tuple[str, ...] = (),
    resolution: tuple[float, float] = (0.0, 0.0),
) -> Agreement:
    """Compare paired values of two tools: round-trip times in the same unit.

    Pairs with a missing value are left out. Values must be positive. ``resolution``: steps of the printed values of
    both tools; the interval of the ratio, the one of a single pair and the verdict allow for them.

    Raises `ValueError` if the lengths differ, or the margin is not relative.
    """
    import numpy as np
    from scipy.stats import norm
    from scipy.stats import t as student

    x, y = np.asarray(first, dtype=float), np.asarray(second, dtype=float)
    if x.shape != y.shape:
        raise ValueError(f"{x.size} values against {y.size}: pass pairs")
    relative = parse_margin(margin)[0]
    if not relative:
        raise ValueError(f"margin {margin!r}: a ratio needs a relative margin")
    present = np.isfinite(x) & np.isfinite(y)
    x, y = x[present], y[present]
    reasons = list(codes)
    if not {"unit_unknown", "unit_conflict", "logical_zone"} & set(reasons):
        if not x.size:
            reasons.append("no_values")
        elif min(x.min(), y.min()) <= 0:
            reasons.append("not_positive")
    what = f"{names[0]} over {names[1]}"
    fatal = set(reasons) - {"type_p_mismatch"}
    logs = np.log(x) - np.log(y) if not fatal else np.zeros(0)
    n, mean, sd = summary(logs)
    spread = n >= 2 and sd > 1e-12 * max(abs(mean), 1e-12)
    if not fatal and not spread:
        reasons.append("no_replication" if n < 2 else "constant")
    elif n == 2:
        reasons.append("two_runs")
    all_codes = tuple(dict.fromkeys(reasons))
    low = high = tost_p = limits = prediction = None
    verdict: Verdict = "inconclusive"
    if spread:
        error = sd / math.sqrt(n)
        step_x, step_y = resolution[0] / 2, resolution[1] / 2
        below = mean - float((np.log(np.maximum(x - step_x, x / 2)) - np.log(y + step_y)).mean())
        above = float((np.log(x + step_x) - np.log(np.maximum(y - step_y, y / 2))).mean()) - mean
        outer, inner = (float(student.ppf(level, n - 1)) for level in ((1 + confidence) / 2, confidence))
        low, high = math.exp(mean - below - outer * error), math.exp(mean + above + outer * error)
        tost_p = max(
            tost(middle, error, n - 1, -math.log1p(relative), math.log1p(relative)).p
            for middle in (mean - below, mean + above)
        )
        # Bland and Altman use 1.96 at 95 %; other programs print the same limits.
        z = 1.96 if confidence == 0.95 else float(norm.ppf((1 + confidence) / 2))
        limits = (math.exp(mean - z * sd), math.exp(mean + z * sd))
        wide = outer * sd * math.sqrt(1 + 1 / n)
        prediction = (math.exp(mean - below - wide), math.exp(mean + above + wide))
        inside = (math.exp(mean - below - inner * error), math.exp(mean + above + inner * error))
        verdict = verdict_of(low, high, *inside, relative)
    ratio = Estimate(
        what=what,
        estimate=math.exp(mean) if n else None,
        low=low,
        high=high,
        unit="ratio",
        n=n,
        scope="across_runs",
        confidence=confidence,
        method=METHOD,
        codes=all_codes,
    )
    return Agreement(
        first=names[0],
        second=names[1],
        pairs=n,
        ratio=ratio,
        limits=limits,
        prediction=prediction,
        tost_p=tost_p,
        verdict=verdict,
        margin=relative,
        codes=all_codes,
        differs_in=differs_in,
    )


def agreement(
    data: Study | pd.DataFrame,
    *,
    value: str = "mean_ns",
    margin: float | str = "5%",
    confidence: float = 0.95,
) -> Results[Agreement]:
    """Compare every two methods that measured common paths and rounds.

    Parameters
    ----------
    data : Study or DataFrame
        A study, or one row per run as returned by `azlatency.latency`.
    value : str
        Column to compare; by default the mean, which every tool prints.
    margin : float or str
        Relative difference that is practically equivalent: ``0.05`` or ``"5%"``.
    confidence : float
        Level of the intervals, between 0 and 1.

    Returns
    -------
    Results[Agreement]
        One result per two methods with common pairs. Runs without rounds are paired by path.

    Raises
    ------
    ValueError
        If the margin is not relative.

    Notes
    -----
    Bland & Altman, Lancet 327:307, 1986, on log ratios; two one-sided tests (Schuirmann 1987).
    """
    if is_frame(data):
        runs = data
    else:
        from azlatency.studies.runs.round_trips import latency

        runs = latency(data)
    check_columns(runs, value, "path", "method")
    runs = runs[runs[value].notna()]
    check_complete(runs, "path", "method")
    groups = {str(method): group for method, group in grouped(runs, "method")}
    results = []
    for first, second in combinations(groups, 2):
        x, y = (_keyed(groups[name], value) for name in (first, second))
        ids = [_keyed_ids(groups[name]) for name in (first, second)]
        common = [key for key in x if key in y]
        if not common:
            continue
        differs = _differences(groups[first], groups[second])
        codes = _units(groups[first], groups[second]) + (("type_p_mismatch",) if differs else ())
        result = bland_altman(
            [x[key] for key in common],
            [y[key] for key in common],
            names=(first, second),
            margin=margin,
            confidence=confidence,
            codes=codes,
            differs_in=differs,
            resolution=(resolution_of(groups[first], value), resolution_of(groups[second], value)),
        )
        pairs = tuple(
            Pair(str(key[0]), key[1], x[key], y[key], tuple(run_id for side in ids for run_id in side.get(key, ())))
            for key in common
        )
        run_ids = tuple(run_id for pair in pairs for run_id in pair.run_ids)
        ratio = replace(result.ratio, run_ids=run_ids)
        results.append(replace(result, points=pairs, ratio=ratio, run_ids=run_ids))
    return Results(results)


def against(results: Sequence[Agreement], reference: str) -> Results[Agreement]:
    """Select the comparisons with a reference method.

    Parameters
    ----------
    results : sequence of Agreement
        The result of `agreement`.
    reference : str
        Method to compare with.

    Returns
    -------
    Results[Agreement]
        All comparisons if no run used the reference. Tools that send the same kind of packet come first, then those
        with the most pairs.
    """
    refuse_frames(results=results)
    with_reference = [result for result in results if reference in (result.first, result.second)] or list(results)
    return Results(sorted(with_reference, key=lambda result: (bool(result.differs_in), -result.pairs)))


def _keyed(group: pd.DataFrame, value: str) -> Mapping[tuple[Hashable, Hashable], float]:
    """Return the mean value of each (path, round); runs without a round share the key ``None``."""
    cells: dict[tuple[Hashable, Hashable], list[float]] = {}
    for key, number in zip(_keys(group), group[value], strict=True):
        cells.setdefault(key, []).append(float(number))
    return {key: math.fsum(numbers) / len(numbers) for key, numbers in cells.items()}


def _keyed_ids(group: pd.DataFrame) -> Mapping[tuple[Hashable, Hashable], list[str]]:
    """Return the runs of each (path, round), if the frame names its runs."""
    cells: dict[tuple[Hashable, Hashable], list[str]] = {}
    for key, run_id in zip(_keys(group), run_ids_of(group), strict=False):
        cells.setdefault(key, []).append(run_id)
    return cells


def _keys(group: pd.DataFrame) -> list[tuple[Hashable, Hashable]]:
    """Return (path, round) of each run; ``None`` for an unknown round."""
    if "round" not in group.columns:
        return [(path, None) for path in group["path"]]
    present = group["round"].notna()
    return [
        (path, number if ok else None) for path, number, ok in zip(group["path"], group["round"], present, strict=True)
    ]


def _differences(first: pd.DataFrame, second: pd.DataFrame) -> tuple[str, ...]:
    """Return the properties in which the packets differ: protocol, size, pacing. Unknown properties do not count."""
    properties = []
    for column, name in (("protocol", "protocol"), ("closed_loop", "pacing")):
        if column in first.columns and column in second.columns:
            kinds = [set(side[column].dropna().unique()) for side in (first, second)]
            if kinds[0] and kinds[1] and kinds[0] != kinds[1]:
                properties.append(name)
    if "message_bytes" in first.columns and "message_bytes" in second.columns:
        sizes = [side["message_bytes"].dropna().astype(float) for side in (first, second)]
        if len(sizes[0]) and len(sizes[1]):
            span = max(size.max() for size in sizes) - min(size.min() for size in sizes)
            if span >= SAME_SIZE_BYTES:
                properties.append("message size")
    return tuple(properties)


def _units(first: pd.DataFrame, second: pd.DataFrame) -> tuple[str, ...]:
    if "printed_as" not in first.columns or "printed_as" not in second.columns:
        return ()
    kinds = {*first["printed_as"].dropna().unique(), *second["printed_as"].dropna().unique()}
    codes = ("unit_unknown",) if "unknown" in kinds else ()
    return (*codes, "unit_conflict") if "one_way" in kinds and len(kinds) > 1 else codes
