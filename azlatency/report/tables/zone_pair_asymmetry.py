"""Tables of the page "Both directions between zones"."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from operator import attrgetter
from typing import TYPE_CHECKING, Any, NamedTuple

from azlatency.report.objects import Note
from azlatency.report.table import (
    GIGABITS,
    MICROSECONDS,
    Column,
    FileRef,
    Interval,
    Number,
    Ref,
    RunsRef,
    Table,
    Text,
    WithInterval,
)
from azlatency.report.tables.common import (
    COUNT,
    LABELLED_METHOD,
    METHOD,
    PATH,
    TENTHS,
    VERDICTS,
    codes_of,
    explain,
    flags,
    from_runs,
    interval_column,
    level,
    read_in,
)
from azlatency.studies.emulation import both_directions

if TYPE_CHECKING:
    import pandas as pd

    from azlatency.stats.across_runs.asymmetry import Asymmetry
    from azlatency.stats.across_runs.emulation_check import ConfiguredDifference
    from azlatency.stats.result import Comparison, Estimate

#: The value of a run that each metric compares, as `RunsRef` names it.
_COMPARED = {"latency": "typical"}
_NOT_EMULATED = "The network of this study was not emulated: its true one-way delays and rates are unknown."
#: What the description of an emulated network calls the numbers of a direction.
_MEAN, _ACHIEVED, _RATE = "expected_mean_one_way_us_without_overhead", "mean_us", "rate_mbit_s"
_IMPLIED = frozenset({"initiator_only", "no_replication"})


def directions(results: Sequence[Asymmetry]) -> Table[Asymmetry] | Note:
    """Return what each method measured in both directions, and the answer; ``results`` as `asymmetry` returns them."""
    if not results:
        return Note("This study has no log of a path between two ends, so there are no directions to compare.")

    def codes(result: Asymmetry) -> list[str]:
        return [code for code in result.codes if code != "initiator_only"]

    columns: list[Column[Asymmetry]] = [
        Column("what", attrgetter("metric")),
        LABELLED_METHOD,
        Column("ends", lambda result: len(result.nodes), COUNT),
        Column("pairs of zones, both ways", lambda result: len(result.pairs), COUNT),
        Column("rounds", attrgetter("rounds"), COUNT),
        Column("directions", _answer),
        Column("flags", codes, Text(flags)),
    ]
    notes = explain(code for result in results for code in codes(result))
    return Table("What was measured in both directions", columns, results, notes, _compared_runs)


def _compared_runs(result: Asymmetry) -> list[Ref]:
    return [RunsRef(result.run_ids, _COMPARED.get(result.metric, result.metric))]


def _answer(result: Asymmetry) -> str:
    if result.refused:
        return "not estimable"
    if not result.pairs:
        return "no pair in both directions"
    if result.different:
        return "differ: " + ", ".join(f"{pair.labels['from']} → {pair.labels['to']}" for pair in result.different)
    if result.symmetric_enough:
        return "practically equivalent in every pair"
    if not any(pair.ratio.low is not None for pair in result.pairs):
        return "one round: shown, not judged"
    return "inconclusive"


class PairRow(NamedTuple):
    """One pair of one method: the comparison, and the typical value of each direction in canonical units."""

    result: Asymmetry
    comparison: Comparison
    there: Estimate
    back: Estimate
    configured: tuple[pd.Series, pd.Series] | None = None

    @property
    def method(self) -> str:
        """The method."""
        return str(self.result.labels["method"])

    @property
    def is_control(self) -> bool:
        """Whether both ends are in one zone, so that no difference is expected."""
        return self.comparison in self.result.null

    @property
    def ends(self) -> tuple[str, str]:
        """The two ends."""
        return str(self.comparison.labels["from"]), str(self.comparison.labels["to"])

    @property
    def name(self) -> str:
        """The pair as a reader sees it."""
        return " ↔ ".join(self.ends)

    @property
    def verdict(self) -> str:
        """The verdict in words."""
        return VERDICTS[self.comparison.verdict] if self.comparison.ratio.low is not None else "one round"

    def runs_ref(self) -> RunsRef:
        """Return the runs of both directions."""
        return RunsRef(self.comparison.run_ids, _COMPARED.get(self.result.metric, self.result.metric))

    def configured_refs(self, key: str) -> list[FileRef]:
        """Return the lines that configure ``key`` in each direction."""
        return _link_refs(*self.ends, key)


def _pair_rows(results: Iterable[Asymmetry], metric: str, *, with_controls: bool = False) -> list[PairRow]:
    rows = []
    for result in results:
        cells = {(cell.labels["from"], cell.labels["to"]): cell for cell in result.cells}
        matrix = result.matrix()
        for pair in (*result.pairs, *(result.null if with_controls else ())) if result.metric == metric else ():
            start, end = pair.labels["from"], pair.labels["to"]
            there, back = (replace(cells[way], estimate=float(matrix.loc[way])) for way in ((start, end), (end, start)))
            rows.append(PairRow(result, pair, there, back))
    return rows


def _emulated_rows(results: Iterable[Asymmetry], metric: str, links: pd.DataFrame) -> list[PairRow]:
    """The pairs whose two directions ``links`` describes, in the order of their names."""
    rows = [row._replace(configured=both_directions(links, *row.ends)) for row in _pair_rows(results, metric)]
    return sorted((row for row in rows if row.configured is not None), key=lambda row: (row.name, row.method))


def _one_side(index: int, key: str) -> Any:
    return lambda row: row.configured[index][key]


def _both_sides(key: str) -> Any:
    return lambda row: row.configured[0][key] + row.configured[1][key]


def both_ways(results: Sequence[Asymmetry], metric: str = "latency") -> Table[PairRow] | Note:
    """Return each pair by each method: both directions, their ratio, and the verdict."""
    rows = _pair_rows(results, metric, with_controls=True)
    if not rows:
        return Note(f"No pair of ends of this study was measured in both directions for {metric}.")
    unit = read_in(rows[0].result.unit)

    def codes(row: PairRow) -> list[str]:
        return [code for code in row.comparison.codes if code not in _IMPLIED]

    columns: list[Column[PairRow]] = [
        Column("pair", lambda row: row.name + " (one zone)" * row.is_control, names_row=True),
        METHOD,
        Column("verdict", attrgetter("verdict")),
        Column("rounds", attrgetter("comparison.ratio.n"), COUNT),
        Column("there", attrgetter("there.estimate"), Number(",.4g"), unit),
        Column("back", attrgetter("back.estimate"), Number(",.4g"), unit),
        Column("ratio", attrgetter("comparison.ratio.estimate"), Number(".3f")),
        Column("interval", lambda row: (row.comparison.ratio.low, row.comparison.ratio.high), _RatioInterval()),
        Column("flags", codes, Text(flags)),
    ]
    notes = explain(codes_of(row.comparison for row in rows))
    rows.sort(key=lambda row: (row.is_control, row.name))
    title = {"latency": "Round trips", "throughput": "Goodput", "retransmits": "Retransmits (plus ½)"}[metric]
    return Table(
        f"{title} in both directions (scope: across runs)",
        columns,
        rows,
        notes,
        lambda row: [row.runs_ref()],
    )


class _RatioInterval(Interval):
    """The interval of a ratio: two decimals, or two digits where it is very wide."""

    def text(self, value: tuple[float | None, float | None], scale: float) -> str:
        """Return both ends."""
        return Interval(".2f" if (value[1] or 0) < 100 else ",.2g").text(value, scale)


class EstimateRow(NamedTuple):
    """An estimate of one method."""

    method: str
    estimate: Estimate

    @property
    def low(self) -> float | None:
        """Lower end of the interval."""
        return self.estimate.low

    @property
    def high(self) -> float | None:
        """Upper end of the interval."""
        return self.estimate.high

    @property
    def run_ids(self) -> tuple[str, ...]:
        """The runs that the estimate was computed from."""
        return self.estimate.run_ids


_WHAT: Column[EstimateRow] = Column("what", attrgetter("estimate.what"))
_ROUNDS: Column[EstimateRow] = Column("rounds", attrgetter("estimate.n"), COUNT)


def initiators(results: Sequence[Asymmetry]) -> Table[EstimateRow] | Note:
    """Return what each initiator adds to its round trips, and the cyclic residual of each triangle of zones."""
    rows = [
        EstimateRow(str(result.labels["method"]), estimate)
        for result in results
        if result.node_effects
        for estimate in (*result.node_effects, *result.curls)
    ]
    if not rows:
        return Note(
            "No initiator effects: no pair of different zones was measured in both directions, so the effect of an "
            "initiator cannot be separated from the path."
        )
    columns: list[Column[EstimateRow]] = [
        METHOD,
        _WHAT,
        _ROUNDS,
        Column("adds", attrgetter("estimate.estimate"), TENTHS, MICROSECONDS),
        interval_column("interval", ",.1f", MICROSECONDS),
        Column("flags", lambda row: [code for code in row.estimate.codes if code != "initiator_only"], Text(flags)),
    ]
    caption = "Initiator effects and cyclic residuals (scope: across runs)"
    notes = explain(codes_of(row.estimate for row in rows))
    return Table(caption, columns, rows, notes, from_runs("typical"))


def detours(results: Sequence[Asymmetry]) -> Table[EstimateRow] | Note:
    """Return the direct path against each detour, corrected for the inside of the zone that the detour passes."""
    rows = [EstimateRow(str(result.labels["method"]), estimate) for result in results for estimate in result.detours]
    if not rows:
        return Note("No triangle: no three zones of this study were measured pair by pair by one method.")
    columns: list[Column[EstimateRow]] = [
        Column("direct path and detour", attrgetter("estimate.what"), names_row=True),
        METHOD,
        _ROUNDS,
        Column("direct less detour", attrgetter("estimate.estimate"), TENTHS, MICROSECONDS),
        interval_column("interval", ",.0f", MICROSECONDS),
        Column("direct ÷ detour", lambda row: row.estimate.diagnostics["ratio"], Number(".2f")),
        Column("detour shorter?", _is_shorter),
    ]
    inside = dict.fromkeys(str(row.estimate.diagnostics["own_zone"]) for row in rows)
    notes = [f"The inside of the zone passed: {'; '.join(inside)}."]
    rows.sort(key=lambda row: (row.estimate.what, row.method))
    return Table("Triangles (scope: across runs)", columns, rows, notes, from_runs("typical"))


def _is_shorter(row: EstimateRow) -> str:
    if row.estimate.diagnostics["violated"]:
        return "yes"
    return "no" if row.low is not None else "one round: not judged"


class RankRow(NamedTuple):
    """The rank set of a pair of zones by one method."""

    method: str
    ranks: Any


def ranks(results: Sequence[Asymmetry]) -> Table[RankRow] | Note:
    """Return for each pair of zones every rank that the data cannot exclude."""
    rows = [RankRow(str(result.labels["method"]), ranks) for result in results for ranks in result.ranking]
    if not rows:
        return Note("No ranks: fewer than two pairs of zones were measured by one method.")
    confidence = level(next(result.confidence for result in results if result.ranking))
    columns: list[Column[RankRow]] = [
        METHOD,
        Column("pair", attrgetter("ranks.what"), names_row=True),
        Column("rounds", attrgetter("ranks.level.n"), COUNT),
        Column("RTT", attrgetter("ranks.level.estimate"), TENTHS, MICROSECONDS),
        Column(
            f"{confidence} interval",
            lambda row: (row.ranks.level.low, row.ranks.level.high),
            Interval(",.1f"),
            MICROSECONDS,
        ),
        Column("rank, 1 = shortest", lambda row: (row.ranks.low, row.ranks.high), _RANKS, align="left"),
        Column("flags", attrgetter("ranks.codes"), Text(flags)),
    ]
    notes = [
        f"The ranks of one method hold jointly with {confidence} confidence.",
        *explain(codes_of(row.ranks for row in rows)),
    ]
    return Table(
        "Ranks of the pairs (scope: across runs)",
        columns,
        rows,
        notes,
        lambda row: [RunsRef(row.ranks.run_ids, "typical")],
    )


class _Ranks(Interval):
    """A rank, or the first and the last one that are possible."""

    def text(self, value: tuple[int, int], scale: float) -> str:
        """Return the ranks."""
        return " to ".join(dict.fromkeys(map(str, value)))


_RANKS = _Ranks()


# --- emulated networks


def configured_delays(links: pd.DataFrame, results: Sequence[Asymmetry]) -> Table[PairRow] | Note:
    """Return the configured one-way delays and the round trips measured from both ends.

    ``links``: `azlatency.configured_links`; ``results``: `azlatency.asymmetry`.
    """
    if not len(links):
        return Note(_NOT_EMULATED)
    rows = _emulated_rows(results, "latency", links)
    if not rows:
        return Note("The network was emulated, but no method measured round trips in both directions.")
    measured = WithInterval(",.0f")
    columns: list[Column[PairRow]] = [
        Column("pair", attrgetter("name"), names_row=True),
        METHOD,
        Column("configured there", _one_side(0, "mean_ns"), COUNT, MICROSECONDS,
               source=lambda row: row.configured_refs(_MEAN)[:1]),
        Column("configured back", _one_side(1, "mean_ns"), COUNT, MICROSECONDS,
               source=lambda row: row.configured_refs(_MEAN)[1:]),
        Column("sum of both", _both_sides("mean_ns"), COUNT, MICROSECONDS),
        Column("sum the emulator achieved", _both_sides("achieved_ns"), COUNT, MICROSECONDS),
        Column("measured from the first", attrgetter("there"), measured, MICROSECONDS, align="right"),
        Column("measured from the second", attrgetter("back"), measured, MICROSECONDS, align="right"),
        Column("directions", attrgetter("verdict")),
    ]  # fmt: skip
    notes = [
        "Configured: mean one-way delay with its jitter; achieved: what the emulator itself measured when idle. The "
        "round trip of a tool also includes the time of the two hosts, so it is expected to exceed both sums."
    ]

    def source(row: PairRow) -> list[Ref]:
        return [row.runs_ref(), *row.configured_refs(_MEAN), *row.configured_refs(_ACHIEVED)]

    return Table("Measured round trips and configured one-way delays", columns, rows, notes, source)


def configured_differences(
    links: pd.DataFrame, results: Sequence[ConfiguredDifference]
) -> Table[ConfiguredDifference] | Note:
    """Return how much longer each path is than the shortest pair, as measured and as configured.

    ``links``: `azlatency.configured_links`; ``results``: `azlatency.configured_differences`.
    """
    rows = [step for step in results if step.difference.low is not None and step.difference.high is not None]
    if not results:
        return Note(_NOT_EMULATED)
    if not rows:
        return Note("No method measured the shortest pair and another one in several runs, so there is no interval.")
    columns: list[Column[ConfiguredDifference]] = [
        METHOD,
        PATH,
        Column("runs", attrgetter("difference.n"), COUNT),
        Column("longer by", attrgetter("difference.estimate"), TENTHS, MICROSECONDS),
        Column("interval", lambda step: (step.difference.low, step.difference.high), Interval(",.1f"), MICROSECONDS,
               align="left"),
        Column("configured", attrgetter("configured"), TENTHS, MICROSECONDS),
        Column("inside", lambda step: step.holds(step.configured)),
        Column("achieved idle", attrgetter("achieved"), TENTHS, MICROSECONDS),
        Column("inside, too", lambda step: step.holds(step.achieved)),
    ]  # fmt: skip
    counts = []
    for method in dict.fromkeys(step.method for step in rows):
        steps = [step for step in rows if step.method == method]
        configured = sum(bool(step.holds(step.configured)) for step in steps)
        achieved = sum(bool(step.holds(step.achieved)) for step in steps)
        counts.append(
            f"{method}: {configured} of {len(steps)} configured and {achieved} of {len(steps)} achieved differences "
            "inside"
        )
    notes = [
        "; ".join(counts) + ".",
        f"Compared with {rows[0].reference}, both directions of it. Mean round-trip times; "
        f"{level(rows[0].difference.confidence)} intervals, not adjusted for their number, across runs. Single runs "
        "are left out.",
    ]

    def source(step: ConfiguredDifference) -> list[Ref]:
        ends = [(links.loc[path, "sender"], links.loc[path, "receiver"]) for path in (step.path, step.reference)]
        refs = [ref for start, end in ends for key in (_MEAN, _ACHIEVED) for ref in _link_refs(start, end, key)]
        return [RunsRef(step.run_ids, "mean_ns"), *refs]

    return Table("Measured and configured differences", columns, rows, notes, source)


def _link_refs(start: str, end: str, key: str) -> list[FileRef]:
    """The lines that configure ``key`` in each direction."""
    return [FileRef("truth.json", key, entry) for entry in (f"{start}->{end}", f"{end}->{start}")]


def configured_rates(links: pd.DataFrame, results: Sequence[Asymmetry]) -> Table[PairRow] | Note:
    """Return the configured rates of both directions and the goodputs measured in them."""
    if not len(links):
        return Note(_NOT_EMULATED)
    rows = _emulated_rows(results, "throughput", links)
    if not rows:
        return Note("The network was emulated, but no method measured goodput in both directions.")
    columns: list[Column[PairRow]] = [
        Column("pair", attrgetter("name"), names_row=True),
        METHOD,
        Column("configured there", _one_side(0, "rate"), Number(",.3f"), GIGABITS,
               source=lambda row: row.configured_refs(_RATE)[:1]),
        Column("configured back", _one_side(1, "rate"), Number(",.3f"), GIGABITS,
               source=lambda row: row.configured_refs(_RATE)[1:]),
        Column("configured ratio", _configured_ratio, Number(".2f")),
        Column("measured there", attrgetter("there.estimate"), Number(",.3f"), GIGABITS),
        Column("measured back", attrgetter("back.estimate"), Number(",.3f"), GIGABITS),
        Column("ratio", attrgetter("comparison.ratio.estimate"), Number(".2f")),
        Column("interval", lambda row: (row.comparison.ratio.low, row.comparison.ratio.high), Interval(".2f")),
        Column("configured ratio inside?", _is_inside),
    ]  # fmt: skip
    note = (
        "A configured rate limits the link with all headers; goodput is what the application got. A tool that does not "
        "fill the link does not show the ratio of the links."
    )
    return Table(
        "Measured goodput and configured rates",
        columns,
        rows,
        [note],
        lambda row: [row.runs_ref(), *row.configured_refs(_RATE)],
    )


def _configured_ratio(row: PairRow) -> float:
    return float(_one_side(0, "rate")(row) / _one_side(1, "rate")(row))


def _is_inside(row: PairRow) -> str:
    low, high = row.comparison.ratio.low, row.comparison.ratio.high
    if low is None or high is None:
        return "one round"
    return "yes" if low <= _configured_ratio(row) <= high else "no"
