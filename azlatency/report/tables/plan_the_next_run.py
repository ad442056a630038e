"""Tables of the page "Planning the next measurement"."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from azlatency.report.objects import Note, Runs, Table
from azlatency.report.tables.common import formula, remarks, typical_values, whole

if TYPE_CHECKING:
    import pandas as pd

    from azlatency.stats.across_runs.planning import PercentileSize, Plan, ZoneRounds


def plans(found: Sequence[Plan]) -> Table | Note:
    """Runs needed path by path; ``found``: `azlatency.plans_by_path`."""
    if not found:
        return Note("This study holds no runs to learn a spread from: begin with a handful of rounds of every path.")
    known = [each for each in found if each.at_pilot_spread is not None]
    if not known:
        return Note(
            f"Each of {len(found)} combinations of path and method was measured once: one run shows no spread, so no "
            "number of runs can be derived from it. Begin with a handful of rounds."
        )
    rows = [
        (
            str(each.labels["path"]),
            str(each.labels["method"]),
            whole(each.done),
            whole(each.at_pilot_spread),
            f"{whole(each.low)} – {whole(each.high) or '∞'}",
            whole(each.high) or "more than can be named",
            "range only: few runs" if "few_clusters" in each.codes else remarks(each.codes),
        )
        for each in known
    ]
    headers = (
        "path", "method", "done", "at the pilot's spread", "range", "plan with", "remark"
    )  # fmt: skip
    notes = [f"{known[0].what}, {100 * known[0].confidence:g} % confidence; {known[0].method}."]
    if len(known) < len(found):
        notes.append(f"{len(found) - len(known)} further combinations were measured once or without any spread.")
    return Table(
        f"{known[0].what[0].upper()}{known[0].what[1:]} (scope: across runs)", headers, rows, frozenset(range(2, 6)),
        notes, [{0: (Runs(str(each.labels.get("value", "typical"))),)} for each in known],
    )  # fmt: skip


def confirmed(found: Sequence[Plan]) -> Table | Note:
    """What exact CONFIRM says of paths with many runs; ``found``: `azlatency.confirm_by_path`."""
    if not found:
        return Note("This study holds no runs.")
    answered = [each for each in found if not each.codes]
    if not answered:
        most = max(each.done for each in found)
        return Note(
            f"No path of this study has enough runs: CONFIRM looks back at more than ten runs of one path and method, "
            f"and the most that any has here is {most}."
        )
    rows = [
        (
            str(each.labels["path"]),
            str(each.labels["method"]),
            whole(each.done),
            whole(each.needed) or f"more than {whole(each.done)}",
        )
        for each in answered
    ]
    headers = ("path", "method", "runs done", "runs that would have done")
    notes = [f"{answered[0].what}; {answered[0].method}."]
    return Table("CONFIRM, exact (scope: across runs)", headers, rows, frozenset({2, 3}), notes, typical_values(rows))


def smallest_sizes(found: Sequence[PercentileSize]) -> Table:
    """Fewest observations for each percentile; ``found``: `azlatency.percentile_sizes`."""
    runs = found[0].runs
    rows = [
        (
            f"p{100 * each.q:.6g}",
            whole(each.two),
            whole(each.upper),
            whole(each.range),
            f"{each.enough:,} of {each.runs:,}" if runs else "no runs",
        )
        for each in found
    ]
    headers = (
        "percentile",
        "for both bounds",
        "for an upper bound",
        "smallest to largest",
        "runs with enough for both",
    )
    notes = [
        "Independent observations. Packets of one connection are not: with a dependence that makes ten packets worth "
        "one, ten times as many are needed.",
        formula("the percentile and the confidence level", "the first three columns"),
    ]
    origins = [{0: (Runs("n", every=True),)} for _ in rows] if runs else []
    return Table("Fewest observations of one run", headers, rows, frozenset({1, 2, 3, 4}), notes, origins)


def rounds(found: Sequence[ZoneRounds], runs: pd.DataFrame) -> Table:
    """Fewest rounds before a test can decide; ``found``: `azlatency.rounds_by_zones`, ``runs`` those of the study."""
    rows = [(str(each.zones), whole(each.pairs), whole(each.rounds), whole(each.unpaired)) for each in found]
    headers = ("zones", "pairs to tell apart", "rounds, both ends in each", "or runs on each side, without rounds")
    known = runs["round"].dropna() if len(runs) else ()
    done = f"This study has {len(set(known))} rounds." if len(known) else "This study was not measured in rounds."
    notes = [
        done, "That is when a test can begin to decide, not when it will: plan more.",
        formula("the number of zones and the confidence level"),
    ]  # fmt: skip
    return Table("Before any test can reach its level", headers, rows, frozenset(range(4)), notes)
