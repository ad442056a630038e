"""How many runs, and how long, until the answer is precise enough? Tables, charts and findings of page 10."""

from __future__ import annotations

from typing import Any

import pandas as pd

from azlatency.kit.cells import NO_LOG, Table, Unit
from azlatency.kit.findings import act, answer, info, join_by_method
from azlatency.kit.objects import Chart, Finding, Findings, Note
from azlatency.kit.table import between, count, number, table, text
from azlatency.kit.titles import capitalised
from azlatency.kit.words import say
from azlatency.pages.common import ordered
from azlatency.shapes.forest import forest, two_beside
from azlatency.stats.result import FEASIBLE, SHORT
from azlatency.studies.format import percent, percentile, plain

_RUNS = Unit(1.0, "runs")
_NO_SPREAD = (
    "No chart: no path of this study has two runs with the same method, so the spread between runs is unknown. Run "
    "each path a few times first."
)
_MARKS = (
    "Bar: from the lower to the upper bound of the spread of runs; tick: if the true spread equals the observed one; "
    f"number: the upper bound, to plan with (> {FEASIBLE}: longer runs or more machines help more); hollow dot: runs "
    "done."
)


# --- how many runs


def plans(found: pd.DataFrame) -> Table | Note:
    """Return the runs that each path needs."""
    if found.empty:
        return Note("This study has no runs to estimate a spread from. Start with five rounds of every path.")
    rows = _with_spread(found)
    if rows.empty:
        return Note(
            f"All {len(found)} combinations of path and method have a single run, so the spread between runs is "
            "unknown. Start with five rounds."
        )
    columns = {
        "path": text("path", names_row=True),
        "method": text("method", names_row=True),
        "done": count("done"),
        "at the pilot's spread": count("at_pilot_spread"),
        "range": between("low", "high", ",.0f", no_high="∞"),
        "plan with": number("high", ",.0f", missing="beyond the search"),
        "flags": text("words"),
    }
    first = rows.iloc[0]
    notes = [f"{first['what']}, {percent(first['confidence'])} confidence; {first['statistic']}."]
    if len(rows) < len(found):
        notes.append(f"{len(found) - len(rows)} further combinations were measured once or without any spread.")
    rows = rows.assign(words=[", ".join(SHORT[flag] for flag in flags.split()) for flags in rows["flags"]])
    caption = f"{capitalised(first['what'])} (scope: across runs)"
    return table(rows.drop(columns="flags"), caption, columns, notes, value=lambda row: row["value"])


def runs_needed(found: pd.DataFrame) -> Chart | Note:
    """Draw the runs that each path needs, at the pilot's spread and at the bounds of the true spread."""
    rows = _with_spread(found).sort_values(["high", "at_pilot_spread"], kind="stable")
    if rows.empty:
        return Note(_NO_SPREAD)
    if len(rows) == 1:
        return Note(f"No chart: one path only. {say(rows)}.")
    return _forest(
        ordered(rows, "method", found["method"]),
        panel="method",
        row="path",
        beside=two_beside(rows, "method", "path"),
        xlabel=rows["what"].iloc[0],
        caption="Runs needed per path.",
        ordering="Fewest first.",
        of="paths and methods",
        result=_enough(rows).replace("**", "").removesuffix("."),
        name="runs_needed",
    )


def precision(curves: pd.DataFrame) -> Chart | Note:
    """Draw the runs needed for intervals of several widths, one panel per method; the title speaks of the first."""
    rows = _with_spread(curves)
    if rows.empty:
        return Note(_NO_SPREAD)
    rows = rows.assign(
        panel=rows["method"] + ", " + rows["path"], width=[f"±{percent(width)}" for width in rows["precision"]]
    )
    return _forest(
        rows,
        panel="panel",
        row="width",
        beside=2,
        xlabel="runs",
        caption="Runs needed for an interval of a given half-width, for the path of each method that needs the most.",
        of="widths and methods",
        result=_narrowest(rows[rows["method"] == rows["method"].iloc[0]]),
        name="precision",
    )


def _with_spread(found: pd.DataFrame) -> pd.DataFrame:
    return found[found["at_pilot_spread"].notna()]


def _wide(rows: pd.DataFrame) -> pd.Series:
    """Return which rows need more runs than are advised; a row counts with its upper bound."""
    return ~(rows["high"] <= FEASIBLE)


def _forest(rows: pd.DataFrame, *, panel: str, row: str, caption: str, **words: Any) -> Chart | Note:
    plan_with = rows["high"].map(plain).mask(_wide(rows), f"> {FEASIBLE}")
    middle = rows["at_pilot_spread"]
    return forest(
        rows.assign(
            n=rows["done"], plan_with=plan_with, low=rows["low"].fillna(middle), high=rows["high"].fillna(middle)
        ),
        "at_pilot_spread",
        low="low",
        high="high",
        panel=panel,
        row=row,
        points=rows.assign(at_pilot_spread=rows["done"]),
        edge="plan_with",
        unit=_RUNS,
        caption=f"{caption} {_MARKS}",
        counted="runs per path so far",
        **words,
    )


def _enough(rows: pd.DataFrame) -> str:
    """Say with how many runs to plan, and for how many series they are enough.

    The spread of a series that drifts contains its drift, so its plan says nothing.
    """
    drifts = rows["flags"].str.contains("dependent_runs")
    few = rows["flags"].str.contains("small_pilot") & ~drifts
    if few.any() and not (few | drifts).all():  # of which only the range is known
        apart = f"; {few.sum()} with fewer than five runs not counted ({', '.join(rows.loc[few, 'method'].unique())})."
        return f"{_enough(rows[~few]).removesuffix('.')}{apart}"
    wide, width = _wide(rows) & ~drifts, f"±{percent(rows['precision'].iloc[0])}"
    every = f"all {len(rows)} series" if len(rows) > 1 else "the only series"
    enough = rows.loc[~wide & ~drifts, "high"]
    if drifts.all():
        return f"The runs of {every} drift, and drift is no spread to plan with."
    more = f"; {drifts.sum()} {'drifts' if drifts.sum() == 1 else 'drift'}" if drifts.any() else ""
    if enough.empty:
        return f"More than {FEASIBLE} runs for {width} on {every if not more else f'{wide.sum()} series'}{more}."
    is_done = (rows.loc[enough.index, "done"] >= enough).all()
    planned = f"**{plain(enough.max())}** runs"
    plan_for = f"{planned} are enough and were done: {width} on" if is_done else f"Plan {planned}: {width} on"
    if len(enough) == len(rows):
        return f"{plan_for} {every}."
    # Whoever counts the rows of the picture counts those that drift, too.
    both = drifts & _wide(rows)
    if both.any():
        more = f", {both.sum()} of them in runs that drift"
        if others := (drifts & ~both).sum():
            more += f"; {others} more {'drifts' if others == 1 else 'drift'}"
    needs = f"; {(wide | both).sum()} need more than {FEASIBLE}" if (wide | both).any() else ""
    return f"{plan_for} {len(enough)} of {len(rows)} series{needs}{more}."


def _narrowest(curve: pd.DataFrame) -> str:
    """Say the narrowest width that feasible runs reach, and the next one, which they do not."""
    path = f"({curve['path'].iloc[0]}, {curve['method'].iloc[0]})"
    reached = curve[~_wide(curve)]
    if reached.empty:
        return f"{FEASIBLE} runs are not enough for ±{percent(curve['precision'].max())} {path}"
    best = reached.loc[reached["precision"].idxmin()]
    narrower = curve.loc[curve["precision"] < best["precision"], "precision"]
    more = f", ±{percent(narrower.max())} more than {FEASIBLE}" if len(narrower) else ""
    width = f"±{percent(best['precision'])}"
    if best["done"] >= best["high"]:
        return f"The {plain(best['done'])} runs done are enough for {width}{more} {path}"
    enough = curve.loc[curve["high"] <= curve["done"], "precision"]
    has = f", the {plain(best['done'])} done are enough for ±{percent(enough.min())}" if len(enough) else ""
    return f"{width} takes {plain(best['high'])} runs{has}{more} {path}"


# --- how long


def smallest_sizes(sizes: pd.DataFrame) -> Table:
    """Return the fewest observations for each percentile."""
    enough = sizes["enough"].map(plain) + " of " + sizes["runs"].map(plain)
    rows = sizes.assign(percentile=sizes["q"].map(percentile), enough=enough.where(sizes["runs"] > 0, "no runs"))
    columns = {
        "percentile": text("percentile"),
        "for both bounds": count("two"),
        "for an upper bound": count("upper"),
        "smallest to largest": count("range"),
        "runs with enough for both": text("enough", right=True),
    }
    notes = [
        "Independent observations. Packets of one connection are autocorrelated: if ten packets carry as much "
        "information as one, you need ten times as many.",
        f"Computed from the percentile and the confidence level alone: {NO_LOG} the first three columns.",
    ]
    return table(rows, "Fewest observations of one run", columns, notes, value="n")


# --- findings


def find(found: pd.DataFrame, sizes: pd.DataFrame) -> Findings:
    """Say how many runs are needed, and which percentiles the runs support."""
    findings: list[Finding] = []
    rows = _with_spread(found)
    if len(rows):
        drifts = rows["flags"].str.contains("dependent_runs")
        findings.append(answer(_enough(rows)))
        if wide := join_by_method(rows[_wide(rows)]):
            advice = "Rounds, another quantity of the run or a wider interval help more."
            findings.append(act(f"More than {FEASIBLE} runs: {wide}. {advice}"))
        if drifting := join_by_method(rows[drifts]):
            findings.append(act(f"Runs drift, and the plan takes that for spread: {drifting}. See the page History."))
    if without := join_by_method(found[found["at_pilot_spread"].isna()]):
        once = f"One run, or equal values, so no spread: {without}. Measure these five times first."
        findings.append(act(once) if len(rows) else answer(once))
    some = sizes[sizes["enough"] > 0]
    if len(some):
        every = some[some["enough"] == some["runs"]]
        reach = [f"every run up to {percentile(every['q'].max())}"] if len(every) else []
        if len(every) < len(some):
            reach.append(f"the longest runs up to {percentile(some['q'].max())}")
        findings.append(info(f"Percentiles with both bounds, if packets are independent: {', '.join(reach)}."))
    return Findings.of(findings)
