"""The answer about throughput: when and to what rate transfers fall, or the goodput of each path."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import pandas as pd

from azlatency.kit.cells import RunsRef
from azlatency.kit.differences import difference
from azlatency.kit.intervals import interval_in
from azlatency.kit.sentences import Linked, Sentence, listed
from azlatency.kit.titles import capitalised, span
from azlatency.pages.summary.answer import (
    MOST_WITH_INTERVAL,
    ONCE,
    Data,
    badge_of,
    decisive_paths,
    ends_of,
    first_of,
    from_to,
    in_brackets,
    middle_of,
    not_compared,
    typical_dot,
    typical_words,
)
from azlatency.pages.summary.card import Answer, Dot, dot
from azlatency.pages.transfers import falls_in
from azlatency.stats.across_runs.directions import by_data_direction
from azlatency.stats.across_runs.main_method import asked_rates, is_reverse, measured_runs, rank_methods
from azlatency.stats.across_runs.path_differences import PathDifferences, differences_by_path
from azlatency.stats.across_runs.typical_run import summarize
from azlatency.stats.within_run.time_series import alike, by_burst, falling, rates_of_study
from azlatency.studies.format import count_of, duration, format_value, join_words, one_prefix, percent, plain
from azlatency.studies.runs.groups import grouped
from azlatency.studies.runs.key import SENDER
from azlatency.studies.runs.throughput import throughput

#: Shorter transfers may show only the burst of a link; tools end a minute a little early.
_SUSTAINED_NS = 59e9


def falling_rates(data: Data) -> Answer | None:
    """Say when and to what rate repeated transfers fall, if at least half of them do."""
    chosen, tested = falling(rates_of_study(data.study))
    # `goodputs` and `single_falls` describe single transfers.
    if 2 * len(chosen) < len(tested) or chosen["path"].is_unique:
        return None
    next_step = _longer_than_the_burst(chosen, tested)
    chosen, others = by_burst(chosen)
    runs = chosen[["path", "method", "burst_rate", "sustained_rate"]]
    runs = runs.assign(run_id=chosen["run_ids"], at_ns=chosen["at_s"] * 1e9).set_index("run_id", drop=False)
    typical_rates = summarize(runs, "sustained_rate", unit="bit/s").set_index("path")
    moments = summarize(runs, "at_ns", unit="ns").set_index("path")
    middles = runs.groupby("path", sort=False, dropna=False)[["burst_rate", "sustained_rate", "at_ns"]].median()
    middles = middles.sort_values("sustained_rate", kind="stable")
    like = one_prefix((*middles["sustained_rate"], *middles["burst_rate"]), "bit/s")
    falls: list[Sentence] = []
    times: list[Sentence] = []
    dots: list[Dot] = []
    for path, middle in middles.iterrows():
        typical, moment = typical_rates.loc[path].to_dict(), moments.loc[path].to_dict()
        own, name = chosen[chosen["path"] == path], str(path)
        of_path, of_rates = falls_in(own), RunsRef(tuple(own["run_ids"]), "intervals")
        rate, time = format_value(middle["sustained_rate"], "bit/s", like=like), duration(middle["at_ns"])
        falls.append((f"{name} to ", Linked(rate, of_rates), " after ", Linked(time, *of_path)))
        size = f"{count_of(moment['n'], 'run')}{_interval_words(moment)}"
        times.append((Linked(f"{name} {time} ({size})", *of_path, bold=False),))
        ends = interval_in(typical) or (middle["sustained_rate"],)
        text = f"{rate} after {time}"
        dots.append(dot(name, ends, "bit/s", of_rates, value=middle["sustained_rate"], text=text))
    top = span(chosen["burst_rate"], "bit/s", digits=2, like=like)
    return Answer(
        badge=badge_of(moments),
        answer=(
            Linked(
                f"{len(chosen) + len(others)} of {len(tested)}",
                RunsRef(tuple(tested["run_ids"]), "intervals"),
                bold=False,
            ),
            f" transfers fall once; the logs end {_watched(pd.concat([chosen, others]))} after the start of the fall. ",
            f"{len(chosen)} of them {_start_at(chosen)} ",
            Linked(top, RunsRef(tuple(chosen["run_ids"]), "intervals")),
            " and fall (medians): ",
            *listed(falls),
            ".",
            *_other_hosts(others),
        ),
        inference=("Until the fall: ", *listed(times), "."),
        dots=tuple(dots),
        axis="median rate after the fall",
        next_step=next_step,
    )


def _longer_than_the_burst(fallen: pd.DataFrame, tested: pd.DataFrame) -> str:
    """Say after how long the transfers of each path fell, and how long those were watched that did not."""
    times = grouped(fallen, "path")["at_s"].agg(["min", "max"]).sort_values("min", kind="stable")
    falls = [f"{path} {duration(1e9 * ends['min'], 1e9 * ends['max'])}" for path, ends in times.iterrows()]
    steady = tested[~tested["run_ids"].isin(fallen["run_ids"])]
    sustained = fallen.groupby("path")["sustained_rate"].median()
    paths = []
    for path, own in grouped(steady, "path"):
        # The mean would count the seconds without traffic with which a log may end.
        words = f"{path}, {duration(*(1e9 * own['seconds']))} at a median of {span(own['median_rate'], 'bit/s')}"
        if alike(own["median_rate"], sustained.get(path, math.nan)).all():
            words += ", the rate to which the others fall: no burst"
        stops = own["silent"].sum()
        last = "the last " if stops == own["silent_last"].sum() else ""
        paths.append(words + (f"; {last}{count_of(stops, 'interval')} without traffic" if stops else ""))
    still = f"; {plain(len(steady))} did not fall ({join_words(paths)})" if paths else ""
    return f"Run a transfer until its rate has fallen before you rely on it. Until then: {join_words(falls)}{still}."


def _other_hosts(others: pd.DataFrame) -> Sentence:
    """Say from which rates the other transfers start, and when they fall."""
    if others.empty:
        return ()
    refs = falls_in(others)
    burst = span(others["burst_rate"], "bit/s")
    after = others["at_s"] * 1e9
    falls = " and falls after " if len(others) == 1 else " and fall after "
    rates = Linked(burst, RunsRef(tuple(others["run_ids"]), "intervals"))
    return f" {len(others)} {_start_at(others)} ", rates, falls, Linked(duration(*after), *refs), "."


def _watched(transfers: pd.DataFrame) -> str:
    """Return how long the logs go on after the fall: nothing shows that a rate stays low for longer."""
    return duration(*((transfers["seconds"] - transfers["at_s"]) * 1e9))


def _start_at(transfers: pd.DataFrame) -> str:
    return "starts at" if len(transfers) == 1 else "start at"


def _interval_words(time: Mapping[Any, Any]) -> str:
    """Return the interval of a time; empty without one that says something."""
    ends = interval_in(time)
    return f", {percent(time['confidence'])} CI {duration(*ends)}" if ends else ""


def goodputs(data: Data) -> Answer | None:
    """Say the goodput of each path or, of many paths, the lowest and the highest."""
    runs = throughput(data.study, sender_only=True)
    if not len(runs):
        return None
    method = rank_methods(measured_runs(runs))[0]
    quantity = "rate at the sender" if method.endswith(SENDER) else "goodput"
    is_chosen = runs["method"] == method
    # Other methods of the same tool, such as another length, or the only ones of a path.
    is_alike = runs["tool"].isin(runs.loc[is_chosen, "tool"]) | ~runs["path"].isin(runs.loc[is_chosen, "path"])
    elsewhere, runs = runs[is_alike & ~is_chosen], by_data_direction(runs[is_chosen])
    rates = runs["throughput_bit_s"].astype(float)
    groups, like = rates.groupby(runs["path"], sort=False), one_prefix(rates, "bit/s")
    refs = {str(path): RunsRef(tuple(map(str, values.index)), "throughput") for path, values in groups}
    typical = summarize(runs, "throughput_bit_s")
    rows = sorted(typical.to_dict("records"), key=middle_of)
    dots = tuple(typical_dot(row["path"], row, refs[row["path"]], like=like) for row in rows)
    values: list[Sentence] = []
    for row in rows:
        value, interval = typical_words(row, like=like, short=len(rows) > MOST_WITH_INTERVAL)
        values.append((Linked(value, refs[row["path"]]), f"{in_brackets(interval)} on {row['path']}"))
    found = differences_by_path(runs, method, "throughput_bit_s")
    verdict: Sentence = (f"{capitalised(quantity)}: ",)
    if len(found.decisive):
        verdict = difference(found, "paths", refs.__getitem__, rate=True)
    way = " from sender to receiver" if is_reverse(method) else ""
    dots, axis = ends_of(dots, f"{quantity}{way}, {method.removesuffix(SENDER)}")
    chosen, tested = falling(rates_of_study(data.study))
    falls = _falls(chosen, tested) if (chosen["method"] == method).any() else ()
    short = runs["duration_ns"].isna() | (runs["duration_ns"] < _SUSTAINED_NS)
    bursts = ("A transfer of < 60 s may not use up the burst credit: the sustained rate may be lower.",)
    replicated = all(groups.count() > 1)
    missing = [*(() if replicated else ("in rounds",)), *(("for at least a minute",) if short.any() else ())]
    return Answer(
        badge=badge_of(typical),
        answer=(*verdict, *from_to(values), _asked(runs), ". " if falls else ".", *falls),
        inference=(*_typical_rates(typical, found, like), *(bursts if short.any() else ()), *not_compared(elsewhere)),
        dots=dots,
        axis=axis,
        next_step=f"Repeat each transfer {', '.join(missing)}."
        if missing
        else "See the page *Planning the next measurement* for the rounds that smaller differences need.",
    )


def _asked(runs: pd.DataFrame) -> str:
    """Say the rate that the transfers of a method were told to send at, if they were told one."""
    rates = asked_rates(runs)
    return f", of the {span(rates, 'bit/s')} that were asked for" if rates.notna().all() else ""


def single_falls(data: Data) -> Answer | None:
    """Describe single transfers that fall, where no log has the goodput of the whole transfer."""
    chosen, tested = falling(rates_of_study(data.study))
    if not (answer := _falls(chosen, tested)):
        return None
    rates = chosen.to_dict("records")
    dots = tuple(
        dot(rate["path"], (rate["sustained_rate"],), "bit/s", ref)
        for rate, ref in zip(rates, falls_in(chosen), strict=True)
    )
    dots, axis = ends_of(sorted(dots, key=lambda value: value.low), "median rate after the fall")
    return Answer(
        badge="indicative",
        answer=answer,
        inference=(ONCE,),
        dots=dots,
        axis=axis,
        next_step="Repeat each transfer in rounds.",
    )


def _falls(chosen: pd.DataFrame, tested: pd.DataFrame) -> Sentence:
    """Say that transfers fall, if at least half of them do; each path has one, so that they are only described."""
    if chosen.empty or 2 * len(chosen) < len(tested):
        return ()
    refs = falls_in(chosen)
    after = duration(*(chosen["at_s"] * 1e9))
    start = f"{len(chosen)} of {len(tested)} transfers fall once" if len(tested) > 1 else "The transfer falls once"
    burst, sustained = (
        Linked(span(chosen[name], "bit/s"), *refs, bold=False) for name in ("burst_rate", "sustained_rate")
    )
    return (
        f"{start}, after {after}: from ",
        burst,
        " to ",
        sustained,
        f". The logs end {_watched(chosen)} after the start of the fall.",
    )


def _typical_rates(typical: pd.DataFrame, found: PathDifferences, like: float | None) -> Sentence:
    """Say the intervals of the typical goodput, those of the paths that the answer speaks of first."""
    first = decisive_paths(found)
    in_order = sorted(typical.to_dict("records"), key=lambda estimate: estimate["path"] not in first)
    parts: list[Sentence] = [
        (f"{estimate['path']} {span(ends, 'bit/s', like=like)}",)
        for estimate in in_order
        if (ends := interval_in(estimate))
    ]
    if not parts and (typical["n"] == 1).all():
        return (f"{ONCE} ",)
    if not parts:
        is_refused = (~found.paths["flags"].isin(["", "no_replication"])).any()
        return ("No path has an interval; the page “Throughput of each path” says why. ",) if is_refused else ()
    return f"Typical runs, {percent(typical['confidence'].iloc[0])} CI: ", *first_of(parts), ". "
