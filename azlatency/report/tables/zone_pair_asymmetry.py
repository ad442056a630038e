"""Tables of the page "Both directions between zones"."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from operator import attrgetter
from typing import TYPE_CHECKING, NamedTuple

from azlatency.report.objects import Note
from azlatency.report.table import (
    GIGABITS,
    MICROSECONDS,
    Column,
    FileRef,
    Format,
    Ref,
    RunsRef,
    Table,
    Unit,
    interval,
    number,
    with_interval,
    words,
)
from azlatency.report.tables.common import (
    COUNT,
    DECIDES,
    FLAGS,
    LABELLED_METHOD,
    METHOD,
    PATH,
    TENTHS,
    codes_of,
    explain,
    flags,
    from_runs,
    interval_column,
    level,
    read_in,
)
from azlatency.stats.across_runs.ranking import MOST_RANKED
from azlatency.stats.result import results_only
from azlatency.studies.emulation import both_directions
from azlatency.studies.runs.path import NetworkPath

if TYPE_CHECKING:
    import pandas as pd

    from azlatency.stats.across_runs.asymmetry import Asymmetry
    from azlatency.stats.across_runs.emulation_check import EmulatedDifference
    from azlatency.stats.result import Comparison, Estimate

#: The value of a run that each metric compares, as `RunsRef` names it.
_COMPARED = {"latency": "typical"}
_NOT_EMULATED = "The network of this study was not emulated: its true one-way delays and rates are unknown."
#: What the description of an emulated network calls the numbers of a direction.
_IMPLIED = frozenset({"initiator_only", "no_replication"})


@results_only
def directions(results: Sequence[Asymmetry]) -> Table[Asymmetry] | Note:
    """Return what each method measured in both directions, and the answer; ``results`` as `asymmetry` returns them."""
    if not results:
        return Note(
            "This study has no log of a path between two zones or hosts, so there are no directions to compare."
        )

    def codes(result: Asymmetry) -> list[str]:
        return [code for code in result.codes if code != "initiator_only"]

    columns: list[Column[Asymmetry]] = [
        Column("what", attrgetter("metric")),
        LABELLED_METHOD,
        Column("ends", lambda result: len(result.nodes), COUNT),
        Column("pairs of zones, both ways", lambda result: len(result.pairs), COUNT),
        Column("rounds", attrgetter("rounds"), COUNT),
        Column("directions", _answer),
        Column("flags", codes, words(flags)),
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
        return "one round: shown, not judged" if result.rounds == 1 else "no interval: shown, not judged"
    return "inconclusive"


class PairRow(NamedTuple):
    """One pair of one method: its comparison, and the typical value of each direction in canonical units.

    A control pair has both ends in one zone, so no difference is expected. ``links``: the configured links there and
    back of an emulated network.
    """

    ends: tuple[str, str]
    method: str
    is_control: bool
    verdict: str
    comparison: Comparison
    there: Estimate
    back: Estimate
    runs: RunsRef
    unit: str
    links: tuple[pd.Series, ...] = ()

    @property
    def name(self) -> str:
        """The pair as a reader sees it."""
        return " ↔ ".join(self.ends)


def _pair_rows(results: Iterable[Asymmetry], metric: str, *, with_controls: bool = False) -> list[PairRow]:
    rows = []
    for result in (result for result in results if result.metric == metric):
        cells = {(cell.labels["from"], cell.labels["to"]): cell for cell in result.cells}
        matrix = result.matrix()
        for pair in (*result.pairs, *(result.null if with_controls else ())):
            ends = str(pair.labels["from"]), str(pair.labels["to"])
            there, back = (replace(cells[way], estimate=float(matrix.loc[way])) for way in (ends, ends[::-1]))
            rows.append(
                PairRow(
                    ends=ends,
                    method=str(result.labels["method"]),
                    is_control=pair in result.null,
                    verdict=_verdict(pair),
                    comparison=pair,
                    there=there,
                    back=back,
                    runs=RunsRef(pair.run_ids, _COMPARED.get(metric, metric)),
                    unit=result.unit,
                )
            )
    return rows


def _verdict(pair: Comparison) -> str:
    if pair.ratio.low is not None:
        return pair.verdict_in_words
    if pair.ratio.n < 2:
        return "one round"
    return "equal in every round" if "constant" in pair.codes else "not judged"


def _emulated_rows(results: Iterable[Asymmetry], metric: str, links: pd.DataFrame) -> list[PairRow]:
    """Return the pairs with configured links in both directions, sorted by name."""
    rows = [row._replace(links=both_directions(links, *row.ends) or ()) for row in _pair_rows(results, metric)]
    return sorted((row for row in rows if row.links), key=lambda row: (row.name, row.method))


def _link_column(header: str, index: int, value: str, shown: Format, unit: Unit) -> Column[PairRow]:
    """Return a column with the configured value of one direction and the line that configures it."""
    return Column(
        header,
        lambda row: row.links[index][value],
        shown,
        unit,
        source=lambda row: [_link_refs(*row.ends)[index]],
    )


def _sum_of_links(value: str) -> Callable[[PairRow], float]:
    return lambda row: sum(float(link[value]) for link in row.links)


def _link_refs(start: str, end: str) -> list[FileRef]:
    """Return the lines that configure each direction."""
    return [FileRef("truth.json", f"{one}->{other}") for one, other in ((start, end), (end, start))]


@results_only
def both_ways(results: Sequence[Asymmetry], metric: str = "latency") -> Table[PairRow] | Note:
    """Return each pair by each method: both directions, their ratio, and the verdict."""
    rows = _pair_rows(results, metric, with_controls=True)
    if not rows:
        return Note(f"No pair of ends of this study was measured in both directions for {metric}.")
    unit = read_in(rows[0].unit)

    def codes(row: PairRow) -> list[str]:
        # The verdict follows from Student's t where ranks have too few rounds; the findings say so.
        decided = row.comparison.verdict != "inconclusive"
        implied = (*_IMPLIED, "few_runs") if decided else _IMPLIED
        return [code for code in row.comparison.codes if code not in implied]

    # A round with one direction only counts for that direction, and not for the ratio.
    unpaired = any({row.there.n, row.back.n} != {row.comparison.ratio.n} for row in rows)
    of_all, of_pairs = (", all runs", ", complete rounds") if unpaired else ("", "")
    columns: list[Column[PairRow]] = [
        Column("pair", lambda row: row.name + " (one zone)" * row.is_control, names_row=True),
        METHOD,
        Column("verdict", attrgetter("verdict")),
        Column("rounds", attrgetter("comparison.ratio.n"), COUNT),
        Column(f"there{of_all}", attrgetter("there.estimate"), number(",.4g"), unit),
        Column(f"back{of_all}", attrgetter("back.estimate"), number(",.4g"), unit),
        Column(f"median ratio of a round{of_pairs}", attrgetter("comparison.ratio.estimate"), number(".3f")),
        Column("interval that decides", lambda row: _ends(*row.comparison.decides[:2]), _RATIO_INTERVAL),
        Column("flags", codes, words(flags)),
    ]
    notes = [
        "There and back: the median run of each direction. The median of the ratios of the rounds may differ from the "
        "ratio of these medians.",
        DECIDES,
        *explain(codes_of(row.comparison for row in rows)),
    ]
    rows.sort(key=lambda row: (row.is_control, row.name))
    title = {"latency": "Round trips", "throughput": "Goodput", "retransmits": "Retransmits (plus ½)"}[metric]
    return Table(f"{title} in both directions (scope: across runs)", columns, rows, notes, lambda row: [row.runs])


def _ends(low: float | None, high: float | None) -> tuple[float | None, float | None]:
    """Return the ends of an interval; one without a width shows the resolution of the values, not their spread."""
    return (None, None) if low == high else (low, high)


def _ratio_interval(value: tuple[float | None, float | None], scale: float) -> str:
    """Format an interval with two decimals, or two digits if it is very wide."""
    return interval(".2f" if (value[1] or 0) < 100 else ",.2g").text(value, scale)


_RATIO_INTERVAL = replace(interval(), text=_ratio_interval)
_ROUNDS: Column[Estimate] = Column("rounds", attrgetter("n"), COUNT)


@results_only
def ranks(results: Sequence[Asymmetry]) -> Table[Estimate] | Note:
    """Return the pairs of zones in the order of their typical run, with the ranks that are certain."""
    rows = [pair for result in results for pair in result.ranking]
    if not rows:
        return Note(f"No order: no method measured two to {MOST_RANKED} pairs of zones.")
    columns: list[Column[Estimate]] = [
        LABELLED_METHOD,
        Column("pair", attrgetter("what"), names_row=True),
        Column("rounds or runs", attrgetter("n"), COUNT),
        Column("RTT", attrgetter("estimate"), TENTHS, MICROSECONDS),
        interval_column(",.1f"),
        Column("rank", lambda row: row.labels["rank"], COUNT),
        FLAGS,
    ]
    notes = [
        "The shortest first. A pair has a rank if it differs from every other one of its method (Holm's method over "
        "all comparisons).",
        *explain(codes_of(rows)),
    ]
    return Table("Pairs by round-trip time (scope: across runs)", columns, rows, notes, from_runs("typical"))


# --- emulated networks


@results_only
def configured_delays(links: pd.DataFrame, results: Sequence[Asymmetry]) -> Table[PairRow] | Note:
    """Return the configured one-way delays and the round trips measured from both ends.

    ``links``: `azlatency.studies.configured_links`; ``results``: `azlatency.asymmetry`.
    """
    if not len(links):
        return Note(_NOT_EMULATED)
    rows = _emulated_rows(results, "latency", links)
    if not rows:
        return Note("The network was emulated, but no method measured round trips in both directions.")
    measured = with_interval(",.0f")
    columns: list[Column[PairRow]] = [
        Column("pair", attrgetter("name"), names_row=True),
        METHOD,
        _link_column("configured there", 0, "mean_ns", COUNT, MICROSECONDS),
        _link_column("configured back", 1, "mean_ns", COUNT, MICROSECONDS),
        Column("sum of both", _sum_of_links("mean_ns"), COUNT, MICROSECONDS),
        Column("measured from the first", attrgetter("there"), measured, MICROSECONDS, align="right"),
        Column("measured from the second", attrgetter("back"), measured, MICROSECONDS, align="right"),
        Column("directions", attrgetter("verdict")),
    ]  # fmt: skip
    notes = [
        "Configured: mean one-way delay with its jitter. The round trip of a tool also includes the time of the two "
        "hosts, so it is expected to exceed the sum."
    ]

    def source(row: PairRow) -> list[Ref]:
        return [row.runs, *_link_refs(*row.ends)]

    return Table("Measured round trips and configured one-way delays", columns, rows, notes, source)


@results_only
def emulated_differences(results: Sequence[EmulatedDifference]) -> Table[EmulatedDifference] | Note:
    """Return how much longer each path is than the shortest pair, as measured and as the emulator recorded.

    ``results``: `azlatency.stats.emulated_differences`.
    """
    if not results:
        return Note(_NOT_EMULATED)
    rows = [step for step in results if step.holds is not None]
    if not rows:
        return Note(
            "No method measured the shortest pair and another pair in several rounds, so there are no intervals."
        )
    columns: list[Column[EmulatedDifference]] = [
        METHOD,
        PATH,
        Column("rounds", attrgetter("difference.n"), COUNT),
        Column("compared", lambda step: step.value.removesuffix("_ns")),
        Column("longer by", attrgetter("difference.estimate"), TENTHS, MICROSECONDS),
        Column("interval", lambda step: (step.difference.low, step.difference.high), interval(",.1f"), MICROSECONDS,
               align="left"),
        Column("recorded", attrgetter("recorded"), TENTHS, MICROSECONDS),
        Column("inside", attrgetter("holds")),
        Column("error", attrgetter("error"), number("+z,.1f"), MICROSECONDS),
        Column("configured", attrgetter("configured"), TENTHS, MICROSECONDS),
    ]  # fmt: skip
    notes = [
        f"Compared with {rows[0].reference} and its reverse in the same round; "
        f"{level(rows[0].difference.confidence)} intervals of the median round, not adjusted for multiplicity. "
        "Recorded: the same difference of what the emulator recorded in these runs, without the time of the hosts. "
        "Error: what a host takes longer after a longer wait."
    ]

    def source(step: EmulatedDifference) -> list[Ref]:
        links = [_link_refs(*(NetworkPath.parse(path).ends or ("", ""))) for path in (step.path, step.reference)]
        return [RunsRef(step.run_ids, step.value), *(ref for pair in links for ref in pair)]

    return Table("Measured and recorded differences", columns, rows, notes, source)


@results_only
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
        _link_column("configured there", 0, "rate_bit_s", number(",.3f"), GIGABITS),
        _link_column("configured back", 1, "rate_bit_s", number(",.3f"), GIGABITS),
        Column("configured ratio", _configured_ratio, number(".2f")),
        Column("measured there", attrgetter("there.estimate"), number(",.3f"), GIGABITS),
        Column("measured back", attrgetter("back.estimate"), number(",.3f"), GIGABITS),
        Column("median ratio of a round", attrgetter("comparison.ratio.estimate"), number(".2f")),
        Column("interval", lambda row: _ends(row.comparison.ratio.low, row.comparison.ratio.high), interval(".2f")),
        Column("configured ratio inside?", _is_inside),
    ]  # fmt: skip
    note = (
        "A configured rate limits the link with all headers; goodput counts application bytes. A tool that does not "
        "saturate the link cannot show the ratio of the rates."
    )
    return Table(
        "Measured goodput and configured rates", columns, rows, [note], lambda row: [row.runs, *_link_refs(*row.ends)]
    )


def _configured_ratio(row: PairRow) -> float:
    return float(row.links[0]["rate_bit_s"] / row.links[1]["rate_bit_s"])


def _is_inside(row: PairRow) -> str:
    low, high = row.comparison.ratio.low, row.comparison.ratio.high
    if low is None or high is None:
        return row.verdict
    return "yes" if low <= _configured_ratio(row) <= high else "no"
