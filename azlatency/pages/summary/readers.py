"""What a study says to the questions that readers bring: a sentence each, for the first page of a site."""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import pandas as pd

from azlatency.kit.cells import ReportedRef, RunsRef
from azlatency.kit.sentences import Linked, Sentence, listed
from azlatency.kit.table import condition_ref
from azlatency.kit.titles import span
from azlatency.kit.words import PLACES, in_runs, looks_limited, with_more_connections
from azlatency.pages.summary.answer import (
    MOST_WITH_INTERVAL,
    in_brackets,
    of_paths,
    one_of_several,
    range_of,
    typical_words,
)
from azlatency.pages.summary.nights import changes_by_date
from azlatency.pages.transfers import falls_in
from azlatency.stats.across_runs.agreement import agreement
from azlatency.stats.across_runs.crossings import ALIKE
from azlatency.stats.across_runs.main_method import Measured, measured_runs, rank_methods
from azlatency.stats.across_runs.path_differences import differences_by_path
from azlatency.stats.across_runs.placement import NEAR_TO_FAR
from azlatency.stats.across_runs.zone_pairs import parts_of_paths, short_pair
from azlatency.stats.result import VERDICTS
from azlatency.stats.within_run.time_series import by_burst, falling, rates_of_study, reported_connection_ends
from azlatency.studies.format import (
    count_of,
    duration,
    format_number,
    format_value,
    join_words,
    one_prefix,
    percent,
    plain,
)
from azlatency.studies.runs.groups import grouped
from azlatency.studies.runs.left_out import named, without_result
from azlatency.studies.runs.path import NetworkPath
from azlatency.studies.runs.run_table import client_runs, counted_losses
from azlatency.studies.runs.selection import newest_windows

if TYPE_CHECKING:
    from azlatency.stats.across_runs.run_history import History
    from azlatency.studies.store.study import Study

#: The questions, in the order of the first page, which folds those after the fifth.
QUESTIONS = {
    "replicas": "Which pair of zones for my replicas, and what does a commit wait for?",
    "placement": "Zone, availability set, placement group or region?",
    "accelerated": "Does accelerated networking matter?",
    "connections": "Do connections break?",
    "one_run": "Can I trust one run?",
    "throughput": "How much throughput between zones?",
    "bursts": "How long does a burst last?",
    "loss": "Are packets lost?",
    "changed": "Did paths change over time?",
    "tools": "Do two tools agree?",
}
#: Most pairs of zones that a sentence lists; most runs that are "one run" each.
_MOST_LISTED, _FEW = 4, 3
_SETS = ("proximity_placement_group", "availability_set")


def answers(
    study: Study, trips: pd.DataFrame, runs: pd.DataFrame, streams: pd.DataFrame, levels: History, window: str = ""
) -> dict[str, Sentence]:
    """Return what a study says to each question that it can answer, by question.

    ``trips`` are as returned by `crossings`, ``runs`` as by `azlatency.latency`, ``streams`` as by
    `azlatency.throughput`, ``levels`` as by `azlatency.history`; ``window``: the newest one of a published series.
    """
    falls, tested = falling(rates_of_study(study))
    found = {
        "replicas": _replicas(trips, runs, window),
        "placement": _placements(trips),
        "accelerated": _accelerated(trips),
        "throughput": _throughput(streams),
        "bursts": _bursts(falls, len(tested)),
        "connections": _connections(study),
        "changed": changes_by_date(levels, pd.concat([runs, streams])),
        "loss": _loss(study, runs, streams),
        "tools": _tools(runs),
        "one_run": _one_run(runs) or _one_rate(falls) or _published(runs, levels),
    }
    return {question: sentence for question, sentence in found.items() if sentence}


def _replicas(trips: pd.DataFrame, runs: pd.DataFrame, window: str) -> Sentence:
    """Name the pairs of zones, or the ends of those of the part whose pairs differ most; of one method."""
    between = trips[(trips["placement"] == "cross_zone") & trips["pair"].str.contains("–")]
    measured = between[["method", "path", "n", "value"]].itertuples(index=False)
    ranked = rank_methods(
        Measured(row.method, row.path, row.n, has_median=row.value == "median_ns") for row in measured
    )
    between = between[between["method"].isin(ranked[:1])]
    one = f" ({name})" if ranked and (name := one_of_several(ranked[0], runs)) else ""
    # Zone 1 of one region or scenario has nothing to do with zone 1 of another.
    within = parts_of_paths(runs[runs["method"].isin(ranked[:1])])
    named_regions = zip(between["path"], between["region"], strict=True)
    between = between.assign(part=[within.get(path, region) for path, region in named_regions])
    spreads = {
        str(part): ends.iloc[-1] / ends.iloc[0]
        for part, group in grouped(between, "part")
        if len(ends := _typical(group)) > 1
    }
    if not spreads:
        return ()
    most = max(spreads, key=spreads.__getitem__)
    start, verb = "", "differ most"
    if not window:
        pair_of, part_of = (dict(zip(between["path"], between[name], strict=True)) for name in ("pair", "part"))
        own = runs[runs["path"].isin(pair_of.keys())]
        found = differences_by_path(own, ranked[0], str(between["value"].iloc[0]), group_of=pair_of, within=part_of)
        if found.verdict == "different":
            most = part_of[found.decisive["large"].item()]
        else:
            verb = "are farthest apart"
        start = "cannot tell whether the pairs differ: " if found.verdict == "inconclusive" else ""
    rows = between[between["part"] == most]
    names = list(map(str, _typical(rows).index))
    if len(spreads) > 1:
        start += f"{most}, whose pairs {verb}: "
        end = f" in {window}" if window else ""
        return start, *_pair(rows, names[0]), " to ", *_pair(rows, names[-1]), end, one
    if between["part"].nunique() > 1:
        start += f"{most}: "
    if len(names) > _MOST_LISTED:
        return start, "from ", *_pair(rows, names[0]), " to ", *_pair(rows, names[-1]), one
    return start, *listed(_pair(rows, name) for name in names), one


def _typical(rows: pd.DataFrame) -> pd.Series:
    return rows.groupby("pair", dropna=False)["round_trip_ns"].max().sort_values()


def _pair(rows: pd.DataFrame, pair: str) -> Sentence:
    """Name a pair of zones with its round trips, and with the p99 that their runs print: what a commit waits for."""
    own = rows[rows["pair"] == pair]
    name, typical = f"{short_pair(pair)} ", _linked(own, rows)
    if own["p99_ns"].isna().any() or (own["origin"] == "reported").any():
        return name, typical
    runs = RunsRef(tuple(" ".join(own["run_ids"]).split()), q=0.99)
    tail = f"p99 {span(own['p99_ns'], 'ns', like=_prefix(rows))}"
    # One link for both: a first page of many links is slow to tab through.
    return name, Linked(_words(own, rows, tail), *typical.refs, runs)


def _placements(trips: pd.DataFrame) -> Sentence:
    """Lay an availability set, a placement group or another region beside zones, measured in the same way."""
    # A path to another region has that of its client.
    for rows in _alike(trips, (name for name in ALIKE if name != "region")):
        places = set(rows["placement"])
        if places & {*_SETS, "cross_region"} and places & {"same_zone", "cross_zone"}:
            ordered = [place for place in NEAR_TO_FAR if place in places]
            said = listed((f"{PLACES[place]} ", _linked(rows[rows["placement"] == place], rows)) for place in ordered)
            return *said, f" ({rows['method'].iloc[0]})"
    return ()


def _accelerated(trips: pd.DataFrame) -> Sentence:
    """Lay runs with accelerated networking beside those without, measured in the same way."""
    known = trips[trips["accelerated_networking"].notna()]
    parts: list[Sentence] = []
    for rows in _alike(known, ("placement", *(name for name in ALIKE if name != "accelerated_networking"))):
        on = rows["accelerated_networking"].astype(bool)
        if on.any() and not on.all():
            where = PLACES[str(rows["placement"].iloc[0])]
            is_once = len(rows) == 2 and (rows["n"] <= 1).all() and rows["lowest_ns"].equals(rows["highest_ns"])
            once, doubt = (", one number each", (", which may be chance",)) if is_once else ("", ())
            ends = [(some["lowest_ns"].min(), some["highest_ns"].max()) for some in (rows[on], rows[~on])]
            result = "shorter" if ends[0][1] < ends[1][0] else "longer" if ends[1][1] < ends[0][0] else "alike"
            with_it, without = _linked(rows[on], rows), _linked(rows[~on], rows)
            parts.append((f"round trip {result} with it {where}{once}: ", with_it, " against ", without, *doubt))
    return tuple(part for index, some in enumerate(parts) for part in (*(["; "] if index else []), *some))


def _throughput(streams: pd.DataFrame) -> Sentence:
    """Lay the goodputs of the placements beside each other, of the method that measured most."""
    runs = streams[streams["placement"].isin(NEAR_TO_FAR[1:]) & (streams["throughput_bit_s"].astype(float) > 0)]
    if not (runs["placement"] == "cross_zone").any():
        return ()
    method = rank_methods(measured_runs(runs))[0]
    more = with_more_connections(runs, method)
    runs = runs[runs["method"] == method]
    rates = runs["throughput_bit_s"].astype(float)
    like, by_place = one_prefix(rates, "bit/s"), dict(iter(rates.groupby(runs["placement"])))
    said = listed(
        (
            f"{PLACES[place]} ",
            Linked(span(own, "bit/s", like=like), RunsRef(tuple(map(str, own.index)), "throughput")),
            in_runs(runs.loc[own.index]),
        )
        for place in NEAR_TO_FAR
        if (own := by_place.get(place)) is not None
    )
    one = "one connection: " if more and (runs["connections"] == 1).all() else ""
    each = ", one run each" if (sizes := runs["path"].value_counts()).max() == 1 < len(sizes) else ""
    return one, *said, f" ({method}{each}){looks_limited(rates, runs['placement'])}{more}"


def _bursts(falls: pd.DataFrame, tested: int) -> Sentence:
    """Say after how long transfers fall, and to what rate: the median of those that start at the usual rate."""
    if falls.empty:
        return ()
    usual, others = by_burst(falls)
    like, parts = one_prefix(usual["burst_rate"], "bit/s"), list[Sentence]()
    for path, own in sorted(grouped(usual, "path"), key=lambda item: item[1]["at_s"].median()):
        refs = falls_in(own)
        time, rate = (
            duration(1e9 * own["at_s"].median()),
            format_value(own["sustained_rate"].median(), "bit/s", like=like),
        )
        parts.append((f"{path} ", Linked(time, *refs), f" (then {rate})"))
    counted = f"{len(usual)} of {tested} transfers"
    start = f"{counted} start at {span(usual['burst_rate'], 'bit/s', digits=2)}: " if len(others) else ""
    return start, *listed(parts[:_MOST_LISTED])


def _connections(study: Study) -> Sentence:
    """Say how many of the connections that a text reports ended, and when."""
    ends = reported_connection_ends(study.reported)
    if not len(ends):
        return ()
    refs = [ReportedRef(str(path), "failed_at") for path in ends["path"]]
    times = pd.to_datetime(ends["printed"])
    days, shown = times.dt.strftime("%Y-%m-%d").unique(), join_words(ends["printed"])
    if len(days) == 1:
        shown = f"on {days[0]} at {join_words(times.dt.strftime('%H:%M:%S'))}"
    every = study.reported.loc[study.reported["metric"].isin(["rtt_mean", "failed_at"]), "scenario"].nunique()
    ended = Linked(f"{len(ends)} of {count_of(every, 'connection')}", *refs)
    return ended, f" broke, {shown} (time zone not said); start times unknown, so no lifetimes"


def _one_run(runs: pd.DataFrame) -> Sentence:
    """Say how far runs of one path are apart, of the method that says most about all paths."""
    own = runs[runs["status"] != "summary_only"] if len(runs) else runs
    spread = _spread(own, "median_ns")
    if not spread:
        return ()
    repeated = {method for _, method in spread}
    method = rank_methods(measured_runs(own[own["method"].isin(repeated)]))[0]
    ratios = {path: ratio for (path, name), ratio in spread.items() if name == method}
    path, most = max(ratios.items(), key=lambda item: item[1])
    rows = own[(own["path"] == path) & (own["method"] == method)]
    ratio = Linked(f"{plain(most)} times", RunsRef(tuple(map(str, rows.index)), "median_ns"))
    typical = f"; {plain(_median(ratios.values()))} times on the typical path" if len(ratios) > 1 else ""
    return "median RTTs of one path differ by up to ", ratio, f" ({method}{typical})"


def _one_rate(falls: pd.DataFrame) -> Sentence:
    """Say how far the rates of transfers on one path are apart before they fall."""
    spread = _spread(falls, "burst_rate")
    if not spread:
        return ()
    (path, method), _ = max(spread.items(), key=lambda item: item[1])
    rows = falls[(falls["path"] == path) & (falls["method"] == method)]
    rates = Linked(span(rows["burst_rate"], "bit/s"), RunsRef(tuple(rows["run_ids"]), "intervals"))
    return f"no, for throughput: {count_of(len(rows), 'transfer')} on {path} ran at ", rates, " before their rate fell"


def _loss(study: Study, runs: pd.DataFrame, streams: pd.DataFrame) -> Sentence:
    """Say how many packets the tools lost that count them, and how many segments TCP sent again in a run."""
    # A run that lost all packets has no round trip.
    every = client_runs(study)
    every = every[every.index.isin([*runs.index, *streams.index, *without_result(study)])]
    own = every[every["protocol"].ne("tcp")].join(counted_losses(study.metrics), how="inner")
    parts: list[Sentence] = []
    for method, rows in grouped(own, "method"):
        lost = Linked(f"{plain(rows['lost'].sum())} of {plain(rows['sent'].sum())}", RunsRef(tuple(rows.index), "lost"))
        by_path = grouped(rows, "path")[["lost", "sent"]].sum()
        dead = list(by_path.index[(by_path["lost"] == by_path["sent"]) & (by_path["sent"] > 0)])
        parts.append((f"{method} lost ", lost, " packets", f" (no reply on {named(dead)})" if dead else ""))
    # Those of a whole host are not only those of the run.
    own = streams[streams["retransmits"].notna() & (streams["retransmits_scope"] != "host")]
    again = own[own["placement"].isin(NEAR_TO_FAR[1:])]
    for method, rows in grouped(again, "method"):
        note = " (a retransmission is not always a loss)" if rows["retransmits"].max() > 0 else ""
        places = []
        for placement in (name for name in NEAR_TO_FAR if (rows["placement"] == name).any()):
            some = rows.loc[rows["placement"] == placement, "retransmits"]
            ends = "–".join(dict.fromkeys(map(plain, (some.min(), some.max()))))
            refs = RunsRef(tuple(map(str, some.index)), "retransmits")
            places.append((f"{PLACES[placement]} ", Linked(ends, refs)))
        parts.append((f"{method} retransmitted ", *listed(places), f" segments in a run{note}"))
    return listed(parts)


def _tools(runs: pd.DataFrame) -> Sentence:
    """Say whether the methods of two tools with most pairs agree, of those that send the same packets."""
    methods = agreement(runs).methods if len(runs) else pd.DataFrame()
    alike = methods[(methods["differs_in"] == "") & methods["ratio_low"].notna()] if len(methods) else methods
    if len(alike):
        tools = runs.groupby("method", dropna=False)["tool"].first()
        alike = alike[alike["first"].map(tools) != alike["second"].map(tools)]
    if alike.empty:
        return ()
    row = alike.loc[alike["n"].astype(int).idxmax()]
    ratio, low, high = (format_number(row[name], 3) for name in ("ratio", "ratio_low", "ratio_high"))
    run_ids = row["run_ids"].split()
    linked = Linked(f"{ratio} times", RunsRef(tuple(run_ids), "mean_ns"))
    own = runs[runs.index.isin(run_ids) & (runs["placement"] == NEAR_TO_FAR[0])]
    alone = f", {own['path'].nunique()} of them on one host" if len(own) else ""
    interval = f"over {count_of(row['n'], 'path')}{alone}, {percent(row['confidence'])} CI {low} to {high}"
    verdict = f"{VERDICTS[row['verdict']]}, margin {percent(row['margin'])}"
    return f"mean of {row['first']}: ", linked, f" that of {row['second']} ({interval}; {verdict})"


def _spread(runs: pd.DataFrame, column: str) -> dict[tuple[Any, Any], float]:
    """Return the largest over the smallest value of each path and method that was measured several times."""
    spread: dict[tuple[Any, Any], float] = {}
    for key, group in grouped(runs, ["path", "method"]) if len(runs) else ():
        values = group[column].dropna().astype(float)
        if len(values) >= _FEW and values.min() > 0 and values.max() < float("inf"):
            spread[key] = values.max() / values.min()
    return spread


def _median(ratios: Iterable[float]) -> float:
    """Return the median of ratios, of an even number the geometric mean of the middle two."""
    return math.exp(statistics.median(map(math.log, ratios)))


def _published(runs: pd.DataFrame, levels: History) -> Sentence:
    """Say how far the windows of one path of a published series are apart, of the paths without a change of level."""
    newest = newest_windows(runs) if len(runs) else runs
    if len(newest) == len(runs):
        return ()
    on_level = levels.series[levels.series["level"].notna() & levels.series["drift"].isna()]
    stayed = {*on_level["path"]} & {*newest["path"]} - _both_ways(levels.changes["path"])
    windows = runs[runs["path"].isin(stayed) & runs["mean_ns"].notna()]
    if windows.empty:
        return ()
    means = windows.groupby("path", dropna=False)["mean_ns"]
    ratios = (means.max() / means.min()).sort_values()
    path, most = str(ratios.index[-1]), float(ratios.iloc[-1])
    if most == 1.0:
        return ()
    rows = windows[windows["path"] == path]
    reach = _odd_window(rows["mean_ns"].astype(float), rows["mean_ns_resolution"].max())
    linked = Linked(f"a factor of {plain(most)}", RunsRef(tuple(map(str, rows.index)), "mean_ns"))
    middle = windows.index[windows["path"].isin(ratios.index[(len(ratios) - 1) // 2 : len(ratios) // 2 + 1])]
    typical = Linked(plain(_median(ratios)), RunsRef(tuple(map(str, middle)), "mean_ns"))
    return (
        "published means of separate windows of one path, without a confirmed change, differ by up to ",
        linked,
        f" ({path}: {reach}); the median of {count_of(len(ratios), 'path')} is ",
        typical,
    )


def _odd_window(values: pd.Series, step: float) -> str:
    """Say the range of windows, and of which of them one alone makes it: "39 ms in one of 36 windows, else 9 ms"."""
    ordered, like = sorted(values), one_prefix(values, "ns")
    is_high = ordered[-1] / ordered[-2] >= ordered[1] / ordered[0]
    odd, others = (ordered[-1], ordered[:-1]) if is_high else (ordered[0], ordered[1:])
    if len(others) < _FEW or (others[-1] / others[0]) ** 1.5 > ordered[-1] / ordered[0]:
        return span(ordered, "ns", like=like, step=step)
    usual = span(others, "ns", like=like, step=step)
    return f"{span([odd], 'ns', like=like, step=step)} in one of {len(ordered)} windows, else {usual}"


def _both_ways(paths: Iterable[str]) -> set[str]:
    return {name for path in paths for name in (path, str(NetworkPath.parse(path).reversed()))}


def _alike(trips: pd.DataFrame, names: Iterable[str]) -> Iterable[pd.DataFrame]:
    return [rows for _, rows in trips.groupby(list(names), sort=False, dropna=False)]


def _linked(rows: pd.DataFrame, beside: pd.DataFrame) -> Linked:
    """Return some round trips as `_words` says them, with what they come from."""
    return Linked(_words(rows, beside), *map(condition_ref, rows.to_dict("records")))


def _words(rows: pd.DataFrame, beside: pd.DataFrame, *notes: str) -> str:
    """Return some round trips as the card says them, in the unit of all that they stand beside."""
    like, step = _prefix(beside), rows["resolution"].max()
    trips = rows.assign(lowest=rows["lowest_ns"], highest=rows["highest_ns"]).to_dict("records")
    if len(trips) == 1:
        short = beside["pair"].nunique() > MOST_WITH_INTERVAL
        value, interval = typical_words(trips[0], like=like, step=step, short=short)
        return value + in_brackets(interval, *notes)
    ends = [end for row in trips for end in (range_of(row) if math.isnan(row["estimate"]) else [row["estimate"]])]
    return span(ends, "ns", like=like, step=step) + in_brackets(of_paths(trips), *notes)


def _prefix(rows: pd.DataFrame) -> float | None:
    return one_prefix([*rows["lowest_ns"], *rows["highest_ns"]], "ns")
