"""Which pages a study has data for, and what to measure for the others.

A page that could only say that nothing can be said is not built. The summary of the study lists its question with the
measurement that would answer it.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

from azlatency.kit.words import PLACES
from azlatency.stats.across_runs.directions import by_data_direction, without_direction
from azlatency.stats.across_runs.placement import NEAR_TO_FAR
from azlatency.stats.across_runs.run_history import FEWEST
from azlatency.stats.within_run.tail_by_run import FEWEST as FEWEST_SAMPLES
from azlatency.studies.format import join_words
from azlatency.studies.runs.groups import grouped
from azlatency.studies.runs.path import NetworkPath
from azlatency.studies.runs.round_trips import latency
from azlatency.studies.runs.run_table import ROLES_OF_TEST, client_runs, frequency_tables
from azlatency.studies.runs.samples import select_quantity
from azlatency.studies.runs.selection import is_window, other_study
from azlatency.studies.runs.throughput import throughput

if TYPE_CHECKING:
    import pandas as pd

    from azlatency.studies.store.study import Study

#: A percentile from here on describes the tail.
_TAIL = 0.99
#: The two ends in a label: ``use1-az1 -> use1-az2``, ``zone a to zone b``, ``db01-to-db02``.
_ENDS = re.compile(
    r"(\S{1,80}?)\s{0,4}(?:-{1,9}>|={1,9}>|→|(?<=\s)to(?=\s)|[-_]to[-_])\s{0,4}(\S{1,80})", re.IGNORECASE
)
#: A placement in the name of a scenario: ``ppg`` and ``noppg``.
_PLACEMENT = re.compile(r"ppg|proximity|placement|av(?:ailability)?[-_ ]?set|same[-_ ]?host", re.IGNORECASE)
#: What a study did not measure if no run or series lasts so long.
STABILITY, _HOUR_S = "stability over hours", 3600
#: Fewest intervals of a run that show whether it is stable.
_MANY_INTERVALS = 60


class Unanswered(NamedTuple):
    """A question that a study cannot answer: the notebook that would, and what to measure.

    ``topic`` is what the card calls not measured; empty if only the summary lists the question. ``elsewhere``: another
    page answers it, with numbers of a text, with the rate of each interval, with the changes of a history, or with
    runs that only their labels tell apart.
    """

    page: str
    question: str
    measure: str
    topic: str = ""
    elsewhere: bool = False


class _Facts(NamedTuple):
    """What a study contains, as far as the pages need it, without any statistic."""

    study: Study
    latency_runs: pd.DataFrame
    throughput_runs: pd.DataFrame
    reported: set[str]


class _Page(NamedTuple):
    """A notebook and whether a study has data for it; the rest is as in `Unanswered`."""

    name: str
    has_data: Callable[[_Facts], bool]
    question: str
    measure: str
    topic: str = ""


def _facts(study: Study) -> _Facts:
    reported = set(study.reported["metric"]) if len(study.reported) else set()
    return _Facts(study, latency(study), throughput(study, sender_only=True), reported)


def _has_samples(facts: _Facts) -> bool:
    return len(select_quantity(facts.study.samples)) > 0


def _has_tail(facts: _Facts) -> bool:
    quantiles = facts.study.quantiles
    is_printed = ((quantiles["metric"] == "rtt") & (quantiles["q"] >= _TAIL)).any()
    return bool(is_printed or facts.latency_runs["p99_ns"].notna().any()) or _has_samples(facts)


def _has_both_directions(facts: _Facts) -> bool:
    table = by_data_direction(client_runs(facts.study))
    names = zip(map(NetworkPath.parse, table["path"]), without_direction(table["method"]), strict=True)
    ends = {(path.ends, method) for path, method in names if path.ends}
    return any(((server, client), method) in ends for (client, server), method in ends if client != server)


def _may_have_both_directions(facts: _Facts) -> bool:
    """Return whether labels that are no zones and ends of the data model name both directions of a pair, or clients."""
    runs = client_runs(facts.study)
    if runs["test"].isin(ROLES_OF_TEST.keys()).any():
        return True  # one test of both directions at once
    of_clients = runs.loc[runs["client"].isna() & runs["zone"].isna(), ["scenario", "server"]].dropna()
    if (of_clients[of_clients["scenario"] != of_clients["server"]].nunique() > 1).all():
        return True  # "from_1a.txt", "from_1b.txt": who measured is not known
    ends = {
        (*(end.strip(".,:;()[]").casefold() for end in match.groups()), method)
        for label, method in zip(runs["scenario"].fillna(""), without_direction(runs["method"]), strict=True)
        for match in _ENDS.finditer(label)
    }
    return any(first != second and (second, first, method) in ends for first, second, method in ends)


def _has_placements(facts: _Facts) -> bool:
    reported = facts.study.reported
    rows = reported[reported["metric"] == "rtt_mean"] if len(reported) else reported
    settings = rows["scenario"].nunique() if len(rows) else 0
    return settings > 1 or facts.latency_runs["placement"].nunique() > 1


def _scenarios_name_placements(facts: _Facts) -> bool:
    """Return whether the names of several scenarios tell placements apart that the data model does not know."""
    names = client_runs(facts.study)["scenario"].dropna().unique()
    return len(names) > 1 and any(map(_PLACEMENT.search, names))


def _has_time_series(facts: _Facts) -> bool:
    intervals = grouped(facts.study.intervals, "run_id").size()
    return _has_samples(facts) or bool((intervals >= _MANY_INTERVALS).any()) or "failed_at" in facts.reported


def spans_hours(study: Study) -> bool:
    """Return whether a run, or the runs of one path and method, last for hours, or a text says when connections broke.

    A recording of a second has a page on stability, too.
    """
    if len(study.reported) and (study.reported["metric"] == "failed_at").any():
        return True
    runs = client_runs(study)
    if (runs["duration_ns"] >= _HOUR_S * 1e9).any():
        return True
    starts = grouped(runs, ["path", "method"])["started_at"]
    return bool(((starts.max() - starts.min()).dt.total_seconds() >= _HOUR_S).any())


def _has_repeats(facts: _Facts, fewest: int = 2) -> bool:
    """Return whether a path was measured so many times with one method."""
    return any(
        bool((grouped(runs, ["path", "method"]).size() >= fewest).any())
        for runs in (facts.latency_runs, facts.throughput_runs)
    )


def _has_pilot(facts: _Facts) -> bool:
    """Return whether runs were repeated that can be repeated again: the windows of a published series cannot."""
    runs, streams = facts.latency_runs, facts.throughput_runs
    return _has_repeats(
        facts._replace(latency_runs=runs[~is_window(runs)], throughput_runs=streams[~is_window(streams)])
    )


def _has_other_study(facts: _Facts) -> bool:
    before = other_study(facts.study, "") if _has_repeats(facts) else None
    return before is not None and bool(before.info) and _has_repeats(_facts(before))


_PAGES = (
    _Page(
        "01_latency", lambda facts: len(facts.latency_runs) > 0, "How long does a round trip take on each path?",
        "Run sockperf, qperf or ping on each path and keep the whole output.", "round trips",
    ),
    _Page(
        "02_throughput", lambda facts: len(facts.throughput_runs) > 0, "How much data does each path carry?",
        "Run iperf3 or ntttcp on each path for at least a minute and keep its summary.", "throughput",
    ),
    _Page(
        "03_tail", _has_tail, "How slow are the slowest packets?",
        "Use a tool that prints percentiles or every packet: sockperf with --full-log, lagscope, ping.", "the tail",
    ),
    _Page(
        "04_zone_pair_asymmetry", _has_both_directions, "Is a path slower from one zone than from the other?",
        "Run the same tool from both ends of each pair, in at least seven rounds.", "both directions of a pair",
    ),
    _Page(
        "05_placement", _has_placements, "What does the placement of two machines cost?",
        "Measure two placements with one tool and one message size, alternating.", "the cost of a placement",
    ),
    _Page(
        "06_vm_baseline", lambda facts: bool(facts.study.expectations),
        "Does the VM deliver what its specification promises?",
        "Write the expected values to baseline.toml and measure each with the command that the source gives.",
    ),
    _Page(
        "07_stability", _has_time_series, "Is a path stable over hours?",
        "Record every packet (ping -D, the echo test) or interval (iperf3 -i 1) for hours.", STABILITY,
    ),
    _Page(
        "08_tool_agreement",
        lambda facts: bool((grouped(facts.latency_runs, "path")["method"].nunique() > 1).any()),
        "Do two tools agree on one path?",
        "Run two tools that send the same packets on the same paths, in rounds.",
    ),
    _Page(
        "09_before_after", _has_other_study, "Did something change between two measurements?",
        "Repeat the measurement, several runs each time, and name the earlier study with before in study.toml.",
    ),
    _Page(
        "10_plan_the_next_run", _has_pilot, "How many runs does a given precision take?",
        "Measure at least one path three times with one tool: the spread of these runs is the pilot. "
        "The windows of a published series cannot be repeated.",
    ),
    _Page(
        "11_history", lambda facts: _has_repeats(facts, FEWEST), "Did a level change over time?",
        "Measure the same paths at least ten times, each time with its start; azlatency import --append adds a night.",
    ),
)  # fmt: skip


def _has_reported_p99(reported: pd.DataFrame) -> bool:
    """Return whether a text reports the 99th percentile of a whole run."""
    whole = reported[reported["segment"].isna() | (reported["segment"] == "")] if len(reported) else reported
    return bool(len(whole)) and bool(((whole["metric"] == "rtt") & (whole["q"].astype(float) == 0.99)).any())


def tail_places(study: Study) -> tuple[str, str]:
    """Name the placements with a run that shows more of the tail than p99; and what was not measured in the others.

    Nothing of a study without a tail: that is a question of its own.
    """
    facts = _facts(study)
    if not _has_tail(facts):
        return "", ""
    quantiles = study.quantiles
    deep = {*quantiles.loc[(quantiles["metric"] == "rtt") & (quantiles["q"] > _TAIL), "run_id"]}
    long = facts.latency_runs.index[facts.latency_runs["n"] >= FEWEST_SAMPLES]
    deep |= {*select_quantity(study.samples)["run_id"], *frequency_tables(study)["run_id"]} & {*long}
    placements = facts.latency_runs["placement"]
    shown = {*placements[placements.index.isin(deep)]}
    every = [place for place in NEAR_TO_FAR[1:] if place in {*placements}]
    percentiles = {*placements[facts.latency_runs["p99_ns"].notna()]}
    rest = [place for place in every if place not in shown]
    parts = (
        [place for place in every if place in shown],
        [place for place in rest if place not in percentiles],
        [place for place in rest if place in percentiles],
    )
    measured, few, some = (join_words(PLACES[place] for place in part) for part in parts)
    missing = [f"the tail {few}"] * bool(few) + [f"the tail beyond p99 {some}"] * bool(some)
    return measured, ", ".join(missing)


def unanswered(study: Study) -> list[Unanswered]:
    """Return the questions that a study cannot answer, one per page that is not built for it, in their order."""
    facts = _facts(study)
    elsewhere = {
        "01_latency": "rtt_mean" in facts.reported,
        "02_throughput": _has_time_series(facts) and bool(study.intervals["throughput_bit_s"].notna().any()),
        "09_before_after": _has_repeats(facts, FEWEST),
        "03_tail": _has_reported_p99(study.reported),
        "04_zone_pair_asymmetry": _may_have_both_directions(facts),
        "05_placement": _scenarios_name_placements(facts),
    }
    return [
        Unanswered(page.name, page.question, page.measure, page.topic, elsewhere.get(page.name, False))
        for page in _PAGES
        if not page.has_data(facts)
    ]
