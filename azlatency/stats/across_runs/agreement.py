"""Do two tools agree on one path? Only where they send the same kind of packet; else they differ by definition.

Pairs are (path, round). Bland & Altman on log ratios: the geometric ratio with its t interval, limits of agreement (the
approximate ones and those of a single future pair, by the t law), and two one-sided tests. Correlation and Lin's
coefficient are not offered: over paths from 17 to 718 us they are .9999 for tools that disagree by a quarter.

Sources: Bland & Altman, Lancet 327:307, 1986; RFC 2681 (Type-P); Schuirmann 1987.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

from azlatency.logs.format import count_of, format_estimate, format_interval, join_words
from azlatency.stats.across_runs.run_values import is_frame, parse_margin, run_ids_of
from azlatency.stats.across_runs.two_groups import summary, tost
from azlatency.stats.result import VERDICTS, Estimate, Result, Results, Row, Scope, Verdict, verdict_of

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd
    from numpy.typing import NDArray

    from azlatency.studies.store import Study

    FloatArray = NDArray[np.float64]

METHOD = "Bland-Altman on log ratios of (path, round) pairs; two one-sided t tests"
#: Messages whose sizes differ by less fit the same few cells of a link: 64 bytes take 0.05 us at 10 Gbit/s.
SAME_SIZE_BYTES = 64


class Pair(NamedTuple):
    """What two tools measured on one path in one round (None where rounds are not known)."""

    path: str
    round: Hashable | None
    first: float
    second: float
    run_ids: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Agreement(Result):
    """Two tools, ``first`` over ``second``, in ``pairs`` pairs of (path, round).

    ``ratio``: geometric mean ratio and its interval. ``limits``: the ratio of 95 % of pairs, as most programs print it
    (1.96 sd); ``prediction``: the ratio of one more pair by Student's t, which holds for few pairs. ``verdict``: is the
    mean ratio different from 1, equivalent, ...; with code ``type_p_mismatch`` it is about definitions, not accuracy.
    ``points``: the pairs themselves.
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
        "agree", "differs_in", "scope", "method",
    )  # fmt: skip

    @property
    def agree(self) -> bool | None:
        """Whether they agree within the margin; None where that is not the question or not decided."""
        if self.differs_in or self.verdict == "undetermined":
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
    labels: dict[str, Any] | None = None,
) -> Agreement:
    """`Agreement` of paired values of two tools, both round trips in the same unit. Raises `ValueError` for unequal
    lengths. Pairs with a missing value are left out; values that are not positive are refused.
    """
    import numpy as np
    from scipy.stats import norm
    from scipy.stats import t as student

    x, y = np.asarray(first, dtype=float), np.asarray(second, dtype=float)
    if x.shape != y.shape:
        raise ValueError(f"{x.size} values against {y.size}: pairs are needed")
    relative = parse_margin(margin)[0]
    if not relative:
        raise ValueError(f"margin {margin!r}: a ratio needs a relative margin")
    good = np.isfinite(x) & np.isfinite(y)
    x, y = x[good], y[good]
    found = list(codes)
    if not {"unit_unknown", "unit_conflict", "logical_zone"} & set(found):
        if not x.size:
            found.append("no_values")
        elif min(x.min(), y.min()) <= 0:
            found.append("not_positive")
    what = f"{names[0]} over {names[1]}"
    fatal = set(found) - {"type_p_mismatch"}
    logs = np.log(x) - np.log(y) if not fatal else np.zeros(0)
    n, mean, sd = summary(logs)
    spread = n >= 2 and sd > 1e-12 * max(abs(mean), 1e-12)
    if not fatal and not spread:
        found.append("no_replication" if n < 2 else "constant")
    elif n == 2:
        found.append("two_runs")
    all_codes = tuple(dict.fromkeys(found))
    low = high = tost_p = limits = prediction = None
    verdict: Verdict = "undetermined"
    if spread:
        error = sd / math.sqrt(n)
        outer, inner = (float(student.ppf(each, n - 1)) for each in ((1 + confidence) / 2, confidence))
        low, high = math.exp(mean - outer * error), math.exp(mean + outer * error)
        tost_p = tost(mean, error, n - 1, -math.log1p(relative), math.log1p(relative)).p
        # Bland and Altman's own 1.96 at 95 %, so that the limits equal everyone's.
        z = 1.96 if confidence == 0.95 else float(norm.ppf((1 + confidence) / 2))
        limits = (math.exp(mean - z * sd), math.exp(mean + z * sd))
        wide = outer * sd * math.sqrt(1 + 1 / n)
        prediction = (math.exp(mean - wide), math.exp(mean + wide))
        verdict = verdict_of(low, high, math.exp(mean - inner * error), math.exp(mean + inner * error), relative)
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
        labels=dict(labels or {}),
    )
    return Agreement(
        first=names[0], second=names[1], pairs=n, ratio=ratio, limits=limits, prediction=prediction, tost_p=tost_p,
        verdict=verdict, margin=relative, codes=all_codes, labels=dict(labels or {}), differs_in=differs_in,
    )  # fmt: skip


def agreement(
    data: Study | pd.DataFrame,
    *,
    value: str = "mean_ns",
    margin: float | str = "5%",
    confidence: float = 0.95,
    same_size: int = SAME_SIZE_BYTES,
) -> Results[Agreement]:
    """Every two methods that measured common (path, round) pairs.

    ``data``: a `Study` or a frame of `azlatency.latency`. ``value``: by default the mean, which every tool prints.
    Message sizes that differ by less than ``same_size`` bytes count as equal. Paths without rounds are paired by path.
    """
    if is_frame(data):
        runs: Any = data
    else:
        from azlatency.studies.runs import latency

        runs = latency(data)
    runs = runs[runs[value].notna()]
    groups = {str(method): group for method, group in runs.groupby("method", sort=False)}
    results = []
    for one, other in combinations(groups, 2):
        x, y = (_keyed(groups[name], value) for name in (one, other))
        ids = [_keyed_ids(groups[name]) for name in (one, other)]
        common = [key for key in x if key in y]
        if not common:
            continue
        differs = _differences(groups[one], groups[other], same_size)
        codes = _units(groups[one], groups[other]) + (("type_p_mismatch",) if differs else ())
        found = bland_altman(
            [x[key] for key in common], [y[key] for key in common], names=(one, other), margin=margin,
            confidence=confidence, codes=codes, differs_in=differs,
        )  # fmt: skip
        pairs = tuple(
            Pair(str(key[0]), key[1], x[key], y[key], tuple(run_id for side in ids for run_id in side.get(key, ())))
            for key in common
        )
        run_ids = tuple(run_id for pair in pairs for run_id in pair.run_ids)
        ratio = replace(found.ratio, run_ids=run_ids)
        results.append(replace(found, points=pairs, ratio=ratio, run_ids=run_ids))
    return Results(results)


def against(results: Sequence[Agreement], reference: str) -> Results[Agreement]:
    """The comparisons with the method ``reference``, or all of them where no run was made with it.

    Tools that send the same kind of packet stand first, then those with the most pairs.
    """
    own = [each for each in results if reference in (each.first, each.second)] or list(results)
    return Results(sorted(own, key=lambda each: (bool(each.differs_in), -each.pairs)))


def _keyed(group: pd.DataFrame, value: str) -> Mapping[tuple[Hashable, Hashable], float]:
    """Mean value of each (path, round); runs without a round share the key None."""
    cells: dict[tuple[Hashable, Hashable], list[float]] = {}
    for key, number in zip(_keys(group), group[value], strict=True):
        cells.setdefault(key, []).append(float(number))
    return {key: math.fsum(many) / len(many) for key, many in cells.items()}


def _keyed_ids(group: pd.DataFrame) -> Mapping[tuple[Hashable, Hashable], list[str]]:
    """The runs of each (path, round), as far as the frame names its runs."""
    cells: dict[tuple[Hashable, Hashable], list[str]] = {}
    for key, run_id in zip(_keys(group), run_ids_of(group), strict=False):
        cells.setdefault(key, []).append(run_id)
    return cells


def _keys(group: pd.DataFrame) -> list[tuple[Hashable, Hashable]]:
    """(path, round) of each run; None for a round that is not known."""
    if "round" not in group.columns:
        return [(path, None) for path in group["path"]]
    known = group["round"].notna()
    return [
        (path, number if ok else None) for path, number, ok in zip(group["path"], group["round"], known, strict=True)
    ]


def _differences(one: pd.DataFrame, other: pd.DataFrame, same_size: int) -> tuple[str, ...]:
    """In what the packets differ: protocol, size, pacing (a closed loop against a schedule). Unknown says nothing."""
    found = []
    for column, name in (("protocol", "protocol"), ("closed_loop", "pacing")):
        if column in one.columns and column in other.columns:
            kinds = [set(side[column].dropna().unique()) for side in (one, other)]
            if kinds[0] and kinds[1] and kinds[0] != kinds[1]:
                found.append(name)
    if "message_bytes" in one.columns and "message_bytes" in other.columns:
        sizes = [side["message_bytes"].dropna().astype(float) for side in (one, other)]
        if len(sizes[0]) and len(sizes[1]):
            span = max(each.max() for each in sizes) - min(each.min() for each in sizes)
            if span >= same_size:
                found.append("message size")
    return tuple(found)


def _units(one: pd.DataFrame, other: pd.DataFrame) -> tuple[str, ...]:
    if "printed_as" not in one.columns or "printed_as" not in other.columns:
        return ()
    kinds = {*one["printed_as"].dropna().unique(), *other["printed_as"].dropna().unique()}
    codes = ("unit_unknown",) if "unknown" in kinds else ()
    return (*codes, "unit_conflict") if "one_way" in kinds and len(kinds) > 1 else codes
