"""The answer of an emulated network: how many confidence intervals contain the recorded delays."""

from __future__ import annotations

import statistics
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import pandas as pd
from scipy.stats import binom

from azlatency.kit.cells import FileRef, RunsRef
from azlatency.kit.sentences import Linked, Sentence, listed
from azlatency.kit.titles import span
from azlatency.kit.words import shares_held
from azlatency.pages.summary.answer import Data
from azlatency.pages.summary.card import Answer, dot
from azlatency.stats.across_runs.emulation_check import emulated_differences
from azlatency.stats.across_runs.main_method import measured_runs, rank_methods
from azlatency.stats.across_runs.run_history import history
from azlatency.stats.across_runs.zone_pairs import zones_of
from azlatency.studies.emulation import configured_links, planted_changes, recorded_round_trips, route_changes
from azlatency.studies.format import (
    count_of,
    format_interval,
    format_number,
    format_value,
    join_words,
    one_prefix,
    percent,
    signed_value,
)
from azlatency.studies.runs.path import NetworkPath, route
from azlatency.studies.runs.throughput import throughput

if TYPE_CHECKING:
    from azlatency.studies.store.study import Study

#: Fewest intervals of which a share of 95 % says something.
_MANY = 10


def emulated(data: Data) -> Answer | None:
    """Say how many confidence intervals contain the delays that the emulator recorded."""
    records = recorded_round_trips(data.study)
    steps = emulated_differences(configured_links(data.study), records, data.runs)
    checked = steps[steps["holds"].notna()]
    if checked.empty:
        return None
    worst = checked.loc[checked["error"].abs().idxmax()]
    # The interval of the error, which may be far wider, sets its unit and its digits.
    low, high = worst["low"] - worst["recorded"], worst["high"] - worst["recorded"]
    width = (high - low) / 2
    error = f"{'−' if worst['error'] < 0 else ''}{format_value(abs(worst['error']), 'ns', digits=1, like=width)}"
    interval = f"95 % CI {format_interval(low, high, 'ns', like=width)}"
    method = next(name for name in rank_methods(measured_runs(data.runs)) if name in set(checked["method"]))
    shown = checked[checked["method"] == method].head(6)
    like = one_prefix([*shown["estimate"], *shown["recorded"]], "ns")
    shares = [(Linked(share, *map(_runs, rows.to_dict("records"))),) for share, rows in shares_held(checked)]
    truth = [FileRef("truth.json", file) for file in records["file"].reindex(worst["run_ids"].split()).dropna()]
    held, methods = int(checked["holds"].sum()), set(checked["method"])
    few = binom.cdf(held, len(checked), 0.95) < 0.05
    short = f"; {held} is too few: CPU wake-up time grows with the wait, which no repeat removes" if few else ""
    all_rounds = ", all rounds: before and after the change of a route" * bool(route_changes(data.study))
    expected = f"about {format_number(0.95 * len(checked), 0)} should contain the truth"
    share = f"Of {len(checked)} intervals at 95 %, {expected}{short}. " if few or len(checked) >= _MANY else ""
    return Answer(
        badge="emulated",
        answer=(
            *_planted_changes(data.study),
            *_changed_routes(data, records),
            *_narrow_directions(data),
            *listed(shares),
            " contain the recorded delay; largest error ",
            Linked(error, _runs(worst)),
            f" ({interval}) of ",
            Linked(format_value(worst["recorded"], "ns"), *truth, bold=False),
            f" ({worst['method']}{all_rounds}).",
        ),
        inference=(f"{share}The delays were configured on one machine: nothing here describes a cloud.",),
        dots=tuple(
            dot(
                step["path"],
                (step["low"], step["high"]),
                "ns",
                _runs(step),
                value=step["estimate"],
                text=f"{format_value(step['estimate'], 'ns', like=like)} "
                f"(recorded {format_value(step['recorded'], 'ns', like=like)})",
            )
            for step in shown.to_dict("records")
        ),
        axis=f"{shown['value'].iloc[0].removesuffix('_ns')} RTT minus that of {shown['reference'].iloc[0]} and "
        f"its reverse, {method}, 95 % CI{all_rounds}",
        # Where several tools measured, page 08 compares them already.
        next_step=(
            "Let every tool wait equally long between packets"
            if len(methods) > 1
            else "Measure with a second tool that waits less between packets"
        )
        + ": the longer the wait, the longer a CPU takes to wake up.",
    )


def _runs(step: Mapping[Any, Any] | pd.Series) -> RunsRef:
    return RunsRef(tuple(step["run_ids"].split()), step["value"])


def _planted_changes(study: Study) -> Sentence:
    """Say how many of the planted changes the history shows, and how many others; nothing without a history."""
    planted = planted_changes(study)
    shown = history(study) if planted else None
    if shown is None or shown.series["level"].isna().all():
        return ()
    is_planted = pd.Series(False, index=shown.changes.index)
    seen, moved = 0, set[str]()
    for links, first in planted:
        paths = links | {str(NetworkPath.parse(link).reversed()) for link in links}
        # Positions count from 0, rounds from 1.
        is_this = shown.changes["path"].isin(paths)
        is_this &= (shown.changes["at_low"] < first) & (first <= shown.changes["at_high"] + 1)
        seen += bool(is_this.any())
        moved |= paths & {*shown.series["path"]} if is_this.any() else set()
        is_planted |= is_this
    others = int((~is_planted).sum())
    routes = len(route_changes(study))
    keys = {"route_changes": routes > 0, "link_changes": len(planted) > routes}
    refs = [FileRef("truth.json", key) for key, is_there in keys.items() if is_there]
    end = f", and {count_of(others, 'other change')}" if others else ", and no other"
    found = shown.changes.loc[is_planted, "path"].nunique()
    on = f" (on {found} of the {len(moved)} paths that it moved)" if seen == 1 and found < len(moved) else ""
    return "The history shows ", Linked(f"{seen} of {len(planted)}", *refs), f" planted changes{on}{end}. "


def _changed_routes(data: Data, records: pd.DataFrame) -> Sentence:
    """Say by how much round trips between two zones rose when their route changed, and that no others did."""
    runs = data.runs.join(records["median_ns"].rename("recorded_ns"), how="inner")
    ends = [frozenset(map(str, pair)) for pair in zip(runs["physical_zone"], runs["peer_physical_zone"], strict=True)]
    text: Sentence = ()
    step = float(runs["median_ns_resolution"].fillna(0.0).max())
    for zones, first in route_changes(data.study):
        changed = [{name.rpartition("-")[2] for name in pair} == set(zones) for pair in ends]
        rises = {}
        for column in ("median_ns", "recorded_ns"):
            late = runs[runs["round"] >= first].groupby("path")[column].median()
            rises[column] = late - runs[runs["round"] < first].groupby("path")[column].median()
        paths = {str(path) for path in runs.loc[changed, "path"]}
        inside, outside = (
            [path for path in rises["median_ns"].index if (str(path) in paths) is where] for where in (True, False)
        )
        measured = rises["median_ns"][inside].median()
        of_paths, of_records = (
            span(list(rises[column][inside]), "ns", like=measured, step=step) for column in ("median_ns", "recorded_ns")
        )
        rest = rises["median_ns"][outside].agg(["min", "max"])
        refs = RunsRef(tuple(map(str, runs.index[changed])), "median_ns")
        names = join_words(name.removeprefix("az") for name in zones)
        text += (f"From round {first} on, zones {names} are ", Linked(format_value(measured, "ns", step=step), refs))
        other = " to ".join(dict.fromkeys(signed_value(end, "ns", step=step, like=measured) for end in rest))
        on_paths = f"by path {of_paths}; recorded, without the time of the hosts: {of_records}"
        text += (f" farther apart ({on_paths}); on unchanged paths the medians moved by {other}. ",)
    return text


def _narrow_directions(data: Data) -> Sentence:
    """Say which pair of zones carries less in one direction, if the links were configured so."""
    links = configured_links(data.study)
    streams = throughput(data.study, sender_only=True)
    zones = {path: pair for path, pair in zones_of(streams).items() if pair[0] != pair[1] and path in links.index}
    rates: dict[tuple[str, str], list[float]] = {}
    for path, pair in zones.items():
        rates.setdefault(pair, []).append(float(links.at[path, "rate_bit_s"]))
    text: Sentence = ()
    for pair, configured in rates.items():
        back = rates.get(pair[::-1])
        if back is None or statistics.median(configured) >= statistics.median(back):
            continue
        sides = [streams[[zones.get(str(path)) == side for path in streams["path"]]] for side in (pair, pair[::-1])]
        ratio = sides[0]["throughput_bit_s"].median() / sides[1]["throughput_bit_s"].median()
        refs = RunsRef(tuple(str(run) for side in sides for run in side.index), "throughput")
        truth = statistics.median(configured) / statistics.median(back)
        text += (f"The goodput of zone {route(*pair)} is ", Linked(percent(ratio, 2), refs))
        text += (f" of its reverse (configured {percent(truth, 2)}). ",)
    return text
