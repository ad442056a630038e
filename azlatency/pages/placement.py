"""What does another placement cost, or another setting? Tables, charts and findings of page 05."""

from __future__ import annotations

import math
from itertools import islice
from typing import TYPE_CHECKING

import pandas as pd

from azlatency.kit.cells import MICROSECONDS, Ref, ReportedRef, Row, RunsRef, Table
from azlatency.kit.drawing import draw
from azlatency.kit.findings import act, answer, count_or_names, has_flag, info, join, join_by_method
from azlatency.kit.intervals import interval_in, range_in
from azlatency.kit.objects import Chart, Finding, Findings, Note
from azlatency.kit.table import between, condition_ref, ends, number, table, text
from azlatency.kit.titles import by_method, extremes, span, times
from azlatency.kit.units import in_unit
from azlatency.kit.words import (
    PLACES,
    change_words,
    in_drift,
    most_apart,
    newest_window,
    ratios_of,
    verdict_on,
    verdict_words,
)
from azlatency.pages.common import BY_TYPICAL_RUN, ordered
from azlatency.shapes.forest import forest
from azlatency.stats.across_runs.main_method import as_measured, sends_rarely
from azlatency.stats.across_runs.path_differences import path_differences
from azlatency.stats.across_runs.placement import contradicting, run_values_of, widest
from azlatency.studies.emulation import sums_of_both_directions
from azlatency.studies.format import count_of, format_number, one_prefix, percent, plain

if TYPE_CHECKING:
    from collections.abc import Iterable

    from azlatency.stats.across_runs.run_values import RunValues

_FACTORS = {
    "placement": "placement",
    "vm_size": "VM size",
    "accelerated_networking": "accelerated networking",
    "message_bytes": "message size",
}
_ON = {True: "on", False: "off"}
#: Most placements that the answer names.
_MOST_STEPS = 3
#: Most measurements with a row each in the picture of placements; of more, a region and a placement have one.
_MOST_ROWS = 40


# --- what was measured


def conditions(levels: pd.DataFrame) -> Table | Note:
    """Return what was measured, or is reported, under which conditions."""
    if levels.empty:
        return Note("This study has no latency, neither in a log nor in a text.")
    columns = {
        "path": text("path", names_row=True),
        "placement": text(lambda row: row["placement"].replace("_", " ") or "not said"),
        "RTT": between("lowest", "highest", ",.1f", MICROSECONDS, join_equal=True),
        "statistic per run": text(lambda row: row["value"].removesuffix("_ns")),
        "runs": number("n", ",.0f", missing="not said"),
        "from": text("origin"),
        "method": text("method", names_row=True),
        "VM": text(_vm),
    }
    note = "Reported: a number from a text, without its log; neither its spread nor its unit can be checked."
    reported = levels["origin"] == "reported"
    notes = [note] if reported.any() else []
    order = "nearest first" if reported.nunique() < 2 else "logs first, each nearest first"
    caption, shown = f"Round-trip times by placement, {order}", levels.drop(columns="flags")
    return table(shown, caption, columns, notes, source=lambda row: [condition_ref(row)])


def _vm(level: Row) -> str:
    states = {True: ", acc. networking", False: ", no acc. networking"}
    size = _short(level["vm_size"])
    return size + states.get(level["accelerated_networking"], "") or "not said"


def _short(vm_size: str) -> str:
    return vm_size.removeprefix("Standard_")


def placement_values(levels: pd.DataFrame, runs: pd.DataFrame, links: pd.DataFrame) -> Chart | Note:
    """Draw the runs by placement, shortest first; one panel per method, reported numbers in panels of their own.

    ``links``: what an emulated network is configured to.
    """
    if levels.empty:
        return Note("No chart: no log and no text of this study contains a latency.")
    values, window = run_values_of(levels, runs), newest_window(runs)
    drawn = _drawn(levels, links, window)
    if len(drawn) == 1:
        only = drawn.iloc[0]
        reach = span((only["lowest"], only["highest"]), "ns")
        return Note(f"No chart: one measurement only. {only['row']}, {only['method']}: {reach}.")
    result = _range_of_paths(levels, drawn["size"], values)
    each, is_grouped = f"mean published for {window}" if window else "run", len(drawn) > _MOST_ROWS
    numbers = pd.Series({label: of_runs.values for label, of_runs in values.items()}, dtype=object)
    points = drawn[["panel", "row"]].assign(point=numbers).explode("point").dropna().astype({"point": "float64"})
    if is_grouped:
        drawn, points = _by_region(drawn)
        each = f"path, its {each if window else 'typical run'}"
    logged = drawn[drawn["origin"] == "log"]
    repeated, without = logged[logged["low"].notna()], logged.loc[logged["low"].isna(), "n"].astype(float)
    confidence = percent(repeated["confidence"].max())
    drifting = join_by_method(levels[has_flag(levels, "dependent_runs")])
    order = BY_TYPICAL_RUN if levels["n"].gt(1).any() else ""
    return forest(
        drawn.sort_values("size", kind="stable").sort_values("verdict", kind="stable"),
        "point",
        low="low",
        high="high",
        panel="panel",
        row="row",
        points=points,
        verdict="verdict",
        truth="truth",
        edge="text",
        unit=MICROSECONDS,
        xlabel="round-trip time, µs",
        caption=draw.caption(
            (f"Each hollow dot is a {each}.", len(logged)),
            (f"Bar: {confidence} interval of the typical run, the median run.", len(repeated)),
            (
                "A dot without a bar is a single run; the spread between runs is unknown.",
                bool(without.eq(1).any()) and not window and not is_grouped,
            ),
            (
                "Several dots without a bar are runs that have no interval; the tables say why.",
                bool(without.gt(1).any()) and not window and not is_grouped,
            ),
            (f"Runs drift on {drifting}: if the level changed, the interval describes neither level.", drifting),
            (draw.CONFIGURED, drawn["truth"].notna().any()),
        ),
        ordering=f"Shortest on top{', by the median path' if is_grouped else order}.",
        counted="paths per row" if is_grouped else f"runs per row{' with a log' if len(logged) < len(drawn) else ''}",
        of="measurements",
        result=result,
        name="placement_values",
    )


def _drawn(levels: pd.DataFrame, links: pd.DataFrame, window: str) -> pd.DataFrame:
    """Return conditions with what a forest draws of them: names, and the ends of a range that a text reports."""
    of_log = "" if window else " of a run"
    truths = sums_of_both_directions(links)
    is_log = levels["origin"] == "log"
    is_range = levels["lowest"] < levels["highest"]
    statistic = levels["value"].str.removesuffix("_ns")
    middle = (levels["lowest"] + levels["highest"]) / 2
    # Runs that are too far apart for an interval have no number that stands for them.
    known = [interval_in(row) is not None for row in levels.to_dict("records")]
    own = levels[["estimate", "low", "high"]].mask(levels["low"].notna() & ~pd.Series(known, levels.index))
    # Where nothing is known of any, the word tells nothing apart.
    unknown = "unknown placement" if (levels["placement"] != "").any() else ""
    drawn = levels.assign(
        panel=levels["method"] + ", " + statistic + is_log.map({True: of_log, False: " as reported (no log)"}),
        row=[_place(row["path"], row["placement"] or unknown) for row in levels.to_dict("records")],
        point=own["estimate"].where(is_log, levels["lowest"].mask(is_range)),
        low=own["low"].where(is_log, levels["lowest"].where(is_range)),
        high=own["high"].where(is_log, levels["highest"].where(is_range)),
        size=levels["estimate"].fillna(middle),
        truth=levels["path"].map(truths).where(is_log),
        verdict=is_log.map({True: "", False: "reported"}),
        n=levels["n"].where(is_log),
    )
    return drawn.assign(text=[_numbers(row) for row in drawn.to_dict("records")])


def _numbers(row: Row) -> str:
    """Return the value of a row in µs, or its ends, in the digits of its print; nothing of runs that are far apart."""
    values = [row["point"]] if pd.notna(row["point"]) else [row["low"], row["high"]]
    if pd.notna(row["n"]) and row["n"] == 1:
        values = [row["lowest"]]
    step = 0.0 if pd.isna(row["resolution"]) else row["resolution"]
    scale = MICROSECONDS.scale
    return "–".join(draw.short_number(value / scale, step / scale) for value in values if pd.notna(value))


def _by_region(drawn: pd.DataFrame) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return a row per region and placement instead of one per path, and the value of each path as its points."""
    places = drawn["placement"].map(lambda place: PLACES.get(place, "unknown placement"))
    names = drawn["region"].where(drawn["region"] == "", drawn["region"] + ", ") + places
    points = drawn.assign(row=names, point=drawn["size"]).sort_values("size", kind="stable")
    grouped = points.groupby(["panel", "row", "origin", "verdict"], sort=False, as_index=False, dropna=False)
    rows = grouped.agg(
        size=("size", "median"), least=("size", "min"), most=("size", "max"), n=("size", "count"),
        resolution=("resolution", "max"), confidence=("confidence", "max"),
    )  # fmt: skip
    step = rows["resolution"].fillna(0.0)
    like = one_prefix([*rows["least"], *rows["most"]], "ns")
    ends = zip(rows["least"], rows["most"], step, strict=True)
    texts = [span((least, most), "ns", like=like, step=finest) for least, most, finest in ends]
    nothing = {name: math.nan for name in ("point", "low", "high", "truth")}
    return rows.assign(text=texts, **nothing), points[["panel", "row", "point"]]


def _place(path: str, placement: str) -> str:
    """Return the path, with its placement unless the path's name contains it."""
    words = placement.replace("_", " ")
    return path if words.lower() in path.lower() else f"{path} ({words})"


def _range_of_paths(levels: pd.DataFrame, sizes: Iterable[float], values: dict[int, RunValues]) -> str:
    """Say from where to where the round trips of the method reach that measured the most."""
    measured = as_measured(levels)
    if tool := _one_tool(levels):
        measured = [entry._replace(method=tool) for entry in measured]
        levels = levels.assign(method=tool)
    method, by_path = by_method(zip(measured, sizes, strict=True))
    chosen = levels[[entry.method == method for entry in measured]]
    ranges = {row["path"]: reach for row in chosen.to_dict("records") if (reach := range_in(row)) is not None}
    estimated = chosen[chosen["estimate"].notna()]
    found = path_differences({path: values[label] for label, path in estimated["path"].items()})
    statistic = chosen["value"].iloc[0].removesuffix("_ns")
    steps = dict.fromkeys(by_path, float(chosen["resolution"].max()))
    return extremes(f"{statistic} round trip", by_path, "ns", method, ranges=ranges, found=found, steps=steps)


def _one_tool(levels: pd.DataFrame) -> str:
    """Return the tool whose log and whose reported numbers show the same statistic, and how many are reported."""
    tools, reported = levels["method"].str.split().str[0], levels["origin"] == "reported"
    is_one = tools.nunique() == levels["value"].nunique() == levels.loc[~reported, "method"].nunique() == 1
    return f"{tools.iloc[0]}, {reported.sum()} of {len(levels)} as reported" if is_one and reported.any() else ""


# --- one change at a time


def changes(steps: pd.DataFrame, what: str, runs: pd.DataFrame) -> Table | Note:
    """Return pairs of conditions that differ in ``what`` alone; ``runs``: what these were made from."""
    if steps.empty:
        return Note(f"No two measurements of this study differ in {what} alone.")
    window = newest_window(runs)
    shown = steps.assign(
        conclusion=[_conclusion(row, window) for row in steps.to_dict("records")],
        times_low=steps["ratio"].fillna(steps["measured_low"]),
        times_high=steps["ratio"].fillna(steps["measured_high"]),
    )
    columns = {
        "from": text(lambda row: _level(row, "base_"), names_row=True),
        "to": text(lambda row: _level(row, ""), names_row=True),
        "times": between("times_low", "times_high", ".3g", join_equal=True),
        "interval": ends("ratio_low", "ratio_high", ".3g", missing="none"),
        "runs": text(_sides, right=True),
        "method": text("method"),
        "conclusion": text("conclusion"),
    }
    notes = []
    if steps["ratio_low"].notna().any():
        notes.append("The intervals are not adjusted for multiplicity: about one in 20 misses the true ratio.")
    if steps["base"].nunique() < len(steps) and what == "placement":
        notes.append(
            "From: the nearest placement of the region; of several paths with it, the first inside a zone of the pair, "
            "else the first. “Every round trip” subtracts the mean of both zones instead."
        )
    # Nobody who reads a published series can repeat it.
    shown = shown.drop(columns="flags") if window else shown
    return table(shown, f"One change at a time: {what}", columns, notes, source=_both_sides)


def _sides(change: Row) -> str:
    return " / ".join("?" if pd.isna(n) else str(n) for n in (change["n_base"], change["n_candidate"]))


def _both_sides(change: Row) -> list[Ref]:
    if change["origin"] == "reported":
        return [ReportedRef(change[name], "rtt_mean") for name in ("base_path", "path")]
    return [RunsRef(tuple(change["run_ids"].split()), change["value"])]


def _level(change: Row, side: str) -> str:
    """Return the level of one side of a change (``base_`` or nothing) and its path."""
    path, value = change[f"{side}path"], change[f"{side}{change['factor']}"]
    if change["factor"] == "placement":
        return _place(path, value)
    return f"{_level_words(change['factor'], value)}: {path}"


def _level_words(factor: str, value: object) -> str:
    if factor == "accelerated_networking":
        return _ON[bool(value)]
    return f"{value} B" if factor == "message_bytes" else _short(str(value))


def _conclusion(change: Row, window: str) -> str:
    unsaid = "".join(f"; {_FACTORS[name]} may differ, too" for name in change["unsaid"].split())
    if change["origin"] == "reported":
        return "none: no log" + unsaid
    if "no_replication" in change["flags"]:
        return f"none: {'a mean each' if window else 'one run'}{unsaid}"
    return verdict_words(change) + unsaid


def single_changes(steps: pd.DataFrame, links: pd.DataFrame, runs: pd.DataFrame) -> Chart | Note:
    """Draw the effect of one changed factor on the round-trip time, as a ratio; one panel per factor.

    ``runs``: what ``steps`` were made from.
    """
    if steps.empty:
        return Note("No chart: no two measurements of this study differ in one of these factors alone.")
    if newest_window(runs):
        return Note("No chart: a published series has one mean per path and window; the table has the ratios of these.")
    # A mean of few packets follows the slowest one; the table has it.
    steady = steps[[not sends_rarely(method) for method in steps["method"]]]
    drawn = _effects(steady if len(steady) else steps, links).sort_values("middle", kind="stable")
    drawn = drawn.assign(panel=drawn["factor"].map(_FACTORS))
    if len(drawn) == 1:
        only = drawn.iloc[0]
        ratios = "–".join(dict.fromkeys(map(plain, (only["measured_low"], only["measured_high"]))))
        return Note(f"No chart: one change only. {only['row']}: measured ratio {ratios}.")
    repeated = drawn[drawn["ratio_low"].notna()]
    confidence = percent(repeated["confidence"].max())
    is_emulated = drawn["truth"].notna().any()
    return forest(
        ordered(drawn, "factor", steps["factor"]),
        "point",
        low="low",
        high="high",
        panel="panel",
        row="row",
        verdict="mark",
        margin="margin",
        truth="truth" if is_emulated else "",
        xlabel="round trip after ÷ before (log); below 1 is faster",
        caption=draw.caption(
            "Ratio of the round-trip times after and before one change.",
            (f"Bar: {confidence} interval from repeated runs.", len(repeated)),
            "Band: practically equivalent. Do not generalise from a mark without an interval.",
            ("×: ratio of the configured delays, without the hosts.", is_emulated),
            ("Methods that send rarely are in the table only.", len(drawn) < len(steps)),
        ),
        ordering=f"Smallest on top{', of a range by its middle' if drawn['point'].isna().any() else ''}.",
        counted="runs after the change",
        of="changes",
        result=_title_of_changes(drawn),
        name="single_changes",
    )


def _effects(steps: pd.DataFrame, links: pd.DataFrame) -> pd.DataFrame:
    """Return changes with what a forest draws of them: without an estimate, the ratio or its range as measured."""
    truths = sums_of_both_directions(links)
    is_known, is_range = steps["ratio"].notna(), steps["measured_low"] < steps["measured_high"]
    return steps.assign(
        row=[_change_name(row) for row in steps.to_dict("records")],
        point=steps["ratio"].where(is_known, steps["measured_low"].mask(is_range)),
        low=steps["ratio_low"].where(is_known, steps["measured_low"].where(is_range)),
        high=steps["ratio_high"].where(is_known, steps["measured_high"].where(is_range)),
        middle=steps["ratio"].fillna((steps["measured_low"] * steps["measured_high"]) ** 0.5),
        truth=steps["path"].map(truths) / steps["base_path"].map(truths),
        mark=steps["verdict"].mask(steps["ratio_low"].isna(), "not_tested").where(steps["origin"] == "log", "reported"),
        n=steps["n_candidate"].where(steps["origin"] == "log"),
    )


def _change_name(change: Row) -> str:
    """Describe a change: what changed, where, and the tool."""
    factor, tool = change["factor"], change["method"].split()[0]
    if factor == "placement":
        return f"{change['base_path']} to {change['path']}: {change['method']}"
    where = change["path"] if change["base_path"] == change["path"] else change["placement"].replace("_", " ")
    words = f"{_level_words(factor, change[f'base_{factor}'])} → {_level_words(factor, change[factor])}"
    if factor == "accelerated_networking":
        words = f"accelerated networking {words}" + (f" ({_short(change['vm_size'])})" if change["vm_size"] else "")
    if factor == "message_bytes":
        words = f"message {words}"
    if "accelerated_networking" in change["unsaid"].split():
        sides = change["base_accelerated_networking"], change["accelerated_networking"]
        before, after = ("unknown" if pd.isna(side) else _ON[side] for side in sides)
        tool += f" (accelerated networking {before} → {after})"
    return f"{words}, {where}, {tool}"


def _title_of_changes(drawn: pd.DataFrame) -> str:
    """Name the largest effect if its interval tells it from the others, else say from where to where effects reach."""
    count = count_of(len(drawn), "change") + ("" if drawn["unsaid"].ne("").any() else " of one factor")
    tools = ", ".join(dict.fromkeys(drawn["method"].str.split().str[0]))
    # These were chosen from all changes, so that their intervals must hold for all of them.
    verdicts = [verdict_on(drawn[at : at + 1], len(drawn)) for at in range(len(drawn))]
    apart = drawn[[verdict == "different" for verdict in verdicts]]
    if apart.empty:
        untested = verdict_on(drawn) in ("once", "reported")
        measured = times([*drawn["measured_low"], *drawn["measured_high"]], "as long") if untested else ""
        return f"{count}: {', '.join(filter(None, [measured, change_words(drawn, len(drawn))]))} ({tools})"
    drift, (_, largest) = in_drift(apart), most_apart(apart.assign(path=apart["row"]))
    if len(largest) == 1:
        (name, ratio), *_ = largest.items()
        return f"Largest effect of one change{drift}: {times(ratio, 'as long')} ({name})"
    return f"{len(apart)} of {count}{drift}: {times(apart['ratio'], 'as long')} ({tools})"


# --- findings


def find(levels: pd.DataFrame, steps: pd.DataFrame, others: pd.DataFrame, runs: pd.DataFrame) -> Findings:
    """Say what repeated runs support, what single runs cannot, and where text and log disagree.

    ``steps``: changes of the placement; ``others``: those of other settings; ``runs``: what ``levels`` were made from,
    of a published series the newest windows.
    """
    if levels.empty:
        return Findings.of([info("No latency was measured or reported in this study.")])
    every = pd.concat([steps, others])
    measured = every[every["origin"] == "log"]
    single = measured[measured["flags"].str.contains("no_replication")]
    findings: list[Finding] = _answer(levels, steps if len(steps) else others, newest_window(runs))
    # Where no comparison has repeats, or none has logs, the answer and the summary say so.
    if 0 < len(single) < len(measured):
        once = join_by_method(single)
        findings.append(act(f"Measured once: {once}. Repeat the runs, in rounds, before you choose a placement."))
    findings += [
        act(
            f"{row['path']}: the text says {in_unit(row['superseded'], row['superseded'], 'ns')}, but its log prints "
            f"{in_unit(row['lowest'], row['lowest'], 'ns')}. The log prevails."
        )
        for row in levels[levels["superseded"].notna() & (levels["superseded"] != levels["lowest"])].to_dict("records")
    ]
    contradictions = [
        f"{row['path']}, against {row['base_path']}, took {format_number(row['measured_low_slower'], 2)} times as long "
        f"by {row['method_slower']}, {format_number(row['measured_high_faster'], 2)} times by {row['method_faster']}"
        for row in contradicting(steps).to_dict("records")
    ]
    if contradictions:
        findings.append(
            act(
                f"{'; '.join(contradictions)}. These methods send different packets, and a mean of few packets follows "
                "its slowest one; compare their minima instead."
            )
        )
    reported = every.loc[every["origin"] == "reported", "path"]
    if len(reported) and len(measured):
        text = f"Reported without logs: {count_or_names(reported)}. Cite as published; no test is possible."
        findings.append(act(text))
    same_host = levels[levels["placement"] == "same_host"]
    if len(same_host):
        values = [*same_host["lowest"], *same_host["highest"]]
        shown = span(values, "ns", like=one_prefix(values, "ns"))
        findings.append(info(f"{shown} on one host never crossed the network; this is not a placement option."))
    return Findings.of(findings)


def _of_one_setting(levels: pd.DataFrame, steps: pd.DataFrame) -> tuple[pd.DataFrame, str]:
    """Return the changes with accelerated networking, or without it, whichever are more, and which these are.

    Pooled, a placement with it would stand against a zone without it. Changes of the setting itself stay as they are.
    """
    ends = [levels["accelerated_networking"].reindex(steps[side]).reset_index(drop=True) for side in ("base", "other")]
    if ends[0].nunique() < 2 or not ends[0].equals(ends[1]):
        return steps, ""
    most = bool(ends[0].mode().iloc[0])
    return steps[ends[0].eq(most).to_numpy()], f", {'with' if most else 'without'} accelerated networking"


def _answer(levels: pd.DataFrame, steps: pd.DataFrame, window: str) -> list[Finding]:
    """Say what each placement, or else each setting, costs in the kind of measurement with most placements.

    ``window``: what the values of a published series cover; empty for logs.
    """
    if steps.empty:
        return []
    of_main = steps[steps["other"].isin(widest(levels).index)]
    chosen, setting = _of_one_setting(levels, of_main if len(of_main) else steps)
    values = {label: _typical(level) for label, level in levels.to_dict("index").items()}
    like = one_prefix((value for label in [*chosen["base"], *chosen["other"]] for value in values[label]), "ns")

    refs: list[list[Ref]] = []

    def reach(labels: Iterable[int]) -> str:
        refs.append(_refs(levels, labels))
        step = levels["resolution"].reindex(labels).fillna(0.0).max()
        return f"**{span([value for label in labels for value in values[label]], 'ns', like=like, step=step)}**"

    def effect(group: pd.DataFrame) -> str:
        verdict = verdict_on(group, len(chosen))
        if verdict in ("once", "reported"):
            return reach(group["other"])
        if verdict != "different":
            return f"{reach(group['other'])} ({change_words(group, len(chosen))})"
        ratios, interval_words = ratios_of(group)
        shown = reach(group["other"])
        refs.append(
            [condition_ref(level) for level in levels.loc[[*group["other"], *group["base"]]].to_dict("records")]
        )
        return f"{shown} (typically **{ratios}×**{in_drift(group)}, {interval_words})"

    parts = []
    placement_of = levels["placement"].where(levels.index.isin(widest(levels).index))
    for base, group in islice(chosen.groupby(_levels(chosen, "base_"), sort=False), _MOST_STEPS):
        # Nothing is divided by the references of a published series, so all paths with their placement are named.
        near = levels.index[placement_of == group["base_placement"].iloc[0]] if window else group["base"]
        names = pd.Series(_levels(group), index=group.index)
        by_level = islice(group.groupby(names, sort=False), _MOST_STEPS)
        effects = [f"{level} {effect(of_level)}" for level, of_level in by_level]
        others = set(levels.index[placement_of == group["base_placement"].iloc[0]]) - set(near)
        which = " on reference paths" if others and not setting and group["factor"].iloc[0] == "placement" else ""
        parts.append(f"{join(effects)}, against {reach(near)}{which} {base}")
    once = f", published for {window}" if window else ", measured once"
    source = {"once": once, "reported": ", as reported"}.get(verdict_on(chosen), "")
    tool = chosen["method"].iloc[0].split()[0]
    return [answer(f"Round trips{source}: {'; '.join(parts)} ({tool}{setting}).", refs)]


def _refs(levels: pd.DataFrame, labels: Iterable[int]) -> list[Ref]:
    """Return what conditions come from."""
    return [condition_ref(level) for level in levels.loc[list(labels)].to_dict("records")]


def _typical(level: Row) -> tuple[float, ...]:
    """Return the typical run of a condition if its interval is known, else the range of its runs."""
    return (level["lowest"], level["highest"]) if interval_in(level) is None else (level["estimate"],)


def _levels(steps: pd.DataFrame, side: str = "") -> list[str]:
    """Return the placement or setting of one side of changes (``base_`` or nothing), as a sentence names it."""
    return [_in_words(row[f"{side}{row['factor']}"]) for row in steps.to_dict("records")]


def _in_words(level: str | bool | int) -> str:
    if isinstance(level, str):
        return PLACES.get(level, f"on {level}")
    if isinstance(level, bool):
        return f"{'with' if level else 'without'} accelerated networking"
    return f"with {plain(level)} B"
