"""The answer about throughput: when and to what rate transfers fall, or the goodput of each path."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from azlatency.report.card import Linked, Sentence, dot, listed, span
from azlatency.report.findings.summary.answer import Answer, Data
from azlatency.report.groups import by_burst
from azlatency.report.table import RunsRef
from azlatency.stats.across_runs.main_method import measured_runs, rank_methods
from azlatency.stats.across_runs.typical_run import summarize
from azlatency.stats.within_run.time_series import ThroughputSeries, falling, throughput_series
from azlatency.studies.format import count_of, format_value, one_prefix
from azlatency.studies.runs.run_table import client_runs
from azlatency.studies.runs.throughput import throughput

if TYPE_CHECKING:
    import pandas as pd

    from azlatency.stats.result import Estimate

#: A sentence and a picture of more paths are not read.
_MOST_NAMED = 12
#: Shorter transfers may show only the burst of a link; tools end a minute a little early.
_SUSTAINED_NS = 59e9


def falling_rates(data: Data) -> Answer | None:
    """Say when and to what rate transfers fall, if at least half of them do."""
    import pandas as pd

    chosen, tested = falling(throughput_series(data.study.intervals, client_runs(data.study)))
    if not chosen or 2 * len(chosen) < len(tested):
        return None
    chosen, others = by_burst(chosen)
    runs = pd.DataFrame(
        {
            "path": [rate.path for rate in chosen],
            "method": chosen[0].method,
            "run_id": [rate.run_id for rate in chosen],
            "burst": [rate.throttled.burst_rate for rate in chosen],
            "sustained": [rate.throttled.sustained_rate for rate in chosen],
            "seconds": [rate.throttled.at_s for rate in chosen],
        },
        index=[rate.run_id for rate in chosen],
    )
    runs["seconds"] *= 1e9
    sustained, moment = (
        {str(estimate.labels["path"]): estimate for estimate in summarize(runs, column, unit=unit)}
        for column, unit in (("sustained", "bit/s"), ("seconds", "ns"))
    )
    middles = runs.groupby("path", sort=False)[["burst", "sustained", "seconds"]].median()
    paths = sorted(middles.index, key=lambda path: middles.at[path, "sustained"])
    refs = {path: RunsRef(sustained[path].run_ids, "intervals") for path in paths}
    falls = {path: f"{middles.at[path, 'seconds'] / 60e9:.1f} min" for path in paths}
    like = one_prefix((*middles["sustained"], *middles["burst"]), "bit/s")
    rates = {path: format_value(middles.at[path, "sustained"], "bit/s", like=like) for path in paths}
    top = span((middles["burst"].min(), middles["burst"].max()), "bit/s", digits=2, like=like)
    inference = [
        Linked(
            f"{path} {falls[path]} ({count_of(moment[path].n, 'run')}{_minutes(moment[path])})", refs[path], bold=False
        )
        for path in paths
    ]
    return Answer(
        badge="replicated" if any(moment[path].low is not None for path in paths) else "indicative",
        answer=(
            Linked(
                f"{len(chosen) + len(others)} of {len(tested)}",
                RunsRef(tuple(rate.run_id for rate in tested), "intervals"),
                bold=False,
            ),
            f" transfers fall once and stay low. {len(chosen)} of them start at about ",
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
                (
                    sustained[path].low or middles.at[path, "sustained"],
                    sustained[path].high or middles.at[path, "sustained"],
                ),
                "bit/s",
                refs[path],
                value=middles.at[path, "sustained"],
                text=f"{rates[path]} after {falls[path]}",
            )
            for path in paths
        ),
        axis="median rate after the fall",
        next_step="Run a transfer until its rate has fallen before you rely on it; a test of less than "
        f"{middles['seconds'].max() / 60e9:.0f} min measures the burst.",
    )


def _other_hosts(others: Sequence[ThroughputSeries]) -> Sentence:
    """Say from which rates the other transfers start, and when they fall."""
    if not others:
        return ()
    refs = RunsRef(tuple(rate.run_id for rate in others), "intervals")
    burst = span([rate.throttled.burst_rate or 0.0 for rate in others], "bit/s")
    after = [(rate.throttled.at_s or 0.0) / 60 for rate in others]
    times = f"{min(after):.1f}–{max(after):.1f} min"
    return f" {len(others)} start at ", Linked(burst, refs), " and fall after ", Linked(times, refs), "."


def _minutes(time: Estimate) -> str:
    """Return the interval of a time in minutes; empty without one."""
    if time.low is None or time.high is None:
        return ""
    return f", {100 * time.confidence:g} % CI {time.low / 60e9:.1f}–{time.high / 60e9:.1f} min"


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
        for path, values in groups
    )
    axis = f"goodput, {method}"
    values: list[Sentence] = [(Linked(value.text, *value.refs), f" on {value.label}") for value in dots]
    answer: Sentence = ("Goodput: ", *listed(values), ".")
    if len(dots) > _MOST_NAMED:
        order = groups.median().reset_index(drop=True).sort_values(kind="stable").index
        low, high = (values[order[end]] for end in (0, -1))
        answer = (f"Goodput over {len(dots)} paths: from ", *low, " to ", *high, ".")
        shown = dict.fromkeys([*order[: _MOST_NAMED // 2], *order[-_MOST_NAMED // 2 :]])
        dots, axis = tuple(dots[index] for index in shown), f"{axis}: the lowest and the highest of {len(dots)} paths"
    short = runs["duration_ns"].isna() | (runs["duration_ns"] < _SUSTAINED_NS)
    bursts = ("A transfer of less than a minute may show a burst; the sustained rate may be lower.",)
    replicated = all(groups.count() > 1)
    missing = [*(() if replicated else ("in rounds",)), *(("for at least a minute",) if short.any() else ())]
    return Answer(
        badge="replicated" if replicated else "indicative",
        answer=answer,
        inference=(*_intervals_of_ends(runs, like), *(bursts if short.any() else ())),
        dots=dots,
        axis=axis,
        next_step=f"Repeat each transfer {', '.join(missing)}."
        if missing
        else "Plan the rounds that smaller differences need with the page *Planning the next measurement*.",
    )


def _intervals_of_ends(runs: pd.DataFrame, like: float | None) -> Sentence:
    """Say how certain the lowest and the highest typical goodput are, if both have an interval."""
    typical = summarize(runs, "throughput_bit_s")
    parts = [
        f"{item.labels['path']} {span((item.low, item.high), 'bit/s', like=like)}"
        for item in sorted(typical, key=lambda item: item.estimate or 0.0)
        if item.low is not None and item.high is not None
    ]
    if len(parts) < max(2, len(typical)):
        return ()
    level = f"{100 * typical[0].confidence:g} % CI of the typical run"
    return (f"Lowest and highest, {level}: {parts[0]} and {parts[-1]}. ",)
