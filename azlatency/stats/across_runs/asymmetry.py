"""Differences between i → j and j → i: what round trips can show, and what throughput can.

A round trip started at i takes d_ij + d_ji + s_i + r_j. It contains the one-way delays of both directions as a sum, so
round trips never show which direction is slower (Freris, Graham & Kumar, IEEE TAC 56:1352, 2011). Round trips in both
directions can show a difference between *initiators*. Throughput and retransmits belong to the direction of the *data*,
whichever side connected.

Analysis by round: D_r = log M_ij - log M_ji of the same round, compared as in `azlatency.compare` (exact signed ranks
from six rounds, else Student's t), with equivalence within a practical margin. Rounds of one pair of machines repeat
the offset of these machines, so they answer for these two machines only (``one_machine_pair``). An answer for zones
needs the spread between machines: several control pairs within one zone, or several pairs of machines between the same
zones (`direction_pairs`).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import combinations
from typing import NamedTuple

import numpy as np
import pandas as pd

from azlatency.stats.across_runs.comparison import Setting, check_setting
from azlatency.stats.across_runs.direction_pairs import adjust_family, compare_directions
from azlatency.stats.across_runs.directions import (
    DirectedValues,
    Metric,
    column_cells,
    directed,
    group_directions,
    in_different_zones,
    in_time_order_of_paths,
    without_direction,
)
from azlatency.stats.across_runs.main_method import measured_runs, rank_methods
from azlatency.stats.across_runs.ranking import rank_pairs
from azlatency.stats.across_runs.run_values import (
    is_frame,
    refusals,
    resolution_of,
    run_ids_of,
    sorted_rounds,
    unit_of,
    value_column,
)
from azlatency.stats.across_runs.typical_run import PathRuns, typical_runs
from azlatency.stats.rows import COMPARISON, Row, joined
from azlatency.studies.runs.groups import grouped
from azlatency.studies.runs.path import route
from azlatency.studies.runs.round_trips import latency
from azlatency.studies.runs.selection import is_window
from azlatency.studies.runs.throughput import throughput
from azlatency.studies.store.study import Study

METHOD = "log ratios of both directions by round, beside the spread between machines (studentized maximum modulus)"
#: Flags of pairs whose result is about the machines that were measured.
ABOUT_MACHINES = frozenset({"one_machine_pair", "machines_unknown", "one_control_pair"})
#: Added to a count of retransmits before the logarithm: a round without any is a value, too.
COUNT_OFFSET = 0.5
#: What a column measures, if not latency.
_METRIC_OF: dict[str, Metric] = {"throughput_bit_s": "throughput", "retransmits": "retransmits"}


class Asymmetry(NamedTuple):
    """Both directions of every pair of zones, as four frames in canonical units.

    Attributes
    ----------
    methods : DataFrame
        One row per metric (latency, throughput, retransmits) and method, those that say most about all paths first:
        ``ends`` (number of zones or hosts), ``pairs`` of different zones, ``different`` and ``inconclusive`` ones,
        ``rounds``, ``value`` (the compared column), ``flags``, ``run_ids``.
    pairs : DataFrame
        One row per pair: ``from`` → ``to`` over its reverse, as a row of `azlatency.compare` (``ratio``, ``ratio_low``,
        ``ratio_high``, ``verdict`` …). ``decides_low`` and ``decides_high``: the interval of the verdict.
        ``there`` and ``back``: the typical value of each direction, of ``n_there`` and ``n_back`` rounds.
        ``same_zone``: a control pair. The verdict "different" holds for the family of pairs, and beyond the spread
        between machines if that is known; otherwise it is about these machines (``one_machine_pair``,
        ``one_control_pair``), or about a published table that names none (``machines_unknown``). ``verdict_alone``: the
        verdict without the family; ``machine_spread``: the spread between machines, if it is known of any pair.
    cells : DataFrame
        One row per direction: ``from``, ``to``, ``estimate`` (median run) with ``low`` and ``high``, ``n``.
    order : DataFrame
        One row per pair of zones, the shortest round trip first: ``estimate``, ``low``, ``high``, ``n`` and ``rank``,
        which is missing unless the pair differs from all others. Empty if there are more than 100.
    """

    methods: pd.DataFrame
    pairs: pd.DataFrame
    cells: pd.DataFrame
    order: pd.DataFrame


#: Columns of the frames.
_TYPICAL = [
    "metric", "method", "what", "estimate", "low", "high", "unit", "n", "scope", "confidence", "statistic", "flags",
    "run_ids",
]  # fmt: skip
_COUNTS = ["ends", "pairs", "different", "inconclusive", "rounds"]
_COLUMNS = {
    "methods": [
        "metric", "method", "what", "unit", *_COUNTS, "value", "scope", "confidence", "statistic", "flags", "run_ids",
    ],
    "pairs": [
        "metric", "method", "from", "to", *COMPARISON, "there", "back", "n_there", "n_back", "same_zone",
        "verdict_alone",
    ],
    "cells": ["from", "to", *_TYPICAL],
    "order": [*_TYPICAL, "rank"],
}  # fmt: skip


def asymmetry(
    data: Study | pd.DataFrame,
    *,
    metric: Metric | None = None,
    value: str | None = None,
    margin: float | str = "2%",
    confidence: float = 0.95,
) -> Asymmetry:
    """Compare both directions of every pair of zones.

    Parameters
    ----------
    data : Study or DataFrame
        A study, or one row per run as returned by `azlatency.latency` or `azlatency.throughput`, with the columns
        ``path`` or ``zone`` and ``peer_zone``, ``round`` and ``method``.
    metric : {"latency", "throughput", "retransmits"}, optional
        Analyse only this metric. For a frame it follows from the column ``value``.
    value : str, optional
        Column with one number per run; by default the median, else the mean, else the throughput of a method.
    margin : float or str
        Difference that is practically symmetric: ``0.02``, ``"2%"`` or ``"2 us"``.
    confidence : float
        Family-wise level, between 0.5 and 1.

    Returns
    -------
    Asymmetry
        Four frames, see there.

    Raises
    ------
    ValueError
        If the margin or the confidence is not valid.

    Notes
    -----
    Round trips compare initiators, not one-way delays (flag ``initiator_only``). Rounds of one pair of machines cannot
    tell the zones from the machines, so the result is about these machines (flag ``one_machine_pair``): for zones,
    measure several control pairs within a zone, or several pairs of machines between two zones. With a single control
    pair (``one_control_pair``), the result is also about these machines, and inconclusive if the control pair differs
    as much.

    Examples
    --------
    >>> import pandas as pd
    >>> rounds = [1, 2, 3, 4, 5, 6, 7]
    >>> there = [520e3, 524e3, 519e3, 522e3, 525e3, 518e3, 521e3]
    >>> back = [450e3, 452e3, 449e3, 451e3, 453e3, 448e3, 450e3]
    >>> runs = pd.DataFrame({"path": ["a → b"] * 7 + ["b → a"] * 7, "round": rounds * 2, "median_ns": there + back})
    >>> pair = asymmetry(runs).pairs.iloc[0]
    >>> pair["verdict_alone"], pair["verdict"], pair["flags"]
    ('different', 'different', 'one_machine_pair initiator_only')
    """
    check_setting(margin, confidence)
    setting = Setting(margin, confidence)
    parts = []
    for name, frame, column in _frames(data, metric, value):
        for method, group in _groups(frame, name):
            values = column or value_column(group, value)
            parts.append(_of_method(group, name, method, values, setting))
    rows = {name: [row for part in parts for row in part.get(name, [])] for name in _COLUMNS}
    known = ["machine_spread"] if any("machine_spread" in row for row in rows["pairs"]) else []
    columns = {**_COLUMNS, "pairs": [*_COLUMNS["pairs"], *known]}
    return Asymmetry(*(pd.DataFrame(rows[name], columns=columns[name]) for name in _COLUMNS))


def _frames(
    data: Study | pd.DataFrame, metric: Metric | None, value: str | None
) -> Iterable[tuple[Metric, pd.DataFrame, str | None]]:
    """Yield (metric, runs, column); the column of latencies is chosen for each method."""
    if is_frame(data):
        column = value_column(data, value)
        of_column: Metric = _METRIC_OF.get(column, "latency")
        yield metric or of_column, data, value
        return
    if metric in (None, "latency"):
        yield "latency", latency(data), value
    if metric in (None, "throughput", "retransmits"):
        streams = throughput(data, sender_only=True)
        if metric != "retransmits":
            yield "throughput", streams, "throughput_bit_s"
        if metric != "throughput":
            yield "retransmits", streams[streams["retransmits"].notna()], "retransmits"


def _groups(frame: pd.DataFrame, metric: Metric) -> Iterable[tuple[str, pd.DataFrame]]:
    """Return the runs by method.

    A reverse stream counts as the same method: only the direction of its data differs.
    """
    if "method" not in frame.columns:
        return [("", frame)]
    if metric != "latency" and len(frame):
        frame = frame.assign(method=without_direction(frame["method"]))
    groups = {str(method): group for method, group in grouped(frame, "method")}
    return [(method, groups[method]) for method in rank_methods(measured_runs(frame)) if method in groups]


def _of_method(frame: pd.DataFrame, metric: Metric, method: str, column: str, base: Setting) -> dict[str, list[Row]]:
    unit = "count" if metric == "retransmits" else unit_of(column)
    what = ", ".join(part for part in (metric, method) if part)
    setting = base._replace(labels={"metric": metric, "method": method})
    same_test = frame if metric == "latency" or "test" not in frame.columns else frame.drop(columns="test")
    # A direction is measured by the streams of both ends, so the paths of one frame differ.
    flags = [flag for flag in refusals([same_test], column) if flag != "mixed_paths"]
    if "placement" in frame.columns:
        # Traffic within one host does not cross a zone.
        frame = frame[frame["placement"].isna() | (frame["placement"] != "same_host")]
    frame, order = in_time_order_of_paths(frame)
    runs, zones = directed(frame, metric, column)
    if metric == "retransmits":
        runs = [run._replace(value=run.value + COUNT_OFFSET) for run in runs]
        if "host" in column_cells(frame, "retransmits_scope"):
            flags.append("host_wide_counter")
    if not runs:
        flags.append("no_values")
    elif min(run.value for run in runs) <= 0:
        flags.append("not_positive")
    row = {
        **setting.labels,
        "what": what,
        "unit": unit,
        **dict.fromkeys(_COUNTS, 0),
        "value": column,
        "scope": "across_runs",
        "confidence": setting.confidence,
        "statistic": METHOD,
    }
    if set(flags) - {"host_wide_counter"}:
        refused = {"flags": joined(flags), "run_ids": " ".join(run_ids_of(frame[column].dropna()))}
        return {"methods": [row | refused]}
    cells = group_directions(runs, unit, resolution_of(frame, column), order)
    alone = "machines_unknown" if is_window(frame).all() else "one_machine_pair"
    return _analyse(cells, zones, setting, flags, row, alone)


def _analyse(
    cells: DirectedValues, zones: Mapping[str, str], setting: Setting, flags: list[str], row: Row, alone: str
) -> dict[str, list[Row]]:
    """Return the rows of each frame for one method; ``row``: that of ``methods`` as far as it is known."""
    is_latency = setting.labels["metric"] == "latency"
    if is_latency:
        flags = [*flags, "initiator_only"]
    both_ways = [(i, j) for i, j in combinations(cells.nodes, 2) if {(i, j), (j, i)} <= cells.runs.keys()]
    between, within = (
        [
            compare_directions(i, j, cells, setting, flags)
            for i, j in both_ways
            if in_different_zones(i, j, zones) is different
        ]
        for different in (True, False)
    )
    pairs = adjust_family(between, within, zones, alone)
    directions = _directions(cells, setting)
    typical = {(cell["from"], cell["to"]): cell for cell in directions}

    def pair(compared: Row, *, same_zone: bool) -> Row:
        there, back = (typical[compared[start], compared[end]] for start, end in (("from", "to"), ("to", "from")))
        values = {"there": there["estimate"], "back": back["estimate"], "n_there": there["n"], "n_back": back["n"]}
        return {**compared, **values, "same_zone": same_zone, "unit": cells.unit}

    # A round trip crosses both directions: one initiator of a pair is enough for its rank.
    cross_zone = [direction for direction in cells.runs if in_different_zones(*direction, zones)]
    counts = {
        "ends": len(cells.nodes),
        "pairs": len(pairs),
        "different": sum(compared["verdict"].startswith("different") for compared in pairs),
        "inconclusive": sum(compared["verdict"] == "inconclusive" for compared in pairs),
        "rounds": len({key for rounds_of in cells.by_round.values() for key in rounds_of}),
        "flags": joined(flags, [] if pairs else ["one_direction"]),
        "run_ids": " ".join(cells.run_ids(cells.runs)),
    }
    return {
        "methods": [row | counts],
        "pairs": [
            *(pair(compared, same_zone=False) for compared in pairs),
            *(pair(compared, same_zone=True) for compared in within),
        ],
        "cells": directions,
        "order": rank_pairs(cells, cross_zone, setting) if is_latency else [],
    }


def _directions(cells: DirectedValues, setting: Setting) -> list[Row]:
    """Return the typical value of each direction over its rounds, or over all its runs if no round is known."""
    groups, run_ids = [], []
    for direction, by_round in cells.by_round.items():
        rounds, in_order = sorted_rounds(list(by_round))
        runs = (
            cells.values([by_round[key] for key in rounds], "round" if in_order else "unknown")
            if rounds
            else cells.values(cells.numbers(direction), cells.order)
        )
        labels = {**setting.labels, "from": direction[0], "to": direction[1]}
        groups.append(PathRuns(route(*direction), labels, runs))
        run_ids.append(" ".join(cells.run_ids([direction], by_round or None)))
    return [
        # Runs that are too far apart for an interval have a median, too.
        row | {"run_ids": ids, "estimate": float(np.median(group.values.values))}
        for row, ids, group in zip(typical_runs(groups, setting.confidence), run_ids, groups, strict=True)
    ]
