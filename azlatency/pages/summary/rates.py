"""The answer about throughput: when and to what rate transfers fall, or the goodput of each path."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from azlatency.kit.cells import RunsRef
from azlatency.kit.differences import difference
from azlatency.kit.intervals import interval_in
from azlatency.kit.sentences import Linked, Sentence, listed
from azlatency.kit.titles import span
from azlatency.pages.summary.answer import ONCE, Answer, Data, decisive_paths, ends_of, first_of, from_to
from azlatency.pages.summary.card import Badge, dot
from azlatency.stats.across_runs.main_method import measured_runs, rank_methods
from azlatency.stats.across_runs.path_differences import PathDifferences, differences_by_path
from azlatency.stats.across_runs.typical_run import summarize
from azlatency.stats.within_run.time_series import by_burst, falling, throughput_series
from azlatency.studies.format import count_of, duration, format_value, one_prefix
from azlatency.studies.runs.run_table import client_runs
from azlatency.studies.runs.throughput import throughput

#: Shorter transfers may show only the burst of a link; tools end a minute a little early.
_SUSTAINED_NS = 59e9


def falling_rates(data: Data) -> Answer | None:
    """Say when and to what rate repeated transfers fall, if at least half of them do."""
    chosen, tested = falling(throughput_series(data.study.intervals, client_runs(data.study)))
    # `goodputs` and `single_falls` describe single transfers.
    if 2 * len(chosen) < len(tested) or chosen["path"].is_unique:
        return None
    chosen, others = by_burst(chosen)
    runs = pd.DataFrame(
        {
            **{name: chosen[name] for name in ("path", "method")},
            "run_id": chosen["run_ids"],
            "burst": chosen["burst_rate"],
            "sustained": chosen["sustained_rate"],
            "seconds": chosen["at_s"],
        }
    ).set_index("run_id", drop=False)
    runs["seconds"] *= 1e9
    sustained, moment = (
        {str(estimate["path"]): estimate for estimate in summarize(runs, column, unit=unit).to_dict("records")}
        for column, unit in (("sustained", "bit/s"), ("seconds", "ns"))
    )
    middles = runs.groupby("path", sort=False)[["burst", "sustained", "seconds"]].median()
    paths = sorted(middles.index, key=lambda path: middles.at[path, "sustained"])
    refs = {path: RunsRef(tuple(sustained[path]["run_ids"].split()), "intervals") for path in paths}
    falls = {path: duration(middles.at[path, "seconds"]) for path in paths}
    like = one_prefix((*middles["sustained"], *middles["burst"]), "bit/s")
    rates = {path: format_value(middles.at[path, "sustained"], "bit/s", like=like) for path in paths}
    top = span((middles["burst"].min(), middles["burst"].max()), "bit/s", digits=2, like=like)
    inference = [
        Linked(
            f"{path} {falls[path]} ({count_of(moment[path]['n'], 'run')}{_interval_words(moment[path])})",
            refs[path],
            bold=False,
        )
        for path in paths
    ]
    return Answer(
        badge=_badge([moment[path] for path in paths], runs=len(tested)),
        answer=(
            Linked(
                f"{len(chosen) + len(others)} of {len(tested)}",
                _intervals_of(tested),
                bold=False,
            ),
            f" transfers fall once, and were watched for {_watched(pd.concat([chosen, others]))} after that. ",
            f"{len(chosen)} of them {_start_at(chosen)} about ",
            Linked(top, *refs.values()),
            " (median runs): ",
            *listed(
                (f"{path} to ", Linked(rates[path], refs[path]), " after ", Linked(falls[path], refs[path]))
                for path in paths
            ),
            ".",
            *_other_hosts(others),
        ),
        inference=("Until the fall: ", *listed((part,) for part in inference), "."),
        dots=tuple(
            dot(
                path,
                interval_in(sustained[path]) or (middles.at[path, "sustained"],),
                "bit/s",
                refs[path],
                value=middles.at[path, "sustained"],
                text=f"{rates[path]} after {falls[path]}",
            )
            for path in paths
        ),
        axis="median rate after the fall",
        next_step="Run a transfer until its rate has fallen before you rely on it; a test of less than "
        f"{duration(middles['seconds'].max())} measures the burst.",
    )


def _intervals_of(rates: pd.DataFrame) -> RunsRef:
    return RunsRef(tuple(rates["run_ids"]), "intervals")


def _other_hosts(others: pd.DataFrame) -> Sentence:
    """Say from which rates the other transfers start, and when they fall."""
    if others.empty:
        return ()
    refs = _intervals_of(others)
    burst = span(others["burst_rate"], "bit/s")
    after = others["at_s"] * 1e9
    falls = " and falls after " if len(others) == 1 else " and fall after "
    return f" {len(others)} {_start_at(others)} ", Linked(burst, refs), falls, Linked(duration(*after), refs), "."


def _watched(transfers: pd.DataFrame) -> str:
    """Return how long the logs go on after the fall: nothing shows that a rate stays low for longer."""
    return duration(*((transfers["seconds"] - transfers["at_s"]) * 1e9))


def _start_at(transfers: pd.DataFrame) -> str:
    return "starts at" if len(transfers) == 1 else "start at"


def _interval_words(time: Mapping[Any, Any]) -> str:
    """Return the interval of a time; empty without one that says something."""
    ends = interval_in(time)
    return f", {100 * time['confidence']:g} % CI {duration(*ends)}" if ends else ""


def _badge(typical: Sequence[Mapping[Any, Any]], runs: int) -> Badge:
    """Return how far to trust a card that shows the interval of each of these typical runs that has one."""
    if all(interval_in(estimate) for estimate in typical):
        return "replicated"
    return "indicative" if runs == len(typical) else "incomplete"


def goodputs(data: Data) -> Answer | None:
    """Say the goodput of each path or, of many paths, the lowest and the highest."""
    runs = throughput(data.study, sender_only=True)
    if not len(runs):
        return None
    # A transfer that reached the rate that it was told to send at says nothing about more.
    limited = runs["throughput_bit_s"] > 0.95 * runs["target_rate_bit_s"].where(runs["target_rate_bit_s"] > 0)
    method = rank_methods(measured_runs(runs if limited.all() else runs[~limited]))[0]
    runs = runs[runs["method"] == method]
    rates = runs["throughput_bit_s"].astype(float)
    groups, like = rates.groupby(runs["path"], sort=False), one_prefix(rates, "bit/s")
    dots = tuple(
        dot(str(path), values, "bit/s", RunsRef(tuple(map(str, values.index)), "throughput"), like=like)
        for path, values in sorted(groups, key=lambda group: group[1].median())
    )
    values: list[Sentence] = [(Linked(value.text, *value.refs), f" on {value.label}") for value in dots]
    typical = summarize(runs, "throughput_bit_s").to_dict("records")
    found = differences_by_path(runs, method, "throughput_bit_s")
    refs = {value.label: value.refs[0] for value in dots}
    verdict: Sentence = ("Goodput: ",)
    if len(found.decisive):
        verdict = difference(found, "paths", refs.__getitem__, rate=True)
    dots, axis = ends_of(dots, f"goodput, {method}")
    chosen, tested = falling(throughput_series(data.study.intervals, client_runs(data.study)))
    falls = _falls(chosen, tested) if (chosen["method"] == method).any() else ()
    short = runs["duration_ns"].isna() | (runs["duration_ns"] < _SUSTAINED_NS)
    bursts = ("A transfer of < 60 s may not use up the burst credit: the sustained rate may be lower.",)
    replicated = all(groups.count() > 1)
    missing = [*(() if replicated else ("in rounds",)), *(("for at least a minute",) if short.any() else ())]
    return Answer(
        badge=_badge(typical, len(runs)),
        answer=(*verdict, *from_to(values), ". " if falls else ".", *falls),
        inference=(*_typical_rates(typical, found, like), *(bursts if short.any() else ())),
        dots=dots,
        axis=axis,
        next_step=f"Repeat each transfer {', '.join(missing)}."
        if missing
        else "See the page *Planning the next measurement* for the rounds that smaller differences need.",
    )


def single_falls(data: Data) -> Answer | None:
    """Describe single transfers that fall, where no log has the goodput of the whole transfer."""
    chosen, tested = falling(throughput_series(data.study.intervals, client_runs(data.study)))
    if not (answer := _falls(chosen, tested)):
        return None
    rates = chosen.to_dict("records")
    dots = tuple(
        dot(rate["path"], (rate["sustained_rate"],), "bit/s", RunsRef((rate["run_ids"],), "intervals"))
        for rate in rates
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
    refs = _intervals_of(chosen)
    after = duration(*(chosen["at_s"] * 1e9))
    start = f"{len(chosen)} of {len(tested)} transfers fall once" if len(tested) > 1 else "The transfer falls once"
    burst, sustained = (
        Linked(span(chosen[name], "bit/s"), refs, bold=False) for name in ("burst_rate", "sustained_rate")
    )
    return (
        f"{start}, after {after}: from ",
        burst,
        " to ",
        sustained,
        f". The logs go on for {_watched(chosen)} after that.",
    )


def _typical_rates(typical: Sequence[Mapping[Any, Any]], found: PathDifferences, like: float | None) -> Sentence:
    """Say the intervals of the typical goodput, those of the paths that the answer speaks of first."""
    first = decisive_paths(found)
    in_order = sorted(typical, key=lambda estimate: estimate["path"] not in first)
    parts: list[Sentence] = [
        (f"{estimate['path']} {span(ends, 'bit/s', like=like)}",)
        for estimate in in_order
        if (ends := interval_in(estimate))
    ]
    if not parts and all(estimate["n"] == 1 for estimate in typical):
        return (f"{ONCE} ",)
    if not parts:
        is_refused = (~found.paths["flags"].isin(["", "no_replication"])).any()
        return ("No path has an interval; the page *Throughput of each path* says why. ",) if is_refused else ()
    return f"Typical runs, {100 * typical[0]['confidence']:g} % CI: ", *first_of(parts), ". "
