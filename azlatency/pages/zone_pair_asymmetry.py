"""Is a round trip longer, or a transfer slower, in one direction? Tables, charts and findings of page 04."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from azlatency.kit.cells import MICROSECONDS, FileRef, Ref, Row, RunsRef, Table
from azlatency.kit.drawing import draw
from azlatency.kit.findings import act, answer, has_flag, info, join, join_by_method
from azlatency.kit.intervals import without_flat
from azlatency.kit.objects import Chart, Finding, Findings, Note
from azlatency.kit.table import count, ends, flags, number, table, text
from azlatency.kit.titles import capitalised, names, ratio_range
from azlatency.kit.units import DECIDES, read_in
from azlatency.kit.words import differs, most_apart, ratio_result, share_held, shares_held, steady, verdict_words
from azlatency.pages.common import ordered
from azlatency.shapes.forest import forest
from azlatency.stats.across_runs.asymmetry import ABOUT_MACHINES, COUNT_OFFSET
from azlatency.stats.across_runs.ranking import MOST_RANKED
from azlatency.stats.across_runs.run_history import FEWEST
from azlatency.studies.emulation import both_directions
from azlatency.studies.format import count_of, format_number, percent, plain, signed
from azlatency.studies.runs.path import NetworkPath, route

if TYPE_CHECKING:
    from azlatency.stats.across_runs.asymmetry import Asymmetry

_TITLES = {"latency": "Round trips", "throughput": "Goodput", "retransmits": "Retransmits"}
_SHORT = {"latency": "RTT", "throughput": "goodput", "retransmits": "retransmits"}
_QUANTITIES = {"latency": "round-trip time", "throughput": "goodput", "retransmits": "retransmits"}
#: An interval whose end is farther from its ratio (in logarithms) says nothing about the initiator.
_WIDE = math.log(2)
#: What to do about pairs with a flag, by its code.
_FLAGGED = {
    "dependent_runs": "Consecutive rounds are autocorrelated: {}. Measure both directions in a random order within "
    "each round, and spread the rounds over more time.",
    "one_machine_pair": "The same two machines measured every round, so the result is about them (zone or machine: not "
    "separable): {}. For zones, measure control pairs within a zone, or several pairs of machines.",
    "one_control_pair": "With one control pair the result is about these machines (zone or machine: not separable): "
    "{}. Measure two or more control pairs.",
    "no_replication": "Measured in one round only, so not testable: {}.",
    "few_runs": "Few rounds, so the intervals rely on Student's *t*: {}. The page on planning says how many are "
    "needed.",
}
#: What to know about pairs of a published series, which nobody who reads it can measure in another way.
_PUBLISHED = (
    "A published series does not say which machines it measured, and its means are rounded and follow one another: "
    "zone or machine is not separable, and the intervals may be too short ({}). One ratio over all windows hides a "
    "level that changed: see the page *History*."
)


# --- what was measured


def directions(found: Asymmetry) -> Table | Note:
    """Return what each method measured in both directions, and the answer."""
    methods = found.methods
    if methods.empty:
        return Note(
            "This study has no log of a path between two zones or hosts, so there are no directions to compare."
        )
    columns = {
        "what": text("metric"),
        "method": text("method", names_row=True),
        "ends": count("ends"),
        "pairs of zones, both ways": count("pairs"),
        "rounds": count("rounds"),
        "directions": text(lambda row: _answer_of(row, found.pairs)),
        "flags": flags(),
    }
    shown = methods.assign(flags=methods["flags"].str.replace("initiator_only", "").str.strip())
    return table(shown, "What was measured in both directions", columns, value=_compared)


def _compared(row: Row) -> str:
    """Return what each run contributed, as `RunsRef` names it."""
    return "typical" if row["metric"] == "latency" else str(row["metric"])


def _answer_of(row: Row, pairs: pd.DataFrame) -> str:
    if not row["ends"]:
        return "not estimable"
    if not row["pairs"]:
        return "no pair in both directions"
    own = pairs[(pairs["metric"] == row["metric"]) & (pairs["method"] == row["method"]) & ~pairs["same_zone"]]
    if row["different"]:
        return "differ: " + ", ".join(_way(pair) for pair in own[differs(own)].to_dict("records"))
    if not row["inconclusive"]:
        return "practically equivalent in every pair"
    if own["ratio_low"].isna().all():
        return "one round: shown, not judged" if row["rounds"] == 1 else "no interval: shown, not judged"
    return "inconclusive"


def _way(pair: Row) -> str:
    return route(pair["from"], pair["to"])


def _name(pair: Row) -> str:
    return f"{pair['from']} ↔ {pair['to']}"


# --- both directions


def both_ways(found: Asymmetry, metric: str = "latency") -> Table | Note:
    """Return each pair by each method: both directions, their ratio, and the verdict."""
    pairs = found.pairs[found.pairs["metric"] == metric]
    if pairs.empty:
        return Note(f"No pair of ends of this study was measured in both directions for {metric}.")
    unit = read_in(pairs["unit"].iloc[0])
    counts, counted = _rounds_or_runs(pairs)
    named = [_name(row) + (" (one zone)" if row["same_zone"] else "") for row in pairs.to_dict("records")]
    shown = without_flat(pairs, "decides_low", "decides_high").assign(pair=named, n=counts)
    in_rounds = counted == "rounds"
    # A round with one direction only counts for that direction, and not for the ratio.
    incomplete = in_rounds and ((pairs["n_there"] != pairs["n"]) | (pairs["n_back"] != pairs["n"])).any()
    of_all, of_pairs = (", all runs", ", complete rounds") if incomplete else ("", "")
    columns = {
        "pair": text("pair", names_row=True),
        "method": text("method", names_row=True),
        f"typical ratio of a round{of_pairs}" if in_rounds else "ratio": number("ratio", ".3f"),
        "interval": ends("decides_low", "decides_high", ".3f"),
        "verdict": text(_verdict),
        counted: count("n"),
        f"there{of_all}": number("there", ",.4g", unit),
        f"back{of_all}": number("back", ",.4g", unit),
        # The verdict follows from Student's t where ranks have too few rounds; the findings say so.
        "flags": flags(hide=["initiator_only", "no_replication"], hide_if_decided=["few_runs"]),
    }
    differs_from_medians = "The typical ratio of a round (Hodges–Lehmann) may differ from the ratio of these medians."
    notes = [
        f"There and back: the median run of each direction. {differs_from_medians if in_rounds else ''}".strip(),
        DECIDES,
    ]
    if metric == "retransmits":
        shown = shown.assign(there=shown["there"] - COUNT_OFFSET, back=shown["back"] - COUNT_OFFSET)
        notes.append(f"Ratio: {COUNT_OFFSET} is added to each count, so that a round without retransmits has one, too.")
    caption = f"{_TITLES[metric]} in both directions (scope: across runs)"
    return table(shown.sort_values(["same_zone", "pair"], kind="stable"), caption, columns, notes, value=_compared)


def _rounds_or_runs(pairs: pd.DataFrame) -> tuple[pd.Series, str]:
    """Return the rounds of each pair, or the runs of each direction if no round is known, and what is counted."""
    each_way = pairs[["n_there", "n_back"]]
    # Without rounds the comparison is one of two groups, and its n is that of both.
    in_groups = pairs["n"] > each_way.max(axis=1)
    if not in_groups.any():
        return pairs["n"], "rounds"
    runs = "windows" if has_flag(pairs, "machines_unknown").all() else "runs"
    counted = f"{runs} each way" if in_groups.all() else f"rounds, or {runs} each way"
    return pairs["n"].mask(in_groups, each_way.min(axis=1)), counted


def _verdict(pair: Row) -> str:
    if pd.notna(pair["ratio_low"]):
        return verdict_words(pair)
    if pair["n"] < 2:
        return "one round"
    return "equal in every round" if "constant" in pair["flags"] else "not judged"


def asymmetry_forest(found: Asymmetry, links: pd.DataFrame, metric: str = "latency") -> Chart | Note:
    """Draw the ratio of both directions of each pair, by method; control pairs last."""
    pairs = found.pairs[(found.pairs["metric"] == metric) & found.pairs["ratio"].notna()]
    judged = pairs[~pairs["same_zone"].astype(bool)]
    quantity = _QUANTITIES[metric]
    if judged.empty:
        return Note(f"No chart: this study has no {quantity} in both directions between two zones.")
    rows = pairs.to_dict("records")
    counts, counted = _rounds_or_runs(pairs)
    ways = [f"{_way(row)} over {route(row['to'], row['from'])}" for row in rows]
    shown = pairs.assign(
        way=[way + (" (same zone)" if row["same_zone"] else "") for way, row in zip(ways, rows, strict=True)],
        truth=[_configured_ratio(links, row, metric) for row in rows],
        n=counts,
        # One run each way is not tested; "inconclusive" would say that it was.
        verdict=pairs["verdict"].where(pairs["ratio_low"].notna(), "not_tested"),
    ).sort_values(["same_zone", "ratio"], kind="stable")
    if len(shown) == 1:
        only = shown.iloc[0]
        return Note(f"No chart: one comparison only. {only['what']}, {only['method']}: {plain(only['ratio'], 4)}.")
    panel, row = ("method", "way") if shown["method"].nunique() == 1 else ("way", "method")
    confidence = pairs["confidence"].iloc[0]
    wider = ", wider where that is less than 1 µs" if metric == "latency" else ""
    return forest(
        shown,
        "ratio",
        low="decides_low",
        high="decides_high",
        panel=panel,
        row=row,
        verdict="verdict",
        margin="margin",
        truth="truth" if shown["truth"].notna().any() else "",
        beside=2 if shown[panel].str.len().max() <= 46 else 1,
        xlabel=f"{_SHORT[metric]} A→B ÷ {_SHORT[metric]} B→A (log)",
        caption=draw.caption(
            (
                f"Bar: {percent(confidence)} interval over {counted.split()[0]}, adjusted for the number of pairs; "
                f"{percent(2 * confidence - 1)} if practically equivalent (TOST).",
                shown["decides_low"].notna().any(),
            ),
            f"Band: practically equivalent (±{percent(pairs['margin'].iloc[0])}{wider}).",
            ("×: ratio of the configured links.", shown["truth"].notna().any()),
        ),
        ordering=f"Smallest first{', pairs within a zone last' if 0 < shown['same_zone'].mean() < 1 else ''}.",
        counted="rounds per pair" if counted == "rounds" else counted,
        of="comparisons",
        result=ratio_result(
            shown[~shown["same_zone"].astype(bool)],
            f"{capitalised(quantity)}, both directions{' between zones' if len(judged) < len(pairs) else ''}",
        ),
        name="asymmetry_forest",
    )


def _configured_ratio(links: pd.DataFrame, pair: Row, metric: str) -> float:
    """Return the ratio of the configured links: 1 for round trips, which cross both directions."""
    both = both_directions(links, pair["from"], pair["to"]) if len(links) else None
    if both is None or metric == "retransmits":
        return math.nan
    return 1.0 if metric == "latency" else float(both[0]["rate_bit_s"] / both[1]["rate_bit_s"])


def ranks(found: Asymmetry) -> Table | Note:
    """Return the pairs of zones in the order of their typical run, with the ranks that are certain."""
    order = found.order
    if order.empty:
        return Note(f"No order: no method measured two to {MOST_RANKED} pairs of zones.")
    if order["estimate"].isna().all():
        return Note("No order: a pair that was measured once has no interval.")
    columns = {
        "method": text("method", names_row=True),
        "pair": text("what", names_row=True),
        "rounds or runs": count("n"),
        "RTT": number("estimate", ",.1f", MICROSECONDS),
        "interval": ends("low", "high", ",.1f", MICROSECONDS),
        "rank": count("rank"),
        "flags": flags(),
    }
    notes = [
        "The shortest first. A pair has a rank if it differs from every other one of its method (Holm's method over "
        "all comparisons)."
    ]
    return table(without_flat(order), "Pairs by round-trip time (scope: across runs)", columns, notes, value="typical")


# --- emulated networks


def emulated_errors(steps: pd.DataFrame) -> Chart | Note:
    """Draw, for each path and method, the interval of the measured difference less the recorded one."""
    judged = steps[steps["holds"].notna()].sort_values("error", kind="stable")
    if judged.empty:
        return Note("No chart: the network was not emulated, or no path was measured in several rounds.")
    shown = judged.assign(
        row=judged["path"] + ", " + (judged["recorded"] / 1e3).map(lambda gap: f"{format_number(gap, 0)} µs"),
        error_low=judged["low"] - judged["recorded"],
        error_high=judged["high"] - judged["recorded"],
        verdict=np.where(judged["holds"], "holds", "misses"),
        text=[signed(error / 1e3, 1) for error in judged["error"]],
    )
    return forest(
        ordered(shown, "method", steps["method"]),
        "error",
        panel="method",
        row="row",
        verdict="verdict",
        unit=MICROSECONDS,
        edge="text",
        xlabel="measured less recorded difference, µs",
        caption=(
            f"Error of the measured differences to {judged['reference'].iloc[0]}; beside each path the recorded "
            "difference; the line at 0 is the ground truth. Bar: "
            f"{percent(judged['confidence'].iloc[0])} interval over rounds."
        ),
        ordering="Smallest error first.",
        counted="rounds",
        result=f"{share_held(judged)} confidence intervals contain the recorded delay",
        name="emulated_errors",
    )


def emulated_differences(steps: pd.DataFrame) -> Table | Note:
    """Return how much longer each path is than the shortest pair, as measured and as the emulator recorded."""
    if steps.empty:
        return Note("The network of this study was not emulated: its true one-way delays and rates are unknown.")
    judged = steps[steps["holds"].notna()]
    if judged.empty:
        return Note(
            "No method measured the shortest pair and another pair in several rounds, so there are no intervals."
        )
    columns = {
        "method": text("method", names_row=True),
        "path": text("path", names_row=True),
        "rounds": count("n"),
        "compared": text(lambda row: row["value"].removesuffix("_ns")),
        "longer by": number("estimate", ",.1f", MICROSECONDS),
        "interval": ends("low", "high", ",.1f", MICROSECONDS),
        "recorded": number("recorded", ",.1f", MICROSECONDS),
        "inside": text("holds"),
        "error": number("error", "+z,.1f", MICROSECONDS),
        "configured": number("configured", ",.1f", MICROSECONDS),
    }
    notes = [
        f"Compared with {judged['reference'].iloc[0]} and its reverse in the same round; "
        f"{percent(judged['confidence'].iloc[0])} intervals of the median round, not adjusted for multiplicity. "
        "Recorded: the same difference of what the emulator recorded in these runs, without the time of the hosts. "
        "Error: measured minus recorded, from chance and from the time of the hosts, such as the wake-up of a CPU."
    ]

    def links(row: Row) -> list[Ref]:
        pairs = [NetworkPath.parse(row[name]).ends or ("", "") for name in ("path", "reference")]
        ways = [way for start, end in pairs for way in ((start, end), (end, start))]
        return [FileRef("truth.json", f"{start}->{end}") for start, end in ways]

    caption, shown = "Measured and recorded differences", judged.drop(columns="flags")
    return table(shown, caption, columns, notes, value=lambda row: row["value"], others=links)


# --- findings


def find(found: Asymmetry, links: pd.DataFrame, steps: pd.DataFrame | None = None) -> Findings:
    """Summarize which direction is slower, and what round trips cannot show.

    ``links``: what an emulated network is configured to; ``steps``: its measured and recorded differences.
    """
    pairs = found.pairs[~found.pairs["same_zone"].astype(bool)]
    if pairs.empty:
        text = (
            "No pair of zones was measured in both directions with the same method. To compare the directions, run "
            "each tool from both ends, in rounds."
        )
        return Findings.of([act(text) if len(found.methods) else info(text)])
    # The picture also has pairs within a zone.
    compared = "Cross-zone RTT A→B, B→A" if len(pairs) < len(found.pairs) else "RTT A→B and B→A"
    findings = [answer(*_answer(found.methods, pairs, compared)), *_recovered(steps)]
    round_trips = pairs[pairs["metric"] == "latency"]
    differing = round_trips[differs(round_trips)]
    findings += [info(_difference(pair)) for pair in differing.to_dict("records")]
    tested = round_trips[round_trips["ratio_low"].notna()]
    if len(tested) and not len(differing):
        text = (
            f"No method that was repeated each way shows a difference between initiators ({join(tested['method'])}). "
            "This does **not** show that the one-way delays are equal: a round trip is their sum, whichever end starts "
            "it."
        )
        findings.append(info(text))
    findings += _undetectable(pairs, set(map(_name, differing.to_dict("records"))), links)
    is_published = has_flag(pairs, "machines_unknown")
    if is_published.any():
        findings.append(info(_PUBLISHED.format(join(pairs.loc[is_published, "method"]))))
    measured = pairs[~is_published]
    for code, text in _FLAGGED.items():
        flagged = measured[has_flag(measured, code)]
        if len(flagged):
            named = flagged.assign(path=[_name(row) for row in flagged.to_dict("records")])
            findings.append(act(text.format(join_by_method(named))))
            if code == "dependent_runs" and flagged["n"].max() >= FEWEST:
                findings.append(act("One ratio over all rounds hides a level that changed: see the page *History*."))
    return Findings.of(findings)


def _answer(methods: pd.DataFrame, pairs: pd.DataFrame, compared: str) -> tuple[str, list[list[Ref]]]:
    """Say how far round trips differ with the end that starts, and which transfer has a slow direction.

    The runs of each bold part follow. ``compared``: round trips of which pairs.
    """
    parts, refs = [], list[list[Ref]]()
    round_trips, transfers = (pairs[pairs["metric"] == metric] for metric in ("latency", "throughput"))
    if len(round_trips):
        tested = round_trips[round_trips["ratio_low"].notna()]
        # Of the method that the card and the titles speak of.
        best = (tested if len(tested) else round_trips)["method"].iloc[0]
        of_best = round_trips[round_trips["method"] == best]
        others = tested[tested["method"] != best]
        open_ones = int((others["verdict"] == "inconclusive").sum())
        rest = f"; by other methods {open_ones} of {len(others)} are inconclusive" if open_ones else ""
        parts.append(f"{compared} {_most_changed(of_best)}{rest}")
        refs.append([RunsRef(tuple(" ".join(of_best["run_ids"]).split()), "typical")])
    apart = transfers[differs(transfers)]
    slow = steady(apart)
    if len(slow) < len(apart):
        ways = join(_name(pair) for pair in apart.drop(slow.index).to_dict("records"))
        parts.append(f"Goodput of {ways} differs by direction and drifts: no one ratio holds, see the page *History*")
    if len(slow):
        method, largest = most_apart(slow)
        verb = "carries" if len(largest) == 1 else "carry"
        times = f"**{ratio_range(largest.values())}×** the reverse goodput"
        parts.append(f"{names(largest)} {verb} {times} ({method})")
        ends = zip(slow["from"], slow["to"], strict=True)
        named = slow[[not {route(*pair), route(*pair[::-1])}.isdisjoint(largest) for pair in ends]]
        named = named[named["method"] == method]
        refs.append([RunsRef(tuple(" ".join(named["run_ids"]).split()), "throughput")])
    elif len(transfers) and apart.empty:
        rounds = count_of(int(methods.loc[methods["metric"] == "throughput", "rounds"].max()), "round")
        parts.append(f"{'no' if parts else 'No'} transfer is shown to be slower in one direction over all {rounds}")
    return f"{'; '.join(parts)}.", refs


def _most_changed(pairs: pd.DataFrame) -> str:
    """Say whether the end that starts matters: what is shown, what the intervals allow, or what was measured."""
    method, logs = pairs["method"].iloc[0], np.log(pairs["ratio"])
    bounds = np.log(pairs[["ratio_low", "ratio_high"]].where(lambda ends: ends > 0))
    measured = percent(math.expm1(logs.abs().max()), 2)
    if bounds.isna().all(axis=None):
        return f"were measured **{measured}** apart at most ({method}, one round: not testable)"
    if (bounds.sub(logs, axis=0).abs() > _WIDE).any(axis=None):
        return f"were measured **{measured}** apart at most, inconclusive ({method})"
    most = percent(math.expm1(bounds.abs().max(axis=None)), 2)
    sides = ", published means" if has_flag(pairs, "machines_unknown").any() else ""
    interval = f"({method}, {percent(pairs['confidence'].iloc[0])} CI{sides})"
    if differs(pairs).any():
        return f"differ by at most **{most}** {interval}"
    inconclusive = int((pairs["verdict"] == "inconclusive").sum())
    if inconclusive == len(pairs):
        return f"may differ (inconclusive): intervals within **{most}** {interval}"
    if inconclusive:
        alike = f"{len(pairs) - inconclusive} of {len(pairs)} pairs alike, {inconclusive} inconclusive"
        return (
            f"show no confirmed difference: {alike}; ratios within {measured}, intervals within **{most}** {interval}"
        )
    return f"show no difference, bounds within **{most}** {interval}"


def _recovered(steps: pd.DataFrame | None) -> list[Finding]:
    """Say how many intervals contain what the emulator recorded, and by how much each method is off."""
    judged = steps[steps["holds"].notna()] if steps is not None else None
    if judged is None or judged.empty:
        return []
    errors = judged.groupby("method")["error"].agg(["min", "max"]) / 1e3
    by_method = "; ".join(f"{name} {signed(low, 1)} to {signed(high, 1)} µs" for name, low, high in errors.itertuples())
    text = (
        f"{join(share for share, _ in shares_held(judged))} contain the recorded delay, of up to "
        f"{format_number(judged['recorded'].max() / 1e3, 0)} µs. Errors: {by_method}."
    )
    return [info(text)]


def _difference(pair: Row) -> str:
    """Say how many times as long one direction takes; the longer one comes first."""
    start, end, ratio = pair["from"], pair["to"], pair["ratio"]
    if ratio < 1:
        start, end, ratio = end, start, 1 / ratio
    flagged = pair["flags"].split()
    machines = ", between these machines" if ABOUT_MACHINES.intersection(flagged) else ""
    drift = " in these runs, which drift" if "dependent_runs" in flagged else ""
    return (
        f"Started at {start}, a round trip with {end} takes **{plain(ratio)} times** as long as started at the other "
        f"end{drift} ({pair['method']}{machines}). This compares initiators, not one-way delays."
    )


def _undetectable(pairs: pd.DataFrame, differing: set[str], links: pd.DataFrame) -> list[Finding]:
    """Return one finding per pair whose configured one-way delays differ although its round trips do not."""
    findings = []
    for start, end in dict.fromkeys(zip(pairs["from"], pairs["to"], strict=True)):
        both = both_directions(links, start, end)
        if both is None or f"{start} ↔ {end}" in differing:
            continue
        gap = abs(float(both[0]["delay_ns"]) - float(both[1]["delay_ns"])) / 1e3
        if gap:
            slower = f"is configured {format_number(gap, 0)} µs slower than the other"
            findings.append(
                info(f"One direction between {start} and {end} {slower}. Round-trip times cannot show this.")
            )
    return findings
