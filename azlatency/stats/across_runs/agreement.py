"""Agreement of two tools on the same paths, if they send the same kind of packet.

Pairs are (path, round). Bland & Altman on log ratios: the geometric mean ratio with Student's t interval, limits of
agreement, a prediction interval for a single pair, and two one-sided tests. Correlation and Lin's coefficient are not
offered: over paths from 17 to 718 µs they are 0.9999 for tools that disagree by a quarter.

Sources: Bland & Altman, Lancet 327:307, 1986; RFC 2681 (Type-P); Schuirmann 1987.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from scipy.stats import norm
from scipy.stats import t as student

from azlatency.stats.across_runs.run_values import check_columns, is_frame, parse_margin, resolution_of, run_ids_of
from azlatency.stats.across_runs.two_groups import rounding_bias, summary, tost
from azlatency.stats.arrays import FloatArray
from azlatency.stats.result import verdict_of
from azlatency.stats.rows import joined
from azlatency.studies.runs.groups import check_complete, grouped
from azlatency.studies.runs.round_trips import latency
from azlatency.studies.store.study import Study

METHOD = "Bland-Altman on log ratios of (path, round) pairs; two one-sided t tests"
#: Message sizes that differ by less count as equal: 64 bytes take 0.05 µs at 10 Gbit/s.
SAME_SIZE_BYTES = 64
#: Columns of the frames of `Agreement`.
_METHODS = [
    "first", "second", "n", "ratio", "ratio_low", "ratio_high", "limit_low", "limit_high", "prediction_low",
    "prediction_high", "p", "verdict", "margin", "differs_in", "confidence", "scope", "statistic", "flags", "run_ids",
]  # fmt: skip
_PAIRS = ["first", "second", "path", "round", "first_value", "second_value", "ratio", "run_ids"]
#: What no ratio is computed from: the values may not be round trips of the same kind.
_FATAL = {"unit_unknown", "unit_conflict", "logical_zone", "no_values", "not_positive"}


class Agreement(NamedTuple):
    """Two frames: every two methods, and the pairs of (path, round) behind them.

    Attributes
    ----------
    methods : DataFrame
        One row per two methods: ``first``, ``second``, ``n`` pairs, the geometric mean ``ratio`` of first over second
        with ``ratio_low`` and ``ratio_high``, the limits of agreement ``limit_low`` and ``limit_high`` (1.96 standard
        deviations), the prediction interval for a new pair ``prediction_low`` and ``prediction_high``, ``p`` of the two
        one-sided tests, ``verdict``, ``margin``, ``differs_in`` (what tells their packets apart; then the verdict is
        about definitions, not accuracy), ``confidence``, ``scope``, ``statistic``, ``flags`` and ``run_ids``.
    pairs : DataFrame
        One row per pair: ``first`` and ``second``, ``path``, ``round``, the values of both methods (``first_value``,
        ``second_value``, in the unit of the compared column), their ``ratio``, and ``run_ids``.
    """

    methods: pd.DataFrame
    pairs: pd.DataFrame


def agreement(
    data: Study | pd.DataFrame, *, value: str = "mean_ns", margin: float | str = "5%", confidence: float = 0.95
) -> Agreement:
    """Compare every two methods that measured common paths and rounds; runs without rounds are paired by path.

    ``data``: a study, or one row per run as returned by `azlatency.latency`; ``value``: the column to compare, by
    default the mean, which every tool prints; ``margin``: the relative difference that is practically equivalent
    (`ValueError` for an absolute one). Bland & Altman, Lancet 327:307, 1986, on log ratios; two one-sided tests
    (Schuirmann 1987).
    """
    runs = data if is_frame(data) else latency(data)
    check_columns(runs, value, "path", "method")
    runs = runs[runs[value].notna()]
    check_complete(runs, "path", "method")
    groups = {str(method): group for method, group in grouped(runs, "method")}
    cells = {method: _cells(group, value) for method, group in groups.items()}
    methods, pairs = [], []
    for first, second in combinations(groups, 2):
        common = cells[first].merge(cells[second], on=["path", "round"], suffixes=("_of_first", "_of_second"))
        if common.empty:
            continue
        x, y = common["value_of_first"].to_numpy(float), common["value_of_second"].to_numpy(float)
        steps = resolution_of(groups[first], value), resolution_of(groups[second], value)
        differs = _differences(groups[first], groups[second])
        flags = _units(groups[first], groups[second]) + (("type_p_mismatch",) if differs else ())
        run_ids = (common["run_ids_of_first"] + " " + common["run_ids_of_second"]).str.strip()
        methods.append(
            {
                "first": first,
                "second": second,
                **bland_altman(x, y, margin=margin, confidence=confidence, flags=flags, resolution=steps),
                "differs_in": ", ".join(differs),
                "run_ids": " ".join(run_ids).strip(),
            }
        )
        columns = {"first": first, "second": second, "path": common["path"], "round": common["round"]}
        values = {"first_value": x, "second_value": y, "ratio": x / y}
        pairs.append(pd.DataFrame({**columns, **values, "run_ids": run_ids}))
    nothing = pd.DataFrame(columns=_PAIRS)
    return Agreement(pd.DataFrame(methods, columns=_METHODS), pd.concat(pairs, ignore_index=True) if pairs else nothing)


def bland_altman(
    first: Sequence[float] | FloatArray,
    second: Sequence[float] | FloatArray,
    *,
    margin: float | str = "5%",
    confidence: float = 0.95,
    flags: Sequence[str] = (),
    resolution: tuple[float, float] = (0.0, 0.0),
) -> dict[str, Any]:
    """Compare paired values of two tools, round-trip times in the same unit, and return a row of `Agreement.methods`.

    Pairs with a missing value are left out. ``resolution``: steps of the printed values of both tools, which the
    interval of the ratio, the one of a single pair and the verdict allow for.
    """
    x, y = np.asarray(first, dtype=float), np.asarray(second, dtype=float)
    if x.shape != y.shape:
        raise ValueError(f"{x.size} values against {y.size}: pass pairs")
    relative = parse_margin(margin)[0]
    if not relative:
        raise ValueError(f"margin {margin!r}: a ratio needs a relative margin")
    present = np.isfinite(x) & np.isfinite(y)
    x, y = x[present], y[present]
    flags = list(flags)
    if not _FATAL & set(flags):
        if not x.size:
            flags.append("no_values")
        elif min(x.min(), y.min()) <= 0:
            flags.append("not_positive")
    comparable = not _FATAL & set(flags)
    logs = np.log(x) - np.log(y) if comparable else np.zeros(0)
    n, mean, sd = summary(logs)
    spread = n >= 2 and sd > 1e-12 * max(abs(mean), 1e-12)
    if comparable and not spread:
        flags.append("no_replication" if n < 2 else "constant")
    elif n == 2:
        flags.append("two_runs")
    row: dict[str, Any] = {
        "n": n,
        "ratio": math.exp(mean) if n else math.nan,
        **dict.fromkeys(("ratio_low", "ratio_high", "limit_low", "limit_high"), math.nan),
        **dict.fromkeys(("prediction_low", "prediction_high", "p"), math.nan),
        "verdict": "inconclusive",
        "margin": relative,
        "confidence": confidence,
        "scope": "across_runs",
        "statistic": METHOD,
        "flags": joined(flags),
    }
    if not spread:
        return row
    error = sd / math.sqrt(n)
    off_x, off_y = (rounding_bias(step, summary(side).sd) for step, side in zip(resolution, (x, y), strict=True))
    lowest = float((np.log(np.maximum(x - off_x, x / 2)) - np.log(y + off_y)).mean())
    highest = float((np.log(x + off_x) - np.log(np.maximum(y - off_y, y / 2))).mean())
    outer, inner = (float(student.ppf(level, n - 1)) for level in ((1 + confidence) / 2, confidence))
    limits = -math.log1p(relative), math.log1p(relative)
    # Bland and Altman use 1.96 at 95 %; other programs print the same limits.
    z = 1.96 if confidence == 0.95 else float(norm.ppf((1 + confidence) / 2))
    wide = outer * sd * math.sqrt(1 + 1 / n)
    ends = {
        "ratio": (lowest - outer * error, highest + outer * error),
        "limit": (mean - z * sd, mean + z * sd),
        "prediction": (lowest - wide, highest + wide),
    }
    for name, (low, high) in ends.items():
        row |= {f"{name}_low": math.exp(low), f"{name}_high": math.exp(high)}
    row["p"] = max(tost(middle, error, n - 1, *limits) for middle in (lowest, highest))
    inside = math.exp(lowest - inner * error), math.exp(highest + inner * error)
    row["verdict"] = verdict_of(row["ratio_low"], row["ratio_high"], *inside, relative)
    return row


def _cells(runs: pd.DataFrame, value: str) -> pd.DataFrame:
    """Return the mean value of each (path, round) with its runs; runs without a round share one."""
    run_ids = run_ids_of(runs) or ("",) * len(runs)
    rounds = runs["round"].to_numpy() if "round" in runs.columns else None
    columns = {"path": runs["path"].astype(str).to_numpy(), "round": rounds, "value": runs[value].to_numpy(float)}
    cells = pd.DataFrame({**columns, "run_ids": run_ids})
    keyed = cells.groupby(["path", "round"], sort=False, dropna=False)
    return keyed.agg(value=("value", "mean"), run_ids=("run_ids", " ".join)).reset_index()


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
    flags = ("unit_unknown",) if "unknown" in kinds else ()
    return (*flags, "unit_conflict") if "one_way" in kinds and len(kinds) > 1 else flags
