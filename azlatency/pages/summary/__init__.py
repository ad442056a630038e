"""What does a study show, on one page? The card with its answer, its author's conclusions, and what it cannot answer.

What kind of answer a study gets follows from what it measured: an emulated network, the effect of a setting, several
pairs of zones, placements, a falling rate, connect times, or expectations alone. Every number is computed.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from azlatency.kit.cells import Ref, ReportedRef, Row, RunsRef, Table, ref_record
from azlatency.kit.objects import Note
from azlatency.kit.table import condition_ref, table, text
from azlatency.kit.words import newest_window
from azlatency.pages.summary.answer import Data
from azlatency.pages.summary.answerable import unanswered
from azlatency.pages.summary.card import Answer, Card, say_ends_once
from azlatency.pages.summary.connections import connect_times
from azlatency.pages.summary.emulated import emulated
from azlatency.pages.summary.expected import expectations
from azlatency.pages.summary.nights import changed_levels
from azlatency.pages.summary.nights import changes as changes
from azlatency.pages.summary.placements import placements, single_level
from azlatency.pages.summary.rates import falling_rates, goodputs, single_falls
from azlatency.pages.summary.readers import answers
from azlatency.pages.summary.settings import settings
from azlatency.pages.summary.zones import pairs_of_zones
from azlatency.stats.across_runs.crossings import crossings
from azlatency.stats.across_runs.placement import conditions, widest
from azlatency.stats.across_runs.run_history import history
from azlatency.studies.conclusions import conclusions as stated_conclusions
from azlatency.studies.manifest.zones import zone_maps as maps_of
from azlatency.studies.runs.assumptions import assumptions
from azlatency.studies.runs.groups import grouped
from azlatency.studies.runs.left_out import cut_in_words, has_complete_repeat
from azlatency.studies.runs.round_trips import latency
from azlatency.studies.runs.run_table import STEP
from azlatency.studies.runs.selection import newest_windows
from azlatency.studies.runs.throughput import throughput

if TYPE_CHECKING:
    from azlatency.stats.across_runs.run_history import History
    from azlatency.studies.conclusions import Conclusion
    from azlatency.studies.store.study import Study


# --- the answer

#: Columns of `crossings`, and what a card calls them.
_TRIP = {
    "round_trip_ns": "value", "lowest_ns": "low", "highest_ns": "high", "p99_ns": "p99", "p999_ns": "p999",
    "added_ns": "added", "n": "runs", "resolution": "resolution", "least_ns": "least", "most_ns": "most",
}  # fmt: skip
_NOTHING = Answer(
    badge="not_measured",
    inference=("No log of this study contains a network latency or rate, and no text reports one.",),
    next_step="Measure round trips with sockperf or ping on each path, in rounds; `azlatency plan` writes the script.",
)


def make_card(study: Study, levels: History | None = None) -> Card:
    """Answer the question of a study; one without an answer has its question and what to measure.

    ``levels``: as returned by `azlatency.history`, if it is known.
    """
    every = [(frame, has_complete_repeat(frame)) for frame in (latency(study), throughput(study, sender_only=True))]
    runs, streams = (frame[~is_cut] for frame, is_cut in every)
    cut = pd.concat([frame.loc[is_cut, ["file", "status"]] for frame, is_cut in every])
    # A published series is answered by its newest window: the earlier ones are its history.
    newest = newest_windows(runs)
    window = newest_window(newest) if len(newest) < len(runs) else ""
    measured = conditions(study, newest)
    data = Data(study, newest, widest(measured), window)
    trips = crossings(study, measured, runs)
    levels = history(study) if levels is None else levels
    kinds = (emulated, settings, pairs_of_zones, placements, falling_rates, connect_times, single_level,
             goodputs, single_falls, expectations)  # fmt: skip
    answer = next((answer for kind in kinds if (answer := kind(data)) is not None), _NOTHING)
    moved = changed_levels(levels, runs)
    # Of a published series, the distances of today come first; of nightly runs, what changed.
    parts = (*answer.answer, " ", *moved) if window and moved else (*moved, *answer.answer)
    answer = say_ends_once(replace(answer, answer=parts))
    first = next(iter(stated_conclusions(study)), None)
    if window:
        said = "Published means; their history shows how far they vary."
        answer = replace(answer, badge="published", inference=(said,), axis=f"{answer.axis}, {window}")
    if answer.badge != "emulated":
        answer = replace(answer, dots=tuple(sorted(answer.dots, key=lambda dot: dot.value)))
    return Card(
        **vars(answer),
        study=study.name,
        title=str(study.info.get("title", study.name)),
        question=str(study.info.get("question", "What do these logs show?")),
        source_says=f"“{first.said}” We say: {first.we_say}" if first else "",
        likely_cause=str(study.info.get("likely_cause", "")),
        likely_cause_source=str(study.info.get("likely_cause_source", "")),
        round_trips=_round_trips(trips.iloc[:0] if study.info.get("emulated") else trips),
        readers=answers(study, trips, runs, streams, levels, window),
        limits=pd.DataFrame(
            [
                {"value": float(row["high"]), "printed": str(row["printed"]), "source": str(row["conditions"])}
                for row in study.expectations
                if row["metric"] == "rtt_mean" and row["relation"] == "at_most"
            ]
        ),
        paths=pd.concat([_typical_round_trips(runs), _typical_runs(streams, "throughput_bit_s", "bit/s")]),
        assumed=(*assumptions(study), *cut_in_words(cut[~cut.index.duplicated()])),
        files=_files(study),
    )


def _typical_round_trips(runs: pd.DataFrame) -> pd.DataFrame:
    """Return the typical run of each path: of medians where all runs of its method have one, else of means."""
    of_methods = [
        _typical_runs(group, "median_ns" if group["median_ns"].notna().all() else "mean_ns", "ns")
        for _, group in grouped(runs, "method")
    ]
    return pd.concat(of_methods) if of_methods else pd.DataFrame()


def _typical_runs(runs: pd.DataFrame, column: str, unit: str) -> pd.DataFrame:
    """Return the median run of each path and method, and the rounding error of its print."""
    step = runs[f"{column}_resolution"].astype(float) / STEP
    values = runs[["path", "method"]].assign(value=runs[column].astype(float), resolution=step)
    typical = grouped(values, ["path", "method"]).agg({"value": "median", "resolution": "max"}).reset_index()
    return typical.assign(resolution=typical["resolution"].fillna(0.0), unit=unit)


def _files(study: Study) -> dict[str, tuple[str, int]]:
    """Return the files of a study with their contents' name and the number of their runs."""
    counts = study.runs["source_id"].value_counts()
    pairs = zip(study.sources["path"], study.sources["source_id"], strict=True)
    return {str(path): (str(source), int(counts.get(source, 0))) for path, source in pairs}


def _round_trips(trips: pd.DataFrame) -> pd.DataFrame:
    """Return the crossings with the names that a card has for their columns."""
    statistic = trips["value"].map({"median_ns": "median", "mean_ns": "mean"})
    shown = trips[["placement", "region", "pair", "path", "method", "published", *_TRIP]].assign(
        statistic=statistic, refs=[_refs_of(trip) for trip in trips.to_dict("records")]
    )
    return shown[shown["round_trip_ns"] < np.inf].rename(columns=_TRIP)


def _refs_of(trip: Row) -> dict[str, list[dict[str, Any]]]:
    """Return where a crossing, its p99 and its p99.9 come from, as records."""
    is_told, refs = trip["origin"] == "reported", {"value": condition_ref(trip)}
    for name, q in (("p99", 0.99), ("p999", 0.999)):
        of_runs = RunsRef(tuple(str(trip["run_ids"]).split()), q=q)
        refs[name] = ReportedRef(trip["path"], "rtt", str(q)) if is_told else of_runs
    return {name: [ref_record(ref)] for name, ref in refs.items()}


# --- what the author concluded, the zones, and what is missing


def conclusions(study: Study) -> Table | Note:
    """Return what the author concluded, what the data say, and why."""
    stated = stated_conclusions(study)
    if not stated:
        return Note("The source of this study states no conclusion.")
    rows = [
        {
            "said": conclusion.said,
            "we_say": conclusion.we_say,
            "because": conclusion.because,
            "refs": _origins(conclusion),
        }
        for conclusion in stated
    ]
    columns = {"the source says": text("said"), "we say": text("we_say"), "because": text("because")}
    caption = "What the source says, and what the data say"
    return table(pd.DataFrame(rows), caption, columns, source=lambda row: row["refs"])


def _origins(conclusion: Conclusion) -> list[Ref]:
    return [
        RunsRef((origin.run_id,), origin.metric if origin.q is None else "", q=origin.q)
        if origin.run_id
        else ReportedRef(origin.scenario, origin.metric, segment=bool(origin.segment))
        for origin in conclusion.origins
    ]


def zone_maps(study: Study) -> Table | Note:
    """Return the physical zones of each logical zone, one column per subscription."""
    maps = maps_of(study)
    if not maps:
        return Note("No zone map: whether equal zones of two subscriptions are one place is unknown.")
    subscriptions = sorted({str(subscription) for subscription, _, _ in maps})
    physical = {(str(subscription), region, zone): place for (subscription, region, zone), place in maps.items()}
    rows = [
        {"zone": f"{region}, zone {zone}"} | {name: physical.get((name, region, zone), "") for name in subscriptions}
        for region, zone in sorted({key[1:] for key in maps})
    ]
    columns = {"logical zone": text("zone")}
    columns |= {f"subscription {number}": text(name) for number, name in enumerate(subscriptions, start=1)}
    return table(pd.DataFrame(rows), "The same zone number means different places in different subscriptions", columns)


def missing(study: Study) -> Table | Note:
    """Return the questions that the study cannot answer, and what to measure."""
    questions = [question._asdict() for question in unanswered(study) if not question.elsewhere]
    if not questions:
        return Note("Every page of this report has something to say about this study.")
    columns = {"question": text("question"), "measure": text("measure")}
    return table(pd.DataFrame(questions), "Not answerable with these data", columns)
