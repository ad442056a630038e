"""Is there a difference between i -> j and j -> i? What round trips can say, what they cannot, and what throughput can.

A round trip started at i is d_ij + d_ji + s_i + r_j: the one-way delays enter as their sum in both directions, so that
no amount of round trips shows a slow direction (Freris, Graham & Kumar, IEEE TAC 56:1352, 2011). What two directions of
round trips can show is a difference between *initiators*, which must be a gradient a_i - a_j over the zones; a cyclic
rest means something else: another equal-cost path, drift between the two measurements, load. Throughput and
retransmits belong to the direction in which the *data* went, whoever connected.

Analysis by round: D_r = log M_ij - log M_ji of the same round; Student's t, exact sign flip, Holm and max-T over the
pairs (Westfall & Young 1993), equivalence within a practical margin (two one-sided tests).
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from itertools import combinations, permutations
from typing import TYPE_CHECKING, Any, ClassVar, Literal, NamedTuple

from azlatency.logs.format import count_of, format_value
from azlatency.stats import exact
from azlatency.stats.across_runs.comparison import Setting, compare, compare_rounds, with_run_ids
from azlatency.stats.across_runs.matrices import decompose, hodge, triangles
from azlatency.stats.across_runs.means import typical_run
from azlatency.stats.across_runs.ranking import RankSet, rank_sets
from azlatency.stats.across_runs.run_values import (
    floats,
    is_frame,
    parse_margin,
    refusals,
    run_ids_of,
    unit_of,
    value_column,
)
from azlatency.stats.across_runs.two_groups import student_interval
from azlatency.stats.multiplicity import adjust, adjust_p
from azlatency.stats.result import Comparison, Estimate, Result, Results, Row, Scope, Verdict
from azlatency.studies.path import Path, route

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd
    from numpy.typing import NDArray

    from azlatency.studies.store import Study

    FloatArray = NDArray[np.float64]

Metric = Literal["latency", "throughput", "retransmits"]
METHOD = "by round: t and exact sign flip of log ratios of both directions, max-T over pairs"
#: Added to a count of retransmits before the logarithm: a round without any is a value, too.
COUNT_OFFSET = 0.5


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Asymmetry(Result):
    """Both directions of every pair of one metric and one method.

    ``nodes``; ``m``, ``s``, ``k``: matrices of typical (geometric mean) values in ``unit``, symmetric and antisymmetric
    part; ``index`` = ||K|| / ||S||. ``pairs``: a `Comparison` for each pair of different zones, i -> j over j -> i; its
    verdict "different" holds for the family of pairs (Holm), ``verdict_alone`` among its labels is that of the interval
    shown; ``p_adjusted`` (Holm) and ``p_max_t`` are of exact sign flips. ``null``: pairs within one zone, where nothing
    is due. ``node_effects`` and ``curls`` (latency only): what an initiator adds, and the sum around each triangle, 0
    for any initiators. ``detours``: corrected triangle excess, > 0 where the detour is shorter. ``ranking``: rank sets.
    ``cells``: the typical value of each direction with its interval, labels ``from`` and ``to`` (refused for one run).
    """

    what: str
    metric: Metric
    unit: str
    nodes: tuple[str, ...]
    m: FloatArray
    s: FloatArray
    k: FloatArray
    index: float | None
    pairs: tuple[Comparison, ...]
    null: tuple[Comparison, ...]
    node_effects: tuple[Estimate, ...]
    curls: tuple[Estimate, ...]
    share_of_nodes: float | None
    detours: tuple[Estimate, ...]
    ranking: tuple[RankSet, ...]
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
        "symmetric_enough", "index", "share_of_nodes", "rounds", "unit", "scope", "confidence", "method",
    )  # fmt: skip

    @property
    def refused(self) -> bool:
        """Whether nothing was computed; ``codes`` say why."""
        return not self.nodes

    @property
    def different(self) -> tuple[Comparison, ...]:
        """The pairs whose directions differ, whether it matters or not."""
        return tuple(each for each in self.pairs if each.verdict.startswith("different"))

    @property
    def symmetric_enough(self) -> bool:
        """Whether every pair is equal within the margin (each at its level: an intersection needs no correction)."""
        return bool(self.pairs) and all(
            each.verdict in ("equivalent", "different_within_margin") for each in self.pairs
        )

    def to_frame(self) -> pd.DataFrame:
        """The pairs (and the null within zones) as a frame."""
        import pandas as pd

        rows = [{**each.row(), "same_zone": False} for each in self.pairs]
        return pd.DataFrame(rows + [{**each.row(), "same_zone": True} for each in self.null])

    def matrix(self, which: Literal["m", "s", "k"] = "m") -> pd.DataFrame:
        """A matrix with its nodes as row (initiator or sender) and column names, in ``unit``."""
        import pandas as pd

        return pd.DataFrame(getattr(self, which), index=list(self.nodes), columns=list(self.nodes))

    def __str__(self) -> str:
        if self.refused:
            return f"{self.what}: not estimable{self.flag_note}"
        subject = "initiators" if self.metric == "latency" else "data directions"
        if not self.pairs:
            verdict = "no pair of zones was measured in both directions"
        elif self.different:
            ratios = ", ".join(f"{pair.what} ({format_value(pair.ratio.estimate)}×)" for pair in self.different)
            verdict = f"{subject} differ: {ratios}"
        elif self.symmetric_enough:
            verdict = f"{subject} are practically equivalent in {count_of(len(self.pairs), 'pair')}"
        else:
            undecided = sum(pair.verdict == "undetermined" for pair in self.pairs)
            verdict = f"{subject}: {undecided} of {count_of(len(self.pairs), 'pair')} inconclusive, none different"
        cyclic = [curl.what for curl in self.curls if curl.low is not None and curl.high is not None
                  and not curl.low <= 0 <= curl.high]  # fmt: skip
        residual = f"; cyclic residual (path choice, drift or load): {', '.join(cyclic)}" if cyclic else ""
        return f"{self.what}: {verdict}{residual}, {count_of(self.rounds, 'round')}{self.flag_note}"


def asymmetry(
    data: Study | pd.DataFrame,
    *,
    metric: Metric | None = None,
    value: str | None = None,
    margin: float | str = "2%",
    floor: float | None = None,
    confidence: float = 0.95,
    seed: int = 0,
) -> Results[Asymmetry]:
    """Both directions of every pair, one `Asymmetry` for each metric and method.

    ``data``: a `Study`, or a frame of `azlatency.latency` or `azlatency.throughput` (columns ``path`` as
    "a → b", or ``zone`` and ``peer_zone``; ``round``; ``method``). ``metric``: only this one; a frame's is told by its
    column ``value``. ``margin``: what is symmetric enough, never below ``floor`` (1 us for latencies).
    """
    parse_margin(margin)
    if not 0.5 < confidence < 1:
        raise ValueError(f"confidence = {confidence}: between 0.5 and 1")
    setting = Setting(margin, confidence, floor, "", "", {}, seed)
    found = []
    for name, frame, column in _frames(data, metric, value):
        for method, group in _groups(frame, name):
            own = column or value_column(group, value)
            found.append(_one(group, name, method, own, setting))
    return Results(found)


def _frames(
    data: Study | pd.DataFrame, metric: Metric | None, value: str | None
) -> Iterable[tuple[Metric, pd.DataFrame, str | None]]:
    """(metric, runs, column) to look at; the column of latencies is chosen for each method."""
    if is_frame(data):
        column = value_column(data, value)
        told: Metric = column if column in ("throughput", "retransmits") else "latency"  # type: ignore[assignment]
        yield metric or told, data, value
        return
    from azlatency.studies.runs import latency, throughput

    if metric in (None, "latency"):
        yield "latency", latency(data), value
    if metric in (None, "throughput", "retransmits"):
        streams = throughput(data)
        if metric != "retransmits":
            yield "throughput", streams, "throughput"
        if metric != "throughput":
            yield "retransmits", streams[streams["retransmits"].notna()], "retransmits"


def _groups(frame: pd.DataFrame, metric: Metric) -> Iterable[tuple[str, pd.DataFrame]]:
    """Runs by method. A reverse stream is the same method: only the data go the other way, and that is looked at."""
    if "method" not in frame.columns:
        return [("", frame)]
    if metric != "latency" and len(frame):
        frame = frame.assign(method=frame["method"].str.replace(" stream-reverse", "", regex=False))
    return [(str(method), group) for method, group in frame.groupby("method", sort=False)]


# --- runs -> directed values by round


class Directed(NamedTuple):
    """One run's value and the direction it belongs to: initiator -> responder, or sender -> receiver."""

    start: str
    end: str
    round: Hashable | None
    value: float
    run_id: str | None = None


def data_path(path: Path, test: str | None) -> Path | None:
    """Return the path from the sender of a stream to its receiver: a reverse test sends from server to client.

    ``None`` for a path that names no direction and for a test of both directions at once.
    """
    if (path.scenario is not None and path.ends is None) or (test or "").endswith("-bidir"):
        return None
    return path.reversed() if (test or "").endswith("-reverse") else path


def directed(frame: pd.DataFrame, metric: Metric, column: str) -> tuple[list[Directed], dict[str, str], int]:
    """The runs with a direction and a finite value, the zone of each node, and how many runs were left out.

    Nodes are the ends of ``path`` where it is "a → b" and names both, else zones. Latency: initiator to responder.
    Streams: sender to receiver.
    """
    zones: dict[str, str] = {}
    runs: list[Directed] = []
    left_out = 0
    cells = {name: _cells(frame, name) for name in ("path", "zone", "peer_zone", "physical_zone", "peer_physical_zone")}
    rounds, tests = _cells(frame, "round"), _cells(frame, "test")
    run_ids = run_ids_of(frame) or (None,) * len(frame)
    for at, number in enumerate(floats(frame[column])):
        near = cells["physical_zone"][at] or cells["zone"][at]
        far = cells["peer_physical_zone"][at] or cells["peer_zone"][at]
        ends = _ends(cells["path"][at], near, far)
        path = None if ends is None else data_path(Path.between(*ends), None if metric == "latency" else tests[at])
        way = None if path is None else path.ends
        if ends is None or way is None or not math.isfinite(number):
            left_out += 1
            continue
        zones.update({end: str(zone) for end, zone in zip(ends, (near, far), strict=True) if zone is not None})
        if way[0] != way[1] or near == far:
            runs.append(Directed(*way, rounds[at], float(number), run_ids[at]))
    return runs, zones, left_out


def _cells(frame: pd.DataFrame, column: str) -> list[Any]:
    """A column as a list with ``None`` for missing, whatever its type; all ``None`` where there is no such column."""
    if column not in frame.columns:
        return [None] * len(frame)
    known = frame[column].notna()
    return [each if ok else None for each, ok in zip(frame[column], known, strict=True)]


def _ends(path: Any, near: Any, far: Any) -> tuple[str, str] | None:
    if path is not None and (ends := Path.parse(path).ends) is not None:
        return ends
    return None if near is None or far is None else (f"zone {near}", f"zone {far}")


# --- one metric, one method


def _one(frame: pd.DataFrame, metric: Metric, method: str, column: str, base: Setting) -> Asymmetry:
    unit = "count" if metric == "retransmits" else unit_of(column)
    what = ", ".join(part for part in (metric, method) if part)
    setting = base._replace(unit=unit, what=what, labels={"metric": metric, "method": method})
    same_test = frame if metric == "latency" or "test" not in frame.columns else frame.drop(columns="test")
    codes = list(refusals([same_test], column))
    if "placement" in frame.columns:
        # What never left a host says nothing about a zone.
        frame = frame[frame["placement"].isna() | (frame["placement"] != "same_host")]
    runs, zones, left_out = directed(frame, metric, column)
    if metric == "retransmits":
        runs = [each._replace(value=each.value + COUNT_OFFSET) for each in runs]
        if "host" in _cells(frame, "retransmits_scope"):
            codes.append("host_wide_counter")
    if not runs:
        codes.append("no_values")
    elif min(each.value for each in runs) <= 0:
        codes.append("not_positive")
    fatal = [each for each in codes if each != "host_wide_counter"]
    if fatal:
        return _refused(what, metric, setting, tuple(codes), run_ids_of(frame[column].dropna()))
    return _answer(runs, zones, metric, setting, codes, left_out)


def _refused(
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
        s=none,
        k=none,
        index=None,
        pairs=(),
        null=(),
        node_effects=(),
        curls=(),
        share_of_nodes=None,
        detours=(),
        ranking=(),
        rounds=0,
        confidence=setting.confidence,
        codes=tuple(dict.fromkeys(codes)),
        labels=setting.labels,
        run_ids=run_ids,
    )


class Cells(NamedTuple):
    """Values by direction: by round where rounds are known (several runs of a round averaged), and all of them."""

    nodes: tuple[str, ...]
    by_round: dict[tuple[str, str], dict[Hashable, float]]
    every: dict[tuple[str, str], list[float]]
    ids: dict[tuple[str, str], list[tuple[Hashable | None, str]]]

    def run_ids(self, ways: Iterable[tuple[str, str]], rounds: Iterable[Hashable] | None = None) -> tuple[str, ...]:
        """The runs of some directions, in some rounds or (``None``) in all and in none."""
        chosen = None if rounds is None else set(rounds)
        return tuple(
            run_id for way in ways for round_, run_id in self.ids.get(way, ()) if chosen is None or round_ in chosen
        )


def cells_of(runs: Iterable[Directed]) -> Cells:
    """Group directed runs; averages are geometric."""
    grouped: dict[tuple[str, str], dict[Hashable, list[float]]] = {}
    every: dict[tuple[str, str], list[float]] = {}
    ids: dict[tuple[str, str], list[tuple[Hashable | None, str]]] = {}
    nodes: dict[str, None] = {}
    for each in runs:
        if each.run_id is not None:
            ids.setdefault((each.start, each.end), []).append((each.round, each.run_id))
        nodes.update({each.start: None, each.end: None})
        every.setdefault((each.start, each.end), []).append(each.value)
        rounds = grouped.setdefault((each.start, each.end), {})
        if each.round is not None:
            rounds.setdefault(each.round, []).append(each.value)
    by_round = {way: {key: _geometric(many) for key, many in rounds.items()} for way, rounds in grouped.items()}
    return Cells(tuple(nodes), by_round, every, ids)


def _geometric(values: Iterable[float]) -> float:
    many = [math.log(each) for each in values]
    return math.exp(math.fsum(many) / len(many))


def _answer(
    runs: list[Directed], zones: Mapping[str, str], metric: Metric, setting: Setting, codes: list[str], left_out: int
) -> Asymmetry:
    import numpy as np

    cells = cells_of(runs)
    if metric == "latency":
        codes.append("initiator_only")
    m = np.full((len(cells.nodes), len(cells.nodes)), np.nan)
    for (start, end), values in cells.every.items():
        in_rounds = list(cells.by_round[start, end].values())
        m[cells.nodes.index(start), cells.nodes.index(end)] = _geometric(in_rounds or values)
    parts = decompose(m)
    apart: list[tuple[str, str]] = []
    together: list[tuple[str, str]] = []
    for i, j in combinations(cells.nodes, 2):
        if (i, j) in cells.every and (j, i) in cells.every:
            (apart if _apart(i, j, zones) else together).append((i, j))
    pairs = _tested([((i, j), _pair(i, j, cells, setting, tuple(codes))) for i, j in apart], cells, setting)
    null = tuple(_pair(i, j, cells, setting, tuple(codes)) for i, j in together)
    effects, curls, share = _initiators(cells, apart, setting) if metric == "latency" else ((), (), None)
    # A round trip crosses both directions: triangles and ranks can do with one initiator of a pair.
    known = [way for way in cells.every if _apart(*way, zones)]
    detours = _detours(cells, known, zones, setting) if metric == "latency" else ()
    rounds = {each for way in cells.by_round.values() for each in way}
    if not apart:
        codes.append("one_direction")
    return Asymmetry(
        what=setting.what,
        metric=metric,
        unit=setting.unit,
        nodes=cells.nodes,
        m=m,
        s=parts.s,
        k=parts.k,
        index=parts.share,
        pairs=pairs,
        null=null,
        node_effects=effects,
        curls=curls,
        share_of_nodes=share,
        detours=detours,
        ranking=_ranking(cells, known, setting) if metric == "latency" else (),
        rounds=len(rounds),
        confidence=setting.confidence,
        codes=tuple(dict.fromkeys(codes)),
        labels=setting.labels,
        diagnostics={
            "runs": len(runs),
            "left_out": left_out,
            "without_round": sum(each.round is None for each in runs),
        },
        cells=_directions(cells, setting),
        run_ids=cells.run_ids(cells.every),
    )


def _directions(cells: Cells, setting: Setting) -> tuple[Estimate, ...]:
    """Each direction's typical value over rounds (over all its runs where no round is known), with its interval."""
    directions = []
    for way, values in cells.every.items():
        by_round = cells.by_round[way]
        typical = typical_run(
            list(by_round.values()) or values,
            unit=setting.unit,
            confidence=setting.confidence,
            what=route(*way),
            labels={**setting.labels, "from": way[0], "to": way[1]},
        )
        directions.append(replace(typical, run_ids=cells.run_ids([way], by_round or None)))
    return tuple(directions)


def _pair(i: str, j: str, cells: Cells, base: Setting, codes: tuple[str, ...]) -> Comparison:
    """i -> j over j -> i: by round where two rounds are known, else unpaired, else the bare ratio."""
    import numpy as np

    setting = base._replace(what=f"{route(i, j)} over back", labels={**base.labels, "from": i, "to": j})
    there, back = cells.by_round[i, j], cells.by_round[j, i]
    common = [each for each in there if each in back]
    if len(common) >= 2:
        sides = [np.array([side[each] for each in common]) for side in (there, back)]
        found = compare_rounds(sides[0], sides[1], setting, {"rounds_alone": len(set(there) ^ set(back))})
    elif not there and not back and min(len(cells.every[i, j]), len(cells.every[j, i])) >= 2:
        found = compare(
            cells.every[i, j],
            cells.every[j, i],
            margin=base.margin,
            confidence=base.confidence,
            floor=base.floor,
            unit=base.unit,
            what=setting.what,
            labels=setting.labels,
            seed=base.seed,
        )
    elif common:
        found = _single(there[common[0]], back[common[0]], 1, setting)
    else:
        x, y = cells.every[i, j], cells.every[j, i]
        found = _single(_geometric(x), _geometric(y), min(len(x), len(y)), setting)
    used = common if len(common) >= 2 else common[:1] or None
    return with_run_ids(with_codes(found, codes), cells.run_ids([(i, j), (j, i)], used))


def _single(x: float, y: float, n: int, setting: Setting) -> Comparison:
    """One run each: the ratio is shown, nothing is concluded."""
    method = "none: one run in each direction"

    def shown(what: str, value: float, unit: str) -> Estimate:
        codes = ("no_replication",)
        return Estimate(
            what=what,
            estimate=value,
            low=None,
            high=None,
            unit=unit,
            n=n,
            scope="across_runs",
            confidence=setting.confidence,
            method=method,
            codes=codes,
            labels=dict(setting.labels),
        )

    return Comparison(
        what=setting.what,
        ratio=shown(setting.what, x / y, "ratio"),
        difference=shown(f"{setting.what}, difference", x - y, setting.unit),
        verdict="undetermined",
        margin=parse_margin(setting.margin)[0],
        p=None,
        attainable_p=None,
        scope="across_runs",
        method=method,
        codes=("no_replication",),
        labels=dict(setting.labels),
    )


def with_codes(result: Comparison, codes: tuple[str, ...]) -> Comparison:
    """The comparison and its estimates with further codes in front."""

    def more(own: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(dict.fromkeys((*codes, *own)))

    difference = result.difference
    return replace(
        result,
        codes=more(result.codes),
        ratio=replace(result.ratio, codes=more(result.ratio.codes)),
        difference=None if difference is None else replace(difference, codes=more(difference.codes)),
    )


def _tested(found: list[tuple[tuple[str, str], Comparison]], cells: Cells, setting: Setting) -> tuple[Comparison, ...]:
    """The family of pairs: exact p by Holm and max-T; "different" only where t holds for the family, too."""
    alone = [result for _, result in found]
    by_t = adjust_p([_t_p(result) for result in alone])
    exact_p = _max_t([way for way, _ in found], cells, setting)
    done = []
    for result, family_p, p_max_t in zip(adjust(alone, confidence=setting.confidence), by_t, exact_p, strict=True):
        verdict = result.verdict
        if family_p is None or family_p >= 1 - setting.confidence:
            verdict = _WITHOUT_DIFFERENCE.get(verdict, verdict)
        labels = {**result.labels, "p_max_t": p_max_t, "p_t_holm": family_p, "verdict_alone": result.verdict}
        done.append(replace(result, verdict=verdict, labels=labels))
    return tuple(done)


#: What is left of a verdict where the difference does not hold for the whole family.
_WITHOUT_DIFFERENCE: dict[str, Verdict] = {"different": "undetermined", "different_within_margin": "equivalent"}


def _t_p(result: Comparison) -> float | None:
    """p of the t test that belongs to the interval of the ratio."""
    p = result.ratio.diagnostics.get("t_p")
    return None if p is None else float(p)


def _max_t(ways: list[tuple[str, str]], cells: Cells, setting: Setting) -> list[float | None]:
    """Max-T p of each pair by joint flips of whole rounds; ``None`` where no data of this size could decide."""
    import numpy as np

    rounds = list(dict.fromkeys(each for way in cells.by_round.values() for each in way))
    if not ways or exact.attainable_paired(len(rounds)) > 1 - setting.confidence:
        return [None] * len(ways)
    d = np.full((len(ways), len(rounds)), np.nan)
    for row, (i, j) in enumerate(ways):
        there, back = cells.by_round[i, j], cells.by_round[j, i]
        for column, each in enumerate(rounds):
            if each in there and each in back:
                d[row, column] = math.log(there[each]) - math.log(back[each])
    p, _ = exact.max_t(d, seed=setting.seed)
    return [None if math.isnan(each) else float(each) for each in p]


def _apart(i: str, j: str, zones: Mapping[str, str]) -> bool:
    """Whether two nodes are of different zones, as far as their zones are known."""
    return i != j and (zones.get(i) is None or zones.get(i) != zones.get(j))


def _both(ways: list[tuple[str, str]]) -> list[tuple[str, str]]:
    """Both directions of pairs."""
    return [*ways, *((j, i) for i, j in ways)]


def _complete(cells: Cells, ways: list[tuple[str, str]]) -> list[Hashable]:
    """Rounds in which each of these directions was measured."""
    if not ways:
        return []
    return [each for each in cells.by_round[ways[0]] if all(each in cells.by_round[way] for way in ways)]


def _matrix(cells: Cells, ways: list[tuple[str, str]], nodes: list[str], one: Hashable | None) -> FloatArray:
    """The matrix of one round (or of typical values where ``one`` is None), the directions ``ways`` of it."""
    import numpy as np

    m = np.full((len(nodes), len(nodes)), np.nan)
    for i, j in ways:
        value = _geometric(cells.every[i, j]) if one is None else cells.by_round[i, j][one]
        m[nodes.index(i), nodes.index(j)] = value
    return m


def _initiators(
    cells: Cells, ways: list[tuple[str, str]], setting: Setting
) -> tuple[tuple[Estimate, ...], tuple[Estimate, ...], float | None]:
    """Node effects and curls with t over complete rounds. Costs of hosts add, so this is not on the log scale."""
    import numpy as np

    if not ways:
        return (), (), None
    nodes = [node for node in cells.nodes if any(node in way for way in ways)]
    rounds = _complete(cells, _both(ways))
    ks = [decompose(_matrix(cells, _both(ways), nodes, each)).k for each in (rounds or [None])]
    per_round = np.array([hodge(k).node_effects for k in ks])
    setting = setting._replace(run_ids=cells.run_ids(_both(ways), rounds or None))
    effects = tuple(
        _over_rounds(
            f"initiator {node}", per_round[:, at], bool(rounds), setting, "least squares on the graph of zones"
        )
        for at, node in enumerate(nodes)
    )
    curls = []
    for trio in combinations(range(len(nodes)), 3):
        around = np.array([k[trio[0], trio[1]] + k[trio[1], trio[2]] + k[trio[2], trio[0]] for k in ks])
        if np.isfinite(around).all():
            name = route(*(nodes[at] for at in (*trio, trio[0])))
            used = setting._replace(run_ids=cells.run_ids(permutations([nodes[at] for at in trio], 2), rounds or None))
            curls.append(_over_rounds(f"around {name}", around, bool(rounds), used, "sum of K around a triangle"))
    return effects, tuple(curls), hodge(np.mean(ks, axis=0)).share


def _over_rounds(what: str, values: FloatArray, replicated: bool, setting: Setting, method: str) -> Estimate:
    interval = student_interval(values, setting.confidence)
    codes = ["initiator_only"]
    if interval is None:
        codes.append("constant" if replicated and len(values) > 1 else "no_replication")
    elif len(values) == 2:
        codes.append("two_runs")
    low, high = interval or (None, None)
    return Estimate(
        what=what,
        estimate=float(values.mean()),
        low=low,
        high=high,
        unit=setting.unit,
        n=len(values),
        scope="across_runs",
        confidence=setting.confidence,
        method=f"{method}; Student t over rounds",
        codes=tuple(codes),
        labels=dict(setting.labels),
        run_ids=setting.run_ids,
    )


def _detours(
    cells: Cells, ways: list[tuple[str, str]], zones: Mapping[str, str], setting: Setting
) -> tuple[Estimate, ...]:
    """Corrected triangle excess by round; a violation needs a one-sided lower bound above 0, Holm over triples."""
    import numpy as np
    from scipy.stats import t as student

    nodes = [node for node in cells.nodes if any(node in way for way in ways)]
    rounds = _complete(cells, ways)
    own, source = _own_zone(cells, nodes, zones)
    found: dict[tuple[int, int, int], list[tuple[float, float]]] = {}
    for each in rounds or [None]:
        m = _matrix(cells, ways, nodes, each)
        # Where one initiator is missing, the other's round trip stands for both.
        m = np.where(np.isfinite(m), m, m.T)
        for triple in triangles(decompose(m).s, own):
            found.setdefault((triple.i, triple.j, triple.via), []).append((triple.excess, triple.ratio))
    estimates, p = [], []
    for (i, j, via), values in found.items():
        excess = np.array([each for each, _ in values])
        what = f"{nodes[i]} - {nodes[j]} against the detour over {nodes[via]}"
        used = cells.run_ids(permutations((nodes[i], nodes[j], nodes[via]), 2), rounds or None)
        one = _over_rounds(
            what, excess, bool(rounds), setting._replace(run_ids=used), f"S_ij - (S_ik + S_kj - S_kk), S_kk {source}"
        )
        p.append(
            None
            if one.low is None
            else float(student.sf(excess.mean() / (excess.std(ddof=1) / len(excess) ** 0.5), len(excess) - 1))
        )
        ratio = _geometric(each for _, each in values)
        estimates.append(replace(one, codes=tuple(each for each in one.codes if each != "initiator_only"),
                                 diagnostics={"ratio": ratio, "own_zone": source}))  # fmt: skip
    return tuple(
        replace(
            each,
            diagnostics={
                **each.diagnostics,
                "violated": bool(adjusted is not None and adjusted < 1 - setting.confidence),
                **({} if adjusted is None else {"p_holm": adjusted}),
            },
        )
        for each, adjusted in zip(estimates, adjust_p(p), strict=True)
    )


def _own_zone(cells: Cells, nodes: list[str], zones: Mapping[str, str]) -> tuple[FloatArray, str]:
    """S_kk of each node: the round trip within its zone, else that of another zone, else 0; and where it is from."""
    import numpy as np

    within: dict[str, list[float]] = {}
    for (start, end), values in cells.every.items():
        # A host's way to itself never leaves the host; the way of a zone to itself ("zone 1 → zone 1") does.
        zone = zones.get(start)
        if zone is not None and zone == zones.get(end) and (start != end or start == f"zone {zone}"):
            within.setdefault(zone, []).append(_geometric(values))
    if not within:
        return np.zeros(len(nodes)), "not known: taken as 0, which favours no violation"
    known = {zone: _geometric(values) for zone, values in within.items()}
    typical = _geometric(known.values())
    own = np.array([known.get(zones.get(node, ""), typical) for node in nodes])
    missing = [node for node in nodes if zones.get(node, "") not in known]
    return own, "measured" if not missing else f"of zone {', '.join(known)} for {', '.join(missing)}, too"


def _ranking(cells: Cells, ways: list[tuple[str, str]], setting: Setting) -> tuple[RankSet, ...]:
    """Pairs by the mean of both directions in rounds where both are known, or by the only direction."""
    groups: dict[str, Mapping[Hashable, float] | list[float]] = {}
    run_ids: dict[str, tuple[str, ...]] = {}
    for i, j in ways:
        if f"{j} - {i}" in groups:
            continue
        there = cells.by_round[i, j]
        back = cells.by_round.get((j, i), there)
        common = {each: (there[each] + back[each]) / 2 for each in there if each in back}
        name = f"{i} - {j}"
        groups[name] = common or [*cells.every[i, j], *cells.every.get((j, i), ())]
        run_ids[name] = cells.run_ids([(i, j), (j, i)], common or None)
    ranks = rank_sets(groups, unit=setting.unit, confidence=setting.confidence)
    return tuple(
        replace(rank, run_ids=run_ids[rank.what], level=replace(rank.level, run_ids=run_ids[rank.what]))
        for rank in ranks
    )


# --- one way, where the clocks allow it


def one_way_difference(
    there: Any,
    back: Any,
    clock_error: float,
    *,
    confidence: float = 0.95,
    unit: str = "ns",
    what: str = "there less back",
) -> Estimate:
    """Is one direction slower? From *one-way* delays (owping, TWAMP, tools with synchronised clocks), one number a run.

    ``there``, ``back``: runs in ``unit``; ``clock_error``: the bound e by which the two clocks may be apart. An offset
    of the clocks adds to one direction and is taken off the other, so the difference may be off by 2 e: Welch's
    interval is widened by it on both sides, and a difference within it is no finding (``clock_bound``). Raises
    `ValueError` for a negative bound.
    """
    if not clock_error >= 0:
        raise ValueError(f"clock_error = {clock_error}: the bound of the clocks' offset is not negative")
    found = compare(there, back, statistic="mean", confidence=confidence, unit=unit, floor=0.0, what=what)
    difference = found.difference
    if difference is None or difference.low is None or difference.high is None:
        return replace(found.ratio, what=what, estimate=None, low=None, high=None, unit=unit,
                       codes=found.codes or ("no_replication",))  # fmt: skip
    low, high = difference.low - 2 * clock_error, difference.high + 2 * clock_error
    codes = difference.codes + (
        ("clock_bound",) if low <= 0 <= high and not difference.low <= 0 <= difference.high else ()
    )
    return replace(
        difference, what=what, low=low, high=high, codes=codes,
        assumptions=("the clocks' offset stays within its bound",),
        method="Welch t on run values, widened by twice the bound of the clocks' offset",
        diagnostics={"clock_error": clock_error},
    )  # fmt: skip
