"""Conformance of runs to expectations: meets, fails or inconclusive, at the level of runs.

"At least S" is met if the one-sided lower bound of the typical run reaches S, and failed if the upper bound is below S;
"at most" is the mirror image. "About" and "between" are met if both bounds lie inside. Everything else is inconclusive,
with the number of runs that would decide. The bounds are the ends of the interval of `typical_run`.

A throughput test shorter than a minute shows the burst that a token bucket allows, not the allocation (Uta et al.,
NSDI 2020), and is flagged. A value that is off by a factor of 100 or more looks like a wrong unit and gets no verdict.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Any, Literal

import numpy as np
import pandas as pd

from azlatency.stats.across_runs.directions import by_data_direction
from azlatency.stats.across_runs.planning import runs_to_reach
from azlatency.stats.across_runs.run_values import (
    RunData,
    RunValues,
    is_frame,
    refusals,
    resolution_column,
    run_values,
    unit_of,
)
from azlatency.stats.across_runs.typical_run import RANK_METHOD, typical_run
from azlatency.stats.rows import Row, joined, number, with_flags
from azlatency.studies.runs.run_table import STEP, client_runs
from azlatency.studies.store.study import Expectation, Study

Status = Literal["meets", "fails", "inconclusive"]
RELATIONS = ("at_least", "at_most", "about", "between")
#: Default ``tolerance`` of "about", relative to the value.
ABOUT = 0.1
#: A value that is off by this factor looks like a wrong unit, for example ms for µs.
SLIP = 100.0
#: Shorter tests of throughput or disk show the burst.
BURST_NS = 60e9


#: Columns of the frame, after those that identify a row (path, method).
_COLUMNS = [
    "what", "metric", "printed", "status", "relation", "limit_low", "limit_high", "estimate", "low", "high", "ratio",
    "decides", "unit", "n", "scope", "confidence", "statistic", "flags", "assumed", "notes", "run_ids",
]  # fmt: skip


def limits_of(expectation: Expectation) -> tuple[float | None, float | None]:
    """Return (low, high) of an expectation; ``None`` is an open end."""
    relation = expectation.get("relation")
    low, high = expectation.get("low"), expectation.get("high")
    name = expectation.get("name", "expectation")
    if relation not in RELATIONS:
        raise ValueError(f"{name}: relation {relation!r}; one of {', '.join(RELATIONS)}")
    if relation == "at_least":
        limits: tuple[Any, Any] = (low if low is not None else high, None)
    elif relation == "at_most":
        limits = (None, high if high is not None else low)
    elif relation == "about":
        tolerance = float(expectation.get("tolerance", ABOUT))
        ends = [end for end in (low, high) if end is not None]
        limits = (min(ends) * (1 - tolerance), max(ends) * (1 + tolerance)) if ends else (None, None)
    else:
        limits = (low, high)
    required = {"at_least": (0,), "at_most": (1,)}.get(str(relation), (0, 1))
    if any(limits[end] is None for end in required) or (len(required) == 2 and limits[0] > limits[1]):
        raise ValueError(f"{name}: {relation} needs its limits, got low = {low}, high = {high}")
    return tuple(None if limit is None else float(limit) for limit in limits)  # type: ignore[return-value]


def check_expectation(
    values: RunData,
    expectation: Expectation,
    *,
    value: str | None = None,
    confidence: float = 0.95,
    labels: Mapping[str, object] | None = None,
) -> pd.DataFrame:
    """Check run values, in the unit of the expectation, against one expectation: a row of `azlatency.baseline`.

    ``values``: one number per run, or one row per run (the column ``value``), with its resolution and its
    ``duration_ns`` if known: a throughput or disk test shorter than 60 s is flagged ``burst_test``. ``expectation``:
    ``name``, ``relation`` (at_least, at_most, about, between), ``low`` and ``high`` in the canonical ``unit``;
    `ValueError` if they are not valid. ``confidence``: the level of each one-sided bound; these are the ends of the
    interval of `azlatency.summarize` at twice the error. ``labels``: columns that identify the row.

    >>> import azlatency as az
    >>> expectation = {"name": "throughput", "relation": "at_least", "low": 9e9, "unit": "bit/s"}
    >>> print(az.say(check_expectation([9.4e9, 9.5e9, 9.3e9, 9.4e9, 9.6e9, 9.3e9], expectation)))
    throughput: meets; typical run 9.40 Gbit/s, one-sided 95 % bounds 9.3–9.5 Gbit/s, 104 % of the limit, 6 runs
    """
    row = _check(values, expectation, value, confidence)
    return pd.DataFrame([{**(labels or {}), **row}], columns=[*(labels or {}), *_COLUMNS])


def _check(values: RunData, expectation: Expectation, value: str | None, confidence: float) -> Row:
    low, high = limits_of(expectation)
    run_set = run_values(values, value, None)
    unit = str(expectation.get("unit") or run_set.unit)
    flags = list(refusals([values], value))
    if run_set.unit and expectation.get("unit") and run_set.unit != unit:
        flags.append("unit_conflict")
    if not flags and not len(run_set.values):
        flags.append("no_values")
    row: Row = {
        "what": str(expectation.get("name", "expectation")),
        "metric": str(expectation.get("metric") or ""),
        "printed": str(expectation.get("printed") or ""),
        "relation": str(expectation["relation"]),
        "limit_low": number(low),
        "limit_high": number(high),
        "status": "inconclusive",
        **dict.fromkeys(("estimate", "low", "high", "ratio", "decides"), math.nan),
        "unit": unit,
        "n": len(run_set.values),
        "scope": "across_runs",
        "confidence": confidence,
        "statistic": RANK_METHOD,
        "run_ids": " ".join(run_set.run_ids),
        "flags": joined(flags),
        "assumed": "",
        "notes": "",
    }
    if flags:
        return row
    found = _judge(run_set, (low, high), unit, confidence)
    if unit == "ns" and expectation.get("printed_as") == "unknown":
        # The log may print RTT or RTT/2: the verdict must be the same for both readings.
        twice = None if low is None else 2 * low, None if high is None else 2 * high
        doubled = _judge(run_set, twice, unit, confidence)
        if found["status"] != doubled["status"]:
            found["status"] = "inconclusive"
        flags.append("limit_unit_unknown")
    has_rate = unit in ("bit/s", "bytes/s", "1/s")
    if has_rate and is_frame(values) and "duration_ns" in values.columns and (values["duration_ns"] < BURST_NS).any():
        found = with_flags(found, ["burst_test"])
    return row | found | {"flags": joined(found["flags"].split(), flags)}


def _judge(run_set: RunValues, limits: tuple[float | None, float | None], unit: str, confidence: float) -> Row:
    """Return what run values that may be pooled say about the limits."""
    low, high = limits
    typical = typical_run(run_set, unit=unit, confidence=2 * confidence - 1)
    # One run, or counts of which some are 0, have no interval, but a middle.
    middle = float(np.median(run_set.values)) if math.isnan(typical["estimate"]) else typical["estimate"]
    ratio = _ratio(middle, low, high)
    slipped = ratio is not None and ratio != 0 and not 1 / SLIP < ratio < SLIP
    status: Status = "inconclusive"
    decides = None
    if not slipped:
        status = _status(typical["low"], typical["high"], low, high)
        reachable = [limit for limit in limits if limit is not None and limit > 0]
        decides = None if status != "inconclusive" else _decides(run_set, middle, reachable, confidence)
    kept = ("low", "high", "assumed", "notes", "statistic")
    return {name: typical[name] for name in kept} | {
        "status": status,
        "estimate": middle,
        "ratio": number(ratio),
        "decides": number(decides),
        "flags": joined(["unit_slip"] if slipped else [], typical["flags"].split()),
    }


def _status(lower: float, upper: float, low: float | None, high: float | None) -> Status:
    """Return what the bounds of the typical run say about the limits."""
    if math.isnan(lower) or math.isnan(upper):
        return "inconclusive"
    if (low is not None and upper < low) or (high is not None and lower > high):
        return "fails"
    return "meets" if (low is None or lower >= low) and (high is None or upper <= high) else "inconclusive"


def _ratio(mean: float, low: float | None, high: float | None) -> float | None:
    """Return the mean over the limit, or over the nearer of two limits (1 between them)."""
    if low is not None and high is not None:
        limit = low if mean < low else high if mean > high else mean
    else:
        limit = low if low is not None else high  # type: ignore[assignment]
    return mean / limit if limit else None


def _decides(run_set: RunValues, middle: float, limits: list[float], confidence: float) -> int | None:
    """Return the runs whose bounds lie on one side of the nearest limit; ``None`` if unknown or at a limit."""
    if len(run_set.values) < 2 or min(run_set.values) <= 0 or not limits:
        return None
    distance = min(abs(math.log(middle / limit)) for limit in limits)
    needed = runs_to_reach(run_set, math.expm1(distance), 2 * confidence - 1)
    # By chance, or because neighbouring runs resemble each other, enough runs may not have decided.
    return None if needed is None else max(needed, len(run_set.values) + 1)


def baseline(
    data: Study | pd.DataFrame, expectations: Iterable[Expectation] | None = None, *, confidence: float = 0.95
) -> pd.DataFrame:
    """Check every expectation against the runs that measured it.

    Parameters
    ----------
    data : Study or DataFrame
        A study, or metrics with the columns ``metric`` and ``value`` (canonical unit) and, if known, ``tool``,
        ``path``, ``method``, ``vm_size`` and ``duration_ns``.
    expectations : iterable of mapping, optional
        See `check_expectation`; by default those of the study.
    confidence : float
        Level of each one-sided bound, between 0.5 and 1.

    Returns
    -------
    DataFrame
        One row per path, method and expectation. ``what``: name of the expectation. ``status``: meets, fails or
        inconclusive. ``limit_low`` and ``limit_high``: what it allows, a missing one is open. ``estimate``: the typical
        run, ``low`` and ``high`` its one-sided bounds. ``ratio``: typical run over the nearer limit. ``decides``: the
        number of runs that would decide if typical run and spread stay the same. ``n`` runs, ``unit``, ``flags``,
        ``run_ids``. An expectation that no run measured has no estimate and the flag ``no_values``. Traffic within one
        host is left out. Throughput and retransmits belong to the direction of the *data*: a reverse test from a to b
        is listed as "b → a".

    Raises
    ------
    ValueError
        If an expectation is not valid.

    Notes
    -----
    See `check_expectation`.

    Examples
    --------
    >>> import azlatency as az
    >>> import pandas as pd
    >>> metrics = pd.DataFrame({"metric": "throughput", "value": [9.4e9, 9.5e9, 9.3e9] * 2, "path": "a → b"})
    >>> expectation = {"name": "bandwidth", "metric": "throughput", "relation": "at_least", "low": 9e9, "unit": "bit/s"}
    >>> print(az.say(baseline(metrics, [expectation])))
    bandwidth, a → b: meets; typical run 9.40 Gbit/s, one-sided 95 % bounds 9.3–9.5 Gbit/s, 104 % of the limit, 6 runs
    """
    frame = data if is_frame(data) else _metrics(data)
    selected = list(data.expectations if expectations is None and not is_frame(data) else expectations or ())
    found = []
    for expectation in selected:
        metric = str(expectation.get("metric"))
        rows = frame[frame["metric"] == metric]
        if metric in ("throughput", "retransmits"):
            rows = by_data_direction(rows)
        if metric.startswith(("rtt", "throughput")) and "placement" in rows.columns:
            rows = rows[rows["placement"].isna() | (rows["placement"] != "same_host")]
        for column in ("tool", "vm_size"):
            if expectation.get(column) and column in rows.columns:
                rows = rows[rows[column].isna() | (rows[column] == expectation[column])]
        keys = [column for column in ("path", "method") if column in rows.columns]
        groups = rows.groupby(keys, sort=False, dropna=False) if keys and len(rows) else [(("",) * len(keys), rows)]
        name = _named(metric, expectation)
        for key, group in groups:
            runs = group.rename(columns={"value": name})
            if "resolution" in group.columns:
                runs[resolution_column(name)] = STEP * group["resolution"]
            found.append({**dict(zip(keys, key, strict=True)), **_check(runs, expectation, name, confidence)})
    keys = [column for column in ("path", "method") if column in frame.columns]
    return pd.DataFrame(found, columns=[*keys, *_COLUMNS])


def _named(metric: str, expectation: Expectation) -> str:
    """Return a column name that implies the unit, so that the checks of units apply."""
    named = metric + {"ns": "_ns", "bit/s": "_bit_s"}.get(str(expectation.get("unit")), "")
    return named if unit_of(named) else f"{metric}_value"


def _metrics(study: Study) -> pd.DataFrame:
    """Return the metrics of whole runs with the run's properties; of several sides the receiver's, else the first."""
    runs = client_runs(study)
    metrics = study.metrics[study.metrics["stream"].isna() & study.metrics["run_id"].isin(runs.index)]
    order = metrics["side"].map({"receiver": 0}).fillna(1)
    metrics = metrics.assign(order=order).sort_values("order", kind="stable")
    metrics = metrics.drop_duplicates(["run_id", "metric"]).drop(columns=["order", "unit"])
    described = ["path", "method", "tool", "test", "protocol", "message_bytes", "vm_size", "duration_ns", "printed_as"]
    described.append("placement")
    # qperf prints no duration; its command asks for one.
    runs = runs.assign(duration_ns=runs["duration_ns"].fillna(runs["requested_duration_ns"]))
    return metrics.join(runs[described], on="run_id")
