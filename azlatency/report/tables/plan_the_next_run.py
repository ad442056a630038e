"""Tables of the page "Planning the next measurement"."""

from __future__ import annotations

from collections.abc import Sequence
from operator import attrgetter
from typing import TYPE_CHECKING

from azlatency.kit.cells import Column, RunsRef, Table, interval, number, words
from azlatency.kit.objects import Note
from azlatency.kit.units import level
from azlatency.report.tables.common import COUNT, LABELLED_METHOD, LABELLED_PATH, computed_from, flags, from_runs
from azlatency.stats.result import results_only

if TYPE_CHECKING:
    from azlatency.stats.across_runs.attainable import PercentileSize
    from azlatency.stats.across_runs.planning import Plan


@results_only
def plans(results: Sequence[Plan]) -> Table[Plan] | Note:
    """Return the runs that each path needs; ``results`` as `plan` returns them."""
    if not results:
        return Note("This study has no runs to estimate a spread from. Start with five rounds of every path.")
    rows = [plan for plan in results if plan.at_pilot_spread is not None]
    if not rows:
        return Note(
            f"All {len(results)} combinations of path and method have a single run, so the spread between runs is "
            "unknown. Start with five rounds."
        )
    columns: list[Column[Plan]] = [
        LABELLED_PATH,
        LABELLED_METHOD,
        Column("done", attrgetter("done"), COUNT),
        Column("at the pilot's spread", attrgetter("at_pilot_spread"), COUNT),
        Column("range", lambda plan: (plan.low, plan.high), interval(",.0f", no_high="∞")),
        Column("plan with", attrgetter("high"), number(",.0f", missing="beyond the search")),
        Column("flags", attrgetter("codes"), words(_flags)),
    ]
    notes = [f"{rows[0].what}, {level(rows[0].confidence)} confidence; {rows[0].method}."]
    if len(rows) < len(results):
        notes.append(f"{len(results) - len(rows)} further combinations were measured once or without any spread.")
    caption = f"{rows[0].what[0].upper()}{rows[0].what[1:]} (scope: across runs)"

    def source(plan: Plan) -> list[RunsRef]:
        return [RunsRef(plan.run_ids, str(plan.labels.get("value", "typical")))]

    return Table(caption, columns, rows, notes, source)


def _flags(codes: Sequence[str]) -> str:
    return "range only: few runs" if "few_clusters" in codes else flags(codes)


@results_only
def smallest_sizes(results: Sequence[PercentileSize]) -> Table[PercentileSize]:
    """Return the fewest observations for each percentile; ``results`` as `percentile_sizes` returns them."""
    runs = results[0].runs
    columns: list[Column[PercentileSize]] = [
        Column("percentile", lambda size: f"p{100 * size.q:.6g}"),
        Column("for both bounds", attrgetter("two"), COUNT),
        Column("for an upper bound", attrgetter("upper"), COUNT),
        Column("smallest to largest", attrgetter("range"), COUNT),
        Column("runs with enough for both",
               lambda size: f"{size.enough:,} of {size.runs:,}" if size.runs else "no runs", align="right"),
    ]  # fmt: skip
    notes = [
        "Independent observations. Packets of one connection are autocorrelated: if ten packets carry as much "
        "information as one, you need ten times as many.",
        computed_from("the percentile and the confidence level", "the first three columns"),
    ]
    source = from_runs("n") if runs else None
    return Table("Fewest observations of one run", columns, results, notes, source)
