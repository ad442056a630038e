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
from dataclasses import dataclass, field, replace
from itertools import combinations
from typing import TYPE_CHECKING, Any, ClassVar

from azlatency.stats.across_runs.comparison import Setting
from azlatency.stats.across_runs.direction_pairs import adjust_family, compare_directions
from azlatency.stats.across_runs.directions import (
    Directed,
    DirectedValues,
    Metric,
    column_cells,
    directed,
    group_directions,
    in_different_zones,
    in_time_order_of_paths,
)
from azlatency.stats.across_runs.main_method import measured_runs, rank_methods
from azlatency.stats.across_runs.ranking import rank_pairs
from azlatency.stats.across_runs.run_values import (
    is_frame,
    parse_margin,
    refusals,
    resolution_of,
    run_ids_of,
    sorted_rounds,
    unit_of,
    value_column,
)
from azlatency.stats.across_runs.typical_run import PathRuns, typical_runs
from azlatency.stats.result import Comparison, Estimate, Result, Results, Row, Scope
from azlatency.studies.format import count_of, format_value
from azlatency.studies.runs.groups import grouped
from azlatency.studies.runs.path import route

if TYPE_CHECKING:
    import pandas as pd

    from azlatency.stats.arrays import FloatArray
    from azlatency.studies.store.study import Study


METHOD = "log ratios of both directions by round, beside the spread between machines (studentized maximum modulus)"
#: Flags of pairs whose result is about the machines that were measured.
ABOUT_MACHINES = frozenset({"one_machine_pair", "one_control_pair"})
#: Added to a count of retransmits before the logarithm: a round without any is a value, too.
COUNT_OFFSET = 0.5
#: What a column measures, if not latency.
_METRIC_OF: dict[str, Metric] = {"throughput_bit_s": "throughput", "retransmits": "retransmits"}


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Asymmetry(Result):
    """Both directions of every pair of zones, for one metric and one method.

    Attributes
    ----------
    what : str
        Metric and method.
    metric : {"latency", "throughput", "retransmits"}
        What was measured.
    unit : str
        Canonical unit of the matrix.
    nodes : tuple of str
        Zones or hosts: names of the rows (initiator or sender) and columns of the matrix.
    m : ndarray of float64, shape (nodes, nodes)
        Typical values (median run), in ``unit``.
    pairs : Results of Comparison
        i → j over j → i for each pair of different zones. The verdict "different" holds for the family of pairs, and
        beyond the spread between machines if that is known; otherwise it is about these machines
        (``one_machine_pair``, ``one_control_pair``). The label ``verdict_alone`` is the verdict of the pair without its
        family, ``machine_spread`` the spread between machines, ``p_machines`` the p of the comparison with it.
    null : Results of Comparison
        Control pairs within one zone.
    ranking : tuple of Estimate
        Typical run of each pair, the shortest first, with its rank as label ``rank`` if it differs from all others;
        empty if there are more than 100 (latency only).
    rounds : int
        Number of rounds.
    confidence : float
        Family-wise level, between 0 and 1.
    cells : tuple of Estimate
        Typical value of each direction with its interval; labels ``from`` and ``to``.
    """

    what: str
    metric: Metric
    unit: str
    nodes: tuple[str, ...]
    m: FloatArray
    pairs: Results[Comparison]
    null: Results[Comparison]
    ranking: tuple[Estimate, ...]
    rounds: int
    confidence: float
    scope: Scope = "across_runs"
    method: str = METHOD
    codes: tuple[str, ...] = ()
    labels: dict[str, Any] = field(default_factory=dict)
    diagnostics: dict[str, Any] = field(default_factory=dict)
    cells: tuple[Estimate, ...] = ()

    ROW: ClassVar[Row] = (
        "what", "metric", "nodes", ("pairs", "pairs.#"), ("different", "different.#"),
        "symmetric_enough", "rounds", "unit", "scope", "confidence",
        ("statistic", "method"),
    )  # fmt: skip

    @property
    def refused(self) -> bool:
        """Whether nothing was computed; ``codes`` give the reason."""
        return not self.nodes

    @property
    def different(self) -> Results[Comparison]:
        """Pairs whose directions differ, within the margin or beyond it."""
        return Results(pair for pair in self.pairs if pair.verdict.startswith("different"))

    @property
    def symmetric_enough(self) -> bool:
        """Whether every pair is equal within the margin.

        Each pair is tested at its own level; an intersection needs no correction.
        """
        return bool(self.pairs) and all(
            pair.verdict in ("equivalent", "different_within_margin") for pair in self.pairs
        )

    def to_frame(self) -> pd.DataFrame:
        """Return the pairs and the control pairs as a frame."""
        import pandas as pd

        rows = [{**pair.row(), "same_zone": False} for pair in self.pairs]
        return pd.DataFrame(rows + [{**pair.row(), "same_zone": True} for pair in self.null])

    def matrix(self) -> pd.DataFrame:
        """Return the typical values as a frame in ``unit``; rows are initiators or senders."""
        import pandas as pd

        return pd.DataFrame(self.m, index=list(self.nodes), columns=list(self.nodes))

    def __str__(self) -> str:
        if self.refused:
            return f"{self.what}: not estimable{self.flag_note}"
        subject = "initiators" if self.metric == "latency" else "data directions"
        if not self.pairs:
            verdict = "no pair of zones was measured in both directions"
        elif self.different:
            ratios = ", ".join(f"{pair.what} ({format_value(pair.ratio.estimate)}×)" for pair in self.different)
            machines = any(ABOUT_MACHINES.intersection(pair.codes) for pair in self.different)
            caveat = " between these machines; zone or machine: not separable" if machines else ""
            verdict = f"{subject} differ: {ratios}{caveat}"
        elif self.symmetric_enough:
            verdict = f"{subject} are practically equivalent in {count_of(len(self.pairs), 'pair')}"
        else:
            undecided = sum(pair.verdict == "inconclusive" for pair in self.pairs)
            verdict = f"{subject}: {undecided} of {count_of(len(self.pairs), 'pair')} inconclusive, none different"
        return f"{self.what}: {verdict}, {count_of(self.rounds, 'round')}{self.flag_note}"


def asymmetry(
    data: Study | pd.DataFrame,
    *,
    metric: Metric | None = None,
    value: str | None = None,
    margin: float | str = "2%",
    confidence: float = 0.95,
) -> Results[Asymmetry]:
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
    Results[Asymmetry]
        One result per metric and method; the methods that say most about all paths come first.

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
    >>> pair = asymmetry(runs)[0].pairs[0]
    >>> pair.labels["verdict_alone"], pair.verdict, pair.codes
    ('different', 'different', ('one_machine_pair', 'initiator_only'))
    """
    parse_margin(margin)
    if not 0.5 < confidence < 1:
        raise ValueError(f"confidence = {confidence}: between 0.5 and 1")
    setting = Setting(margin=margin, confidence=confidence, floor=None, unit="", what="", labels={})
    results = []
    for name, frame, column in _frames(data, metric, value):
        for method, group in _groups(frame, name):
            values = column or value_column(group, value)
            results.append(_of_method(group, name, method, values, setting))
    return Results(results)


def _frames(
    data: Study | pd.DataFrame, metric: Metric | None, value: str | None
) -> Iterable[tuple[Metric, pd.DataFrame, str | None]]:
    """Yield (metric, runs, column); the column of latencies is chosen for each method."""
    if is_frame(data):
        column = value_column(data, value)
        of_column: Metric = _METRIC_OF.get(column, "latency")
        yield metric or of_column, data, value
        return
    from azlatency.studies.runs.round_trips import latency
    from azlatency.studies.runs.throughput import throughput

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
        frame = frame.assign(method=frame["method"].str.replace(" stream-reverse", "", regex=False))
    groups = {str(method): group for method, group in grouped(frame, "method")}
    return [(method, groups[method]) for method in rank_methods(measured_runs(frame)) if method in groups]


def _of_method(frame: pd.DataFrame, metric: Metric, method: str, column: str, base: Setting) -> Asymmetry:
    unit = "count" if metric == "retransmits" else unit_of(column)
    what = ", ".join(part for part in (metric, method) if part)
    setting = base._replace(unit=unit, what=what, labels={"metric": metric, "method": method})
    same_test = frame if metric == "latency" or "test" not in frame.columns else frame.drop(columns="test")
    # A direction is measured by the streams of both ends, so the paths of one frame differ.
    codes = [code for code in refusals([same_test], column) if code != "mixed_paths"]
    if "placement" in frame.columns:
        # Traffic within one host does not cross a zone.
        frame = frame[frame["placement"].isna() | (frame["placement"] != "same_host")]
    frame, order = in_time_order_of_paths(frame)
    runs, zones, left_out = directed(frame, metric, column)
    if metric == "retransmits":
        runs = [run._replace(value=run.value + COUNT_OFFSET) for run in runs]
        if "host" in column_cells(frame, "retransmits_scope"):
            codes.append("host_wide_counter")
    if not runs:
        codes.append("no_values")
    elif min(run.value for run in runs) <= 0:
        codes.append("not_positive")
    if set(codes) - {"host_wide_counter"}:
        return _not_estimable(what, metric, setting, tuple(codes), run_ids_of(frame[column].dropna()))
    cells = group_directions(runs, resolution_of(frame, column), order)
    return _analyse(runs, cells, zones, metric, column, setting, codes, left_out)


def _not_estimable(
    what: str, metric: Metric, setting: Setting, codes: tuple[str, ...], run_ids: tuple[str, ...]
) -> Asymmetry:
    import numpy as np

    none = np.zeros((0, 0))
    return Asymmetry(
        what=what,
        metric=metric,
        unit=setting.unit,
        nodes=(),
        m=none,
        pairs=Results(),
        null=Results(),
        ranking=(),
        rounds=0,
        confidence=setting.confidence,
        codes=tuple(dict.fromkeys(codes)),
        labels=setting.labels,
        run_ids=run_ids,
    )


def _analyse(
    runs: list[Directed],
    cells: DirectedValues,
    zones: Mapping[str, str],
    metric: Metric,
    value: str,
    setting: Setting,
    codes: list[str],
    left_out: int,
) -> Asymmetry:
    import numpy as np

    if metric == "latency":
        codes.append("initiator_only")
    m = np.full((len(cells.nodes), len(cells.nodes)), np.nan)
    for (start, end), values in cells.all_values.items():
        in_rounds = list(cells.by_round[start, end].values())
        m[cells.nodes.index(start), cells.nodes.index(end)] = np.median(in_rounds or values)
    both_ways: list[tuple[str, str]] = []
    same_zone: list[tuple[str, str]] = []
    for i, j in combinations(cells.nodes, 2):
        if (i, j) in cells.all_values and (j, i) in cells.all_values:
            (both_ways if in_different_zones(i, j, zones) else same_zone).append((i, j))
    null, compared = (
        [((i, j), compare_directions(i, j, cells, setting, tuple(codes))) for i, j in ways]
        for ways in (same_zone, both_ways)
    )
    control = tuple(result for _, result in null)
    pairs = adjust_family(compared, control, zones, setting)
    # A round trip crosses both directions: one initiator of a pair is enough for its rank.
    cross_zone = [direction for direction in cells.all_values if in_different_zones(*direction, zones)]
    rounds = {key for rounds_of in cells.by_round.values() for key in rounds_of}
    if not both_ways:
        codes.append("one_direction")
    return Asymmetry(
        what=setting.what,
        metric=metric,
        unit=setting.unit,
        nodes=cells.nodes,
        m=m,
        pairs=Results(pairs),
        null=Results(control),
        ranking=rank_pairs(cells, cross_zone, setting) if metric == "latency" else (),
        rounds=len(rounds),
        confidence=setting.confidence,
        codes=tuple(dict.fromkeys(codes)),
        labels=setting.labels,
        diagnostics={
            "value": value,
            "runs": len(runs),
            "left_out": left_out,
            "without_round": sum(run.round is None for run in runs),
        },
        cells=_directions(cells, setting),
        run_ids=cells.run_ids(cells.all_values),
    )


def _directions(cells: DirectedValues, setting: Setting) -> tuple[Estimate, ...]:
    """Return the typical value of each direction over its rounds, or over all its runs if no round is known."""
    groups, run_ids = [], []
    for direction, values in cells.all_values.items():
        by_round = cells.by_round[direction]
        rounds, in_order = sorted_rounds(list(by_round))
        runs = (
            cells.values([by_round[key] for key in rounds], setting.unit, "round" if in_order else "unknown")
            if rounds
            else cells.values(values, setting.unit, cells.order)
        )
        labels = {**setting.labels, "from": direction[0], "to": direction[1]}
        groups.append(PathRuns(route(*direction), labels, runs))
        run_ids.append(cells.run_ids([direction], by_round or None))
    typical = typical_runs(groups, setting.confidence)
    return tuple(replace(one, run_ids=ids) for one, ids in zip(typical, run_ids, strict=True))
