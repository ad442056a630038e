"""A candidate against a base: one comparison, or one for each path, zone or any other part of the runs."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from itertools import combinations

import pandas as pd

from azlatency.stats.across_runs.comparison import Setting, Sides, compare_family, compare_sides, sides_of
from azlatency.stats.across_runs.run_values import RunData, check_columns, is_frame
from azlatency.stats.rows import COMPARISON, Row
from azlatency.studies.runs.groups import grouped
from azlatency.studies.runs.key import bases, check_across, label
from azlatency.studies.runs.path import route


def compare(  # noqa: PLR0913 - the parameters of one comparison, which completion and errors name
    base: RunData,
    candidate: RunData | None = None,
    *,
    by: str | Sequence[str] | None = None,
    margin: float | str = "5%",
    confidence: float = 0.95,
    paired: bool | None = None,
    value: str | None = None,
    floor: float | None = None,
    unit: str | None = None,
    what: str = "",
    labels: Mapping[str, object] | None = None,
    resolution: float | None = None,
    across: str | Sequence[str] = (),
) -> pd.DataFrame:
    """Compare a candidate with a base: the ratio candidate ÷ base with its interval, and a verdict.

    Parameters
    ----------
    base, candidate : array_like, Series or DataFrame
        One number per run, in one unit, or one row per run, as returned by `azlatency.latency` or
        `azlatency.throughput`. Without a candidate, the values of ``across`` in the base are compared with each other.
    by : str or sequence of str, optional
        Columns of both frames, such as ``"path"``: one comparison for each value that both sides have, and each method.
    margin : float or str, default "5%"
        Change that is practically equivalent: ``0.05``, ``"5%"`` or ``"2 us"``.
    confidence : float, default 0.95
        Level of the intervals, between 0.5 and 1.
    paired : bool, optional
        Compare round by round: rounds are the column ``round`` of a frame, or the positions in an array. Rounds that
        only one side has are left out. By default, frames are compared by round if the start times of their runs show
        that both sides were measured in each of at least six rounds.
    value : str, optional
        Column of a frame to compare, such as ``"p99_ns"``; by default its median, else its mean, else its throughput.
    floor : float, optional
        Smallest difference that matters, in the unit of the values; by default 1000 for values in ns (1 µs), else 0.
    unit : str, optional
        Canonical unit of the values; by default that of the column.
    what : str, optional
        Name of the result; by default "candidate against base", or the values of ``by``.
    labels : mapping, optional
        Columns that identify the result in a frame.
    resolution : float, optional
        Step of the printed values; by default that of the frames. It widens the intervals.
    across : str or sequence of str
        Fields of the key (`azlatency.key`) that may differ between the two sides, because they are the question:
        ``"settings"``, ``"congestion"``, ``"message_bytes"``. Within a side, they must be equal. Without a candidate,
        one column of the base, such as ``"scenario"``: every two of its values are compared, for each pair of ends
        and method.

    Returns
    -------
    DataFrame
        One row; with ``by``, one per value and method, in the order of the base; without a candidate, one per pair of
        values, at a level that holds for all of them together (Bonferroni). ``ratio`` with ``ratio_low`` and
        ``ratio_high``; ``verdict``: different, different_within_margin, equivalent or inconclusive; ``margin``;
        ``decides_low`` and ``decides_high``: the interval that the verdict follows from; ``difference`` with its ends,
        in ``unit``; ``p``; ``n_base`` and ``n_candidate`` runs; ``superiority``: the share of pairs of runs in which
        the candidate is larger, ties counted half; ``flags``, ``run_ids``. The ratio is missing if the data cannot be
        compared; the flags give the reason (``no_replication``, ``unit_conflict``, ``type_p_mismatch`` …).

    Raises
    ------
    ValueError
        If the margin or the confidence is not valid.
    KeyError
        If a frame has no such column.

    Notes
    -----
    From four runs on each side the shorter of two intervals on logarithms: the interpolated one of the Wilcoxon test,
    with the Hodges-Lehmann estimate, or Welch's t. For six rounds or more the signed-rank interval; below, a pooled or
    Student's t on logarithms, with ``by`` and four groups or more with a variance that all groups share. Intervals of
    runs are 1.1 times as long as those of independent runs, from four runs on 1.13 times for the choice of the shorter
    one and 1.07 times to show that nothing changed, and runs that resemble the ones before them are flagged
    (``dependent_runs``).
    Superiority: Vargha and Delaney, Journal of Educational and Behavioral Statistics 25:101 (2000).

    Examples
    --------
    >>> base = [450e3, 440e3, 460e3, 455e3]
    >>> candidate = [570e3, 561e3, 580e3, 566e3]
    >>> import azlatency as az
    >>> found = az.compare(base, candidate, unit="ns")
    >>> print(found[["verdict", "ratio", "superiority"]].round(2).to_string(index=False))
      verdict  ratio  superiority
    different   1.26          1.0
    >>> print(az.say(found))
    candidate against base: 1.26× slower, 95 % CI 1.22–1.31, 4 against 4 runs
    """
    fields = [across] if isinstance(across, str) else list(across)
    setting = Setting(margin, confidence, floor, what or "candidate against base", labels or {})
    sides = partial(sides_of, paired=paired, value=value, unit=unit, resolution=resolution, across=fields)
    if candidate is None:
        return _every_pair(base, fields, sides, setting)
    if fields and is_frame(base) and is_frame(candidate):
        base, candidate = _without_fields(base, candidate, fields)
    if by is None:
        return _frame([compare_sides(sides(candidate, base), setting)])
    keys = [*([by] if isinstance(by, str) else by)]
    keys += ["method"] * ("method" not in keys)
    check_columns(base, *keys)
    check_columns(candidate, *keys)
    after = dict(list(grouped(candidate, keys)))
    pairs, methods = [], []
    for key, group in grouped(base, keys):
        if key in after:
            named = {name: str(part) for name, part in zip(keys, key, strict=True)}
            of_pair = setting._replace(what=what or ", ".join(named.values()), labels={**named, **setting.labels})
            pairs.append((sides(after[key], group), of_pair))
            methods.append(named["method"])
    return _frame(compare_family(pairs, methods), keys)


def _frame(rows: Sequence[Row], labels: Sequence[str] = ()) -> pd.DataFrame:
    """Return comparisons with the number of runs on each side; ``labels``: the columns that name them."""
    found = pd.DataFrame(rows, columns=None if rows else [*labels, *COMPARISON, "n_base", "n_candidate"])
    return found.drop(columns=["rounds", "p_beyond"], errors="ignore")


def _without_fields(base: pd.DataFrame, candidate: pd.DataFrame, fields: Sequence[str]) -> tuple[pd.DataFrame, ...]:
    """Return both sides with methods that do not name the fields that may differ."""
    both = pd.concat([base, candidate])
    check_across([name for name in fields if name != "scenario"], both)
    methods, unknown = label(both.assign(method=bases(both)), fields)
    named = both.assign(method=methods, unknown=unknown)
    return named.iloc[: len(base)], named.iloc[len(base) :]


def _every_pair(
    runs: pd.DataFrame, fields: Sequence[str], sides: Callable[[RunData, RunData], Sides], setting: Setting
) -> pd.DataFrame:
    """Compare every two values of a column, for each pair of ends and method."""
    if len(fields) != 1:
        raise ValueError('compare() without a candidate needs one column to compare across, such as across="scenario"')
    column = fields[0]
    check_columns(runs, column, "path", "method")
    ends = ["client_end", "server_end"] if column == "scenario" else ["path"]
    runs, _ = _without_fields(runs, runs.iloc[:0], fields)
    pairs = []
    for key, group in runs.groupby([*ends, "method"], sort=False, dropna=False):
        levels = dict(list(grouped(group[group[column].notna()].drop(columns="path"), column)))
        path, method = route(*("?" if pd.isna(name) else str(name) for name in key[:-1])), str(key[-1])
        for base, candidate in combinations(levels, 2):
            labels = {"path": path, "method": method, "base": str(base), "candidate": str(candidate), **setting.labels}
            what = f"{candidate} against {base}: {path}, {method}"
            pairs.append((sides(levels[candidate], levels[base]), setting._replace(what=what, labels=labels)))
    level = 1 - (1 - setting.confidence) / max(len(pairs), 1)
    compared = [compare_sides(pair, of_pair._replace(confidence=level)) for pair, of_pair in pairs]
    return _frame(compared, ("path", "method", "base", "candidate"))
